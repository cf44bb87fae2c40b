"""Steps: the lines of working of a large trace, node by node, as those of a small trace are made."""

from __future__ import annotations

from collections.abc import Iterator

from backprop import progress
from backprop.columnar import Columns
from backprop.figures import Figures
from backprop.record import Step, Value
from backprop.working import forward_steps, reverse_steps, tangent_steps
from backprop.working.brought import Known


class KnownColumns(Known):
    """What the lines of a node need to know of those around it, looked up in the columns."""

    def __init__(self, columns: Columns, figures: Figures) -> None:
        super().__init__((), figures)
        self._columns = columns

    def number(self, name: str) -> str | None:
        columns = self._columns
        place = columns.places.get(name)
        value = None if place is None else columns.value(place)
        return None if value is None else self._figures.put_in(value)

    def slope(self, name: str) -> Value | None:
        found: Value | None = self._columns.slope(self._columns.places[name])
        return found

    def is_read(self, name: str) -> bool:
        columns = self._columns
        leaving = columns.leaving(columns.places[name])
        return any(columns.slope(columns.targets[place]) is not None for place in leaving)


def steps_of(columns: Columns, node: int, is_reverse: bool) -> list[Step]:
    """The lines of working of one node on the way forward or back, as those of a small trace are made."""
    figures = Figures(columns.figures)
    known, record = KnownColumns(columns, figures), columns.node(node)
    if is_reverse:
        leaving = columns.carrying(node, "source")
        return list(reverse_steps(record, leaving, known.slope, columns.output, figures, known))
    made = list(forward_steps(record, known.number, figures))
    if columns.mode == "forward":
        arriving = columns.carrying(node, "target")
        made += tangent_steps(record, arriving, known.slope, columns.wrt[0], figures, known)
    return made


def all_steps(columns: Columns) -> Iterator[Step]:
    """Each line of working, record by record."""
    nodes = range(len(columns.graph))
    for node in progress.each(nodes):
        yield from steps_of(columns, node, is_reverse=False)
    if columns.mode == "reverse":
        for node in progress.each(reversed(nodes)):
            yield from steps_of(columns, node, is_reverse=True)
