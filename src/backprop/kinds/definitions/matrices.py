"""Matrices: products, and what is asked of square matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from backprop.kinds import Hole, Misfit
from backprop.kinds.definitions.reshaping import Reshaping
from backprop.kinds.shapes import Shape, broadcast_stacks, elements, matmul_repair, said, shape_of


class Matrices(Reshaping):
    """Products of vectors and matrices; inverses and determinants by elimination."""

    # -- products

    def matmul(self, a: Any, b: Any) -> Any:
        left, right = shape_of(a), shape_of(b)
        if not left or not right:
            raise Misfit("{0} is " + said(left) + ", {1} is " + said(right) + ": @ takes vectors and matrices",
                         "A number times an array is written with *: {0}*{1}")  # fmt: skip
        inner, other = left[-1], right[-2] if len(right) > 1 else right[0]
        if inner != other:
            raise Misfit(
                f"{{0}} is {said(left)}, {{1}} is {said(right)}: the inner sizes {inner} and {other} differ",
                matmul_repair(left, right),
            )
        rows = a if len(left) > 1 else a[None, :]
        columns = b if len(right) > 1 else b[:, None]
        stacks = broadcast_stacks(rows.shape[:-2], columns.shape[:-2])
        self.afford((*stacks, rows.shape[-2], columns.shape[-1]), "the product")
        made = self._product(rows, columns, stacks)
        if len(left) == 1:
            made = made[..., 0, :]
        return self.unwrapped(self.array(made[..., 0] if len(right) == 1 else made))

    def _product(self, a: Any, b: Any, stacks: Shape) -> Any:
        a = np.broadcast_to(a, (*stacks, *a.shape[-2:]))
        b = np.broadcast_to(b, (*stacks, *b.shape[-2:]))
        self.afford_work(math.prod(stacks) * a.shape[-2] * a.shape[-1] * b.shape[-1], "the product")
        made = np.empty((*stacks, a.shape[-2], b.shape[-1]), dtype=object)
        for at in np.ndindex(*stacks):
            for row in range(a.shape[-2]):
                for column in range(b.shape[-1]):
                    made[(*at, row, column)] = self._sum_of_products(a[(*at, row)], b[(*at, slice(None), column)])
        return made

    def _sum_of_products(self, x: Any, y: Any) -> Any:
        return self.fold(
            "add", [self.each("mul", one, other) for one, other in zip(elements(x), elements(y), strict=True)]
        )

    def dot(self, x: Any, y: Any) -> Any:
        if shape_of(x) != shape_of(y) or len(shape_of(x)) > 1:
            matrix = len(shape_of(x)) > 1 or len(shape_of(y)) > 1
            raise Misfit(f"{{0}} is {said(shape_of(x))}, {{1}} is {said(shape_of(y))}: dot takes two vectors of one "
                         "size", "Matrices are multiplied with @: {0} @ {1}" if matrix
                         else "Every product of their elements is outer({0}, {1}).")  # fmt: skip
        return self._sum_of_products(self.array(x).reshape(-1), self.array(y).reshape(-1))

    def outer(self, x: Any, y: Any) -> Any:
        if len(shape_of(x)) != 1 or len(shape_of(y)) != 1:
            raise Misfit(f"{{0}} is {said(shape_of(x))}, {{1}} is {said(shape_of(y))}: outer takes two vectors",
                         "Its result is the matrix of all products of their elements.")  # fmt: skip
        return self.each("mul", x[:, None], y[None, :])

    # -- square matrices

    def square(self, a: Any) -> int:
        shape = shape_of(a)
        if len(shape) != 2 or shape[0] != shape[1]:
            apart = f", and the sizes {shape[0]} and {shape[1]} differ" if len(shape) == 2 else ""
            raise Misfit(
                f"{{0}} is {said(shape)}: this takes a square matrix{apart}",
                "A stack is taken apart: {0}[0] is its first matrix." if len(shape) > 2 else "",
            )
        return shape[0]

    def diagonal(self, x: Any) -> Any:
        shape = shape_of(x)
        if len(shape) == 2:
            self.square(x)
            return np.diagonal(x).copy()
        if len(shape) != 1:
            raise Misfit(f"{{0}} is {said(shape)}: diag takes a vector or a square matrix")
        self.afford((shape[0], shape[0]), "the matrix")
        made = self.broadcast(self.base.number("0"), (shape[0], shape[0]))
        for place, one in enumerate(x):
            made[place, place] = one
        return made

    def identity(self, n: Any) -> Any:
        size = self.whole(n)
        if size < 1:
            raise Misfit(f"the identity has at least one row, not {size}")
        self.afford((size, size), "the identity")
        return self.diagonal(self.broadcast(self.base.number("1"), (size,)))

    def trace(self, a: Any) -> Any:
        self.square(a)
        return self.fold("add", np.diagonal(a).tolist())

    def eliminated(self, a: Any, b: Any) -> Any:
        """The columns x with a @ x = b, by Gauss elimination with the largest pivot of each column.

        Raises ZeroDivisionError for a singular matrix.
        """
        size = self.square(a)
        self.afford_work(size * size * (size + 3 * b.shape[1]) // 3, "the elimination")
        rows = [[*left, *right] for left, right in zip(a.tolist(), b.tolist(), strict=True)]
        for column in range(size):
            best = max(range(column, size), key=lambda row: self.magnitude(rows[row][column]))
            rows[column], rows[best] = rows[best], rows[column]
            if self.base.is_zero(rows[column][column]) and not self.propagates:
                raise ZeroDivisionError("the matrix is singular")
            self._clear(rows, column)
        found: list[list[Any]] = [[] for _ in range(size)]
        for row in range(size - 1, -1, -1):
            for place in range(size, len(rows[row])):
                left = rows[row][place]
                for column in range(row + 1, size):
                    product = self.each("mul", rows[row][column], found[column][place - size])
                    left = self.each("sub", left, product)
                found[row].append(self.each("div", left, rows[row][row]))
        return self.packed([one for line in found for one in line], (size, len(found[0])))

    def _clear(self, rows: list[list[Any]], step: int) -> None:
        """Take the row of a pivot from those below it, so that nothing of its column is left there."""
        for row in range(step + 1, len(rows)):
            factor = self.each("div", rows[row][step], rows[step][step])
            for place in range(step + 1, len(rows[row])):
                product = self.each("mul", factor, rows[step][place])
                rows[row][place] = self.each("sub", rows[row][place], product)

    def magnitude(self, number: Any) -> Any:
        """How large a number is, to choose a pivot; of a ball how large at least, of a hole nothing is known."""
        number = getattr(number, "value", number)
        if isinstance(number, Hole):
            return -1
        size = abs(number)
        bounds = getattr(size, "bounds", None)
        return size if bounds is None else bounds[0]

    def pivots(self, a: Any) -> tuple[list[Any], int]:
        """Factors whose product, times the sign, is the determinant.

        The pivots are the largest of all that is left. Where what is left vanishes, its determinant is worked out
        without a division, so that a singular matrix has its derivatives too.
        """
        size = self.square(a)
        self.afford_work(size**3 // 3, "the elimination")
        rows, sign, largest = a.tolist(), 1, None
        for step in range(size - 1):
            places = [(row, column) for row in range(step, size) for column in range(step, size)]
            best, column = max(places, key=lambda at: self.magnitude(rows[at[0]][at[1]]))
            pivot = self.magnitude(rows[best][column])
            largest = pivot if largest is None else largest
            if pivot >= 0 and pivot <= self.negligible(largest):
                rest = [row[step:] for row in rows[step:]]
                return [*(rows[at][at] for at in range(step)), self._free(rest)], sign
            rows[step], rows[best] = rows[best], rows[step]
            for row in rows:
                row[step], row[column] = row[column], row[step]
            sign *= (-1) ** ((best != step) + (column != step))
            self._clear(rows, step)
        return [rows[at][at] for at in range(size)], sign

    def negligible(self, largest: Any) -> Any:
        """How large what is left of an elimination may be and still be nothing but rounding."""
        if self.intervals or not self.rounds:
            return largest * 0
        return largest * 10.0 ** (2 - min(self.digits or 16, 300))

    def inverse(self, a: Any) -> Any:
        return self.eliminated(a, self.identity(self.base.number(str(self.square(a)))))

    def solve(self, a: Any, b: Any) -> Any:
        size = self.square(a)
        shape = shape_of(b)
        if len(shape) not in (1, 2) or shape[0] != size:
            raise Misfit(
                f"{{0}} is {said(shape_of(a))}, {{1}} is {said(shape)}: "
                f"the right side is a vector or a matrix of {size} rows, as many as {{0}} has"
            )
        found = self._solved(a, b if len(shape) == 2 else b[:, None])
        return found if len(shape) == 2 else found[:, 0]

    def _solved(self, a: Any, b: Any) -> Any:
        return self.eliminated(a, b)

    def determinant(self, a: Any) -> Any:
        size = self.square(a)
        if size <= 3:  # without a division, so that a singular matrix has its derivatives
            return self._expanded(a.tolist())
        factors, sign = self.pivots(a)
        product = self.fold("mul", factors)
        return self.each("neg", product) if sign < 0 else product

    def _free(self, rows: list[list[Any]]) -> Any:
        """The determinant of a matrix without a division.

        By Bird, A simple division-free algorithm for computing determinants, Information Processing Letters 111, 2011.
        """
        size = len(rows)
        if size <= 3:
            return self._expanded(rows)
        made = rows
        for _ in range(size - 1):
            below: Any = None
            upper: list[list[Any]] = []
            for row in range(size - 1, -1, -1):
                diagonal = None if below is None else self.each("neg", below)
                upper.insert(0, [diagonal, *made[row][row + 1 :]])
                below = made[row][row] if below is None else self.each("add", below, made[row][row])
            made = [
                [
                    self._partial_product(upper[row], [rows[at][column] for at in range(row, size)])
                    for column in range(size)
                ]
                for row in range(size)
            ]
        return made[0][0] if size % 2 else self.each("neg", made[0][0])

    def _partial_product(self, left: list[Any], right: list[Any]) -> Any:
        """The sum of the products of two rows, of which the first may begin with nothing."""
        terms = [self.each("mul", one, other) for one, other in zip(left, right, strict=True) if one is not None]
        return self.fold("add", terms) if terms else self.base.number("0")

    def _expanded(self, rows: list[list[Any]]) -> Any:
        """The determinant of a small matrix along its first row."""
        if len(rows) == 1:
            return rows[0][0]
        total: Any = None
        for column, one in enumerate(rows[0]):
            minor = [row[:column] + row[column + 1 :] for row in rows[1:]]
            term = self.each("mul", one, self._expanded(minor))
            total = term if total is None else self.each("sub" if column % 2 else "add", total, term)
        return total

    def logdet(self, a: Any) -> Any:
        factors, _ = self.pivots(a)
        return self.fold("add", [self.each("log", self.each("abs", one)) for one in factors])
