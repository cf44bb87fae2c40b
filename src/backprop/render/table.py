"""The trace as it would stand on paper: values, then adjoints or tangents, then the gradient and who agrees with it.

Each section is a table where it fits the screen; where it does not, each node is one line of working, broken at its
equals signs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from backprop.record import Trace
from backprop.render import Format
from backprop.render.asked_for import point_heading, program_heading
from backprop.render.excerpts import is_cut
from backprop.render.excerpts import told as told_cut
from backprop.render.gradients import gradient_table, limits_beside
from backprop.render.look import Look
from backprop.render.sections import slopes_table, values_table
from backprop.render.tables import paragraph
from backprop.render.verdicts import verdict
from backprop.render.workings import shapes_of

FORMAT = Format("table", suffix=".txt", says="the working as on paper, for reading")
# How to see all of an array.
FULL = "--full shows every element"


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
        yield from program_heading(trace, look)
    yield from point_heading(trace, look)
    yield ""
    yield from values_table(trace, look)
    if trace.limits is not None:
        yield from limits_beside(trace, look)
    if trace.value is not None:
        yield from slopes_table(trace, look)
    trace.settle()  # what stands above does not wait for the witnesses
    if trace.value is not None:
        yield from gradient_table(trace, look)
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


def _notes(trace: Trace, look: Look) -> Iterator[str]:
    yield ""
    for note in trace.notes:
        role = {"undefined": "bad", "read-as": None}.get(note.code, "warning")
        yield from paragraph(look, f"note: {note.text}", role, "      ")
