"""The graph as a Mermaid flowchart: values and derivatives on the nodes, partials on the edges."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from backprop.record import Trace
from backprop.render import Format
from backprop.render.dot import RANKS
from backprop.render.drawing import arrow_lines, box_lines, marks, node_role
from backprop.render.look import Look
from backprop.render.passes import both_passes
from backprop.render.tables import visible
from backprop.theme import THEME

FORMAT = Format("mermaid", suffix=".mmd", says="flowchart text for Markdown pages", drawing=True)

# What Mermaid draws unless its page was set up for more; the forges leave it at that.
MOST_EDGES, MOST_LETTERS = 500, 50_000
# Everything that Mermaid, Markdown or HTML could take for a sign of its own; a label may hold it only as an entity.
_SIGNS = re.compile(r"[^\w\s=+/().,:·∂^-]|_", re.ASCII)
# Shapes tell the roles apart where there are no colours.
_SHAPES = {"input": ('(["', '"])'), "param": ('{{"', '"}}'), "constant": ('("', '")'), "output": ('[["', '"]]')}
_BACK = {"up": "TB", "down": "BT", "right": "RL"}


def render(trace: Trace, look: Look) -> Iterator[str]:
    """Nodes are numbered, so that no name (`end`, `graph`) can be taken for a word of Mermaid."""
    if look.view.both:
        yield from _both(trace, look)
        return
    if len(trace.edges) > MOST_EDGES:
        yield f"%% {len(trace.edges)} edges; Mermaid draws more than {MOST_EDGES} where maxEdges allows it"
    yield f"flowchart {RANKS[look.view.direction]}"
    numbers: dict[str, int] = {}
    classes: dict[str, list[str]] = {}
    signs = marks(trace)
    for number, node in enumerate(trace.nodes):
        numbers[node.id] = number
        role = node_role(trace, node)
        left, right = _SHAPES.get(role, ('["', '"]'))
        yield f"  n{number}{left}{_label((line.text for line in box_lines(trace, node, look, signs)), look)}{right}"
        classes.setdefault(role if node.taken else "quiet", []).append(f"n{number}")
    path = []
    for place, (edge, lines) in enumerate(arrow_lines(trace, look)):
        label = _label((line.text for line in lines), look)
        middle = f'-->|"{label}"|' if label else "-->"
        yield f"  n{numbers[edge.source]} {middle} n{numbers[edge.target]}"
        if (edge.source, edge.target, edge.key) in look.view.path:
            path.append(str(place))
    for role in ("input", "param", "output", "quiet"):
        if role in classes:
            ground = THEME[f"{role}-box" if role != "quiet" else "box"].light
            frame = THEME[f"{role}-frame" if role != "quiet" else "frame"].light
            wide = {"output": ",stroke-width:3px", "quiet": ",stroke-dasharray:5 4"}.get(role, "")
            yield f"  classDef {role} fill:{ground},stroke:{frame},color:{THEME[role].light}{wide}"
            yield f"  class {','.join(classes[role])} {role}"
    if path:
        yield f"  linkStyle {','.join(path)} stroke:{THEME['path'].light},stroke-width:4px"


def _both(trace: Trace, look: Look) -> Iterator[str]:
    """Two subgraphs, each with the derivative of every node worked out in its box."""
    yield "flowchart LR"
    for place, one in enumerate(both_passes(trace, look)):
        letter = "fr"[place]
        yield f'  subgraph {letter.upper()}["{_label([one.title], look)}"]'
        yield f"    direction {RANKS[look.view.direction] if one.onward else _BACK[look.view.direction]}"
        numbers = {node: number for number, node in enumerate(one.boxes)}
        for node, lines in one.boxes.items():
            yield f'    {letter}{numbers[node]}["{_label(lines, look)}"]'
        for source, target, text in one.arrows:
            middle = f'-->|"{_label([text], look)}"|' if text else "-->"
            yield f"    {letter}{numbers[source]} {middle} {letter}{numbers[target]}"
        yield "  end"


def _label(lines: Iterable[str], look: Look) -> str:
    return "<br/>".join(escape(look.letters(line)) for line in lines)


def escape(text: str) -> str:
    """A label for between Mermaid's quotes.

    >>> escape('x*y < "2" & #3')
    'x#42;y #60; #34;2#34; #38; #35;3'
    """
    return _SIGNS.sub(lambda sign: sign[0] if ord(sign[0]) > 127 else f"#{ord(sign[0])};", visible(text))
