"""Vectors that are written out, `[[a, b], [c, d]]`: no row of one may differ in shape from the others."""

from __future__ import annotations

from itertools import zip_longest

from backprop import mistakes
from backprop.mistakes import Span

# How many entries a vector has along each of its axes; None where it is not written out.
Shape = tuple[int | None, ...]


def refuse_unlike(row: Shape, first: Shape, span: Span) -> None:
    """Refuse an entry of a vector that cannot have the shape of the first one.

    Raises `RaggedArray` and `MixedArray`.
    """
    for axis, (length, expected) in enumerate(zip_longest(row, first)):
        if length == expected:
            continue
        if axis == min(len(row), len(first)) and None not in (*row, *first):
            told = ("a number", "a list")
            here, there = ("this", "the first entry") if axis == 0 else ("an entry of this", "one of the first row")
            raise mistakes.MixedArray(here, told[len(row) > axis], there, told[len(first) > axis], span)
        if length is None or expected is None:
            return
        here, there = ("this row", "the first one") if axis == 0 else ("a row in this", "one in the first")
        raise mistakes.RaggedArray(here, length, there, expected, span)
