"""The structure of a layered drawing: each box in a layer, each arrow cut into slots, each layer in order."""

from __future__ import annotations

from collections.abc import Sequence

from backprop.layout.crossings import ordered
from backprop.layout.ranks import ranked
from backprop.layout.shapes import Arrow, Box, Layers, Slot


def layered(boxes: Sequence[Box], arrows: Sequence[Arrow]) -> Layers:
    """Layers from what the arrows leave to what they reach, with short arrows and few crossings.

    An arrow with a label passes at least one layer, where its label has a slot of its own; every other layer it passes
    has a bend of it. Arrows that join the same two boxes keep slots apart.

    Raises ValueError for an arrow from or to a box that is not there, and for arrows that lead round in a circle.
    """
    for arrow in arrows:
        if not (0 <= arrow.source < len(boxes) and 0 <= arrow.target < len(boxes)):
            raise ValueError(f"{arrow} joins a box that is not among the {len(boxes)}")
    layer = ranked(len(boxes), [(arrow.source, arrow.target, 2 if arrow.labelled else 1) for arrow in arrows])
    with_boxes = set(layer)
    slots = [Slot("box", layer[box], box=box) for box in range(len(boxes))]
    ways: list[list[int]] = []
    for index, arrow in enumerate(arrows):
        start, end = layer[arrow.source], layer[arrow.target]
        middle = _middle(start, end, with_boxes) if arrow.labelled else None
        first = len(slots)
        slots += (Slot("label" if place == middle else "bend", place, arrow=index) for place in range(start + 1, end))
        ways.append([arrow.source, *range(first, len(slots)), arrow.target])
    rows, crossings = ordered([slot.layer for slot in slots], ways)
    return Layers(slots, rows, ways, crossings)


def _middle(start: int, end: int, with_boxes: set[int]) -> int:
    """The layer for a label: the middle one, or one beside it that holds no boxes, where labels take no room."""
    middle = (start + end) // 2
    return min((middle, middle + 1, middle - 1), key=lambda layer: not start < layer < end or layer in with_boxes)
