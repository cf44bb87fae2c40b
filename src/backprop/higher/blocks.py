"""Blocks: what is known element by element put together again as arrays, by the names of the inputs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from backprop.arrays_text import element_name, indices_of

Shape = tuple[int, ...]


def element_names(name: str, shape: Shape) -> list[str]:
    """What the elements of an array are called, row by row.

    >>> element_names("W", (1, 2)), element_names("x", ())
    (['W[0,0]', 'W[0,1]'], ['x'])
    """
    return [element_name(name, indices_of(shape, place)) for place in range(math.prod(shape))]


def nested(elements: Sequence[Any], shape: Shape) -> Any:
    """Elements, row by row, as nested lists of a shape; of the shape () the one that there is.

    >>> nested([1, 2, 3, 4], (2, 2)), nested([5], ())
    ([[1, 2], [3, 4]], 5)
    """
    rows = list(elements)
    for size in reversed(shape):
        rows = [rows[begin : begin + size] for begin in range(0, len(rows), size)]
    return rows[0]


def gathered(found: Mapping[str, Any], shapes: Mapping[str, Shape]) -> dict[str, Any]:
    """What is known by elements as nested lists by names; None where nothing is known.

    >>> gathered({"x[0]": 1, "x[1]": 2, "b": 3}, {"x": (2,), "b": ()})
    {'x': [1, 2], 'b': 3}
    """
    return {name: nested([found.get(one) for one in element_names(name, shape)], shape) for name, shape in shapes.items()}


def blocks(rows: Mapping[str, Mapping[str, Any]], shapes: Mapping[str, Shape]) -> dict[str, dict[str, Any]]:
    """A matrix by elements and elements as nested lists by names and names, first the axes of the row.

    >>> blocks({"x[0]": {"x[0]": 1, "x[1]": 2}, "x[1]": {"x[0]": 2, "x[1]": 4}}, {"x": (2,)})
    {'x': {'x': [[1, 2], [2, 4]]}}
    """
    elements = {name: element_names(name, shape) for name, shape in shapes.items()}
    return {
        name: {
            other: nested([rows[one].get(two) for one in elements[name] for two in elements[other]], shape + shapes[other])
            for other in shapes
        }
        for name, shape in shapes.items()
    }
