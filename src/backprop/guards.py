"""Guards: a number beside the answers of a straight line that tells whether all that they were made of is finite.

Code without a branch works out everything and goes on with an infinity or a NaN, which may then die out: 1/inf is 0,
a comparison with NaN is false. The engines of this program say what has no value. So that straight-line code does not
answer in their place with a wrong number, `check` adds up what would not be seen in the answers; it is finite where
the answers can be believed. A branch that is not taken does not count.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from backprop import ops
from backprop.graph import CONST, Graph
from backprop.kinds.node import Nodes
from backprop.kinds.real import REAL
from backprop.rules import formula
from backprop.values import values

# Rows whose result is infinite or NaN whenever an operand is (of `div` the first one).
_SHOWING = (
    "copy neg abs add sub mul div sqrt cbrt log log2 log10 log1p sin cos tan sinh cosh asin acos asinh acosh atanh "
    "floor ceil round"
)
SHOWING = frozenset(_SHOWING.split())
# Rows whose result is finite for all finite operands (where it has a value at all they are in SILENT).
_FINITE = (
    "copy neg abs sign floor ceil round max min where sin cos tanh sech atan atan2 asinh cbrt erf erfc sinc "
    "spherical_j1 sigmoid softplus silu gelu logaddexp relu leaky_relu elu"
)
FINITE = frozenset(_FINITE.split())
# Rows that give a number in double arithmetic where they have no value: atan2(0, 0).
SILENT = frozenset({"atan2"})

# The least and the most that a number can be, when the numbers it is made of are finite.
Range = tuple[float, float]
MOST = sys.float_info.max
ANY: Range = (-MOST, MOST)
# What stays below this is finite, however it is rounded.
BOUND = 1e300
# An `or` of more conditions is looked at as a whole in part, so that a long one costs no more.
MOST_ALTERNATIVES = 16


def _product(x: Range, y: Range) -> Range:
    corners = [one * other for one in x for other in y]
    return min(corners), max(corners)


def _quotient(x: Range, y: Range) -> Range:
    return _product(x, (1 / y[1], 1 / y[0])) if y[0] > 1e-300 or y[1] < -1e-300 else ANY


def _rising(function: Callable[[float], float]) -> Callable[[Range], Range]:
    return lambda x: (function(x[0]), function(x[1]))


def _between(least: float, most: float) -> Callable[..., Range]:
    return lambda *operands: (least, most)


_UNIT = _between(-1.0, 1.0)
# By the names of rows; a row that is not here gives any number. What is NaN for some operands gives any number then.
RANGES: dict[str, Callable[..., Range]] = {
    "neg": lambda x: (-x[1], -x[0]),
    "abs": lambda x: (max(x[0], -x[1], 0.0), max(-x[0], x[1])),
    "add": lambda x, y: (x[0] + y[0], x[1] + y[1]),
    "sub": lambda x, y: (x[0] - y[1], x[1] - y[0]),
    "mul": _product,
    "div": _quotient,
    "max": lambda x, y: (max(x[0], y[0]), max(x[1], y[1])),
    "min": lambda x, y: (min(x[0], y[0]), min(x[1], y[1])),
    "where": lambda c, x, y: (min(x[0], y[0]), max(x[1], y[1])),
    "exp": _rising(REAL.exp),
    "expm1": _rising(REAL.expm1),
    "sqrt": lambda x: (math.sqrt(x[0]), math.sqrt(x[1])) if x[0] > 0 else ANY,  # 0 may be a rounded -1e-17
    "log": lambda x: (math.log(x[0]), math.log(x[1])) if x[0] > 1e-300 else ANY,
    "log1p": lambda x: (math.log1p(x[0]), math.log1p(x[1])) if x[0] > -0.9 else ANY,
    "asinh": _rising(math.asinh),
    "cosh": _between(1.0, MOST),
    "erfc": _between(0.0, 2.0),
    "sigmoid": _between(0.0, 1.0),
    "sech": _between(0.0, 1.0),
    "atan": _between(-2.0, 2.0),
    "atan2": _between(-4.0, 4.0),
    "sin": _UNIT,
    "cos": _UNIT,
    "tanh": _UNIT,
    "erf": _UNIT,
    "sign": _UNIT,
}

# A condition under which a node is needed: always, never, or where a node of the graph holds.
Condition = Any


def demands(kind: Nodes, roots: Iterable[int], graph: Graph | None = None, made: Sequence[Any] = ()) -> list[Condition]:
    """For each node of a graph when the roots need it: always (True), never (False), or where a condition holds.

    A `where` needs its condition, and then one of its branches alone. The conditions are written in the graph of the
    kind. The graph is that one too, or another, of whose nodes the kind has `made` something.
    """
    graph = kind.graph if graph is None else graph
    where = ops.by_name("where").code
    needed: list[Condition] = [False] * len(graph)
    for root in roots:
        needed[root] = True
    for node in range(len(needed) - 1, -1, -1):
        when = needed[node]
        if when is False:
            continue
        operands = graph.operands(node)
        if graph.codes[node] == where:
            condition, first, second = operands
            told = made[condition] if made else condition
            needed[condition] = either(kind, needed[condition], when)
            needed[first] = either(kind, needed[first], both(kind, when, told))
            needed[second] = either(kind, needed[second], both(kind, when, opposite(kind, told)))
        else:
            for operand in operands:
                needed[operand] = either(kind, needed[operand], when)
    return needed


def both(kind: Nodes, x: Condition, y: Condition) -> Condition:
    """Whether both conditions hold."""
    return x if x is y or x == y else kind.apply(ops.by_name("and"), [x, y])


def opposite(kind: Nodes, x: Condition) -> Condition:
    """Whether a condition fails."""
    if not isinstance(x, bool):
        row = kind.graph.row(x)
        if row is not None and row.name == "not":
            return kind.graph.operands(x)[0]
    return kind.apply(ops.by_name("not"), [x])


def either(kind: Nodes, x: Condition, y: Condition) -> Condition:
    """Whether one of two conditions holds; where both branches of a choice need a node, it is where the choice is.

    >>> kind = Nodes()
    >>> c = kind.apply(ops.by_name("lt"), [kind.leaf("x"), kind.leaf("y")])
    >>> either(kind, c, opposite(kind, c)), either(kind, False, c) == c
    (True, True)
    """
    if isinstance(x, bool) or isinstance(y, bool):
        return kind.apply(ops.by_name("or"), [x, y])
    if x == y or implies(kind, y, x):
        return x
    if implies(kind, x, y):
        return y
    alone = [conjuncts(kind, one) for one in (x, y)]
    common = alone[0] & alone[1]
    left, right = alone[0] - common, alone[1] - common
    if len(left) == len(right) == 1 and opposite(kind, next(iter(left))) == next(iter(right)):
        found: Condition = True
        for one in sorted(common):
            found = both(kind, found, one)
        return found
    return kind.apply(ops.by_name("or"), [x, y])


def conjuncts(kind: Nodes, condition: int) -> frozenset[int]:
    """The conditions that an `and` of them asks for."""
    found, waiting = set(), [condition]
    while waiting:
        node = waiting.pop()
        row = kind.graph.row(node)
        if row is not None and row.name == "and":
            waiting.extend(kind.graph.operands(node))
        else:
            found.add(node)
    return frozenset(found)


def alternatives(kind: Nodes, condition: Condition) -> list[Condition]:
    """The conditions of which an `or` asks for one; of a long one the last are left together."""
    found, waiting = list[Condition](), [condition]
    while waiting:
        one = waiting.pop()
        row = None if isinstance(one, bool) else kind.graph.row(one)
        if row is not None and row.name == "or" and len(found) + len(waiting) < MOST_ALTERNATIVES:
            waiting.extend(reversed(kind.graph.operands(one)))
        elif one not in found:
            found.append(one)
    return found


def implies(kind: Nodes, x: int, y: int) -> bool:
    """Whether a condition holds only where another one does, as far as that is seen in how they are put together.

    >>> kind = Nodes()
    >>> a, b, c = (kind.apply(ops.by_name("lt"), [kind.leaf(name), kind.leaf("x")]) for name in "abc")
    >>> implies(kind, either(kind, both(kind, a, b), both(kind, c, a)), a), implies(kind, a, both(kind, a, b))
    (True, False)
    """
    wide = [conjuncts(kind, one) for one in alternatives(kind, y)]
    narrow = [conjuncts(kind, one) for one in alternatives(kind, x)]
    return all(y in one or any(other <= one for other in wide) for one in narrow)


def check(kind: Nodes, roots: Sequence[int], corners: Sequence[int] = (), jumps: Sequence[int] = ()) -> int:
    """A node that is finite where everything that the roots need is: where they are the numbers they should be.

    Where one of the `corners` is 0 two branches meet, and all branches have to be finite, so that there is a slope on
    either side. Where one of the `jumps` is 0 nothing is promised: the slope 0 may stand in front of an infinite one.

    >>> kind = Nodes()
    >>> half = kind.apply(ops.by_name("tanh"), [kind.apply(ops.by_name("exp"), [kind.leaf("x")])])
    >>> kind.graph.formula(check(kind, [half]))
    'v3 + v2'
    """
    zero, where = kind.number("0"), ops.by_name("where")
    needed = demands(kind, roots)
    total = _sum(kind, roots, needed)
    if corners:
        everywhere = _sum(kind, roots, [when is not False for when in needed], both_branches=True)
        total = kind.add(total, kind.apply(where, [_any_zero(kind, corners), everywhere, zero]))
    if jumps:
        total = kind.add(total, kind.apply(where, [_any_zero(kind, jumps), kind.number("inf"), zero]))
    return total


def _any_zero(kind: Nodes, distances: Sequence[int]) -> Condition:
    found: Condition = False
    for distance in distances:
        found = either(kind, found, kind.apply(ops.by_name("eq"), [distance, kind.number("0")]))
    return found


def _sum(kind: Nodes, roots: Sequence[int], needed: Sequence[Condition], both_branches: bool = False) -> int:
    """What is finite where every node is that is needed under these conditions; in `both_branches` of each choice."""
    graph, answers = kind.graph, set(roots)
    finite = _finite(kind)
    where = ops.by_name("where").code
    size = len(needed)
    # how a node would be seen to be no number: by all that use it, or under these conditions by one of them
    unseen, seen = bytearray(size), [set[Condition]() for _ in range(size)]
    terms: list[int] = []
    for node in range(size - 1, -1, -1):
        when = needed[node]
        if when is False:
            continue
        row = graph.row(node)
        shows = not (node in answers or unseen[node] or not seen[node]) or not seen[node].isdisjoint({True, when})
        if not shows and (node in answers or not finite[node]):
            terms.append(node)
            shows = True
        if row is None:
            continue
        for place, operand in enumerate(graph.operands(node)):
            if shows and graph.codes[node] == where and place and not both_branches:
                seen[operand].add(both(kind, when, _branch(kind, node, place)))
            elif shows and row.name in SHOWING and not (row.name == "div" and place):
                seen[operand].add(when)
            else:
                unseen[operand] = 1
    zero = kind.number("0")
    total: int | None = None
    silent = [node for node in range(size) if needed[node] is not False and _name(kind, node) in SILENT]
    for node, term in (*((node, node) for node in reversed(terms)), *((node, _domain(kind, node)) for node in silent)):
        when = needed[node]
        one = term if when is True else kind.apply(ops.by_name("where"), [when, term, zero])
        total = one if total is None else kind.add(total, one)
    return zero if total is None else total


def _branch(kind: Nodes, node: int, place: int) -> Condition:
    condition = kind.graph.operands(node)[0]
    return condition if place == 1 else opposite(kind, condition)


def _name(kind: Nodes, node: int) -> str:
    row = kind.graph.row(node)
    return "" if row is None else row.name


def _finite(kind: Nodes) -> bytearray:
    """Which nodes are finite numbers (or conditions) whenever their operands are."""
    graph, rows = kind.graph, ops.rows()
    found = bytearray(len(graph))
    ranges: list[Range] = [ANY] * len(graph)
    for node, code in enumerate(graph.codes):
        if code == CONST:
            value = double(graph.literals[node])
            found[node] = math.isfinite(value)
            ranges[node] = (value, value) if found[node] else ANY
        elif code >= 0:
            row, operands = rows[code], graph.operands(node)
            if row.name in RANGES:
                least, most = RANGES[row.name](*(ranges[operand] for operand in operands))
                if row.name == "mul" and operands[0] == operands[1]:
                    least = max(least, 0.0)  # a square
                ranges[node] = max(least, -MOST), min(most, MOST)
            least, most = ranges[node]
            bounded = -BOUND < least <= most < BOUND
            found[node] = bounded or row.name in FINITE or row.gives_condition
    return found


def _domain(kind: Nodes, node: int) -> int:
    """0 where a row has a value, and an infinity where it has none."""
    row = kind.graph.row(node)
    assert row is not None
    operands = list(kind.graph.operands(node))
    made = formula(f"where({row.domain}, 0, inf)", row, len(operands))
    return int(values(made.graph, kind, made.leaves([*operands, node]))[made.graph.output])


def double(text: str) -> float:
    """The double of a literal; an infinity beyond the largest one, and NaN for what has no value at all.

    >>> double("1/3"), double("-1e999")
    (0.3333333333333333, -inf)
    """
    try:
        return REAL.number(text)
    except OverflowError:
        return -math.inf if text.startswith("-") else math.inf
    except (ArithmeticError, ValueError):
        return math.nan
