"""Reshaping: the same numbers in another order or shape, put together and taken apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from backprop.kinds import Misfit
from backprop.kinds.definitions.elementwise import Elementwise
from backprop.kinds.shapes import elements, said, shape_of


class Reshaping(Elementwise):
    """Operations that only say where each number goes."""

    def transpose(self, x: Any) -> Any:
        return np.swapaxes(x, -1, -2) if len(shape_of(x)) > 1 else x

    def reshape(self, x: Any, size: Sequence[Any]) -> Any:
        shape = tuple(self.whole(one) for one in size)
        count = math.prod(shape_of(x))
        known = math.prod(one for one in shape if one != -1)
        free = shape.count(-1)
        if free > 1 or any(one < -1 or one == 0 for one in shape) or (count % known if free else count != known):
            raise Misfit(
                f"{{0}} is {said(shape_of(x))}, {count} elements, which is no {said(shape)}",
                "The sizes multiply to the number of elements; one of them may be -1, what is left over.",
            )
        return self.unwrapped(np.reshape(self.array(x), shape))

    def places(self, x: Any, at: Sequence[Any], operand: int = 0) -> tuple[Any, ...]:
        """Subscripts of x, the operand at that position, as NumPy takes them. Raises `Misfit` for one outside."""
        shape = shape_of(x)
        if len(at) > len(shape):
            more = f"{len(at)} subscripts are more than the axes it has" if shape else "it has no elements to take"
            raise Misfit(f"{{{operand}}} is {said(shape)}: {more}")
        taken = [math.prod(shape_of(one)) for one in at if isinstance(one, np.ndarray)]
        if taken:  # a slice takes no more than there is
            self.afford((math.prod(taken), *shape[len(at) :]), "the result")
        found: list[Any] = []
        lists = 0
        for axis, one in enumerate(at):
            if isinstance(one, slice):
                if not len(range(*one.indices(shape[axis]))):
                    raise Misfit(f"{{{operand}}} is {said(shape)}: {self.record(one)} takes nothing along axis {axis}")
                found.append(one)
                continue
            wanted = [self.whole(place, "a place") for place in elements(one)]
            for place in wanted:
                if not -shape[axis] <= place < shape[axis]:
                    raise Misfit(
                        f"{{{operand}}} is {said(shape)}: there is no place {place} along axis {axis}",
                        f"Places are counted from 0 to {shape[axis] - 1}, or from the end: -1 to -{shape[axis]}.",
                    )
            lists += isinstance(one, np.ndarray)
            found.append(np.array(wanted).reshape(one.shape) if isinstance(one, np.ndarray) else wanted[0])
        if lists > 1:
            raise Misfit("only one subscript may be a list of places", "Take one after the other: x[[0, 1]][:, [0, 2]]")
        return tuple(found)

    def index(self, x: Any, at: Sequence[Any]) -> Any:
        return self.unwrapped(self.array(self.array(x)[self.places(x, at)]))

    def put_places(self, x: Any, into: Any, at: Sequence[Any]) -> Any:
        """The numbers of the places, row by row, at which `put` puts x. Raises `Misfit` where x does not fit there."""
        shape = shape_of(into)
        numbers = np.arange(math.prod(shape)).reshape(shape)[self.places(into, at, 1)]
        try:
            fits = np.broadcast_shapes(shape_of(x), np.shape(numbers)) == np.shape(numbers)
        except ValueError:
            fits = False
        if not fits:
            raise Misfit(f"{{0}} is {said(shape_of(x))}, and the places are {said(np.shape(numbers))}")
        return numbers

    def put(self, x: Any, into: Any, at: Sequence[Any]) -> Any:
        numbers = self.put_places(x, into, at)
        made = self.broadcast(self.base.number("0"), shape_of(into))
        flat = made.reshape(-1)
        taken: set[int] = set()
        for place, one in zip(np.ravel(numbers).tolist(), elements(self.broadcast(x, np.shape(numbers))), strict=True):
            flat[place] = self.each("add", flat[place], one) if place in taken else one
            taken.add(place)
        return flat.reshape(made.shape)

    def stack(self, x: Sequence[Any]) -> Any:
        shapes = {shape_of(one) for one in x}
        if len(shapes) > 1:
            one, other = (next(place for place, value in enumerate(x) if shape_of(value) == shape)
                          for shape in list(dict.fromkeys(map(shape_of, x)))[:2])  # fmt: skip
            raise Misfit(f"{{{one}}} is {said(shape_of(x[one]))} and {{{other}}} is {said(shape_of(x[other]))}: "
                         "the parts of a vector have one shape")  # fmt: skip
        self.afford((len(x), *shapes.pop()), "the result")
        return np.stack([self.array(one) for one in x])

    def concat(self, x: Sequence[Any], axis: Any, offset: int = 0) -> Any:
        """Arrays joined along an axis; the first of them is the operand at the position `offset`."""
        first = shape_of(x[0])
        place = self.axis(x[0], axis, operand=offset)
        for number, one in enumerate(x):
            shape = shape_of(one)
            if len(shape) != len(first) or any(
                size != other for at, (size, other) in enumerate(zip(shape, first, strict=True)) if at != place
            ):
                raise Misfit(
                    f"{{{offset}}} is {said(first)} and {{{number + offset}}} is {said(shape)}: they differ beside "
                    f"axis {place}, along which they are joined",
                    "All of them have as many axes, and the sizes along all others are the same.",
                )
        joined = sum(shape_of(one)[place] for one in x)
        self.afford((*first[:place], joined, *first[place + 1 :]), "the result")
        return np.concatenate(list(x), axis=place)
