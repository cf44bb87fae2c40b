"""Enclosures: kind certified, in which every value is a ball that certainly holds the true number.

Literals and inputs are taken from the text typed (0.1 is the ball around one tenth), and each function is worked out at
the ends of its monotone pieces, where Arb is as sharp as its precision. What a ball cannot decide is `Undecided`, which
leaves a hole of the sort "unproven": never a number, and never called undefined. An undecided condition takes both
branches, and the hull of both stands; at a kink a partial is the hull of the slopes on both sides.

Arb is F. Johansson, "Arb: efficient arbitrary-precision midpoint-radius interval arithmetic", IEEE Transactions on
Computers 66 (2017); here it is python-flint, the extra `certify`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from flint import arb, fmpq

from backprop.balls.ball import (
    LONGEST_WRITTEN,
    UNDECIDED,
    ZERO,
    Ball,
    Undecided,
    max_of,
    working,
)
from backprop.balls.functions import Functions, ball_of
from backprop.balls.ranges import Budget, narrowed
from backprop.graph import INPUT, Graph
from backprop.kinds import Hole, Kind
from backprop.ops import Row
from backprop.reverse import reverse
from backprop.rules import Formula, formula, partials
from backprop.values import values

if TYPE_CHECKING:
    from backprop.point import Point

# Bits to work with, in turn, until the answers have enough digits; --limit moves the last.
FIRST_BITS, MOST_BITS = 128, 8192
# Digits that an answer is to prove; a double holds 17.
ENOUGH = 20.0
# Bits times nodes for one point: beyond that more bits are not tried.
MOST_WORK = 40_000_000
# Smaller boxes for all operations of a point together, when intervals are given.
MOST_BOXES = 20_000
# What can be carried: 10^17 decimal places before the point, and as many behind it.
LARGEST = (arb(10) ** 10**17).mid()
SMALLEST = (arb(10) ** -(10**17)).mid()
# Conditions that are decided in every way in turn.
MOST_OPEN = 3
# No condition is settled.
NOTHING: Mapping[int, Any] = MappingProxyType({})
# An exponent beyond this is no number that anybody means.
LARGEST_EXPONENT = 10_000_000

_LITERAL = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?")


class Certified(Functions):
    """Balls worked out with so many bits.

    `taking_apart` says whether wide balls may be taken apart to enclose a result more narrowly (`ranges`); the kind
    that does so works its parts out with one that does not.

    >>> kind = Certified()
    >>> kind.number("0.1"), kind.exp(kind.number("0..1")).hi > 2.718281828459045, kind.sin(kind.number("1..2")).hi
    (Ball(0.1), True, 1.00000000000000)
    """

    name = "certified"
    largest = "what can be carried"
    intervals = True

    def __init__(self, bits: int = FIRST_BITS, most: int = MOST_BITS, taking_apart: bool = True) -> None:
        self.bits, self.most = bits, max(bits, most)
        self.given_intervals = False
        self.budget = Budget(MOST_BOXES)
        self.widths: list[Any] | None = None
        self.numbers: dict[str, Ball] = {}
        self.parts = Certified(bits, most, taking_apart=False) if taking_apart else self

    # -- numbers and text

    def number(self, text: str) -> Ball:
        """The ball around a number as it was typed, or from one number to another ("0.2..0.4")."""
        first, dots, last = text.partition("..")
        with working(self.bits):
            if not dots:
                # the same text is the same number, and 0.1 - 0.1 is 0; an interval is another number each time
                if text not in self.numbers:
                    self.numbers[text] = self._number(text)
                return self.numbers[text]
            low, high = self._number(first), self._number(last)
            if (low > high) is True:
                raise ValueError(f"{text} has its larger end first")
            found = low.hull(high)
            self.given_intervals |= found.is_wide(self.bits)
            return found

    def _number(self, text: str) -> Ball:
        negative, name = text.startswith("-"), text.removeprefix("-")
        if name in ("pi", "tau", "e", "inf"):
            constant = {"pi": arb.pi(), "tau": 2 * arb.pi(), "e": arb.const_e(), "inf": arb.pos_inf()}[name]
            return -Ball.of(constant) if negative else Ball.of(constant)
        above, slash, below = name.partition("/")
        found = _decimal(above)
        if slash:
            divisor = _decimal(below)
            if divisor.holds(0):
                raise ZeroDivisionError(f"{text} divides by 0")
            found = found / divisor
        return -found if negative else found

    def record(self, value: Any) -> Any:
        """Middle and radius as decimal text; all of the ball lies within them. A condition is told in words."""
        if value is UNDECIDED:
            return "undecided"
        if isinstance(value, bool):
            return value
        if not value.finite:
            return float(value.lo) if value.exact else f"[{float(value.lo)}, {float(value.hi)}]"
        middle, radius = value.decimals()
        return {"mid": middle, "rad": radius}

    def read(self, record: Any) -> Any:
        """The ball that a Trace holds."""
        if not isinstance(record, dict):
            return self.number(record) if isinstance(record, str) else record
        middle, radius = (self.number(record[part]) for part in ("mid", "rad"))
        with working(self.bits):
            return (middle - radius).hull(middle + radius)

    # -- what engines ask

    def apply(self, row: Row, operands: list[Any]) -> Any:
        """The value of an operation; wide operands are taken apart where that encloses it more narrowly."""
        with working(self.bits):
            wide = self._wide(operands)
            if self.parts is self or not wide or row.jumps or row.gives_condition or row.conditions:
                return self._value(row, operands)
            slopes = [formula(text, row, len(operands)) for text in self._texts(row, operands)]

            def value(box: list[Any]) -> Ball:
                found: Ball = self.parts._value(row, box)
                return found

            def known(box: list[Any]) -> list[Ball | None]:
                out = value(box)
                return [_or_none(rule.evaluate(self.parts, box, out)) for rule in slopes]

            return narrowed(value, known, operands, wide, self.budget)

    def _value(self, row: Row, operands: list[Any]) -> Any:
        found = row.value(self, *operands)
        return _carried(found, operands) if isinstance(found, Ball) else found

    def _texts(self, row: Row, operands: list[Any]) -> list[str]:
        return [text or "0" for text in row.evaluated_rules(tuple(True for _ in operands))]

    def _wide(self, operands: list[Any]) -> list[int]:
        if not self.given_intervals:
            return []
        return [place for place, one in enumerate(operands) if isinstance(one, Ball) and one.is_wide(self.bits)]

    def slope(self, rule: Formula, operands: list[Any], out: Any, position: int = 0) -> Any:
        """A partial: all slopes from both sides of a kink, and what every form of the rule agrees on.

        Where the value jumps, and where a rule has no number, nothing is proven of the slope: of the whole neither, for
        0·inf may still be a number.
        """
        with working(self.bits):
            if rule.row.jumps and self.is_kink(rule.row, operands, out):
                return Hole(-1, "unproven", detail="the value jumps there")
            operands, out = self._beside_kinks(rule.row, operands, out)
            forms = (rule, *_other_forms(rule.row, len(operands), rule.text))
            found = [self._slope(form, operands, out) for form in forms]
            balls = [one for one in found if isinstance(one, Ball)]
            if not balls:
                return replace(found[0], code="unproven") if found[0].code == "domain" else found[0]
            narrow = balls[0]
            try:
                for other in balls[1:]:
                    narrow = narrow.both(other)
            except Undecided as undecided:
                return Hole(-1, undecided.code, detail=undecided.detail)
            return narrow

    def _slope(self, rule: Formula, operands: list[Any], out: Any) -> Any:
        wide = self._wide(operands)
        if self.parts is self or not wide:
            return rule.evaluate(self.parts, operands, out)
        row, graph, parts = rule.row, rule.graph, self.parts
        direct = [formula(text, row, len(operands)) for text in self._texts(row, operands)]

        def value(box: list[Any]) -> Ball:
            return _or_undecided(rule.evaluate(parts, box, parts._value(row, box)))

        def slopes(box: list[Any]) -> list[Ball | None] | None:
            """By the chain rule: the rule moves with an operand directly, and by way of the result `out`."""
            result = parts._value(row, box)
            adjoints = parts.gradient_over(graph, rule.leaves([*box, result]))
            if adjoints is None:
                return None
            zero = Ball.of(0)
            found: list[Ball | None] = []
            by_result = adjoints.get("out", zero)
            for name, one in zip(row.names(len(box)), direct, strict=True):
                by_itself = adjoints.get(name, zero)
                through = _or_none(one.evaluate(parts, box, result)) if "out" in adjoints else zero
                known = by_itself is not None and by_result is not None and through is not None
                found.append(by_itself + by_result * through if known else None)
            return found

        try:
            return narrowed(value, slopes, operands, wide, self.budget)
        except Undecided as undecided:
            return Hole(-1, undecided.code, detail=undecided.detail)
        except (ValueError, ZeroDivisionError):
            return Hole(-1, "domain")

    def values_over(self, graph: Graph, leaves: dict[int, Any], settled: Mapping[int, Any] = NOTHING) -> list[Any]:
        """The values of all nodes over a box, with the conditions in `settled` taken as they are told there."""
        if not settled:
            return values(graph, self, leaves)
        return values(_settled(graph, settled), self, {**leaves, **settled})

    def adjoints_over(
        self, graph: Graph, leaves: dict[int, Any], moving: bytearray, opened: Sequence[int]
    ) -> list[Any] | None:
        """The adjoints of all nodes over a box, 0 where the output does not depend on one; None without a value.

        A few conditions that are `opened` are decided in every way in turn, and the hull of the adjoints is taken: so
        where(x > 0, 3*x, 5*x) has slopes from 3 to 5, and not a part of one and a part of the other. When they are
        many, they are undecided. The branches are taken to meet at the boundary (`narrower`).
        """
        # over a part of the box those that are decided beyond doubt may stay so
        known = values(graph, self, leaves)
        opened = [
            node
            for node in opened
            if known[node] is UNDECIDED
            or (
                isinstance(known[node], bool)
                and (row := graph.row(node)) is not None
                and self.is_kink(row, [known[operand] for operand in graph.operands(node)], known[node])
            )
        ]
        ways: list[dict[int, Any]] = [dict.fromkeys(opened, UNDECIDED)]
        if len(opened) <= MOST_OPEN:
            ways = [dict(zip(opened, way, strict=True)) for way in product((True, False), repeat=len(opened))]
        found: list[Any] = []
        for way in ways:
            settled = _settled(graph, way)
            known = values(settled, self, {**leaves, **way})
            if isinstance(known[graph.output], Hole):
                return None
            adjoints = reverse(settled, partials(settled, self, known, moving), self).adjoints
            adjoints = [Ball.of(0) if one is None else one for one in adjoints]
            found = adjoints if not found else [_hull_or_hole(*pair) for pair in zip(found, adjoints, strict=True)]
        return found

    def undecided(self, graph: Graph, known: list[Any]) -> list[int]:
        """The comparisons that are undecided."""
        return [
            node
            for node, value in enumerate(known)
            if value is UNDECIDED and (row := graph.row(node)) is not None and row.kink
        ]

    def gradient_over(self, graph: Graph, leaves: dict[int, Any]) -> dict[str, Any] | None:
        """The slopes of a graph in its inputs over a box, by name; None when it may jump there.

        It may where a condition is undecided, and at an operation that jumps. A slope that is not proven is None.
        """
        if any((row := graph.row(node)) is not None and row.jumps for node in range(len(graph))):
            return None
        if any(value is UNDECIDED for value in values(graph, self, leaves)):
            return None
        adjoints = self.adjoints_over(graph, leaves, graph.moving(list(graph.inputs.values())), [])
        if adjoints is None:
            return None
        return {name: _or_none(adjoints[node]) for name, node in graph.inputs.items()}

    def _beside_kinks(self, row: Row, operands: list[Any], out: Any) -> tuple[list[Any], Any]:
        """The operands with a little added on both sides when the operation may be at a kink.

        So every condition that is on the edge becomes undecided, and what comes of it holds both sides. At an end of
        the domain (0 of x^(3/2)) there is one side only, and the operands stay.
        """
        if not self.is_kink(row, operands, out):
            return operands, out
        beside = [self.beside(one) if isinstance(one, Ball) else one for one in operands]
        try:
            return beside, row.value(self.parts, *beside)
        except (ValueError, ZeroDivisionError, Undecided):
            return operands, out

    def beside(self, ball: Ball) -> Ball:
        """A ball with a little added on both sides."""
        step = (max_of(ball.size(), arb(2) ** -self.bits) * arb(2) ** (8 - self.bits)).upper()
        return Ball.between(ball.lo - step, ball.hi + step)

    def is_kink(self, row: Row, operands: list[Any], out: Any) -> bool:
        """Whether an operation may have a kink at one of its operands' values."""
        for text in row.kinks(len(operands)):
            distance = formula(text, row, len(operands)).evaluate(self.parts, operands, out)
            if isinstance(distance, Hole) or (isinstance(distance, Ball) and distance.holds(0)):
                return True
        return False

    def scale(self, adjoint: Any, partial: Any) -> Any:
        """adjoint · partial."""
        with working(self.bits):
            return _carried(adjoint * partial, [adjoint, partial])

    def add(self, left: Any, right: Any) -> Any:
        """Where edges meet, contributions add."""
        with working(self.bits):
            return _carried(left + right, [left, right])

    def choose(self, condition: Any) -> bool | None:
        """Which branch a condition takes; None, and both stay, when it is undecided."""
        return None if condition is UNDECIDED else bool(condition)

    def trouble(self, value: Any, operands: list[Any]) -> str | None:
        """Nothing: what has no finite value is refused where it is worked out."""
        return None

    def finer(self, point: Point) -> Kind | None:
        """The kind with twice the bits while an answer proves too few digits; None when more would not help."""
        bits = 2 * self.bits
        if self.given_intervals or bits > self.most or bits * len(point.graph) > MOST_WORK:
            return None
        widths = [_poverty(one) for one in (point.value(), *point.by_rules().values())]
        before = self.widths or [arb.pos_inf()] * len(widths)
        # what is as wide with twice the bits, the slopes on both sides of a kink, stays so
        better = any(
            now is not None and (was is None or now < was / 2 or not now.is_finite())
            for now, was in zip(widths, before, strict=True)
        )
        if not better:
            return None
        finer = Certified(bits, self.most)
        finer.widths = widths
        return finer


