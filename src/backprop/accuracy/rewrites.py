"""Rewrites: the same function, written so that doubles keep its digits.

A rewrite is two texts in the user's own language over the letters a, b, c, d, which stand for any part of a program. To
add one, add a line to `REWRITES`; the tests hold that both sides are one function. At a point a rewrite is advised only
where it helps: the first side loses digits there, the second keeps them, and both are the same number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Set
from functools import lru_cache
from typing import Any

from backprop import ops
from backprop.accuracy.fine import ENOUGH, digits_kept
from backprop.accuracy.fine import of as fine_of
from backprop.graph import CONST, Graph
from backprop.kinds import is_number
from backprop.ops import ATOM, PRODUCT, Row
from backprop.point import Point, Program
from backprop.writing import Written, level_of_number, written

REWRITES: tuple[tuple[str, str], ...] = (
    # exponentials that overflow, or cancel against 1
    ("log(1 + exp(a))", "softplus(a)"),
    ("log(exp(a) + 1)", "softplus(a)"),
    ("log1p(exp(a))", "softplus(a)"),
    ("a + log(1 + 1/exp(a))", "softplus(a)"),
    ("a + log(1 + exp(-a))", "softplus(a)"),
    ("a + log1p(exp(-a))", "softplus(a)"),
    ("log(1/(1 + exp(-a)))", "-softplus(-a)"),
    ("log(1/(1 + exp(a)))", "-softplus(a)"),
    ("log(exp(a)/(1 + exp(a)))", "-softplus(-a)"),
    ("log(sigmoid(a))", "-softplus(-a)"),
    ("log(1 - sigmoid(a))", "-softplus(a)"),
    ("log(1 - 1/(1 + exp(-a)))", "-softplus(a)"),
    ("log(exp(a) + exp(b))", "logaddexp(a, b)"),
    ("log(exp(a) + exp(b) + exp(c))", "logaddexp(logaddexp(a, b), c)"),
    ("log(exp(a) + exp(b) + exp(c) + exp(d))", "logaddexp(logaddexp(a, b), logaddexp(c, d))"),
    ("log(exp(a) + exp(b)) - a", "softplus(b - a)"),
    ("log(exp(a) + exp(b) + exp(c)) - a", "softplus(logaddexp(b, c) - a)"),
    ("a - log(exp(a) + exp(b))", "-softplus(b - a)"),
    ("a - log(exp(a) + exp(b) + exp(c))", "-softplus(logaddexp(b, c) - a)"),
    ("log(exp(a)/(exp(a) + exp(b)))", "-softplus(b - a)"),
    ("log(exp(a)/(exp(a) + exp(b) + exp(c)))", "-softplus(logaddexp(b, c) - a)"),
    ("log(exp(a)/(exp(b) + exp(c) + exp(a)))", "-softplus(logaddexp(b, c) - a)"),
    ("log(exp(a)/(exp(a) + exp(b) + exp(c) + exp(d)))", "-softplus(logaddexp(logaddexp(b, c), d) - a)"),
    ("log(exp(a)/b)", "a - log(b)"),
    ("exp(a)/(exp(a) + exp(b))", "sigmoid(a - b)"),
    ("exp(a)/(exp(b) + exp(a))", "sigmoid(a - b)"),
    ("exp(a)/(exp(a) + exp(b) + exp(c))", "sigmoid(a - logaddexp(b, c))"),
    ("exp(a)/(exp(b) + exp(c) + exp(a))", "sigmoid(a - logaddexp(b, c))"),
    ("exp(a)/(exp(a) + exp(b) + exp(c) + exp(d))", "sigmoid(a - logaddexp(logaddexp(b, c), d))"),
    ("exp(a)/(1 + exp(a))", "sigmoid(a)"),
    ("exp(-a)/(1 + exp(-a))", "sigmoid(-a)"),
    ("1/(1 + exp(-a))", "sigmoid(a)"),
    ("1/(1 + exp(a))", "sigmoid(-a)"),
    ("1 - 1/(1 + exp(-a))", "sigmoid(-a)"),
    ("1 - sigmoid(a)", "sigmoid(-a)"),
    ("exp(-a)/(1 + exp(-a))^2", "sigmoid(a)*sigmoid(-a)"),
    ("exp(a)/(1 + exp(a))^2", "sigmoid(a)*sigmoid(-a)"),
    ("sigmoid(a)*(1 - sigmoid(a))", "sigmoid(a)*sigmoid(-a)"),
    ("exp(a) - 1", "expm1(a)"),
    ("1 - exp(a)", "-expm1(a)"),
    ("log(1 - exp(a))", "log(-expm1(a))"),
    ("log(exp(a) - 1)", "a + log(-expm1(-a))"),
    ("exp(a) - exp(b)", "exp(b)*expm1(a - b)"),
    ("exp(a) - exp(-a)", "2*sinh(a)"),
    ("exp(a)*exp(b)", "exp(a + b)"),
    ("exp(a)*exp(-a)", "1"),
    ("exp(a)/exp(a)", "1"),
    ("exp(a)/exp(b)", "exp(a - b)"),
    ("1/exp(a)", "exp(-a)"),
    ("a/exp(b)", "a*exp(-b)"),
    ("exp(a) + exp(-a) - 2", "4*sinh(a/2)^2"),
    ("softplus(a) - a", "softplus(-a)"),
    ("logaddexp(a, b) - a", "softplus(b - a)"),
    ("sigmoid(a) - 1", "-sigmoid(-a)"),
    ("tanh(a) - 1", "-2*sigmoid(-2*a)"),
    ("log(tanh(a))", "log(-expm1(-2*a)) - log1p(exp(-2*a))"),
    ("acosh(cosh(a))", "abs(a)"),
    ("log(exp(a))", "a"),
    ("sqrt(exp(a))", "exp(a/2)"),
    ("(exp(a) - exp(-a))/(exp(a) + exp(-a))", "tanh(a)"),
    ("(exp(2*a) - 1)/(exp(2*a) + 1)", "tanh(a)"),
    ("(1 - exp(-2*a))/(1 + exp(-2*a))", "tanh(a)"),
    ("2/(1 + exp(-2*a)) - 1", "tanh(a)"),
    ("1 - tanh(a)^2", "sech(a)^2"),
    ("1 - tanh(a)", "2*sigmoid(-2*a)"),
    ("1 + tanh(a)", "2*sigmoid(2*a)"),
    ("(1 + tanh(a))/2", "sigmoid(2*a)"),
    ("sinh(a)/cosh(a)", "tanh(a)"),
    ("cosh(a) - 1", "2*sinh(a/2)^2"),
    ("log(cosh(a))", "abs(a) + log1p(exp(-2*abs(a))) - log(2)"),
    ("log(cosh(a))", "log1p(2*sinh(a/2)^2)"),
    ("log(exp(a) + exp(-a))", "logaddexp(a, -a)"),
    # logarithms and powers
    ("log(1 + a)", "log1p(a)"),
    ("log(1 - a)", "log1p(-a)"),
    ("log((1 + a)/(1 - a))", "2*atanh(a)"),
    ("log((1 - a)/(1 + a))", "-2*atanh(a)"),
    ("log(1 + a) - log(1 - a)", "2*atanh(a)"),
    ("log(1 - a) - log(1 + a)", "-2*atanh(a)"),
    ("log(a + sqrt(a^2 + 1))", "asinh(a)"),
    ("log(a + sqrt(1 + a^2))", "asinh(a)"),
    ("log(a + sqrt(a^2 - 1))", "acosh(a)"),
    ("log(sqrt(1 + a^2) - a)", "-asinh(a)"),
    ("log(a + b) - log(a)", "log1p(b/a)"),
    ("log(a) - log(b)", "log1p((a - b)/b)"),
    ("log10(a) - log10(b)", "log1p((a - b)/b)/log(10)"),
    ("log2(a) - log2(b)", "log1p((a - b)/b)/log(2)"),
    ("log(a*b)", "log(a) + log(b)"),
    ("log(a/b)", "log(a) - log(b)"),
    ("log(a^b)", "b*log(a)"),
    ("log(a^a)", "a*log(a)"),
    ("log(sqrt(a))", "log(a)/2"),
    ("log(a*b*c)", "log(a) + log(b) + log(c)"),
    ("log(a*exp(b))", "log(a) + b"),
    ("a*log(a)", "xlogy(a, a)"),
    ("a*log(b)", "xlogy(a, b)"),
    ("(1 + a)^b", "exp(b*log1p(a))"),
    ("(1 - a)^b", "exp(b*log1p(-a))"),
    ("(1 + a)^b - 1", "expm1(b*log1p(a))"),
    ("((1 + a)^b - 1)/a", "expm1(b*log1p(a))/a"),
    ("1 - (1 - a)^b", "-expm1(b*log1p(-a))"),
    ("1 - (1 + a)^b", "-expm1(b*log1p(a))"),
    ("a^b - 1", "expm1(b*log(a))"),
    ("(a^b)^c", "a^(b*c)"),
    ("a^b/a^c", "a^(b - c)"),
    ("a^b/c^b", "(a/c)^b"),
    # roots
    ("sqrt(a^2 + b^2)", "hypot(a, b)"),
    ("sqrt(a^2 + b^2 + c^2)", "hypot(hypot(a, b), c)"),
    ("sqrt(1 + a^2)", "hypot(1, a)"),
    ("sqrt(a^2 + 1)", "hypot(a, 1)"),
    ("sqrt(a^2)", "abs(a)"),
    ("a/sqrt(a^2 + b^2)", "a/hypot(a, b)"),
    ("sqrt(a*b)", "sqrt(a)*sqrt(b)"),
    ("sqrt(a + b) - sqrt(a)", "b/(sqrt(a + b) + sqrt(a))"),
    ("sqrt(a + b) - sqrt(a - b)", "2*b/(sqrt(a + b) + sqrt(a - b))"),
    ("sqrt(a) - sqrt(b)", "(a - b)/(sqrt(a) + sqrt(b))"),
    ("sqrt(a^2 + b) - a", "b/(sqrt(a^2 + b) + a)"),
    ("a - sqrt(a^2 - b)", "b/(a + sqrt(a^2 - b))"),
    ("sqrt(1 + a) - 1", "a/(sqrt(1 + a) + 1)"),
    ("1 - sqrt(1 - a)", "a/(1 + sqrt(1 - a))"),
    ("1/sqrt(1 - a) - 1", "a/(sqrt(1 - a)*(1 + sqrt(1 - a)))"),
    ("1/sqrt(1 + a) - 1", "-a/(sqrt(1 + a)*(1 + sqrt(1 + a)))"),
    ("1 - 1/sqrt(1 + a)", "a/(sqrt(1 + a)*(1 + sqrt(1 + a)))"),
    ("(-b + sqrt(b^2 - 4*a*c))/(2*a)", "-2*c/(b + sqrt(b^2 - 4*a*c))"),
    ("(-b - sqrt(b^2 - 4*a*c))/(2*a)", "2*c/(-b + sqrt(b^2 - 4*a*c))"),
    ("sqrt(1 - a^2)", "sqrt((1 - a)*(1 + a))"),
    ("cbrt(a) - cbrt(b)", "(a - b)/(cbrt(a)^2 + cbrt(a)*cbrt(b) + cbrt(b)^2)"),
    ("1/sqrt(a) - 1/sqrt(b)", "(b - a)/(sqrt(a)*sqrt(b)*(sqrt(a) + sqrt(b)))"),
    # differences of products and quotients
    ("a^2 - b^2", "(a - b)*(a + b)"),
    ("1 - a^2", "(1 - a)*(1 + a)"),
    ("a^2 - 1", "(a - 1)*(a + 1)"),
    ("a^c/(a^c + b^c)", "1/(1 + (b/a)^c)"),
    ("(a + b)^2 - a^2", "b*(2*a + b)"),
    ("(a + b)^3 - a^3", "b*(3*a^2 + 3*a*b + b^2)"),
    ("(a + b)^2 - 4*a*b", "(a - b)^2"),
    ("(a^2 + b^2)/2 - ((a + b)/2)^2", "((a - b)/2)^2"),
    ("(a^2 + b^2 + c^2)/3 - ((a + b + c)/3)^2", "((a - b)^2 + (b - c)^2 + (c - a)^2)/9"),
    ("a^2 - 2*a*b + b^2", "(a - b)^2"),
    ("(a + 1)^2 - 2*a - 1", "a^2"),
    ("(a + b + c)/2 - a", "((b - a) + c)/2"),
    ("(a + b + c)/2 - c", "((a - c) + b)/2"),
    ("a^2 + b^2 - 2*a*b", "(a - b)^2"),
    ("1/a - 1/b", "(b - a)/(a*b)"),
    ("1/a - 1/(a + b)", "b/(a*(a + b))"),
    ("1/(a + b) - 1/a", "-b/(a*(a + b))"),
    ("a/b - 1", "(a - b)/b"),
    ("1 - 1/(1 + a)", "a/(1 + a)"),
    ("1/(1 + a) - 1", "-a/(1 + a)"),
    ("(a + b) - a", "b"),
    ("(b + a) - a", "b"),
    ("a*b/b", "a"),
    ("a^2/b^2", "(a/b)^2"),
    ("a/(a^2 + b^2)", "a/hypot(a, b)/hypot(a, b)"),
    ("a^2/(a^2 + b^2)", "(a/hypot(a, b))^2"),
    # trigonometry
    ("1 - cos(a)", "2*sin(a/2)^2"),
    ("cos(a) - 1", "-2*sin(a/2)^2"),
    ("(1 - cos(a))/a^2", "(sin(a/2)/a)^2*2"),
    ("(1 - cos(a))/sin(a)", "tan(a/2)"),
    ("sqrt(1 - cos(a))", "sqrt(2)*abs(sin(a/2))"),
    ("1 - cos(a)^2", "sin(a)^2"),
    ("1 - sin(a)^2", "cos(a)^2"),
    ("cos(a)^2 - sin(a)^2", "cos(2*a)"),
    ("sin(a) - sin(b)", "2*cos((a + b)/2)*sin((a - b)/2)"),
    ("sin(a + b) - sin(a)", "2*cos(a + b/2)*sin(b/2)"),
    ("cos(a + b) - cos(a)", "-2*sin(a + b/2)*sin(b/2)"),
    ("cos(a) - cos(b)", "-2*sin((a + b)/2)*sin((a - b)/2)"),
    ("tan(a) - tan(b)", "sin(a - b)/(cos(a)*cos(b))"),
    ("atan(a + b) - atan(a)", "atan(b/(1 + a*(a + b)))"),
    ("atan(a) - atan(b)", "atan((a - b)/(1 + a*b))"),
    ("tan(a) - sin(a)", "2*tan(a)*sin(a/2)^2"),
    ("acos(1 - a)", "2*asin(sqrt(a/2))"),
    ("asin(1 - a)", "pi/2 - 2*asin(sqrt(a/2))"),
    ("acos((a*c + b*d)/(sqrt(a^2 + b^2)*sqrt(c^2 + d^2)))", "abs(atan2(a*d - b*c, a*c + b*d))"),
    ("acos(sin(a)*sin(b) + cos(a)*cos(b)*cos(c))", "2*asin(sqrt(sin((a - b)/2)^2 + cos(a)*cos(b)*sin(c/2)^2))"),
    ("sin(a)/a", "sinc(a)"),
    # special functions
    ("1 - erf(a)", "erfc(a)"),
    ("(1 + erf(a))/2", "erfc(-a)/2"),
    ("0.5*(1 + erf(a))", "0.5*erfc(-a)"),
    ("1 + erf(a)", "erfc(-a)"),
    ("1 - erfc(a)", "erf(a)"),
    ("erf(a) - 1", "-erfc(a)"),
    ("lgamma(a + 1) - lgamma(a)", "log(a)"),
    ("digamma(a + 1) - digamma(a)", "1/a"),
    ("log(gamma(a))", "lgamma(a)"),
    ("log(a!)", "lgamma(a + 1)"),
    ("gamma(a)/gamma(b)", "exp(lgamma(a) - lgamma(b))"),
    ("gamma(a)/(gamma(b)*gamma(c))", "exp(lgamma(a) - lgamma(b) - lgamma(c))"),
    ("gamma(a)/(b*gamma(c))", "exp(lgamma(a) - lgamma(c))/b"),
    ("gamma(a)*gamma(b)/gamma(a + b)", "exp(lgamma(a) + lgamma(b) - lgamma(a + b))"),
    ("a!/b!", "exp(lgamma(a + 1) - lgamma(b + 1))"),
    ("a!/(b!*(a - b)!)", "exp(lgamma(a + 1) - lgamma(b + 1) - lgamma(a - b + 1))"),
    ("a^b/b!", "exp(b*log(a) - lgamma(b + 1))"),
    ("a^b*exp(-a)/b!", "exp(b*log(a) - a - lgamma(b + 1))"),
    ("exp(-a)*a^b/b!", "exp(b*log(a) - a - lgamma(b + 1))"),
)  # fmt: skip

# How far beyond the node where digits are lost the outermost operation of a rewrite may lie, and how much of a program
# is compared to tell whether two parts of it are the same.
MOST_NODES = 400
MOST_COMPARED = 200
# A part of a program longer than this stands in the advice by the id of its node.
LONGEST_PART = 32

# A rewrite that brings fewer digits than this is not worth the trouble.
NOTICEABLE = 3.0

_COMMUTES = ("add", "mul")

# What the letters of a pattern are, the nodes it covers, and the places of its squares that are written as products.
_Match = tuple[dict[str, int], frozenset[int], frozenset[int]]


@lru_cache(maxsize=1)
def table() -> tuple[tuple[Graph, str, str], ...]:
    """The rewrites with the graph of the first side, the largest first: the more is rewritten the better."""
    read = [(Program(worse).read(())[1], worse, better) for worse, better in REWRITES]
    return tuple(sorted(read, key=lambda one: -sum(code >= 0 for code in one[0].codes)))


def advice(point: Point, culprit: int, keeps: Callable[[int], bool] = lambda node: True) -> str:
    """What to write in the place of the operations around a node where digits are lost; "" when nothing is known.

    `keeps` tells of a node whether what comes after it keeps its digits.

    >>> from backprop.point import at
    >>> here = at("y*log(1 + exp(x))", {"x": 800, "y": 2})
    >>> advice(here, here.graph.ids.index("v1"))
    'write softplus(x) for log(1 + exp(x))'
    """
    graph = point.graph
    above = _above(graph, culprit)
    for pattern, worse, better in table():
        outermost = graph_code(pattern)
        for node in above:
            if graph.codes[node] != outermost:
                continue
            for bound, inside, squares in matches(pattern, graph, node):
                if culprit in inside and keeps(node) and _helps(point, node, worse, better, bound):
                    names = {name: _text(graph, part) for name, part in bound.items()}
                    return f"write {_over(better, names)} for {_over(worse, names, squares)}"
    return ""


def graph_code(pattern: Graph) -> int:
    """The operation that a pattern ends with."""
    return pattern.codes[pattern.output]


def _above(graph: Graph, node: int) -> list[int]:
    """The node and those that are worked out from it, nearest first, as far as is worth looking."""
    reached = {node}
    for one in range(node + 1, min(len(graph), node + MOST_NODES)):
        if any(operand in reached for operand in graph.operands(one)):
            reached.add(one)
    return sorted(reached)


# -- matching -------------------------------------------------------------------------------------------------------


def matches(pattern: Graph, graph: Graph, node: int) -> Iterator[tuple[dict[str, int], set[int], set[int]]]:
    """The ways in which a pattern stands at a node: what its letters are, the nodes of its operations, and squares.

    Sums and products match in either order, and a square matches a product of a part with itself: `squares` are the
    places of the pattern where it is written so. The walk is as deep as the pattern, which is a line of `REWRITES`.
    """
    commutes = {ops.by_name(name).code for name in _COMMUTES}
    copies, power, product = (ops.by_name(name).code for name in ("copy", "pow", "mul"))

    def at(place: int, node: int, sofar: _Match) -> Iterator[_Match]:
        while graph.codes[node] == copies:
            node = graph.operands(node)[0]
        code = pattern.codes[place]
        if place in pattern.literals:
            if graph.codes[node] == CONST and _number(graph, node) == _number(pattern, place):
                yield sofar
            return
        bound, inside, squares = sofar
        if code < 0:
            name = pattern.names[place]
            if name not in bound:
                if not any(same(graph, other, node) for other in bound.values()):  # exp(x - x) is no advice
                    yield {**bound, name: node}, inside, squares
            elif same(graph, bound[name], node):
                yield sofar
            return
        wanted, given = pattern.operands(place), list(graph.operands(node))
        if code == power and graph.codes[node] == product:
            if _number(pattern, wanted[1]) == 2 and same(graph, *given):
                yield from at(wanted[0], given[0], (bound, inside | {node}, squares | {place}))
            return
        if graph.codes[node] != code or len(wanted) != len(given):
            return
        orders = [given, given[::-1]] if code in commutes and given[0] != given[1] else [given]
        for order in orders:
            found: list[_Match] = [(bound, inside | {node}, squares)]
            for one, operand in zip(wanted, order, strict=True):
                found = [more for known in found for more in at(one, operand, known)]
            yield from found

    for bound, inside, squares in at(pattern.output, node, ({}, frozenset(), frozenset())):
        yield bound, set(inside), set(squares)


def _number(graph: Graph, node: int) -> float:
    try:
        return float(graph.literals.get(node, ""))
    except ValueError:
        return math.nan


def same(graph: Graph, one: int, other: int) -> bool:
    """Whether two nodes are the same part of a program, written twice."""
    waiting, compared = [(one, other)], 0
    while waiting:
        left, right = waiting.pop()
        if left == right:
            continue
        compared += 1
        if compared > MOST_COMPARED or graph.codes[left] != graph.codes[right] or graph.codes[left] == -1:
            return False
        if graph.codes[left] == CONST:
            if graph.literals[left] != graph.literals[right]:
                return False
            continue
        lefts, rights = graph.operands(left), graph.operands(right)
        if len(lefts) != len(rights):
            return False
        waiting.extend(zip(lefts, rights, strict=True))
    return True


# -- whether it helps -----------------------------------------------------------------------------------------------


def _helps(point: Point, node: int, worse: str, better: str, bound: dict[str, int]) -> bool:
    """Whether the second side keeps the digits that the first one loses at these numbers, and is the same number.

    It has to be right for the doubles that its operands are on the tape: log(a) - log(b) is as good as its operands,
    but for log((1 + x)/(1 - x)) they have lost x.
    """
    inputs = {name: point.values[node] for name, node in bound.items()}
    if not all(isinstance(value, float) and is_number(value) for value in inputs.values()):
        return False
    wrt = [name for name, node in bound.items() if point.moving[node]]
    lost, kept = (Program(text).at(inputs, wrt=wrt) for text in (worse, better))
    first, second = lost.accuracy(), kept.accuracy()
    if first is None or second is None or not first.mended or second.mended or second.untold:
        return False
    right, was = (digits_kept(double, fine_of(point).value(node)) for double in (kept.answer(), point.values[node]))
    if right < min(ENOUGH, was + NOTICEABLE):
        return False
    pairs = [
        (lost.answer(), kept.answer()),
        *((slope, kept.gradient()[name]) for name, slope in lost.gradient().items()),
    ]
    return all(_equal(left, right) for left, right in pairs)


def _equal(left: Any, right: Any) -> bool:
    if not (isinstance(left, float) and isinstance(right, float)):
        return False
    return left == right or abs(left - right) <= 1e-9 * max(abs(left), abs(right)) + 1e-320


# -- words ----------------------------------------------------------------------------------------------------------


def _text(graph: Graph, node: int) -> Written:
    """A part of a program in its author's names, as long as it is short."""
    needed, waiting = {node}, [node]
    while waiting and len(needed) < 30:
        one = waiting.pop()
        if one in graph.names and one != node:
            continue
        for operand in graph.operands(one):
            if operand not in needed:
                needed.add(operand)
                waiting.append(operand)
    texts: dict[int, Written] = {}
    for one in sorted(needed):
        row = graph.row(one)
        operands = graph.operands(one)
        if row is None or one in graph.names or any(operand not in texts for operand in operands):
            texts[one] = graph.written_id(one)
            continue
        text = written(row, [texts[operand] for operand in operands])
        texts[one] = text if len(text[0]) <= LONGEST_PART else (graph.ids[one], ATOM)
    return texts[node]


