"""Blocks: what is known element by element put together again as arrays, by the names that are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """An array, or a part of one, that is asked for: its name (`W`, `W[0]`), its shape and its elements' names."""

    name: str
    shape: Shape
    elements: list[str]


def nested(elements: Sequence[Any], shape: Shape) -> Any:
    """Elements, row by row, as nested lists of a shape; of the shape () the one that there is.

    >>> nested([1, 2, 3, 4], (2, 2)), nested([5], ())
    ([[1, 2], [3, 4]], 5)
    """
    rows = list(elements)
    for size in reversed(shape):
        rows = [rows[begin : begin + size] for begin in range(0, len(rows), size)]
    return rows[0]


def gathered(found: Mapping[str, Any], parts: Sequence[Part]) -> dict[str, Any]:
    """What is known by elements as nested lists by parts; None where nothing is known.

    >>> parts = [Part("x", (2,), ["x[0]", "x[1]"]), Part("b", (), ["b"])]
    >>> gathered({"x[0]": 1, "x[1]": 2, "b": 3}, parts)
    {'x': [1, 2], 'b': 3}
    """
    return {part.name: nested([found.get(one) for one in part.elements], part.shape) for part in parts}


def blocks(rows: Mapping[str, Mapping[str, Any]], parts: Sequence[Part]) -> dict[str, dict[str, Any]]:
    """A matrix by elements and elements as nested lists by parts and parts, first the axes of the row.

    >>> parts = [Part("x", (2,), ["x[0]", "x[1]"])]
    >>> blocks({"x[0]": {"x[0]": 1, "x[1]": 2}, "x[1]": {"x[0]": 2, "x[1]": 4}}, parts)
    {'x': {'x': [[1, 2], [2, 4]]}}
    """
    return {
        part.name: {
            other.name: nested(
                [rows[one].get(two) for one in part.elements for two in other.elements], part.shape + other.shape
            )
            for other in parts
        }
        for part in parts
    }
