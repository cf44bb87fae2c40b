"""Witness 3: the value alone, worked out with many digits at the point and very close to it on both sides.

No rule has a part in the slopes that it tells (`beside`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence

from backprop.beside.differences import (
    EPSILON,
    MOST_EVALUATIONS,
    Slopes,
    along,
    leads_to_output,
    slopes,
    to_double,
)
from backprop.figures import figure
from backprop.graph import CONST, INPUT
from backprop.kinds import Hole, is_number
from backprop.kinds.real import Real
from backprop.point import Point
from backprop.record import Witness
from backprop.rules import kinks
from backprop.witnesses import sampled
from backprop.witnesses.judging import ENOUGH, FULL, Fine, judge

BY = "difference"

# Of the processor's time, so that it is the same question on a busy machine; ordinary programs never get there.
SECONDS = 2.5


def array_by_array(point: Point, fine: Fine, arrays: Mapping[str, Sequence[int]]) -> list[Witness]:
    """The same where inputs belong together, by name: when they are too many to be moved one by one, array by array."""
    cost = len(point.graph)
    if fine.reason or cost * (1 + 4 * len(point.wrt)) <= MOST_EVALUATIONS or 5 * cost * len(arrays) > MOST_EVALUATIONS:
        return testify(point, fine)
    return [_at_once(point, fine, nodes, name, "along one direction") for name, nodes in arrays.items()]


def testify(point: Point, fine: Fine) -> list[Witness]:
    """One row for each input, or one for all when the graph is so large that all inputs are moved at once."""
    wrt = point.wrt
    if not wrt:
        return []
    if fine.reason:
        if isinstance(point.kind, Real) and len(point.graph) > sampled.LARGE:
            return [sampled.direction(point, wrt, "all", BY)]
        return [Witness("all", BY, "not checked", reason=fine.reason)]
    began = time.process_time()
    cost = len(point.graph) * (1 + 4 * len(wrt))
    if cost > MOST_EVALUATIONS:
        return [_at_once(point, fine, wrt, "all", "all inputs moved at once, along one direction")]
    said: list[Witness] = []
    for node in wrt:
        name = point.name_of(node)
        if time.process_time() - began > SECONDS:
            said.append(Witness(name, BY, "not checked", reason=f"the differences took more than {SECONDS:g} s"))
            continue
        one = point.singular().get(node)
        if one is not None and one.without_slope:
            said.append(Witness(name, BY, "not checked", reason=one.without_slope))
            continue
        if one is not None and one.mended:
            said.append(_of_the_answer(point, name, one.slope, one.sides))
            continue
        found = slopes(point, node, fine.weights[node], began + SECONDS) if one is None else one.sides
        said.append(_verdict(point, fine, node, found))
    return said


def _of_the_answer(point: Point, name: str, slope: float, found: Slopes) -> Witness:
    """What there is to say where the answer itself is such a slope, because the rules have none."""
    reason = "the answer is its own"
    if found.left is None or found.right is None:
        return Witness(name, BY, "not checked", slope, reason=reason)
    return Witness(name, BY, "not checked", reason=f"kink{_at_kink(point)}: {reason}")


def _both(found: Slopes) -> str:
    left, right = (figure(to_double(end) + 0.0) for end in (found.left, found.right))
    return f"slope {left} from the left, {right} from the right"


def _verdict(point: Point, fine: Fine, node: int, found: Slopes) -> Witness:
    name = point.name_of(node)
    if found.reason:
        return Witness(name, BY, "not checked", reason=found.reason)
    ours = point.gradient()[name]
    if found.central is not None:
        if found.unseen and isinstance(ours, float) and 0 < abs(ours) <= found.unseen:
            return Witness(name, BY, "not checked", reason="the slope is too small beside the value to be seen")
        return judge(point, fine, node, BY, found.central, found.digits)
    if found.left is None or found.right is None:
        which, slope = ("right", found.right) if found.left is None else ("left", found.left)
        said = judge(point, fine, node, BY, slope, 12.0)
        said.reason = f"from the {which} only: there is no value on the other side" + _and(said.reason)
        return said
    low, high = sorted((to_double(found.left), to_double(found.right)))
    reason = f"kink{_at_kink(point)}: {_both(found)}"
    if isinstance(ours, Hole):
        return Witness(name, BY, "not checked", reason=reason)
    between = f"kink{_at_kink(point)}: between {figure(low)} and {figure(high)}"
    allowed = 64 * EPSILON * max(abs(low), abs(high))
    if low - allowed <= ours <= high + allowed:
        return Witness(name, BY, "agrees", reason=between)
    return Witness(name, BY, "DISAGREES", reason=f"{reason}; {figure(ours)} does not lie between")


def _at_once(point: Point, fine: Fine, nodes: Sequence[int], of: str, reason: str) -> Witness:
    """Inputs moved at once, by amounts without a pattern and uphill by our slopes, so that nothing cancels."""
    codes = point.graph.codes
    if 5 * len(point.graph) > MOST_EVALUATIONS and isinstance(point.kind, Real):
        return sampled.direction(point, nodes, of, BY)
    if 5 * len(point.graph) > MOST_EVALUATIONS or any(codes[node] not in (INPUT, CONST) for node in nodes):
        return Witness(of, BY, "not checked", reason=f"{len(point.graph)} nodes are too many for so many digits")
    if not all(is_number(point.values[node]) for node in nodes):
        return Witness(of, BY, "not checked", reason="an input is infinite, and nothing lies beside it")
    gradient = point.gradient()
    ours = [gradient[point.name_of(node)] for node in nodes]
    if not all(map(is_number, ours)):
        return Witness(of, BY, "not checked", reason="there is no number here to compare")
    directions: dict[int, float] = {}
    for place, (node, slope) in enumerate(zip(nodes, ours, strict=True)):
        size = (abs(point.values[node]) or 1.0) * (0.5 + place * 0.6180339887498949 % 1)
        directions[node] = -size if slope < 0 else size
    found = along(point, directions)
    if found.flat and not any(leads_to_output(point.graph, node) for node in nodes):
        return Witness(of, BY, "DISAGREES" if any(ours) else "agrees", digits=0.0 if any(ours) else FULL, reason=reason)
    if found.central is None:
        return Witness(of, BY, "not checked", reason=found.reason or f"kink{_at_kink(point)}")
    total = math.fsum(one * by for one, by in zip(ours, directions.values(), strict=True))
    weight = math.fsum(fine.weights[node] * abs(by) for node, by in directions.items())
    apart = abs(total - found.central)
    relative = float(apart / abs(found.central)) if found.central else float(apart / weight) if weight else 0.0
    digits_left = round(min(FULL, max(0.0, -math.log10(max(relative, EPSILON)))), 2)
    if apart <= 64 * EPSILON * weight or digits_left >= ENOUGH:
        return Witness(of, BY, "agrees", digits=digits_left, reason=reason)
    rules = [fine.adjoint(node) for node in nodes]
    if None not in rules:
        true = sum(one * by for one, by in zip(rules, directions.values(), strict=True))
        if abs(true - found.central) <= abs(found.central) * 1e-10:
            return Witness(of, BY, "inaccurate", digits=digits_left, reason=reason)
    return Witness(of, BY, "DISAGREES", digits=digits_left, reason=reason)


def _and(reason: str | None) -> str:
    return f"; {reason}" if reason else ""


def _at_kink(point: Point) -> str:
    """Where the first kink is that a derivative runs into, as words."""
    graph = point.graph
    return next((f" at {graph.ids[node]}" for node in kinks(graph, point.kind, point.values) if point.moving[node]), "")
