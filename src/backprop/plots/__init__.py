"""Plots: what a plot shows, as records: panels of curves and marks, their axes, and what is to be said beside them.

`curves` makes those of value and derivative over an input (`breaks` tells where they break), `runs` those of descent,
difference quotients and adjoints. A plot has no look and no size; `render.plots` draws it. A point is two finite
numbers: what has no value is in no curve, and a curve of several pieces has a gap between them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

FORMAT, VERSION = "backprop-plot", 1

Pair = tuple[float, float]


@dataclass(slots=True)
class Axis:
    """A direction of a panel: its label, from where to where it goes, and whether it counts powers of ten."""

    label: str
    low: float
    high: float
    log: bool = False
    whole: bool = False  # it counts things: no tick between whole numbers


@dataclass(slots=True)
class Curve:
    """One line or cloud of a panel, in pieces that are not joined.

    `role` is that of its colour, `style` how it is drawn: "solid", "dashed", "dotted", or "points" for no line at all;
    `dots` says that its points are shown on the line.
    """

    name: str
    role: str
    pieces: list[list[Pair]] = field(default_factory=list)
    style: str = "solid"
    dots: bool = False


@dataclass(slots=True)
class Mark:
    """Something to be seen at one place.

    `sort` is "kink", "open" (an end that does not belong to the curve), "closed" (one that does), "pole" (a line at x,
    `y` is absent), "best", "here" (the value that an input was given) or "name".
    """

    sort: str
    x: float
    y: float | None = None
    text: str = ""


@dataclass(slots=True)
class Panel:
    """Curves that share their axes."""

    title: str
    x: Axis
    y: Axis
    curves: list[Curve]
    marks: list[Mark] = field(default_factory=list)


@dataclass(slots=True)
class Note:
    """A sentence below a plot; `code` is its sort: "undefined", "kink", "jump", "hole", "pole", "left-out", ..."""

    code: str
    text: str
    x: float | None = None


@dataclass(slots=True)
class Plot:
    """Panels one below the other. `sort` is "over", "descent", "check" or "gradients"; `title` the program.

    `points` are the numbers behind it, a row each with the names of `columns`; None is what has no value.
    """

    sort: str
    title: str
    says: str
    panels: list[Panel]
    columns: list[str]
    points: list[list[Any]]
    notes: list[Note] = field(default_factory=list)
    exit_code: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON holds it; absent things are absent."""
        record: dict[str, Any] = {"format": FORMAT, "version": VERSION, "sort": self.sort, "program": self.title}
        record |= {"says": self.says, "columns": self.columns, "points": self.points}
        record["marks"] = [_present(mark) | {"panel": one.title} for one in self.panels for mark in one.marks]
        record["notes"] = [_present(note) for note in self.notes]
        return record


def _present(item: Mark | Note) -> dict[str, Any]:
    found = {name: getattr(item, name) for name in item.__slots__}
    return {name: value for name, value in found.items() if value is not None and value != ""}