def _settled(graph: Graph, conditions: Mapping[int, Any]) -> Graph:
    """The graph with some conditions as inputs."""
    codes = graph.codes[:]
    for node in conditions:
        codes[node] = INPUT
    return replace(graph, codes=codes)


def _decimal(text: str) -> Ball:
    """The ball around a decimal number. Raises OverflowError for an exponent that nobody means."""
    found = _LITERAL.fullmatch(text)
    if found is None:
        raise ValueError(f"{text} is no number")
    if abs(int(found[2] or "0")) > LARGEST_EXPONENT:
        raise OverflowError(f"{text} has an exponent beyond {LARGEST_EXPONENT}")
    if len(text) < LONGEST_WRITTEN and abs(int(found[2] or "0")) < LONGEST_WRITTEN:
        exact = Fraction(text)
        number = fmpq(exact.numerator, exact.denominator)
        return Ball.of_fractions(number, number)
    return Ball.of(arb(text))


def _carried(found: Ball, operands: list[Any]) -> Ball:
    """A result within what can be carried and written. OverflowError above; what is smaller counts as 0 or as much."""
    lo, hi = found.lo, found.hi
    if not lo >= -LARGEST or not hi <= LARGEST:
        if found.finite or all(one.finite for one in operands if isinstance(one, Ball)):
            raise OverflowError("the result has more digits before its point than can be carried")
        return found
    if -SMALLEST < lo < SMALLEST and lo != 0:
        lo = ZERO if lo > 0 else -SMALLEST
    if -SMALLEST < hi < SMALLEST and hi != 0:
        hi = ZERO if hi < 0 else SMALLEST
    return found if lo is found.lo and hi is found.hi else Ball(lo, hi)


