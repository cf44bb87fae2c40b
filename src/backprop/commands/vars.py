"""The variables of an expression."""

from __future__ import annotations

from backprop.asked import FINE, Asked
from backprop.commands import OUT, PLAIN, QUESTION, command


@command(
    "EXPRESSION",
    *QUESTION,
    PLAIN,
    OUT,
    examples=('backprop vars "w*x + b"', "backprop vars --file neuron.bp"),
)
def answer(asked: Asked) -> int:
    """Show the variables of an expression, with their defaults."""
    from backprop.reference import variables
    from backprop.render.vars import render

    program, inputs = asked.question()
    found = variables(program, inputs)
    if asked.json:
        asked.show_record(found)
    else:
        asked.show(render(found, asked.look))
    return FINE
