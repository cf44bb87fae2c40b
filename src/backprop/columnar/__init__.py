"""Columnar: the nodes, edges and steps of a large trace, as sequences that make a view of one when it is asked for.

A trace of ten nodes holds ten records. One of a million holds the columns that were worked out anyway: ids, values,
adjoints, partials, contributions. Its JSON is written from them, with the same bytes: no record is made, and no rule
worked out twice. What is out of the ordinary (no value, a branch not taken, many operands) goes the way of a small
trace, record by record.

    sorts, texts, numbers              what lines are made of: shared by nodes of a sort, for each node, for each number
    records                            nodes and edges as JSON
    steps                              the lines of working, record by record
    forward_lines, reverse_lines       the same as JSON, written from the columns
    lines                              all of them in order
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from backprop import progress
from backprop.graph import CONST, Graph
from backprop.kinds import Kind, is_unproven, plain
from backprop.kinds.real import Real
from backprop.kinds.symbol import label
from backprop.record import Edge, Node, Step, Value
from backprop.working.brought import carries

if TYPE_CHECKING:
    from backprop.columnar.texts import Texts
    from backprop.figures import Figures
    from backprop.working.brought import Known

# From so many nodes on a trace holds columns.
LARGE = 2_000

Item = TypeVar("Item")


@dataclass(slots=True)
class Columns:
    """What is known of the nodes and edges of a graph, a column for each sort of thing.

    `slopes` are the adjoints, or in forward mode the tangents; `lost` says that the output has no value, so that there
    is nothing to differentiate. `digits` and `slope_digits`, when asked for, are how many digits of values and adjoints
    are right.
    """

    graph: Graph
    kind: Kind
    mode: str
    moving: bytearray
    lost: bool
    values: Sequence[Any]
    slopes: Sequence[Any]
    partials: Sequence[Any]
    contributions: Sequence[Any]
    output: str
    wrt: list[str]
    figures: int
    zero: Value = 0.0
    digits: Sequence[float | None] | None = None
    slope_digits: Sequence[float | None] | None = None
    kept: dict[int, Edge] = field(default_factory=dict)  # edges of which more is told, by place
    texts: Texts | None = field(default=None, repr=False)  # what lines are made of, when some have been
    _leaving: tuple[array[int], array[int]] | None = field(default=None, repr=False)
    _targets: array[int] | None = field(default=None, repr=False)
    _places: dict[str, int] | None = field(default=None, repr=False)

    @property
    def ids(self) -> list[str]:
        """The ids of the nodes."""
        return self.graph.ids

    @property
    def propagates(self) -> bool:
        """Whether NaN counts as a number."""
        return self.kind.propagates

    @property
    def targets(self) -> array[int]:
        """The node at the end of each edge."""
        if self._targets is None:
            offsets = self.graph.offsets
            self._targets = array("i")
            for node in range(len(self.graph)):
                for _ in range(offsets[node], offsets[node + 1]):
                    self._targets.append(node)
        return self._targets

    @property
    def places(self) -> dict[str, int]:
        """Where each id stands."""
        if self._places is None:
            self._places = {one: node for node, one in enumerate(self.ids)}
        return self._places

    def carrying(self, node: int, end: str) -> list[Edge]:
        """The edges that carry a derivative and have a node as their `end`, "source" or "target"."""
        edges = map(self.edge, self.leaving(node)) if end == "source" else self.edges_to(node)
        return [edge for edge in edges if carries(edge)]

    def slopes_in(self, begin: int, end: int) -> list[Any]:
        """The adjoints or tangents of some nodes, as `slope` has them but for holes."""
        if self.lost:
            return [None] * (end - begin)
        some = zip(self.slopes[begin:end], self.moving[begin:end], strict=True)
        return [(self.zero if moved is None else moved) if moves else None for moved, moves in some]

    def contributions_in(self, begin: int, end: int) -> list[Any]:
        """What some edges bring, but for holes."""
        some = self.contributions[begin:end]
        return [self.contribution(begin + place) if brought is None else brought for place, brought in enumerate(some)]

    def value(self, node: int) -> Any:
        """The value of a node as a Trace has it."""
        return plain(self.kind, self.values[node])

    def slope(self, node: int) -> Any:
        """The adjoint of a node, or its tangent; None where it does not move."""
        if self.lost or not self.moving[node]:
            return None
        moved, shape = self.slopes[node], self.kind.shape(self.values[node])
        if shape:
            return plain(self.kind, self.kind.spread(self.kind.number("0") if moved is None else moved, shape))
        return self.zero if moved is None else plain(self.kind, moved)

    def node(self, node: int) -> Node:
        """The record of a node."""
        graph, ids, value = self.graph, self.graph.ids, self.values[node]
        moves = self.moving[node] and not self.lost
        slope, reverse = self.slope(node), self.mode == "reverse"
        return Node(
            id=ids[node],
            op=graph.op(node),
            args=tuple(ids[operand] for operand in graph.operands(node)),
            formula=graph.formula(node) or None,
            span=graph.span(node) if graph.ends[node] else None,
            shape=self.kind.shape(value) or None,
            value=plain(self.kind, value),
            tangent=None if reverse else slope,
            adjoint=slope if reverse else None,
            taken=graph.codes[node] == CONST or value is not None,
            proven=self._is_proven(value) and not (moves and not self._is_proven(self.slopes[node])),
            digits=None if self.digits is None or graph.codes[node] < 0 else self.digits[node],
            adjoint_digits=None
            if self.slope_digits is None or slope is None or not reverse
            else self.slope_digits[node],
        )

    def _is_proven(self, value: Any) -> bool:
        """Whether it is known of every number in a value if it is one."""
        if not self.kind.intervals:
            return not is_unproven(value)
        return value is None or not any(map(is_unproven, self.kind.elements(value)))

    def rules(self, node: int) -> Sequence[str | None]:
        """The rule on each edge into a node as a text of the table; none where no derivative passes."""
        row = self.graph.row(node)
        if row is None or not self.moving[node]:
            return ()
        return row.rules(tuple([bool(self.moving[source]) for source in self.graph.operands(node)]))

    def edges_to(self, node: int) -> Iterator[Edge]:
        """The records of the edges that end at a node."""
        graph, ids, row = self.graph, self.graph.ids, self.graph.row(node)
        if row is None:
            return
        rules, written = self.rules(node), None
        for edge in graph.edges_to(node):
            if edge.place in self.kept:
                yield self.kept[edge.place]
                continue
            made = Edge(ids[edge.source], ids[node], edge.position)
            rule = rules[edge.position] if rules and self.moving[edge.source] else None
            if rule is not None:
                written = written or [graph.written_id(one)[0] for one in graph.operands(node)]
                partial = self.partials[edge.place]
                made.formula = label(rule, row, written, ids[node])
                made.partial = plain(self.kind, partial)
                made.proven = not is_unproven(partial)
                made.contribution = self.contribution(edge.place)
            yield made

    def edge(self, place: int) -> Edge:
        """The record of the edge at a place in the arguments of the graph."""
        from bisect import bisect_right

        target = bisect_right(self.graph.offsets, place) - 1
        position = place - self.graph.offsets[target]
        return next(edge for edge in self.edges_to(target) if edge.key == position)

    def contribution(self, place: int) -> Any:
        """What an edge brings; 0 where it is one of a branch not taken."""
        brought = self.contributions[place]
        if brought is None:
            return None if plain(self.kind, self.partials[place]) is None else self.zero
        return plain(self.kind, brought)

    @property
    def leaving_columns(self) -> tuple[array[int], array[int]]:
        """For each node the place of the first edge that leaves it, and for each edge that of the next; else -1."""
        if self._leaving is None:
            sources = self.graph.args
            first = array("i", [-1]) * len(self.graph)
            following = array("i", [-1]) * len(sources)
            for place in range(len(sources) - 1, -1, -1):
                source = sources[place]
                following[place] = first[source]
                first[source] = place
            self._leaving = first, following
        return self._leaving

    def leaving(self, node: int) -> Iterator[int]:
        """The places of the edges that leave a node, in order."""
        first, following = self.leaving_columns
        place = first[node]
        while place >= 0:
            yield place
            place = following[place]


class Views(Sequence[Item], Generic[Item]):
    """Records made on demand, one at a time; equal to a list of the same records."""

    def __init__(self, count: int, make: Callable[[int], Item], every: Callable[[], Iterator[Item]] | None = None):
        self._count, self._make = count, make
        self._every = every

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Item]:
        return map(self._make, range(self._count)) if self._every is None else self._every()

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> list[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | list[Item]:
        count = len(self)
        if isinstance(place, slice):
            return [self._make(one) for one in range(*place.indices(count))]
        if not -count <= place < count:
            raise IndexError(place)
        return self._make(place % count)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (list, Views)):
            return NotImplemented
        return len(self) == len(other) and all(one == two for one, two in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return f"<{len(self)} records, made when they are asked for>"


class Nodes(Views[Node]):
    """The nodes of a large trace."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        super().__init__(len(columns.graph), columns.node)

    def known(self, figures: Figures) -> Known:
        """What the lines of working need to know of nodes other than their own."""
        from backprop.columnar.steps import KnownColumns

        return KnownColumns(self.columns, figures)

    def edges_at(self, end: str) -> Callable[[int], Sequence[Edge]]:
        """The edges that carry a derivative and have a node, told by its place, as their `end`."""
        return lambda place: self.columns.carrying(place, end)

    def column(self, name: str) -> Sequence[Any]:
        """One field of every node: "id", "op", "taken", "adjoint", "tangent"; "digits" if they are known."""
        columns, graph = self.columns, self.columns.graph
        if name == "id":
            return columns.ids
        if name == "op":
            words = {code: graph.op(graph.codes.index(code)) for code in set(graph.codes)}
            return [words[code] for code in graph.codes]
        if name in ("digits", "adjoint_digits"):
            known = columns.digits if name == "digits" else columns.slope_digits
            return [] if known is None else [getattr(node, name) for node in self]
        if name == "taken":
            return [value is not None or code == CONST for value, code in zip(columns.values, graph.codes, strict=True)]
        if (name == "adjoint") != (columns.mode == "reverse"):
            return [None] * len(self)
        return [plain(columns.kind, slope) for slope in columns.slopes_in(0, len(self))]

    def tell_digits(self, digits: Sequence[float | None], slope_digits: Sequence[float | None]) -> None:
        """Put in how many digits of every value and adjoint are right."""
        self.columns.digits, self.columns.slope_digits = digits, slope_digits

    @property
    def steps(self) -> Steps:
        """The lines of working over these nodes."""
        return Steps(self.columns)

    def json_lines(self) -> Iterator[str]:
        """Each record as JSON."""
        from backprop.columnar.records import node_lines

        return iter(progress.steps("nodes", node_lines(self.columns), len(self)))


