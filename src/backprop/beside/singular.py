"""Singular points: where the rules alone cannot tell a slope, it comes from values beside the point.

Rules fail in two ways. A partial may be infinite and meet a 0, as in sqrt(x^2)^2 at 0, where the whole is as smooth as
x^2. And at a kink each rule gives a number by convention, but conventions do not add up: relu(x) - relu(-x) is x, yet
both rules give 0 at 0. In both the slopes of the whole from left and right decide. Where they are one, that is the
derivative. Where they differ, the answer lies between them; the number of the rules is kept if it does, and else it is
chosen anew (`chosen`). Where the quotients grow without bound there is none.

Slopes along the axes are not yet a gradient: they have to give the slopes along other directions too. Where several
inputs meet at a corner, the subgradients are the convex hull of the gradients beside the point (Clarke, Optimization
and Nonsmooth Analysis, 1983, theorem 2.5.1), which is more than an interval for each input.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from backprop import ops
from backprop.beside.differences import (
    EPSILON,
    MOST_EVALUATIONS,
    Side,
    Slopes,
    affordable,
    along,
    as_double,
    cut,
    exactly,
    exponents,
    is_heavy,
    leaf,
    levels,
    many,
    nearer,
    nearer_at,
    of_sides,
    primal,
    size_of,
    slopes,
    weights,
)
from backprop.beside.limits import SCALES, Limit, Sample, limit
from backprop.graph import CONST, INPUT
from backprop.kinds import MINIMUM_NORM, REFUSALS, Hole, Refused, is_number, value_at
from backprop.point import Point
from backprop.reverse import reverse
from backprop.rules import is_kink, kinks, partials

# Directions that are tried between the axes, and gradients that are looked at beside a corner of several inputs.
DIRECTIONS = 6
# Slopes between the axes that differ by this part from what those along them make are other slopes.
SURE = 1e-12
# A limit that was followed to its end may be off by this part of it.
FOLLOWED = 1e-15
# Beyond so many inputs at one corner the convex hull is not worked out.
MOST_AT_A_CORNER = 24


# Two doubles that differ by no more than this part of them are one number, rounded in two ways.
ROUNDED = 2.0**-50


@dataclass(slots=True)
class Singular:
    """One input at a singular point: the `slope` that answers, what the `rules` give, and the slopes of both `sides`.

    `node` is the first node with a kink on the way or, when `hole`, the one whose rule has no number. `apart` says that
    the slopes along the axes do not give those along other directions; `sort` is what there is (`SORTS`).
    """

    slope: Any
    rules: Any
    sides: Slopes
    node: int
    hole: bool
    apart: bool = False
    sort: str = ""
    left: Any = None
    right: Any = None
    # at a corner: from where to where a subgradient may lie along this axis
    low: Any = None
    high: Any = None
    # whether the slope is that of the smallest subgradient of the whole; the rules take the smallest at each operation
    smallest: bool = False

    @property
    def without_slope(self) -> str:
        """Why differences along the axis have no slope that could be compared with the answer; "" when they have."""
        return "the slope between the axes is another" if self.apart else WITHOUT_SLOPE.get(self.sort, "")

    @property
    def within(self) -> Any:
        """The slope that answers; where it is beyond an end by its rounding alone, that end."""
        ends = [end for end in (self.left, self.right) if isinstance(end, float)]
        if not isinstance(self.slope, float) or self.sort != "corner" or len(ends) < 2:
            return self.slope
        end = min(max(self.slope, min(ends)), max(ends))
        return end if 0 < abs(end - self.slope) <= ROUNDED * abs(end) else self.slope

    @property
    def mended(self) -> bool:
        """Whether the answer is another one than that of the rules."""
        return self.slope is not self.rules


# What the values beside a point show of an input.
SORTS = {
    "smooth": "the slope is the same from both sides: a derivative",
    "corner": "the slopes from left and right differ, or those between the axes",
    "jump": "the value jumps",
    "edge": "there are values on one side only, and a slope from there",
    "vertical": "the slope grows without bound",
    "none": "the slopes have no limit",
    "unclear": "nothing can be told",
}


# Why differences have no slope to compare.
WITHOUT_SLOPE = {
    "jump": "the value jumps",
    "vertical": "the slope is infinite",
    "none": "the slopes have no limit",
    "unclear": "the slopes are not steady",
}


class Singulars(dict[int, Singular]):
    """The inputs at a singular point, by node; `reason` says why the values beside it were not looked at."""

    reason: str = ""


def singular(point: Point) -> Singulars:
    """The inputs for which the rules alone cannot tell the slope, with what is known beside the point.

    >>> from backprop.point import at
    >>> {one.slope for one in singular(at("relu(x) - relu(-x)", {"x": 0})).values()}
    {1.0}
    """
    graph = point.graph
    found = Singulars()
    # a plain tape has its rules and nothing else
    if not point.kind.digits or point.kind.propagates or point.is_ordinary or not is_number(point.value()):
        return found
    if 5 * len(graph) > MOST_EVALUATIONS:
        found.reason = f"the graph has {len(graph)} nodes"
        return found
    given, met = point.by_rules(), first_kinks(point)
    holes = [node for node in point.wrt if isinstance(given[point.name_of(node)], Hole)]
    # what a kind refuses it shall not get by another way
    refused = [node for node in holes if given[point.name_of(node)].code in REFUSALS]
    holes = [node for node in holes if node not in refused]
    nodes = [node for node in point.wrt if node in holes or (met[node] >= 0 and node not in refused)]
    if not nodes:
        return found
    if len(graph) * (1 + 4 * len(nodes)) > MOST_EVALUATIONS:
        found.reason = f"the graph has {len(graph)} nodes, and {len(nodes)} inputs are at a kink"
        return found
    weight, doubtful = weights(point), _conventions_may_fail(point, {kink for kink in met if kink >= 0})
    for node in nodes:
        rules = given[point.name_of(node)]
        sides = slopes(point, node, weight[node])
        rough = sides.central is None or sides.digits < point.kind.digits
        if sides.ends is not None and (sides.reason or (rough and any(map(_is_rough, sides.ends)))):
            sides = _looked_at_closely(point, node, sides)
        one = Singular(rules, rules, sides, rules.node if node in holes else met[node], node in holes)
        _tell(point, node, one)
        if node in holes or doubtful:
            one.slope = _answer(point, one, weight[node])
        elif one.sort == "corner" and point.convention != MINIMUM_NORM:
            number = chosen(one.left, one.right, point.convention)
            one.slope = one.rules if number == one.rules else number
        if one.sort in ("jump", "edge", "vertical", "none") and point.convention != MINIMUM_NORM:
            one.slope = _from_the_side(one, point.convention)
        if one.sort == "corner" and is_number(one.left) and is_number(one.right):
            one.low, one.high = min(one.left, one.right), max(one.left, one.right)
            one.smallest = bool(one.slope == chosen(one.left, one.right))
        found[node] = one
    _look_between_the_axes(point, found, doubtful)
    return found


def kept(point: Point, value: Any) -> Any:
    """A number of many digits as one of the kind; None where the kind has none."""
    try:
        return point.kind.nearest(value)
    except Refused:
        return None


def chosen(left: Any, right: Any, convention: str = MINIMUM_NORM) -> Any:
    """The number that is taken where every one between the slopes on both sides is a subgradient.

    It is the smallest, unless the convention is another: "mean", "left", "right" or "nan".

    >>> chosen(-1.0, 1.0), chosen(2.0, 1.0), chosen(-2.0, -1.0), chosen(0.0, 1.0, "mean")
    (0.0, 1.0, -1.0, 0.5)
    """
    if convention != MINIMUM_NORM:
        return {"left": left, "right": right, "mean": (left + right) / 2, "nan": left * math.nan}[convention]
    low, high = min(left, right), max(left, right)
    return low if low > 0 else high if high < 0 else low * 0 + 0


def _from_the_side(one: Singular, convention: str) -> Any:
    """What a convention takes where there are no two finite slopes to choose between."""
    if convention == "mean":
        return one.slope
    if convention == "nan":
        return math.nan
    side = one.left if convention == "left" else one.right
    if not is_number(side):
        return Hole(one.node, "no-slope", detail=f"from the {convention}")
    return one.rules if side == one.rules else side


def _is_rough(end: Side) -> bool:
    """Whether a slope is not yet good to all digits: that of x*sqrt(x) + x moves with the root of the step."""
    return end.sort == "slope" and end.apart > 1e-18


def _looked_at_closely(point: Point, node: int, sides: Slopes) -> Slopes:
    """The two sides where a few steps did not tell them: powers and logarithms of the step, followed to their end."""
    assert sides.ends is not None
    ends = []
    for end, sign in zip(sides.ends, (-1, 1), strict=True):
        if end.sort in ("unclear", "steep") or _is_rough(end):
            told = _limit(point, quotient(point, node, sign))
            sort = {"number": "slope", "infinite": "steep"}.get(told.sort, told.sort)
            if sort == "slope" and told.value == 0:
                sort = "zero"
            if told.sort != "unclear" or end.sort == "unclear":
                end = Side(sort, told.value, FOLLOWED)
        ends.append(end)
    left, right = ends
    found = of_sides(left, right)
    return replace(found, ends=(left, right))


def _limit(point: Point, sample: Sample, depth: int = 1) -> Limit:
    far = depth == 1 and len(point.graph) <= 40
    return limit(sample, far, depth, point.kind.digits, is_heavy(point.graph))


def quotient(point: Point, node: int, sign: int, ahead: int = 0) -> Sample:
    """(f(x + h) - f(x))/h towards one side, as `limits.limit` samples it.

    With `ahead` it starts not at x but h^ahead from it: the slope beside a jump or a hole.
    """
    graph = cut(point.graph, node)
    shorter = nearer(point, {node: size_of(point, node)}, -SCALES[0])

    def sample(exponent: int, factor: str, digits: int) -> Any:
        kind = many(digits + shorter * max(1, ahead))
        x = leaf(point, kind, node)
        size = (abs(x) or kind.number("1")) * kind.number(f"1e-{shorter}")
        h = sign * kind.number(f"{factor}e-{exponent}") * size
        start = x + sign * kind.number(f"{factor}e-{exponent * ahead}") * size if ahead else x
        low = primal(point, graph, kind.digits, {node: start})[1][graph.output]
        high = primal(point, graph, kind.digits, {node: start + h})[1][graph.output]
        return (high - low) / h if is_number(low) and is_number(high) else high if is_number(low) else low

    return sample


def _tell(point: Point, node: int, one: Singular) -> None:
    """Put in what sort of point it is, and the slopes from left and right as numbers of the kind."""
    sides = one.sides
    if sides.central is not None:
        one.sort = "smooth"
        one.left = one.right = kept(point, sides.central)
        return
    if sides.ends is None:
        one.sort = "unclear"
        return
    sorts = {end.sort for end in sides.ends}
    numbers: list[Any] = []
    for end, sign in zip(sides.ends, (-1, 1), strict=True):
        value = end.value if end.sort in ("slope", "zero", "flat", "steep") else None
        if end.sort == "jump":
            beside = _limit(point, quotient(point, node, sign, ahead=3), depth=3)
            value = beside.value if beside.exists else None
        numbers.append(None if value is None else kept(point, value))
    one.left, one.right = numbers
    clear = {"slope", "zero", "flat"}
    if "jump" in sorts:
        one.sort = "jump"
    elif "steep" in sorts:
        one.sort = "vertical"
    elif sorts <= clear:
        one.sort = "corner"
    elif "none" in sorts and sorts & clear:
        one.sort = "edge"
    else:
        one.sort = "none" if "oscillates" in sorts or sorts == {"none"} else "unclear"


# How far the output takes notice of a node: of its jumps alone, or of all that it does.
_BY_JUMPS, _FULLY = 1, 2


def first_kinks(point: Point) -> list[int]:
    """For each node the first kink that the output meets on a way from it, -1 where there is none.

    A condition at its boundary is one. Behind a branch not taken nothing is met, and behind what is locally constant
    only what jumps: the floor in clip(floor(x), -1, 0), say.
    """
    graph, known = point.graph, point.values
    met = [-1] * len(graph)
    at_kink = set(kinks(graph, point.kind, known))
    if not at_kink:
        return met  # the ordinary point, which pays for nothing else
    depends, reached = _depend(point), bytearray(len(graph))
    reached[graph.output] = _FULLY
    for node in range(graph.output, -1, -1):
        if not (reached[node] and depends[node]) or graph.codes[node] < 0:
            continue
        if node in at_kink and (reached[node] == _FULLY or _jumps(point, node)):
            met[node] = node  # else it passes on what was met above it
        for index in range(graph.offsets[node], graph.offsets[node + 1]):
            operand = graph.args[index]
            if known[operand] is None:
                continue
            constant = point.partials.exact_zero[index] and met[node] != node
            reached[operand] = max(reached[operand], _BY_JUMPS if constant else reached[node])
            if met[node] >= 0 and (met[operand] < 0 or met[node] < met[operand]):
                met[operand] = met[node]
    return met


def _jumps(point: Point, node: int) -> bool:
    """Whether the value of a node at a kink jumps there; that of a condition does."""
    graph, row = point.graph, ops.rows()[point.graph.codes[node]]
    if row.gives_condition:
        return True
    for position, operand in enumerate(graph.operands(node)):
        shorter = nearer_at(point, node, position, -30)
        kind = many(levels(point.kind)[0] + shorter)
        at = [exactly(kind, point.values[operand]) for operand in graph.operands(node)]
        middle, size = value_at(node, row, kind, at), abs(at[position]) or 1
        for step in (f"1e-{30 + shorter}", f"-1e-{30 + shorter}"):
            moved = list(at)
            moved[position] += kind.number(step) * size
            value = value_at(node, row, kind, moved)
            if is_number(value) and abs(value - middle) > kind.number(f"1e-{15 + shorter}") * size:
                return True
    return False


def _conventions_may_fail(point: Point, kinks: set[int]) -> bool:
    """Whether the numbers taken at kinks may be wrong together, though each is right.

    Several kinks may cancel; at a jump, or the boundary of a condition, the value at the one point is another than
    beside it, and so is every rule that it stands in, as in cos(sign(x))*x; and what is a kink in doubles
    (0.1 + 0.2 - 0.30000000000000004) need not be one.
    """
    graph, rows = point.graph, ops.rows()
    if len(kinks) != 1:
        return bool(kinks)
    (node,) = kinks
    row = rows[graph.codes[node]]
    if row.gives_condition or row.jumps:
        return True
    kind, known = primal(point, graph, levels(point.kind)[0], {})
    operands = [known[operand] for operand in graph.operands(node)]
    return not (all(map(is_number, operands)) and is_kink(row, kind, operands, known[node]))


def _depend(point: Point) -> bytearray:
    """Marks the nodes that depend on those asked for in any way, by a condition too."""
    depends = bytearray(len(point.graph))
    for node in point.wrt:
        depends[node] = 1
    for node in range(len(depends)):
        if any(depends[operand] for operand in point.graph.operands(node)):
            depends[node] = 1
    return depends


def _answer(point: Point, one: Singular, weight: float) -> Any:
    """The number that answers: that of the rules where it may stand, else what the values beside the point tell."""
    sides = one.sides
    ends = [end for end in (one.left, one.right) if end is not None]
    if one.sort in ("none", "vertical") and not isinstance(one.rules, Hole):
        # a branch that holds at this one point alone has a slope of its own, which says nothing of the whole
        between = ends and min(ends) <= one.rules <= max(ends)
        return one.rules if between else Hole(one.node, "no-slope")
    if not ends or one.sort not in ("smooth", "corner", "edge") or sides.reason or not all(map(is_number, ends)):
        return one.rules
    low, high = min(ends), max(ends)
    if one.sort == "corner" and point.convention != MINIMUM_NORM:
        return chosen(one.left, one.right, point.convention)
    if not isinstance(one.rules, Hole):
        allowed = 1e-10 * max(as_double(abs(low)), as_double(abs(high))) + 64 * EPSILON * weight
        if as_double(low) - allowed <= as_double(one.rules) <= as_double(high) + allowed:
            return one.rules
    return low if one.sort == "smooth" else chosen(low, high)


# -- several inputs -----------------------------------------------------------------------------------------------


def _look_between_the_axes(point: Point, found: dict[int, Singular], doubtful: bool) -> None:
    """Where several inputs are singular: whether slopes along the axes give those between them, and what flows if not.

    Slopes that the rules did not have are taken back where they do not, as of sqrt(x*y) at the origin.
    """
    straight = {node: one for node, one in found.items() if one.sort in ("smooth", "edge") and is_number(one.slope)}
    if len(straight) > 1 and _is_apart(point, straight):
        for one in straight.values():
            one.apart = True
            if one.hole:
                one.slope = one.rules
            if one.sort == "smooth":
                one.sort, one.low, one.high = "corner", None, None
    corners = {node: one for node, one in found.items() if one.sort == "corner" and is_number(one.slope)}
    if len(corners) > 1 and point.convention == MINIMUM_NORM:
        for one in corners.values():
            one.smallest = False
        mended = any(one.mended for one in corners.values())
        _put_into_the_hull(point, corners, mended or doubtful)


def _is_apart(point: Point, found: dict[int, Singular]) -> bool:
    """Whether the slope along some direction is not the sum that the slopes along the axes make."""
    few = len(point.graph) * 5 * DIRECTIONS > MOST_EVALUATIONS
    size = sum(abs(as_double(one.slope)) for one in found.values())
    for number, signs in zip(range(1 if few else DIRECTIONS), directions(len(found)), strict=False):
        moved, expected = {}, 0.0
        for (node, one), by in zip(found.items(), signs, strict=True):
            step = by * (abs(as_double(point.values[node])) or 1.0)
            if one.sort == "edge":
                step = -abs(step) if one.right is None else abs(step)
            moved[node] = step
            expected += as_double(one.slope) * step
        told = _slope_along(point, moved)
        if told is None:
            if number == 0 and any(one.hole for one in found.values()):
                return True  # the slope of the rules is missing, and that beside the point is not confirmed
            continue
        slope, unsure = told
        most = size * max(map(abs, moved.values()))
        if not abs(slope - expected) <= unsure * max(most, abs(expected), 1e-300):
            return True
    return False


def _slope_along(point: Point, moved: dict[int, float]) -> tuple[float, float] | None:
    """The slope of the output when several nodes move at once, and what part of it may be wrong.

    It is infinite where it grows without bound.
    """
    told = along(point, moved)
    if told.central is not None:
        return as_double(told.central), SURE
    if told.flat or told.ends is None:
        return (0.0, SURE) if told.flat else None
    end = told.ends[1]
    if end.sort in ("unclear", "steep", "jump") and affordable(point.graph, levels(point.kind)[1]):
        # terms that cancel leave their rounding, which dwindles with more digits
        finer = along(point, moved, 1).ends
        if finer is not None and finer[1].value is not None and abs(finer[1].value) <= abs(end.value) * 1e-50:
            return 0.0, SURE
    if end.sort == "steep":
        return as_double(end.value) * math.inf, SURE
    return (as_double(end.value), max(SURE, 1000 * end.apart)) if end.sort in ("slope", "zero", "flat") else None


def directions(count: int) -> Iterator[list[float]]:
    """Directions in so many dimensions that lie along no axis and no diagonal, without a pattern."""
    state = 1
    while True:
        direction = []
        for place in range(count):
            state = (state * 1103515245 + 12345) % 2**31
            size = 0.5 + (place * 0.6180339887498949 + state / 2**31) % 1
            direction.append(size if state & 2**20 else -size)
        yield direction


def _put_into_the_hull(point: Point, corners: dict[int, Singular], doubtful: bool) -> None:
    """Replace slopes that are no subgradient together by the subgradient of minimum norm.

    Each of them lies between the slopes of its own sides, but for max(a, b) as (a + b + sqrt((a - b)^2))/2 at a tie,
    say, (0, 0) does not lie between the gradients (1, 0) and (0, 1).
    """
    count = len(corners)
    if count > MOST_AT_A_CORNER or len(point.graph) * 6 * (count + 4) > MOST_EVALUATIONS:
        return
    beside = gradients_beside(point, list(corners))
    if not beside:
        return
    taken = [exactly(many(levels(point.kind)[0]), one.slope) for one in corners.values()]
    away = widened(point, list(corners), beside, taken)
    smallest = widened(point, list(corners), beside, [part * 0 for part in taken])
    for one, parts in zip(corners.values(), zip(*beside, strict=True), strict=True):
        if one.apart:
            one.low, one.high = kept(point, min(parts)), kept(point, max(parts))
    size = max(abs(part) for one in beside for part in one)
    apart = [abs(x - y) for x, y in zip(taken, smallest, strict=True)]
    if max(map(abs, away)) <= size * 1e-9 or not doubtful:
        for one in corners.values():
            one.smallest = max(apart) <= size * 1e-9
        return
    for one, part in zip(corners.values(), smallest, strict=True):
        one.smallest = True
        if as_double(abs(part)) <= as_double(size) * 1e-12:
            part = part * 0
        moves = abs(part - exactly(many(levels(point.kind)[0]), one.slope)) > size * 1e-12
        if moves and (number := kept(point, part)) is not None:
            one.slope = number


def widened(point: Point, nodes: list[int], beside: list[list[Any]], taken: list[Any]) -> list[Any]:
    """The way from what is taken to the nearest point of the hull, after gradients that lie nearer were put into it.

    A few gradients are not all of them: those of 20 relus at 0 are the 2^20 corners of a box. So one is looked for
    where the hull would have to be wider, back along the way to its nearest point, until there is none, as in the
    method of Frank and Wolfe (Naval Research Logistics Quarterly 3, 1956).
    """
    from backprop.beside.hull import minimum_norm  # few points have a corner

    for _ in range(2 * len(nodes) + 2):
        away = minimum_norm([[x - y for x, y in zip(one, taken, strict=True)] for one in beside])
        size = max(map(abs, away))
        if size <= 1e-15 * max(abs(part) for one in beside for part in one):
            break
        aside = next(iter(directions(len(nodes))))
        back = [-part / size + by / 1000 for part, by in zip(away, aside, strict=True)]
        lengths = [abs(leaf(point, many(levels(point.kind)[0]), node)) or 1 for node in nodes]
        known = len(beside)
        _look(point, nodes, [by / length for by, length in zip(back, lengths, strict=True)], beside)
        if len(beside) == known:
            break
    return away


def gradients_beside(point: Point, nodes: Sequence[int]) -> list[list[Any]]:
    """The gradients in some nodes very close to the point, by the rules, in directions without a pattern and opposite.

    None is met twice. Empty where the nodes cannot all be moved, or a gradient has no number.
    """
    graph = point.graph
    if any(graph.codes[node] not in (INPUT, CONST) for node in nodes):
        return []
    found: list[list[Any]] = []
    for _, direction in zip(range(len(nodes) + 4), directions(len(nodes)), strict=False):
        if not _look(point, nodes, direction, found):
            return []
    return found


def _look(point: Point, nodes: Sequence[int], direction: Sequence[Any], found: list[list[Any]]) -> bool:
    """Put the gradients along a direction and against it beside those found; whether both have numbers."""
    graph, digits = point.graph, levels(point.kind)[0]
    shorter = nearer(point, {node: by * size_of(point, node) for node, by in zip(nodes, direction, strict=True)})
    exponent, digits = exponents(digits)[0], digits + shorter
    kind = many(digits)
    step = kind.number(f"1e{exponent - shorter}")
    for sign in (1, -1):
        moved = {}
        for node, by in zip(nodes, direction, strict=True):
            at = leaf(point, kind, node)
            moved[node] = at + sign * by * step * (abs(at) or 1)
        _, known = primal(point, graph, digits, moved)
        adjoints = reverse(graph, partials(graph, kind, known, point.moving), kind).adjoints
        gradient = [kind.number("0") if adjoints[node] is None else adjoints[node] for node in nodes]
        if not all(map(is_number, gradient)):
            return False
        if not any(all(abs(x - y) <= 1e-15 for x, y in zip(one, gradient, strict=True)) for one in found):
            found.append(gradient)
    return True
