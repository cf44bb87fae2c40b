"""Tables: rows of text in columns that fit a screen by wrapping inside the cells, and are complete in a pipe.

One writer serves both, a line at a time: it measures the first rows and then keeps going, so a million rows stream.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice

from backprop.render.blocks import beside, block
from backprop.render.look import Look

# A cell is text, or text with a role of its own, which wins over the role of its column.
Cell = str | tuple[str, str]

# So many rows are read before the first is written; what comes later is given the widths found there.
MEASURED = 2000
GAP = "  "
NARROW = 8  # no column is squeezed below this while another has room


def table(
    look: Look,
    title: str | None,
    columns: Sequence[str],
    rows: Iterable[Sequence[Cell]],
    *,
    roles: Sequence[str | None] | None = None,
) -> Iterator[str]:
    """The lines of a table, without line ends. `roles` gives each column its colour, `THEME` says which.

    On a screen (`look.width`) cells wrap and nothing is cut, and a cell that is a matrix is drawn as one where it fits;
    in a pipe every row is one line. A row may be shorter than the columns. Text is shown as it is: it holds no markup,
    and control characters are written out.

    >>> for line in table(Look(), None, ["node", "value"], [["x", "3"], ["v1", "-3"]]):
    ...     print(line)
    node  value
    ────  ─────
    x     3
    v1    -3
    """
    shown = ([_cell(look, cell) for cell in row] for row in rows)
    first = list(islice(shown, MEASURED))
    heads = [visible(look.letters(name)) for name in columns]
    if title:
        yield look.paint(visible(look.letters(title)), "heading")
    widths = _widths(look, heads, [[text for text, _ in row] for row in first])
    rule = look.letters("─")
    yield from _lines(look, widths, [(name, "heading") for name in heads], roles)
    yield from _lines(look, widths, [(rule * width, "quiet") for width in widths], roles)
    for row in chain(first, shown):
        yield from _lines(look, widths, row, roles)


def natural_width(look: Look, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> int:
    """The width a table would take if nothing wrapped."""
    widths = [cells(visible(look.letters(name))) for name in columns]
    for row in rows:
        for place, cell in enumerate(row):
            widths[place] = max(widths[place], *map(cells, _drawn(look, _cell(look, cell)[0])))
    return sum(widths) + len(GAP) * sum(1 for width in widths[1:] if width)


def visible(text: str) -> str:
    """Text with control and direction characters written out, so that none can move a cursor or reorder a line.

    >>> print(visible("a\\x1b[2Jb\\u202e"))
    a\\x1b[2Jb\\u202e
    """
    if text.isprintable():
        return text
    return "".join(letter if not _is_control(letter) else _written_out(letter) for letter in text)


def cells(text: str) -> int:
    """The columns a text takes on a screen: letters of Chinese, Japanese and Korean take two.

    >>> cells("α2"), cells("漢字"), cells("e\u0301")
    (2, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_letter_cells, text))


