"""Rows led through a plan: read in batches, worked out by a kernel, the odd ones with care, and written or added up."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, BinaryIO

from backprop import progress
from backprop.mapping import tables
from backprop.mapping.careful import Rows
from backprop.mapping.cells import Column, Doubles, Notes, Numbers
from backprop.mapping.kernels import Kernel, kernel, wide
from backprop.mapping.plan import Plan
from backprop.mapping.tables import Batch, Layout, whole_file
from backprop.mapping.totals import exact_sum, rounded
from backprop.mistakes import RowUndefined
from backprop.point import Number, Program

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# So many rows of a batch are worked out a second time, as `grad` does it, to see what plain doubles are worth.
LOOKED_AT = 4
# What is off by a greater part than this is told.
NEAR = 1e-9
# So many rows of a batch that need care are told of in full; those behind them go quicker and get a shorter note.
IN_FULL = 100
WIDER = "plain doubles fail on the way, mostly by a number beyond 1.8e308; the answer comes from numbers that reach further"
# Rows that need care between two looks at how far they are.
OFTEN = 256
SEED = 2025


@dataclass(slots=True)
class Lost:
    """A row in which the plain doubles of the kernel are far from the answer, and how many such rows were seen."""

    row: int
    of: str
    kernel: float
    answer: float


@dataclass(slots=True)
class Counts:
    """What is to be told of many rows: how many there are, how many lack an answer (`undefined`) or have a remark with
    theirs, the first note with its row, the whole numbers that were rounded, where doubles lose digits, what is to be
    said of the engine, and how many rows were worked out one by one (`careful`), in how many `seconds`."""

    rows: int = 0
    undefined: int = 0
    remarked: int = 0
    first: tuple[int, str] | None = None
    first_remark: tuple[int, str] | None = None
    rounded: dict[str, tuple[int, str]] = field(default_factory=dict)
    lost: Lost | None = None
    engine_remark: str = ""
    careful: int = 0
    seconds: float = 0.0

    def add(self, other: Counts) -> None:
        """Put in what was found in other rows."""
        self.rows += other.rows
        self.engine_remark = self.engine_remark or other.engine_remark
        self.careful += other.careful
        self.seconds += other.seconds
        self.undefined += other.undefined
        self.remarked += other.remarked
        firsts = [one for one in (self.first, other.first) if one is not None]
        self.first = min(firsts) if firsts else None
        remarks = [one for one in (self.first_remark, other.first_remark) if one is not None]
        self.first_remark = min(remarks) if remarks else None
        for name, found in other.rounded.items():
            self.rounded[name] = min(found, self.rounded.get(name, found))
        if self.lost is None or (other.lost is not None and other.lost.row < self.lost.row):
            self.lost = other.lost or self.lost

    def moved(self, behind: int) -> Counts:
        """The same of rows that stand `behind` so many others."""

        def later(found: tuple[int, str] | None) -> tuple[int, str] | None:
            return None if found is None else (found[0] + behind, found[1])

        return replace(
            self,
            first=later(self.first),
            first_remark=later(self.first_remark),
            rounded={name: (row + behind, text) for name, (row, text) in self.rounded.items()},
            lost=None if self.lost is None else replace(self.lost, row=self.lost.row + behind),
        )


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
        other = np.zeros(len(done), bool)  # an infinity that dies out again, as in 1/x^2, is no news
        for ours, answer in ((value, answers.value), *((slopes[name], answers.slopes[name]) for name in slopes)):
            other |= ours[done] != answer[fine]
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


# -- sums ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Totals:
    """Exact sums of the value and the slopes over the rows that have all of them (`answered`)."""

    answered: int = 0
    sums: dict[str, Fraction] = field(default_factory=dict)
    infinite: dict[str, float] = field(default_factory=dict)

    def add_rows(self, rows: Answered) -> None:
        """Put in the rows of a batch."""
        import numpy as np

        whole = ~rows.undefined
        self.answered += int(whole.sum())
        for name, found in {"": rows.value, **rows.slopes}.items():
            numbers = found[whole]
            finite = np.isfinite(numbers)
            if not finite.all():
                self.infinite[name] = self.infinite.get(name, 0.0) + float(numbers[~finite].sum())
                numbers = numbers[finite]
            self.sums[name] = self.sums.get(name, Fraction(0)) + exact_sum(numbers)

    def add(self, other: Totals) -> None:
        """Put in the sums of other rows; the order does not matter."""
        self.answered += other.answered
        for name, total in other.sums.items():
            self.sums[name] = self.sums.get(name, Fraction(0)) + total
        for name, total_of in other.infinite.items():
            self.infinite[name] = self.infinite.get(name, 0.0) + total_of

    def number(self, name: str, mean: bool) -> float | None:
        """The sum of the slopes by a name ("" for the value), or their mean; None for the mean of no rows."""
        if name in self.infinite:
            return self.infinite[name]
        if mean and not self.answered:
            return None
        total = self.sums.get(name, Fraction(0))
        return rounded(total / self.answered if mean else total)


# -- rows to be checked ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sampled:
    """A row for the witnesses: its number, the inputs that are columns, and the answers."""

    row: int
    inputs: dict[str, float]
    value: float
    slopes: dict[str, float]


@dataclass(slots=True)
class Sample:
    """So many rows, each as likely as any other, of a table whose length is not known beforehand.

    Every row draws a number, and the rows with the least are kept; so samples of parts make a sample of the whole.
    """

    count: int
    part: int = 0
    drawn: list[tuple[float, Sampled]] = field(default_factory=list)
    _random: np.random.Generator | None = field(default=None, repr=False)

    @property
    def rows(self) -> list[Sampled]:
        """The rows that were picked, in their order."""
        return sorted((row for _, row in self.drawn), key=lambda one: one.row)

    def add_rows(self, rows: Answered) -> None:
        """Let the rows of a batch that have answers take part."""
        import numpy as np

        if not self.count:
            return
        if self._random is None:
            self._random = np.random.default_rng([SEED, self.part])
        draws = self._random.random(rows.batch.rows)
        most = self.drawn[-1][0] if len(self.drawn) == self.count else 1.0
        found = np.flatnonzero((draws < most) & ~rows.undefined)
        found = found[np.argsort(draws[found])][: self.count]
        picked = []
        for place in found.tolist():
            sampled = Sampled(
                rows.batch.first + place,
                {name: float(values[place]) for name, values in rows.given.items()},
                float(rows.value[place]),
                {name: float(of[place]) for name, of in rows.slopes.items()},
            )
            picked.append((float(draws[place]), sampled))
        self._keep(picked)

    def add(self, other: Sample) -> None:
        """Put in the sample of other rows."""
        self._keep(other.drawn)

    def _keep(self, more: Iterable[tuple[float, Sampled]]) -> None:
        self.drawn = sorted([*self.drawn, *more], key=lambda one: (one[0], one[1].row))[: self.count]


@dataclass(frozen=True, slots=True)
class Checked:
    """What the witnesses say of one row."""

    row: int
    text: str
    agrees: bool


def checked(plan: Plan, sampled: Iterable[Sampled]) -> Iterator[Checked]:
    """What every witness says of each row, and whether the answers that were written are what they confirm."""
    rows = sorted(sampled, key=lambda one: one.row)
    if not rows:
        return
    from backprop.checks import check

    program = plan.program
    for one in rows:
        inputs: dict[str, Number] = {**plan.constants, **one.inputs}
        report = check(program, inputs, wrt=list(plan.wrt))
        against = [found for found in report.conclusions if found.verdict == "DISAGREES"]
        if against:
            told = "; ".join(f"∂{report.output}/∂{found.of} {found.text}" for found in against)
            yield Checked(one.row, f"DISAGREES: {told}", False)
            continue
        pairs = [(report.output, one.value, report.value)]
        pairs += [(f"∂{report.output}/∂{name}", slope, report.gradient.get(name)) for name, slope in one.slopes.items()]
        off = [
            f"{name} is {answer!r}, and {ours!r} was written"
            for name, ours, answer in pairs
            if isinstance(answer, float) and not abs(ours - answer) <= NEAR * abs(answer) + 1e-300
        ]
        if off:
            yield Checked(one.row, f"DISAGREES: {'; '.join(off)}", False)
            continue
        silent = [found for found in report.conclusions if found.verdict == "not checked"]
        digits = [found.digits for found in report.conclusions if found.digits is not None]
        told = f"every derivative agrees, to {min(digits):.1f} digits at least" if digits else "agrees"
        if silent:
            told = f"{len(silent)} of {len(report.conclusions)} derivatives could not be checked"
        yield Checked(one.row, told, True)


# -- a whole table ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Outcome:
    """What became of a table: counts, sums where they were asked for, and the rows for the witnesses."""

    counts: Counts
    totals: Totals | None
    sample: Sample

    @property
    def rows(self) -> int:
        """How many rows there were."""
        return self.counts.rows

    def add(self, other: Outcome, behind: int = 0) -> None:
        """Put in what became of other rows, whose numbers are to be moved by `behind`."""
        self.counts.add(other.counts.moved(behind))
        if self.totals is not None and other.totals is not None:
            self.totals.add(other.totals)
        drawn = [(draw, replace(row, row=row.row + behind)) for draw, row in other.sample.drawn]
        self.sample.add(Sample(other.sample.count, drawn=drawn))


def lead(
    plan: Plan,
    batches: Iterable[Batch],
    write: Callable[[Batch], None] | None,
    *,
    stop: bool = False,
    check_rows: int = 0,
    part: int = 0,
    worker: Worker | None = None,
) -> Outcome:
    """Work out batches in their order: `write` takes the rows; without it they are added up. Raises `Mistake`.

    `worker` is one of this plan that was made before, `part` the place of these rows among the parts of a table.
    """
    worker = worker or Worker(plan, stop)
    outcome = Outcome(Counts(), Totals() if write is None else None, Sample(check_rows, part))
    for _ in led(worker, batches, write, outcome):
        pass
    return outcome


def led(
    worker: Worker, batches: Iterable[Batch], write: Callable[[Batch], None] | None, outcome: Outcome
) -> Iterator[Batch]:
    """The batches, each when it is done and what became of it is in `outcome`. Raises `Mistake`."""
    for batch in batches:
        found = worker.answer(batch)
        outcome.counts.add(found.counts)
        outcome.sample.add_rows(found)
        if outcome.totals is not None:
            outcome.totals.add_rows(found)
        if write is not None:
            write(found.table(worker.plan))
        yield batch


def map_table(
    plan: Plan,
    batches: Iterable[Batch],
    sink: BinaryIO | str,
    format: str,
    layout: Layout,
    *,
    stop: bool = False,
    check_rows: int = 0,
) -> Outcome:
    """Write rows with their answers: to a stream, or to a file, whole or not at all. Raises `Mistake`."""
    if isinstance(sink, str):
        with whole_file(sink) as file:
            return map_table(plan, batches, file, format, layout, stop=stop, check_rows=check_rows)
    writer = tables.module(format).writer(sink, plan.names, layout)
    outcome = lead(plan, batches, writer.write, stop=stop, check_rows=check_rows)
    writer.close()
    return outcome


def map_columns(
    program: str | Program,
    columns: Mapping[str, Any],
    constants: Mapping[str, Number],
    wrt: Sequence[str] | None,
    value_only: bool,
    engine: str,
    careful: bool,
) -> dict[str, Any]:
    """The door of Python: see `backprop.map_rows`."""
    import numpy as np

    from backprop.mapping.plan import plan as planned
    from backprop.mistakes import ColumnType, RaggedArray

    if isinstance(program, str):
        program = Program(program)
    # of PyArrow, of pandas and Polars, of a dict
    names = list(getattr(columns, "column_names", getattr(columns, "columns", columns)))
    plan = planned(program, names, constants, wrt=wrt, value_only=value_only, keep=(), engine=engine, careful=careful)
    found = {name: np.asarray(columns[name]) for name in plan.columns.values()}
    first = next(iter(found))
    for name, array in found.items():
        if array.dtype.kind not in "biuf" or array.ndim != 1:
            raise ColumnType(name, f"{array.dtype}, {array.ndim} axes", 1)
        if len(array) != len(found[first]):
            raise RaggedArray(f"column {name}", len(array), f"column {first}", len(found[first]))
    given: dict[str, Column] = {name: Numbers(array.astype(np.float64) + 0.0) for name, array in found.items()}
    rows = len(found[first])
    answered = Worker(plan).answer(Batch(1, rows, given))
    told = Notes(rows, answered.notes).values()
    return {
        plan.value: answered.value,
        **{plan.slopes[name]: of for name, of in answered.slopes.items()},
        plan.note: told,
    }
