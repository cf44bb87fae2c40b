"""Holes: what the value and the slopes approach beside a point where the output has no value, as sin(x)/x at 0.

With one input there are two sides; with several, the limit has to be the same along every way to the point, so lines
without a pattern are tried, and curves too: x^2*y/(x^4 + y^2) goes to 0 along every line, and to 1/2 along y = x^2.
Where two ways differ there is no limit. Where one cannot be told, nothing is said.

The slope is that of the function with its hole closed. It is taken from a place so near to the hole that the value
there is the limit as good as exactly: (f(p + h) - f(p))/h with p far closer than h.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from backprop.beside.differences import as_double, behind_output, is_heavy, leaf, many, primal
from backprop.beside.limits import Limit, Sample, limit, tends
from backprop.beside.singular import directions, kept
from backprop.graph import CONST, CONSTANTS, INPUT
from backprop.kinds import Hole, is_number
from backprop.point import Point

# The nodes of a graph times its inputs, beyond which no limit is looked for: it would take seconds. And beyond which
# none is followed to where logarithms need it.
MOST, MOST_FAR = 500, 40
# The steps from the hole to the place where a slope is taken are h to this power.
AHEAD = 3

# Places on a circle around the point from which a pole on it is looked for.
AROUND = 24
# How often the room around it is cut to two thirds, twice: each time it is 200 000 times smaller.
THIRDS = 30

# How far each input goes along a curve, by the step h: in proportion, or slower and faster than others.
LOGARITHMIC = "1/log(1/h)"
WAYS: dict[str, Callable[[Any], Any]] = {
    "h": lambda h: h,
    "h^2": lambda h: h * h,
    "h^3": lambda h: h * h * h,
    LOGARITHMIC: lambda h: -1 / h.context.log(h),
}
CURVES = (("h", "h^2"), ("h^2", "h"), ("h", "h^3"), ("h^3", "h^2"), (LOGARITHMIC, "h"), ("h", LOGARITHMIC))


@dataclass(slots=True)
class Closed:
    """The function with its hole closed: the limit of its value, and of its slope in each node that has one.

    `why` says what hinders where there is none: "oscillates", "grows", "direction" or "slopes" (the value has a limit,
    but the slopes along the axes do not give those along other directions).
    """

    value: Any = None
    slopes: dict[int, Any] = field(default_factory=dict)
    why: str = ""


@dataclass(slots=True)
class Approach:
    """What is approached at a hole: `both` from all sides, or apart from `left` and `right` (of one input).

    `side` is "left" or "right" where there are values on that side only. `reason` says why nothing was looked for.
    """

    both: Closed | None = None
    left: Closed | None = None
    right: Closed | None = None
    side: str = ""
    reason: str = ""


def approach(point: Point) -> Approach | None:
    """What the output approaches at a point where it has no value; None where it has one, or nothing can be told.

    >>> from backprop.point import at
    >>> found = approach(at("sin(x)/x", {"x": 0}))
    >>> found.both.value, found.both.slopes
    (1.0, {0: 0.0})
    """
    output, graph = point.answer(), point.graph
    if not isinstance(output, Hole) or output.code not in ("domain", "indeterminate"):
        return None
    if not point.kind.digits or point.kind.propagates:
        return None
    behind = behind_output(graph)
    nodes = [node for node in point.wrt if graph.codes[node] in (INPUT, CONST) and node in behind]
    if not nodes or not all(is_number(point.values[node]) for node in nodes):
        return None
    parts = None
    if len(nodes) > 1:
        from backprop.beside.terms import apart  # few points have no value

        parts = apart(point, nodes)
    if parts is None:
        return _approach(point, nodes)
    found = _approach(parts.point, list(parts.nodes))
    if found is None or found.reason:
        return found
    if found.both is None:  # of several inputs none has a left and a right
        return Approach(both=Closed(why="direction"))
    slopes = {parts.nodes[node]: slope for node, slope in found.both.slopes.items()}
    if is_number(found.both.value) and not found.both.why:
        slopes |= parts.others
    return Approach(both=Closed(found.both.value, {node: slopes[node] for node in sorted(slopes)}, found.both.why))


def _approach(point: Point, nodes: list[int]) -> Approach | None:
    """What the output approaches when these nodes move."""
    graph = point.graph
    if len(graph) * len(nodes) > MOST:
        return Approach(reason=f"no limit is looked for: the graph has {len(graph)} nodes and {len(nodes)} inputs")
    if len(nodes) > 1 and is_heavy(graph):  # half a minute for lgamma(x - y)
        return Approach(reason=f"no limit is looked for: gamma functions of {len(nodes)} inputs take too long")
    beside = _Beside(point, nodes)
    if not isinstance(beside.output(60, [0.0] * len(nodes)), Hole):
        beside.constants = {}  # the number given for x is π as a double, say, and 1/(x - pi) is meant
        if not isinstance(beside.output(60, [0.0] * len(nodes)), Hole):
            return None  # doubles have lost the value; mathematics has it
    found = _on_a_line(beside) if len(nodes) == 1 else _in_a_space(beside)
    return found if found is None or found.both or found.left or found.right else None


class _Beside:
    """The output beside the point, when some nodes move.

    The `constants` are those of mathematics: with π as a double, sin(pi*x)/(x - 1) would have a pole at 1.
    """

    def __init__(self, point: Point, nodes: list[int]) -> None:
        self.point, self.nodes, self.heavy = point, nodes, is_heavy(point.graph)
        literals = point.graph.literals.items()
        self.constants = {node: text for node, text in literals if text.removeprefix("-") in CONSTANTS.values()}

    def output(self, digits: int, offsets: list[Any]) -> Any:
        """The output with so many digits when each node is moved by its offset, in units of its size."""
        kind = many(digits)
        moved = {node: kind.number(text) for node, text in self.constants.items()}
        for node, offset in zip(self.nodes, offsets, strict=True):
            x = leaf(self.point, kind, node)
            moved[node] = x + offset * (abs(x) or 1)
        return primal(self.point, self.point.graph, digits, moved)[1][self.point.graph.output]

    def way(self, direction: list[float], ways: Sequence[str] = ()) -> Sample:
        """The value along a way to the point: a line, or a curve that goes in each direction by a way of its own."""
        by = [WAYS[way] for way in ways or ["h"] * len(direction)]

        def sample(exponent: int, factor: str, digits: int) -> Any:
            h = many(digits).number(f"{factor}e-{exponent}")
            return self.output(digits, [part * way(h) for part, way in zip(direction, by, strict=True)])

        return sample

    def value(self, direction: list[float], ways: Sequence[str] = ()) -> Limit:
        """The limit of the value along a way to the point."""
        far = not ways and len(self.point.graph) * len(self.nodes) <= MOST_FAR
        return limit(self.way(direction, ways), far=far, digits=self.point.kind.digits, heavy=self.heavy)

    def slope(self, base: list[float], direction: list[float]) -> Limit:
        """The limit of the slope along a direction, from a place that goes to the point along `base` far faster."""

        def sample(exponent: int, factor: str, digits: int) -> Any:
            kind = many(digits)
            h, start = kind.number(f"{factor}e-{exponent}"), kind.number(f"{factor}e-{exponent * AHEAD}")
            here = self.output(digits, [start * part for part in base])
            there = self.output(digits, [start * part + h * by for part, by in zip(base, direction, strict=True)])
            return (there - here) / h if is_number(here) and is_number(there) else there if is_number(here) else here

        return limit(sample, far=False, depth=AHEAD, digits=self.point.kind.digits, heavy=self.heavy)

    def units(self, place: int) -> Any:
        """The size of a node: what one unit of its offset is."""
        return abs(leaf(self.point, many(60), self.nodes[place])) or 1

    def kept(self, value: Any) -> Any:
        """A number of many digits as one of the kind."""
        return kept(self.point, value)


def _on_a_line(beside: _Beside) -> Approach | None:
    sides: dict[str, Closed | None] = {}
    for side, sign in (("left", -1.0), ("right", 1.0)):
        value = beside.value([sign])
        if value.sort == "unclear":
            return None
        sides[side] = None if value.sort == "none" else _closed(beside, value, sign)
    left, right = sides["left"], sides["right"]
    if left is None or right is None:
        return Approach(both=left or right, side="left" if right is None else "right")
    if left.value is not None and left.value == right.value:
        (node,) = beside.nodes
        slopes = [side.slopes.get(node) for side in (left, right)]
        if slopes[0] is not None and _same(slopes[0], slopes[1]):
            return Approach(both=Closed(left.value, {node: slopes[0]}))
        if slopes[0] is None and slopes[1] is None:
            return Approach(both=Closed(left.value, {}, left.why or right.why))
    elif left.value == right.value and left.why == right.why:
        return Approach(both=left)
    return Approach(left=left, right=right)


def _closed(beside: _Beside, value: Limit, sign: float) -> Closed:
    """One side of a hole of one input."""
    if value.sort == "oscillates":
        return Closed(why="oscillates")
    if value.sort == "infinite":
        return Closed(beside.kept(value.value), why="grows")
    (node,) = beside.nodes
    slope = beside.slope([sign], [sign])
    found = Closed(beside.kept(value.value), why="slope oscillates" if slope.sort == "oscillates" else "")
    if slope.exists:
        found.slopes[node] = beside.kept(sign * slope.value / beside.units(0))
    return found


def _same(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return False
    if not is_number(one) or not is_number(other):
        return bool(one == other)  # the distance of two infinities tells nothing
    return bool(one == other) or bool(abs(one - other) <= 1e-12 * abs(as_double(one)))


def _in_a_space(beside: _Beside) -> Approach | None:
    count = len(beside.nodes)
    ways = [(direction, beside.value(direction)) for direction in _lines(count)]
    told = [(direction, one) for direction, one in ways if one.sort not in ("none", "unclear")]
    if not told or any(one.sort == "unclear" for _, one in ways):
        return None if not _differ([one for _, one in told]) else Approach(both=Closed(why="direction"))
    if any(one.sort == "oscillates" for _, one in told):
        return Approach(both=Closed(why="oscillates"))
    first, lines = told[0][1], [direction for direction, _ in told]
    if _differ([one for _, one in told]):
        return Approach(both=Closed(why="direction"))
    for direction, ways_of in _curves(count, lines):
        one = beside.value(direction, ways_of)
        if one.sort == "none" or (one.sort == "unclear" and tends(beside.way(direction, ways_of), first)):
            continue
        if one.sort == "unclear":
            return None
        if one.sort == "oscillates" or _differ([first, one]):
            return Approach(both=Closed(why="direction"))
    if first.sort == "infinite":
        return Approach(both=Closed(beside.kept(first.value), why="grows"))
    if _has_a_pole_around(beside, first.value):
        return Approach(both=Closed(why="direction"))
    return Approach(both=_with_slopes(beside, first.value, lines))


def _has_a_pole_around(beside: _Beside, value: Any) -> bool:
    """Whether the output grows without bound on a small circle around the point, as x*y/(x + y) does where y is -x.

    Then a curve that leaves the point along such a place has another limit than every line. The largest value on the
    circle is looked for by thirds: that of a function without poles is soon found, and near a pole it grows with each.
    """
    count, digits = len(beside.nodes), 200
    kind = many(digits)
    radius = kind.number("1e-8")
    for one, other in zip(islice(directions(count), 0, 4, 2), islice(directions(count), 1, 4, 2), strict=True):

        def size(angle: Any, one: list[float] = one, other: list[float] = other) -> Any:
            cosine, sine = kind.context.cos(angle), kind.context.sin(angle)
            found = beside.output(digits, [radius * (cosine * x + sine * y) for x, y in zip(one, other, strict=True)])
            return abs(found - value) if is_number(found) else kind.number("0")

        step = 2 * kind.pi / AROUND
        sizes = [size((place + kind.number("0.3719")) * step) for place in range(AROUND)]
        for place in sorted(range(AROUND), key=sizes.__getitem__)[-3:]:
            low, high = (place - kind.number("0.63")) * step, (place + kind.number("1.37")) * step
            seen = [sizes[place]]
            for _ in range(2):
                for _ in range(THIRDS):
                    third = (high - low) / 3
                    if size(low + third) < size(high - third):
                        low += third
                    else:
                        high -= third
                seen.append(size((low + high) / 2))
            start, nearer, end = seen
            # near a pole it grows by the same factor again; towards a peak, as that of exp(-1/(x^2 + y^2)), by far less
            if end > 1000 * max(*sizes, nearer) and end**2 * start > nearer**3:
                return True
    return False


def _differ(limits: list[Limit]) -> bool:
    return any(one.sort != limits[0].sort or not _same(limits[0].value, one.value) for one in limits[1:])


def _with_slopes(beside: _Beside, value: Any, bases: list[list[float]]) -> Closed:
    """The slopes along the axes of a function with its hole closed, if they give those along other directions."""
    count = len(beside.nodes)
    base, found = bases[0], Closed(beside.kept(value))
    slopes: list[Any] = []
    for place in range(count):
        axis = [float(other == place) for other in range(count)]
        sides = [(sign, beside.slope(base, [sign * part for part in axis])) for sign in (1.0, -1.0)]
        there = [(sign, one) for sign, one in sides if one.sort != "none"]
        if not there or any(one.sort == "unclear" for _, one in there):
            return found
        if any(one.sort == "oscillates" for _, one in there):
            return Closed(found.value, why="slope oscillates")
        ends = [sign * one.value for sign, one in there]
        if len(ends) == 2 and not _same(ends[0], ends[1]):
            return Closed(found.value, why="slopes")
        slopes.append(ends[0])
    if all(map(is_number, slopes)):
        for other in bases[:3]:
            along = beside.slope(base, other)
            expected = sum(slope * by for slope, by in zip(slopes, other, strict=True))
            if along.sort in ("none", "unclear"):
                continue
            size = max(abs(slope * by) for slope, by in zip(slopes, other, strict=True))
            if not along.exists or not abs(along.value - expected) <= 1e-9 * (abs(expected) + size):
                return Closed(found.value, why="slopes")
    for place, node in enumerate(beside.nodes):
        found.slopes[node] = beside.kept(slopes[place] / beside.units(place))
    return found


def _lines(count: int) -> Iterator[list[float]]:
    """Directions to try: all forwards, all backwards, and some without a pattern, towards each quadrant of a plane."""
    patterns = [(1, 1), (-1, -1), (1, -1), (-1, 1)]
    for number, direction in zip(range(6), directions(count), strict=False):
        sizes = [abs(part) for part in direction]
        if number < len(patterns):
            yield [size * patterns[number][place % 2] for place, size in enumerate(sizes)]
        else:
            yield direction


def _curves(count: int, bases: list[list[float]]) -> Iterator[tuple[list[float], list[str]]]:
    """Curves to try, towards quadrants in which there are values."""
    for number, curve in enumerate(CURVES):
        yield bases[number % len(bases)], [curve[(place + number * (count > 2)) % 2] for place in range(count)]
