"""The computational graph: inputs, constants and the results of operations, in topological order.

Columns hold it, so that ten nodes read well and a million fit in memory: node i is the operation `codes[i]` on the
nodes `args[offsets[i]:offsets[i + 1]]`. `Node` and `Edge` are views made on demand. An edge is one place in `args`,
so `x*x` has two edges from x.

    building                      the graph of a program, out of its syntax; what a reader may have meant otherwise
    expansion                     how large the calls of the user's own functions become
    vectors, keywords, unbound    what building asks about vectors written out, about keywords in calls, and about names
                                  without a value that stand where a function does
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from backprop import ops
from backprop.mistakes import Span
from backprop.ops import ATOM, Row
from backprop.writing import Written, level_of_number, written

INPUT, CONST = -1, -2

# Names that mean a constant while nothing else is bound to them; the text is what every kind of number reads.
CONSTANTS = {"pi": "pi", "π": "pi", "tau": "tau", "τ": "tau", "e": "e", "inf": "inf", "∞": "inf"}

# The text of a constant array stands for it where it is not longer than this.
LONGEST_TEXT = 40


class Edge(NamedTuple):
    """From the node `source` into operand `position` of the node `target`; `place` is its place in `args`."""

    source: int
    target: int
    position: int
    place: int


@dataclass(slots=True)
class Graph:
    """A program as a graph. `names` are the names its author chose; `ids` gives every node one.

    `bound_again` are functions, each with a free name that was bound again between definition and call.
    """

    source: str = ""
    codes: array[int] = field(default_factory=lambda: array("h"))
    offsets: array[int] = field(default_factory=lambda: array("i", [0]))
    args: array[int] = field(default_factory=lambda: array("i"))
    starts: array[int] = field(default_factory=lambda: array("i"))
    ends: array[int] = field(default_factory=lambda: array("i"))
    names: MutableMapping[int, str] = field(default_factory=dict)
    literals: MutableMapping[int, str] = field(default_factory=dict)
    inputs: dict[str, int] = field(default_factory=dict)
    defaults: dict[str, str] = field(default_factory=dict)
    params: list[str] = field(default_factory=list)
    bound_again: list[tuple[str, str]] = field(default_factory=list)
    output: int = -1
    _ids: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.codes)

    def row(self, node: int) -> Row | None:
        """The operation of a node; None for an input or a constant."""
        code = self.codes[node]
        return ops.rows()[code] if code >= 0 else None

    def op(self, node: int) -> str:
        """The word for what a node is: "input", "const" or the name of its operation."""
        code = self.codes[node]
        if code == INPUT:
            return "input"
        return "const" if code == CONST else ops.rows()[code].name

    def operands(self, node: int) -> Sequence[int]:
        return self.args[self.offsets[node] : self.offsets[node + 1]]

    def span(self, node: int) -> Span:
        return self.starts[node], self.ends[node]

    def edges_to(self, node: int) -> Iterator[Edge]:
        """The edges that end at a node, one for each operand."""
        first = self.offsets[node]
        for index in range(first, self.offsets[node + 1]):
            yield Edge(self.args[index], node, index - first, index)

    @property
    def ids(self) -> list[str]:
        """One id for each node: its own name (`c`, `c~2` when bound again), the text of a constant, else v1, v2, ...

        The output, when it has no name, is `f`, or `out` when `f` is taken. A constant array of many numbers is const1.
        """
        if len(self._ids) != len(self.codes):
            self._ids = _ids(self)
        return self._ids

    def name_of(self, node: int) -> str:
        """What a node is called in a gradient: an input by its name, even when the name is bound again, others by id.

        >>> from backprop.grammar import parse
        >>> from backprop.graph.building import build
        >>> graph = build(parse("x = 2*x; x = 3*x; x"))
        >>> [graph.name_of(node) for node in graph.names], graph.ids[-1]
        (['x', 'x~2', 'x~3'], 'x~3')
        """
        return self.names[node] if self.codes[node] == INPUT else self.ids[node]

    def formula(self, node: int) -> str:
        """What is worked out at a node, over the ids of its operands; "" for inputs and constants."""
        row = self.row(node)
        if row is None:
            return ""
        return written(row, [self.written_id(arg) for arg in self.operands(node)])[0]

    def written_id(self, node: int) -> Written:
        """How a node is written inside a formula: by its id, a constant as its number."""
        if self.codes[node] == CONST and node not in self.names and not _is_long(self.literals[node]):
            text = self.literals[node]
            return text, level_of_number(text)
        return self.ids[node], ATOM

    def add(self, code: int, operands: Sequence[int], span: Span) -> int:
        """Put one more node at the end."""
        node = len(self.codes)
        self.codes.append(code)
        self.args.extend(operands)
        self.offsets.append(len(self.args))
        self.starts.append(span[0])
        self.ends.append(span[1])
        return node

    def add_input(self, name: str, span: Span) -> int:
        """Put an input at the end. One with an empty span is read by nothing: its gradient is 0, not missing."""
        node = self.inputs[name] = self.add(INPUT, (), span)
        self.names[node] = name
        return node

    def is_unused(self, name: str) -> bool:
        """Whether a name is no input that the program reads or declares."""
        return name not in self.inputs or not self.ends[self.inputs[name]]

    def default_wrt(self) -> list[int]:
        """The nodes whose derivatives are asked for when nobody says: inputs and params, else the named constants."""
        if self.inputs:
            return list(self.inputs.values())
        return [node for node in self.names if self.codes[node] == CONST]

    def moving(self, wrt: Collection[int]) -> bytearray:
        """Which nodes move when the nodes `wrt` do: 1 for each that a derivative can reach."""
        moves = bytearray(len(self.codes))
        for node in wrt:
            moves[node] = 1
        codes, offsets, args, rows = self.codes, self.offsets, self.args, ops.rows()
        stopping = {code for code in set(codes) if code >= 0 and rows[code].stops}
        for node in range(len(codes)):
            code = codes[node]
            if code < 0:
                continue
            first = offsets[node]
            for index in range(first, offsets[node + 1]):
                if moves[args[index]] and not (code in stopping and rows[code].stops_at(index - first)):
                    moves[node] = 1
                    break
        return moves


def _ids(graph: Graph) -> list[str]:
    taken: dict[str, int] = {}

    def unique(stem: str) -> str:
        count = taken.get(stem, 0) + 1
        taken[stem] = count
        return stem if count == 1 else f"{stem}~{count}"

    ids = [""] * len(graph.codes)
    for node in sorted(graph.names):  # names come first, so that no numbered id can take one
        ids[node] = unique(graph.names[node])
    if graph.output >= 0 and not ids[graph.output]:
        ids[graph.output] = unique("f" if "f" not in taken else "out")
    numbers = {"v": 0, "const": 0}
    for node, code in enumerate(graph.codes):
        if ids[node]:
            continue
        if code == CONST and not _is_long(graph.literals[node]):
            ids[node] = unique(graph.literals[node])
            continue
        stem = "const" if code == CONST else "v"
        numbers[stem] += 1
        while f"{stem}{numbers[stem]}" in taken:
            numbers[stem] += 1
        ids[node] = f"{stem}{numbers[stem]}"
    return ids


def _is_long(text: str) -> bool:
    """Whether the text of a constant is an array's, and too long to stand for it."""
    return len(text) > LONGEST_TEXT and text.startswith("[")
