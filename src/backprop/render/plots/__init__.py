"""Drawings of plots: in characters, as SVG, and their numbers as CSV or JSON. A drawing reads a `Plot` and no more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
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


def image(plot: Plot, look: Look, height: int | None = None) -> Iterator[bytes]:
    """The plot as PNG, on a light ground unless `look.view` asks for a dark one. Raises `ExtraMissing`."""
    from backprop.render.plots.svg import FONTS, WIDTH
    from backprop.render.png import pixels

    ground = replace(look.view, light=look.view.light is not False)
    lines = [line.replace(FONTS, "JetBrains Mono") for line in render(plot, "svg", replace(look, view=ground), height)]
    found = re.search(r'height="(\d+)"', lines[0])
    assert found is not None
    yield pixels("\n".join(lines), WIDTH, int(found[1]))
