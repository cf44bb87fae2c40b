"""Descent: how the steps of gradient descent are shown, with the traces before and after."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

from backprop.point import Number, Program
from backprop.record import Trace
from backprop.render.look import Look
from backprop.step import Learned, descend

# A run that takes longer than this shows how far it is.
PATIENCE = 1.0


class Learning:
    """A run of gradient descent that is shown while it happens. `last` is the latest step."""

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, Number],
        rate: float,
        steps: int,
        update: Sequence[str] | None,
        figures: int,
    ) -> None:
        self.program, self.inputs, self.rate, self.steps, self.figures = program, inputs, rate, steps, figures
        self.taken = descend(program, inputs, rate, steps, update)
        self.last: Learned | None = None

    @property
    def exit_code(self) -> int:
        """0 fine, 3 when the loss was lost on the way."""
        return 3 if self.last is not None and self.last.trouble is not None else 0

    def watched(self, stderr: TextIO) -> Iterator[Learned]:
        """The steps as they are taken; a bar on a terminal when they take long."""
        begun = time.monotonic()
        patient = stderr.isatty() and self.steps > 1
        for step in self.taken:
            self.last = step
            yield step
            if patient and time.monotonic() - begun > PATIENCE:
                break
        else:
            return
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(file=stderr), transient=True) as progress:
            bar = progress.add_task("steps", total=self.steps, completed=step.number)
            for step in self.taken:
                self.last = step
                progress.update(bar, completed=step.number)
                yield step

    def trace(self, moved: Mapping[str, float] | None = None) -> Trace:
        """The program at its inputs, with the trained ones moved."""
        from backprop.tracing import trace

        inputs = dict(self.program.spelled(self.inputs))
        return trace(self.program, {**inputs, **(moved or {})}, check=False, figures=self.figures)

    # -- the three ways to show it -------------------------------------------------------------------------------

    def json_lines(self, taken: Iterator[Learned], look: Look) -> Iterator[str]:
        """A record for each step."""
        for step in taken:
            yield json.dumps(step.to_dict(), ensure_ascii=look.ascii, allow_nan=False)

    def record(self, taken: Iterator[Learned]) -> dict[str, Any]:
        """Every step, and the trace at the end."""
        steps = [step.to_dict() for step in taken]
        record: dict[str, Any] = {"rate": self.rate, "steps": steps}
        assert self.last is not None
        if self.last.trouble is None:
            record["trace"] = self.trace(self.last.after).to_dict()
        return record

    def lines(self, taken: Iterator[Learned], look: Look) -> Iterator[str]:
        """One step as its working between two traces; many as a table of losses and the trace at the end."""
        from backprop.render.table import render
        from backprop.render.tables import wrap

        if self.steps == 1:
            yield from render(self.trace(), look)
            yield ""
            for one in taken:
                yield from self.working(one, look)
        else:
            yield from self.table(taken, look)
        assert self.last is not None
        step = self.last
        yield ""
        if step.trouble is not None:
            word = "the step" if self.steps == 1 else f"step {step.number}"
            text = look.letters(f"The descent ends after {word}: {step.trouble}")
            lines = [text] if look.width is None else wrap(text, look.width, "  ")
            yield from (look.paint(line, "warning") for line in lines)
            yield look.letters("  A smaller --rate stays closer to the slope.")
            return
        ends = f"after {step.number} steps" if self.steps > 1 else "after the step"
        yield look.paint(look.letters(f"Worked out again {ends}"), "heading")
        # the program stands above the first trace already; its point has moved
        yield from render(self.trace(step.after), look, program=self.steps > 1)

    def working(self, step: Learned, look: Look) -> Iterator[str]:
        """The new values, as on paper: `w1 = 0.5 - 0.5 · (-0.099126) = 0.549563`."""
        yield look.paint(
            look.letters(f"Step with rate {look.figure(self.rate)}: each param less rate · slope"), "heading"
        )
        width = max(len(name) for name in step.after)
        rate = _bracketed(look.figure(self.rate))
        for name, value in step.after.items():
            old, slope = look.figure(step.before[name]), _bracketed(look.figure(step.slopes[name]))
            yield look.letters(f"  {name.ljust(width)} = {old} - {rate} · {slope} = {look.figure(value)}")
        if step.loss_after is not None:
            loss, after = look.figure(step.loss), look.figure(step.loss_after)
            fell = "falls" if step.loss_after < step.loss else "rises" if step.loss_after > step.loss else "stays"
            yield look.letters(f"  The result {fell}: {loss} → {after}")

    def table(self, taken: Iterator[Learned], look: Look) -> Iterator[str]:
        """A row for each step; on a terminal the rows grow sparse, and a line says so."""
        from backprop.render.tables import table

        first = next(taken)
        names = list(first.after)
        thinned = look.width is not None and self.steps > 40
        shown = 0

        def rows() -> Iterator[list[str]]:
            nonlocal shown
            yield ["0", look.figure(first.loss), *(look.figure(value) for value in first.before.values())]
            held: list[str] = []
            for step in _chain(first, taken):
                loss = "undefined" if step.loss_after is None else look.figure(step.loss_after)
                held = [str(step.number), loss, *(look.figure(value) for value in step.after.values())]
                if not thinned or is_round(step.number):
                    shown += 1
                    yield held
                    held = []
            if held:
                shown += 1
                yield held

        yield from table(look, None, ["step", "loss", *names], rows(), roles=["quiet", "value"])
        assert self.last is not None
        if shown < self.last.number:
            text = f"{shown} of {self.last.number} steps are shown; a pipe, or --format ndjson, gets them all"
            yield look.paint(look.letters(text), "quiet")


def is_round(number: int) -> bool:
    """Whether a step stands in the thinned table: 1 to 10, then 20, 30, ... 100, 200, ...

    >>> [number for number in range(1, 400) if is_round(number)][8:]
    [9, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 300]
    """
    return set(str(number)[1:]) <= {"0"}


def _chain(first: Learned, rest: Iterator[Learned]) -> Iterator[Learned]:
    yield first
    yield from rest


def _bracketed(text: str) -> str:
    return f"({text})" if text.startswith("-") else text
