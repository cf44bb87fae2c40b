r"""LaTeX of what the lines of a trace say: formulas over ids, derivatives, numbers put in, arrays, words.

Plain pdflatex with amsmath can set all of it, and so can MathJax and KaTeX: a letter that no usual font of theirs has
stands as the number of its character, `\texttt{U+1F600}`. A text that is no formula is set as words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from backprop.render.tables import visible

# The widest line, in letters, that fits the text of a page.
WIDEST = 62
# A text longer than this is told by its two ends.
LONGEST, ENDS = 3000, 200

_ID = r"[^\W\d⁰¹²³⁴-⁹]\w*['′]*(?:~\d+)?(?:\[\d+(?:,\d+)*\])?(?:\.\d+)?(?:~\d+)?"
_TOKEN = re.compile(
    rf"\s*(?:(?P<slope>∂{_ID}/∂{_ID}(?: \#\d+)?)"
    r"|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<call>[^\W\d]\w*\()"
    r"|(?P<name>[^\W\d⁰¹²³⁴-⁹]\w*['′]*(?:~\d+)?)"
    r"|(?P<after>!(?!=)|\.T\b|\[[\d\s,:-]*\]|\.\d+|~\d+)"
    r"|(?P<sign>\*\*|<=|>=|==|!=|[-+*/@%^<>=(),·⊙±\[\]]))"
)
_SIGNS = {
    "·": r" \cdot ",
    "⊙": r" \odot ",
    "@": r"\,",
    "+": " + ",
    "-": " - ",
    "±": r" \pm ",
    "%": r" \bmod ",
    "<": " < ",
    ">": " > ",
    "<=": r" \le ",
    ">=": r" \ge ",
    "==": " = ",
    "!=": r" \ne ",
    "and": r" \wedge ",
    "or": r" \vee ",
    "=": " = ",
}
# How tightly a sign holds.
_LEVEL = {
    "if": 0, "else": 0, "=": 1, "or": 2, "and": 3, "not": 4,
    **dict.fromkeys(("<", ">", "<=", ">=", "==", "!="), 5),
    **dict.fromkeys("+-±", 6),
    **dict.fromkeys("*/@%·⊙", 7),
    "minus": 8, "^": 9, "**": 9,
}  # fmt: skip
_WORDS = {"inf": r"\infty", "NaN": r"\mathrm{NaN}", "true": r"\mathrm{true}", "false": r"\mathrm{false}",
          "undefined": r"\text{undefined}"}  # fmt: skip
_GREEK = re.compile("[αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩςϕ]")
_IN_TEXT = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    '"': "''",
    "`": "'",
    "∂": r"$\partial$",
    "·": r"$\cdot$",
    "⊙": r"$\odot$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "→": r"$\to$",
    "←": r"$\leftarrow$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "≠": r"$\ne$",
    "≈": r"$\approx$",
    "−": "$-$",
    "…": r"\ldots{}",
    "⚠": r"\textbf{!}",
    "’": "'",
    "—": "---",
    "–": "--",
    "½": r"$\frac12$",
    "²": "$^2$",
    "³": "$^3$",
    "¹": "$^1$",
    "ᵀ": "$^T$",
    "′": "$'$",
    "\u200e": "",
} | {sign: f"\\{sign}" for sign in "&%$#_{}"}  # fmt: skip
_SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True))
# Latin letters with accents that TeX puts together in every encoding, the one it begins with too.
_LATIN = re.compile(r"[ -~À-ÅÇ-ÏÑ-ÖÙ-ÝßÆæØøà-åç-ïñ-öù-ýÿĆćČčĎďĚěĞğİĹĺĽľŁłŃńŇňŐőŒœŔŕŘřŚśŞşŠšŢţŤťŮůŰűŸŹźŻżŽž]")
Piece = tuple[str, float]


def words(text: str) -> str:
    r"""A text as it is set outside mathematics.

    >>> print(words("50% of a_b & ∂f/∂x < 😀"))
    50\% of a\_b \& $\partial$f/$\partial$x $<$ \texttt{U+1F600}
    """
    return "".join(map(_letter, visible(text)))


def _letter(letter: str) -> str:
    found = _IN_TEXT.get(letter)
    if found is not None:
        return found
    if letter in _SUBSCRIPTS:
        return f"$_{_SUBSCRIPTS[letter]}$"
    if _GREEK.match(letter):
        return f"${_greek(letter)}$"
    return letter if _LATIN.match(letter) else rf"\texttt{{U+{ord(letter):04X}}}"


def _greek(letter: str) -> str:
    from backprop.latex import latex_name  # it knows the operations, and a drawing is made without them

    return latex_name(letter)


def name(text: str) -> str:
    r"""The id of a node in mathematics: an index as an index, also that of an element.

    >>> print(name("w1"), name("c~2"), name("z[0,1]"), name("é"), name("x'"))
    w_{1} c^{(2)} {z}_{0,1} \text{é} x'
    """
    from backprop.latex import latex_name

    found = re.fullmatch(r"(.*?)(['′]*)(~\d+)?(\[[\d,]+\])?(\.\d+)?(~\d+)?", text, re.DOTALL)
    assert found is not None
    stem, primes, again, at, step, later = (part or "" for part in found.groups())
    plain = _GREEK.sub("", re.sub("[₀₁₂₃₄₅₆₇₈₉]", "", stem))
    if stem and plain.isascii() and (not plain or re.fullmatch(r"\w+", plain)):
        made = latex_name(stem + again) if not primes else latex_name(stem) + "'" * len(primes)
        if primes and again:
            made = f"{{{made}}}^{{({again[1:]})}}"
    else:
        made = rf"\text{{{words(stem)}}}" + "'" * len(primes) + (f"^{{({again[1:]})}}" if again else "")
    if at:
        made = f"{{{made}}}_{{{at[1:-1]}}}"
    upper = "".join((step, f"({later[1:]})" if later else ""))
    return f"{{{made}}}^{{{upper}}}" if upper else made


def slope(text: str, flat: bool = False) -> str:
    r"""A derivative, `∂f/∂x`; of parallel edges the second is `∂f/∂x #2`, and some have several names below.

    >>> print(slope("∂f/∂w1 #2"), slope("∂f/∂x", flat=True))
    \left.\frac{\partial f}{\partial w_{1}}\right|_{\#2} \partial f/\partial x
    """
    body, _, key = text.partition(" #")
    above, _, below = body.removeprefix("∂").partition("/∂")
    up, down = name(above), ", ".join(map(name, below.split(", ")))
    made = rf"\partial {up}/\partial {down}" if flat else rf"\frac{{\partial {up}}}{{\partial {down}}}"
    if not key:
        return made
    return rf"{made}|_{{\#{key}}}" if flat else rf"\left.{made}\right|_{{\#{key}}}"


def formula(text: str, flat: bool = False) -> list[Piece]:
    r"""A text of a trace in mathematics, in pieces that a line may be broken between, each with its width in letters.

    `flat` has quotients and arrays in one line, as there is room for on a drawing.

    >>> print("".join(piece for piece, _ in formula("a*b^2/(c + 1)")), formula("x + y"))
    \frac{a\,b^{2}}{c + 1} [('x', 1), (' + y', 3)]
    >>> print(formula("2×2, norm 5")[0][0], formula("a +")[0][0])
    \text{2$\times$2, norm 5} \text{a +}
    """
    if len(text) > LONGEST:
        text = f"{text[:ENDS]} … {len(text) - 2 * ENDS} more letters … {text[-ENDS:]}"
    try:
        if text.startswith("not ") and text.isascii() and text[4:].isalpha():
            raise _NoFormula  # "not proven" is no formula
        found = _Reader(flat).read(text)
    except _NoFormula:
        pieces = re.findall(r"\S+\s*|\s+", text) if len(text) > WIDEST else [text]
        return [(rf"\text{{{words(part)}}}", len(part)) for piece in pieces for part in _cut(piece)]
    return found.pieces


def _cut(text: str) -> Iterator[str]:
    for place in range(0, len(text), WIDEST - 12):
        yield text[place : place + WIDEST - 12]


def inline(text: str) -> str:
    """The same in one line for a drawing."""
    return "".join(piece for piece, _ in formula(text, flat=True))


def is_name(kind: str, word: str) -> bool:
    """Whether a token is the id of a node."""
    return kind == "name" and word not in ("if", "else", "and", "or", "not")


def letters(text: str) -> int:
    """How many letters wide a text is set: one that no font has takes six and more."""
    return len(text) if text.isascii() else sum(7 if r"\texttt" in _letter(letter) else 1 for letter in text)


class _NoFormula(Exception):
    """A text that is words, or a part of a formula."""


@dataclass(slots=True)
class _Item:
    """A part of a formula. `inner` is what stands in its brackets, if it is in some."""

    pieces: list[Piece]
    level: int = 10
    inner: _Item | None = None
    figure: bool = False
    elements: list[_Item] | None = field(default=None)

    @property
    def tex(self) -> str:
        return "".join(piece for piece, _ in self.pieces)

    @property
    def width(self) -> float:
        return sum(width for _, width in self.pieces)

    @property
    def bare(self) -> _Item:
        return self if self.inner is None else self.inner


def _one(tex: str, width: float, level: int = 10, figure: bool = False) -> _Item:
    return _Item([(tex, width)], level, figure=figure)


def _bracketed(item: _Item) -> _Item:
    if item.width > WIDEST / 2:
        pieces = list(item.pieces)
        pieces[0] = (rf"\bigl({pieces[0][0]}", pieces[0][1] + 1)
        pieces[-1] = (rf"{pieces[-1][0]}\bigr)", pieces[-1][1] + 1)
        return _Item(pieces, inner=item)
    return _Item([(rf"\left({item.tex}\right)", item.width + 2)], inner=item)


class _Reader:
    """Reads a formula with two stacks, so that no depth of brackets is too deep."""

    def __init__(self, flat: bool) -> None:
        self.flat = flat
        self.items: list[_Item] = []
        self.signs: list[tuple[str, int]] = []  # a sign or an opening bracket, with how many items were there before

    def read(self, text: str) -> _Item:
        text = text.replace("ᵀ", ".T")
        place, operand, end = 0, False, len(text.rstrip())
        # products of matrices are written side by side, V ∂L/∂y
        side_by_side = "∂" in text
        while place < end:
            found = _TOKEN.match(text, place)
            if found is None:
                raise _NoFormula
            place = found.end()
            kind, word = str(found.lastgroup), found[str(found.lastgroup)]
            if kind == "number" and operand and word.startswith("."):
                kind = "after"  # z[0].1, a step on the way to an element
            if kind == "after" and not operand and word.startswith("["):
                # an array of numbers, no index
                place = found.start("after") + 1
                kind, word = "sign", "["
            if operand and side_by_side and (kind in ("slope", "call") or word == "(" or is_name(kind, word)):
                operand = self.take("sign", "@", True)
            operand = self.take(kind, word, operand)
        self.reduce(-1)
        if len(self.items) != 1 or self.signs or not operand:
            raise _NoFormula
        return self.items[0]

    def take(self, kind: str, word: str, operand: bool) -> bool:
        """Take a token; whether an operand is complete behind it."""
        if kind == "name" and word in ("if", "else", "and", "or", "not"):
            return self.sign(word, operand)
        if kind == "sign":
            return self.sign(word, operand)
        if kind == "after":
            self.after(word, operand)
            return True
        if operand:
            raise _NoFormula
        if kind == "call":
            self.signs.append((f"call {word[:-1]}", len(self.items)))
            return False
        self.items.append(self.leaf(kind, word))
        return True

    def leaf(self, kind: str, word: str) -> _Item:
        from backprop.latex import latex_number

        if kind == "slope":
            made = slope(word, self.flat)
            above, _, below = word.partition("/")
            wide = letters(word) if self.flat else max(letters(above), letters(below)) + 1
            return _one(made, wide, 10 if self.flat else 9)
        if kind == "number":
            return _one(latex_number(word), len(word), 7 if "e" in word.lower() else 10, figure=True)
        if word in _WORDS:
            return _one(_WORDS[word], len(word))
        made = name(word)
        return _one(made, letters(word), 9 if "^" in made or "'" in made else 10)

    def after(self, word: str, operand: bool) -> None:
        if not operand:
            raise _NoFormula
        item = self.items.pop()
        if item.level < 10:
            item = _one(f"{{{item.tex}}}", item.width) if item.level == 9 else _bracketed(item)
        upper = {"!": "!", ".T": "^{T}"}.get(word)
        if upper is None:
            upper = f"_{{{word[1:-1].strip()}}}" if word[0] == "[" else f"^{{({word[1:]})}}"
        self.items.append(_one(f"{{{item.tex}}}{upper}", item.width + len(word), 9))

    def sign(self, word: str, operand: bool) -> bool:
        if word in ("(", "["):
            if operand:
                raise _NoFormula
            self.signs.append((word, len(self.items)))
            return False
        if word in (")", "]", ","):
            self.reduce(-1)
            if not self.signs or not (operand or word != ","):
                raise _NoFormula
            if word == ",":
                if self.signs[-1][0] == "(":
                    raise _NoFormula
                return False
            self.close(word, operand)
            return True
        if not operand:
            if word == "-":
                self.signs.append(("minus", len(self.items)))
            elif word == "not":
                self.signs.append((word, len(self.items)))
            elif word != "+":
                raise _NoFormula
            return False
        level = _LEVEL.get(word)
        if level is None:
            raise _NoFormula
        # what stands before holds at least as tightly; powers and choices are read from the right
        self.reduce(level if word in ("^", "**", "if", "else") else level - 1)
        if word == "else":
            if not self.signs or self.signs[-1][0] != "if":
                raise _NoFormula
            self.signs[-1] = ("choice", self.signs[-1][1])
        else:
            self.signs.append((word, len(self.items)))
        return False

    def reduce(self, level: int) -> None:
        """Apply the signs on top that hold more tightly than `level`."""
        while self.signs:
            word, _ = self.signs[-1]
            if word in ("(", "[") or word.startswith("call "):
                return
            if (0 if word == "choice" else _LEVEL[word]) <= level:
                return
            if word == "if" and level < 0:
                raise _NoFormula
            self.signs.pop()
            self.apply(word)

    def apply(self, word: str) -> None:
        if word in ("minus", "not"):
            of = self._pop()
            (head, width), *rest = of.pieces
            before, wide = ("-", 1) if word == "minus" else (r"\neg ", 2)
            self.items.append(_Item([(before + head, width + wide), *rest], _LEVEL[word], figure=True))
            return
        right, left = self._pop(), self._pop()
        if word == "choice":
            first = self._pop()
            self.items.append(self.choice(first, left, right))
        elif word == "/":
            self.items.append(self.over(left, right))
        elif word in ("^", "**"):
            base = left if left.level == 10 else _bracketed(left)
            upper = right.bare
            pieces = [*base.pieces[:-1], (f"{base.pieces[-1][0]}^{{{upper.tex}}}", base.pieces[-1][1] + upper.width)]
            self.items.append(_Item(pieces, 9, figure=left.figure))
        else:
            between = _SIGNS.get(word) or (r" \cdot " if right.figure else r"\,")
            (head, width), *rest = right.pieces
            pieces = [*left.pieces, (between + head, width + (1 if word in "*@" else 2)), *rest]
            self.items.append(_Item(pieces, _LEVEL[word], figure=left.figure))

    def over(self, above: _Item, below: _Item) -> _Item:
        if self.flat or above.width > WIDEST - 12 or below.width > WIDEST - 12:
            (head, width), *rest = below.pieces
            return _Item([*above.pieces, (f"/{head}", width + 1), *rest], 7, figure=above.figure)
        up, down = above.bare, below.bare
        return _one(rf"\frac{{{up.tex}}}{{{down.tex}}}", max(up.width, down.width), 9, figure=True)

    def choice(self, first: _Item, condition: _Item, second: _Item) -> _Item:
        if self.flat or first.width + condition.width > WIDEST - 12 or second.width > WIDEST - 12:
            pieces = [*first.pieces, (r"\text{ if }", 4), *condition.pieces, (r"\text{ else }", 6), *second.pieces]
            return _Item(pieces, 0)
        lines = rf"{first.tex} & \text{{if }} {condition.tex} \\ {second.tex} & \text{{otherwise}}"
        made = rf"\begin{{cases}} {lines} \end{{cases}}"
        return _one(made, max(first.width + condition.width, second.width) + 8, 0)

    def close(self, word: str, operand: bool) -> None:
        opened, count = self.signs.pop()
        inside = self.items[count:]
        del self.items[count:]
        if opened == "(" and word == ")" and len(inside) == 1 and operand:
            self.items.append(_bracketed(inside[0]))
        elif opened == "[" and word == "]":
            self.items.append(self.array(inside))
        elif opened.startswith("call ") and word == ")":
            self.items.append(self.call(opened.removeprefix("call "), inside))
        else:
            raise _NoFormula

    def array(self, elements: list[_Item]) -> _Item:
        """A matrix as one; a vector, which is neither row nor column, and a stack of matrices as they were typed."""
        is_matrix = bool(elements) and all(
            one.elements is not None and all(two.elements is None for two in one.elements) for one in elements
        )
        if self.flat or not is_matrix:
            pieces: list[Piece] = []
            for place, one in enumerate(elements):
                (head, width), *rest = one.pieces
                pieces += [((", " if place else "") + head, width + 2), *rest]
            pieces = pieces or [("", 0)]
            pieces[0] = ("[" + pieces[0][0], pieces[0][1])
            pieces[-1] = (pieces[-1][0] + "]", pieces[-1][1])
            return _Item(pieces, elements=elements)
        rows = [one.elements or [] for one in elements]
        lines = [" & ".join(one.tex for one in row) for row in rows]
        width = max((sum(one.width + 2 for one in row) for row in rows), default=0)
        matrix = r"\begin{pmatrix} " + r" \\ ".join(lines) + r" \end{pmatrix}"
        return _Item([(matrix, width + 2)], figure=True, elements=elements)

    def call(self, called: str, operands: list[_Item]) -> _Item:
        """An operation from the template of its row; without one, or where it is long, by its name."""
        template = "" if sum(one.width for one in operands) > WIDEST - 12 else _template(called, len(operands))
        if template and not (self.flat and ("frac" in template or "cases" in template)):
            return self.filled(template, called, operands)
        known = {"sin", "cos", "tan", "tanh", "sinh", "cosh", "exp", "max", "min"}
        plain = re.fullmatch(r"[A-Za-z]\w*", called, re.ASCII)
        head = rf"\{called}" if called in known else rf"\operatorname{{{words(called)}}}" if plain else name(called)
        pieces: list[Piece] = [(f"{head}(", len(called) + 1)]
        for place, one in enumerate(operands):
            pieces += ([(", ", 2)] if place else []) + one.pieces
        return _Item([*_glued(pieces), (")", 1)] if len(pieces) > 1 else [(f"{head}()", len(called) + 2)], 9)

    def filled(self, template: str, called: str, operands: list[_Item]) -> _Item:
        from string import Formatter

        from backprop.ops import called as rows_called

        row = next(one for one in rows_called(called) if one.takes(len(operands)) and one.latex == template)
        names = row.names(len(operands))
        parts = list(Formatter().parse(template))
        made = ""
        for place, (before, given, _, _) in enumerate(parts):
            made += before
            if given is None:
                continue
            if given == "operands":
                made += ", ".join(one.bare.tex if len(operands) == 1 else one.tex for one in operands)
                continue
            one, after = operands[names.index(given)], parts[place + 1][0] if place + 1 < len(parts) else ""
            inside = before.endswith(("{", "(", "|", "floor ", "ceil ")) and after.startswith(("}", r"\right", ")"))
            made += one.bare.tex if inside else one.tex if one.level == 10 else _bracketed(one).tex
        width = len(called) + 2 + sum(one.width + 2 for one in operands)
        item = _one(made, width, 9)
        return _bracketed(item) if " - " in template or template.startswith("{") else item

    def _pop(self) -> _Item:
        if not self.items:
            raise _NoFormula
        return self.items.pop()


def _glued(pieces: Sequence[Piece]) -> list[Piece]:
    """The first two pieces as one, so that no line ends in an opening bracket."""
    (head, wide), (then, width), *rest = pieces
    return [(head + then, wide + width), *rest]


def _template(called: str, arity: int) -> str:
    from backprop.ops import called as rows_called

    found = [row for row in rows_called(called) if row.takes(arity) and row.latex]
    return found[0].latex if found else ""
