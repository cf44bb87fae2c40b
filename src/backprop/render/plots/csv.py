"""The points of a plot as CSV, a row each with every digit; an empty cell is what has no value."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from backprop.plots import Plot
from backprop.render.look import Look


def render(plot: Plot, look: Look, height: int | None = None) -> Iterator[str]:
    """The names of the columns, then the points."""
    for row in (plot.columns, *plot.points):
        written = io.StringIO()
        csv.writer(written, lineterminator="").writerow(row)
        yield look.letters(written.getvalue())
