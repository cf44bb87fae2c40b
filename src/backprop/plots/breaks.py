"""Breaks: where a curve over one input has a kink, a jump, a hole or a pole, from what the table of operations knows.

Each operation tells what is 0 at its kinks (`Row.kink`), how many of its jumps lie below (`Row.stairs`) and where it
has a value (`Row.domain`). Those numbers are watched along the curve: where one changes its sign, or touches 0, the
place is closed in on until it is one double, or lies between two neighbours. What is there is then asked of the engine
itself: the slopes from both sides (`Point.singular`), and what is approached where there is no value
(`Point.approach`). Only where the place is no double, as π is none, do the two neighbours tell.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from backprop.graph import CONST, INPUT, Graph
from backprop.kinds import Hole, is_number, value_at
from backprop.kinds.real import REAL
from backprop.ops import Row
from backprop.point import Point
from backprop.rules import formula, rules
from backprop.values import values

# Values that differ by more than this part between two neighbouring doubles jump; slopes, too.
JUMP, CORNER = 1e-7, 1e-6
ROUNDING = 1e-12
# A value that grows so many times from a place beside a break up to it grows without bound.
GROWTH = 1e4
# So many nodes are worked out to find breaks; the operations beyond that are not watched, and it is said.
MOST_WORK, KEPT = 3_000_000, 64
# A watched number that falls to this part of what it is at the samples around it touches 0.
TOUCHES = 1e-12
# A place that is so near to one with few digits may be that one; to 0, by this part of the range.
NEAR = 1e-12
# Steps that close in on a place: doubles have 64 bits, and thirds are slower than halves.
HALVES, THIRDS = 1100, 220

# The numbers of all nodes, to the number that is watched; None where there is none.
Watch = Callable[[Sequence[Any]], float | None]


@dataclass(slots=True)
class Side:
    """What a curve does just left or just right of a break: where its value and its slope go.

    None is where there is nothing, or nothing known; an infinity is a pole.
    """

    value: float | None = None
    slope: float | None = None


@dataclass(slots=True)
class Break:
    """A place where a curve must not be drawn as if it went on smoothly.

    `sort` is "kink", "jump", "hole" (no value there, but the same from both sides), "pole", "vertical" (an infinite
    slope) or "edge" (there are values on one side only). `value` is that at x itself, None where there is none.
    """

    x: float
    sort: str
    left: Side
    right: Side
    value: float | None = None


class Watched:
    """The program along one input: the watched numbers at each place."""

    def __init__(self, point: Point, node: int) -> None:
        self.graph, self.node = point.graph, node
        self.leaves = {
            leaf: point.values[leaf]
            for leaf, code in enumerate(self.graph.codes)
            if code in (INPUT, CONST) and not isinstance(point.values[leaf], Hole)
        }
        known = values(self.graph, REAL, self.leaves)
        self.size = 1.0  # of the range
        self.work = 0  # nodes worked out
        self.left_out = 0
        self.kept: dict[float, list[Any]] = {}
        self.watches = list(_watches(self.graph, node, known))

    def known(self, x: float) -> list[Any]:
        """The values of all nodes at x; those of the latest places are kept."""
        if x not in self.kept:
            if len(self.kept) >= KEPT:
                self.kept.clear()
            self.kept[x] = values(self.graph, REAL, self.leaves | {self.node: x})
            self.work += len(self.graph)
        return self.kept[x]

    def at(self, x: float) -> tuple[bool, list[float | None]]:
        """Whether there is a value at x, and the watched numbers."""
        known = self.known(x)
        return _has_value(known[self.graph.output]), [watch(known) for watch in self.watches]

    def is_at_one(self, x: float) -> bool:
        """Whether something that is watched is 0 at x."""
        known = self.known(x)
        return any(watch(known) == 0 for watch in self.watches)

    def one(self, place: int, x: float) -> float | None:
        """One watched number at x; that of the place -1 is 1 where there is a value and -1 where there is none."""
        known = self.known(x)
        if place >= 0:
            return self.watches[place](known)
        return 1.0 if _has_value(known[self.graph.output]) else -1.0

    # -- where

    def places(self, xs: Sequence[float]) -> list[tuple[float, float]]:
        """Where something breaks between samples: a double twice, or two neighbours of which it lies between."""
        self.size, self.left_out = xs[-1] - xs[0], 0
        seen = [(1.0 if there else -1.0, watched) for there, watched in map(self.at, xs)]
        found: set[tuple[float, float]] = set()
        for place in range(-1, len(self.watches)):
            if self.work > MOST_WORK:
                self.left_out = len(self.watches) - place
                break
            row = [there if place < 0 else watched[place] for there, watched in seen]
            for i, d in enumerate(row):
                if d == 0:
                    # what is 0 all along, as in abs(x - x), does not come to it
                    if 0 not in (row[i - 1 : i] + row[i + 1 : i + 2]):
                        found.add((xs[i], xs[i]))
                    continue
                before = row[i - 1] if i else None
                if d is not None and before and (before > 0) != (d > 0):
                    found.add(self._between(place, xs[i - 1], xs[i], before > 0))
                if 0 < i < len(row) - 1 and _dips(row[i - 1 : i + 2]):
                    touched = self._touched(place, xs[i - 1], xs[i + 1], row[i - 1 : i + 2])
                    found |= set() if touched is None else {touched}
        return sorted(found)

    def _between(self, place: int, low: float, high: float, positive: bool) -> tuple[float, float]:
        """Where a watched number changes its sign: halved until it is 0, or nothing lies between."""
        ends = [self.one(place, low), self.one(place, high)]
        for step in range(HALVES):
            middle = low + (high - low) / 2
            if not low < middle < high:
                break
            # every second time where the line through both ends is 0: most of what is watched is nearly a line
            one, other = ends
            if step % 2 == 0 and one is not None and other is not None and math.isfinite(other - one) and one != other:
                middle = min(max(low - one * ((high - low) / (other - one)), low), high)
                middle = low + (high - low) / 2 if not low < middle < high else middle
            d = self.one(place, middle)
            if d == 0:
                return self._zero(place, middle)
            if d is not None and (d > 0) == positive:
                low, ends[0] = middle, d
            else:
                high, ends[1] = middle, d
        for x in (low, high):
            if self.one(place, x) == 0:
                return x, x
        return low, high

    def _zero(self, place: int, x: float) -> tuple[float, float]:
        """A place with few digits, if the number is 0 there too: x^2 is 0 in doubles long before x is."""
        if abs(x) < NEAR * self.size and self.one(place, 0.0) == 0:
            return 0.0, 0.0
        for digits in range(1, 16):
            near = float(f"{x:.{digits}g}")
            if abs(near - x) <= NEAR * abs(x) and self.one(place, near) == 0:
                return near, near
        return x, x

    def _touched(self, place: int, low: float, high: float, row: Sequence[float | None]) -> tuple[float, float] | None:
        """Where a watched number comes down to 0 and goes back, as x^2 does: by thirds."""
        most = max(abs(d) for d in row if d is not None)
        for _ in range(THIRDS):
            one, other = low + (high - low) / 3, high - (high - low) / 3
            if not low < one < other < high:
                break
            near, far = self.one(place, one), self.one(place, other)
            if near is None or far is None:
                return None
            if near == 0 or far == 0:
                return self._zero(place, one if near == 0 else other)
            if abs(near) < abs(far):
                high = other
            else:
                low = one
        found = [(abs(d), x) for x in (low, low + (high - low) / 2, high) if (d := self.one(place, x)) is not None]
        if not found or min(found)[0] > TOUCHES * most:
            return None
        x, _ = self._zero(place, min(found)[1])
        return (x, x) if self.one(place, x) == 0 else (math.nextafter(x, -math.inf), math.nextafter(x, math.inf))


def _has_value(output: Any) -> bool:
    """Whether there is a value, though it be too large for a double: where that begins, nothing breaks."""
    return output.code == "overflow" if isinstance(output, Hole) else bool(is_number(output) or math.isinf(output))


def _dips(row: Sequence[float | None]) -> bool:
    """Whether the middle one of three numbers of one sign is nearest to 0."""
    before, d, after = row
    if not (before and d and after) or not (before > 0) == (d > 0) == (after > 0):
        return False
    return abs(d) <= abs(before) and abs(d) <= abs(after) and abs(d) < max(abs(before), abs(after))


def _watches(graph: Graph, moved: int, known: Sequence[Any]) -> Iterator[Watch]:
    """What is watched at the operations that the moved input goes into."""
    depends = bytearray(len(graph))
    depends[moved] = 1
    for node in range(moved + 1, len(graph)):
        row, operands = graph.row(node), tuple(graph.operands(node))
        if row is None or not any(depends[operand] for operand in operands):
            continue
        depends[node] = 1
        for text in _texts(row, len(operands)):
            yield _watch(row, node, operands, text)
        if row.stairs:
            yield _stair(row, node, operands, row.stairs)
        for left, sign, right in _comparisons(row.domain):
            if sign == "!=" and right == f"floor({left})":
                # poles at whole numbers, where no other condition holds: those below 0
                yield _stair(row, node, operands, f"min({left}, 0.5)")
        moving = tuple(bool(depends[operand]) for operand in operands)
        for place, rule in enumerate(rules(row.code, moving)):
            if rule is not None and moving[place] and _is_steep(row, operands, place, rule, known):
                yield _watch(row, node, operands, row.parameters[place])


@lru_cache(maxsize=256)
def _texts(row: Row, arity: int) -> tuple[str, ...]:
    """What is 0 where an operation has a kink, or at an end of its domain, as text over its operands."""
    texts = list(row.kinks(arity))
    for left, sign, right in _comparisons(row.domain):
        if sign != "==" and "floor" not in right:
            texts.append(left if right == "0" else f"({left}) - ({right})")
    return tuple(dict.fromkeys(texts))


@lru_cache(maxsize=256)
def _comparisons(condition: str) -> tuple[tuple[str, str, str], ...]:
    """The comparisons in a condition of the table.

    >>> _comparisons("n >= 0 and (x > 0 or x != floor(x))")
    (('n', '>=', '0'), ('x', '>', '0'), ('x', '!=', 'floor(x)'))
    """
    found = []
    for part in re.split(r" and | or ", condition) if condition else ():
        inside = part.strip()
        while inside.count("(") > inside.count(")"):
            inside = inside.removeprefix("(")
        while inside.count(")") > inside.count("("):
            inside = inside.removesuffix(")")
        told = re.fullmatch(r"(.+?) (<=|>=|<|>|!=|==) (.+)", inside)
        if told is not None:
            found.append((told[1], told[2], told[3]))
    return tuple(found)


def _watch(row: Row, node: int, operands: tuple[int, ...], text: str) -> Watch:
    rule = formula(text, row, len(operands))

    def watched(known: Sequence[Any]) -> float | None:
        given = [known[operand] for operand in operands]
        if any(one is None or isinstance(one, Hole) for one in given):
            return None
        out = known[node]
        if isinstance(out, Hole) and "out" in text:
            return None
        found = rule.evaluate(REAL, given, out)
        return float(found) if is_number(found) else None

    return watched


def _stair(row: Row, node: int, operands: tuple[int, ...], text: str) -> Watch:
    """How far the number of stairs is from a whole one, with another sign on every other stair: 0 at each jump."""
    count = _watch(row, node, operands, text)

    def watched(known: Sequence[Any]) -> float | None:
        s = count(known)
        if s is None or not math.isfinite(s):
            return None
        return abs(s - round(s)) * (1 if math.floor(s) % 2 == 0 else -1)

    return watched


def _is_steep(row: Row, operands: tuple[int, ...], place: int, rule: Any, known: Sequence[Any]) -> bool:
    """Whether the slope of an operation has no value where one of its operands is 0, as that of a cube root."""
    if row.gives_condition or row.locally_constant:
        return False
    given = [known[operand] for operand in operands]
    given[place] = 0.0
    if not all(map(is_number, given)):
        return False
    out = value_at(-1, row, REAL, given)
    return isinstance(out, Hole) or not is_number(rule.evaluate(REAL, given, out))


# -- what


def judged(
    low: float,
    high: float,
    look: Callable[[float], Point] | None,
    at: Callable[[float], Side],
    beside: tuple[Side, Side],
) -> Break | None:
    """What breaks at a place: a double (low is high), or between two neighbours; None where nothing does.

    `look(x)` is the program at x, absent where asking the engine takes too long; `at(x)` its value and slope; `beside`
    are those at the samples around the place.
    """
    if low == high:
        found = None if look is None else _asked(low, look(low), at)
        if found is not None:
            return found
        # 1/10 is no double, so that in truth abs(x - 1/10) has its kink a little beside the double 0.1
        x, low, high = low, math.nextafter(low, -math.inf), math.nextafter(low, math.inf)
        found = judged(low, high, look, at, beside)
        return None if found is None else replace(found, x=x, value=at(x).value)
    left, right = at(low), at(high)
    if left.value is None and right.value is None:
        return None
    if left.value is None or right.value is None:
        x, side, far = (low, left, beside[0]) if right.value is None else (high, right, beside[1])
        pole = _grows(side, far)
        ends = (_ended(left, pole), _ended(right, pole))
        return Break(x, "pole" if pole else "edge", *ends, None if pole else side.value)
    if _grows(left, beside[0]) or _grows(right, beside[1]):
        return Break(low, "pole", _ended(left, True), _ended(right, True))
    size = max(abs(value) for side in (left, right, *beside) if (value := side.value) is not None)
    if abs(right.value - left.value) > JUMP * size:
        return Break(low, "jump", left, right)
    if left.slope is None or right.slope is None:
        return None
    size = max(abs(slope) for side in (left, right, *beside) if (slope := side.slope) is not None)
    if abs(right.slope - left.slope) > CORNER * size:
        return Break(low, "kink", left, right, left.value)
    return None


def _grows(side: Side, far: Side) -> bool:
    return side.value is not None and far.value is not None and abs(side.value) > GROWTH * max(abs(far.value), 1e-300)


def _ended(side: Side, pole: bool) -> Side:
    """A side that grows without bound, where it is one."""
    return Side(math.copysign(math.inf, side.value)) if pole and side.value is not None else side


def _asked(x: float, point: Point, at: Callable[[float], Side]) -> Break | None:
    """What the engine knows of one place."""
    value = point.answer()
    (node,) = point.wrt
    if not is_number(value):
        return _hole(x, point, node, at)
    value = float(value)
    if not math.isfinite(value):
        return Break(x, "edge", Side(), Side())
    one = point.told().singular().get(point.told().wrt[0])
    if one is None or one.sort == "smooth":
        return None
    left, right = Side(value, _double(one.left)), Side(value, _double(one.right))
    below, above = at(math.nextafter(x, -math.inf)), at(math.nextafter(x, math.inf))
    if one.sort == "jump":
        # a neighbour of a stair is a rounding away from what the curve goes to
        ends = [end for end in (below.value, above.value) if end is not None]
        small = ROUNDING * max(abs(end) for end in (value, *ends))
        left.value, right.value = (
            value if end is not None and abs(end - value) <= small else end for end in (below.value, above.value)
        )
        return Break(x, "jump", left, right, value)
    if below.value is None or above.value is None:
        left, right = (left if below.value is not None else Side()), (right if above.value is not None else Side())
        return Break(x, "edge", left, right, value)
    return Break(x, "vertical" if one.sort == "vertical" else "kink", left, right, value)


def _hole(x: float, point: Point, node: int, at: Callable[[float], Side]) -> Break:
    """A place without a value: what the curve goes to from both sides."""
    told = point.told().approach()
    sides = [Side(), Side()]
    if told is not None:
        for place, (name, one) in enumerate((("left", told.left), ("right", told.right))):
            closed = one if told.both is None else told.both if told.side in ("", name) else None
            if closed is not None:
                slope = next(iter(closed.slopes.values()), None)
                sides[place] = Side(_double(closed.value), _double(slope))
    left, right = sides
    ends = [one.value for one in sides if one.value is not None]
    if any(math.isinf(one) for one in ends):
        return Break(x, "pole", left, right)
    if len(ends) < 2:
        return Break(x, "edge", left, right)
    return Break(x, "hole" if left.value == right.value else "jump", left, right)


def _double(value: Any) -> float | None:
    """A number as a double; an infinity stays one, what is none is None."""
    if value is None or isinstance(value, Hole):
        return None
    found = float(value)
    return None if found != found else found
