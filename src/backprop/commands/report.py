"""A program at a point as a page for a browser."""

from __future__ import annotations

import os
from dataclasses import replace

from backprop.asked import Asked
from backprop.bindings import Option
from backprop.commands import (
    CONVENTION,
    ENGINE,
    FIGURES,
    FULL,
    KIND,
    LIMIT,
    OPEN,
    OUT,
    QUESTION,
    UNDEFINED,
    WRT,
    command,
    one_of,
)
from backprop.mistakes import OptionValue, PageOnTerminal

ENDINGS = (".html", ".htm")


@command(
    "EXPRESSION",
    WRT,
    Option(
        "mode",
        "which mode the page shows first: reverse (adjoints) or forward (tangents of one input)",
        "MODE",
        one_of("reverse", "forward"),
    ),
    OPEN,
    FIGURES,
    FULL,
    Option("no-check", "leave the witnesses out"),
    Option("rounding", "tell how many digits of every value and adjoint are right in doubles"),
    Option("symbolic", "formulas in place of numbers; no values needed"),
    Option("browse", "show the page of -o FILE in the browser"),
    KIND,
    LIMIT,
    UNDEFINED,
    CONVENTION,
    ENGINE,
    *QUESTION,
    OUT,
    examples=(
        'backprop report "(x*y + z)*x" --x 3 --y -1 --z 2 -o page.html',
        "backprop report --file neuron.bp -o neuron.html --browse",
        'backprop trace "x^2" --x 3 --format json | backprop report - -o page.html',
    ),
)
def answer(asked: Asked) -> int:
    """Write a page for a browser: graph and working step by step, paths, and sliders that move the inputs.

    It is one file that needs no network. A saved trace stands for its program at its point.
    """
    from backprop import tracing
    from backprop.render import html

    words = asked.words
    path = words.text("output", "-")
    if path == "-" and (asked.streams.stdout.isatty() or words.flag("browse")):
        raise PageOnTerminal()
    ending = os.path.splitext(path)[1].lower()
    if ending not in ("", *ENDINGS):
        raise OptionValue(
            "output", path, f"A page is HTML: -o page.html. For a picture: backprop graph ... -o x{ending}"
        )
    program, inputs = asked.question()
    found = tracing.trace(
        program,
        inputs,
        wrt=words.names("wrt"),
        mode=words.text("mode", "reverse"),
        check=not words.flag("no-check"),
        symbolic=words.flag("symbolic"),
        figures=asked.figures,
        kind=asked.kind,
        convention=asked.convention,
        rounding=words.flag("rounding"),
        opened=asked.opened,
    )
    look = replace(asked.look, figures=asked.figures_of(found.kind))
    asked.show(html.render(found, look))
    if words.flag("browse"):
        _browse(asked, path)
    return found.exit_code


def _browse(asked: Asked, path: str) -> None:
    """Show a file in the browser, or tell that there is none."""
    import webbrowser
    from pathlib import Path

    if not webbrowser.open(Path(os.path.abspath(path)).as_uri()):
        asked.say(f"note: no browser was found to show {path}")
