"""Facts: what the script of a page is told, as JSON: nodes, edges and paths by their places, with their numbers.

Only of a trace of single doubles can the script work anything out; of another it is told what is joined to what.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from backprop.figures import json_value
from backprop.record import Edge, Trace
from backprop.render.look import Look
from backprop.working.brought import carries
from backprop.working.formula_texts import factor, put_numbers_in

PHASES = ("forward", "reverse", "tangent")
# A number that stands for that of a node while a formula is taken apart; no formula has it.
_STAND_IN = re.compile(r"(\(?)(-?)86420(\d{9})97531(\)?)")


def facts_of(trace: Trace, look: Look, leaves: Sequence[int], paths: Sequence[tuple[int, list[int]]]) -> dict[str, Any]:
    """What the script needs to know. `leaves` are the nodes that have a slider, `paths` are told by their edges."""
    places = {node.id: place for place, node in enumerate(trace.nodes)}
    is_live = works_out(trace)
    moved = "tangent" if trace.mode == "forward" else "adjoint"
    nodes = []
    for node in trace.nodes:
        told: dict[str, Any] = {"id": node.id}
        if not node.taken:
            told["k"] = False
        if node.span is not None:
            told["span"] = list(node.span)
        if is_live:
            told |= {"v": json_value(node.value), "s": json_value(getattr(node, moved))}
            told |= {"f": pieces(node.formula, places)} if node.formula else {}
            told |= {"m": True} if node.id in trace.mended else {}
            told |= {"param": True} if node.id in trace.params else {}
        elif node.formula:
            told["f"] = []
        nodes.append(told)
    edges = [_edge(edge, places, is_live) for edge in trace.edges]
    told = {"live": is_live, "sliders": bool(leaves), "propagates": trace.undefined is not None}
    told |= {"mode": trace.mode, "output": places.get(trace.output, 0), "figures": look.figures}
    told["by"] = places[trace.wrt[0]] if trace.wrt and trace.wrt[0] in places else 0
    told |= {"inputs": list(leaves), "nodes": nodes, "edges": edges}
    told["paths"] = [{"s": source, "e": edges} for source, edges in paths]
    by_name = {(edge.source, edge.target, edge.key): place for place, edge in enumerate(trace.edges)}
    told["steps"] = [
        [PHASES.index(step.phase), places[step.node], *([by_name[step.edge]] if step.edge in by_name else [])]
        for step in trace.steps
    ]
    return told


def works_out(trace: Trace) -> bool:
    """Whether the script can work with the numbers of a trace: single doubles."""
    if trace.kind != "real" or any(edge.pull is not None for edge in trace.edges):
        return False
    return all(node.shape is None and isinstance(node.value, float | bool | None) for node in trace.nodes)


def embedded(record: Mapping[str, Any]) -> str:
    """A record as JSON that can stand inside a page: no sign in it begins a tag or ends a line.

    >>> embedded({"a": "</script><!-- \\u2028"})
    '{"a":"\\\\u003c/script\\\\u003e\\\\u003c!-- \\\\u2028"}'
    """
    text = json.dumps(record, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def pieces(formula: str, places: Mapping[str, int]) -> list[str | list[int]]:
    """A formula cut at the names of nodes: texts, and [place of the node, whether a negative number needs brackets].

    >>> pieces("x*y - y", {"x": 0, "y": 1})
    [[0, 0], '*', [1, 1], ' - ', [1, 1]]
    """
    text = put_numbers_in(formula, {name: f"-86420{place:09}97531" for name, place in places.items()}.get)
    found: list[str | list[int]] = []
    names = list(places)
    begin = written = 0
    for number in _STAND_IN.finditer(text):
        opening, _, place, closing = number.groups()
        written += number.start() - begin
        # the brackets of tanh(x) are those of the formula
        is_put = bool(opening and closing) and formula[written : written + 1] != "("
        start, end = (number.start(), number.end()) if is_put else (number.start(2), number.end(3) + len("97531"))
        if text[begin:start]:
            found.append(text[begin:start])
        found.append([int(place), int(is_put)])
        written += start - number.start() + len(names[int(place)])
        begin = end
    return [*found, text[begin:]] if text[begin:] else found


def _edge(edge: Edge, places: Mapping[str, int], is_live: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"s": places[edge.source], "t": places[edge.target]}
    told |= {"o": edge.key} if edge.key else {}
    if not carries(edge):
        return told | {"c": False}
    if is_live:
        told["p"] = json_value(edge.partial)
        if edge.formula:
            told["r"], put = edge.formula, factor(edge.formula)
            told |= {"b": put} if put != edge.formula else {}
    return told
