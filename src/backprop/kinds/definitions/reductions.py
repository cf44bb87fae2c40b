"""Reductions: many numbers become one, all of them or those along an axis."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from backprop import ops
from backprop.kinds import Misfit, is_number
from backprop.kinds.definitions.elementwise import Elementwise
from backprop.kinds.shapes import Shape, elements, said, shape_of


class Reductions(Elementwise):
    """One number of a row of numbers, for each row along an axis, or of all numbers at once."""

    def _lines(self, x: Any, axis: int | None) -> tuple[list[list[Any]], Shape]:
        """The rows of numbers that are made one each, and the shape of the results."""
        if axis is None:
            return [list(elements(x))], ()
        place = self.axis(x, axis)
        moved = np.moveaxis(x, place, -1)
        return moved.reshape(-1, moved.shape[-1]).tolist(), moved.shape[:-1]

    def reduced(self, function: Callable[[list[Any]], Any], x: Any, axis: int | None) -> Any:
        """A function of a row of numbers, for each row along an axis, or for all numbers at once."""
        lines, shape = self._lines(x, axis)
        return self.packed([function(line) for line in lines], shape)

    def total(self, x: Any, axis: int | None = None) -> Any:
        return self.reduced(lambda line: self.fold("add", line), x, axis)

    def prod(self, x: Any, axis: int | None = None) -> Any:
        return self.reduced(lambda line: self.fold("mul", line), x, axis)

    def size(self, x: Any, axis: int | None = None) -> Any:
        shape = shape_of(x)
        return self.base.number(str(math.prod(shape) if axis is None else shape[self.axis(x, axis)]))

    def mean(self, x: Any, axis: int | None = None) -> Any:
        return self.each("div", self.total(x, axis), self.size(x, axis))

    def _extreme(self, name: str, numbers: list[Any]) -> Any:
        row = ops.by_name(name)
        if len(numbers) > row.most and not self.intervals:
            # what ties for the first place is compared at once, so that all of it shares the slope
            known = [getattr(one, "value", one) for one in numbers]
            if all(map(is_number, known)):
                first = max(known) if name == "max" else min(known)
                numbers = sorted(numbers, key=lambda one: getattr(one, "value", one) != first)
        while len(numbers) > 1:
            groups = [numbers[at : at + row.most] for at in range(0, len(numbers), row.most)]
            numbers = [group[0] if len(group) == 1 else self.each(name, *group) for group in groups]
        return numbers[0]

    def greatest(self, x: Any, axis: int | None = None) -> Any:
        return self.reduced(lambda line: self._extreme("max", line), x, axis)

    def least(self, x: Any, axis: int | None = None) -> Any:
        return self.reduced(lambda line: self._extreme("min", line), x, axis)

    def logsumexp(self, x: Any, axis: int | None = None) -> Any:
        return self.reduced(lambda line: self.fold("logaddexp", line), x, axis)

    def norm(self, x: Any, axis: int | None = None) -> Any:
        def length(line: list[Any]) -> Any:
            if len(line) == 1:
                return self.each("abs", line[0])
            two = self.base.number("2")
            return self.each("sqrt", self.fold("add", [self.each("pow", one, two) for one in line]))

        return self.reduced(length, x, axis)

    def variance(self, x: Any, axis: int | None = None) -> Any:
        middle = self.mean(x, axis)
        apart = self.each("sub", x, middle if axis is None else self.expand(middle, axis))
        return self.mean(self.each("pow", apart, self.base.number("2")), axis)

    def deviation(self, x: Any, axis: int | None = None) -> Any:
        return self.each("sqrt", self.variance(x, axis))

    def cumulated(self, x: Any, axis: int | None) -> Any:
        """The sums of the elements up to each one, along an axis; a vector has only one."""
        place = self.only_axis(x) if axis is None else self.axis(x, axis)
        slices = np.moveaxis(x, place, 0)
        sums = [slices[0]]
        for one in slices[1:]:
            sums.append(self.each("add", sums[-1], one))
        return np.stack([self.array(one) for one in sums], axis=place)

    def only_axis(self, x: Any) -> int:
        """The axis of a vector. Raises `Misfit` for what is none, of which the axis has to be told."""
        if len(shape_of(x)) != 1:
            raise Misfit(
                f"{{0}} is {said(shape_of(x))}: without an axis this takes a vector",
                "Tell the axis: axis=0 goes down the columns." if shape_of(x) else "",
            )
        return 0

    def folded(self, value: Any, source: Shape, target: Shape) -> Any:
        """What comes back to an operand of shape `source` that was broadcast to `target`: added up over the copies."""
        if source == target:
            return self.broadcast(value, source)
        value = self.broadcast(value, target)
        for _ in range(len(target) - len(source)):
            value = self.total(value, 0)
        for axis, size in enumerate(source):
            if size == 1 != target[len(target) - len(source) + axis]:
                value = self.expand(self.total(value, axis), axis)
        return value
