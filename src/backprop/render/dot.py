"""The graph for Graphviz: values and derivatives on the nodes, partials on the edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backprop.record import Trace
from backprop.render import Format
from backprop.render.drawing import edge_labels, marks, node_lines
from backprop.render.look import Look
from backprop.render.tables import visible

FORMAT = Format("dot", suffix=".dot", says="the graph for Graphviz (dot -Tsvg)", drawing=True)


def render(trace: Trace, look: Look) -> Iterator[str]:
    """Inputs at the bottom; `x*x` has two edges and both are drawn."""
    yield "digraph backprop {"
    yield "  rankdir=BT;"
    yield "  node [shape=box];"
    signs = marks(trace)
    for node in trace.nodes:
        shape = {"input": ", shape=ellipse", "const": ", shape=plaintext"}.get(node.op, "")
        bold = ", style=bold" if node.id == trace.output else ""
        yield f"  {_quoted([node.id], look)} [label={_quoted(node_lines(trace, node, look, signs), look)}{shape}{bold}];"
    for edge, text in edge_labels(trace, look):
        told = f" [label={_quoted([text], look)}]" if text else ""
        yield f"  {_quoted([edge.source], look)} -> {_quoted([edge.target], look)}{told};"
    yield "}"


def _quoted(lines: Iterable[str], look: Look) -> str:
    """Lines of text as a string of the DOT language."""
    shown = (visible(look.letters(line)).replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(shown) + '"'
