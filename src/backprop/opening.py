"""Opening: an array program as the scalar graph that it stands for, at the point where it stands.

The general definitions of the array operations (`kinds.definitions`) run over kind elements, so every element of every
array becomes a node of its own: `W[0,1]` for an element of W, `z[0].2` for the second step on the way to z[0], `z.1`
for a step on the way to several elements of z. The opened program is an ordinary program at a point.

Or only some nodes are opened (`open_nodes`), each standing between its closed neighbours: the elements of its operands
are taken by their indices, and its own are put together again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backprop import ops
from backprop.arrays_text import element_name, parts
from backprop.graph import CONST, INPUT, Graph
from backprop.kinds import Hole, Kind, Misfit, value_at
from backprop.kinds.array import Arrays
from backprop.kinds.elements import Element, Elements, TooManyElements
from backprop.kinds.shapes import elements, shape_of

# A program is opened up to so many scalar nodes.
MOST_NODES = 200_000


@dataclass(slots=True)
class Opened:
    """A scalar graph; `places` tells for every node of the closed graph the nodes of its elements, in its shape.

    A place is -1 where there is no node: a literal that is not used, a setting. `given` are the texts of its inputs.
    """

    graph: Graph
    places: list[Any]
    given: dict[str, str]


def open_graph(
    graph: Graph,
    numbers: Kind,
    given: Mapping[str, str],
    limit: int = MOST_NODES,
    apart: Collection[int] = (),
    spelled: Callable[[str], Any] | None = None,
) -> Opened | None:
    """The scalar graph of a program whose inputs have the texts `given`; None beyond `limit` nodes.

    `numbers` is the kind of number (doubles) in which pivots and places are chosen, and `spelled` how it reads a text
    where that is another way than its own. The elements of x.T are those of
    x; those of the nodes in `apart` get nodes of their own all the same, so that they can be differentiated by.
    """
    kind = Elements(graph.source, numbers, limit, spelled)
    arrays = Arrays(kind)
    opened = Opened(kind.graph, [], {})
    found: list[Any] = []
    try:
        for node, code in enumerate(graph.codes):
            kind.span = graph.span(node)
            name, before = graph.name_of(node), len(kind.graph)
            row = graph.row(node)
            if row is not None:
                value = value_at(node, row, arrays, [found[operand] for operand in graph.operands(node)])
                if node in apart and not isinstance(value, Hole):
                    value = arrays.apply(ops.by_name("copy"), [value])
            elif node in graph.literals:
                value = arrays.number(graph.literals[node])
                if node in graph.names:  # its derivatives may be asked for
                    _name_constants(kind, graph.ids[node], value)
            else:
                shape, texts = parts(given[name])
                if len(texts) > limit:
                    return None
                names = [element_name(name, at) for at in np.ndindex(*shape)]
                opened.given |= dict(zip(names, texts, strict=True))
                leaves = [kind.leaf(one, text, kind.span) for one, text in zip(names, texts, strict=True)]
                value = arrays.packed(leaves, shape)
            found.append(value)
            if code >= 0 and not isinstance(value, Hole):
                _name(kind.graph, graph.ids[node], value, before)
    except (TooManyElements, Misfit):  # what NumPy can do may be too much work for one number after the other
        return None
    output = found[graph.output]
    if isinstance(output, Element):
        kind.graph.output = kind.placed(output)
    kind.graph.params = [
        element_name(name, at) for name in graph.params for at in np.ndindex(*shape_of(found[graph.inputs[name]]))
    ]
    opened.places = [_places(value) for value in found]
    return opened


def part(opened: Opened, output: int) -> Opened:
    """The part of an opened program that leads to one of its nodes, which is its output; other places are -1."""
    graph, wanted, waiting = opened.graph, {output}, [output]
    while waiting:
        found = set(graph.operands(waiting.pop())) - wanted
        wanted |= found
        waiting += found
    small, place = Graph(source=graph.source), np.full(len(graph) + 1, -1, dtype=np.int64)  # the last is for -1
    for node in sorted(wanted):
        if graph.codes[node] == INPUT:
            place[node] = small.add_input(graph.names[node], graph.span(node))
            continue
        operands = [int(place[operand]) for operand in graph.operands(node)]
        place[node] = made = small.add(graph.codes[node], operands, graph.span(node))
        if node in graph.literals:
            small.literals[made] = graph.literals[node]
        if node in graph.names:
            small.names[made] = graph.names[node]
    small.output = int(place[output])
    return Opened(small, [place[one] for one in opened.places], {name: opened.given[name] for name in small.inputs})


def _name(graph: Graph, name: str, value: Any, before: int) -> None:
    """Name the nodes that were made for an array node: its elements by their indices, the steps on the way to them by
    the element that needs them and a number; a step that several need by the name of the node."""
    final: dict[int, str] = {}
    for at, element in zip(np.ndindex(*shape_of(value)), elements(value), strict=True):
        if isinstance(element, Element) and element.node >= before:
            final.setdefault(element.node, element_name(name, at))
    # whoever needs a step is behind it
    owners = dict(final)
    for node in range(len(graph) - 1, before - 1, -1):
        owner = owners.get(node, name)
        for operand in graph.operands(node):
            if operand >= before and operand not in final and owners.setdefault(operand, owner) != owner:
                owners[operand] = name
    numbers: dict[str, int] = {}
    for node in range(before, len(graph)):
        if node in final:
            graph.names[node] = final[node]
        elif graph.codes[node] >= 0:
            owner = owners.get(node, name)
            numbers[owner] = numbers.get(owner, 0) + 1
            graph.names[node] = f"{owner}.{numbers[owner]}"


def _places(value: Any) -> Any:
    """The nodes of the elements of a value, in its shape."""
    nodes = [element.node if isinstance(element, Element) else -1 for element in elements(value)]
    return np.array(nodes, dtype=np.int64).reshape(shape_of(value))


def _name_constants(kind: Elements, name: str, value: Any) -> None:
    """Nodes for the elements of a constant that has a name."""
    for at, element in zip(np.ndindex(*shape_of(value)), elements(value), strict=True):
        kind.graph.names[kind.placed(element)] = element_name(name, at)


def steps_to(graph: Graph, node: int) -> set[int]:
    """A node and the nodes without a name on the way to it: what its author wrote in one formula."""
    found, waiting = {node}, [node]
    while waiting:
        for operand in graph.operands(waiting.pop()):
            if graph.codes[operand] >= 0 and operand not in graph.names and operand not in found:
                found.add(operand)
                waiting.append(operand)
    return found


@dataclass(slots=True)
class PartlyOpened:
    """A graph of which some operations are opened; `closed` tells where each node went that is still whole."""

    graph: Graph
    closed: dict[int, int]


def open_nodes(
    graph: Graph, nodes: Collection[int], known: Sequence[Any], numbers: Kind, kept: Collection[int] = ()
) -> PartlyOpened | None:
    """The graph of an array program in which the operations `nodes` are opened; None beyond `MOST_NODES` nodes.

    `known` are the values of all nodes, `numbers` their kind of number. A node that is needed whole, by an operation
    that is not opened or because it is among those to be `kept`, is put together again. All keep their ids.
    """
    try:
        return _Opening(graph, frozenset(nodes), known, numbers).run(kept)
    except (TooManyElements, Misfit):
        return None


class _Opening:
    """A graph that is being opened at some of its nodes; see `open_nodes`."""

    def __init__(self, graph: Graph, nodes: Collection[int], known: Sequence[Any], numbers: Kind) -> None:
        self.graph, self.nodes, self.known = graph, nodes, known
        self.kind = Elements(graph.source, numbers, MOST_NODES)
        self.arrays = Arrays(self.kind)
        self.new = self.kind.graph
        self.closed: dict[int, int] = {}  # where each node went that is whole
        self.made: dict[int, Any] = {}  # the elements of each node that was opened
        self.taken: dict[int, Any] = {}  # those of a whole node, by their indices
        self.subscripts: dict[int, int] = {}

    def run(self, kept: Collection[int]) -> PartlyOpened:
        graph, new = self.graph, self.new
        whole = {graph.output, *kept}
        whole |= {one for node in range(len(graph)) if node not in self.nodes for one in graph.operands(node)}
        for node, code in enumerate(graph.codes):
            self.kind.span = graph.span(node)
            if node in self.nodes and self.open(node):
                if node in whole:
                    self.closed[node] = self.put_together(node)
                continue
            if code == INPUT:
                self.closed[node] = new.add_input(graph.names[node], self.kind.span)
                continue
            operands = [self.closed[operand] for operand in graph.operands(node)]
            self.closed[node] = made = new.add(code, operands, self.kind.span)
            if code == CONST:
                new.literals[made] = graph.literals[node]
            if code != CONST or node in graph.names:
                new.names[made] = graph.ids[node]
        new.output = self.closed[graph.output]
        new.params, new.defaults = list(graph.params), dict(graph.defaults)
        return PartlyOpened(new, self.closed)

    def open(self, node: int) -> bool:
        """Open an operation; False where it has no value to open."""
        row = self.graph.row(node)
        assert row is not None
        operands = [self.elements(operand) for operand in self.graph.operands(node)]
        before = len(self.new)
        value = value_at(node, row, self.arrays, operands)
        if isinstance(value, Hole):
            return False
        self.made[node] = value
        _name(self.new, self.graph.ids[node], value, before)
        return True

    def elements(self, node: int) -> Any:
        """A node as elements. Those of a whole one are taken from it, so that its adjoint is all that comes back."""
        if node in self.graph.literals and node not in self.graph.names:
            return self.arrays.number(self.graph.literals[node])
        if node not in self.closed:
            return self.made[node]
        if node not in self.taken:
            value = self.known[node]
            if shape_of(value):
                places = zip(np.ndindex(*value.shape), value.flat, strict=True)
                taken = [Element(float(one), self.take(node, at)) for at, one in places]
                self.taken[node] = self.arrays.packed(taken, value.shape)
            else:
                self.taken[node] = Element(value, self.closed[node])
        return self.taken[node]

    def take(self, node: int, at: tuple[int, ...]) -> int:
        """One element of a whole node, by its indices."""
        for place in at:
            if place not in self.subscripts:
                self.subscripts[place] = made = self.new.add(CONST, (), self.kind.span)
                self.new.literals[made] = str(place)
        made = self.add("index", [self.closed[node], *(self.subscripts[place] for place in at)])
        self.new.names[made] = element_name(self.graph.ids[node], at)
        return made

    def put_together(self, node: int) -> int:
        """A whole node made of its elements, row by row."""
        value, name = self.made[node], self.graph.ids[node]
        made = [self.kind.placed(element) for element in elements(value)]
        shape = list(shape_of(value))
        while shape:
            size = shape.pop()
            made = [self.add("vector", made[at : at + size]) for at in range(0, len(made), size)]
            for at, row in zip(np.ndindex(*shape), made, strict=True):
                self.new.names[row] = element_name(name, at)
        return made[0]

    def add(self, row: str, operands: Sequence[int]) -> int:
        if len(self.new) > self.kind.limit:
            raise TooManyElements
        return self.new.add(ops.by_name(row).code, operands, self.kind.span)
