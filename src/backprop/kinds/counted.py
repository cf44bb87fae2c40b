"""Counted: doubles that count the operations that engines and rows make of them.

The engines run as always, so what is counted is what they do: the values, the rules as they stand in the table (the
forms that keep more digits are another matter), the products along the edges, and the sums where edges meet. An
operation is one of two numbers; what an elementary function counts for stands in its row. Nothing is ever undefined,
as on a plain tape, so that the count does not depend on what happens to be 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from backprop.kinds.ieee import Ieee
from backprop.ops import Moving, Row, Texts


@dataclass(slots=True)
class Tally:
    """What has been counted: the products and sums of the engines, and the work of the operations of the table.

    `depth` is how many operations of the table are being worked out: what those do inside is their own work.
    """

    multiplications: int = 0
    additions: int = 0
    work: int = 0
    depth: int = 0

    @property
    def operations(self) -> int:
        """All of it."""
        return self.multiplications + self.additions + self.work

    @contextmanager
    def inside(self) -> Iterator[None]:
        """While what is done belongs to an operation that is counted as a whole, or to the bookkeeping of a kind."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def multiplied(self, times: int = 1) -> None:
        if not self.depth:
            self.multiplications += times

    def added(self, times: int = 1) -> None:
        if not self.depth:
            self.additions += times

    def worked(self, operations: int) -> None:
        if not self.depth:
            self.work += operations


class AsWritten:
    """The rules as a reader sees them (a `kinds.Convention`)."""

    zeros: Mapping[str, str] = {}

    def rules(self, row: Row, moving: Moving) -> Texts:
        return row.rules(moving)


class Unit(float):
    """A 1 or -1 that stands in a rule: to multiply by it is no operation."""


class Counted(Ieee):
    """Doubles that count; the numbers of a point are plain floats, so that an input of 1 is no `Unit`."""

    convention = AsWritten()

    def __init__(self, tally: Tally) -> None:
        self.tally = tally

    def number(self, text: str) -> float:
        number = super().number(text)
        return Unit(number) if text in ("1", "-1") else number

    def apply(self, row: Row, operands: list[Any]) -> Any:
        found = super().apply(row, operands)
        self.tally.worked(row.cost(operands, found))
        return found

    def pull(self, adjoint: Any, partial: Any) -> Any:
        return self._carried(adjoint, partial)

    def push(self, tangent: Any, partial: Any) -> Any:
        return self._carried(tangent, partial)

    def _carried(self, carried: Any, partial: Any) -> Any:
        units = isinstance(carried, Unit) + isinstance(partial, Unit)
        if not units:
            self.tally.multiplied()
        brought = self.scale(carried, partial)
        return Unit(brought) if units == 2 else brought

    def add(self, left: Any, right: Any) -> Any:
        self.tally.added()
        return super().add(left, right)