class Edges(Views[Edge]):
    """The edges of a large trace."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        nodes = range(len(columns.graph))
        super().__init__(
            len(columns.graph.args), columns.edge, lambda: (edge for node in nodes for edge in columns.edges_to(node))
        )

    def keep(self, place: int) -> Edge:
        """The record at a place, which stands there from now on."""
        return self.columns.kept.setdefault(place, self.columns.edge(place))

    def ends(self) -> Iterator[tuple[int, int]]:
        """The places of source and target of every edge; no record of it is made."""
        graph = self.columns.graph
        for node in range(len(graph)):
            for source in graph.args[graph.offsets[node] : graph.offsets[node + 1]]:
                yield source, node

    def arcs(self) -> Iterator[tuple[int, int, int, Any]]:
        """Place, source, target and partial of each edge that carries a derivative; no record of it is made."""
        columns, graph, kept = self.columns, self.columns.graph, self.columns.kept
        kind, moving, partials, offsets, sources = (
            columns.kind,
            columns.moving,
            columns.partials,
            graph.offsets,
            graph.args,
        )
        for node in range(len(graph)):
            for place, rule in enumerate(columns.rules(node), offsets[node]):
                if rule is not None and moving[sources[place]]:
                    partial = kept[place].partial if place in kept else plain(kind, partials[place])
                    yield place, sources[place], node, partial

    def json_lines(self) -> Iterator[str]:
        """Each record as JSON."""
        from backprop.columnar.records import edge_lines

        return iter(progress.steps("edges", edge_lines(self.columns), len(self)))


class Steps(Views[Step]):
    """The lines of working of a large trace, written when they are asked for."""

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        from backprop.columnar.steps import all_steps

        super().__init__(0, self._step, lambda: all_steps(columns))
        self._ends: array[int] | None = None

    def __len__(self) -> int:
        return self._counted()[-1]

    def _counted(self) -> array[int]:
        """How many steps there are up to each node on the way forward, and then on the way back."""
        if self._ends is None:
            from backprop.columnar.steps import steps_of

            self._ends, count = array("q"), 0
            for node, is_reverse in self._ways():
                count += len(steps_of(self.columns, node, is_reverse))
                self._ends.append(count)
        return self._ends

    def _ways(self) -> Iterator[tuple[int, bool]]:
        nodes = range(len(self.columns.graph))
        yield from ((node, False) for node in nodes)
        if self.columns.mode == "reverse":
            yield from ((node, True) for node in reversed(nodes))

    def _step(self, place: int) -> Step:
        from bisect import bisect_right

        from backprop.columnar.steps import steps_of

        ends, nodes = self._counted(), len(self.columns.graph)
        way = bisect_right(ends, place)
        before = ends[way - 1] if way else 0
        node = way if way < nodes else 2 * nodes - 1 - way
        return steps_of(self.columns, node, way >= nodes)[place - before]

    def json_lines(self) -> Iterator[str]:
        """Each record as JSON."""
        from backprop.columnar.lines import step_lines

        ways = 2 if self.columns.mode == "reverse" else 1  # forward, then back
        progress.phase("steps", total=ways * len(self.columns.graph), unit="nodes")
        return step_lines(self.columns)


def is_large(graph: Graph, kind: Kind) -> bool:
    """Whether a trace of a graph holds columns."""
    return len(graph) >= LARGE and not kind.arrays and isinstance(kind, Real)


__all__ = ["LARGE", "Columns", "Edges", "Nodes", "Steps", "Views", "is_large"]