def _hull_or_hole(one: Any, other: Any) -> Any:
    return one if isinstance(one, Hole) else other if isinstance(other, Hole) else one.hull(other)


def _poverty(answer: Any) -> Any:
    """The width of an answer that proves too few digits, infinite of one that is not proven at all; else None."""
    if isinstance(answer, Hole):
        return arb.pos_inf() if answer.code == "unproven" else None
    if not isinstance(answer, Ball) or answer.digits() >= ENOUGH:
        return None
    return (answer.hi - answer.lo).upper()


def _or_none(value: Any) -> Ball | None:
    return value if isinstance(value, Ball) else None


def _or_undecided(value: Any) -> Ball:
    """A ball; `Undecided` for a hole."""
    if isinstance(value, Hole):
        raise Undecided(value.detail)
    return ball_of(value)


@cache
def _other_forms(row: Row, arity: int, text: str) -> tuple[Formula, ...]:
    """The readable forms of a rule that is evaluated in a stable one: each of them encloses the same slope."""
    if row.stable is None:
        return ()
    found: dict[str, None] = {}
    for moving in product((True, False), repeat=arity):
        for readable, evaluated in zip(row.rules(moving), row.evaluated_rules(moving), strict=True):
            if evaluated == text and readable is not None and readable != text:
                found[readable] = None
    return tuple(formula(readable, row, arity) for readable in found)
