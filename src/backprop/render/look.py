"""How results look: figures, width, colour and the letters a screen can show. One theme, asked for by role."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TextIO

from backprop.figures import (
    ALL,
    DEFAULT_FIGURES,
    MOST_IN_CELL,
    Figures,
    Written,
    element,
    elements_of,
    figure,
    nested,
    shape_of,
)
from backprop.theme import THEME

if TYPE_CHECKING:
    from backprop.layout import Direction

# COLUMNS may say anything; no screen is wider than this.
WIDEST = 1_000

# The colours of a terminal's own palette, so that they suit a light background as well as a dark one.
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}

# What stands in for the letters of mathematics where only ASCII can be shown.
_PLAIN = str.maketrans(
    {"∂": "d", "·": "*", "−": "-", "→": "->", "←": "<-", "²": "^2", "³": "^3", "∞": "inf", "√": "sqrt", "×": "x"}
    | {
        "─": "-",
        "│": "|",
        "…": "...",
        "⚠": "!",
        "≤": "<=",
        "≥": ">=",
        "≠": "!=",
        "’": "'",
        "—": "-",
        "✓": "ok",
        "✗": "x",
        "≈": "~",
        "±": "+-",
        "½": "1/2",
        "µ": "u",
        "⊙": "*",
        "ᵀ": "^T",
        "⎡": "[",
        "⎢": "[",
        "⎣": "[",
        "⎤": "]",
        "⎥": "]",
        "⎦": "]",
    }
)


@dataclass(frozen=True, slots=True)
class View:
    """How the graph is drawn. `direction` is where its arrows lead; `path` are edges, by (source, target, key), that
    stand out, with a `caption` that says which; `both` asks for the forward and the reverse pass side by side. `light`
    chooses one of the two grounds, None leaves it to whoever looks. `around` and `hops` are those of the part asked
    for.
    """

    direction: Direction = "up"
    path: frozenset[tuple[str, str, int]] = frozenset()
    both: bool = False
    light: bool | None = None
    caption: str = ""
    around: str = ""
    hops: int = 0


@dataclass(frozen=True, slots=True)
class Look:
    """`width` is the columns of the screen, None for a pipe: piped output is complete, never cut or wrapped.

    `whole` shows a number that is text to its last digit, however many there are. Arrays of more than `most` elements
    are told in a few words, with `brief` in JSON too. `view` is how the graph is drawn.
    """

    figures: int = DEFAULT_FIGURES
    width: int | None = None
    colour: bool = False
    ascii: bool = False
    whole: bool = False
    most: int = MOST_IN_CELL
    brief: bool = False
    view: View = View()

    @property
    def numbers(self) -> Figures:
        """How numbers are written in the lines of a trace."""
        return Figures(self.figures, self.most)

    def in_full(self) -> Look:
        """The same with every element of every array."""
        return replace(self, most=ALL)

    @property
    def full(self) -> bool:
        """Whether all elements of every array are shown."""
        return self.most == ALL

    def figure(self, value: Any, most: int | None = None) -> str:
        """A number or an array as every table and drawing shows it; `most` elements of it where there is less room."""
        most = self.most if most is None or self.full else most
        if self.whole and isinstance(value, (Written, list)):
            elements = elements_of(value)
            if len(elements) <= most:
                texts = [str(one) if isinstance(one, Written) else element(one, self.figures) for one in elements]
                return nested(shape_of(value), texts)
        return figure(value, self.figures, most)

    def letters(self, text: str) -> str:
        """The text in letters that the output can carry; names that it cannot are written \\u03b1."""
        if not self.ascii:
            return text
        return text.translate(_PLAIN).encode("ascii", "backslashreplace").decode("ascii")

    def paint(self, text: str, role: str | None) -> str:
        """The text in the colour of its role; as it is where there is no colour, and for a role that has none."""
        if not self.colour or not text or role is None or THEME[role].terminal == "default":
            return text
        codes = ";".join(_CODES[word] for word in THEME[role].terminal.split())
        return f"\x1b[{codes}m{text}\x1b[0m"

    @classmethod
    def of(cls, stream: TextIO, figures: int = DEFAULT_FIGURES) -> Look:
        """The look that fits a stream: colour only on a terminal; NO_COLOR, FORCE_COLOR and TERM=dumb are honoured."""
        terminal = stream.isatty()
        dumb = os.environ.get("TERM") == "dumb"
        colour = (terminal and not dumb) or bool(os.environ.get("FORCE_COLOR"))
        if os.environ.get("NO_COLOR"):
            colour = False
        width = None
        if terminal:
            from shutil import get_terminal_size

            width = min(get_terminal_size().columns, WIDEST)
        encoding = (stream.encoding or "ascii").lower().replace("-", "").replace("_", "")
        return cls(figures, width, colour, not encoding.startswith(("utf", "cp65001", "gb18030")))
