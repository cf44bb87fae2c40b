"""The value and the gradient alone, a line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from backprop.record import Value
from backprop.render.look import Look
from backprop.working import slope


def render(output: str, value: Value, gradient: Mapping[str, Value], look: Look) -> Iterator[str]:
    """The lines, without line ends."""
    told = {output: value} | {slope(output, name): steepness for name, steepness in gradient.items()}
    names = [look.letters(name) for name in told]
    width = max(map(len, names))
    return (f"{name.ljust(width)} = {look.figure(number)}" for name, number in zip(names, told.values(), strict=True))
