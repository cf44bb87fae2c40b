"""The forward and the reverse pass side by side: at each node how its tangent, or its adjoint, is worked out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from backprop.figures import UNDEFINED
from backprop.notation import slope
from backprop.record import Edge, Node, Trace, Value
from backprop.record.sweeps import adjoints, tangents
from backprop.render.drawing import edge_labels
from backprop.render.look import Look
from backprop.working import Working, reverse_working, tangent_working
from backprop.working.brought import Known, carries


@dataclass(frozen=True, slots=True)
class Pass:
    """One pass: lines of text by the id of the node, arrows with their labels. `onward`: arrows lead to the output."""

    name: str
    title: str
    boxes: Mapping[str, list[str]]
    arrows: list[tuple[str, str, str]]
    onward: bool


def both_passes(trace: Trace, look: Look) -> tuple[Pass, Pass]:
    """The forward pass from one input and the reverse pass from the output, of the nodes that each reaches.

    The one that the trace does not hold is walked over its partials; of arrays, formulas and balls, where that does
    not tell it, it shows the chain rule without numbers.
    """
    along = trace.wrt[0] if trace.mode == "forward" else _widest(trace)
    nodes = {node.id: node for node in trace.nodes}
    live = [edge for edge in trace.edges if carries(edge)]
    on, back = _reached(live, along), _reached([_turned(edge) for edge in reversed(live)], trace.output)
    known, labels = Known(trace.nodes, look.numbers), {id(edge): text for edge, text in edge_labels(trace, look)}
    forward = trace.mode == "forward"
    found: dict[str, Value] = {node.id: node.tangent for node in trace.nodes if node.tangent is not None}
    moved = found if forward else tangents(trace, along)
    found = {node.id: node.adjoint for node in trace.nodes if node.adjoint is not None}
    moving = adjoints(trace) if forward else found
    into: dict[str, list[Edge]] = {}
    out: dict[str, list[Edge]] = {}
    for edge in live:
        into.setdefault(edge.target, []).append(edge)
        out.setdefault(edge.source, []).append(edge)

    def tangent(node: Node) -> list[str]:
        shown = _with(node, tangent=moved.get(node.id))
        arriving = [edge for edge in into.get(node.id, []) if edge.source in on]
        line = tangent_working(shown, arriving, moved.get, along, look.numbers, known)
        return _lines(
            line, arriving, [f"{slope(node.id, e.source)} · {slope(e.source, along)}" for e in arriving], moved
        )

    def adjoint(node: Node) -> list[str]:
        shown = _with(node, adjoint=moving.get(node.id))
        leaving = [edge for edge in out.get(node.id, []) if edge.target in back]
        line = reverse_working(shown, leaving, moving.get, trace.output, look.numbers, known)
        terms = [f"{slope(trace.output, e.target)} · {slope(e.target, e.source)}" for e in leaving]
        return _lines(line, leaving, terms, moving)

    def drawn(among: set[str], onward: bool) -> Iterator[tuple[str, str, str]]:
        for edge in live:
            if edge.source in among and edge.target in among:
                ends = (edge.source, edge.target) if onward else (edge.target, edge.source)
                yield (*ends, labels.get(id(edge), ""))

    return (
        Pass("forward", f"forward mode: {slope('', along)} of every node",
             {name: tangent(nodes[name]) for name in nodes if name in on}, list(drawn(on, True)), True),
        Pass("reverse", f"reverse mode: {slope(trace.output, '')} by every node",
             {name: adjoint(nodes[name]) for name in nodes if name in back}, list(drawn(back, False)), False),
    )  # fmt: skip


def _lines(line: Working, edges: list[Edge], chain: list[str], known: Mapping[str, Value]) -> list[str]:
    """The derivative with its numbers put in and its value; the chain rule where there are no numbers."""
    if not known and edges:
        return [f"{line.left} = {' + '.join(chain)}"]
    parts = [line.left]
    for text in (" + ".join(line.numbers), line.value or UNDEFINED):
        if text and text != parts[-1]:
            parts.append(text)
    return [" = ".join(parts)] if known else [f"{line.left} = 1"]


def _with(node: Node, adjoint: Value | None = None, tangent: Value | None = None) -> Node:
    return Node(node.id, node.op, node.args, node.formula, shape=node.shape, value=node.value, adjoint=adjoint,
                tangent=tangent, taken=node.taken, proven=node.proven)  # fmt: skip


def _turned(edge: Edge) -> Edge:
    return Edge(edge.target, edge.source, edge.key)


def _reached(edges: list[Edge], start: str) -> set[str]:
    """The nodes that edges in the order of the graph lead to."""
    found = {start}
    for edge in edges:
        if edge.source in found:
            found.add(edge.target)
    return found


def _widest(trace: Trace) -> str:
    """The input whose forward pass shows most: that with the most edges; the first of those that have as many."""
    count = dict.fromkeys(trace.wrt, 0)
    for edge in trace.edges:
        if edge.source in count:
            count[edge.source] += 1
    return max(count, key=lambda name: count[name]) if count else trace.output
