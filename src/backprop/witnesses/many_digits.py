"""The witnesses of numbers that are no doubles: what each says of a fraction, or of numbers of many digits.

They are the witnesses of doubles, asked for as many digits as the kind holds against them (`Kind.checked`); how far a
number agrees with the truth its kind tells itself (`Kind.agreement`). An exact number has to agree in every digit that
is compared. One of N digits may have lost some where terms cancel: then the rules, worked out with more than twice the
digits at the very same operands, have to give the truth.
"""

from __future__ import annotations

import math
import time
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

from backprop.beside.differences import (
    MOST_EVALUATIONS,
    Slopes,
    affordable,
    exactly,
    levels,
    many,
    primal,
    slopes,
    weights,
)
from backprop.figures import figure
from backprop.kinds import Hole, is_number, value_at
from backprop.point import Point
from backprop.record import Note, Witness
from backprop.reverse import reverse
from backprop.rules import partial, partials
from backprop.witnesses import modes, sympy_rules, sympy_whole
from backprop.witnesses.child import Answers
from backprop.witnesses.sympy_rules import Questions

if TYPE_CHECKING:
    from backprop.witnesses.arrays import Closed

BY = "difference"
# Of the processor's time, so that it is the same question on a busy machine.
SECONDS = 2.5
# Digits that rounding may take from a number of N: an operation or two loses no more.
ROUNDING = 3


def testify(
    point: Point, asked: Questions, whole: dict[str, Any] | str, answers: Answers, closed: Closed | None
) -> tuple[list[Witness], list[Note]]:
    """What all witnesses say of the numbers of a point that are no doubles.

    `closed` is the array program whose answers they are, where the point is the one that it opens into.
    """
    court = Court(point, closed)
    by_rule = court.by_rules(asked, answers)
    by_modes = modes.testify(point, court.weights) if closed is None else []
    each = [*court.by_whole(whole, answers), *court.by_differences(), *by_modes]
    blame = sympy_rules.blame(by_rule)
    for witness in each:
        if witness.verdict == "DISAGREES" and witness.by != modes.BY_PATHS:
            witness.reason = "; ".join(part for part in (witness.reason, blame) if part) or None
    order = {point.name_of(node): place for place, node in enumerate(point.wrt)}
    each.sort(key=lambda witness: order.get(witness.of, len(order)))
    return [*each, *by_rule], court.notes(each)


