"""Sections: the values, adjoints or tangents of a trace as tables.

Each is a table where it fits the screen; where it does not, each node is one line of working, broken at its equals
signs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice

from backprop.figures import shape_text
from backprop.notation import slope
from backprop.record import Trace
from backprop.render.blocks import block
from backprop.render.look import Look
from backprop.render.tables import MEASURED, Cell, cells, natural_width, paragraph, table, visible, wrap
from backprop.render.workings import Line, adjoint_lines, digits_of, put_in, shapes_of, tangent_lines, value_lines
from backprop.working import NO_VALUE, NOT_TAKEN, Gap, Working

# A sum of more terms than this is written one term a line, in a pipe too.
TERMS_IN_A_LINE = 3
# The width of a remark that is folded beside a sum.
NARROW_REMARK = 14
_Cells = Callable[[Working], Iterator[list[Cell]]]


def values_table(trace: Trace, look: Look) -> Iterator[str]:
    columns = ("node", "formula", put_in(trace), "value")
    digits = digits_of(trace, "digits")
    shapes = {name: shape_text(shape) for name, shape in shapes_of(trace).items()}
    layout = _with_shapes(_with_digits((columns, _value_cells), digits), shapes)
    yield from _section(look, "Values, inputs first", value_lines(trace, look), layout, shapes=shapes)


def slopes_table(trace: Trace, look: Look) -> Iterator[str]:
    if trace.mode == "forward":
        title, lines = f"Tangents, moving {', '.join(trace.wrt)}, inputs first", tangent_lines(trace, look)
    else:
        title, lines = "Adjoints, output first", adjoint_lines(trace, look)
    name = "tangent" if trace.mode == "forward" else "adjoint"
    columns = (name, "chain rule", "rules put in", put_in(trace), "value", "remark")
    layouts: list[tuple[Sequence[str], _Cells]] = [(columns, _slope_cells), (columns, partial(_folded, look=look))]
    narrow = (name, "chain rule", "partial", put_in(trace), "value")
    layouts += [(narrow, partial(_narrow, room=room)) for room in (28, 14)]
    digits = {slope(trace.output, name): told for name, told in digits_of(trace, "adjoint_digits").items()}
    yield from _section(look, title, lines, *(_with_digits(layout, digits) for layout in layouts))


def _with_digits(layout: tuple[Sequence[str], _Cells], digits: Mapping[str, float]) -> tuple[Sequence[str], _Cells]:
    """A layout with a column behind the value: how many digits of it are right."""
    columns, cells_of = layout
    if not digits:
        return layout
    place = list(columns).index("value") + 1

    def with_digits(line: Working) -> Iterator[list[Cell]]:
        for row in cells_of(line):
            if len(row) >= place:
                told = digits.get(line.left) if row[place - 1] else None
                row.insert(place, "" if told is None else str(math.floor(told)))
            yield row

    return [*columns[:place], "digits", *columns[place:]], with_digits


def _with_shapes(layout: tuple[Sequence[str], _Cells], shapes: Mapping[str, str]) -> tuple[Sequence[str], _Cells]:
    """A layout with a column behind the node: the shape of what stands there."""
    columns, cells_of = layout
    if not shapes:
        return layout

    def with_shapes(line: Working) -> Iterator[list[Cell]]:
        for name, *rest in cells_of(line):
            yield [name, shapes.get(line.left, ""), *rest]

    return [columns[0], "shape", *columns[1:]], with_shapes


def _value_cells(line: Working) -> Iterator[list[Cell]]:
    formula, numbers = "".join(line.rules), "".join(line.numbers)
    yield [line.left, formula, numbers if numbers != formula else "", _value_cell(line)]


def _value_cell(line: Working) -> Cell:
    if line.value:
        return line.value
    return (NOT_TAKEN, "quiet") if line.remark == NOT_TAKEN else (NO_VALUE, "bad")


def _slope_cells(line: Working) -> Iterator[list[Cell]]:
    if len(line.chain) > TERMS_IN_A_LINE:
        yield from _one_a_row(line, line.rules, [line.remark])
        return
    joined = [" + ".join(terms) for terms in (line.chain, line.rules, _put_in(line.rules, line.numbers))]
    yield [line.left, *joined, _value_cell(line), line.remark]


def _put_in(rules: Sequence[str], numbers: Sequence[str]) -> Sequence[str]:
    """The numbers put in; nothing where the name of a large array has stayed in the one rule."""
    return [
        "" if rule == number and "∂" in rule and len(rules) == 1 else number
        for rule, number in zip(rules, numbers, strict=True)
    ]


def _folded(line: Working, look: Look) -> Iterator[list[Cell]]:
    """A sum, one term a row; on a screen the remark beside it is folded too."""
    yield from _one_a_row(line, line.rules, [line.remark] if look.width is None else wrap(line.remark, NARROW_REMARK))


def _narrow(line: Working, room: int) -> Iterator[list[Cell]]:
    """A sum, one term a row, with the rule of each partial alone, and the remark below it."""
    remark = wrap(f"({line.remark})", max(room, *map(cells, line.chain), 0)) if line.remark else []
    row: list[Cell]
    for row in _one_a_row(line, line.partials, []):
        if not line.chain and remark:
            row[1] = (remark.pop(0), "quiet")
        yield row[:-1]
    for text in remark:
        yield ["", (text, "quiet")]


def _one_a_row(line: Working, rules: Sequence[str], remark: Sequence[str]) -> Iterator[list[Cell]]:
    """The terms of a sum, one a row, with the value in the last and the remark ending there."""
    terms = list(zip(line.chain, rules, _put_in(line.rules, line.numbers), strict=True)) or [("", "", "")]
    ahead = max(0, len(terms) - len(remark))
    for place in range(max(len(terms), len(remark))):
        parts = terms[place] if place < len(terms) else ("", "", "")
        signed = [f"+ {part}" if place and part else part for part in parts]
        if rules is line.partials:
            signed[1] = parts[1]
        value = _value_cell(line) if place == len(terms) - 1 else ""
        said = remark[place - ahead] if place >= ahead and remark else ""
        yield [line.left if place == 0 else "", *signed, value, said]


def _section(
    look: Look,
    title: str,
    lines: Iterator[Line],
    *layouts: tuple[Sequence[str], _Cells],
    shapes: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """One table of working in the first of the layouts, columns and cells, that fits; else each node by itself."""
    first = list(islice(lines, MEASURED))
    if not first:
        return
    every = chain(first, lines)
    bare = len(first) < MEASURED and not any(isinstance(line, Working) and line.remark for line in first)
    for columns, cells_of in layouts:
        shown = columns[:-1] if bare and columns[-1] == "remark" else columns
        if look.width is None or natural_width(look, shown, _rows(first, cells_of, len(shown))) <= look.width:
            roles = [_COLUMNS[name] for name in shown]
            yield from table(look, title, shown, _rows(every, cells_of, len(shown)), roles=roles)
            break
    else:
        yield from paragraph(look, title, "heading")
        for line in every:
            if isinstance(line, Gap):
                yield from paragraph(look, f"… {line.told}", "quiet")
            else:
                yield from _stacked(look, line, (shapes or {}).get(line.left, ""))
    yield ""


def _rows(lines: Iterable[Line], cells_of: _Cells, count: int) -> Iterator[list[Cell]]:
    for line in lines:
        if isinstance(line, Gap):
            yield [("…", "quiet"), (line.told, "quiet")]
        else:
            yield from (row[:count] for row in cells_of(line))


_COLUMNS = {"node": "name", "adjoint": "name", "tangent": "name", "value": "value", "digits": "quiet"}
_COLUMNS |= {"remark": "quiet", "shape": "quiet"}
_COLUMNS |= dict.fromkeys(
    ("formula", "chain rule", "partial", "rules put in", "numbers put in", "formulas put in"), "formula"
)


def _stacked(look: Look, line: Working, shape: str = "") -> Iterator[str]:
    """A line of working for a narrow screen: whole if it fits, else broken before each equals sign, sums at a plus."""
    assert look.width is not None
    few_words = line.value.startswith((f"{shape},", f"{shape} elements"))  # they begin with the shape
    said = look.letters(f"   (shape {shape})") if shape and not few_words else ""
    whole = visible(look.letters(line.line)) + said
    if cells(whole) <= look.width and len(block(look.letters(line.value))) == 1:
        yield _painted(look, whole, line)
        return
    left, *parts = whole.removesuffix(said).split(" = ")
    if parts and parts[0] != visible(look.letters(line.value)):
        parts[0] += said
    indent = " " * min(cells(left), 12)
    room = look.width - len(indent) - 3
    for place, part in enumerate(parts or [""]):
        start = f"{left} = " if place == 0 and parts else left if place == 0 else f"{indent} = "
        lines = [part]
        if " + " in part and len(line.chain) > 1 and not _drawn(look, part, start):
            lines = _sum_lines(part, look.width - cells(start), room)
        role = "value" if part == visible(look.letters(line.value)) else None
        for number, text in enumerate(lines):
            begin = f"{indent} + " if number else start
            for row, piece in enumerate(_drawn(look, text, begin)):
                before = " " * cells(begin) if row else begin
                yield _painted(look, before + look.paint(piece, role), line, at_start=place == 0)
            if not _drawn(look, text, begin):
                for piece in wrap(begin + text, look.width, f"{indent}   "):
                    yield _painted(look, piece, line, at_start=place == 0)


def _drawn(look: Look, text: str, begin: str) -> list[str]:
    """The lines of a text with matrices in it, where they fit behind its beginning; no lines for another text."""
    lines = [look.letters(line) for line in block(text)]
    fits = look.width is None or max(map(cells, lines)) + cells(begin) <= look.width
    return lines if len(lines) > 1 and fits else []


def _sum_lines(text: str, first: int, room: int) -> list[str]:
    """A sum in lines that begin with a term, as many terms in each as fit."""
    lines: list[str] = []
    for term in text.split(" + "):
        if lines and cells(lines[-1]) + 3 + cells(term) <= (first if len(lines) == 1 else room):
            lines[-1] += f" + {term}"
        else:
            lines.append(term)
    return lines


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
