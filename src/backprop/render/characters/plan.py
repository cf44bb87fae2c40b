"""Where boxes, lines and labels stand on a canvas of character cells, with lines that go up, down and aside alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from backprop.layout import Arrow, Box, Direction, Layers, layered
from backprop.layout.columns import columns
from backprop.layout.ports import ports
from backprop.render.characters.channels import Channel, channel

Cell = tuple[int, int]

# The way around a label that stands in its line.
AROUND_LABEL = 2


class Place(NamedTuple):
    """Cells of a text or a box: the top left one, and how many."""

    x: int
    y: int
    width: int
    height: int


class Line(NamedTuple):
    """An arrow: the cells at which it begins, turns and ends, all outside of the boxes, and its label."""

    points: list[Cell]
    label: Place


@dataclass(frozen=True, slots=True)
class Plan:
    """Where everything stands: boxes and arrows in the order asked, in so many columns and rows."""

    boxes: list[Place]
    lines: list[Line]
    width: int
    height: int
    crossings: int  # of two arrows between neighbouring layers


class Distances(NamedTuple):
    """Least distances for a direction, in cells across a layer and along the arrows."""

    boxes: int
    lines: int
    ports: int
    near: int  # lines nearer than this do not pass beside each other
    track: int  # from one track to the next
    before_tracks: int  # cells between a box and the first track


def room_for(count: int, direction: Direction) -> int:
    """The cells that the side of a box has to have for so many arrows, its corners among them."""
    return count + 2 if direction == "right" else 2 * count + 3


@lru_cache(maxsize=16)  # step by step the same graph is drawn again and again, with other words in it
def planned(
    boxes: tuple[Box, ...], framed: tuple[bool, ...], arrows: tuple[Arrow, ...], direction: Direction, plain: bool
) -> Plan:
    """The plan of a drawing whose arrows lead `direction`.

    Boxes hold their frames, and have room for their arrows (`room_for`). An arrow is as wide as its label, which stands
    to the right of its line, or in it when the drawing leads right. No two boxes, labels or lines share a cell, but
    that one line crosses another where one stands and one lies.

    Raises ValueError as `layered` does.
    """
    return _Planning(boxes, framed, arrows, direction, plain).plan()


class _Planning:
    """A plan in the making, in its own two directions: `across` along a layer, `along` from layer to layer."""

    def __init__(
        self, boxes: Sequence[Box], framed: Sequence[bool], arrows: Sequence[Arrow], direction: Direction, plain: bool
    ) -> None:
        self.boxes, self.framed, self.direction = boxes, framed, direction
        self.turned = direction == "right"
        self.apart = Distances(1, 1, 1, 1, 2, 1) if self.turned else Distances(3, 2, 2, 2, 1, int(plain))
        # every arrow has a place of its own in a layer, with a label or without
        self.labels = [(int(arrow.width), max(1, int(arrow.height))) for arrow in arrows]
        placed = [arrow._replace(height=high) for arrow, (_, high) in zip(arrows, self.labels, strict=True)]
        self.layers: Layers = layered(boxes, placed)
        self.before, self.after, self.depth = self._sizes()
        found = columns(self.layers.rows, self.layers.ways, self._distance, whole=True)
        least = min((int(place) - self.before[slot] for slot, place in enumerate(found)), default=0)
        self.across = [int(place) - least for place in found]
        self.leaving, self.reaching = self._ports()
        self.channels = [self._channel(layer) for layer in range(len(self.layers.rows) - 1)]
        self.start, self.end = self._bands()

    def _sizes(self) -> tuple[list[int], list[int], list[int]]:
        """How many cells of a slot stand before its line and from it on, and how many it takes along."""
        before, after, depth = [], [], []
        for slot in self.layers.slots:
            if slot.box is not None:
                width, height = (int(size) for size in self.boxes[slot.box])
                wide, deep = (height, width) if self.turned else (width, height)
                before.append((wide - 1) // 2)
                after.append(wide - before[-1])
                depth.append(deep)
                continue
            width, height = self.labels[slot.arrow or 0] if slot.kind == "label" else (0, 1)
            before.append(0)
            if self.turned:
                after.append(height)
                depth.append(width + 2 * AROUND_LABEL if width else 1)
            else:
                after.append(width + AROUND_LABEL if width else 1)
                depth.append(height)
        return before, after, depth

    def _distance(self, left: int, right: int) -> int:
        count = len(self.boxes)
        gap = self.apart.boxes if left < count and right < count else self.apart.lines
        return self.after[left] + gap + self.before[right]

    def _ports(self) -> tuple[list[int], list[int]]:
        """Where each arrow leaves its source and where it reaches its target, across."""
        ways = self.layers.ways
        sides = []
        for end, near in ((0, 1), (-1, -2)):
            wanted: list[list[tuple[int, int]]] = [[] for _ in self.boxes]
            for index, way in enumerate(ways):
                wanted[way[end]].append((self.across[way[near]], index))
            found = [0] * len(ways)
            for box, ones in enumerate(wanted):
                ones.sort()
                first, last = self.across[box] - self.before[box], self.across[box] + self.after[box] - 1
                if not self.framed[box]:
                    first, last = first - 1, last + 1
                places = self._at(ones, first, last)
                for (_, index), place in zip(ones, places, strict=True):
                    found[index] = place
            sides.append(found)
        return sides[0], sides[1]

    def _at(self, wanted: Sequence[tuple[int, int]], first: int, last: int) -> list[int]:
        """Places strictly between two cells, the distance of ports apart, near where they are wanted."""
        step, count = self.apart.ports, len(wanted)
        free = ports([place for place, _ in wanted], first + 1 - step, last - 1 + step, step, whole=True)
        lowest, highest = first + 1, last - 1 - (count - 1) * step
        found = [int(place) - index * step for index, place in enumerate(free)]
        return [min(max(place, lowest), max(lowest, highest)) + index * step for index, place in enumerate(found)]

    def _channel(self, layer: int) -> tuple[list[int], Channel]:
        """The arrows between a layer and the next one, and how they go there."""
        found, lines = [], []
        for index, way in enumerate(self.layers.ways):
            first = self.layers.slots[way[0]].layer
            step = layer - first
            if 0 <= step < len(way) - 1:
                start = self.leaving[index] if step == 0 else self.across[way[step]]
                end = self.reaching[index] if step == len(way) - 2 else self.across[way[step + 1]]
                found.append(index)
                lines.append((start, end))
        return found, channel(lines, self.apart.near)

    def _bands(self) -> tuple[list[int], list[int]]:
        """Where each layer starts and ends, along. Between them are the tracks, and a cell for the heads of arrows."""
        start, end, here = [], [], 0
        ways, slots = self.layers.ways, self.layers.slots
        reached = {slots[way[-1]].layer for way in ways}
        left = {slots[way[0]].layer for way in ways}
        for layer, row in enumerate(self.layers.rows):
            start.append(here)
            end.append(here + max(self.depth[slot] for slot in row))
            here = end[-1]
            if layer < len(self.channels):
                tracks = self.channels[layer][1].tracks
                here += tracks * self.apart.track
                here += self.apart.before_tracks if layer in left and tracks else 0
                here += 1 if layer + 1 in reached else 0
        return start, end

    def _along(self, box: int) -> tuple[int, int]:
        """Where a box starts and ends, along: in the middle of its layer."""
        layer = self.layers.slots[box].layer
        first = self.start[layer] + (self.end[layer] - self.start[layer] - self.depth[box]) // 2
        return first, first + self.depth[box]

    def _track(self, layer: int, track: int) -> int:
        """The place of a track, along."""
        into = 1 if any(self.layers.slots[way[-1]].layer == layer + 1 for way in self.layers.ways) else 0
        last = self.start[layer + 1] - into
        return last - (self.channels[layer][1].tracks - track) * self.apart.track

    def plan(self) -> Plan:
        """All of it, turned the way it is read."""
        routes = self._routes()
        length = self.end[-1] if self.end else 0

        def cell(across: int, along: int) -> Cell:
            if self.turned:
                return along, across
            return across, length - 1 - along if self.direction == "up" else along

        boxes = []
        for box, (wide, high) in enumerate(self.boxes):
            first, last = self._along(box)
            x, y = cell(self.across[box] - self.before[box], last - 1 if self.direction == "up" else first)
            boxes.append(Place(x, y, int(wide), int(high)))
        lines = [Line([cell(*point) for point in route], self._label(index)) for index, route in enumerate(routes)]
        ends = [(x + width, y + height) for x, y, width, height in (*boxes, *(line.label for line in lines))]
        ends += [(x + 1, y + 1) for line in lines for x, y in line.points]
        return Plan(
            boxes,
            lines,
            max((x for x, _ in ends), default=0),
            max((y for _, y in ends), default=0),
            self.layers.crossings,
        )

    def _label(self, index: int) -> Place:
        """The place of a label: beside its line in the middle of its layer, or in the line."""
        width, height = self.labels[index]
        for slot in self.layers.ways[index][1:-1]:
            if self.layers.slots[slot].kind == "label":
                layer = self.layers.slots[slot].layer
                at = self.across[slot]
                deep = self.end[layer] - self.start[layer]
                if self.turned:
                    return Place(self.start[layer] + (deep - width + 1) // 2, at, width, height)
                first = self.start[layer] + (deep - height) // 2
                y = self.end[-1] - first - height if self.direction == "up" else first
                return Place(at + AROUND_LABEL, y, width, height)
        raise AssertionError("every arrow has a place for its label")

    def _routes(self) -> list[list[Cell]]:
        """The cells, across and along, at which each arrow begins, turns and ends."""
        routes: list[list[Cell]] = []
        for index, way in enumerate(self.layers.ways):
            routes.append([(self.leaving[index], self._along(way[0])[1])])
        for layer, (found, through) in enumerate(self.channels):
            for index, turns in zip(found, through.turns, strict=True):
                route = routes[index]
                for track, column in turns:
                    at = self._track(layer, track)
                    route += ((route[-1][0], at), (column, at))
        for index, way in enumerate(self.layers.ways):
            routes[index].append((self.reaching[index], self._along(way[-1])[0] - 1))
        return [_without_repeats(route) for route in routes]


def _without_repeats(route: Sequence[Cell]) -> list[Cell]:
    return [point for place, point in enumerate(route) if not place or point != route[place - 1]]
