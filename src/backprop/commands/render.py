"""A saved trace in any format."""

from __future__ import annotations

from backprop import bindings
from backprop.asked import Asked, saved_trace
from backprop.commands import BRIEF, FIGURES, FORMAT, FULL, OUT, command
from backprop.mistakes import NothingGiven


@command(
    "FILE",
    FIGURES,
    FULL,
    BRIEF,
    FORMAT,
    OUT,
    binds=False,
    examples=(
        "backprop render neuron.json --format dot",
        'backprop trace "x^2" --x 3 --format json | backprop render - --format mermaid',
    ),
)
def answer(asked: Asked) -> int:
    """Show a saved trace in any format. Nothing is worked out again."""
    words = asked.at_most(1)
    if not words:
        raise NothingGiven("render", "FILE", {})
    text = asked.standard_input() if words[0] == "-" else bindings.read_file(words[0])
    found = saved_trace(text)
    asked.show_trace(found)
    return found.exit_code
