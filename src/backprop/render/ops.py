"""The table of operations, and one operation in full with an example worked out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING

from backprop.notation import slope
from backprop.render.look import Look
from backprop.render.tables import Cell, paragraph, table, wrap

if TYPE_CHECKING:
    from backprop.record import Trace
    from backprop.reference import Operation

# A rule that takes more letters than this is told by `ops NAME`, a condition is broken into lines.
LONGEST_RULE, LONGEST_CONDITION = 30, 18


def listing(operations: Sequence[Operation], look: Look) -> Iterator[str]:
    """The table of operations, a section for each of its files; on a screen without the words about each."""
    columns = ["operation", "written", "rule", "defined for", "says"][: 5 if look.width is None else 4]
    yield from table(look, None, columns, _sections(operations, len(columns)), roles=["name", None, "formula"])
    yield ""
    yield "backprop ops NAME tells all about one, with an example worked out"


def _sections(operations: Sequence[Operation], columns: int) -> Iterator[list[Cell]]:
    for section, ones in groupby(operations, lambda one: one.section):
        yield [""]
        yield [(section.upper(), "heading")]
        yield from (line[:columns] for one in ones for line in _lines(one))


def _lines(one: Operation) -> Iterator[list[Cell]]:
    """A row of the table, one way to write it and one rule a line."""
    rules = one.partials or (one.pulls[0][1] if one.pulls else {})
    told = [text if len(text) <= LONGEST_RULE else f"see ops {one.name}" for text in rules.values()]
    if len(told) > 1:
        told = [f"{name}: {text}" for name, text in zip(rules, told, strict=True)]
    condition = wrap(one.domain or "everywhere", LONGEST_CONDITION)
    return (list(line) for line in zip_longest([one.name], one.written, told, condition, [one.says], fillvalue=""))


def details(operations: Sequence[Operation], look: Look) -> Iterator[str]:
    """All that is known about some operations."""
    for place, one in enumerate(operations):
        if place:
            yield ""
        yield from _detail(one, look)


def _detail(one: Operation, look: Look) -> Iterator[str]:
    yield look.paint(look.letters(f"{one.name}: {one.says}"), "heading")
    facts = [("written", ", ".join(one.written))]
    facts += [(slope("", name), text) for name, text in one.partials.items()]
    facts += [(f"{slope('', name)} evaluated as", text) for name, text in one.evaluated.items()]
    for shapes, rules in one.pulls:
        facts += [(f"back to {name}", f"{text}   for {shapes}") for name, text in rules.items()]
    if one.pulls:
        facts.append(("where", "g is the adjoint of the result, which is out"))
    facts.append(("defined for", one.domain or "everywhere"))
    facts += [("kink where", f"{text} = 0") for text in one.kinks]
    facts += [(f"note {code}", f"when {when}") for code, when in one.notes]
    facts.append(("cost", one.work or _flops(one.flops)))
    width = max(len(name) for name, _ in facts)
    for name, text in facts:
        yield from paragraph(look, f"  {name.ljust(width)}  {text}", indent=" " * (width + 4))
    if one.example is not None:
        yield ""
        yield from _example(one.example, look)


def _word(text: str) -> str:
    """A value as a shell takes it for one word."""
    return f'"{text}"' if text.startswith("[") else text


def _flops(count: int) -> str:
    if not count:
        return "none, it moves numbers"
    return f"about {count} flop{'' if count == 1 else 's'}"


def _example(trace: Trace, look: Look) -> Iterator[str]:
    point = " ".join(f"--{name} {_word(look.figure(value))}" for name, value in trace.inputs.items())
    yield look.paint(look.letters(f'backprop trace "{trace.program}" {point}'), "quiet")
    for step in trace.steps:
        yield from paragraph(look, f"  {step.text}", indent=" " * 6)
