"""Bounds: a straight line that also works out what rounding may have done to its answers, row by row.

It is the running error analysis of first order of `accuracy.rounding`, written as more operations of the same line:

    error(v) = |v| + sum of |partial| * error(operand)

in units of the roundoff 2^-53. The line knows both value and slopes as operations, so one walk serves them all. Where
too few digits are promised, or where a branch hangs on digits that may be wrong, the row is not answered. What is lost
to numbers below 1e-308 is not seen.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container
from fractions import Fraction
from typing import Any

from backprop import ops
from backprop.kinds.node import pruned
from backprop.kinds.real import REAL
from backprop.mapping.kernels.common.line import Line, order
from backprop.ops import Row
from backprop.rules import formula, rules
from backprop.straight import Worded
from backprop.values import values

# Digits that have to be right in the value and in every slope.
DIGITS = 11
# The bound is of first order: a branch that lies within a few times of it is in doubt.
DOUBT = "4*2^-53"
# What only passes on an operand, or its size: it rounds nothing.
PASSING = frozenset({"neg", "abs", "copy"})
# Steps, whose results are whole numbers.
STEPS = frozenset({"floor", "ceil", "round", "sign"})
# The kink of a row is the distance from the jump below; this is that from the one above.
JUMP_ABOVE = {"floor": "x - floor(x) - 1", "ceil": "x - floor(x) - 1", "mod": "x % y - y"}
# What rounds no operand that is a double, and what fractions tell the rounding of.
EXACT = PASSING | STEPS | {"min", "max", "where"}
ARITHMETIC: dict[str, Callable[..., Fraction]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
}


class Faithful(Worded):
    """Kind node in which no literal stands for a number that was rounded on the way: that would look exact.

    >>> kind = Faithful({"add"})
    >>> tenth, half = kind.typed("0.1"), kind.typed("0.5")
    >>> [kind.graph.formula(kind.apply(ops.by_name("add"), [one, half])) for one in (tenth, half)]
    ['0.1 + 0.5', '']
    """

    def _worked_out(self, row: Row, operands: list[Any]) -> Any:
        found = super()._worked_out(row, operands)
        if found is None or isinstance(found, bool) or row.name in EXACT:
            return found
        literals = self.graph.literals
        exactly = ARITHMETIC.get(row.name)
        if exactly is None:
            return None
        true = exactly(*(Fraction(REAL.number(literals[operand])) for operand in operands))
        return found if true == Fraction(REAL.number(literals[found])) else None


def careful(line: Line, words: Container[str], digits: int = DIGITS) -> Line:
    """The same line with a `check` that is not finite where fewer than so many digits are promised.

    Raises `Wordless` for a rule that needs an operation that is none of the `words`.
    """
    kind, graph = Faithful(words), line.graph
    found = values(graph, kind, {graph.inputs[name]: kind.leaf(name) for name in line.columns}, line.roots)
    errors, doubts = _errors(kind)
    for answer in line.answers:
        error = errors.get(found[answer])
        if error is not None:
            size = kind.scale(_size(kind, found[answer]), kind.number(repr(2.0**53 / 10.0**digits)))
            # a bound that is NaN promises nothing either
            doubts.append(_apply(kind, "not", _apply(kind, "le", error, size)))
    check = found[line.check]
    if doubts:
        doubt = doubts[0]
        for one in doubts[1:]:
            doubt = _apply(kind, "or", doubt, one)
        check = kind.add(check, _apply(kind, "where", doubt, kind.number("inf"), kind.number("0")))
    roots = [*(found[node] for node in line.answers), check, *(found[distance] for distance, _ in line.kinks)]
    small, place = pruned(kind.graph, roots)
    value, *others = (place[root] for root in roots)
    slopes = dict(zip(line.slopes, others, strict=False))
    distances = others[len(slopes) + 1 :]
    kinks = [(distance, node) for distance, (_, node) in zip(distances, line.kinks, strict=True)]
    made = Line(small, line.columns, value, slopes, others[len(slopes)], kinks, [])
    made.order = order(small, made.roots)
    return made


def _apply(kind: Worded, name: str, *operands: Any) -> Any:
    return kind.apply(ops.by_name(name), list(operands))


def _size(kind: Worded, node: int) -> Any:
    return _apply(kind, "abs", node)


def _errors(kind: Worded) -> tuple[dict[int, Any], list[Any]]:
    """What each node may be wrong by, of those that are not exact; and the conditions that are in doubt."""
    graph, rows = kind.graph, ops.rows()
    errors: dict[int, Any] = {}
    doubts: list[Any] = []
    zero, doubt = kind.number("0"), formula(DOUBT, ops.by_name("neg"), 1).evaluate(kind, [0], None)
    for node in range(len(graph)):  # those of the line: what is written on the way comes behind them
        if graph.codes[node] < 0:
            continue
        row, operands = rows[graph.codes[node]], list(graph.operands(node))
        wrong = [errors.get(operand) for operand in operands]
        if row.name == "where":
            if wrong[1] is not None or wrong[2] is not None:
                branches = [zero if one is None else one for one in wrong[1:]]
                errors[node] = _apply(kind, "where", operands[0], *branches)
            continue
        inexact = [one for one in wrong if one is not None]
        if inexact and (row.gives_condition or row.jumps) and not row.conditions:
            reach = inexact[0]
            for one in inexact[1:]:
                reach = kind.add(reach, one)
            above = [JUMP_ABOVE[row.name]] if row.name in JUMP_ABOVE else []
            for text in (*row.kinks(len(operands)), *above):
                distance = _size(kind, kind.formula(text, row, operands, node))
                doubts.append(_apply(kind, "le", distance, kind.scale(reach, doubt)))
        if row.gives_condition or row.name in STEPS:
            continue
        if row.name in PASSING:
            if inexact:
                errors[node] = inexact[0]
            continue
        total: Any = _size(kind, node)
        moving = tuple(one is not None for one in wrong)
        for rule, error in zip(rules(row.code, moving) if inexact else (), wrong, strict=False):
            if rule is None or error is None:
                continue
            slope = values(rule.graph, kind, rule.leaves([*operands, node]))[rule.graph.output]
            total = kind.add(total, kind.scale(_size(kind, slope), error))
        errors[node] = total
    return errors, doubts
