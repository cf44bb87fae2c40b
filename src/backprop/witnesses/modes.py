"""Witness 4: forward mode, reverse mode and the sum over paths are one sum in three orders.

They share the partials but not the way through the graph, so a slip in an engine shows here. What rounding may do is
measured by the sum of the sizes of all terms: sums of the same terms in another order differ by a few ulps of that.
"""

from __future__ import annotations

import math
from typing import Any

from backprop.beside.differences import EPSILON
from backprop.graph import CONST, INPUT
from backprop.kinds import Hole, Kind
from backprop.kinds.real import Real
from backprop.point import Point
from backprop.record import Witness
from backprop.witnesses.judging import FULL, SMALLEST

BY_FORWARD, BY_PATHS = "forward mode", "paths"

# Paths of one input that are added up one by one, and paths counted exactly.
MOST_PATHS = 10_000
# Paths times nodes: what listing them may take for one input.
MOST_STEPS = 1_000_000
# Edges walked at most by one forward pass for each input; beyond that all inputs are moved at once.
MOST_EDGES = 1_000_000
# Edges of the largest graph that is walked again.
LARGEST = 5_000_000


def testify(point: Point, weights: list[float]) -> list[Witness]:
    """A row for each input from forward mode and, where the paths are few, from their sum.

    `weights` is, for each node, the sum of the sizes of the path terms from it to the output.
    """
    edges = len(point.graph.args)
    if not point.wrt:
        return []
    if edges > LARGEST:
        return [Witness("all", BY_FORWARD, "not checked", reason=f"the graph has {edges} edges")]
    if edges * len(point.wrt) > MOST_EDGES:
        return [_all_at_once(point, weights)]
    gradient, counts = point.by_rules(), path_counts(point)
    said: list[Witness] = []
    answers, found = point.gradient(), point.accuracy()
    mended = {node for node in point.wrt if answers[point.name_of(node)] != gradient[point.name_of(node)]}
    for node in point.wrt:
        name = point.name_of(node)
        tangent = point.tangents({node: point.kind.number("1")})[point.graph.output]
        theirs = point.kind.number("0") if tangent is None else tangent
        said.append(compared(point, name, BY_FORWARD, gradient[name], theirs, weights[node]))
        if node in mended and said[-1].verdict == "agrees":
            lost = found is not None and node in found.slopes
            reason = "doubles lose digits here" if lost else "the answer does not come from the rules here"
            said[-1] = Witness(name, BY_FORWARD, "not checked", reason=reason)
            continue
        if counts[node] <= MOST_PATHS and counts[node] * len(point.graph) <= MOST_STEPS:
            theirs = sum_over_paths(point, node, counts)
            said.append(compared(point, name, BY_PATHS, gradient[name], theirs, weights[node]))
    return said


def compared(point: Point, of: str, by: str, ours: Any, theirs: Any, weight: float, added: int = 0) -> Witness:
    """Two numbers that are one sum in two orders; `weight` is the sum of the sizes of its terms.

    `added` is how many numbers one edge may add up: a sum of n doubles is off by up to n roundings (Higham, Accuracy
    and Stability of Numerical Algorithms, 4.2).
    """
    if isinstance(ours, Hole) or isinstance(theirs, Hole):
        return Witness(of, by, "not checked", reason="a partial on the way has no value")
    if not isinstance(ours, float):
        return _of_kind(point, of, by, ours, theirs, weight)
    if ours == theirs:
        return Witness(of, by, "agrees", theirs + 0.0, FULL)
    if not (math.isfinite(ours) and math.isfinite(theirs) and math.isfinite(weight)):
        return Witness(of, by, "not checked", reason="a product of partials is too large for a double on the way")
    apart, edges = abs(ours - theirs), len(point.graph.args)
    digits = round(min(FULL, max(0.0, -math.log10(apart / max(abs(ours), abs(theirs))))), 2)
    if apart <= EPSILON * (64 + 4 * edges + added) * weight + SMALLEST * (edges + added):
        return Witness(of, by, "agrees", theirs, digits)
    return Witness(of, by, "DISAGREES", theirs, digits, "the ways through the graph do not give the same sum")


