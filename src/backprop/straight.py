"""Straight-line programs: value and gradient of a program as one list of operations, without a loop and without a tape.

Reverse mode runs on kind node, so that the derivatives are not worked out but written; what is written twice is there
once. A language has no word for some operations: those are made of simpler ones (`Row.made_of`) while they are written.
Engines, kernels and the code that `backprop emit` prints all start from here.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from backprop import ops
from backprop.graph import CONST, Graph
from backprop.kinds.node import Nodes, pruned, with_inputs
from backprop.mistakes import NotElementwise
from backprop.ops import Row
from backprop.reverse import reverse
from backprop.rules import formula, partials
from backprop.values import values

# Powers with these exponents are products, quotients and roots: x^2 is x*x, to the last bit and much faster.
_POWERS = {
    "2": "x*x",
    "3": "x*x*x",
    "4": "(x*x)*(x*x)",
    "-1": "1/x",
    "-2": "1/(x*x)",
    "1/2": "sqrt(x)",
    "0.5": "sqrt(x)",
}


@dataclass(slots=True)
class StraightLine:
    """A graph that holds the value (its output), the slope by each name, and the distances from kinks.

    `names` are the nodes that have a name of their own: those of the program by their ids. `kinks` are nodes that are
    0 where the program is at a kink, each with the node of the program that has it. `constants` are the literals of
    the program; those of the rules have no name.
    """

    graph: Graph
    gradient: dict[str, int]
    names: dict[int, str] = field(default_factory=dict)
    kinks: list[tuple[int, int]] = field(default_factory=list)

    @property
    def output(self) -> int:
        """The node of the value."""
        return self.graph.output

    @property
    def roots(self) -> list[int]:
        """The nodes that answer: the value, then the slopes."""
        return [self.output, *self.gradient.values()]


class Wordless(Exception):
    """An operation that a language has no word for, nor what it could be made of."""

    def __init__(self, row: Row) -> None:
        super().__init__(row.name)
        self.row = row


class Worded(Nodes):
    """Kind node for a language that has only some of the operations: `words` has the names of their rows."""

    def __init__(self, words: Container[str]) -> None:
        super().__init__()
        self._words = words

    def apply(self, row: Row, operands: list[Any]) -> Any:
        """The node of an operation, or of what it is made of. Raises `Wordless` where nothing is known."""
        if row.name == "pow" and (text := _POWERS.get(self.graph.literals.get(operands[1], ""))) is not None:
            return self.formula(text, row, operands)
        if row.variadic and not row.arrays and len(operands) > 2:  # max(a, b, c) is max(max(a, b), c)
            found = operands[0]
            for operand in operands[1:]:
                found = self.apply(row, [found, operand])
            return found
        if row.variadic and not row.arrays and len(operands) == 1:
            return operands[0]
        if row.name in self._words or row.name == "copy":
            return super().apply(row, operands)
        if not row.made_of:
            raise Wordless(row)
        return self.formula(row.made_of, row, operands)

    def formula(self, text: str, row: Row, operands: list[Any], out: Any = None) -> Any:
        """A formula of the table over the operands of a row, written here."""
        made = formula(text, row, len(operands))
        return values(made.graph, self, made.leaves([*operands, out]))[made.graph.output]


def written(graph: Graph, wrt: Collection[int], kind: Nodes) -> tuple[list[Any], list[Any], dict[int, Any]]:
    """The values of all nodes, the adjoints of the nodes `wrt` and the leaves of a program, written in a graph.

    The leaves are inputs, the nodes `wrt` and literals.
    """
    leaves = {node: kind.leaf(graph.name_of(node)) for node in (*graph.inputs.values(), *wrt)}
    leaves |= {node: kind.typed(text) for node, text in graph.literals.items() if node not in leaves}
    found = values(with_inputs(graph, dict.fromkeys(wrt)), kind, leaves)
    if not wrt:
        return found, [], leaves
    slopes = partials(graph, kind, found, graph.moving(wrt))
    adjoints, zero = reverse(graph, slopes, kind).adjoints, kind.number("0")
    return found, [zero if adjoints[node] is None else adjoints[node] for node in wrt], leaves


def straight_line(graph: Graph, wrt: Sequence[int], words: Container[str] | None = None) -> StraightLine:
    """Value and gradient of a program as a straight line over the operations that a language has `words` for.

    All operations are known when there are no `words`. Raises `Wordless`, and `NotElementwise` for arrays.

    >>> from backprop.grammar import parse
    >>> from backprop.graph import build
    >>> words = {"mul", "add", "div", "neg", "exp", "abs", "where", "ge"}
    >>> line = straight_line(build(parse("sigmoid(x)*y")), [0, 2], words)
    >>> [line.graph.formula(node) for node in range(len(line.graph)) if line.graph.row(node)][:4]
    ['x >= 0', 'abs(x)', '-v2', 'exp(v3)']
    """
    for node in range(len(graph)):
        row = graph.row(node)
        if row is not None and row.arrays:
            raise NotElementwise(
                row.called[0] if row.called else f"{graph.ids[node]} = {graph.formula(node)}", graph.span(node)
            )
    kind = Worded(elementwise_names() if words is None else words)
    found, slopes, _ = written(graph, wrt, kind)
    output = found[graph.output]
    kinks = [(node, distance) for node, distance in _distances(graph, kind, found) if distance is not None]
    small, place = pruned(kind.graph, (output, *slopes, *(distance for _, distance in kinks)))
    small.output = place[output]
    line = StraightLine(small, {graph.name_of(node): place[root] for node, root in zip(wrt, slopes, strict=True)})
    line.kinks = [(place[distance], node) for node, distance in kinks]
    named = [node for node in range(len(graph)) if graph.row(node) is not None and node in graph.names]
    for node in (*named, graph.output):
        here = place.get(found[node])
        if here is not None and small.row(here) is not None:
            line.names.setdefault(here, graph.ids[node])
    return line


def _distances(graph: Graph, kind: Worded, found: list[Any]) -> Iterable[tuple[int, Any]]:
    """What is 0 where a node of the program has a kink; without what is so for no value or for every value."""
    for node in range(len(graph)):
        row = graph.row(node)
        if row is None or not row.kink or found[node] is None:
            continue
        operands = [found[operand] for operand in graph.operands(node)]
        if any(isinstance(operand, bool) for operand in operands):
            continue
        for text in row.kinks(len(operands)):
            distance = kind.formula(text, row, operands, found[node])
            if not isinstance(distance, bool) and kind.graph.codes[distance] != CONST:
                yield node, distance


@lru_cache(maxsize=1)
def elementwise_names() -> frozenset[str]:
    """The names of all rows that work number by number."""
    return frozenset(row.name for row in ops.rows() if not row.arrays)
