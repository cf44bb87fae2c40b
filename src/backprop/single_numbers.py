"""Single numbers: an array program as the scalar one that straight-line code can be written of.

Its inputs are numbers, as the columns of a table are; its arrays are put together from them, or given with all their
elements. No input has a number yet, so a step that is chosen by the numbers, as a pivot is, cannot be written down.
"""

from __future__ import annotations

from typing import Any

from backprop.arrays_text import is_array
from backprop.graph import Graph
from backprop.kinds import Hole
from backprop.kinds.array import arrays
from backprop.kinds.real import REAL
from backprop.kinds.shapes import said
from backprop.mistakes import NotElementwise
from backprop.opening import open_graph
from backprop.values import values

# The text of an input whose number nobody knows.
UNKNOWN = "?"
# What takes numbers, and makes arrays of them.
BUILDING = frozenset({"vector", "put"})
# What eliminates with the largest pivot; a determinant does from so many rows on.
ELIMINATING = frozenset({"inv", "solve", "logdet", "det"})
LARGEST_EXPANDED = 3
# Code with more nodes than this is not what anybody wants of a small array.
MOST_NODES = 20_000


def opened(graph: Graph, wrt: list[int]) -> tuple[Graph, list[int]]:
    """The scalar graph of an array program, and the nodes `wrt` in it.

    Raises `ShapesDiffer`, and `NotElementwise`: where an input would have to be an array, where a slope or the value is
    one, where a step is chosen by the numbers, and beyond `MOST_NODES` nodes.
    """
    varies = graph.moving(list(graph.inputs.values()))
    _refuse_array_inputs(graph, varies)
    found = open_graph(
        graph,
        REAL,
        dict.fromkeys(graph.inputs, UNKNOWN),
        MOST_NODES,
        spelled=lambda text: Hole(-1, "undefined") if text == UNKNOWN else REAL.number(text),
    )
    if found is None:
        values(graph, arrays(REAL), dict.fromkeys(graph.inputs.values(), 1.0))  # where shapes do not fit, it says so
        raise NotElementwise("the program", why=f"takes more than {MOST_NODES:,} operations number by number")
    _refuse_pivots(graph, varies, found.places)
    for node in (graph.output, *wrt):
        if (shape := found.places[node].shape) != ():
            what = "the value" if node == graph.output else f"the slope by {graph.name_of(node)}"
            raise NotElementwise(what, graph.span(node), f"is an array of {said(shape)}")
    small = found.graph
    if small.output < 0:
        raise NotElementwise(graph.ids[graph.output], graph.span(graph.output))
    small.defaults = dict(graph.defaults)
    own = {*graph.names.values(), graph.ids[graph.output]}
    for node, name in list(small.names.items()):
        if small.row(node) is None:
            continue
        stem, bracket, place = name.partition("[")
        if stem not in own or "." in place:  # a step on the way, which nobody has named
            del small.names[node]
        elif bracket:
            small.names[node] = f"{stem}_{place.removesuffix(']').replace(',', '_')}"
    return small, [int(found.places[node]) for node in wrt]


def _refuse_array_inputs(graph: Graph, varies: bytearray) -> None:
    """Refuse what can only work on arrays, where it is given an input or what is worked out of inputs number by number.

    Of sum(W) every number is the sum: that W was to be an array would go unseen.
    """
    single = bytearray(len(graph))
    for node in range(len(graph)):
        row = graph.row(node)
        if row is None:
            single[node] = not is_array(graph.literals.get(node, ""))
            continue
        operands = graph.operands(node)
        single[node] = not row.arrays and all(single[one] for one in operands)
        if row.arrays and row.name not in BUILDING and any(single[one] and varies[one] for one in operands):
            raise NotElementwise(row.called[0] if row.called else row.name, graph.span(node))


def _refuse_pivots(graph: Graph, varies: bytearray, places: list[Any]) -> None:
    for node in range(len(graph)):
        row = graph.row(node)
        if row is None or row.name not in ELIMINATING or not varies[graph.operands(node)[0]]:
            continue
        if row.name != "det" or len(places[graph.operands(node)[0]]) > LARGEST_EXPANDED:
            called = row.called[0] if row.called else row.name
            raise NotElementwise(called, graph.span(node), "chooses its pivots by the numbers")
