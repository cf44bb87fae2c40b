"""LaTeX: how formulas and names are written for print."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from string import Formatter

from backprop import arrays_text
from backprop.formulas import Formula, Hand, make, negative, parts, symbols, written_out
from backprop.ops import ATOM, POSTFIX, POWER, PRODUCT, UNARY, Row, by_name
from backprop.writing import needs_brackets

_LETTERS = [
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"),
    *("nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
    *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"),
]
_GREEK = dict(zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", _LETTERS, strict=True)) | {"ς": "varsigma", "ϕ": "phi"}
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_NAME = re.compile(r"(.*?)(?:_?([0-9₀-₉]+))?(?:~([0-9]+))?")
_CONSTANTS = {"pi": r"\pi", "tau": r"\tau", "e": "e", "inf": r"\infty"}
_ESCAPED = str.maketrans({sign: f"\\{sign}" for sign in "&%$#_{}"})


def latex_name(name: str) -> str:
    r"""A name or the id of a node: Greek letters by their names, digits at the end as an index.

    >>> print(latex_name("w1"), latex_name("alpha"), latex_name("x₁₂"), latex_name("c~2"), latex_name("rate_in"))
    w_{1} \alpha x_{12} c^{(2)} \mathrm{rate}_{\mathrm{in}}
    """
    found = _NAME.fullmatch(name)
    assert found is not None
    stem, index, again = found.groups()
    head, _, below = stem.partition("_")
    if not head:
        head, below = stem, ""
    indices = [part for part in (_letters(below) if below else "", (index or "").translate(_LOWERED)) if part]
    made = _letters(head)
    if indices:
        made += f"_{{{', '.join(indices)}}}"
    return made + (f"^{{({again})}}" if again else "")


def _letters(word: str) -> str:
    if word in _LETTERS:
        return f"\\{word}"
    if len(word) == 1:
        return f"\\{_GREEK[word]}" if word in _GREEK else word.translate(_ESCAPED)
    if all(letter.isascii() or letter in _GREEK for letter in word):
        letters = (rf"\{_GREEK[letter]}{{}}" if letter in _GREEK else letter.translate(_ESCAPED) for letter in word)
        return rf"\mathrm{{{''.join(letters)}}}"
    return rf"\text{{{word.translate(_ESCAPED)}}}"


def latex_number(literal: str) -> str:
    r"""A literal: fractions as fractions, exponents as powers of ten.

    >>> print(latex_number("-1/3"), latex_number("1e-3"))
    -\frac{1}{3} 10^{-3}
    >>> print(latex_number("[[1, -2], [1/3, 0]]"))
    \begin{pmatrix} 1 & -2 \\ \frac{1}{3} & 0 \end{pmatrix}
    """
    if literal.startswith("["):
        return _latex_array(literal)
    sign = "-" if literal.startswith("-") else ""
    body = literal.removeprefix("-")
    if "/" in body:
        above, below = body.split("/")
        return rf"{sign}\frac{{{above}}}{{{below}}}"
    digits, _, exponent = body.lower().partition("e")
    if not exponent:
        return sign + body
    ten = f"10^{{{int(exponent)}}}"
    return sign + (ten if digits == "1" else rf"{digits} \cdot {ten}")


def _latex_array(text: str) -> str:
    """The text of an array: a vector as a column, a matrix, a stack as a row of them."""
    shape, elements = arrays_text.parts(text)
    numbers = [latex_number(element) for element in elements]
    rows, columns = (*shape, 1)[-2:] if len(shape) < 2 else shape[-2:]
    lines = [" & ".join(numbers[at : at + columns]) for at in range(0, len(numbers), columns)]
    begin, end = r"\begin{pmatrix} ", r" \end{pmatrix}"
    stack = [begin + r" \\ ".join(lines[at : at + rows]) + end for at in range(0, len(lines), rows)]
    return stack[0] if len(shape) < 3 else f"\\left( {', '.join(stack)} \\right)"


@lru_cache(maxsize=512)
def _template(latex: str) -> tuple[tuple[str, str | None], ...]:
    """A template cut at its operands: what stands before each, then its name (None after the last)."""
    found: list[tuple[str, str | None]] = []
    before = ""
    for literal, field, _, _ in Formatter().parse(latex):
        before += literal
        if field is not None:
            found.append((before, field))
            before = ""
    return (*found, (before, None))


class Latex(Hand):
    """The hand that writes LaTeX, from the templates of the rows."""

    def leaf(self, formula: Formula) -> tuple[str, int]:
        """The LaTeX of a leaf, and how tightly it holds."""
        if formula.sort == "symbol":
            return latex_name(formula.word), ATOM if "~" not in formula.word else POWER
        if formula.sort == "constant":
            return _CONSTANTS[formula.word], ATOM
        made = latex_number(formula.word)
        if made.startswith("-"):
            return made, UNARY
        return made, PRODUCT if "10^" in made else POWER if "/" in formula.word else ATOM

    def name(self, count: int) -> str:
        """The name of a shared part."""
        return f"t_{{{count}}}"

    def level(self, row: Row) -> int:
        """How tightly a result holds: a fraction holds like a power, and so does what is written as one."""
        if row.name == "div" or (not row.form and "^" in row.latex.partition("\\left")[0]):
            return POWER
        if not row.form and row.latex.startswith("{"):
            return PRODUCT
        return row.level

    def pieces(self, formula: Formula, levels: dict[Formula, int], minus: set[Formula]) -> list[str | Formula]:
        """An operation as LaTeX and operands, brackets put in."""
        row, operands = formula.row, formula.operands
        assert row is not None
        if row.name == "mul":
            return self.times(formula, levels, minus)
        if not row.latex:
            name = (row.called[0] if row.called else row.name).translate(_ESCAPED)
            return [rf"\operatorname{{{name}}}\left(", *_listed(operands), r"\right)"]
        found: list[str | Formula] = []
        template = _template(row.latex)
        names = row.names(len(operands))
        for place, (before, field) in enumerate(template):
            if before:
                found.append(before)
            if field is None:
                continue
            if field == "operands":
                found += _listed(operands)
                continue
            position = names.index(field)
            operand = operands[position]
            after = template[place + 1][0] if place + 1 < len(template) else ""
            inside = before.endswith(("{", "(", "|", "floor ", "ceil ")) and after.startswith(("}", r"\right", ")"))
            brackets = not inside and self.brackets(row, position, operand, levels, minus, after)
            found += [r"\left(", operand, r"\right)"] if brackets else [operand]
        return found

    @staticmethod
    def brackets(
        row: Row, position: int, operand: Formula, levels: dict[Formula, int], minus: set[Formula], after: str
    ) -> bool:
        """Whether an operand that nothing encloses needs brackets."""
        if after.startswith("^"):
            return levels[operand] < ATOM
        if not row.form:
            return False if r"\begin" in row.latex else levels[operand] <= PRODUCT
        return needs_brackets(row.level, position, "-" if operand in minus else "", levels[operand])

    def times(self, formula: Formula, levels: dict[Formula, int], minus: set[Formula]) -> list[str | Formula]:
        """A product: a thin gap between letters, a dot before what begins with a figure."""
        row = formula.row
        assert row is not None
        left, right = formula.operands
        bracketed = [
            needs_brackets(row.level, place, "-" if operand in minus else "", levels[operand])
            for place, operand in enumerate((left, right))
        ]
        head = right.operands[0] if right.row is not None and right.row.level in (POWER, POSTFIX) else right
        figure = head.sort == "number" or (right.row is not None and right.row.name in ("div", "exp2"))
        dot = figure and not bracketed[1]
        found: list[str | Formula] = [r"\left(", left, r"\right)"] if bracketed[0] else [left]
        found.append(r" \cdot " if dot else " ")
        return found + ([r"\left(", right, r"\right)"] if bracketed[1] else [right])


def latex(formula: Formula) -> str:
    r"""The formula in LaTeX, shared parts of a large one named first.

    >>> from backprop.formulas import product, quotient, number, symbol
    >>> print(latex(quotient(symbol("alpha"), product(number("2"), symbol("w1")))))
    \frac{\alpha}{2 w_{1}}
    """
    shared, texts = latex_of([formula])
    return r",\quad ".join([*(f"{name} = {what}" for name, what in shared), *texts])


def latex_of(formulas: Sequence[Formula]) -> tuple[list[tuple[str, str]], list[str]]:
    """The formulas in LaTeX, with the named parts they share."""
    signed = _signs_out(formulas)
    return written_out(signed, Latex(symbols(signed)))


def _signs_out(formulas: Sequence[Formula]) -> list[Formula]:
    """The same formulas with a sign at the head of a fraction in front of it."""
    neg, over = by_name("neg"), by_name("div")
    done: dict[Formula, Formula] = {}
    for formula in parts(formulas):
        if formula.row is None:
            done[formula] = formula
            continue
        operands = [done[operand] for operand in formula.operands]
        if formula.row is over and (unsigned := _unsigned(operands[0])) is not None:
            done[formula] = make(neg, make(over, unsigned, operands[1]))
        else:
            done[formula] = make(formula.row, *operands)
    return [done[formula] for formula in formulas]


def _unsigned(formula: Formula) -> Formula | None:
    """A product without the minus it begins with; None when it begins with none."""
    rest: list[Formula] = []
    while formula.row is not None and formula.row.name == "mul":
        rest.append(formula.operands[1])
        formula = formula.operands[0]
    if formula.row is not None and formula.row.name == "neg":
        formula = formula.operands[0]
    elif formula.value is not None and formula.value < 0:
        formula = negative(formula)
    else:
        return None
    for factor in reversed(rest):
        formula = make(by_name("mul"), formula, factor)
    return formula


def _listed(operands: Sequence[Formula]) -> list[str | Formula]:
    found: list[str | Formula] = []
    for place, operand in enumerate(operands):
        if place:
            found.append(", ")
        found.append(operand)
    return found
