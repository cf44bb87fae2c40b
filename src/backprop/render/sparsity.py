"""Where the numbers of a Jacobian or a Hessian stand, as a picture of dots; a large one is drawn smaller, to scale."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from backprop.arrays_text import element_name
from backprop.render.jacobian import NO_PASS, counted
from backprop.render.look import Look
from backprop.render.tables import cells, paragraph

if TYPE_CHECKING:
    from backprop.higher.jacobian_records import Sparsity

INDENT = "  "
# Up to so many rows and columns each element is a letter of its own; beyond, several are one dot of a braille letter,
# which has two columns of four, in a picture of at most so many letters.
MOST_LETTERS = 32
WIDTH, HEIGHT = 64, 32
# The dots of a braille letter by column and row, as bits of its number (Unicode, block 2800).
BRAILLE = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))


def render(found: Sparsity, output: str, look: Look) -> Iterator[str]:
    """The lines, without line ends."""
    pattern = found.pattern
    tall, wide = len(pattern.rows), pattern.columns
    what = f"Hessian of {output}" if found.of == "hessian" else f"Jacobian of {output}"
    if not wide:
        yield from paragraph(look, "there is no input, so there are no derivatives", "quiet", INDENT)
        return
    yield from paragraph(look, f"{what}: {tall} x {wide}", "heading", INDENT)
    points = pattern.places
    if tall <= MOST_LETTERS and wide <= MOST_LETTERS:
        yield from _letters(look, found, points)
    else:
        yield from _picture(look, points, tall, wide)
    if len(found.along_columns) > 1 and wide > MOST_LETTERS:
        yield from paragraph(look, f"columns: {_along(found.along_columns)}", "quiet", INDENT)
    share = f"{100 * pattern.share:.3g} %"
    yield from paragraph(look, f"{pattern.nonzeros} of {tall * wide} may be other than 0: {share}", None, INDENT)
    yield from paragraph(look, _passes(found), None, INDENT)


def _passes(found: Sparsity) -> str:
    """What it takes to work the numbers out, when those that do not touch share a pass."""
    if not found.pattern.nonzeros:
        return NO_PASS
    sides = [(found.forward, found.pattern.columns, "forward")]
    if found.of == "jacobian":
        sides.append((found.reverse, len(found.pattern.rows), "reverse"))
    parts = [counted(count, mode) + (f" instead of {alone}" if count < alone else "") for count, alone, mode in sides]
    text = ", ".join(parts) + (" over the gradient" if found.of == "hessian" else "")
    if all(count == alone for count, alone, _ in sides):
        return f"{text}: none can be shared"
    return f"{text}: {'columns' if found.of == 'hessian' else 'columns, or rows,'} that do not touch share one"


def _along(parts: list[tuple[str, int]]) -> str:
    """Which columns belong to which input: x 0 to 9, b 10."""
    told, begin = [], 0
    for name, size in parts[:40]:
        told.append(f"{name} {begin}" + (f" to {begin + size - 1}" if size > 1 else ""))
        begin += size
    return ", ".join(told) + (", ..." if len(parts) > 40 else "")


def _names(parts: list[tuple[str, int]]) -> Iterator[str]:
    for name, size in parts:
        yield name if size == 1 else element_name(name, [0])
        yield from ("" for _ in range(size - 1))


def _letters(look: Look, found: Sparsity, points: list[list[int]]) -> Iterator[str]:
    """A letter for each element; beside the rows, and above the columns, where an input or an output begins."""
    full, empty = ("*", ".") if look.ascii else ("●", "·")
    rows = [look.letters(name) for name, size in found.along_rows for name in (name, *[""] * (size - 1))]
    margin = max((cells(name) for name in rows), default=0)
    wide = found.pattern.columns
    if len(found.along_columns) > 1:
        yield from paragraph(look, f"columns: {_along(found.along_columns)}", "quiet", INDENT)
    for name, row in zip(rows, points, strict=True):
        held = set(row)
        dots = " ".join(full if column in held else empty for column in range(wide))
        yield f"{name}{' ' * (margin - cells(name))} {dots}".rstrip()


def _picture(look: Look, points: list[list[int]], tall: int, wide: int) -> Iterator[str]:
    """Several elements to a dot, eight dots to a letter; in plain letters one mark for the elements of one letter."""
    across, down = (1, 1) if look.ascii else (2, 4)
    room = min(WIDTH, look.width or WIDTH)
    scale = max(1, -(-wide // (room * across)), -(-tall // (HEIGHT * down)))
    letters: dict[tuple[int, int], int] = {}
    for row, columns in enumerate(points):
        high, dot_down = divmod(row // scale, down)
        for column in columns:
            far, dot_across = divmod(column // scale, across)
            bit = 1 if look.ascii else BRAILLE[dot_across][dot_down]
            letters[high, far] = letters.get((high, far), 0) | bit
    width = -(-wide // (scale * across))
    for high in range(-(-tall // (scale * down))):
        marks = (letters.get((high, far), 0) for far in range(width))
        yield "".join((".*"[mark] if look.ascii else chr(0x2800 + mark)) for mark in marks)
    one = "mark" if look.ascii else "dot"
    told = f"one {one} for each element"
    if scale > 1:
        told = f"one {one} for {scale} x {scale} elements, drawn where one of them may be other than 0"
    yield from paragraph(look, told, "quiet", INDENT)
