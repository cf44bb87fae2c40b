"""Dual numbers over arrays: a value with how it moves along one direction, so that reverse mode tells how the gradient
moves (forward over reverse: Griewank and Walther, Evaluating Derivatives, 2008, section 5.3).

A value is a `Dual` where it moves and a plain value of the kind below where it does not. Every operation moves by its
own rules, and so do the rules themselves when reverse mode is run in this kind; no rule is written for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from backprop.kinds import Hole
from backprop.kinds.array import Arrays, Diagonal, Linear, Reduced
from backprop.kinds.shapes import elements, shape_of
from backprop.ops import Row
from backprop.rules import carried, distances, rules


@dataclass(slots=True)
class Dual:
    """A value and its tangent, of one shape."""

    value: Any
    tangent: Any


def primal(value: Any) -> Any:
    """The value without its tangent."""
    return value.value if isinstance(value, Dual) else value


def tangent(value: Any) -> Any:
    """The tangent; None where the value does not move."""
    return value.tangent if isinstance(value, Dual) else None


class Duals(Arrays):
    """Dual numbers over a kind of arrays. `kinks` names the operations that met a kink or the boundary of a condition,
    in the program and in its rules: there the tangents are those of one side."""

    def __init__(self, below: Arrays) -> None:
        super().__init__(below.base)
        self.below = below
        self.kinks: list[str] = []

    def number(self, text: str) -> Any:
        return self.below.number(text)

    def apply(self, row: Row, operands: list[Any]) -> Any:
        plain = [primal(operand) for operand in operands]
        out = self.below.apply(row, plain)
        moves = tuple(isinstance(operand, Dual) for operand in operands)
        if not any(moves) or isinstance(out, Hole):
            return out
        self._note_kinks(row, plain, out)
        found: Any = (
            rules(row.code, moves, self.convention)
            if row.pulls is None
            else carried(row.code, moves, self.below.shapes(row, plain))
        )
        moved: Any = None
        for position, rule in enumerate(found):
            if rule is None:
                continue
            slope = self.below.slope(rule, plain, out, position)
            if isinstance(slope, Hole):
                return slope
            if row.locally_constant and self.below.has_zeros(slope):
                apart = distances(row, self.below, plain, out)
                if self.below.skips(slope, apart):
                    continue
            brought = self.below.push(tangent(operands[position]), slope)
            moved = brought if moved is None else self.below.add(moved, brought)
        return out if moved is None else Dual(out, self.below.broadcast(moved, shape_of(out)))

    def _note_kinks(self, row: Row, plain: list[Any], out: Any) -> None:
        apart = (one for distance in distances(row, self.below, plain, out) for one in elements(distance))
        if any(not isinstance(one, Hole) and self.base.is_zero(one) for one in apart):
            self.kinks.append(row.name)

    def slope(self, rule: Any, operands: list[Any], out: Any, position: int = 0) -> Any:
        row, plain = rule.row, [primal(operand) for operand in operands]
        if row.pulls is not None:
            return Linear(rule, operands, out)
        if row.locally_constant:  # its partials do not move
            found = self.below.slope(rule, plain, primal(out), position)
            if isinstance(found, Reduced) and any(0 < one < 1 for one in elements(found.values)):
                self.kinks.append(row.name)  # several are the largest
            return found
        if row.reduces:
            axis = None if len(plain) == 1 else self.whole(plain[1])
            spread = out if axis is None else self.expand(out, axis)
            return Reduced(rule.evaluate(self, operands, spread), shape_of(plain[0]), axis)
        found = rule.evaluate(self, operands, out)
        if not any(shape_of(one) for one in plain):
            return found
        return Diagonal(found, shape_of(plain[position]), shape_of(primal(out)))

    def has_zeros(self, slope: Any) -> bool:
        return self.below.has_zeros(primal(slope))

    def skips(self, slope: Any, distances: Sequence[Any]) -> bool:
        return self.below.skips(primal(slope), [primal(one) for one in distances])

    def shapes(self, row: Row, operands: list[Any]) -> Any:
        return self.below.shapes(row, [primal(operand) for operand in operands])

    def pull(self, adjoint: Any, partial: Any) -> Any:
        if isinstance(partial, (Diagonal, Reduced, Linear)):
            return super().pull(adjoint, partial)
        return self.times(adjoint, partial)

    def scale(self, adjoint: Any, partial: Any) -> Any:
        return self.times(adjoint, partial)

    def times(self, carried: Any, partial: Any, zeros: str = "", skipped: Any = None) -> Any:
        """The product rule."""
        value = self.below.times(primal(carried), primal(partial), zeros, skipped)
        parts = [
            self.below.times(one, other, zeros, skipped)
            for one, other in ((tangent(carried), primal(partial)), (primal(carried), tangent(partial)))
            if one is not None and other is not None
        ]
        if not parts:
            return value
        return Dual(value, parts[0] if len(parts) == 1 else self.below.add(*parts))

    def add(self, left: Any, right: Any) -> Any:
        value = self.below.add(primal(left), primal(right))
        parts = [one for one in (tangent(left), tangent(right)) if one is not None]
        if not parts:
            return value
        return Dual(value, parts[0] if len(parts) == 1 else self.below.add(*parts))

    # -- linear maps: the tangent goes as the value does

    def _both(self, function: Callable[..., Any], value: Any, *more: Any) -> Any:
        if isinstance(value, Dual):
            return Dual(function(value.value, *more), function(value.tangent, *more))
        return function(value, *more)

    def broadcast(self, value: Any, shape: Any) -> Any:
        return self._both(self.below.broadcast, value, shape)

    def folded(self, value: Any, source: Any, target: Any) -> Any:
        return self._both(self.below.folded, value, source, target)

    def expand(self, x: Any, axis: Any) -> Any:
        return self._both(self.below.expand, x, axis)

    def total(self, x: Any, axis: Any = None) -> Any:
        return self._both(self.below.total, x, axis)

    # -- decisions, which are about values

    def choose(self, condition: Any) -> bool | None:
        return self.below.choose(primal(condition))

    def is_zero(self, value: Any) -> bool:
        return self.below.is_zero(primal(value))

    def trouble(self, value: Any, operands: list[Any]) -> str | None:
        return self.below.trouble(primal(value), [primal(operand) for operand in operands])
