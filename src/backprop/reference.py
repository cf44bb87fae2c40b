"""Reference: the table of operations, one operation in full, and the variables of a program, as rows to be shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby, zip_longest
from typing import Any

from backprop import ops
from backprop.mistakes import UnknownFunction, UnknownOperation, closest
from backprop.ops import Row
from backprop.point import Number, Program
from backprop.render.look import Look
from backprop.render.tables import Cell, table, wrap


def rows_called(name: str) -> list[Row]:
    """The rows that a name may mean: a name that is called, or the name of a row. Raises `UnknownOperation`."""
    found = list(ops.called(name)) or [row for row in ops.rows() if name in (row.name, row.form, _sign(row))]
    if not found:
        known = [*ops.callable_names(), *(row.name for row in ops.rows())]
        elsewhere = UnknownFunction.elsewhere.get(name.lower())
        raise UnknownOperation(name, elsewhere.format("x") if elsewhere else None, closest(name, known))
    return found


def _sign(row: Row) -> str:
    """The sign that an operation is written with: `+`, `!`, `<=`."""
    return "".join(letter for letter in row.form if not letter.isalnum() and not letter.isspace())


def forms(row: Row) -> list[str]:
    """The ways to write an operation: `x + y`, `log(x)`.

    >>> forms(ops.by_name("tanh")), forms(ops.by_name("max"))
    (['tanh(x)'], ['max(x1, x2, ...)'])
    """
    names = ", ".join(part for name in row.parameters for part in _spread(name))
    return [*([row.form] if row.form else []), *(f"{name}({names})" for name in row.called)]


def _spread(name: str) -> list[str]:
    return [f"{name[1:]}1", f"{name[1:]}2", "..."] if name.startswith("*") else [name]


def _arity(row: Row) -> int:
    """How many operands to show: two of a row that takes any number."""
    return len(row.parameters) + 1 if row.variadic else len(row.parameters)


def _moving(row: Row) -> tuple[bool, ...]:
    return tuple(place not in row.conditions for place in range(_arity(row)))


def rules(row: Row, evaluated: bool = False) -> list[tuple[str, str]]:
    """Which partial, and its rule: `("∂/∂x", "1 - out^2")`. `evaluated` gives the form that keeps its digits."""
    texts = row.evaluated_rules(_moving(row)) if evaluated else row.rules(_moving(row))
    names = row.names(_arity(row))
    return [(f"∂/∂{name}", text) for name, text in zip(names, texts, strict=True) if text is not None]


# A rule that takes more letters than this is told by `ops NAME`, a condition is broken into lines.
LONGEST_RULE, LONGEST_CONDITION = 30, 18


def listing(look: Look) -> Iterator[str]:
    """The table of operations, a section for each of its files; on a screen without the words about each."""
    columns = ["operation", "written", "rule", "defined for", "says"][: 5 if look.width is None else 4]
    yield from table(look, None, columns, _sections(len(columns)), roles=["name", None, "formula"])
    yield ""
    yield "backprop ops NAME tells all about one, with an example worked out"


def _sections(columns: int) -> Iterator[list[Cell]]:
    for title, rows in groupby(ops.rows(), _group):
        yield [""]
        yield [(title, "heading")]
        yield from (line[:columns] for row in rows for line in _lines(row))


def _group(row: Row) -> str:
    """The file that a row stands in, as a title."""
    return row.value.__module__.rpartition(".")[2].upper()


def _lines(row: Row) -> Iterator[list[Cell]]:
    """A row of the table, one way to write it and one rule a line."""
    found = rules(row)
    told = [text if len(text) <= LONGEST_RULE else f"see ops {row.name}" for _, text in found]
    if len(found) > 1:
        told = [f"{name.removeprefix('∂/∂')}: {text}" for (name, _), text in zip(found, told, strict=True)]
    condition = wrap(row.domain or "everywhere", LONGEST_CONDITION)
    return (list(line) for line in zip_longest([row.name], forms(row), told, condition, [row.says], fillvalue=""))


def records(rows: list[Row] | None = None) -> list[dict[str, Any]]:
    """Rows of the table as JSON holds them; absent things are absent."""
    found = []
    for row in ops.rows() if rows is None else rows:
        record: dict[str, Any] = {"name": row.name, "written": forms(row), "says": row.says}
        record["partials"] = {name.removeprefix("∂/∂"): text for name, text in rules(row)}
        optional = {"domain": row.domain, "kink": list(row.kinks(_arity(row))), "latex": row.latex, "flops": row.flops}
        found.append(record | {name: value for name, value in optional.items() if value})
    return found


def details(rows: list[Row], look: Look) -> Iterator[str]:
    """All that is known about some operations."""
    for place, row in enumerate(rows):
        if place:
            yield ""
        yield from detail(row, look)


def detail(row: Row, look: Look) -> Iterator[str]:
    """All that is known about one operation, and an example worked out."""
    yield look.paint(look.letters(f"{row.name}: {row.says}"), "heading")
    facts = [("written", ", ".join(forms(row)))]
    facts += rules(row)
    facts += [(f"{name} evaluated as", text) for name, text in rules(row, evaluated=True) if (name, text) not in facts]
    facts.append(("defined for", row.domain or "everywhere"))
    facts += [("kink where", f"{text} = 0") for text in row.kinks(_arity(row))]
    facts += [(f"note {remark.code}", f"when {remark.when}") for remark in row.remarks_for(_moving(row))]
    facts.append(("cost", f"about {row.flops} flop{'' if row.flops == 1 else 's'}"))
    width = max(len(name) for name, _ in facts)
    for name, text in facts:
        yield from _wrapped(look, f"  {name.ljust(width)}  {text}", width + 4)
    if row.samples and not row.gives_condition:
        yield ""
        yield from example(row, look)


def example(row: Row, look: Look) -> Iterator[str]:
    """The first sample of a row, traced."""
    from backprop.tracing import trace

    operands = [float(value) if value is not False else -1.0 for value in row.samples[0]]
    names = row.names(len(operands))
    conditions = [f"{name} > 0" if place in row.conditions else name for place, name in enumerate(names)]
    program = f"{row.called[0]}({', '.join(conditions)})" if row.called else row.form
    found = trace(program, dict(zip(names, operands, strict=True)), check=False, figures=look.figures)
    point = " ".join(f"--{name} {look.figure(value)}" for name, value in found.inputs.items())
    yield look.paint(look.letters(f'backprop trace "{program}" {point}'), "quiet")
    for step in found.steps:
        yield from _wrapped(look, f"  {step.text}", 6)


def _wrapped(look: Look, text: str, indent: int) -> list[str]:
    shown = look.letters(text)
    return [shown] if look.width is None else wrap(shown, look.width, " " * indent)


def variables(program: Program, given: Mapping[str, Number]) -> list[dict[str, str]]:
    """The inputs of a program: name, whether it is an input or a param, and its default or given value."""
    from backprop.numerals import numeral

    spelled = program.spelled(given)
    _, graph = program.read(spelled)
    found = []
    for name in graph.inputs:
        record = {"name": name, "declared": "param" if name in graph.params else "input"}
        if name in graph.defaults:
            record["default"] = graph.defaults[name]
        if name in spelled:
            record["value"] = numeral(spelled[name], name)
        found.append(record)
    return found


def variable_table(found: list[dict[str, str]], look: Look) -> Iterator[str]:
    """The variables as a table, or a line that says there are none."""
    if not found:
        return iter([look.letters("no variables: every name has a value")])
    columns = [name for name in ("name", "declared", "default", "value") if any(name in record for record in found)]
    return table(look, None, columns, ([record.get(name, "") for name in columns] for record in found))
