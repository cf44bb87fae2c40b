"""What a drawing of the graph says at each node and edge, whatever it is drawn with."""

from __future__ import annotations

from collections.abc import Iterator

from backprop.figures import shape_text
from backprop.notation import slope
from backprop.record import Edge, Node, Trace
from backprop.render.look import Look
from backprop.working import NO_VALUE, NOT_TAKEN
from backprop.working.brought import NOT_PROVEN, Known, carried_along

# A label has room for arrays of so few elements, and one on an edge for fewer.
MOST_ON_NODE, MOST_ON_EDGE = 8, 4


def node_lines(trace: Trace, node: Node, look: Look) -> Iterator[str]:
    """The lines in a node: what it is, its shape, its value, its adjoint or tangent."""
    if node.op == "const" and node.id.partition("~")[0] == look.figure(node.value):
        yield look.figure(node.value)
        return
    name = f"{node.id} = {node.formula}" if node.formula else node.id
    if not node.taken:
        yield from (name, NOT_TAKEN)
        return
    yield name
    if node.shape:
        yield f"shape {shape_text(node.shape)}"
    missing = NO_VALUE if node.proven else NOT_PROVEN
    yield f"value {look.figure(node.value, MOST_ON_NODE)}" if node.value is not None else missing
    if node.adjoint is not None:
        yield f"{slope(trace.output, node.id)} = {look.figure(node.adjoint, MOST_ON_NODE)}"
    if node.tangent is not None:
        yield f"{slope(node.id, ', '.join(trace.wrt))} = {look.figure(node.tangent, MOST_ON_NODE)}"


def edge_labels(trace: Trace, look: Look) -> Iterator[tuple[Edge, str]]:
    """Every edge with what stands on it."""
    known, direction = Known(trace.nodes), ", ".join(trace.wrt) if trace.mode == "forward" else None
    for edge in trace.edges:
        if edge.partial is None and edge.pull is not None:
            yield edge, carried_along(edge, trace.output, direction, known)
        else:
            yield edge, edge_label(edge, look)


def edge_label(edge: Edge, look: Look) -> str:
    """The partial on an edge, rule and number; "" on an edge that carries no derivative.

    Of a partial that is an array the rule alone where that says it all, or the array is large.
    """
    if edge.formula and isinstance(edge.partial, list):
        constant = edge.formula.lstrip("-").isdigit()
        if constant or look.numbers.put_in(edge.partial, MOST_ON_EDGE) is None:
            return edge.formula
    number = look.figure(edge.partial)
    if not edge.formula or edge.formula == number:
        return number
    return f"{edge.formula} = {number}" if number else edge.formula
