"""Opening: an array program as the scalar graph that it stands for, at the point where it stands.

The general definitions of the array operations (`kinds.array`) run over kind elements, so every element of every array
becomes a node of its own: `W[0,1]` for an element of W, `z[0].2` for the second step on the way to z[0]. The opened
program is an ordinary program at a point.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from backprop.arrays_text import element_name, parts
from backprop.graph import Graph
from backprop.kinds import Hole, Kind, value_at
from backprop.kinds.array import Arrays, elements, shape_of
from backprop.kinds.elements import Element, Elements, TooManyElements

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


def open_graph(graph: Graph, numbers: Kind, given: Mapping[str, str], limit: int = MOST_NODES) -> Opened | None:
    """The scalar graph of a program whose inputs have the texts `given`; None beyond `limit` nodes.

    `numbers` is the kind of number (doubles) in which pivots and places are chosen.
    """
    kind = Elements(graph.source, numbers, limit)
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
            elif node in graph.literals:
                value = arrays.number(graph.literals[node])
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
    except TooManyElements:
        return None
    output = found[graph.output]
    if isinstance(output, Element):
        kind.graph.output = kind.placed(output)
    kind.graph.params = [
        element_name(name, at) for name in graph.params for at in np.ndindex(*shape_of(found[graph.inputs[name]]))
    ]
    opened.places = [_places(value) for value in found]
    return opened


def _name(graph: Graph, name: str, value: Any, before: int) -> None:
    """Name the nodes that were made for an array node: its elements by their indices, the others by their number."""
    shape = shape_of(value)
    final: dict[int, str] = {}
    for at, element in zip(np.ndindex(*shape), elements(value), strict=True):
        if isinstance(element, Element) and element.node >= before:
            final.setdefault(element.node, element_name(name, at))
    number = 0
    for node in range(before, len(graph)):
        if node in final:
            graph.names[node] = final[node]
        elif graph.codes[node] >= 0:
            number += 1
            graph.names[node] = f"{name}.{number}"


def _places(value: Any) -> Any:
    """The nodes of the elements of a value, in its shape."""
    nodes = [element.node if isinstance(element, Element) else -1 for element in elements(value)]
    return np.array(nodes, dtype=np.int64).reshape(shape_of(value))
