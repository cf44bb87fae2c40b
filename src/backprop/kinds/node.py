"""Kind node: values are nodes of a new graph, so reverse mode does not work the gradient out but writes it as a graph.

The same operation on the same operands is one node (hash-consing), and literals keep their text. What is folded is
true for every value: `1*x`, `x + 0`, whole numbers, a condition between literals, a factor that is the number 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from backprop import ops
from backprop.graph import CONST, INPUT, Graph
from backprop.kinds import Kind
from backprop.ops import COMPARISONS, Row

# A factor goes into the branches of this many conditions, one inside the other; deeper ones stay a plain product.
DEEPEST = 24
# Whole numbers up to this size are added and multiplied exactly by every kind.
LARGEST_WHOLE = 2**53


class Nodes(Kind):
    """A value is the place of a node in `graph`; a condition that is decided is a bool.

    >>> kind = Nodes()
    >>> x, two = kind.leaf("x"), kind.number("2")
    >>> kind.scale(two, x) == kind.scale(two, x), kind.scale(kind.number("1"), x) == x
    (True, True)
    """

    name = "node"

    def __init__(self) -> None:
        self.graph = Graph()
        self._known: dict[tuple[Any, ...], int] = {}
        self._whole: dict[int, int] = {}  # the literals that are whole numbers

    # -- leaves

    def number(self, text: str) -> int:
        """The literal, as typed."""
        node = self._made(("number", text), CONST, ())
        if node not in self.graph.literals:
            self.graph.literals[node] = text
            value = _exact(text)
            if value is not None and value.denominator == 1 and abs(value) <= LARGEST_WHOLE:
                self._whole[node] = int(value)
        return node

    def typed(self, text: str) -> int:
        """A literal of the program. One that is not whole stands for itself alone, apart from those of the rules."""
        value = _exact(text)
        if value is not None and value.denominator == 1 and abs(value) <= LARGEST_WHOLE:
            return self.number(text)
        node = self._made(("typed", text), CONST, ())
        self.graph.literals[node] = text
        return node

    def leaf(self, name: str) -> int:
        """An input of the new graph."""
        if ("leaf", name) not in self._known:
            self._known["leaf", name] = self.graph.add_input(name, (0, 0))
        return self._known["leaf", name]

    def _made(self, key: tuple[Any, ...], code: int, operands: tuple[int, ...]) -> int:
        node = self._known.get(key)
        if node is None:
            node = self._known[key] = self.graph.add(code, operands, (0, 0))
        return node

    def _make(self, name: str, *operands: int) -> int:
        row = ops.by_name(name)
        return self._made((row.code, *operands), row.code, operands)

    def _small(self, value: int) -> int | None:
        return self.number(str(value)) if abs(value) <= LARGEST_WHOLE else None

    # -- operations

    def apply(self, row: Row, operands: list[Any]) -> Any:
        """The node of an operation."""
        name = row.name
        if name in COMPARISONS and (decided := self._compared(name, *operands)) is not None:
            return decided
        if name == "where" and (isinstance(operands[0], bool) or operands[1] == operands[2]):
            return operands[1] if operands[0] else operands[2]
        if name == "not" and isinstance(operands[0], bool):
            return not operands[0]
        if name in ("and", "or") and any(isinstance(operand, bool) for operand in operands):
            left, right = operands
            known, other = (left, right) if isinstance(left, bool) else (right, left)
            return known if known is (name == "or") else other
        folded = self._folded(name, operands)
        return self._made((row.code, *operands), row.code, tuple(operands)) if folded is None else folded

    def _folded(self, name: str, operands: list[Any]) -> int | None:
        """What an operation comes to for every value of its operands; None when that is itself."""
        whole = [self._whole.get(operand) for operand in operands]
        match name, operands, whole:
            case "copy", [x], _:
                return int(x)
            case "add", [x, y], _:
                return int(self.add(x, y))
            case "sub", [x, _], [_, 0]:
                return int(x)
            case "sub", [_, y], [0, _]:
                return self._negative(y)
            case "sub", _, [int() as x, int() as y]:
                return self._small(x - y)
            case "neg", [x], _:
                return self._negative(x)
            case "mul", [x, y], _:
                return int(self.scale(x, y))
            case "div" | "pow", [x, _], [_, 1]:
                return int(x)
            case "pow", _, [_, 0]:
                return self.number("1")
            case "floor", [x], [int()]:
                return int(x)
            case (("and" | "or"), [x, y], _):
                return self._absorbed(name, x, y)
        return None

    def _absorbed(self, name: str, x: int, y: int) -> int | None:
        """Of two conditions the one that says it all: x, of x and x, x and (x or y), (x and y) and x."""
        if x == y:
            return x
        for one, other in ((x, y), (y, x)):
            row = self.graph.row(other)
            if row is not None and row.name in ("and", "or") and one in self.graph.operands(other):
                return other if row.name == name else one
        return self._known.get((ops.by_name(name).code, y, x))

    def _negative(self, x: int) -> int:
        if x in self._whole:
            return self.number(str(-self._whole[x]))
        row = self.graph.row(x)
        return self.graph.operands(x)[0] if row is not None and row.name == "neg" else self._make("neg", x)

    def _compared(self, name: str, left: int, right: int) -> bool | None:
        """Whether a comparison of two literals holds, when it does so in doubles and exactly."""
        literals = self.graph.literals
        if left not in literals or right not in literals:
            return None
        x, y = _exact(literals[left]), _exact(literals[right])
        if x is None or y is None:
            return None
        holds = COMPARISONS[name](x, y)
        return holds if holds is COMPARISONS[name](float(x), float(y)) else None

    # -- what the engines ask

    def scale(self, adjoint: Any, partial: Any) -> int:
        """adjoint · partial. It goes into the branches of a condition with a 0: a branch not taken spoils nothing."""
        if 0 in (self._whole.get(adjoint), self._whole.get(partial)):
            return self.number("0")
        for one, other in ((adjoint, partial), (partial, adjoint)):
            if self._whole.get(one) == 1:
                return int(other)
            if self._whole.get(one) == -1:
                return self._negative(other)
        if adjoint in self._whole and partial in self._whole:
            product = self._small(self._whole[adjoint] * self._whole[partial])
            if product is not None:
                return product
        for one, other in ((adjoint, partial), (partial, adjoint)):
            if self._gate(one) is not None:
                return self._through_gates(one, other)
        return self._make("mul", *sorted((adjoint, partial)))  # y*x is x*y

    def _gate(self, node: int) -> tuple[int, int, bool] | None:
        """Of where(c, a, 0) and where(c, 0, a) the condition, a, and whether that is the first."""
        row = self.graph.row(node)
        if row is None or row.name != "where":
            return None
        condition, first, second = self.graph.operands(node)
        if self._whole.get(second) == 0:
            return condition, first, True
        return (condition, second, False) if self._whole.get(first) == 0 else None

    def is_gated(self, node: Any) -> bool:
        """Whether it is a choice that is 0 in one branch, into which the factors of its products go."""
        return not isinstance(node, bool) and self._gate(node) is not None

    def _through_gates(self, *factors: int) -> int:
        """The product of two factors, inside the branches of the conditions of both."""
        gates: list[tuple[int, bool]] = []
        inner: list[int] = []
        for node in factors:
            while len(gates) < DEEPEST and (gate := self._gate(node)) is not None:
                condition, node, first = gate
                if (condition, first) not in gates:
                    gates.append((condition, first))
            inner.append(node)
        others = [node for node in inner if self._whole.get(node) != 1]
        product = self._make("mul", *sorted(others)) if len(others) == 2 else others[0] if others else inner[0]
        zero = self.number("0")
        for condition, first in reversed(gates):
            product = self._make("where", condition, *((product, zero) if first else (zero, product)))
        return product

    def add(self, left: Any, right: Any) -> int:
        """The sum."""
        x, y = self._whole.get(left), self._whole.get(right)
        if x == 0:
            return int(right)
        if y == 0:
            return int(left)
        if x is not None and y is not None and (total := self._small(x + y)) is not None:
            return total
        return self._make("add", left, right)

    def choose(self, condition: Any) -> bool | None:
        """A condition over nodes chooses no branch: both are kept."""
        return condition if isinstance(condition, bool) else None

    def is_zero(self, value: Any) -> bool:
        """Whether it is the number 0 for every value of its leaves, as far as is plain to see."""
        return not isinstance(value, bool) and self._whole.get(value) == 0

    def trouble(self, value: Any, operands: list[Any]) -> str | None:
        """Nothing: a node has a value or not only where numbers are put in."""
        return None


def _exact(text: str) -> Fraction | None:
    try:
        return Fraction(text) if len(text) < 40 and "e" not in text.lower() else None
    except ValueError:
        return None


def pruned(graph: Graph, roots: Iterable[int]) -> tuple[Graph, dict[int, int]]:
    """The part of a graph that the roots need, with all of its inputs; and where each node of it went."""
    wanted = bytearray(len(graph))
    for root in (*roots, *graph.inputs.values()):
        wanted[root] = 1
    for node in range(len(graph) - 1, -1, -1):
        if wanted[node]:
            for operand in graph.operands(node):
                wanted[operand] = 1
    small, place = Graph(), dict[int, int]()
    for node, code in enumerate(graph.codes):
        if not wanted[node]:
            continue
        if code == INPUT:
            place[node] = small.add_input(graph.names[node], graph.span(node))
        else:
            place[node] = small.add(code, [place[operand] for operand in graph.operands(node)], graph.span(node))
            if code == CONST:
                small.literals[place[node]] = graph.literals[node]
    return small, place


def with_inputs(graph: Graph, nodes: Mapping[int, Any]) -> Graph:
    """The graph in which the nodes are inputs, whatever they were; those that are inputs already stay so."""
    if all(graph.codes[node] == INPUT for node in nodes):
        return graph
    codes = graph.codes[:]
    for node in nodes:
        codes[node] = INPUT
    literals = {node: text for node, text in graph.literals.items() if node not in nodes}
    return replace(graph, codes=codes, literals=literals)


def with_literals(graph: Graph, numbers: Mapping[int, str]) -> Graph:
    """The graph in which some of its inputs are literals, by the texts of their numbers."""
    if not numbers:
        return graph
    codes, literals = graph.codes[:], dict(graph.literals)
    for node, text in numbers.items():
        codes[node], literals[node] = CONST, text
    inputs = {name: node for name, node in graph.inputs.items() if node not in numbers}
    return replace(graph, codes=codes, literals=literals, inputs=inputs)
