"""The same point with many more digits: what tells a wrong rule from a double that has run out of digits."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

from backprop.beside import EPSILON, LARGEST, LEVELS, affordable, primal, to_double, weights
from backprop.figures import figure
from backprop.kinds import Hole, is_number
from backprop.kinds.real import REAL
from backprop.point import Point
from backprop.record import Note, Witness
from backprop.reverse import reverse
from backprop.rules import Partials, partials

FULL = 15.95  # the digits of a double: -log10 of its epsilon
SMALLEST = 5e-324
ENOUGH = 10.0  # a double with fewer right digits than this is worth a word


class Level:
    """A point worked out with so many digits: values of nodes and, when asked for, partials and adjoints."""

    def __init__(self, point: Point, digits: int) -> None:
        self.point = point
        self.kind, self.values = primal(point, point.graph, digits, {})

    @cached_property
    def partials(self) -> Partials:
        """The rules, worked out with so many digits."""
        return partials(self.point.graph, self.kind, self.values, self.point.moving)

    @cached_property
    def adjoints(self) -> list[Any]:
        return reverse(self.point.graph, self.partials, self.kind).adjoints


class Fine:
    """A point at the digits of each level, worked out when asked for. Inputs and literals are the doubles, exactly."""

    def __init__(self, point: Point) -> None:
        self.point = point
        self.weights: list[float] = weights(point) if point.kind is REAL else []
        self._levels: dict[int, Level] = {}

    @property
    def reason(self) -> str:
        """Why there are not more digits; "" when there are."""
        if self.point.kind is not REAL:
            return f"only doubles are compared with more digits, and this is kind {self.point.kind.name}"
        if len(self.point.graph) > LARGEST[LEVELS[0]]:
            return f"the graph has {len(self.point.graph)} nodes, too many to work out with {LEVELS[0]} digits"
        return ""

    def at(self, digits: int) -> Level | None:
        """The point with so many digits, rules and all; None when the graph is too large."""
        if self.reason or not affordable(self.point.graph, digits):
            return None
        if digits not in self._levels:
            self._levels[digits] = Level(self.point, digits)
        return self._levels[digits]

    def value(self, node: int) -> Any:
        """The true value of a node, as an mpf; None when there is none."""
        return self._steady(lambda level: level.values[node])

    def adjoint(self, node: int) -> Any:
        """The adjoint of a node by our rules at many digits, as an mpf; None when there is none."""

        def at(level: Level) -> Any:
            if not is_number(level.values[self.point.graph.output]):
                return None
            return 0 if level.adjoints[node] is None else level.adjoints[node]

        return self._steady(at)

    def _steady(self, of: Callable[[Level], Any]) -> Any:
        """A number that two levels agree on to 20 digits, 0 when it dwindles with every level; else None.

        The first level has to be believed where the graph is too large for the second.
        """
        before: Any = None
        for digits in LEVELS:
            level = self.at(digits)
            if level is None:
                return before if digits == LEVELS[1] else None
            number = of(level)
            if isinstance(number, bool) or not is_number(number):
                return None
            number = level.kind.context.mpf(number)
            if before is not None and abs(number - before) <= abs(number) * 1e-20:
                return number
            if before is not None and abs(number) < abs(before) * level.kind.context.mpf(10) ** -100:
                return number * 0
            before = number
        return None


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


def judge(point: Point, fine: Fine, node: int, by: str, truth: Any, known_to: float) -> Witness:
    """What a witness that found `truth`, good to `known_to` digits, says of d output / d node.

    The double may have lost digits: then our rules, worked out with many digits, have to give the truth.
    """
    name, ours = point.name_of(node), point.gradient()[point.name_of(node)]
    weight = fine.weights[node]
    if truth != 0 and abs(truth) <= weight * 1e-30 and fine.adjoint(node) == 0:
        truth = truth * 0  # what is left of terms that cancel to the last digit
    value = to_double(truth) + 0.0
    if isinstance(ours, Hole):
        reason = "our rules give no number here"
        return Witness(name, by, "not checked", value if math.isfinite(value) else None, reason=reason)
    digits = digits_right(ours, truth)
    if digits >= 13:
        return Witness(name, by, "agrees", value, digits)
    if abs(ours - value) <= 64 * EPSILON * weight and truth == 0:
        left = round(min(FULL, -math.log10(max(abs(ours) / weight, EPSILON))), 2)
        return Witness(name, by, "agrees", value, left, "0 up to the rounding of the terms that cancel")
    right = rules_give(fine, node, truth, known_to)
    if right is None:
        reason = "whether the rules or the doubles are to blame could not be told with more digits"
        return Witness(name, by, "inaccurate", value, digits, reason)
    if not right:
        return Witness(name, by, "DISAGREES", value, digits)
    if digits >= ENOUGH:
        return Witness(name, by, "agrees", value, digits)
    return Witness(name, by, "inaccurate", value, digits, "the rules are right; doubles lose the other digits here")


def rules_give(fine: Fine, node: int, truth: Any, known_to: float) -> bool | None:
    """Whether our rules give the truth when they are worked out with many digits; None when they cannot be."""
    ours = fine.adjoint(node)
    if ours is None:
        return None
    allowed = 10.0 ** -max(3.0, min(known_to, 20.0) - 3.0)
    return bool(abs(ours - truth) <= allowed * abs(truth))


# -- notes --------------------------------------------------------------------------------------------------------


def lost_digits(point: Point, fine: Fine, witnesses: list[Witness]) -> list[Note]:
    """Notes on what doubles could not carry: an overflow, an underflow, and where digits were lost."""
    level = fine.at(LEVELS[0])
    if level is None:
        return []
    graph, ids = point.graph, point.graph.ids
    notes = _out_of_range(point, level)
    spoilt: list[tuple[str, Any]] = []
    value = point.value()
    if _digits_kept(value, level.values[graph.output]) < ENOUGH:
        true_value = fine.value(graph.output)
        if _digits_kept(value, true_value) < ENOUGH:
            spoilt.append((ids[graph.output], true_value))
    inaccurate = {witness.of for witness in witnesses if witness.verdict == "inaccurate"}
    gradient = point.gradient()
    for node in point.wrt:
        if point.name_of(node) in inaccurate or isinstance(gradient[point.name_of(node)], Hole):
            true_slope = fine.adjoint(node)
            if true_slope is not None:
                spoilt.append((f"∂{ids[graph.output]}/∂{point.name_of(node)}", true_slope))
    return [*notes, _first_loss(point, fine, level, spoilt)] if spoilt else notes


def _first_loss(point: Point, fine: Fine, level: Level, spoilt: list[tuple[str, Any]]) -> Note:
    """The first node, in order, where too many digits are gone, and the right answers."""
    graph = point.graph
    right = ", ".join(f"{name} = {shown(value)}" for name, value in spoilt[:4])
    if len(spoilt) > 4:
        right += f" and {len(spoilt) - 4} more"
    tail = f"with more digits {right}"
    for node in range(len(graph)):
        if graph.row(node) is None:
            continue
        kept = _digits_kept(point.values[node], level.values[node])
        if kept < ENOUGH and _digits_kept(point.values[node], fine.value(node)) < ENOUGH:
            what = f"{graph.ids[node]} = {graph.formula(node)}"
            return Note("lost-digits", f"{what} keeps {_count(kept)}; {tail}", graph.ids[node])
        for index in range(graph.offsets[node], graph.offsets[node + 1]):
            kept = _digits_kept(point.partials.values[index], level.partials.values[index])
            if kept < ENOUGH:
                what = f"the partial ∂{graph.ids[node]}/∂{graph.ids[graph.args[index]]}"
                return Note("lost-digits", f"{what} keeps {_count(kept)}; {tail}", graph.ids[node])
    what = "the terms that meet cancel but for the last digits"
    if any(isinstance(slope, Hole) for slope in point.gradient().values()):
        what = "a product of partials has no double (0·inf)"
    return Note("lost-digits", f"{what}; {tail}", graph.ids[graph.output])


def _count(kept: float) -> str:
    return f"{kept:.1f} of 16 digits" if kept else "none of 16 digits"


def _digits_kept(double: Any, true: Any) -> float:
    """How many digits of a double are right; all of them where there is nothing to compare, none of a hole."""
    if isinstance(true, bool) or not is_number(true):
        return FULL
    if not isinstance(double, float):
        return 0.0 if isinstance(double, Hole) else FULL
    if true == 0:
        return FULL if double == 0 else 0.0
    return digits_right(double, true)


def _out_of_range(point: Point, level: Level) -> list[Note]:
    """The first node that is too large for a double, and the first that is too small."""
    found: dict[str, Note] = {}
    graph = point.graph
    for node in range(len(graph)):
        if graph.row(node) is None or len(found) == 2:
            continue
        ours, true = point.values[node], level.values[node]
        if isinstance(true, bool) or not is_number(true):
            continue
        large = isinstance(ours, Hole) and ours.node == node and ours.code == "overflow"
        large = large or (isinstance(ours, float) and math.isinf(ours))
        small = isinstance(ours, float) and ours == 0 and true != 0 and to_double(true) == 0
        what = f"{graph.ids[node]} = {graph.formula(node)} is {shown(true, 3)}"
        if large and "overflow" not in found:
            text = f"{what}, more than the largest double (1.8e308)"
            found["overflow"] = Note("overflow", text, graph.ids[node])
        if small and "underflow" not in found:
            text = f"{what}, less than the smallest double (4.9e-324): 0 stands for it"
            found["underflow"] = Note("underflow", text, graph.ids[node])
    return list(found.values())


def shown(value: Any, figures: int = 17) -> str:
    """The right digits of a number: what a double holds as all its digits, what it cannot hold in full."""
    from mpmath import nstr

    nearest = to_double(value) + 0.0
    if not math.isfinite(nearest) or (nearest == 0 and value != 0):
        return str(nstr(value, min(figures, 6)))
    return repr(nearest) if figures == 17 and nearest != int(nearest) else figure(nearest, figures)
