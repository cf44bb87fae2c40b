"""Tables led through a plan: read in batches, worked out, and written or added up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from backprop.mapping import tables
from backprop.mapping.cells import Column, Notes, Numbers
from backprop.mapping.counts import Counts
from backprop.mapping.plan import Plan
from backprop.mapping.sample import Sample
from backprop.mapping.tables import Batch, Layout, whole_file
from backprop.mapping.totals import Totals
from backprop.mapping.worker import Worker
from backprop.point import Number, Program


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
    sink.flush()  # before anything is said about the rows
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
