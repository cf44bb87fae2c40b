"""Plots: value and derivative over an input, losses, errors of difference quotients, sizes of adjoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backprop.asked import Asked
from backprop.bindings import Option
from backprop.commands import ENGINE, FIGURES, OUT, QUESTION, WRT, command, one_of
from backprop.mistakes import OneAtATime, OptionValue, WordMissing

if TYPE_CHECKING:
    from backprop.plots import Plot

FORMATS = ("text", "svg", "png", "csv", "json")
SORTS = ("over", "descent", "check", "gradients")
MOST_STEPS, MOST_HEIGHT = 1_000_000, 500


@command(
    "EXPRESSION",
    Option("over", "draw value and derivative over an input from one number to another: x=-3..3", "NAME=A..B"),
    Option("points", "how many samples lie evenly in the range; there are more where it bends (201)", "N"),
    Option("descent", "draw the loss over steps of gradient descent on the params"),
    Option("rate", "a step moves each param by -NUMBER times its slope (0.1)", "NUMBER"),
    Option("steps", "how many steps (50)", "N"),
    Option("update", "train these inputs instead of the params: w1,w2,b", "NAMES", many=True),
    Option("check", "draw the error of difference quotients by their step h"),
    Option("gradients", "draw the sizes of all adjoints by their distance from the output"),
    WRT,
    Option("height", "the rows of a plot in the terminal (22, of two panels 30)", "N"),
    ENGINE,
    FIGURES,
    *QUESTION,
    Option("format", "how the plot is shown; -o FILE chooses by the ending", "FORMAT", one_of(*FORMATS)),
    OUT,
    examples=(
        'backprop plot "abs(x)*sin(a*x)" --over x=-3..3 --a 2',
        'backprop plot "1/x" --over x=-3..3 -o pole.svg',
        'backprop plot "param w = 1; (w*x - 3)^2" --x 2 --descent --rate 0.05 --steps 20',
        'backprop plot "tanh(x)" --x 1.4 --check',
        "backprop plot --file neuron.bp --gradients",
    ),
)
def answer(asked: Asked) -> int:
    """Draw a curve: value and derivative over an input, a descent, the error of quotients, or adjoints by depth.

    Kinks are marked, jumps and poles are not joined by a line, and where there is no value there is no curve. Exit code
    3 when there is no value in the whole range.
    """
    from backprop.render import Format
    from backprop.render.plots import image, render

    chosen = [sort for sort in SORTS if sort in asked.words.options]
    if len(chosen) > 1:
        raise OneAtATime([f"--{sort}" for sort in chosen])
    if not chosen:
        told = "Value and derivative: --over x=-3..3   Others: --descent, --check, --gradients"
        raise WordMissing("nothing says what to draw", told)
    words = asked.words
    height = words.count("height", 0, 8, MOST_HEIGHT) if "height" in words.options else None
    plot = {"over": _over, "descent": _descent, "check": _check, "gradients": _gradients}[chosen[0]](asked)
    if asked.format == "png":
        asked.show_bytes(
            Format("png", ".png", "the plot as an image", binary=True), lambda: image(plot, asked.look, height)
        )
    else:
        asked.show(render(plot, asked.format, asked.look, height))
    return plot.exit_code


def _over(asked: Asked) -> Plot:
    from backprop.plots.curves import MOST_POINTS, POINTS, over

    text = asked.words.text("over")
    name, low, high = _range(text)
    points = asked.words.count("points", POINTS, 2, MOST_POINTS)
    program, inputs = asked.question()
    return over(program, inputs, name, low, high, points)


def _range(text: str) -> tuple[str, float, float]:
    """The name and the two ends of `x=-3..3`. Raises `OptionValue`."""
    from backprop.bindings import is_name, normal
    from backprop.kinds.real import REAL
    from backprop.mistakes import Mistake
    from backprop.numerals import numeral

    name, _, ends = text.partition("=")
    first, between, last = ends.partition("..")
    name = normal(name.strip())
    if not is_name(name) or not between or not first.strip() or not last.strip():
        raise OptionValue("over", text, "A name and from where to where it goes, like: --over x=-3..3")
    try:
        low, high = (float(REAL.number(numeral(one.strip(), name))) for one in (first, last))
    except (Mistake, ValueError, OverflowError):
        raise OptionValue("over", text, f"Both ends are numbers, like: --over {name}=-3..3") from None
    if not float("-inf") < low < high < float("inf") or high - low == float("inf"):
        told = "it goes from a smaller number to a larger one, both finite"
        if high < low:
            told += f": --over {name}={last.strip()}..{first.strip()}"
        raise OptionValue("over", text, f"A range has some room: {told}")
    return name, low, high


def _descent(asked: Asked) -> Plot:
    from backprop.plots.runs import descent
    from backprop.render.step import watched
    from backprop.step import Descent

    words = asked.words
    program, inputs = asked.question()
    steps = words.count("steps", 50, most=MOST_STEPS)
    run = Descent(program, inputs, words.number("rate", 0.1), steps, words.names("update"), asked.figures)
    return descent(run, watched(run, asked.streams.stderr))


def _check(asked: Asked) -> Plot:
    from backprop.checks import check as checked
    from backprop.plots.runs import check

    program, inputs = asked.question()
    return check(checked(program, inputs, wrt=asked.words.names("wrt")))


def _gradients(asked: Asked) -> Plot:
    from backprop.plots.runs import gradients
    from backprop.tracing import trace

    program, inputs = asked.question()
    return gradients(trace(program, inputs, wrt=asked.words.names("wrt"), check=False))
