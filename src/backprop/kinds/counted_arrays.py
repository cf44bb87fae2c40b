"""Counted arrays: arrays of doubles that count the operations on their elements (see `kinds.counted`)."""

from __future__ import annotations

import math
from typing import Any

from backprop.kinds.array import Linear
from backprop.kinds.counted import Counted, Unit
from backprop.kinds.doubles import Doubles
from backprop.kinds.shapes import shape_of
from backprop.ops import Row


def size_of(value: Any) -> int:
    """How many numbers there are in a value."""
    return math.prod(shape_of(value))


class CountedArrays(Doubles):
    """Arrays of doubles over doubles that count."""

    def __init__(self, base: Counted) -> None:
        super().__init__(base)
        self.tally = base.tally

    def apply(self, row: Row, operands: list[Any]) -> Any:
        with self.tally.inside():
            found = super().apply(row, operands)
        self.tally.worked(row.cost(operands, found))
        return found

    def reached(self, adjoint: Any, partial: Linear) -> Any:
        with self.tally.inside():
            return super().reached(adjoint, partial)

    def times(self, carried: Any, partial: Any, zeros: str = "", skipped: Any = None) -> Any:
        found = super().times(carried, partial, zeros, skipped)
        if not isinstance(carried, Unit) and not isinstance(partial, Unit):
            self.tally.multiplied(size_of(found))
        return found

    def add(self, left: Any, right: Any) -> Any:
        found = super().add(left, right)
        if shape_of(found):  # of two numbers the kind below has counted it
            self.tally.added(size_of(found))
        return found

    def total(self, x: Any, axis: Any = None) -> Any:
        found = super().total(x, axis)
        self.tally.added(size_of(x) - size_of(found))
        return found
