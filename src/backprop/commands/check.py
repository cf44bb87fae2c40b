"""Derivatives, or claims about them, held against every witness."""

from __future__ import annotations

from backprop.asked import Asked
from backprop.bindings import Option
from backprop.commands import FIGURES, OPEN, OUT, PLAIN, QUESTION, WRT, command


@command(
    "EXPRESSION",
    Option(
        "claim",
        "judge an answer: dx=-4, df/dz=2*x, x=undefined, f=7 for a value; @F is a file of claims, one a line",
        "CLAIM",
        many=True,
    ),
    WRT,
    OPEN,
    FIGURES,
    *QUESTION,
    PLAIN,
    OUT,
    examples=(
        'backprop check "tanh(x1*w1 + b)" x1=2 w1=0.5 b=0.1',
        'backprop check "sin(x^2)" --x 3 --claim "dx = 2*x*cos(x^2)" --claim dx=-5.467',
        'backprop check "(x^2 + 1)^3" --claim "dx = 6*x*(x^2 + 1)^2"',
    ),
)
def answer(asked: Asked) -> int:
    """Hold the derivatives, or somebody's claims, against every witness; exit code 1 when one disagrees."""
    from backprop.checks import check as checked
    from backprop.render.check import render

    program, inputs = asked.question()
    claims: list[tuple[str, str | None]] = []
    if "claim" in asked.words.options:
        from backprop.claims.reading import from_words

        claims = from_words(asked.words.text("claim"))
    report = checked(program, inputs, wrt=asked.words.names("wrt"), claims=claims, opened=asked.opened)
    if asked.json:
        asked.show_record(report.to_dict())
    else:
        asked.show(render(report, asked.look))
    return report.exit_code
