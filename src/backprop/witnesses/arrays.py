"""The witnesses of an array program: the scalar graph that it opens into, and those of that graph.

The gradient of the closed graph, whose rules carry whole arrays, is held element by element against the opened
program, against SymPy on the closed form of each element, and against the value alone beside the point. None of these
uses a rule that carries an array. Each says one line for each input, with its worst element. Two more go where no
program is too large: forward mode along a direction, and quotients in doubles, of the whole and of each operation by
itself, which name the rule to blame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from backprop.accuracy.fine import ENOUGH, Fine
from backprop.accuracy.fine import of as fine_of
from backprop.accuracy.rounding import DOUBLE
from backprop.array_point import ArrayPoint
from backprop.arrays_text import element_name, element_of, indices_of
from backprop.beside.differences import as_double, exactly, many
from backprop.graph import CONST, INPUT
from backprop.kinds import Hole, is_number
from backprop.kinds.array import arrays
from backprop.kinds.real import Real
from backprop.kinds.shapes import elements, shape_of
from backprop.point import Point
from backprop.record import Note, Witness
from backprop.reverse import reverse
from backprop.rules import partials
from backprop.values import values
from backprop.witnesses import certified, modes, quotients

if TYPE_CHECKING:
    from backprop.accuracy.mending import Accuracy
    from backprop.witnesses import Running
    from backprop.witnesses.certified import Enclosing

BY = "opened"
# from the worst to the best
VERDICTS = ("DISAGREES", "inaccurate", "agrees", "not checked")
# Forward passes with which the worst element of an array is looked for, and elements that are told one by one.
MOST_PASSES = 64
# Elements of which a line holds the numbers that were found.
MOST_TOLD = 64


class Closed:
    """An array program that is held against the scalar program it opens into.

    `judged` is the opened program with the answers of the closed one, element by element; None where the program is too
    large to be opened.
    """

    def __init__(self, point: ArrayPoint) -> None:
        self.point = point
        self.opened = point.opened()
        self.judged = self.opened
        self.places: dict[str, Any] = {}  # the scalar nodes of what is asked for, by name, in its shape
        self._adjoints: dict[int, dict[int, Any] | None] = {}
        if self.opened is not None:
            found = point.opening()
            assert found is not None
            self.places = {name: np.asarray(found.places[node][at]) for name, (node, at) in point.asked.items()}
            answers = dict(self.opened.gradient())
            for name, places in self.places.items():
                slopes = _elements(point.gradient()[name], places)
                for place, slope in zip(map(int, places.flat), slopes, strict=True):
                    if place >= 0:
                        answers[self.opened.name_of(place)] = slope
            self.judged = replace(self.opened, _gradient=answers)

    @cached_property
    def fine(self) -> ClosedFine:
        """The opened program in many digits, whose adjoints are those of the rules that carry arrays."""
        assert self.opened is not None
        return ClosedFine(self, fine_of(self.opened))

    def by_rules(self) -> dict[str, Any]:
        """What the rules that carry arrays give for each element, as the opened program calls it.

        Of an element at a kink it is what the opened rules give: a tie is shared by all that move, there the elements
        asked for, here the whole array.
        """
        assert self.opened is not None
        found, singular = dict(self.opened.by_rules()), self.opened.singular()
        for name, slopes in self.point.by_rules().items():
            known = ((place, slope) for _, place, slope in self.elements(name, slopes) if place not in singular)
            found |= {self.opened.name_of(place): slope for place, slope in known}
        return found

    def arrays(self) -> dict[str, list[int]]:
        """The scalar nodes of what is asked for, by name."""
        found = {name: [int(place) for place in places.flat if place >= 0] for name, places in self.places.items()}
        return {name: nodes for name, nodes in found.items() if nodes}

    def elements(self, name: str, slopes: Any) -> Iterator[tuple[str, int, Any]]:
        """Each element of what is asked for under a name: what it is called, its scalar node, and its slope."""
        node, at = self.point.asked[name]
        places = self.places[name]
        for further, place, slope in zip(
            np.ndindex(*places.shape), places.flat, _elements(slopes, places), strict=True
        ):
            if place >= 0:
                yield element_name(self.point.name_of(node), (*at, *further)), int(place), _number(slope)

    def adjoints(self, digits: int) -> dict[int, Any] | None:
        """The adjoints by the rules that carry arrays, with so many digits, by scalar node; None where there are none.

        Inputs and literals are the very numbers of the point.
        """
        if digits not in self._adjoints:
            self._adjoints[digits] = self._worked_out(digits)
        return self._adjoints[digits]

    def _worked_out(self, digits: int) -> dict[int, Any] | None:
        point, graph = self.point, self.point.graph
        base = many(digits)
        kind = arrays(base)
        leaves: dict[int, Any] = {}
        for node, code in enumerate(graph.codes):
            if code not in (INPUT, CONST):
                continue
            value = point.values[node]
            if isinstance(value, slice):
                continue
            if isinstance(point.kind.base, Real) or not point.kind.base.rounds:
                numbers = [_exact(base, one) for one in elements(value)]
                leaves[node] = kind.packed(numbers, shape_of(value)) if shape_of(value) else numbers[0]
            else:
                leaves[node] = kind.number(point.given[graph.names[node]] if code == INPUT else graph.literals[node])
        known = values(graph, kind, leaves)
        if not is_number(known[graph.output]):
            return None
        back = reverse(graph, partials(graph, kind, known, point.moving), kind)
        found: dict[int, Any] = {}
        for name, (node, at) in point.asked.items():
            adjoint, zero = back.adjoints[node], base.number("0")
            spread = kind.broadcast(zero if adjoint is None else adjoint, shape_of(point.values[node]))
            part = spread[at] if at else spread
            for _, place, one in self.elements(name, part):
                found.setdefault(place, one)
        return found


def _exact(base: Any, value: Any) -> Any:
    if hasattr(value, "numerator"):
        return base.number(f"{value.numerator}/{value.denominator}")
    return exactly(base, float(value) if isinstance(value, np.floating) else value)


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, np.floating) else value


def _elements(answer: Any, places: Any) -> Sequence[Any]:
    """The elements of an answer, as many as it has places; a hole is one for each."""
    return [answer] * places.size if isinstance(answer, Hole) else list(elements(answer))


class ClosedFine(Fine):
    """The opened program in many digits, whose adjoints are held against the rules that carry arrays."""

    def __init__(self, closed: Closed, opened: Fine) -> None:
        super().__init__(opened.point, opened.rough, opened.as_written)
        self._levels = opened._levels
        self.closed = closed

    def adjoint(self, node: int) -> Any:
        """What the rules that carry arrays make of an adjoint with many digits: the true one where they are right."""
        true = super().adjoint(node)
        found = self.closed.adjoints(DIGITS)
        if found is None or node not in found:
            return true
        ours = found[node]
        if not is_number(ours):
            return None if isinstance(ours, Hole) else true
        if is_number(true) and abs(ours - true) <= max(abs(true) * 1e-20, _tiny(self.weights[node])):
            return true
        # 60 digits may be too few for the closed rules too; then nothing is told
        apart = math.inf if not is_number(true) else abs(ours - true)
        return ours if is_number(true) and apart > 1e-40 * self.weights[node] else None


DIGITS = 60
ONLY_ROUNDING = "the rules are right; doubles lose the other digits here"


def _same(ours: Any, theirs: Any, weight: float) -> bool:
    """Whether two numbers of many digits are one, where the terms of their sums are together of that size."""
    if not is_number(ours) or not is_number(theirs):
        return False
    return bool(abs(ours - theirs) <= max(abs(theirs) * 1e-20, weight * 1e-30 if weight < math.inf else 0.0))


def _tiny(weight: float) -> float:
    return weight * 1e-50 if weight < math.inf else 0.0


class ArraysRunning:
    """The witnesses of an array program at work: those of the opened program go on in their own process."""

    def __init__(self, point: ArrayPoint, start: Callable[..., Running | Enclosing]) -> None:
        self.point = point
        self.closed = Closed(point)
        self.judged = self.closed.judged
        self.running = None if self.judged is None else start(self.judged, self.closed)
        self.by_element: list[Witness] = []  # what was said of each number by itself

    def finish(self) -> tuple[list[Witness], list[Note]]:
        """What all witnesses say, one line for each input and way, with the worst element."""
        said, notes = ([], []) if self.running is None else self.running.finish()
        whole = [witness for witness in said if witness.of == "all" and witness.by not in (modes.BY_PATHS,)]
        self.by_element = [witness for witness in said if witness.of != "all"]
        each = self._gathered(self.by_element)
        if isinstance(self.point.value(), Hole):
            told = Witness("all", BY, "not checked", reason="there is no value here")
            return ([*each, *whole] or [told]), notes
        found = [*each, *self._by_values(each, whole), *self._by_opening(), *self._by_direction()]
        order = {name: place for place, name in enumerate(self.point.asked)}
        found.sort(key=lambda one: (order.get(one.of, len(order)), WAYS.index(one.by) if one.by in WAYS else 0))
        if isinstance(self.point.kind.base, Real) and not self.point.kind.propagates:
            by_operation = quotients.by_operation(self.point)
            disagree = [one for one in (*found, *by_operation) if one.verdict == "DISAGREES"]
            if disagree and self._rules_are_right():
                for witness in disagree:
                    witness.verdict, witness.reason = "inaccurate", ONLY_ROUNDING
            blame = "; ".join(one.reason or "" for one in by_operation if one.verdict == "DISAGREES")
            for witness in found:
                if witness.verdict == "DISAGREES" and blame:
                    witness.reason = "; ".join(part for part in (witness.reason, blame) if part)
            whole = [*by_operation, *whole]
        return [*found, *whole], notes

    def _rules_are_right(self) -> bool:
        """Whether the rules that carry arrays, forward and in reverse, give the true derivatives with many digits."""
        opened, point = self.closed.opened, self.point
        ours = None if opened is None or not opened.kind.digits else self.closed.adjoints(DIGITS)
        if opened is None or ours is None:
            return False
        true = fine_of(opened)
        if not all(_same(ours[node], true.adjoint(node), true.weights[node]) for node in ours):
            return False
        there = point.in_kind(many(DIGITS))
        assert isinstance(there, ArrayPoint)
        base = there.kind.base
        for name, (node, at) in point.asked.items():
            adjoint = there.by_rules()[name] if name in there.asked else None
            if at or adjoint is None or isinstance(adjoint, Hole):
                return False
            shape = shape_of(adjoint)
            numbers = [base.number(f"{size:.3f}") for size in quotients.irregular(shape).flat]
            direction = there.kind.packed(numbers, shape)
            terms = list(elements(there.kind.scale(adjoint, direction)))
            tangent = there.tangents({node: direction})[there.graph.output]
            if not all(map(is_number, terms)) or not is_number(tangent):
                return False
            if not _same(_added(base, terms), tangent, math.fsum(abs(as_double(term)) for term in terms)):
                return False
        return True

    def enclosed(self) -> list[Witness]:
        """What proven enclosures say, in the same form."""
        if self.closed.judged is None:
            return []
        said = certified.testify(self.closed.judged)
        return [*self._gathered([one for one in said if one.of != "all"]), *(one for one in said if one.of == "all")]

    def worst(self) -> list[int]:
        """For each input the scalar node of its element that agrees least."""
        opened = self.closed.opened
        if opened is None:
            return []
        digits = {one.of: math.inf if one.digits is None else one.digits for one in self.by_element}
        return list(
            dict.fromkeys(
                min(
                    (int(place) for place in places.flat if place >= 0),
                    key=lambda at: digits.get(opened.name_of(at), 99),
                )
                for places in self.closed.places.values()
                if np.any(places >= 0)
            )
        )

    # -- what the witnesses of the opened program say

    def _gathered(self, said: list[Witness]) -> list[Witness]:
        """One line for each node asked for and way, out of one for each element."""
        if self.closed.opened is None:
            return []
        by_name: dict[str, dict[str, Witness]] = {}
        for witness in said:
            by_name.setdefault(witness.by, {})[witness.of] = witness
        found: list[Witness] = []
        name_of = self.closed.opened.name_of
        for asked, places in self.closed.places.items():
            for by, known in by_name.items():
                each = [
                    (name, known[name_of(place)])
                    for name, place, _ in self.closed.elements(asked, places)
                    if name_of(place) in known
                ]
                if each:
                    found.append(gathered(asked, by, each, places.size))
                elif asked in known:  # told of the whole array
                    found.append(known[asked])
        return found

    def _by_values(self, each: list[Witness], whole: list[Witness]) -> list[Witness]:
        """Quotients in doubles along one direction of each input, for what no difference with many digits was told."""
        from backprop.witnesses.differences import BY as DIFFERENCE

        if not isinstance(self.point.kind.base, Real) or self.point.kind.propagates:
            return []
        told = {one.of for one in each if one.by == DIFFERENCE}
        for one in [one for one in whole if one.by == DIFFERENCE and one.verdict == "not checked"]:
            whole.remove(one)
        gradient = self.point.gradient()
        return [
            quotients.of_input(self.point, name, gradient[name])
            for name in self.point.asked
            if name not in told and _finite(gradient[name])
        ]

    # -- the opened graph and forward mode

    def _by_opening(self) -> list[Witness]:
        """The adjoints of the closed graph against those of the opened one, every element."""
        opened, point = self.closed.opened, self.point
        if opened is None:
            reason = "the program is too large to be opened into single numbers"
            return [Witness(name, BY, "not checked", reason=reason) for name in point.asked]
        ours, theirs = point.by_rules(), opened.by_rules()
        weights = fine_of(opened).weights if opened.kind.digits else [0.0] * len(opened.graph)
        known = opened.accuracy()
        mended = {} if known is None else known.slopes
        kinks = opened.singular()
        found: list[Witness] = []
        for asked, places in self.closed.places.items():
            said: list[tuple[str, Witness]] = []
            for name, place, slope in self.closed.elements(asked, ours[asked]):
                if place in kinks or place in mended:
                    reason = "doubles lose digits here" if place in mended else "there is a kink or a hole"
                    said.append((name, Witness(name, BY, "not checked", reason=reason)))
                    continue
                other = theirs[opened.name_of(place)]
                told = compared(opened, name, slope, other, weights[place])
                if told.verdict == "DISAGREES" and known is not None:
                    _allow_for_rounding(told, slope, other, known, place)
                said.append((name, told))
            found.append(gathered(asked, BY, said, places.size))
        return found

    def _by_direction(self) -> list[Witness]:
        """Forward mode along one direction of each input: the tangent of the output is adjoint · direction."""
        if self.point.kind.intervals:
            return []
        return [self._along(name, adjoint) for name, adjoint in self.point.by_rules().items()]

    def _along(self, name: str, adjoint: Any) -> Witness:
        point, kind = self.point, self.point.kind
        numbers = list(elements(adjoint))
        if not all(map(is_number, numbers)):
            return Witness(name, modes.BY_FORWARD, "not checked", reason="a partial on the way has no value")
        shape = shape_of(adjoint)
        sizes = [
            size if number >= 0 else -size
            for size, number in zip(quotients.irregular(shape).flat, numbers, strict=True)
        ]
        direction = self._packed(sizes, shape)
        tangent = self._moved(name, direction)
        terms = list(elements(kind.scale(adjoint, direction)))
        theirs = kind.base.number("0") if tangent is None else tangent
        if isinstance(theirs, Hole) or not is_number(theirs):
            return Witness(name, modes.BY_FORWARD, "not checked", reason="a partial on the way has no value")
        ours = _added(kind.base, terms)
        weight = math.fsum(abs(as_double(term)) for term in terms)
        if self.closed.opened is not None:
            weight = max(weight, self._weight(name, sizes))
        added = 0 if self.closed.opened is not None else max(math.prod(shape_of(one)) for one in point.values)
        said = compared(self.closed.opened or point, name, ours, theirs, weight, modes.BY_FORWARD, added)
        said.value = None
        if said.verdict == "DISAGREES":
            said.worst = self._worst(name, numbers, shape)
        if shape:
            said.reason = "; ".join(part for part in ("along one direction", said.reason) if part)
        return said

    def _moved(self, name: str, direction: Any) -> Any:
        """The tangent of the output when what is asked for under a name moves along a direction."""
        point = self.point
        node, at = point.asked[name]
        if at:
            whole = point.kind.broadcast(point.kind.base.number("0"), shape_of(point.values[node]))
            whole[at] = direction
            direction = whole
        return point.tangents({node: direction})[point.graph.output]

    def _packed(self, sizes: list[Any], shape: tuple[int, ...]) -> Any:
        kind = self.point.kind
        made = sizes if isinstance(kind.base, Real) else [kind.base.number(f"{size:.3f}") for size in sizes]
        return kind.packed(made, shape)

    def _weight(self, name: str, sizes: list[float]) -> float:
        """The sizes of all path terms along a direction."""
        opened = self.closed.opened
        assert opened is not None
        weights = fine_of(opened).weights if opened.kind.digits else []
        pairs = zip(self.closed.places[name].flat, sizes, strict=True)
        return math.fsum(weights[int(place)] * abs(size) for place, size in pairs if place >= 0 and weights)

    def _worst(self, name: str, numbers: list[Any], shape: tuple[int, ...]) -> str | None:
        """The element whose tangent differs most from its adjoint, if there are not too many to move one by one."""
        if not shape or len(numbers) > MOST_PASSES:
            return None
        apart: list[float] = []
        for place, number in enumerate(numbers):
            one = self._packed([1.0 if at == place else 0.0 for at in range(len(numbers))], shape)
            tangent = self._moved(name, one)
            apart.append(abs(as_double(number - (0 if tangent is None else tangent))))
        place = int(np.argmax(apart))
        node, at = self.point.asked[name]
        return element_name(self.point.name_of(node), (*at, *indices_of(shape, place)))


WAYS = ("sympy", "difference", BY, modes.BY_FORWARD)


def _added(base: Any, terms: list[Any]) -> Any:
    """The sum of numbers, of doubles to the last digit however many they are."""
    if isinstance(base, Real) and all(map(math.isfinite, terms)):
        return math.fsum(terms)
    total = base.number("0")
    for term in terms:
        total = base.add(total, term)
    return total


def compared(point: Point, of: str, ours: Any, theirs: Any, weight: float, by: str = BY, added: int = 0) -> Witness:
    """Two numbers that are one sum in two orders."""
    if not isinstance(ours, Hole) and not isinstance(theirs, Hole) and not is_number(ours) and not is_number(theirs):
        return Witness(of, by, "not checked", reason="neither way has a number here")
    if point.kind.intervals:
        if isinstance(ours, Hole) or isinstance(theirs, Hole):
            return Witness(of, by, "not checked", reason="nothing is proven here")
        apart = (ours - theirs).holds(0)
        return Witness(of, by, "agrees" if apart else "DISAGREES", reason="" if apart else "the enclosures are apart")
    said = modes.compared(point, of, by, ours, theirs, weight, added)
    if said.verdict == "DISAGREES" and by == BY:
        said.reason = "the opened program has another number"
    return said


def _allow_for_rounding(said: Witness, ours: float, theirs: float, known: Accuracy, node: int) -> None:
    """Take back a disagreement of doubles that rounding explains: the values on the way differ too."""
    error = known.errors.adjoints[node] if known.errors.adjoints and known.errors.branch < 0 else math.inf
    if (said.digits or 0.0) >= ENOUGH or abs(ours - theirs) <= 16 * DOUBLE.unit * error < math.inf:
        said.verdict, said.reason = "agrees", "as far as the rounding of both goes"
    elif error == math.inf:
        said.verdict, said.reason = "not checked", "doubles promise no digits here"


def gathered(of: str, by: str, said: list[tuple[str, Witness]], count: int) -> Witness:
    """One line out of those of all elements: the worst verdict, the fewest digits, and at which element."""
    if not said:
        return Witness(of, by, "not checked", reason="there is nothing to compare")
    if count == 1 and said[0][0] == of:
        one = said[0][1]
        return replace(one, of=of)

    def rank(pair: tuple[str, Witness]) -> tuple[int, float]:
        witness = pair[1]
        digits = math.inf if witness.digits is None else witness.digits
        return VERDICTS.index(witness.verdict), digits

    name, worst = min(said, key=rank)
    silent = [(one, witness) for one, witness in said if witness.verdict == "not checked"]
    reason = worst.reason
    if worst.verdict == "agrees" and silent:
        left = f"{len(silent)} of {count} elements not checked: {silent[0][0]}: {silent[0][1].reason}"
        reason = "; ".join(part for part in (reason, left) if part)
    # where all agree to the last digit none is the worst
    full = worst.verdict == "agrees" and (worst.digits is None or worst.digits >= 15.9)
    values = [witness.value for _, witness in said]
    found = None if None in values or not len(values) == count <= MOST_TOLD else nested(values, [at[0] for at in said])
    return Witness(of, by, worst.verdict, found, worst.digits, reason or None, None if full else name)


def nested(values: list[Any], names: list[str]) -> Any:
    """Values row by row as nested lists, as the indices in the names of the elements go."""
    last = element_of(names[-1])[1]
    first = element_of(names[0])[1]
    rows = list(values)
    for size in [1 + end - begin for begin, end in zip(first, last, strict=True)][:0:-1]:
        rows = [rows[at : at + size] for at in range(0, len(rows), size)]
    return rows


def _finite(answer: Any) -> bool:
    return not isinstance(answer, Hole) and all(map(is_number, elements(answer)))
