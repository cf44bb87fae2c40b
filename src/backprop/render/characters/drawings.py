"""A trace drawn in character cells."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from backprop.layout import Arrow, Box, Direction
from backprop.record import Edge, Node, Trace
from backprop.render.characters.canvas import DOWN, RIGHT, UP, Canvas, Span
from backprop.render.characters.plan import Place, planned, room_for
from backprop.render.drawing import Text, arrow_lines, box_lines, left_to_right, marks, node_role
from backprop.render.look import Look
from backprop.render.tables import cells, visible, wrap
from backprop.working.brought import edge_name, parallel

EdgeName = tuple[str, str, int]

# The frame of a box by what it is; a constant has none.
FRAMES = {"input": "input-frame", "param": "param-frame", "output": "output-frame", "box": "frame", "constant": None}
WAYS = {"up": UP, "down": DOWN, "right": RIGHT}
# A label is no wider than this, and a line in a box; a longer label stands below the drawing, a longer line is folded.
WIDEST_LABEL, WIDEST_LINE = 24, 48
SHORT_RULE = 8  # stands where there is no number


class Labels(NamedTuple):
    """How much room texts are given: the rule on an arrow beside its number, and the columns of a line in a box."""

    rules: bool = True
    line: int = WIDEST_LINE


EVERYTHING = Labels()


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawing: its rows, where the box of each node is, and what was too long for an arrow, in full."""

    rows: list[list[Span]]
    boxes: dict[str, Place]
    legend: list[str]
    width: int


def drawn(
    trace: Trace,
    look: Look,
    labels: Labels = EVERYTHING,
    *,
    nodes: Collection[str] = (),
    edges: Collection[EdgeName] = (),
) -> Drawing:
    """The graph of a trace, each node in a box and each edge a line with its partial.

    `nodes` are lit, and so are `edges` and those of the path of `look.view`, which are drawn heavy.
    """
    direction = look.view.direction
    signs = marks(trace)
    roles = [node_role(trace, node) for node in trace.nodes]
    texts = [_in_box(box_lines(trace, node, look, signs), look, labels.line) for node in trace.nodes]
    framed = [role != "constant" or _moves(node) for role, node in zip(roles, trace.nodes, strict=True)]
    on_edges, legend = _on_edges(trace, look, labels)
    arrows = _arrows(trace, on_edges)
    boxes = _boxes(texts, framed, arrows, direction)
    plan = planned(tuple(boxes), tuple(framed), tuple(arrows), direction, look.ascii)
    canvas = Canvas(plan.width, plan.height, look.ascii)
    for node, lines, role, has_frame, at in zip(trace.nodes, texts, roles, framed, plan.boxes, strict=True):
        is_lit = node.id in nodes
        if has_frame:
            canvas.frame(*at, "path" if is_lit else FRAMES[role], role == "output", is_lit)
        x, y, height = (at.x + 2, at.y + 1, at.height - 2) if has_frame else (at.x, at.y, at.height)
        for row, line in enumerate(lines, y + (height - len(lines)) // 2):
            canvas.text(x, row, line.text, "path" if is_lit else line.role)
    lit, way = {*edges, *look.view.path}, WAYS[direction]
    for edge, arrow, route, on in zip(trace.edges, arrows, plan.lines, on_edges, strict=True):
        heavy = (edge.source, edge.target, edge.key) in lit
        colour = "path" if heavy else "line" if on else "quiet"
        canvas.line(route.points, way, heavy, colour)
        canvas.head(*route.points[-1], way, colour)
        role = roles[arrow.source]
        if framed[arrow.source]:
            is_lit = edge.source in nodes
            frame = colour if heavy else "path" if is_lit else FRAMES[role]
            canvas.leave(*route.points[0], way, role == "output", heavy, frame, is_lit)
        for row, one in enumerate(on, route.label.y):
            in_line = direction == "right"
            text = f" {one.text} " if in_line else one.text
            canvas.text(route.label.x - in_line, row, text, colour if heavy else one.role)
    places = {node.id: at for node, at in zip(trace.nodes, plan.boxes, strict=True)}
    return Drawing(list(canvas.rows()), places, legend, plan.width)


def _arrows(trace: Trace, on_edges: list[list[Text]]) -> list[Arrow]:
    """The edges by the places of their nodes, with the room that their labels take."""
    place = {node.id: index for index, node in enumerate(trace.nodes)}
    return [
        Arrow(place[edge.source], place[edge.target], max((cells(one.text) for one in on), default=0), max(1, len(on)))
        for edge, on in zip(trace.edges, on_edges, strict=True)
    ]


def _boxes(texts: list[list[Text]], framed: list[bool], arrows: list[Arrow], direction: Direction) -> list[Box]:
    """Boxes as large as their texts, with their frames, and as the arrows at one side of them."""
    leaving, reaching = [0] * len(texts), [0] * len(texts)
    for arrow in arrows:
        leaving[arrow.source] += 1
        reaching[arrow.target] += 1
    found = []
    for lines, has_frame, *counts in zip(texts, framed, leaving, reaching, strict=True):
        width, height = max(cells(line.text) for line in lines), len(lines)
        if has_frame:
            width, height = width + 4, height + 2
        if has_frame or max(counts) > 1:
            room = room_for(max(counts), direction)
            width, height = (width, max(height, room)) if direction == "right" else (max(width, room), height)
        found.append(Box(width, height))
    return found


def _moves(node: Node) -> bool:
    """Whether something is told of it besides its value."""
    return node.adjoint is not None or node.tangent is not None


def _shown(text: str, look: Look) -> str:
    return visible(look.letters(text))


def _in_box(lines: list[Text], look: Look, width: int) -> list[Text]:
    """The lines of a box, the long ones in several."""
    return [
        Text(left_to_right(part) if not look.ascii else part, line.role)
        for line in lines
        for part in wrap(_shown(line.text, look), width, "  ")
    ]


def _on_edges(trace: Trace, look: Look, labels: Labels) -> tuple[list[list[Text]], list[str]]:
    """What stands on each arrow, and in full what is too long for it."""
    found: list[list[Text]] = []
    legend: list[str] = []
    doubled = parallel(trace.edges)
    width = WIDEST_LABEL
    for edge, lines in arrow_lines(trace, look):
        texts = [Text(_shown(line.text, look), line.role) for line in lines]
        if texts and (not labels.rules or max(cells(line.text) for line in texts) > width):
            texts, told = _shorter(edge, texts, look, (edge.source, edge.target) in doubled)
            legend += told
        if look.view.direction == "right" and len(texts) > 1:
            texts = [Text("; ".join(line.text for line in texts), texts[-1].role)]
        found.append([line._replace(text=left_to_right(line.text) if not look.ascii else line.text) for line in texts])
    return found, legend


def _shorter(edge: Edge, texts: list[Text], look: Look, doubled: bool) -> tuple[list[Text], list[str]]:
    """The number alone, or the name of the partial where that is too long as well; with what it stands for."""
    number = "" if edge.partial is None else _shown(look.figure(edge.partial, 4), look)
    name = _shown(edge_name(edge, doubled), look)
    if len(texts) == 1:
        room = WIDEST_LABEL if texts[0].text == number else 0 if number else max(SHORT_RULE, cells(name))
        if cells(texts[0].text) <= room:
            return texts, []
    short = number if number and cells(number) <= WIDEST_LABEL else name
    role = texts[-1].role
    if len(texts) > 1:
        short = f"{_shown('⚠', look)} {short}"
    return [Text(short, role)], [f"{name} = " + "; ".join(line.text for line in texts)]
