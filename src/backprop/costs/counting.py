"""Counting: the operations of each part of the work and the numbers that it keeps, and so those of each way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backprop.costs.machines import machine
from backprop.costs.reports import Part, Way
from backprop.kinds.counted import Tally, Unit
from backprop.ops.work import shape, size

if TYPE_CHECKING:
    from backprop.point import Point

BYTES = 8  # of a double


@dataclass(slots=True)
class Counts:
    """The operations of each part, and the numbers that it leaves to be kept; of the sweeps those of one."""

    value: int
    partials: int
    reverse: int
    forward: int
    kept_values: int
    kept_partials: int
    kept_reverse: int
    kept_forward: int


def counts(point: Point) -> Counts:
    """What each part takes.

    A tangent pass is counted with every input moving, as tapes work it out. Our own leaves out what does not move, and
    takes as long for the walk.
    """
    tally = Tally()
    runner = machine(point, tally)
    known = runner.value()
    value = tally.operations
    slopes = runner.partials(known)
    rules = tally.operations
    back = runner.backward(slopes, _ones(known[point.graph.output]))
    swept = tally.operations
    moved = runner.forward(slopes, {node: _ones(runner.known(node)) for node in runner.wrt})
    return Counts(
        value,
        rules - value,
        swept - rules,
        tally.operations - swept,
        kept_numbers(known),
        kept_numbers(slopes.values),
        kept_numbers(back.adjoints),
        kept_numbers(moved),
    )


def _ones(value: Any) -> Any:
    """A 1 in every place of something of the shape of a value; no `Unit`, for it is a number like any other."""
    if not shape(value):
        return 1.0
    ones = value.copy()
    ones.fill(1.0)
    return ones


def kept_numbers(found: Iterable[Any]) -> int:
    """How many numbers a pass must keep of what it found: not the 1 of a rule, and of a linear map only its operands,
    which are kept already."""
    held = (getattr(one, "values", one) for one in found)
    return sum(size(one) for one in held if one is not None and not isinstance(one, Unit) and not hasattr(one, "rule"))


def ways_and_parts(count: Counts, n: int, m: int) -> tuple[list[Way], list[Part]]:
    shared, results = count.value + count.partials, BYTES * n * m
    values, slopes = BYTES * count.kept_values, BYTES * (count.kept_values + count.kept_partials)
    back, ahead = m * count.reverse, n * count.forward
    # a moved input (or two), and for each output number a difference and a quotient
    one_sided, central = (n + 1) * count.value + n * (1 + 2 * m), 2 * n * count.value + n * (2 + 2 * m)
    ways = [
        Way("value", 1, "pass", count.value, values),
        Way("reverse", m, "pass", shared + back, slopes + BYTES * count.kept_reverse + (results if m > 1 else 0)),
        Way("forward", n, "pass", shared + ahead, slopes + BYTES * count.kept_forward + results),
        Way("differences", n + 1, "evaluation", one_sided, values + results),
        Way("central differences", 2 * n, "evaluation", central, values + results),
    ]
    parts = [("value", 1, count.value), ("partials", 1, count.partials)]
    parts += [("reverse sweep", m, back), ("forward sweep", n, ahead)]
    return ways, [Part(name, runs, operations, operations / n if n else None) for name, runs, operations in parts]
