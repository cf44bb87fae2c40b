"""The picture of the graph at a moment: what is known so far, with the current node and edges lit.

A graph that is larger than the screen is shown in part: where the current node and those beside it are, or where even
these are far apart, as a graph of them alone; where there is no room for boxes, a line for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from backprop.layout import Direction
from backprop.notation import slope
from backprop.record import Edge, Node, Trace, Value
from backprop.render.characters import Drawing, Labels, Span, drawn
from backprop.render.drawing import MOST_ON_NODE, edge_labels
from backprop.render.excerpts import column
from backprop.render.look import Look, View
from backprop.render.tables import cells, visible
from backprop.stepping.moments import GIVEN, Moment, Moments, name_of
from backprop.working import NO_VALUE

# A graph of more nodes is never drawn whole, and of more nodes that one step is about these are drawn.
MOST_DRAWN, MOST_ABOUT = 60, 12
# A box takes no fewer cells than this, with what is between it and the next ones.
LEAST_BOX = 14 * 7
# More rows than any drawing has.
ENDLESS = 1 << 30
# A letter that looks like a space, and that nothing is folded at: the braille pattern without a dot.
HOLE = "\u2800"


def part_of(spans: Sequence[Span], left: int, width: int) -> list[Span]:
    """The columns of a row from `left` on, so many. Half of a wide letter is a space.

    >>> part_of([("ab漢", "name"), ("cd", None)], 1, 4)
    [('b漢', 'name'), ('c', None)]
    """
    found: list[Span] = []
    at = 0
    for text, role in spans:
        kept = ""
        for letter in text:
            size = cells(letter)
            inside = min(at + size, left + width) - max(at, left)
            if size == 0:
                kept += letter if kept else ""
            elif inside == size:
                kept += letter
            elif inside > 0:
                kept += " " * inside
            at += size
        if kept:
            found.append((kept, role))
    return found


class Window(NamedTuple):
    """A rectangle of character cells, by its top left corner."""

    x: int
    y: int
    width: int
    height: int

    def holds(self, other: Window) -> bool:
        """Whether another one is inside."""
        return (
            self.x <= other.x
            and other.x + other.width <= self.x + self.width
            and self.y <= other.y
            and other.y + other.height <= self.y + self.height
        )


def around(windows: Iterable[Window]) -> Window:
    """The least window that holds all of these."""
    every = list(windows)
    x, y = min(one.x for one in every), min(one.y for one in every)
    right, below = max(one.x + one.width for one in every), max(one.y + one.height for one in every)
    return Window(x, y, right - x, below - y)


def moved(window: Window, target: Window, width: int, height: int) -> Window:
    """The window over a drawing of this width and height, moved so that its middle is that of the target; it stays as
    it is when it holds the target already.

    >>> moved(Window(0, 0, 10, 5), Window(20, 2, 4, 2), 40, 5)
    Window(x=17, y=0, width=10, height=5)
    >>> moved(Window(17, 0, 10, 5), Window(18, 1, 2, 2), 40, 5)
    Window(x=17, y=0, width=10, height=5)
    """
    inside = Window(
        max(0, min(window.x, width - window.width)), max(0, min(window.y, height - window.height)), *window[2:]
    )
    if inside.holds(target):
        return inside
    x, y = target.x + (target.width - window.width) // 2, target.y + (target.height - window.height) // 2
    return Window(max(0, min(x, width - window.width)), max(0, min(y, height - window.height)), *window[2:])


class Shown(NamedTuple):
    """What is shown of a picture, and in words what is not; "" where it is whole."""

    rows: list[list[Span]]
    left_out: str = ""


class Way(NamedTuple):
    """A way to draw: where arrows lead, and whether the rules stand on them beside the numbers."""

    direction: Direction
    rules: bool


class Picture:
    """The pictures of the moments of a trace. All moments of one trace are drawn alike: only texts change."""

    def __init__(self, moments: Moments, look: Look) -> None:
        self.moments, self.look = moments, look
        self._window = Window(0, 0, 0, 0)
        self._fitting: dict[tuple[int, int], Way | None] = {}

    def part(self, moment: Moment, width: int, height: int) -> Shown:
        """As much of the picture as there is room for, with what the moment is about in it."""
        about, count = self._about(moment), len(self.moments.places)
        if count <= MOST_DRAWN:
            way = self._fits(width, height)
            if way is not None:
                return Shown(self._drawn(moment, self.moments.trace, way).rows)
            shown = self._through(self._drawn(moment, self.moments.trace, self._ways()[0]), about, width, height)
            if shown is not None:
                return Shown(shown, "part of the graph")
        part = self._cut(about)
        told = f"{len(part.nodes)} of {count} nodes" if len(part.nodes) < count else "the nodes, one a line"
        for way in self._ways():
            drawing = self._drawn(moment, part, way)
            if drawing.width <= width and len(drawing.rows) <= height:
                return Shown(drawing.rows, told)
        lines = [self._line(moment, node) for node in self._so_far(moment, part).nodes]
        return Shown([part_of(line, 0, width) for line in lines[:height]], told)

    def whole(self, moment: Moment, width: int | None) -> list[list[Span]]:
        """All of the picture, on paper of this width; of a graph too large to be drawn what the moment is about."""
        if len(self.moments.places) > MOST_DRAWN:
            return self._drawn(moment, self._cut(self._about(moment)), self._ways()[0]).rows
        way = self._ways()[0] if width is None else self._fits(width, ENDLESS) or self._ways()[0]
        return self._drawn(moment, self.moments.trace, way).rows

    # -- drawings -----------------------------------------------------------------------------------------------------

    def _ways(self) -> list[Way]:
        """The ways to draw, the one asked for first."""
        asked = self.look.view.direction
        return [Way(direction, rules) for direction in dict.fromkeys((asked, "right")) for rules in (True, False)]

    def _fits(self, width: int, height: int) -> Way | None:
        """The first way in which the whole graph has room; None where there is none."""
        boxes = sum(op != "const" for op in column(self.moments.trace, "op"))
        if boxes * LEAST_BOX > width * height:
            return None  # without a layout of each
        if (width, height) not in self._fitting:
            drawings = ((way, self._drawn(self.moments[0], self.moments.trace, way)) for way in self._ways())
            fitting = (way for way, one in drawings if one.width <= width and len(one.rows) <= height)
            self._fitting[width, height] = next(fitting, None)
        return self._fitting[width, height]

    def _drawn(self, moment: Moment, part: Trace, way: Way) -> Drawing:
        """A drawing of a part of the trace as it is known by then."""
        look = replace(self.look, view=View(way.direction))
        nodes = () if moment.node is None else (moment.node,)
        drawing = drawn(self._so_far(moment, part), look, Labels(rules=way.rules), nodes=nodes, edges=moment.edges)
        rows = [[(text.replace(HOLE, " "), role) for text, role in row] for row in drawing.rows]
        return replace(drawing, rows=rows)

    def _through(self, drawing: Drawing, about: list[str], width: int, height: int) -> list[list[Span]] | None:
        """A drawing through a window of this size; None where what the moment is about does not fit in it."""
        target = around(Window(*drawing.boxes[name]) for name in about)
        if target.width > width or target.height > height:
            return None
        window = self._window._replace(width=width, height=height)
        self._window = moved(window, target, drawing.width, len(drawing.rows))
        x, y = self._window[:2]
        return [part_of(row, x, width) for row in drawing.rows[y : y + height]]

    def _about(self, moment: Moment) -> list[str]:
        """The nodes that have to be seen, the current one first."""
        if moment.node is not None:
            return [moment.node, *moment.ends]
        trace = self.moments.trace
        names = list(trace.inputs) if moment.phase == GIVEN else [trace.output]
        return [name for name in names if name in self.moments.places] or [trace.output]

    def _cut(self, about: list[str]) -> Trace:
        """The trace with these nodes and the edges between them alone; of very many, the first."""
        trace, places = self.moments.trace, self.moments.places
        kept = sorted(places[name] for name in about[:MOST_ABOUT])
        edges = self.moments.edges_between(kept)
        return replace(
            trace, nodes=[trace.nodes[place] for place in kept], edges=edges, written_steps=self.moments.steps
        )

    # -- blanks -------------------------------------------------------------------------------------------------------

    def _so_far(self, moment: Moment, part: Trace) -> Trace:
        """What is known by then. Blanks are as wide as what will be there, so that nothing moves."""
        labels = {name_of(edge): label for edge, label in edge_labels(part, self.look)}

        def unwritten(edge: Edge) -> Edge:
            label, number = labels[name_of(edge)], self.look.figure(edge.partial)
            left, right = (None if one is None else self._blank_value(one) for one in (edge.left, edge.right))
            if edge.formula and label == f"{edge.formula} = {number}":
                return replace(edge, partial=self._blank(number), left=left, right=right)
            return replace(edge, partial=self._blank(label), formula=None, pull=None, left=left, right=right)

        return self.moments.so_far(moment, part, self._blank_value, unwritten)

    def _blank_value(self, value: Value | None) -> str:
        return self._blank(NO_VALUE[len("value ") :] if value is None else self.look.figure(value, MOST_ON_NODE))

    def _blank(self, text: str) -> str:
        """A blank that is folded as the text would be."""
        hole = "_" if self.look.ascii else HOLE
        blank = "".join(letter if letter == " " else hole * cells(letter) for letter in text)
        return blank if self.look.ascii else f"…{blank[1:]}"

    def _line(self, moment: Moment, node: Node) -> list[Span]:
        """A node in one line."""
        look, trace = self.look, self.moments.trace
        is_lit = node.id == moment.node
        told = [f"{node.id} = {node.formula}" if node.formula else node.id, look.figure(node.value)]
        if node.adjoint is not None:
            told.append(f"{slope(trace.output, node.id)} = {look.figure(node.adjoint)}")
        if node.tangent is not None:
            told.append(f"{slope(node.id, trace.wrt[0])} = {look.figure(node.tangent)}")
        mark = (">" if look.ascii else "▸") if is_lit else "-" if node.id in moment.nodes else " "
        text = visible(look.letters("   ".join(told))).replace(HOLE, " ")
        return [(f"{mark} {text}", "path" if is_lit else None)]
