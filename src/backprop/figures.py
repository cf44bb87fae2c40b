"""Figures: how a number is written, in one place, so that tables, drawings and pages agree on every digit."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction

DEFAULT_FIGURES = 6

# An array of more elements than this is told in a few words: put into a formula, in a cell of a table, as an answer.
MOST_PUT_IN, MOST_IN_CELL, MOST_IN_ANSWER = 12, 24, 200
# All of them, however many.
ALL = 1 << 62
# The digits of a norm in JSON, of numbers that are no doubles.
JSON_DIGITS = 17
# What stands in the place of an element that has no value.
UNDEFINED = "undefined"


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


@dataclass(frozen=True, slots=True)
class Figures:
    """How numbers are written: to so many `digits`, arrays of at most `most` elements whole.

    >>> Figures(3)(2 / 3), Figures()([[1.0, 2.0], [3.0, 4.0]]), Figures(most=3)([[1.0, 2.0], [3.0, 4.0]])
    ('0.667', '[[1, 2], [3, 4]]', '2×2, norm 5.47723, 1 .. 4')
    """

    digits: int = DEFAULT_FIGURES
    most: int = MOST_IN_CELL

    def __call__(self, value: Any) -> str:
        return figure(value, self.digits, self.most)

    def put_in(self, value: Any, most: int = MOST_PUT_IN) -> str | None:
        """A value as it stands in a formula for its name; None for an array that would make it too long to be read."""
        if isinstance(value, list) and math.prod(shape_of(value)) > most:
            return None
        return self(value)


def figure(
    value: float | int | str | bool | list[Any] | Mapping[str, str] | None,
    figures: int = DEFAULT_FIGURES,
    most: int = MOST_IN_CELL,
) -> str:
    """A number to so many significant digits; integers as integers, -0 as 0, what is already text as it is.

    Of an array every element, when there are no more than `most` of them; else what `summary` tells.

    >>> figure(0.8853516482022625), figure(-4.0), figure(-0.0), figure(1.8158323094380704e-4), figure(float("inf"))
    ('0.885352', '-4', '0', '0.000181583', 'inf')
    >>> figure([[1.0, -0.0], [2 / 3, None]])
    '[[1, 0], [0.666667, undefined]]'
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
        shape, elements = shape_of(value), elements_of(value)
        if len(elements) > most:
            return summary(shape, elements, figures)
        return nested(shape, [element(one, figures) for one in elements])
    return _figure(value, figures)


@lru_cache(maxsize=1 << 14)
def _figure(value: float, figures: int) -> str:
    """A number in the lines of a trace is written about ten times, nearly all of them in a row."""
    if not math.isfinite(value):
        return "NaN" if value != value else ("inf" if value > 0 else "-inf")
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.{figures}g}"


# -- arrays ----------------------------------------------------------------------------------------------------------


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of an array in nested lists; a number has ().

    >>> shape_of([[1.0, 2.0, 3.0]]), shape_of(1.0)
    ((1, 3), ())
    """
    shape = []
    while isinstance(value, list):
        shape.append(len(value))
        value = value[0] if value else None
    return tuple(shape)


def elements_of(value: Any) -> list[Any]:
    """The numbers in nested lists, row by row; of a number itself."""
    found = [value]
    while isinstance(found[0] if found else None, list):
        found = [one for row in found for one in row]
    return found


def nested(shape: tuple[int, ...], texts: list[str]) -> str:
    """Texts, row by row, in the brackets of an array: [[1, 2], [3, 4]]."""
    from backprop.arrays_text import written  # few programs have arrays

    return written(shape, texts)


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape in a table.

    >>> shape_text((64, 784)), shape_text((3,)), shape_text(())
    ('64×784', '3', '')
    """
    return "×".join(map(str, shape))


def element(value: Any, figures: int = DEFAULT_FIGURES) -> str:
    """A number as it stands in an array: a wide ball by its ends, as an interval is typed.

    >>> element({"mid": "0.3", "rad": "0.1"}), element(None)
    ('0.2..0.4', 'undefined')
    """
    if value is None:
        return UNDEFINED
    text = figure(value, figures)
    return "..".join(text[1:-1].split(", ")) if text.startswith("[") else text


