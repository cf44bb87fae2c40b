"""Work: how many floating-point operations a row takes that does not work element by element.

Counted is what its definition by elementary operations takes (`kinds.definitions`), or the usual method where that is
another one: softmax and its kin are shifted by their maximum, and elimination is that of Gauss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from backprop.ops import Work, by_name

# A whole exponent up to this is worked out by multiplications.
LARGEST_EXPONENT = 64


def shape(value: Any) -> tuple[int, ...]:
    """The shape of an array, () of a number."""
    return tuple(getattr(value, "shape", ()))


def size(value: Any) -> int:
    """How many numbers there are in a value."""
    return math.prod(shape(value))


def flops(name: str) -> int:
    """What one evaluation of an elementary operation takes."""
    return by_name(name).flops


# -- powers


def _power(operands: Sequence[Any], out: Any) -> int:
    exponent = operands[1]
    if shape(exponent) or exponent != exponent or abs(exponent) > LARGEST_EXPONENT or exponent != int(exponent):
        return flops("pow") * size(out)
    whole = abs(int(exponent))
    squarings, products = max(0, whole.bit_length() - 1), max(0, whole.bit_count() - 1)
    return (squarings + products + int(exponent < 0)) * size(out)


POWER = Work("about 20 flops; a whole exponent by multiplications: x^2 takes 1, x^5 takes 3", _power)


# -- many numbers become one


def reduction(for_each: int = 0, at_the_end: int = 0) -> Callable[[Sequence[Any], Any], int]:
    """The work of a fold: one operation fewer than there are numbers, `for_each` more of them, and some at the end."""

    def count(operands: Sequence[Any], out: Any) -> int:
        many, few = size(operands[0]), size(out)
        return many - few + for_each * many + at_the_end * few

    return count


SUM = Work("n - 1 flops for n numbers", reduction())
MEAN = Work("n flops for n numbers", reduction(at_the_end=1))


def _norm(operands: Sequence[Any], out: Any) -> int:
    return reduction(1, flops("sqrt"))(operands, out)


NORM = Work("2*n flops for n numbers, and a root", _norm)


def _deviation(operands: Sequence[Any], out: Any) -> int:
    return _variance(operands, out) + flops("sqrt") * size(out)


def _variance(operands: Sequence[Any], out: Any) -> int:
    return 4 * size(operands[0])  # the mean, n differences, n squares, their mean


VARIANCE = Work("4*n flops for n numbers", _variance)
DEVIATION = Work("4*n flops for n numbers, and a root", _deviation)


def _cumsum(operands: Sequence[Any], out: Any) -> int:
    return size(out) - _rows(out, _axis(operands))


CUMSUM = Work("n - 1 flops for n numbers", _cumsum)


def _logsumexp(operands: Sequence[Any], out: Any) -> int:
    # the largest, n differences from it, n exponentials, their sum, its logarithm, the largest added again
    many, few = size(operands[0]), size(out)
    return 2 * (many - few) + (1 + flops("exp")) * many + (flops("log") + 1) * few


LOGSUMEXP = Work("n exponentials and about 3*n flops for n numbers, and a logarithm", _logsumexp)

# -- products


def _matmul(operands: Sequence[Any], out: Any) -> int:
    inner = shape(operands[0])[-1]
    return (2 * inner - 1) * size(out)


MATMUL = Work("n*m*(2*k - 1), about 2*n*m*k, flops for (n, k) @ (k, m)", _matmul)


def _dot(operands: Sequence[Any], out: Any) -> int:
    return 2 * size(operands[0]) - 1


DOT = Work("2*n - 1 flops for n pairs", _dot)


def _put(operands: Sequence[Any], out: Any) -> int:
    lists = [[getattr(one, "value", one) for one in places.ravel()] for places in operands[2:] if shape(places)]
    # nothing is added where a place is met for the first time
    return sum(size(operands[0]) * (len(places) - len(set(places))) // len(places) for places in lists)


PUT = Work("none; an addition where a place is named again", _put)


def _trace(operands: Sequence[Any], out: Any) -> int:
    return shape(operands[0])[0] - 1


TRACE = Work("n - 1 flops for (n, n)", _trace)


# -- square matrices


def elimination(n: int, columns: int = 0) -> int:
    """Gauss elimination of an n x n matrix with columns beside it: about 2/3 n^3 + n^2 for each column.

    >>> elimination(2), elimination(3, 1)
    (3, 19)
    """
    return sum(below * (1 + 2 * (below + columns)) for below in range(n))


def _solve(operands: Sequence[Any], out: Any) -> int:
    n = shape(operands[0])[0]
    columns = size(out) // n
    return elimination(n, columns) + columns * n**2  # and a back substitution for each column


SOLVE = Work("about 2/3*n^3 + 2*n^2*k flops for (n, n) and k right sides", _solve)
INVERSE = Work("about 8/3*n^3 flops for (n, n): n right sides", _solve)


def _determinant(operands: Sequence[Any], out: Any) -> int:
    n = shape(operands[0])[0]
    # up to 3 rows by its definition, without a division
    return (0, 0, 3, 14)[n] if n <= 3 else elimination(n) + n - 1


DETERMINANT = Work("about 2/3*n^3 flops for (n, n)", _determinant)


def _logdet(operands: Sequence[Any], out: Any) -> int:
    n = shape(operands[0])[0]
    return elimination(n) + n * (flops("log") + flops("abs")) + n - 1


LOGDET = Work("about 2/3*n^3 flops for (n, n), and n logarithms", _logdet)

# -- layers: they work on rows, of which each has its own largest number and its own sum


def _rows(x: Any, axis: Any = -1) -> int:
    """How many rows of numbers there are along an axis."""
    sizes = shape(x)
    return size(x) // sizes[int(axis)] if sizes else 1


def _axis(operands: Sequence[Any]) -> Any:
    return getattr(operands[1], "value", operands[1]) if len(operands) > 1 else -1


def _softmax(operands: Sequence[Any], out: Any) -> int:
    # the largest, n differences, n exponentials, their sum, n quotients
    x = operands[0]
    return (2 + 2 + flops("exp")) * size(x) - 2 * _rows(x, _axis(operands))


SOFTMAX = Work("n exponentials and about 4*n flops for n numbers", _softmax)


def _log_softmax(operands: Sequence[Any], out: Any) -> int:
    x = operands[0]
    many, few = size(x), _rows(x, _axis(operands))
    return 2 * (many - few) + (1 + flops("exp")) * many + (flops("log") + 1) * few + many


LOG_SOFTMAX = Work("n exponentials and about 4*n flops for n numbers, and a logarithm for each row", _log_softmax)


def _cross_entropy(operands: Sequence[Any], out: Any) -> int:
    x, y = operands
    rows = _rows(x)
    shares = _log_softmax((x,), out)
    chosen = 2 * size(x) - rows if shape(x) == shape(y) else 0  # the products with probabilities, and their sums
    return shares + chosen + rows - 1 + 1 + (rows > 1)


CROSS_ENTROPY = Work("log_softmax, and a few flops for each row", _cross_entropy)


def _mse(operands: Sequence[Any], out: Any) -> int:
    return 3 * size(operands[0])


MSE = Work("3*n flops for n pairs", _mse)


def _layernorm(operands: Sequence[Any], out: Any) -> int:
    # the mean, n differences, n squares, their mean, n quotients; in each row a sum with epsilon and a root
    x = operands[0]
    return 5 * size(x) + (1 + flops("sqrt")) * _rows(x)


LAYERNORM = Work("5*n flops for n numbers, and a root for each row", _layernorm)
