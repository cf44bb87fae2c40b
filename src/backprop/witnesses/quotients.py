"""Slopes along one direction from values alone, in doubles: the witness that no program is too large for.

Central quotients with steps that halve are extrapolated to the step 0 (Richardson, 1911). Along a direction that
follows the signs of a gradient nothing cancels, so a gradient that is wrong anywhere is seen in one number. The same is
done with each operation by itself, for what comes back to each of its operands: that names the rule to blame.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from backprop.array_point import ArrayPoint
from backprop.beside.differences import EPSILON, cut
from backprop.forward import contribution
from backprop.graph import CONST, INPUT
from backprop.kinds import Hole, Misfit, value_at
from backprop.kinds.shapes import shape_of
from backprop.mistakes import ShapesDiffer
from backprop.record import Witness
from backprop.values import values

BY = "array rules"

# The first step, in proportion to each element, how often it is halved, and smaller ones to begin with where that
# steps out of a domain or over a kink.
STEPS = (2.0**-9, 2.0**-14, 2.0**-19)
HALVINGS = 4
# A slope is wrong when it differs by more than this part of what it is made of, and steady when it is known to less.
WRONG, STEADY = 1e-6, 1e-5
# What differs by no more than so many times the error of a quotient is not wrong: the second derivative of elu jumps.
UNSURE = 8
# Of the processor's time, for all operations together.
SECONDS = 2.5


@dataclass(slots=True)
class Quotient:
    """The slope along a direction and what it may be wrong by; a `reason` where there is none."""

    slope: float = 0.0
    error: float = 0.0
    reason: str = ""


def irregular(shape: tuple[int, ...], start: int = 0) -> Any:
    """Numbers between 0.5 and 1.5 without a pattern, the same each time, so that no two errors cancel.

    >>> irregular((2,)).round(3).tolist()
    [0.5, 1.118]
    """
    count = math.prod(shape)
    found = 0.5 + (start + np.arange(count)) * 0.6180339887498949 % 1
    return found.reshape(shape)


def along(values_at: Any, slopes: Any) -> Any:
    """A direction that moves each element in proportion to its size, uphill by the slopes."""
    sizes = np.abs(np.asarray(values_at, dtype=np.float64))
    size = float(np.sqrt(np.mean(sizes**2))) or 1.0
    sizes = np.where(sizes > 0, sizes, size)
    return irregular(sizes.shape) * sizes * np.where(np.asarray(slopes) < 0, -1.0, 1.0)


def quotient(value: Callable[[float], float]) -> Quotient:
    """The slope of a function of the step at the step 0, from its values alone.

    >>> found = quotient(math.exp)
    >>> abs(found.slope - 1) < 1e-12, found.error < 1e-9
    (True, True)
    """
    found = Quotient(reason="there is no finite value beside the point")
    middle = value(0.0)
    if not math.isfinite(middle):
        return Quotient(reason="there is no finite value here")
    for first in STEPS:
        table: list[list[float]] = []
        bends: list[float] = []
        size = abs(middle)
        for halving in range(HALVINGS):
            h = first / 2**halving
            above, below = value(h), value(-h)
            if not (math.isfinite(above) and math.isfinite(below)):
                break
            size = max(size, abs(above), abs(below))
            bends.append(abs((above - middle) - (middle - below)) / h)
            row = [(above - below) / (2 * h)]
            for order, before in enumerate(table[-1] if table else ()):
                row.append(row[order] + (row[order] - before) / (4 ** (order + 1) - 1))
            table.append(row)
        else:
            error = abs(table[-1][-1] - table[-2][-1]) + 8 * EPSILON * size / h
            # where a function is smooth, left and right slope come together as the step gets smaller
            if bends[-1] > max(bends[0] / 2, WRONG * abs(table[-1][-1]), 64 * EPSILON * size / h):
                found = Quotient(reason="there is a kink") if found.reason else found
                continue
            if error <= STEADY * abs(table[-1][-1]) or not found.error or error < found.error:
                found = Quotient(table[-1][-1], error)
            if error <= STEADY * abs(found.slope):
                break
    return found


def told(of: str, by: str, ours: float, found: Quotient, weight: float, reason: str) -> Witness:
    """What a quotient says of the slope by the rules; `weight` is the size of the terms that it is the sum of."""
    if found.reason:
        return Witness(of, by, "not checked", reason=found.reason)
    if not math.isfinite(ours):
        return Witness(of, by, "not checked", reason="there is no number here to compare")
    apart = abs(ours - found.slope)
    if apart <= WRONG * weight:
        # fewer digits than the quotient itself is good to are no news
        digits = 15.95 if not weight else round(min(15.95, -math.log10(max(apart / weight, EPSILON))), 2)
        return Witness(of, by, "agrees", digits=digits, reason=reason)
    if found.error > STEADY * weight or apart <= UNSURE * found.error:
        return Witness(of, by, "not checked", reason="the quotients of doubles are not steady: a kink may be near")
    digits = round(max(0.0, -math.log10(apart / max(abs(ours), abs(found.slope)))), 2)
    return Witness(of, by, "DISAGREES", digits=digits, reason=reason)


# -- the whole program --------------------------------------------------------------------------------------------


def of_input(point: ArrayPoint, name: str, slopes: Any) -> Witness:
    """The slope of the output along one direction of what is asked for under a name, in doubles."""
    from backprop.witnesses.differences import BY as DIFFERENCE

    node, at = point.asked[name]
    values_at = np.asarray(point.values[node], dtype=np.float64)
    direction = along(values_at[at], slopes)
    graph = cut(point.graph, node)
    leaves = {one: point.values[one] for one, code in enumerate(graph.codes) if code in (INPUT, CONST)}

    def value(step: float) -> float:
        moved = values_at.copy()
        moved[at] += step * direction
        found = values(graph, point.kind, leaves | {node: point.kind.unwrapped(moved)})[graph.output]
        return math.nan if isinstance(found, Hole) else float(found)

    try:
        found = quotient(value)
    except ShapesDiffer:
        found = Quotient(reason="it chooses a place, and cannot be moved a little")
    terms = np.asarray(slopes) * direction
    return told(
        name,
        DIFFERENCE,
        float(np.sum(terms)),
        found,
        float(np.sum(np.abs(terms))),
        "along one direction, in doubles",
    )


# -- each operation by itself -------------------------------------------------------------------------------------


@dataclass(slots=True)
class Tried:
    """What came out of the operations that were tried by themselves."""

    count: int = 0
    digits: float = 15.95
    worst: str = ""
    wrong: dict[str, str] = field(default_factory=dict)
    silent: dict[str, int] = field(default_factory=dict)


def by_operation(point: ArrayPoint) -> list[Witness]:
    """What comes back to each operand of each operation on arrays, against quotients of that operation alone.

    One row for all when they agree, and one for each operation whose rule is wrong, naming it.
    """
    graph, found, began = point.graph, Tried(), time.process_time()
    for node in range(len(graph)):
        row = graph.row(node)
        if row is None or not point.moving[node] or isinstance(point.values[node], Hole):
            continue
        operands = [point.values[operand] for operand in graph.operands(node)]
        if not (row.arrays or any(map(shape_of, (point.values[node], *operands)))):
            continue
        for edge in graph.edges_to(node):
            partial = point.partials.values[edge.place]
            if partial is None or isinstance(partial, Hole):
                continue
            if time.process_time() - began > SECONDS:
                _silent(found, f"they took more than {SECONDS:g} s")
                continue
            _try(point, node, edge.position, partial, operands, found)
    return _rows(found)


def _silent(found: Tried, reason: str) -> None:
    found.silent[reason] = found.silent.get(reason, 0) + 1


def _try(point: ArrayPoint, node: int, position: int, partial: Any, operands: list[Any], found: Tried) -> None:
    """One operand of one operation: its pull, and its push, against quotients."""
    kind, row, at = point.kind, point.graph.row(node), operands[position]
    assert row is not None
    adjoint = kind.unwrapped(irregular(shape_of(point.values[node]), start=node))
    with np.errstate(all="ignore"):
        brought = contribution(kind.pull, adjoint, partial, node, position)
        if isinstance(brought, Hole) or not np.all(np.isfinite(brought)):
            _silent(found, "a partial has no value")
            return
        direction = along(at, brought)
        moved = contribution(kind.push, kind.unwrapped(direction), partial, node, position)

        def value(step: float) -> float:
            beside = list(operands)
            beside[position] = kind.unwrapped(np.asarray(at + step * direction))
            try:
                out = value_at(node, row, kind, beside)
            except Misfit:
                return math.nan
            return math.nan if isinstance(out, Hole) else float(np.sum(adjoint * out))

        terms = np.asarray(brought) * direction
        weight, slope = float(np.sum(np.abs(terms))), quotient(value)
        ours = [float(np.sum(terms)), math.nan if isinstance(moved, Hole) else float(np.sum(adjoint * moved))]
    where = f"{row.name} at node {point.graph.ids[node]}, operand {position + 1}"
    for which, number in zip(("what it sends back", "how it carries a tangent"), ours, strict=True):
        said = told("all", BY, number, slope, weight, "")
        if said.verdict == "not checked":
            _silent(found, said.reason or "")
            return
        if said.verdict == "DISAGREES":
            found.wrong.setdefault(row.name, f"{where}: {which} is not what its values show")
        elif said.digits is not None and said.digits < found.digits:
            found.digits, found.worst = said.digits, where
    found.count += 1


def _rows(found: Tried) -> list[Witness]:
    if found.wrong:
        return [Witness("all", BY, "DISAGREES", reason=reason) for reason in found.wrong.values()]
    left = "; ".join(f"{'1 edge' if count == 1 else f'{count} edges'}: {why}" for why, count in found.silent.items())
    if not found.count:
        return [Witness("all", BY, "not checked", reason=left)] if left else []
    told = [f"not checked: {left}"] if left else []
    return [Witness("all", BY, "agrees", digits=found.digits, reason="; ".join(told) or None)]
