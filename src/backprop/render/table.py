"""The trace as it would stand on paper: values, then adjoints or tangents, then the gradient and who agrees with it.

Each section is a table where it fits the screen; where it does not, each node is one line of working, broken at its
equals signs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

from backprop.record import Edge, Node, Trace, Witness
from backprop.render import Format
from backprop.render.look import Look
from backprop.render.tables import GAP, MEASURED, Cell, cells, table, visible, wrap
from backprop.working import (
    NO_VALUE,
    NOT_TAKEN,
    Working,
    forward_working,
    reverse_working,
    slope,
    tangent_working,
)

FORMAT = Format("table", suffix=".txt", says="the working as on paper, for reading")

# A sum of more terms than this is written one term a line, in a pipe too.
TERMS_IN_A_LINE = 3
# The width of a remark that is folded beside a sum.
NARROW_REMARK = 14
# The widest formula that stands in the gradient's table rather than below it.
WIDEST_FORMULA = 48

_WITNESSES = {"sympy": "SymPy", "sympy rules": "SymPy"}


def render(trace: Trace, look: Look) -> Iterator[str]:
    """The lines of the working."""
    last = ""
    for line in _sections(trace, look):
        if line or last:
            yield line
        last = line


def _sections(trace: Trace, look: Look) -> Iterator[str]:
    """Every section with a blank line around it; two in a row count as one."""
    yield from _heading(trace, look)
    yield ""
    yield from _values(trace, look)
    if trace.value is not None:
        yield from _slopes_table(trace, look)
        yield from _gradient(trace, look)
    yield from _notes(trace, look)
    text, role = verdict(trace, look)
    yield ""
    yield from _paragraph(look, text, role)


# -- what was asked -------------------------------------------------------------------------------------------------


def _heading(trace: Trace, look: Look) -> Iterator[str]:
    for line in program_lines(trace):
        yield from _paragraph(look, line, "heading")
    if _bare(trace.program) != _bare(trace.canonical):
        statements = trace.canonical.split("; ") if "\n" in trace.program.strip() else [trace.canonical]
        for place, statement in enumerate(statements):
            yield from _paragraph(look, ("         " if place else "read as  ") + statement, "quiet", " " * 13)
    if trace.inputs:
        at = (f"{name} = {look.figure(value)}" for name, value in trace.inputs.items())
        yield from _paragraph(look, "at  " + ", ".join(at))
    if trace.kind not in ("real", "symbol"):
        yield from _paragraph(look, f"kind  {trace.kind}")


def program_lines(trace: Trace) -> list[str]:
    """The program line by line, without its expectations, which are for `backprop test`."""
    lines = [line for line in trace.program.split("\n") if not _EXPECTATION.match(line)]
    return "\n".join(lines).strip("\r\n").split("\n")


_EXPECTATION = re.compile(r"\s*#\s*expect\b")
_COMMENT = re.compile(r"#[^\n]*")
_LAYOUT = re.compile(r"[\s;]+")


def _bare(program: str) -> str:
    """A program without comments and layout, to tell whether it was read as anything but what was typed."""
    return _LAYOUT.sub("", _COMMENT.sub("", program)).replace("**", "^")


# -- values, adjoints, tangents -------------------------------------------------------------------------------------


def _values(trace: Trace, look: Look) -> Iterator[str]:
    columns = ("node", "formula", put_in(trace), "value")
    yield from _section(look, "Values, inputs first", columns, value_lines(trace, look), _value_cells)


def _slopes_table(trace: Trace, look: Look) -> Iterator[str]:
    columns = ("chain rule", "rules put in", put_in(trace), "value", "remark")
    if trace.mode == "forward":
        title = f"Tangents, moving {', '.join(trace.wrt)}, inputs first"
        yield from _section(look, title, ("tangent", *columns), tangent_lines(trace, look), _slope_cells)
    else:
        lines = adjoint_lines(trace, look)
        yield from _section(look, "Adjoints, output first", ("adjoint", *columns), lines, _slope_cells)


def put_in(trace: Trace) -> str:
    """The heading over what stands in the place of the names."""
    return "formulas put in" if trace.kind == "symbol" else "numbers put in"


def value_lines(trace: Trace, look: Look) -> Iterator[Working]:
    """How each value is worked out, inputs first."""
    values = {node.id: look.figure(node.value) for node in trace.nodes if node.value is not None}
    return (forward_working(node, values.get, look.figures) for node in trace.nodes if _is_step(node, trace))


def adjoint_lines(trace: Trace, look: Look) -> Iterator[Working]:
    """How each adjoint is gathered, output first."""
    leaving = _edges_by(trace, "source")
    adjoints = {node.id: node.adjoint for node in trace.nodes}
    # what nobody reads may stand behind the output
    output = [node for node in trace.nodes if node.id == trace.output]
    nodes = chain(output, (node for node in reversed(trace.nodes) if node.id != trace.output))
    return (
        reverse_working(node, leaving.get(node.id, ()), adjoints.get, trace.output, look.figures)
        for node in nodes
        if node.taken and (node.adjoint is not None or node.id in leaving)
    )


def tangent_lines(trace: Trace, look: Look) -> Iterator[Working]:
    """How each node moves with the chosen input, inputs first."""
    arriving = _edges_by(trace, "target")
    tangents = {node.id: node.tangent for node in trace.nodes}
    direction = ", ".join(trace.wrt)
    return (
        tangent_working(node, arriving.get(node.id, ()), tangents.get, direction, look.figures)
        for node in trace.nodes
        if node.taken and (_is_step(node, trace) or node.op == "input")
    )


def _edges_by(trace: Trace, end: str) -> dict[str, list[Edge]]:
    """The edges that carry a derivative, by the node at one of their ends."""
    found: dict[str, list[Edge]] = {}
    for edge in trace.edges:
        if edge.formula is not None or edge.partial is not None:
            found.setdefault(edge.source if end == "source" else edge.target, []).append(edge)
    return found


def _is_step(node: Node, trace: Trace) -> bool:
    """Whether a node has a row of its own: operations have, and constants that the author named, but no inputs."""
    if node.op == "input":
        return False
    if node.op != "const":
        return True
    name = node.id.partition("~")[0]
    if not name.isidentifier() or node.span is None:
        return False
    return trace.program[slice(*node.span)] not in {"pi": "piπ", "tau": "tauτ", "e": "e", "inf": "inf∞"}.get(name, "")


def _value_cells(line: Working) -> Iterator[list[Cell]]:
    formula, numbers = "".join(line.rules), "".join(line.numbers)
    yield [line.left, formula, numbers if numbers != formula else "", _value_cell(line)]


def _value_cell(line: Working) -> Cell:
    if line.value:
        return line.value
    return (NOT_TAKEN, "quiet") if line.remark == NOT_TAKEN else (NO_VALUE, "bad")


def _slope_cells(line: Working) -> Iterator[list[Cell]]:
    joined = [" + ".join(terms) for terms in (line.chain, line.rules, line.numbers)]
    yield [line.left, *joined, _value_cell(line), line.remark]


def _folded(line: Working, look: Look) -> Iterator[list[Cell]]:
    """A sum, one term a row, the value in the last; on a screen the remark beside it is folded too."""
    terms = list(zip(line.chain, line.rules, line.numbers, strict=True)) or [("", "", "")]
    remark = [line.remark] if look.width is None else wrap(line.remark, NARROW_REMARK)
    ahead = max(0, len(terms) - len(remark))
    for place in range(max(len(terms), len(remark))):
        parts = terms[place] if place < len(terms) else ("", "", "")
        signed = [f"+ {part}" if place and part else part for part in parts]
        value = _value_cell(line) if place == len(terms) - 1 else ""
        said = remark[place - ahead] if place >= ahead else ""
        yield [line.left if place == 0 else "", *signed, value, said]


def _section(
    look: Look,
    title: str,
    columns: Sequence[str],
    lines: Iterator[Working],
    flat: Callable[[Working], Iterator[list[Cell]]],
) -> Iterator[str]:
    """One table of working in the widest layout that fits: a line each, sums folded, or each node by itself."""
    first = list(islice(lines, MEASURED))
    if not first:
        return
    if columns[-1] == "remark" and len(first) < MEASURED and not any(line.remark for line in first):
        columns = columns[:-1]
    every = chain(first, lines)

    def rows(lines: Iterable[Working], longest: int) -> Iterator[list[Cell]]:
        for line in lines:
            for row in _folded(line, look) if len(line.chain) > longest else flat(line):
                yield row[: len(columns)]

    for longest in (TERMS_IN_A_LINE, 1):
        if look.width is None or _natural(look, columns, rows(first, longest)) <= look.width:
            yield from table(look, title, columns, rows(every, longest), roles=[_COLUMNS[name] for name in columns])
            break
    else:
        yield from _paragraph(look, title, "heading")
        for line in every:
            yield from _stacked(look, line)
    yield ""


_COLUMNS = {"node": "name", "adjoint": "name", "tangent": "name", "value": "value", "remark": "quiet"}
_COLUMNS |= dict.fromkeys(("formula", "chain rule", "rules put in", "numbers put in", "formulas put in"), "formula")


def _natural(look: Look, columns: Sequence[str], rows: Iterable[Sequence[Cell]]) -> int:
    """The width a table would take if nothing wrapped."""
    widths = [cells(name) for name in columns]
    for row in rows:
        for place, cell in enumerate(row):
            widths[place] = max(widths[place], cells(visible(look.letters(cell if isinstance(cell, str) else cell[0]))))
    return sum(widths) + len(GAP) * sum(1 for width in widths[1:] if width)


def _stacked(look: Look, line: Working) -> Iterator[str]:
    """A line of working for a narrow screen: whole if it fits, else broken before each equals sign."""
    assert look.width is not None
    whole = visible(look.letters(line.line))
    if cells(whole) <= look.width:
        yield _painted(look, whole, line)
        return
    left, *parts = whole.split(" = ")
    indent = " " * min(cells(left), 12)
    text = f"{left} = {parts[0]}" if parts else left
    for place, part in enumerate((text, *(f"{indent} = {part}" for part in parts[1:]))):
        for number, piece in enumerate(wrap(part, look.width, f"{indent}   ")):
            yield piece if number else _painted(look, piece, line, at_start=place == 0)


def _painted(look: Look, text: str, line: Working, at_start: bool = True) -> str:
    """A line of working with its name and its value in their colours."""
    if not look.colour:
        return text
    left, value = visible(look.letters(line.left)), visible(look.letters(line.value))
    before, sign, after = text.rpartition(" = ")
    told, gap, remark = after.partition("   ")
    if sign and told == value:
        text = before + sign + look.paint(told, "value") + gap + look.paint(remark, "quiet")
    return look.paint(left, "name") + text[len(left) :] if at_start and text.startswith(left) else text


# -- the gradient ---------------------------------------------------------------------------------------------------


def _gradient(trace: Trace, look: Look) -> Iterator[str]:
    if not trace.wrt:
        return
    values = {node.id: node.value for node in trace.nodes} | trace.inputs
    said = _by_variable(trace)
    formulas = [trace.formulas.get(name, "") for name in trace.wrt]
    inside = any(formulas) and max(map(cells, formulas)) <= WIDEST_FORMULA
    columns = ["variable", "value", "gradient", *(["formula"] if inside else []), "checked (digits that agree)"]
    if not trace.witnesses:
        columns.pop()

    def rows(with_formulas: bool) -> Iterator[list[Cell]]:
        for name, formula in zip(trace.wrt, formulas, strict=True):
            slope_there = trace.gradient.get(name)
            known: Cell = look.figure(slope_there) if slope_there is not None else (NO_VALUE, "bad")
            row: list[Cell] = [name, look.figure(values.get(name)), known]
            row += [formula] if with_formulas else []
            yield [*row, checked(said.get(name, []))] if trace.witnesses else row

    if inside and look.width is not None and _natural(look, columns, islice(rows(True), MEASURED)) > look.width:
        inside = False
        columns.remove("formula")
    roles = ["name", None, "gradient", *(["formula"] if inside else []), None]
    yield from table(look, "Gradient", columns, rows(inside), roles=roles)
    for witness in trace.witnesses:
        if witness.of == "all":
            yield from _paragraph(look, f"every edge {witness.verdict}: {_said(witness)}", _ROLES.get(witness.verdict))
    if any(formulas) and not inside:
        yield ""
        for name, formula in zip(trace.wrt, formulas, strict=True):
            if formula:
                yield from _paragraph(look, f"{slope(trace.output, name)} = {formula}")


_ROLES = {"agrees": "good", "not checked": "quiet", "inaccurate": "warning", "DISAGREES": "bad"}


def _by_variable(trace: Trace) -> dict[str, list[Witness]]:
    found: dict[str, list[Witness]] = {}
    for witness in trace.witnesses:
        found.setdefault(witness.of, []).append(witness)
    return found


def checked(witnesses: Sequence[Witness]) -> Cell:
    """What the witnesses of one number say, the worst first.

    >>> checked([Witness("x", "sympy", "agrees", digits=16.2), Witness("x", "difference", "agrees", digits=15.9)])
    ('agrees: SymPy 16, difference 15', 'good')
    """
    parts: list[str] = []
    worst = ""
    for sort in ("DISAGREES", "inaccurate", "agrees", "not checked"):
        those = [witness for witness in witnesses if witness.verdict == sort]
        if not those:
            continue
        worst = worst or sort
        parts.append(f"{sort}: " + ", ".join(_said(witness) for witness in those))
    return ("; ".join(parts), _ROLES[worst]) if worst else ("not checked", "quiet")


def _said(witness: Witness) -> str:
    """One witness in a few words: its name, the digits that agree, what it says instead and why."""
    text = _WITNESSES.get(witness.by, witness.by.replace("-", " "))
    if witness.verdict == "agrees":
        known = witness.digits is not None and math.isfinite(witness.digits)
        text = f"{text} {math.floor(witness.digits or 0)}" if known else text
    elif witness.verdict != "not checked" and witness.value is not None:
        text += f" says {witness.value}"
    return f"{text} ({witness.reason})" if witness.reason else text


# -- notes and the last word ----------------------------------------------------------------------------------------


def _notes(trace: Trace, look: Look) -> Iterator[str]:
    yield ""
    for note in trace.notes:
        role = {"undefined": "bad", "read-as": None}.get(note.code, "warning")
        yield from _paragraph(look, f"note: {note.text}", role, "      ")


def verdict(trace: Trace, look: Look) -> tuple[str, str]:
    """The last word in one line: the value, how many derivatives, and whether every witness agrees."""
    if trace.value is None:
        return f"{trace.output} has no value at this point", "bad"
    value = f"{trace.output} = {look.figure(trace.value)}"
    wrong = list(dict.fromkeys(witness.of for witness in trace.witnesses if witness.verdict == "DISAGREES"))
    if wrong:
        return f"{value}, but a check DISAGREES on {', '.join(_slopes(trace, wrong))}", "bad"
    missing = [name for name in trace.wrt if name not in trace.gradient]
    if missing:
        return f"{value}, with no derivative here: {', '.join(_slopes(trace, missing))}", "bad"
    if any(note.code == "undefined" for note in trace.notes):
        return f"{value}, undefined at this point", "bad"
    if not trace.wrt:
        return value, "good"
    count = "1 derivative" if len(trace.wrt) == 1 else f"{len(trace.wrt)} derivatives"
    weak = any(witness.verdict == "inaccurate" for witness in trace.witnesses)
    if weak:
        return f"{value}, {count}; digits are lost at this point", "warning"
    agreed = {witness.of for witness in trace.witnesses if witness.verdict == "agrees"}
    if trace.kind == "symbol":
        return f"{value}, {count}", "value"
    if "all" not in agreed and not agreed.issuperset(trace.wrt):
        return f"{value}, {count}, not checked" if not agreed else f"{value}, {count}, not all checked", "value"
    return f"{value}, {count}, every check agrees", "good"


def _slopes(trace: Trace, names: Iterable[str]) -> Iterator[str]:
    return ("the edges" if name == "all" else slope(trace.output, name) for name in names)


def _paragraph(look: Look, text: str, role: str | None = None, indent: str = "    ") -> Iterator[str]:
    """Text wrapped on a screen, one line in a pipe."""
    shown = visible(look.letters(text))
    lines = [shown] if look.width is None else wrap(shown, look.width, indent)
    return (look.paint(line, role) for line in lines)
