"""A canvas of character cells: texts, frames and lines, each with its role, given back row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from backprop.render.look import Look
from backprop.render.tables import cells

Span = tuple[str, str | None]  # a text and its role

# The four ways that a line can leave a cell.
UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8

LIGHT = {UP | DOWN: "│", LEFT | RIGHT: "─", UP | RIGHT: "╰", UP | LEFT: "╯", DOWN | RIGHT: "╭", DOWN | LEFT: "╮"}
HEAVY = {UP | DOWN: "┃", LEFT | RIGHT: "━", UP | RIGHT: "┗", UP | LEFT: "┛", DOWN | RIGHT: "┏", DOWN | LEFT: "┓"}
PLAIN = {UP | DOWN: "|", LEFT | RIGHT: "-"}  # and every corner is a +
HEADS = {UP: "▲^", DOWN: "▼v", RIGHT: "▶>"}


class Frame(NamedTuple):
    """The letters of a frame: corners from the top left on clockwise, lines, and where a line leaves it."""

    corners: str
    across: str
    down: str
    leaves: dict[int, str]  # by its way: a light line and a heavy one


ROUND = Frame("╭╮╯╰", "─", "│", {UP: "┴┸", DOWN: "┬┰", RIGHT: "├┝"})
DOUBLE = Frame("╔╗╝╚", "═", "║", {UP: "╧╧", DOWN: "╤╤", RIGHT: "╟╟"})
THICK = Frame("┏┓┛┗", "━", "┃", {UP: "┷┻", DOWN: "┯┳", RIGHT: "┠┣"})
PLAIN_FRAME = Frame("++++", "-", "|", {UP: "+#", DOWN: "+#", RIGHT: "+#"})
PLAIN_DOUBLE = Frame("####", "=", "#", {UP: "+#", DOWN: "+#", RIGHT: "+#"})
PLAIN_THICK = Frame("****", "*", "*", {UP: "+#", DOWN: "+#", RIGHT: "+#"})


class Canvas:
    """So many cells; each holds a letter, or the second half of a wide one, and its role."""

    def __init__(self, width: int, height: int, plain: bool = False) -> None:
        self.plain = plain
        self._letters = [[" "] * width for _ in range(height)]
        self._roles: list[list[str | None]] = [[None] * width for _ in range(height)]

    def put(self, x: int, y: int, letter: str, role: str | None) -> None:
        self._letters[y][x] = letter
        self._roles[y][x] = role

    def text(self, x: int, y: int, text: str, role: str | None) -> None:
        """A text from a cell on; a wide letter takes two cells, and one that joins the letter before it none."""
        for letter in text:
            size = cells(letter)
            if not size:
                self._letters[y][x - 1] += letter
                continue
            self.put(x, y, letter, role)
            if size == 2:
                self.put(x + 1, y, "", role)
            x += size

    def frame(self, x: int, y: int, width: int, height: int, role: str | None, double: bool, lit: bool = False) -> None:
        frame = self.frame_of(double, lit)
        right, below = x + width - 1, y + height - 1
        for column in range(x + 1, right):
            self.put(column, y, frame.across, role)
            self.put(column, below, frame.across, role)
        for row in range(y + 1, below):
            self.put(x, row, frame.down, role)
            self.put(right, row, frame.down, role)
        for (column, row), corner in zip(((x, y), (right, y), (right, below), (x, below)), frame.corners, strict=True):
            self.put(column, row, corner, role)

    def frame_of(self, double: bool, lit: bool) -> Frame:
        if lit:
            return PLAIN_THICK if self.plain else THICK
        if self.plain:
            return PLAIN_DOUBLE if double else PLAIN_FRAME
        return DOUBLE if double else ROUND

    def leave(self, x: int, y: int, way: int, double: bool, heavy: bool, role: str | None, lit: bool = False) -> None:
        """The mark in a frame from which a line leaves, before the first cell of the line."""
        x, y = {UP: (x, y + 1), DOWN: (x, y - 1), RIGHT: (x - 1, y)}[way]
        self.put(x, y, self.frame_of(double, lit).leaves[way][heavy], role)

    def head(self, x: int, y: int, way: int, role: str | None) -> None:
        self.put(x, y, HEADS[way][self.plain], role)

    def line(self, points: Sequence[tuple[int, int]], way: int, heavy: bool, role: str | None) -> None:
        """A line through these cells, each reached from the one before by going straight; it comes and goes one way.

        Where it goes across another one, the one that lies flat is broken for the one that stands.
        """
        came = _opposite(way)
        for place, (x, y) in enumerate(points):
            left = way
            if place + 1 < len(points):
                dx, dy = points[place + 1][0] - x, points[place + 1][1] - y
                left = (RIGHT if dx > 0 else LEFT) if dx else (DOWN if dy > 0 else UP)
            for cell_x, cell_y in _between((x, y), points[place - 1] if place else None):
                self._stroke(cell_x, cell_y, came | _opposite(came), heavy, role)
            self._stroke(x, y, came | left, heavy, role)
            came = _opposite(left)

    def _stroke(self, x: int, y: int, arms: int, heavy: bool, role: str | None) -> None:
        if arms == LEFT | RIGHT and self._letters[y][x] != " ":
            return  # one that stands is there already
        letters = HEAVY if heavy else LIGHT
        letter = "#" if self.plain and heavy else PLAIN.get(arms, "+") if self.plain else letters[arms]
        self.put(x, y, letter, role)

    def rows(self) -> Iterator[list[Span]]:
        """The rows as texts with their roles, without the blanks at their ends."""
        for letters, roles in zip(self._letters, self._roles, strict=True):
            spans: list[Span] = []
            end = len(letters)
            while end and letters[end - 1] == " ":
                end -= 1
            for letter, role in zip(letters[:end], roles, strict=False):
                if spans and (spans[-1][1] == role or letter == " "):
                    spans[-1] = spans[-1][0] + letter, spans[-1][1]
                else:
                    spans.append((letter, role))
            yield spans


def painted(spans: Sequence[Span], look: Look) -> str:
    """A row with its colours."""
    return "".join(look.paint(text, role) for text, role in spans)


def _opposite(way: int) -> int:
    return {UP: DOWN, DOWN: UP, LEFT: RIGHT, RIGHT: LEFT}[way]


def _between(end: tuple[int, int], start: tuple[int, int] | None) -> Iterator[tuple[int, int]]:
    """The cells strictly between two that lie in a row or a column."""
    if start is None:
        return
    (x, y), (from_x, from_y) = end, start
    dx, dy = (x > from_x) - (x < from_x), (y > from_y) - (y < from_y)
    at_x, at_y = from_x + dx, from_y + dy
    while (at_x, at_y) != end:
        yield at_x, at_y
        at_x, at_y = at_x + dx, at_y + dy
