"""Beside the point: the slopes of the output in one node, from values alone, worked out with many digits.

With 60 digits and a step of 1e-20 the central difference (f(x + h) - f(x - h)) / 2h has an error of h², so about 30
digits are right, and no rule had a part in it. A second step, 10 000 times smaller, tells what to make of it: quotients
that stay are slopes, those that shrink with the step are 0, those that grow have no limit. Slopes that stay but differ
from left to right are a kink. Where nothing can be told yet, more digits and smaller steps are tried.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from backprop import ops
from backprop.beside.stairs import climbed, shortened, stairs
from backprop.graph import CONST, INPUT, Graph
from backprop.kinds import Hole, Kind, is_number
from backprop.point import Point
from backprop.values import values

if TYPE_CHECKING:
    from backprop.kinds.digits import Digits

# Digits to try in turn: the first nearly always do; 1 - tanh(300)^2 needs 261 and 1 - tanh(700)^2 needs 608.
LEVELS = (60, 250, 800)

# Beyond so many nodes nothing is worked out with so many digits: a pass would take seconds.
LARGEST = {60: 10_000, 250: 3_000, 800: 500}
# What looking beside the point may cost, in evaluations of a node; one takes about 20 millionths of a second.
MOST_EVALUATIONS = 60_000

EPSILON = 2.0**-53
# Slopes from left and right that differ by this part or less are one: the double of both is the same.
SAME = 1e-18


def levels(kind: Kind) -> tuple[int, ...]:
    """The digits to try in turn for the numbers of a kind: a slope has to be good to all digits that they carry.

    >>> from backprop.kinds.digits import Digits
    >>> levels(Digits(16)), levels(Digits(100))
    ((60, 250, 800), (318, 636, 954))
    """
    first = 3 * (kind.digits + 6)
    if first <= LEVELS[0] + 9:
        return LEVELS
    return tuple(max(least, times * first) for times, least in enumerate(LEVELS, 1))


def exponents(digits: int) -> tuple[int, int]:
    """The decimal exponents of the two steps for so many digits, relative to the size of the input."""
    return -(digits // 3), -(digits // 3) - 4


@dataclass(slots=True)
class Side:
    """The quotients towards one side for the two steps, and what they tell.

    `sort` is "slope" (they stay; `value` is the slope), "zero" (they shrink with the step), "flat" (no change at all),
    "jump" (they grow as the step shrinks: the value jumps), "steep" (they grow otherwise), "none" (no value there) or
    "unclear".
    """

    sort: str
    value: Any = None
    # how far the two are from one, in proportion, where they stay
    apart: Any = 0


@dataclass(slots=True)
class Slopes:
    """What the differences tell: `central` good to `digits`, or `left` and `right` where they are not one.

    `reason` says why they tell nothing (yet), `flat` that nothing changed at all. A slope of size `unseen` or less
    would have looked like 0. `ends` are the two sides as they were seen, left and right.
    """

    central: Any = None
    digits: float = 0.0
    left: Any = None
    right: Any = None
    reason: str = ""
    flat: bool = False
    unseen: float = 0.0
    ends: tuple[Side, Side] | None = None


def slopes(point: Point, node: int, weight: float, deadline: float = math.inf) -> Slopes:
    """The slopes of the output in one node, from values alone.

    `weight` is the size of the terms that meet in it: what stays below 1e-200 of that at the last level is rounding.
    """
    from mpmath import mpf

    at = point.values[node]
    if at is None or isinstance(at, Hole):
        return Slopes(reason="it has no value here")
    if not is_number(at):
        return Slopes(reason="it is infinite, and nothing lies beside it")
    if not leads_to_output(point.graph, node):
        return Slopes(central=mpf(0), digits=30.0)
    graph = cut(point.graph, node)
    found = Slopes(reason="the quotients have no limit")
    tried, shorter = levels(point.kind), nearer(point, {node: size_of(point, node)})
    for level in tried:
        digits = level + shorter
        if not affordable(graph, digits):
            break
        kind = many(digits)
        x = leaf(point, kind, node)
        # the last level also serves what is steep far out, like sin(1e300)
        size = min(abs(x), kind.number("1")) if level == tried[-1] else abs(x)
        steps = [kind.number(f"1e{exponent - shorter}") * (size or 1) for exponent in exponents(level)]

        def value(moved: Any, digits: int = digits) -> Any:
            return primal(point, graph, digits, {node: moved})[1][graph.output]

        middle = value(x)
        if not is_number(middle):
            return Slopes(reason="there is no finite value here")
        beside = []
        for h in steps:
            if time.process_time() > deadline:
                return Slopes(reason="the differences took too long")
            beside.append((value(x - h), value(x + h)))
        found = told(middle, beside, steps)
        if not found.reason:
            return found
    else:
        # rounding that cancels to nothing looks like a slope that grows; only the last level may tell
        change = max((abs(end - middle) for ends in beside for end in ends if is_number(end)), default=None)
        if found.flat or (change is not None and change / steps[1] <= weight * 1e-200 < math.inf):
            seen = abs(middle) * kind.number(f"1e{10 - digits}") / steps[0]
            none = [] if found.ends is None else [end.sort == "none" for end in found.ends]
            if any(none):
                return Slopes(left=None if none[0] else x * 0, right=None if none[1] else x * 0, ends=found.ends)
            return Slopes(central=x * 0, digits=30.0, unseen=to_double(seen), ends=found.ends)
    return found


def along(point: Point, directions: dict[int, float], level: int = 0) -> Slopes:
    """The slopes of the output when several nodes move at once, each by its amount: `right` is forwards."""
    digits, shorter = levels(point.kind)[level], nearer(point, directions)
    first, digits, graph = exponents(digits), digits + shorter, point.graph
    kind = many(digits)
    for node in directions:
        graph = cut(graph, node)

    def value(step: Any) -> Any:
        moved = {node: leaf(point, kind, node) + step * by for node, by in directions.items()}
        return primal(point, graph, digits, moved)[1][graph.output]

    steps = [kind.number(f"1e{exponent - shorter}") for exponent in first]
    middle = value(kind.number("0"))
    if not is_number(middle):
        return Slopes(reason="there is no finite value here")
    return told(middle, [(value(-h), value(h)) for h in steps], steps)


def nearer(point: Point, lengths: Mapping[int, Any], exponent: int | None = None) -> int:
    """By how many powers of ten the steps of some nodes have to be shortened, and digits added, to end on one stair.

    Without that they are the `lengths` times the first of the `exponents`, or 10 to another `exponent`.
    """
    met = stairs(point.graph)
    if not met:
        return 0
    level = levels(point.kind)[0]
    exponent = exponents(level)[0] if exponent is None else exponent
    graph = point.graph
    for node in lengths:
        graph = cut(graph, node)

    def counts(sign: int, shorter: int) -> list[Any]:
        kind = many(level + shorter)
        step = sign * kind.number(f"1e{exponent - shorter}")
        moved = {node: leaf(point, kind, node) + step * length for node, length in lengths.items()}
        known = primal(point, graph, level + shorter, moved)[1]
        return [climbed(kind, row, [known[operand] for operand in graph.operands(node)]) for node, row in met]

    return shortened(counts)


def nearer_at(point: Point, node: int, position: int, exponent: int) -> int:
    """The same for a step of one operand of a node alone, and the stairs of that node."""
    row, operands = ops.rows()[point.graph.codes[node]], point.graph.operands(node)
    if not row.stairs:
        return 0
    level = levels(point.kind)[0]

    def counts(sign: int, shorter: int) -> list[Any]:
        kind = many(level + shorter)
        at = [exactly(kind, point.values[operand]) for operand in operands]
        at[position] += sign * kind.number(f"1e{exponent - shorter}") * (abs(at[position]) or 1)
        return [climbed(kind, row, at)]

    return shortened(counts)


def size_of(point: Point, node: int) -> Any:
    """The size of a node, which the steps beside it are a part of: 1 for 0."""
    return abs(exactly(many(LEVELS[0]), point.values[node])) or 1


def leads_to_output(graph: Graph, node: int) -> bool:
    """Whether the output is worked out from a node at all."""
    reached = {node}
    for above in range(node + 1, len(graph)):
        if any(operand in reached for operand in graph.operands(above)):
            reached.add(above)
    return graph.output in reached


def behind_output(graph: Graph) -> set[int]:
    """The nodes that the output is worked out from, itself among them: `leads_to_output` for all nodes in one walk."""
    reached = {graph.output}
    for node in range(graph.output, -1, -1):
        if node in reached:
            reached.update(graph.operands(node))
    return reached


def told(middle: Any, beside: list[tuple[Any, Any]], steps: list[Any]) -> Slopes:
    """What the values at x and beside it tell; a `reason` when they tell nothing yet."""
    below = [(middle - low) / h if is_number(low) else None for (low, _), h in zip(beside, steps, strict=True)]
    above = [(high - middle) / h if is_number(high) else None for (_, high), h in zip(beside, steps, strict=True)]
    left, right = side(below, steps), side(above, steps)
    found = of_sides(left, right, beside, steps)
    found.ends = left, right
    return found


def of_sides(left: Side, right: Side, beside: Sequence[tuple[Any, Any]] = (), steps: Sequence[Any] = ()) -> Slopes:
    """What the two sides tell together; the central difference comes of the values `beside`, if they are known."""
    if left.sort == right.sort == "flat":
        # a change too small for so many digits looks the same, so it is said only when the last level says it too
        return Slopes(reason="nothing changes", flat=True)
    clear = ("slope", "zero", "flat")
    if left.sort in clear and right.sort in clear:
        apart = abs(left.value - right.value)
        # they are one when they differ by no more than each of them still moves
        if apart <= max(SAME, 1000 * left.apart, 1000 * right.apart) * max(abs(left.value), abs(right.value)):
            if not beside:
                return Slopes((left.value + right.value) / 2, 15.0)
            first, second = [(high - low) / (2 * h) for (low, high), h in zip(beside, steps, strict=True)]
            if first == second or abs(first - second) <= abs(second) * 1e-10:
                return Slopes(second, _digits(first, second))
            if abs(second) <= abs(first) * 0.1:
                return Slopes(second * 0, 30.0)
            return Slopes(reason="the quotients are not steady")
        return Slopes(left=left.value, right=right.value)
    if left.sort == right.sort == "none":
        return Slopes(reason="there is no value beside it")
    if left.sort == "none" and right.sort in ("slope", "zero"):
        return Slopes(right=right.value)
    if right.sort == "none" and left.sort in ("slope", "zero"):
        return Slopes(left=left.value)
    if {left.sort, right.sort} == {"none", "flat"}:
        return Slopes(reason="nothing changes on the one side", flat=True)
    if {"steep", "jump"} & {left.sort, right.sort}:
        return Slopes(reason="the quotients grow without bound: a jump, or an infinite slope")
    return Slopes(reason="the quotients have no limit")


def side(quotients: list[Any], steps: list[Any]) -> Side:
    """What the quotients of the larger and the smaller step tell."""
    first, second = quotients
    if first is None or second is None:
        return Side("none")
    # a change at the larger step alone may be one of rounding: 1 + x at 1e-40 moves by a last digit, or not at all
    if second == 0:
        return Side("flat", second)
    if abs(first - second) <= abs(second) * 1e-6:
        return Side("slope", second, abs(first - second) / abs(second))
    if abs(second) <= abs(first) * 0.1:
        return Side("zero", second * 0)
    if abs(first * steps[0] - second * steps[1]) <= abs(first * steps[0]) * 1e-6:
        return Side("jump", second)
    return Side("steep" if abs(second) >= abs(first) * 10 else "unclear", second)


def _digits(first: Any, second: Any) -> float:
    from mpmath import log10

    return 30.0 if first == second else min(30.0, -float(log10(abs((first - second) / second))))


def weights(point: Point) -> list[float]:
    """For each node the sum of the sizes of all path terms from it to the output: rounding is measured against it.

    >>> from backprop.point import at
    >>> weights(at("x - y", {"x": 3, "y": 3}))
    [1.0, 1.0, 1.0]
    """
    graph, slopes = point.graph, point.partials
    found = [0.0] * len(graph)
    found[graph.output] = 1.0
    for node in range(len(graph) - 1, -1, -1):
        weight = found[node]
        if weight:
            for index in range(graph.offsets[node], graph.offsets[node + 1]):
                slope = slopes.values[index]
                if slope is not None and not isinstance(slope, Hole) and not slopes.exact_zero[index]:
                    size = abs(slope)
                    found[graph.args[index]] += weight * as_double(size)
    return found


def is_heavy(graph: Graph) -> bool:
    """Whether an operation takes seconds with the digits of the last level: the gamma function and its kin."""
    return any(ops.rows()[code].flops >= ops.HEAVY for code in set(graph.codes) if code >= 0)


def affordable(graph: Graph, digits: int, times: int = 1) -> bool:
    """Whether the values of a graph are worked out with so many digits in well under a second, or `times` as long.

    It counts nodes and looks at no clock: the same question has the same answer on every machine.
    """
    if digits >= LEVELS[-1] and is_heavy(graph):
        return False
    most = next((most for enough, most in LARGEST.items() if digits <= enough), 300_000 // digits)
    return len(graph) <= times * most


def primal(point: Point, graph: Graph, digits: int, moved: dict[int, Any]) -> tuple[Any, list[Any]]:
    """The values of all nodes with so many digits, some leaves moved elsewhere: no rule is involved."""
    kind = many(digits)
    leaves = {
        node: leaf(point, kind, node)
        for node, code in enumerate(graph.codes)
        if code in (INPUT, CONST) and node not in moved
    }
    return kind, values(graph, kind, leaves | moved)


def leaf(point: Point, kind: Digits, node: int) -> Any:
    """The number at an input or a constant, with more digits: a double is what it is, and a decimal what is written.

    In --kind digits:30 is 0.1 + 0.2 as large as 0.3, which 30 digits of each in base 2 need not be.
    """
    value = point.values[node]
    if not isinstance(value, float) and point.kind.rounds and is_number(value):
        graph = point.graph
        is_input = graph.codes[node] == INPUT
        text = point.given.get(graph.names[node]) if is_input else graph.literals.get(node)
        if text is not None and point.kind.number(text) == value:  # else it was put there by other means
            return kind.number(text)
    return exactly(kind, value)


@lru_cache(maxsize=64)
def many(digits: int) -> Digits:
    """The kind of so many digits, made once."""
    from backprop.kinds.digits import Digits

    return Digits(digits)


def exactly(kind: Digits, value: Any) -> Any:
    """A number of another kind as one with more digits; what is no number stays as it is."""
    if isinstance(value, float):
        return kind.from_double(value)
    return value if value is None or isinstance(value, (bool, Hole)) else kind.context.convert(value)


def cut(graph: Graph, node: int) -> Graph:
    """The graph in which a node is an input, so that it can be moved by itself."""
    if graph.codes[node] in (INPUT, CONST):
        return graph
    codes = graph.codes[:]
    codes[node] = INPUT
    return replace(graph, codes=codes)


def as_double(value: Any) -> float:
    """The double nearest to a number of any kind; an infinity when there is none."""
    if isinstance(value, float):
        return value
    try:
        return to_double(value) if hasattr(value, "_mpf_") else float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def to_double(value: Any) -> float:
    """The double nearest to an mpf; an infinity when there is none."""
    from mpmath import libmp

    return float(libmp.to_float(value._mpf_, rnd="n"))
