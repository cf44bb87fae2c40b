"""All benchmarks, side by side with the peers that are installed: `python tests/benchmarks/run.py`.

Writes a report, `report.md` with its plots, and keeps the figures in it, so that some subjects can be measured anew by
their names and the others stay as they were. `--quick` takes small sizes and few rounds, to try things out; its report
says so. Not a test.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from datetime import date
from pathlib import Path

import machine
import report
from harness import HERE, Found, Subject, measured
from subjects import every


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("subjects", nargs="*", metavar="NAME", help="what is measured; everything when none is named")
    asked.add_argument("--quick", action="store_true", help="small sizes and few rounds")
    asked.add_argument("--output", type=Path, default=HERE / "report", metavar="FOLDER", help="where the report goes")
    asked.add_argument("--list", action="store_true", help="the subjects and their budgets")
    asked.add_argument("--write", action="store_true", help="write the report from the figures that are there")
    words = asked.parse_args()
    subjects = list(every())
    if words.list:
        for subject in subjects:
            print(f"{subject.name}: {subject.title}")
            for budget in subject.budgets:
                print(f"  {budget.says}")
        return 0
    unknown = set(words.subjects) - {subject.name for subject in subjects}
    if unknown:
        asked.error(f"no subject is called {', '.join(sorted(unknown))}; see --list")
    words.output.mkdir(parents=True, exist_ok=True)
    if not words.write:
        for subject in subjects:
            if not words.subjects or subject.name in words.subjects:
                keep(measure(subject, words.quick), words.output)
                report.write(subjects, kept(subjects, words.output), words.output)
    report.write(subjects, kept(subjects, words.output), words.output)
    print(words.output / "report.md")
    return 0


def measure(subject: Subject, quick: bool) -> Found:
    here = machine.described()  # with the load before it is our own
    found = measured(subject, quick=quick, say=lambda text: print(text, file=sys.stderr, flush=True))
    found.machine = here
    found.versions = machine.versions({name for contender in subject.contenders for name in contender.needs})
    found.date = date.today().isoformat()
    return found


def keep(found: Found, folder: Path) -> None:
    """The figures of a subject as a file of their own, rounded to what they are worth."""
    record = asdict(found)
    record["seconds"] = {key: [float(f"{one:.4g}") for one in many] for key, many in found.seconds.items()}
    (folder / f"{found.subject}.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def kept(subjects: list[Subject], folder: Path) -> dict[str, Found]:
    """What is known of each subject."""
    files = {subject.name: folder / f"{subject.name}.json" for subject in subjects}
    return {
        name: Found(**json.loads(file.read_text(encoding="utf-8"))) for name, file in files.items() if file.exists()
    }


if __name__ == "__main__":
    sys.exit(main())
