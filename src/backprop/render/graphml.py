"""The graph as GraphML, for NetworkX, yEd, Gephi and Cytoscape.

Parallel edges stay apart by their ids. A finite number is a double, under `value`, `adjoint`, `partial` and so on; what
no double can carry (a fraction, a ball, a formula, an array, NaN, an infinity) is text, under `value_text` and so on.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from backprop.record import Edge, Node, Trace
from backprop.render import Format
from backprop.render.drawing import marks, node_role
from backprop.render.look import Look
from backprop.render.tables import visible

FORMAT = Format("graphml", suffix=".graphml", says="the graph as GraphML, for NetworkX, yEd and Gephi")

_NUMBERS = {"node": ("value", "adjoint", "tangent"), "edge": ("partial", "contribution", "left", "right")}
_KEYS = {
    "graph": dict.fromkeys(("program", "kind", "mode", "output"), "string"),
    "node": {**dict.fromkeys(("op", "role", "formula", "shape", "notes"), "string"), "taken": "boolean"},
    "edge": {"operand": "int", "formula": "string", "pull": "string"},
}  # fmt: skip
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def facts_of_node(trace: Trace, node: Node, notes: Mapping[str, Any]) -> dict[str, Any]:
    """What is known at a node by name; absent things are absent."""
    found = {"op": node.op, "role": node_role(trace, node), "formula": node.formula, "taken": node.taken}
    found["shape"] = None if node.shape is None else "×".join(map(str, node.shape))
    found["notes"] = notes[node.id].text if node.id in notes else None
    return {name: value for name, value in found.items() if value is not None} | numbers(node, _NUMBERS["node"])


def facts_of_edge(edge: Edge) -> dict[str, Any]:
    """What is known at an edge by name; absent things are absent."""
    found = {"operand": edge.key, "formula": edge.formula, "pull": edge.pull}
    return {name: value for name, value in found.items() if value is not None} | numbers(edge, _NUMBERS["edge"])


def numbers(item: Node | Edge, names: tuple[str, ...]) -> dict[str, Any]:
    """Finite numbers under their names, everything else as text under the name with `_text`."""
    found: dict[str, Any] = {}
    for name in names:
        value = getattr(item, name)
        if isinstance(value, float) and math.isfinite(value):
            found[name] = value + 0.0
        elif value is not None:
            found[f"{name}_text"] = as_text(value)
    return found


def as_text(value: Any) -> str:
    """A value that is no finite double, whole."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, str):
        return str(value)
    from backprop.figures import json_value

    return json.dumps(json_value(value), ensure_ascii=False)


def render(trace: Trace, look: Look) -> Iterator[str]:
    """One node and one edge a line."""
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield (
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        'xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns '
        'http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">'
    )
    for what, keys in _KEYS.items():
        every = dict(keys)
        for name in _NUMBERS.get(what, ()):
            every |= {name: "double", f"{name}_text": "string"}
        for name, sort in every.items():
            yield f'  <key id="{what}.{name}" for="{what}" attr.name="{name}" attr.type="{sort}"/>'
    yield '  <graph id="backprop" edgedefault="directed">'
    for name in _KEYS["graph"]:
        yield "    " + _data("graph", name, getattr(trace, name), look)
    notes = marks(trace)
    for node in trace.nodes:
        facts = facts_of_node(trace, node, notes)
        told = "".join(_data("node", name, value, look) for name, value in facts.items())
        yield f'    <node id="{_escape(node.id, look)}">{told}</node>'
    for place, edge in enumerate(trace.edges):
        told = "".join(_data("edge", name, value, look) for name, value in facts_of_edge(edge).items())
        ends = f'source="{_escape(edge.source, look)}" target="{_escape(edge.target, look)}"'
        yield f'    <edge id="e{place}" {ends}>{told}</edge>'
    yield "  </graph>"
    yield "</graphml>"


def _data(what: str, name: str, value: Any, look: Look) -> str:
    text = as_text(value) if isinstance(value, bool) else str(value)
    return f'<data key="{what}.{name}">{_escape(text, look)}</data>'


def _escape(text: str, look: Look) -> str:
    """Text for XML; a letter that XML cannot hold is written out, a line end stays one."""
    shown = "\n".join(map(visible, text.split("\n"))) if "\n" in text else visible(text)
    shown = _FORBIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", shown)
    shown = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    return shown.encode("ascii", "xmlcharrefreplace").decode("ascii") if look.ascii else shown
