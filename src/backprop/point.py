"""A program at a point: its graph, the value of every node and the partial on every edge.

This is where a program meets the numbers given for its inputs; everything that answers a question about a program at a
point (trace, grad, paths, check, step) starts from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backprop import ops
from backprop.forward import tangents
from backprop.grammar import load_tables, parse
from backprop.graph import Graph, build
from backprop.kinds import Hole, Kind
from backprop.mistakes import MissingValue, NotANumber, UnknownNode, UnusableNumber
from backprop.numerals import numeral
from backprop.reverse import Reverse, reverse
from backprop.rules import Partials, partials
from backprop.syntax import Syntax, normal
from backprop.values import values

if TYPE_CHECKING:
    from backprop.singular import Singular

Number = float | int | str


@dataclass(slots=True)
class Point:
    """A program at a point.

    `given` is the text of the number each input has; `wrt` the nodes whose derivatives are asked for; `moving` marks
    the nodes that move when those do. Values and partials stand beside the nodes and edges of `graph`.
    """

    syntax: Syntax
    graph: Graph
    kind: Kind
    given: dict[str, str]
    unused: list[str]
    wrt: list[int]
    moving: bytearray
    values: list[Any]
    partials: Partials
    _reverse: Reverse | None = field(default=None, repr=False)
    _singular: dict[int, Singular] | None = field(default=None, repr=False)
    _gradient: dict[str, Any] | None = field(default=None, repr=False)

    def reverse(self, named: Callable[[int, Any], Any] | None = None) -> Reverse:
        """The adjoints of all nodes, worked out once; `named` as in `reverse.reverse`."""
        if self._reverse is None:
            self._reverse = reverse(self.graph, self.partials, self.kind, named=named)
        return self._reverse

    def tangents(self, direction: Mapping[int, Any]) -> list[Any]:
        """The tangents of all nodes when the inputs move in a direction (node to tangent)."""
        return tangents(self.graph, self.partials, self.kind, direction)

    def value(self) -> Any:
        """The output, or a `Hole`."""
        return self.values[self.graph.output]

    def name_of(self, node: int) -> str:
        """What a node is called in a gradient; see `Graph.name_of`."""
        return self.graph.name_of(node)

    def gradient(self) -> dict[str, Any]:
        """d output / d each node asked for; a `Hole` where there is none, 0 where the output does not depend on it.

        This is the answer: what the rules give (`by_rules`), and at a singular point, where the rules cannot tell it,
        what the values beside the point tell (`singular`).
        """
        if self._gradient is None:
            mended = {self.name_of(node): one.slope for node, one in self.singular().items()}
            self._gradient = self.by_rules() | mended
        return self._gradient

    def singular(self) -> dict[int, Singular]:
        """The nodes asked for whose slope the rules alone cannot tell: at kinks, and where 0 meets an infinity."""
        if self._singular is None:
            from backprop.singular import singular

            self._singular = singular(self)
        return self._singular

    def by_rules(self) -> dict[str, Any]:
        """The adjoints of the nodes asked for, whatever the rules are worth here."""
        output = self.value()
        if isinstance(output, Hole):
            return {self.name_of(node): output for node in self.wrt}
        adjoints, zero = self.reverse().adjoints, self.kind.number("0")
        return {self.name_of(node): zero if adjoints[node] is None else adjoints[node] for node in self.wrt}


class Program:
    """A program read once, to be put at many points.

    >>> Program("(x*y + z)*x").at({"x": 3, "y": -1, "z": 2}).gradient()
    {'x': -4.0, 'y': 9.0, 'z': 3.0}
    """

    def __init__(self, text: str, origin: str | None = None) -> None:
        self.text = text
        self.origin = origin
        self._read: dict[frozenset[str], tuple[Syntax, Graph]] = {}

    def read(self, given: Sequence[str] | Mapping[str, Any] = ()) -> tuple[Syntax, Graph]:
        """The syntax and the graph; names that are given values are variables even where they could mean a constant."""
        names = frozenset(given)
        if names not in self._read:
            syntax = parse(self.text, variables=tuple(names), origin=self.origin)
            self._read[names] = syntax, build(syntax, names)
        return self._read[names]

    def at(self, inputs: Mapping[str, Number], *, wrt: Sequence[str] | None = None, kind: Kind | None = None) -> Point:
        """The program at a point. `inputs` are numbers, or text such as "1/3", which exact kinds take at its word.

        Raises `Mistake` for a program that cannot be read, a value that is missing or is no number, and a name in
        `wrt` that no node has.
        """
        if kind is None:
            from backprop.kinds.real import REAL

            kind = REAL
        spelled = self.spelled(inputs)
        syntax, graph = self.read(spelled)
        unused = [name for name in spelled if graph.is_unused(name)]
        for name in unused:
            if name not in graph.inputs:  # the graph is kept, so it may have been put at a point before
                graph.add_input(name, (0, 0))
        given: dict[str, str] = {}
        for name in graph.inputs:
            if name in spelled:
                given[name] = numeral(spelled[name], name)
            elif name in graph.defaults:
                given[name] = graph.defaults[name]
        missing = [name for name in graph.inputs if name not in given]
        if missing:
            span = graph.span(graph.inputs[missing[0]])
            functions = ops.callable_names()
            raise MissingValue(missing, list(given), unused, functions, span).within(syntax.source, self.origin)
        nodes = resolve(graph, wrt)
        moving = graph.moving(nodes)
        known = values(graph, kind, _numbers(graph, kind, given))
        return Point(syntax, graph, kind, given, unused, nodes, moving, known, partials(graph, kind, known, moving))

    def spelled(self, inputs: Mapping[str, Number]) -> dict[str, Number]:
        """The inputs under the names as the program spells them: `x2` gives `x₂` its value when there is no `x2`."""
        if all(name.isascii() for name in inputs) and self.text.isascii():
            return dict(inputs)
        import re
        import unicodedata

        # the graph is not built yet: which names stand for variables depends on the names that are given
        names = set(re.findall(load_tables().name, normal(re.sub("#.*", "", self.text))))
        by_shape = {unicodedata.normalize("NFKC", name): name for name in sorted(names)}
        return {
            name if name in names else by_shape.get(unicodedata.normalize("NFKC", name), name): value
            for name, value in inputs.items()
        }


def _numbers(graph: Graph, kind: Kind, given: Mapping[str, str]) -> dict[int, Any]:
    """The number at each input node. Raises `UnusableNumber` and `NotANumber`."""
    numbers: dict[int, Any] = {}
    for name, text in given.items():
        try:
            numbers[graph.inputs[name]] = kind.number(text)
        except OverflowError:
            raise UnusableNumber(name, text) from None
        except ValueError:
            raise NotANumber(name, text) from None
    return numbers


def resolve(graph: Graph, wrt: Sequence[str] | None) -> list[int]:
    """The nodes of the names in `wrt`: inputs first, then any node by its id. Raises `UnknownNode`."""
    if wrt is None:
        return graph.default_wrt()
    known = graph.inputs
    if not all(name in known for name in wrt):
        known = {node_id: node for node, node_id in enumerate(graph.ids)} | known
    for name in wrt:
        if name not in known:
            raise UnknownNode(name, list(dict.fromkeys([*graph.inputs, *graph.names.values()])))
    return list(dict.fromkeys(known[name] for name in wrt))


def at(
    program: str | Program,
    inputs: Mapping[str, Number],
    wrt: Sequence[str] | None = None,
    kind: Kind | None = None,
) -> Point:
    """A program at a point; see `Program.at`."""
    if isinstance(program, str):
        program = Program(program)
    return program.at(inputs, wrt=wrt, kind=kind)
