"""Keywords in calls, `sum(x, axis=0)`: which row they mean, and where its operands go."""

from __future__ import annotations

from collections.abc import Sequence

from backprop import mistakes
from backprop.mistakes import Span
from backprop.ops import Row
from backprop.syntax import Syntax

# Which operand of the call it stands at, its name and where that is written.
Label = tuple[int, str, Span]


def labels_of(syntax: Syntax, at: int) -> list[Label]:
    """The keywords of a call."""
    kinds, keywords = syntax.kinds, syntax.keywords
    operands = enumerate(syntax.operands(at))
    return [(place, *keywords[operand]) for place, operand in operands if kinds[operand] == "keyword"]


def in_order(syntax: Syntax, name: str, rows: Sequence[Row], labels: Sequence[Label], at: int) -> tuple[Row, list[int]]:
    """For a call with keywords the row, of these, that has parameters of those names, and its operands in its order.

    Raises `UnknownKeyword`, `KeywordTwice`, `OperandAfterKeyword`, `AssignmentInside` and `WrongNumberOfOperands`.
    """
    places = syntax.operands(at)
    fitting = [row for row in rows if all(label in row.parameters for _, label, _ in labels)]
    if not fitting:
        known = list(dict.fromkeys(one for row in rows for one in row.parameters if not one.startswith("*")))
        _, label, where = next((one for one in labels if one[1] not in known), labels[0])
        if any(row.conditions for row in rows):  # where(a = b, 1, 2)
            equal = syntax.source.index("=", where[1])
            raise mistakes.AssignmentInside((equal, equal + 1))
        raise mistakes.UnknownKeyword(name, label, known, where)
    plain, count = len(places) - len(labels), len(places)
    if labels[0][0] < plain:
        named = {place for place, _, _ in labels}
        after = places[next(one for one in range(labels[0][0], count) if one not in named)]
        raise mistakes.OperandAfterKeyword(labels[0][1], syntax.text(after), syntax.span(after))
    by_name: dict[str, int] = {}
    for place, label, where in labels:
        if label in by_name:
            raise mistakes.KeywordTwice(label, where)
        by_name[label] = place
    for row in fitting:
        if not row.takes(count):
            continue
        if not row.variadic:
            for _, label, where in labels:
                if label in row.parameters[:plain]:
                    raise mistakes.KeywordTwice(label, where)
        unnamed = iter(range(plain))
        order: list[int] = []
        for parameter in row.parameters:
            if parameter in by_name:
                order.append(by_name[parameter])
            elif parameter.startswith("*"):
                order += unnamed
            else:
                order.append(next(unnamed))
        return row, order
    raise mistakes.WrongNumberOfOperands(name, [row.parameters for row in fitting], count, syntax.span(at))
