"""Numbers as people write them: how many digits of a claimed number are right, and whether those are all it shows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

_DECIMAL = re.compile(r"-?([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?")

# A number with so many digits was printed by a program that works in doubles, and its last digits are rounding.
DOUBLE = 15
ROUNDING = 1e-13
# Fewer digits than this are too few for the last not to be rounded.
ENOUGH = 3
EXACTLY = 1e-25


@dataclass(frozen=True, slots=True)
class Match:
    """Whether a number is right to the digits typed; `digits` of them are, of `typed` (0 for a fraction or a constant).

    `remark` says how it is right when it is not so exactly, or by how little it is wrong.
    """

    right: bool
    digits: float
    typed: int
    remark: str = ""


def match(text: str, said: Any, right: Any) -> Match:
    """A number in plain text, and its value, held against what is right.

    A decimal is right when the true number rounds to it, or begins with it when it shows a few digits; a whole number
    or a fraction is right when it is equal.

    >>> from mpmath import mpf
    >>> match("-0.0991", mpf("-0.0991"), mpf("-0.099126")).right, match("0.33", mpf("0.33"), mpf(1)/3).remark
    (True, 'right to 2 digits')
    >>> match("7", mpf(7), mpf("7.3")).right, match("22/7", mpf(22)/7, mpf("3.14159265")).right
    (False, False)
    """
    apart = abs(said - right)
    typed, unit = significant(text)
    if apart <= EXACTLY * abs(right):
        return Match(True, 99.0, typed)
    digits = agreeing(said, right)
    if right == 0 or said == 0:
        return Match(False, 0.0, typed)
    if typed == 0:
        return Match(False, digits, 0, _nearly(digits, "a fraction or a constant is taken at its word"))
    places = apart * unit.denominator / unit.numerator  # in units of the last digit typed
    whole = "." not in text and "e" not in text.lower()
    if places <= 0.5 + EXACTLY and (not whole or typed >= ENOUGH):
        return Match(True, digits, typed, f"right to {typed} digit{'s' if typed > 1 else ''}")
    if typed >= DOUBLE and apart <= ROUNDING * abs(right):
        return Match(True, digits, typed, f"right to {int(digits)} digits, as far as doubles carry")
    if 1 - places > EXACTLY and abs(said) < abs(right) and typed >= ENOUGH:
        return Match(True, digits, typed, f"right to {typed - 1} digits; the last one is not rounded")
    if whole and places <= 0.5:
        return Match(False, digits, typed, "rounded to a whole number; write some decimals")
    return Match(False, digits, typed, _nearly(min(digits, typed - 1), f"not to the {typed} you wrote"))


def is_near(text: str, said: Any, right: Any) -> bool:
    """Whether a number is right, or off by less than one in its last digit, as what was worked out with few digits is.

    >>> from mpmath import mpf
    >>> is_near("-0.114649", mpf("-0.114649"), mpf("-0.1146484")), match("6.0", mpf("6"), mpf("6.06")).right
    (True, False)
    """
    typed, unit = significant(text)
    if match(text, said, right).right:
        return True
    return typed >= ENOUGH and "." in text and bool(abs(said - right) * unit.denominator < unit.numerator)


def _nearly(digits: float, otherwise: str) -> str:
    """By how little a number is wrong, when it is little."""
    count = int(digits)
    return f"right to {count} digits only; {otherwise}" if count >= 2 else ""


def significant(text: str) -> tuple[int, Fraction]:
    """How many significant digits a decimal shows, and the unit of the last; (0, 1) for what is no decimal.

    >>> significant("-0.0991"), significant("1.50e3")[0], significant("1/3")[0]
    ((3, Fraction(1, 10000)), 3, 0)
    """
    found = _DECIMAL.fullmatch(text)
    if found is None or not (found[1] or found[2]):
        return 0, Fraction(1)
    places = found[2] or ""
    shown = (found[1] + places).lstrip("0")
    exponent = int(found[3] or 0) - len(places)
    return len(shown), Fraction(10) ** max(-5000, min(5000, exponent))


def agreeing(said: Any, right: Any) -> float:
    """To how many digits two numbers agree."""
    from mpmath import log10

    if said == right:
        return 99.0
    if right == 0:
        return 0.0
    return max(0.0, -float(log10(abs((said - right) / right))))
