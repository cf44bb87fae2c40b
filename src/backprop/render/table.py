"""The trace as it would stand on paper: values, then adjoints or tangents, then the gradient and who agrees with it.

Each section is a table where it fits the screen; where it does not, each node is one line of working, broken at its
equals signs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby, islice

from backprop.arrays_text import element_name, element_of, indices_of
from backprop.figures import elements_of, figure, shape_of, shape_text
from backprop.notation import slope
from backprop.record import Node, OneSided, Trace, Value, Witness
from backprop.render import Format
from backprop.render.blocks import block
from backprop.render.excerpts import column, excerpt, is_cut, some_items, some_lines
from backprop.render.excerpts import told as told_cut
from backprop.render.kinks import is_taken, taken
from backprop.render.look import Look
from backprop.render.tables import MEASURED, Cell, cells, equation, natural_width, paragraph, table, visible, wrap
from backprop.working import (
    NO_VALUE,
    NOT_PROVEN,
    NOT_TAKEN,
    Gap,
    Working,
    edges_at,
    forward_working,
    is_unproven,
    known_of,
    reverse_working,
    tangent_working,
)

FORMAT = Format("table", suffix=".txt", says="the working as on paper, for reading")

# A sum of more terms than this is written one term a line, in a pipe too.
TERMS_IN_A_LINE = 3
# So many derivatives that do not exist are named in the last word.
MOST_NAMED = 8
# The width of a remark that is folded beside a sum.
NARROW_REMARK = 14
# The widest formula that stands in the gradient's table rather than below it.
WIDEST_FORMULA = 48

# How to see all of an array.
FULL = "--full shows every element"

WITNESSES = {"sympy": "SymPy", "sympy rules": "SymPy"}


def render(trace: Trace, look: Look, program: bool = True) -> Iterator[str]:
    """The lines of the working; without the `program` they begin with the point."""
    last = ""
    for line in _sections(trace, look, program):
        if line or last:
            yield line
        last = line


def _sections(trace: Trace, look: Look, program: bool) -> Iterator[str]:
    """Every section with a blank line around it; two in a row count as one."""
    if program:
        yield from _program(trace, look)
    yield from _point(trace, look)
    yield ""
    yield from _values(trace, look)
    if trace.limits is not None:
        yield from _limits(trace, look)
    if trace.value is not None:
        yield from _slopes_table(trace, look)
    trace.settle()  # what stands above does not wait for the witnesses
    if trace.value is not None:
        yield from _gradient(trace, look)
    yield from _notes(trace, look)
    if trace.birth is not None:
        yield from paragraph(look, f"to see it alone: {trace.birth.command}", "quiet", "      ")
    if any(math.prod(shape) > look.most for shape in shapes_of(trace).values()):
        yield from paragraph(look, f"arrays of more than {look.most} elements are told in a few words; {FULL}", "quiet")
    for told in left_out(trace, look):
        yield from paragraph(look, told, "quiet")
    text, role = verdict(trace, look)
    yield ""
    yield from paragraph(look, text, role)


def left_out(trace: Trace, look: Look) -> Iterator[str]:
    """What tables of very many rows leave out, and how to see it."""
    largest = "tangents" if trace.mode == "forward" else "adjoints"
    if is_cut(len(trace.nodes), look):
        yield told_cut("nodes", len(trace.nodes), largest)
    if is_cut(len(trace.wrt), look):
        yield told_cut("derivatives", len(trace.wrt), "values")


def shapes_of(trace: Trace) -> dict[str, tuple[int, ...]]:
    """The shapes of the arrays in a trace, by id; a trace that is held as columns has none."""
    if hasattr(trace.nodes, "column"):
        return {}
    return {node.id: node.shape for node in trace.nodes if node.shape}


# -- what was asked -------------------------------------------------------------------------------------------------


def _program(trace: Trace, look: Look) -> Iterator[str]:
    for line in some_lines(statements(program_lines(trace)), look):
        yield from paragraph(look, line, "heading")
    if _bare(trace.program) != _bare(trace.canonical):
        several = "\n" in trace.program.strip()
        read_as = statements(trace.canonical.split("; ")) if several else [trace.canonical]
        for place, statement in enumerate(some_lines(read_as, look)):
            yield from paragraph(look, ("         " if place else "read as  ") + statement, "quiet", " " * 13)


def _point(trace: Trace, look: Look) -> Iterator[str]:
    params = set(trace.params)
    yield from point(look, "at", {name: value for name, value in trace.inputs.items() if name not in params})
    yield from point(look, "params", {name: value for name, value in trace.inputs.items() if name in params})
    if trace.kind not in ("real", "symbol"):
        yield from paragraph(look, f"kind  {trace.kind}")
    if trace.convention is not None:
        yield from paragraph(look, f"convention  {trace.convention}")


def point(look: Look, word: str, inputs: Mapping[str, Value]) -> Iterator[str]:
    """Names with their values, as many numbers in a line as fit, each array by itself; nothing when there are none."""
    begin = f"{word}  "
    shown, more = some_items(inputs.items(), look)
    for is_array, some in groupby(shown, lambda item: isinstance(item[1], list)):
        if is_array:
            for name, value in some:
                yield from equation(look, begin + name, [look.figure(value)])
                begin = " " * len(begin)
            continue
        # the room inside an equation is no place to break a line
        equations = (f"{name}\u00a0=\u00a0{look.figure(value)}" for name, value in some)
        lines = paragraph(look, begin + ", ".join(equations), indent=" " * len(begin))
        yield from (line.replace("\u00a0", " ").replace("\\xa0", " ") for line in lines)
        begin = " " * len(begin)
    if more:
        yield from paragraph(look, f"{begin}and {more} more", "quiet")


def program_lines(trace: Trace) -> list[str]:
    """The program line by line, without its expectations, which are for `backprop test`."""
    lines = [line for line in trace.program.split("\n") if not _EXPECTATION.match(line)]
    return "\n".join(lines).strip("\r\n").split("\n")


def statements(lines: Sequence[str]) -> list[str]:
    """The lines that work something out: comments go, and so do declarations, whose values are told beside them."""
    bare = _DECLARATION.sub("", "\n".join(_COMMENT.sub("", line) for line in lines))
    return [line for line in map(str.rstrip, bare.split("\n")) if line]


# A declaration that ends on its line, or with its array, and holds nothing but numbers or a name.
_DECLARATION = re.compile(
    r"^[^\S\n]*(?:input|param)[^\S\n]+\w+(?:[^\S\n]*=[^\S\n]*(?:\[[\[\]\s\w.,+−/-]*\]|[^\s;(\[]*))?[^\S\n]*;?[^\S\n]*$",
    re.MULTILINE,
)
_EXPECTATION = re.compile(r"\s*#\s*expect\b")
_COMMENT = re.compile(r"#[^\n]*")
_LAYOUT = re.compile(r"[\s;]+")


def _bare(program: str) -> str:
    """A program without comments and layout, to tell whether it was read as anything but what was typed."""
    return _LAYOUT.sub("", _COMMENT.sub("", program)).replace("**", "^")


# -- values, adjoints, tangents -------------------------------------------------------------------------------------


def _values(trace: Trace, look: Look) -> Iterator[str]:
    columns = ("node", "formula", put_in(trace), "value")
    digits = digits_of(trace, "digits")
    shapes = {name: shape_text(shape) for name, shape in shapes_of(trace).items()}
    layout = _with_shapes(_with_digits((columns, _value_cells), digits), shapes)
    yield from _section(look, "Values, inputs first", value_lines(trace, look), layout, shapes=shapes)


def _slopes_table(trace: Trace, look: Look) -> Iterator[str]:
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


def digits_of(trace: Trace, name: str) -> dict[str, float]:
    """How many digits of values or adjoints are right, by id, as far as it was asked for."""
    found = column(trace, name)
    return {one: digits for one, digits in zip(column(trace, "id"), found, strict=bool(found)) if digits is not None}


def put_in(trace: Trace) -> str:
    """The heading over what stands in the place of the names."""
    return "formulas put in" if trace.kind == "symbol" else "numbers put in"


def value_lines(trace: Trace, look: Look) -> Iterator[Line]:
    """How each value is worked out, inputs first; of very many some."""
    known, nodes = known_of(trace, look.numbers), trace.nodes
    for place in excerpt(list(_steps(trace)), _slopes_of(trace).__getitem__, look):
        yield place if isinstance(place, Gap) else forward_working(nodes[place], known.number, look.numbers)


def adjoint_lines(trace: Trace, look: Look) -> Iterator[Line]:
    """How each adjoint is gathered, output first; of very many some."""
    known, leaving, nodes = known_of(trace, look.numbers), edges_at(trace, "source"), trace.nodes
    adjoints, taken = column(trace, "adjoint"), column(trace, "taken")
    # what nobody reads may stand behind the output
    output = [place for place, one in enumerate(column(trace, "id")) if one == trace.output]
    order = [*output, *(place for place in range(len(nodes) - 1, -1, -1) if place not in output)]
    rows = [place for place in order if taken[place] and (adjoints[place] is not None or leaving(place))]
    for place in excerpt(rows, adjoints.__getitem__, look):
        if isinstance(place, Gap):
            yield place
        else:
            yield reverse_working(nodes[place], leaving(place), known.slope, trace.output, look.numbers, known)


def tangent_lines(trace: Trace, look: Look) -> Iterator[Line]:
    """How each node moves with the chosen input, inputs first; of very many some."""
    known, arriving, nodes = known_of(trace, look.numbers), edges_at(trace, "target"), trace.nodes
    taken = column(trace, "taken")
    rows = [place for place in _steps(trace, inputs=True) if taken[place]]
    for place in excerpt(rows, _slopes_of(trace).__getitem__, look):
        if isinstance(place, Gap):
            yield place
        else:
            node, direction = nodes[place], ", ".join(trace.wrt)
            yield tangent_working(node, arriving(place), known.slope, direction, look.numbers, known)


def _slopes_of(trace: Trace) -> Sequence[Value | None]:
    """The adjoints of the nodes, or in forward mode their tangents."""
    return column(trace, "tangent" if trace.mode == "forward" else "adjoint")


def _steps(trace: Trace, inputs: bool = False) -> Iterator[int]:
    """The places of the nodes with a row of their own, with or without the inputs."""
    ids = column(trace, "id")
    for place, op in enumerate(column(trace, "op")):
        if op == "input":
            is_step = inputs
        else:
            is_step = op != "const" or (ids[place][0].isalpha() and _is_step(trace.nodes[place], trace))
        if is_step:
            yield place


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


_Cells = Callable[[Working], Iterator[list[Cell]]]
Line = Working | Gap


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


# -- the gradient ---------------------------------------------------------------------------------------------------


def _gradient(trace: Trace, look: Look) -> Iterator[str]:
    if not trace.wrt:
        return
    known: dict[str, Value | None] = dict(trace.inputs)
    if any(name not in known for name in trace.wrt):
        known = {node.id: node.value for node in trace.nodes} | known
    wrt = list(excerpt(trace.wrt, trace.gradient.get, look))
    values = {name: _at(name, known) for name in trace.wrt}
    shapes = {name: shape_text(shape_of(values.get(name))) for name in trace.wrt}
    said = _by_variable(trace)
    formulas = ["" if isinstance(name, Gap) else trace.formulas.get(name, "") for name in wrt]
    inside = any(formulas) and max(map(cells, formulas)) <= WIDEST_FORMULA
    full = ["variable", *(["shape"] if any(shapes.values()) else []), "value", "gradient"]
    full += [*(["formula"] if inside else []), "checked (digits that agree)"]
    if not trace.witnesses:
        full.pop()
    if trace.kind == "symbol":
        full.remove("value")  # a name, which is its own value

    def rows(columns: Sequence[str]) -> Iterator[list[Cell]]:
        for name, formula in zip(wrt, formulas, strict=True):
            if isinstance(name, Gap):
                yield [("…", "quiet"), (name.told, "quiet")]
                continue
            slope_there = trace.gradient.get(name)
            missing = NOT_PROVEN if is_unproven(trace) else NO_VALUE
            shown: Cell = look.figure(slope_there) if slope_there is not None else (missing, "bad")
            told = checked(said.get(name, []))
            if slope_there is None and told[1] == "quiet":
                told = ("nothing to check", "quiet")
            cell: dict[str, Cell] = {"variable": name, "shape": shapes[name], "value": look.figure(values.get(name))}
            cell |= {"gradient": shown, "formula": formula}
            yield [cell.get(column, told) for column in columns]

    # what is also told elsewhere makes room on a narrow screen: the value in the heading, the formula below the table
    narrower = [[name for name in full if name not in left] for left in ((), ("value",), ("value", "formula", "shape"))]
    for columns in narrower:
        if look.width is None or natural_width(look, columns, islice(rows(columns), MEASURED)) <= look.width:
            break
    yield from table(look, "Gradient", columns, rows(columns), roles=[_GRADIENT.get(name) for name in columns])
    for witness in said.get("all", ()):
        told, role = checked([witness])
        of = {"sympy rules": "every edge", "rounding": "double precision"}.get(witness.by, "all inputs at once")
        of = of if witness.sample is None else "a sample"
        yield from paragraph(look, f"{of} {told}", role)
    told_apart = [one for one in trace.one_sided if one.sort != "smooth"]
    for one in told_apart:
        yield from paragraph(look, _both_sides(trace, one, look), "warning", " " * 6)
    if sum(one.sort == "corner" for one in told_apart) > 1:
        yield from paragraph(look, "each along its own axis: not every choice of them is a subgradient", "warning")
    if any(formulas) and "formula" not in columns:
        yield ""
        for name, formula in zip(wrt, formulas, strict=True):
            if formula:
                yield from paragraph(look, f"{slope(trace.output, name)} = {formula}")


def _at(name: str, values: Mapping[str, Value | None]) -> Value | None:
    """The value of a name, also of an element: W[0,1]."""
    array, bracket, places = name.removesuffix("]").partition("[")
    found = values.get(name, values.get(array) if bracket else None)
    if name in values or not bracket:
        return found
    for place in places.split(","):
        if not isinstance(found, list) or not place.isdecimal() or int(place) >= len(found):
            return None
        found = found[int(place)]
    return found


def _both_sides(trace: Trace, one: OneSided, look: Look) -> str:
    """The slopes on both sides of a kink, what is a subgradient and what is taken, in one line."""
    ends = [(one.left, "left"), (one.right, "right")]
    slopes = [f"{look.figure(end)} {which}" for end, which in ends if end is not None]
    parts = [", ".join(slopes) or "no slopes beside it"]
    if one.sort == "jump":
        parts.insert(0, "the value jumps")
    elif one.sort == "edge":
        parts[0] += " only"
    elif one.low is not None and one.low != one.high:
        parts.append(f"any of [{look.figure(one.low)}, {look.figure(one.high)}]")
    elif one.sort == "corner":
        parts.append("another between the axes")
    if one.taken is not None:
        by = f" ({one.convention.replace('-', ' ')})" if one.convention is not None else ""
        parts.append(f"taken {look.figure(one.taken)}{by}")
    return f"{slope(trace.output, one.of)}: {'; '.join(parts)}"


def _limits(trace: Trace, look: Look) -> Iterator[str]:
    """What is approached beside a point where there is no value, a line for each side that differs."""
    assert trace.limits is not None
    left, right = trace.limits.left, trace.limits.right
    for where, told in (("beside the point", trace.limits), ("from the left", left), ("from the right", right)):
        if told is None or (told.value is None and told.why is None):
            continue
        where = f"from the {told.side}" if told.side is not None else where
        parts = [] if told.value is None else [f"{trace.output} -> {look.figure(told.value)}"]
        parts += [f"{slope(trace.output, name)} -> {look.figure(end)}" for name, end in told.gradient.items()]
        parts += [f"no limit: {told.why}"] if told.why is not None else []
        yield from paragraph(look, f"{where}  {', '.join(parts)}", "warning", " " * 6)
    yield ""


_GRADIENT = {"variable": "name", "shape": "quiet", "gradient": "gradient", "formula": "formula"}
_SAMPLED = {"sympy rules": "edges", "nodes": "nodes"}
_ROLES = {"agrees": "good", "not checked": "quiet", "inaccurate": "warning", "DISAGREES": "bad"}


def _by_variable(trace: Trace) -> dict[str, list[Witness]]:
    found: dict[str, list[Witness]] = {}
    for witness in trace.witnesses:
        found.setdefault(witness.of, []).append(witness)
    return found


def checked(witnesses: Sequence[Witness]) -> tuple[str, str]:
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
        # what several say for the same reason is said once
        groups: dict[tuple[str, str], list[str]] = {}
        for witness in those:
            groups.setdefault((_instead(witness), witness.reason or ""), []).append(_name(witness))
        told = (_told(names, instead, reason) for (instead, reason), names in groups.items())
        parts.append(f"{sort}: " + ", ".join(told))
    return ("; ".join(parts), _ROLES[worst]) if worst else ("not checked", "quiet")


def _name(witness: Witness) -> str:
    """Who it is, with the digits that agree."""
    name = WITNESSES.get(witness.by, witness.by.replace("-", " "))
    known = witness.verdict == "agrees" and witness.digits is not None and math.isfinite(witness.digits)
    where = f" at {witness.worst}" if witness.worst is not None else ""
    return f"{name} {math.floor(witness.digits or 0)}{where}" if known else f"{name}{where}"


def _instead(witness: Witness) -> str:
    """What it found when that is not what we found; of an array the worst element."""
    if witness.verdict in ("agrees", "not checked") or witness.value is None:
        return ""
    if isinstance(witness.value, list):
        worst = None if witness.worst is None else _at(witness.worst, {witness.of: witness.value})
        return figure(witness.value if worst is None else worst, 17)
    return str(witness.value)


def _told(names: Sequence[str], instead: str, reason: str) -> str:
    says = f" {'says' if len(names) == 1 else 'say'} {instead}" if instead else ""
    between = " and " if instead else ", "
    return f"{between.join(names)}{says}" + (f" ({reason})" if reason else "")


# -- notes and the last word ----------------------------------------------------------------------------------------


def _notes(trace: Trace, look: Look) -> Iterator[str]:
    yield ""
    for note in trace.notes:
        role = {"undefined": "bad", "read-as": None}.get(note.code, "warning")
        yield from paragraph(look, f"note: {note.text}", role, "      ")


def verdict(trace: Trace, look: Look) -> tuple[str, str]:
    """The last word in one line: the value, how many derivatives, and whether every witness agrees."""
    if trace.value is None:
        if not trace.node(trace.output).proven:
            return f"whether {trace.output} has a value here is not proven", "bad"
        return f"{trace.output} has no value at this point", "bad"
    value = f"{trace.output} = {look.figure(trace.value)}"
    wrong = list(dict.fromkeys(witness.of for witness in trace.witnesses if witness.verdict == "DISAGREES"))
    if wrong:
        return f"{value}, but a check DISAGREES on {', '.join(_slopes(trace, wrong))}", "bad"
    missing = list(_without_derivative(trace))
    if missing:
        told = ", ".join(_slopes(trace, missing[:MOST_NAMED]))
        told += f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        return f"{value}, with no derivative here: {told}", "bad"
    codes = {note.code for note in trace.notes}
    if "undefined" in codes:
        overflows = "overflow" in codes and trace.value in (math.inf, -math.inf)
        return f"{value}, {'more than a double can carry' if overflows else 'undefined at this point'}", "bad"
    if trace.birth is not None:
        what = "" if trace.birth.what == "value" else "the adjoint of "
        return f"{value}; the first NaN or infinity is {what}{trace.birth.node}", "bad"
    if not trace.wrt:
        return value, "good"
    count = "1 derivative" if len(trace.wrt) == 1 else f"{len(trace.wrt)} derivatives"
    if trace.kind == "symbol":
        return f"{value}, {count}", "value"
    chosen = [*taken(trace.output, trace.one_sided, look), *_by_convention(trace)]
    told, role = _confirmed(trace) if trace.one_sided or not chosen else ("", "warning")
    if trace.mended:
        told, role = "worked out with more digits where doubles lose them", "warning"
    elif any(witness.verdict == "inaccurate" for witness in trace.witnesses):
        told, role = "digits are lost at this point", "warning"
    parts = [f"{value}, {count}" + (f", {told}" if told else ""), *chosen]
    return (": " if not told else "; ").join(parts[:2]) + "".join(f"; {part}" for part in parts[2:]), (
        "warning" if chosen else role
    )


def _without_derivative(trace: Trace) -> Iterator[str]:
    """What has no derivative, of an array its elements by name."""
    for name in trace.wrt:
        found = trace.gradient.get(name)
        if found is None:
            yield name
        elif isinstance(found, list) and not isinstance(trace.value, list):
            stem, before = element_of(name)
            shape = shape_of(found)
            for position, one in enumerate(elements_of(found)):
                if one is None:
                    yield element_name(stem, (*before, *indices_of(shape, position)))


def _by_convention(trace: Trace) -> Iterator[str]:
    """What is to be said of kinks beside which nobody looked: a convention, or the rules, had the word."""
    if not trace.one_sided and any(note.code == "kink" for note in trace.notes):
        yield "at a kink, " + ("what the rules take" if trace.convention is None else f"as {trace.convention} takes it")


def _is_chosen(found: Value | None, beside: list[OneSided]) -> bool:
    """Whether a derivative is a choice at a kink, in every one of its elements."""
    count = len(list(elements_of(found))) if isinstance(found, list) else 1
    return len(beside) == count and all(map(is_taken, beside))


def _confirmed(trace: Trace) -> tuple[str, str]:
    """How many derivatives are confirmed, of those that are more than a choice; "" where every one is a choice."""
    singular: dict[str, list[OneSided]] = {}
    for one in trace.one_sided:
        singular.setdefault(one.of if one.of in trace.wrt else element_of(one.of)[0], []).append(one)
    names = [name for name in trace.wrt if not _is_chosen(trace.gradient.get(name), singular.get(name, []))]
    agreed = [one for one in trace.witnesses if one.verdict == "agrees" and one.by != "rounding"]
    rules = any(one.by == "sympy rules" for one in agreed)
    each = {one.of for one in agreed if one.by not in _SAMPLED}
    # right rules make a right derivative, but for a point where the answer does not come from them
    confirmed = [name for name in names if {name, "all"} & each or (rules and name not in singular)]
    if not names:
        return "", "warning"
    if len(confirmed) < len(names):
        beside = [slope(trace.output, name) for name in names if name in singular and name not in confirmed]
        if trace.witnesses and len(confirmed) + len(beside) == len(names):
            told = f"{', '.join(beside[:3])} from values beside the point"
            return f"{len(confirmed)} confirmed, {told}" if confirmed else told, "value"
        told = f"{len(confirmed)} confirmed, {len(names) - len(confirmed)} not" if confirmed else "not checked"
        return told, "value"
    tried = ", ".join(
        f"{one.sample[0]} of {one.sample[1]} {_SAMPLED[one.by]}" for one in agreed if one.sample is not None
    )
    told = "every check agrees" if len(names) == len(trace.wrt) else f"{len(names)} confirmed"
    return (f"{told} ({tried} tried)" if tried else told), "good"


def _slopes(trace: Trace, names: Iterable[str]) -> Iterator[str]:
    return ("the edges" if name == "all" else slope(trace.output, name) for name in names)
