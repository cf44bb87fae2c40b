"""Identifiers: the names of a program as other languages take them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

# Signs over a letter as they are said: x̂ is x_hat.
_MARKS = {0x302: "hat", 0x303: "tilde", 0x304: "bar", 0x305: "bar", 0x307: "dot", 0x308: "ddot", 0x20D7: "vec"}


def identifier(name: str, letters: bool) -> str:
    """A name in letters, digits and _: `x₁` is x1, `c~2` is c_2, α is alpha where ASCII is asked.

    >>> identifier("x₁", False), identifier("α~2", False), identifier("α", True), identifier("x̂", False)
    ('x1', 'alpha_2', 'α', 'x_hat')
    """
    plain = unicodedata.normalize("NFKC", name).replace("~", "_")
    if plain.isascii() or (letters and plain.isidentifier()):
        return plain
    spelled = "".join(map(_spelled, plain))
    return spelled if spelled[:1].isalpha() else f"n{spelled}"


def _spelled(letter: str) -> str:
    if letter.isascii():
        return letter
    if ord(letter) in _MARKS:
        return f"_{_MARKS[ord(letter)]}"
    greek = re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (?:FINAL )?(\w+)", unicodedata.name(letter, ""))
    if greek is not None:
        return greek[2].lower() if greek[1] == "SMALL" else greek[2].capitalize()
    apart = unicodedata.normalize("NFD", letter)
    if apart != letter:
        return "".join(map(_spelled, apart))
    return "" if unicodedata.combining(letter) else f"u{ord(letter):x}"


class Names:
    """Names that are given once each.

    >>> names = Names({"lambda"}, letters=True)
    >>> names.unique("x₁"), names.unique("x1"), names.unique("lambda")
    ('x1', 'x1_2', 'lambda_')
    """

    def __init__(self, reserved: Collection[str], letters: bool = False, caseless: bool = False) -> None:
        self._fold = str.casefold if caseless else str
        self._letters = letters
        self._reserved = {self._fold(name) for name in reserved}
        self._taken = set(self._reserved)
        self._counts: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """The identifier of a name; with a number behind it when it is taken."""
        stem = identifier(name, self._letters)
        if self._fold(stem) in self._reserved:
            stem += "_"
        found, count = stem, self._counts.get(self._fold(stem), 1)
        while self._fold(found) in self._taken:
            count += 1
            found = f"{stem}_{count}"
        self._counts[self._fold(stem)] = count
        self._taken.add(self._fold(found))
        return found
