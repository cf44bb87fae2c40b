"""Rows worked out by a plan, a batch at a time: by a kernel, and the odd ones with care."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backprop import progress
from backprop.mapping.careful import Rows
from backprop.mapping.cells import Column, Doubles, Notes, Numbers
from backprop.mapping.counts import Counts, Lost
from backprop.mapping.kernels import Kernel, kernel, wide
from backprop.mapping.plan import Plan
from backprop.mapping.tables import Batch
from backprop.mistakes import RowUndefined

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# So many rows of a batch are worked out a second time, as `grad` does it, to see what plain doubles are worth.
LOOKED_AT = 4
# What is off by a greater part than this is told.
NEAR = 1e-9
# So many rows of a batch that need care are told of in full; those behind them go quicker and get a shorter note.
IN_FULL = 100
WIDER = (
    "plain doubles fail on the way, mostly by a number beyond 1.8e308; the answer comes from numbers that reach further"
)
# Rows that need care between two looks at how far they are.
OFTEN = 256


@dataclass(frozen=True, slots=True)
class Answered:
    """A batch with its answers: the value and the slopes by name, NaN where there is none, and the notes by place.

    `given` holds the numbers of the inputs that are columns; `undefined` marks the rows that lack an answer.
    """

    batch: Batch
    given: dict[str, NDArray[np.float64]]
    value: NDArray[np.float64]
    slopes: dict[str, NDArray[np.float64]]
    notes: dict[int, str]
    undefined: NDArray[np.bool_]
    counts: Counts

    def table(self, plan: Plan) -> Batch:
        """The rows as they are written: the columns that are kept, the value, the slopes and the note."""
        import numpy as np

        def numbers(found: NDArray[np.float64]) -> Numbers:
            missing = np.isnan(found) if self.undefined.any() else None
            return Numbers(found, missing)

        columns: dict[str, Column] = {name: self.batch.columns[name] for name in plan.kept}
        columns[plan.value] = numbers(self.value)
        columns |= {plan.slopes[name]: numbers(found) for name, found in self.slopes.items()}
        columns[plan.note] = Notes(self.batch.rows, self.notes)
        return Batch(self.batch.first, self.batch.rows, columns)


class Worker:
    """What works out batches by a plan. `stop` refuses the first row without an answer: `RowUndefined`."""

    def __init__(self, plan: Plan, stop: bool = False) -> None:
        self.plan, self.stop = plan, stop
        program = plan.program
        columns, value_only = list(plan.columns), not plan.slopes
        self.kernel = kernel(
            program, columns, plan.constants, plan.wrt, value_only, plan.engine, plan.rows, plan.careful
        )
        self.rows = Rows(program, columns, plan.constants, plan.wrt)
        # with a kernel, rows that it does not answer may be very many
        self.in_bulk = self.kernel.name != "plain"
        self.wide: Kernel | None = None

    def answer(self, batch: Batch) -> Answered:
        """The answers for the rows of a batch. Raises `TableCell`, `ColumnType` and `RowUndefined`."""
        import numpy as np

        plan = self.plan
        known = {
            name: batch.columns[column].doubles(column, batch.first, plan.decimal)
            for name, column in plan.columns.items()
        }
        given = {name: found.values for name, found in known.items()}
        with np.errstate(all="ignore"):
            answers = self.kernel.run(given)
            value = answers.value + 0.0  # -0 is 0
            slopes = {name: answers.slopes[name] + 0.0 for name in plan.wrt}
        finite = np.ones(batch.rows, bool)
        for values in given.values():
            finite &= np.isfinite(values)
        odd = (answers.odd != 0) | ~finite
        counts = Counts(batch.rows, engine_remark=self.kernel.remark)
        counts.rounded = {
            plan.columns[name]: (batch.first + one.rounded[0], one.rounded[1])
            for name, one in known.items()
            if one.rounded is not None
        }
        notes: dict[int, str] = {}
        undefined = np.zeros(batch.rows, bool)
        careful = odd
        if answers.kink is not None:
            at_kink = (answers.odd == 1) & finite
            self._tell_kinks(batch, np.flatnonzero(at_kink), answers.kink, notes, counts)
            careful = odd & ~at_kink
        self._work_out(batch, np.flatnonzero(careful), known, value, slopes, notes, undefined, counts)
        even = np.flatnonzero(~odd)
        self._look(batch, even[:: max(1, len(even) // LOOKED_AT)][:LOOKED_AT], given, value, slopes, counts)
        return Answered(batch, given, value, slopes, notes, undefined, counts)

    def _tell_kinks(
        self, batch: Batch, places: NDArray[Any], kink: NDArray[np.int64], notes: dict[int, str], counts: Counts
    ) -> None:
        """Note the rows at `places`, whose answers are those of the rules at one kink; there may be very many."""
        if not len(places):
            return
        told = {node: self.rows.kink(node) for node in set(kink[places].tolist())}
        notes.update((place, told[node]) for place, node in zip(places.tolist(), kink[places].tolist(), strict=True))
        counts.remarked += len(places)
        first = int(places[0])
        counts.first_remark = batch.first + first, notes[first]

    def _work_out(
        self,
        batch: Batch,
        places: NDArray[Any],
        known: Mapping[str, Doubles],
        value: NDArray[np.float64],
        slopes: Mapping[str, NDArray[np.float64]],
        notes: dict[int, str],
        undefined: NDArray[np.bool_],
        counts: Counts,
    ) -> None:
        """Put in the answers of the rows at `places`, one by one, and the notes."""
        begun = time.monotonic()
        places = self._answered_wide(batch, places, known, value, slopes, notes, counts)
        counts.careful = len(places)
        missing = {name: found.missing for name, found in known.items() if found.missing is not None}
        rows = zip(*(found.values[places].tolist() for found in known.values()), strict=True)
        for number_of_them, (place, row) in enumerate(zip(places.tolist(), rows, strict=True)):
            if not number_of_them % OFTEN:
                progress.within(f"{number_of_them:,} of {len(places):,} with care" if number_of_them else "")
            without = [name for name, mask in missing.items() if mask[place]]
            if without:
                columns = ", ".join(self.plan.columns[name].strip() for name in without)
                found = None
                note, is_undefined = f"{columns} {'is' if len(without) == 1 else 'are'} missing", True
            else:
                found = self.rows.at(row, brief=self.in_bulk and number_of_them >= IN_FULL)
                note, is_undefined = found.note, found.undefined
            value[place] = math.nan if found is None or found.value is None else found.value
            for position, of in enumerate(slopes.values()):
                slope = None if found is None else found.slopes[position]
                of[place] = math.nan if slope is None else slope
            if not note:
                continue
            number = batch.first + place
            notes[place] = note
            if is_undefined:
                if self.stop:
                    raise RowUndefined(number, note)
                undefined[place] = True
                counts.undefined += 1
                counts.first = counts.first or (number, note)
            else:
                counts.remarked += 1
                counts.first_remark = min(counts.first_remark or (number, note), (number, note))
        progress.within("")
        counts.seconds = time.monotonic() - begun

    def _answered_wide(
        self,
        batch: Batch,
        places: NDArray[Any],
        known: Mapping[str, Doubles],
        value: NDArray[np.float64],
        slopes: Mapping[str, NDArray[np.float64]],
        notes: dict[int, str],
        counts: Counts,
    ) -> NDArray[Any]:
        """Put in answers of the `wide` kernel behind the first rows, and give the places that it has none for."""
        import numpy as np

        finite = places[np.logical_and.reduce([np.isfinite(found.values[places]) for found in known.values()])]
        finite = finite[IN_FULL:]
        if not len(finite) or not self.in_bulk:
            return places
        plan = self.plan
        self.wide = self.wide or wide(plan.program, list(plan.columns), plan.constants, plan.wrt)
        if self.wide is None:
            return places
        answers = self.wide.run({name: found.values[finite] for name, found in known.items()})
        fine = answers.odd == 0
        done = finite[fine]
        if not len(done):
            return places
        # what the doubles had all the same is no news: an infinity may die out again, as in exp(-x^2)
        other = np.zeros(len(done), bool)
        for ours, answer in ((value, answers.value), *((slopes[name], answers.slopes[name]) for name in slopes)):
            with np.errstate(all="ignore"):
                other |= ~(abs(ours[done] - answer[fine]) <= NEAR * abs(answer[fine]))
            ours[done] = answer[fine]
        mended = done[other]
        notes.update(dict.fromkeys(mended.tolist(), WIDER))
        counts.remarked += len(mended)
        if len(mended):
            told = batch.first + int(mended[0]), WIDER
            counts.first_remark = min(counts.first_remark or told, told)
        return np.setdiff1d(places, done, assume_unique=True)

    def _look(
        self,
        batch: Batch,
        places: NDArray[Any],
        given: Mapping[str, NDArray[np.float64]],
        value: NDArray[np.float64],
        slopes: Mapping[str, NDArray[np.float64]],
        counts: Counts,
    ) -> None:
        """Hold a few answers of the kernel against those of `grad`."""
        for place in places.tolist():
            found = self.rows.at(tuple(float(values[place]) for values in given.values()))
            pairs = [(self.plan.output, float(value[place]), found.value)]
            pairs += [
                (f"∂{self.plan.output}/∂{name}", float(of[place]), answer)
                for (name, of), answer in zip(slopes.items(), found.slopes, strict=True)
            ]
            for of, ours, answer in pairs:
                if answer is None or abs(ours - answer) <= NEAR * abs(answer) + 1e-300:
                    continue
                counts.lost = Lost(batch.first + place, of, ours, answer)
                return
