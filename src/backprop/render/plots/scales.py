"""Scales: where a number stands on an axis, round numbers for its ticks, and the part of a line inside a box."""

from __future__ import annotations

import math

from backprop.plots import Axis, Pair
from backprop.render.look import Look

# The digits with which every double is another text.
ENOUGH = 17


def share(axis: Axis, value: float) -> float:
    """Where a number stands: 0 at the low end of the axis, 1 at the high one; a bound far outside for one that is far.

    >>> share(Axis("", -1, 3), 0), share(Axis("", 1, 1000, log=True), 10)
    (0.25, 0.3333333333333333)
    """
    low, high = axis.low, axis.high
    if axis.log:
        if value <= 0:
            return -9.0
        low, high, value = math.log10(low), math.log10(high), math.log10(value)
    # halves, because a difference of two large numbers may be too large itself
    return min(max((value / 2 - low / 2) / (high / 2 - low / 2), -9.0), 10.0)


def ticks(axis: Axis, most: int) -> list[float]:
    """At most so many round numbers on an axis, 1, 2 or 5 times a power of ten apart; powers of ten on a log axis.

    >>> ticks(Axis("", -3, 3), 7), ticks(Axis("", 0, 0.31), 4), ticks(Axis("", 1e-9, 1, log=True), 5)
    ([-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0], [0.0, 0.1, 0.2, 0.3], [1e-08, 1e-06, 0.0001, 0.01, 1.0])
    """
    most = max(most, 2)
    low, high = axis.low, axis.high
    if axis.log:
        first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
        if last - first >= 1:
            apart = next(one for one in (1, 2, 3, 5, 10, 20, 50, 100, 200, 400) if (last - first) // one < most)
            return [float(f"1e{power}") for power in range(first, last + 1) if power % apart == 0]
    # 1e-9 of room, so that the ends of the axis are not lost by a rounding
    rough = (high / most - low / most) * (1 - 1e-9)
    power = math.floor(math.log10(rough)) if rough > 0 else -323
    for exponent in (power, power + 1):
        for digit in (1, 2, 5):
            step = float(f"{digit}e{exponent}")
            if step <= 0 or (axis.whole and exponent < 0):
                continue
            first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
            if last - first < most:
                return [float(f"{count * digit}e{exponent}") for count in range(first, last + 1)]
    return [low, high]


def labels(numbers: list[float], look: Look) -> list[str]:
    """Numbers as every table shows them, with more digits where they would read alike.

    >>> labels([1e9 + 1, 1e9 + 2], Look()), labels([0.1234567, 0.1234568], Look())
    (['1000000001', '1000000002'], ['0.1234567', '0.1234568'])
    """
    from dataclasses import replace

    texts: list[str] = []
    for figures in range(look.figures, ENOUGH + 1):
        texts = [replace(look, figures=figures).figure(number) for number in numbers]
        if len(set(texts)) == len(texts):
            break
    return texts


def inside(start: Pair, end: Pair, low: Pair, high: Pair) -> tuple[Pair, Pair] | None:
    """The part of a line inside a box, None where there is none (Liang and Barsky, 1984).

    >>> inside((0, 0), (4, 4), (1, 0), (2, 9)), inside((0, 5), (1, 5), (0, 0), (1, 1))
    (((1.0, 1.0), (2.0, 2.0)), None)
    """
    begin, stop = 0.0, 1.0
    for axis in (0, 1):
        change = end[axis] - start[axis]
        for room, towards in ((start[axis] - low[axis], -change), (high[axis] - start[axis], change)):
            if towards == 0:
                if room < 0:
                    return None
                continue
            share_of = room / towards
            if towards < 0:
                begin = max(begin, share_of)
            else:
                stop = min(stop, share_of)
    if begin > stop:
        return None
    dx, dy = end[0] - start[0], end[1] - start[1]
    return (
        (start[0] + begin * dx, start[1] + begin * dy),
        (start[0] + stop * dx, start[1] + stop * dy),
    )
