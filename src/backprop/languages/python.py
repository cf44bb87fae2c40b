"""Plain Python: a function of numbers, with nothing but the module math."""

from __future__ import annotations

from collections.abc import Iterator
from keyword import kwlist
from math import isfinite

from backprop.guards import Range
from backprop.languages import Code, Language, calls
from backprop.languages.common.python import (
    MATH,
    NUMBER_WORDS,
    docstring,
    imports,
    returned,
    signature,
    statements,
)
from backprop.languages.common.value_ranges import of_row, within
from backprop.ops import Row


def write(code: Code) -> Iterator[str]:
    """The lines of a module with one function."""
    texts = (*(text for _, text in code.statements), code.value, *code.slopes.values())
    if code.hiding or any("math." in text for text in texts):
        yield from imports(code, MATH)
    yield from signature(code)
    slopes = " and a dict of the slopes" if code.slopes else ""
    yield from docstring(code, f"Takes numbers; returns the value{slopes}.")
    yield from statements(code)
    yield from returned(code, "{number}", "{slope} if {defined} else math.nan")


# Functions that raise where the result is too large for a double, and where an operand is no finite number.
TOO_LARGE = frozenset({"exp", "exp2", "expm1", "sinh", "cosh", "pow", "gamma", "lgamma"})
FINITE_ALONE = frozenset({"sin", "cos", "tan", "floor", "ceil", "round"})


def raises(row: Row, operands: list[Range]) -> bool:
    """Whether an operation may raise when its operands are within these bounds."""
    if row.name in TOO_LARGE and not all(map(isfinite, of_row(row, operands))):
        return True
    if row.name in FINITE_ALONE and not all(isfinite(bound) for one in operands for bound in one):
        return True
    return not within(row, operands)


WORDS = {
    **NUMBER_WORDS,
    **calls("math.", "exp2 log2 cbrt floor ceil", MATH),
    **calls("", "max min round"),
}

LANGUAGE = Language(
    name="python",
    says="plain Python: numbers, with the module math",
    suffix=".py",
    words=WORDS,
    write=write,
    constants={"pi": "math.pi", "e": "math.e", "inf": "math.inf", "nan": "math.nan"},
    reserved={*kwlist, "math", "abs", "max", "min", "round"},
    letters=True,
    finite="math.isfinite({value})",
    raises=raises,
)
