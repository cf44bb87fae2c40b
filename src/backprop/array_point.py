"""An array program at a point: the closed graph, whose nodes are arrays, and beside it the opened one.

The engines work on the closed graph. Whatever is delicate (a kink, a hole, digits that doubles lose) is asked of the
opened program, an ordinary scalar program, whose answers stand element by element in the place of the closed ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from backprop import ops
from backprop.graph import Graph
from backprop.beside.singular import Singulars
from backprop.kinds import Hole, is_number
from backprop.kinds.array import Arrays, arrays, elements, shape_of
from backprop.kinds.real import REAL, Real
from backprop.mistakes import OutputNotANumber
from backprop.opening import MOST_NODES, Opened, open_graph
from backprop.point import Point
from backprop.rules import partials
from backprop.values import values

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


@dataclass(slots=True)
class ArrayPoint(Point):
    """A program with arrays at a point. Values, partials and adjoints are arrays or numbers of `kind.base`."""

    kind: Arrays
    _graphs: dict[int, Opened | None] = field(default_factory=dict, repr=False)
    _opened: list[Point | None] = field(default_factory=list, repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the output."""
        return shape_of(self.value())

    def opened_graph(self, limit: int = MOST_NODES) -> Opened | None:
        """The scalar graph of the program; None when it has more nodes than the limit."""
        if limit not in self._graphs:
            base = self.kind.base
            self._graphs[limit] = open_graph(self.graph, base if isinstance(base, Real) else REAL, self.given, limit)
        return self._graphs[limit]

    def opened(self) -> Point | None:
        """The same program at the same point as a scalar program.

        None when it is too large (beyond `ALWAYS_ASKED` nodes it is made only where the closed one meets an element
        without a value), or when the output is not one number.
        """
        if not self._opened:
            limit = ALWAYS_ASKED if self._is_clean() else MOST_NODES
            found = None if self.shape else self.opened_graph(limit)
            self._opened.append(None if found is None or found.graph.output < 0 else self._open(found))
        return self._opened[0]

    def _is_clean(self) -> bool:
        """Whether the value and the gradient by the rules are finite numbers throughout."""
        answers = [self.value(), *self.by_rules().values()]
        return all(is_number(one) for answer in answers for one in elements(answer))

    def _open(self, found: Opened) -> Point:
        graph, kind = found.graph, self.kind.base
        wrt = list(dict.fromkeys(int(place) for node in self.wrt for place in found.places[node].flat if place >= 0))
        moving = graph.moving(wrt)
        leaves = {graph.inputs[name]: kind.number(text) for name, text in found.given.items()}
        known = values(graph, kind, leaves)
        slopes = partials(graph, kind, known, moving)
        here = Point(self.syntax, graph, kind, found.given, [], wrt, moving, known, slopes, self.convention)
        finer = kind.finer(here)
        return here if finer is None else here.in_kind(finer)

    def told(self) -> Point:
        """The opened program; this point itself where there is none, or where a whole array has no value."""
        return self if isinstance(self.value(), Hole) else self.opened() or self

    def singular(self) -> Singulars:
        """Nothing: what is singular is asked of the opened program, where each element is a variable."""
        found = Singulars()
        found.reason = "the program is too large to be opened into single numbers"
        return found

    def accuracy(self) -> None:
        """Nothing: the opened program knows what the doubles are worth."""
        return None

    def approach(self) -> None:
        """Nothing: the opened program knows what is approached beside the point."""
        return None

    def answer(self) -> Any:
        told = self.told()
        return self.value() if told is self else told.answer()

    def by_rules(self) -> dict[str, Any]:
        output = self.value()
        if isinstance(output, Hole):
            return {self.name_of(node): output for node in self.wrt}
        adjoints = self.reverse().adjoints
        return {self.name_of(node): self._adjoint(node, adjoints[node]) for node in self.wrt}

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
            opened, found = self.told(), next(filter(None, self._graphs.values()), None)
            if opened is not self and found is not None:
                asked = {self.name_of(node): found.places[node] for node in self.wrt}
                self._gradient = {name: self._judged(name, places, opened) for name, places in asked.items()}
        return self._gradient

    def _judged(self, name: str, places: Any, opened: Point) -> Any:
        """The derivatives by one node: those of the opened program where the closed one has none, or not the answer."""
        assert self._gradient is not None
        answers, rules, closed = opened.gradient(), opened.by_rules(), self._gradient[name]
        judged: list[Any] = []
        lost = isinstance(closed, Hole)
        for place, number in zip(places.flat, [closed] * places.size if lost else elements(closed), strict=True):
            label = opened.name_of(int(place)) if place >= 0 else ""
            opens = label in answers and (answers[label] is not rules[label] or not is_number(number))
            judged.append(answers[label] if opens else number)
        if any(isinstance(one, Hole) for one in judged):
            made = np.empty(len(judged), dtype=object)
            made[:] = judged
            return made.reshape(places.shape) if places.shape else judged[0]
        return self.kind.packed(judged, places.shape)
