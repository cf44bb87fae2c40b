"""Products of formulas as they stand on paper: factors of 1 left out, one sign in front, sums in brackets."""

from __future__ import annotations

from collections.abc import Sequence


def product_of(factors: Sequence[str]) -> str:
    """Formulas multiplied, as on paper: factors of 1 left out, one sign in front, sums in brackets.

    >>> product_of(["1", "x + 1", "-y"]), product_of(["-1", "1"]), product_of(["0", "x"])
    ('-(x + 1)·y', '-1', '0')
    """
    if "0" in factors:
        return "0"
    negative, written = signed(factors)
    text = "·".join(factor for factor in written if factor != "1") or "1"
    return f"-{text}" if negative else text


def signed(factors: Sequence[str]) -> tuple[bool, list[str]]:
    """Whether the product is written with a minus, and each factor without its own."""
    negative = False
    written: list[str] = []
    for text in factors:
        if " " in text and _is_sum(text):
            written.append(f"({text})")
            continue
        if text.startswith("-"):
            negative, text = not negative, text[1:]
        written.append(text)
    return negative, written


def as_factor(text: str) -> str:
    """A formula as it stands among other factors: in brackets where it is a sum or begins with a minus.

    >>> as_factor("x*y"), as_factor("-1"), as_factor("1 - out^2"), as_factor("log(x, 2)")
    ('x*y', '(-1)', '(1 - out^2)', 'log(x, 2)')
    """
    return f"({text})" if text.startswith("-") or _is_sum(text) else text


def as_addend(text: str) -> str:
    """A text as it stands behind a sign: in brackets where it begins with a minus.

    >>> as_addend("x - 1"), as_addend("-1")
    ('x - 1', '(-1)')
    """
    return f"({text})" if text.startswith("-") else text


def _is_sum(text: str) -> bool:
    """Whether a formula has a blank outside brackets: only sums, conditions and comparisons are written with one."""
    depth = 0
    for letter in text:
        if letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter == " " and depth == 0:
            return True
    return False
