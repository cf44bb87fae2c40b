"""The graph as Cytoscape JSON: Cytoscape.js takes it as it is, and Cytoscape opens it as a .cyjs file.

`value` is the id of a node once more, as NetworkX wants it; the number at a node is `result`. Numbers that no double
can carry are text, under `result_text` and so on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from backprop.record import Trace
from backprop.render import Format
from backprop.render.drawing import arrow_lines, box_lines, marks
from backprop.render.graphml import facts_of_edge, facts_of_node
from backprop.render.look import Look
from backprop.render.tables import visible

FORMAT = Format("cytoscape", suffix=".cyjs", says="the graph as JSON for Cytoscape.js and Cytoscape")

# A larger graph is left to the layouts of Cytoscape.
MOST_PLACED = 200


def render(trace: Trace, look: Look) -> Iterator[str]:
    """One node and one edge a line; nodes of a small graph stand where our own layout has them."""
    places = _places(trace, look)
    head = {
        "format_version": "1.0",
        "generated_by": "backprop",
        "target_cytoscapejs_version": "~3",
        "directed": True,
        "multigraph": True,
        "data": {"name": "backprop", "program": trace.program, "kind": trace.kind, "mode": trace.mode,
                 "output": trace.output},
        "layout": {"name": "preset"} if places else {"name": "breadthfirst", "directed": True},
    }  # fmt: skip
    yield "{"
    yield from (f" {_json(name, look)}: {_json(value, look)}," for name, value in head.items())
    yield ' "elements": {'
    yield '  "nodes": ['
    yield from _separated(_nodes(trace, look, places))
    yield "  ],"
    yield '  "edges": ['
    yield from _separated(_edges(trace, look))
    yield "  ]"
    yield " }"
    yield "}"


def _places(trace: Trace, look: Look) -> dict[str, tuple[float, float]]:
    if len(trace.nodes) > MOST_PLACED or len(trace.edges) > 4 * MOST_PLACED:
        return {}
    from backprop.render.picture import picture

    rects = ((box.id, box.rect) for box in picture(trace, look).boxes)
    return {name: (rect.x + rect.width / 2, rect.y + rect.height / 2) for name, rect in rects}


def _nodes(trace: Trace, look: Look, places: dict[str, tuple[float, float]]) -> Iterator[str]:
    signs = marks(trace)
    for node in trace.nodes:
        facts = facts_of_node(trace, node, signs)
        named = {name.replace("value", "result", 1): fact for name, fact in facts.items()}
        label = "\n".join(visible(line.text) for line in box_lines(trace, node, look, signs))
        data = {"id": node.id, "name": node.id, "value": node.id, "label": label, **named}
        item: dict[str, Any] = {"data": data, "classes": facts["role"]}
        if node.id in places:
            x, y = places[node.id]
            item["position"] = {"x": round(x, 1), "y": round(y, 1)}
        yield _json(item, look)


def _edges(trace: Trace, look: Look) -> Iterator[str]:
    for place, (edge, lines) in enumerate(arrow_lines(trace, look)):
        label = "\n".join(visible(line.text) for line in lines)
        # no node is called so: the ids of nodes and edges are one set
        data = {"id": f"edge {place}", "source": edge.source, "target": edge.target, "key": edge.key, "label": label}
        item: dict[str, Any] = {"data": data | facts_of_edge(edge)}
        if (edge.source, edge.target, edge.key) in look.view.path:
            item["classes"] = "path"
        yield _json(item, look)


def _separated(texts: Iterator[str]) -> Iterator[str]:
    before = None
    for text in texts:
        if before is not None:
            yield f"   {before},"
        before = text
    if before is not None:
        yield f"   {before}"


def _json(value: Any, look: Look) -> str:
    return json.dumps(value, ensure_ascii=look.ascii, allow_nan=False)
