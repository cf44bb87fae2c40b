"""The working as a Markdown page: the tables, the gradient, the notes, and the graph as a Mermaid drawing."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from backprop.figures import shape_text
from backprop.notation import slope
from backprop.record import Trace
from backprop.render import Format, mermaid
from backprop.render.asked_for import program_lines
from backprop.render.excerpts import excerpt, is_cut, some_items, some_lines
from backprop.render.gradients import checked
from backprop.render.look import Look
from backprop.render.table import left_out
from backprop.render.tables import visible
from backprop.render.verdicts import verdict
from backprop.render.workings import Line, adjoint_lines, put_in, shapes_of, tangent_lines, value_lines
from backprop.working import NO_VALUE, NOT_TAKEN, Gap, Working, is_unproven
from backprop.working.brought import NOT_PROVEN

FORMAT = Format("markdown", suffix=".md", says="the working as a page, with the graph as a drawing")

_BACKTICKS = re.compile("`+")
_SIGNS = re.compile(r"([\\`*_{}\[\]<>#|~&])")


def render(trace: Trace, look: Look) -> Iterator[str]:
    """The lines of the page."""
    return (look.letters(line) for line in _page(trace, look))


def _page(trace: Trace, look: Look) -> Iterator[str]:
    yield f"# Gradient of {_code(trace.output)}"
    yield ""
    yield from _block("text", some_lines(program_lines(trace), look))
    if trace.inputs:
        shown, more = some_items(trace.inputs.items(), look)
        yield ""
        at = ", ".join(_code(f"{name} = {look.figure(value)}") for name, value in shown)
        yield f"At {at}{f' and {more} more' if more else ''}."
    if trace.kind not in ("real", "symbol"):
        yield from ("", f"Kind: {_code(trace.kind)}.")
    if trace.convention is not None:
        yield from ("", f"Convention: {_code(trace.convention)}.")
    shapes = {name: shape_text(shape) for name, shape in shapes_of(trace).items()}
    columns: tuple[str, ...] = ("node", *(["shape"] if shapes else []), "formula", put_in(trace), "value")
    yield from _table("Values", columns, _values(value_lines(trace, look), shapes))
    title, lines = ("Tangents", tangent_lines) if trace.mode == "forward" else ("Adjoints", adjoint_lines)
    columns = (title[:-1].lower(), "chain rule", "rules put in", put_in(trace), "value", "remark")
    yield from _table(title, columns, _slopes(lines(trace, look)))
    yield from _table("Gradient", ("derivative", "gradient", "formula", "checked"), _gradient(trace, look))
    if trace.notes:
        yield from ("", "## Notes", "")
        yield from (f"- {_text(note.text)}" for note in trace.notes)
    if is_cut(len(trace.nodes), look):
        yield ""
        yield from (_text(told) for told in left_out(trace, look))
    else:
        yield from ("", "## Graph", "")
        yield from _drawing(trace, look)
    yield ""
    yield f"**{_text(verdict(trace, look)[0])}**"


def _drawing(trace: Trace, look: Look) -> Iterator[str]:
    """The graph, as long as Mermaid draws one of its size without being set up for it."""
    if len(trace.edges) <= mermaid.MOST_EDGES:
        drawn = list(mermaid.render(trace, look))
        if sum(map(len, drawn)) + len(drawn) <= mermaid.MOST_LETTERS:
            yield from _block("mermaid", drawn)
            return
    size = f"{len(trace.nodes)} nodes and {len(trace.edges)} edges"
    yield _text(f"Of {size} pages draw nothing; -o graph.svg draws them, and so does --around NODE --hops 2.")


def _values(lines: Iterable[Line], shapes: Mapping[str, str]) -> Iterator[list[str]]:
    for line in lines:
        if isinstance(line, Gap):
            yield ["…", line.told]
            continue
        shape = [shapes.get(line.left, "")] if shapes else []
        yield [_code(line.left), *shape, *map(_code, ("".join(line.rules), "".join(line.numbers))), _value(line)]


def _slopes(lines: Iterable[Line]) -> Iterator[list[str]]:
    for line in lines:
        if isinstance(line, Gap):
            yield ["…", line.told]
            continue
        terms = (" + ".join(part) for part in (line.chain, line.rules, line.numbers))
        yield [_code(line.left), *map(_code, terms), _value(line), _text(line.remark)]


def _value(line: Working) -> str:
    return _text(line.value) if line.value else (NOT_TAKEN if line.remark == NOT_TAKEN else NO_VALUE)


def _gradient(trace: Trace, look: Look) -> Iterator[list[str]]:
    for name in excerpt(trace.wrt, trace.gradient.get, look):
        if isinstance(name, Gap):
            yield ["…", name.told]
            continue
        found = trace.gradient.get(name)
        told = checked([witness for witness in trace.witnesses if witness.of == name])
        yield [
            _code(slope(trace.output, name)),
            _text(look.figure(found)) if found is not None else NOT_PROVEN if is_unproven(trace) else NO_VALUE,
            _code(trace.formulas.get(name, "")),
            _text(told if isinstance(told, str) else told[0]),
        ]


def _table(title: str, columns: Sequence[str], rows: Iterator[list[str]]) -> Iterator[str]:
    first = next(rows, None)
    if first is None:
        return
    yield from ("", f"## {title}", "")
    yield f"| {' | '.join(columns)} |"
    yield f"|{' --- |' * len(columns)}"
    yield f"| {' | '.join(first)} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _code(text: str) -> str:
    """Text between backticks, for a cell of a table: a bar is escaped there even in code."""
    if not text:
        return ""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence, gap = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{gap}{visible(text)}{gap}{fence}".replace("|", "\\|")


def _text(text: str) -> str:
    r"""Text in which Markdown finds no sign of its own.

    >>> print(_text("a_b < |c|"))
    a\_b \< \|c\|
    """
    return _SIGNS.sub(r"\\\1", visible(text))


def _block(language: str, lines: Iterable[str]) -> Iterator[str]:
    held = list(lines)
    fence = "`" * max(3, *(len(run) + 1 for line in held for run in _BACKTICKS.findall(line)), 3)
    yield f"{fence}{language}"
    yield from map(visible, held)
    yield fence
