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
from backprop.kinds.array import MOST_ELEMENTS, Arrays, Shape, shape_of
from backprop.kinds.real import Real
from backprop.ops import Row


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
    hypot, floor, ceil, round = np.hypot, np.floor, np.ceil, np.rint
    sign = np.sign
    divide = np.divide
    pow = np.power

    def __init__(self, base: Real) -> None:
        self._base = base

    def number(self, text: str) -> float:
        return float(self._base.number(text))

    def true(self, condition: Any) -> Any:
        return np.not_equal(condition, 0)

    def where(self, condition: Any, x: Any, y: Any) -> Any:
        return np.where(np.not_equal(condition, 0), x, y)

    def equal(self, x: Any, y: Any) -> Any:
        return np.equal(x, y)

    def both(self, x: Any, y: Any) -> Any:
        return np.logical_and(x, y)

    def either(self, x: Any, y: Any) -> Any:
        return np.logical_or(x, y)

    def negation(self, x: Any) -> Any:
        return np.logical_not(x)

    def maximum(self, *x: Any) -> Any:
        largest = x[0]
        for one in x[1:]:
            largest = np.maximum(largest, one)
        return largest

    def minimum(self, *x: Any) -> Any:
        smallest = x[0]
        for one in x[1:]:
            smallest = np.minimum(smallest, one)
        return smallest

    def sigmoid(self, x: Any) -> Any:
        small = np.exp(-np.abs(x))
        return np.where(np.asarray(x) >= 0, 1 / (1 + small), small / (1 + small))

    def softplus(self, x: Any) -> Any:
        return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))

    def silu(self, x: Any) -> Any:
        raise Missing

    def __getattr__(self, name: str) -> Any:
        raise Missing(name)


class Doubles(Arrays):
    """Arrays of float64 over kind real (or over IEEE doubles)."""

    base: Real

    def __init__(self, base: Real) -> None:
        super().__init__(base)
        self._numpy = Vectorised(base)
        self.most = MOST_ELEMENTS["float64"]

    # -- reading

    def packed(self, numbers: Sequence[Any], shape: Shape) -> Any:
        if any(isinstance(one, Hole) for one in numbers):
            numbers = [math.nan if isinstance(one, Hole) else one for one in numbers]
        return self.unwrapped(np.array(numbers, dtype=np.float64).reshape(shape))

    def array(self, x: Any) -> Any:
        return x if isinstance(x, np.ndarray) else np.array(x)

    # -- element by element

    def elementwise(self, row: Row, operands: list[Any]) -> Any:
        self.fitted(operands)
        if self._holds_holes(operands) and (row.gives_condition or row.conditions):
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
        finite = np.isfinite(found)
        if not finite.all():
            found = np.array(np.broadcast_to(found, self.fitted(operands)))
            spread = [np.broadcast_to(operand, found.shape) for operand in operands]
            for at in zip(*np.nonzero(~np.isfinite(found)), strict=True):
                found[at] = self._alone(row, [one[at].item() for one in spread])
        return self.unwrapped(found)

    def _holds_holes(self, operands: list[Any]) -> bool:
        """Whether an element has no value: a NaN where NaN is no number, or a hole."""
        if self.propagates:
            return False
        return any(
            isinstance(one, Hole)
            or (isinstance(one, np.ndarray) and (one.dtype == object or (one.dtype != bool and bool(np.isnan(one).any()))))
            for one in operands
        )

    def _alone(self, row: Row, numbers: list[Any]) -> float:
        value = value_at(-1, row, self.base, numbers)
        return math.nan if isinstance(value, Hole) else value

    def _one_by_one(self, row: Row, operands: list[Any]) -> Any:
        hole = Hole(-1, "domain")
        lost = not self.propagates

        def one(*numbers: Any) -> Any:
            if lost:
                # NaN is no number here
                numbers = tuple(hole if isinstance(x, float) and x != x else x for x in numbers)
            if row.name == "where" and not isinstance(numbers[0], Hole):
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

    def times(self, carried: Any, partial: Any, stops: bool) -> Any:
        with np.errstate(all="ignore"):
            product = np.multiply(carried, partial) + 0.0
        return self.unwrapped(np.where(np.equal(partial, 0), 0.0, product) if stops else product)

    def add(self, left: Any, right: Any) -> Any:
        if not isinstance(left, np.ndarray) and not isinstance(right, np.ndarray):
            return self.base.add(left, right)
        with np.errstate(all="ignore"):
            return np.add(left, right) + 0.0

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

    # -- products and square matrices

    def put(self, x: Any, into: Any, at: Sequence[Any]) -> Any:
        made = np.zeros(shape_of(into))
        np.add.at(made, self.places(into, at), x)
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
        return self._linear(np.linalg.inv, a)

    def _solved(self, a: Any, b: Any) -> Any:
        return self._linear(np.linalg.solve, a, b)

    def _linear(self, function: Callable[..., Any], *matrices: Any) -> Any:
        try:
            with np.errstate(all="ignore"):
                return function(*matrices)
        except np.linalg.LinAlgError:
            raise ZeroDivisionError("the matrix is singular") from None

    def determinant(self, a: Any) -> Any:
        if self.square(a) <= 3:
            return super().determinant(a)
        return float(np.linalg.det(a))

    def logdet(self, a: Any) -> Any:
        self.square(a)
        size = float(np.linalg.slogdet(a)[1])
        if size == -math.inf:
            raise ValueError("the logarithm of 0")
        return size

    # -- layers

    def softmax(self, x: Any, axis: Any) -> Any:
        place = self.axis(x, axis)
        with np.errstate(all="ignore"):
            shares = np.exp(x - np.max(x, axis=place, keepdims=True))
            return shares / np.sum(shares, axis=place, keepdims=True)


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
