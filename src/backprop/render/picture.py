"""The graph laid out in pixels, with all that stands in its boxes and on its arrows; for whatever draws with a pen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from backprop.layout import Arrow, Box, Rect, Spacing, laid_out
from backprop.layout.shapes import Point
from backprop.record import Edge, Node, Trace
from backprop.render.drawing import (
    INDENT,
    SIGN,
    Text,
    arrow_lines,
    box_lines,
    folded,
    marks,
    node_role,
    refuse_too_large,
)
from backprop.render.look import Look, View
from backprop.render.tables import cells, visible
from backprop.surroundings import CODE
from backprop.working.brought import edge_name, ends, parallel

# Pixels. A monospaced letter is 0.6 em wide in most fonts and up to 0.618 em in some.
FONT, ADVANCE, LINE = 13.0, 8.0, 18.0
PAD_X, PAD_Y, MARGIN = 10.0, 6.0, 16.0
SPACING = Spacing(boxes=28, lines=16, layers=26, ports=16, label=6)
# The columns and lines of a text in a box and on an arrow; what is longer is folded, and cut in the middle.
BOX_COLUMNS, ARROW_COLUMNS, MOST_LINES = 40, 28, 3
MOST_DIGITS, CAPTION_COLUMNS = 60, 90
# Of a larger graph the description tells what it is and the answer alone.
MOST_DESCRIBED = 60

_NUMBER = re.compile(r"[-+0-9./e]+")


@dataclass(frozen=True, slots=True)
class DrawnBox:
    """A node. `role` is "input", "param", "constant", "output" or "box"; `title` all that is known of it, uncut."""

    id: str
    role: str
    rect: Rect
    lines: list[Text]
    title: str
    taken: bool


@dataclass(frozen=True, slots=True)
class DrawnArrow:
    """An edge, from the border of one box to that of another. `on_path`: it is of the path that stands out."""

    source: str
    target: str
    key: int
    points: list[Point]
    label: Rect | None
    lines: list[Text]
    title: str
    taken: bool
    on_path: bool

    @property
    def role(self) -> str:
        """Its role in the theme."""
        return "path" if self.on_path else "line"


@dataclass(frozen=True, slots=True)
class DrawnText:
    """A line that begins at `x` on the base line `y`."""

    x: float
    y: float
    text: Text


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing of `width` by `height` pixels, y downwards. The lines of `caption` stand at its top."""

    boxes: list[DrawnBox]
    arrows: list[DrawnArrow]
    caption: list[DrawnText]
    title: str
    description: str
    width: float
    height: float


def line_places(rect: Rect, lines: Sequence[Text]) -> Iterator[tuple[float, float, Text]]:
    """The middle of each line of text in a rectangle, on its base line."""
    top = rect.y + (rect.height - LINE * len(lines)) / 2
    for place, line in enumerate(lines):
        yield rect.x + rect.width / 2, top + (place + 0.75) * LINE, line


def picture(trace: Trace, look: Look) -> Picture:
    """The picture of a trace, or with `look.view.both` those of its two passes side by side.

    Raises `TooLargeToDraw`, before any work, for a graph that there is no room for.
    """
    refuse_too_large(trace)
    caption = [Text(part, role) for text, role in _caption(trace, look.view) for part in _lines(text)]
    if not look.view.both:
        return _one(trace, look, caption)
    told = "tangents" if trace.mode == "forward" else "adjoints, from the output back to the inputs"
    whole = _one(trace, look, [Text(told, "heading"), *caption])
    return _beside(_of_values(whole), whole)


