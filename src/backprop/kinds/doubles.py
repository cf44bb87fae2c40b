"""Doubles: arrays of doubles, with NumPy.

An elementary operation is worked out by NumPy's functions where all that its row asks for is there, else one element
after the other. NumPy decides finite numbers only: an element that comes out infinite or NaN, and every element of an
operation that is not here, is left to the kind of number below, so that log(0), 1/0 and 0·inf mean the same as alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from backprop.kinds import Hole, value_at
from backprop.kinds.array import Arrays, Diagonal, Linear, Reduced
from backprop.kinds.ieee import Ieee
from backprop.kinds.real import Real
from backprop.kinds.shapes import Shape, elements, shape_of
from backprop.ops import Row

EPSILON = 2.0**-53

# In an adjoint or a tangent this marks an element that is cut off: a branch that was not taken, or a place that was
# not asked for, lies between it and the result. To add it changes nothing, and it stays what it is, whatever it meets.
# Every other zero there is +0: no engine starts with a -0 (`seeded`), and none comes out (`settled`).
CUT = -0.0


def is_cut(change: Any) -> Any:
    """Which elements are cut off."""
    return np.equal(change, 0) & np.signbit(change)


class Missing(Exception):
    """A function that NumPy has not."""


class Vectorised:
    """What rows ask of a kind, on arrays of doubles."""

    pi = math.pi
    exp, exp2, expm1 = np.exp, np.exp2, np.expm1
    log, log2, log10, log1p = np.log, np.log2, np.log10, np.log1p
    sqrt, cbrt = np.sqrt, np.cbrt
    sin, cos, tan = np.sin, np.cos, np.tan
    asin, acos, atan = np.arcsin, np.arccos, np.arctan
    sinh, cosh, tanh = np.sinh, np.cosh, np.tanh
    asinh, acosh, atanh = np.arcsinh, np.arccosh, np.arctanh
    hypot, sign, divide = np.hypot, np.sign, np.divide

    def __init__(self, base: Real) -> None:
        self._base = base

    def number(self, text: str) -> float:
        return float(self._base.number(text))

    def floor(self, x: Any) -> Any:
        return np.floor(x) + 0.0  # an integer has no -0

    def ceil(self, x: Any) -> Any:
        return np.ceil(x) + 0.0

    def round(self, x: Any) -> Any:
        return np.rint(x) + 0.0

    def pow(self, x: Any, y: Any) -> Any:
        power = np.power(x, y)
        if self._base.propagates or not np.isinf(y).any():
            return power
        return np.where(np.isinf(y) & (np.abs(x) == 1), math.nan, power)  # 1^inf has no value

    def true(self, condition: Any) -> Any:
        """Whether a condition holds; NaN does not."""
        return np.greater(condition, 0) | np.less(condition, 0)

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        return np.where(self.true(condition), x, y)

    def equal(self, x: Any, y: Any) -> Any:
        return np.equal(x, y)

    def both(self, x: Any, y: Any) -> Any:
        return np.logical_and(self.true(x), self.true(y))

    def either(self, x: Any, y: Any) -> Any:
        return np.logical_or(self.true(x), self.true(y))

    def negation(self, x: Any) -> Any:
        return np.logical_not(self.true(x))

    def maximum(self, *x: Any) -> Any:
        largest = x[0]  # of 0 and -0 the first, as Python's max has it
        for one in x[1:]:
            largest = np.where(np.greater(one, largest) | np.not_equal(one, one), one, largest)
        return largest

    def minimum(self, *x: Any) -> Any:
        smallest = x[0]
        for one in x[1:]:
            smallest = np.where(np.less(one, smallest) | np.not_equal(one, one), one, smallest)
        return smallest

    def sigmoid(self, x: Any) -> Any:
        small = np.exp(-np.abs(x))
        return np.where(np.asarray(x) >= 0, 1 / (1 + small), small / (1 + small))

    def softplus(self, x: Any) -> Any:
        return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))

    def silu(self, x: Any) -> Any:
        # far to the left exp(x) loses its digits before x·exp(x) does: left to the kind below
        return np.where(np.asarray(x) > -700, x * self.sigmoid(x), math.nan)

    def logaddexp(self, x: Any, y: Any) -> Any:
        apart = np.where(np.equal(x, y), 0.0, np.abs(np.subtract(x, y)))
        return self.maximum(x, y) + np.log1p(np.exp(-apart))

    def clip(self, x: Any, lo: Any, hi: Any) -> Any:
        return np.where(np.greater(lo, hi), math.nan, self.minimum(self.maximum(x, lo), hi))

    def sech(self, x: Any) -> Any:
        small = np.exp(-np.abs(x))
        return 2 * small / (1 + small * small)

    def sec(self, x: Any) -> Any:
        return 1 / np.cos(x)

    def csc(self, x: Any) -> Any:
        return 1 / np.sin(x)

    def cot(self, x: Any) -> Any:
        return 1 / np.tan(x)

    def mod(self, x: Any, y: Any) -> Any:
        return np.mod(x, y)

    def __getattr__(self, name: str) -> Any:
        raise Missing(name)


class Doubles(Arrays):
    """Arrays of float64 over kind real (or over IEEE doubles)."""

    base: Real
    most = 10_000_000

    def __init__(self, base: Real) -> None:
        super().__init__(base)
        self._numpy = Vectorised(base)

    # -- reading

    def packed(self, numbers: Sequence[Any], shape: Shape) -> Any:
        if any(isinstance(one, Hole) for one in numbers):
            numbers = [math.nan if isinstance(one, Hole) else one for one in numbers]
        return self.unwrapped(np.array(numbers, dtype=np.float64).reshape(shape))

    def array(self, x: Any) -> Any:
        return x if isinstance(x, np.ndarray) else np.array(x)

    def apply(self, row: Row, operands: list[Any]) -> Any:
        with np.errstate(all="ignore"):  # what is no number is seen by its value
            return super().apply(row, operands)

    # -- element by element

    def elementwise(self, row: Row, operands: list[Any]) -> Any:
        shape = self.fitted(operands)
        lost = None if self.propagates else self._lost(operands, shape)
        if lost is not None and (row.gives_condition or any(_holds_holes(operands[place]) for place in row.conditions)):
            return self._one_by_one(row, operands)
        operands = [math.nan if isinstance(operand, Hole) else operand for operand in operands]
        try:
            with np.errstate(all="ignore"):
                found = np.asarray(row.value(self._numpy, *operands))
        except Missing:
            return self._one_by_one(row, operands)
        if found.dtype == bool:
            return self.unwrapped(found)
        found = np.asarray(found, dtype=np.float64)
        if row.conditions:
            return self.unwrapped(found)  # of the branch that is not taken nothing is asked
        asked = ~np.isfinite(found)
        if lost is not None or asked.any():
            found = np.array(np.broadcast_to(found, shape))
            asked = np.broadcast_to(asked, shape)
            if lost is not None:
                found[lost & asked] = math.nan
                asked = asked ^ lost  # what is lost and yet a number may have been left out: NaN^0
            spread = [np.broadcast_to(operand, shape) for operand in operands]
            for at in zip(*np.nonzero(asked), strict=True):
                found[at] = self._alone(row, [one[at].item() for one in spread])
        return self.unwrapped(found)

    def _lost(self, operands: list[Any], shape: Shape) -> Any:
        """Where an operand has no value: a hole, or a NaN where NaN is no number. None when all have one."""
        found = None
        for one in operands:
            if isinstance(one, np.ndarray) and one.dtype == np.float64:
                without = np.isnan(one)
            elif _holds_holes(one):
                without = np.array([isinstance(x, Hole) for x in elements(one)]).reshape(shape_of(one))
            else:
                continue
            if without.any():
                found = np.broadcast_to(without, shape) if found is None else found | without
        return found

    def _alone(self, row: Row, numbers: list[Any]) -> float:
        if not self.propagates:
            numbers = [Hole(-1, "domain") if isinstance(one, float) and one != one else one for one in numbers]
        value = value_at(-1, row, self.base, numbers)
        return math.nan if isinstance(value, Hole) else value

    def _one_by_one(self, row: Row, operands: list[Any]) -> Any:
        hole = Hole(-1, "domain")
        lost = not self.propagates

        def one(*numbers: Any) -> Any:
            if lost:
                # NaN is no number here
                numbers = tuple(hole if isinstance(x, float) and x != x else x for x in numbers)
            if row.chooses and not isinstance(numbers[0], Hole):
                return numbers[1] if numbers[0] else numbers[2]
            return value_at(-1, row, self.base, list(numbers))

        with np.errstate(all="ignore"):
            made = np.asarray(np.frompyfunc(one, len(operands), 1)(*operands), dtype=object)
        if row.gives_condition:
            if any(isinstance(value, Hole) for value in made.flat):
                return self.unwrapped(made)
            return self.unwrapped(made.astype(bool))
        return self.packed(list(made.flat), made.shape)

    def each(self, name: str, *operands: Any) -> Any:
        found = super().each(name, *operands)
        return math.nan if isinstance(found, Hole) else found

    # -- adjoints and tangents

    def slope(self, rule: Any, operands: list[Any], out: Any, position: int = 0) -> Any:
        found = super().slope(rule, operands, out, position)
        if self.propagates and isinstance(found, Reduced) and rule.row.locally_constant:
            # no element is the largest where one is NaN
            spread = out if found.axis is None else self.expand(out, found.axis)
            found.values = np.where(np.isnan(spread), math.nan, found.values)
        return found

    def _slopes(self, rule: Any, operands: list[Any], out: Any, position: int) -> Any:
        slopes, lost = rule.evaluate(self, operands, out), np.isnan(out)
        if isinstance(slopes, Hole):
            return math.nan
        if not np.any(lost) or (isinstance(self.base, Ieee) and not self.base.is_lost(rule)):
            return slopes
        return self.unwrapped(np.where(lost, math.nan, slopes))

    def pull(self, adjoint: Any, partial: Any) -> Any:
        brought = super().pull(adjoint, partial)
        if not isinstance(partial, Linear):
            return brought
        if not partial.rule.row.moves:
            return brought + 0.0
        return self.unwrapped(np.where(np.equal(self.reached(adjoint, partial), 0), CUT, brought + 0.0))

    def reached(self, adjoint: Any, partial: Linear) -> Any:
        """What is not 0 where a way leads from an operand to elements of the result that are not cut off."""
        return super().pull(self.unwrapped(np.where(is_cut(adjoint), 0.0, 1.0)), partial)

    def push(self, tangent: Any, partial: Any) -> Any:
        brought = super().push(tangent, partial)
        return brought + 0.0 if isinstance(partial, Linear) else brought

    def has_zeros(self, slope: Any) -> bool:
        if isinstance(slope, (Diagonal, Reduced)):
            return bool(np.any(np.equal(slope.values, 0)))
        return super().has_zeros(slope)

    def skips(self, slope: Any, distances: Sequence[Any]) -> bool:
        if not isinstance(slope, (Diagonal, Reduced)):
            return super().skips(slope, distances)
        skipped = np.equal(slope.values, 0)
        for apart in distances:
            skipped = skipped & (True if isinstance(apart, Hole) else np.not_equal(apart, 0))
        slope.skipped = skipped
        return False

    def times(self, carried: Any, partial: Any, zeros: str = "", skipped: Any = None) -> Any:
        if isinstance(partial, Hole):
            partial = math.nan
        with np.errstate(all="ignore"):
            product = np.multiply(carried, partial) + 0.0
        if zeros == "quiet":
            product = np.where(np.equal(carried, 0), 0.0, product)
        elif zeros in ("masks", "skips"):
            product = np.where(np.equal(partial, 0), 0.0 if zeros == "masks" else CUT, product)
        cut = is_cut(carried) if skipped is None else is_cut(carried) | skipped
        return self.unwrapped(np.where(cut, CUT, product) if np.any(cut) else product)

    def add(self, left: Any, right: Any) -> Any:
        if not isinstance(left, np.ndarray) and not isinstance(right, np.ndarray):
            return self.base.add(left, right)
        with np.errstate(all="ignore"):
            return np.add(left, right)

    def seeded(self, seed: Any) -> Any:
        return seed if isinstance(seed, Hole) or not np.any(is_cut(seed)) else seed + 0.0

    def settled(self, found: list[Any]) -> list[Any]:
        return [one + 0.0 if isinstance(one, (float, np.ndarray)) else one for one in found]

    def broadcast(self, value: Any, shape: Shape) -> Any:
        if shape_of(value) == shape:
            return value
        if isinstance(value, Hole):
            return np.full(shape, math.nan)
        return np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), shape))

    # -- many numbers become one

    def _along(self, function: Callable[..., Any], x: Any, axis: Any) -> Any:
        with np.errstate(all="ignore"):
            place = None if axis is None else self.axis(x, axis)
            return self.unwrapped(np.asarray(function(np.asarray(x, dtype=np.float64), axis=place)))

    def total(self, x: Any, axis: Any = None) -> Any:
        return self._along(np.sum, x, axis)

    def prod(self, x: Any, axis: Any = None) -> Any:
        return self._along(np.prod, x, axis)

    def greatest(self, x: Any, axis: Any = None) -> Any:
        return self._along(np.max, x, axis)

    def least(self, x: Any, axis: Any = None) -> Any:
        return self._along(np.min, x, axis)

    def logsumexp(self, x: Any, axis: Any = None) -> Any:
        return self._along(_logsumexp, x, axis)

    def norm(self, x: Any, axis: Any = None) -> Any:
        return self._along(_norm, x, axis)

    def cumulated(self, x: Any, axis: Any) -> Any:
        return self._along(np.cumsum, x, self.only_axis(x) if axis is None else axis)

    # -- products and square matrices

    def put(self, x: Any, into: Any, at: Sequence[Any]) -> Any:
        numbers = self.put_places(x, into, at)
        made = np.zeros(shape_of(into))
        np.add.at(made.reshape(-1), numbers, x)
        return made

    def _product(self, a: Any, b: Any, stacks: Shape) -> Any:
        with np.errstate(all="ignore"):
            return np.matmul(np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64))

    def _sum_of_products(self, x: Any, y: Any) -> Any:
        with np.errstate(all="ignore"):
            return float(np.dot(x, y))

    def trace(self, a: Any) -> Any:
        self.square(a)
        return float(np.trace(a))

    def inverse(self, a: Any) -> Any:
        self.square(a)
        found = self._linear(np.linalg.inv, a)
        self._refuse_singular(a, found)
        return found

    def _solved(self, a: Any, b: Any) -> Any:
        self._refuse_singular(a)
        return self._linear(np.linalg.solve, a, b)

    def _refuse_singular(self, a: Any, inverse: Any = None) -> None:
        """Raises ZeroDivisionError for a matrix that is singular as far as doubles can tell: no digit is right."""
        if self.propagates:
            return
        inverse = self._linear(np.linalg.inv, a) if inverse is None else inverse
        if condition(a, inverse) * EPSILON > 1:
            raise ZeroDivisionError("the matrix is singular to working precision")

    def _linear(self, function: Callable[..., Any], *matrices: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
                return function(*matrices)
        except np.linalg.LinAlgError:
            if self.propagates:  # as on a plain tape that goes on: no element of the solution is a number
                return np.full(matrices[-1].shape, math.nan)
            raise ZeroDivisionError("the matrix is singular") from None

    def determinant(self, a: Any) -> Any:
        if self.square(a) <= 3:
            return super().determinant(a)
        with np.errstate(all="ignore"):
            return float(np.linalg.det(a))

    def logdet(self, a: Any) -> Any:
        self.square(a)
        self._refuse_singular(a)
        size = float(np.linalg.slogdet(a)[1])
        if size == -math.inf and not self.propagates:
            raise ValueError("the logarithm of 0")
        return size

    # -- layers

    def softmax(self, x: Any, axis: Any) -> Any:
        place = self.axis(x, axis)
        with np.errstate(all="ignore"):
            shares = np.exp(x - np.max(x, axis=place, keepdims=True))
            return shares / np.sum(shares, axis=place, keepdims=True)


def condition(a: Any, inverse: Any) -> float:
    """The condition number of a matrix in the norm of the largest column sum."""
    with np.errstate(all="ignore"):
        return float(np.linalg.norm(a, 1) * np.linalg.norm(inverse, 1))


def _holds_holes(condition: Any) -> bool:
    """Whether some condition is not known."""
    return isinstance(condition, Hole) or (isinstance(condition, np.ndarray) and condition.dtype == object)


def _logsumexp(x: Any, axis: int | None) -> Any:
    largest = np.max(x, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(largest), largest, 0.0)
    total = np.log(np.sum(np.exp(x - shift), axis=axis, keepdims=True)) + shift
    return np.squeeze(total, axis=axis)


def _norm(x: Any, axis: int | None) -> Any:
    """The root of the sum of squares, which neither overflows nor vanishes on the way."""
    scale = np.max(np.abs(x), axis=axis, keepdims=True)
    safe = np.where((scale > 0) & np.isfinite(scale), scale, 1.0)
    return np.squeeze(safe * np.sqrt(np.sum((x / safe) ** 2, axis=axis, keepdims=True)), axis=axis)