class Court:
    """A point whose derivatives are held against the truth."""

    def __init__(self, point: Point, closed: Closed | None = None) -> None:
        self.point, self.closed = point, closed
        self.kind = point.kind
        self.sure = point.kind.checked

    @cached_property
    def weights(self) -> list[float]:
        """For each node the sum of the sizes of the path terms from it: what rounding is measured by."""
        return weights(self.point)

    @cached_property
    def true_adjoints(self) -> list[Any] | None:
        """The adjoints by our rules with more than twice the digits; None when the graph is too large for that."""
        point, digits = self.point, 2 * self.sure + 40
        if not affordable(point.graph, digits):
            return None
        kind, values = primal(point, point.graph, digits, {})
        found = reverse(point.graph, partials(point.graph, kind, values, point.moving), kind)
        return [kind.number("0") if one is None else one for one in found.adjoints]

    # -- one derivative

    def judge(self, node: int, by: str, truth: Any, known_to: float) -> Witness:
        """What a witness that found `truth`, good to `known_to` digits, says of d output / d node."""
        point, name = self.point, self.point.name_of(node)
        ours, value = point.gradient()[name], self._shown(truth)
        if isinstance(ours, Hole):
            return Witness(name, by, "not checked", value, reason="our rules give no number here")
        digits = self.kind.agreement(ours, truth)
        if digits >= min(self.sure, known_to) - ROUNDING:
            return Witness(name, by, "agrees", value, digits)
        if not self.kind.rounds:
            return Witness(name, by, "DISAGREES", value, digits)
        rules = self._by_rules(node)
        if rules is None or isinstance(rules, Hole):
            reason = "whether the rules or the digits are to blame could not be told with more digits"
            return Witness(name, by, "inaccurate", value, digits, reason)
        known = ROUNDING - math.floor(min(self.sure, known_to))
        if abs(rules - truth) > max(abs(truth) * _power(known), self.weights[node] * _power(-self.sure - 10)):
            return Witness(name, by, "DISAGREES", value, digits)
        if digits >= self.sure / 2:
            return Witness(name, by, "agrees", value, digits)
        reason = f"the rules are right; {self.sure} digits lose the others here, where terms cancel"
        return Witness(name, by, "inaccurate", value, digits, reason)

    def _by_rules(self, node: int) -> Any:
        """The adjoint by the rules that are judged, with more than twice the digits; None where it is not known."""
        true = None if self.true_adjoints is None else self.true_adjoints[node]
        if self.closed is None or true is None:
            return true
        return (self.closed.adjoints(2 * self.sure + 40) or {}).get(node)

    def _shown(self, truth: Any) -> Any:
        """What a witness found, as a Trace holds it: a number of so many digits."""
        return many(self.sure).record(truth)

    # -- SymPy on the whole

    def by_whole(self, asked: dict[str, Any] | str, answers: Answers) -> list[Witness]:
        """One row for each input, or one for all when the whole is not put to SymPy."""
        point = self.point
        if isinstance(asked, str):
            return sympy_whole.not_asked(point, asked)
        said: list[Witness] = []
        for node, truth, reason in sympy_whole.answered(point, answers):
            if truth is None:
                said.append(Witness(point.name_of(node), sympy_whole.BY, "not checked", reason=reason))
            else:
                said.append(self.judge(node, sympy_whole.BY, self._number(truth), self.sure))
        return said

    def _number(self, text: str) -> Any:
        """A decimal of any length as an mpf (Python reads no whole number of more than 4300 digits)."""
        from mpmath import mpf, workdps

        mantissa, _, exponent = text.partition("e")
        whole, _, part = mantissa.partition(".")
        with workdps(self.sure + 15):
            return mpf(int(Decimal(whole + part))) * mpf(10) ** (int(exponent or "0") - len(part))

    # -- SymPy on every operation

    def by_rules(self, asked: Questions, answers: Answers) -> list[Witness]:
        """One row for all edges when they agree; one for each operation whose rule does not, naming it."""
        found = sympy_rules.Finding(digits=float(self.sure))
        for place, edges in enumerate(asked.edges):
            told = answers.slopes.get(place)
            for edge, truth in zip(edges, told or [None] * len(edges), strict=True):
                if truth is None:
                    found.silent += 1
                else:
                    self._compare(edge, self._number(truth), found)
        return sympy_rules.rows(found, asked, answers, self.sure - 2)

    def _compare(self, edge: tuple[int, int, int], truth: Any, found: sympy_rules.Finding) -> None:
        node, position, index = edge
        ours = self.point.partials.values[index]
        digits = self.kind.agreement(ours, truth)
        found.checked += 1
        op, name = self.point.graph.op(node), self.point.graph.ids[node]
        where = f"{op} at node {name}, operand {position + 1}"
        right = digits >= self.sure - ROUNDING or self._rule_gives(node, position, truth)
        says = f"{figure(self.kind.record(ours))} should be {figure(self._shown(truth), 17)}"
        if not right and op not in found.wrong:
            found.wrong[op] = Witness("all", sympy_rules.BY, "DISAGREES", digits=digits, reason=f"{where}: {says}")
        elif right and digits < self.sure / 2 and op not in found.poor:
            reason = f"{where}: the rule is right, but {says}"
            found.poor[op] = Witness("all", sympy_rules.BY, "inaccurate", digits=digits, reason=reason)
        elif digits < found.digits:
            found.digits, found.worst = digits, where

    def _rule_gives(self, node: int, position: int, truth: Any) -> bool:
        """Whether the rule itself, worked out with more than twice the digits at the same operands, gives the truth."""
        if not self.kind.rounds:
            return False
        point, kind = self.point, many(2 * self.sure + 40)
        row = point.graph.row(node)
        assert row is not None
        sources = point.graph.operands(node)
        rule = partial(row, position, tuple(bool(point.moving[source]) for source in sources))
        operands = [exactly(kind, point.values[source]) for source in sources]
        slope = rule.evaluate(kind, operands, value_at(node, row, kind, operands))
        return not isinstance(slope, Hole) and bool(abs(slope - truth) <= abs(truth) * _power(ROUNDING - self.sure))

    # -- the value alone, beside the point

    def by_differences(self) -> list[Witness]:
        """One row for each input: the slope of the value alone, by steps of a millionth of a millionth and less."""
        point, began = self.point, time.process_time()
        digits = levels(self.kind)[0]
        if len(point.graph) * (1 + 4 * len(point.wrt)) > MOST_EVALUATIONS or not affordable(point.graph, digits):
            reason = f"{len(point.graph)} nodes are too many to work out beside the point with {digits} digits"
            return [Witness("all", BY, "not checked", reason=reason)] if point.wrt else []
        said: list[Witness] = []
        for node in point.wrt:
            name = point.name_of(node)
            if time.process_time() - began > SECONDS:
                told = f"the differences took more than {SECONDS:g} s"
                said.append(Witness(name, BY, "not checked", reason=told))
                continue
            one = point.singular().get(node)
            if one is not None and (one.mended or one.without_slope):
                told = one.without_slope or "the answer is its own"
                said.append(Witness(name, BY, "not checked", reason=told))
                continue
            found = slopes(point, node, self.weights[node], began + SECONDS) if one is None else one.sides
            said.append(self._of_sides(node, found))
        return said

    def _of_sides(self, node: int, found: Slopes) -> Witness:
        name, ours = self.point.name_of(node), self.point.gradient()[self.point.name_of(node)]
        if found.reason:
            return Witness(name, BY, "not checked", reason=found.reason)
        if found.central is not None:
            return self.judge(node, BY, found.central, found.digits)
        ends = [self.kind.nearest(end) for end in (found.left, found.right) if end is not None]
        texts = [figure(self.kind.record(end)) for end in ends]
        if len(ends) == 1:
            which = "right" if found.left is None else "left"
            told = f"from the {which} only, where the slope is {texts[0]}: there is no value on the other side"
            return Witness(name, BY, "not checked", reason=told)
        told = f"kink: between {texts[0]} and {texts[1]}"
        if isinstance(ours, Hole):
            return Witness(name, BY, "not checked", reason=told)
        is_an_end = self.kind.rounds and any(self.kind.agreement(ours, end) >= self.sure - ROUNDING for end in ends)
        verdict = "agrees" if is_an_end or min(ends) <= ours <= max(ends) else "DISAGREES"
        if verdict == "DISAGREES":
            told = f"kink: {figure(self.kind.record(ours))} is not between {texts[0]} and {texts[1]}"
        return Witness(name, BY, verdict, reason=told)

    # -- what is left to say

    def notes(self, witnesses: list[Witness]) -> list[Note]:
        """A note when digits were lost, with the derivatives as more digits give them."""
        point = self.point
        lost = {witness.of for witness in witnesses if witness.verdict == "inaccurate"}
        nodes = [node for node in point.wrt if point.name_of(node) in lost]
        if not nodes or self.true_adjoints is None:
            return []
        output = point.graph.ids[point.graph.output]
        told = ", ".join(
            f"∂{output}/∂{point.name_of(node)} = {figure(self._shown(self.true_adjoints[node]), self.sure)}"
            for node in nodes[:4]
            if is_number(self.true_adjoints[node])
        )
        more = math.ceil(1.5 * self.sure)
        text = f"terms cancel, and {self.sure} digits are not enough: {told}; --kind digits:{more} keeps more of them"
        return [Note("lost-digits", text, output)]


def _power(exponent: int) -> Any:
    """A power of ten that may be smaller than any double."""
    from mpmath import mpf

    return mpf(10) ** exponent
