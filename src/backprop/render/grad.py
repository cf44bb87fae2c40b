"""The value and the gradient alone, a line each; matrices drawn on a screen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from backprop.figures import ALL, MOST_IN_ANSWER
from backprop.notation import slope

if TYPE_CHECKING:
    from backprop.record import Value
    from backprop.render.look import Look

# So many answers are written out without asking whether they are too many for a reader.
FEW = 1000


def render(output: str, value: Value, gradient: Mapping[str, Value], look: Look) -> Iterator[str]:
    """The lines, without line ends."""
    return equations({output: value} | {slope(output, name): number for name, number in gradient.items()}, look)


def equations(told: Mapping[str, Value], look: Look) -> Iterator[str]:
    """`name = value` for each, the equals signs under each other; of very many some.

    In a pipe every array is complete.
    """
    if len(told) > FEW and not look.full:
        from backprop.render.excerpts import some_equations

        yield from some_equations(told, look)
        return
    names = [look.letters(name) for name in told]
    width = max(map(len, names), default=0)
    most = ALL if look.width is None else MOST_IN_ANSWER
    for name, value in zip(names, told.values(), strict=True):
        if isinstance(value, list):
            from backprop.render.tables import equation  # one number needs no table

            yield from equation(look, name.ljust(width), [look.figure(value, most)])
        else:
            yield f"{name.ljust(width)} = {look.figure(value)}"
