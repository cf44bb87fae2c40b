"""Value ranges: between which numbers an operation stays, so that code guards what may fail and nothing else.

They say nothing of NaN: sqrt(x) is at least 0 where it is a number. What is rounded on the way stays within them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from backprop import ops
from backprop.graph import CONST, Graph
from backprop.guards import ANY, RANGES, Range, double
from backprop.ops import Row
from backprop.rules import formula

EVERY: Range = (-math.inf, math.inf)
# A condition is 1 where it holds: what holds for sure, what fails for sure, and what may do either.
HOLDS, FAILS, OPEN = (1.0, 1.0), (0.0, 0.0), (0.0, 1.0)
# Functions of a library may be off by some units in the last place, and so beyond the bound of the exact function.
SLACK = 1e-12
_EXACT = "neg abs add sub mul div max min where sqrt floor ceil round sign hypot not and or"
EXACT = frozenset(_EXACT.split())


def _product(x: Range, y: Range) -> Range:
    corners = [0.0 if 0.0 in (one, other) else one * other for one in x for other in y]
    return min(corners), max(corners)


def _quotient(x: Range, y: Range) -> Range:
    if y[0] <= 0 <= y[1]:
        return EVERY
    corners = [0.0 if math.isinf(other) else one / other for one in x for other in y]
    return min(corners), max(corners)


def _power(x: Range, n: Range) -> Range:
    return (0.0, math.inf) if x[0] > 0 or (n[0] == n[1] and n[0] % 2 == 0) else EVERY


def _rounded(function: Callable[[float], float]) -> Callable[[Range], Range]:
    return lambda x: (float(function(x[0])), float(function(x[1]))) if all(map(math.isfinite, x)) else EVERY


def _decided(holds: bool, fails: bool) -> Range:
    return HOLDS if holds else FAILS if fails else OPEN


def _chosen(c: Range, x: Range, y: Range) -> Range:
    if c in (HOLDS, FAILS):
        return x if c == HOLDS else y
    return min(x[0], y[0]), max(x[1], y[1])


BOUNDS: Mapping[str, Callable[..., Range]] = {
    **RANGES,
    "mul": _product,
    "div": _quotient,
    "sqrt": lambda x: (math.sqrt(max(x[0], 0.0)), math.sqrt(max(x[1], 0.0))),
    "pow": _power,
    "hypot": lambda x, y: (0.0, math.inf),
    "floor": _rounded(math.floor),
    "ceil": _rounded(math.ceil),
    "round": _rounded(round),
    "where": _chosen,
    "lt": lambda x, y: _decided(x[1] < y[0], x[0] >= y[1]),
    "le": lambda x, y: _decided(x[1] <= y[0], x[0] > y[1]),
    "gt": lambda x, y: _decided(x[0] > y[1], x[1] <= y[0]),
    "ge": lambda x, y: _decided(x[0] >= y[1], x[1] < y[0]),
    "eq": lambda x, y: _decided(x == y and x[0] == x[1], x[1] < y[0] or y[1] < x[0]),
    "ne": lambda x, y: _decided(x[1] < y[0] or y[1] < x[0], x == y and x[0] == x[1]),
    "not": lambda c: (1 - c[1], 1 - c[0]),
    "and": lambda c, d: (min(c[0], d[0]), min(c[1], d[1])),
    "or": lambda c, d: (max(c[0], d[0]), max(c[1], d[1])),
}
# Rows that have a value for doubles where their domain is not seen to hold: no double is pi/2, x^40 is a product.
WHOLE: Mapping[str, Callable[..., bool]] = {
    "tan": lambda x: True,
    "sec": lambda x: True,
    "pow": lambda x, n: n[0] == n[1] >= 0 and n[0] % 1 == 0,
}


def of_row(row: Row, operands: Sequence[Range], square: bool = False) -> Range:
    """The bounds of an operation whose operands have these; of a `square` the two operands are one.

    >>> of_row(ops.by_name("mul"), [ANY, ANY], square=True), of_row(ops.by_name("exp"), [(-math.inf, 0.0)])[0]
    ((0.0, inf), 0.0)
    """
    known = BOUNDS.get(row.name)
    if known is None:
        return EVERY
    least, most = known(*operands)
    if row.name == "mul" and square:
        least = max(least, 0.0)
    if row.name not in EXACT and not row.gives_condition:
        least, most = least - SLACK * abs(least), most + SLACK * abs(most)
    return (least, most) if least <= most else EVERY


def of_literal(text: str) -> Range:
    """The bounds of a number."""
    value = double(text)
    return (value, value) if value == value else EVERY


def of_graph(graph: Graph, known: Mapping[int, Range] | None = None) -> list[Range]:
    """The bounds of all nodes; an input that is not `known` is any finite number.

    >>> from backprop.grammar import parse
    >>> from backprop.graph.building import build
    >>> of_graph(build(parse("1/(1 + x^2)")))[-1]
    (0.0, 1.0)
    """
    known, rows, found = known or {}, ops.rows(), list[Range]()
    for node, code in enumerate(graph.codes):
        if code == CONST:
            found.append(of_literal(graph.literals[node]))
        elif code >= 0:
            operands = graph.operands(node)
            square = len(operands) == 2 and operands[0] == operands[1]
            found.append(of_row(rows[code], [found[operand] for operand in operands], square))
        else:
            found.append(known.get(node, ANY))
    return found


def within(row: Row, operands: Sequence[Range]) -> bool:
    """Whether operands with these bounds are in the domain of an operation for sure.

    >>> log = ops.by_name("log")
    >>> within(log, [(1.0, math.inf)]), within(log, [(0.0, math.inf)])
    (True, False)
    """
    return not row.domain or _within(row, tuple(operands))


@lru_cache(maxsize=4096)
def _within(row: Row, operands: tuple[Range, ...]) -> bool:
    if row.name in WHOLE and WHOLE[row.name](*operands):
        return True
    domain = formula(f"where({row.domain}, 1, 0)", row, len(operands))
    return of_graph(domain.graph, domain.leaves([*operands, EVERY]))[domain.graph.output] == HOLDS
