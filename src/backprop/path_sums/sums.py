"""What is known of all paths together without listing them: how many, their sum, and whether the adjoint agrees."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

from backprop.path_sums.arithmetic import WIDE, Enclosure, Number, number_of, wide, widened
from backprop.path_sums.network import Network, Routes
from backprop.record import Value


def count(routes: Routes) -> int:
    """How many paths there are, exactly, without listing them: listing would take 3^k steps on k diamonds."""
    return routes.network.once(_counts).get(routes.source, 0)


def undefined(routes: Routes) -> int:
    """How many paths have a term that is undefined."""
    network = routes.network
    return 0 if network.symbolic or network.plain else network.once(_undefined_counts).get(routes.source, 0)


def total(routes: Routes) -> Value | None:
    """The sum of every term, without listing: the derivative. None where it is undefined or a formula."""
    return _sum(routes, _totals)


def size_total(routes: Routes) -> Value | None:
    """The sum of the absolute values of every term: against it the total shows how much cancels."""
    return _sum(routes, _sizes)


def _sum(routes: Routes, sums: Callable[[Network], dict[int, Value | None]]) -> Value | None:
    if routes.symbolic:
        return None
    return routes.network.once(sums).get(routes.source) if routes.leads else 0.0


def adjoint(routes: Routes) -> Value | None:
    """The derivative as the trace has it, found without paths; None where it has none between these two nodes."""
    trace = routes.network.trace
    if routes.target_id != trace.output or routes.symbolic:
        return None
    known = trace.nodes[routes.source].adjoint  # at a singular point the gradient may be another number
    return trace.gradient.get(routes.source_id) if known is None else known


def answer_apart(routes: Routes) -> Value | None:
    """The derivative that the trace answers with, where it is not the adjoint (a singular point); else None."""
    trace = routes.network.trace
    known = trace.gradient.get(routes.source_id) if routes.target_id == trace.output else None
    same = known is None or known != known or trace.mode != "reverse" or known == trace.nodes[routes.source].adjoint
    return None if same else known


def not_proven(routes: Routes) -> bool:
    """Whether nothing is proven of the derivative, whatever the terms are: the value may jump (kind certified)."""
    trace = routes.network.trace
    asked = routes.target_id == trace.output and routes.source_id in trace.wrt and trace.mode == "reverse"
    return trace.kind == "certified" and asked and routes.source_id not in trace.gradient


SMALLEST = Decimal("5e-324")


def agrees(routes: Routes, found: Value | None) -> bool | None:
    """Whether a sum of terms is the adjoint of the trace, as near as rounding lets it; None when one is missing.

    Two enclosures agree when they have a number in common.
    """
    if isinstance(number_of(found), Enclosure):
        proven = number_of(adjoint(routes))
        return number_of(found).meets(proven) if isinstance(proven, Enclosure) else None
    known = _size_of_difference(adjoint(routes), Decimal(0))
    if known is None or number_of(found) is None:
        return None
    if adjoint(routes) == found:
        return True
    if routes.network.digits == 0:
        return Fraction(number_of(adjoint(routes))) == Fraction(number_of(found))
    difference = _size_of_difference(adjoint(routes), widened(number_of(found)))
    size = widened(number_of(size_total(routes)))
    if difference is None or size is None or not size.is_finite():
        return adjoint(routes) == found
    digits = routes.network.digits
    steps = 8 + routes.network.once(_longest).get(routes.source, 0) + min(count(routes), 10**9)
    # the smallest double is the least that a step can be wrong by: x^100000 at 0.7 has a slope of a few of them
    return difference <= WIDE.multiply(size, steps * Decimal(10) ** -digits) + steps * SMALLEST


def _size_of_difference(value: Value | None, other: Decimal | None) -> Decimal | None:
    number = widened(number_of(value))
    if number is None or other is None:
        return None
    difference = WIDE.subtract(number, other).copy_abs()
    return None if difference.is_nan() else difference


def exit_code(found: Sequence[Routes]) -> int:
    """0 fine, 1 when a sum over paths is not the adjoint, 3 when a derivative is undefined here and not asked for.

    Where terms have no sum and the trace answers all the same, from values beside the point, nothing is undefined.
    """
    numeric = [routes for routes in found if not routes.symbolic]
    if any(not_proven(routes) for routes in numeric):
        return 3
    without = [routes for routes in numeric if total(routes) is None and answer_apart(routes) is None]
    if any(routes.network.trace.undefined is None for routes in without):
        return 3
    return 1 if any(agrees(routes, total(routes)) is False for routes in numeric) else 0


# -- the sweeps: one for all sources ---------------------------------------------------------------------------------


def _counts(network: Network) -> dict[int, int]:
    return network.sweep(None, 1, operator.mul, operator.add)


def _longest(network: Network) -> dict[int, int]:
    """The edges of the longest path."""
    return network.sweep([1] * len(network.edges), 0, operator.add, max)


def _undefined_counts(network: Network) -> dict[int, int]:
    dead = network.arithmetic.dead
    alive = [0 if dead is not None and value is dead else 1 for value in network.numbers]
    defined = [0 if value is None else keeps for value, keeps in zip(network.numbers, alive, strict=True)]
    every = network.sweep(alive, 1, operator.mul, operator.add)
    good = network.sweep(defined, 1, operator.mul, operator.add)
    return {node: every[node] - good[node] for node in every}


def _totals(network: Network) -> dict[int, Value | None]:
    return _sums(network, network.numbers)


def _sizes(network: Network) -> dict[int, Value | None]:
    size = network.arithmetic.size
    return _sums(network, [None if value is None else size(value) for value in network.numbers])


def _sums(network: Network, numbers: Sequence[Number]) -> dict[int, Value | None]:
    arithmetic = network.arithmetic
    sums = network.sweep(numbers, arithmetic.one, arithmetic.mul, arithmetic.add)
    if network.plain and not all(math.isfinite(value) for value in sums.values()):
        # so many terms that their sum leaves the range on the way, though it may come back
        arithmetic = wide(0)
        sums = network.sweep([widened(value) for value in numbers], arithmetic.one, arithmetic.mul, arithmetic.add)
    return {node: arithmetic.out(value) for node, value in sums.items()}
