"""Numerals: a number as a person types it, turned into the plain text that every kind of number reads."""

from __future__ import annotations

import math
import re
from typing import Any

from backprop.mistakes import LONGEST_NUMBER, NotANumber, NumberTooLong

_SIGNS = str.maketrans(dict.fromkeys("−‐‑–—﹣－", "-") | {"＋": "+", "∞": "inf"})
_DECIMAL = r"(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER = re.compile(rf"([+-]?)({_DECIMAL}|inf(?:inity)?|[nN]a[nN]|pi|π|tau|τ)(?:/({_DECIMAL}))?")
_GREEK = {"π": "pi", "τ": "tau", "infinity": "inf"}


def numeral(value: Any, name: str) -> str:
    """The plain text of the number given for `name`: "-1", "1/3", "2.5", "inf", "pi", or of an interval: "0.2..0.4".

    A decimal comma is a decimal point, signs as printed in books are signs. "nan" is left to the kind of number to
    take or to refuse. Raises `NotANumber` and
    `NumberTooLong`.

    >>> numeral("2,5", "x"), numeral("−1", "x"), numeral("½", "x"), numeral(3, "x"), numeral("-1..½", "x")
    ('2.5', '-1', '1/2', '3', '-1..1/2')
    """
    if not isinstance(value, (int, float, str)) and hasattr(value, "as_integer_ratio"):
        value = str(value)  # a Fraction or a Decimal
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise NotANumber(name, repr(value))
    if not isinstance(value, str):
        if math.isnan(value):
            return "nan"
        return repr(value) if isinstance(value, int) or math.isfinite(value) else ("inf" if value > 0 else "-inf")
    text = value.strip().translate(_SIGNS)
    first, dots, last = text.partition("..")
    if dots and first and last and not last.startswith("."):
        ends = numeral(first, name), numeral(last, name)
        if "nan" in ends:
            raise NotANumber(name, value)
        return "..".join(ends)
    if text and not text.isascii():
        text = _plain(text)
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise NotANumber(name, value)
    if len(text) > LONGEST_NUMBER:
        raise NumberTooLong(len(text))
    sign, number, below = found.groups()
    number = _GREEK.get(number, number).replace(",", ".")
    if number.lower() == "nan":
        return "nan"
    if below is not None and not re.search("[1-9]", below.lower().partition("e")[0]):
        raise NotANumber(name, value)
    return ("-" if sign == "-" else "") + number + (f"/{below.replace(',', '.')}" if below else "")


def span_of(middle: str, radius: str) -> str:
    """The interval from middle - radius to middle + radius, or the number that it is, as text.

    >>> span_of("0.3", "0.1"), span_of("0.1", "0")
    ('0.2..0.4', '0.1')
    """
    import decimal

    if radius == "0":
        return middle
    context = decimal.Context(prec=2 * LONGEST_NUMBER)
    ends = context.create_decimal(middle), context.create_decimal(radius)
    return f"{context.subtract(*ends)}..{context.add(*ends)}"


def _plain(text: str) -> str:
    """Vulgar fractions written out; everything else is left for the pattern to judge."""
    from backprop.syntax import literal

    sign = "-" if text.startswith("-") else ""
    body = text.removeprefix(sign).removeprefix("+")
    if body in ("inf", "π", "τ"):
        return text
    try:
        return sign + literal(body)
    except ValueError:
        return text
