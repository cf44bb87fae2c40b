"""What is to be worked out for every row: which inputs are columns, which derivatives are asked for, what is written.

A plan holds nothing but plain values, so that it can be handed to another process.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from backprop.arrays_text import is_array
from backprop.bindings import is_name, normal
from backprop.graph import CONSTANTS, Graph
from backprop.mistakes import BoundColumn, ColumnTwice, MissingColumn, Mistake, NoColumn, UnknownNode, closest
from backprop.numerals import numeral
from backprop.point import Number, Program, resolve

NOTE, SLOPE = "note", "d_{}"


@dataclass(frozen=True, slots=True)
class Plan:
    """A program and the table that it meets.

    `columns` has the column of each input that is one, `constants` the text of the number of every other. `kept` are
    the columns that are carried over, `value`, `slopes` and `note` the names of the columns that are put behind them;
    `slopes` by the names in whose direction they are. `output` is what the value is called in a trace.
    """

    text: str
    origin: str | None
    columns: dict[str, str]
    constants: dict[str, str]
    output: str
    kept: tuple[str, ...]
    value: str
    slopes: dict[str, str]
    note: str
    engine: str = "auto"
    careful: bool = False  # whether rows in which rounding leaves few digits are worked out as `grad` does
    decimal: str = "."
    rows: int | None = None  # about how many there are, so that every process chooses the same engine
    remarks: tuple[str, ...] = ()

    @property
    def program(self) -> Program:
        """The program, to be read where it is needed."""
        return Program(self.text, self.origin)

    @property
    def wrt(self) -> tuple[str, ...]:
        """The names whose derivatives are asked for."""
        return tuple(self.slopes)

    @property
    def wanted(self) -> list[str]:
        """The columns that have to be read."""
        return list(dict.fromkeys([*self.kept, *self.columns.values()]))

    @property
    def names(self) -> list[str]:
        """The columns that are written."""
        return [*self.kept, self.value, *self.slopes.values(), self.note]


def plan(
    program: Program,
    table: Sequence[str],
    given: Mapping[str, Number],
    *,
    wrt: Sequence[str] | None = None,
    value_only: bool = False,
    keep: Sequence[str] | None = None,
    engine: str = "auto",
    careful: bool = False,
    decimal: str = ".",
    whole: bool = False,
    rows: int | None = None,
) -> Plan:
    """The plan for a table with the columns `table`; `given` are the numbers of inputs that are no columns.

    Every input is a column of its name, else the number given for it, else its default. Names are compared in their
    composed form, and blanks around the name of a column do not count; a column whose name is no name here goes by the
    one that `named` gives it, where there is nothing else of that name. Without `wrt` the derivatives are those by the
    columns; for sums over the whole table (`whole`) they are those by the other inputs, where there are any. `keep`
    names the columns that are carried over, all when it is None. `rows` is how many there are, about, or None.

    Raises `MissingColumn`, `BoundColumn`, `ColumnTwice`, `NoColumn`, `UnknownNode` and what reading the program does.
    """
    if len(set(table)) < len(table):
        twice = next(name for place, name in enumerate(table) if name in table[:place])
        places = [str(place) for place, name in enumerate(table, 1) if name == twice]
        raise ColumnTwice(twice, f"column {places[0]}", f"column {places[1]}")
    called: dict[str, list[str]] = {}
    for name in table:
        if is_name(normal(name.strip())):
            called.setdefault(normal(name.strip()), []).append(name)
    columns = dict(called)
    for name, found in called.items():
        (spelled,) = program.spelled({name: 0})
        columns.setdefault(spelled, found)  # x2 is x₂ where there is no x2
    numbers = program.spelled(given)
    loose: dict[str, list[str]] = {}
    for name in table:
        if not is_name(normal(name.strip())) and (known := named(name)) and known not in columns:
            loose.setdefault(known, []).append(name)
    try:
        syntax, graph = program.read({**loose, **columns, **numbers})
    except Mistake as mistake:
        raise _meant(mistake, program, loose) from None
    nothing_else = {name: found for name, found in loose.items() if name not in {**numbers, **graph.defaults}}
    columns = nothing_else | columns
    unknown = [name for name in numbers if graph.is_unused(name)]
    if unknown:
        raise UnknownNode(unknown[0], list(graph.inputs))
    both = [name for name in graph.inputs if name in numbers and name in columns]
    if both:
        raise BoundColumn(both)
    used = {name: columns[name] for name in graph.inputs if name in columns}
    for name, found in used.items():
        if len(found) > 1:
            raise ColumnTwice(name, repr(found[0]), repr(found[1]))
    constants = {name: numeral(numbers[name], name) for name in graph.inputs if name in numbers}
    constants |= {name: text for name, text in graph.defaults.items() if name not in constants and name not in used}
    missing = [name for name in graph.inputs if name not in constants and name not in used]
    if missing:
        span = graph.span(graph.inputs[missing[0]])
        told = MissingColumn(missing, list(table), span).within(syntax.source, program.origin)
        raise _meant(told, program, loose, missing)
    if not used:
        raise NoColumn(list(table))
    output = graph.ids[graph.output]
    kept = _kept(table, keep)
    unique = _Names(kept)
    value = unique(output)
    slopes = {name: unique(SLOPE.format(name)) for name in _wrt(graph, wrt, used, constants, value_only, whole)}
    return Plan(
        text=program.text,
        origin=program.origin,
        columns={name: found[0] for name, found in used.items()},
        constants=constants,
        output=output,
        kept=kept,
        value=value,
        slopes=slopes,
        note=unique(NOTE),
        engine=engine,
        careful=careful,
        decimal=decimal,
        rows=rows,
        remarks=tuple(
            f"{name} is the column {name} of the table here, not the constant" for name in used if name in CONSTANTS
        ),
    )


def named(column: str) -> str:
    """The name by which an expression has a column whose own name is none here; "" where there is no such name.

    >>> named("petal length (cm)"), named("2nd"), named("%")
    ('petal_length_cm', 'col_2nd', '')
    """
    name = re.sub(r"\W+", "_", normal(column)).strip("_")
    name = f"col_{name}" if name[:1].isdigit() else name
    return name if name and is_name(name) and name not in CONSTANTS else ""


def _meant(
    mistake: Mistake, program: Program, loose: Mapping[str, Sequence[str]], missing: Sequence[str] = ()
) -> Mistake:
    """A mistake, with the name of a column that the program calls by what is no name here, or by a part of it."""
    for name, (column, *_) in loose.items():
        if column.strip() in program.text or any(one in name.split("_") or closest(one, [name]) for one in missing):
            told = f"The column {column.strip()!r} is called {name} in an expression."
            mistake.repair = f"{told}   {mistake.repair}".rstrip()
            break
    return mistake


def _wrt(
    graph: Graph,
    wrt: Sequence[str] | None,
    used: Mapping[str, object],
    constants: Mapping[str, str],
    value_only: bool,
    whole: bool,
) -> list[str]:
    """The names whose derivatives are asked for."""
    if value_only:
        return []
    if wrt is None:
        return list((whole and constants) or used)
    nodes = resolve(graph, wrt)
    return list(dict.fromkeys(wrt)) if any("[" in name for name in wrt) else [graph.name_of(node) for node in nodes]


def _kept(table: Sequence[str], keep: Sequence[str] | None) -> tuple[str, ...]:
    if keep is None or (list(keep) == ["all"] and "all" not in table):
        return tuple(table)
    if list(keep) == ["none"] and "none" not in table:
        return ()
    by_name = {normal(name.strip()): name for name in table}
    missing = [name for name in keep if name not in by_name]
    if missing:
        raise MissingColumn(missing, list(table), kept=True)
    return tuple(dict.fromkeys(by_name[name] for name in keep))


class _Names:
    """Names for new columns: one that a column has already gets ~2, as a name that is bound again has in a trace."""

    def __init__(self, taken: Sequence[str]) -> None:
        self.taken = set(taken)

    def __call__(self, stem: str) -> str:
        name, count = stem, 1
        while name in self.taken:
            count += 1
            name = f"{stem}~{count}"
        self.taken.add(name)
        return name


def arrays_in(found: Plan) -> list[str]:
    """The constants that are arrays."""
    return [name for name, text in found.constants.items() if is_array(text)]
