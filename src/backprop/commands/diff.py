"""Derivatives as formulas."""

from __future__ import annotations

from backprop.asked import FINE, Asked
from backprop.bindings import Option
from backprop.commands import OUT, QUESTION, command, formula_formats
from backprop.mistakes import Mistake


@command(
    "EXPRESSION",
    Option("wrt", "by which variables: x; x,y is by both in turn; --wrt x --wrt y is each", "NAMES", many=True),
    Option("order", "how often to differentiate: 2 for second derivatives (1)", "N"),
    *QUESTION,
    Option("format", "how the formulas are shown", "FORMAT", formula_formats),
    OUT,
    examples=('backprop diff "x^2*sin(y)"', 'backprop diff "x^3*y" --wrt x,y', 'backprop diff "exp(-x^2)" --order 2'),
)
def answer(asked: Asked) -> int:
    """Write the derivatives as formulas, with the chain rule line by line. No values are needed."""
    from backprop.derivatives import differentiate
    from backprop.render.diff import render

    words = asked.words
    program, inputs = asked.question()
    if inputs:
        asked.say(f"diff works with formulas: it has no use for the value of {', '.join(inputs)}")
    try:
        found = differentiate(program.text, words.lists("wrt"), words.count("order", 1, most=1000))
    except Mistake as mistake:
        raise mistake.within(program.text, program.origin) from None
    asked.show(render(found, asked.look, asked.format))
    return FINE
