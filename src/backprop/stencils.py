"""Stencils: difference quotients in doubles, which steps they may be trusted with, and how fast they close in.

The central quotient (f(x + h) - f(x - h))/2h is wrong by about h² f'''/6, the one-sided one (f(x + h) - f(x))/h by
about h f''/2, and both by the rounding of f over h. The best step balances the two: h³ = 3 e/|f'''| for the one and
h² = 4 e/|f''| for the other, with e the rounding of f (Nocedal and Wright, Numerical Optimization, chapter 8). The
higher derivatives and e are measured with many digits. A quotient across a kink, a jump or a pole tells nothing of the
derivative, however steady it looks: the branches that are taken at both ends of a stencil are compared.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from backprop.beside.differences import EPSILON, affordable, cut, many
from backprop.graph import CONST, INPUT, Graph
from backprop.kinds import Hole, is_number
from backprop.kinds.real import REAL
from backprop.ops import Row
from backprop.point import Point
from backprop.rules import formula, holds
from backprop.values import values

ROWS = 12
# What measures the rounding and the higher derivatives of f: so many digits, at so many places.
DIGITS, PLACES = 60, 32
# The steps that measure the derivatives, in proportion to the input.
TINY = 1e-12
# An error this many times the rounding of the quotient shows how fast the quotient closes in.
CLEAR = 8.0
# How far an order may be from 2 or 1 and still be called so.
NEARLY = 0.2
CENTRAL, ONE_SIDED = 2, 1
NOT_SMOOTH = "the function is not smooth enough here"
# Quotients of so many digits can show that the formula is exact; with fewer, rounding hides whether it is.
EXACT = 11.0
# Below the smallest double everything is 0: no value is better than this.
SMALLEST = math.ulp(0.0)


@dataclass(slots=True)
class Quotient:
    """A difference quotient, how far it is from the derivative, and how many times farther the one before was."""

    value: float
    error: float | None = None
    ratio: float | None = None


@dataclass(slots=True)
class Convergence:
    """The quotients for one step; None where the function has no value there.

    `one_sided` is the quotient to the right, or to the left where `side` says so; at a kink both are there, as `left`
    and `right`. `crosses` names the nodes that take another branch inside [x - h, x + h], so that the central quotient
    tells nothing; `one_sided_crosses` says that the one-sided one does too. `best_central` and `best_one_sided` mark
    the step that comes nearest.
    """

    step: float
    central: Quotient | None = None
    one_sided: Quotient | None = None
    side: str | None = None
    left: Quotient | None = None
    right: Quotient | None = None
    crosses: tuple[str, ...] | None = None
    one_sided_crosses: bool = False
    best_central: bool = False
    best_one_sided: bool = False


@dataclass(slots=True)
class Approach:
    """How one sort of quotient closes in: the step that was chosen, what it gives there and to how many digits.

    `order` is the observed power of h in the error, `text` one line that says it all.
    """

    sort: str
    text: str
    step: float | None = None
    value: float | None = None
    digits: float | None = None
    order: float | None = None


@dataclass(slots=True)
class Stencils:
    """The quotients for one input: rows for steps of powers of ten, and how each sort closes in."""

    rows: list[Convergence]
    approaches: list[Approach] = field(default_factory=list)


def stencils(
    point: Point, node: int, truth: float | None, left: float | None, right: float | None, fine: bool = True
) -> Stencils | None:
    """The difference quotients of the output in one node, in doubles; None off the number line.

    `truth` is the derivative as the best witness has it; at a kink, where there is none, `left` and `right` are the
    slopes from both sides. Without `fine` nothing is measured with many digits, as a large graph asks for.
    """
    at, middle = point.values[node], point.value()
    if not isinstance(at, float) or not is_number(at) or not is_number(middle):
        return None
    return _Stencils(point, node, truth, left, right, fine).found()


def steps(x: float, best: float | None = None) -> list[float]:
    """0.1, 0.01, ... for an ordinary number; in proportion for a large or a small one, in powers of ten.

    They begin lower where the step that is `best` lies far below, and higher, but not above 0.1, where it lies above.
    Beside the smallest numbers of all there are fewer: no step is 0.

    >>> steps(2.0)[:2], steps(3000.0)[:2], steps(1e-7)[:1], steps(1e-322), steps(1.0, 4e-12)[:1], steps(1e-9, 7e-6)[:1]
    ([0.1, 0.01], [100.0, 10.0], [1e-07], [1e-323], [1e-07], [0.001])
    """
    size = math.floor(math.log10(abs(x))) if x else 0
    first = -1 + (size + 1 if size < -1 else max(0, size))
    if best:
        balance = math.floor(math.log10(best))
        first = max(min(first, balance + 5), min(-1, balance + 3))
    return [step for exponent in range(first, first - ROWS, -1) if (step := float(f"1e{exponent}"))]


class _Stencils:
    """The work on one input."""

    def __init__(
        self, point: Point, node: int, truth: float | None, left: float | None, right: float | None, fine: bool
    ) -> None:
        self.point, self.node, self.truth = point, node, truth
        self.sides = (left, right)
        self.x: float = point.values[node]
        self.graph = cut(point.graph, node)
        self.leaves = {
            leaf: point.values[leaf]
            for leaf, code in enumerate(self.graph.codes)
            if code in (INPUT, CONST) and not isinstance(point.values[leaf], Hole)
        }
        self.probes = _probes(self.graph, node)
        self.turning: list[int] = []  # nodes that choose differently left and right of the point
        self._known: dict[float, list[Any]] = {}
        self._curvatures: dict[tuple[int, int | None], float | None] = {}
        self.affordable = fine and affordable(self.graph, DIGITS)

    # -- values and branches

    def known(self, x: float) -> list[Any]:
        """The values of all nodes with the input moved to x."""
        if x not in self._known:
            self._known[x] = values(self.graph, REAL, self.leaves | {self.node: x})
        return self._known[x]

    def value(self, x: float) -> Any:
        return self.known(x)[self.graph.output]

    def branches(self, x: float) -> tuple[Any, ...]:
        """What every node that can choose chooses at x."""
        known = self.known(x)
        return tuple(probe(known) for _, probe in self.probes)

    def changed(self, one: tuple[Any, ...], other: tuple[Any, ...]) -> list[int]:
        """The nodes that choose differently."""
        pairs = zip(self.probes, one, other, strict=True)
        return [node for (node, _), here, there in pairs if _differ(here, there)]

    def changes_within(self, step: float) -> bool:
        """Whether a node chooses differently, or has no value, inside so many steps."""
        low, high = self.x - 4 * step, self.x + 4 * step
        inside = is_number(self.value(low)) and is_number(self.value(high))
        return not inside or bool(self.changed(self.branches(low), self.branches(high)))

    # -- what many digits tell

    @cached_property
    def noise(self) -> float:
        """The rounding of f near the point, measured with many digits where they can be had."""
        found = EPSILON * abs(float(self.point.value()))
        for place in range(1, 4) if self.affordable else ():
            for step in (1e-6, -1e-6, 3e-8, -3e-8):
                x = self.x + step * place * (abs(self.x) or 1.0)
                ours, true = self.value(x), self.fine(many(DIGITS).from_double(x))
                if is_number(ours) and is_number(true):
                    found = max(found, float(abs(true - many(DIGITS).from_double(ours))))
        return found

    def fine(self, x: Any) -> Any:
        """The output with many digits, the input moved to x."""
        kind = many(DIGITS)
        leaves = {leaf: kind.from_double(one) if isinstance(one, float) else one for leaf, one in self.leaves.items()}
        return values(self.graph, kind, leaves | {self.node: x})[self.graph.output]

    def curvature(self, order: int, side: int | None) -> float | None:
        """The size of the third derivative (order 2) or the second (order 1) at the point, or just beside it on one
        side; None where it cannot be told."""
        if not self.affordable:
            return None
        if (order, side) not in self._curvatures:
            found = self._curvature(order, side, TINY * (abs(self.x) or 1.0))
            # beside a small number a function may change by too little for so many digits, as exp does at 1e-9
            if found == 0 and 0 < abs(self.x) < 1 and not self.changes_within(TINY):
                found = self._curvature(order, side, TINY)
            self._curvatures[order, side] = found
        return self._curvatures[order, side]

    def _curvature(self, order: int, side: int | None, step: float) -> float | None:
        """`curvature`, by differences with a step."""
        kind = many(DIGITS)
        x, h = kind.from_double(self.x), kind.from_double(step)
        f = [
            self.fine(x + place * h)
            for place in ((-2, -1, 0, 1, 2) if side is None else range(5) if side else range(0, -5, -1))
        ]
        if not all(map(is_number, f)):
            return None
        if side is not None or order == ONE_SIDED:
            low, mid, high = f[:3] if side is not None else f[1:4]
            change, power = low - 2 * mid + high, 2
        else:
            change, power = (f[4] - 2 * f[3] + 2 * f[1] - f[0]) / 2, 3
        # what is left of values that cancel is 0
        rounding = max(map(abs, f)) * kind.number(f"1e{5 - DIGITS}")
        return 0.0 if abs(change) <= rounding else kind.to_double(abs(change) / h**power)

    def best(self, order: int, side: int | None) -> float | None:
        """The step that balances the error of the formula and rounding; None where there is no such balance."""
        curvature = self.curvature(order, side)
        if not self.noise or not curvature or math.isinf(curvature):
            return None
        step = (3 * self.noise / curvature) ** (1 / 3) if order == CENTRAL else 2 * math.sqrt(self.noise / curvature)
        return step if 0 < step < math.inf else None

    def rounding(self, step: float) -> float:
        """How far rounding moves a quotient."""
        sizes = [abs(one) for x in (self.x - step, self.x + step) if is_number(one := self.value(x))]
        return max(self.noise, EPSILON * max(sizes, default=0.0), SMALLEST) / step

    # -- the rows

    def found(self) -> Stencils:
        x = self.x
        kept = [step for step in steps(x, self.best(CENTRAL, None)) if x + step != x and x - step != x]
        crossing = [self.crossing(kept, sign) for sign in (-1, 1)]
        if kept:
            self.turning = self.changed(self.branches(x - kept[-1]), self.branches(x + kept[-1]))
        at_kink = None not in self.sides and self.truth is None
        # the side that is free of other branches for the larger steps
        clean = [sum(not nodes for nodes in one) for one in crossing]
        side = 0 if clean[0] > clean[1] else 1
        if not any(is_number(self.value(x + step)) for step in kept):
            side = 0
        rows = [self.row(step, [one[place] for one in crossing], side, at_kink) for place, step in enumerate(kept)]
        self._measure([row.central for row in rows if not row.crosses], self.truth)
        self._measure([row.one_sided for row in rows if not row.one_sided_crosses], self.truth)
        self._measure([row.left for row in rows], self.sides[0])
        self._measure([row.right for row in rows], self.sides[1])
        _mark(rows)
        return Stencils(rows, self.approaches(rows, crossing, side, at_kink))

    def crossing(self, kept: Sequence[float], sign: int) -> list[list[int]]:
        """For each step the nodes that take another branch within it, on one side."""
        near = next((self.branches(self.x + sign * step) for step in reversed(kept) if self._inside(sign * step)), None)
        met: dict[int, None] = {}
        found: list[list[int]] = []
        for step in reversed(kept):
            if near is not None and self._inside(sign * step):
                met.update(dict.fromkeys(self.changed(near, self.branches(self.x + sign * step))))
            found.append(sorted(met))
        return found[::-1]

    def turn(self, nodes: Sequence[int]) -> str:
        """That some nodes choose differently, in words."""
        names = ", ".join(self.graph.ids[node] for node in nodes[:3]) + (", ..." if len(nodes) > 3 else "")
        return f"{names} take{'s' if len(nodes) == 1 else ''} another branch"

    def _inside(self, step: float) -> bool:
        return is_number(self.value(self.x + step))

    def row(self, step: float, crossing: list[list[int]], side: int, at_kink: bool) -> Convergence:
        x, middle, ids = self.x, self.value(self.x), self.graph.ids
        left, right = self.quotient(x - step, x), self.quotient(x, x + step)
        row = Convergence(step)
        nodes = sorted({*crossing[0], *crossing[1]})
        if nodes:
            row.crosses = tuple(ids[node] for node in nodes)
        if at_kink:
            row.left, row.right = left, right
            return row
        if left is not None and right is not None and is_number(middle):
            row.central = self.quotient(x - step, x + step)
        row.one_sided = (left, right)[side]
        row.side = "left" if side == 0 and left is not None else None
        row.one_sided_crosses = bool(crossing[side])
        return row

    def quotient(self, low: float, high: float) -> Quotient | None:
        """The difference of the values over that of the arguments as they are in doubles."""
        below, above = self.value(low), self.value(high)
        if not (is_number(below) and is_number(above)):
            return None
        found = (above - below) / (high - low) + 0.0
        return Quotient(found) if math.isfinite(found) else None

    @staticmethod
    def _measure(quotients: Sequence[Quotient | None], truth: float | None) -> None:
        """Put in how far each quotient is off, and how many times farther the one before it was."""
        before: float | None = None
        for quotient in quotients:
            if quotient is None or truth is None:
                before = None
                continue
            quotient.error = abs(quotient.value - truth)
            if before is not None and quotient.error:
                quotient.ratio = before / quotient.error
            before = quotient.error

    # -- how they close in

    def approaches(
        self, rows: list[Convergence], crossing: list[list[list[int]]], side: int, at_kink: bool
    ) -> list[Approach]:
        words = ("left", "right")
        if at_kink:
            return [
                self.approach(f"from the {word}", ONE_SIDED, rows, [getattr(row, word) for row in rows],
                              crossing[place], self.sides[place], place)
                for place, word in enumerate(words)
            ]  # fmt: skip
        if self.truth is None:
            return []
        both = [sorted({*left, *right}) for left, right in zip(*crossing, strict=True)]
        found = []
        if any(row.central is not None for row in rows):
            central = [row.central for row in rows]
            free = words[side] if sum(map(bool, crossing[side])) < sum(map(bool, both)) else None
            found.append(self.approach("central", CENTRAL, rows, central, both, self.truth, None, free))
        if any(row.one_sided is not None for row in rows):
            name = f"from the {words[side]}"
            one_sided = [row.one_sided for row in rows]
            found.append(self.approach(name, ONE_SIDED, rows, one_sided, crossing[side], self.truth, side))
        return found

    def approach(
        self,
        sort: str,
        order: int,
        rows: list[Convergence],
        quotients: list[Quotient | None],
        crossing: list[list[int]],
        truth: float | None,
        side: int | None,
        free: str | None = None,
    ) -> Approach:
        """One line on one sort of quotient; `free` is the side on which there is no other branch for longer."""
        clean = [
            (row.step, one)
            for row, one, nodes in zip(rows, quotients, crossing, strict=True)
            if one is not None and one.error is not None and not nodes
        ]
        parts: list[str] = []
        first = next((row.step for row, nodes in zip(rows, crossing, strict=True) if not nodes), None)
        crossed = next((nodes for nodes in crossing if nodes), [])
        if crossed:
            below = "for every h" if first is None else f"down to h = {first * 10:.0e}"
            told = f"{self.turn(crossed)} inside the stencil {below}: those rows tell nothing"
            if side is None and free is not None:
                told += f", and the quotient from the {free} is free of it"
            parts.append(told)
        if not clean or truth is None:
            return Approach(sort, "; ".join([*parts, "no step is of any use"]))
        found = Approach(sort, "")
        self.choose(found, order, clean, truth, side)
        found.order, told = self.order(clean, order, found.digits)
        parts.append(told)
        if found.digits is not None:
            parts.append(f"with h = {found.step:.0e} it agrees to {found.digits:.1f} digits")
        found.text = "; ".join(parts)
        return found

    def order(self, clean: list[tuple[float, Quotient]], order: int, digits: float | None) -> tuple[float | None, str]:
        """The observed power of h in the error, and what to say of it; `digits` are right with the best step."""
        rounding = [CLEAR * self.rounding(step) for step, _ in clean]
        errors = [one.error or 0.0 for _, one in clean]
        takes_over = next((step for (step, _), e, r in zip(clean, errors, rounding, strict=True) if e <= r), None)
        local: list[float] = []
        for place in range(len(clean) - 1):
            if errors[place] > rounding[place] and errors[place + 1] > rounding[place + 1]:
                local.append(
                    math.log(errors[place] / errors[place + 1]) / math.log(clean[place][0] / clean[place + 1][0])
                )
            elif local:
                break
        end = f"; below h = {takes_over:.0e} rounding takes over" if takes_over is not None else ""
        if takes_over == clean[0][0]:
            exact = digits is None or digits >= EXACT
            what = "the formula is exact here, or nearly" if exact else "it hides how the quotient closes in"
            return None, f"nothing but rounding from the first step on: {what}"
        if not local:
            return None, f"the order cannot be seen{end}"
        observed = round(sorted(local[-3:])[len(local[-3:]) // 2], 2)
        if abs(observed - order) <= NEARLY:
            return observed, f"order {observed:.1f} as it should be{end}"
        if abs(observed + 1) <= NEARLY and not self.turning:
            where = "here" if takes_over is None else "inside the stencil"
            return observed, f"order {observed:.1f} instead of {order}: the value jumps {where}{end}"
        if observed > order:
            what = "the third derivative" if order == CENTRAL else "the second derivative"
            return observed, f"order {observed:.1f}, better than {order}: {what} is 0 here or small{end}"
        why = f"{self.turn(self.turning)} at the point itself" if self.turning else NOT_SMOOTH
        return observed, f"order {observed:.1f} instead of {order}: {why}{end}"

    def choose(
        self, found: Approach, order: int, clean: list[tuple[float, Quotient]], truth: float, side: int | None
    ) -> None:
        """The quotient with the step that balances both errors, inside what is free of other branches."""
        step, x = self.best(order, side), self.x
        if step is None:  # no error of the formula to balance: the largest step is best; else the one that was nearest
            exact = self.curvature(order, side) == 0
            step = clean[0][0] if exact else min(clean, key=lambda one: one[1].error or 0.0)[0]
        step = float(f"{min(step, clean[0][0]):.0e}")
        low, high = (x if side == 1 else x - step), (x if side == 0 else x + step)
        one = self.quotient(low, high) if low != high else None
        if one is None:
            return
        found.step, found.value = step, one.value
        found.digits = _digits(one.value, truth)


def _digits(value: float, truth: float) -> float | None:
    """To how many digits two doubles agree; None where the one is 0 and the other is not quite."""
    if value == truth:
        return 15.9
    if truth == 0:
        return None
    return round(min(15.9, max(0.0, -math.log10(abs((value - truth) / truth)))), 1)


def _mark(rows: list[Convergence]) -> None:
    """Mark the row that comes nearest, the first of several."""
    central = [
        (row.central.error, -row.step)
        for row in rows
        if row.central and row.central.error is not None and not row.crosses
    ]
    one_sided = [
        (row.one_sided.error, -row.step)
        for row in rows
        if row.one_sided and row.one_sided.error is not None and not row.one_sided_crosses
    ]
    for row in rows:
        row.best_central = bool(central) and -row.step == min(central)[1]
        row.best_one_sided = bool(one_sided) and -row.step == min(one_sided)[1]


# -- which branch is taken ------------------------------------------------------------------------------------------

Probe = Callable[[list[Any]], Any]


def _probes(graph: Graph, moved: int) -> list[tuple[int, Probe]]:
    """For each node that can choose, and that depends on the one moved, what tells which choice it has made."""
    depends = bytearray(len(graph))
    depends[moved] = 1
    found: list[tuple[int, Probe]] = []
    for node in range(moved + 1, len(graph)):
        row, operands = graph.row(node), tuple(graph.operands(node))
        if row is None or not any(depends[operand] for operand in operands):
            continue
        depends[node] = 1
        found += [(node, probe) for probe in _probes_of(row, node, operands)]
    return found


def _probes_of(row: Row, node: int, operands: tuple[int, ...]) -> list[Probe]:
    """What tells which choice an operation has made: its own value when it is a step, its rules when they are, the sign
    of what is 0 at its kink or its pole."""
    arity = len(operands)
    rules = row.rules((True,) * arity)
    if row.gives_condition or all(rule in ("0", None) for rule in rules):
        return [lambda known: known[node]]
    texts = [rule for rule in rules if rule is not None and ("floor(" in rule or row.locally_constant)]
    texts += _between_poles(row.domain)
    signs = [] if row.locally_constant or "floor(" in "".join(filter(None, rules)) else list(row.kinks(arity))
    pole = _pole(row.domain)
    signs += [] if pole is None else [pole]
    # of x^-2 the sign of x tells on which side of the pole it is
    excluding = [] if pole is not None or not row.domain else range(arity)

    def worked_out(text: str, known: list[Any]) -> Any:
        given = [known[operand] for operand in operands]
        if any(one is None or isinstance(one, Hole) for one in given):
            return None
        return formula(text, row, arity).evaluate(REAL, given, known[node])

    def sign(text: str, known: list[Any]) -> Any:
        value = worked_out(text, known)
        return (value > 0) - (value < 0) if is_number(value) else None

    def side_of_hole(place: int, known: list[Any]) -> Any:
        given = [known[operand] for operand in operands]
        if not all(map(is_number, given)) or given[place] == 0:
            return None
        at_zero = [0.0 if one == place else value for one, value in enumerate(given)]
        return None if holds(row.domain, row, REAL, at_zero, None) else given[place] > 0

    return [
        *(lambda known, place=place: side_of_hole(place, known) for place in excluding),
        *(lambda known, text=text: worked_out(text, known) for text in texts),
        *(lambda known, text=text: sign(text, known) for text in signs),
    ]


@lru_cache(maxsize=256)
def _pole(domain: str) -> str | None:
    """What is 0 where an operation has a pole: `cos(x)` for the domain `cos(x) != 0`; None for other domains."""
    left, sign, right = domain.partition(" != ")
    if not sign or right != "0" or " and " in left or " or " in left:
        return None
    return left


def _between_poles(domain: str) -> list[str]:
    """What tells between which poles a number lies, of operations that have one at each integer where no condition
    holds: `where(x > 0, 0, floor(x))` for the domain `x > 0 or x != floor(x)`."""
    found = re.fullmatch(r"(.+) or (\w+) != floor\(\2\)", domain)
    return [f"where({found[1]}, 0, floor({found[2]}))"] if found else []


def _differ(here: Any, there: Any) -> bool:
    """Whether two choices differ; one that cannot be told differs from none."""
    if here is None or there is None or isinstance(here, Hole) or isinstance(there, Hole):
        return False
    return bool(here != there)


__all__ = ["Approach", "Convergence", "Quotient", "Stencils", "stencils", "steps"]
