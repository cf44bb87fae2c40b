"""Columns: a number for each node or edge in eight bytes, read like a list of numbers and None."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from backprop.graph import Graph

NAN = float("nan")

DECLINED = -2  # what a walk gives where it declines
KINK, BRANCH = 0, 1  # the places in what a walk has told


@dataclass(slots=True)
class TapeColumns:
    """The columns that a tape fills, and what it has `told`: at `KINK` and `BRANCH` a node, or -1.

    `wrong` and `of_adjoints` are what values and adjoints may be wrong by, `strain` as in `accuracy.rounding`.
    """

    values: array[float]
    partials: array[float]
    exact_zero: bytearray
    adjoints: array[float]
    wrong: array[float]
    of_adjoints: array[float]
    strain: array[float]
    told: array[int]

    @classmethod
    def empty(cls, graph: Graph, values: array[float]) -> TapeColumns:
        """Columns in which only values and the adjoint of the output stand."""
        size, edges = len(graph), len(graph.args)
        adjoints = _filled(NAN, size)
        adjoints[graph.output] = 1.0
        wrong, of_adjoints, strain = (_filled(0.0, size) for _ in range(3))
        told = array("q", [-1, -1])
        return cls(values, _filled(NAN, edges), bytearray(edges), adjoints, wrong, of_adjoints, strain, told)


def _filled(number: float, size: int) -> array[float]:
    return array("d", [number]) * size


class Column(Sequence[Any]):
    """Doubles in which NaN stands for None: a tape has no other use for it, since it answers where all is finite.

    >>> list(Column(array("d", [1.5, float("nan")])))
    [1.5, None]
    """

    __slots__ = ("numbers",)

    def __init__(self, numbers: array[float]) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, place: int) -> float | None: ...
    @overload
    def __getitem__(self, place: slice) -> list[float | None]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return [number if number == number else None for number in self.numbers[place]]
        number = self.numbers[place]
        return number if number == number else None

    def __iter__(self) -> Iterator[Any]:
        for number in self.numbers:
            yield number if number == number else None


class Contributions(Sequence[Any]):
    """What each edge brings back, adjoint · partial: worked out when the first of them is asked for."""

    __slots__ = ("_column", "_of")

    def __init__(self, graph: Graph, partials: array[float], exact_zero: bytearray, adjoints: array[float]) -> None:
        self._of = graph, partials, exact_zero, adjoints
        self._column: Column | None = None

    @property
    def column(self) -> Column:
        """The contributions of all edges; None where nothing is brought."""
        if self._column is None:
            graph, partials, exact_zero, adjoints = self._of
            brought = partials[:]
            offsets, first = iter(graph.offsets), 0
            next(offsets)
            for adjoint, end in zip(adjoints, offsets, strict=True):
                for edge in range(first, end):
                    # a NaN on either side, which is None, makes another
                    brought[edge] = adjoint * brought[edge] + 0.0
                first = end
            edge = exact_zero.find(1)
            while edge >= 0:
                brought[edge] = NAN
                edge = exact_zero.find(1, edge + 1)
            self._column = Column(brought)
        return self._column

    def __len__(self) -> int:
        return len(self._of[1])

    def __getitem__(self, place: Any) -> Any:
        return self.column[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.column)
