"""The witness of rounding: what the plain doubles are worth, whatever number answers.

The double of the value and of every derivative asked for is held against the same rules in many digits. With fewer
than half of its digits right it is called inaccurate, and the node at which they were lost is named.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backprop.accuracy.fine import FULL, digits_kept
from backprop.accuracy.fine import of as fine_of
from backprop.accuracy.lost_digits import first_loss, told
from backprop.accuracy.rounding import INF
from backprop.beside.differences import EPSILON, to_double
from backprop.kinds import Hole, is_number
from backprop.point import Point
from backprop.record import Witness

BY = "rounding"

# Half of the digits of a double.
HALF = 8.0


def testify(point: Point) -> Witness | None:
    """One row for all answers, with the digits of the worst; None for kinds that are no doubles.

    >>> from backprop.point import at
    >>> said = testify(at("1 - cos(x)", {"x": 1e-9}))
    >>> said.verdict, said.reason
    ('inaccurate', 'f = 1 - v1 keeps none of 16 digits')
    """
    return of_numbers(point, point.value(), point.by_rules())


def of_numbers(point: Point, value: Any, given: Mapping[str, Any]) -> Witness | None:
    """The same of other doubles for the value and the derivatives, as those of an array program are."""
    found = point.accuracy()
    if found is None:
        return None
    fine = fine_of(point)
    if fine.reason:
        return Witness("all", BY, "not checked", reason=fine.reason)
    numbers: list[tuple[Any, Any]] = [(value, fine.value(point.graph.output))]
    numbers += [(given[point.name_of(node)], fine.adjoint(node)) for node in point.wrt]
    all_kept = [_kept(*numbers[0], found.errors.values[point.graph.output], stationary=False)]
    all_kept += [
        _kept(*pair, fine.weights[node], stationary=True) for pair, node in zip(numbers[1:], point.wrt, strict=True)
    ]
    kept = [digits for digits in all_kept if digits is not None]
    if not kept or all(isinstance(double, Hole) and isinstance(truth, Hole) for double, truth in numbers):
        return Witness("all", BY, "not checked", reason="there is no number here to compare")
    least = min(FULL, *kept)
    if least >= HALF:
        return Witness("all", BY, "agrees", digits=least)
    found.fine = fine
    loss = first_loss(point, found)
    return Witness("all", BY, "inaccurate", digits=least, reason=told(point, found, loss)[1])


def _kept(double: Any, truth: Any, size: float, stationary: bool) -> float | None:
    """How many digits of an answer are right; None where that is not known.

    Of a true 0 all are, while it is 0 up to the rounding of the terms in it, whose size is given. So they are of a
    slope at a `stationary` point: beside the minimum of 3x^2 - 1.8x it is 1e-16, which is as good as 0.
    """
    if truth is None:
        return None
    if isinstance(truth, Hole):
        return FULL if isinstance(double, Hole) or double != double else 0.0  # in an array NaN stands for a hole
    if is_number(truth) and is_number(double) and size < INF:
        rounding = 64 * EPSILON * size
        if abs(double) <= rounding and (to_double(truth) == 0 or (stationary and abs(truth) <= rounding)):
            return FULL
    return digits_kept(double, truth)
