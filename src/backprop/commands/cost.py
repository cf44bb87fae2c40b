"""What value and derivatives take."""

from __future__ import annotations

from backprop.asked import FINE, Asked
from backprop.bindings import Option
from backprop.commands import OUT, QUESTION, command, cost_formats


@command(
    "EXPRESSION",
    Option("wrt", "the inputs that move; every one when it is left out: W,b", "NAMES", many=True),
    Option("no-time", "count the operations only, and measure nothing"),
    Option("seconds", "the longest that one way may take; longer ones are estimated (10)", "N"),
    *QUESTION,
    Option("format", "how the answer is shown", "FORMAT", cost_formats),
    OUT,
    examples=(
        'backprop cost "(x*y + z)*x" --x 3 --y -1 --z 2',
        "backprop cost --file neuron.bp --no-time",
        "backprop cost --file neuron.bp --wrt w --seconds 60 --format csv",
    ),
)
def answer(asked: Asked) -> int:
    """Count and measure what value and derivatives take: one reverse pass, forward passes, differences, paths."""
    from backprop import costs
    from backprop.render.cost import render

    words = asked.words
    program, inputs = asked.question()
    longest = words.count("seconds", costs.LONGEST, 0, costs.MOST_SECONDS)
    found = costs.cost(program, inputs, wrt=words.names("wrt"), time=not words.flag("no-time"), longest=longest)
    if asked.json:
        asked.show_record(found.to_dict())
    else:
        asked.show(render(found, asked.look, asked.format))
    return FINE
