"""What others give where mathematics leaves a choice."""

from __future__ import annotations

from backprop.asked import FINE, Asked
from backprop.commands import FIGURES, OUT, PLAIN, QUESTION, WRT, command


@command(
    "EXPRESSION",
    WRT,
    FIGURES,
    *QUESTION,
    PLAIN,
    OUT,
    examples=('backprop conventions "max(x, 0)" --x 0', 'backprop conventions "sqrt(x*x)" --x 0 --format json'),
)
def answer(asked: Asked) -> int:
    """Show what each framework and each convention gives for the derivatives here, and which of them are right."""
    from backprop.conventions.opinions import opinions
    from backprop.render.conventions import render

    program, inputs = asked.question()
    found = opinions(program, inputs, asked.words.names("wrt"))
    if asked.json:
        asked.show_record(found.to_dict())
    else:
        asked.show(render(found, asked.look))
    return FINE
