"""Narrower: the answers in balls, where the tape by itself does not give the best of them, or none that is proven.

Over intervals the tape takes every use of an input for another number. The whole is one function of its inputs, and its
adjoints over the box are its slopes: so what `ranges` does for one operation does it for a program, and the adjoints
themselves are the hull of what they are over parts of the box.

At the boundary of a condition the branch that is taken may be that of the one point alone, as in where(x == 0, 5*x, x).
There the slopes are the hull of those of both branches, when the branches are proven to meet; where the value jumps, or
may, nothing is proven of the slope in what makes it jump.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backprop.balls.ball import UNDECIDED, Ball, Undecided, hull, working
from backprop.balls.enclosures import Certified
from backprop.balls.ranges import Budget, halves, narrowed
from backprop.graph import Graph
from backprop.kinds import Hole

if TYPE_CHECKING:
    from backprop.point import Point

# Boxes looked at for a value and for the adjoints, times nodes.
MOST_WORK = 30_000
MOST_VALUES, MOST_SLOPES = 300, 64


def narrower(point: Point) -> tuple[Any, dict[int, Any]]:
    """The value, and the slopes of nodes asked for, that stand in the place of those of the tape; None, and nothing.

    >>> from backprop.kinds import by_name
    >>> from backprop.point import at
    >>> narrower(at("x*(1 - x)", {"x": "0..1"}, kind=by_name("certified")))[0].hi == 0.25
    True
    """
    kind, graph = point.kind, point.graph
    assert isinstance(kind, Certified)
    if isinstance(point.value(), Hole) and not kind.given_intervals:
        return None, {}
    inputs = list(graph.inputs.values())
    box = [point.values[node] for node in inputs]
    wide = [place for place, one in enumerate(box) if one.is_wide(kind.bits)]
    boxes = MOST_WORK // len(graph) if wide else 0
    opened = open_conditions(point)
    value = None
    slopes: dict[int, Any] = {}
    with working(kind.bits):
        if boxes >= 2:
            value = _value(point, kind, inputs, box, wide, min(boxes, MOST_VALUES))
        if opened or (boxes >= 2 and len(graph.args) > 1):
            slopes = _slopes(point, kind, inputs, box, wide, min(boxes, MOST_SLOPES), opened)
        slopes |= {node: hole for node, hole in _behind_jumps(point, kind, opened).items() if node in point.wrt}
    return value, slopes


def open_conditions(point: Point) -> list[int]:
    """The comparisons that are undecided, and those decided as they are at their boundary: beside the point they may
    be decided otherwise, as in where(x == 0, 1, x)."""
    graph, known, kind = point.graph, point.values, point.kind
    assert isinstance(kind, Certified)
    found = kind.undecided(graph, known)
    for node in range(len(graph)):
        row = graph.row(node)
        if row is None or not row.gives_condition or not row.kink or not isinstance(known[node], bool):
            continue
        if kind.is_kink(row, [known[operand] for operand in graph.operands(node)], known[node]):
            found.append(node)
    return sorted(found)


def bends(point: Point) -> bool:
    """Whether the slope may jump: at a kink, a jump or a boundary that may be met, where no second derivative is.

    >>> from backprop.kinds import by_name
    >>> from backprop.point import at
    >>> [bends(at("x*abs(x)", {"x": x}, kind=by_name("certified"))) for x in ("-1..1", "1..2")]
    [True, False]
    """
    graph, known, kind = point.graph, point.values, point.kind
    assert isinstance(kind, Certified)
    for node in range(len(graph)):
        row = graph.row(node)
        if row is None or not row.kink or row.gives_condition or not point.moving[node] or known[node] is None:
            continue
        operands = [known[operand] for operand in graph.operands(node)]
        if not isinstance(known[node], Hole) and kind.is_kink(row, operands, known[node]):
            return True
    return bool(open_conditions(point))


def _behind_jumps(point: Point, kind: Certified, opened: list[int]) -> dict[int, Hole]:
    """The nodes that make the output jump, or may: no slope tells how it moves with them, not even a slope of 0.

    A node that jumps matters wherever it leads: round(sign(x)) is 0 at 0 and flat there, and jumps all the same.
    """
    graph = point.graph
    leaves = {node: point.values[node] for node in graph.inputs.values()}
    known = kind.parts.values_over(graph, leaves, dict.fromkeys(opened, UNDECIDED))
    # what only an open condition asks for is not worked out again
    known = [own if one is None else one for one, own in zip(known, point.values, strict=True)]
    live = bytearray(len(graph))
    behind: dict[int, Hole] = {}
    live[graph.output] = 1
    for node in range(len(graph) - 1, -1, -1):
        row, hole = graph.row(node), behind.get(node)
        if row is None or not live[node]:
            continue
        sources = graph.operands(node)
        operands = [known[source] for source in sources]
        taken = sources
        if row.conditions and not row.gives_condition and isinstance(operands[0], bool):
            taken = [sources[0], sources[1] if operands[0] else sources[2]]
        for source in taken:
            live[source] = 1
            if hole is not None:
                behind.setdefault(source, hole)
        if not point.moving[node] and not row.conditions:
            continue  # it does not move, so it does not jump
        if row.jumps and (any(one is None for one in operands) or kind.is_kink(row, operands, known[node])):
            for position, source in enumerate(sources):
                behind[source] = Hole(node, "unproven", position, "the value jumps there")
        elif row.conditions and not row.gives_condition and operands[0] is UNDECIDED:
            boundary = _apart(point, kind, node, leaves, opened)
            if boundary is not None:
                detail = f"the value of {graph.formula(node)} may jump there"
                behind[sources[0]] = Hole(boundary, "unproven", detail=detail)
    return behind


def _apart(point: Point, kind: Certified, node: int, leaves: dict[int, Any], opened: list[int]) -> int | None:
    """A comparison at whose boundary the branches of a `where` are not proven to be one and the same number.

    The boundary is found where an input is compared with a number, and where single numbers are compared.
    """
    graph = point.graph
    condition, *branches = graph.operands(node)
    parts = _ancestors(graph, condition)
    for comparison in (one for one in opened if one in parts):
        pair = graph.operands(comparison)
        moved = dict(leaves)
        for operand, other in (pair, pair[::-1]):
            number = point.values[other]
            if operand in leaves and isinstance(number, Ball) and number.single:
                moved[operand] = number
                break
        else:
            known = [point.values[operand] for operand in pair]
            if any(not isinstance(one, Ball) or one.is_wide(kind.bits) for one in known):
                return comparison
        there = kind.parts.values_over(graph, moved, dict.fromkeys(opened, UNDECIDED))
        first, second = (there[branch] for branch in branches)
        if not isinstance(first, Ball) or not isinstance(second, Ball):
            return comparison
        if first is not second and not (first.single and second.single and (first == second) is True):
            return comparison
    return None


def _ancestors(graph: Graph, target: int) -> set[int]:
    """A node and all that it is worked out from."""
    found, waiting = {target}, [target]
    while waiting:
        for operand in graph.operands(waiting.pop()):
            if operand not in found:
                found.add(operand)
                waiting.append(operand)
    return found


def _value(point: Point, kind: Certified, inputs: list[int], box: list[Any], wide: list[int], most: int) -> Any:
    graph, tape = point.graph, point.value()

    def value(part: list[Any]) -> Ball:
        found: Ball | Hole = kind.parts.values_over(graph, dict(zip(inputs, part, strict=True)))[graph.output]
        if isinstance(found, Hole):
            raise Undecided(found.detail)
        return found

    def slopes(part: list[Any]) -> list[Any] | None:
        found = kind.parts.gradient_over(graph, dict(zip(inputs, part, strict=True)))
        return None if found is None else [found[name] for name in graph.inputs]

    try:
        found = narrowed(value, slopes, box, wide, Budget(most), most)
    except Undecided:
        return None
    if isinstance(tape, Ball):
        found = found.both(tape)
        return None if tape.inside(found) else found
    return found


def _slopes(
    point: Point, kind: Certified, inputs: list[int], box: list[Any], wide: list[int], most: int, opened: list[int]
) -> dict[int, Any]:
    """The hull of the adjoints over parts of the box, halved across their widest input until they are many."""
    parts = [box]
    while 2 * len(parts) <= most:
        parts = [half for part in parts for half in halves(part, wide)]
    found: dict[int, Any] = {}
    for near, nodes in _by_conditions(point, opened).items():
        several: dict[int, list[Any]] = {node: [] for node in nodes}
        for part in parts:
            leaves = dict(zip(inputs, part, strict=True))
            adjoints = kind.parts.adjoints_over(point.graph, leaves, point.moving, near)
            for node in nodes:
                several[node].append(None if adjoints is None else adjoints[node])
        # where a condition is decided, but at its boundary, the tape knows one branch only
        taken = [node for node in near if point.values[node] is not UNDECIDED]
        for node in nodes:
            own = point.by_rules()[point.name_of(node)]
            if not all(isinstance(one, Ball) for one in several[node]):
                if taken and isinstance(own, Ball):
                    found[node] = Hole(taken[0], "unproven", detail="a branch has no slope there")
                continue
            one = hull(several[node])
            if taken or not isinstance(own, Ball):
                found[node] = one
            elif not own.inside(one):
                found[node] = one.both(own)
    return found


def _by_conditions(point: Point, opened: list[int]) -> dict[tuple[int, ...], list[int]]:
    """The nodes asked for, by the conditions that are open as they move.

    One that is decided by equality stays so while what it compares does not move.
    """
    found: dict[tuple[int, ...], list[int]] = {}
    compared = {one: _ancestors(point.graph, one) for one in opened if point.values[one] is not UNDECIDED}
    for node in point.wrt:
        near = tuple(one for one in opened if one not in compared or node in compared[one])
        found.setdefault(near, []).append(node)
    return found
