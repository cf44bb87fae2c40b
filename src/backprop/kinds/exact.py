"""Exact: fractions, from the text that was typed: 0.1 is one tenth, and nothing is ever rounded.

Sums, products, quotients, integer powers, comparisons and steps always have an exact result. A root has one when it
comes out even, a logarithm when its operand is a power of its base; both are decided by whole numbers alone. The
exponential, trigonometric and hyperbolic functions and their inverses have a rational value at a rational point only
where `AT` says so: everywhere else it is transcendental (the theorem of Hermite and Lindemann; see Niven, Irrational
Numbers, chapter 9). Any other result is refused, never rounded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from backprop.figures import Written, fraction_of, fraction_text
from backprop.kinds import Kind, Refused
from backprop.kinds.real import Scalar
from backprop.mistakes import KindArgument
from backprop.ops import Row

SPELLING, SAYS = "exact", "fractions, nothing rounded"

# the bits of a numerator or denominator, unless --limit says so: thirty thousand decimal digits
MOST_BITS = 100_000

# a slope that was measured beside the point is believed to be a fraction when its denominator is no larger
SIMPLEST = 10**9

_LITERAL = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d+))?")


@dataclass(frozen=True, slots=True)
class Special:
    """The one rational point at which a function has a rational value, that value, and where it has any at all."""

    point: int
    value: int
    domain: Callable[[Fraction], bool] = lambda x: True


AT = {
    "exp": Special(0, 1),
    "expm1": Special(0, 0),
    "log": Special(1, 0, lambda x: x > 0),
    "log1p": Special(0, 0, lambda x: x > -1),
    "sin": Special(0, 0),
    "cos": Special(0, 1),
    "tan": Special(0, 0),
    "asin": Special(0, 0, lambda x: abs(x) <= 1),
    "acos": Special(1, 0, lambda x: abs(x) <= 1),
    "atan": Special(0, 0),
    "sinh": Special(0, 0),
    "cosh": Special(0, 1),
    "tanh": Special(0, 0),
    "asinh": Special(0, 0),
    "acosh": Special(1, 0, lambda x: x >= 1),
    "atanh": Special(0, 0, lambda x: abs(x) < 1),
    "erf": Special(0, 0),
    "erfc": Special(0, 1),
    "sinc": Special(0, 1),
    "spherical_j1": Special(0, 0),
}


def _at_one_point(name: str) -> Callable[[Exact, Fraction], Fraction]:
    special = AT[name]

    def function(self: Exact, x: Fraction) -> Fraction:
        if not special.domain(x):
            raise ValueError(f"{name} has no real value there")
        if x != special.point:
            raise Refused("inexact")
        return Fraction(special.value)

    return function


class Exact(Scalar):
    """Fractions with up to `limit` bits above and below the line.

    >>> exact = Exact()
    >>> exact.number("0.1"), exact.sqrt(Fraction(9, 4)), exact.pow(Fraction(8), Fraction(-2, 3))
    (Fraction(1, 10), Fraction(3, 2), Fraction(1, 4))
    """

    name = "exact"
    digits = 30  # to so many a slope beside the point is worked out; its own numbers have no end
    checked = 60
    rounds = False

    def __init__(self, limit: int = MOST_BITS) -> None:
        self.limit = limit

    def number(self, text: str) -> Fraction:
        """A literal at its word. `Refused` for pi, e and inf, and for a power of ten beyond the limit."""
        negative, name = text.startswith("-"), text.removeprefix("-")
        if name in ("pi", "tau", "e", "inf"):
            raise Refused("inexact")
        above, slash, below = name.partition("/")
        value = self._literal(above)
        if slash:
            value = self._bounded(value / self._literal(below))
        return -value if negative else value

    def _literal(self, text: str) -> Fraction:
        found = _LITERAL.fullmatch(text)
        if found is None:
            raise ValueError(f"{text} is no number")
        whole, _, part = found[1].partition(".")
        exponent = int(found[2] or "0") - len(part)
        mantissa = int(whole + part or "0")
        if mantissa:
            self._refuse_beyond(abs(exponent) * 332 // 100)  # log2(10) is 3.32...
        return self._bounded(Fraction(mantissa) * Fraction(10) ** (exponent if mantissa else 0))

    def record(self, value: Any) -> Any:
        """The fraction as text, "2/7"; a whole number as it is, "3"."""
        if isinstance(value, (bool, float)):
            return value  # an infinite slope beside the point has no fraction
        return Written(fraction_text(Fraction(value)))

    def told(self, value: Any) -> str:
        """The fraction, exactly."""
        return f"{value.numerator:x}/{value.denominator:x}"

    def agreement(self, value: Any, truth: Any) -> float:
        """The leading digits that are those of the truth, of 60 that are compared."""
        from mpmath import mpf, workdps

        from backprop.kinds.digits import digits_alike

        with workdps(self.checked + 15):
            return digits_alike(mpf(value.numerator) / value.denominator - truth, truth, self.checked)

    def nearest(self, value: Any) -> Any:
        """The simplest fraction that a number of many digits stands for; all of 30 digits where it is none so simple.

        An infinity stays one.

        >>> from mpmath import mp
        >>> with mp.workdps(40):
        ...     Exact().nearest(-mp.mpf(2) / 7)
        Fraction(-2, 7)
        """
        from mpmath import isinf, libmp

        if isinf(value):
            return math.inf if value > 0 else -math.inf
        known = Fraction(*libmp.to_rational(value._mpf_))
        simple = known.limit_denominator(SIMPLEST)
        if abs(simple - known) <= abs(known) / 10**25:
            return simple
        return Fraction(libmp.to_str(value._mpf_, self.digits))

    def read(self, record: Any) -> Any:
        """The fraction back from its text."""
        return fraction_of(record) if isinstance(record, str) else record

    def trusts(self, slope: Fraction) -> bool:
        """Whether a slope that was measured beside the point is as simple as a fraction has to be to be believed."""
        return slope.denominator <= SIMPLEST

    # -- the bound

    def _bounded(self, value: Fraction) -> Fraction:
        self._refuse_beyond(max(value.numerator.bit_length(), value.denominator.bit_length()))
        return value

    def _refuse_beyond(self, bits: int) -> None:
        if bits > self.limit:
            raise Refused("too-large", f"{_about(bits)}, and up to {self.limit} are worked out")

    def apply(self, row: Row, operands: list[Any]) -> Any:
        value = row.value(self, *operands)
        return value if isinstance(value, bool) else self._bounded(Fraction(value))

    def scale(self, adjoint: Any, partial: Any) -> Any:
        return self._bounded(adjoint * partial)

    def add(self, left: Any, right: Any) -> Any:
        return self._bounded(left + right)

    @property
    def pi(self) -> Any:
        """π is no fraction."""
        raise Refused("inexact")

    # -- functions with a rational value at one point alone

    exp, expm1 = _at_one_point("exp"), _at_one_point("expm1")
    log, log1p = _at_one_point("log"), _at_one_point("log1p")
    sin, cos, tan = _at_one_point("sin"), _at_one_point("cos"), _at_one_point("tan")
    asin, acos, atan = _at_one_point("asin"), _at_one_point("acos"), _at_one_point("atan")
    sinh, cosh, tanh = _at_one_point("sinh"), _at_one_point("cosh"), _at_one_point("tanh")
    asinh, acosh, atanh = _at_one_point("asinh"), _at_one_point("acosh"), _at_one_point("atanh")
    erf, erfc = _at_one_point("erf"), _at_one_point("erfc")
    sinc, spherical_j1 = _at_one_point("sinc"), _at_one_point("spherical_j1")

    def gelu(self, x: Any) -> Any:
        return x * self.erfc(x) / 2

    def atan2(self, y: Fraction, x: Fraction) -> Fraction:
        if x == 0 and y == 0:
            raise ValueError("the point (0, 0) has no direction")
        if y != 0 or x < 0:
            raise Refused("inexact")
        return Fraction(0)

    def xlogy(self, x: Fraction, y: Fraction) -> Fraction:
        return Fraction(0) if x == 0 and y >= 0 else x * self.log(y)

    # -- powers, roots and the logarithms of powers

    def pow(self, x: Fraction, y: Fraction) -> Fraction:
        """x^y: 0^0 is 1, a negative base needs an integer exponent, 0 to a negative power is refused.

        In lowest terms, x^(p/q) is rational only if numerator and denominator of x are q-th powers.
        """
        x, y = Fraction(x), Fraction(y)
        if y == 0 or x == 1:
            return Fraction(1)
        if x == 0:
            if y < 0:
                raise ZeroDivisionError("0 to a negative power")
            return Fraction(0)
        if x < 0 and y.denominator != 1:
            raise ValueError("a negative base needs an integer exponent")
        above, below = (self._root(part, y.denominator) for part in (x.numerator, x.denominator))
        if abs(above) == below == 1:
            return Fraction(1) if y.numerator % 2 == 0 else Fraction(above)
        # the bits of a power are nearly those of its base times the exponent
        self._refuse_beyond((max(abs(above), below).bit_length() - 1) * abs(y.numerator))
        return Fraction(above, below) ** y.numerator

    def _root(self, number: int, degree: int) -> int:
        """The root of a whole number; `Refused` when it does not come out even."""
        if degree == 1:
            return number
        root = whole_root(number, degree)
        if root**degree != number:
            raise Refused("inexact")
        return root

    def exp2(self, x: Fraction) -> Fraction:
        return self.pow(Fraction(2), x)

    def sqrt(self, x: Fraction) -> Fraction:
        if x < 0:
            raise ValueError("sqrt needs x >= 0")
        return self.pow(x, Fraction(1, 2))

    def cbrt(self, x: Fraction) -> Fraction:
        return self.sign(x) * self.pow(abs(x), Fraction(1, 3)) if x else Fraction(0)

    def hypot(self, x: Fraction, y: Fraction) -> Fraction:
        return self.sqrt(x * x + y * y)

    def _leg(self, x: Any) -> Any:
        return self.sqrt(x * x - 1)

    def log_base(self, x: Fraction, b: Fraction) -> Fraction:
        if x <= 0 or b <= 0:
            raise ValueError("a logarithm needs numbers above 0")
        if b == 1:
            raise ZeroDivisionError("no power of 1 is anything but 1")
        found = logarithm(x, Fraction(b))
        if found is None:
            raise Refused("inexact")
        return found

    def log2(self, x: Fraction) -> Fraction:
        return self.log_base(x, Fraction(2))

    def log10(self, x: Fraction) -> Fraction:
        return self.log_base(x, Fraction(10))

    # -- whole numbers

    def floor(self, x: Fraction) -> int:
        return math.floor(x)

    def ceil(self, x: Fraction) -> int:
        return math.ceil(x)

    def round(self, x: Fraction) -> int:
        return round(x)

    def mod(self, x: Fraction, y: Fraction) -> Fraction:
        return x % y

    def gamma(self, x: Fraction) -> int:
        return self.factorial(x - 1)

    def factorial(self, x: Fraction) -> int:
        if x.denominator != 1:
            raise Refused("inexact")
        if x < 0:
            raise ValueError("gamma has a pole here")
        if x > 1:
            # by Stirling's formula; log2(e) is 1.44...
            self._refuse_beyond(int(x) * int(100 * math.log2(x) - 144.27) // 100 if x < 2**53 else 2**53)
        return math.factorial(int(x))

    def lgamma(self, x: Fraction) -> Fraction:
        return self.log(abs(Fraction(self.gamma(x))))

    def digamma(self, x: Fraction) -> Fraction:
        return self.polygamma(Fraction(0), x)

    def polygamma(self, n: Fraction, x: Fraction) -> Fraction:
        if n < 0 or n.denominator != 1:
            raise ValueError("polygamma needs an order 0, 1, 2, ...")
        if x <= 0 and x.denominator == 1:
            raise ValueError("polygamma has a pole here")
        raise Refused("inexact")


def _about(bits: int) -> str:
    """A number of bits, to be read.

    >>> _about(131072), _about(3 * 10**9)
    ('131072 bits', 'about 3e+09 bits')
    """
    return f"{bits} bits" if bits < 10**7 else f"about {min(bits, 10**300):.2g} bits"


def whole_root(number: int, degree: int) -> int:
    """The largest whole number whose power of that degree is at most `number`, by Newton's steps from above.

    >>> whole_root(80, 4), whole_root(81, 4), whole_root(2, 10**30)
    (2, 3, 1)
    """
    if degree == 2:
        return math.isqrt(number)
    if number < 2 or degree >= number.bit_length():
        return min(number, 1)
    # a little above the root, by its logarithm, so that the steps come down to it and are few
    whole, part = divmod(math.log2(number) / degree, 1.0)
    root = (int(2 ** (part + 50) * (1 + 1e-9)) << int(whole) >> 50) + 1
    while True:
        lower = ((degree - 1) * root + number // root ** (degree - 1)) // degree
        if lower >= root:
            return root
        root = lower


def logarithm(x: Fraction, base: Fraction) -> Fraction | None:
    """The rational power to which `base` is raised to give x, None when there is none; both are above 0, base not 1.

    If x = g^m and base = g^n then Euclid's algorithm on m and n can be done on the numbers themselves: dividing out the
    base as often as it goes is a division of the exponents. Where it goes neither way they are no powers of one number.

    >>> logarithm(Fraction(8), Fraction(1, 4)), logarithm(Fraction(6), Fraction(2))
    (Fraction(-3, 2), None)
    """
    sign = 1
    if x < 1:
        x, sign = 1 / x, -sign
    if base < 1:
        base, sign = 1 / base, -sign
    quotients: list[int] = []
    while base != 1:
        times, x = _divided_out(x, base)
        if x < 1 or (times == 0 and quotients):
            return None
        quotients.append(times)
        x, base = base, x
    power = Fraction(quotients.pop())
    for quotient in reversed(quotients):
        power = quotient + 1 / power
    return sign * power


def _divided_out(x: Fraction, base: Fraction) -> tuple[int, Fraction]:
    """How often the numerator and denominator of the base divide those of x, and what is left of x."""
    above, below = x.numerator, x.denominator
    powers = [(1, base.numerator, base.denominator)]
    while powers[-1][1] <= above and powers[-1][2] <= below:
        count, up, down = powers[-1]
        powers.append((2 * count, up * up, down * down))
    times = 0
    for count, up, down in reversed(powers):
        if above % up == 0 and below % down == 0:
            above, below, times = above // up, below // down, times + count
    return times, Fraction(above, below)


def of(argument: str, limit: int | None = None) -> Kind:
    """The kind `exact`. Raises `KindArgument` for an argument: it takes none."""
    if argument:
        told = "exact takes no argument: --kind exact. The bits of its fractions are bounded by --limit"
        raise KindArgument(f"exact:{argument}", told)
    return Exact() if limit is None else Exact(limit)
