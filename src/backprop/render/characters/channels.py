"""Between two layers: lines that go straight, aside and straight again, so that none can be taken for another.

It is the channel routing of printed circuits (Hashimoto and Stevens 1971; Deutsch's doglegs, 1976): each line turns in
a track, tracks are shared only by pieces apart from each other, and where the end of one line stands in the column in
which another begins, the track of the one is nearer to that end. Where such demands go round in a circle, one of the
lines turns twice, by way of a column that nobody else stands in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Channel:
    """The lines of a channel: of each its turns, (track, column it goes to), in order; none for a straight one.

    Tracks count from the side on which the lines begin.
    """

    turns: list[list[tuple[int, int]]]
    tracks: int


def channel(lines: Sequence[tuple[int, int]], near: int) -> Channel:
    """Tracks for lines from a column on the one side to a column on the other.

    Columns of one side are at least `near` apart. Two lines whose columns are nearer than that never pass beside each
    other. The tracks are in an order with few crossings, and as few as that order lets them be.

    >>> channel([(0, 4), (4, 0)], 2).turns, channel([(3, 3), (6, 9)], 2).turns
    ([[(0, 2), (4, 4)], [(2, 0)]], [[], [(0, 9)]])
    """
    pieces = [(index, start, end) for index, (start, end) in enumerate(lines) if start != end]
    later: list[tuple[int, int]] = []  # pieces of one line, in the order in which it goes through them
    used = {column for line in lines for column in line}
    while True:
        after = _demands(pieces, later, near)
        circle = _left_over(after)
        if circle is None:
            break
        index, start, end = pieces[circle]
        aside = _free_column(start, end, used, near)
        used.add(aside)
        later.append((circle, len(pieces)))
        pieces[circle] = index, start, aside
        pieces.append((index, aside, end))
    track = _tracks(pieces, after)
    turns: list[list[tuple[int, int]]] = [[] for _ in lines]
    for place, (index, _, end) in enumerate(pieces):
        turns[index].append((track[place], end))
    return Channel(turns, max(track, default=-1) + 1)


Piece = tuple[int, int, int]


def _demands(pieces: Sequence[Piece], later: Sequence[tuple[int, int]], near: int) -> list[dict[int, int]]:
    """For each piece those whose track has to be farther on, and by how much."""
    after: list[dict[int, int]] = [{} for _ in pieces]
    ends: dict[int, list[int]] = {}
    for place, (_, _, end) in enumerate(pieces):
        ends.setdefault(end, []).append(place)
    for place, (index, start, _) in enumerate(pieces):
        for column in range(start - near + 1, start + near):
            for other in ends.get(column, ()):
                if pieces[other][0] != index:
                    after[place][other] = 2 if column == start else 1
    for first, second in later:
        after[first][second] = 1
    return after


def _left_over(after: Sequence[dict[int, int]]) -> int | None:
    """A piece in a circle of demands; None when there is none."""
    before = [set() for _ in after]  # type: list[set[int]]
    for place, others in enumerate(after):
        for other in others:
            before[other].add(place)
    waits = list(map(len, before))
    ready = [place for place, count in enumerate(waits) if not count]
    for place in ready:  # grows on the way
        for other in after[place]:
            waits[other] -= 1
            if not waits[other]:
                ready.append(other)
    left = set(range(len(after))) - set(ready)
    if not left:
        return None
    here, seen = min(left), set()  # type: int, set[int]
    while here not in seen:  # each waits for another one that is left
        seen.add(here)
        here = min(before[here] & left)
    return here


def _free_column(start: int, end: int, used: set[int], near: int) -> int:
    """The column in which nobody stands that makes the way shortest."""
    low, high = min(start, end), max(start, end)
    distance = 0
    while True:
        tried = range(low, high + 1) if not distance else (low - distance, high + distance)
        free = [column for column in tried if all(abs(column - one) >= near for one in used) and column >= 0]
        if free:
            return min(free, key=lambda column: (abs(2 * column - low - high), column))
        distance += 1


def _tracks(pieces: Sequence[Piece], after: Sequence[dict[int, int]]) -> list[int]:
    """The track of each piece: always the one next that crosses least, as near as the pieces before let it be."""
    count = len(pieces)
    spans = [(min(start, end), max(start, end)) for _, start, end in pieces]
    waits = [0] * count
    for others in after:
        for other in others:
            waits[other] += 1

    def crossings(one: int, then: int) -> int:
        (low, high), (then_low, then_high) = spans[one], spans[then]
        return (then_low < pieces[one][2] < then_high) + (low < pieces[then][1] < high)

    meets = [
        [other for other in range(count) if spans[other][0] <= high + 2 and low <= spans[other][1] + 2]
        for low, high in spans
    ]
    costs = [
        sum(crossings(one, other) - crossings(other, one) for other in meets[one] if other != one)
        for one in range(count)
    ]
    ready = {place for place in range(count) if not waits[place]}
    least = [0] * count
    track = [-1] * count
    while ready:
        one = min(ready, key=lambda place: (costs[place], place))
        ready.remove(one)
        track[one] = max([least[one], *(track[other] + 1 for other in meets[one] if track[other] >= 0)])
        for other, by in after[one].items():
            least[other] = max(least[other], track[one] + by)
            waits[other] -= 1
            if not waits[other]:
                ready.add(other)
        for other in meets[one]:
            if track[other] < 0:
                costs[other] -= crossings(other, one) - crossings(one, other)
    return track
