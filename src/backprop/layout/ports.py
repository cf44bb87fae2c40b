"""Where arrows touch a box: each at its own place on a side, in order, as straight as may be."""

from __future__ import annotations

from collections.abc import Sequence


def ports(wanted: Sequence[float], start: float, end: float, apart: float, whole: bool = False) -> list[float]:
    """Places from `start` to `end`, in order and `apart` or evenly closer, near where they are wanted (in order too).

    They are nearest in the sum of squares: wanted places that come too close share their middle (isotonic regression
    by pooling of adjacent violators).

    >>> ports([23, 24, 80], 0, 80, apart=10)
    [18.5, 28.5, 70]
    """
    count = len(wanted)
    if not count:
        return []
    room = end - start
    step = min(apart, room / (count + 1))
    if whole:
        step = step // 1
    margin = min(step, room / 2)
    pools: list[tuple[float, int]] = []  # the sum of what they want, and how many they are
    for index, place in enumerate(wanted):
        total, size = place - index * step, 1
        while pools and pools[-1][0] * size >= total * pools[-1][1]:
            total, size = total + pools[-1][0], size + pools.pop()[1]
        pools.append((total, size))
    lowest, highest = start + margin, end - margin - (count - 1) * step
    firsts = [min(max(total / size, lowest), highest) for total, size in pools for _ in range(size)]
    if whole:
        firsts = [round(first) for first in firsts]
    return [first + index * step for index, first in enumerate(firsts)]