def _of_kind(point: Point, of: str, by: str, ours: Any, theirs: Any, weight: float) -> Witness:
    """The same for another kind of number: an exact sum is the same in any order, others differ by their rounding."""
    kind, edges = point.kind, len(point.graph.args)
    if ours == theirs:
        return Witness(of, by, "agrees", kind.record(theirs), float(kind.checked) if kind.rounds else None)
    if kind.digits and kind.rounds:
        apart, digits = abs(ours - theirs), kind.agreement(ours, theirs)
        if apart <= kind.number(f"1e-{kind.digits}") * (64 + 4 * edges) * weight:
            return Witness(of, by, "agrees", kind.record(theirs), digits)
    told = "the ways through the graph do not give the same sum"
    return Witness(of, by, "DISAGREES", kind.record(theirs), reason=told)


def _all_at_once(point: Point, weights: list[float]) -> Witness:
    """One forward pass in which every input moves: the tangent of the output is the sum of adjoint · movement.

    The movements are fixed numbers without a pattern, so that errors of two inputs do not cancel.
    """
    codes = point.graph.codes
    doubles = {node: 0.5 + (place * 0.6180339887498949) % 1 for place, node in enumerate(point.wrt)}
    moved: dict[int, Any] = dict(doubles)
    if not isinstance(point.kind, Real):
        moved = {node: point.kind.number(f"{by:.3f}") for node, by in doubles.items()}
    if any(codes[node] not in (INPUT, CONST) for node in moved):
        return Witness("all", BY_FORWARD, "not checked", reason="there are too many nodes to move one after the other")
    adjoints = point.reverse().adjoints
    brought = [adjoints[node] * by for node, by in moved.items() if adjoints[node] is not None]
    tangent = point.tangents(moved)[point.graph.output]
    theirs = point.kind.number("0") if tangent is None else tangent
    ours: Any = next((one for one in brought if isinstance(one, Hole)), None)
    if ours is None and not isinstance(point.kind, Real):
        ours = _added(point.kind, brought)
    elif ours is None:
        ours = math.fsum(brought) if all(map(math.isfinite, brought)) else math.inf
    weight = math.fsum(weights[node] * by for node, by in doubles.items())
    said = compared(point, "all", BY_FORWARD, ours, theirs, weight)
    said.value = None
    said.reason = said.reason or "all inputs moved at once"
    return said


def path_counts(point: Point) -> list[int]:
    """Paths from each node to the output; every count beyond `MOST_PATHS` is `MOST_PATHS + 1`."""
    graph, slopes = point.graph, point.partials
    counts = [0] * len(graph)
    counts[graph.output] = 1
    for node in range(len(graph) - 1, -1, -1):
        if counts[node]:
            for index in range(graph.offsets[node], graph.offsets[node + 1]):
                if slopes.values[index] is not None and not slopes.exact_zero[index]:
                    source = graph.args[index]
                    counts[source] = min(MOST_PATHS + 1, counts[source] + counts[node])
    return counts


def sum_over_paths(point: Point, start: int, counts: list[int]) -> Any:
    """The products of the partials along every path from a node to the output, added one by one; a hole if one is met.

    Only nodes that lead to the output (by `counts`, their numbers of paths) are entered, so the walk is as long as its
    paths.
    """
    graph, slopes = point.graph, point.partials
    leaving: dict[int, list[tuple[int, Any]]] = {}
    reached = {start}
    for node in range(start + 1, len(graph)):
        if not counts[node]:
            continue
        for index in range(graph.offsets[node], graph.offsets[node + 1]):
            source, slope = graph.args[index], slopes.values[index]
            if source in reached and slope is not None and not slopes.exact_zero[index]:
                if isinstance(slope, Hole):
                    return slope
                leaving.setdefault(source, []).append((node, slope))
                reached.add(node)
    terms: list[Any] = []
    stack: list[tuple[int, Any]] = [(start, point.kind.number("1"))]
    while stack:
        node, product = stack.pop()
        if node == graph.output:
            terms.append(product)
        else:
            stack.extend((target, product * slope) for target, slope in leaving.get(node, ()))
    if not all(isinstance(term, float) for term in terms):
        return _added(point.kind, terms)
    return math.fsum(terms) if all(map(math.isfinite, terms)) else math.nan


def _added(kind: Kind, terms: list[Any]) -> Any:
    total = kind.number("0")
    for term in terms:
        total = total + term
    return total
