"""How an operation is put down as text: its form with the operands put in, and brackets where they are needed."""

from __future__ import annotations

import re
from functools import lru_cache

from backprop.ops import (
    AND,
    ATOM,
    COMPARISON,
    CONDITIONAL,
    NOT,
    OR,
    POSTFIX,
    POWER,
    PRODUCT,
    SUM,
    UNARY,
    Row,
)

Written = tuple[str, int]  # text and how tightly it holds together

_ARGUMENT = re.compile(r"[^\W\d]\w*+(?!=)")  # the axis of `axis=axis` is one, its name is none


@lru_cache(maxsize=512)
def pieces(form: str, names: tuple[str, ...]) -> tuple[str | int, ...]:
    """A form cut at its operands: "x + y" is (0, " + ", 1)."""
    parts: list[str | int] = []
    stems = [name.removeprefix("*") for name in names]
    at = 0
    for found in _ARGUMENT.finditer(form):
        if found[0] in stems:
            if found.start() > at:
                parts.append(form[at : found.start()])
            parts.append(stems.index(found[0]))
            at = found.end()
    if at < len(form):
        parts.append(form[at:])
    return tuple(parts)


def needs_brackets(own: int, position: int, text: str, level: int) -> bool:
    """Whether an operand must stand in brackets to be read back as one operand of a form of the level `own`."""
    if own == POWER:
        return level <= POWER if position == 0 else level < POWER or text.startswith("-")
    if own in (UNARY, POSTFIX):
        return level <= own if own == UNARY else level < own
    if own == NOT:
        return level < NOT
    if own in (SUM, PRODUCT, AND, OR, COMPARISON):
        if position == 0:
            return level <= own if own == COMPARISON else level < own
        return level <= own or text.startswith("-")
    return level <= CONDITIONAL


def written(row: Row, operands: list[Written]) -> Written:
    """The text of one operation over the texts of its operands.

    >>> from backprop.ops import ATOM, PRODUCT, SUM, by_name
    >>> written(by_name("mul"), [("x + 1", SUM), ("y", ATOM)]) == ("(x + 1)*y", PRODUCT)
    True
    """
    if not row.form:
        name = row.called[0] if row.called else row.name
        return f"{name}({', '.join(text for text, _ in operands)})", ATOM
    parts: list[str] = []
    for piece in pieces(row.form, row.parameters):
        if isinstance(piece, str):
            parts.append(piece)
            continue
        if row.parameters[piece].startswith("*"):  # all that is left, between brackets of the form
            parts.append(", ".join(text for text, _ in operands[piece:]))
            continue
        text, level = operands[piece]
        parts.append(f"({text})" if needs_brackets(row.level, piece, text, level) else text)
    return "".join(parts), row.level if row.form != row.parameters[0] else operands[0][1]


def level_of_number(text: str) -> int:
    """How tightly the text of a number holds together: "-2" like a unary minus, "1/2" like a product, "[1, 2]" ATOM."""
    if text.startswith("["):
        return ATOM
    if text.startswith("-"):
        return UNARY
    return PRODUCT if "/" in text else ATOM
