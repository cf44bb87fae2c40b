"""Numba: a compiled function of numbers, and one that runs it over the rows of columns."""

from __future__ import annotations

from collections.abc import Iterator
from keyword import kwlist

from backprop.languages import Code, Language, calls, float_number
from backprop.languages.common.python import (
    MATH,
    NUMBER_WORDS,
    WIDTH,
    docstring,
    imports,
    listed,
    signature,
    statements,
)

# Compiling takes longer than a minute from about so many statements on.
LONG = 5000


def write(code: Code) -> Iterator[str]:
    """The lines of a module with two functions."""
    rows = f"{code.function}_rows"
    asks = code.hiding or any("math.isfinite(" in text for _, text in code.statements)
    yield from imports(code, "import numpy as np", "from numba import njit", *([MATH] if asks else []))
    yield '@njit(error_model="numpy", nogil=True)'
    yield from signature(code)
    order = f", then the slopes by {', '.join(code.slopes)}" if code.slopes else ""
    says = f"Takes numbers; returns the value{order}. Compiled when it is called first."
    if len(code.statements) > LONG:
        says += " Numba takes minutes to compile a function as long as this one."
    yield from docstring(code, says)
    for one in code.inputs:
        yield f"    {one.code} = float({one.code})"
    yield from statements(code)
    answers = [code.value]
    if code.hiding:
        finite = code.language.finite.format(value=code.value)
        yield f"    {code.defined} = {finite}  # no slope where there is no value"
    for name, text in code.slopes.items():
        answers.append(f"({text} if {code.defined} else np.nan)" if name in code.hiding else text)
    yield from listed("return (", answers, ")") if len(answers) > 8 else [f"    return {', '.join(answers)}"]
    yield from ("", "")
    names = [one.code for one in code.parameters]
    yield '@njit(error_model="numpy", nogil=True)'
    yield from listed(f"def {rows}(", names or ["rows"], "):", "")
    yield f'    """The same for rows: takes arrays of one length{"" if names else " (here how many rows)"}."""'
    count = f"len({names[0]})" if names else "rows"
    outs, row = [code.unique("value"), *code.names.values()], code.unique("row")
    for out in outs:
        yield f"    {out} = np.empty({count})"
    yield f"    for {row} in range({count}):"
    targets = ", ".join(f"{out}[{row}]" for out in outs)
    given = [f"{name}[{row}]" for name in names]
    call = f"{code.function}({', '.join(given)})"
    if len(targets) + len(call) <= WIDTH - 11:
        yield f"        {targets} = {call}"
    else:
        together = code.unique("answers")
        yield from listed(f"{together} = {code.function}(", given, ")", "        ")
        yield from listed("(", [f"{out}[{row}]" for out in outs], f") = {together}", "        ")
    yield from listed("return (", outs, ")") if len(outs) > 8 else [f"    return {', '.join(outs)}"]


WORDS = {
    **NUMBER_WORDS,
    **calls("np.", "exp2 log2 cbrt sign floor ceil", round="rint", max="maximum", min="minimum"),
}

LANGUAGE = Language(
    name="numba",
    says="Numba: numbers, and the rows of arrays, compiled",
    suffix=".py",
    words=WORDS,
    write=write,
    number=float_number,
    constants={"pi": "np.pi", "e": "np.e", "inf": "np.inf", "nan": "np.nan"},
    reserved={*kwlist, "np", "math", "njit", "abs", "float", "range", "len"},
    letters=True,
    finite="math.isfinite({value})",
    runs_on=("numba",),
)
