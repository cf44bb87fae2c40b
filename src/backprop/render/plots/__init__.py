"""Drawings of plots: in characters, as SVG, and their numbers as CSV or JSON. A drawing reads a `Plot` and no more."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from backprop.mistakes import UnknownFormat

if TYPE_CHECKING:
    from backprop.plots import Plot
    from backprop.render.look import Look

FORMATS = ("text", "svg", "csv", "json")


def render(plot: Plot, format: str, look: Look, height: int | None = None) -> Iterator[str]:
    """The lines of a plot in a format; `height` is the rows of the text. Raises `UnknownFormat`."""
    if format not in FORMATS:
        raise UnknownFormat(format, list(FORMATS))
    found: Iterator[str] = import_module(f"{__name__}.{format}").render(plot, look, height)
    return found
