"""Figures: how a number is written, in one place, so that tables, drawings and pages agree on every digit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction

DEFAULT_FIGURES = 6


def usual_figures(kind: str) -> int:
    """The significant digits in tables of numbers of a kind, unless another count is asked for.

    >>> usual_figures("real"), usual_figures("digits:30")
    (6, 30)
    """
    _, _, digits = kind.partition(":")
    return int(digits) if digits.isdecimal() and len(digits) < 13 else DEFAULT_FIGURES


class Written(str):
    """A number as text, for kinds that no double can carry: "2/7", "0.3333333333333333333333333". A plain str is text.

    >>> figure(Written("0.3333333333"), 4), figure("0.3333333333", 4)
    ('0.3333', '0.3333333333')
    """

    __slots__ = ()


def figure(value: float | int | str | bool | Mapping[str, str] | None, figures: int = DEFAULT_FIGURES) -> str:
    """A number to so many significant digits; integers as integers, -0 as 0, what is already text as it is.

    >>> figure(0.8853516482022625), figure(-4.0), figure(-0.0), figure(1.8158323094380704e-4), figure(float("inf"))
    ('0.885352', '-4', '0', '0.000181583', 'inf')
    """
    if value is None:
        return ""
    if isinstance(value, Written):
        return _written(value, figures)
    if isinstance(value, str):
        return {"Infinity": "inf", "-Infinity": "-inf"}.get(value, value)
    if isinstance(value, Mapping):
        return enclosed(value["mid"], value["rad"], figures)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(figure(one, figures) for one in value)}]"
    return _figure(value, figures)


@lru_cache(maxsize=1 << 14)
def _figure(value: float, figures: int) -> str:
    """A number in the lines of a trace is written about ten times, nearly all of them in a row."""
    if not math.isfinite(value):
        return "NaN" if value != value else ("inf" if value > 0 else "-inf")
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.{figures}g}"


# A fraction of more characters than this is not read but measured: it is shown rounded, and JSON has every digit.
LONGEST_FRACTION = 60


def fraction_text(value: Fraction) -> str:
    """A fraction as text, "2/7" or "3", however many digits it has (Python's own `str` stops at 4300).

    >>> from fractions import Fraction
    >>> fraction_text(Fraction(-2, 7)), fraction_of("-2/7"), len(fraction_text(Fraction(10) ** 5000))
    ('-2/7', Fraction(-2, 7), 5001)
    """
    above, below = value.numerator, value.denominator
    if max(abs(above), below).bit_length() <= 10_000:
        return str(value)
    from decimal import Decimal

    return f"{Decimal(above):f}" if below == 1 else f"{Decimal(above):f}/{Decimal(below):f}"


def fraction_of(text: str) -> Fraction:
    """A fraction back from its text; ValueError or ArithmeticError when it is none."""
    from decimal import Decimal
    from fractions import Fraction

    above, _, below = text.partition("/")
    return Fraction(int(Decimal(above)), int(Decimal(below or "1")))


def _written(text: str, figures: int) -> str:
    """A number that is text already, to so many digits; a fraction stays one unless it is endless.

    >>> _written("0.33333333333333333333", 5), _written("-2/7", 5), _written("1.5e-30", 5), _written("1000000", 5)
    ('0.33333', '-2/7', '1.5e-30', '1000000')
    """
    above, slash, below = text.partition("/")
    if slash:
        return text if len(text) <= LONGEST_FRACTION else f"≈{_rounded(above, figures, below)}"
    digits = text.partition("e")[0].lstrip("-0.").replace(".", "")
    if len(digits) <= figures or ("." not in text and "e" not in text and len(text) <= LONGEST_FRACTION):
        return text
    return _rounded(text, figures) if "." in text or "e" in text else f"≈{_rounded(text, figures)}"


def _rounded(text: str, figures: int, below: str = "1") -> str:
    """A quotient of two numbers given as text, to so many significant digits, as a float would be written."""
    import decimal

    context = decimal.Context(prec=figures, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    found = context.divide(decimal.Decimal(text), decimal.Decimal(below)).normalize(context)
    if -5 <= found.adjusted() < max(figures, 15):
        return f"{found:f}"
    return str(found).lower()


# The digits of an end of a wide ball: it is no number that anybody reads to the last digit.
LONGEST_END = 8


def enclosed(mid: str, rad: str, figures: int) -> str:
    """A ball by the digits that it proves: every number in it rounds to what is shown, give or take one in the last.

    One that proves few is shown by its ends, rounded outwards.

    >>> enclosed("0.333333333333", "1e-9", 17), enclosed("0.3", "0.1", 6), enclosed("2", "0", 6)
    ('0.33333333', '[0.2, 0.4]', '2')
    >>> enclosed("0", "1e-40", 6), enclosed("2", "1.23456789", 6)
    ('0 ± 1e-40', '[0.765432, 3.23457]')
    """
    import decimal

    context = decimal.Context(prec=max(200, figures + 10), Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    middle, radius = context.create_decimal(mid), context.create_decimal(rad)
    if radius == 0:
        return mid if mid.lstrip("-").isdigit() and len(mid) <= 16 else _rounded(mid, figures)
    # half a unit of the last digit is left for rounding the middle
    proven = middle.adjusted() - context.add(radius, radius).adjusted() if middle else 0
    if proven >= min(figures, DEFAULT_FIGURES):
        return _rounded(mid, min(figures, proven))
    low, high = context.subtract(middle, radius), context.add(middle, radius)
    if low < 0 < high and max(-low, high).adjusted() < -15:
        return f"0 ± {_ended(max(-low, high), 2, decimal.ROUND_CEILING)}"
    most = min(figures, LONGEST_END)
    return f"[{_ended(low, most, decimal.ROUND_FLOOR)}, {_ended(high, most, decimal.ROUND_CEILING)}]"


def _ended(end: Decimal, figures: int, rounding: str) -> str:
    """An end of a ball, rounded away from the ball."""
    import decimal

    context = decimal.Context(prec=figures, rounding=rounding, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    return _rounded(str(context.plus(end)), figures)
