"""What was asked: the program and its point, as they head a table or a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from backprop.record import Trace, Value
from backprop.render.excerpts import some_items, some_lines
from backprop.render.look import Look
from backprop.render.tables import equation, paragraph


def program_heading(trace: Trace, look: Look) -> Iterator[str]:
    for line in some_lines(statements(program_lines(trace)), look):
        yield from paragraph(look, line, "heading")
    if _bare(trace.program) != _bare(trace.canonical):
        several = "\n" in trace.program.strip()
        read_as = statements(trace.canonical.split("; ")) if several else [trace.canonical]
        for place, statement in enumerate(some_lines(read_as, look)):
            yield from paragraph(look, ("         " if place else "read as  ") + statement, "quiet", " " * 13)


def point_heading(trace: Trace, look: Look) -> Iterator[str]:
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
