"""Reading a graph back from the characters of its drawing, as an eye does: along each line from box to box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from backprop.render.tables import cells

# Where a line can go from a letter, as (columns, rows).
UP, DOWN, LEFT, RIGHT = (0, -1), (0, 1), (-1, 0), (1, 0)
ARMS = {
    letter: arms
    for letters, arms in (
        ("│┃", {UP, DOWN}),
        ("─━", {LEFT, RIGHT}),
        ("╰┗", {UP, RIGHT}),
        ("╯┛", {UP, LEFT}),
        ("╭┏", {DOWN, RIGHT}),
        ("╮┓", {DOWN, LEFT}),
    )
    for letter in letters
}
HEADS = {UP: "▲", DOWN: "▼", RIGHT: "▶"}
LEAVES = {UP: "┴┸╧", DOWN: "┬┰╤", RIGHT: "├┝╟"}
WAYS = {"up": UP, "down": DOWN, "right": RIGHT}
HEAVY = set("┃━┗┛┏┓")


Cell = tuple[int, int]
# What may follow a label in its line.
GOES_ON = set("─━▶╯╮┛┓│┃")


class Seen(NamedTuple):
    """A line as it was followed: the boxes it joins, its label, whether it is heavy, and its cells."""

    source: int
    target: int
    label: str
    heavy: bool
    cells: list[Cell]


def grid(rows: Sequence[str]) -> list[list[str]]:
    """The letters by column and row; the second half of a wide letter is empty."""
    width = max(map(cells, rows), default=0)
    found = []
    for row in rows:
        line: list[str] = []
        for letter in row:
            size = cells(letter)
            if not size:
                line[-1] += letter
            else:
                line += [letter, *[""] * (size - 1)]
        found.append(line + [" "] * (width - len(line)))
    return found


def followed(rows: Sequence[str], boxes: Sequence[tuple[int, int, int, int]], direction: str) -> list[Seen]:
    """Every line that begins at a box. Raises AssertionError for one that can be read in two ways, or ends nowhere."""
    letters, way = grid(rows), WAYS[direction]
    at: dict[Cell, int] = {}
    for number, (x, y, width, height) in enumerate(boxes):
        for cell in ((column, row) for column in range(x, x + width) for row in range(y, y + height)):
            assert cell not in at, f"boxes {at.get(cell)} and {number} overlap"
            at[cell] = number
    starts = [cell for cell in at if _leaves(letters, at, cell, way)]
    return [_line(letters, at, cell, way) for cell in starts]


def _letter(letters: list[list[str]], cell: Cell) -> str:
    x, y = cell
    return letters[y][x] if 0 <= y < len(letters) and 0 <= x < len(letters[y]) else " "


def _next(cell: Cell, way: Cell) -> Cell:
    return cell[0] + way[0], cell[1] + way[1]


def _leaves(letters: list[list[str]], at: Mapping[Cell, int], cell: Cell, way: Cell) -> bool:
    """Whether a line leaves a box here: from a mark in its frame, or from a box without a frame."""
    after = _next(cell, way)
    if at.get(after) is not None:
        return False
    if _letter(letters, cell) in LEAVES[way]:
        return True
    back = -way[0], -way[1]
    framed = _letter(letters, _corner(at, cell)) in "╭╔"
    return not framed and (back in ARMS.get(_letter(letters, after), ()) or _letter(letters, after) == HEADS[way])


def _corner(at: Mapping[Cell, int], cell: Cell) -> Cell:
    box = at[cell]
    while at.get(_next(cell, LEFT)) == box:
        cell = _next(cell, LEFT)
    while at.get(_next(cell, UP)) == box:
        cell = _next(cell, UP)
    return cell


def _line(letters: list[list[str]], at: Mapping[Cell, int], start: Cell, way: Cell) -> Seen:
    source, cell, going, label = at[start], start, way, ""
    found: list[Cell] = []
    heavy: set[bool] = set()
    while True:
        cell = _next(cell, going)
        letter = _letter(letters, cell)
        if letter == HEADS[way]:
            assert going == way
            target = at[_next(cell, way)]
            assert len(heavy) < 2, "a line is as heavy all along"
            return Seen(source, target, label, heavy == {True}, [*found, cell])
        back = -going[0], -going[1]
        if letter in "│┃" and going in (LEFT, RIGHT):
            # a bridge: what lies goes on beyond what stands
            assert at.get(cell) is None
            continue
        if letter == " " and going == RIGHT and not label:
            cell, label = _label(letters, cell)
            continue
        arms = ARMS.get(letter)
        assert back in (arms or ()), f"the line from box {source} breaks off at {cell} ({letter!r})"
        assert at.get(cell) is None, f"the line from box {source} runs into box {at.get(cell)}"
        heavy.add(letter in HEAVY)
        found.append(cell)
        if way in (UP, DOWN) and going in (UP, DOWN) and letter in "│┃":
            beside = _beside(letters, at, cell)
            assert not (beside and label and beside != label)
            label = label or beside
        (going,) = ARMS[letter] - {back}


def _label(letters: list[list[str]], cell: Cell) -> tuple[Cell, str]:
    """The text in a line that goes right, between two blanks, with the last cell of it."""
    x, y = cell
    row = letters[y]
    end = x + 1
    while not (
        row[end] == " " and row[end + 1 : end + 2] in (["─"], ["━"], ["▶"], ["╯"], ["╮"], ["┛"], ["┓"], ["│"], ["┃"])
    ):
        end += 1
        assert end + 1 < len(row), "a label is not followed by its line"
    return (end, y), "".join(row[x + 1 : end]).replace("\u200e", "")


def _beside(letters: list[list[str]], at: Mapping[Cell, int], cell: Cell) -> str:
    """The text to the right of a line that stands, up to the next line, box or two blanks."""
    x, y = cell
    row = letters[y]
    if _letter(letters, (x + 1, y)) != " " or at.get((x + 2, y)) is not None:
        return ""
    text = ""
    for column in range(x + 2, len(row)):
        letter = row[column]
        if (
            letter in ARMS
            or at.get((column, y)) is not None
            or (letter == " " and row[column + 1 : column + 2] in ([" "], []))
        ):
            break
        text += letter
    return text.strip().replace("\u200e", "")
