"""Digits: as many decimal digits as are asked for, with mpmath in a context of its own.

Every operation is worked out with more than twice the digits and rounded once, so a difference of near-equal numbers
inside an operation costs nothing. A result beyond all measure (9^9^9^9) is refused instead of being waited for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import mpmath
from mpmath import libmp

from backprop.kinds.real import Scalar
from backprop.ops import Row

# |log2| of the largest and smallest result; within it exp costs 60 bits more than the digits asked for
FARTHEST = 2**60
# sin of a number of b bits needs π to b bits
LARGEST_ANGLE_BITS = 100_000
# a literal is held as a quotient of whole numbers, which have about three times so many bits
LARGEST_EXPONENT_TYPED = 100_000
LITERAL = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?")


class Digits(Scalar):
    """Numbers of `digits` decimal digits.

    >>> fifty = Digits(50)
    >>> fifty.number("0.1") == fifty.number("1/10"), fifty.from_double(0.1) == fifty.number("0.1")
    (True, False)
    """

    def __init__(self, digits: int) -> None:
        self.digits = digits
        self.name = f"digits:{digits}"
        self.context = mpmath.mp.clone()
        self.context.dps = digits
        self.bits = self.context.prec

    def number(self, text: str) -> Any:
        """The number nearest to a literal, read digit by digit, or a constant."""
        context = self.context
        negative, name = text.startswith("-"), text.removeprefix("-")
        if name == "pi":
            value = +context.pi
        elif name == "tau":
            value = 2 * context.pi
        elif name == "e":
            value = +context.e
        elif name == "inf":
            value = context.inf
        else:
            above, slash, below = name.partition("/")
            p, q = self._fraction(above)
            r, s = self._fraction(below) if slash else (1, 1)
            if r == 0:
                raise ZeroDivisionError(f"{text} divides by 0")
            value = context.make_mpf(libmp.from_rational(p * s, q * r, context.prec, "n"))
        return -value if negative else value

    def _fraction(self, text: str) -> tuple[int, int]:
        """A decimal literal as a fraction of integers."""
        found = LITERAL.fullmatch(text)
        if found is None:
            raise ValueError(f"{text} is no number")
        whole, _, part = found[1].partition(".")
        exponent = int(found[2] or "0") - len(part)
        if abs(exponent) > LARGEST_EXPONENT_TYPED:
            raise OverflowError(f"{text} has an exponent beyond {LARGEST_EXPONENT_TYPED}")
        mantissa = int(whole + part or "0")
        return (mantissa * 10**exponent, 1) if exponent >= 0 else (mantissa, 10**-exponent)

    def from_double(self, value: float) -> Any:
        """The same number as the double, exactly."""
        return self.context.make_mpf(libmp.from_float(float(value)))

    def to_double(self, value: Any) -> float:
        """The nearest double; an infinity when there is none."""
        return float(libmp.to_float(self.context.convert(value)._mpf_, rnd="n"))

    def apply(self, row: Row, operands: list[Any]) -> Any:
        return self.precisely(row.value, self, *operands)

    def precisely(self, function: Callable[..., Any], *operands: Any) -> Any:
        """The value of a function worked out with more than twice the digits, rounded once."""
        context = self.context
        context.prec = 2 * self.bits + 40
        try:
            value = function(*operands)
        finally:
            context.prec = self.bits
        if isinstance(value, context.mpc):
            raise ValueError("the value is not real")
        return value if isinstance(value, bool) else context.convert(value) + 0

    @property
    def pi(self) -> Any:
        """π, as precise as the work in hand."""
        return +self.context.pi

    # -- exponentials and logarithms

    def _vanishes(self, power: Any) -> bool:
        """Whether e^power is too small to tell from 0. OverflowError when it is too large to carry."""
        if power > FARTHEST and power != self.context.inf:
            raise OverflowError("the result has more digits before its point than can be carried")
        return bool(power < -FARTHEST)

    def exp(self, x: Any) -> Any:
        return x * 0 if x != -self.context.inf and self._vanishes(x) else self.context.exp(x)

    def exp2(self, x: Any) -> Any:
        if abs(x) == self.context.inf:
            return self.exp(x)
        return self.context.zero if self._vanishes(x) else self.context.power(2, x)

    def expm1(self, x: Any) -> Any:
        return -self.context.one if self._vanishes(x) else self.context.expm1(x)

    def pow(self, x: Any, y: Any) -> Any:
        """x^y: 0^0 is 1, a negative base needs an integer exponent, 0 to a negative power is refused."""
        context = self.context
        if y == 0 or x == 1:
            return context.one
        if x == 0:
            if y < 0:
                raise ZeroDivisionError("0 to a negative power")
            return context.zero
        odd = False
        if x < 0:
            if abs(y) != context.inf and y != context.floor(y):
                raise ValueError("a negative base needs an integer exponent")
            # a number with a positive exponent in base 2 is even
            odd = abs(y) != context.inf and y.man_exp[1] == 0
        size = abs(x)
        if size == 1:
            return -context.one if odd else context.one
        if abs(y) == context.inf or size == context.inf:
            grows = (size > 1) == (y > 0)
            value = context.inf if grows else context.zero
            return -value if odd else value
        if self._vanishes(context.log(size) * y):
            return context.zero
        if context.mag(y) <= 64:
            return context.power(x, y)
        with context.extraprec(context.mag(y) + 20):
            value = context.exp(context.log(size) * y)
        return -value if odd else value

    def log(self, x: Any) -> Any:
        return self.context.log(self._positive(x))

    def log2(self, x: Any) -> Any:
        return self.context.log(self._positive(x), 2)

    def log10(self, x: Any) -> Any:
        return self.context.log10(self._positive(x))

    def log1p(self, x: Any) -> Any:
        if not x > -1:
            raise ValueError("log1p needs x > -1")
        return x if x == self.context.inf else self.context.log1p(x)

    def log_base(self, x: Any, b: Any) -> Any:
        return self.log(x) / self.log(b)

    def sqrt(self, x: Any) -> Any:
        if x < 0:
            raise ValueError("sqrt needs x >= 0")
        return self.context.sqrt(x)

    def cbrt(self, x: Any) -> Any:
        root = self.context.cbrt(abs(x))
        return root if x >= 0 else -root

    def _positive(self, x: Any) -> Any:
        if not x > 0:
            raise ValueError("a logarithm needs x > 0")
        return x

    # -- trigonometry

    def _angle(self, x: Any) -> Any:
        if abs(x) == self.context.inf:
            raise ValueError("an infinite angle has no direction")
        if x != 0 and self.context.mag(x) > LARGEST_ANGLE_BITS:
            raise OverflowError("the angle is too large to be reduced by π")
        return x

    def sin(self, x: Any) -> Any:
        return self.context.sin(self._angle(x))

    def cos(self, x: Any) -> Any:
        return self.context.cos(self._angle(x))

    def tan(self, x: Any) -> Any:
        return self.context.tan(self._angle(x))

    def asin(self, x: Any) -> Any:
        return self.context.asin(self._sine(x))

    def acos(self, x: Any) -> Any:
        return self.context.acos(self._sine(x))

    def _sine(self, x: Any) -> Any:
        if abs(x) > 1:
            raise ValueError("a sine or cosine lies between -1 and 1")
        return x

    def atan(self, x: Any) -> Any:
        return self.context.atan(x)

    def atan2(self, y: Any, x: Any) -> Any:
        if x == 0 and y == 0:
            raise ValueError("the point (0, 0) has no direction")
        return self.context.atan2(y, x)

    def hypot(self, x: Any, y: Any) -> Any:
        return self.context.hypot(x, y)

    def sinh(self, x: Any) -> Any:
        self._vanishes(abs(x))
        return self.context.sinh(x)

    def cosh(self, x: Any) -> Any:
        self._vanishes(abs(x))
        return self.context.cosh(x)

    def tanh(self, x: Any) -> Any:
        return self.sign(x) if abs(x) > FARTHEST else self.context.tanh(x)

    def asinh(self, x: Any) -> Any:
        return self.context.asinh(x)

    def acosh(self, x: Any) -> Any:
        if x < 1:
            raise ValueError("acosh needs x >= 1")
        return self.context.acosh(x)

    def atanh(self, x: Any) -> Any:
        if not abs(x) < 1:
            raise ValueError("atanh needs -1 < x < 1")
        return self.context.atanh(x)

    def sinc(self, x: Any) -> Any:
        if x == 0:
            return self.context.one
        return self.context.zero if abs(x) == self.context.inf else self.sin(x) / x

    def spherical_j1(self, x: Any) -> Any:
        """(sin(x)/x - cos(x))/x, near 0 by its series, where the two terms would cancel."""
        context = self.context
        if abs(x) == context.inf:
            return context.zero
        if abs(x) >= 1:
            return (self.sin(x) / x - self.cos(x)) / x
        square, k, term, total = x * x, 0, x / 3, x * 0
        while abs(term) > abs(total) * context.eps:
            total += term
            k += 1
            term *= -square / (2 * k * (2 * k + 3))
        return total

    # -- whole numbers

    def floor(self, x: Any) -> Any:
        return self.context.floor(x)

    def ceil(self, x: Any) -> Any:
        return self.context.ceil(x)

    def round(self, x: Any) -> Any:
        return self.context.nint(x)

    def mod(self, x: Any, y: Any) -> Any:
        context = self.context
        if y == 0:
            raise ZeroDivisionError("a remainder by 0")
        if abs(x) == context.inf:
            return context.nan
        if x == 0 or abs(y) == context.inf:
            return x if x == 0 or (x > 0) == (y > 0) else y
        if context.mag(x) - context.mag(y) > LARGEST_ANGLE_BITS:
            raise OverflowError("the quotient has too many digits for a remainder")
        if context.mag(y) - context.mag(x) > LARGEST_ANGLE_BITS:
            return x if (x > 0) == (y > 0) else x + y
        return x % y

    # -- special functions

    def erf(self, x: Any) -> Any:
        return self.sign(x) if abs(x) > 2**30 else self.context.erf(x)

    def erfc(self, x: Any) -> Any:
        return 1 - self.sign(x) if abs(x) > 2**30 else self.context.erfc(x)

    def _off_poles(self, x: Any) -> Any:
        """An operand of gamma and its derivatives, which have poles at 0, -1, -2, ..."""
        if x <= 0 and (x == -self.context.inf or x == self.context.floor(x)):
            raise ValueError("gamma has a pole here")
        if x < -(2**53):
            raise OverflowError("too far out to tell one pole from the next")
        return x

    def gamma(self, x: Any) -> Any:
        if self._off_poles(x) > 2**53 and x != self.context.inf:
            raise OverflowError("the result has more digits before its point than can be carried")
        return self.context.gamma(x)

    def factorial(self, x: Any) -> Any:
        return self.gamma(x + 1)

    def lgamma(self, x: Any) -> Any:
        """log|Γ(x)|, left of 0 by reflection: Γ(x) Γ(1 - x) = π/sin(πx)."""
        context = self.context
        if self._off_poles(x) > 0:
            return x if x == context.inf else context.loggamma(x)
        return context.log(context.pi / abs(context.sinpi(x))) - context.loggamma(1 - x)

    def digamma(self, x: Any) -> Any:
        return self.polygamma(self.context.zero, x)

    def polygamma(self, n: Any, x: Any) -> Any:
        """The n-th derivative of digamma, left of 0 by reflection (a recurrence would walk there step by step)."""
        context = self.context
        if n < 0 or n != context.floor(n):
            raise ValueError("polygamma needs an order 0, 1, 2, ...")
        if n > 300:
            raise OverflowError("polygamma is worked out up to order 300")
        order = int(n)
        if self._off_poles(x) > 0:
            if x == context.inf:
                return x if order == 0 else context.zero
            return context.psi(order, x)
        # ψₙ(1 - z) = (-1)^n (ψₙ(z) + π dⁿ/dzⁿ cot(πz)), and cot' = -(1 + cot²)
        z = 1 - x
        cotangent = context.cospi(z) / context.sinpi(z)
        polynomial = [0, 1]
        for _ in range(order):
            slopes = [power * factor for power, factor in enumerate(polynomial)][1:]
            raised = [0, 0, *slopes]
            polynomial = [-(low + high) for low, high in zip([*slopes, 0, 0], raised, strict=True)]
        value = context.psi(order, z) + context.pi ** (order + 1) * context.polyval(polynomial[::-1], cotangent)
        return value if order % 2 == 0 else -value
