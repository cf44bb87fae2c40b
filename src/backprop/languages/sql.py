"""SQL as DuckDB speaks it: a query that puts value and slopes behind the columns of a table.

A row that has no answer (a null, an operation outside its domain, an overflow) has nulls there, and stops nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from textwrap import wrap

from backprop.languages import ARITHMETIC, Code, Language, Word, calls, python_number
from backprop.languages.common.origin import origin
from backprop.languages.common.python import WIDTH
from backprop.mistakes import OneColumn
from backprop.ops import AND, NOT, OR, PRODUCT, by_name
from backprop.writing import Written

# What DuckDB does not take for a name without quotes.
RESERVED = (
    "all analyse analyze and any array as asc asymmetric between bigint binary bit boolean both by case cast char "
    "character check coalesce collate column concat constraint create cross cube current_date current_time "
    "current_timestamp date dec decimal default deferrable desc describe distinct do else end except exists extract "
    "false fetch filter float for foreign from full generated glob grant group grouping having if ilike in inner "
    "initially inout int integer intersect interval into is isnull join lambda lateral leading left like limit map "
    "national natural nchar not notnull null nullif numeric offset on only or order out outer over overlaps overlay "
    "pivot pivot_longer pivot_wider placing position positional precision primary qualify real recursive references "
    "returning right rollup row select semi setof show similar sets smallint some struct substring summarize symmetric "
    "table tablesample then time timestamp to trailing treat trim true try_cast union unique unpivot using value "
    "values varchar variadic verbose when where window with within without xmlattributes anti asof at inf infinity nan"
)
KEYWORDS = frozenset(RESERVED.split())


def quoted(name: str) -> str:
    """A name as SQL takes it."""
    if re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) and name.lower() not in KEYWORDS:
        return name
    return '"' + name.replace('"', '""') + '"'


def double(text: str) -> Written:
    """A literal that is a double: 0.1 would be a decimal there, and 2 is an integer."""
    written, level = python_number(text)
    return re.sub(r"(?<![\w.])(\d+\.\d+)(?![\w.])", r"\1e0", written), level


def double_alone(text: str) -> Written:
    """A literal that is a double even where no other one is beside it."""
    written, level = double(text)
    return re.sub(r"^(-?\d+)$", r"\1e0", written), level


def write(code: Code) -> Iterator[str]:
    """The lines of a query."""
    _refuse_one_column(code)
    yield from _comment(code)
    names = code.unique
    row, origin_ = names("this_row"), names("origin")
    columns = [f"nullif(CAST({quoted(one.name)} AS DOUBLE), 'nan') AS {quoted(one.code)}" for one in code.inputs]
    level, below = names("inputs"), ""
    if code.function:
        yield f"CREATE VIEW {quoted(code.function)} AS"
    yield f"WITH {level} AS ("
    yield f"    SELECT {row} AS {origin_}{',' if columns else ''}"
    yield from _items(columns)
    yield f"    FROM data AS {row}"
    ordered = sorted(zip(code.levels, code.statements, strict=True), key=lambda one: one[0])
    for depth, group in groupby(ordered, key=lambda one: one[0]):
        below, level = level, names(f"level{depth + 1}")
        yield f"), {level} AS ("
        yield "    SELECT *,"
        yield from _items([f"{text} AS {quoted(name)}" for _, (name, text) in group])
        yield f"    FROM {below}"
    yield ")"
    yield f"SELECT {origin_}.*,"
    answers: list[tuple[str, str | None, str]] = [(code.unique("value"), None, code.value)]
    answers += [(code.names[name], name, text) for name, text in code.slopes.items()]
    for place, (own, name, text) in enumerate(answers):
        # no slope where there is no value
        varying = [one for key, one in ((None, code.value), (name, text)) if key not in code.literal]
        finite = " AND ".join(f"isfinite({one})" for one in dict.fromkeys(varying))
        answer = f"CASE WHEN {finite} THEN {text} END" if finite else text
        yield f"    {answer} AS {quoted(own)}{',' if place + 1 < len(answers) else ''}"
    yield f"FROM {level};"


def _items(items: list[str], indent: str = "        ") -> Iterator[str]:
    for place, item in enumerate(items):
        yield f"{indent}{item}{',' if place + 1 < len(items) else ''}"


def _comment(code: Code) -> Iterator[str]:
    lines = origin(code)
    yield from (f"-- {line}".rstrip() for line in lines[:-1])
    columns = ", ".join(quoted(one.name) for one in code.inputs)
    reads = f", in it the column{'s' if len(code.inputs) > 1 else ''} {columns}" if columns else ""
    says = f"{lines[-1]} For DuckDB: reads the table data{reads}"
    says += "; a row that has no answer has nulls."
    defaults = [f"{one.name} = {one.default}" for one in code.inputs if one.default is not None]
    if defaults:
        says += f" The defaults of the program, {', '.join(defaults)}, are not used: an input is a column."
    yield from (f"-- {line}" for line in wrap(says, WIDTH - 3, break_long_words=False))


def _refuse_one_column(code: Code) -> None:
    seen: dict[str, str] = {}
    for one in code.inputs:
        other = seen.setdefault(one.name.casefold(), one.name)
        if other != one.name:
            raise OneColumn(other, one.name)


def _within(name: str, form: str, condition: str = "") -> Word:
    """A word that gives null outside the domain of its row."""
    domain = condition or by_name(name).domain.replace("==", "=").replace("!=", "<>")
    return Word(f"CASE WHEN {domain} THEN {form} END", sure=Word(form))


def _power(x: float | None, y: float | None) -> Word | None:
    """x^n and b^y for numbers n and b."""
    if y is None:
        return Word("pow(x, y)") if x is not None and x > 0 else None
    domain = {(True, True): "", (True, False): "x <> 0", (False, True): "x >= 0", (False, False): "x > 0"}
    needed = domain[y % 1 == 0, y >= 0]
    return _within("pow", "pow(x, y)", needed) if needed else Word("pow(x, y)")


REST = "CASE WHEN x % y <> 0 AND (x % y < 0) <> (y < 0) THEN x % y + y ELSE x % y END"
POWER_DOMAIN = "x > 0 OR x = 0 AND y >= 0 OR x < 0 AND y = floor(y)"
WORDS = {
    **ARITHMETIC,
    **calls("", "exp sin cos tan atan sinh cosh tanh asinh cbrt abs sign floor ceil"),
    "eq": Word("x = y", ARITHMETIC["eq"].level),
    "ne": Word("x <> y", ARITHMETIC["ne"].level),
    "div": Word("x/nullif(y, 0)", PRODUCT, sure=Word("x/y", PRODUCT)),
    "log": _within("log", "ln(x)"),
    "log2": _within("log2", "log2(x)"),
    "log10": _within("log10", "log10(x)"),
    "sqrt": _within("sqrt", "sqrt(x)"),
    "pow": Word(f"CASE WHEN {POWER_DOMAIN} THEN pow(x, y) END", special=_power, sure=Word("pow(x, y)")),
    "asin": _within("asin", "asin(x)", "abs(x) <= 1"),
    "acos": _within("acos", "acos(x)", "abs(x) <= 1"),
    "acosh": _within("acosh", "acosh(x)"),
    "atanh": _within("atanh", "atanh(x)", "abs(x) < 1"),
    "atan2": _within("atan2", "atan2(y, x)", "x <> 0 OR y <> 0"),
    "gamma": _within("gamma", "gamma(x)", "x > 0 OR x <> floor(x)"),
    "lgamma": _within("lgamma", "lgamma(x)", "x > 0 OR x <> floor(x)"),
    "round": Word("round_even(x, 0)"),
    "mod": Word(f"CASE WHEN y <> 0 THEN {REST} END", sure=Word(REST)),
    # null is neither true nor false, and greatest would leave it out
    "where": Word("CASE c WHEN true THEN x WHEN false THEN y END"),
    "max": Word("CASE WHEN x >= y THEN x WHEN x < y THEN y END"),
    "min": Word("CASE WHEN x <= y THEN x WHEN x > y THEN y END"),
    "and": Word("x AND y", AND),
    "or": Word("x OR y", OR),
    "not": Word("NOT x", NOT),
}

LANGUAGE = Language(
    name="sql",
    says="SQL for DuckDB: a query over a table called data",
    suffix=".sql",
    words=WORDS,
    write=write,
    number=double,
    operand=double_alone,
    constants={"pi": "pi()", "inf": "CAST('inf' AS DOUBLE)", "nan": "CAST(NULL AS DOUBLE)"},
    reserved={"data"},
    letters=True,
    caseless=True,
    columns=True,
    functions=False,
    refer=quoted,
    runs_on=("duckdb",),
)
