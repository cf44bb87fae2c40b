"""The drawing as PDF: one page of its own size, lines as lines and text as text, with its font in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from backprop.layout.shapes import Point
from backprop.mistakes import ExtraMissing
from backprop.record import Trace
from backprop.render import Format
from backprop.render.drawing import Text
from backprop.render.look import Look
from backprop.render.picture import FONT, DrawnArrow, DrawnBox, Picture, line_places, picture
from backprop.render.svg import FRAMES, GROUNDS_OF, ROUND, SQUARE, WIDTHS, head, is_bold
from backprop.theme import THEME

FORMAT = Format("pdf", ".pdf", "the drawing as a page of its size (extra pdf)", binary=True, drawing=True)

FAMILY = "JetBrains Mono"
# Points for a pixel; a page longer than MOST_POINTS is one that readers refuse, so a larger drawing is made smaller.
SCALE, MOST_POINTS = 0.75, 14_000.0


def render(trace: Trace, look: Look) -> Iterator[bytes]:
    """The page, on a light ground unless `look.view` asks for a dark one; the same trace gives the same bytes.

    Letters that the font has not are written out, as \\u05d0. Raises `ExtraMissing` and `TooLargeToDraw`.
    """
    try:
        from fontpkg_jetbrains_mono import ROOT
        from fpdf import FPDF
    except ImportError:
        raise ExtraMissing("a PDF", "pdf") from None
    whole = picture(trace, look)
    scale = min(SCALE, MOST_POINTS / max(whole.width, whole.height))
    pdf = FPDF(unit="pt", format=(whole.width * scale, whole.height * scale))
    pdf.set_creation_date(datetime.fromtimestamp(0, UTC))
    pdf.set_title(whole.title)
    pdf.set_subject(whole.description)
    pdf.set_margin(0)
    pdf.set_auto_page_break(False)
    pdf.add_page()
    font = next(path for path in sorted(ROOT.rglob("*.ttf")) if "Italic" not in path.name)
    pdf.add_font(FAMILY, fname=font, variations={"": {"wght": 400.0}, "B": {"wght": 700.0}})
    page = _Page(pdf, scale, look.view.light is not False)
    page.draw(whole)
    yield bytes(pdf.output())


class _Page:
    """What a picture is drawn on, in its pixels."""

    def __init__(self, pdf: Any, scale: float, light: bool) -> None:
        self.pdf, self.scale, self.light = pdf, scale, light

    def draw(self, whole: Picture) -> None:
        """All of a picture: ground, caption, arrows, boxes."""
        self._colour("fill", "page")
        self.pdf.rect(0, 0, whole.width * self.scale, whole.height * self.scale, style="F")
        for line in whole.caption:
            self._text(line.x, line.y, line.text, centred=False)
        for arrow in whole.arrows:
            self._arrow(arrow)
        for box in whole.boxes:
            self._box(box)

    def _colour(self, what: str, role: str) -> None:
        colour = THEME[role].light if self.light else THEME[role].dark
        getattr(self.pdf, f"set_{what}_color")(*(int(colour[place : place + 2], 16) for place in (1, 3, 5)))

    def _pen(self, role: str, width: float, taken: bool) -> None:
        self._colour("draw", role)
        self.pdf.set_line_width(width * self.scale)
        self.pdf.set_dash_pattern(*((0, 0) if taken else (5 * self.scale, 4 * self.scale)))

    def _points(self, points: Sequence[Point]) -> list[Point]:
        return [(x * self.scale, y * self.scale) for x, y in points]

    def _text(self, x: float, y: float, line: Text, centred: bool = True) -> None:
        self._colour("text", line.role)
        self.pdf.set_font(FAMILY, "B" if is_bold(line.role) else "", FONT * self.scale)
        known = self.pdf.current_font.cmap
        shown = "".join(one if ord(one) in known else f"\\u{ord(one):04x}" for one in line.text.strip())
        left = x * self.scale - (self.pdf.get_string_width(shown) / 2 if centred else 0)
        self.pdf.text(left, y * self.scale, shown)

    def _box(self, box: DrawnBox) -> None:
        x, y, width, height = (part * self.scale for part in box.rect)
        frame = FRAMES.get(box.role, "frame")
        self._colour("fill", GROUNDS_OF.get(box.role, "box"))
        self._pen(frame, WIDTHS.get(frame, WIDTHS["frame"]), box.taken)
        corner = (ROUND if box.role in ("input", "param") else SQUARE) * self.scale
        style = "F" if box.role == "constant" else "DF"
        self.pdf.rect(x, y, width, height, style=style, round_corners=True, corner_radius=corner)
        for at_x, at_y, line in line_places(box.rect, box.lines):
            self._text(at_x, at_y, line)

    def _arrow(self, arrow: DrawnArrow) -> None:
        base, corners = head(arrow.points, arrow.on_path)
        self._pen(arrow.role, WIDTHS[arrow.role], arrow.taken)
        self.pdf.polyline(self._points([*arrow.points[:-1], base]))
        self._colour("fill", arrow.role)
        self.pdf.polygon(self._points(corners), style="F")
        if arrow.label is not None:
            for x, y, line in line_places(arrow.label, arrow.lines):
                self._text(x, y, Text(line.text, "path") if arrow.on_path else line)
