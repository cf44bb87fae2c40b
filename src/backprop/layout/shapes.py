"""What a layout is asked and what it answers: boxes, arrows, layers of slots, rectangles and routes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Direction = Literal["up", "down", "right"]  # where the arrows lead
Point = tuple[float, float]


class Box(NamedTuple):
    """A box to be placed, by its size as it is read, whatever the direction of the drawing."""

    width: float
    height: float


class Arrow(NamedTuple):
    """An arrow between two boxes, by their indexes, with the size of the label beside it; 0 by 0 is no label."""

    source: int
    target: int
    width: float = 0.0
    height: float = 0.0

    @property
    def labelled(self) -> bool:
        """Whether something stands on it."""
        return self.width > 0 or self.height > 0


@dataclass(frozen=True, slots=True)
class Spacing:
    """Least distances, in the unit of the boxes."""

    boxes: float = 24.0  # between two boxes of a layer
    lines: float = 14.0  # between a line or a label and its neighbour in a layer
    layers: float = 22.0  # between two layers
    ports: float = 12.0  # between two arrows at a side of a box, where it is wide enough
    label: float = 4.0  # between a line and its label
    whole: bool = False  # every coordinate is a whole number; for sizes and distances that are


class Slot(NamedTuple):
    """A place in a layer: of a box, or of an arrow on its way through, which bends there or has its label there."""

    kind: Literal["box", "bend", "label"]
    layer: int
    box: int | None = None  # the box in it
    arrow: int | None = None  # the arrow that goes through it


@dataclass(frozen=True, slots=True)
class Layers:
    """The structure of a layered drawing, before any coordinate.

    Slot i is that of box i; those of arrows follow. `rows[k]` lists the slots of layer k in order, from left to right
    (from top to bottom when the drawing leads right); layer 0 is the one all arrows lead away from. `ways[a]` are the
    slots of arrow a from its source to its target, one in each layer from the one to the other.
    """

    slots: list[Slot]
    rows: list[list[int]]
    ways: list[list[int]]
    crossings: int  # of two arrows between neighbouring layers


class Rect(NamedTuple):
    """A placed rectangle, by its top left corner; y grows downwards."""

    x: float
    y: float
    width: float
    height: float


class Route(NamedTuple):
    """An arrow as drawn: its points from the border of its source to the border of its target, and its label."""

    points: list[Point]
    label: Rect | None


@dataclass(frozen=True, slots=True)
class Layout:
    """A drawing with coordinates: boxes and arrows in the order asked, inside 0..width and 0..height."""

    boxes: list[Rect]
    arrows: list[Route]
    width: float
    height: float
