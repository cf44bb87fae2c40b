"""A plot as SVG: no script, no link, text that can be selected, colours of the theme on a light or a dark ground."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from xml.sax.saxutils import escape

from backprop.plots import Curve, Mark, Pair, Panel, Plot
from backprop.render.look import Look
from backprop.render.plots.scales import inside, labels, share, ticks
from backprop.render.plots.text import HEIGHT, HEIGHT_OF_TWO, MARKS, MOST_TITLE
from backprop.render.tables import cells, visible, wrap
from backprop.theme import THEME

WIDTH, ROW, LETTER, SIZE = 760, 19, 7.8, 13
# The height of a panel, alone and with others; more rows of text make it higher in proportion.
ALONE, SHARED = 380, 250
RIGHT, GAP = 24, 14
FONTS = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', 'Liberation Sans', sans-serif"
DASHES = {"dashed": "7 5", "dotted": "2 4"}
ROLES = ("heading", "name", "value", "gradient", "warning", "good", "quiet")
# Lines are cut a little outside of the panel, so that no end is seen.
OUTSIDE = 0.02
# Notes are wrapped, so that none is wider than the picture.
LETTERS = int((WIDTH - RIGHT) / LETTER) - 4


def render(plot: Plot, look: Look, height: int | None = None) -> Iterator[str]:
    """The lines of the picture; with no word on light or dark it follows whoever looks."""
    for line in _lines(plot, look, height):
        yield line.encode("ascii", "xmlcharrefreplace").decode("ascii") if look.ascii else line


def _lines(plot: Plot, look: Look, height: int | None) -> Iterator[str]:
    title = visible(plot.title)
    title = title if len(title) <= MOST_TITLE else f"{title[:MOST_TITLE]}…"
    says = visible(plot.says)
    each = ALONE if len(plot.panels) < 2 else SHARED
    if height is not None:
        each = round(each * height / (HEIGHT if len(plot.panels) < 2 else HEIGHT_OF_TWO))
    signs = [sort for sort in MARKS if any(mark.sort == sort for panel in plot.panels for mark in panel.marks)]
    notes = [line for note in plot.notes for line in wrap(visible(note.text), LETTERS, "    ")]
    heads = wrap(title, LETTERS, "    "), wrap(says, LETTERS, "    ")
    top = 16 + ROW * (len(heads[0]) + len(heads[1])) + 8
    high = top + len(plot.panels) * (each + GAP) + ROW * (bool(signs) + len(notes)) + 20
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {high}" width="{WIDTH}" height="{high}" '
        f'role="img" font-family="{FONTS}" font-size="{SIZE}">'
    )
    yield f"<title>{_text(title)}</title>"
    yield f"<desc>{_text('. '.join([says, *(visible(note.text) for note in plot.notes)]))}</desc>"
    yield from _style(look)
    yield f'<rect class="f-page" width="{WIDTH}" height="{high}"/>'
    y = 16.0
    for role, lines in zip(("heading", "quiet"), heads, strict=True):
        for line in lines:
            y += ROW
            bold = ' font-weight="bold"' if role == "heading" else ""
            yield _words(16, y - 5, line, role, bold)
    y = top
    texts = [text for panel in plot.panels for text in labels(_levels(panel, each), look)]
    left = 16 + max(map(cells, texts), default=1) * LETTER + 10
    for panel in plot.panels:
        yield from _panel(panel, look, y, each, left)
        y += each + GAP
    if signs:
        yield from _legend_of_marks(signs, y + 8)
        y += ROW
    for line in notes:
        y += ROW
        yield _words(16, y - 5, line, "heading", ' xml:space="preserve"')
    yield "</svg>"


def _style(look: Look) -> Iterator[str]:
    """The colours, of one ground or of both."""
    light = look.view.light
    yield "<style>"
    yield from _rules(light is not False)
    if light is None:
        yield "@media (prefers-color-scheme: dark) {"
        yield from _rules(False)
        yield "}"
    yield "</style>"


def _rules(light: bool) -> Iterator[str]:
    for role in (*ROLES, "page", "line"):
        colour = THEME[role].light if light else THEME[role].dark
        yield f".f-{role}{{fill:{colour}}}.s-{role}{{stroke:{colour}}}"


def _levels(panel: Panel, high: int) -> list[float]:
    return ticks(panel.y, max(high // 45, 2))


def _panel(panel: Panel, look: Look, top: float, high: int, left: float) -> Iterator[str]:
    """A panel: its title with the legend, axes with ticks, curves inside their box, marks above them."""
    levels = _levels(panel, high)
    texts = labels(levels, look)
    wide, tall = WIDTH - left - RIGHT, high - 26 - 38
    box_top = top + 26
    yield f"<g><title>{_text(visible(panel.title))}</title>"
    yield from _heads(panel, left, top + 15)
    for value, text in zip(levels, texts, strict=True):
        at = share(panel.y, value)
        if -1e-9 <= at <= 1 + 1e-9:
            y = box_top + (1 - at) * tall
            clear = 0.55 if value == 0 else 0.2
            yield f'<path class="s-line" stroke-opacity="{clear}" d="M{left:.1f} {y:.1f}h{wide:.1f}"/>'
            yield _words(left - 7, y + 4.5, text, "quiet", ' text-anchor="end"')
    for most in range(int(wide // 60), 1, -1):
        places = ticks(panel.x, most)
        written = labels(places, look)
        if sum(cells(text) + 2 for text in written) * LETTER < wide:
            break
    for value, text in zip(places, written, strict=True):
        x = left + share(panel.x, value) * wide
        yield f'<path class="s-line" stroke-opacity="0.2" d="M{x:.1f} {box_top:.1f}v{tall:.1f}"/>'
        yield _words(x, box_top + tall + 17, text, "quiet", ' text-anchor="middle"')
    label = visible(panel.x.label)
    yield _words(left + wide, box_top + tall + 33, label, "name", ' text-anchor="end"')
    yield f'<svg x="{left:.1f}" y="{box_top:.1f}" width="{wide:.1f}" height="{tall:.1f}" overflow="hidden">'
    for mark in panel.marks:
        if mark.sort == "pole":
            x = share(panel.x, mark.x) * wide
            yield f'<path class="s-quiet" stroke-dasharray="3 4" d="M{x:.2f} 0v{tall:.1f}"/>'
    for curve in panel.curves:
        yield from _curve(panel, curve, wide, tall)
    yield "</svg>"
    yield f'<rect class="s-line" fill="none" x="{left:.1f}" y="{box_top:.1f}" width="{wide:.1f}" height="{tall:.1f}"/>'
    dotted = [curve for curve in panel.curves if _has_dots(curve)]
    for place, curve in enumerate(dotted):
        for piece in curve.pieces:
            for x, y in piece:
                at_x, at_y = share(panel.x, x), share(panel.y, y)
                if 0 <= at_x <= 1 and 0 <= at_y <= 1:
                    yield _dot(place, left + at_x * wide, box_top + (1 - at_y) * tall, curve.role)
    yield from _marks(panel, left, box_top, wide, tall)
    yield "</g>"


def _has_dots(curve: Curve) -> bool:
    return curve.dots or curve.style == "points"


def _heads(panel: Panel, x: float, y: float) -> Iterator[str]:
    """The title of a panel, and beside it what each of several curves is."""
    title = visible(panel.title)
    yield _words(x, y, title, "heading", ' font-weight="bold"')
    x += (cells(title) + 3) * LETTER * 1.1
    dots = 0
    for curve in panel.curves if len(panel.curves) > 1 else ():
        if curve.style != "points":
            dashes = f' stroke-dasharray="{DASHES[curve.style]}"' if curve.style in DASHES else ""
            yield f'<path class="s-{curve.role}" stroke-width="1.8"{dashes} d="M{x:.1f} {y - 4:.1f}h28"/>'
        if _has_dots(curve):
            yield _dot(dots, x + 14, y - 4, curve.role)
            dots += 1
        yield _words(x + 34, y, visible(curve.name), "heading")
        x += 34 + (cells(visible(curve.name)) + 2) * LETTER


def _curve(panel: Panel, curve: Curve, wide: float, tall: float) -> Iterator[str]:
    """The lines of a curve, in the numbers of the box inside which it lies."""
    if curve.style == "points":
        return
    parts = []
    for piece in curve.pieces:
        places = [(share(panel.x, x), share(panel.y, y)) for x, y in piece]
        pen: Pair | None = None
        for start, end in pairwise(places):
            kept = inside(start, end, (-OUTSIDE, -OUTSIDE), (1 + OUTSIDE, 1 + OUTSIDE))
            if kept is None:
                continue
            if pen != kept[0]:
                parts.append(f"M{_place(kept[0], wide, tall)}")
            parts.append(f"L{_place(kept[1], wide, tall)}")
            pen = kept[1]
    if parts:
        dashes = f' stroke-dasharray="{DASHES[curve.style]}"' if curve.style in DASHES else ""
        yield (
            f'<path class="s-{curve.role}" fill="none" stroke-width="1.8" stroke-linejoin="round"{dashes} '
            f'd="{"".join(parts)}"><title>{_text(visible(curve.name))}</title></path>'
        )


def _place(place: Pair, wide: float, tall: float) -> str:
    return f"{place[0] * wide:.2f} {(1 - place[1]) * tall:.2f}"


def _dot(sort: int, x: float, y: float, role: str) -> str:
    """The point of a curve: full and empty circles, full and empty squares."""
    look = f'class="f-{role} s-{role}"' if sort % 2 == 0 else f'class="f-page s-{role}"'
    if sort % 4 < 2:
        return f'<circle {look} stroke-width="1.5" cx="{x:.2f}" cy="{y:.2f}" r="3.2"/>'
    return f'<rect {look} stroke-width="1.5" x="{x - 3:.2f}" y="{y - 3:.2f}" width="6" height="6"/>'


def _marks(panel: Panel, left: float, top: float, wide: float, tall: float) -> Iterator[str]:
    """Marks above the curves, closed ends above open ones, names beside their signs."""
    role = panel.curves[0].role
    taken: list[tuple[float, float, float]] = []
    for mark in sorted(panel.marks, key=lambda mark: mark.sort != "open"):
        if mark.y is None:
            continue
        at_x, at_y = share(panel.x, mark.x), share(panel.y, mark.y)
        if not (0 <= at_x <= 1 and 0 <= at_y <= 1):
            continue
        x, y = left + at_x * wide, top + (1 - at_y) * tall
        yield _sign(mark, x, y, role)
        if mark.sort != "name":
            continue
        text = visible(mark.text)
        size = cells(text) * LETTER
        for shift_x, shift_y in ((7, 4), (-7 - size, 4), (5, -7), (5, 16)):
            begin, line = x + shift_x, y + shift_y
            free = all(
                abs(line - other) >= ROW - 4 or begin > end or begin + size < start for start, end, other in taken
            )
            if free and left <= begin and begin + size <= left + wide:
                taken.append((begin, begin + size, line))
                end = ' text-anchor="end"' if shift_x < 0 else ""
                yield _words(begin + size if end else begin, line, text, "name", end)
                break


def _sign(mark: Mark, x: float, y: float, role: str) -> str:
    """The shape of a mark."""
    if mark.sort in ("open", "closed"):
        fill = "page" if mark.sort == "open" else role
        return f'<circle class="f-{fill} s-{role}" stroke-width="1.6" cx="{x:.2f}" cy="{y:.2f}" r="4"/>'
    if mark.sort == "best":
        corners = [(x + r * math.sin(a), y - r * math.cos(a)) for a, r in _STAR]
        return f'<path class="f-good" d="M{"L".join(f"{p:.2f} {q:.2f}" for p, q in corners)}z"/>'
    if mark.sort == "here":
        return f'<path class="s-name" stroke-width="3" d="M{x - 6:.2f} {y:.2f}h12M{x:.2f} {y - 6:.2f}v12"/>'
    if mark.sort == "name":
        return f'<path class="f-name" d="M{x:.2f} {y - 5:.2f}l5 9h-10z"/>'
    return f'<path class="f-warning" d="M{x:.2f} {y - 6:.2f}l5 6l-5 6l-5 -6z"/>'


_STAR = [(place * math.pi / 5, 8.0 if place % 2 == 0 else 3.4) for place in range(10)]


def _legend_of_marks(sorts: list[str], y: float) -> Iterator[str]:
    """What the marks mean."""
    x = 22.0
    for sort in sorts:
        if sort == "pole":
            yield f'<path class="s-quiet" stroke-dasharray="3 4" d="M{x:.1f} {y - 7:.1f}v14"/>'
        else:
            yield _sign(Mark(sort, 0), x, y, "heading")
        words = MARKS[sort][2]
        yield _words(x + 10, y + 4.5, words, "quiet")
        x += 10 + (len(words) + 4) * LETTER


def _words(x: float, y: float, text: str, role: str, more: str = "") -> str:
    return f'<text class="f-{role}" x="{x:.1f}" y="{y:.1f}"{more}>{_text(text)}</text>'


def _text(text: str) -> str:
    """Text as XML may hold it: `visible` has written out what it may not."""
    return escape(text)
