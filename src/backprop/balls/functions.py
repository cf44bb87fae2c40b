"""Functions of balls: each is worked out at the ends of its monotone pieces, where Arb is as sharp as its precision.

What all of a ball lies outside of raises ValueError or ZeroDivisionError, as in every kind; what a part of it may lie
outside of is `Undecided`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import arb, fmpq, fmpz

from backprop.balls.ball import (
    ONE,
    UNDECIDED,
    ZERO,
    Ball,
    Truth,
    Undecided,
    corners,
    max_of,
    min_of,
    negation,
)
from backprop.kinds import Hole
from backprop.kinds.real import Scalar

# where gamma is least, and no more than that (OEIS A030169, A030171)
LEAST_AT, LEAST_GAMMA = fmpq(14616321449, 10**10), "0.885603194410888700278815900582"


class Functions(Scalar):
    """The functions of the table for balls, worked out with `bits` bits."""

    bits: int

    def is_zero(self, value: Any) -> bool:
        """Whether it is proven to be 0."""
        return isinstance(value, Ball) and value.exact and value.holds(0)

    # -- choices

    def true(self, condition: Any) -> Any:
        return condition

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        if condition is not UNDECIDED:
            return x if condition else y
        if isinstance(x, Hole) or isinstance(y, Hole):
            raise Undecided("it takes either branch, and one of them has no value")
        return ball_of(x).hull(y)

    def equal(self, x: Any, y: Any) -> Any:
        return ball_of(x) == ball_of(y)

    def both(self, x: Truth, y: Truth) -> Any:
        if x is False or y is False:
            return False
        return UNDECIDED if UNDECIDED in (x, y) else True

    def either(self, x: Truth, y: Truth) -> Any:
        return negation(self.both(negation(x), negation(y)))

    def negation(self, x: Truth) -> Any:
        return negation(x)

    def sign(self, x: Ball) -> Ball:
        return Ball(x.lo.sgn(), x.hi.sgn())

    def maximum(self, *x: Any) -> Ball:
        found, *others = (ball_of(one) for one in x)
        for one in others:
            found = _larger(found, one)
        return found

    def minimum(self, *x: Any) -> Ball:
        found, *others = (ball_of(one) for one in x)
        for one in others:
            found = _smaller(found, one)
        return found

    def clip(self, x: Ball, lo: Ball, hi: Ball) -> Ball:
        if lo > hi:
            raise ValueError("the lower bound is above the upper one")
        return self.minimum(self.maximum(x, lo), hi)

    # -- exponentials, logarithms, roots: each rises all the way

    def exp(self, x: Ball) -> Ball:
        return _kept(corners(arb.exp, x), 0)

    def exp2(self, x: Ball) -> Ball:
        return _kept(corners(lambda end: arb(2) ** end, x), 0)

    def expm1(self, x: Ball) -> Ball:
        return _kept(corners(arb.expm1, x), -1)

    def log(self, x: Ball) -> Ball:
        return corners(arb.log, _above(x, 0))

    def log2(self, x: Ball) -> Ball:
        return self.log(x) / Ball.of(arb.const_log2())

    def log10(self, x: Ball) -> Ball:
        return self.log(x) / Ball.of(arb.const_log10())

    def log1p(self, x: Ball) -> Ball:
        return corners(arb.log1p, _above(x, -1))

    def log_base(self, x: Ball, b: Ball) -> Ball:
        return self.log(x) / self.log(b)

    def sqrt(self, x: Ball) -> Ball:
        if x.fractions is not None and x.fractions[0] >= 0:
            roots = [_root(end) for end in x.fractions]
            if roots[0] is not None and roots[1] is not None:
                return Ball.of_fractions(roots[0], roots[1])
        return _kept(corners(arb.sqrt, _from(x, 0)), 0)

    def cbrt(self, x: Ball) -> Ball:
        return corners(lambda end: end.root(3) if end > 0 else -(-end).root(3) if end < 0 else end, x)

    def pow(self, x: Ball, y: Ball) -> Ball:
        """x^y: 0^0 is 1, a negative base needs an integer exponent, 0 to a negative power is refused."""
        if y.exact and y.lo.is_integer():
            whole: Ball = x**y.lo
            return whole
        if x.exact and x.holds(1):
            return Ball.of(1)
        if x.hi < 0 and y.single:
            raise ValueError("a negative base needs an integer exponent")
        if x.lo < 0:
            raise Undecided("the base may be negative")
        if x.lo > 0:
            return _kept(corners(lambda base, power: base**power, x, y), 0)
        if x.hi == 0 and y.hi < 0:
            raise ZeroDivisionError("0 to a negative power")
        if not y.lo > 0:
            raise Undecided("the base may be 0 and the exponent not above it")
        zero = Ball.of(0)
        return zero if x.hi == 0 else zero.hull(corners(lambda base, power: base**power, x.ends[1], y))

    def sigmoid(self, x: Ball) -> Ball:
        def at(end: Any) -> Any:
            small = (-abs(end)).exp()
            return 1 / (1 + small) if end >= 0 else small / (1 + small)

        return _kept(corners(at, x), 0, 1)

    def softplus(self, x: Ball) -> Ball:
        return _kept(corners(lambda end: max_of(end, ZERO) + (-abs(end)).exp().log1p(), x), 0)

    def logaddexp(self, x: Ball, y: Ball) -> Ball:
        return corners(lambda one, other: max_of(one, other) + (-abs(one - other)).exp().log1p(), x, y)

    def product(self, x: Ball, factor: Ball) -> Ball:
        return x * factor

    def xlogy(self, x: Ball, y: Ball) -> Ball:
        if self.is_zero(x) and (self.is_zero(y) or y.lo > 0):
            return x
        if x.holds(0) and y.holds(0):
            raise Undecided("0·log(0) is 0, and beside it there need not be a value")
        return x * self.log(y)

    # -- trigonometry

    @property
    def pi(self) -> Ball:
        return Ball.of(arb.pi())

    def sin(self, x: Ball) -> Ball:
        return self._wave(arb.sin, x, 0)

    def cos(self, x: Ball) -> Ball:
        return self._wave(arb.cos, x, 1)

    def _wave(self, function: Callable[[Any], Any], x: Ball, quarters: int) -> Ball:
        """sin and cos: between the ends, and the crests and troughs in between, which lie half a turn apart."""
        if not x.finite:
            raise Undecided("an infinite angle has no direction")
        found = corners(function, x)
        # in half turns from the first crest at or above 0: an even number there is a crest, an odd one a trough
        first, last = (end / arb.pi() + arb(quarters - 1) / 2 for end in (x.lo, x.hi))
        low, high = first.lower().ceil().lower(), last.upper().floor().upper()
        if not x.exact and low <= high:
            one = low == high
            if not one or (low / 2).is_integer():
                found = found.hull(1)
            if not one or not (low / 2).is_integer():
                found = found.hull(-1)
        return _kept(found, -1, 1)

    def tan(self, x: Ball) -> Ball:
        self._off_multiples(x / self.pi + Ball.of(ONE / 2), "tan has a pole there")
        return corners(arb.tan, x)

    def cot(self, x: Ball) -> Ball:
        if self.is_zero(x):
            raise ZeroDivisionError("cot has a pole at 0")
        self._off_multiples(x / self.pi, "cot has a pole there")
        return corners(arb.cot, x)

    def _off_multiples(self, x: Ball, says: str) -> None:
        """`Undecided` when there may be a whole number in a ball."""
        if not x.finite or x.lo.ceil().lower() <= x.hi:
            raise Undecided(says)

    def asin(self, x: Ball) -> Ball:
        return corners(arb.asin, _from(x, -1, 1))

    def acos(self, x: Ball) -> Ball:
        return _kept(corners(arb.acos, _from(x, -1, 1)), 0)

    def atan(self, x: Ball) -> Ball:
        return corners(arb.atan, x)

    def asec(self, x: Ball) -> Ball:
        _from(abs(x), 1)
        return self.acos(_kept(1 / x, -1, 1))

    def acsc(self, x: Ball) -> Ball:
        _from(abs(x), 1)
        return self.asin(_kept(1 / x, -1, 1))

    def atan2(self, y: Ball, x: Ball) -> Ball:
        if y.holds(0) and x.holds(0):
            if y.exact and x.exact:
                raise ValueError("the point (0, 0) has no direction")
            raise Undecided("the point may be (0, 0), which has no direction")
        if x.lo < 0 and y.lo < 0 and y.hi >= 0:
            return -self.pi.hull(-self.pi)
        return corners(arb.atan2, y, x)

    def hypot(self, x: Ball, y: Ball) -> Ball:
        return self.sqrt(x * x + y * y)

    def sinh(self, x: Ball) -> Ball:
        return corners(arb.sinh, x)

    def cosh(self, x: Ball) -> Ball:
        return _kept(corners(arb.cosh, abs(x)), 1)

    def tanh(self, x: Ball) -> Ball:
        return _kept(corners(arb.tanh, x), -1, 1)

    def sech(self, x: Ball) -> Ball:
        return _kept(1 / self.cosh(x), 0, 1)

    def csch(self, x: Ball) -> Ball:
        return 1 / self.sinh(x)

    def asinh(self, x: Ball) -> Ball:
        return corners(arb.asinh, x)

    def acosh(self, x: Ball) -> Ball:
        return _kept(corners(arb.acosh, _from(x, 1)), 0)

    def atanh(self, x: Ball) -> Ball:
        return corners(arb.atanh, _below(_above(x, -1), 1))

    def asech(self, x: Ball) -> Ball:
        return self.acosh(_at_least(1 / _from(_above(x, 0), None, 1), 1))

    def acsch(self, x: Ball) -> Ball:
        return self.asinh(1 / x)

    def acoth(self, x: Ball) -> Ball:
        _above(abs(x), 1)
        return self.atanh(1 / x)

    def sinc(self, x: Ball) -> Ball:
        # abs(sin(x)/x) <= 1/abs(x), which is more than Arb knows of a wide ball
        return _kept(Ball.of(abs(x).arb().sinc()), -1, 1)

    def spherical_j1(self, x: Ball) -> Ball:
        """x/3 · 0F1(; 5/2; -x²/4), without the cancellation of (sin(x)/x - cos(x))/x near 0 (DLMF 10.16.9)."""
        if not x.finite:
            raise Undecided("nothing is known at infinity")
        square = x * x / 4
        return _kept(x / 3 * Ball.of((-square).arb().hypgeom_0f1(arb(5) / 2)), -ONE / 2, ONE / 2)

    # -- whole numbers: each rises all the way, in steps

    def floor(self, x: Ball) -> Ball:
        return corners(arb.floor, x)

    def ceil(self, x: Ball) -> Ball:
        return corners(arb.ceil, x)

    def round(self, x: Ball) -> Ball:
        return corners(_round_half_even, x)

    def mod(self, x: Ball, y: Ball) -> Ball:
        whole = self.floor(x / y)
        # it has the sign of y and is less than y, whatever the quotient is
        found = Ball(ZERO, y.hi) if y.lo > 0 else Ball(y.lo, ZERO)
        return found.both(x - y * whole) if whole.exact else found

    # -- special functions

    def erf(self, x: Ball) -> Ball:
        return _kept(corners(arb.erf, x), -1, 1)

    def erfc(self, x: Ball) -> Ball:
        return _kept(corners(arb.erfc, x), 0, 2)

    def _off_poles(self, x: Ball) -> Ball:
        """An operand of gamma and its derivatives, which have poles at 0, -1, -2, ..."""
        if not x.lo > 0:
            if x.exact and x.lo.is_integer():
                raise ValueError("gamma has a pole here")
            self._off_multiples(Ball(x.lo, min_of(x.hi, ZERO)), "gamma may have a pole there")
        return x

    def gamma(self, x: Ball) -> Ball:
        self._off_poles(x)
        if not x.lo > 0 or not x.is_wide(self.bits):
            return Ball.of(x.arb().gamma())
        found = corners(arb.gamma, x)
        return found if x.lo > LEAST_AT + fmpq(1, 10**10) or x.hi < LEAST_AT else found.hull(Ball.of(arb(LEAST_GAMMA)))

    def factorial(self, x: Ball) -> Ball:
        return self.gamma(x + 1)

    def lgamma(self, x: Ball) -> Ball:
        """log|Γ(x)|, left of 0 by reflection: Γ(x) Γ(1 - x) = π/sin(πx)."""
        if self._off_poles(x).lo > 0:
            return Ball.of(x.arb().lgamma()) if not x.is_wide(self.bits) else self.log(self.gamma(x))
        sine = abs(Ball.of(x.arb().sin_pi()))
        return self.log(self.pi / sine) - self.lgamma(1 - x)

    def digamma(self, x: Ball) -> Ball:
        return corners(arb.digamma, self._off_poles(x))

    def polygamma(self, n: Ball, x: Ball) -> Ball:
        """The n-th derivative of digamma: (-1)^(n+1) n! ζ(n+1, x), and left of 0 by reflection (DLMF 5.15)."""
        if not n.exact:
            raise Undecided("the order may be no whole number")
        if n.lo < 0 or not n.lo.is_integer():
            raise ValueError("polygamma needs an order 0, 1, 2, ...")
        if n.lo > 300:
            raise OverflowError("polygamma is worked out up to order 300")
        order = int(n.lo.unique_fmpz())
        if order == 0:
            return self.digamma(x)
        if self._off_poles(x).lo > 0:
            sign = 1 if order % 2 else -1
            factor = sign * arb(order).fac()
            return corners(lambda end: factor * arb(order + 1).zeta(end), x)
        # ψₙ(1 - z) = (-1)^n (ψₙ(z) + π dⁿ/dzⁿ cot(πz)), and cot' = -(1 + cot²)
        z = 1 - x
        cotangent = Ball.of(z.arb().cot_pi())
        polynomial = [0, 1]
        for _ in range(order):
            slopes = [power * factor for power, factor in enumerate(polynomial)][1:]
            raised = [0, 0, *slopes]
            polynomial = [-(low + high) for low, high in zip([*slopes, 0, 0], raised, strict=True)]
        total = Ball.of(0)
        for coefficient in reversed(polynomial):
            total = total * cotangent + Ball.of(fmpz(coefficient))
        found = self.polygamma(n, z) + self.pi ** (order + 1) * total
        return found if order % 2 == 0 else -found


def ball_of(value: Any) -> Ball:
    return value if isinstance(value, Ball) else Ball.of(value)  # TypeError for a hole, as of an operand


def _root(x: fmpq) -> fmpq | None:
    """The square root of a fraction, when it is one."""
    (p, p_rest), (q, q_rest) = x.p.sqrtrem(), x.q.sqrtrem()
    return fmpq(p, q) if p_rest == 0 and q_rest == 0 else None


def _larger(x: Ball, y: Ball) -> Ball:
    """The larger of two; one that certainly is stays what it is."""
    if (x >= y) is True:
        return x
    if (y >= x) is True:
        return y
    fractions = None
    if x.fractions is not None and y.fractions is not None:
        fractions = max(x.fractions[0], y.fractions[0]), max(x.fractions[1], y.fractions[1])
    return Ball(max_of(x.lo, y.lo), max_of(x.hi, y.hi), fractions)


def _smaller(x: Ball, y: Ball) -> Ball:
    if (x <= y) is True:
        return x
    return y if (y <= x) is True else -_larger(-x, -y)


def _round_half_even(x: Any) -> Any:
    """The nearest integer to an exact number, the even one of two."""
    below = x.floor()
    apart = x - below
    if apart < 0.5:
        return below
    if apart > 0.5:
        return below + 1
    even = (below / 2).is_integer()
    return (below if even else below + 1) if apart == 0.5 else below.union(below + 1)


# -- domains: a ball that lies in it is given back, one outside is a ValueError, one on the edge is `Undecided`


def _from(x: Ball, low: int | None, high: int | None = None) -> Ball:
    """x from `low` to `high`, both included."""
    if (low is None or x.lo >= low) and (high is None or x.hi <= high):
        return x
    if (low is not None and x.hi < low) or (high is not None and x.lo > high):
        raise ValueError("outside the domain")
    raise Undecided("a part is outside the domain")


def _above(x: Ball, low: int) -> Ball:
    """x above `low`."""
    if x.lo > low:
        return x
    if x.hi <= low:
        raise ValueError("outside the domain")
    raise Undecided("a part is outside the domain")


def _below(x: Ball, high: int) -> Ball:
    if x.hi < high:
        return x
    if x.lo >= high:
        raise ValueError("outside the domain")
    raise Undecided("a part is outside the domain")


def _kept(x: Ball, low: Any, high: Any = None) -> Ball:
    """A result within bounds that it cannot leave, though rounding may."""
    lo, hi = x.lo, x.hi
    if lo < low:
        lo = arb(low)
    if high is not None and hi > high:
        hi = arb(high)
    return x if lo is x.lo and hi is x.hi else Ball(lo, hi)


def _at_least(x: Ball, low: int) -> Ball:
    return _kept(x, low)
