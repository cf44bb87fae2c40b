"""Second derivatives."""

from __future__ import annotations

from backprop.asked import Asked
from backprop.bindings import Option
from backprop.commands import FIGURES, KIND, LIMIT, OUT, PLAIN, QUESTION, command


@command(
    "EXPRESSION",
    Option("wrt", "the inputs whose second derivatives are asked for: x,y", "NAMES", many=True),
    FIGURES,
    Option("no-check", "leave the witnesses out"),
    KIND,
    LIMIT,
    *QUESTION,
    PLAIN,
    OUT,
    examples=(
        'backprop hessian "(1 - x)^2 + 100*(y - x^2)^2" --x -1.2 --y 1',
        'backprop hessian "exp(-sqrt(x^2 + y^2)^2)" --x 0 --y 0 --format json',
    ),
)
def answer(asked: Asked) -> int:
    """Show every second derivative, and who confirms it.

    Exit code 1 when a witness disagrees, 3 when a second derivative does not exist.
    """
    from backprop.higher.hessians import report
    from backprop.render.hessian import render

    program, inputs = asked.question()
    found = report(program, inputs, asked.words.names("wrt"), asked.kind, check=not asked.words.flag("no-check"))
    if asked.json:
        asked.show_record(found.to_dict())
    else:
        asked.show(render(found, asked.look))
    return found.exit_code
