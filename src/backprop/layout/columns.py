"""Coordinates along the layers: Brandes and Köpf, "Fast and simple horizontal coordinate assignment" (2001).

Slots are aligned with their median neighbours into blocks, which are packed as far to one side as they go; this is done
from below and from above and to the left and to the right, and a slot stands in the middle of its four places. The
pieces of an arrow between two of its own slots come before all others, so long arrows are straight. Classes of blocks
are moved together as in the correction of Brandes, Walter and Zink (2020): a class is shifted only when all classes
that hold it are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

Rows = Sequence[Sequence[int]]
Neighbours = Sequence[Sequence[int]]

# Beyond, only the two drawings from below are made: a long program that uses one input all along has a slot for each
# use in each layer.
MOST_SLOTS = 300_000


def columns(
    rows: Rows,
    ways: Sequence[Sequence[int]],
    apart: Callable[[int, int], float],
    whole: bool = False,
) -> list[float]:
    """Where each slot stands along its layer; `apart` is the least distance of two neighbours.

    With whole distances and `whole` all places are whole too.
    """
    count = sum(map(len, rows))
    place = [0] * count
    gap: list[float] = [0] * count  # to the left neighbour
    for row in rows:
        for index, slot in enumerate(row):
            place[slot] = index
        for left, right in pairwise(row):
            gap[right] = apart(left, right)
    below: list[list[int]] = [[] for _ in range(count)]
    above: list[list[int]] = [[] for _ in range(count)]
    passing = [False] * count
    for way in ways:
        for slot in way[1:-1]:
            passing[slot] = True
        for low, high in pairwise(way):
            below[high].append(low)
            above[low].append(high)
    for near in (*below, *above):
        near.sort(key=place.__getitem__)
    barred = _barred(rows, place, below, passing)
    layouts = []
    for upwards in (True, False) if count <= MOST_SLOTS else (True,):
        for mirrored in (False, True):
            layouts.append(_one_sided(rows, place, below if upwards else above, gap, barred, upwards, mirrored))
    return _balanced(layouts if len(layouts) > 2 else layouts * 2, whole)


def _barred(rows: Rows, place: Sequence[int], below: Neighbours, passing: Sequence[bool]) -> set[tuple[int, int]]:
    """The pieces of arrows, lower end first, that cross one between two slots of an arrow."""
    barred = set()
    for lower, row in pairwise(rows):
        left, checked = -1, 0
        for index, slot in enumerate(row):
            inner = passing[slot] and passing[below[slot][0]]
            if not inner and index < len(row) - 1:
                continue
            right = place[below[slot][0]] if inner else len(lower)
            for one in row[checked : index + 1]:
                for end in below[one]:
                    if not left <= place[end] <= right and not (passing[one] and passing[end]):
                        barred.add((end, one))
            left, checked = right, index + 1
    return barred


def _one_sided(
    rows: Rows,
    place: Sequence[int],
    near: Neighbours,
    gap: Sequence[float],
    barred: set[tuple[int, int]],
    upwards: bool,
    mirrored: bool,
) -> list[float]:
    """Blocks aligned with the layer before each, and packed to the left (mirrored: to the right)."""
    root, chain = _aligned(rows if upwards else rows[::-1], place, near, barred, upwards, mirrored)
    # The left neighbour of each slot in this direction, and the distance to it.
    before = [-1] * len(place)
    distance: list[float] = [0] * len(place)
    for row in rows:
        for left, right in pairwise(row):
            if mirrored:
                before[left], distance[left] = right, gap[right]
            else:
                before[right], distance[right] = left, gap[right]
    at = _packed(root, chain, before, distance)
    return [-here for here in at] if mirrored else at


def _aligned(
    rows: Rows,
    place: Sequence[int],
    near: Neighbours,
    barred: set[tuple[int, int]],
    upwards: bool,
    mirrored: bool,
) -> tuple[list[int], list[int]]:
    """The first slot of the block of each slot, and the next one in its block (the last leads back to the first)."""
    root = list(range(len(place)))
    chain = list(range(len(place)))
    side = -1 if mirrored else 1
    for row in rows:
        taken = -len(place) - 1
        for slot in row[::side]:
            ends = near[slot]
            if not ends:
                continue
            middles = ((len(ends) - 1) // 2, len(ends) // 2)
            for middle in middles[::side]:
                end = ends[middle]
                if chain[slot] != slot:
                    break
                piece = (end, slot) if upwards else (slot, end)
                if taken < side * place[end] and piece not in barred:
                    chain[end] = slot
                    root[slot] = root[end]
                    chain[slot] = root[slot]
                    taken = side * place[end]
    return root, chain


def _packed(root: Sequence[int], chain: Sequence[int], before: Sequence[int], distance: Sequence[float]) -> list[float]:
    """Each block as far left as it goes in its class, and each class as near to its right neighbours as they let it."""
    count = len(root)
    # A block waits for those to its left.
    waits = [0] * count
    followers: list[list[int]] = [[] for _ in range(count)]
    for slot, left in enumerate(before):
        if left >= 0:
            waits[root[slot]] += 1
            followers[root[left]].append(root[slot])
    ready = [slot for slot in range(count) if root[slot] == slot and not waits[slot]]
    at: list[float] = [0] * count
    sink = list(range(count))
    for block in ready:  # grows on the way
        own, here = block, None
        for slot in _block(block, chain):
            left = before[slot]
            if left < 0:
                continue
            other = root[left]
            if own == block:
                own = sink[other]
            if own == sink[other]:
                place = at[other] + distance[slot]
                here = place if here is None or place > here else here
        at[block], sink[block] = here or 0, own
        for other in followers[block]:
            waits[other] -= 1
            if not waits[other]:
                ready.append(other)
    # A class is held on its right by others; it is shifted when all of those are.
    held: dict[int, dict[int, float]] = {}
    holding: dict[int, int] = {}
    for slot, left in enumerate(before):
        if left >= 0:
            one, other = sink[root[slot]], sink[root[left]]
            if one != other:
                room = at[root[slot]] - at[root[left]] - distance[slot]
                known = held.setdefault(one, {})
                if other not in known:
                    holding[other] = holding.get(other, 0) + 1
                known[other] = min(known.get(other, room), room)
    shift: dict[int, float] = {}
    free = [slot for slot in range(count) if root[slot] == slot and sink[slot] == slot and slot not in holding]
    for one in free:  # grows on the way
        here = shift.setdefault(one, 0)
        for other, room in held.get(one, {}).items():
            shift[other] = min(shift.get(other, here + room), here + room)
            holding[other] -= 1
            if not holding[other]:
                free.append(other)
    return [at[root[slot]] + shift[sink[root[slot]]] for slot in range(count)]


def _block(first: int, chain: Sequence[int]) -> list[int]:
    block = [first]
    while (slot := chain[block[-1]]) != first:
        block.append(slot)
    return block


def _balanced(layouts: Sequence[list[float]], whole: bool) -> list[float]:
    """The middle of the four places of each slot, the four drawings put on the narrowest of them."""
    if not layouts[0]:
        return []
    spans = [(min(layout), max(layout)) for layout in layouts]
    left, right = min(spans, key=lambda span: span[1] - span[0])
    moves = [right - highest if index % 2 else left - lowest for index, (lowest, highest) in enumerate(spans)]
    places = []
    for four in zip(*layouts, strict=True):
        _, low, high, _ = sorted([place + move for place, move in zip(four, moves, strict=True)])
        places.append((low + high) // 2 if whole else (low + high) / 2)
    return places
