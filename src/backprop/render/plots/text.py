"""A plot in characters: lines in dots of Braille, eight to a letter, or in the points and quotes of ASCII.

The canvas is our own and small: there is nothing global in it, the same plot gives the same letters, and every line is
as wide as it says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from backprop.plots import Curve, Mark, Panel, Plot
from backprop.render.look import Look
from backprop.render.plots.scales import inside, labels, share, ticks
from backprop.render.tables import cells, paragraph, visible

WIDTH, HEIGHT, HEIGHT_OF_TWO = 80, 22, 30
LEAST_WIDTH, LEAST_HEIGHT = 30, 6
# A title of more letters is that of a program too long to be read here.
MOST_TITLE = 240

# The dots of a Braille letter by column and row; those of the half letters of ASCII by row.
BRAILLE = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
HALVES = {1: "'", 2: ".", 3: ":"}
# The signs of the points of curves, and of marks: with Unicode, and in ASCII.
DOTS = (("●", "*"), ("○", "o"), ("▪", "+"), ("▫", "x"))
MARKS = {
    "kink": ("◆", "#", "kink"),
    "open": ("○", "o", "open end"),
    "closed": ("●", "@", "closed end"),
    "pole": ("┊", "|", "pole"),
    "here": ("✚", "+", "the value given"),
    "best": ("★", "%", "least"),
    "name": ("▲", "^", "named node"),
}
MARK_ROLES = {"kink": "warning", "pole": "quiet", "best": "good", "name": "name", "here": "name"}
# How many dots of a line are drawn, and how many left out.
GAPS = {"solid": (1, 0), "dashed": (5, 4), "dotted": (1, 3)}


class Canvas:
    """Cells of letters with their roles, and dots in them: 2 × 4 of Braille, 1 × 2 in ASCII."""

    def __init__(self, columns: int, rows: int, ascii: bool) -> None:
        self.columns, self.rows, self.ascii = columns, rows, ascii
        self.across, self.down = (1, 2) if ascii else (2, 4)
        self.dots = [[0] * columns for _ in range(rows)]
        self.letters: list[list[str | None]] = [[None] * columns for _ in range(rows)]
        self.roles: list[list[str | None]] = [[None] * columns for _ in range(rows)]

    def cell(self, x: float, y: float) -> tuple[int, int] | None:
        """Column and row of a place, which is given in shares of the width and, from below, of the height."""
        if not (0 <= x <= 1 and 0 <= y <= 1):
            return None
        column, row = self._dot(x, y)
        return column // self.across, row // self.down

    def _dot(self, x: float, y: float) -> tuple[int, int]:
        across, down = self.columns * self.across, self.rows * self.down
        return min(int(x * (across - 1) + 0.5), across - 1), min(int((1 - y) * (down - 1) + 0.5), down - 1)

    def line(self, start: tuple[float, float], end: tuple[float, float], role: str, style: str, drawn: int) -> int:
        """A line between two places; `drawn` is how many dots its curve has already, and so is what comes back."""
        kept = inside(start, end, (0.0, 0.0), (1.0, 1.0))
        if kept is None:
            return drawn
        (column, row), (last_column, last_row) = self._dot(*kept[0]), self._dot(*kept[1])
        steps = max(abs(last_column - column), abs(last_row - row))
        on, off = GAPS.get(style, GAPS["solid"])
        for step in range(steps + 1):
            if (drawn + step) % (on + off) < on:
                part = step / steps if steps else 0.0
                self._put(
                    int(column + part * (last_column - column) + 0.5), int(row + part * (last_row - row) + 0.5), role
                )
        return drawn + steps

    def _put(self, column: int, row: int, role: str) -> None:
        cell, line = column // self.across, row // self.down
        bit = 1 << (row % 2) if self.ascii else BRAILLE[column % 2][row % 4]
        self.dots[line][cell] |= bit
        self.roles[line][cell] = role

    def sign(self, x: float, y: float, sign: str, role: str) -> tuple[int, int] | None:
        """A letter at a place; where it came to stand."""
        found = self.cell(x, y)
        if found is not None:
            self._letter(*found, sign, role)
        return found

    def _letter(self, column: int, row: int, letter: str, role: str) -> None:
        self.letters[row][column], self.roles[row][column] = letter, role

    def is_free(self, column: int, row: int, width: int) -> bool:
        """Whether so many cells of a row hold nothing."""
        if not (column >= 0 and column + width <= self.columns and 0 <= row < self.rows):
            return False
        return all(self.letters[row][c] is None and not self.dots[row][c] for c in range(column, column + width))

    def write(self, column: int, row: int, text: str, role: str) -> None:
        """A word from a cell on; a wide letter takes two cells."""
        for letter in text:
            self._letter(column, row, letter, role)
            for further in range(1, cells(letter)):
                self._letter(column + further, row, "", role)
            column += cells(letter)

    def level(self, y: float, sign: str) -> None:
        """A quiet line across, behind everything else."""
        found = self.cell(0.0, y)
        if found is not None:
            for column in range(self.columns):
                if self.letters[found[1]][column] is None and not self.dots[found[1]][column]:
                    self._letter(column, found[1], sign, "quiet")

    def upright(self, x: float, sign: str) -> None:
        """A quiet line from below to above, where nothing else stands."""
        found = self.cell(x, 0.0)
        for row in range(self.rows) if found is not None else ():
            assert found is not None
            if not self.dots[row][found[0]]:
                self._letter(found[0], row, sign, "quiet")

    def line_of(self, row: int, look: Look) -> str:
        """A row of letters, painted in pieces of one role."""
        found: list[tuple[str, str | None]] = []
        for column in range(self.columns):
            letter, dots = self.letters[row][column], self.dots[row][column]
            if letter is None:
                letter = " " if not dots else HALVES[dots] if self.ascii else chr(0x2800 + dots)
            found.append((letter, self.roles[row][column]))
        pieces = [("".join(letter for letter, _ in group), role) for role, group in groupby(found, lambda one: one[1])]
        if pieces and pieces[-1][0].isspace():
            pieces.pop()
        return "".join(look.paint(text, role) for text, role in pieces).rstrip(" ")


def render(plot: Plot, look: Look, height: int | None = None) -> Iterator[str]:
    """The panels one below the other, what their signs mean, and what is to be said."""
    title = visible(plot.title)
    title = title if len(title) <= MOST_TITLE else f"{title[:MOST_TITLE]}…"
    yield from paragraph(look, look.letters(title), "heading")
    yield from paragraph(look, look.letters(visible(plot.says)), "quiet", "")
    width = max(look.width or WIDTH, LEAST_WIDTH)
    count = len(plot.panels)
    rows = max((height or (HEIGHT if count < 2 else HEIGHT_OF_TWO * count // 2)) // max(count, 1) - 3, LEAST_HEIGHT)
    margin = max((cells(text) for panel in plot.panels for _, text in _levels(panel, rows, look)), default=0)
    for panel in plot.panels:
        yield ""
        yield from _panel(panel, look, width, rows, margin)
    sorts = dict.fromkeys(mark.sort for panel in plot.panels for mark in panel.marks)
    if sorts:
        yield ""
        words = [f"{_sign(MARKS[sort], look)} {MARKS[sort][2]}" for sort in MARKS if sort in sorts]
        yield from paragraph(look, "   ".join(words), "quiet", "")
    if plot.notes:
        yield ""
    for note in plot.notes:
        yield from paragraph(look, look.letters(visible(note.text)), None, "  ")


def _sign(signs: Sequence[str], look: Look) -> str:
    return signs[1] if look.ascii else signs[0]


def _levels(panel: Panel, rows: int, look: Look) -> list[tuple[float, str]]:
    """The ticks of the upright axis, with their labels."""
    found = ticks(panel.y, max(rows // 3, 2) + 1)
    return list(zip(found, labels(found, look), strict=True))


def _panel(panel: Panel, look: Look, width: int, rows: int, margin: int) -> Iterator[str]:
    """One panel: its title with the signs of its curves, the canvas beside its axis, the axis below."""
    columns = max(width - margin - 2, 10)
    canvas = Canvas(columns, rows, look.ascii)
    numbers = {id(curve): place for place, curve in enumerate(one for one in panel.curves if _has_dots(one))}
    for curve in panel.curves:
        if curve.style != "points":
            _draw(canvas, panel, curve)
    for mark in panel.marks:
        if mark.sort == "pole":
            canvas.upright(share(panel.x, mark.x), _sign(MARKS["pole"], look))
    for curve in panel.curves:
        if _has_dots(curve):
            for x, y in (pair for piece in curve.pieces for pair in piece):
                sign = _sign(DOTS[numbers[id(curve)] % len(DOTS)], look)
                canvas.sign(share(panel.x, x), share(panel.y, y), sign, curve.role)
    _put_marks(canvas, panel, look)
    if not panel.y.log:
        canvas.level(share(panel.y, 0.0), "-" if look.ascii else "┈")
    yield from _heads(panel, numbers, look, width, margin + 1)
    levels: dict[int, str] = {}
    for value, text in _levels(panel, rows, look):
        found = canvas.cell(0.0, share(panel.y, value))
        if found is not None:
            levels.setdefault(found[1], text)
    upright, tick = ("|", "+") if look.ascii else ("│", "┤")
    for row in range(rows):
        text = levels.get(row, "")
        yield f"{' ' * (margin - cells(text))}{text} {tick if text else upright}{canvas.line_of(row, look)}".rstrip()
    yield from _below(panel, look, columns, margin, canvas)


def _has_dots(curve: Curve) -> bool:
    return curve.dots or curve.style == "points"


def _draw(canvas: Canvas, panel: Panel, curve: Curve) -> None:
    """The lines of a curve."""
    for piece in curve.pieces:
        places = [(share(panel.x, x), share(panel.y, y)) for x, y in piece]
        drawn = 0
        for start, end in zip(places, places[1:] or places, strict=False):
            drawn = canvas.line(start, end, curve.role, curve.style, drawn)


def _put_marks(canvas: Canvas, panel: Panel, look: Look) -> None:
    """Marks above the curves, closed ends above open ones; names where there is room."""
    last = ("kink", "closed", "best", "name", "here")
    for mark in sorted(panel.marks, key=lambda mark: mark.sort in last):
        if mark.y is None:
            continue
        role = MARK_ROLES.get(mark.sort, panel.curves[0].role)
        canvas.sign(share(panel.x, mark.x), share(panel.y, mark.y), _sign(MARKS[mark.sort], look), role)
    for mark in panel.marks:
        if mark.sort == "name" and mark.y is not None:
            _name(canvas, panel, mark, look)


def _name(canvas: Canvas, panel: Panel, mark: Mark, look: Look) -> None:
    """The name of a mark beside its sign, if it disturbs nothing."""
    assert mark.y is not None
    found = canvas.cell(share(panel.x, mark.x), share(panel.y, mark.y))
    if found is None:
        return
    text = look.letters(visible(mark.text))
    column, row = found
    size = cells(text)
    for first, line in ((column + 2, row), (column - size - 1, row), (column + 1, row - 1), (column + 1, row + 1)):
        if canvas.is_free(first, line, size):
            canvas.write(first, line, text, "name")
            return


def _heads(panel: Panel, numbers: dict[int, int], look: Look, width: int, pad: int) -> Iterator[str]:
    """The title of a panel and beside it what each of several curves is, in as many lines as it takes."""
    title = look.letters(visible(panel.title))
    line, size = " " * pad + look.paint(title, "heading"), pad + cells(title)
    for curve in panel.curves if len(panel.curves) > 1 else ():
        sign, name = _curve_sign(curve, numbers, look), look.letters(visible(curve.name))
        wide = cells(sign) + 1 + cells(name)
        if size + 3 + wide > width:
            yield line
            line, size = " " * pad, pad
        else:
            line, size = f"{line}   ", size + 3
        line, size = f"{line}{look.paint(sign, curve.role)} {name}", size + wide
    yield line


def _curve_sign(curve: Curve, numbers: dict[int, int], look: Look) -> str:
    """What a curve looks like."""
    if _has_dots(curve):
        return _sign(DOTS[numbers[id(curve)] % len(DOTS)], look)
    signs = {"solid": ("───", "---"), "dashed": ("╌╌╌", "- -"), "dotted": ("┈┈┈", ". .")}
    return _sign(signs[curve.style], look)


def _below(panel: Panel, look: Look, columns: int, margin: int, canvas: Canvas) -> Iterator[str]:
    """The axis below, with as many labels as stand apart, and what it is of."""
    corner, line, tick = ("+", "-", "+") if look.ascii else ("└", "─", "┬")
    for most in range(columns // 6, 1, -1):
        numbers = ticks(panel.x, most)
        texts = labels(numbers, look)
        places = [found[0] for one in numbers if (found := canvas.cell(share(panel.x, one), 0.0)) is not None]
        if len(places) != len(texts):
            break
        begins = [
            min(max(place - cells(text) // 2, -margin - 1), columns - cells(text))
            for place, text in zip(places, texts, strict=True)
        ]
        ends = [begin + cells(text) for begin, text in zip(begins, texts, strict=True)]
        if all(end + 2 <= begin for end, begin in zip(ends, begins[1:], strict=False)):
            break
    axis = [line] * columns
    for place in places:
        axis[place] = tick
    pad = margin + 1
    yield f"{' ' * pad}{corner}{''.join(axis)}"
    row = ""
    for begin, text in zip(begins, texts, strict=True):
        row += " " * (begin + pad + 1 - cells(row)) + text
    label = look.letters(visible(panel.x.label))
    end = pad + 1 + columns - cells(label)
    if cells(row) + 2 <= end:
        yield f"{row}{' ' * (end - cells(row))}{look.paint(label, 'name')}"
        return
    yield row
    yield f"{' ' * max(end, 0)}{look.paint(label, 'name')}"
