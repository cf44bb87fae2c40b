"""The sum over paths."""

from __future__ import annotations

from dataclasses import replace

from backprop.asked import Asked
from backprop.bindings import Option
from backprop.commands import CONVENTION, FIGURES, KIND, LIMIT, OUT, QUESTION, UNDEFINED, command, path_formats
from backprop.mistakes import OneAtATime

# The largest terms are held until they are in order; whoever wants them all can have them as they come.
MOST_RANKED = 100_000


@command(
    "EXPRESSION",
    Option("from", "where the paths begin; every variable when it is left out", "NAMES", many=True),
    Option("to", "where they end; the output when it is left out", "NAME"),
    Option("count", "how many there are, exactly, and their sum, without a list"),
    Option("top", "the K largest terms, the largest first", "K"),
    Option("factor", "the sum with what is shared taken out of the brackets"),
    Option("symbolic", "terms as formulas; no values needed"),
    FIGURES,
    Option("full", "show long routes and large arrays whole"),
    KIND,
    LIMIT,
    UNDEFINED,
    CONVENTION,
    *QUESTION,
    Option("format", "how the paths are shown", "FORMAT", path_formats),
    OUT,
    examples=(
        'backprop paths "c = a + b; d = b + 1; e = c*d" --a 2 --b 1 --from b',
        'backprop paths "Y=α*X+β*X+γ*X; Z=δ*Y+ε*Y+ζ*Y" --from X --symbolic --factor',
        'backprop paths "sum(tanh(W @ x))" --W "[[1, 2], [3, 4]]" --x "[1, -1]" --from "W[0,1]"',
    ),
)
def answer(asked: Asked) -> int:
    """List the paths from each variable to the output, and what each contributes to the derivative."""
    from backprop.path_sums import exit_code, routes
    from backprop.render.paths import lines
    from backprop.tracing import trace

    words = asked.words
    shows = [name for name in ("count", "top", "factor") if name in words.options]
    if len(shows) > 1:
        raise OneAtATime([f"--{name}" for name in shows])
    symbolic = words.flag("symbolic")
    program, inputs = asked.question()
    found = trace(
        program,
        inputs,
        check=False,
        symbolic=symbolic,
        figures=asked.figures,
        kind=asked.kind,
        convention=asked.convention,
        opened=(),
    )
    asked.say_birth(found.birth)
    for note in found.notes:
        if note.code == "convention":
            asked.say(f"note: {note.text}")
    between = routes(found, words.names("from") or [], words.text("to") or None, symbolic=symbolic)
    show = shows[0] if shows else "list"
    look = asked.look
    if found.kind.startswith("digits:") and "figures" not in words.options and look.figures > 2:
        # the partials that a trace holds are rounded, so a product of them has not quite as many digits
        look = replace(look, figures=look.figures - 2)
    asked.show(lines(between, look, format=asked.format, show=show, k=words.count("top", 10, most=MOST_RANKED)))
    return exit_code(between)
