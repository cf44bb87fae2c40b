"""IEEE: double precision as a plain tape has it, where infinities and NaN are values like any other.

Wherever kind real has a number this has the same, to the last bit. Where real has none, the operation answers as the
floating-point standard IEEE 754-2019 (sections 7 and 9.2), annex F of C and NumPy do: a pole is an infinity, what has
no value is NaN, a comparison with NaN is false, and whatever meets a NaN is NaN (but NaN^0 and 1^NaN, which are 1, and
hypot(inf, NaN), which is inf). Zeros keep their sign: 1/-0 is -inf; only atan2 takes -0 for 0, as kind real does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from backprop.kinds.real import Real
from backprop.ops import Row

INF, NAN = math.inf, math.nan


def _is_nan(*x: float) -> bool:
    return any(one != one for one in x)


def _or_nan(function: Callable[[float], float], x: float) -> float:
    """A function of `math`, NaN outside its domain."""
    try:
        return function(x)
    except ValueError:
        return NAN


def _logarithm(function: Callable[[float], float], x: float, pole: float = 0.0) -> float:
    """A logarithm of `math`: -inf at its pole and NaN below."""
    return -INF if x == pole else _or_nan(function, x)


class Ieee(Real):
    """Double precision in which nothing is ever undefined.

    >>> IEEE.log(0.0), IEEE.log(-1.0), IEEE.divide(1.0, -0.0), IEEE.maximum(1.0, math.nan), IEEE.log(2.0)
    (-inf, nan, -inf, nan, 0.6931471805599453)
    """

    propagates = True

    def number(self, text: str) -> float:
        """The double nearest to a literal, an infinity when it is too large; "nan" and "-0" are numbers here."""
        if text.lower() in ("nan", "-nan"):
            return NAN
        try:
            value = super().number(text)
        except OverflowError:
            value = -INF if text.startswith("-") else INF
        return -value if value == 0 and text.startswith("-") else value

    def apply(self, row: Row, operands: list[Any]) -> Any:
        """The value of an operation; NaN where its row knows no better."""
        try:
            return super().apply(row, operands)
        except (ValueError, ZeroDivisionError, OverflowError):
            return NAN

    def slope(self, rule: Any, operands: list[Any], out: Any, position: int = 0) -> Any:
        """A partial by its rule; NaN where the operation itself is NaN, so that log(-1) never has the slope -1.

        A rule that is a number or an operand, as those of sums and products, stays: it is right whatever it meets.
        The frameworks' own rules stay too (their tapes have a convention).
        """
        found = rule.evaluate(self, operands, out)
        return NAN if out != out and self.is_lost(rule) else found

    def is_lost(self, rule: Any) -> bool:
        """Whether a rule means nothing where the operation is NaN."""
        return self.convention is None and rule.constant is None and rule.single is None

    def scale(self, adjoint: float, partial: float) -> float:
        """adjoint · partial, with 0·inf = NaN."""
        return adjoint * partial + 0.0  # -0 is written 0

    def add(self, left: float, right: float) -> float:
        """The sum, with inf - inf = NaN."""
        return left + right + 0.0

    def trouble(self, value: Any, operands: list[Any]) -> str | None:
        """Nothing: every double is a value."""
        return None

    # -- arithmetic

    def divide(self, x: float, y: float) -> float:
        """x/y; x/0 has the sign of both, 0/0 is NaN."""
        if y != 0:
            return x / y
        return NAN if x == 0 or _is_nan(x, y) else math.copysign(INF, x) * math.copysign(1.0, y)

    def pow(self, x: float, y: float) -> float:
        """x^y; 0 to a negative power is an infinity, of the sign of the zero when the power is odd; 1^inf is 1."""
        if abs(x) == 1:
            return math.pow(x, y) if abs(y) == INF else super().pow(x, y)
        try:
            return super().pow(x, y)
        except ValueError:
            if x != 0:
                return NAN
            return math.copysign(INF, x) if abs(math.fmod(y, 2)) == 1 else INF

    def mod(self, x: float, y: float) -> float:
        return super().mod(x, y) if y != 0 else NAN

    # -- choices

    def equal(self, x: float, y: float) -> bool:
        return x == y

    def sign(self, x: float) -> float:
        return NAN if _is_nan(x) else float(super().sign(x))

    def maximum(self, *x: float) -> float:
        return NAN if _is_nan(*x) else float(max(x))

    def minimum(self, *x: float) -> float:
        return NAN if _is_nan(*x) else float(min(x))

    def clip(self, x: float, lo: float, hi: float) -> float:
        """x between two bounds; where they have changed places the upper one wins, as in NumPy and PyTorch."""
        return self.minimum(self.maximum(x, lo), hi)

    # -- exponentials and logarithms

    def log(self, x: Any) -> float:
        return _logarithm(math.log, x)

    def log2(self, x: Any) -> float:
        return _logarithm(math.log2, x)

    def log10(self, x: Any) -> float:
        return _logarithm(math.log10, x)

    def log1p(self, x: Any) -> float:
        return _logarithm(math.log1p, x, -1.0)

    def sqrt(self, x: Any) -> float:
        return _or_nan(math.sqrt, x)

    def log_base(self, x: float, b: float) -> float:
        if not _is_nan(x, b):
            try:
                return super().log_base(x, b)
            except (ValueError, ZeroDivisionError):
                pass
        return self.divide(self.log(x), self.log(b))

    def xlogy(self, x: float, y: float) -> float:
        """x·log(y); 0 when x is 0 and y any number, as in SciPy."""
        if x == 0 and not (0 < y < INF or _is_nan(y)):
            return x
        return float(super().xlogy(x, y))

    # -- trigonometry

    def sin(self, x: Any) -> float:
        return _or_nan(math.sin, x)

    def cos(self, x: Any) -> float:
        return _or_nan(math.cos, x)

    def tan(self, x: Any) -> float:
        return _or_nan(math.tan, x)

    def asin(self, x: Any) -> float:
        return _or_nan(math.asin, x)

    def acos(self, x: Any) -> float:
        return _or_nan(math.acos, x)

    def acosh(self, x: Any) -> float:
        return _or_nan(math.acosh, x)

    def atan2(self, y: float, x: float) -> float:
        return math.atan2(y, x) if x == 0 and y == 0 else super().atan2(y, x)

    def atanh(self, x: Any) -> float:
        return math.copysign(INF, x) if abs(x) == 1 else _or_nan(math.atanh, x)

    def csc(self, x: float) -> float:
        return self.divide(1.0, self.sin(x))

    def cot(self, x: float) -> float:
        return self.divide(1.0, self.tan(x))

    def acot(self, x: float) -> float:
        return math.atan(self.divide(1.0, x))

    def csch(self, x: float) -> float:
        return math.copysign(INF, x) if x == 0 else float(super().csch(x))

    def coth(self, x: float) -> float:
        return self.divide(1.0, math.tanh(x))

    def asech(self, x: float) -> float:
        return INF if x == 0 else float(super().asech(x))

    def acsch(self, x: float) -> float:
        return math.copysign(INF, x) if x == 0 else float(super().acsch(x))

    def acoth(self, x: float) -> float:
        return math.copysign(INF, x) if abs(x) == 1 else float(super().acoth(x))

    # -- the gamma function and its relatives: poles at 0, -1, -2, ...

    def gamma(self, x: float) -> float:
        """At 0 an infinity of the sign of the zero; NaN at the other poles, where the sides do not agree."""
        if x == 0:
            return math.copysign(INF, x)
        return NAN if _is_nan(x) or _is_pole(x) else super().gamma(x)

    def factorial(self, x: float) -> float:
        return NAN if _is_nan(x) else super().factorial(x)

    def lgamma(self, x: float) -> float:
        if _is_nan(x):
            return NAN
        return INF if abs(x) == INF or _is_pole(x) else super().lgamma(x)

    def digamma(self, x: float) -> float:
        if x == 0:
            return -math.copysign(INF, x)
        if _is_nan(x) or _is_pole(x):
            return NAN
        return INF if x == INF else super().digamma(x)

    def polygamma(self, n: float, x: float) -> float:
        """At a pole inf where both sides agree (n odd), else NaN, and at 0 an infinity of its sign."""
        if _is_nan(n, x) or n < 0 or n != math.floor(n) or x == -INF:
            return NAN
        if n == 0:
            return self.digamma(x)
        if x == INF:
            return 0.0
        if not _is_pole(x):
            return super().polygamma(n, x)
        if n % 2 == 1:
            return INF
        return -math.copysign(INF, x) if x == 0 else NAN


def _is_pole(x: float) -> bool:
    """Whether x is 0, -1, -2, ... or -inf."""
    return x <= 0 and (x == -INF or x == math.floor(x))


IEEE = Ieee()
