"""Real: double precision, the kind of number a trace shows unless it is asked for another.

Each function is as good as the platform's own: nothing overflows on the way (softplus of 1000 is 1000), and a result
too large for a double is an infinity, never an exception. Outside the domain it raises ValueError or
ZeroDivisionError, as Python's own `math` does.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from backprop.kinds import Kind
from backprop.mistakes import KindArgument

if TYPE_CHECKING:
    from backprop.kinds.digits import Digits

SPELLING, SAYS = "real", "double precision"

INF = math.inf
SQRT_2 = math.sqrt(2)
WHOLE = 2.0**52  # from here on every double is an integer

CONSTANTS = {"pi": math.pi, "tau": math.tau, "e": math.e, "inf": INF}


class Scalar(Kind):
    """What all kinds of one number share: functions built from a few others, choices and conditions.

    The few others are `exp`, `log`, `sqrt`, ... of the kind itself.
    """

    pi: Any
    # what a kind brings itself
    exp: Any
    log: Any
    log1p: Any
    sqrt: Any
    sin: Any
    cos: Any
    tan: Any
    atan: Any
    atan2: Any
    sinh: Any
    tanh: Any
    asinh: Any
    atanh: Any
    erfc: Any

    # -- choices: a comparison with a hole raises TypeError, which is how a hole is noticed

    def true(self, condition: Any) -> bool:
        """Whether a condition holds."""
        return bool(condition > 0 or condition < 0)

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        return x if self.true(condition) else y

    def equal(self, x: Any, y: Any) -> bool:
        return not (x < y or x > y)

    def both(self, x: Any, y: Any) -> bool:
        first, second = self.true(x), self.true(y)
        return first and second

    def either(self, x: Any, y: Any) -> bool:
        first, second = self.true(x), self.true(y)
        return first or second

    def negation(self, x: Any) -> bool:
        return not self.true(x)

    def sign(self, x: Any) -> Any:
        return self.number("1") if x > 0 else self.number("-1") if x < 0 else self.number("0")

    def maximum(self, *x: Any) -> Any:
        return max(x)

    def minimum(self, *x: Any) -> Any:
        return min(x)

    def clip(self, x: Any, lo: Any, hi: Any) -> Any:
        if lo > hi:
            raise ValueError("the lower bound is above the upper one")
        return min(max(x, lo), hi)

    # -- exponentials that neither overflow nor lose digits on the way

    def sigmoid(self, x: Any) -> Any:
        small = self.exp(-abs(x))
        return 1 / (1 + small) if x >= 0 else small / (1 + small)

    def softplus(self, x: Any) -> Any:
        return max(x, 0) + self.log1p(self.exp(-abs(x)))

    def logaddexp(self, x: Any, y: Any) -> Any:
        # the difference of two equal infinities is no number
        apart = 0 if self.equal(x, y) else abs(x - y)
        return max(x, y) + self.log1p(self.exp(-apart))

    def silu(self, x: Any) -> Any:
        return self.product(x, self.sigmoid(x))

    def gelu(self, x: Any) -> Any:
        return self.product(x, self.erfc(-x / self.sqrt(self.number("2"))) / 2)

    def product(self, x: Any, factor: Any) -> Any:
        """x · factor, where a factor that has died out wins over an infinity."""
        return factor * 0 if factor == 0 else x * factor

    def xlogy(self, x: Any, y: Any) -> Any:
        if y == 0 and x == 0:
            return x
        return x * self.log(y)

    # -- trigonometry from the functions every kind has

    def sec(self, x: Any) -> Any:
        return 1 / self.cos(x)

    def csc(self, x: Any) -> Any:
        return 1 / self.sin(x)

    def cot(self, x: Any) -> Any:
        return 1 / self.tan(x)

    def asec(self, x: Any) -> Any:
        """acos(1/x); near ±1 the rounding of 1/x would cost half of the digits."""
        if abs(x) < 1:
            raise ValueError("asec needs |x| >= 1")
        acute = self.atan(self._leg(abs(x)))
        return acute if x > 0 else self.pi - acute

    def acsc(self, x: Any) -> Any:
        """asin(1/x), by way of the same right-angled triangle."""
        if abs(x) < 1:
            raise ValueError("acsc needs |x| >= 1")
        leg = self._leg(abs(x))
        acute = self.atan2(self.number("1"), leg)
        return acute if x > 0 else -acute

    def _leg(self, x: Any) -> Any:
        """sqrt(x^2 - 1), without an overflow and without losing digits near 1."""
        return self.sqrt(x - 1) * self.sqrt(x + 1)

    def acot(self, x: Any) -> Any:
        return self.atan(1 / x)

    def sech(self, x: Any) -> Any:
        small = self.exp(-abs(x))
        return 2 * small / (1 + small * small)

    def csch(self, x: Any) -> Any:
        # for a large x by way of exp(-x): sinh would be an infinity
        if abs(x) > 20:
            small = self.exp(-abs(x))
            large = 2 * small / (1 - small * small)
            return large if x > 0 else -large
        return 1 / self.sinh(x)

    def coth(self, x: Any) -> Any:
        return 1 / self.tanh(x)

    def asech(self, x: Any) -> Any:
        if not 0 < x <= 1:
            raise ValueError("asech needs 0 < x <= 1")
        leg = self.sqrt((1 - x) * (1 + x))
        return self.log1p(leg) - self.log(x) if 2 * x < 1 else self.atanh(leg)

    def acsch(self, x: Any) -> Any:
        if abs(x) < self.number("1e-300"):  # 1/x may be too large for a double
            if x == 0:
                raise ZeroDivisionError("acsch has a pole at 0")
            return self.sign(x) * (self.log(self.number("2")) - self.log(abs(x)))
        return self.asinh(1 / x)

    def acoth(self, x: Any) -> Any:
        if not abs(x) > 1:
            raise ValueError("acoth needs |x| > 1")
        return self.sign(x) * self.log1p(2 / (abs(x) - 1)) / 2


class Real(Scalar):
    """Double precision.

    >>> REAL.number("1/3"), REAL.exp(1000.0), REAL.pow(-8.0, 3.0)
    (0.3333333333333333, inf, -512.0)
    """

    name = "real"
    digits = checked = 16
    pi = math.pi

    def number(self, text: str) -> float:
        """The double nearest to a literal, or a constant.

        >>> REAL.number("pi"), REAL.number("-1e-3"), REAL.number("-inf")
        (3.141592653589793, -0.001, -inf)
        """
        try:
            value = float(text)
        except ValueError:
            return self._constant_or_fraction(text)
        if value - value != 0:
            return self._constant_or_fraction(text)
        return value + 0.0  # -0 is 0

    def told(self, value: Any) -> str:
        """The double, exactly."""
        return float(value).hex()

    def nearest(self, value: Any) -> float:
        """The double nearest to an mpf; an infinity beyond the largest."""
        from mpmath import libmp

        return float(libmp.to_float(value._mpf_, rnd="n")) + 0.0

    def _constant_or_fraction(self, text: str) -> float:
        sign, name = (-1.0, text[1:]) if text.startswith("-") else (1.0, text)
        if name in CONSTANTS:
            return sign * CONSTANTS[name]
        above, slash, below = name.partition("/")
        if slash:
            return sign * self.number(above) / self.number(below)
        value = float(name)
        if value != value:
            raise ValueError(f"{text} is no number")
        if value == INF:
            raise OverflowError(f"{text} is too large for a double (about 1.8e308 at most)")
        return sign * value + 0.0

    # -- exponentials and logarithms

    def exp(self, x: float) -> float:
        try:
            return math.exp(x)
        except OverflowError:
            return INF

    def exp2(self, x: float) -> float:
        try:
            return math.exp2(x)
        except OverflowError:
            return INF

    def expm1(self, x: float) -> float:
        try:
            return math.expm1(x)
        except OverflowError:
            return INF

    def pow(self, x: float, y: float) -> float:
        """x^y: 0^0 is 1, a negative base needs an integer exponent, 0 to a negative power is refused.

        1^inf has no value: (1 + 1/n)^n goes to e and 1^n to 1.
        """
        try:
            return math.nan if abs(y) == INF and abs(x) == 1 else math.pow(x, y)
        except OverflowError:
            return -INF if x < 0 and math.fmod(y, 2) != 0 else INF

    log: Any = staticmethod(math.log)
    log2 = staticmethod(math.log2)
    log10 = staticmethod(math.log10)
    log1p = staticmethod(math.log1p)
    sqrt = staticmethod(math.sqrt)
    cbrt = staticmethod(math.cbrt)

    def log_base(self, x: float, b: float) -> float:
        """The power to which b is raised to give x.

        >>> REAL.log_base(1000.0, 10.0), REAL.log_base(125.0, 5.0)
        (3.0, 3.0)
        """
        if b == 2:
            return math.log2(x)
        if b == 10:
            return math.log10(x)
        power = math.log(x) / math.log(b)
        # a quotient of two rounded logarithms misses whole answers by a hair
        whole = round(power) if abs(power) < 1024 else 0
        return float(whole) if self.pow(b, float(whole)) == x else power

    # -- trigonometry

    sin = staticmethod(math.sin)
    cos = staticmethod(math.cos)
    tan = staticmethod(math.tan)
    asin = staticmethod(math.asin)
    acos = staticmethod(math.acos)
    atan = staticmethod(math.atan)
    tanh = staticmethod(math.tanh)
    asinh = staticmethod(math.asinh)
    acosh = staticmethod(math.acosh)
    atanh = staticmethod(math.atanh)
    hypot = staticmethod(math.hypot)

    def atan2(self, y: float, x: float) -> float:
        if x == 0 and y == 0:
            raise ValueError("the point (0, 0) has no direction")
        return math.atan2(y + 0.0, x + 0.0)  # -0 would turn the direction round

    def sinh(self, x: float) -> float:
        try:
            return math.sinh(x)
        except OverflowError:
            return INF if x > 0 else -INF

    def cosh(self, x: float) -> float:
        try:
            return math.cosh(x)
        except OverflowError:
            return INF

    def sinc(self, x: float) -> float:
        if x == 0:
            return 1.0
        return 0.0 if abs(x) == INF else math.sin(x) / x

    def spherical_j1(self, x: float) -> float:
        """(sin(x)/x - cos(x))/x, near 0 by its series, where the two terms would cancel."""
        if abs(x) == INF:
            return 0.0
        if abs(x) >= 1:
            return (math.sin(x) / x - math.cos(x)) / x
        square, total = x * x, 0.0
        for coefficient in _SPHERICAL_J1:
            total = total * square + coefficient
        return x * total

    # -- whole numbers

    def floor(self, x: float) -> float:
        return float(math.floor(x)) if abs(x) < WHOLE else x

    def ceil(self, x: float) -> float:
        return float(math.ceil(x)) if abs(x) < WHOLE else x

    def round(self, x: float) -> float:
        return float(round(x)) if abs(x) < WHOLE else x

    def mod(self, x: float, y: float) -> float:
        return x % y

    # -- special functions

    erf = staticmethod(math.erf)
    erfc = staticmethod(math.erfc)

    def silu(self, x: float) -> float:
        """x·sigmoid(x); far to the left exp(x) has lost its digits before x·exp(x) has: half of it is taken twice."""
        if x > -700:
            return float(super().silu(x))
        half = math.exp(x / 2)
        return float(self.product(self.product(x, half), half)) + 0.0

    def gelu(self, x: float) -> float:
        """x·erfc(-x/√2)/2; far to the left the rounding of x/√2 would cost two digits."""
        z = -x / SQRT_2
        below = math.erfc(z)
        if 1 < z < 27:
            missed = (x * x / 2 - z * z + (_beyond_the_square(x) / 2 - _beyond_the_square(z))) / (2 * z)
            below -= 2 / math.sqrt(math.pi) * math.exp(-z * z) * missed
        return float(self.product(x, below / 2))

    def gamma(self, x: float) -> float:
        if x >= 172:
            return INF
        if x < -200 and x != self.floor(x):
            return 0.0
        return math.gamma(x) if 0 < x <= 23 and x == math.floor(x) else _precisely("gamma", x)

    def factorial(self, x: float) -> float:
        if x >= 171 or x == self.floor(x):
            return self.gamma(x + 1)
        return 0.0 if x < -200 else _precisely("factorial", x)

    def lgamma(self, x: float) -> float:
        return _precisely("lgamma", x)

    def digamma(self, x: float) -> float:
        return _precisely("digamma", x)

    def polygamma(self, n: float, x: float) -> float:
        return _precisely("polygamma", n, x)


def _beyond_the_square(x: float) -> float:
    """What x·x loses by its rounding: x² less that, exactly.

    T. Dekker, A floating-point technique for extending the available precision, Numerische Mathematik 18, 1971.

    >>> from fractions import Fraction
    >>> Fraction(0.1 * 0.1) + Fraction(_beyond_the_square(0.1)) == Fraction(0.1) ** 2
    True
    """
    large = 134217729.0 * x  # 2^27 + 1
    high = large - (large - x)
    low = x - high
    return high * high - x * x + 2 * high * low + low * low


@lru_cache(maxsize=1)
def _digits() -> Digits:
    """Thirty-two digits, for the functions that no platform has: imported when one is asked for."""
    from backprop.kinds.digits import Digits

    return Digits(32)


def _precisely(function: str, *operands: float) -> float:
    """The double nearest to a function that is worked out with more digits."""
    kind = _digits()
    return kind.to_double(kind.precisely(getattr(kind, function), *map(kind.from_double, operands)))


# j1(x) = x/3 - x^3/30 + x^5/840 - ...: the coefficients of x^(2k + 1), highest first
_SPHERICAL_J1 = tuple((-1) ** k * 2 * (k + 1) / math.factorial(2 * k + 3) for k in range(10, -1, -1))

REAL = Real()


def of(argument: str, limit: int | None = None) -> Kind:
    """The kind `real`. Raises `KindArgument` for an argument: it takes none."""
    if argument:
        raise KindArgument(f"real:{argument}", "real takes no argument: --kind real. Many digits: --kind digits:30")
    return REAL
