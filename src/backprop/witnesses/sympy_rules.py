"""Witness 1: SymPy differentiates every operation by itself; each partial is compared with that, edge by edge.

The derivative of one operation is worked out once for each operand position, from the row's `sympy` form, and put to
40 digits at the operands of every node: linear in the nodes, and it tests every rule at the place where it was used.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from backprop import ops
from backprop.beside.differences import EPSILON, LEVELS, exactly, to_double
from backprop.figures import figure
from backprop.graph import CONST, INPUT
from backprop.kinds import Hole, is_number
from backprop.kinds.real import REAL
from backprop.point import Point
from backprop.record import Witness
from backprop.rules import is_kink, partial
from backprop.witnesses.child import Answers
from backprop.witnesses.judging import ENOUGH, FULL, SMALLEST, Fine, digits_right
from backprop.witnesses.sampled import chosen, largest

BY = "sympy rules"

# Edges put to SymPy at most; a larger graph is sampled, every operation and operand position among the sample.
MOST_EDGES = 3_000


@dataclass(slots=True)
class Questions:
    """What SymPy is asked: `groups` for the child, and beside each group the edges (target, position, index) it is for.

    `skipped` counts edges without a derivative by reason; `total` is how many edges could have been asked about.
    """

    groups: list[dict[str, Any]] = field(default_factory=list)
    edges: list[list[tuple[int, int, int]]] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)
    total: int = 0
    asked: int = 0


def questions(point: Point) -> Questions:
    """The partials of a point as questions, one group for each operation and operand position."""
    found = Questions()
    if not point.kind.checked:
        return found
    sorts: dict[tuple[int, int, int], array[int]] = {}  # the places of the edges, sort by sort
    graph, slopes = point.graph, point.partials.values
    codes, offsets = graph.codes, graph.offsets
    for node, code in enumerate(codes):
        if code in (INPUT, CONST) or not point.moving[node]:
            continue
        first, end = offsets[node], offsets[node + 1]
        for index in range(first, end):
            if slopes[index] is not None and not isinstance(slopes[index], Hole):
                key = code, end - first, index - first
                if key not in sorts:
                    sorts[key] = array("i")
                sorts[key].append(index)
    found.total = sum(map(len, sorts.values()))
    large = largest(point) if found.total > MOST_EDGES else []
    for (_, _, position), places in sorts.items():
        picked = _picked(point, places, position, found.total, large)
        points: list[list[Any]] = []
        asked: list[tuple[int, int, int]] = []
        for index in picked:
            edge = bisect_right(offsets, index) - 1, position, index
            row = graph.row(edge[0])
            assert row is not None
            known = [point.values[operand] for operand in graph.operands(edge[0])]
            out = point.values[edge[0]]
            reason = ""
            if not all(value is None or isinstance(value, bool) or is_number(value) for value in known):
                reason = "an operand is infinite or undefined"
            elif is_kink(row, point.kind, known, out):
                reason = "there is a kink"
            if reason:
                found.skipped[reason] = found.skipped.get(reason, 0) + 1
                continue
            points.append([one if one is None or isinstance(one, bool) else point.kind.told(one) for one in known])
            asked.append(edge)
        if asked:
            found.groups.append({"op": graph.op(asked[0][0]), "position": position, "points": points})
            found.edges.append(asked)
            found.asked += len(asked)
    return found


def _picked(point: Point, places: array[int], position: int, total: int, large: Sequence[int]) -> Sequence[int]:
    """The edges of one sort that are asked about: all, or of very many a sample.

    The first, the last and those into the nodes of the largest adjoints are in it.
    """
    if total <= MOST_EDGES:
        return places
    sample = {places[one] for one in chosen(len(places), max(8, MOST_EDGES * len(places) // total))}
    for node in large:
        index = point.graph.offsets[node] + position
        at = bisect_left(places, index)
        if at < len(places) and places[at] == index:
            sample.add(index)
    return sorted(sample)


@dataclass(slots=True)
class Finding:
    """What came out so far: the fewest digits and where, the first wrong edge of each operation, what was not said."""

    digits: float = FULL
    worst: str = ""
    checked: int = 0
    silent: int = 0
    untold: int = 0
    wrong: dict[str, Witness] = field(default_factory=dict)
    poor: dict[str, Witness] = field(default_factory=dict)


def testify(point: Point, asked: Questions, answers: Answers, fine: Fine) -> list[Witness]:
    """One row for all edges when they agree; one for each operation whose rule does not, naming it."""
    if point.kind.name != REAL.name:
        return [Witness("all", BY, "not checked", reason=f"SymPy checks doubles, and this is kind {point.kind.name}")]
    found = Finding()
    for place, edges in enumerate(asked.edges):
        slopes = answers.slopes.get(place)
        if slopes is None:
            found.silent += len(edges)
            continue
        for edge, truth in zip(edges, slopes, strict=True):
            if truth is None:
                found.silent += 1
            else:
                _compare(point, edge, truth, found, fine)
    return rows(found, asked, answers)


def _compare(point: Point, edge: tuple[int, int, int], text: str, found: Finding, fine: Fine) -> None:
    from mpmath import mp, mpf

    node, position, index = edge
    with mp.workdps(45):
        truth = mpf(text)
        ours = point.partials.values[index]
        found.checked += 1
        digits = digits_right(ours, truth)
        # within a few dozen units in the last place nothing more needs asking
        near = digits == FULL or abs(ours - truth) <= 64 * EPSILON * abs(truth) + 64 * SMALLEST
        right = near or rule_gives(point, node, position, truth)
        op, name = point.graph.op(node), point.graph.ids[node]
        where = f"{op} at node {name}, operand {position + 1}"
        nearest = figure(to_double(truth), 17)
        if right is None:
            found.untold += 1
        elif not right and op not in found.wrong:
            reason = f"{where}: {figure(ours, 17)} should be {nearest}"
            found.wrong[op] = Witness("all", BY, "DISAGREES", digits=digits, reason=reason)
        elif right and digits < ENOUGH and op not in found.poor:
            reason = f"{where}: the rule is right, but its double {figure(ours, 17)} should be {nearest}"
            found.poor[op] = Witness("all", BY, "inaccurate", digits=digits, reason=reason)
        elif digits < found.digits:
            found.digits, found.worst = digits, where


def rule_gives(point: Point, node: int, position: int, truth: Any) -> bool | None:
    """Whether the rule itself, worked out with many digits at the very same operands, gives the truth.

    None when the rule has no value with many digits.
    """
    from backprop.kinds import value_at
    from backprop.kinds.digits import Digits

    row = point.graph.row(node)
    assert row is not None
    sources = point.graph.operands(node)
    rule = partial(row, position, tuple(bool(point.moving[source]) for source in sources))
    before: Any = None
    for digits in LEVELS if row.flops < ops.HEAVY else LEVELS[:-1]:
        kind = Digits(digits)
        operands = [exactly(kind, point.values[source]) for source in sources]
        slope = rule.evaluate(kind, operands, value_at(node, row, kind, operands))
        if isinstance(slope, Hole):
            continue
        if abs(slope - truth) <= abs(truth) * 1e-25:
            return True
        if before is not None and abs(slope - before) <= abs(slope) * 1e-25:
            return False  # more digits would not change it
        before = slope
    return None if before is None else False


def rows(found: Finding, asked: Questions, answers: Answers, usual: float = 14) -> list[Witness]:
    """The rows that tell a finding; fewer digits than `usual` are told with the edge that has them."""
    told = [*found.wrong.values(), *found.poor.values()]
    left = [f"{_edges(count)}: {reason}" for reason, count in asked.skipped.items()]
    if found.silent:
        left.append(f"{_edges(found.silent)}: {answers.trouble or 'SymPy has no number there'}")
    if found.untold:
        left.append(f"{_edges(found.untold)}: too few digits, and not to be had with more")
    skipped = "; ".join(left)
    if found.checked == found.untold:
        if asked.total:
            told.append(Witness("all", BY, "not checked", reason=skipped))
        return told
    if told:
        return told
    said = []
    sample = None
    if asked.total > asked.asked + sum(asked.skipped.values()):
        sample = found.checked, asked.total
        said.append(f"{found.checked} of {asked.total} edges tried")
    if found.digits < usual:
        said.append(f"fewest digits: {found.worst}")
    if skipped:
        said.append(f"not checked: {skipped}")
    return [Witness("all", BY, "agrees", digits=found.digits, reason="; ".join(said) or None, sample=sample)]


def _edges(count: int) -> str:
    return "1 edge" if count == 1 else f"{count} edges"


def blame(witnesses: list[Witness]) -> str:
    """Which operations are to blame, when SymPy found rules that are wrong."""
    return "; ".join(w.reason for w in witnesses if w.verdict == "DISAGREES" and w.reason)
