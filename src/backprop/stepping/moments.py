"""Moments: a trace cut at its steps. What each is about, and what is known by then, so that the graph fills up as on
paper.

The first moment is what is given, then every step of the working is one, and the last is the answer. What is known
follows from the order of the steps: values in the order of the nodes, tangents with them or adjoints the other way.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from backprop.record import Edge, Node, Trace, Value
from backprop.render.excerpts import column
from backprop.working.brought import carries, edges_at

GIVEN, ANSWER = "given", "answer"
EdgeName = tuple[str, str, int]  # source, target, operand


@dataclass(frozen=True, slots=True)
class Moment:
    """What is shown at one time. `phase` is that of its step ("forward", "reverse", "tangent"), or GIVEN or ANSWER.

    `text` is its line of working, "" where it has none. `node` is the node that it is about and `edges` are the edges
    it is about; `ends` says with which other nodes they join it.
    """

    place: int
    phase: str
    text: str = ""
    node: str | None = None
    edges: frozenset[EdgeName] = frozenset()
    ends: tuple[str, ...] = ()
    is_last: bool = True  # of the steps of its node in its phase

    @property
    def nodes(self) -> frozenset[str]:
        """All nodes it is about."""
        return frozenset(self.ends) if self.node is None else frozenset((self.node, *self.ends))


class Moments:
    """The moments of a trace, told by their place: 0 is what is given, len - 1 the answer."""

    def __init__(self, trace: Trace) -> None:
        self.trace, self.steps = trace, trace.steps
        self._count = len(self.steps)  # of a large trace they have to be looked at
        self.places = {name: place for place, name in enumerate(column(trace, "id"))}
        self._leaving, self._arriving = edges_at(trace, "source"), edges_at(trace, "target")

    def __len__(self) -> int:
        return self._count + 2

    def __getitem__(self, place: int) -> Moment:
        if not 0 < place < len(self) - 1:
            return Moment(place, GIVEN if place == 0 else ANSWER)
        step = self.steps[place - 1]
        after = self.steps[place] if place < self._count else None
        is_last = after is None or (after.node, after.phase) != (step.node, step.phase)
        at = self.places[step.node]
        edges: list[EdgeName]
        if step.phase == "forward":  # from constants too, to which no derivative leads
            args = enumerate(self.trace.nodes[at].args)
            edges = [(name, step.node, key) for key, name in args if name in self.places]
        else:
            meeting = (self._leaving if step.phase == "reverse" else self._arriving)(at)
            edges = [name_of(edge) for edge in meeting if step.edge is None or name_of(edge) == step.edge]
        ends = dict.fromkeys(target if step.phase == "reverse" else source for source, target, _ in edges)
        return Moment(place, step.phase, step.text, step.node, frozenset(edges), tuple(ends), is_last)

    def first(self, phase: str) -> int | None:
        """The place of the first moment of a phase."""
        return next((place for place, step in enumerate(self.steps, 1) if step.phase == phase), None)

    def of_node(self, name: str, after: int) -> int | None:
        """The place of the first moment behind `after` that works out something at a node; from the start again where
        there is none behind it."""
        found = [place for place, step in enumerate(self.steps, 1) if step.node == name]
        return next((place for place in found if place > after), found[0] if found else None)

    def edges_between(self, places: Collection[int]) -> list[Edge]:
        """The edges from one of these nodes to another, whether they carry a derivative or not."""
        nodes = {self.trace.nodes[place].id: place for place in places}
        found: list[Edge] = []
        for name, place in nodes.items():
            carrying = {edge.key: edge for edge in self._arriving(place)}
            args = self.trace.nodes[place].args
            found += (carrying.get(key) or Edge(arg, name, key) for key, arg in enumerate(args) if arg in nodes)
        return found

    # -- what is known ------------------------------------------------------------------------------------------------

    def so_far(
        self, moment: Moment, part: Trace, blank: Callable[[Value | None], str], unwritten: Callable[[Edge], Edge]
    ) -> Trace:
        """The trace, or a part of it, in which what `blank` makes of a value stands where it is not known yet, and an
        edge whose partial is not known is `unwritten`."""
        return replace(
            part,
            nodes=[self._node(moment, node, blank) for node in part.nodes],
            edges=[
                unwritten(edge) if carries(edge) and not self.has_partial(moment, edge) else edge for edge in part.edges
            ],
        )

    def _node(self, moment: Moment, node: Node, blank: Callable[[Value | None], str]) -> Node:
        if node.formula is not None and not self.has_value(moment, node.id):
            node = replace(node, value=blank(node.value))
        if node.formula is not None and node.tangent is not None and not self.has_tangent(moment, node.id):
            node = replace(node, tangent=blank(node.tangent))
        if node.adjoint is not None and not self.has_adjoint(moment, node.id):
            node = replace(node, adjoint=blank(node.adjoint))
        return node

    def has_value(self, moment: Moment, node: str) -> bool:
        """Whether the value of an operation is known."""
        if moment.phase in ("forward", "tangent"):
            return self.places[node] <= self.places[moment.node or node]
        return moment.phase != GIVEN

    def has_tangent(self, moment: Moment, node: str) -> bool:
        """Whether the tangent of an operation is known."""
        if moment.phase == "forward" and node == moment.node:
            return False
        return self.has_value(moment, node)

    def has_adjoint(self, moment: Moment, node: str) -> bool:
        """Whether all edges that leave a node have brought back what they bring."""
        if moment.phase != "reverse":
            return moment.phase == ANSWER
        if node == moment.node:
            return moment.is_last
        return self.places[node] > self.places[moment.node or node]

    def has_partial(self, moment: Moment, edge: Edge) -> bool:
        """Whether the partial on an edge has been asked for."""
        if self.trace.mode == "forward":
            return self.has_tangent(moment, edge.target)
        if moment.phase != "reverse" or edge.source != moment.node or moment.is_last:
            return self.has_adjoint(moment, edge.source)
        order = [name_of(one) for one in self._leaving(self.places[edge.source])]
        here = name_of(edge)
        return here not in order or any(order.index(one) >= order.index(here) for one in moment.edges)


def name_of(edge: Edge) -> EdgeName:
    """How a step names an edge."""
    return edge.source, edge.target, edge.key
