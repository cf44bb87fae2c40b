"""Value and gradient as code for other tools."""

from __future__ import annotations

from pathlib import PurePath

from backprop.asked import FINE, Asked
from backprop.bindings import Option
from backprop.commands import OUT, QUESTION, WRT, command, language_names
from backprop.mistakes import WordMissing


@command(
    "EXPRESSION",
    Option("to", "the language of the code; without it the ending of -o tells c and sql", "LANGUAGE", language_names),
    WRT,
    Option("value-only", "the value alone, without the gradient"),
    Option("name", "the name of the function (value_and_gradient, or value)", "FUNCTION"),
    *QUESTION,
    OUT,
    examples=(
        'backprop emit "(x*y + z)*x" --to numpy',
        'backprop emit "input rate = 0.1; exp(-rate*t)" --wrt rate --name decay -o decay.c',
        "backprop emit --file neuron.bp --to sql --x 1",
    ),
)
def answer(asked: Asked) -> int:
    """Write value and gradient as straight-line code in another language, or for another library.

    A value on the line, --x 3, puts the number into the code; with --wrt x it stays an input and has it as default,
    and so do the values of --at and of a trace.
    """
    from backprop.emission import emit

    words = asked.words
    to = words.text("to") if "to" in words.options else _by_ending(words.text("output"))
    program, inputs = asked.question()
    fixed = list(program.spelled(words.given))
    lines = emit(
        program,
        inputs,
        to,
        wrt=words.names("wrt"),
        fixed=fixed,
        value_only=words.flag("value-only"),
        function=words.text("name"),
    )
    asked.show(lines)
    return FINE


def _by_ending(file: str) -> str:
    """The language of a file, by how its name ends. Raises `WordMissing` where that may be several, or none."""
    from backprop import languages

    ending = PurePath(file).suffix.lower()
    fitting = [name for name in language_names() if ending == languages.by_name(name).suffix]
    if len(fitting) == 1:
        return fitting[0]
    raise WordMissing(
        "emit has to know the language", f"Write --to with one of: {', '.join(fitting or language_names())}"
    )
