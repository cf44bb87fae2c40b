"""Gradient descent: one step as its working between two traces, many as a table of losses, or a record a line."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, TextIO

from backprop.factors import as_addend
from backprop.render import table as trace_table
from backprop.render.look import Look
from backprop.render.tables import equation, paragraph, table

if TYPE_CHECKING:
    from backprop.record import Value
    from backprop.step import Descent, Learned

# A run that takes longer than this shows how far it is.
PATIENCE = 1.0

# A row of the table has room for arrays of so few elements.
MOST_IN_ROW = 4

# On a screen a table of more steps than this grows sparse.
MOST_ROWS = 40


def watched(descent: Descent, stderr: TextIO) -> Iterator[Learned]:
    """The steps as they are taken; a bar on a terminal when they take long."""
    begun = time.monotonic()
    patient = stderr.isatty() and descent.steps > 1
    for step in descent:
        yield step
        if patient and time.monotonic() - begun > PATIENCE:
            break
    else:
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=stderr), transient=True) as progress:
        bar = progress.add_task("steps", total=descent.steps, completed=step.number)
        for step in descent:
            progress.update(bar, completed=step.number)
            yield step


def json_lines(taken: Iterator[Learned], look: Look) -> Iterator[str]:
    """A record for each step."""
    return (json.dumps(step.to_dict(), ensure_ascii=look.ascii, allow_nan=False) for step in taken)


def render(descent: Descent, taken: Iterator[Learned], look: Look) -> Iterator[str]:
    """The lines, without line ends; `taken` are the steps of the descent, however they are watched."""
    if descent.steps == 1:
        yield from trace_table.render(descent.start, look)
        yield ""
        for step in taken:
            yield from _working(step, look)
    else:
        yield from _losses(descent, taken, look)
    last = descent.last
    assert last is not None
    yield ""
    if last.trouble is not None:
        word = "the step" if descent.steps == 1 else f"step {last.number}"
        yield from paragraph(look, f"The descent ends after {word}: {last.trouble}", "warning", "  ")
        yield look.letters("  A smaller --rate stays closer to the slope.")
        return
    ends = f"after {last.number} steps" if descent.steps > 1 else "after the step"
    yield look.paint(look.letters(f"Worked out again {ends}"), "heading")
    # the program stands above the first trace already; its point has moved
    yield from trace_table.render(descent.end, look, program=descent.steps > 1)


def _working(step: Learned, look: Look) -> Iterator[str]:
    """The new values, as on paper: `w1 = 0.5 - 0.5 · (-0.099126) = 0.549563`."""
    yield look.paint(look.letters(f"Step with rate {look.figure(step.rate)}: each param less rate · slope"), "heading")
    width = max(len(name) for name in step.after)
    rate = as_addend(look.figure(step.rate))
    for name, value in step.after.items():
        if isinstance(value, list):
            moved = [look.figure(step.before[name]), f"- {rate} ·", look.figure(step.slopes[name])]
            yield from equation(look, name.ljust(width), moved, [look.figure(value)], indent="  ")
            continue
        old, slope = look.figure(step.before[name]), as_addend(look.figure(step.slopes[name]))
        yield look.letters(f"  {name.ljust(width)} = {old} - {rate} · {slope} = {look.figure(value)}")
    if step.loss_after is not None:
        loss, after = look.figure(step.loss), look.figure(step.loss_after)
        fell = "falls" if step.loss_after < step.loss else "rises" if step.loss_after > step.loss else "stays"
        yield look.letters(f"  The result {fell}: {loss} → {after}")


def _losses(descent: Descent, taken: Iterator[Learned], look: Look) -> Iterator[str]:
    """A row for each step; on a screen the rows grow sparse, and a line says so."""
    first = next(taken)
    thinned = look.width is not None and descent.steps > MOST_ROWS
    shown = 0

    def rows() -> Iterator[list[str]]:
        nonlocal shown
        yield ["0", look.figure(first.loss), *_params(first.before, look)]
        held: list[str] = []
        for step in chain([first], taken):
            loss = "undefined" if step.loss_after is None else look.figure(step.loss_after)
            held = [str(step.number), loss, *_params(step.after, look)]
            if not thinned or is_round(step.number):
                shown += 1
                yield held
                held = []
        if held:
            shown += 1
            yield held

    yield from table(look, None, ["step", "loss", *first.after], rows(), roles=["quiet", "value"])
    assert descent.last is not None
    if shown < descent.last.number:
        text = f"{shown} of {descent.last.number} steps are shown; a pipe, or --format ndjson, gets them all"
        yield look.paint(look.letters(text), "quiet")


def _params(values: Mapping[str, Value], look: Look) -> Iterator[str]:
    """The params in a row of a long table; of larger arrays what can be told in a few words."""
    return (look.figure(value, MOST_IN_ROW) for value in values.values())


def is_round(number: int) -> bool:
    """Whether a step stands in the thinned table: 1 to 10, then 20, 30, ... 100, 200, ...

    >>> [number for number in range(1, 400) if is_round(number)][8:]
    [9, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 300]
    """
    return set(str(number)[1:]) <= {"0"}
