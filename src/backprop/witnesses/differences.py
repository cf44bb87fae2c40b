"""Witness 3: the value alone, worked out with many digits at the point and very close to it on both sides.

With 60 digits and a step of 1e-20 the central difference (f(x + h) - f(x - h)) / 2h has an error of h², so about 30
digits are right, and no rule had a part in it. A second step, 10 000 times smaller, tells what to make of it: quotients
that stay are slopes, those that shrink with the step are 0, those that grow have no limit. Slopes that stay but differ
from left to right are a kink. Where nothing can be told yet, more digits and smaller steps are tried.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

from backprop.figures import figure
from backprop.graph import CONST, INPUT, Graph
from backprop.kinds import Hole
from backprop.point import Point
from backprop.record import Witness
from backprop.rules import is_kink
from backprop.witnesses.fine import (
    EPSILON,
    FULL,
    HALF,
    LEVELS,
    Fine,
    affordable,
    cut,
    is_number,
    judge,
    primal,
    to_double,
)

BY = "difference"

# For each level of digits the decimal exponents of its two steps, relative to the size of the input.
STEPS = {60: (-20, -24), 250: (-80, -84), 800: (-260, -264)}

# What the first level may cost for all inputs, in evaluations of a node; one takes about 20 millionths of a second.
MOST_EVALUATIONS = 60_000
# Of the processor's time, so that it is the same question on a busy machine; ordinary programs never get there.
SECONDS = 2.5


@dataclass(slots=True)
class Side:
    """The quotients towards one side for the two steps, and what they tell.

    `sort` is "slope" (they stay; `value` is the slope), "zero" (they shrink with the step), "flat" (no change at all),
    "steep" (they grow), "none" (no value there) or "unclear".
    """

    sort: str
    value: Any = None


@dataclass(slots=True)
class Slopes:
    """What the differences tell: `central` good to `digits`, or `left` and `right` where they are not one.

    `reason` says why they tell nothing (yet), `flat` that nothing changed at all. A slope of size `unseen` or less
    would have looked like 0.
    """

    central: Any = None
    digits: float = 0.0
    left: Any = None
    right: Any = None
    reason: str = ""
    flat: bool = False
    unseen: float = 0.0


def testify(point: Point, fine: Fine) -> list[Witness]:
    """One row for each input, or one for all when the graph is so large that all inputs are moved at once."""
    wrt = point.wrt
    if not wrt:
        return []
    if fine.reason:
        return [Witness("all", BY, "not checked", reason=fine.reason)]
    began = time.process_time()
    cost = len(point.graph) * (1 + 4 * len(wrt))
    if cost > MOST_EVALUATIONS:
        return [_all_at_once(point, fine)]
    said: list[Witness] = []
    for node in wrt:
        name = point.name_of(node)
        if time.process_time() - began > SECONDS:
            said.append(Witness(name, BY, "not checked", reason=f"the differences took more than {SECONDS:g} s"))
            continue
        said.append(_verdict(point, fine, node, slopes(point, node, fine.weights[node], began + SECONDS)))
    return said


def slopes(point: Point, node: int, weight: float, deadline: float = math.inf) -> Slopes:
    """The slopes of the output in one node, from values alone.

    `weight` is the size of the terms that meet in it: what stays below 1e-200 of that at the last level is rounding.
    """
    from mpmath import mpf

    from backprop.kinds.digits import Digits

    at = point.values[node]
    if not isinstance(at, float):
        return Slopes(reason="it has no value here")
    if not is_number(at):
        return Slopes(reason="it is infinite, and nothing lies beside it")
    if not leads_to_output(point.graph, node):
        return Slopes(central=mpf(0), digits=30.0)
    graph = cut(point.graph, node)
    found = Slopes(reason="the quotients have no limit")
    for digits in LEVELS:
        if not affordable(graph, digits):
            break
        kind = Digits(digits)
        x = kind.from_double(at)
        # the last level also serves what is steep far out, like sin(1e300)
        size = min(abs(x), kind.number("1")) if digits == LEVELS[-1] else abs(x)
        steps = [kind.number(f"1e{exponent}") * (size or 1) for exponent in STEPS[digits]]

        def value(moved: Any, digits: int = digits) -> Any:
            return primal(point, graph, digits, {node: moved})[1][graph.output]

        middle = value(x)
        if not is_number(middle):
            return Slopes(reason="there is no finite value here")
        beside = []
        for h in steps:
            if time.process_time() > deadline:
                return Slopes(reason=f"the differences took more than {SECONDS:g} s")
            beside.append((value(x - h), value(x + h)))
        found = told(middle, beside, steps)
        if not found.reason:
            return found
    else:
        # rounding that cancels to nothing looks like a slope that grows; only the last level may tell
        change = max((abs(high - low) for low, high in beside if is_number(low) and is_number(high)), default=None)
        if found.flat or (change is not None and change / steps[1] <= weight * 1e-200 < math.inf):
            seen = abs(middle) * kind.number(f"1e{10 - digits}") / steps[0]
            return Slopes(central=x * 0, digits=30.0, unseen=to_double(seen))
    return found


def leads_to_output(graph: Graph, node: int) -> bool:
    """Whether the output is worked out from a node at all."""
    reached = {node}
    for above in range(node + 1, len(graph)):
        if any(operand in reached for operand in graph.operands(above)):
            reached.add(above)
    return graph.output in reached


def told(middle: Any, beside: list[tuple[Any, Any]], steps: list[Any]) -> Slopes:
    """What the values at x and beside it tell; a `reason` when they tell nothing yet."""
    left = side([(middle - low) / h if is_number(low) else None for (low, _), h in zip(beside, steps, strict=True)])
    right = side([(high - middle) / h if is_number(high) else None for (_, high), h in zip(beside, steps, strict=True)])
    if left.sort == right.sort == "flat":
        # a change too small for so many digits looks the same, so it is said only when the last level says it too
        return Slopes(reason="nothing changes", flat=True)
    clear = ("slope", "zero", "flat")
    if left.sort in clear and right.sort in clear:
        apart = abs(left.value - right.value)
        if apart <= 1e-6 * max(abs(left.value), abs(right.value)):
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
    if "steep" in (left.sort, right.sort):
        return Slopes(reason="the quotients grow without bound: a jump, or an infinite slope")
    return Slopes(reason="the quotients have no limit")


def side(quotients: list[Any]) -> Side:
    """What the quotients of the larger and the smaller step tell."""
    first, second = quotients
    if first is None or second is None:
        return Side("none")
    if first == second == 0:
        return Side("flat", second)
    if abs(first - second) <= abs(second) * 1e-6:
        return Side("slope", second)
    if abs(second) <= abs(first) * 0.1:
        return Side("zero", second * 0)
    return Side("steep" if abs(second) >= abs(first) * 10 else "unclear")


def _digits(first: Any, second: Any) -> float:
    from mpmath import log10

    return 30.0 if first == second else min(30.0, -float(log10(abs((first - second) / second))))


def _verdict(point: Point, fine: Fine, node: int, found: Slopes) -> Witness:
    name = point.name_of(node)
    if found.reason:
        return Witness(name, BY, "not checked", reason=found.reason)
    ours = point.gradient()[name]
    if found.central is not None:
        if found.unseen and isinstance(ours, float) and 0 < abs(ours) <= found.unseen:
            return Witness(name, BY, "not checked", reason="the slope is too small beside the value to be seen")
        said = judge(point, fine, node, BY, found.central, found.digits)
        where = _kinks(point) if said.verdict == "DISAGREES" else ""
        if where:
            said.reason = f"the kinks cancel (the first is{where}): the slope is the same from both sides"
        return said
    if found.left is None or found.right is None:
        which, slope = ("right", found.right) if found.left is None else ("left", found.left)
        said = judge(point, fine, node, BY, slope, 12.0)
        said.reason = f"from the {which} only: there is no value on the other side" + _and(said.reason)
        return said
    low, high = sorted((to_double(found.left), to_double(found.right)))
    sides = f"slope {figure(to_double(found.left))} from the left, {figure(to_double(found.right))} from the right"
    reason = f"kink{_kinks(point)}: {sides}"
    if isinstance(ours, Hole):
        return Witness(name, BY, "not checked", reason=reason)
    allowed = 64 * EPSILON * max(abs(low), abs(high))
    if low - allowed <= ours <= high + allowed:
        return Witness(name, BY, "agrees", reason=f"{reason}; {figure(ours)} lies between")
    return Witness(name, BY, "DISAGREES", reason=f"{reason}; {figure(ours)} does not lie between")


def _all_at_once(point: Point, fine: Fine) -> Witness:
    """Every input moved at once, by fixed amounts without a pattern: the slope along that direction."""
    from backprop.kinds.digits import Digits

    codes, digits = point.graph.codes, LEVELS[0]
    kind = Digits(digits)
    if 5 * len(point.graph) > MOST_EVALUATIONS or any(codes[node] not in (INPUT, CONST) for node in point.wrt):
        return Witness("all", BY, "not checked", reason=f"{len(point.graph)} nodes are too many for so many digits")
    if not all(is_number(point.values[node]) for node in point.wrt):
        return Witness("all", BY, "not checked", reason="an input is infinite, and nothing lies beside it")
    directions: dict[int, Any] = {}
    for place, node in enumerate(point.wrt):
        directions[node] = kind.from_double((abs(point.values[node]) or 1.0) * (0.5 + place * 0.6180339887498949 % 1))

    def value(step: Any) -> Any:
        moved = {node: kind.from_double(point.values[node]) + step * by for node, by in directions.items()}
        return primal(point, point.graph, digits, moved)[1][point.graph.output]

    steps = [kind.number(f"1e{exponent}") for exponent in STEPS[digits]]
    middle, beside = value(kind.number("0")), [(value(-h), value(h)) for h in steps]
    found = told(middle, beside, steps) if is_number(middle) else Slopes(reason="there is no finite value here")
    if found.central is None:
        return Witness("all", BY, "not checked", reason=found.reason or f"kink{_kinks(point)}")
    gradient = point.gradient()
    ours = [gradient[point.name_of(node)] for node in point.wrt]
    if not all(map(is_number, ours)):
        return Witness("all", BY, "not checked", reason="there is no number here to compare")
    total = sum(kind.from_double(one) * by for one, by in zip(ours, directions.values(), strict=True))
    weight = math.fsum(fine.weights[node] * float(by) for node, by in directions.items())
    apart = abs(total - found.central)
    relative = float(apart / abs(found.central)) if found.central else float(apart / weight) if weight else 0.0
    digits_left = round(min(FULL, max(0.0, -math.log10(max(relative, EPSILON)))), 2)
    reason = "all inputs moved at once, along one direction"
    if apart <= 64 * EPSILON * weight or digits_left >= HALF:
        return Witness("all", BY, "agrees", digits=digits_left, reason=reason)
    rules = [fine.adjoint(node) for node in point.wrt]
    if None not in rules:
        true = sum(one * by for one, by in zip(rules, directions.values(), strict=True))
        if abs(true - found.central) <= abs(found.central) * 1e-10:
            return Witness("all", BY, "inaccurate", digits=digits_left, reason=reason)
    return Witness("all", BY, "DISAGREES", digits=digits_left, reason=reason)


def _and(reason: str | None) -> str:
    return f"; {reason}" if reason else ""


def _kinks(point: Point) -> str:
    """Where the kinks are that a derivative runs into, as words."""
    graph = point.graph
    for node in range(len(graph)):
        row = graph.row(node)
        if row is not None and point.moving[node]:
            operands = [point.values[operand] for operand in graph.operands(node)]
            if all(map(is_number, operands)) and is_kink(row, point.kind, operands, point.values[node]):
                return f" at {graph.ids[node]}"
    return ""
