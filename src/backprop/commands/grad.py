"""Value and gradient alone, and what else there is to ask of a point."""

from __future__ import annotations

from dataclasses import replace

from backprop.asked import FINE, Asked
from backprop.bindings import Option, with_files
from backprop.commands import (
    CONVENTION,
    DIRECTIONS,
    ENGINE,
    FIGURES,
    FULL,
    KIND,
    LIMIT,
    OPEN,
    OUT,
    PLAIN,
    QUESTION,
    UNDEFINED,
    WRT,
    command,
    one_of,
)
from backprop.mistakes import OneAtATime, OptionValue


@command(
    "EXPRESSION",
    WRT,
    OPEN,
    FIGURES,
    FULL,
    KIND,
    LIMIT,
    UNDEFINED,
    CONVENTION,
    ENGINE,
    *DIRECTIONS,
    Option(
        "mode",
        "how a Jacobian is worked out: forward or reverse passes (the cheaper)",
        "MODE",
        one_of("forward", "reverse"),
    ),
    *QUESTION,
    PLAIN,
    OUT,
    examples=(
        'backprop grad "x^2 + sin(x*y)" --x 1/3 --y 2',
        'backprop grad "x^2" --x 3 --format json',
        'backprop grad "x^2*y" --x 3 --y 2 --jvp x=1,y=0 --hvp "[1, 0]" --hessian',
        'backprop grad "exp(sin(x))" --x 0 --order 6',
        'backprop grad "tanh(W @ x)" --W "[[1, 2], [3, 4]]" --x "[0.1, -0.2]" --jacobian',
    ),
)
def answer(asked: Asked) -> int:
    """Show the value and the gradient alone: the fastest answer.

    More can be asked: the Jacobian of a vector, products with a vector from either side, the Hessian or its product
    with a vector, a Taylor series, where derivatives are not 0. Exit code 1 when a check of a Jacobian disagrees.
    """
    if "mode" in asked.words.options and not asked.words.flag("jacobian"):
        told = "It says how a Jacobian is worked out: --jacobian --mode forward"
        raise OptionValue("mode", asked.words.text("mode"), told)
    if any(option.name in asked.words.options for option in DIRECTIONS):
        return _directional(asked)
    from backprop.gradient import answered, remarks

    program, inputs = asked.question()
    kind = asked.kind
    here = answered(program, inputs, asked.words.names("wrt"), kind, convention=asked.convention, opened=asked.opened)
    for note in remarks(here):
        asked.say(f"note: {note.text}")
    if kind.intervals:
        from backprop.balls.certificates import doubles

        if text := doubles(here.told()):
            asked.say(f"note: {text}")
    if kind.propagates:
        from backprop import birthplace
        from backprop.conventions import opinions

        asked.say_birth(birthplace.birth(here))
        for text in opinions.remarks(here):
            asked.say(f"note: {text}")
    value = here.kind.record(here.answer())
    slopes = {name: here.kind.record(slope) for name, slope in here.gradient().items()}
    if asked.json:
        from backprop.figures import json_value

        asked.show_record(json_value({"value": value, "gradient": slopes}))
    else:
        from backprop.render.grad import render

        _, graph = program.read(program.spelled(inputs))
        look = replace(asked.look, whole="figures" not in asked.words.options)
        asked.show(render(graph.ids[graph.output], value, slopes, look))
    return FINE


def _directional(asked: Asked) -> int:
    """What `grad` tells besides the gradient."""
    from backprop.higher.directions import directional
    from backprop.higher.taylor import LARGEST_ORDER
    from backprop.render.directions import render

    words = asked.words
    for option in ("undefined", "convention", "open"):
        if option in words.options:
            named = [f"--{one.name}" for one in DIRECTIONS if one.name in words.options]
            raise OneAtATime([f"--{option}", named[0]])
    along = {one: with_files(words.options[one], "v") for one in ("jvp", "vjp", "hvp") if one in words.options}
    program, inputs = asked.question()
    found = directional(
        program,
        inputs,
        words.names("wrt"),
        asked.kind,
        jvp=along.get("jvp"),
        vjp=along.get("vjp"),
        hvp=along.get("hvp"),
        hessian=words.flag("hessian"),
        order=words.count("order", 1, most=LARGEST_ORDER) if "order" in words.options else None,
        jacobian=words.flag("jacobian"),
        sparsity=words.flag("sparsity"),
        mode=words.options.get("mode"),
    )
    for note in found.notes:
        asked.say(f"note: {note.text}")
    if asked.json:
        asked.show_record(found.to_dict())
    else:
        asked.show(render(found, asked.look))
    return found.exit_code
