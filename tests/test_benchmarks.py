"""The benchmarks can be run: their report has a row for every contender and every budget, whatever becomes of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parent / "benchmarks"
RUN = [sys.executable, str(BENCHMARKS / "run.py")]


def printed(*words: str) -> str:
    return subprocess.run([*RUN, *words], capture_output=True, text=True, check=True).stdout


def budgets() -> list[str]:
    """What every budget says."""
    return [line.strip() for line in printed("--list").splitlines() if line.startswith("  ")]


def rows(report: str) -> list[list[str]]:
    """The cells of all rows of all tables."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in report.splitlines() if line[:2] == "| "]


def test_a_quick_run_writes_a_row_for_each_contender_and_each_budget(tmp_path: Path) -> None:
    printed("paths-whole", "--quick", "--output", str(tmp_path))
    found = {row[0]: row[1:] for row in rows((tmp_path / "report.md").read_text(encoding="utf-8"))}
    assert set(budgets()) <= set(found)
    for name in ("an edge a slope", "five nodes a diamond"):
        assert all(float(cell) > 0 for cell in found[f"**backprop, {name}**"])
        assert found[f"paths, ten largest of 3^1000, milliseconds: backprop, {name}"][2] == "yes"
    assert any(name.startswith("networkx") for name in found)
    assert found["rows, backprop, NumPy: JAX = 1"][2] == "not measured"
    kept = json.loads((tmp_path / "paths-whole.json").read_text(encoding="utf-8"))
    assert kept["quick"]
    assert {"processor", "cores", "memory", "Python"} <= set(kept["machine"])


def test_the_report_that_is_kept_has_every_budget_and_a_word_on_each_that_is_not_met() -> None:
    found = {row[0]: row[1:] for row in rows((BENCHMARKS / "report" / "report.md").read_text(encoding="utf-8"))}
    for budget in budgets():
        _, _, met, remark = found[budget]
        assert met == "yes" or remark, budget


CONTENDERS = """
import json, sys
from harness import Subject, measured

subject = Subject("tried", "", "", limit=1, answer=lambda out: [float(out)])
for name, code in {
    "good": "print(2)", "wrong": "print(3)", "failing": "raise ValueError('no such thing')",
    "endless": "while True: pass", "close": "print(2.0000001)",
}.items():
    subject.command(name)(lambda _, code=code: [sys.executable, "-c", code])
subject.command("absent", ["a_module_that_nobody_has"])(lambda _: [])
found = measured(subject, quick=True)
print(json.dumps([found.failed, sorted(found.seconds)]))
"""


def test_who_fails_or_is_wrong_or_slow_or_absent_has_the_reason_in_place_of_a_figure() -> None:
    done = subprocess.run([sys.executable, "-c", CONTENDERS], cwd=BENCHMARKS, capture_output=True, check=True)
    failed, measured = json.loads(done.stdout)
    assert failed == {
        "wrong|1": "gives another answer: [3.0] and not [2.0]",
        "failing|1": "ValueError: no such thing",
        "endless|1": "stopped after 1 s",
        "absent|1": "a_module_that_nobody_has is not installed",
    }
    assert measured == ["close|1|", "good|1|"]
