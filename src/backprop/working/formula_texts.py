"""Formulas as texts: numbers put in for names, factors and products in brackets where they need them."""

from __future__ import annotations

import re
from collections.abc import Callable

from backprop.figures import UNDEFINED

# An id inside a formula: a name, or a name bound again (c~2), of an opened program an element or a step on the way to
# one (z[0], z[0].1); neither the e of 1e-3 nor the name of a call, nor the word in front of a setting (axis=0).
_ID = re.compile(r"(?<![\w.])[^\W\d⁰¹²³⁴-⁹]\w*(?:~\d+)?(?:\[\d+(?:,\d+)*\](?:\.\d+)?|\.\d+)?(?:~\d+)?(?![\w(]|=(?!=))")
# without `\d+\.?\d*`, which tries every way to share a long row of digits
NUMBER = re.compile(r"-?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|inf|NaN)")
_SLOPE = re.compile(r"∂[^\s/]+/∂[^\s/]+")
_FRACTION = re.compile(r"-?\d+/\d+")


def put_numbers_in(formula: str, numbers: Callable[[str], str | None]) -> str:
    """A formula with the numbers in place of the ids, in brackets where they need them; the rest stays as it is.

    >>> put_numbers_in("e*y^2 + 1e-3", {"e": "-1", "y": "-3"}.get), put_numbers_in("max(max, 0)", {"max": "-4"}.get)
    ('-1*(-3)^2 + 1e-3', 'max(-4, 0)')
    >>> put_numbers_in("x*y", {"x": "a + b", "y": "c"}.get)
    '(a + b)*c'
    """

    def number(found: re.Match[str]) -> str:
        text = numbers(found[0])
        if text is None:
            # x[0] may be an operation on x as well
            name, mark, rest = found[0].partition("[")
            whole = numbers(name) if mark else None
            if whole is None:
                return found[0]
            bare = _is_atom(whole) and not _SLOPE.fullmatch(whole)
            return f"{whole if bare else f'({whole})'}[{rest}"
        before, after = formula[: found.start()].rstrip(), formula[found.end() :].lstrip()
        alone = (not before or before[-1] in "([,") and (not after or after[0] in ")],")
        if after[:1] in ("[", ".") and _SLOPE.fullmatch(text):
            return f"({text})"
        if alone or _is_atom(text):
            return text
        if (not before or before[-1] in "+-") and (not after or after[0] in "+-") and _is_term(text):
            return text
        if not before and not after.startswith(("^", "!")) and NUMBER.fullmatch(text):
            return text  # a minus at the very start needs no brackets
        if not before and after[:1] in ("+", "-") and _FRACTION.fullmatch(text):
            return text  # nor does one of a fraction that begins a sum
        return f"({text})"

    return _ID.sub(number, formula)


def in_matrices(pull: str) -> str:
    """A pull that is a product of matrices as it is written on paper; "" for another.

    >>> in_matrices("outer(∂L/∂z, x)"), in_matrices("W.T @ ∂L/∂z"), in_matrices("softmax(x)")
    ('∂L/∂z xᵀ', 'Wᵀ ∂L/∂z', '')
    >>> in_matrices("outer(p, ∂L/∂y)")
    'p (∂L/∂y)ᵀ'
    """
    outer = _OUTER.fullmatch(pull)
    factors = [outer[1], f"{outer[2]}.T"] if outer else pull.split(" @ ")
    if len(factors) < 2 or not all(map(FACTOR.fullmatch, factors)):
        return ""
    bracketed = (f"({one[:-2]}).T" if one.startswith("∂") and one.endswith(".T") else one for one in factors)
    return " ".join(bracketed).replace(".T", "ᵀ")


_OUTER = re.compile(r"outer\(([^,]+), ([^,]+)\)")
FACTOR = re.compile(r"(?:[^\W\d]\w*(?:~\d+)?|\(?∂[^\s/]+/∂[^\s/()]+\)?)(?:\.T)?")


def product(left: str, right: str, first: bool, arrays: bool = False) -> str:
    """Two factors, `left · right`; at the start of a line a minus needs no brackets. One that is missing says so.

    Two `arrays` are multiplied element by element, `left ⊙ right`.
    """
    left, right = left or UNDEFINED, right or UNDEFINED
    if not (first and NUMBER.fullmatch(left)):
        left = factor(left)
    return f"{left} {'⊙' if arrays else '·'} {factor(right)}"


def factor(text: str) -> str:
    """A text as a factor: sums, quotients and negative ones in brackets, products and powers as they are."""
    if text.startswith("-"):
        return f"({text})"
    if NUMBER.fullmatch(text) or _SLOPE.fullmatch(text):
        return text
    return f"({text})" if any(sign in "+-±/%<>=@" or sign.isalpha() for sign in _outside(text)) else text


def _is_atom(text: str) -> bool:
    """Whether a text holds together next to any sign: a positive number, a name, a call."""
    whole = NUMBER.fullmatch(text) or _SLOPE.fullmatch(text)
    return not text.startswith("-") and (bool(whole) or not _outside(text))


def _is_term(text: str) -> bool:
    """Whether a text can stand in a sum without brackets: a product or a power."""
    return not text.startswith("-") and all(sign in "*/^!" for sign in _outside(text))


_WORDS = re.compile(r"\b(?:if|else|and|or|not)\b")
_OPERAND = re.compile(r"\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|[^\W\d]\w*(?:~\d+)?")


def _outside(text: str) -> list[str]:
    """The signs and words of a formula that stand outside all brackets.

    >>> _outside("1 - tanh(x + 1)^2"), _outside("a if c else b")
    (['-', '^'], ['if', 'else'])
    >>> _outside("[1, -2]")
    []
    """
    depth, bare = 0, []
    for letter in text:
        depth -= letter in ")]"
        if depth == 0 and letter not in "()[]":
            bare.append(letter)
        depth += letter in "(["
    flat = "".join(bare)
    words = _WORDS.findall(flat)
    signs = _OPERAND.sub("", _WORDS.sub("", flat))
    return [*(sign for sign in signs if not sign.isspace() and sign != ","), *words]
