"""Straight-line programs: value and gradient of a program as one list of operations, without a loop and without a tape.

Reverse mode runs on kind node, so that the derivatives are not worked out but written; what is written twice is there
once. A language has no word for some operations: those are made of simpler ones (`Row.made_of`) while they are written.
Engines, kernels and the code that `backprop emit` prints all start from here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from backprop import guards, ops
from backprop.arrays_text import is_array
from backprop.graph import CONST, Graph
from backprop.kinds.node import LARGEST_WHOLE, Nodes, pruned, with_inputs
from backprop.kinds.real import REAL
from backprop.mistakes import NotElementwise
from backprop.ops import Row
from backprop.reverse import reverse
from backprop.rules import formula, partials
from backprop.values import values

# x^n is multiplied out up to this n: with n - 1 roundings at the most it keeps its digits, and is many times faster.
LARGEST_PRODUCT = 32


@dataclass(slots=True)
class StraightLine:
    """A graph that holds the value (its output), the slope by each name, and the distances from kinks.

    `names` are the nodes that have a name of their own: those of the program by their ids. `kinks` are nodes that are
    0 where the program is at a kink, each with the node of the program that has it. `check` is a node that is finite
    where the answers can be believed (`guards`), None where nobody asked for it. `hiding` are the slopes that may be
    numbers where the value is none, by name (of log(x) at -1: 1/x).
    """

    graph: Graph
    gradient: dict[str, int]
    names: dict[int, str] = field(default_factory=dict)
    kinks: list[tuple[int, int]] = field(default_factory=list)
    check: int | None = None
    hiding: set[str] = field(default_factory=set)

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
    """Kind node for a language that has only some of the operations: `words` has the names of their rows.

    What is the same in doubles is written as one: literals are worked out, signs go outwards until a sum takes them,
    |-x| is |x|, and a power with a whole exponent is a product.

    >>> kind = Worded({"add", "sub", "mul", "neg"})
    >>> x, y = kind.leaf("x"), kind.leaf("y")
    >>> node = kind.add(x, kind.scale(kind.apply(ops.by_name("neg"), [y]), y))
    >>> kind.graph.op(node), kind.number("-0.7") == kind.apply(ops.by_name("sub"), [kind.typed("0.3"), kind.typed("1")])
    ('sub', True)
    """

    def __init__(self, words: Container[str]) -> None:
        super().__init__()
        self._words = words

    def typed(self, text: str) -> int:
        """A literal of the program: the same node as a literal of a rule, for nothing is derived by it any more."""
        return self.number(text)

    def apply(self, row: Row, operands: list[Any]) -> Any:
        """The node of an operation, or of what it is made of. Raises `Wordless` where nothing is known."""
        if row.variadic and not row.arrays and len(operands) > 2:  # max(a, b, c) is max(max(a, b), c)
            found = operands[0]
            for operand in operands[1:]:
                found = self.apply(row, [found, operand])
            return found
        if row.variadic and not row.arrays and len(operands) == 1:
            return operands[0]
        worked_out = self._worked_out(row, operands)
        if worked_out is not None:
            return worked_out
        if row.name == "abs":  # |-x| is |x|, and ||x|| too
            (x,) = operands
            if (inner := self._minus(x)) is not None:
                return self.apply(row, [inner])
            if self._is(x, "abs"):
                return x
        if row.name == "pow" and (found := self._product(*operands)) is not None:
            return found
        if row.name in self._words or row.name == "copy":
            return super().apply(row, operands)
        if not row.made_of:
            raise Wordless(row)
        return self.formula(row.made_of, row, operands)

    def _make(self, name: str, *operands: int) -> int:
        found = self._simpler(name, operands)
        return super()._make(name, *operands) if found is None else found

    def _folded(self, name: str, operands: list[Any]) -> int | None:
        found = super()._folded(name, operands)
        return self._simpler(name, tuple(operands)) if found is None else found

    def _worked_out(self, row: Row, operands: list[Any]) -> Any:
        """An operation between literals as a literal (of a comparison as a bool), as doubles have it; None for others.

        What has no finite value stays, to be met where the code is run.
        """
        literals = self.graph.literals
        if row.arrays or not operands or not all(one in literals for one in operands if not isinstance(one, bool)):
            return None
        if row.name == "copy" or row.conditions:
            return None
        try:
            found = row.value(REAL, *(REAL.number(literals[one]) for one in operands))
        except (ValueError, ArithmeticError):
            return None
        if isinstance(found, bool):
            return found
        return self.number(_text(found)) if found - found == 0 else None

    def _simpler(self, name: str, operands: tuple[Any, ...]) -> int | None:
        """The same number, to the last bit, by less or by what is there already; None when it is as simple as it is.

        (Of two zeros the sign may differ.)
        """
        match name, operands:
            case "add", [x, y]:
                if (inner := self._minus(y)) is not None:
                    return self._make("sub", x, inner)
                if (inner := self._minus(x)) is not None:
                    return self._make("sub", y, inner)
            case "sub", [x, y]:
                if (inner := self._minus(y)) is not None:
                    return self._make("add", x, inner)
                if (other := self._known_as("sub", y, x)) is not None:
                    return self._negative(other)
            case (("mul" | "div"), [x, y]):
                for place, one in enumerate(operands):
                    if (inner := self._minus(one)) is not None:
                        others = (inner, y) if place == 0 else (x, inner)
                        return self._negative(self.scale(*others) if name == "mul" else self._make("div", *others))
            case (("lt" | "le" | "gt" | "ge"), [x, y]):
                if (inner := self._minus(x)) is not None and y in self.graph.literals:
                    turned = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}[name]
                    return self._make(turned, inner, self._negative(y))
        return None

    def _is(self, node: int, name: str) -> bool:
        code = self.graph.codes[node]
        return code >= 0 and ops.rows()[code].name == name

    def _minus(self, node: int) -> int | None:
        """x, of -x."""
        return self.graph.operands(node)[0] if self._is(node, "neg") else None

    def _known_as(self, name: str, *operands: int) -> int | None:
        return self._known.get((ops.by_name(name).code, *operands))

    def _negative(self, x: int) -> int:
        text = self.graph.literals.get(x)
        if text is not None and x not in self._whole:
            return self.number(text[1:] if text.startswith("-") else f"-{text}")
        if self._is(x, "sub"):
            right, left = self.graph.operands(x)
            if (other := self._known_as("sub", left, right)) is not None:
                return other
        return super()._negative(x)

    def _product(self, x: int, exponent: int) -> int | None:
        """x^n for a whole n, and x^(n + 1/2), out of products, a root and a quotient; None for other exponents."""
        text = self.graph.literals.get(exponent)
        power = 0.0 if text is None else 2 * guards.double(text)
        if not 0 < abs(power) <= 2 * LARGEST_PRODUCT or power != int(power):
            return None
        whole, half = divmod(int(abs(power)), 2)
        if half and "sqrt" not in self._words:
            return None
        factors = [self._make("sqrt", x)] if half else []
        square = x
        while whole:
            if whole & 1:
                factors.append(square)
            whole >>= 1
            if whole:
                square = self.scale(square, square)
        found = factors.pop()
        while factors:
            found = self.scale(found, factors.pop())
        return found if power > 0 else self._make("div", self.number("1"), found)

    def answer(self, output: Any) -> Any:
        """The node that is answered with, for the output of the program."""
        return output

    def hiding(self, output: Any, slopes: Sequence[Any]) -> set[Any]:
        """Those of the slopes that may be numbers where the output is none, as far as the kind looks after that."""
        return set()

    def formula(self, text: str, row: Row, operands: list[Any], out: Any = None) -> Any:
        """A formula of the table over the operands of a row, written here."""
        made = formula(text, row, len(operands))
        return values(made.graph, self, made.leaves([*operands, out]))[made.graph.output]


def written(
    graph: Graph, wrt: Collection[int], kind: Nodes, cut: Collection[int] | None = None
) -> tuple[list[Any], list[Any], dict[int, Any]]:
    """The values of all nodes, the adjoints of the nodes `wrt` and the leaves of a program, written in a graph.

    The leaves are inputs, literals and the nodes `cut`: those of `wrt` when it is None.
    """
    cut = wrt if cut is None else cut
    leaves = {node: kind.leaf(graph.name_of(node)) for node in (*graph.inputs.values(), *cut)}
    leaves |= {node: kind.typed(text) for node, text in graph.literals.items() if node not in leaves}
    found = values(with_inputs(graph, dict.fromkeys(cut)), kind, leaves)
    if not wrt:
        return found, [], leaves
    slopes = partials(graph, kind, found, graph.moving(wrt))
    adjoints, zero = reverse(graph, slopes, kind).adjoints, kind.number("0")
    return found, [zero if adjoints[node] is None else adjoints[node] for node in wrt], leaves


def straight_line(
    graph: Graph,
    wrt: Sequence[int],
    words: Container[str] | None = None,
    guarded: bool = False,
    kind_of: Callable[[Container[str]], Worded] = Worded,
) -> StraightLine:
    """Value and gradient of a program as a straight line over the operations that a language has `words` for.

    All operations are known when there are no `words`. A `guarded` one has a `check`, and its distances from kinks are
    1 where a kink lies in a branch that is not taken. Raises `Wordless`, and `NotElementwise` for arrays.

    >>> from backprop.grammar import parse
    >>> from backprop.graph.building import build
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
        if row is None and is_array(graph.literals.get(node, "")):
            raise NotElementwise(graph.ids[node], graph.span(node))
    kind = kind_of(elementwise_names() if words is None else words)
    # a named constant that is asked for is an input; any other node stays what it is
    found, slopes, _ = written(graph, wrt, kind, [node for node in wrt if node in graph.literals])
    output = kind.answer(found[graph.output])
    kinks = list(_distances(graph, kind, found, graph.moving(wrt)))
    checks: list[int] = []
    if guarded:
        kinks = _taken(graph, kind, found, output, kinks)
        corners: list[int] = []
        jumps: list[int] = []
        for node, distance in kinks:
            (jumps if ops.rows()[graph.codes[node]].jumps else corners).append(distance)
        checks = [guards.check(kind, (output, *slopes), corners, jumps)]
    small, place = pruned(kind.graph, (output, *slopes, *(distance for _, distance in kinks), *checks))
    small.output = place[output]
    line = StraightLine(small, {graph.name_of(node): place[root] for node, root in zip(wrt, slopes, strict=True)})
    hiding = kind.hiding(output, slopes)
    line.hiding = {graph.name_of(node) for node, root in zip(wrt, slopes, strict=True) if root in hiding}
    line.kinks = [(place[distance], node) for node, distance in kinks]
    line.check = place[checks[0]] if guarded else None
    named = [node for node in range(len(graph)) if graph.row(node) is not None and node in graph.names]
    for node in (*named, graph.output):
        here = place.get(found[node])
        if here is not None and small.row(here) is not None:
            line.names.setdefault(here, graph.ids[node])
    return line


