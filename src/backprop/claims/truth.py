"""Truth: the program at a point with many digits, from the numbers as they were typed (0.1 is one tenth).

What the rules give is held against quotients of values, in which no rule has a part; random points let a formula be
judged as a function, and they are the same for the same program.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from backprop.beside.differences import LEVELS, Slopes, affordable, cut, exponents, leads_to_output, many, told
from backprop.beside.stairs import climbed, shortened, stairs
from backprop.claims.reading import Claim
from backprop.forward import tangents
from backprop.graph import CONST, Graph
from backprop.kinds import Hole, is_number
from backprop.kinds.digits import Digits
from backprop.reverse import reverse
from backprop.rules import Partials, partials
from backprop.values import values

FINE, FINER = 60, 120
CLOSE = 1e-25  # two results of so many digits are one number when they are so near
SURE = 1e-12  # rules and quotients have to agree so far

# A formula is judged at so many points; with fewer than the least it is not.
MOST_POINTS, LEAST_POINTS, MOST_TRIES = 12, 4, 60
# What looking at all of them may cost, in evaluations of a node.
MOST_EVALUATIONS = 60_000

# Where random points lie: wide, positive, inside and outside of the unit interval.
RANGES = ((-3.0, 3.0), (0.1, 3.0), (0.05, 0.95), (1.1, 6.0), (-0.95, 0.95), (-8.0, 8.0), (4.0, 40.0), (-3.0, -0.1))

Texts = Mapping[int, str]

NO_VALUE = "there is no value here"


class Sample:
    """The program with numbers (their plain texts) at some nodes, worked out with so many digits."""

    def __init__(self, graph: Graph, texts: Texts, digits: int = FINE, kind: Digits | None = None) -> None:
        self.graph, self.texts = graph, texts
        self.digits = digits
        self.kind = many(digits) if kind is None else kind
        self.leaves = {node: self._number(node, text) for node, text in texts.items()}
        self.values = values(graph, self.kind, self.leaves)
        self._views: dict[tuple[int, int], View] = {}

    def _number(self, node: int, text: str) -> Any:
        try:
            return self.kind.number(text)
        except OverflowError:
            return Hole(node, "overflow")

    def view(self, of: int, by: int) -> View:
        """Adjoints of `of` and tangents of `by`."""
        if (of, by) not in self._views:
            self._views[of, by] = View(self, of, by)
        return self._views[of, by]

    def right(self, claim: Claim) -> Any:
        """What is right, by the rules; None where there is no number."""
        found = self.values[claim.of] if claim.by is None else self.view(claim.of, claim.by).slope
        return found if is_number(found) else None

    def said(self, claim: Claim) -> Any:
        """What a claim gives here; None where it has no value."""
        if claim.number is not None:
            number = self._number(claim.of, claim.number)
            return number if is_number(number) else None
        assert claim.formula is not None
        leaves = {node: self.values[own] for node, own in claim.names}
        if any(value is None or isinstance(value, Hole) for value in leaves.values()):
            return None
        found = values(claim.formula, self.kind, leaves)[claim.formula.output]
        return found if is_number(found) else None

    def blur_of_said(self, claim: Claim) -> Any:
        """How far rounding may move what a claim gives: each node is off in its last digit, and that is passed on."""
        graph = claim.formula
        if graph is None:
            return self.kind.number("0")
        leaves = {node: self.values[own] for node, own in claim.names}
        known = values(graph, self.kind, leaves)
        slopes = partials(graph, self.kind, known, bytearray(b"\1" * len(graph)))
        passed = reverse(graph, slopes, self.kind).adjoints
        total = self.kind.number("0")
        for node, (value, adjoint) in enumerate(zip(known, passed, strict=True)):
            if graph.codes[node] != CONST and not isinstance(value, bool) and is_number(value) and is_number(adjoint):
                total += abs(value * adjoint)
        return total * self.unit

    def blur_of_right(self, claim: Claim) -> Any:
        """How far rounding may move what is right: by the last digit of the largest term that meets in it."""
        if claim.by is None:
            value = self.values[claim.of]
            return abs(value) * self.unit if is_number(value) else self.kind.number("0")
        return self.view(claim.of, claim.by).weight * self.unit

    @property
    def unit(self) -> Any:
        """A few units in the last digit of 1."""
        return self.kind.number(f"1e{5 - self.digits}")

    def beside(self, of: int, by: int) -> Slopes:
        """The slopes from values alone."""
        x, middle = self.values[by], self.values[of]
        if not is_number(x):
            return Slopes(reason="it is infinite, and nothing lies beside it")
        if not is_number(middle):
            return Slopes(reason=NO_VALUE)
        graph = replace(cut(self.graph, by), output=of)
        shorter = self._nearer(graph, by)
        finer = Sample(self.graph, self.texts, self.digits + shorter) if shorter else self
        kind, x = finer.kind, finer.values[by]
        size = min(abs(x), kind.number("1")) if self.digits == LEVELS[-1] else abs(x)
        steps = [kind.number(f"1e{exponent - shorter}") * (size or 1) for exponent in exponents(self.digits)]

        def value(moved: Any) -> Any:
            return values(graph, kind, {**finer.leaves, by: moved})[of]

        return told(finer.values[of], [(value(x - h), value(x + h)) for h in steps], steps)

    def _nearer(self, graph: Graph, by: int) -> int:
        """By how many powers of ten the steps have to be shortened, so that they end on one stair."""
        met = stairs(graph)

        def counts(sign: int, shorter: int) -> list[Any]:
            sample = Sample(self.graph, self.texts, LEVELS[0] + shorter)
            kind, x = sample.kind, sample.values[by]
            step = sign * kind.number(f"1e{exponents(LEVELS[0])[0] - shorter}") * (abs(x) or 1)
            known = values(graph, kind, {**sample.leaves, by: x + step})
            return [climbed(kind, row, [known[operand] for operand in graph.operands(node)]) for node, row in met]

        return shortened(counts) if met else 0


class View:
    """One derivative, d `of` / d `by`, inside a sample: adjoints from `of`, tangents from `by`."""

    def __init__(self, sample: Sample, of: int, by: int) -> None:
        self.sample, self.of, self.by = sample, of, by
        graph = sample.graph
        self.partials: Partials = partials(graph, sample.kind, sample.values, graph.moving([by]))

    @cached_property
    def adjoints(self) -> list[Any]:
        return reverse(self.sample.graph, self.partials, self.sample.kind, self.of).adjoints

    @cached_property
    def tangents(self) -> list[Any]:
        sample = self.sample
        return tangents(sample.graph, self.partials, sample.kind, {self.by: sample.kind.number("1")})

    @cached_property
    def weight(self) -> Any:
        """The sum of the sizes of all path terms."""
        graph, zero = self.sample.graph, self.sample.kind.number("0")
        found: list[Any] = [zero] * len(graph)
        found[self.of] = self.sample.kind.number("1")
        for node in range(self.of, self.by, -1):
            if found[node]:
                for edge in graph.edges_to(node):
                    slope = self.partials.values[edge.place]
                    if is_number(slope) and not self.partials.exact_zero[edge.place]:
                        found[edge.source] += found[node] * abs(slope)
        return found[self.by]

    @property
    def slope(self) -> Any:
        """The derivative by the rules; 0 where nothing leads from the one to the other."""
        found = self.adjoints[self.by]
        return self.sample.kind.number("0") if found is None else found


@dataclass(slots=True)
class Truth:
    """What is right at a point: a `value`, or the slopes from `left` and `right` where they are not one.

    `reason` says why there is none; `unsure` that it could not be told. `infinite` are the signs of slopes that grow
    without bound.
    """

    value: Any = None
    left: Any = None
    right: Any = None
    reason: str = ""
    unsure: bool = False
    infinite: frozenset[int] = frozenset()

    @property
    def kink(self) -> bool:
        return self.left is not None and self.right is not None

    @property
    def undefined(self) -> bool:
        return bool(self.reason) and not self.unsure


def true_answer(graph: Graph, texts: Texts, of: int, by: int | None) -> Truth:
    """What is right at a point, told by values beside it and by the rules."""
    if by is None:
        return _value(graph, texts, of)
    if not leads_to_output(replace(graph, output=of), by):
        sample = Sample(graph, texts)
        return Truth(value=sample.kind.number("0")) if is_number(sample.values[of]) else Truth(reason=NO_VALUE)
    found, known = Slopes(reason="the graph is too large"), None
    for digits in LEVELS:
        if not affordable(graph, digits):
            break
        sample = Sample(graph, texts, digits)
        if not is_number(sample.values[of]):
            return Truth(reason=NO_VALUE)
        if sample.values[by] is None:
            return Truth(value=sample.kind.number("0"))  # it stands in a branch that is not taken
        known = sample.right(Claim("", of, by, "", ""))
        found = sample.beside(of, by)
        if not found.reason:
            break
    return _told(found, known)


def _value(graph: Graph, texts: Texts, of: int) -> Truth:
    """The value of a node, once two levels of digits agree on it."""
    before: Any = None
    for digits in LEVELS:
        if not affordable(graph, digits):
            break
        found = Sample(graph, texts, digits).values[of]
        if isinstance(found, bool) or not is_number(found):
            return Truth(reason=NO_VALUE if found is not None else "it stands in a branch that is not taken")
        if before is not None and abs(found - before) <= abs(found) * CLOSE:
            return Truth(value=found)
        if before is not None and abs(found) < abs(before) * 1e-100:
            return Truth(value=found * 0)
        before = found
    return Truth(value=before)


def _told(found: Slopes, known: Any) -> Truth:
    """What quotients of values and the rules tell together."""
    if found.central is not None:
        if known is not None and abs(known - found.central) <= SURE * abs(found.central):
            return Truth(value=known)
        return Truth(value=found.central)
    if found.left is not None or found.right is not None:
        return Truth(left=found.left, right=found.right)
    if found.flat and found.ends is not None:
        left, right = (None if end.sort == "none" else end.value for end in found.ends)
        if left is not None and right is not None:
            return Truth(value=left if known is None else known)
        return Truth(left=left, right=right)
    ends = found.ends or ()
    if any(end.sort == "jump" for end in ends):
        left, right = (end.value if end.sort in ("slope", "zero", "flat") else None for end in ends)
        return Truth(reason="the value jumps") if left is right is None else Truth(left=left, right=right)
    if known is not None:
        told = f"the rules give a slope that values beside the point do not show: {found.reason}"
        return Truth(reason=told, unsure=True)
    infinite = frozenset(1 if end.value > 0 else -1 for end in ends if end.sort == "steep")
    return Truth(reason=found.reason, infinite=infinite)


@dataclass(slots=True)
class Trial:
    """A random point at which a formula is judged: the sample, what is right there, and whether it lies near by."""

    sample: Sample
    right: Any
    near: bool

    def vanishes(self, claim: Claim) -> bool:
        """Whether what is right is 0 but for rounding."""
        return bool(abs(self.right) <= self.sample.blur_of_right(claim))


@dataclass(slots=True)
class Trials:
    """Random points for one derivative or value, and how many others had no use (`skipped`)."""

    usable: list[Trial]
    skipped: int


class Field:
    """Where the random points of a program lie: near the point given, when there is one, and far from it."""

    def __init__(self, graph: Graph, source: str, given: Texts | None) -> None:
        self.graph, self.given = graph, given
        self.variables = graph.default_wrt()
        seed = int.from_bytes(hashlib.sha256(source.encode()).digest()[:8], "big")
        chance = random.Random(seed)
        self.points = [self._point(chance, place) for place in range(MOST_TRIES)]
        self._samples: dict[int, Sample] = {}
        self._trials: dict[tuple[int, int | None], Trials] = {}

    def _point(self, chance: random.Random, place: int) -> tuple[Texts, bool]:
        """One random point: every third is near the one given, the others are far."""
        near = self.given is not None and place % 3 == 0
        wide = RANGES[(place - place // 3) % len(RANGES)]
        texts: dict[int, str] = {}
        for node in self.variables:
            if near and self.given is not None:
                texts[node] = _moved(self.given[node], chance)
            else:
                low, high = wide if place < 2 * len(RANGES) else RANGES[chance.randrange(len(RANGES))]
                texts[node] = f"{low + (high - low) * chance.random():.3g}"
        return texts, near

    def sample(self, place: int) -> Sample:
        if place not in self._samples:
            self._samples[place] = Sample(self.graph, self.points[place][0])
        return self._samples[place]

    def trials(self, of: int, by: int | None) -> Trials:
        """The points at which what is right is known for certain."""
        if (of, by) not in self._trials:
            most = max(LEAST_POINTS, min(MOST_POINTS, MOST_EVALUATIONS // (12 * len(self.graph))))
            usable: list[Trial] = []
            skipped = 0
            claim = Claim("", of, by, "", "")
            for place, (_, near) in enumerate(self.points):
                if len(usable) >= most or (place >= 2 * MOST_POINTS and len(usable) >= LEAST_POINTS):
                    break
                sample = self.sample(place)
                right = sample.right(claim)
                if right is None or (by is not None and not _sure(sample, of, by, right)):
                    skipped += 1
                else:
                    usable.append(Trial(sample, right, near))
            self._trials[of, by] = Trials(usable, skipped)
        return self._trials[of, by]


def _moved(text: str, chance: random.Random) -> str:
    """A number near another one, with few digits."""
    from backprop.kinds.real import REAL

    try:
        at = float(REAL.number(text))
    except OverflowError:
        return text
    if not math.isfinite(at):
        return text
    away = (0.01 + 0.04 * chance.random()) * (1 if chance.random() < 0.5 else -1)
    return f"{at * (1 + away) if at else away:.4g}"


def _sure(sample: Sample, of: int, by: int, right: Any) -> bool:
    """Whether the quotients of values give the slope of the rules."""
    if not leads_to_output(replace(sample.graph, output=of), by) or sample.values[by] is None:
        return True
    found = sample.beside(of, by)
    if found.flat:
        return True
    if found.central is None:
        return False
    # what is left of terms that cancel is 0 for the one and noise for the other
    return bool(abs(found.central - right) <= SURE * abs(right) or max(abs(found.central), abs(right)) < 1e-30)


def same(claim: Claim, sample: Sample, said: Any, right: Any) -> bool | None:
    """Whether a claim gives what is right; None where rounding hides it.

    1 - tanh(x)^2 at x = 200 is 0 with 120 digits, whatever it is in truth: such a point tells nothing.
    """
    for at in (sample, Sample(sample.graph, sample.texts, FINER)):
        if at is not sample:
            said, right = at.said(claim), at.right(claim)
            if said is None or right is None:
                return None
        apart, size = abs(said - right), max(abs(said), abs(right))
        blur = at.blur_of_said(claim) + at.blur_of_right(claim)
        if apart > max(CLOSE * size, blur):
            return False
        if blur <= CLOSE * size or size == blur == 0:
            return True
    return None


def same_at(claim: Claim, graph: Graph, texts: Texts, right: Any) -> bool | None:
    """Whether a claim gives what is right at one point, with as many digits as that takes; None where none suffice."""
    for digits in LEVELS:
        if not affordable(graph, digits) and digits != LEVELS[0]:
            break
        sample = Sample(graph, texts, digits)
        said = sample.said(claim)
        if said is None:
            return None
        apart, blur = abs(said - right), sample.blur_of_said(claim)
        if apart > max(CLOSE * max(abs(said), abs(right)), blur):
            return False
        if blur <= CLOSE * max(abs(said), abs(right)) or apart == 0:
            return True
    return None


def sharp(claim: Claim, sample: Sample, said: Any) -> bool:
    """Whether a claim keeps its digits at a point, so that it can be told from others there."""
    return bool(sample.blur_of_said(claim) <= CLOSE * abs(said))


def named(graph: Graph, texts: Texts, nodes: Sequence[int], most: int = 4) -> str:
    """A point in words: "x = 1.7, y = 2"."""
    parts = [f"{graph.name_of(node)} = {texts[node]}" for node in nodes[:most]]
    return ", ".join(parts) + (", ..." if len(nodes) > most else "")


def in_doubles(texts: Texts) -> Texts:
    """The plain text of the double nearest to each number, all of its digits."""
    from decimal import Decimal

    from backprop.kinds.real import REAL

    doubles = {node: REAL.number(text) for node, text in texts.items()}
    return {node: str(Decimal(double)) if math.isfinite(double) else texts[node] for node, double in doubles.items()}


def texts_of(graph: Graph, given: Mapping[str, str]) -> Texts:
    """The plain text of the number at each variable of a program at a point."""
    found = {graph.inputs[name]: text for name, text in given.items() if name in graph.inputs}
    for node in graph.default_wrt():
        found.setdefault(node, graph.literals.get(node, "0"))
    return found
