"""Digits: as many decimal digits as are asked for, with mpmath in a context of its own.

Every operation is worked out with more than twice the digits and rounded once, so a difference of near-equal numbers
inside an operation costs nothing. A result beyond all measure (9^9^9^9) is refused instead of being waited for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import mpmath
from mpmath import libmp

from backprop.figures import Written
from backprop.kinds import Kind, Refused, is_number
from backprop.kinds.real import Scalar
from backprop.mistakes import KindArgument
from backprop.ops import HEAVY, Row

if TYPE_CHECKING:
    from backprop.point import Point

SPELLING, SAYS = "digits:N", "N decimal digits"

# the most digits asked for, unless --limit says so: beyond that a single logarithm takes minutes
MOST_DIGITS = 10_000
# and for an operation as heavy as the gamma function: beyond that one takes more than seconds
MOST_DIGITS_OF_HEAVY = 500
# digits that are worked out beyond those that are shown
GUARD = 5
# Digits to work with, at most, until as many as are asked for stay; and bits times nodes for one point.
MOST_WORKED, MOST_WORK = 1000, 40_000_000
# |log2| of the largest and smallest result; within it exp costs 60 bits more than the digits asked for
FARTHEST = 2**60
# sin of a number of b bits needs π to b bits
LARGEST_ANGLE_BITS = 100_000
# up to this power of ten a literal is held as a quotient of whole numbers, which have about three times so many bits
LARGEST_POWER_WRITTEN = 100_000
LITERAL = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?")


class Digits(Scalar):
    """Numbers of `digits` decimal digits, worked out with `guard` more so that those can be right to the last.

    An operation as heavy as the gamma function is refused beyond `most_of_heavy` digits, when that is given.

    >>> fifty = Digits(50)
    >>> fifty.number("0.1") == fifty.number("1/10"), fifty.from_double(0.1) == fifty.number("0.1")
    (True, False)
    """

    def __init__(self, digits: int, guard: int = 0, most_of_heavy: int | None = None) -> None:
        self.digits = digits
        self.most_of_heavy = digits if most_of_heavy is None else most_of_heavy
        self.name = f"digits:{digits}"
        self.figures = self.checked = digits
        self.largest = f"the largest number of {self.name}, about 2^(2^60)"
        self.context = mpmath.mp.clone()
        self.context.dps = digits + guard
        self.bits = self.context.prec
        # what fewer digits gave, and the fewest, so that `finer` sees what stays; None when nobody asks for more
        self.answers: list[Any] | None = None
        self.first: list[Any] = []

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
            p, power = self._decimal(above)
            q, less = self._decimal(below) if slash else (1, 0)
            if q == 0:
                raise ZeroDivisionError(f"{text} divides by 0")
            value = self._quotient(p, q, power - less)
        return -value if negative else value

    def _decimal(self, text: str) -> tuple[int, int]:
        """A decimal literal as a whole number and the power of ten that it is multiplied by."""
        found = LITERAL.fullmatch(text)
        if found is None:
            raise ValueError(f"{text} is no number")
        whole, _, part = found[1].partition(".")
        return int(whole + part or "0"), int(found[2] or "0") - len(part)

    def _quotient(self, p: int, q: int, power: int) -> Any:
        """p/q·10^power, the number nearest to it while the power is not enormous."""
        context = self.context
        if p == 0:
            return context.zero
        if abs(power) <= LARGEST_POWER_WRITTEN:
            above, below = (p * 10**power, q) if power >= 0 else (p, q * 10**-power)
            return context.make_mpf(libmp.from_rational(above, below, context.prec, "n"))
        if abs(power) > FARTHEST // 4:
            raise OverflowError("the number has more digits than can be carried")
        with context.extraprec(power.bit_length() + 20):
            value = context.mpf(p) / q * context.mpf(10) ** power
        return value + 0

    def record(self, value: Any) -> Any:
        """As many digits as the kind has, as text; an infinity as JSON has it."""
        if isinstance(value, bool):
            return value
        number = self.context.convert(value)
        if not self.context.isfinite(number):
            return self.to_double(number)
        return Written(re.sub(r"\.0(?=e|$)", "", libmp.to_str(number._mpf_, self.digits)))

    def from_double(self, value: float) -> Any:
        """The same number as the double, exactly."""
        return self.context.make_mpf(libmp.from_float(float(value)))

    def told(self, value: Any) -> str:
        """The number, exactly, by its mantissa and its exponent in base 2."""
        sign, mantissa, exponent, _ = self.context.convert(value)._mpf_
        return f"{'-' if sign else ''}{mantissa:x}@{exponent}"

    def agreement(self, value: Any, truth: Any) -> float:
        """The leading digits that are those of the truth."""
        from mpmath import workdps

        with workdps(self.digits + 15):
            return digits_alike(value - truth, truth, self.digits)

    def nearest(self, value: Any) -> Any:
        """The number rounded to the digits of this kind."""
        return self.context.convert(value) + 0

    def to_double(self, value: Any) -> float:
        """The nearest double; an infinity when there is none."""
        return float(libmp.to_float(self.context.convert(value)._mpf_, rnd="n"))

    def apply(self, row: Row, operands: list[Any]) -> Any:
        if row.flops >= HEAVY and self.digits > self.most_of_heavy:
            raise Refused("too-large", f"more digits than the {self.most_of_heavy} that {row.name} is worked out to,")
        return self.precisely(row.value, self, *operands)

    def finer(self, point: Point) -> Kind | None:
        """The kind that works with twice the digits, until those that are shown stay: terms may cancel.

        What stays may do so because both were blind, as 1 - 1e-300 is 1 in 30 digits and in 60. So running error
        analysis has to promise it as well, up to `MOST_WORKED` digits, or four times those asked for.
        """
        if self.answers is None:
            return None
        found = [point.value(), *point.by_rules().values()]
        steady = bool(self.answers) and self._stay(self.answers, found)
        if steady and point.promises(self.digits, self.context.eps):
            return self._at_last(found, steady)
        digits = 2 * self.context.dps
        finer = Digits(self.digits, digits - self.digits, self.most_of_heavy)
        heavy = any(row.flops >= HEAVY for row in map(point.graph.row, range(len(point.graph))) if row is not None)
        most = self.most_of_heavy if heavy else max(MOST_WORKED, 4 * self.digits)
        if self.context.dps >= most or (heavy and digits > most) or finer.bits * len(point.graph) > MOST_WORK:
            return self._at_last(found, steady)
        finer.answers, finer.first = found, self.first or found
        return finer

    def _at_last(self, found: list[Any], steady: bool) -> Kind | None:
        """The kind to stay with: that of the fewest digits, unless more of them gave other answers that stay."""
        if not self.answers or (steady and not self._stay(self.first, found)):
            return None
        first = Digits(self.digits, GUARD, self.most_of_heavy)
        first.unsteady = not steady
        return first

    def _stay(self, before: list[Any], now: list[Any]) -> bool:
        return all(map(self._stays, before, now))

    def _stays(self, before: Any, now: Any) -> bool:
        """Whether an answer is the same with more digits, to all that are shown."""
        if not (is_number(before) and is_number(now)):
            return is_number(before) == is_number(now)
        with mpmath.workdps(self.digits + 15):
            return digits_alike(now - before, now, self.digits + 1) > self.digits

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
        """x^y: 0^0 is 1, a negative base needs an integer exponent, 0 to a negative power is refused.

        1^inf has no value, see `Real.pow`.
        """
        context = self.context
        if abs(y) == context.inf and abs(x) == 1:
            return context.nan
        if (y == 0 or x == 1) and (x < y or x >= y):  # a comparison with a hole raises TypeError: 1^(1/0) is no 1
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
        # the logarithm is needed only where the result may be out of range, and takes long with many digits
        if (abs(context.mag(size)) + 1) * abs(y) > FARTHEST // 2 and self._vanishes(context.log(size) * y):
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
        # ψₙ(1 - z) = (-1)^n (ψₙ(z) + π dⁿ/dzⁿ cot(πz)), and cot' = -(1 + cot²); 1 - x may have lost a tiny x
        z = 1 - x
        cotangent = -context.cospi(x) / context.sinpi(x)
        polynomial = [0, 1]
        for _ in range(order):
            slopes = [power * factor for power, factor in enumerate(polynomial)][1:]
            raised = [0, 0, *slopes]
            polynomial = [-(low + high) for low, high in zip([*slopes, 0, 0], raised, strict=True)]
        value = context.psi(order, z) + context.pi ** (order + 1) * context.polyval(polynomial[::-1], cotangent)
        return value if order % 2 == 0 else -value


def digits_alike(difference: Any, truth: Any, most: int) -> float:
    """How many digits a number that is off by so much shares with the truth.

    >>> digits_alike(mpmath.mpf("1e-9"), mpmath.mpf(2), 30), digits_alike(mpmath.mpf(0), mpmath.mpf(2), 30)
    (9.3, 30.0)
    """
    if difference == 0:
        return float(most)
    if truth == 0:
        return 0.0
    return round(min(float(most), max(0.0, -float(mpmath.log10(abs(difference / truth))))), 2)


def of(argument: str, limit: int | None = None) -> Kind:
    """The kind `digits:N`. Raises `KindArgument` where N is no whole number from 1 to the limit."""
    most = MOST_DIGITS if limit is None else limit
    if not (argument.isascii() and argument.isdecimal() and len(argument) < 13 and int(argument) > 0):
        raise KindArgument(f"digits:{argument}", "Say how many digits, a whole number: --kind digits:30")
    if int(argument) > most:
        told = f"up to {most} digits are worked out; --limit {int(argument)} lets it be so many, and takes its time"
        raise KindArgument(f"digits:{argument}", told)
    kind = Digits(int(argument), guard=GUARD, most_of_heavy=MOST_DIGITS_OF_HEAVY if limit is None else limit)
    kind.answers = []
    return kind