def _over(side: str, names: dict[str, Written], squares: Set[int] = frozenset()) -> str:
    """One side of a rewrite with parts of a program in the place of its letters, `squares` written as products."""
    _, graph = Program(side).read(())
    texts: list[Written] = []
    for node in range(len(graph)):
        row = graph.row(node)
        if row is None:
            name = graph.names.get(node, "")
            texts.append(names[name] if name in names else graph.written_id(node))
        elif node in squares:
            texts.append(written(ops.by_name("mul"), [texts[graph.operands(node)[0]]] * 2))
        else:
            texts.append(_short(row, [texts[operand] for operand in graph.operands(node)]))
    return texts[graph.output][0]


def _short(row: Row, operands: list[Written]) -> Written:
    """An operation as a person would put it: x^(300 - 299) is x, -(-k*x) is k*x and -(x/y) is -x/y."""
    (first, level), second = operands[0], operands[-1][0]
    if row.form == "-x" and level == PRODUCT:
        return (first[1:] if first.startswith("-") else f"-{first}"), PRODUCT
    if row.name == "sub" and first.isdecimal() and second.isdecimal():
        number = str(int(first) - int(second))
        return number, level_of_number(number)
    if row.name == "pow" and second == "1":
        return operands[0]
    return written(row, operands)
