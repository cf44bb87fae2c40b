"""Element by element: what every array operation is made of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from backprop import ops
from backprop.kinds import Hole, Kind, Misfit, value_at
from backprop.kinds.shapes import Shape, broadcasting_repair, said, shape_of, unequal
from backprop.ops import Row

# So many operations of another kind than doubles are as many as somebody waits for.
MOST_OPERATIONS = 20_000_000


class Elementwise(Kind):
    """Arrays of numbers of the kind `base`, and the elementary operations on their elements."""

    # an array of more elements is refused before it is made
    most = 2_000_000

    def __init__(self, base: Kind) -> None:
        self.base = base
        self.name, self.figures, self.largest = base.name, base.figures, base.largest
        self.digits, self.rounds, self.checked = base.digits, base.rounds, base.checked
        self.propagates, self.eager, self.convention = base.propagates, base.eager, base.convention
        self.intervals, self.unsteady = base.intervals, base.unsteady

    def packed(self, numbers: Sequence[Any], shape: Shape) -> Any:
        """Numbers, row by row, as an array of that shape."""
        made = np.empty(len(numbers), dtype=object)
        made[:] = numbers
        return self.unwrapped(made.reshape(shape))

    def unwrapped(self, value: Any) -> Any:
        """A value as it is kept: an array of shape () is its number, and a number of NumPy's is a plain one."""
        return (
            value.item()
            if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim)
            else value
        )

    def whole(self, value: Any, what: str = "an axis") -> int:
        """A setting as an integer. Raises `Misfit` for one that is none, ValueError for one without a value."""
        number = getattr(value, "value", value)
        if isinstance(number, Hole) or (isinstance(number, float) and math.isnan(number)):
            raise ValueError(f"{what} has no value")
        if not isinstance(number, (np.ndarray, slice)):
            nearest = float(number)
            if nearest.is_integer() and (number == nearest) is True:
                return int(nearest)
            raise Misfit(f"{what} is a whole number, not {nearest:g}")
        raise Misfit(f"{what} is one whole number")

    def axis(self, x: Any, axis: Any, extra: int = 0, operand: int = 0) -> int:
        """An axis of x, the operand at that position, from the front. Raises `Misfit` for one that x has not."""
        count, place = len(shape_of(x)) + extra, self.whole(axis)
        if not -count <= place < count:
            raise Misfit(
                f"{{{operand}}} is {said(shape_of(x))}: it has no axis {place}",
                f"Its axes are 0 to {count - 1}, or -1 to -{count} from the end."
                if count > 1
                else "It has one axis, 0 (or -1 from the end)."
                if count
                else f"A vector of one number is written with brackets: [{{{operand}}}]",
            )
        return place % count

    # -- element by element

    def fitted(self, operands: Sequence[Any]) -> Shape:
        """The shape to which operands are broadcast. Raises `Misfit` where they do not fit, or are too large."""
        shapes = [shape_of(operand) for operand in operands]
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError:
            told = ", ".join(f"{{{place}}} is {said(shape)}" for place, shape in enumerate(shapes) if shape)
            raise Misfit(f"{told}: {unequal(shapes)}", broadcasting_repair(shapes)) from None
        self.afford(shape, "the result")
        return shape

    def afford_work(self, count: int, what: str) -> None:
        """Raises `Misfit` for more operations, one number after the other, than anybody waits for."""
        if count > MOST_OPERATIONS:
            raise Misfit(
                f"{what} takes {count:,} operations in kind {self.name}; I do at most {MOST_OPERATIONS:,}",
                "In kind real NumPy does them.",
            )

    def afford(self, shape: Shape, what: str) -> None:
        """Raises `Misfit` for an array that would not fit into memory."""
        count = math.prod(shape)
        if count > self.most:
            raise Misfit(
                f"{what} would have the shape {said(shape)}, {count:,} elements; I hold at most {self.most:,}",
                "Work on a part of it, or add up before you spread out.",
            )

    def elementwise(self, row: Row, operands: list[Any]) -> Any:
        """An elementary operation on each element; a hole where it has no value."""
        self.fitted(operands)

        def alone(*numbers: Any) -> Any:
            for place in row.conditions:
                if isinstance(numbers[place], Hole):
                    return numbers[place]
            return value_at(-1, row, self.base, list(numbers))

        return self.mapped(alone, *operands)

    def mapped(self, function: Callable[..., Any], *operands: Any) -> Any:
        """A function of numbers on each element, broadcast."""
        # NumPy would warn of what a function of one number has dealt with already
        with np.errstate(all="ignore"):
            return self.unwrapped(np.frompyfunc(function, len(operands), 1)(*operands))

    def each(self, name: str, *operands: Any) -> Any:
        """An elementary operation by its name, on numbers or arrays."""
        row = ops.by_name(name)
        if any(isinstance(operand, np.ndarray) for operand in operands):
            return self.elementwise(row, list(operands))
        return value_at(-1, row, self.base, list(operands))

    def broadcast(self, value: Any, shape: Shape) -> Any:
        """The value repeated to a shape that it fits."""
        if shape_of(value) == shape:
            return value
        spread = np.empty(shape, dtype=object if not isinstance(value, np.ndarray) else value.dtype)
        spread[...] = value
        return spread

    def fold(self, name: str, numbers: Sequence[Any]) -> Any:
        """One operation between all numbers, from the left."""
        total = numbers[0]
        for one in numbers[1:]:
            total = self.each(name, total, one)
        return total

    def array(self, x: Any) -> Any:
        """The value as an array, a number as one of shape ()."""
        if isinstance(x, np.ndarray):
            return x
        made = np.empty((), dtype=object)
        made[()] = x
        return made

    def expand(self, x: Any, axis: Any) -> Any:
        return np.expand_dims(self.array(x), self.axis(x, axis, 1))
