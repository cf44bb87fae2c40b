"""Ties: the rules of a max or min of several operands, which frameworks take two at a time, from left to right."""

from __future__ import annotations

from collections.abc import Callable

from backprop.ops import Moving, Texts

# The rules of the first and of the second of two operands, a against b: `beats` is > for max and < for min. They
# differ at a tie and, as comparisons with NaN are false, for NaN.
Rules = tuple[str, str]
HALVES: Rules = ("where({a} {beats} {b}, 1, where({a} == {b}, 1/2, 0))",) * 2
HALVES_UNLESS_BEATEN: Rules = ("where({b} {beats} {a}, 0, where({a} == {b}, 1/2, 1))",) * 2
FIRST: Rules = ("where({a} {beats}= {b}, 1, 0)", "where({b} {beats}= {a}, 0, 1)")


def pairwise(extreme: str, pair: Rules = HALVES) -> Callable[[Moving], Texts]:
    """The rules of max(max(x1, x2), x3) and so on (`extreme` is max or min), from those of two operands.

    >>> pairwise("max")((True, True))[1]
    'where(x2 > x1, 1, where(x2 == x1, 1/2, 0))'
    >>> pairwise("min", FIRST)((True, True, False))[1:]
    ('where(x1 <= x2, 0, 1)*where(min(x1, x2) <= x3, 1, 0)', 'where(min(x1, x2) <= x3, 0, 1)')
    """
    beats = ">" if extreme == "max" else "<"

    def rules(moving: Moving) -> Texts:
        names = [f"x{i}" for i in range(1, len(moving) + 1)]
        best = [names[0]]  # of the first one, two, three, ... operands
        best += [f"{extreme}({', '.join(names[: place + 1])})" for place in range(1, len(names))]
        texts = []
        for place, name in enumerate(names):
            factors = [pair[1].format(a=name, b=best[place - 1], beats=beats)] if place else []
            later = range(max(place, 1) + (place > 0), len(names))
            factors += [pair[0].format(a=best[after - 1], b=names[after], beats=beats) for after in later]
            texts.append("*".join(factors) or "1")
        return tuple(texts)

    return rules
