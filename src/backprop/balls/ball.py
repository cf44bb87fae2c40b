"""Balls: numbers that are known to lie between two bounds, and arithmetic that keeps the bounds true.

A ball holds both of its ends exactly. Each operation works its ends out with Arb's ball arithmetic (python-flint, the
extra `certify`) and rounds them outwards, so what is true stays inside whatever the working precision is; two ends
instead of a middle and a radius, because Arb keeps a radius to 30 bits only and [0, 4] would not stay [0, 4].

Ends that are known as fractions stay fractions beside that, through + - * / and whole powers while they are short:
0.1 + 0.2 - 0.3 is 0, and [0.2, 0.4]·3 is [0.6, 1.2].

A comparison is True, False or `UNDECIDED`, and `if` never takes a branch on the last: it raises `Undecided`.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

from backprop.kinds import Refused

# Digits of a middle as text: beyond that they are more than anybody asks for.
MOST_DIGITS = 50
# Bits of the longest fractions that are kept, and digits of those that are written in full.
LONGEST_FRACTION, LONGEST_WRITTEN = 4_096, 1_000
# Digits of the ends of a ball that is wider than that.
WIDE_DIGITS = 20
# log10(2), times 10^20
LOG10_2 = 30102999566398119521
# To bring a number of that many digits into decimal form, with room to spare.
DECIMAL_BITS = 400
# Whole numbers below that are fractions as well.
LARGEST_WHOLE = arb(2) ** 64
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
Fractions = tuple[fmpq, fmpq]


class Ball:
    """All numbers from `lo` to `hi`, two exact numbers of Arb.

    `fractions` holds the ends as fractions, when they are known so: [0.2, 0.4] has no exact ends in base 2.
    One and the same object stands for one and the same number, so x - x is 0 and x·x is a square.

    >>> x = Ball.between(-1, 2)
    >>> x * x, x - x, x * Ball.between(-1, 2), x < 3, x < 1
    (Ball(2 ± 2), Ball(0), Ball(1 ± 3), True, undecided)
    """

    __slots__ = ("fractions", "hi", "lo")

    def __init__(self, lo: Any, hi: Any, fractions: Fractions | None = None) -> None:
        self.lo, self.hi, self.fractions = lo, hi, fractions

    @classmethod
    def of(cls, number: Any) -> Ball:
        """The ball of an Arb number (or an int, or a double: exactly). `Undecided` when Arb knows nothing of it."""
        if not isinstance(number, arb):
            number = arb(number)
        if number.is_nan():
            raise Undecided("nothing is known of it")
        if not number.is_exact():
            return cls(number.lower(), number.upper())
        if number.is_integer() and abs(number) < LARGEST_WHOLE:
            whole = fmpq(number.unique_fmpz())
            return cls(number, number, (whole, whole))
        return cls(number, number)

    @classmethod
    def of_fractions(cls, low: fmpq, high: fmpq) -> Ball:
        """From one fraction to another."""
        first = arb(low)
        last = first if low == high else arb(high)
        lo = first if first.is_exact() else first.lower()
        return cls(lo, lo if last is first and first.is_exact() else last.upper(), (low, high))

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

    @classmethod
    def from_to(cls, low: Ball, high: Ball) -> Ball:
        """From the lower end of one to the upper end of another."""
        known = None
        if low.fractions is not None and high.fractions is not None:
            known = low.fractions[0], high.fractions[1]
        return cls(low.lo, high.hi, known)

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
    def single(self) -> bool:
        """Whether it is one number, known in base 2 or as a fraction."""
        return self.exact or (self.fractions is not None and self.fractions[0] == self.fractions[1])

    @property
    def finite(self) -> bool:
        return bool(self.lo.is_finite() and self.hi.is_finite())

    @property
    def middle(self) -> Ball:
        """A number inside, near the middle."""
        if self.exact:
            return self
        return Ball.of(((self.lo + self.hi) / 2).mid())

    @property
    def ends(self) -> tuple[Ball, Ball]:
        """Both ends, each a ball of its own."""
        if self.fractions is not None:
            low, high = self.fractions
            return Ball.of_fractions(low, low), Ball.of_fractions(high, high)
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
        if self.single:
            return float("inf")
        if not self.finite or self.holds(0):
            return 0.0
        relative = ((self.hi - self.lo) / min_of(abs(self.lo), abs(self.hi))).upper()
        mantissa, exponent = (int(part) for part in relative.man_exp())
        return -(mantissa.bit_length() + exponent) * 0.30103

    def __float__(self) -> float:
        if self.fractions is not None and self.fractions[0] == self.fractions[1]:
            only = self.fractions[0]
            return _double(int(only.p), int(only.q), 0)
        with working(DECIMAL_BITS):
            return _nearest(((self.lo + self.hi) / 2).mid())

    @property
    def bounds(self) -> tuple[float, float]:
        """Two doubles with all of it between them.

        >>> Ball.between(0, arb("0.5")).bounds, Ball.of_fractions(fmpq(1, 10), fmpq(1, 10)).bounds
        ((0.0, 0.5), (0.09999999999999999, 0.1))
        """
        if self.fractions is not None:
            ends = [Fraction(int(end.p), int(end.q)) for end in self.fractions]
            low, high = (_double(end.numerator, end.denominator, 0) for end in ends)
            below, above = ends[0] < low, high < ends[1]
        else:
            low, high = _nearest(self.lo), _nearest(self.hi)
            below, above = bool(self.lo < low), bool(high < self.hi)
        return math.nextafter(low, -math.inf) if below else low, math.nextafter(high, math.inf) if above else high

    def __contains__(self, number: Any) -> bool:
        """Whether a number is inside, as a double or an int is it exactly.

        >>> 0.5 in Ball.between(0, 1), 2 in Ball.between(0, 1)
        (True, False)
        """
        return self.holds(number)

    # -- as text

    def decimals(self) -> tuple[str, str]:
        """Middle and radius as decimal text: all of the ball lies within them, and hardly anything else."""
        if self.fractions is not None:
            first, last = self.fractions
            written = _decimal((first + last) / 2), _decimal((last - first) / 2)
            if written[0] is not None and written[1] is not None:
                return written[0], written[1]
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
        fractions = self.fractions
        return Ball(-self.hi, -self.lo, None if fractions is None else (-fractions[1], -fractions[0]))

    def __abs__(self) -> Ball:
        if self.lo >= 0:
            return self
        if self.hi <= 0:
            return -self
        fractions = self.fractions
        size = None if fractions is None else (fmpq(0), max(-fractions[0], fractions[1]))
        return Ball(ZERO, self.size(), size)

    def __add__(self, other: Any) -> Ball:
        other = _ball(other)
        exactly = by_fractions(operator.add, self, other)
        return Ball.between(self.lo + other.lo, self.hi + other.hi) if exactly is None else exactly

    def __sub__(self, other: Any) -> Ball:
        if self is other and self.finite:
            return Ball.of(0)
        other = _ball(other)
        exactly = by_fractions(operator.sub, self, other)
        return Ball.between(self.lo - other.hi, self.hi - other.lo) if exactly is None else exactly

    def __mul__(self, other: Any) -> Ball:
        if self is other:
            square: Ball = self**2
            return square
        other = _ball(other)
        exactly = by_fractions(operator.mul, self, other)
        return corners(operator.mul, self, other) if exactly is None else exactly

    def __truediv__(self, other: Any) -> Ball:
        divisor = _ball(other)
        if divisor.holds(0):
            if divisor.exact:
                raise ZeroDivisionError("a division by 0")
            raise Undecided("the divisor may be 0")
        if self is other and self.finite:
            return Ball.of(1)
        exactly = by_fractions(operator.truediv, self, divisor)
        return corners(operator.truediv, self, divisor) if exactly is None else exactly

    def __radd__(self, other: Any) -> Ball:
        return _ball(other) + self

    def __rsub__(self, other: Any) -> Ball:
        return _ball(other) - self

    def __rmul__(self, other: Any) -> Ball:
        return _ball(other) * self

    def __rtruediv__(self, other: Any) -> Ball:
        return _ball(other) / self

    def __pow__(self, power: Any) -> Ball:
        """A whole power, an int or a number of Arb (any other is the kind's `pow`)."""
        if power == 0:
            return Ball.of(1)
        exponent = arb(power)
        base = abs(self) if (exponent / 2).is_integer() else self
        if power < 0 and base.holds(0):
            return Ball.of(1) / base  # which says why not
        if base.fractions is not None and abs(exponent) <= LONGEST_FRACTION:
            whole = _whole(exponent)
            if abs(whole) * max(end.height_bits() for end in base.fractions) <= LONGEST_FRACTION:
                exactly = by_fractions(lambda x: x**whole, base)
                if exactly is not None:
                    return exactly
        return corners(lambda x: x**exponent, base)

    # -- comparisons

    def __lt__(self, other: Any) -> Truth:
        if self is other:
            return False
        other = _ball(other)
        if self.fractions is not None and other.fractions is not None:
            (low, high), (least, most) = self.fractions, other.fractions
            return True if high < least else False if low >= most else UNDECIDED
        return True if self.hi < other.lo else False if self.lo >= other.hi else UNDECIDED

    def __le__(self, other: Any) -> Truth:
        if self is other:
            return True
        other = _ball(other)
        if self.fractions is not None and other.fractions is not None:
            (low, high), (least, most) = self.fractions, other.fractions
            return True if high <= least else False if low > most else UNDECIDED
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
        if self.fractions is not None and other.fractions is not None:
            (low, high), (least, most) = self.fractions, other.fractions
            return False if high < least or most < low else True if low == high == least == most else UNDECIDED
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
        fractions = None
        if self.fractions is not None and second.fractions is not None:
            (low, high), (least, most) = self.fractions, second.fractions
            fractions = min(low, least), max(high, most)
        return Ball(min_of(self.lo, second.lo), max_of(self.hi, second.hi), fractions)

    def both(self, other: Ball) -> Ball:
        """What is in both, two enclosures of the same. `Undecided` when that is nothing."""
        # of each end the fraction that is known, where it is the nearer one
        lows = [one.fractions[0] for one in (self, other) if one.fractions and one.lo >= max_of(self.lo, other.lo)]
        highs = [one.fractions[1] for one in (self, other) if one.fractions and one.hi <= min_of(self.hi, other.hi)]
        fractions = (max(lows), min(highs)) if lows and highs else None
        found = Ball(max_of(self.lo, other.lo), min_of(self.hi, other.hi), fractions)
        if found.lo > found.hi or (fractions is not None and fractions[0] > fractions[1]):
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


def by_fractions(function: Callable[..., fmpq], *balls: Ball) -> Ball | None:
    """The same in fractions, when all ends are known as such and what comes of them is short enough; else None."""
    places: list[tuple[fmpq, ...]] = [()]
    for ball in balls:
        if ball.fractions is None:
            return None
        low, high = ball.fractions
        ends = (low,) if low == high else (low, high)
        places = [(*place, end) for place in places for end in ends]
    found = [function(*place) for place in places]
    if max(end.height_bits() for end in found) > LONGEST_FRACTION:
        return None
    return Ball.of_fractions(min(found), max(found))


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


def _nearest(number: Any) -> float:
    """The double nearest to an exact number; infinite when that is too large."""
    if not number.is_finite():
        return float(number)
    mantissa, exponent = (int(part) for part in number.man_exp())
    if abs(exponent) > 10_000:
        size = math.inf if exponent > 0 else 0.0
        return size if mantissa > 0 else -size
    return _double(mantissa, 1, exponent)


def _double(p: int, q: int, exponent: int) -> float:
    """The double nearest to p/q·2^exponent."""
    try:
        return (p << exponent) / q if exponent >= 0 else p / (q << -exponent)
    except OverflowError:
        return math.inf if p > 0 else -math.inf


def _whole(number: Any) -> int:
    mantissa, exponent = (int(part) for part in number.man_exp())
    return mantissa << exponent if exponent >= 0 else mantissa >> -exponent


def _shortest(low: int, high: int) -> int:
    """The whole number from `low` to `high` that ends in the most zeros."""
    step: int = 10 ** len(str(high - low))
    while -(-low // step) * step > high:
        step //= 10
    return -(-low // step) * step


def _decimal(number: fmpq) -> str | None:
    """A fraction as decimal text; None when it has no end, or is very long."""
    rest, places = int(number.q), 0
    twos = (rest & -rest).bit_length() - 1
    rest >>= twos
    while rest % 5 == 0:
        rest, places = rest // 5, places + 1
    places = max(places, twos)
    if rest != 1 or places > LONGEST_WRITTEN:
        return None
    return _text(int(number.p) * 10**places // int(number.q), -places)


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
