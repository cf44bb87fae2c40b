"""Second derivatives from values alone, worked out with many digits beside the point: no rule has a part in them.

By one input twice it is (f(x + h) - 2 f(x) + f(x - h)) / h², and from one side (f(x + 2h) - 2 f(x + h) + f(x)) / h².
By two inputs it is the quotient of the four corners of a small rectangle, one for each quadrant. Where those of all
sides have one limit that is the second derivative; where they have not there is none, and the sides are told. The
rectangle is taken long one way and then the other: d²f/dx dy and d²f/dy dx may differ, and a square would not see it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from backprop.beside.differences import Side, affordable, exactly, levels, many, primal, side, to_double
from backprop.kinds import is_number
from backprop.kinds.digits import digits_alike
from backprop.point import Point

# Two limits that agree to so much are one.
ONE_LIMIT = 1e-6
# Digits that two levels have to agree on before a limit is believed: central quotients have an error like h², those
# from one side like h.
STEADY, STEADY_BESIDE = 20, 12


def exponent(digits: int) -> int:
    """The decimal exponent of the step for so many digits, relative to the size of the input.

    The quotient divides by the square of the step, so rounding leaves half of the digits.
    """
    return -(digits // 4)


def shorter(digits: int) -> int:
    """By how many powers of ten one side of the rectangle is shorter than the other: more at each level, so that what
    only depends on their ratio dwindles too."""
    return digits // 6


@dataclass(slots=True)
class Second:
    """What the differences tell: `value` good to `digits`; or `sides`, each in words with its limit, where they differ.

    `only` says on which side alone there are values. `reason` says why nothing can be told.
    """

    value: Any = None
    digits: float = 0.0
    sides: tuple[tuple[str, float], ...] = ()
    only: str = ""
    reason: str = ""


def second(point: Point, i: int, j: int) -> Second:
    """The second derivative of the output by the inputs (or named literals) i and j, looked at from all sides.

    >>> from backprop.point import at
    >>> to_double(second(at("sqrt(x^2 + y^2)^2", {"x": 0, "y": 0}), 0, 0).value)
    2.0
    >>> second(at("x*abs(x)", {"x": 0}), 0, 0).sides
    (('from the left', -2.0), ('from the right', 2.0))
    """
    known: list[dict[str, Any]] = []
    found = Second(reason="the graph is too large to look beside the point")
    for digits in levels(point.kind):
        if not affordable(point.graph, digits):
            break
        known.append(_twice(point, i, digits) if i == j else _mixed(point, i, j, digits))
        if not known[-1]:
            return Second(reason="there is no finite value here")
        if len(known) > 1:
            found = _told_twice(*known[-2:]) if i == j else _told_mixed(point, i, j, *known[-2:])
            if found.value is not None and found.digits < (STEADY if i == j and not found.only else STEADY_BESIDE):
                found = Second(reason="the quotients are not steady")  # they may still creep away, as of x^2.0000001
            if not found.reason:
                return found
    return found


def central(point: Point, i: int, j: int) -> Second:
    """The second derivative where nothing is known to be wrong: the central quotient alone, with fewer evaluations."""
    known: list[Any] = []
    for digits in levels(point.kind):
        if not affordable(point.graph, digits):
            break
        value, h, k = _around(point, i, j, digits)
        if i == j:
            ends = [value(1, 0), value(0, 0), value(0, 0), value(-1, 0)]
            known.append(_quotient(ends, h * h, digits))
        else:
            ends = [value(1, 1), value(1, -1), value(-1, 1), value(-1, -1)]
            known.append(_quotient(ends, 4 * h * k, digits))
        if known[-1] is None:
            return Second(reason="there is no value beside it")
        if len(known) > 1:
            found = side(known[-2:], [1, 1])
            if found.sort in ("slope", "zero", "flat"):
                return Second(found.value, _digits(known[-2], known[-1], found))
    if len(known) < len(levels(point.kind)):
        return Second(reason="the graph is too large for so many digits")
    return Second(reason="the quotients have no limit")


def along(point: Point, direction: dict[int, Any]) -> Second:
    """The second derivative of f(x + t·v) in t, where several inputs move at once, each by its amount in v."""
    known: list[Any] = []
    for digits in levels(point.kind):
        if not affordable(point.graph, digits):
            break
        kind = many(digits)
        step = kind.number(f"1e{exponent(digits)}")
        start = {node: exactly(kind, point.values[node]) for node in direction}

        def value(times: int, start: dict[int, Any] = start, step: Any = step, digits: int = digits) -> Any:
            moved = {node: at + times * step * direction[node] for node, at in start.items()}
            return primal(point, point.graph, digits, moved)[1][point.graph.output]

        known.append(_quotient([value(1), value(0), value(0), value(-1)], step * step, digits))
        if known[-1] is None:
            return Second(reason="there is no value beside it")
        if len(known) > 1:
            found = side(known[-2:], [1, 1])
            if found.sort in ("slope", "zero", "flat"):
                return Second(found.value, _digits(known[-2], known[-1], found))
    return Second(
        reason="the quotients have no limit" if len(known) > 1 else "the graph is too large for so many digits"
    )


def _around(point: Point, i: int, j: int, digits: int) -> tuple[Callable[[int, int], Any], Any, Any]:
    """The output when i and j are moved by so many steps each, and the two steps."""
    kind, graph = many(digits), point.graph
    at = {node: exactly(kind, point.values[node]) for node in (i, j)}
    unit = kind.number(f"1e{exponent(digits)}")
    steps = {node: unit * (abs(here) or 1) for node, here in at.items()}

    def value(by_i: int, by_j: int) -> Any:
        moved = {i: at[i] + by_i * steps[i]}
        if i != j:
            moved[j] = at[j] + by_j * steps[j]
        return primal(point, graph, digits, moved)[1][graph.output]

    return value, steps[i], steps[j]


def _quotient(ends: Sequence[Any], over: Any, digits: int) -> Any:
    """((a - b) - (c - d)) / over; 0 when no more than rounding is left of it, None where a value is missing."""
    if not all(map(is_number, ends)):
        return None
    a, b, c, d = ends
    change = (a - b) - (c - d)
    size = max(abs(end) for end in ends)
    return change * 0 if abs(change) <= size * 10.0 ** (3 - digits) else change / over


# -- by one input twice -----------------------------------------------------------------------------------------------


def _twice(point: Point, i: int, digits: int) -> dict[str, Any]:
    """The quotients from the left, from the right and from both sides; {} when there is no value at the point."""
    value, h, _ = _around(point, i, i, digits)
    middle = value(0, 0)
    if not is_number(middle):
        return {}
    left, right = [value(-by, 0) for by in (1, 2)], [value(by, 0) for by in (1, 2)]
    return {
        "left": _quotient([middle, left[0], left[0], left[1]], h * h, digits),
        "right": _quotient([middle, right[0], right[0], right[1]], h * h, digits),
        "both": _quotient([right[0], middle, middle, left[0]], h * h, digits),
    }


_CLEAR = ("slope", "zero", "flat")


def _told_twice(coarse: dict[str, Any], fine: dict[str, Any]) -> Second:
    left, right, both = (side([coarse[name], fine[name]], [1, 1]) for name in ("left", "right", "both"))
    if left.sort == right.sort == "none":
        return Second(reason="there is no value beside it")
    for one, other, which in ((left, right, "left"), (right, left, "right")):
        if other.sort == "none":
            if one.sort in _CLEAR:
                return Second(one.value, _digits(coarse[which], fine[which], one), only=f"from the {which}")
            return Second(reason=_unclear([one]))
    if left.sort not in _CLEAR or right.sort not in _CLEAR:
        return Second(reason=_unclear([left, right]))
    if both.sort not in _CLEAR:
        # each side is straight enough, and the two do not meet
        return Second(reason="the first derivative jumps")
    if _one_limit([left.value, right.value]):
        return Second(both.value, _digits(coarse["both"], fine["both"], both))
    return Second(sides=(("from the left", _double(left.value)), ("from the right", _double(right.value))))


# -- by two inputs ----------------------------------------------------------------------------------------------------

_QUADRANTS = tuple(product((-1, 1), (-1, 1)))


def _mixed(point: Point, i: int, j: int, digits: int) -> dict[str, Any]:
    """The quotients of the four quadrants, for a rectangle that is short along i, and for one short along j."""
    kind, graph = many(digits), point.graph
    at = {node: exactly(kind, point.values[node]) for node in (i, j)}
    unit = kind.number(f"1e{exponent(digits)}")
    short = unit * kind.number(f"1e-{shorter(digits)}")

    def value(move: dict[int, Any]) -> Any:
        return primal(point, graph, digits, {node: at[node] + by for node, by in move.items()})[1][graph.output]

    zero = unit * 0
    middle = value({i: zero, j: zero})
    if not is_number(middle):
        return {}
    found: dict[str, Any] = {}
    for which, (by_i, by_j) in (("i", (short, unit)), ("j", (unit, short))):
        h, k = by_i * (abs(at[i]) or 1), by_j * (abs(at[j]) or 1)
        along_i = {s: value({i: s * h, j: zero}) for s in (-1, 1)}
        along_j = {t: value({i: zero, j: t * k}) for t in (-1, 1)}
        for s, t in _QUADRANTS:
            corner = value({i: s * h, j: t * k})
            found[f"{which}{s}{t}"] = _quotient([corner, along_i[s], along_j[t], middle], s * t * h * k, digits)
    return found


def _told_mixed(point: Point, i: int, j: int, coarse: dict[str, Any], fine: dict[str, Any]) -> Second:
    told = {name: side([coarse[name], fine[name]], [1, 1]) for name in coarse}
    there = {name: one for name, one in told.items() if one.sort != "none"}
    if not there:
        return Second(reason="there is no value beside it")
    if any(one.sort not in _CLEAR for one in there.values()):
        return Second(reason=_unclear(list(there.values())))
    limits = {name: one.value for name, one in there.items()}
    x, y = point.name_of(i), point.name_of(j)
    if _one_limit(list(limits.values())):
        mean = sum(limits.values()) / len(limits)
        digits = min(_digits(coarse[name], fine[name], told[name]) for name in limits)
        return Second(mean, digits, only="" if len(there) == len(told) else "on the side that has values")
    first, then = ([limits[f"{which}{s}{t}"] for s, t in _QUADRANTS if f"{which}{s}{t}" in limits] for which in "ij")
    if _one_limit(first) and _one_limit(then):
        # short along i: the derivative by i, then how that changes along j
        return Second(sides=((f"by {x} first", _double(first[0])), (f"by {y} first", _double(then[0]))))
    for name, place in ((x, 0), (y, 1)):
        halves = {
            sign: [limit for limit, at in zip(limits.values(), map(_signs, limits), strict=True) if at[place] == sign]
            for sign in (-1, 1)
        }
        if all(half and _one_limit(half) for half in halves.values()):
            ways = zip((f"from the left in {name}", f"from the right in {name}"), halves.values(), strict=True)
            return Second(sides=tuple((way, _double(half[0])) for way, half in ways))
    marks = {-1: "-", 1: "+"}
    sides = {f"towards {marks[s]}{x}, {marks[t]}{y}": limits.get(f"i{s}{t}") for s, t in _QUADRANTS}
    return Second(sides=tuple((way, _double(limit)) for way, limit in sides.items() if limit is not None))


def _signs(name: str) -> tuple[int, int]:
    """The quadrant of a quotient by its name: "i-11" is the second."""
    s, t = (int(sign + "1") for sign in re.findall("(-?)1", name))
    return s, t


# -- what limits there are --------------------------------------------------------------------------------------------


def _one_limit(values: Sequence[Any]) -> bool:
    low, high = min(values), max(values)
    return bool(high - low <= ONE_LIMIT * max(abs(low), abs(high)))


def _unclear(found: Sequence[Side]) -> str:
    if any(one.sort in ("steep", "jump") for one in found):
        return "the quotients grow without bound"
    return "the quotients have no limit"


def _double(value: Any) -> float:
    return to_double(value) + 0.0


def _digits(first: Any, second: Any, found: Side) -> float:
    """How many digits of a limit are known: as many as the two levels agree on, all of a 0 to which they dwindle."""
    return 30.0 if found.value == 0 else digits_alike(first - second, second, 30)
