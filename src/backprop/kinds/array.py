"""Arrays: values that are vectors, matrices and stacks of them, over any kind of number.

A value is a number of the kind below (shape ()) or a NumPy array: float64 over doubles, and over every other kind an
array of objects, each a number of that kind. What an operation gives is in `kinds.definitions`, and over doubles, by
NumPy, in `kinds.doubles`; here is what engines ask.

Over doubles an element without a value is NaN; whoever needs to know why asks the opened program.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backprop.arrays_text import is_array, parts
from backprop.kinds import Hole, Kind
from backprop.kinds.definitions.layers import Layers
from backprop.kinds.definitions.matrices import Matrices
from backprop.kinds.real import Real
from backprop.kinds.shapes import Shape, elements, shape_of
from backprop.ops import Row


@dataclass(slots=True)
class Diagonal:
    """The partials of an elementwise operation: one for each element of its result, of shape `target`.

    `source` is the shape of the operand, which may have been broadcast. `skipped` marks the elements at which a branch
    was not taken, None where there are none: nothing behind them matters. `zeros` tells what a 0 does besides, as in
    `kinds.Convention`: a partial of 0 "skips" what lies behind or "masks" any adjoint, an adjoint of 0 stays 0
    ("quiet"); nothing of that when it is empty.
    """

    values: Any
    source: Shape
    target: Shape
    zeros: str = ""
    skipped: Any = None


@dataclass(slots=True)
class Reduced:
    """The partials of a reduction: one for each element of its operand; `axis` is the one that went, None for all."""

    values: Any
    source: Shape
    axis: int | None
    zeros: str = ""
    skipped: Any = None


@dataclass(slots=True)
class Linear:
    """A partial that is a linear map: `rule` (a `rules.Carried`) with the operands and the result put in."""

    rule: Any
    operands: list[Any]
    out: Any


class Flat:
    """A point whose answers are arrays, as the kind of its numbers sees it: a number for each element."""

    def __init__(self, point: Any) -> None:
        answers = [point.value()] if point.shape else [point.value(), *point.by_rules().values()]
        self._numbers = [number for answer in answers for number in elements(answer)]
        self._row = point.graph.row
        self._nodes = len(point.graph)
        self._size = sum(math.prod(shape_of(value)) for value in point.values)
        self.graph = self

    def __len__(self) -> int:
        return self._size

    def row(self, node: int) -> Row | None:
        """The row of a node of the graph."""
        row: Row | None = self._row(node) if node < self._nodes else None
        return row

    def value(self) -> Any:
        """The first of the numbers that answer."""
        return self._numbers[0]

    def by_rules(self) -> dict[int, Any]:
        """All the others."""
        return dict(enumerate(self._numbers[1:]))

    def promises(self, digits: int, unit: Any) -> bool:
        """Whether the answers are good when they stay: of arrays nothing more is known."""
        return True


class Arrays(Matrices, Layers):
    """Arrays over a kind of number; see the module."""

    arrays = True

    # -- reading and telling

    def number(self, text: str) -> Any:
        """A number, an array ("[[1, 2], [3, 4]]") or the slice of an index ("1:3")."""
        if is_array(text):
            shape, texts = parts(text)
            self.afford(shape, "an array as large as this")
            return self.packed([self.base.number(one) for one in texts], shape)
        if ":" in text:
            return slice(*(int(bound) if bound.strip() else None for bound in text.split(":")))
        return self.base.number(text)

    def record(self, value: Any) -> Any:
        if isinstance(value, slice):
            return ":".join("" if bound is None else str(bound) for bound in _bounds(value))
        if not isinstance(value, np.ndarray):
            return self.base.record(value)
        lost = math.nan if self.propagates else None  # NaN is a value like any other there

        def told(one: Any) -> Any:
            return lost if isinstance(one, Hole) or one != one else self.base.record(one)

        return self._nested(value, told)

    def answer(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return self.base.answer(value)
        return value if value.dtype == np.float64 else self.mapped(self.base.answer, value)

    def _nested(self, value: Any, told: Callable[[Any], Any]) -> Any:
        """An array as nested lists, each number as it is told."""
        flat = np.empty(value.size, dtype=object)
        flat[:] = [told(one) for one in elements(value)]
        return flat.reshape(value.shape).tolist()

    def read(self, record: Any) -> Any:
        if not isinstance(record, list):
            return self.base.read(record)
        shape, at = [], record
        while isinstance(at, list):
            shape.append(len(at))
            at = at[0]
        flat: list[Any] = record
        for _ in shape[1:]:
            flat = [one for row in flat for one in row]
        return self.packed([self.base.read(one) for one in flat], tuple(shape))

    def told(self, value: Any) -> str:
        return self.base.told(value)

    def agreement(self, value: Any, truth: Any) -> float:
        return self.base.agreement(value, truth)

    def nearest(self, value: Any) -> Any:
        return self.base.nearest(value)

    # -- what engines ask

    def apply(self, row: Row, operands: list[Any]) -> Any:
        """The value of an operation. Raises `Misfit` for shapes that do not fit."""
        for operand in operands:
            if isinstance(operand, Hole) and not row.conditions:
                return operand
        if row.arrays:
            return self.unwrapped(row.value(self, *operands))
        if any(isinstance(operand, np.ndarray) for operand in operands):
            return self.elementwise(row, operands)
        return self.base.apply(row, operands)

    def slope(self, rule: Any, operands: list[Any], out: Any, position: int = 0) -> Any:
        """A partial: of numbers a number, else one of the records of this module."""
        row = rule.row
        if row.pulls is not None:
            return Linear(rule, operands, out)
        if row.reduces:
            axis = None if len(operands) == 1 else self.whole(operands[1])
            spread = out if axis is None else self.expand(out, axis)
            return Reduced(rule.evaluate(self, operands, spread), shape_of(operands[0]), axis, self._zeros(row))
        if not any(isinstance(operand, np.ndarray) for operand in operands):
            return self.base.slope(rule, operands, out, position)
        return Diagonal(
            self._slopes(rule, operands, out, position), shape_of(operands[position]), shape_of(out), self._zeros(row)
        )

    def _slopes(self, rule: Any, operands: list[Any], out: Any, position: int) -> Any:
        """The partials of an elementwise operation, each as the kind below has it."""

        def slope(*numbers: Any) -> Any:
            value = numbers[-1]
            return value if isinstance(value, Hole) else self.base.slope(rule, list(numbers[:-1]), value, position)

        return self.mapped(slope, *operands, out)

    def _zeros(self, row: Row) -> str:
        """What a 0 does on the edges of a row, element by element."""
        return "" if self.convention is None else self.convention.zeros.get(row.name, "")

    def has_zeros(self, slope: Any) -> bool:
        if isinstance(slope, (Diagonal, Reduced)):
            return any(not isinstance(one, Hole) and self.base.is_zero(one) for one in elements(slope.values))
        return super().has_zeros(slope)

    def skips(self, slope: Any, distances: Sequence[Any]) -> bool:
        if not isinstance(slope, (Diagonal, Reduced)):
            return super().skips(slope, distances)

        def skipped(number: Any, *apart: Any) -> bool:
            if isinstance(number, Hole) or not self.base.is_zero(number):
                return False
            return self.base.skips(number, apart)

        slope.skipped = self.mapped(skipped, slope.values, *distances)
        return False

    def elements(self, value: Any) -> Iterable[Any]:
        return elements(value)

    def shape(self, value: Any) -> Shape:
        return shape_of(value)

    def spread(self, value: Any, shape: Shape) -> Any:
        return value if isinstance(value, Hole) else self.broadcast(value, shape)

    def shapes(self, row: Row, operands: list[Any]) -> Any:
        return tuple(
            self.whole(operand) if row.is_setting(place) else shape_of(operand)
            for place, operand in enumerate(operands)
        )

    def pull(self, adjoint: Any, partial: Any) -> Any:
        """The adjoint carried back: along a linear map, and added up where the operand was broadcast."""
        if isinstance(partial, Diagonal):
            return self.folded(self.carried(adjoint, partial), partial.source, partial.target)
        if isinstance(partial, Reduced):
            spread = adjoint if partial.axis is None else self.expand(adjoint, partial.axis)
            return self.broadcast(self.carried(spread, partial), partial.source)
        if isinstance(partial, Linear):
            return _met(partial.rule.pull.evaluate(self, partial.operands, partial.out, adjoint))
        if isinstance(adjoint, np.ndarray):
            return self.times(adjoint, partial)
        return self.base.pull(adjoint, partial)

    def push(self, tangent: Any, partial: Any) -> Any:
        """The tangent carried on."""
        if isinstance(partial, Diagonal):
            return self.broadcast(self.carried(tangent, partial), partial.target)
        if isinstance(partial, Reduced):
            return self.total(self.broadcast(self.carried(tangent, partial), partial.source), partial.axis)
        if isinstance(partial, Linear):
            return self._pushed(tangent, partial)
        if isinstance(tangent, np.ndarray):
            return self.times(tangent, partial)
        return self.base.push(tangent, partial)

    def _pushed(self, tangent: Any, partial: Linear) -> Any:
        rule, operands = partial.rule, partial.operands
        if rule.push is not None:
            return _met(rule.push.evaluate(self, operands, partial.out, tangent))
        if rule.row.is_linear_in(rule.position):
            moved = [
                tangent
                if place == rule.position
                else self.broadcast(self.base.number("0"), shape_of(one))
                if rule.row.joint and not rule.row.is_setting(place)
                else one
                for place, one in enumerate(operands)
            ]
            return self.apply(rule.row, moved)
        # the result is one number: its pull is its gradient
        gradient = _met(rule.pull.evaluate(self, operands, partial.out, self.base.number("1")))
        return self.total(self.times(tangent, gradient))

    def carried(self, change: Any, partial: Diagonal | Reduced) -> Any:
        """change · partial, element by element, before anything is added up."""
        return self.times(change, partial.values, partial.zeros, partial.skipped)

    def times(self, carried: Any, partial: Any, zeros: str = "", skipped: Any = None) -> Any:
        """carried · partial, element by element; `zeros` and `skipped` as in `Diagonal`."""
        if skipped is None:
            return self.mapped(lambda one, by: _masked(self.base, one, by, zeros), carried, partial)
        zero = self.base.number("0")

        def one_by(one: Any, by: Any, skip: bool) -> Any:
            return zero if skip else _masked(self.base, one, by, zeros)

        return self.mapped(one_by, carried, partial, skipped)

    def add(self, left: Any, right: Any) -> Any:
        if not isinstance(left, np.ndarray) and not isinstance(right, np.ndarray):
            return self.base.add(left, right)
        return self.mapped(lambda one, other: _held(self.base.add, one, other), left, right)

    def scale(self, adjoint: Any, partial: Any) -> Any:
        return self.times(adjoint, partial)

    def choose(self, condition: Any) -> bool | None:
        """Neither branch: both are worked out, since the result has the shape to which they are broadcast together."""
        return None

    def is_zero(self, value: Any) -> bool:
        return not isinstance(value, (np.ndarray, Diagonal, Reduced, Linear)) and self.base.is_zero(value)

    def finer(self, point: Any) -> Kind | None:
        """Arrays of the kind in which the opened program has its answers; without one, that the closed one needs."""
        if type(self.base).finer is Kind.finer:
            return None
        opened = point.opened()
        found = self.base.finer(Flat(point)) if opened is None else opened.kind
        return None if found is None or found is self.base else arrays(found)

    def trouble(self, value: Any, operands: list[Any]) -> str | None:
        if isinstance(value, (np.ndarray, slice)):
            return None
        if any(isinstance(one, (np.ndarray, slice)) for one in operands):
            lost = isinstance(value, float) and math.isnan(value) and not self.propagates
            return "indeterminate" if lost else None
        return self.base.trouble(value, operands)


def _masked(base: Kind, carried: Any, partial: Any, zeros: str) -> Any:
    """carried · partial of two numbers, where a 0 may count for more than its partner."""
    quiet = carried if zeros == "quiet" else partial if zeros in ("skips", "masks") else None
    if quiet is not None and not isinstance(quiet, Hole) and base.is_zero(quiet):
        return base.number("0")
    return _held(base.scale, carried, partial)


def _met(carried: Any) -> Any:
    """What a rule carries over an edge. Raises ArithmeticError where it has no value: the edge has a name for that."""
    if isinstance(carried, Hole):
        raise ArithmeticError("the rule has no value")
    return carried


def _held(function: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """A function of two numbers, a hole where there is no result."""
    if isinstance(left, Hole):
        return left
    if isinstance(right, Hole):
        return right
    try:
        return function(left, right)
    except ArithmeticError:
        return Hole(-1, "indeterminate")


def _bounds(one: slice) -> list[Any]:
    bounds = [one.start, one.stop]
    return bounds if one.step is None else [*bounds, one.step]


def arrays(base: Kind) -> Arrays:
    """Arrays over a kind of number; NumPy does the work where they are doubles."""
    if isinstance(base, Arrays):
        return base
    if isinstance(base, Real):
        from backprop.kinds.doubles import Doubles

        return Doubles(base)
    return Arrays(base)
