"""Fine: the same point with many more digits, which tells a double that has run out of digits from the true number.

Inputs and literals are the doubles, exactly. Each level of digits works out values and rules and, by the same running
error analysis as for doubles (`rounding`), how many of its own digits are right: the first level that promises
enough of them is believed.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from backprop.accuracy.rounding import INF, Errors, Roundoff, errors
from backprop.beside.differences import EPSILON, LEVELS, affordable, cut, levels, many, primal, to_double, weights
from backprop.kinds import Hole, is_number, value_at
from backprop.point import Point
from backprop.reverse import Reverse, reverse
from backprop.rules import Partials, partials

FULL = 15.95  # the digits of a double: -log10 of its epsilon
SMALLEST = 5e-324
ENOUGH = 11.0  # a double with fewer right digits than this is worth a word

# The errors of doubles are of first order; those of more digits are nearer to it, and far less than so many times more.
MARGIN = 1e6
# One pass with the rules and their errors, where differences take many passes: so many times more nodes are worked out.
LARGER = 6
# Domains that are left by a hair, one behind the other, are followed so far.
MOST_MOVED = 8


class Level:
    """A point worked out with so many digits: values of nodes and, when asked for, partials and adjoints."""

    def __init__(self, point: Point, digits: int, as_written: bool = False) -> None:
        self.point = point
        self.digits = digits
        # the digits that have to be right before it is believed
        self.right = max(20, point.kind.digits + 4)
        self.kind = copy.copy(many(digits))
        self.kind.convention = point.kind.convention
        if as_written:
            self.values = point.in_kind(self.kind).values
        else:
            self.values = primal(point, point.graph, digits, {})[1]
            self.values = self._within_the_domain()

    def _within_the_domain(self) -> list[Any]:
        """The values, where a domain is left by no more than rounding those from just inside it.

        The cosine of the angle between two parallel vectors is 1, and may be worked out as 1 + 1e-60.
        """
        graph = self.point.graph
        moved: dict[int, Any] = {}
        found = self.values
        for _ in range(MOST_MOVED):
            hole = found[graph.output]
            if not isinstance(hole, Hole) or hole.code != "domain" or hole.position >= 0 or hole.node in moved:
                return found
            inside = self._moved_inside(found, hole.node)
            if inside is None:
                return found
            moved |= inside
            at = graph
            for node in moved:
                at = cut(at, node)
            found = primal(self.point, at, self.digits, moved)[1]
        return found

    def _moved_inside(self, known: list[Any], node: int) -> dict[int, Any] | None:
        """An operand of a node without a value, moved by what it may be wrong by to where there is one; else None."""
        graph, row = self.point.graph, self.point.graph.row(node)
        assert row is not None
        slopes = partials(graph, self.kind, known, self.point.moving)
        wrong = errors(graph, self.kind, known, slopes, self.point.moving, None, self.roundoff).values
        operands = list(graph.operands(node))
        for place, operand in enumerate(operands):
            by = wrong[operand] * self.roundoff.unit
            if not (0 < by < INF and is_number(known[operand])):
                continue
            inside = []
            for end in (known[operand] - by, known[operand] + by):
                beside = [known[one] if other != place else end for other, one in enumerate(operands)]
                if not isinstance(value_at(node, row, self.kind, beside), Hole):
                    inside.append(end)
            # with values on both sides it is no edge but a hole, as that of 1/v at 0: nothing lies just inside it
            if len(inside) == 1:
                return {operand: inside[0]}
        return None

    @cached_property
    def partials(self) -> Partials:
        """The rules, worked out with so many digits."""
        return partials(self.point.graph, self.kind, self.values, self.point.moving)

    @cached_property
    def back(self) -> Reverse | None:
        """The way back; None where there is no value to go back from."""
        if not is_number(self.values[self.point.graph.output]):
            return None
        return reverse(self.point.graph, self.partials, self.kind)

    @cached_property
    def adjoints(self) -> list[Any]:
        return [None] * len(self.values) if self.back is None else self.back.adjoints

    @cached_property
    def errors(self) -> Errors:
        """What its numbers may be wrong by, in units of `roundoff`."""
        return errors(
            self.point.graph, self.kind, self.values, self.partials, self.point.moving, self.back, self.roundoff
        )

    @cached_property
    def roundoff(self) -> Roundoff:
        # 1 + exp(-900) is 1 in 60 digits, so a tie has to be one in as many digits as there are
        more = [digits for digits in levels(self.point.kind) if digits > self.digits]
        last = not more or not affordable(self.point.graph, more[0], LARGER)
        return Roundoff(self.kind.number(f"1e{1 - self.digits}"), 0, 0, ties=last)

    def error(self, node: int, slope: bool) -> Any:
        """What the value or the adjoint of a node may be wrong by, in units; inf where a branch hangs on it."""
        if self.errors.branch >= 0:
            return INF
        of = self.errors.adjoints if slope else self.errors.values
        return of[node] if of else INF

    def promises(self, number: Any, error: Any) -> bool:
        """Whether enough digits of a number are right, or nothing that a double could show is wrong."""
        if not error < INF:
            return False
        wrong = error * self.roundoff.unit
        return bool(wrong <= abs(number) * self.kind.number(f"1e-{self.right}") or wrong < self.kind.number("1e-330"))


class Fine:
    """A point at the digits of each level, worked out when asked for.

    `rough` are the errors of the doubles, in units that shrink with more digits: where they are small, they will do for
    more digits too, with a large margin, and spare their own analysis. `as_written` takes inputs and literals as their
    texts say, 0.1 as one tenth and pi as π.
    """

    def __init__(self, point: Point, rough: Errors | None = None, as_written: bool = False) -> None:
        self.point = point
        self.as_written = as_written
        self.rough = rough if rough is not None and rough.branch < 0 else Errors([], [], [])
        self._levels: dict[int, Level] = {}

    @cached_property
    def weights(self) -> list[float]:
        """For each node the sum of the sizes of all path terms from it to the output."""
        return weights(self.point) if self.point.kind.digits else []

    @property
    def reason(self) -> str:
        """Why there are not more digits; "" when there are."""
        if not self.point.kind.digits:
            return f"only numbers are compared with more digits, and this is kind {self.point.kind.name}"
        if not affordable(self.point.graph, LEVELS[0], LARGER):
            return f"the graph has {len(self.point.graph)} nodes, too many to work out with {LEVELS[0]} digits"
        return ""

    def at(self, digits: int) -> Level | None:
        """The point with so many digits, rules and all; None when the graph is too large."""
        if self.reason or not affordable(self.point.graph, digits, LARGER):
            return None
        if digits not in self._levels:
            self._levels[digits] = Level(self.point, digits, self.as_written)
        return self._levels[digits]

    @property
    def deepest(self) -> Level | None:
        """The level of most digits that was needed so far; the first one where none was."""
        return self._levels[max(self._levels)] if self._levels else self.at(LEVELS[0])

    def value(self, node: int) -> Any:
        """The true value of a node, as an mpf; a `Hole` where there is none, None when it could not be told."""
        return self._believed(node, slope=False)

    def adjoint(self, node: int) -> Any:
        """The true adjoint of a node, as an mpf; a `Hole` where there is none, None when it could not be told."""
        return self._believed(node, slope=True)

    def _believed(self, node: int, slope: bool) -> Any:
        """The number of the first level that promises it; a hole that every level has."""
        found: list[Any] = []
        for digits in levels(self.point.kind):
            level = self.at(digits)
            if level is None:
                break
            last = level
            number = _number(level, node, slope)
            found.append(number)
            if isinstance(number, bool) or number is None:
                return None
            if not isinstance(number, Hole) and self._believes(level, found, node, slope):
                return number
        if found and all(isinstance(one, Hole) for one in found) and len({one.node for one in found}) == 1:
            return found[-1]
        if len(found) < 2 or isinstance(found[-1], Hole):
            return None
        if last.errors.branch < 0 and _vanishes(found, levels(self.point.kind)):
            return found[-1] * 0
        # sqrt(1 - cos(x)) at 0: the slope of the root is infinite, so nothing is promised, yet all levels have the 0
        return found[-1] if last.errors.branch < 0 and all(one == found[-1] for one in found) else None

    def _believes(self, level: Level, found: list[Any], node: int, slope: bool) -> bool:
        """Whether the last number found is good enough."""
        rough = self.rough.adjoints if slope else self.rough.values
        # near acos(1) the errors of doubles are not of first order, but then they are as large as the number
        if rough and rough[node] * EPSILON <= 1e-3 * abs(found[-1]) and level.promises(found[-1], MARGIN * rough[node]):
            return True
        error = level.error(node, slope)
        if level.promises(found[-1], error):
            return True
        # what is lost in 60 digits and in 250 stays the same too: 1 - 1e-300 is 1 in both
        blind = error < INF and error * level.roundoff.unit > abs(found[-1]) and not level.roundoff.ties
        return not blind and _steady(found, level)


def _number(level: Level, node: int, slope: bool) -> Any:
    """The value or the adjoint of a node at a level."""
    if not slope:
        value = level.values[node]
        return level.kind.context.mpf(value) if is_number(value) and not isinstance(value, bool) else value
    output = level.values[level.point.graph.output]
    if not is_number(output):
        return output
    adjoint = level.adjoints[node]
    return level.kind.number("0") if adjoint is None else adjoint


def _vanishes(found: list[Any], digits: Sequence[int]) -> bool:
    """Whether a number gets smaller with every level, as what is left of a true 0 does.

    Terms that cancel leave as little as there are digits, and the cube root of them a third of that. It has to shrink:
    a number that is merely less than its bound may be anything, as an orbit of the logistic map is after 500 steps.
    """
    if any(isinstance(one, Hole) for one in found[-2:]):
        return False
    (before, now), more = found[-2:], digits[len(found) - 1] - digits[len(found) - 2]
    # a number of 100 zeros looks the same to 60 digits and to 250, so these have to tell more than the last level
    share = more // 4 if len(found) == len(digits) else 3 * more // 4
    return bool(0 < abs(now) * 10**share <= abs(before))


def _steady(found: list[Any], level: Level) -> bool:
    """Whether a number without a promise is the same to so many digits at the level before, and not by being 0."""
    if len(found) < 2 or isinstance(found[-2], Hole) or level.errors.branch >= 0:
        return False
    before, number = found[-2:]
    return bool(number != 0 and abs(number - before) <= abs(number) * level.kind.number(f"1e-{level.right}"))


def digits_right(double: float, truth: Any) -> float:
    """How many leading digits of a double are right: 15.95 when no double is nearer, 0 when none is.

    >>> from mpmath import mpf
    >>> round(digits_right(3.14, mpf("3.14159265358979")), 1), digits_right(0.0, mpf("1e-400"))
    (3.3, 15.95)
    """
    nearest = to_double(truth)
    if double == nearest or abs(double - nearest) <= 64 * SMALLEST:
        return FULL
    if not math.isfinite(double) or truth == 0:
        return 0.0
    return round(min(FULL, max(0.0, -math.log10(max(float(abs((double - truth) / truth)), EPSILON)))), 2)


def digits_kept(double: Any, truth: Any) -> float:
    """How many digits of a value or slope are right; all where there is nothing to compare, none of a hole."""
    if isinstance(truth, bool) or not is_number(truth):
        return FULL
    if not isinstance(double, float):
        return 0.0 if isinstance(double, Hole) else FULL
    if truth == 0:
        return FULL if double == 0 else 0.0
    return digits_right(double, truth)


def of(point: Point) -> Fine:
    """The point in more digits; the same that its answers were mended with, when they were."""
    found = point.accuracy()
    return Fine(point) if found is None or found.fine is None else found.fine
