"""JavaScript: a function of numbers, as a module without dependencies for browsers and Node."""

from __future__ import annotations

import json
from collections.abc import Iterator
from textwrap import wrap

from backprop.languages import ARITHMETIC, Code, Language, Word, calls, python_number
from backprop.languages.common.origin import origin
from backprop.languages.common.python import WIDTH, listed
from backprop.languages.common.special_functions import ERROR_FUNCTIONS, GAMMA_FUNCTIONS, POLYGAMMA
from backprop.ops import AND, COMPARISON, CONDITIONAL, OR, UNARY

# Python has the sign of the divisor, JavaScript that of the dividend.
MOD = """\
function mod(x, y) {
    const rest = x % y;
    return rest !== 0 && (rest < 0) !== (y < 0) ? rest + y : rest;
}"""
# Of two integers that are equally near Math.round takes the upper one.
ROUND = """\
function round(x) {
    const near = Math.round(x);
    return near - x === 0.5 && near % 2 !== 0 ? near - 1 : near;
}"""

TAKEN = (
    "await break case catch class const continue debugger default delete do else enum export extends false finally for "
    "function if implements import in instanceof interface let new null package private protected public return static "
    "super switch this throw true try typeof var void while with yield "
    "arguments eval undefined NaN Infinity Math Number Array "
    # of what is written beside the function
    "mod round bell erf erfc ZETA stirling factors wave gamma lgamma BERNOULLI polygamma"
)
FUNCTIONS = (
    "exp expm1 log log2 log10 log1p sqrt cbrt abs sign sin cos tan asin acos atan sinh cosh tanh asinh acosh "
    "atanh hypot floor ceil pow max min"
)


def write(code: Code) -> Iterator[str]:
    """The lines of a module with one function."""
    yield from _comment(code)
    given = [one.code if one.default is None else f"{one.code} = {code.number(one.default)}" for one in code.parameters]
    yield from listed(f"export function {code.function}(", given, ") {", "", "")
    yield from (f"    const {name} = {text};" for name, text in code.statements)
    if code.hiding:
        finite = code.language.finite.format(value=code.value)
        yield f"    const {code.defined} = {finite};  // no slope where there is no value"
    if code.slopes:
        yield from _returned(code)
    else:
        yield f"    return {code.value};"
    yield "}"
    for need in code.needs:
        yield from ("", *need.splitlines())


def _comment(code: Code) -> Iterator[str]:
    """What this is, and what comes back."""
    lines = [line.replace("*/", "* /") for line in origin(code)]
    yield "/**"
    yield from (f" * {line}".rstrip() for line in lines[:-1])
    slopes = "{ value, gradient }, the slopes by name; NaN stands for what has no value"
    says = f"{lines[-1]} Takes numbers; returns {slopes if code.slopes else 'the value, NaN where there is none'}."
    yield from (f" * {line}" for line in wrap(says, WIDTH - 3, break_long_words=False))
    yield " */"


def _returned(code: Code) -> Iterator[str]:
    """The line that gives value and slopes."""
    slopes = [
        f"{_key(name)}: {f'{code.defined} ? {text} : NaN' if name in code.hiding else text}"
        for name, text in code.slopes.items()
    ]
    line = f"    return {{ value: {code.value}, gradient: {{ {', '.join(slopes)} }} }};"
    if len(line) <= WIDTH:
        yield line
        return
    yield "    return {"
    yield f"        value: {code.value},"
    yield from listed("gradient: {", slopes, "},", "        ")
    yield "    };"


def _key(name: str) -> str:
    """A name as the key of an object; `__proto__` would not be one by itself."""
    if name == "__proto__":
        return '["__proto__"]'
    return name if name.isascii() and name.isidentifier() else json.dumps(name, ensure_ascii=False)


WORDS = {
    **ARITHMETIC,
    **calls("Math.", FUNCTIONS),
    **calls("", "erf erfc", ERROR_FUNCTIONS),
    **calls("", "gamma lgamma", GAMMA_FUNCTIONS),
    # at -0 the angle would jump
    "atan2": Word("Math.atan2(y + 0, x + 0)"),
    "digamma": Word("polygamma(0, x)", needs=POLYGAMMA),
    "polygamma": Word("polygamma(n, x)", needs=POLYGAMMA),
    "mod": Word("mod(x, y)", needs=MOD),
    "round": Word("round(x)", needs=ROUND),
    "eq": Word("x === y", COMPARISON),
    "ne": Word("x !== y", COMPARISON),
    "where": Word("c ? x : y", CONDITIONAL),
    "and": Word("x && y", AND),
    "or": Word("x || y", OR),
    "not": Word("!x", UNARY),
}

LANGUAGE = Language(
    name="javascript",
    says="JavaScript: numbers, a module without dependencies",
    suffix=".js",
    words=WORDS,
    write=write,
    operand=python_number,
    constants={"pi": "Math.PI", "e": "Math.E", "inf": "Infinity", "nan": "NaN"},
    reserved=TAKEN.split(),
    letters=True,
    finite="Number.isFinite({value})",
)
