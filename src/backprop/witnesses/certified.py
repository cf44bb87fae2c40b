"""Witness 5: proven enclosures of the derivatives, in ball arithmetic (the extra `certify`).

The rules are the same, but nothing is lost in rounding: a double that lies far outside has lost its digits. And the
other way round: where the numbers of a point are balls themselves, the witnesses are asked about numbers of many
digits, and those have to lie in the balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from backprop.accuracy.fine import SMALLEST
from backprop.beside.differences import EPSILON, weights
from backprop.graph import CONST, INPUT
from backprop.kinds import Hole, by_name
from backprop.mistakes import ExtraMissing
from backprop.point import Point
from backprop.record import Note, Witness

if TYPE_CHECKING:
    from backprop.balls.ball import Ball
    from backprop.witnesses import Running

BY = "certified"
# Nodes of the largest graph that is worked out in balls as well: they take 50 times as long as doubles. And the bits.
LARGEST, BITS = 5_000, 2_048
# Digits of a double that are enough to agree, and all that it has: -log10 of its epsilon.
ENOUGH, FULL = 10.0, 15.95
# The digits of the numbers that are held against balls, the most of them, and how many are sure.
DIGITS, MOST_DIGITS, SURE = 50, 150, 20


def testify(point: Point) -> list[Witness]:
    """How near the double of each derivative is to its proven enclosure; one row for all when there is none.

    "agrees" when the digits of a double that are enough are proven right, "inaccurate" when they are proven not to be;
    "not checked" where nothing is proven. The inputs and literals are the doubles, exactly, as for other witnesses.
    """
    if not point.wrt:
        return []
    nodes = len(point.graph)
    if nodes > LARGEST:
        return [_not_checked("all", f"{nodes} nodes are too many for ball arithmetic")]
    try:
        kind = by_name("certified", BITS)
    except ExtraMissing as missing:
        return [_not_checked("all", f"{missing.cause}; {missing.repair}")]
    from backprop.balls.ball import Ball

    leaves = {
        node: Ball.of(point.values[node]) if isinstance(point.values[node], float) else point.values[node]
        for node, code in enumerate(point.graph.codes)
        if code in (INPUT, CONST)
    }
    proven = point.in_kind(kind, leaves).gradient()
    weight = weights(point)
    return [_judged(point, node, proven[point.name_of(node)], weight[node]) for node in point.wrt]


def _judged(point: Point, node: int, proven: Ball | Hole, weight: float) -> Witness:
    name = point.name_of(node)
    double = point.gradient()[name]
    if isinstance(proven, Hole):
        return _not_checked(name, "nothing is proven here")
    if isinstance(double, Hole) or not math.isfinite(double):
        return _not_checked(name, "our rules give no number here")
    from backprop.balls.certificates import shown, ulps

    told = shown(proven)
    if proven.holds(double):
        if proven.exact:
            return Witness(name, BY, "agrees", double, FULL, "it is the very number")
        if proven.digits() < ENOUGH:
            return Witness(name, BY, "agrees", reason=f"it lies in {told}, and no more is proven")
    if max(abs(double - end) for end in proven.bounds) <= 64 * SMALLEST:
        return Witness(name, BY, "agrees", double, FULL, f"no double is nearer to {told}")
    apart = abs(double - float(proven))
    if proven.holds(0) and apart <= 64 * EPSILON * weight:
        return Witness(name, BY, "agrees", reason="0 up to the rounding of the terms that cancel")
    if proven.holds(0) and not proven.exact:
        return _not_checked(name, f"{told} is all that is proven")
    digits = _digits(double, proven)
    if digits >= ENOUGH:
        most = max(1, math.ceil(2 * ulps(double, proven)) / 2)
        return Witness(name, BY, "agrees", float(proven), digits, f"within {most:g} ulp of the true number")
    return Witness(name, BY, "inaccurate", float(proven), digits, f"the true number is {told}")


def _digits(double: float, proven: Ball) -> float:
    """How many digits of a double are proven right."""
    from backprop.balls.ball import Ball

    if proven.exact and proven.holds(0):
        return 0.0
    apart = float((abs(Ball.of(double) - proven) / abs(proven)).hi)
    return round(min(FULL, max(0.0, -math.log10(max(apart, EPSILON)))), 2)


def _not_checked(of: str, reason: str) -> Witness:
    return Witness(of, BY, "not checked", reason=reason)


class Enclosing:
    """Witnesses of a point whose numbers are balls: those of many digits at work, whose numbers have to lie inside."""

    def __init__(self, point: Point, running: Callable[[Point], Running]) -> None:
        from backprop.balls.enclosures import FIRST_BITS, Certified

        assert isinstance(point.kind, Certified)
        self.point, self.running = point, None
        if not any(".." in text for text in point.given.values()):
            # where balls need more bits than they start with, terms cancel
            digits = min(DIGITS * point.kind.bits // FIRST_BITS, MOST_DIGITS)
            self.running = running(point.in_kind(by_name(f"digits:{digits}")))

    def finish(self) -> tuple[list[Witness], list[Note]]:
        """What they say, and whether their numbers lie in the balls."""
        if self.running is None:
            reason = "an interval is no single point; its enclosures are proven by the rules alone"
            return ([Witness("all", "sympy", "not checked", reason=reason)] if self.point.wrt else []), []
        witnesses, _ = self.running.finish()
        outside = {name for name, number in self.running.point.gradient().items() if self._is_outside(name, number)}
        for witness in witnesses:
            if witness.of in outside and witness.verdict == "agrees":
                witness.verdict = "DISAGREES"
                witness.reason = "the number with many digits lies outside of what is proven"
        return witnesses, []

    def _is_outside(self, name: str, number: Any) -> bool:
        from backprop.balls.ball import Ball

        proven = self.point.gradient()[name]
        if isinstance(proven, Hole) or isinstance(number, Hole) or self.running is None:
            return False
        apart = abs(Ball.of_mpf(number) - proven)
        node = next(node for node in self.point.wrt if self.point.name_of(node) == name)
        allowed = 10.0**-SURE * (abs(proven) + Ball.of(weights(self.running.point)[node]))
        return bool(apart.lo > allowed.hi)
