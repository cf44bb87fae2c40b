"""A Jacobian: for each input a matrix, a row for each element of the output, and how many passes it took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any

from backprop.arrays_text import element_name, indices_of
from backprop.render.look import Look
from backprop.render.grids import grid
from backprop.render.tables import Cell, paragraph

if TYPE_CHECKING:
    from backprop.higher.jacobians import Jacobian, Passes

INDENT = "  "
# A matrix of more elements is told by its shape and its size: nobody reads it, and JSON has every number.
MOST_SHOWN = 20_000


def render(found: Jacobian, output: str, look: Look) -> Iterator[str]:
    """The lines, without line ends."""
    rows = names(output, found.shape)
    for name, derivatives in found.derivatives.items():
        shape = found.shapes[name]
        title = f"∂{output}/∂{name}"
        if found.shape or shape:
            title += f", shape {_shape((*found.shape, *shape))}"
        numbers = flat(derivatives, len(found.shape) + len(shape))
        yield ""
        if len(numbers) > MOST_SHOWN:
            yield from _summary(look, title, numbers)
            continue
        wide = prod(shape)
        cells: list[list[Cell]] = [
            [_figure(look, one) for one in numbers[begin : begin + wide]] for begin in range(0, len(numbers), wide)
        ]
        yield from grid(look, title, rows, names(name, shape), cells)
    yield ""
    yield from paragraph(look, passes_in_words(found.passes), "quiet", INDENT)
    yield from _witnesses(look, found)


def names(name: str, shape: tuple[int, ...]) -> list[str]:
    """What the elements of an array are called, row by row."""
    return [element_name(name, indices_of(shape, place)) for place in range(prod(shape))]


def flat(value: Any, axes: int) -> list[Any]:
    """The numbers in nested lists, row by row."""
    found = [value]
    for _ in range(axes):
        found = list(chain.from_iterable(found))
    return found


def passes_in_words(passes: Passes) -> str:
    """`3 reverse passes (10 forward passes would do the same)`; and how many would be needed without sharing."""
    forward = passes.mode == "forward"
    done, other = (passes.forward, passes.reverse) if forward else (passes.reverse, passes.forward)
    alone = passes.columns if forward else passes.rows
    text = counted(done, passes.mode)
    if done < alone:
        text += f" instead of {alone}, since {'columns' if forward else 'rows'} that do not touch share one"
    return f"{text} ({counted(other, 'reverse' if forward else 'forward')} would do the same)"


def counted(count: int, mode: str) -> str:
    """`1 forward pass`, `3 reverse passes`."""
    return f"{count} {mode} pass{'' if count == 1 else 'es'}"


def _shape(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _figure(look: Look, value: Any) -> Cell:
    return ("undefined", "bad") if value is None else look.figure(value)


def _summary(look: Look, title: str, numbers: list[Any]) -> Iterator[str]:
    """A matrix that is too large to be read."""
    told = f"{title}: {len(numbers):,} numbers"
    floats = [one for one in numbers if isinstance(one, float)]
    if len(floats) == len(numbers):
        told += f" from {look.figure(min(floats))} to {look.figure(max(floats))}, {sum(map(bool, floats)):,} of them not 0"
    yield from paragraph(look, f"{told}; --format json has them all", "heading", INDENT)


def _witnesses(look: Look, found: Jacobian) -> Iterator[str]:
    """What the opened program says, in one line where it agrees throughout."""
    if not found.witnesses:
        return
    wrong = [one for one in found.witnesses if one.verdict == "DISAGREES"]
    for one in wrong:
        text = f"∂/∂{one.of}: the opened program DISAGREES, most of all in {one.worst}"
        yield from paragraph(look, text, "bad", INDENT)
    unchecked = [one for one in found.witnesses if one.verdict == "not checked"]
    if wrong:
        return
    if unchecked:
        told = f"not checked: {unchecked[0].reason}"
        yield from paragraph(look, told, "quiet", INDENT)
        return
    digits = [one.digits for one in found.witnesses if one.digits is not None]
    far = f" to {int(min(digits))} digits" if digits else ""
    yield from paragraph(look, f"every number agrees with the opened program{far}", "good", INDENT)