@lru_cache(maxsize=4096)
def _letter_cells(letter: str) -> int:
    if unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0  # it joins the letter before it
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Text broken at spaces into lines of at most `width` columns, a longer word where it must; later lines indented.

    A sign stands before what follows it, so a line never ends with one.

    >>> wrap("2 · 1 + 3 · 1 = 5", 11, "  ")
    ['2 · 1 + 3', '  · 1 = 5']
    """
    if cells(text) <= width:
        return [text]
    if cells(indent) > width // 2:
        indent = ""  # a margin is of no use where hardly anything fits beside it
    room = max(1, width - cells(indent))
    lines: list[str] = []
    line, used, first = "", 0, True
    bare = text.lstrip(" ")
    margin = text[: len(text) - len(bare)]
    words = _words(bare)
    if 0 < len(margin) <= width // 2:
        words = chain([margin + next(words)], words)
    for word in words:
        size = cells(word)
        limit = width if first else room
        if not line or used + 1 + size <= limit:
            line, used = (f"{line} {word}", used + 1 + size) if line else (word, size)
        else:
            lines.append(line)
            first = False
            line, used = word, size
        while used > (limit := width if first else room):
            head, line = _cut(line, limit)
            lines.append(head)
            used, first = cells(line), False
    if line or not lines:
        lines.append(line)
    return [lines[0], *(indent + part for part in lines[1:])]


def paragraph(look: Look, text: str, role: str | None = None, indent: str = "    ") -> Iterator[str]:
    """Text wrapped on a screen, its later lines indented; one line in a pipe."""
    shown = visible(look.letters(text))
    lines = [shown] if look.width is None else wrap(shown, look.width, indent)
    return (look.paint(line, role) for line in lines)


def equation(look: Look, left: str, *parts: Sequence[str], indent: str = "") -> Iterator[str]:
    """`left = part = part`, with matrices drawn on a screen; each part is a row of texts.

    What is too wide for one line begins a new one at each equals sign. In a pipe all is one line.

    >>> for line in equation(Look(width=40), "W", ["[[1, 2], [3, 4]]", "·", "2"], ["[[2, 4], [6, 8]]"]):
    ...     print(line)
    W = ⎡1  2⎤ · 2 = ⎡2  4⎤
        ⎣3  4⎦       ⎣6  8⎦
    """
    told = [[visible(look.letters(text)) for text in part] for part in parts]
    left = visible(look.letters(left))
    if look.width is None:
        yield f"{indent}{left} = " + " = ".join(" ".join(part) for part in told)
        return
    whole = _beside(look, [indent + left, *(text for part in told for text in ("=", *part))])
    if max(map(cells, whole)) <= look.width:
        yield from whole
        return
    margin = " " * min(cells(left), 12)
    for place, part in enumerate(told):
        start = indent + (f"{margin} =" if place else f"{left} =")
        room = look.width - cells(start) - 1
        lines = _beside(look, [start, *part])
        if max(map(cells, lines)) > look.width and len(part) == 1:
            lines = _beside(look, [start, *part], room)
        if max(map(cells, lines)) > look.width:
            inside = " " * (part[0].startswith("[") and len(part) == 1)
            lines = wrap(f"{start} {' '.join(part)}", look.width, f"{indent}{margin}   {inside}")
        yield from lines


def _beside(look: Look, texts: Sequence[str], width: int | None = None) -> list[str]:
    """Texts beside each other, the matrices among them in lines, in parts of a width if there is one."""
    return beside([[look.letters(line) for line in block(text, width)] for text in texts], " ", cells)


_SIGNS = frozenset(("+", "-", "·", "⊙", "*", "@", "=", "→", "->", "→₁", "→₂"))


def _words(text: str) -> Iterator[str]:
    """The words of a text, each sign with the word after it."""
    sign = ""
    for word in text.split(" "):
        if word in _SIGNS:
            sign += f"{word} "
        else:
            yield sign + word
            sign = ""
    if sign:
        yield sign[:-1]


def _cut(word: str, width: int) -> tuple[str, str]:
    """The part of a word that fits, and the rest. At least one letter fits, however wide."""
    if word.isascii():
        return word[:width], word[width:]
    used = 0
    for place, letter in enumerate(word):
        used += cells(letter)
        if used > width and place:
            return word[:place], word[place:]
    return word, ""


def _cell(look: Look, cell: Cell) -> tuple[str, str | None]:
    text, role = (cell, None) if isinstance(cell, str) else cell
    return visible(look.letters(text)), role


def _widths(look: Look, heads: list[str], rows: list[list[str]]) -> list[int]:
    """The width of each column: what its widest cell takes, or a share of the screen.

    On a screen that is too small a column first gives up room beyond its longest word, then the words break.
    """
    full = [cells(head) for head in heads]
    words = [max((cells(word) for word in head.split(" ")), default=0) for head in heads]
    for row in rows:
        for place, text in enumerate(row):
            full[place] = max(full[place], *map(cells, _drawn(look, text)))
            if look.width is not None:
                words[place] = max(words[place], max(map(cells, _words(text)), default=0))
    if look.width is None:
        return full
    room = look.width - len(GAP) * (len(heads) - 1)
    if sum(full) <= room:
        return full
    if sum(words) <= room:
        return _shares(room, words, full)
    return _shares(room, [min(NARROW, word) for word in words], words)


def _shares(room: int, least: list[int], most: list[int]) -> list[int]:
    """Widths between `least` and `most` that fill the room, the narrowest served first."""
    widths = list(least)
    spare = room - sum(widths)
    while spare > 0:
        wanting = [place for place, width in enumerate(widths) if width < most[place]]
        if not wanting:
            break
        share = max(1, spare // len(wanting))
        for place in wanting:
            more = min(share, most[place] - widths[place], spare)
            widths[place] += more
            spare -= more
    while spare < 0 and max(widths) > 1:
        widest = widths.index(max(widths))
        widths[widest] -= 1
        spare += 1
    return widths


def _lines(
    look: Look, widths: list[int], row: Sequence[tuple[str, str | None]], roles: Sequence[str | None] | None
) -> Iterator[str]:
    """One row: one line in a pipe, as many as its tallest cell takes on a screen."""
    parts = [_in_lines(look, text, width) for (text, _), width in zip(row, widths, strict=False)]
    colours = [role or (roles[place] if roles and place < len(roles) else None) for place, (_, role) in enumerate(row)]
    for height in range(max(map(len, parts), default=0)):
        line = ""
        owed = ""  # blanks are written only when something follows
        for place, part in enumerate(parts):
            text = part[height] if height < len(part) else ""
            if text:
                line += owed + look.paint(text, colours[place])
                owed = ""
            owed += " " * (widths[place] - cells(text)) + GAP
        yield line


def _drawn(look: Look, text: str) -> list[str]:
    """The text of a cell as it stands where there is room: a matrix in lines on a screen."""
    return [text] if look.width is None else [look.letters(line) for line in block(text)]


def _in_lines(look: Look, text: str, width: int) -> list[str]:
    """The text of a cell in lines of that width; in one line in a pipe."""
    lines = _drawn(look, text)
    return lines if look.width is None or max(map(cells, lines)) <= width else wrap(text, width)


def _is_control(letter: str) -> bool:
    return (
        unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp")
        or letter in "\u200e\u200f\u061c"
        or ("\u202a" <= letter <= "\u202e" or "\u2066" <= letter <= "\u2069")
    )


def _written_out(letter: str) -> str:
    short = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(letter)
    if short is not None:
        return short
    return f"\\x{ord(letter):02x}" if ord(letter) < 256 else f"\\u{ord(letter):04x}"
