"""How terms are multiplied and added: in doubles while that is safe, else without overflow, loss or guessing."""

from __future__ import annotations

import decimal
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from backprop.figures import Written, fraction_of, fraction_text
from backprop.record import Value

# Numbers of 60 digits with exponents that do not end, where a product could leave the range of a double. Sizes are
# compared at 40 digits, so that the same factors in another order are a tie.
WIDE = decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])
COMPARED = decimal.Context(prec=40, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])

DOWN, UP = WIDE.copy(), WIDE.copy()
DOWN.rounding, UP.rounding = decimal.ROUND_FLOOR, decimal.ROUND_CEILING

Number = Any  # float, Decimal, Fraction or Enclosure; None where undefined


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How terms are multiplied and added. `out` gives a number as a trace holds it, None where it is undefined."""

    one: Number
    mul: Callable[[Number, Number], Number]
    add: Callable[[Number, Number], Number]
    size: Callable[[Number], Number]
    out: Callable[[Number], Value | None]
    dead: Number = None


@dataclass(frozen=True, slots=True)
class Enclosure:
    """All numbers from `low` to `high`, a ball of kind certified; what comes of it is rounded outwards."""

    low: Decimal
    high: Decimal

    @classmethod
    def of(cls, ball: Mapping[str, str]) -> Enclosure:
        middle, radius = Decimal(ball["mid"]), Decimal(ball["rad"])
        return cls(DOWN.subtract(middle, radius), UP.add(middle, radius))

    def __add__(self, other: Enclosure) -> Enclosure:
        return Enclosure(DOWN.add(self.low, other.low), UP.add(self.high, other.high))

    def __mul__(self, other: Enclosure) -> Enclosure:
        pairs = [(left, right) for left in (self.low, self.high) for right in (other.low, other.high)]
        return Enclosure(min(DOWN.multiply(*pair) for pair in pairs), max(UP.multiply(*pair) for pair in pairs))

    def __abs__(self) -> Enclosure:
        low, high = self.low.copy_abs(), self.high.copy_abs()
        inside = self.low <= 0 <= self.high
        return Enclosure(Decimal(0) if inside else min(low, high), max(low, high))

    def meets(self, other: Enclosure) -> bool:
        """Whether they have a number in common."""
        return self.low <= other.high and other.low <= self.high

    def ball(self) -> dict[str, str]:
        """Middle and radius as a trace holds them; all of it lies within them."""
        middle = WIDE.divide(WIDE.add(self.low, self.high), Decimal(2))
        radius = max(UP.subtract(self.high, middle), UP.subtract(middle, self.low))
        return {"mid": _digits(middle), "rad": _digits(radius)}


def _digits(value: Decimal) -> str:
    found = value.normalize(UP).copy_abs() if value == 0 else value.normalize(UP)
    return f"{found:f}" if -7 <= found.adjusted() < 21 else str(found).replace("E", "e")


def number_of(value: Value | None) -> Number:
    """A partial as a number; None when it has none or is no number, NotImplemented when it is a formula or an array."""
    if value is None:
        return None
    if isinstance(value, list):
        return NotImplemented
    if isinstance(value, dict):
        return Enclosure.of(value)
    if isinstance(value, int | float):
        return None if value != value else float(value)
    if value in ("NaN", "Infinity", "-Infinity"):
        return None if value == "NaN" else math.copysign(math.inf, -1 if value.startswith("-") else 1)
    try:
        return fraction_of(value) if "/" in value else Decimal(value)
    except (ValueError, ArithmeticError):
        return NotImplemented


def is_finite(value: Number) -> bool:
    """Whether a number is neither an infinity nor NaN; a fraction always is, however large."""
    if isinstance(value, Decimal):
        return value.is_finite()
    return isinstance(value, Fraction | Enclosure) or math.isfinite(value)


def widened(value: Number) -> Decimal | None:
    """A number in 60 digits; of an enclosure the one that is largest by its absolute value."""
    if isinstance(value, Enclosure):
        return abs(value).high
    if value is None or isinstance(value, Decimal):
        return value
    if isinstance(value, Fraction):
        return WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Decimal(value)


def careful(
    mul: Callable[[Any, Any], Any],
    add: Callable[[Any, Any], Any],
    dead: Number,
    one: Number,
    size: Callable[[Any], Any],
    out: Callable[[Any], Value],
) -> Arithmetic:
    """Arithmetic in which None is undefined and spreads, but not through an exact 0 (`dead`, told by identity)."""

    def product(left: Number, right: Number) -> Number:
        if left is dead or right is dead:
            return dead
        if left is None or right is None:
            return None
        found = mul(left, right)
        return None if found != found else found

    def plus(left: Number, right: Number) -> Number:
        if left is None or right is None:
            return None
        if left is dead or right is dead:
            return right if left is dead else left
        found = add(left, right)
        return None if found != found else found

    return Arithmetic(
        one,
        product,
        plus,
        lambda value: dead if value is dead else size(value),
        lambda value: None if value is None else out(value),
        dead,
    )


def wide(digits: int) -> Arithmetic:
    """Decimal arithmetic that cannot overflow; results as doubles, or as text of so many digits when not 0."""
    context = WIDE.copy()
    context.prec = max(60, digits + 10)
    shown = WIDE.copy()
    shown.prec = max(digits, 1)

    def out(value: Decimal) -> Value:
        if digits == 0:
            return float(value) + 0.0
        found = shown.normalize(value)
        return Written(f"{found:f}" if -7 <= found.adjusted() < max(digits, 16) else str(found).replace("E", "e"))

    return careful(context.multiply, context.add, Decimal(0), Decimal(1), Decimal.copy_abs, out)


PLAIN = Arithmetic(1.0, operator.mul, operator.add, abs, lambda value: value + 0.0)
EXACT = careful(operator.mul, operator.add, Fraction(0), Fraction(1), abs, lambda value: Written(fraction_text(value)))
BALLS = careful(
    operator.mul,
    operator.add,
    Enclosure(Decimal(0), Decimal(0)),
    Enclosure(Decimal(1), Decimal(1)),
    abs,
    Enclosure.ball,
)
# of terms in symbols: there are no numbers, and whatever is asked for is absent
ABSENT = Arithmetic(None, lambda _left, _right: None, lambda _left, _right: None, lambda _: None, lambda _: None)


def digits_of(kind: str, numbers: Sequence[Number]) -> int:
    """To how many decimal digits the numbers of a trace are given; 0 for doubles."""
    texts = [value for value in numbers if isinstance(value, Decimal)]
    said = kind.partition(":")[2]
    if not texts or said.isdecimal():
        return int(said) if texts else 0
    return max(16, *(len(value.as_tuple().digits) for value in texts))
