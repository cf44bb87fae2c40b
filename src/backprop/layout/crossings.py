"""The order within layers: few crossings of the arrows between one layer and the next.

Layers in which no box stands are left out at first: arrows only pass them, and can do so without a further crossing.
The others are ordered in turn by the median or the barycentre of their neighbours, up and down, with exchanges of
neighbours between (Gansner, Koutsofios, North and Vo 1993), from several starts. The best order is made better by
sifting each slot through its layer, and by threading each long arrow anew along its best way. Then boxes are moved at
random and all that near them is made better, as long as the budget of work lasts; the numbers are the same every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from random import Random

Rows = list[list[int]]
Neighbours = Sequence[Sequence[int]]

MOST_SWEEPS = 24  # of one start,
PATIENCE = 4  # of which so many in a row may bring nothing
# Steps of the innermost loops, in all and for each slot; small drawings are done with far fewer.
MOST_WORK, WORK_OF_SLOT = 3_000_000, 20_000
KICKS_OF_BOX = 5  # that may bring nothing


def ordered(layer: Sequence[int], ways: Sequence[Sequence[int]]) -> tuple[Rows, int]:
    """The slots of each layer in order, and the crossings that are left. Parts that hang together stay together."""
    rows: Rows = [[] for _ in range(max(layer, default=-1) + 1)]
    crossings = 0
    for boxes, part in _parts(layer, ways):
        kept = sorted({layer[box] for box in boxes})
        number = {place: index for index, place in enumerate(kept)}
        slots = boxes + [slot for way in part for slot in way[1:-1] if layer[slot] in number]
        own = {slot: index for index, slot in enumerate(slots)}
        share = min(MOST_WORK * len(slots) // len(layer), WORK_OF_SLOT * len(slots))
        order = _Order(
            [number[layer[slot]] for slot in slots], [[own[slot] for slot in way if slot in own] for way in part], share
        )
        order.improve()
        crossings += order.crossings()
        for place, row in zip(kept, order.rows, strict=True):
            rows[place] += (slots[one] for one in row)
        _thread_passing(rows, layer, part, {slot: order.along(own[slot]) for slot in slots})
    return rows, crossings


def _parts(layer: Sequence[int], ways: Sequence[Sequence[int]]) -> list[tuple[list[int], list[Sequence[int]]]]:
    """The parts that hang together: the boxes and the ways of each, in the order they were given."""
    passing = {slot for way in ways for slot in way[1:-1]}
    part = {box: box for box in range(len(layer)) if box not in passing}

    def first(box: int) -> int:
        while part[box] != box:
            part[box] = part[part[box]]
            box = part[box]
        return box

    for way in ways:
        one, other = first(way[0]), first(way[-1])
        part[max(one, other)] = min(one, other)
    found: dict[int, tuple[list[int], list[Sequence[int]]]] = {}
    for box in part:
        found.setdefault(first(box), ([], []))[0].append(box)
    for way in ways:
        found[first(way[0])][1].append(way)
    return list(found.values())


def _thread_passing(rows: Rows, layer: Sequence[int], ways: Sequence[Sequence[int]], along: dict[int, float]) -> None:
    """The layers without boxes: each arrow where the line between its places before and behind goes through.

    Lines that do not cross keep their order in every layer, and those that do change it once.
    """
    between: dict[int, list[tuple[float, float, float, int]]] = {}
    for way in ways:
        fixed = [index for index, slot in enumerate(way) if slot in along]
        for first, last in pairwise(fixed):
            low, high = along[way[first]], along[way[last]]
            for index in range(first + 1, last):
                share = (index - first) / (last - first)
                middle = low * (1 - share) + high * share
                between.setdefault(layer[way[index]], []).append((middle, low, high, way[index]))
    for place, passing in between.items():
        rows[place] += (slot for *_, slot in sorted(passing))


class _Order:
    """A connected part, its slots numbered from 0, and the present order of its layers."""

    def __init__(self, layer: Sequence[int], ways: Sequence[Sequence[int]], work: int) -> None:
        self.layer, self.work = layer, work
        self.below: list[list[int]] = [[] for _ in layer]
        self.above: list[list[int]] = [[] for _ in layer]
        self.of_box: dict[int, list[Sequence[int]]] = {}
        self.long = [way for way in ways if len(way) > 2]
        for way in ways:
            for low, high in pairwise(way):
                self.below[high].append(low)
                self.above[low].append(high)
            for box in (way[0], way[-1]):
                self.of_box.setdefault(box, []).append(way)
        self.rows: Rows = [[] for _ in range(max(layer) + 1)]
        self.place = [0] * len(layer)
        # Crossings of each layer with the next, known unless the layer is in `changed`.
        self.known = [0] * len(self.rows)
        self.changed: set[int] = set()

    def along(self, slot: int) -> float:
        """How far along its layer a slot is, of 1."""
        return (self.place[slot] + 0.5) / len(self.rows[self.layer[slot]])

    def improve(self) -> None:
        """All that brings crossings away, within the work there is."""
        least, best = -1, self.rows
        for start, measure in (
            (self._from_top, _barycentre),
            (self._from_bottom, _median),
            (self._from_top, _median),
            (self._from_bottom, _barycentre),
        ):
            if least >= 0 and self.work <= 0:
                break
            self._start(start())
            self._sweeps(measure)
            self._polish()
            crossings = self.crossings()
            if least < 0 or crossings < least:
                least, best = crossings, [row[:] for row in self.rows]
            if not least:
                break
        self._restore(best)
        self._kicks()

    def _sweeps(self, measure: Callable[[list[int]], float]) -> None:
        least, best, idle = self.crossings(), [row[:] for row in self.rows], 0
        for sweep in range(MOST_SWEEPS):
            if not least or idle == PATIENCE or (sweep > 1 and self.work <= 0):
                break
            self._sweep(sweep % 2 == 0, measure)
            self._exchange(range(len(self.rows)), equal=sweep % 4 > 1)
            crossings = self.crossings()
            idle += 1
            if crossings < least:
                least, best, idle = crossings, [row[:] for row in self.rows], 0
        self._restore(best)

    def _polish(self) -> None:
        """Sifting and threading as long as they bring something."""
        least = self.crossings() + 1
        while self.crossings() < least and self.work > 0:
            least = self.crossings()
            for way in self.long:
                if self.work > 0:
                    self._thread(way)
            for number in range(len(self.rows)):
                if self.work > 0:
                    self._sift(number)
            self._exchange(range(len(self.rows)))

    def _kicks(self) -> None:
        """Boxes moved at random; a move stays if it brings no crossing more."""
        chance = Random(0)
        boxes = [box for box in sorted(self.of_box) if len(self.rows[self.layer[box]]) > 1]
        least, idle = self.crossings(), 0
        while boxes and least and self.work > 0 and idle < KICKS_OF_BOX * len(boxes):
            box = chance.choice(boxes)
            number = self.layer[box]
            before = [row[:] for row in self.rows]
            row = self.rows[number]
            row.remove(box)
            row.insert(chance.randrange(len(row) + 1), box)
            self._placed(number)
            near = {number}
            for way in self.of_box[box]:
                if len(way) > 2:
                    self._thread(way)
                near.update(self.layer[slot] for slot in way)
            for one in sorted(near):
                self._sift(one)
            self._exchange(near)
            for way in self.of_box[box]:
                if len(way) > 2:
                    self._thread(way)
            crossings = self.crossings()
            self.work -= 3 * len(self.layer)
            if crossings > least:
                self._restore(before)
            idle = 0 if crossings < least else idle + 1
            least = min(least, crossings)

    def _start(self, walk: Iterable[int]) -> None:
        rows: Rows = [[] for _ in self.rows]
        for slot in walk:
            rows[self.layer[slot]].append(slot)
        self._restore(rows)

    def _restore(self, rows: Rows) -> None:
        for number, row in enumerate(rows):
            if row != self.rows[number]:
                self.rows[number] = row[:]
                self._placed(number)

    def _placed(self, number: int) -> None:
        """Notes the places of a layer whose order has changed."""
        for index, slot in enumerate(self.rows[number]):
            self.place[slot] = index
        self.changed.add(number)
        if number:
            self.changed.add(number - 1)

    def _from_top(self) -> list[int]:
        return self._walk(self.above, self.below)

    def _from_bottom(self) -> list[int]:
        return self._walk(self.below, self.above)

    def _walk(self, before: Neighbours, after: Neighbours) -> list[int]:
        """All slots depth first from those with nothing before them, so that what hangs together is together."""
        seen = [False] * len(self.layer)
        walk = []
        for start in range(len(seen)):
            waiting = [] if before[start] else [start]
            while waiting:
                slot = waiting.pop()
                if not seen[slot]:
                    seen[slot] = True
                    walk.append(slot)
                    waiting += (one for one in reversed(after[slot]) if not seen[one])
        return walk

    def crossings(self) -> int:
        """The crossings between all neighbouring layers."""
        for number in self.changed:
            if number + 1 < len(self.rows):
                width = len(self.rows[number + 1])
                self.known[number] = crossings_between(self.rows[number], self.above, self.place, width)
        self.changed.clear()
        return sum(self.known)

    def _sweep(self, upwards: bool, measure: Callable[[list[int]], float]) -> None:
        """Every layer by its neighbours in the one before it; what has none there keeps its place."""
        near, place = (self.below if upwards else self.above), self.place
        numbers = range(1, len(self.rows)) if upwards else range(len(self.rows) - 2, -1, -1)
        for number in numbers:
            row = self.rows[number]
            keys = {slot: measure([place[one] for one in near[slot]]) for slot in row if near[slot]}
            moving = iter(sorted(keys, key=keys.__getitem__))
            row[:] = [next(moving) if slot in keys else slot for slot in row]
            self._placed(number)
        self.work -= 5 * len(self.layer)

    def _near(self, number: int) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """The places of the neighbours of each slot of a layer, in order, below and above."""
        place, row = self.place, self.rows[number]
        low = {slot: sorted([place[one] for one in self.below[slot]]) for slot in row}
        high = {slot: sorted([place[one] for one in self.above[slot]]) for slot in row}
        return low, high

    def _exchange(self, numbers: Iterable[int], equal: bool = False) -> None:
        """Exchanges neighbours in layers while crossings go away; `equal` also those that change nothing, once."""
        again = set(numbers)
        last = len(self.rows) - 1
        while again:
            present, again = again, set()
            for number in sorted(present):
                row = self.rows[number]
                if len(row) < 2:
                    continue
                low, high = self._near(number)
                better = changed = False
                left = row[0]
                for index in range(1, len(row)):
                    right = row[index]
                    gain = _gain(low[left], low[right]) + _gain(high[left], high[right])
                    if gain > 0 or (equal and gain == 0):
                        row[index - 1], row[index] = right, left
                        better |= gain > 0
                        changed = True
                    else:
                        left = right
                self.work -= 2 * len(row)
                if changed:
                    self._placed(number)
                if better:
                    again.update((max(0, number - 1), number, min(last, number + 1)))
            equal = False

    def _sift(self, number: int) -> None:
        """Each slot of a layer in turn to where it has fewest crossings."""
        row = self.rows[number]
        if len(row) < 3:
            return
        low, high = self._near(number)
        for slot in row[:]:
            index = row.index(slot)
            below, above = low[slot], high[slot]
            most, best = 0, index
            total = 0
            for other in range(index + 1, len(row)):
                one = row[other]
                total += _gain(below, low[one]) + _gain(above, high[one])
                if total > most:
                    most, best = total, other
            total = 0
            for other in range(index - 1, -1, -1):
                one = row[other]
                total += _gain(low[one], below) + _gain(high[one], above)
                if total > most:
                    most, best = total, other
            if best != index:
                row.insert(best, row.pop(index))
        self.work -= len(row) * len(row)
        self._placed(number)

    def _thread(self, way: Sequence[int]) -> None:
        """Takes a long arrow out of the layers it passes and puts it back where it crosses fewest others.

        The best way through to each place of a layer follows from the best ways to the places of the layer before.
        """
        place, first = self.place, self.layer[way[0]]
        inner = way[1:-1]
        for slot in inner:
            self.rows[self.layer[slot]].remove(slot)
            self._placed(self.layer[slot])
            place[slot] = -1
        costs = self._costs(way[0], self.rows[first + 1], self.below)
        came: list[list[int]] = []
        for number in range(first + 1, first + len(inner)):
            row, width = self.rows[number], len(self.rows[number + 1])
            ends = [[place[one] for one in self.above[slot] if place[one] >= 0] for slot in row]
            # What a line from place 0 crosses on its way to each place of the next layer.
            piece = [0] * (width + 1)
            for places in ends:
                for end in places:
                    piece[end + 1] += 1
            for index in range(width):
                piece[index + 1] += piece[index]
            least = [costs[0] + one for one in piece]
            source = [0] * (width + 1)
            for index, places in enumerate(ends, 1):
                for end in places:
                    piece = [one + 1 for one in piece[: end + 1]] + [one - 1 for one in piece[end + 1 :]]
                here = costs[index]
                for target, one in enumerate(piece):
                    if here + one < least[target]:
                        least[target] = here + one
                        source[target] = index
            came.append(source)
            costs = least
            self.work -= (len(row) + 1) * (width + 1)
        last = self._costs(way[-1], self.rows[first + len(inner)], self.above)
        total = [one + other for one, other in zip(costs, last, strict=True)]
        index = total.index(min(total))
        for slot in reversed(inner):
            number = self.layer[slot]
            self.rows[number].insert(index, slot)
            self._placed(number)
            index = came.pop()[index] if came else index

    def _costs(self, box: int, row: Sequence[int], near: Neighbours) -> list[int]:
        """What a line crosses between a box and each place of a layer beside its own, from where `near` leads back."""
        left, right = [0] * len(row), [0] * len(row)
        here = self.place[box]
        for index, one in enumerate(row):
            for end in near[one]:
                there = self.place[end]
                if 0 <= there < here:
                    left[index] += 1
                elif there > here:
                    right[index] += 1
        # A slot that the line passes on the left is crossed where it leads left, and the other way round.
        costs = [sum(left)]
        for index in range(len(row)):
            costs.append(costs[-1] + right[index] - left[index])
        return costs


def _gain(left: list[int], right: list[int]) -> int:
    """How many crossings go away when `left` and `right`, the places of their neighbours, change sides."""
    if len(left) == 1 and len(right) == 1:
        return (left[0] > right[0]) - (left[0] < right[0])
    if not left or not right:
        return 0
    return sum((one > other) - (one < other) for one in left for other in right)


def _barycentre(places: list[int]) -> float:
    return sum(places) / len(places)


def _median(places: list[int]) -> float:
    """The middle of the places; of two middle ones the mean, weighted to the side where they are denser."""
    places.sort()
    count = len(places)
    middle = count // 2
    if count % 2:
        return places[middle]
    if count == 2:
        return (places[0] + places[1]) / 2
    left, right = places[middle - 1] - places[0], places[-1] - places[middle]
    if not left + right:
        return places[middle]
    return (places[middle - 1] * right + places[middle] * left) / (left + right)


def crossings_between(row: Sequence[int], above: Neighbours, place: Sequence[int], width: int) -> int:
    """The crossings of arrows from a layer to the next, which is `width` slots wide, in O(E log V).

    The upper ends, in the order of the lower ones, go into an accumulator tree that tells how many of those before
    lie further right (Barth, Jünger and Mutzel, "Simple and efficient bilayer cross counting", 2002).
    """
    first = 1
    while first < width:
        first *= 2
    tree = [0] * (2 * first)
    count = 0
    for slot in row:
        for end in sorted([place[one] for one in above[slot]]):
            node = end + first
            tree[node] += 1
            while node > 1:
                if not node & 1:
                    count += tree[node + 1]
                node >>= 1
                tree[node] += 1
    return count
