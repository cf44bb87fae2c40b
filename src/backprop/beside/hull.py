"""The convex hull of some gradients, and the smallest of all subgradients in it."""

from __future__ import annotations

from typing import Any


def minimum_norm(points: list[list[Any]]) -> list[Any]:
    """The point of smallest norm in the convex hull of some points (Wolfe, Mathematical Programming 11, 1976).

    >>> minimum_norm([[1.0, 2.0], [1.0, -2.0], [3.0, 0.0]])
    [1.0, 0.0]
    """
    tiny = 1e-13 * float(max(_dot(one, one) for one in points))
    corral = [min(points, key=lambda one: _dot(one, one))]
    shares: list[Any] = [1]
    while True:
        x = _mixed(corral, shares)
        nearest = min(points, key=lambda one: _dot(x, one))
        if _dot(x, nearest) >= _dot(x, x) - tiny or any(nearest is one for one in corral):
            return x
        corral.append(nearest)
        shares.append(0)
        while True:
            affine = _affine_minimizer(corral)
            if affine is None or all(share > 1e-15 for share in affine):
                break
            # as far towards it as the hull of the corral allows; what falls to 0 there leaves
            steps = [old / (old - new) for old, new in zip(shares, affine, strict=True) if new <= 1e-15 and old > new]
            step = min([1, *steps])
            shares = [old + step * (new - old) for old, new in zip(shares, affine, strict=True)]
            kept = [place for place, share in enumerate(shares) if share > 1e-15]
            corral, shares = [corral[place] for place in kept], [shares[place] for place in kept]
        if affine is None:
            return x
        shares = affine


def _affine_minimizer(corral: list[list[Any]]) -> list[Any] | None:
    """The shares, adding up to 1, of the point of smallest norm in the plane through some points; None if they depend.

    They solve the equations (1 + GG')s = 1 with the dot products GG', scaled to add up to 1.
    """
    rows = [[1 + _dot(one, other) for other in corral] + [1] for one in corral]
    for place in range(len(rows)):
        best = max(range(place, len(rows)), key=lambda row: abs(rows[row][place]))
        rows[place], rows[best] = rows[best], rows[place]
        pivot = rows[place][place]
        if abs(pivot) <= 1e-14:
            return None
        for row in range(len(rows)):
            if row != place:
                share = rows[row][place] / pivot
                rows[row] = [x - share * y for x, y in zip(rows[row], rows[place], strict=True)]
    shares = [row[-1] / row[place] for place, row in enumerate(rows)]
    total = sum(shares)
    return [share / total for share in shares]


def _mixed(points: list[list[Any]], shares: list[Any]) -> list[Any]:
    return [sum(share * part for share, part in zip(shares, parts, strict=True)) for parts in zip(*points, strict=True)]


def _dot(one: list[Any], other: list[Any]) -> Any:
    return sum(x * y for x, y in zip(one, other, strict=True))
