"""Polars: a function that puts value and slopes behind the columns of a frame, lazily.

A row that has no answer (a null, an operation outside its domain, an overflow) has nulls there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from keyword import kwlist

from backprop.languages import ARITHMETIC, Code, Language, Word
from backprop.languages.common.python import docstring, imports, quoted
from backprop.ops import COMPARISON, POSTFIX, POWER, PRODUCT, UNARY


def write(code: Code) -> Iterator[str]:
    """The lines of a module with one function."""
    yield from imports(code, "import polars as pl", "from polars import col")
    yield f"def {code.function}(frame):"
    columns = ", ".join(one.name for one in code.inputs)
    reads = f" with the column{'s' if len(code.inputs) > 1 else ''} {columns}" if columns else ""
    what = "the columns " + ", ".join(["value", *code.names.values()]) if code.slopes else "the column value"
    says = f"Takes a DataFrame or a LazyFrame{reads}; returns a LazyFrame that has {what} too. A row without an answer "
    says += "has nulls there."
    defaults = [f"{one.name} = {one.default}" for one in code.inputs if one.default is not None]
    if defaults:
        says += f" The defaults of the program, {', '.join(defaults)}, are not used: an input is a column."
    yield from docstring(code, says)
    names = code.unique
    row = names("this_row")
    yield "    return ("
    yield "        frame.lazy()"
    columns_ = [f"{one.code}=col({quoted(one.name)}).cast(pl.Float64).fill_nan(None)" for one in code.inputs]
    yield from _call("select", [f"{row}=pl.struct(pl.all())", *columns_])
    ordered = sorted(zip(code.levels, code.statements, strict=True), key=lambda one: one[0])
    for _, group in groupby(ordered, key=lambda one: one[0]):
        yield from _call("with_columns", [f"{name}={text}" for _, (name, text) in group])
    answers = {names("value"): (None, code.value)} | {
        code.names[name]: (name, text) for name, text in code.slopes.items()
    }
    finite = []
    for own, (name, text) in answers.items():
        # no slope where there is no value
        varying = [one for key, one in ((name, text), (None, code.value)) if key not in code.literal]
        answer = _lit(text, name in code.fixed)
        finite.append(f"{own}=finite({', '.join(dict.fromkeys([answer, *varying]))})" if varying else f"{own}={answer}")
    yield from _call("select", [f"col.{row}.struct.unnest()", *finite])
    yield "    )"
    if any("=finite(" in one for one in finite):
        yield from ("", "")
        yield "def finite(x, *also):"
        yield "    return pl.when(pl.all_horizontal(one.is_finite() for one in (x, *also))).then(x)"


def _lit(text: str, fixed: bool) -> str:
    """An answer as an expression, though it may be a number."""
    return f"pl.lit({text}, pl.Float64)" if fixed and not text.startswith(("pl.", "col.")) else text


def _call(method: str, items: list[str]) -> Iterator[str]:
    line = f"        .{method}({', '.join(items)})"
    if len(line) <= 96:
        yield line
        return
    yield f"        .{method}("
    yield from (f"            {item}," for item in items)
    yield "        )"


def _method(name: str, *others: str) -> Word:
    return Word(f"x.{name}({', '.join(others)})", inside=POSTFIX)


def _within(domain: str, form: str, inside: int | None = None) -> Word:
    """A word that gives null outside its domain."""
    sure = Word(form, inside=POSTFIX) if inside is None else Word(form, inside)
    return Word(f"pl.when({domain}).then({form})", inside=inside, sure=sure)


def _power(x: float | None, y: float | None) -> Word | None:
    """x^n and b^y for numbers n and b."""
    if y is None:
        return Word("x**y", POWER) if x is not None and x > 0 else None
    domain = {(True, True): "", (True, False): "x != 0", (False, True): "x >= 0", (False, False): "x > 0"}
    needed = domain[y % 1 == 0, y >= 0]
    return _within(needed, "x**y", POWER) if needed else Word("x**y", POWER)


def _angle(y: float | None, x: float | None) -> Word | None:
    """The angle of a point of which one coordinate is a number: arctan2 takes expressions alone."""
    if y is None and x is None:
        return None
    points = ["pl.lit(y)" if y is not None else "y", "pl.lit(x)" if x is not None else "x"]
    return _within("(x != 0) | (y != 0)", f"pl.arctan2({', '.join(points)})")


POWER_DOMAIN = "(x > 0) | ((x == 0) & (y >= 0)) | ((x < 0) & (y == y.floor()))"
METHODS = "exp sin cos tan atan sinh cosh tanh asinh cbrt abs sign floor ceil erf erfc"
WORDS = {
    **ARITHMETIC,
    **{name: _method({"atan": "arctan", "asinh": "arcsinh"}.get(name, name)) for name in METHODS.split()},
    "div": _within("y != 0", "x/y", PRODUCT),
    "log": _within("x > 0", "x.log()"),
    "log10": _within("x > 0", "x.log10()"),
    "log1p": _within("x > -1", "x.log1p()"),
    "sqrt": _within("x >= 0", "x.sqrt()"),
    "pow": Word(f"pl.when({POWER_DOMAIN}).then(x**y)", inside=POWER, special=_power, sure=Word("x**y", POWER)),
    "asin": _within("x.abs() <= 1", "x.arcsin()"),
    "acos": _within("x.abs() <= 1", "x.arccos()"),
    "acosh": _within("x >= 1", "x.arccosh()"),
    "atan2": replace(_within("(x != 0) | (y != 0)", "pl.arctan2(y, x)"), special=_angle),
    "round": _method("round", '0, mode="half_to_even"'),
    "where": Word("pl.when(c).then(x).when(~c).then(y)"),
    "max": Word("pl.when(x >= y).then(x).when(x < y).then(y)"),
    "min": Word("pl.when(x <= y).then(x).when(x > y).then(y)"),
    "and": Word("x & y", COMPARISON, POSTFIX),
    "or": Word("x | y", COMPARISON, POSTFIX),
    "not": Word("~x", UNARY, POSTFIX),
}

LANGUAGE = Language(
    name="polars",
    says="Polars: a function of a DataFrame or LazyFrame",
    suffix=".py",
    words=WORDS,
    write=write,
    constants={"inf": "float('inf')", "nan": "pl.lit(None, pl.Float64)"},
    reserved={*kwlist, "pl", "col", "frame", "finite"},
    letters=True,
    columns=True,
    refer="col.{}".format,
    runs_on=("polars",),
)
