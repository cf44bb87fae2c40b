"""Pulls: what an edge between arrays brings back to its source, or on to its target, as text over ids.

    outer(g, x)     W.T @ g     g*(1 - a^2)     sum(g, 0)

`g` is the adjoint of the target and `t` the tangent of the source. A result of fewer elements than it needs is
repeated to its shape.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from backprop.ops import ATOM, PRODUCT, Row, Shapes
from backprop.ops.arrays import added_up
from backprop.rules import Formula, formula
from backprop.working.formula_texts import factor
from backprop.writing import Written, level_of_number, written

Shape = tuple[int, ...]


def pulled(row: Row, position: int, operands: Sequence[Written], out: str, shapes: Shapes, g: str = "g") -> str:
    """What the adjoint `g` of the result, called `out`, brings back to an operand of an operation with `pulls`.

    `operands` are written as in the formula of the node; `shapes` are theirs, as `Kind.shapes` has them.
    """
    text = row.pulled(shapes)[position] or ""
    return _filled(formula(text, row, len(operands), ("g",)), [*operands, (out, ATOM), (g, ATOM)])


def pushed(row: Row, position: int, operands: Sequence[Written], out: str, shapes: Shapes, t: str = "t") -> str:
    """What the tangent `t` of an operand brings to the result; see `pulled`."""
    pushes = row.pushed(shapes)
    if pushes and pushes[position] is not None:
        text = pushes[position] or ""
        return _filled(formula(text, row, len(operands), ("t",)), [*operands, (out, ATOM), (t, ATOM)])
    if row.is_linear_in(position):
        still = [_still(row, place, one) for place, one in enumerate(operands)]
        return written(row, [*still[:position], (t, ATOM), *still[position + 1 :]])[0]
    # the result is one number: its pull is its gradient
    slope = _ONE_TIMES.sub("", pulled(row, position, operands, out, shapes, "1"))
    return f"sum({times(t, slope)})"


def _still(row: Row, place: int, operand: Written) -> Written:
    """What stands for an operand that does not move: itself, or 0 where the row is linear in all at once."""
    text, level = operand
    if not row.joint or row.is_setting(place):
        return operand
    return (f"0*{text}", PRODUCT) if level == ATOM else ("0", ATOM)


def times(carried: str, rule: str) -> str:
    """A change times a partial, element by element.

    >>> times("g", "1 - a^2"), times("g", "x*y"), times("g", "1"), times("g", "-1")
    ('g*(1 - a^2)', 'g*x*y', 'g', '-g')
    """
    if rule in ("1", "-1"):
        return f"{rule[:-1]}{carried}"
    return f"{carried}*{factor(rule)}"


def folded(text: str, source: Shape, target: Shape) -> str:
    """What comes back to an operand that was broadcast: added up where it was repeated.

    >>> folded("g", (3,), (4, 3)), folded("g*x", (), (4, 3))
    ('sum(g, 0)', 'sum(g*x)')
    """
    return f"sum({text})" if target and not source else added_up(text, target, source)


def spread(text: str, axis: int | None) -> str:
    """A number for each line along an axis, in the place of each line."""
    return text if axis is None else f"expand_dims({text}, {axis})"


_ONE_TIMES = re.compile(r"(?<![\w.])1\*")


def _filled(rule: Formula, names: Sequence[Written]) -> str:
    """A formula of the table as text, with these in the place of its operands, `out` and what is carried."""
    graph = rule.graph
    texts: list[Written] = [("", ATOM)] * len(graph)
    for node, text in graph.literals.items():
        texts[node] = text, level_of_number(text)
    for node, name in rule.leaves(list(names)).items():
        texts[node] = name
    for node in range(len(graph)):
        row = graph.row(node)
        if row is not None:
            texts[node] = written(row, [texts[operand] for operand in graph.operands(node)])
    return texts[graph.output][0]
