"""A saved trace in any format."""

from __future__ import annotations

from dataclasses import replace

from backprop import bindings
from backprop.asked import Asked, saved_trace
from backprop.commands import BRIEF, FIGURES, FORMAT, FULL, OUT, STEP, VIEW, command
from backprop.mistakes import NothingGiven


@command(
    "FILE",
    FIGURES,
    FULL,
    BRIEF,
    STEP,
    *VIEW,
    FORMAT,
    OUT,
    binds=False,
    examples=(
        "backprop render neuron.json --format dot",
        'backprop trace "x^2" --x 3 --format json | backprop render - --format mermaid',
    ),
)
def answer(asked: Asked) -> int:
    """Show a saved trace in any format, or step by step. Nothing is worked out again."""
    words = asked.at_most(1)
    if not words:
        raise NothingGiven("render", "FILE", {})
    stage = None
    if asked.words.flag("step"):
        from backprop import stepping

        stage = stepping.stage(asked.words, asked.streams.stdin, asked.streams.stdout)
    text = asked.standard_input() if words[0] == "-" else bindings.read_file(words[0])
    found = saved_trace(text)
    if stage is None:
        asked.show_trace(found)
    else:
        stage.show(found, replace(asked.look, figures=asked.figures_of(found.kind)))
    return found.exit_code
