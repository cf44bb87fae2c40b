"""The graph with its values and derivatives, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backprop.asked import Asked
from backprop.bindings import Option
from backprop.commands import (
    CONVENTION,
    ENGINE,
    FIGURES,
    FULL,
    KIND,
    LIMIT,
    MODE,
    OPEN,
    OUT,
    QUESTION,
    SYMBOLIC,
    UNDEFINED,
    VIEW,
    WRT,
    command,
    format_names,
)
from backprop.mistakes import ArraysInFormulas, MissingValue

if TYPE_CHECKING:
    from backprop.record import Trace


@command(
    "EXPRESSION",
    *VIEW,
    WRT,
    MODE,
    OPEN,
    FIGURES,
    FULL,
    SYMBOLIC,
    KIND,
    LIMIT,
    UNDEFINED,
    CONVENTION,
    ENGINE,
    *QUESTION,
    Option("format", "how it is drawn (text); -o FILE chooses by the ending", "FORMAT", format_names),
    OUT,
    examples=(
        'backprop graph "(x*y + z)*x" --x 3 --y -1 --z 2',
        'backprop graph "c = a + b; d = b + 1; e = c*d" a=2 b=1 --path 2 --direction right',
        "backprop graph --file neuron.bp -o neuron.svg",
        'backprop graph "tanh(w*x + b)"',
    ),
)
def answer(asked: Asked) -> int:
    """Draw the graph with its values, partials and derivatives.

    Arrows lead up, from the inputs to the output, so that values climb and derivatives come down; --direction turns it.
    Without a value for any variable it is drawn in formulas. Of a large graph, or one wider than the screen, a part is
    shown. Nothing is checked here: backprop trace does that.
    """
    from backprop.tracing import trace

    words = asked.words
    program, inputs = asked.question()
    symbolic = words.flag("symbolic")

    def found(symbolic: bool) -> Trace:
        return trace(
            program,
            inputs,
            wrt=words.names("wrt"),
            mode=words.text("mode", "reverse"),
            check=False,
            symbolic=symbolic,
            figures=asked.figures,
            kind=asked.kind,
            convention=asked.convention,
            opened=asked.opened,
        )

    try:
        drawn = found(symbolic)
    except MissingValue as mistake:
        if inputs or "kind" in words.options:
            raise
        try:
            drawn = found(True)
        except ArraysInFormulas:
            raise mistake from None
        asked.say("note: no values were given, so the graph is drawn in formulas")
    asked.show_trace(drawn, "text")
    return drawn.exit_code
