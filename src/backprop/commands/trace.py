"""Everything about a program at a point."""

from __future__ import annotations

from backprop.asked import Asked
from backprop.bindings import Option
from backprop.commands import (
    BRIEF,
    CONVENTION,
    ENGINE,
    FIGURES,
    FORMAT,
    FULL,
    KIND,
    LIMIT,
    MODE,
    OPEN,
    OUT,
    QUESTION,
    STEP,
    SYMBOLIC,
    UNDEFINED,
    VIEW,
    WRT,
    command,
)


@command(
    "EXPRESSION",
    WRT,
    MODE,
    OPEN,
    FIGURES,
    FULL,
    BRIEF,
    Option("no-check", "leave the witnesses out"),
    Option("rounding", "tell how many digits of every value and adjoint are right in doubles"),
    SYMBOLIC,
    STEP,
    KIND,
    LIMIT,
    UNDEFINED,
    CONVENTION,
    ENGINE,
    *QUESTION,
    *VIEW,
    FORMAT,
    OUT,
    examples=(
        'backprop trace "(x*y + z)*x" --x 3 --y -1 --z 2',
        'backprop trace "c = a + b; d = b + 1; e = c*d" a=2 b=1 --mode forward --wrt b',
        "backprop trace --file neuron.bp -o neuron.json",
    ),
)
def answer(asked: Asked) -> int:
    """Show every value, partial and adjoint, the gradient and who confirms it."""
    from backprop import tracing

    words = asked.words
    stage = None
    if words.flag("step"):
        from backprop import stepping

        stage = stepping.stage(words, asked.streams.stdin, asked.streams.stdout)
    program, inputs = asked.question()
    found = tracing.trace(
        program,
        inputs,
        wrt=words.names("wrt"),
        mode=words.text("mode", "reverse"),
        check=not words.flag("no-check"),
        symbolic=words.flag("symbolic"),
        figures=asked.figures,
        kind=asked.kind,
        convention=asked.convention,
        rounding=words.flag("rounding"),
        opened=asked.opened,
        wait=False,
    )
    if stage is None:
        asked.show_trace(found)
    else:
        stage.show(found, asked.look)
    return found.exit_code
