"""A Jacobian: for each input a matrix, a row for each element of the output, and how many passes it took."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any

from backprop.arrays_text import element_name, indices_of
from backprop.render.grids import grid
from backprop.render.look import Look
from backprop.render.tables import Cell, paragraph

if TYPE_CHECKING:
    from backprop.higher.jacobian_records import Jacobian, Passes

INDENT = "  "
# A matrix of more elements is told by its shape and its size, unless all of it is asked for.
MOST_SHOWN = 20_000
MOST_IN_TITLE = 6
NO_PASS = "all of them are 0, so no pass is needed"
# How a witness is called.
WAYS = {"opened": "opened program"}


def render(found: Jacobian, output: str, look: Look) -> Iterator[str]:
    """The lines, without line ends."""
    if not found.parts:
        yield ""
        yield from paragraph(look, "there is no input, so there are no derivatives", "quiet", INDENT)
        return
    rows = names(output, found.shape)
    axes = len(found.shape)
    numbers = {part.name: flat(found.derivatives[part.name], axes + len(part.shape)) for part in found.parts}
    single = [part.name for part in found.parts if not part.shape]  # columns of one matrix
    told: list[tuple[str, list[str], list[list[Any]]]] = []
    if single:
        title = ", ".join(f"∂{output}/∂{name}" for name in single[:MOST_IN_TITLE])
        title += ", ..." if len(single) > MOST_IN_TITLE else ""
        told.append((title, single, [list(row) for row in zip(*(numbers[name] for name in single), strict=True)]))
    for part in found.parts:
        if part.shape:
            wide, of = prod(part.shape), numbers[part.name]
            lines = [of[begin : begin + wide] for begin in range(0, len(of), wide)]
            title = f"∂{output}/∂{part.name}, shape {_shape((*found.shape, *part.shape))}"
            told.append((title, part.elements, lines))
    for title, columns, lines in told:
        yield ""
        if len(rows) * len(columns) > MOST_SHOWN and not look.full:
            yield from _summary(look, title, [one for line in lines for one in line])
            continue
        yield from grid(look, title, rows, columns, [[_figure(look, one) for one in line] for line in lines])
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
    if not passes.forward or not passes.reverse:
        return NO_PASS
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
        told += (
            f" from {look.figure(min(floats))} to {look.figure(max(floats))}, {sum(map(bool, floats)):,} of them not 0"
        )
    yield from paragraph(look, f"{told}; --full shows them all", "heading", INDENT)


def _witnesses(look: Look, found: Jacobian) -> Iterator[str]:
    """Who confirms it, in one line; and who does not."""
    for one in found.witnesses:
        if one.verdict == "DISAGREES":
            where = f", most of all in {one.worst}" if one.worst else ""
            text = f"{'all' if one.of == 'all' else f'∂/∂{one.of}'}: {WAYS.get(one.by, one.by)} DISAGREES{where}"
            yield from paragraph(look, text, "bad", INDENT)
    if found.disagrees:
        return
    digits: dict[str, list[float | None]] = {}
    for one in found.witnesses:
        if one.verdict == "agrees":
            digits.setdefault(WAYS.get(one.by, one.by), []).append(one.digits)
    parts = []
    for way, several in digits.items():
        known = [one for one in several if one is not None]
        parts.append(f"{way} {int(min(known))}" if known else way)
    if parts:
        yield from paragraph(look, f"checked (digits that agree): {', '.join(parts)}", "good", INDENT)
    reasons = dict.fromkeys(one.reason for one in found.witnesses if one.reason)
    for reason in reasons:
        yield from paragraph(look, f"{WAYS['opened']}: {reason}", "quiet", INDENT)
