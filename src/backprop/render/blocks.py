"""Blocks: matrices as a person writes them, the text [[1, 2], [3, 4]] in lines with its columns under each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from backprop.arrays_text import indices_of, read
from backprop.mistakes import Mistake

GAP = "  "


def block(text: str, width: int | None = None) -> list[str]:
    """The lines of a text with arrays of two or more rows in it, a formula or an array; every other text in one line.

    >>> print(*block("[[1, 2], [3, 4]].T @ [5, 6]"), sep="\\n")
    ⎡1  2⎤.T @ [5, 6]
    ⎣3  4⎦

    In a formula no array is told in parts, as one of more axes is: sum([0, :, :]) would be read as a call of its head.

    >>> block("sum([[[1], [2]], [[3], [4]]])")
    ['sum([[[1], [2]], [[3], [4]]])']
    """
    if "[[" not in text:
        return [text]
    drawn = [_array(piece, width) for piece in _pieces(text)]
    if len(drawn) == 1:
        return drawn[0]
    if any(len(lines) > 1 and lines[0].startswith("[") for lines in drawn):
        return [text]
    made = beside(drawn)
    return made if width is None or max(map(len, made)) <= width else [text]


def beside(drawn: Sequence[Sequence[str]], gap: str = "", size: Callable[[str], int] = len) -> list[str]:
    """Blocks beside each other, from the first line on; `size` tells how much room a text takes."""
    widths = [max(map(size, lines)) for lines in drawn]
    made = []
    for row in range(max(map(len, drawn))):
        pieces = [lines[row] if row < len(lines) else "" for lines in drawn]
        padded = (piece + " " * (width - size(piece)) for piece, width in zip(pieces, widths, strict=True))
        made.append(gap.join(padded).rstrip())
    return made


def _pieces(text: str) -> Iterator[str]:
    """A text cut at the arrays of several axes in it."""
    begin = 0
    while (start := text.find("[[", begin)) >= 0:
        depth, end = 0, start
        while end < len(text):
            depth += (text[end] == "[") - (text[end] == "]")
            end += 1
            if not depth:
                break
        if text[begin:start]:
            yield text[begin:start]
        yield text[start:end]
        begin = end
    if text[begin:]:
        yield text[begin:]


def _array(text: str, width: int | None) -> list[str]:
    """The lines of an array of two or more rows; every other text in one line.

    Numbers stand under each other by their decimal points. An array of more axes is told matrix by matrix. Where a
    matrix is wider than `width` some columns are told at a time, each part by the subscripts that give it; with no
    room for one column the text stays as it is.

    >>> print(*_array("[[0.5, -0.25], [10, 3]]", None), sep="\\n")
    ⎡ 0.5  -0.25⎤
    ⎣10     3   ⎦
    >>> print(*_array("[[1, 2, 3], [4, 5, 6]]", 8), sep="\\n")
    [:, 0:2]
    ⎡1  2⎤
    ⎣4  5⎦
    [:, 2:3]
    ⎡3⎤
    ⎣6⎦
    """
    if not (text.startswith("[[") and text.endswith("]]")) or "(" in text:
        return [text]
    try:
        shape, elements = read(text, "")
    except Mistake:  # a formula
        return [text]
    rows, columns = shape[-2:]
    if rows == 1 and len(shape) == 2:
        return [text]
    made: list[str] = []
    for number in range(math.prod(shape[:-2])):
        before = [str(place) for place in indices_of(shape[:-2], number)]
        begin = number * rows * columns
        table = [elements[begin + row * columns : begin + (row + 1) * columns] for row in range(rows)]
        aligned = [_aligned(column) for column in zip(*table, strict=True)]
        for first, last in _parts([len(column[0]) for column in aligned], width):
            part = [":", f"{first}:{last}"] if last - first < columns else [":", ":"] if before else []
            made += [f"[{', '.join([*before, *part])}]"] if part else []
            made += _bracketed([GAP.join(row) for row in zip(*aligned[first:last], strict=True)])
    return made if width is None or max(map(len, made)) <= width else [text]


def _aligned(column: Sequence[str]) -> list[str]:
    """The texts of a column, all of the same width, decimal point under decimal point; an interval has none."""
    ends = [(text, "", "") if ".." in text else text.partition(".") for text in column]
    before = max(len(end[0]) for end in ends)
    after = max(len(end[1] + end[2]) for end in ends)
    return [f"{whole:>{before}}{f'{point}{rest}':<{after}}" for whole, point, rest in ends]


def _parts(widths: Sequence[int], width: int | None) -> Iterator[tuple[int, int]]:
    """The columns that stand beside each other, from the first to before the last."""
    first = 0
    while first < len(widths):
        last, used = first + 1, widths[first] + 2
        while last < len(widths) and (width is None or used + len(GAP) + widths[last] <= width):
            used += len(GAP) + widths[last]
            last += 1
        yield first, last
        first = last


def _bracketed(rows: Sequence[str]) -> Iterator[str]:
    for place, row in enumerate(rows):
        left, right = "[]" if len(rows) == 1 else "⎡⎤" if not place else "⎣⎦" if place == len(rows) - 1 else "⎢⎥"
        yield f"{left}{row}{right}"
