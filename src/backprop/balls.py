"""Balls: numbers that are known to lie between two bounds, and arithmetic that keeps the bounds true.

A ball holds both of its ends exactly. Each operation works its ends out with Arb's ball arithmetic (python-flint, the
extra `certify`) and rounds them outwards, so what is true stays inside whatever the working precision is; two ends
instead of a middle and a radius, because Arb keeps a radius to 30 bits only and [0, 4] would not stay [0, 4].

A comparison is True, False or `UNDECIDED`, and `if` never takes a branch on the last: it raises `Undecided`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Context, Decimal
from typing import Any

from flint import arb, ctx

from backprop.kinds import Refused

# Digits of a middle as text: beyond that they are more than anybody asks for.
MOST_DIGITS = 50
# Digits, and places, of typed ends that are added exactly.
MOST_TYPED = 1_000
# Digits of the ends of a ball that is wider than that.
WIDE_DIGITS = 20
# log10(2), times 10^20
LOG10_2 = 30102999566398119521
# To bring a number of that many digits into decimal form, with room to spare.
DECIMAL_BITS = 400
ZERO, ONE = arb(0), arb(1)


@contextmanager
def working(bits: int) -> Iterator[None]:
    """So many bits inside, and what there were before again outside: Arb's precision is one for all of a process."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


class Undecided(Refused):
    """What is true of some numbers of a ball and not of others, so that nothing is proven; `detail` says what."""

    def __init__(self, detail: str = "") -> None:
        super().__init__("unproven", detail)


