"""The graph in characters, for a terminal: boxes with values and derivatives, lines with partials.

A drawing that is wider than the screen is drawn anew with less on it, then in part; no line is cut. In a pipe there is
no width, so it is always whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from backprop.mistakes import Apart
from backprop.record import Trace
from backprop.render import Format
from backprop.render.characters import Drawing, Labels, drawn, painted
from backprop.render.drawing import MOST_NODES as MOST_DRAWN
from backprop.render.look import Look
from backprop.render.tables import paragraph
from backprop.surroundings import CODE, Surroundings

FORMAT = Format("text", suffix=".graph", says="the graph in characters, for a terminal", drawing=True)

# More than this cannot be overseen in characters. Of larger graphs a part is shown, of so many steps at most.
MOST_NODES, MOST_EDGES, MOST_HOPS = 60, 150, 4
# From all that is to say to the least.
ARRANGEMENTS = (Labels(), Labels(rules=False), Labels(rules=False, line=24), Labels(rules=False, line=14))
# The whole, or another part.
ELSEWHERE = "; --around NODE --hops N shows another part"


def render(trace: Trace, look: Look) -> Iterator[str]:
    """The drawing, what is too long for it, the path that stands out, and what is left out.

    Raises `Apart` where both passes are asked for.
    """
    if look.view.both:
        raise Apart(["--both", "--format text"], "-o graph.svg, --format dot or mermaid have room for both passes.")
    drawing, part, why = fitting(trace, look)
    for spans in drawing.rows:
        yield painted(spans, look)
    for line in drawing.legend:
        yield from paragraph(look, line, "partial")
    if look.view.caption:
        yield from paragraph(look, look.view.caption, "path")
    for note in part.notes:
        if note.code == CODE:
            yield from paragraph(look, f"note: {why}{note.text}", "quiet")
            whole = "-o graph.svg draws" if len(trace.nodes) <= MOST_DRAWN else "--format dot or json tells"
            yield from paragraph(look, f"note: {whole} all of it{ELSEWHERE}", "quiet")
        elif note.node is not None:
            yield from paragraph(look, f"note: {note.text}", "warning")
    if look.width is not None and drawing.width > look.width:
        told = f"the drawing is {drawing.width} columns wide and the screen {look.width}; -o graph.svg draws it as well"
        yield from paragraph(look, f"note: {told}", "warning")


def fitting(trace: Trace, look: Look) -> tuple[Drawing, Trace, str]:
    """The drawing with most on it that there is room for, what it shows, and why that is not all."""
    small = len(trace.nodes) <= MOST_NODES and len(trace.edges) <= MOST_EDGES
    width: int | None = None
    if small:
        found = _arranged(trace, look)
        if look.width is None or found.width <= look.width:
            return found, trace, ""
        width = found.width
    view = look.view
    around = Surroundings(trace, view.around or trace.output)
    part, drawing = trace, None
    for hops in range(min(MOST_HOPS, view.hops if view.around else MOST_HOPS), -1, -1):
        tried = around.within(hops, MOST_NODES)
        if tried is None or (len(tried.nodes) == len(trace.nodes) and width is not None):
            continue
        if len(tried.edges) > MOST_EDGES:
            continue
        part, drawing = tried, _arranged(tried, look)
        if look.width is None or drawing.width <= look.width:
            break
    if drawing is None:  # a single node that is wider than the screen
        return found, trace, ""
    why = f"the whole is {width} columns wide, so " if width is not None else ""
    return drawing, part, why


def _arranged(trace: Trace, look: Look) -> Drawing:
    """The first arrangement that fits, or else the narrowest."""
    narrowest: Drawing | None = None
    for labels in ARRANGEMENTS:
        found = drawn(trace, look, labels)
        if look.width is None or found.width <= look.width:
            return found
        if narrowest is None or found.width < narrowest.width:
            narrowest = found
    assert narrowest is not None
    return narrowest
