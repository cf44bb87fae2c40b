"""NumPy: a function of numbers or of arrays of one shape, element by element."""

from __future__ import annotations

from collections.abc import Iterator
from keyword import kwlist

from backprop.languages import ARITHMETIC, Code, Language, Word, calls


def write(code: Code) -> Iterator[str]:
    """The lines of a module with one function."""
    yield "import numpy as np"
    yield ""
    yield ""
    given = ", ".join(one.code if one.default is None else f"{one.code}={one.default}" for one in code.inputs)
    yield f"def {code.function}({given}):"
    yield f'    """{code.title}"""'
    for name, text in code.statements:
        yield f"    {name} = {text}"
    slopes = ", ".join(f"{name!r}: {text}" for name, text in code.slopes.items())
    yield f"    return {code.value}, {{{slopes}}}" if code.slopes else f"    return {code.value}"


WORDS = {
    **ARITHMETIC,
    **calls(
        "np.",
        "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan sinh cosh tanh hypot abs sign floor ceil where mod",
        asin="arcsin",
        acos="arccos",
        atan="arctan",
        atan2="arctan2",
        asinh="arcsinh",
        acosh="arccosh",
        atanh="arctanh",
        max="maximum",
        min="minimum",
        round="rint",
        pow="power",
        logaddexp="logaddexp",
    ),
    "and": Word("np.logical_and(x, y)"),
    "or": Word("np.logical_or(x, y)"),
    "not": Word("np.logical_not(x)"),
}

LANGUAGE = Language(
    name="numpy",
    says="NumPy: numbers or arrays of them",
    suffix=".py",
    words=WORDS,
    write=write,
    reserved={*kwlist, "np"},
    letters=True,
    runs_on="numpy",
)
