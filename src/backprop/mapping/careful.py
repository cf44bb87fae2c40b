"""One row at a time, as `grad` answers it: the right number where there is one, else why there is none.

This is for the rows that a kernel does not answer: a kink that is exactly hit, what overflows on the way, what lies
outside the domain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backprop import notes
from backprop.gradient import refuse_holes, remarks
from backprop.kinds import Hole
from backprop.mistakes import (
    Mistake,
    NoSuchElement,
    OutputNotANumber,
    ShapesDiffer,
    SlopeOfArray,
    Undefined,
    UnknownNode,
)
from backprop.point import Number, Point, Program

# Rows that have been seen are remembered: data that repeats itself is worked out once.
REMEMBERED = 1 << 16
# What is told of a row whose doubles were mended, in brief.
LOST = "plain doubles lose digits on the way; the answer comes from numbers with more of them"


@dataclass(frozen=True, slots=True)
class Careful:
    """What is known of one row: the value and the slopes in the order of the names, None where there is none; a note,
    and whether it tells that something is missing (else it is a remark on numbers that are there)."""

    value: float | None
    slopes: tuple[float | None, ...]
    note: str = ""
    undefined: bool = False


class Rows:
    """A program whose inputs are columns (`names`) and constants, to be put at one row after the other."""

    def __init__(
        self, program: Program, names: Sequence[str], constants: Mapping[str, Number], wrt: Sequence[str]
    ) -> None:
        self.program, self.names, self.constants, self.wrt = program, tuple(names), dict(constants), tuple(wrt)
        self.nothing = (None,) * len(self.wrt)
        self.known: dict[tuple[float, ...], Careful] = {}

    def at(self, row: tuple[float, ...], brief: bool = False) -> Careful:
        """What is known of a row of finite or infinite numbers, NaN where one is not a number.

        In `brief` it is not told where digits were lost, nor how to keep them: that takes longer than to find them.
        """
        found = self.known.get(row)
        if found is None:
            found = self._worked_out(row, brief)
            if len(self.known) < REMEMBERED:
                self.known[row] = found
        return found

    def kink(self, node: int) -> str:
        """What is to be told of rows that are exactly at the kink of a node, and at no other."""
        _, graph = self.program.read([*self.names, *self.constants])
        told = "where the slopes on its two sides differ, that of minimum norm is taken"
        return f"kink: {graph.ids[node]} = {graph.formula(node)} is exactly at a kink; {told}"

    def _worked_out(self, row: tuple[float, ...], brief: bool) -> Careful:
        nan = [name for name, number in zip(self.names, row, strict=True) if math.isnan(number)]
        if nan:
            return Careful(None, self.nothing, f"{', '.join(nan)} is NaN", undefined=True)
        inputs = self.constants | dict(zip(self.names, row, strict=True))
        try:
            here = self.program.at(inputs, wrt=self.wrt)
            return self._of_arrays(here) if not here.is_scalar else self._told(here, brief)
        except (OutputNotANumber, ShapesDiffer, NoSuchElement, UnknownNode, SlopeOfArray):  # so it is in every row
            raise
        except Mistake as mistake:  # such as an index that is out of range at these numbers
            return Careful(None, self.nothing, mistake.cause, undefined=True)

    def _told(self, here: Point, brief: bool) -> Careful:
        """The answers, or why there are none. What lies beside the point is not searched: that takes too long."""
        value = here.answer()
        if isinstance(value, Hole):
            return Careful(None, self.nothing, notes.why(here, value), undefined=True)
        slopes = [here.gradient()[name] for name in self.wrt]
        if any(answer in (math.inf, -math.inf) for answer in (value, *slopes)) and (told := notes.too_large(here)):
            return Careful(None, self.nothing, told, undefined=True)
        holes = dict.fromkeys(notes.why(here, slope) for slope in slopes if isinstance(slope, Hole))
        if holes:
            known = tuple(None if isinstance(slope, Hole) else _double(slope) for slope in slopes)
            return Careful(_double(value), known, "; ".join(holes), undefined=True)
        accuracy = here.accuracy() if brief and not here.singular() else None
        told = LOST if accuracy is not None and accuracy.mended else "; ".join(note.text for note in remarks(here))
        return Careful(_double(value), tuple(map(_double, slopes)), told)

    def _of_arrays(self, here: Point) -> Careful:
        try:
            refuse_holes(here)
        except Undefined as mistake:
            return Careful(None, self.nothing, mistake.cause, undefined=True)
        slopes = [here.gradient()[name] for name in self.wrt]
        for name, slope in zip(self.wrt, slopes, strict=True):
            if here.kind.shape(slope):
                raise SlopeOfArray(name)
        told = "; ".join(note.text for note in remarks(here))
        return Careful(_double(here.answer()), tuple(map(_double, slopes)), told)


def _double(answer: Any) -> float:
    """An answer as kernels give it: -0 is 0."""
    return float(answer) + 0.0
