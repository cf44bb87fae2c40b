"""Outputs: an array program at a point as a function of numbers, its products with a vector, and its elements apart.

Each element of the output is a scalar program of its own, the part of the opened one that leads to it. It is asked
where the point is delicate (a kink, a hole, digits that doubles lose): what the passes tell is not the answer there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from backprop import unopened
from backprop.array_point import ALWAYS_ASKED, DIFFERENT, SLACK, ArrayPoint
from backprop.arrays_text import element_name
from backprop.forward import weighted
from backprop.gradient import refuse_holes, remarks
from backprop.higher.blocks import Part
from backprop.higher.sparsity import Pattern, pattern
from backprop.kinds import Hole, Kind, is_number
from backprop.kinds.array import Arrays
from backprop.kinds.doubles import Doubles
from backprop.kinds.real import Real
from backprop.kinds.shapes import Shape, shape_of
from backprop.mistakes import Undefined
from backprop.opening import MOST_NODES, Opened
from backprop.point import Point
from backprop.record import Note
from backprop.reverse import reverse
from backprop.rules import kinks
from backprop.values import values

# Nodes of the opened program that are worked out again, element by element of the output, to confirm its rows; and to
# look at those that are delicate.
MOST_CONFIRMED, MOST_LOOKED_AT = 15_000, 150_000
MOST_NOTES = 20


@dataclass(frozen=True, slots=True)
class Asked(Part):
    """A part that is asked for: its node, and the places of its elements in that, counted row by row."""

    node: int
    places: list[int]


def asked_parts(here: Point) -> list[Asked]:
    """What is asked for at a point: whole nodes, and elements and rows of them."""
    if not isinstance(here, ArrayPoint):
        return [Asked(here.name_of(node), (), [here.name_of(node)], node, [0]) for node in here.wrt]
    found = []
    for name, (node, at) in here.asked.items():
        shape = shape_of(here.values[node])
        places = np.asarray(np.arange(math.prod(shape)).reshape(shape)[at])
        label = here.name_of(node)
        elements = [element_name(label, (*at, *inside)) for inside in np.ndindex(*places.shape)]
        found.append(Asked(name, places.shape, elements, node, places.reshape(-1).tolist()))
    return found


class Outputs:
    """A program at a point as a function from the elements of its inputs to those of its output.

    `columns` are the elements of what is asked for: the node and the place in it, row by row.
    """

    def __init__(self, here: Point) -> None:
        self.here = here
        self.kind = here.kind
        self.base: Kind = here.kind.base if isinstance(here, ArrayPoint) else here.kind
        self.shape = here.shape
        self.count = math.prod(self.shape)
        self.parts = asked_parts(here)
        self.shapes = {part.node: shape_of(here.values[part.node]) for part in self.parts}
        self.columns = [(part.node, place) for part in self.parts for place in part.places]
        self.names = [name for part in self.parts for name in part.elements]
        self.output = here.graph.ids[here.graph.output]
        self._asked: dict[int, Point] | None = None
        self.unasked: list[int] = []  # delicate rows that would take too long to look at

    @cached_property
    def places_of(self) -> dict[str, list[int]]:
        """The columns of each element; several where it is asked for more than once, as W[0,1] by W and by W[0]."""
        found: dict[str, list[int]] = {}
        for column, name in enumerate(self.names):
            found.setdefault(name, []).append(column)
        return found

    @cached_property
    def rows(self) -> list[str]:
        """What each row is called: f[0]."""
        return [element_name(self.output, at) for at in np.ndindex(*self.shape)]

    def refuse(self) -> None:
        """Raises `Undefined` and its like for an output that has no value at all."""
        if isinstance(self.here.value(), Hole):
            refuse_holes(self.here)

    def value(self) -> Any:
        """The value of the output. Raises what `gradient.refuse_holes` does for an element that has none."""
        numbers = self.flat(self.here.value(), self.count)
        for row, point in self.answering(numbers).items():
            number, answer = numbers[row], point.answer()
            if answer is not point.value() or not finite([number])[0] or self.is_off(number, answer):
                numbers[row] = answer
        self.refuse_missing(numbers)
        return self.shaped(list(numbers), self.shape)

    def is_off(self, number: Any, answer: Any) -> bool:
        """Whether a double of the closed program is not that of the opened one, whose digits are known.

        Sums are added up in another order there, so the one may cancel to noise where the other does not.
        """
        if not isinstance(self.kind, Doubles) or not isinstance(self.base, Real):
            return False
        known = is_number(number) and is_number(answer)
        return bool(known and abs(number - answer) > DIFFERENT * abs(answer) + SLACK)

    @cached_property
    def _is_noisy(self) -> bool:
        """Whether that is so anywhere on the way; then the scalar programs answer, as far as they were asked."""
        opened = self.opened
        if opened is None or not isinstance(self.kind, Doubles):
            return False
        known = self._opened_values(opened)
        return any(
            place >= 0 and self.is_off(number, known[place])
            for node, places in enumerate(opened.places)
            for number, place in zip(self.kind.elements(self.here.values[node]), places.flat, strict=False)
        )

    def _opened_values(self, opened: Opened) -> list[Any]:
        leaves = {opened.graph.inputs[name]: self.base.number(text) for name, text in opened.given.items()}
        return values(opened.graph, self.base, leaves)

    def remarks(self) -> list[Note]:
        """What a reader of the numbers has to know: kinks, lost digits."""
        found: dict[str, Note] = {}
        for point in self.asked().values():
            for note in remarks(point):
                found.setdefault(note.text, note)
        told = list(found.values())
        if isinstance(self.here, ArrayPoint) and not self.asked():
            told += [note for _, note in unopened.kinks_met(self._weighted())]
        if len(told) > MOST_NOTES:
            told[MOST_NOTES:] = [Note("more", f"{len(told) - MOST_NOTES} more notes are about other elements")]
        if self.unasked:
            names = ", ".join(self.rows[row] for row in self.unasked[:8])
            text = f"{names}: there is a kink on the way, and the program is too large to look beside the point"
            told.append(Note("not-looked-at", text))
        return told

    @cached_property
    def opened(self) -> Opened | None:
        """The opened program, where it is small enough to be asked always."""
        return self.here.opened_graph(ALWAYS_ASKED) if isinstance(self.here, ArrayPoint) else None

    def places(self, opened: Opened) -> list[int]:
        """The nodes of the elements of the output in an opened program."""
        return [int(place) for place in opened.places[self.here.graph.output].flat]

    def pattern(self, opened: Opened | None) -> Pattern | None:
        """Which columns each row may have numbers in; None for arrays that are not opened."""
        here = self.here
        if here.is_scalar:
            return pattern(here.graph, here.wrt, [here.graph.output])
        if opened is None:
            return None
        return pattern(opened.graph, self.sources(opened), self.places(opened))

    def sources(self, opened: Opened) -> list[int]:
        """The nodes of the columns in an opened program."""
        return [int(opened.places[part.node].flat[place]) for part in self.parts for place in part.places]

    def asked(self, doubtful: Iterable[int] = ()) -> dict[int, Point]:
        """Elements of the output as scalar programs of their own: all of them where that is soon done, else those that
        meet a kink, and those that are `doubtful`, because a number is missing there."""
        if self._asked is not None:
            return self._asked
        here = self.here
        if not isinstance(here, ArrayPoint):
            self._asked = {0: here}
            return self._asked
        doubtful = set(doubtful)
        if not self.shape:
            point = here.opened()
            self._asked = {} if point is None else {0: point}
            return self._asked
        opened = self.opened or (here.opened_graph(MOST_NODES) if doubtful else None)
        self._asked = {}
        if opened is None:
            return self._asked
        places, spent = self.places(opened), 0
        delicate = doubtful | self._at_kinks(opened, places)
        for row in (*sorted(delicate), *(row for row in range(self.count) if row not in delicate)):
            if places[row] < 0:
                continue  # a number written in the program
            if spent > (MOST_LOOKED_AT if row in delicate else MOST_CONFIRMED):
                self.unasked += [row] if row in delicate else []
                continue
            point = here.element(opened, places[row])
            spent += len(point.graph)
            self._asked[row] = point
        return self._asked

    def _at_kinks(self, opened: Opened, places: list[int]) -> set[int]:
        """The rows on whose way a kink is met."""
        graph = opened.graph
        met = list(kinks(graph, self.base, self._opened_values(opened)))
        if not met:
            return set()
        reached = pattern(graph, met, places)
        return {row for row, found in enumerate(reached.rows) if found}

    def forward(self, direction: Mapping[int, Any]) -> Any:
        """The Jacobian times a vector (node to tangent), by the rules: one forward pass."""
        return self._filled(self.here.tangents(direction)[self.here.graph.output], self.shape)

    def back(self, seed: Any) -> Any:
        """A vector (in the shape of the output) times the Jacobian, by the rules, a number for each column."""
        adjoints = reverse(self.here.graph, self.here.partials, self.kind, seed=seed).adjoints
        flat = {
            node: self.flat(self._filled(adjoints[node], shape), math.prod(shape))
            for node, shape in self.shapes.items()
        }
        found = [flat[part.node][part.places] for part in self.parts]
        return np.concatenate(found) if found else np.empty(0)

    def _filled(self, found: Any, shape: Shape) -> Any:
        """What a pass found, in its shape; 0 where it did not get."""
        found = self.base.number("0") if found is None else found
        return self.kind.broadcast(found, shape) if isinstance(self.kind, Arrays) else found

    def shaped(self, numbers: Sequence[Any], shape: Shape) -> Any:
        """Numbers, row by row, as a value of the kind."""
        return self.kind.packed(numbers, shape) if isinstance(self.kind, Arrays) else numbers[0]

    def times(self, direction: Mapping[int, Any]) -> Any:
        """The Jacobian times a vector: the answer. Raises what `gradient.refuse_holes` does."""
        found = self.flat(self.forward(direction), self.count)
        amounts = {name: self._amount(direction, *self.columns[at[0]]) for name, at in self.places_of.items()}
        for row, point in self._apart(self.answering(found)).items():
            terms = ((slope, amounts[name]) for name, slope in point.gradient().items())
            found[row] = self._told(weighted(self.base, terms, self.here.graph.output))
        self.refuse_missing(found)
        return self.shaped(list(found), self.shape)

    def _amount(self, direction: Mapping[int, Any], node: int, place: int) -> Any:
        amount = direction.get(node)
        if amount is None:
            return self.base.number("0")
        return amount.item(place) if isinstance(amount, np.ndarray) else amount

    def direction(self, components: Mapping[str, Any]) -> dict[int, Any]:
        """A direction by the names that are asked for as one by nodes, each in its shape."""
        flat: dict[int, list[Any]] = {}
        for part in self.parts:
            numbers = flat.setdefault(part.node, [self.base.number("0")] * math.prod(self.shapes[part.node]))
            for place, one in zip(part.places, self.kind.elements(components[part.name]), strict=True):
                numbers[place] = self.base.add(numbers[place], one)  # W and W[0] may both move
        return {node: self.shaped(numbers, self.shapes[node]) for node, numbers in flat.items()}

    def pulled(self, seed: Any) -> dict[str, Any]:
        """A vector times the Jacobian: the answer by name. Raises what `gradient.refuse_holes` does."""
        numbers = self.flat(seed, self.count).tolist()
        found = self.back(seed)
        missing = not all(finite(found))
        asked = self.answering(numbers, range(self.count) if missing else ())
        mended = asked if missing else self._apart(asked)
        if mended:
            # the pass for the others, and beside it the answers of those
            zero = self.base.number("0")
            others = [zero if row in mended else one for row, one in enumerate(numbers)]
            rest = [zero] * len(self.columns)  # a pass with nothing to carry would meet 0·inf
            if not all(map(self.base.is_zero, others)):
                rest = self.back(self.shaped(others, self.shape)).tolist()
            terms = [[(number, self.base.number("1"))] for number in rest]
            for row, point in mended.items():
                for name, slope in point.gradient().items():
                    for column in self.places_of[name]:
                        terms[column].append((slope, numbers[row]))
            found[:] = [self._told(weighted(self.base, several, self.here.graph.output)) for several in terms]
        self.refuse_missing(found)
        return self._by_part(found)

    def _told(self, number: Any) -> Any:
        """A number as one of an array: doubles have NaN for a hole."""
        return math.nan if isinstance(self.kind, Doubles) and isinstance(number, Hole) else number

    def _by_part(self, numbers: Any) -> dict[str, Any]:
        """Numbers, one for each column, by the names of the parts."""
        told, at = {}, 0
        for part in self.parts:
            told[part.name] = self.shaped(list(numbers[at : at + len(part.places)]), part.shape)
            at += len(part.places)
        return told

    def by_name(self, made: Any) -> dict[str, Any]:
        """The columns of a matrix by the names that they belong to."""
        found, at = {}, 0
        for part in self.parts:
            block = made[:, at : at + len(part.places)].reshape((*self.shape, *part.shape))
            found[part.name] = block if block.shape else block.item()
            at += len(part.places)
        return found

    def flat(self, value: Any, count: int) -> Any:
        """The numbers in a value as one row."""
        if isinstance(value, np.ndarray):
            return value.reshape(-1).copy()
        made = np.empty(count, dtype=object)
        made.fill(value)
        if isinstance(self.kind, Doubles):
            return np.array([self._told(one) for one in made], dtype=np.float64)
        return made

    def answering(self, numbers: Any, more: Iterable[int] = ()) -> dict[int, Point]:
        """The scalar programs of elements that were asked, none of which has a hole. Raises as `refuse_holes` does."""
        doubtful = {row for row, fine in enumerate(finite(numbers)) if not fine} | {*more}
        if not self.here.is_scalar:
            value = finite(self.flat(self.here.value(), self.count))
            doubtful |= {row for row, fine in enumerate(value) if not fine}
        found = self.asked(doubtful)
        for point in found.values():
            refuse_holes(point)
        return found

    def _apart(self, asked: dict[int, Point]) -> dict[int, Point]:
        """Those of the scalar programs whose answers are not what the rules give."""
        if self._is_noisy:
            return asked
        return {
            row: point
            for row, point in asked.items()
            if any(point.gradient()[name] is not one for name, one in point.by_rules().items())
        }

    def refuse_missing(self, numbers: Any) -> None:
        """Raises `Undefined` where a number is missing that no scalar program could tell.

        Those that were asked have told already of what overflows.
        """
        lost = [one for one, fine in zip(numbers, finite(numbers), strict=True) if not fine]
        if not lost or not (self.base.intervals or any(isinstance(one, Hole) or one != one for one in lost)):
            given = [one for node in self.here.graph.inputs.values() for one in self.flat(self.here.values[node], 1)]
            if not lost or len(self.asked()) == self.count or not all(finite(given)):
                return
        if isinstance(self.here, ArrayPoint):
            unopened.refuse(self.here)
            node, text = unopened.without_slope(self._weighted())
            raise Undefined(text, span=self.here.graph.span(node)).within(self.here.syntax.source)
        raise Undefined("a derivative overflows, or has no value by the rules").within(self.here.syntax.source)

    def _weighted(self) -> ArrayPoint:
        """The point with the adjoints of a sum of the elements of the output, each with a weight of its own."""
        assert isinstance(self.here, ArrayPoint)
        seed = self.shaped([self.base.number(repr(one)) for one in spread_numbers(self.count)], self.shape)
        found = reverse(self.here.graph, self.here.partials, self.kind, seed=seed)
        return replace(self.here, _reverse=found)


def finite(numbers: Any) -> list[bool]:
    """Which of many numbers are finite, and no holes.

    >>> finite(np.array([1.0, math.inf])), finite([math.nan, Hole(0, "domain"), 2])
    ([True, False], [False, False, True])
    """
    if isinstance(numbers, np.ndarray) and numbers.dtype == np.float64:
        told: list[bool] = np.isfinite(numbers).tolist()
        return told
    return [math.isfinite(one) if isinstance(one, float) else is_number(one) for one in numbers]


def spread_numbers(count: int) -> list[float]:
    """Numbers between 1/2 and 3/2 without a pattern."""
    return [0.5 + place * 0.6180339887498949 % 1 for place in range(count)]
