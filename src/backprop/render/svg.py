"""The graph as SVG: one file without script or links, that follows a dark or light page and reads as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from math import hypot
from zlib import crc32

from backprop.layout.shapes import Point
from backprop.record import Trace
from backprop.render import Format
from backprop.render.drawing import Text, left_to_right
from backprop.render.look import Look
from backprop.render.picture import FONT, DrawnArrow, DrawnBox, Picture, line_places, picture
from backprop.render.tables import visible
from backprop.theme import LINES, TEXTS, THEME

FORMAT = Format("svg", suffix=".svg", says="a drawing for pages, with values, partials and derivatives", drawing=True)

# The fonts of programs and terminals, whichever there is.
FONTS = (
    "'JetBrains Mono', ui-monospace, 'Cascadia Mono', 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace"
)
# The head of an arrow, and how far before a bend a line begins to turn.
HEAD_LENGTH, HEAD_WIDTH, TURN = 9.0, 7.0, 10.0
# How wide lines are: of arrows, of one on the path, of frames, of that of the output.
WIDTHS = {"line": 1.3, "path": 3.0, "frame": 1.2, "output-frame": 2.6}

# How round the corners of boxes are, of inputs and of others; lines of a branch not taken are in pieces.
ROUND, SQUARE, DASHED = 16, 4, 'stroke-dasharray="5 4"'
# The roles of a box by what it is.
GROUNDS_OF = {"input": "input-box", "param": "param-box", "output": "output-box"}
FRAMES = {"input": "input-frame", "param": "param-frame", "output": "output-frame"}

# What XML 1.0 can hold neither as a letter nor as an entity.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(trace: Trace, look: Look) -> Iterator[str]:
    """Boxes and arrows as groups with titles; `data-source`, `data-target` and `data-key` tell an edge."""
    letters = _ascii if look.ascii else str
    return map(letters, drawn(picture(trace, look), look.view.light))


def drawn(whole: Picture, light: bool | None = None) -> Iterator[str]:
    """The lines of a picture; light, dark, or as whoever looks has it (light where that is not known)."""
    pen = _Pen(light is not False)
    name = f"backprop-{crc32(f'{whole.title}{whole.description}'.encode('utf-8', 'surrogatepass')):08x}"
    width, height = _number(whole.width), _number(whole.height)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="backprop" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="{name}-title {name}-desc" '
        f'font-family="{FONTS}" font-size="{_number(FONT)}" direction="ltr">'
    )
    yield f'<title id="{name}-title">{escape(whole.title)}</title>'
    yield f'<desc id="{name}-desc">{escape(whole.description)}</desc>'
    dark = _dark_rules() if light is None else ""
    yield f"<style>.backprop{{font-variant-ligatures:none}}{dark}</style>"
    yield f'<rect width="{width}" height="{height}" {pen.fill("page")}/>'
    for line in whole.caption:
        yield pen.text(line.x, line.y, line.text, "start")
    for arrow in whole.arrows:
        yield from _arrow(arrow, pen)
    for box in whole.boxes:
        yield from _box(box, pen)
    yield "</svg>"


def escape(text: str) -> str:
    """Text between tags or in an attribute between double quotes; what XML cannot hold is written out.

    >>> print(escape('a < "b" & \\x1b'))
    a &lt; &quot;b&quot; &amp; \\x1b
    """
    text = "\n".join(map(visible, text.split("\n"))).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = text.replace('"', "&quot;")
    return left_to_right(_FORBIDDEN.sub(lambda letter: f"\\u{ord(letter[0]):04x}", text))


class _Pen:
    """Colours by role: as attributes, which every program reads, and as classes, which a page can turn dark."""

    def __init__(self, light: bool) -> None:
        self.light = light

    def colour(self, role: str) -> str:
        return THEME[role].light if self.light else THEME[role].dark

    def fill(self, role: str) -> str:
        return f'class="{role}" fill="{self.colour(role)}"'

    def stroke(self, role: str) -> str:
        return f'class="{role}-stroke" stroke="{self.colour(role)}"'

    def text(self, x: float, y: float, line: Text, anchor: str = "middle") -> str:
        weight = ' font-weight="bold"' if is_bold(line.role) else ""
        return (
            f'<text x="{_number(x)}" y="{_number(y)}" text-anchor="{anchor}" xml:space="preserve"{weight} '
            f"{self.fill(line.role)}>{escape(line.text.strip())}</text>"
        )


def _box(box: DrawnBox, pen: _Pen) -> Iterator[str]:
    x, y, width, height = box.rect
    yield f'<g class="node {box.role}-node" data-node="{escape(box.id)}"><title>{escape(box.title)}</title>'
    frame, framed, drawn = FRAMES.get(box.role, "frame"), "", ""
    if box.role != "constant":  # it has no frame, only a ground that tells it from the partials on the arrows
        dashed = "" if box.taken else f" {DASHED}"
        framed = f" {frame}-stroke"
        drawn = f' stroke="{pen.colour(frame)}" stroke-width="{WIDTHS.get(frame, WIDTHS["frame"])}"{dashed}'
    ground = GROUNDS_OF.get(box.role, "box")
    yield (
        f'<rect class="{ground}{framed}" x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" '
        f'height="{_number(height)}" rx="{ROUND if box.role in ("input", "param") else SQUARE}" '
        f'fill="{pen.colour(ground)}"{drawn}/>'
    )
    for at_x, at_y, text in line_places(box.rect, box.lines):
        yield pen.text(at_x, at_y, text)
    yield "</g>"


def _arrow(arrow: DrawnArrow, pen: _Pen) -> Iterator[str]:
    yield (
        f'<g class="edge{" on-path" if arrow.on_path else ""}" data-source="{escape(arrow.source)}" '
        f'data-target="{escape(arrow.target)}" data-key="{arrow.key}"><title>{escape(arrow.title)}</title>'
    )
    wide = WIDTHS[arrow.role]
    dashed = "" if arrow.taken else f" {DASHED}"
    base, corners = head(arrow.points, arrow.on_path)
    yield (
        f'<path d="{curve([*arrow.points[:-1], base], _point)}" fill="none" {pen.stroke(arrow.role)} '
        f'stroke-width="{wide}"{dashed}/>'
    )
    yield f'<path d="M{"L".join(map(_point, corners))}Z" {pen.fill(arrow.role)}/>'
    if arrow.label is not None:
        x, y, width, height = arrow.label
        yield (
            f'<rect x="{_number(x - 2)}" y="{_number(y)}" width="{_number(width + 4)}" height="{_number(height)}" '
            f'{pen.fill("page")} fill-opacity="0.85"/>'
        )
        for at_x, at_y, text in line_places(arrow.label, arrow.lines):
            yield pen.text(at_x, at_y, Text(text.text, "path") if arrow.on_path else text)
    yield "</g>"


def head(points: Sequence[Point], on_path: bool) -> tuple[Point, list[Point]]:
    """Where the line of an arrow ends, and the corners of its head in front of it."""
    (x0, y0), (x, y) = points[-2], points[-1]
    length = hypot(x - x0, y - y0) or 1.0
    along_x, along_y = (x - x0) / length, (y - y0) / length
    scale = 1.4 if on_path else 1.0
    long, half = min(HEAD_LENGTH * scale, length), HEAD_WIDTH * scale / 2
    base_x, base_y = x - along_x * long, y - along_y * long
    left = (base_x - along_y * half, base_y + along_x * half)
    right = (base_x + along_y * half, base_y - along_x * half)
    return (base_x, base_y), [(x, y), left, right]


def is_bold(role: str) -> bool:
    """Whether texts of a role are written bold."""
    return "bold" in TEXTS[role].terminal or role in ("input", "param")


def curve(points: Sequence[Point], told: Callable[[Point], str]) -> str:
    """A line through points that turns softly at each; `told` writes a point."""
    drawn = [f"M{told(points[0])}"]
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        drawn.append(f"L{told(_toward(here, before))}Q{told(here)} {told(_toward(here, after))}")
    drawn.append(f"L{told(points[-1])}")
    return "".join(drawn)


def _toward(here: Point, there: Point) -> Point:
    """A point on the way from one to another, at most half of it away."""
    length = hypot(there[0] - here[0], there[1] - here[1]) or 1.0
    part = min(TURN, length / 2) / length
    return here[0] + (there[0] - here[0]) * part, here[1] + (there[1] - here[1]) * part


def _point(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(number: float) -> str:
    """Tenths of a pixel are enough."""
    return f"{number:.1f}".removesuffix(".0")


def _dark_rules() -> str:
    """The colours of every role where the page is dark; they win over the attributes."""
    fills = "".join(f".backprop .{role}{{fill:{paint.dark}}}" for role, paint in THEME.items())
    strokes = "".join(
        f".backprop .{role}-stroke{{stroke:{paint.dark}}}" for role, paint in (LINES | {"path": TEXTS["path"]}).items()
    )
    return f"@media (prefers-color-scheme: dark){{{fills}{strokes}}}"


def _ascii(line: str) -> str:
    return line.encode("ascii", "xmlcharrefreplace").decode("ascii")