def _of_values(whole: Picture) -> Picture:
    """The same picture, everything in its place, before any derivative is worked out."""

    def early(box: DrawnBox) -> DrawnBox:
        lines = [line for line in box.lines if line.role not in ("gradient", "tangent") and line.text[0] != "∂"]
        return replace(box, lines=lines, title="\n".join(line for line in box.title.split("\n") if line[:1] != "∂"))

    return replace(
        whole,
        boxes=[early(box) for box in whole.boxes],
        arrows=[
            replace(arrow, lines=[], label=None, title=arrow.title.partition("\n")[0], on_path=False)
            for arrow in whole.arrows
        ],
        caption=[replace(whole.caption[0], text=Text("values, from the inputs to the output", "heading"))],
    )


def _beside(left: Picture, right: Picture) -> Picture:
    """Two pictures as one, with what is said of the right one."""
    by = left.width
    return Picture(
        left.boxes + [replace(box, rect=box.rect._replace(x=box.rect.x + by)) for box in right.boxes],
        left.arrows
        + [
            replace(
                arrow,
                points=[(x + by, y) for x, y in arrow.points],
                label=arrow.label and arrow.label._replace(x=arrow.label.x + by),
            )
            for arrow in right.arrows
        ],
        left.caption + [replace(line, x=line.x + by) for line in right.caption],
        right.title,
        right.description,
        left.width + right.width,
        max(left.height, right.height),
    )


def _one(trace: Trace, look: Look, caption: Sequence[Text]) -> Picture:
    signs = marks(trace)
    places = {node.id: place for place, node in enumerate(trace.nodes)}
    nodes = list(trace.nodes)
    by_id = {node.id: node for node in nodes}
    whole = [box_lines(trace, node, look, signs) for node in nodes]
    in_boxes = [_folded(lines, BOX_COLUMNS) for lines in whole]
    edges = list(arrow_lines(trace, look))
    on_arrows = [_folded(lines, ARROW_COLUMNS) for _, lines in edges]
    boxes = [Box(*_size(lines, PAD_X, PAD_Y)) for lines in in_boxes]
    arrows = [
        Arrow(places[edge.source], places[edge.target], *(_size(lines, 0, 0) if lines else (0.0, 0.0)))
        for (edge, _), lines in zip(edges, on_arrows, strict=True)
    ]
    drawn = laid_out(boxes, arrows, SPACING, look.view.direction)
    down = MARGIN + LINE * len(caption) + (LINE / 2 if caption else 0)
    told: dict[str, list[str]] = {}
    for note in trace.notes:
        if note.node is not None:
            told.setdefault(note.node, []).append(note.text)
    twice = parallel(trace.edges)
    caption_width = max((cells(line.text) * ADVANCE for line in caption), default=0)
    return Picture(
        [
            DrawnBox(
                node.id,
                node_role(trace, node),
                _moved(rect, down),
                lines,
                _title([line.text for line in full if not line.text.startswith(SIGN)] + told.get(node.id, [])),
                node.taken,
            )
            for node, full, lines, rect in zip(nodes, whole, in_boxes, drawn.boxes, strict=True)
        ],
        [
            DrawnArrow(
                edge.source,
                edge.target,
                edge.key,
                [(x + MARGIN, y + down) for x, y in route.points],
                None if route.label is None else _moved(route.label, down),
                lines,
                _title(_edge_told(edge, full, ends(edge) in twice, trace, look)),
                is_taken(edge, by_id),
                (edge.source, edge.target, edge.key) in look.view.path,
            )
            for (edge, full), lines, route in zip(edges, on_arrows, drawn.arrows, strict=True)
        ],
        [DrawnText(MARGIN, MARGIN + (place + 0.75) * LINE, line) for place, line in enumerate(caption)],
        _heading(trace),
        _description(trace, whole, look),
        max(drawn.width, caption_width) + 2 * MARGIN,
        drawn.height + down + MARGIN,
    )


def is_taken(edge: Edge, nodes: Mapping[str, Node]) -> bool:
    """Whether an edge belongs to what was worked out: neither of a branch not taken nor the way from it to a choice."""
    target = nodes[edge.target]
    if not (nodes[edge.source].taken and target.taken):
        return False
    if target.op != "where" or not edge.key:
        return True
    condition = nodes.get(target.args[0]) if target.args else None
    is_first = None if condition is None else condition.value
    return not isinstance(is_first, bool) or is_first == (edge.key == 1)


