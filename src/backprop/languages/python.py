"""Plain Python: a function of numbers, with nothing but the module math."""

from __future__ import annotations

from collections.abc import Iterator
from keyword import kwlist

from backprop.languages import ARITHMETIC, Code, Language, Word, calls
from backprop.languages.common.python import docstring, imports, returned, signature, statements
from backprop.ops import AND, CONDITIONAL, NOT, OR, PRODUCT

MATH = "import math"
NAMES = (
    "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh "
    "hypot erf erfc gamma lgamma pow"
)


def write(code: Code) -> Iterator[str]:
    """The lines of a module with one function."""
    if any("math." in text for text in (*(text for _, text in code.statements), code.value, *code.slopes.values())):
        yield from imports(code, MATH)
    yield from signature(code)
    slopes = " and a dict of the slopes" if code.slopes else ""
    yield from docstring(code, f"Takes numbers; returns the value{slopes}.")
    yield from statements(code)
    yield from returned(code, "{number}")


WORDS = {
    **ARITHMETIC,
    **calls("math.", NAMES, MATH),
    **calls("", "abs max min"),
    "floor": Word("math.floor(x)", needs=MATH),
    "ceil": Word("math.ceil(x)", needs=MATH),
    "round": Word("round(x)"),
    "mod": Word("x % y", PRODUCT),
    "where": Word("x if c else y", CONDITIONAL),
    "and": Word("x and y", AND),
    "or": Word("x or y", OR),
    "not": Word("not x", NOT),
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
    raises=lambda row: bool(row.domain or WORDS[row.name].needs),
)
