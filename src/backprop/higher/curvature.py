"""Second derivatives at a point: by the rules where they can be trusted, else from values beside the point.

The rules fail as they do for the gradient (`singular`): where 0 meets an infinity, and at kinks, where they give
numbers by convention; elu has no kink, but its slope has one, which only the gradient as a graph can show. There the
second differences decide. Everywhere else the rules are worked out with many digits as well, and where doubles have
lost theirs the number with more digits stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from backprop.accuracy.fine import SMALLEST
from backprop.beside.differences import affordable, as_double, exactly, levels, many
from backprop.beside.singular import SORTS, first_kinks
from backprop.higher.differences import Second, second
from backprop.higher.gradient_graph import Curvature, Level
from backprop.kinds import Hole, is_number, is_unproven
from backprop.point import Point
from backprop.rules import kinks

# What looking beside the point and working with more digits may cost, in evaluations of a node (about 20 millionths of
# a second each).
MOST_EVALUATIONS = 200_000
# Evaluations of the whole for one second derivative, looked at from all sides with two levels of digits.
EVALUATIONS = 36
# Inputs for which a product is put together from second derivatives.
MOST_AT_A_KINK = 100
# A number with so many digits less than its kind carries has lost them (a double with fewer than 12).
LOST = 4


@dataclass(slots=True)
class Entry:
    """One second derivative, by the nodes `i` and `j`. `value` is None where there is none, and `why` says why.

    `rules` is what the rules give in the kind of the point; `beside` what the values beside it tell, where those were
    asked; `lost` how many digits of the rules' number were right, where that was too few.
    """

    i: int
    j: int
    rules: Any
    value: Any = None
    why: str = ""
    beside: Second | None = None
    lost: float | None = None

    @property
    def mended(self) -> bool:
        """Whether the answer is another than that of the rules."""
        return self.value is not self.rules


def entries(here: Point, of: Curvature) -> dict[tuple[int, int], Entry]:
    """Every second derivative by the nodes `here.wrt`, each pair once (the first not behind the second).

    >>> from backprop.point import at
    >>> here = at("max(x, y)^2 + x*abs(x)", {"x": 0, "y": 3})
    >>> [(entry.value, entry.why) for entry in entries(here, Curvature(here)).values()]
    [(None, '-2 from the left, 2 from the right'), (0.0, ''), (2.0, '')]
    """
    return _Entries(here, of).all()


def slope_may_jump(here: Point) -> bool:
    """Whether balls may hold a kink or a boundary, where there is no second derivative."""
    if not here.kind.intervals:
        return False
    from backprop.balls.narrower import bends

    return bends(here)


class _Entries:
    def __init__(self, here: Point, of: Curvature) -> None:
        self.here, self.of = here, of
        self.columns = [of.level.column(node) for node in here.wrt]
        self.kinks = first_kinks(here)
        self.gradient = here.gradient()
        self.spent = 0
        self.bends = slope_may_jump(here)
        size = len(of.of.graph) * (1 + len(here.wrt))
        self.fine = here.kind.digits > 0 and size <= MOST_EVALUATIONS and affordable(of.of.graph, levels(here.kind)[0])

    def all(self) -> dict[tuple[int, int], Entry]:
        """The entries, row by row."""
        wrt, found = self.here.wrt, {}
        near = self.near_kinks()
        for a in range(len(wrt)):
            for b in range(a, len(wrt)):
                at_kink = b in near[a] or a in near[b] or self.kinks[wrt[a]] >= 0 or self.kinks[wrt[b]] >= 0
                found[wrt[a], wrt[b]] = self.entry(a, b, at_kink or self.bends)
        return found

    def near_kinks(self) -> list[set[int]]:
        """For each component of the gradient the variables (by place) on whose way to it a kink is met."""
        graph, level = self.of.of.graph, self.of.level
        places = range(len(self.here.wrt))
        if next(kinks(graph, level.kind, level.known), None) is None:
            return [set() for _ in places]
        met = [first_kinks(self.of.component(place)) for place in places]
        return [{b for b, node in enumerate(self.of.of.variables()) if met[a][node] >= 0} for a in places]

    def entry(self, a: int, b: int, at_kink: bool) -> Entry:
        """One second derivative."""
        here = self.here
        rules = self.columns[b][a]
        found = Entry(here.wrt[a], here.wrt[b], rules, rules)
        for node in (found.i, found.j):
            missing = self.no_slope(node)
            if missing:
                found.value, found.why = None, missing
                return found
        singular = here.singular()
        no_number = isinstance(rules, Hole) or (here.kind.digits > 0 and not is_number(rules))
        if at_kink or no_number or found.i in singular or found.j in singular:
            self.look_beside(found)
        elif self.fine:
            self.with_more_digits(found, a, b)
        if here.kind.digits and found.value is not None and not is_number(found.value):
            found.value, found.why = None, f"it is beyond {here.kind.largest}"
        return found

    def no_slope(self, node: int) -> str:
        """Why the first derivative by a node does not exist, "" when it does: without it there is no second."""
        here = self.here
        name = f"∂{here.graph.ids[here.graph.output]}/∂{here.name_of(node)}"
        if isinstance(self.gradient[here.name_of(node)], Hole):
            return f"{name} itself is {'not proven' if is_unproven(self.gradient[here.name_of(node)]) else 'undefined'}"
        one = here.singular().get(node)
        if one is None or one.sort in ("smooth", "edge"):
            return ""
        left, right = one.sides.left, one.sides.right
        if one.sort == "corner" and left is not None and right is not None:
            return (
                f"{name} itself does not exist: it is {_short(left)} from the left and {_short(right)} from the right"
            )
        return f"{name} itself does not exist: {SORTS[one.sort]}"

    def look_beside(self, found: Entry) -> None:
        """Put in what the values beside the point tell."""
        here = self.here
        self.spent += EVALUATIONS * len(here.graph)
        if here.kind.digits == 0:
            found.value, found.why = (
                None,
                f"there {'may be' if self.bends else 'is'} a kink or a hole, and kind {here.kind.name} does not look "
                "beside the point",
            )
            return
        if self.spent > MOST_EVALUATIONS:
            found.value, found.why = None, "at a kink or hole the graph is too large to look beside the point"
            return
        told = found.beside = second(here, found.i, found.j)
        if told.sides:
            found.value, found.why = None, ", ".join(f"{_short(limit)} {way}" for way, limit in told.sides)
        elif told.value is None:
            found.value, found.why = None, told.reason
        elif (
            not is_number(found.rules)
            or digits_right(found.rules, told.value, here.kind.digits) < here.kind.digits - LOST
        ):
            if told.only and is_number(found.rules):
                numbers = f"the rules give {_short(found.rules)}, the values {_short(told.value)} {told.only}"
                found.value, found.why = None, f"it cannot be told: {numbers}"
            else:
                found.value = here.kind.nearest(told.value)

    def with_more_digits(self, found: Entry, a: int, b: int) -> None:
        """Hold the number of the rules against the same rules at many digits, and take theirs where it lost its own."""
        truth = steady(self.of, lambda level: level.column(self.here.wrt[b])[a], found.rules)
        if truth is None:
            return
        kind = self.here.kind
        right = digits_right(found.rules, truth, kind.digits)
        if right < kind.digits - LOST:
            nearest = kind.nearest(truth)
            if nearest != found.rules and is_number(nearest):
                found.value, found.lost = nearest, right


def steady(of: Curvature, component: Callable[[Level], Any], ours: Any) -> Any:
    """A component of Hessian times vector that two levels of digits agree on; the first is believed if it is `ours`."""
    before: Any = None
    known = of.point.kind.digits
    for digits in levels(of.point.kind):
        if not affordable(of.of.graph, digits):
            break
        number = component(of.at(digits))
        if not is_number(number):
            return None
        if before is None and digits_right(ours, number, known) >= known - LOST:
            return number
        if before is not None:
            if abs(number - before) <= abs(number) * many(digits).number(f"1e-{known + 4}"):
                return number
            if abs(number) <= abs(before) * 1e-100:
                return number * 0
        before = number
    return None


def product(here: Point, of: Curvature, direction: Mapping[int, Any]) -> list[tuple[Any, str]]:
    """The Hessian times a vector (a node of `here.wrt` to a number): each component, or None and why it has none.

    One forward pass over the gradient, where no kink and no hole is near; else from the second derivatives.

    >>> from backprop.point import at
    >>> here = at("x^2*y", {"x": 3, "y": 2})
    >>> product(here, Curvature(here), {0: 1.0, 3: 0.5})
    [(7.0, ''), (6.0, '')]
    """
    kind, level = here.kind, of.level
    found = level.times(direction)
    plain = not here.singular() and not any(isinstance(one, Hole) for one in (*found, *here.gradient().values()))
    plain = plain and not slope_may_jump(here) and not any(True for _ in kinks(here.graph, kind, here.values))
    plain = plain and not any(True for _ in kinks(of.of.graph, kind, level.known))
    if plain and not (kind.digits and not all(map(is_number, found))):
        if kind.digits and 3 * len(of.of.graph) <= MOST_EVALUATIONS and affordable(of.of.graph, levels(here.kind)[0]):
            moved: dict[int, list[Any]] = {}
            for place, ours in enumerate(found):
                truth = steady(of, partial(_component, direction, moved, place), ours)
                if truth is not None and digits_right(ours, truth, kind.digits) < kind.digits - LOST:
                    found[place] = kind.nearest(truth)
        return [(one, "") for one in found]
    if len(here.wrt) > MOST_AT_A_KINK:
        return [(None, "there is a kink or a hole, and too many inputs to look beside the point")] * len(here.wrt)
    pairs = entries(here, of)
    told: list[tuple[Any, str]] = []
    for node in here.wrt:
        total, why = kind.number("0"), ""
        for other, amount in direction.items():
            entry = pairs[(node, other) if (node, other) in pairs else (other, node)]
            if kind.is_zero(amount):
                continue
            if entry.value is None:
                why = why or entry.why
            else:
                total = kind.add(total, kind.scale(entry.value, amount))
        told.append((None, why) if why else (total, ""))
    return told


def _component(direction: Mapping[int, Any], kept: dict[int, list[Any]], place: int, level: Level) -> Any:
    """A component of the Hessian times a vector at a level of digits; the product is worked out once and `kept`."""
    digits = level.kind.digits
    if digits not in kept:
        kept[digits] = level.times({node: exactly(many(digits), amount) for node, amount in direction.items()})
    return kept[digits][place]


def digits_right(ours: Any, truth: Any, most: int = 16) -> float:
    """How many digits of a number are right, up to as many as its kind carries; all when no double is nearer."""
    from backprop.kinds.digits import digits_alike

    if isinstance(ours, float) and abs(ours - as_double(truth)) <= 64 * SMALLEST:
        return most
    return digits_alike(truth - ours, truth, most)


def _short(value: Any) -> str:
    from backprop.figures import figure

    return figure(as_double(value) + 0.0)
