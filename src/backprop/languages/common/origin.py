"""Origin: what a comment tells of where code comes from, whatever is in the text of the program."""

from __future__ import annotations

import unicodedata

from backprop.languages import Code
from backprop.languages.common.identifiers import identifier

# A program is told in a comment up to this many lines and letters a line; it is not lost, for its author has it.
MOST_LINES, LONGEST_LINE = 40, 96
# A program in one line up to this length stands in the title.
LONGEST_TITLE = 64


def told(text: str) -> list[str]:
    """The lines of a program; what no reader sees (controls, marks that turn the direction) by its number.

    >>> told("x + 1  # \\u202e\\x00")
    ['x + 1  # <U+202E><U+0000>']
    """
    # what is not told is not looked at either: a program may have a million lines
    lines = text.strip("\n").splitlines()
    shown = ["".join(map(_visible, line[: LONGEST_LINE + 1])).rstrip() for line in lines[:MOST_LINES]]
    shown = [line if len(lines[at]) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} ..." for at, line in enumerate(shown)]
    if len(lines) > MOST_LINES:
        shown.append(f"... ({len(lines) - MOST_LINES} more lines)")
    return shown


def _visible(letter: str) -> str:
    if letter.isprintable() or letter == "\u200d":  # what joins an emoji is part of it
        return letter
    if letter == "\t":
        return "    "
    return " " if unicodedata.category(letter) == "Zs" else f"<U+{ord(letter):04X}>"


def origin(code: Code) -> list[str]:
    """What code is, the program that it was made of, and by whom; lines without quotes or signs of a comment."""
    from backprop import __version__

    what = "Value and gradient" if code.slopes else "Value"
    lines = told(code.source)
    by = f"Written by backprop {__version__}."
    renamed = [
        f"{one.name} is {one.code}" for one in code.inputs if one.code != identifier(one.name, code.language.letters)
    ]
    other = [f"Names: {', '.join(renamed)}."] if renamed and not code.language.columns else []
    put_in = [f"With {', '.join(f'{name} = {text}' for name, text in code.given.items())}."] if code.given else []
    if len(lines) == 1 and len(lines[0]) <= LONGEST_TITLE:
        return [f"{what} of {lines[0]}", "", " ".join([by, *put_in, *other])]
    return [
        f"{what} of the program",
        "",
        *(f"    {line}" if line else "" for line in lines),
        "",
        " ".join([by, *put_in, *other]),
    ]
