"""The gradient as a graph: reverse mode run on kind `node`, to be differentiated once more like any other graph.

Forward mode over it gives Hessian times vector, one pass for each vector; reverse mode over it, from one component of
the gradient, gives that row of the Hessian. The engines know nothing of this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from backprop.forward import tangents
from backprop.graph import Graph
from backprop.higher.sparsity import pattern
from backprop.kinds import Hole, Kind
from backprop.kinds.node import Nodes, pruned
from backprop.point import Point
from backprop.reverse import reverse
from backprop.rules import Partials, partials
from backprop.straight import written
from backprop.values import values


@dataclass(slots=True)
class GradientGraph:
    """A graph whose nodes `gradient` are d output / d each of `wrt`, nodes of the program's own graph.

    `leaves` tells for each input and for each literal of the program its node here; `value` is the output itself.
    """

    graph: Graph
    wrt: list[int]
    leaves: dict[int, int]
    value: int
    gradient: list[int]
    moving: bytearray = field(default_factory=bytearray)
    _shared: dict[int, list[tuple[int, int]]] | None = None

    def shared(self, node: int) -> list[tuple[int, int]]:
        """The nodes of `wrt` whose columns of the Hessian are worked out in one pass with that of a node.

        Each stands with its rows, those of the gradient that it may move, as the bits of a whole number.
        """
        if self._shared is None:
            found = pattern(self.graph, self.variables(), self.gradient)
            rows = found.turned().rows
            self._shared = {one: [(one, 0)] for one in self.wrt}
            for group in found.groups():
                together = [(self.wrt[column], rows[column]) for column in group]
                self._shared |= dict.fromkeys((one for one, _ in together), together)
        return self._shared[node]

    def variables(self) -> list[int]:
        """The nodes here by which the gradient is differentiated again."""
        return [self.leaves[node] for node in self.wrt]


def gradient_graph(graph: Graph, wrt: list[int]) -> GradientGraph:
    """The gradient of a program as a graph over its leaves.

    >>> from backprop.grammar import parse
    >>> from backprop.graph.building import build
    >>> found = gradient_graph(build(parse("x^3*y")), [0, 2])
    >>> [found.graph.formula(node) for node in range(len(found.graph)) if found.graph.formula(node)]
    ['y*v1', 'x^2', '3*v2', 'y*v3']
    """
    kind = Nodes()
    found, roots, known = written(graph, wrt, kind)
    small, place = pruned(kind.graph, (found[graph.output], *roots))
    small.output = place[found[graph.output]]
    leaves = {node: place[leaf] for node, leaf in known.items() if leaf in place}
    gradient = GradientGraph(small, wrt, leaves, small.output, [place[root] for root in roots])
    gradient.moving = small.moving(gradient.variables())
    return gradient


@dataclass(slots=True)
class Level:
    """The gradient graph with numbers of one kind put in: what both modes make of it."""

    of: GradientGraph
    kind: Kind
    known: list[Any]
    partials: Partials
    _columns: dict[int, list[Any]] = field(default_factory=dict)

    @property
    def value(self) -> Any:
        """The output of the program."""
        return self.known[self.of.value]

    @property
    def gradient(self) -> list[Any]:
        """The gradient, by the rules."""
        return [self.known[node] for node in self.of.gradient]

    def times(self, direction: Mapping[int, Any]) -> list[Any]:
        """The Hessian times a vector (a node of the program to a number): one forward pass over the gradient."""
        seed = {self.of.leaves[node]: amount for node, amount in direction.items()}
        moved = tangents(self.of.graph, self.partials, self.kind, seed)
        return [self._answer(node, moved[node]) for node in self.of.gradient]

    def column(self, node: int) -> list[Any]:
        """One column of the Hessian, kept: a forward pass with this variable moving, and those that share it."""
        if node not in self._columns:
            together = self.of.shared(node)
            moved = self.times(dict.fromkeys((one for one, _ in together), self.kind.number("1")))
            still = [self._answer(one, None) for one in self.of.gradient]
            for one, rows in together:
                self._columns[one] = [
                    number if rows >> place & 1 else still[place] for place, number in enumerate(moved)
                ]
        return self._columns[node]

    def row(self, place: int) -> list[Any]:
        """One row of the Hessian: one reverse pass over the gradient, from its component at that place."""
        start = self.of.gradient[place]
        adjoints = reverse(self.of.graph, self.partials, self.kind, output=start).adjoints
        return [self._answer(start, adjoints[node]) for node in self.of.variables()]

    def _answer(self, node: int, slope: Any) -> Any:
        if isinstance(self.known[node], Hole):
            return self.known[node]
        return self.kind.number("0") if slope is None else slope


class Curvature:
    """A point with its gradient as a graph, the graph with the point's own numbers in it, and with more digits."""

    def __init__(self, point: Point, of: GradientGraph | None = None) -> None:
        self.point = point
        self.of = gradient_graph(point.graph, point.wrt) if of is None else of
        self._levels: dict[int, Level] = {}

    @cached_property
    def level(self) -> Level:
        """The gradient graph in the kind of the point."""
        point = self.point
        return self._with(point.kind, {here: point.values[node] for node, here in self.of.leaves.items()})

    def at(self, digits: int) -> Level:
        """The gradient graph with so many digits; the leaves are the doubles of the point, exactly."""
        if digits not in self._levels:
            from backprop.beside.differences import exactly
            from backprop.kinds.digits import Digits

            kind = Digits(digits)
            leaves = {here: exactly(kind, self.point.values[node]) for node, here in self.of.leaves.items()}
            self._levels[digits] = self._with(kind, leaves)
        return self._levels[digits]

    def _with(self, kind: Kind, leaves: dict[int, Any]) -> Level:
        graph = self.of.graph
        # a literal of the program is what the point has for it, whatever this kind makes of its text
        # a component of the gradient may stand in a branch of another, too
        known = values(graph, kind, leaves, (self.of.value, *self.of.gradient))
        return Level(self.of, kind, known, partials(graph, kind, known, self.of.moving))

    def component(self, place: int) -> Point:
        """A point whose output is the component of the gradient at that place."""
        point, level = self.point, self.level
        graph = replace(self.of.graph, output=self.of.gradient[place])
        return Point(
            point.syntax,
            graph,
            point.kind,
            point.given,
            [],
            self.of.variables(),
            self.of.moving,
            level.known,
            level.partials,
        )