class _Undecided:
    """The truth value of a comparison that holds for some numbers of two balls and fails for others."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise Undecided("the balls overlap")

    def __repr__(self) -> str:
        return "undecided"


UNDECIDED = _Undecided()
Truth = bool | _Undecided


class Ball:
    """All numbers from `lo` to `hi`, two exact numbers of Arb.

    `typed` holds the ends as they were typed, when they are decimal numbers: [0.2, 0.4] has no exact ends in base 2.
    One and the same object stands for one and the same number, so x - x is 0 and x·x is a square.

    >>> x = Ball.between(-1, 2)
    >>> x * x, x - x, x * Ball.between(-1, 2), x < 3, x < 1
    (Ball(2 ± 2), Ball(0), Ball(1 ± 3), True, undecided)
    """

    __slots__ = ("hi", "lo", "typed")

    def __init__(self, lo: Any, hi: Any, typed: tuple[str, str] | None = None) -> None:
        self.lo, self.hi, self.typed = lo, hi, typed

    @classmethod
    def of(cls, number: Any) -> Ball:
        """The ball of an Arb number (or an int, or a double: exactly). `Undecided` when Arb knows nothing of it."""
        if not isinstance(number, arb):
            number = arb(number)
        if number.is_nan():
            raise Undecided("nothing is known of it")
        return cls(number, number) if number.is_exact() else cls(number.lower(), number.upper())

    @classmethod
    def of_mpf(cls, number: Any) -> Ball:
        """The ball of an mpf, which is one number."""
        sign, mantissa, exponent, bits = number._mpf_
        with working(max(bits, 2)):
            found = arb(int(mantissa)) * arb(2) ** exponent
            return cls.of(-found if sign else found)

    @classmethod
    def between(cls, lo: Any, hi: Any) -> Ball:
        """From the lower end of one number of Arb to the upper end of another."""
        lo, hi = arb(lo).lower(), arb(hi).upper()
        if lo.is_nan() or hi.is_nan():
            raise Undecided("nothing is known of it")
        return cls(lo, hi)

    def __repr__(self) -> str:
        if not self.finite:
            return f"Ball({float(self.lo)}, {float(self.hi)})"
        middle, radius = self.decimals()
        return f"Ball({middle})" if radius == "0" else f"Ball({middle} ± {radius})"

    # -- what is known of it

    @property
    def exact(self) -> bool:
        """Whether it is one number."""
        return self.lo is self.hi or bool(self.lo == self.hi)

    @property
    def finite(self) -> bool:
        return bool(self.lo.is_finite() and self.hi.is_finite())

    @property
    def middle(self) -> Ball:
        """A number inside, near the middle."""
        return self if self.exact else Ball.of(((self.lo + self.hi) / 2).mid())

    @property
    def ends(self) -> tuple[Ball, Ball]:
        """Both ends, each a ball of its own."""
        return Ball(self.lo, self.lo), Ball(self.hi, self.hi)

    def arb(self) -> Any:
        """One ball of Arb around all of it."""
        return self.lo if self.exact else self.lo.union(self.hi)

    def holds(self, number: Any) -> bool:
        """Whether an exact number (of Arb, an int, a double) is inside."""
        return bool(self.lo <= number) and bool(number <= self.hi)

    def inside(self, other: Ball) -> bool:
        """Whether all of it is inside another."""
        return bool(other.lo <= self.lo) and bool(self.hi <= other.hi)

    def is_wide(self, bits: int) -> bool:
        """Whether it is wider than what rounding to half of the bits explains."""
        if self.exact or not self.finite:
            return False
        size = self.size()
        return bool((self.hi - self.lo).upper() > size * arb(2) ** (-bits // 2))

    def size(self) -> Any:
        """The largest absolute value in it."""
        return max_of(abs(self.lo).upper(), abs(self.hi).upper())

    def digits(self) -> float:
        """How many significant decimal digits it proves: infinitely many for one number, none when 0 is inside."""
        if self.exact:
            return float("inf")
        if not self.finite or self.holds(0):
            return 0.0
        relative = ((self.hi - self.lo) / min_of(abs(self.lo), abs(self.hi))).upper()
        mantissa, exponent = (int(part) for part in relative.man_exp())
        return -(mantissa.bit_length() + exponent) * 0.30103

    def __float__(self) -> float:
        return float(((self.lo + self.hi) / 2).mid())

    # -- as text

    def decimals(self) -> tuple[str, str]:
        """Middle and radius as decimal text: all of the ball lies within them, and hardly anything else."""
        if self.typed is not None:
            first, last = (Decimal(end) for end in self.typed)
            if first == last:
                return _plain(first), "0"
            if max(map(len, self.typed)) < MOST_TYPED > max(abs(first.adjusted()), abs(last.adjusted())):
                context = Context(prec=4 * MOST_TYPED)
                half = Decimal("0.5")
                twice = context.add(first, last), context.subtract(last, first)
                return _plain(context.multiply(twice[0], half)), _plain(context.multiply(twice[1], half))
        with working(DECIMAL_BITS):
            top, width = _magnitude(self.size()), _magnitude((self.hi - self.lo).upper())
            thin = not self.exact and width < top - WIDE_DIGITS
            unit = max(top - MOST_DIGITS, width - 3) if thin else top - (MOST_DIGITS if self.exact else WIDE_DIGITS)
            scale = arb(10) ** abs(unit)
            ends = [end / scale if unit > 0 else end * scale for end in (self.lo, self.hi)]
            low, high = _whole(ends[0].lower().floor().lower()), _whole(ends[1].upper().ceil().upper())
        if thin:
            # the number of the fewest digits inside stands for the middle, and the radius makes up for it
            middle = _shortest(low, high)
            radius = max(high - middle, middle - low)
            coarse = 10 ** max(0, len(str(radius)) - 2)
            return _text(middle, unit), _text(-(-radius // coarse) * coarse, unit)
        # in tenths of the unit, so that half of an odd width has a place
        return _text((low + high) * 5, unit - 1), _text((high - low) * 5, unit - 1)

    # -- arithmetic

    def __neg__(self) -> Ball:
        return Ball.between(-self.hi, -self.lo)

    def __abs__(self) -> Ball:
        if self.lo >= 0:
            return self
        return -self if self.hi <= 0 else Ball(ZERO, self.size())

    def __add__(self, other: Any) -> Ball:
        other = _ball(other)
        return Ball.between(self.lo + other.lo, self.hi + other.hi)

    def __sub__(self, other: Any) -> Ball:
        if self is other and self.finite:
            return Ball(ZERO, ZERO)
        other = _ball(other)
        return Ball.between(self.lo - other.hi, self.hi - other.lo)

    def __mul__(self, other: Any) -> Ball:
        if self is other:
            size = abs(self)
            return Ball.between(size.lo * size.lo, size.hi * size.hi)
        other = _ball(other)
        return corners(operator.mul, self, other)

    def __truediv__(self, other: Any) -> Ball:
        divisor = _ball(other)
        if divisor.holds(0):
            if divisor.exact:
                raise ZeroDivisionError("a division by 0")
            raise Undecided("the divisor may be 0")
        if self is other and self.finite:
            return Ball(ONE, ONE)
        return corners(operator.truediv, self, divisor)

    def __radd__(self, other: Any) -> Ball:
        return _ball(other) + self

    def __rsub__(self, other: Any) -> Ball:
        return _ball(other) - self

    def __rmul__(self, other: Any) -> Ball:
        return _ball(other) * self

    def __rtruediv__(self, other: Any) -> Ball:
        return _ball(other) / self

    def __pow__(self, power: Any) -> Ball:
        """A whole power (any other is the kind's `pow`)."""
        if power == 0:
            return Ball(ONE, ONE)
        base = abs(self) if power % 2 == 0 else self
        if power < 0 and base.holds(0):
            return 1 / base  # which says why not
        exponent = arb(power)
        return corners(lambda x: x**exponent, base)

    # -- comparisons

    def __lt__(self, other: Any) -> Truth:
        if self is other:
            return False
        other = _ball(other)
        return True if self.hi < other.lo else False if self.lo >= other.hi else UNDECIDED

    def __le__(self, other: Any) -> Truth:
        if self is other:
            return True
        other = _ball(other)
        return True if self.hi <= other.lo else False if self.lo > other.hi else UNDECIDED

    def __gt__(self, other: Any) -> Truth:
        return _ball(other) < self

    def __ge__(self, other: Any) -> Truth:
        return _ball(other) <= self

    def __eq__(self, other: Any) -> Any:
        if self is other:
            return True
        if not isinstance(other, (Ball, int, float)):
            return False
        other = _ball(other)
        if self.hi < other.lo or other.hi < self.lo:
            return False
        return True if self.exact and other.exact else UNDECIDED

    def __ne__(self, other: Any) -> Any:
        return negation(self == other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise TypeError("a ball is no condition")

    # -- several balls

    def hull(self, other: Any) -> Ball:
        """The smallest ball around both."""
        second = _ball(other)
        if self is second:
            return self
        return Ball(min_of(self.lo, second.lo), max_of(self.hi, second.hi))

    def both(self, other: Ball) -> Ball:
        """What is in both, two enclosures of the same. `Undecided` when that is nothing."""
        found = Ball(max_of(self.lo, other.lo), min_of(self.hi, other.hi))
        if found.lo > found.hi:
            raise Undecided("two enclosures have nothing in common")
        return found


def corners(function: Callable[..., Any], *balls: Ball) -> Ball:
    """All that a function of Arb numbers makes of some balls, when it is monotone in each operand by itself.

    The direction may depend on the other operands, as in a product; then its extremes are at the corners all the same.
    """
    places: list[tuple[Any, ...]] = [()]
    for ball in balls:
        ends = (ball.lo,) if ball.exact else (ball.lo, ball.hi)
        places = [(*place, end) for place in places for end in ends]
    found = [Ball.of(function(*place)) for place in places]
    return hull(found)


def hull(balls: list[Ball]) -> Ball:
    """The smallest ball around several."""
    first, *others = balls
    for other in others:
        first = first.hull(other)
    return first


def negation(truth: Truth) -> Truth:
    """The opposite; what is undecided stays so."""
    return truth if truth is UNDECIDED else not truth


def max_of(x: Any, y: Any) -> Any:
    """The larger of two exact numbers of Arb."""
    return x if x >= y else y


def min_of(x: Any, y: Any) -> Any:
    """The smaller of two exact numbers of Arb."""
    return x if x <= y else y


def _ball(value: Any) -> Ball:
    """An operand as a ball; TypeError for what is no number, a hole above all."""
    if isinstance(value, Ball):
        return value
    if isinstance(value, (int, float)):
        return Ball.of(value)
    raise TypeError(f"{type(value).__name__} is no number")


def _magnitude(number: Any) -> int:
    """About log10 of an exact number above 0, never too large by more than 1; 0 of 0."""
    mantissa, exponent = (int(part) for part in number.man_exp())
    return (abs(mantissa).bit_length() + exponent) * LOG10_2 // 10**20 if mantissa else 0


def _whole(number: Any) -> int:
    mantissa, exponent = (int(part) for part in number.man_exp())
    return mantissa << exponent if exponent >= 0 else mantissa >> -exponent


def _shortest(low: int, high: int) -> int:
    """The whole number from `low` to `high` that ends in the most zeros."""
    step: int = 10 ** len(str(high - low))
    while -(-low // step) * step > high:
        step //= 10
    return -(-low // step) * step


def _text(mantissa: int, exponent: int) -> str:
    if not mantissa:
        return "0"
    digits = str(abs(mantissa)).rstrip("0")
    exponent += len(str(abs(mantissa))) - len(digits)
    return _plain(Decimal((int(mantissa < 0), tuple(map(int, digits)), exponent)))


def _plain(number: Decimal) -> str:
    """A decimal number without needless zeros, as a float would be written."""
    if not number:
        return "0"
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).rstrip("0") or "0"
    exponent += len(digits) - len(text)
    point = len(text) + exponent  # how many digits stand before the decimal point
    if exponent >= 0 and point <= 20:
        text += "0" * exponent
    elif 0 < point <= 20:
        text = f"{text[:point]}.{text[point:]}"
    elif -5 < point <= 0:
        text = f"0.{'0' * -point}{text}"
    else:
        fraction = f".{text[1:]}" if text[1:] else ""
        text = f"{text[0]}{fraction}e{point - 1:+03d}"
    return f"-{text}" if sign else text
