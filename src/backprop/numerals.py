"""Numerals: a number as a person types it, turned into the plain text that every kind of number reads."""

from __future__ import annotations

import math
import re

from backprop.mistakes import LONGEST_NUMBER, NotANumber, NumberTooLong

_SIGNS = str.maketrans(dict.fromkeys("−‐‑–—﹣－", "-") | {"＋": "+", "∞": "inf"})
_DECIMAL = r"(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER = re.compile(rf"([+-]?)({_DECIMAL}|inf(?:inity)?|pi|π|tau|τ)(?:/({_DECIMAL}))?")
_GREEK = {"π": "pi", "τ": "tau", "infinity": "inf"}


def numeral(value: float | int | str, name: str) -> str:
    """The plain text of the number given for `name`: "-1", "1/3", "2.5", "inf", "pi".

    A decimal comma is a decimal point, signs as printed in books are signs. Raises `NotANumber` and
    `NumberTooLong`.

    >>> numeral("2,5", "x"), numeral("−1", "x"), numeral("½", "x"), numeral(3, "x")
    ('2.5', '-1', '1/2', '3')
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise NotANumber(name, repr(value))
    if not isinstance(value, str):
        if math.isnan(value):
            raise NotANumber(name, "NaN")
        return repr(value) if isinstance(value, int) or math.isfinite(value) else ("inf" if value > 0 else "-inf")
    text = value.strip().translate(_SIGNS)
    if text and not text.isascii():
        text = _plain(text)
    found = _NUMBER.fullmatch(text)
    if found is None:
        raise NotANumber(name, value)
    if len(text) > LONGEST_NUMBER:
        raise NumberTooLong(len(text))
    sign, number, below = found.groups()
    number = _GREEK.get(number, number).replace(",", ".")
    if below is not None and float(below.replace(",", ".")) == 0:
        raise NotANumber(name, value)
    return ("-" if sign == "-" else "") + number + (f"/{below.replace(',', '.')}" if below else "")


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
