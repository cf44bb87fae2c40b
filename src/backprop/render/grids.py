"""Matrices with a name for each row and each column; on a narrow screen a few columns at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backprop.render.look import Look
from backprop.render.tables import Cell, natural_width, table


def grid(
    look: Look, title: str, rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[Cell]]
) -> Iterator[str]:
    """The lines of a matrix.

    >>> for line in grid(Look(), "Hessian", ["x", "y"], ["x", "y"], [["2", "0"], ["0", "4"]]):
    ...     print(line)
    Hessian
       x  y
    ─  ─  ─
    x  2  0
    y  0  4
    """
    widest = max(1, look.width or 1)
    first = 0
    while first < len(columns):
        last = len(columns)
        while look.width is not None and last > first + 1:
            part = [[name, *row[first:last]] for name, row in zip(rows, cells, strict=True)]
            if natural_width(look, ["", *columns[first:last]], part) <= widest:
                break
            last -= 1
        whole = last - first == len(columns)
        if first:
            yield ""
        shown = title if whole else f"{title}, columns {columns[first]} to {columns[last - 1]}"
        part = [[name, *row[first:last]] for name, row in zip(rows, cells, strict=True)]
        yield from table(look, shown, ["", *columns[first:last]], part)
        first = last
