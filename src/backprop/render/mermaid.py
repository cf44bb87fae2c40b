"""The graph as a Mermaid flowchart: values and derivatives on the nodes, partials on the edges."""

from __future__ import annotations

import re
from collections.abc import Iterator

from backprop.record import Trace
from backprop.render import Format
from backprop.render.drawing import edge_labels, marks, node_lines
from backprop.render.look import Look
from backprop.render.tables import visible

FORMAT = Format("mermaid", suffix=".mmd", says="flowchart text for Markdown pages", drawing=True)

# Everything that Mermaid, Markdown or HTML could take for a sign of its own; a label may hold it only as an entity.
_SIGNS = re.compile(r"[^\w\s=+/().,:·∂^-]|_", re.ASCII)


def render(trace: Trace, look: Look) -> Iterator[str]:
    """Nodes are numbered, so that no name (`end`, `graph`) can be taken for a word of Mermaid."""
    yield "flowchart BT"
    numbers: dict[str, int] = {}
    signs = marks(trace)
    for number, node in enumerate(trace.nodes):
        numbers[node.id] = number
        label = "<br/>".join(escape(look.letters(line)) for line in node_lines(trace, node, look, signs))
        left, right = ('(["', '"])') if node.op == "input" else ('["', '"]')
        yield f"  n{number}{left}{label}{right}"
    for edge, text in edge_labels(trace, look):
        label = escape(look.letters(text))
        middle = f'-->|"{label}"|' if label else "-->"
        yield f"  n{numbers[edge.source]} {middle} n{numbers[edge.target]}"


def escape(text: str) -> str:
    """A label for between Mermaid's quotes.

    >>> escape('x*y < "2" & #3')
    'x#42;y #60; #34;2#34; #38; #35;3'
    """
    return _SIGNS.sub(lambda sign: sign[0] if ord(sign[0]) > 127 else f"#{ord(sign[0])};", visible(text))
