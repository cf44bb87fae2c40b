"""Singular points: where the rules alone cannot tell a slope, it comes from values beside the point.

Rules fail in two ways. A partial may be infinite and meet a 0, as in sqrt(x^2)^2 at 0, where the whole is as smooth as
x^2. And at a kink each rule gives a number by convention, but conventions do not add up: relu(x) - relu(-x) is x, yet
both rules give 0 at 0. In both the slopes of the whole from left and right decide. Where they are one, that is the
derivative. Where they differ, the answer lies between them; the number of the rules is kept if it does, and else the
smallest that does is taken. Where the quotients grow without bound there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from backprop import ops
from backprop.beside import EPSILON, LEVELS, MOST_EVALUATIONS, Slopes, along, primal, slopes, to_double, weights
from backprop.kinds import Hole, is_number
from backprop.point import Point
from backprop.rules import is_kink


@dataclass(slots=True)
class Singular:
    """One input at a singular point: the `slope` that answers, what the `rules` give, and the slopes of both `sides`.

    `kink` is the first node with a kink on the way, None when it is the rules that have no number. `apart` says that
    the slopes along the axes do not give those along other directions.
    """

    slope: Any
    rules: Any
    sides: Slopes
    kink: int | None
    apart: bool = False

    @property
    def mended(self) -> bool:
        """Whether the answer is another one than that of the rules."""
        return self.slope is not self.rules


def singular(point: Point) -> dict[int, Singular]:
    """The inputs for which the rules alone cannot tell the slope, with what is known beside the point.

    >>> from backprop.point import at
    >>> {one.slope for one in singular(at("relu(x) - relu(-x)", {"x": 0})).values()}
    {1.0}
    """
    graph = point.graph
    if point.kind.name != "real" or not is_number(point.value()) or 5 * len(graph) > MOST_EVALUATIONS:
        return {}
    given = point.by_rules()
    holes = [node for node in point.wrt if isinstance(given[point.name_of(node)], Hole)]
    kinks = first_kinks(point)
    nodes = [node for node in point.wrt if node in holes or kinks[node] >= 0]
    if not nodes or len(graph) * (1 + 4 * len(nodes)) > MOST_EVALUATIONS:
        return {}
    weight, doubtful = weights(point), _conventions_may_fail(point, {kink for kink in kinks if kink >= 0})
    found: dict[int, Singular] = {}
    for node in nodes:
        rules = given[point.name_of(node)]
        sides = slopes(point, node, weight[node])
        answer = _answer(rules, sides, weight[node]) if node in holes or doubtful else rules
        found[node] = Singular(answer, rules, sides, None if node in holes else kinks[node])
    _refuse_what_is_no_gradient(point, {node: found[node] for node in holes})
    return found


def first_kinks(point: Point) -> list[int]:
    """For each node the first kink that the output meets on a way from it, -1 where there is none.

    A condition at its boundary is one; behind a branch not taken nothing is met.
    """
    graph, known, rows = point.graph, point.values, ops.rows()
    met = [-1] * len(graph)
    kinky = {code for code in set(graph.codes) if code >= 0 and rows[code].kink}
    if not kinky:
        return met
    depends, reached = _depend(point), bytearray(len(graph))
    reached[graph.output] = 1
    for node in range(graph.output, -1, -1):
        if not (reached[node] and depends[node]) or graph.codes[node] < 0:
            continue
        operands = [known[operand] for operand in graph.operands(node)]
        row = rows[graph.codes[node]]
        if graph.codes[node] in kinky and all(map(is_number, operands)):
            met[node] = node if is_kink(row, point.kind, operands, known[node]) else -1
        for index in range(graph.offsets[node], graph.offsets[node + 1]):
            operand = graph.args[index]
            if known[operand] is None or (point.partials.exact_zero[index] and met[node] != node):
                continue
            reached[operand] = 1
            if met[node] >= 0 and (met[operand] < 0 or met[node] < met[operand]):
                met[operand] = met[node]
    return met


def _conventions_may_fail(point: Point, kinks: set[int]) -> bool:
    """Whether the numbers taken at kinks may be wrong together, though each is right.

    Several kinks may cancel; at the boundary of a condition the branch taken may be that of the one point alone; and
    what is a kink in doubles (0.1 + 0.2 - 0.30000000000000004) need not be one.
    """
    graph, rows = point.graph, ops.rows()
    if len(kinks) != 1:
        return bool(kinks)
    (node,) = kinks
    row = rows[graph.codes[node]]
    if row.gives_condition:
        return True
    kind, known = primal(point, graph, LEVELS[0], {})
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


def _answer(rules: Any, sides: Slopes, weight: float) -> Any:
    """The number that answers: that of the rules where it may stand, else what the values beside the point tell."""
    if sides.reason:
        return rules
    ends = [to_double(end) + 0.0 for end in (sides.central, sides.left, sides.right) if end is not None]
    low, high = min(ends), max(ends)
    allowed = 1e-10 * max(abs(low), abs(high)) + 64 * EPSILON * weight
    if not isinstance(rules, Hole) and low - allowed <= rules <= high + allowed:
        return rules
    return low if low > 0 else high if high < 0 else 0.0


def _refuse_what_is_no_gradient(point: Point, found: dict[int, Singular]) -> None:
    """Take back slopes along axes that do not give the slope between the axes, as of sqrt(x*y) at the origin."""
    mended = {node: one for node, one in found.items() if one.mended and not _is_corner(one.sides)}
    if len(mended) < 2:
        return
    expected: float = 0.0
    directions: dict[int, float] = {}
    for place, (node, one) in enumerate(mended.items()):
        step = (abs(point.values[node]) or 1.0) * (0.5 + place * 0.6180339887498949 % 1)
        only_left = one.sides.central is None and one.sides.right is None
        directions[node] = -step if only_left else step
        expected += one.slope * directions[node]
    diagonal = along(point, directions)
    slope = diagonal.right if diagonal.central is None else diagonal.central
    between = None if slope is None else to_double(slope)
    if diagonal.flat:
        between = 0.0
    size = sum(abs(one.slope * directions[node]) for node, one in mended.items())
    if between is None or abs(between - expected) > 1e-6 * max(size, abs(expected)):
        for one in mended.values():
            one.slope, one.apart = one.rules, True


def _is_corner(sides: Slopes) -> bool:
    return sides.left is not None and sides.right is not None