def brief(value: Any, most: int = MOST_IN_CELL) -> Any:
    """A value as JSON holds it in brief: of an array of more than `most` elements what `summary` tells, by name.

    >>> brief([[3.0, -4.0], [0.0, 12.0]], 3), brief([1.0, 2.0], 3)
    ({'shape': [2, 2], 'norm': 13.0, 'min': -4.0, 'max': 12.0}, [1.0, 2.0])
    """
    shape, elements = shape_of(value), elements_of(value)
    if len(elements) <= most:
        return value
    ends, sizes, missing, strange = _ends(elements)
    told: dict[str, Any] = {"shape": list(shape)}
    if sizes and not missing and not strange:
        told["norm"] = _root_of_squares(sizes, JSON_DIGITS)
    told |= dict(zip(("min", "max"), ends, strict=False))
    told |= {name: count for name, count in ((UNDEFINED, missing), ("NaN", strange)) if count}
    return told


def summary(shape: tuple[int, ...], elements: list[Any], figures: int = DEFAULT_FIGURES) -> str:
    """An array in a few words: its shape, its norm (the root of the sum of squares), its least and greatest element.

    >>> summary((2, 2), [3.0, -4.0, 0.0, 12.0]), summary((3,), [1.0, 1.0, 1.0]), summary((2,), [None, 2.0])
    ('2×2, norm 13, -4 .. 12', '3 elements, all 1', '2 elements, all others 2, 1 undefined')
    """
    parts = [shape_text(shape) if len(shape) > 1 else f"{len(elements)} elements"]
    ends, sizes, missing, strange = _ends(elements)
    if ends:
        least, greatest = (element(end, figures) for end in ends)
        if least == greatest:
            parts.append(f"all others {least}" if missing or strange else f"all {least}")
        else:
            if not missing and not strange:
                parts.append(f"norm {figure(_root_of_squares(sizes, figures), figures)}")
            parts.append(f"{least} .. {greatest}")
    parts += [f"{missing} {UNDEFINED}"] if missing else []
    parts += [f"{strange} NaN"] if strange else []
    return ", ".join(parts)


def _ends(elements: list[Any]) -> tuple[list[Any], list[Any], int, int]:
    """The least and the greatest element, the sizes of all, and how many are undefined or NaN.

    Nothing is told of names and intervals, which have no size.
    """
    plain = all(type(one) is float for one in elements)
    sized = [(one if plain else _size(one), one) for one in elements]
    known = [(size, one) for size, one in sized if size is not None and size == size]
    missing = sum(one is None for one in elements)
    strange = sum(one == "NaN" or one != one for one in elements)
    if missing + strange + len(known) < len(elements):
        return [], [], 0, 0
    if not known:
        return [], [], missing, strange
    ends = [end(known, key=lambda one: one[0])[1] for end in (min, max)]
    return ends, [size for size, _ in known], missing, strange


def _size(value: Any) -> Any:
    """A number of any kind for comparing: of a ball its middle; None for an element that is none."""
    import decimal

    if isinstance(value, Mapping):
        value = value["mid"]
    text = {"Infinity": "inf", "-Infinity": "-inf"}.get(value, value) if isinstance(value, str) else repr(value)
    above, _, below = text.partition("/")
    context = decimal.Context(prec=40, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    try:
        return context.divide(decimal.Decimal(above), decimal.Decimal(below or 1))
    except decimal.DecimalException:
        return None


def _root_of_squares(sizes: list[Any], figures: int) -> float | Written:
    if type(sizes[0]) is float:
        return math.hypot(*sizes)
    import decimal

    context = decimal.Context(prec=40 + figures, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
    total = decimal.Decimal(0)
    for size in sizes:
        total = context.add(total, context.multiply(size, size))
    return Written(_rounded(str(context.sqrt(total)), figures)) if total.is_finite() else math.inf


# -- numbers that are text -------------------------------------------------------------------------------------------

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


def whole(number: int) -> str:
    """Every digit of a whole number, however many: `str` refuses beyond 4300.

    >>> whole(3**200)[:12], len(whole(10**5000))
    ('265613988875', 5001)
    """
    from decimal import Decimal

    return format(Decimal(number), "f")


def json_value(value: Any) -> Any:
    """A value, or values by name, as JSON holds them: NaN and infinities are text, -0 is 0.

    >>> json_value({"x": float("inf"), "y": -0.0, "z": "x^2"})
    {'x': 'Infinity', 'y': 0.0, 'z': 'x^2'}
    """
    if isinstance(value, float):
        if value != value:
            return "NaN"
        if value in (float("inf"), float("-inf")):
            return "Infinity" if value > 0 else "-Infinity"
        return value + 0.0
    if isinstance(value, list):
        return [json_value(one) for one in value]  # no deeper than an array has axes
    return {name: json_value(one) for name, one in value.items()} if isinstance(value, dict) else value
