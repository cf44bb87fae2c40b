"""An array program at a point: the closed graph, whose nodes are arrays, and beside it the opened one.

The engines work on the closed graph. Whatever is delicate (a kink, a hole, digits that doubles lose) is asked of the
opened program, an ordinary scalar program, whose answers stand element by element in the place of the closed ones.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from backprop import ops
from backprop.arrays_text import element_name, element_of, named_elements
from backprop.beside.singular import Singulars
from backprop.graph import INPUT, Graph
from backprop.kinds import Hole, Kind, is_number
from backprop.kinds.array import Arrays, arrays
from backprop.kinds.real import REAL, Real
from backprop.kinds.shapes import elements, shape_of
from backprop.mistakes import NoSuchElement, NothingToOpen, OutputNotANumber, TooLargeToOpen
from backprop.opening import MOST_NODES, Opened, open_graph, open_nodes, part, steps_to
from backprop.point import Point, resolve
from backprop.rules import partials
from backprop.values import values

# A double that is off by more than this part of itself, which stands for 11 digits, is not believed; what is off by no
# more than 5e-318 is near enough, however small it is.
DIFFERENT, SLACK = 1e-11, 5e-318
# Many digits: with so many pivots are chosen where doubles find none, and rules tried where doubles disagree.
DIGITS = 60
# Up to so many scalar nodes the opened program is always asked; beyond, only where the closed one meets NaN.
ALWAYS_ASKED = 20_000


__all__ = ["ArrayPoint", "arrays", "with_lengths"]


def with_lengths(graph: Graph) -> Graph:
    """The graph of an array program, in which bars around a vector are its length: |x| is norm(x)."""
    size, length = ops.by_name("abs").code, ops.by_name("norm").code
    codes = graph.codes[:]
    for node, code in enumerate(codes):
        if code == size and graph.source.startswith("|", graph.starts[node]):
            codes[node] = length
    return replace(graph, codes=codes)


def opened_at(point: Point, names: Sequence[str] = (), steps: Sequence[str] = ()) -> Point:
    """The program at a point opened into its scalar graph; with `names`, those nodes of it alone.

    A node is opened together with the steps without a name on the way to it. A scalar program is open already.
    `steps` are nodes of the opened program whose derivatives are asked for besides.
    Raises `UnknownNode`, `NothingToOpen`, `TooLargeToOpen` and `OutputNotANumber`.
    """
    nodes: set[int] = set()
    for node, name in zip(resolve(point.graph, names), names, strict=False):
        if point.graph.codes[node] < 0:
            what = "an input" if point.graph.codes[node] == INPUT else "a constant"
            operations = [one for at, one in point.graph.names.items() if point.graph.codes[at] >= 0]
            raise NothingToOpen(name, what, operations)
        nodes |= steps_to(point.graph, node)
    found: Point | None = point
    if isinstance(point, ArrayPoint):
        found = point.partly_opened(nodes) if names else point.wholly_opened()
    if found is None:
        raise TooLargeToOpen(MOST_NODES)
    if not steps:
        return found
    wrt = list(dict.fromkeys([*found.wrt, *resolve(found.graph, steps)]))
    moving = found.graph.moving(wrt)
    slopes = partials(found.graph, found.kind, found.values, moving)
    here = replace(found, wrt=wrt, moving=moving, partials=slopes, _reverse=None, _singular=None, _accuracy=[])
    if isinstance(here, ArrayPoint):
        here.asked = here.asked | {name: (resolve(here.graph, [name])[0], ()) for name in steps}
    return here


@dataclass(slots=True)
class ArrayPoint(Point):
    """A program with arrays at a point. Values, partials and adjoints are arrays or numbers of `kind.base`.

    `asked` tells by name which derivatives are asked for: a node, and where in it (all of it when that is empty).
    """

    kind: Arrays
    asked: dict[str, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    _graphs: dict[int, Opened | None] = field(default_factory=dict, repr=False)
    _opened: list[Point | None] = field(default_factory=list, repr=False)
    _fine: dict[str, list[Any]] = field(default_factory=dict, repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the output."""
        return shape_of(self.value())

    @property
    def is_scalar(self) -> bool:
        return False

    def ask(self, wrt: Sequence[str] | None) -> None:
        """Put into `asked` what is asked for, also elements (`W[0,1]`) and rows (`W[0]`). Raises `NoSuchElement`."""
        self.asked = {}
        for name in [self.name_of(node) for node in self.wrt] if wrt is None else wrt:
            (node,) = resolve(self.graph, [name])
            at = element_of(name)[1]
            shape = shape_of(self.values[node])
            if len(at) > len(shape) or not all(-size <= one < size for one, size in zip(at, shape, strict=False)):
                raise NoSuchElement(name, self.name_of(node), shape)
            at = tuple(one % size for one, size in zip(at, shape, strict=False))
            self.asked[element_name(self.name_of(node), at)] = node, at

    def names(self) -> list[str]:
        return list(self.asked)

    def id_of(self, name: str) -> str:
        """Of an element, z[0], and of a step on the way to it, z[0].2, the id of the array: z."""
        stem = name.partition("[")[0].partition(".")[0]
        return stem if stem in self.graph.ids else name

    def in_kind(self, kind: Kind, leaves: Mapping[int, Any] | None = None) -> Point:
        return Point.in_kind(self, arrays(kind), leaves)

    def forget(self) -> None:
        self._graphs, self._opened, self._fine = {}, [], {}

    def opened_graph(self, limit: int = MOST_NODES) -> Opened | None:
        """The scalar graph of the program; None when it has more nodes than the limit."""
        if limit not in self._graphs:
            rows = {node: self.graph.row(node) for node in self.wrt}
            apart = {node for node, row in rows.items() if row is not None and row.arrays}
            small = self._least() <= limit
            found = open_graph(self.graph, self.kind.base, self.given, limit, apart) if small else None
            if found is not None and found.graph.output < 0:
                found = self._opened_by_true_pivots(limit, apart) or found
            self._graphs[limit] = found
        return self._graphs[limit]

    def _opened_by_true_pivots(self, limit: int, apart: Collection[int]) -> Opened | None:
        """The scalar graph where a matrix that doubles find singular is not: its pivots are chosen with many digits.

        A.T @ A of [[1, 1], [1e-8, 0], [0, 1e-8]] is all 1 in doubles, after Läuchli.
        """
        if not isinstance(self.kind.base, Real) or self.kind.propagates or self._least() > ALWAYS_ASKED:
            return None
        from backprop.beside.differences import exactly, many

        digits, doubles = many(DIGITS), self.kind.base
        found = open_graph(
            self.graph, digits, self.given, limit, apart, lambda text: exactly(digits, doubles.number(text))
        )
        return found if found is not None and found.graph.output >= 0 else None

    def _least(self) -> int:
        """How many scalar nodes there are at least: one for each element that is given or worked out by itself."""
        rows = map(self.graph.row, range(len(self.graph)))
        given = self.graph.inputs.values()
        return sum(
            math.prod(shape_of(value))
            for node, (row, value) in enumerate(zip(rows, self.values, strict=True))
            if value is not None and (node in given if row is None else not row.arrays)
        )

    def opened(self) -> Point | None:
        """The same program at the same point as a scalar program.

        None when it is too large (beyond `ALWAYS_ASKED` nodes it is made only where the closed one meets an element
        without a value), or when the output is not one number.
        """
        if self.shape:
            return None
        if not self._opened:
            found = self.opened_graph(ALWAYS_ASKED if self._is_clean() else MOST_NODES)
            here = None if found is None or found.graph.output < 0 else self._open(found)
            if here is not None and self._is_guess(here):
                here = None
            self._opened.append(here)
        return self._opened[0]

    def _is_guess(self, opened: Point) -> bool:
        """Whether a matrix is singular as far as doubles can tell, and more digits of a pivot told nothing either."""
        value = self.value()
        if not isinstance(value, Hole) or value.code != "domain":
            return False
        found = opened.accuracy()
        return found is not None and bool(found.untold)

    def wholly_opened(self) -> Point | None:
        """The scalar program, whatever it costs; None beyond `MOST_NODES` nodes.

        Where a whole array has no value, as the inverse of a singular matrix, there is nothing to open.
        """
        if self.shape:
            raise OutputNotANumber(self.shape, self.graph.span(self.graph.output)).within(self.syntax.source)
        known = self.opened()
        if known is None:
            found = self.opened_graph()
            if found is None:
                return None
            if found.graph.output < 0:
                return self
            known = self._open(found)
        of_unused = (element for name in self.unused for element, _ in named_elements(name, self.given[name]))
        return replace(known, unused=list(of_unused))

    def partly_opened(self, nodes: Collection[int]) -> Point | None:
        """The program at the same point with some of its operations opened; None beyond `MOST_NODES` nodes."""
        kind, numbers = self.kind, self.kind.base
        known = self.values
        if not isinstance(numbers, Real):
            numbers, known = REAL, self.in_kind(REAL).values
        found = open_nodes(self.graph, nodes, known, numbers, self.wrt)
        if found is None:
            return None
        graph, closed = found.graph, found.closed
        wrt = [closed[node] for node in self.wrt]
        moving = graph.moving(wrt)
        leaves = {graph.inputs[name]: self.values[node] for name, node in self.graph.inputs.items()}
        values_here = values(graph, kind, leaves)
        return replace(
            self,
            graph=graph,
            wrt=wrt,
            moving=moving,
            values=values_here,
            partials=partials(graph, kind, values_here, moving),
            asked={name: (closed[node], at) for name, (node, at) in self.asked.items()},
            _graphs={},
            _opened=[],
            _fine={},
            _reverse=None,
            _gradient=None,
        )

    def element(self, opened: Opened, place: int) -> Point:
        """One element of the output, the node `place` of an opened program, as the output of a scalar program."""
        return self._open(part(opened, place))

    def opening(self) -> Opened | None:
        """The scalar graph behind `opened`, if it was made."""
        return next(filter(None, self._graphs.values()), None)

    def _is_clean(self) -> bool:
        """Whether the value and the gradient by the rules are finite numbers throughout."""
        answers = [self.value(), *self.by_rules().values()]
        return all(
            bool(np.isfinite(answer).all())
            if isinstance(answer, np.ndarray) and answer.dtype == np.float64
            else all(map(is_number, elements(answer)))
            for answer in answers
        )

    def _open(self, found: Opened) -> Point:
        graph, kind = found.graph, self.kind.base
        places = (place for node, at in self.asked.values() for place in found.places[node][at].flat)
        wrt = list(dict.fromkeys(int(place) for place in places if place >= 0))
        moving = graph.moving(wrt)
        leaves = {graph.inputs[name]: kind.number(text) for name, text in found.given.items()}
        known = values(graph, kind, leaves)
        slopes = partials(graph, kind, known, moving)
        here = Point(self.syntax, graph, kind, found.given, [], wrt, moving, known, slopes, self.convention)
        finer = kind.finer(here)
        return here if finer is None else here.in_kind(finer)

    def told(self) -> Point:
        """The opened program; this point itself where there is none, as where a whole array has no value."""
        return self.opened() or self

    def slopes(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, slope in self.gradient().items():
            node, at = self.asked[name]
            shape = shape_of(self.values[node])[len(at) :]
            spread = self.kind.spread(slope, shape)  # one hole may stand for all
            numbers = [spread] * math.prod(shape) if isinstance(spread, Hole) else elements(spread)
            for further, one in zip(np.ndindex(*shape), numbers, strict=True):
                found[element_name(self.name_of(node), (*at, *further))] = one
        return found

    def singular(self) -> Singulars:
        """Nothing: what is singular is asked of the opened program, where each element is a variable."""
        found = Singulars()
        found.reason = "the program is too large to be opened into single numbers"
        return found

    def accuracy(self) -> None:
        """Nothing: the opened program knows what the doubles are worth."""
        return

    def approach(self) -> None:
        """Nothing: the opened program knows what is approached beside the point."""
        return

    def answer(self) -> Any:
        told, value = self.told(), self.value()
        if told is self:
            return value
        answer = told.answer()
        stays = isinstance(self.kind.base, Real) and answer is told.value() and self._is_good(value, answer)
        return value if stays else answer

    def _is_good(self, number: Any, answer: Any, name: str = "", place: int = 0) -> bool:
        """Whether a double of the closed program may stay: the opened one, whose digits are known, has nearly the same.

        It is the value, or the element of a slope by its `name` and `place`. LAPACK eliminates in another order, and
        loses other digits, than the opened program. Only rounding is mended so: the rules that carry arrays have to
        give the same with many digits, so that one that is wrong is seen.
        """
        if not is_number(number):
            return False
        if not is_number(answer) or abs(number - answer) <= DIFFERENT * abs(answer) + SLACK:
            return True
        known = self.told().accuracy()
        if known is None or known.untold:
            return True
        fine = self._with_many_digits().get(name)
        if fine is None or not is_number(fine[place]):
            return True
        return bool(abs(fine[place] - answer) > DIFFERENT * abs(answer) + SLACK)

    def _with_many_digits(self) -> dict[str, list[Any]]:
        """The elements of each slope by its name, and of the value by "", as the same rules give them with many digits;
        nothing where they give none."""
        if not self._fine:
            from backprop.beside.differences import exactly, many

            digits = many(DIGITS)
            kind = arrays(digits)

            def exact(value: Any) -> Any:
                numbers = [exactly(digits, one) for one in elements(value)]
                return kind.packed(numbers, shape_of(value)) if shape_of(value) else numbers[0]

            leaves = {
                node: value if isinstance(value, slice) else exact(value)
                for node, value in enumerate(self.values)
                if self.graph.codes[node] < 0
            }
            here = self.in_kind(digits, leaves)
            value = here.value()
            slopes = {} if isinstance(value, Hole) or shape_of(value) else here.by_rules()
            self._fine = {"": [value]} | {name: list(elements(slope)) for name, slope in slopes.items()}
        return self._fine

    def regained(self) -> list[tuple[str, Any, Any]]:
        """The numbers that are those of the opened program, where the closed one lost digits and the opened did not.

        By the name of the output or of an element: what the closed program has, and what the answer is.
        """
        opened, found = self.told(), self.opening()
        if self.kind.propagates or not isinstance(self.kind.base, Real) or opened is self or found is None:
            return []
        value, output = self.value(), self.graph.output
        regained: list[tuple[str, Any, Any]] = []

        def compare(label: str, closed: Any, answer: Any, by_opened: Any, name: str = "", place: int = 0) -> None:
            numbers = is_number(closed) and is_number(answer)
            if numbers and answer == by_opened and not self._is_good(closed, answer, name, place):
                regained.append((label, closed, answer))

        compare(self.graph.ids[output], value, self.answer(), opened.value())
        slopes, answers, rules = self.by_rules(), self.gradient(), opened.by_rules()
        for name, (node, at) in self.asked.items():
            places = found.places[node][at]
            numbers = zip(places.flat, elements(slopes[name]), elements(answers[name]), strict=False)
            for place, (at_node, closed, answer) in enumerate(numbers):
                label = opened.name_of(int(at_node)) if at_node >= 0 else ""
                if label in rules:
                    compare(label, closed, answer, rules[label], name, place)
        return regained

    def by_rules(self) -> dict[str, Any]:
        output = self.value()
        if isinstance(output, Hole):
            return dict.fromkeys(self.asked, output)
        adjoints = self.reverse().adjoints
        return {name: self._part(self._adjoint(node, adjoints[node]), at) for name, (node, at) in self.asked.items()}

    def _part(self, value: Any, at: tuple[int, ...]) -> Any:
        """What stands in an array at a place: a number, or a row."""
        return self.kind.unwrapped(value[at]) if at else value

    def _adjoint(self, node: int, adjoint: Any) -> Any:
        zero = self.kind.base.number("0")
        return self.kind.broadcast(zero if adjoint is None else adjoint, shape_of(self.values[node]))

    def gradient(self) -> dict[str, Any]:
        """d output / d each node asked for, in the shape of that node.

        Raises `OutputNotANumber` for a vector or a matrix as output: it has a Jacobian.
        """
        if self.shape:
            raise OutputNotANumber(self.shape, self.graph.span(self.graph.output)).within(self.syntax.source)
        if self._gradient is None:
            self._gradient = self.by_rules()
            # a plain tape is taken at its word
            opened, found = self if self.kind.propagates else self.told(), self.opening()
            if opened is not self and found is not None:
                asked = {name: found.places[node][at] for name, (node, at) in self.asked.items()}
                self._gradient = {name: self._judged(name, places, opened) for name, places in asked.items()}
        return self._gradient

    def _judged(self, name: str, places: Any, opened: Point) -> Any:
        """The derivatives by one node: those of the opened program where the closed one has none, or not the answer."""
        assert self._gradient is not None
        answers, rules, closed = opened.gradient(), opened.by_rules(), self._gradient[name]
        singular = opened.singular()
        judged: list[Any] = []
        lost = isinstance(closed, Hole)
        numbers = [closed] * places.size if lost else list(elements(closed))
        for place, (node, number) in enumerate(zip(places.flat, numbers, strict=True)):
            label = opened.name_of(int(node)) if node >= 0 else ""
            judged.append(number)
            if label in answers:
                answer = answers[label]
                if (
                    isinstance(answer, Hole)
                    or answer is not rules[label]
                    or int(node) in singular  # what is taken at a kink is for what moves: one element, not its array
                    or not isinstance(self.kind.base, Real)
                    or not self._is_good(number, answer, name, place)
                ):
                    judged[-1] = answer
        if any(isinstance(one, Hole) for one in judged):
            made = np.empty(len(judged), dtype=object)
            made[:] = judged
            return made.reshape(places.shape) if places.shape else judged[0]
        return self.kind.packed(judged, places.shape)