def _distances(graph: Graph, kind: Worded, found: list[Any], moving: bytearray) -> Iterator[tuple[int, int]]:
    """What is 0 where a node of the program has a kink that moves; without what is so for no value or for every value.

    Each stands with the node.
    """
    for node in range(len(graph)):
        row = graph.row(node)
        if row is None or not row.kink or found[node] is None:
            continue
        if not any(moving[operand] for operand in graph.operands(node)):
            continue
        operands = [found[operand] for operand in graph.operands(node)]
        if any(isinstance(operand, bool) for operand in operands):
            continue
        for text in row.kinks(len(operands)):
            distance = kind.formula(text, row, operands, found[node])
            if not isinstance(distance, bool) and kind.graph.codes[distance] != CONST:
                yield node, distance


def _taken(
    graph: Graph, kind: Worded, found: list[Any], output: int, kinks: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The kinks of nodes that the value needs, with distances that are 1 where it does not need them."""
    needed = guards.demands(kind, [output])
    where, one = ops.by_name("where"), kind.number("1")
    asked: list[Any] = []  # when the program needs each of its nodes
    taken: list[tuple[int, int]] = []
    for node, distance in kinks:
        when = found[node] if isinstance(found[node], bool) else needed[found[node]]
        if when is False and kind.is_gated(found[node]):  # where(c, x, 0) is no part of where(c, x*y, 0), its product
            asked = asked or guards.demands(kind, [graph.output], graph, found)
            when = asked[node]
        if when is not False:
            taken.append((node, distance if when is True else kind.apply(where, [when, distance, one])))
    return taken


def _text(value: float) -> str:
    """A double as a literal that is read back as the very same one; a whole number without a point."""
    return str(int(value)) if value == int(value) and abs(value) <= LARGEST_WHOLE else repr(value)


@lru_cache(maxsize=1)
def elementwise_names() -> frozenset[str]:
    """The names of all rows that work number by number."""
    return frozenset(row.name for row in ops.rows() if not row.arrays)