def _folded(lines: Sequence[Text], columns: int) -> list[Text]:
    """Lines that are not too wide; a number of many digits is broken only where it is longer than `MOST_DIGITS`."""
    found: list[Text] = []
    for text, role in lines:
        shown = visible(text)
        wide = columns
        if len(shown) > columns:
            numbers = (len(word) for word in shown.split(" ") if _NUMBER.fullmatch(word))
            wide = max(columns, min(max(numbers, default=0), MOST_DIGITS) + len(INDENT) + len("= "))
        found += (Text(part, role) for part in folded(shown, wide, MOST_LINES))
    return found


def _size(lines: Sequence[Text], pad_x: float, pad_y: float) -> tuple[float, float]:
    return max(cells(line.text) for line in lines) * ADVANCE + 2 * pad_x, LINE * len(lines) + 2 * pad_y


def _moved(rect: Rect, down: float) -> Rect:
    return Rect(rect.x + MARGIN, rect.y + down, rect.width, rect.height)


# -- in words --------------------------------------------------------------------------------------------------------


def _title(lines: Iterable[str]) -> str:
    return "\n".join(map(visible, lines))


def _edge_told(edge: Edge, lines: Sequence[Text], is_twice: bool, trace: Trace, look: Look) -> Iterator[str]:
    """From where to where, the partial with its name, what it brings."""
    yield f"{edge.source} → {edge.target}" + (f", operand {edge.key + 1}" if is_twice else "")
    if lines:
        name = edge_name(edge, is_twice)
        yield f"{name} = {lines[0].text}" if edge.partial is not None else lines[0].text
        yield from (line.text for line in lines[1:])
    if edge.contribution is not None:
        yield f"brings {look.figure(edge.contribution)}"


def _heading(trace: Trace) -> str:
    """What is drawn: the last line of the program that works something out."""
    lines = [line.partition("#")[0].strip() for line in trace.program.splitlines()]
    last = next((line for line in reversed(lines) if line), trace.output)
    return f"Graph of {' '.join(folded(visible(last), 80, 1))}"


def _description(trace: Trace, lines: Sequence[Sequence[Text]], look: Look) -> str:
    """The same in words, for whoever does not see the drawing."""
    counts = (len(trace.nodes), "node"), (len(trace.edges), "edge")
    told = [" and ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts)]
    told.append(f"{trace.output}: no value" if trace.value is None else f"{trace.output} = {look.figure(trace.value)}")
    told += (f"∂{trace.output}/∂{name} = {look.figure(value)}" for name, value in trace.gradient.items())
    if len(lines) <= MOST_DESCRIBED:
        told += (", ".join(line.text.removeprefix(f"{SIGN} ") for line in one) for one in lines)
    return _title([f"{one}." for one in told])


def _caption(trace: Trace, view: View) -> Iterator[Text]:
    """Which path stands out, and what a part of a graph leaves out."""
    if view.path:
        yield Text(view.caption or f"path {_path(view.path)}", "path")
    yield from (Text(note.text, "quiet") for note in trace.notes if note.code == CODE)


def _path(edges: frozenset[tuple[str, str, int]]) -> str:
    """The nodes of a path in their order; of edges that are no path the names alone."""
    onward = {source: target for source, target, _ in edges}
    first = [source for source in onward if source not in onward.values()]
    if len(first) != 1 or len(onward) < len(edges):
        return ", ".join(sorted(onward))
    names = first
    while names[-1] in onward:
        names.append(onward[names[-1]])
    return " → ".join(names)


def _lines(text: str) -> list[str]:
    return folded(visible(text), CAPTION_COLUMNS, MOST_LINES)
