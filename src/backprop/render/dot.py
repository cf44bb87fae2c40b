"""The graph for Graphviz: values and derivatives on the nodes, partials on the edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from backprop.record import Trace
from backprop.render import Format
from backprop.render.drawing import arrow_lines, box_lines, marks, node_role
from backprop.render.look import Look
from backprop.render.passes import Pass, both_passes
from backprop.render.tables import visible
from backprop.theme import THEME

FORMAT = Format("dot", suffix=".dot", says="the graph for Graphviz (dot -Tsvg)", drawing=True)

RANKS = {"up": "BT", "down": "TB", "right": "LR"}
# Shapes tell the roles apart where there are no colours.
_SHAPES = {
    "input": "shape=ellipse",
    "param": "shape=hexagon",
    "constant": "shape=plaintext",
    "output": "style=filled, penwidth=2.5",
}


def render(trace: Trace, look: Look) -> Iterator[str]:
    """Inputs where `look.view` has them; `x*x` has two edges and both are drawn."""
    ground = "dark" if look.view.light is False else "light"

    def colour(role: str) -> str:
        found: str = getattr(THEME[role], ground)
        return f'"{found}"'

    yield "digraph backprop {"
    yield f"  rankdir={RANKS[look.view.direction]};"
    if look.view.caption:
        yield f"  label={_quoted([look.view.caption], look)};"
    yield f"  bgcolor={colour('page')};"
    filled = f"style=filled, fillcolor={colour('box')}"
    yield f"  node [shape=box, {filled}, color={colour('frame')}, fontcolor={colour('name')}];"
    yield f"  edge [color={colour('line')}, fontcolor={colour('partial')}];"
    if look.view.both:
        for one in both_passes(trace, look):
            yield from _cluster(one, look)
        yield "}"
        return
    signs = marks(trace)
    for node in trace.nodes:
        lines = [line.text for line in box_lines(trace, node, look, signs)]
        role = node_role(trace, node)
        told = [f"label={_quoted(lines, look)}", *([_SHAPES[role]] if role in _SHAPES else [])]
        if role in ("input", "param"):
            told.append(f"fillcolor={colour(f'{role}-box')}")
        if not node.taken:
            told.append('style="filled,dashed"')
        yield f"  {_quoted([node.id], look)} [{', '.join(told)}];"
    for edge, texts in arrow_lines(trace, look):
        told = [f"label={_quoted([line.text for line in texts], look)}"] if texts else []
        if (edge.source, edge.target, edge.key) in look.view.path:
            told += [f"color={colour('path')}", "penwidth=3"]
        attributes = f" [{', '.join(told)}]" if told else ""
        yield f"  {_quoted([edge.source], look)} -> {_quoted([edge.target], look)}{attributes};"
    yield "}"


def _cluster(one: Pass, look: Look) -> Iterator[str]:
    """One pass in a frame of its own, its nodes apart from those of the other."""
    yield f"  subgraph cluster_{one.name} {{"
    yield f"    label={_quoted([one.title], look)};"
    for node, lines in one.boxes.items():
        yield f"    {_quoted([f'{one.name} {node}'], look)} [label={_quoted(lines, look)}];"
    for source, target, text in one.arrows:
        ends = (_quoted([f"{one.name} {end}"], look) for end in (source, target))
        told = [f"label={_quoted([text], look)}"] if text else []
        # ranks are those of the graph, also where the arrows lead back
        told += [] if one.onward else ["dir=back"]
        first, second = ends if one.onward else reversed(list(ends))
        yield f"    {first} -> {second}{' [' + ', '.join(told) + ']' if told else ''};"
    yield "  }"


def _quoted(lines: Iterable[str], look: Look) -> str:
    """Lines of text as a string of the DOT language, in which & begins an entity."""
    shown = (visible(look.letters(line)) for line in lines)
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;") for line in shown)
    return '"' + "\\n".join(escaped) + '"'
