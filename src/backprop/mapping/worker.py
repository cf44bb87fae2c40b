"""Rows worked out by a plan, a batch at a time: by a kernel, and the odd ones with care."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

from backprop import progress
from backprop.mapping.careful import Careful, Rows
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
IN_FULL = 20
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

    def remark(self, places: list[int], notes: Iterable[str]) -> None:
        """Note something of rows, at places in ascending order, whose numbers are there."""
        if not places:
            return
        self.notes.update(zip(places, notes, strict=False))
        counts, first = self.counts, (self.batch.first + places[0], self.notes[places[0]])
        counts.remarked += len(places)
        counts.first_remark = min(counts.first_remark or first, first)

    def refuse(self, place: int, note: str) -> None:
        """Note why a row has no answer."""
        self.notes[place] = note
        self.undefined[place] = True
        first = self.batch.first + place, note
        self.counts.undefined += 1
        self.counts.first = min(self.counts.first or first, first)


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
        # with a kernel, the rows that it does not answer may be very many
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
        counts = Counts(batch.rows, engine_remark=self.kernel.remark)
        counts.rounded = {
            plan.columns[name]: (batch.first + one.rounded[0], one.rounded[1])
            for name, one in known.items()
            if one.rounded is not None
        }
        answered = Answered(batch, given, value, slopes, {}, np.zeros(batch.rows, bool), counts)
        finite = np.ones(batch.rows, bool)
        for values in given.values():
            finite &= np.isfinite(values)
        odd = (answers.odd != 0) | ~finite
        careful = odd
        if answers.kink is not None:
            # their answers are those of the rules at one kink; there may be very many
            at_kink = (answers.odd == 1) & finite
            kinks = answers.kink[at_kink].tolist()
            told = {node: self.rows.kink(node) for node in set(kinks)}
            answered.remark(np.flatnonzero(at_kink).tolist(), [told[node] for node in kinks])
            careful = odd & ~at_kink
        begun = time.monotonic()
        if self.in_bulk:
            careful[self._answer_wide(answered, np.flatnonzero(careful & finite)[IN_FULL:])] = False
        self._answer_one_by_one(answered, np.flatnonzero(careful), known)
        counts.careful, counts.seconds = int(careful.sum()), time.monotonic() - begun
        even = np.flatnonzero(~odd)
        self._look(answered, even[:: max(1, len(even) // LOOKED_AT)][:LOOKED_AT])
        return answered

    def _answer_wide(self, answered: Answered, places: NDArray[Any]) -> NDArray[Any]:
        """Put in the answers of the `wide` kernel for the rows at `places`, and give the places that have one now."""
        import numpy as np

        plan = self.plan
        if len(places) and self.wide is None:
            self.wide = wide(plan.program, list(plan.columns), plan.constants, plan.wrt)
        if not len(places) or self.wide is None:
            return places[:0]
        found = self.wide.run({name: values[places] for name, values in answered.given.items()})
        fine = found.odd == 0
        done: NDArray[Any] = places[fine]
        # what the doubles had all the same is no news: an infinity may die out again, as in exp(-x^2)
        other = np.zeros(len(done), bool)
        pairs = [(answered.value, found.value), *((of, found.slopes[name]) for name, of in answered.slopes.items())]
        for ours, answer in pairs:
            with np.errstate(all="ignore"):
                other |= ~(abs(ours[done] - answer[fine]) <= NEAR * abs(answer[fine]))
            ours[done] = answer[fine]
        answered.remark(done[other].tolist(), repeat(WIDER))
        return done

    def _answer_one_by_one(self, answered: Answered, places: NDArray[Any], known: Mapping[str, Doubles]) -> None:
        """Put in the answers of the rows at `places` as `grad` finds them."""
        missing = {name: found.missing for name, found in known.items() if found.missing is not None}
        rows = zip(*(found.values[places].tolist() for found in known.values()), strict=True)
        for done, (place, row) in enumerate(zip(places.tolist(), rows, strict=True)):
            if done % OFTEN == OFTEN - 1:
                progress.within(f"{done:,} of {len(places):,} with care")
            without = [name for name, mask in missing.items() if mask[place]]
            if without:
                columns = ", ".join(self.plan.columns[name].strip() for name in without)
                note = f"{columns} {'is' if len(without) == 1 else 'are'} missing"
                found = Careful(None, self.rows.nothing, note, undefined=True)
            else:
                found = self.rows.at(row, brief=self.in_bulk and done >= IN_FULL)
            answered.value[place] = math.nan if found.value is None else found.value
            for of, slope in zip(answered.slopes.values(), found.slopes, strict=True):
                of[place] = math.nan if slope is None else slope
            if found.undefined:
                if self.stop:
                    raise RowUndefined(answered.batch.first + place, found.note)
                answered.refuse(place, found.note)
            elif found.note:
                answered.remark([place], [found.note])
        progress.within("")

    def _look(self, answered: Answered, places: NDArray[Any]) -> None:
        """Hold a few answers of the kernel against those of `grad`."""
        output = self.plan.output
        for place in places.tolist():
            found = self.rows.at(tuple(float(values[place]) for values in answered.given.values()))
            pairs = [(output, float(answered.value[place]), found.value)]
            pairs += [
                (f"∂{output}/∂{name}", float(of[place]), answer)
                for (name, of), answer in zip(answered.slopes.items(), found.slopes, strict=True)
            ]
            for of, ours, answer in pairs:
                if answer is None or abs(ours - answer) <= NEAR * abs(answer) + 1e-300:
                    continue
                answered.counts.lost = Lost(answered.batch.first + place, of, ours, answer)
                return
