"""What a drawing of the graph says at each node and edge, whatever it is drawn with."""

from __future__ import annotations

from collections.abc import Iterator

from backprop.record import Edge, Node, Trace
from backprop.render.look import Look
from backprop.working import NO_VALUE, NOT_PROVEN, NOT_TAKEN, slope


def node_lines(trace: Trace, node: Node, look: Look) -> Iterator[str]:
    """The lines in a node: what it is, its value, its adjoint or tangent."""
    if node.op == "const" and node.id.partition("~")[0] == look.figure(node.value):
        yield look.figure(node.value)
        return
    name = f"{node.id} = {node.formula}" if node.formula else node.id
    if not node.taken:
        yield from (name, NOT_TAKEN)
        return
    yield name
    missing = NO_VALUE if node.proven else NOT_PROVEN
    yield f"value {look.figure(node.value)}" if node.value is not None else missing
    if node.adjoint is not None:
        yield f"{slope(trace.output, node.id)} = {look.figure(node.adjoint)}"
    if node.tangent is not None:
        yield f"{slope(node.id, ', '.join(trace.wrt))} = {look.figure(node.tangent)}"


def edge_label(edge: Edge, look: Look) -> str:
    """The partial on an edge, rule and number; "" on an edge that carries no derivative."""
    number = look.figure(edge.partial)
    if not edge.formula or edge.formula == number:
        return number
    return f"{edge.formula} = {number}" if number else edge.formula
