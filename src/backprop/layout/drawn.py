"""A layered drawing with coordinates: boxes, labels beside their lines, lines from border to border."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from backprop.layout.columns import columns
from backprop.layout.ports import ports
from backprop.layout.shapes import Arrow, Box, Direction, Layers, Layout, Point, Rect, Route, Spacing
from backprop.layout.slots import layered

# A gap between layers grows with the widest way an arrow goes across it, so that lines do not lie flat.
FLATTEST, MOST_GROWTH = 5, 3


def laid_out(
    boxes: Sequence[Box], arrows: Sequence[Arrow], spacing: Spacing | None = None, direction: Direction = "up"
) -> Layout:
    """The drawing of boxes and arrows whose arrows lead `direction`.

    No two boxes or labels overlap; a line passes through none of them; arrows leave and reach a box at places of their
    own, in an order in which they do not cross there. A label stands to the right of its line, or above it when the
    drawing leads right. The same boxes and arrows give the same drawing, and "down" is "up" upside down.

    Raises ValueError as `layered` does.
    """
    return _Drawing(boxes, arrows, spacing or Spacing(), direction).layout()


class _Drawing:
    """A drawing in the making, in its own two directions: `across` along a layer, `along` from layer to layer."""

    def __init__(self, boxes: Sequence[Box], arrows: Sequence[Arrow], spacing: Spacing, direction: Direction) -> None:
        self.boxes, self.arrows, self.spacing, self.direction = boxes, arrows, spacing, direction
        self.layers: Layers = layered(boxes, arrows)
        # How far a slot reaches before and after the line through it, and how deep it is.
        self.before, self.after, self.depth = self._sizes()
        self.across = columns(self.layers.rows, self.layers.ways, self._apart, spacing.whole)
        self.leaving, self.reaching = self._ports()
        self.start, self.end = self._bands()

    def _sizes(self) -> tuple[list[float], list[float], list[float]]:
        before, after, depth = [], [], []
        turned = self.direction == "right"
        for slot in self.layers.slots:
            if slot.box is not None:
                width, height = self.boxes[slot.box]
                if turned:
                    width, height = height, width
                before.append(self._half(width))
                after.append(width - before[-1])
                depth.append(height)
            elif slot.kind == "label":
                arrow = self.arrows[slot.arrow or 0]
                width, height = arrow.width, arrow.height
                gap = self.spacing.label
                before.append(height + gap if turned else 0)
                after.append(0 if turned else width + gap)
                depth.append(width if turned else height)
            else:
                before.append(0)
                after.append(0)
                depth.append(0)
        return before, after, depth

    def _half(self, length: float) -> float:
        return length // 2 if self.spacing.whole else length / 2

    def _apart(self, left: int, right: int) -> float:
        """The least distance of two neighbours in a layer, from line to line."""
        slots, count = self.spacing, len(self.boxes)
        gap = slots.boxes if left < count and right < count else slots.lines
        return self.after[left] + gap + self.before[right]

    def _ports(self) -> tuple[list[float], list[float]]:
        """Where each arrow leaves its source and where it reaches its target, across."""
        leaving: list[list[int]] = [[] for _ in self.boxes]
        reaching: list[list[int]] = [[] for _ in self.boxes]
        for index, arrow in enumerate(self.arrows):
            leaving[arrow.source].append(index)
            reaching[arrow.target].append(index)
        sides = []
        for arrows_at, near in ((leaving, 1), (reaching, -2)):
            found = [0.0] * len(self.arrows)
            for box, ones in enumerate(arrows_at):
                wanted = sorted((self.across[self.layers.ways[one][near]], one) for one in ones)
                middle = self.across[box]
                places = ports(
                    [place for place, _ in wanted],
                    middle - self.before[box],
                    middle + self.after[box],
                    self.spacing.ports,
                    self.spacing.whole,
                )
                for (_, one), place in zip(wanted, places, strict=True):
                    found[one] = place
            sides.append(found)
        return sides[0], sides[1]

    def _bands(self) -> tuple[list[float], list[float]]:
        """Where each layer starts and ends, along."""
        steepness = [0.0] * len(self.layers.rows)
        for index, way in enumerate(self.layers.ways):
            places = [self.leaving[index], *(self.across[slot] for slot in way[1:-1]), self.reaching[index]]
            for slot, (one, other) in zip(way, pairwise(places), strict=False):
                layer = self.layers.slots[slot].layer
                steepness[layer] = max(steepness[layer], abs(one - other))
        start, end, here = [], [], 0.0
        least = self.spacing.layers
        for row, width in zip(self.layers.rows, steepness, strict=True):
            start.append(here)
            end.append(here + max(self.depth[slot] for slot in row))
            here = end[-1] + min(max(least, width // FLATTEST), MOST_GROWTH * least)
        return start, end

    def _border(self, slot: int) -> tuple[float, float]:
        """Where a box or label starts and ends, along: in the middle of its layer."""
        layer = self.layers.slots[slot].layer
        first = self.start[layer] + self._half(self.end[layer] - self.start[layer] - self.depth[slot])
        return first, first + self.depth[slot]

    def layout(self) -> Layout:
        """All of it, turned the way it is read and moved to start at 0."""
        count = len(self.boxes)
        rects = [
            self._rect(box, self.across[box] - self.before[box], self.across[box] + self.after[box])
            for box in range(count)
        ]
        routes = [self._route(index) for index in range(len(self.arrows))]
        labels = [self._label(way) for way in self.layers.ways]
        everything = [*rects, *(one for one in labels if one is not None)]
        left = min((one[0] for one in everything), default=0)
        left = min([left, *(place for route in routes for place, _ in route)])
        right = max((one[1] for one in everything), default=0)
        right = max([right, *(place for route in routes for place, _ in route)])
        length = self.end[-1] if self.end else 0
        width = right - left

        def point(across: float, along: float) -> Point:
            if self.direction == "right":
                return along, across - left
            return across - left, length - along if self.direction == "up" else along

        def rect(first: float, last: float, start: float, end: float) -> Rect:
            (x, y), (other_x, other_y) = point(first, start), point(last, end)
            return Rect(min(x, other_x), min(y, other_y), abs(x - other_x), abs(y - other_y))

        drawn = [
            Route([point(*one) for one in route], None if label is None else rect(*label))
            for route, label in zip(routes, labels, strict=True)
        ]
        size = (length, width) if self.direction == "right" else (width, length)
        return Layout([rect(*one) for one in rects], drawn, *size)

    def _rect(self, slot: int, first: float, last: float) -> tuple[float, float, float, float]:
        return (first, last, *self._border(slot))

    def _label(self, way: Sequence[int]) -> tuple[float, float, float, float] | None:
        """The label of an arrow, beside its line."""
        for slot in way[1:-1]:
            if self.layers.slots[slot].kind == "label":
                line, gap = self.across[slot], self.spacing.label
                if self.direction == "right":
                    return self._rect(slot, line - self.before[slot], line - gap)
                return self._rect(slot, line + gap, line + self.after[slot])
        return None

    def _route(self, index: int) -> list[Point]:
        """The points of an arrow: straight through its layers, aslant only between them."""
        way = self.layers.ways[index]
        leaves, reaches = self.leaving[index], self.reaching[index]
        layer = self.layers.slots[way[0]].layer
        points = [(leaves, self._border(way[0])[1]), (leaves, self.end[layer])]
        for slot in way[1:-1]:
            layer += 1
            points += ((self.across[slot], self.start[layer]), (self.across[slot], self.end[layer]))
        points += ((reaches, self.start[layer + 1]), (reaches, self._border(way[-1])[0]))
        return _without_idle_points(points)


def _without_idle_points(points: Sequence[Point]) -> list[Point]:
    """The points at which the line changes its course."""
    kept: list[Point] = []
    for point in points:
        if kept and point == kept[-1]:
            continue
        if len(kept) > 1 and kept[-2][0] == kept[-1][0] == point[0]:
            kept.pop()
        kept.append(point)
    return kept
