"""Sampled: what can be said of a program that is too large to be checked at every node with many digits.

At some nodes the value is worked out again with many digits from the very same operands, and the adjoint is added up
again from what the edges bring: the first and the last node, those of the largest adjoints, and others drawn at random,
the same each time. And the slope of the whole along one direction in which every input moves is told by its values
alone, in doubles: two central quotients, extrapolated to the step 0 (Richardson, 1911).
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from heapq import nlargest
from typing import Any

from backprop.accuracy.fine import FULL, digits_right
from backprop.beside.differences import EPSILON, LARGEST, LEVELS, exactly, many
from backprop.graph import CONST, INPUT
from backprop.kinds import Hole, is_number, value_at
from backprop.point import Point
from backprop.record import Witness
from backprop.values import values

BY = "nodes"

# Beyond so many nodes there are no differences with many digits, and nodes are sampled.
LARGE = LARGEST[LEVELS[0]]
# Nodes of a sample, and how many of them are those of the largest adjoints.
MOST_NODES, MOST_LARGEST = 1_000, 20
# A value that is right to fewer digits, of operands that are exact, is not that of the operation.
RIGHT = 11.0
# The larger of two steps, in proportion to each input, and smaller ones where that leaves a domain or meets a kink.
STEPS = (2.0**-12, 2.0**-17, 2.0**-22)
# A slope is wrong when it differs by more than this part of what it is made of, and steady when it is known to less.
WRONG, STEADY = 1e-6, 1e-5
# Of the processor's time; beyond that no smaller step is tried.
SECONDS = 2.5


def chosen(count: int, most: int) -> list[int]:
    """So many places of a row, at random but the same each time, the first and the last among them.

    >>> chosen(4, 9), chosen(10**6, 4) == chosen(10**6, 4), chosen(10**6, 4)[::3]
    ([0, 1, 2, 3], True, [0, 999999])
    """
    if count <= most:
        return list(range(count))
    return sorted({0, count - 1, *random.Random(count).sample(range(1, count - 1), max(0, most - 2))})


def largest(point: Point, count: int = MOST_LARGEST) -> list[int]:
    """The nodes with the largest adjoints."""
    adjoints = point.reverse().adjoints
    sizes = ((abs(one), node) for node, one in enumerate(adjoints) if isinstance(one, float) and one - one == 0)
    return [node for _, node in nlargest(count, sizes)]


def testify(point: Point) -> list[Witness]:
    """One row for the nodes that were looked at, or one for each operation that is wrong; none for a small program."""
    graph = point.graph
    if len(graph) <= LARGE or isinstance(point.value(), Hole):
        return []
    nodes = sorted({*chosen(len(graph), MOST_NODES), *largest(point)})
    found = FULL
    looked_at = 0
    wrong: dict[str, str] = {}
    sums = _added_up_again(point, nodes)
    for node in nodes:
        of_value, of_adjoint = _of_value(point, node), sums[node]
        looked_at += of_value is not None or of_adjoint is not None
        for what, digits in (("value", of_value), ("adjoint", of_adjoint)):
            if digits is None:
                continue
            found = min(found, digits)
            if digits < RIGHT:
                wrong.setdefault(
                    f"{graph.op(node)} {what}", f"the {what} of {graph.op(node)} at node {graph.ids[node]}"
                )
    if wrong:
        return [
            Witness("all", BY, "DISAGREES", reason=f"{reason} is not what it should be") for reason in wrong.values()
        ]
    if not looked_at:
        return [Witness("all", BY, "not checked", reason="there are no numbers to look at")]
    told = f"{looked_at} of {len(graph)} nodes: the first, the last, those of the largest adjoints, others at random"
    return [Witness("all", BY, "agrees", digits=found, reason=told, sample=(looked_at, len(graph)))]


def _of_value(point: Point, node: int) -> float | None:
    """To how many digits a value is that of its operation, worked out with many digits; None where that is not told."""
    row, value = point.graph.row(node), point.values[node]
    if row is None or not is_number(value):
        return None
    operands = [point.values[operand] for operand in point.graph.operands(node)]
    if any(isinstance(one, Hole) or (isinstance(one, float) and one - one != 0) for one in operands):
        return None
    kind = many(LEVELS[0])
    truth = value_at(node, row, kind, [exactly(kind, one) for one in operands])
    if isinstance(value, bool) or isinstance(truth, bool):
        return FULL if value == truth else 0.0
    return None if truth is None or isinstance(truth, Hole) else digits_right(value, truth)


def _added_up_again(point: Point, nodes: Sequence[int]) -> dict[int, float | None]:
    """To how many digits each adjoint is the sum of what leaves the node; None where that is not told."""
    graph, slopes, adjoints = point.graph, point.partials, point.reverse().adjoints
    terms: dict[int, list[Any]] = {node: [1.0] if node == graph.output else [] for node in nodes}
    target, offsets = 0, graph.offsets
    for place, source in enumerate(graph.args):
        if source not in terms:
            continue
        while offsets[target + 1] <= place:
            target += 1
        partial, adjoint = slopes.values[place], adjoints[target]
        if partial is not None and adjoint is not None and not slopes.exact_zero[place]:
            terms[source].append(None if isinstance(partial, Hole) or isinstance(adjoint, Hole) else adjoint * partial)
    found: dict[int, float | None] = {}
    for node, brought in terms.items():
        ours = adjoints[node]
        if None in brought or not point.moving[node] or not isinstance(ours, float) or ours - ours != 0:
            found[node] = None
            continue
        total, weight = math.fsum(brought), math.fsum(map(abs, brought))
        apart = abs(total - ours)
        if apart <= EPSILON * (64 + len(brought)) * weight:
            found[node] = FULL if not weight else min(FULL, -math.log10(max(apart / weight, EPSILON)))
        else:
            found[node] = max(0.0, -math.log10(apart / weight)) if math.isfinite(weight) else None
    return found


def direction(point: Point, nodes: Sequence[int], of: str, by: str) -> Witness:
    """The slope along one direction in which all inputs move, from the values alone, in doubles."""
    graph, gradient = point.graph, point.gradient()
    ours = [gradient[point.name_of(node)] for node in nodes]
    if any(graph.codes[node] not in (INPUT, CONST) for node in nodes):
        return Witness(of, by, "not checked", reason="there are too many nodes to move one after the other")
    if not all(map(is_number, (*ours, point.value(), *(point.values[node] for node in nodes)))):
        return Witness(of, by, "not checked", reason="there is no number here to compare")
    leaves = {node: point.values[node] for node, code in enumerate(graph.codes) if code in (INPUT, CONST)}
    moves: dict[int, float] = {}
    for place, (node, slope) in enumerate(zip(nodes, ours, strict=True)):
        size = (abs(leaves[node]) or 1.0) * (0.5 + place * 0.6180339887498949 % 1)
        moves[node] = -size if slope < 0 else size

    def value(step: float) -> float:
        moved = {node: leaves[node] + step * by for node, by in moves.items()}
        found = values(graph, point.kind, leaves | moved)[graph.output]
        return found if isinstance(found, float) else math.nan

    terms = [slope * by for slope, by in zip(ours, moves.values(), strict=True)]
    total, weight = math.fsum(terms), math.fsum(map(abs, terms))
    reason = "the quotients of doubles are not steady here"
    began = time.process_time()
    for step in STEPS:
        if time.process_time() - began > SECONDS:
            break
        slope, error, is_smooth = _extrapolated(
            point.value(), step, [value(h) for h in (step, -step, step / 2, -step / 2)]
        )
        apart = abs(slope - total)
        if not math.isfinite(slope) or error > STEADY * weight or not is_smooth:
            continue
        if apart <= WRONG * weight:
            digits = FULL if not weight else round(min(FULL, -math.log10(max(apart / weight, EPSILON))), 2)
            told = "all inputs moved at once, along one direction, in doubles"
            return Witness(of, by, "agrees", digits=digits, reason=told)
        if apart > 8 * error:
            told = "all inputs moved at once, along one direction, in doubles"
            return Witness(of, by, "DISAGREES", digits=0.0, reason=told)
    return Witness(of, by, "not checked", reason=reason)


def _extrapolated(middle: float, step: float, beside: Sequence[float]) -> tuple[float, float, bool]:
    """The slope from values at a step and at half of it on both sides, what it may be wrong by, and whether it bends.

    >>> slope, error, is_smooth = _extrapolated(1.0, 2**-12, [math.exp(h) for h in (2**-12, -2**-12, 2**-13, -2**-13)])
    >>> abs(slope - 1) < 1e-11, error < 1e-7, is_smooth
    (True, True, True)
    """
    above, below, nearer_above, nearer_below = beside
    far, near = (above - below) / (2 * step), (nearer_above - nearer_below) / step
    rounding = 8 * EPSILON * max(map(abs, (middle, *beside))) / step
    bends = [
        abs(one - 2 * middle + two) / h
        for one, two, h in ((above, below, step), (nearer_above, nearer_below, step / 2))
    ]
    # where a function is smooth, left and right slope come together as the step gets smaller
    is_smooth = bends[1] <= max(0.6 * bends[0], WRONG * abs(near), 8 * rounding)
    return near + (near - far) / 3, abs(near - far) / 3 + rounding, is_smooth
