"""A plot as JSON: its points, marks and notes."""

from __future__ import annotations

from collections.abc import Iterator

from backprop.plots import Plot
from backprop.render.json import indented
from backprop.render.look import Look


def render(plot: Plot, look: Look, height: int | None = None) -> Iterator[str]:
    """The lines of the record."""
    yield from indented(plot.to_dict(), look.ascii)
