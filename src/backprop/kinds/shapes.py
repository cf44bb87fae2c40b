"""Shapes of values, and what a reader is told of those that do not fit together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from backprop.kinds import Misfit

Shape = tuple[int, ...]


def shape_of(value: Any) -> Shape:
    """The shape of a value; a number has ()."""
    return value.shape if isinstance(value, np.ndarray) else ()


def elements(value: Any) -> Iterator[Any]:
    """The numbers in a value, row by row."""
    # a list has floats; NumPy's own numbers would warn of inf - inf
    return iter(value.ravel().tolist() if isinstance(value, np.ndarray) else (value,))


def said(shape: Shape) -> str:
    """A shape as a reader sees it: (3, 4), (5,); one number has none.

    >>> said((3, 4)), said((5,)), said(())
    ('(3, 4)', '(5,)', 'one number')
    """
    return str(tuple(shape)) if shape else "one number"


def broadcast_stacks(left: Shape, right: Shape) -> Shape:
    """The shape to which two stacks of matrices are broadcast. Raises `Misfit` where they do not fit."""
    try:
        return tuple(np.broadcast_shapes(left, right))
    except ValueError:
        raise Misfit(f"the stacks {said(left)} of {{0}} and {said(right)} of {{1}} do not fit") from None


def unequal(shapes: list[Shape]) -> str:
    """Which sizes keep shapes from being broadcast together."""
    longest = max(map(len, shapes))
    for back in range(1, longest + 1):
        sizes = list(dict.fromkeys(shape[-back] for shape in shapes if len(shape) >= back and shape[-back] != 1))
        if len(sizes) > 1:
            which = "last" if back == 1 else f"{back} from the end"
            return (
                f"the {'last ' if back == 1 else ''}sizes {sizes[0]} and {sizes[1]}"
                + ("" if back == 1 else f", {which},")
                + " differ"
            )
    return "their sizes differ"


def broadcasting_repair(shapes: list[Shape]) -> str:
    """What to do about shapes that cannot be broadcast together."""
    matrices = [shape for shape in shapes if len(shape) == 2]
    if len(shapes) == 2 and len(matrices) >= 1 and shapes[0] and shapes[1] and shapes[0][-1] == shapes[1][0]:
        return "* works element by element. The matrix product is written {0} @ {1}"
    return "Shapes are compared from the end; sizes are equal or one of them is 1."


def matmul_repair(left: Shape, right: Shape) -> str:
    """What to do about two shapes that have no product."""
    if len(left) == 2 and left[0] == (right[-2] if len(right) > 1 else right[0]):
        return "Did you mean {0}.T @ {1}?"
    if len(right) == 2 and left[-1] == right[1]:
        return "Did you mean {0} @ {1}.T?"
    if len(right) == 2 and len(left) == 2 and right[1] == left[0]:
        return "Did you mean {1} @ {0}?"
    if len(left) == 1 and len(right) == 1:
        return "Two vectors of different sizes have no product; every product of their elements is outer({0}, {1})."
    return "The last size on the left is the first on the right: (n, k) @ (k, m)."
