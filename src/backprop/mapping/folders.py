"""A table in a folder of part files, which can be gone on with after an interruption.

`out/part-00000.parquet` and so on are the table. Beside the folder, since some readers take every file in it for a part
of the table, `out.manifest.ndjson` tells in its first line what the table is made of, and then which parts are whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from backprop.mapping.counts import Counts, Lost
from backprop.mapping.run import Outcome
from backprop.mapping.sample import Sample, Sampled
from backprop.mapping.tasks import Done
from backprop.mapping.totals import Totals
from backprop.mapping.whole import await_part, is_unfinished, is_whole, sweep, whole_part
from backprop.mistakes import CannotRead, CannotResume, CannotWrite, FolderTaken

MANIFEST = ".manifest.ndjson"
FORMAT, VERSION = "backprop-map-parts", 1


class Folder:
    """A folder of parts that end in `suffix`; `asked` are the facts that have to be the same to go on.

    Without a suffix the parts are sums, and need no file of their own.
    `known` are the parts that are whole already. Raises `FolderTaken`, `CannotResume` and `CannotWrite`.
    """

    def __init__(self, path: str, suffix: str, asked: Mapping[str, Any], resume: bool) -> None:
        self.path, self.suffix = path, suffix
        self.manifest = os.path.realpath(path) + MANIFEST
        self.asked = json.loads(json.dumps({"format": FORMAT, "version": VERSION, **asked}))
        self.known: dict[int, Done] = {}
        self.made = not os.path.isdir(path)
        try:
            os.makedirs(path, exist_ok=True)
            there = [name for name in os.listdir(path) if not is_unfinished(name)]
        except OSError as error:
            raise CannotWrite(path, error.strerror or str(error)) from None
        begun = os.path.isfile(self.manifest)
        if there and not (resume and begun):
            raise FolderTaken(path, begun)
        if resume and begun:
            self._go_on()
        else:
            with whole_part(self.manifest) as file:
                file.write(_line(self.asked))

    def part(self, place: int) -> str:
        """The file of a part."""
        return os.path.join(self.path, f"part-{place:05d}{self.suffix}")

    def keep(self, place: int, done: Done) -> None:
        """Note that a part is whole. Raises `PartMissing` where it is not to be seen from here, and `CannotWrite`."""
        if place in self.known:
            return
        if self.suffix:
            await_part(self.part(place), done.size, done.worker)
        self._note({"part": place, **_record(done)})
        self.known[place] = done

    def finish(self, outcome: Outcome) -> None:
        """Note that the table is complete."""
        self._note({"complete": True, "rows": outcome.rows})
        sweep(self.path)

    def leave(self) -> None:
        """Leave a table that is not complete: whole parts stay, and where there is none nothing does."""
        sweep(self.path)
        with suppress(OSError):
            if self.known or os.listdir(self.path):  # a part that is whole may be one of which nobody heard
                return
            os.unlink(self.manifest)
            if self.made:
                os.rmdir(self.path)

    def _note(self, record: Mapping[str, Any]) -> None:
        try:
            with open(self.manifest, "ab") as file:
                file.write(_line(record))
        except OSError as error:
            raise CannotWrite(self.manifest, error.strerror or str(error)) from None

    def _go_on(self) -> None:
        """Compare with what was asked before, and find the parts that are whole."""
        try:
            with open(self.manifest, encoding="utf-8") as file:
                before = json.loads(file.readline())
                records = list(map(_read, file))
        except (OSError, ValueError) as error:
            raise CannotRead(self.manifest, str(error)) from None
        for name in dict.fromkeys([*self.asked, *before]):
            if before.get(name) != self.asked.get(name):
                raise CannotResume(self.path, *_difference(name, before.get(name), self.asked.get(name)))
        sweep(self.path)
        for place, done in filter(None, records):
            if not self.suffix or is_whole(self.part(place), done.size):
                self.known[place] = done


def _line(record: Mapping[str, Any]) -> bytes:
    return (json.dumps(record, ensure_ascii=False) + "\n").encode()


def _read(line: str) -> tuple[int, Done] | None:
    """A part that is whole; None for another line, also for one whose writer was killed while it wrote."""
    try:
        record = json.loads(line)
        return record["part"], _done(record)
    except (ValueError, KeyError, TypeError):
        return None


def _difference(name: str, before: Any, now: Any) -> tuple[str, str, str]:
    """What differs, down to the entry of a list or a record that does."""
    while True:
        if isinstance(before, list) and isinstance(now, list):
            if len(before) != len(now):
                return f"the number of {name}", str(len(before)), str(len(now))
            place = next(place for place in range(len(before)) if before[place] != now[place])
            before, now = before[place], now[place]
            name = before.get("path", name) if isinstance(before, dict) else name
        elif isinstance(before, dict) and isinstance(now, dict):
            key = next(key for key in [*before, *now] if before.get(key) != now.get(key))
            name, before, now = f"{key} of {name}", before.get(key), now.get(key)
        else:
            break
    shown = [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in (before, now)]
    return name, shown[0], shown[1]


def _record(done: Done) -> dict[str, Any]:
    """What became of a part, as plain values; sums are fractions, which text holds exactly."""
    outcome = done.outcome
    record: dict[str, Any] = {"size": done.size, "worker": done.worker, "counts": asdict(outcome.counts)}
    if outcome.totals is not None:
        totals = outcome.totals
        infinite = {name: repr(number) for name, number in totals.infinite.items()}
        sums = {name: str(total) for name, total in totals.sums.items()}
        record["totals"] = {"answered": totals.answered, "sums": sums, "infinite": infinite}
    if outcome.sample.count:
        drawn = [[draw, row.row, row.inputs, row.value, row.slopes] for draw, row in outcome.sample.drawn]
        record["sample"] = {"count": outcome.sample.count, "drawn": drawn}
    return record


def _done(record: Mapping[str, Any]) -> Done:
    """The same read back."""
    counts = Counts(**record["counts"])
    counts.first = None if counts.first is None else (counts.first[0], counts.first[1])
    counts.first_remark = None if counts.first_remark is None else (counts.first_remark[0], counts.first_remark[1])
    counts.rounded = {name: (row, text) for name, (row, text) in counts.rounded.items()}
    counts.lost = None if record["counts"]["lost"] is None else Lost(**record["counts"]["lost"])
    totals = None
    if "totals" in record:
        found = record["totals"]
        sums = {name: Fraction(text) for name, text in found["sums"].items()}
        totals = Totals(found["answered"], sums, {name: float(text) for name, text in found["infinite"].items()})
    sample = Sample(0)
    if "sample" in record:
        drawn = [(draw, Sampled(*row)) for draw, *row in record["sample"]["drawn"]]
        sample = Sample(record["sample"]["count"], drawn=drawn)
    return Done(Outcome(counts, totals, sample), record["size"], record["worker"])
