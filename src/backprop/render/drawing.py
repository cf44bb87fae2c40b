"""What a drawing of the graph says at each node and edge, whatever it is drawn with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from backprop.figures import shape_text
from backprop.mistakes import TooLargeToDraw
from backprop.notation import slope
from backprop.record import Edge, Node, Trace
from backprop.render.look import Look
from backprop.render.tables import wrap
from backprop.working import NO_VALUE, NOT_TAKEN
from backprop.working.brought import NOT_PROVEN, Known, carried_along

# A label has room for arrays of so few elements, and one on an edge for fewer.
MOST_ON_NODE, MOST_ON_EDGE = 8, 4
# No more can be told apart in a drawing, and a layout of more takes minutes.
MOST_NODES, MOST_EDGES = 2_000, 6_000
# Before the short name of a note that is about a node.
SIGN = "⚠"
# In front of the later lines of a text that takes several.
INDENT = "  "

# Notes that no sign is needed for: they are about how the program was read or how an answer was proven.
_WITHOUT_SIGN = frozenset(
    {"read-as", "lonely-line", "rounded", "named-formulas", "narrower", "certified", "unused-hole"}
)
_BAD = frozenset({"undefined", "not-proven", "overflow", "birth"})
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]+")


class Text(NamedTuple):
    """A line of text with its role in the theme."""

    text: str
    role: str


def refuse_too_large(trace: Trace) -> None:
    """Raise `TooLargeToDraw` for a graph that no layout should be begun for."""
    nodes, edges = len(trace.nodes), len(trace.edges)
    if nodes > MOST_NODES or edges > MOST_EDGES:
        raise TooLargeToDraw(nodes, edges, MOST_NODES, MOST_EDGES)


# -- nodes -----------------------------------------------------------------------------------------------------------


def node_role(trace: Trace, node: Node) -> str:
    """What a node is, for its frame: "output", "param", "input", "constant" or "box"."""
    if node.id == trace.output:
        return "output"
    if node.op == "input":
        return "param" if node.id in trace.params else "input"
    return "constant" if node.op == "const" else "box"


def marks(trace: Trace) -> dict[str, Text]:
    """The notes that are about a node, by the node, as a line with a sign: `⚠ kink, dead-relu`."""
    codes: dict[str, list[str]] = {}
    for note in trace.notes:
        if note.node is not None and note.code not in _WITHOUT_SIGN:
            found = codes.setdefault(note.node, [])
            if note.code not in found:
                found.append(note.code)
    return {
        node: Text(f"{SIGN} {', '.join(found)}", "warning" if _BAD.isdisjoint(found) else "bad")
        for node, found in codes.items()
    }


def box_lines(trace: Trace, node: Node, look: Look, signs: Mapping[str, Text] | None = None) -> list[Text]:
    """The lines in a node: what it is, its shape, its value, its adjoint or tangent, and a sign where a note is.

    `signs` are the `marks` of the trace, for whoever asks for many nodes.
    """
    signs = marks(trace) if signs is None else signs
    sign = [signs[node.id]] if node.id in signs else []
    role = node_role(trace, node)
    number = look.figure(node.value, MOST_ON_NODE)
    if node.op == "const" and node.id.partition("~")[0] == look.figure(node.value):
        return [Text(look.figure(node.value), "constant"), *_slopes(trace, node, look), *sign]
    name = f"{node.id} = {node.formula}" if node.formula else node.id
    lines = [Text(f"{name} (param)" if role == "param" else name, {"box": "name", "output": "name"}.get(role, role))]
    if not node.taken:
        return [*lines, Text(NOT_TAKEN, "quiet"), *sign]
    if node.shape:
        lines.append(Text(f"shape {shape_text(node.shape)}", "quiet"))
    if node.value is None:
        lines.append(Text(NO_VALUE if node.proven else NOT_PROVEN, "bad"))
    else:
        lines.append(Text(f"value {number}", "value"))
    return [*lines, *_slopes(trace, node, look), *sign]


def _slopes(trace: Trace, node: Node, look: Look) -> Iterator[Text]:
    if node.adjoint is not None:
        yield Text(f"{slope(trace.output, node.id)} = {look.figure(node.adjoint, MOST_ON_NODE)}", "gradient")
    elif trace.mode == "reverse" and node.id in trace.wrt and trace.gradient.get(node.id) is None:
        yield Text(f"{slope(trace.output, node.id)}: {NO_VALUE}", "bad")
    if node.tangent is not None:
        along = slope(node.id, ", ".join(trace.wrt))
        yield Text(f"{along} = {look.figure(node.tangent, MOST_ON_NODE)}", "tangent")


def node_lines(trace: Trace, node: Node, look: Look, signs: Mapping[str, Text] | None = None) -> Iterator[str]:
    """The texts of `box_lines`."""
    return (line.text for line in box_lines(trace, node, look, signs))


# -- edges -----------------------------------------------------------------------------------------------------------


def arrow_lines(trace: Trace, look: Look) -> Iterator[tuple[Edge, list[Text]]]:
    """Every edge with the lines that stand on it: its partial, and at a kink those beside it."""
    for edge, text in edge_labels(trace, look):
        lines = [Text(text, "partial")] if text else []
        beside = [
            f"{side} {look.figure(partial, MOST_ON_EDGE)}"
            for side, partial in (("left", edge.left), ("right", edge.right))
            if partial is not None
        ]
        if beside:
            lines.append(Text(f"{SIGN} {', '.join(beside)}", "warning"))
        yield edge, lines


def edge_labels(trace: Trace, look: Look) -> Iterator[tuple[Edge, str]]:
    """Every edge with its partial."""
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


# -- letters ---------------------------------------------------------------------------------------------------------


def left_to_right(text: str) -> str:
    """A formula whose parts stay in their order where names of Hebrew or Arabic letters are in it.

    A sign between such a name and a number would be taken to belong to the name and be shown on its other side; a
    left-to-right mark (U+200E), which is not seen, ends the name (Unicode Standard Annex 9).
    """
    return text if text.isascii() else _RIGHT_TO_LEFT.sub(lambda name: name[0] + "\u200e", text)


def folded(text: str, width: int, most: int) -> list[str]:
    """A text in at most so many lines of `width` columns; of a longer one the two ends, with … between them.

    >>> folded("a + b + c + d + e", 9, 2), folded("abcdefghijklmnopq", 5, 2)
    (['a + b + c', '  + d + e'], ['abcd', '  … q'])
    """
    kept = width * most
    while True:
        end = len(text) - kept // 3
        shown = text if len(text) <= kept else f"{text[: kept - kept // 3]} … {text[end:]}"
        lines = wrap(shown, width, INDENT)
        if len(lines) <= most:
            return lines
        kept -= max(1, kept // 16)
