"""Gradient descent."""

from __future__ import annotations

from backprop.asked import Asked
from backprop.bindings import Option
from backprop.commands import ENGINE, FIGURES, FULL, OUT, QUESTION, command, one_of
from backprop.mistakes import OptionValue

# One record in JSON holds every step at once.
MOST_STEPS_IN_JSON = 100_000


@command(
    "EXPRESSION",
    Option("rate", "a step moves each param by -NUMBER times its slope (0.1)", "NUMBER"),
    Option("steps", "how many steps (1)", "N"),
    Option("update", "train these inputs instead of the params: w1,w2,b", "NAMES", many=True),
    ENGINE,
    FIGURES,
    FULL,
    *QUESTION,
    Option("format", "how the steps are shown, ndjson is a line for each", "FORMAT", one_of("table", "json", "ndjson")),
    OUT,
    examples=(
        'backprop step "param w = 1; (w*x - 3)^2" --x 2 --rate 0.05',
        "backprop step --file neuron.bp --rate 0.5 --steps 100 --format ndjson",
    ),
)
def answer(asked: Asked) -> int:
    """Take steps of gradient descent on the params, and trace the program again at the new values."""
    from backprop.render.step import json_lines, render, watched
    from backprop.step import Descent

    words = asked.words
    program, inputs = asked.question()
    rate, steps = words.number("rate", 0.1), words.count("steps", 1)
    if asked.json and steps > MOST_STEPS_IN_JSON:
        told = f"JSON holds up to {MOST_STEPS_IN_JSON} steps; any number comes line by line with --format ndjson"
        raise OptionValue("steps", words.text("steps"), told)
    descent = Descent(program, inputs, rate, steps, words.names("update"), asked.figures)
    taken = watched(descent, asked.streams.stderr)
    if asked.format == "ndjson":
        asked.show(json_lines(taken, asked.look), at_once=True)
    elif asked.json:
        asked.show_record(descent.to_dict(taken))
    else:
        asked.show(render(descent, taken, asked.look))
    return descent.exit_code
