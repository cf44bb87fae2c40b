"""The edges of a trace that lead to one node, as columns, and the sweeps over them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, TypeVar, overload

from backprop.arrays_text import element_name, element_of
from backprop.figures import Written, figure
from backprop.mistakes import NotATrace, UnknownNode
from backprop.path_sums.arithmetic import (
    ABSENT,
    BALLS,
    EXACT,
    PLAIN,
    Enclosure,
    Number,
    digits_of,
    is_finite,
    number_of,
    wide,
    widened,
)
from backprop.record import Edge, Trace, Value

Made = TypeVar("Made")


class _Chosen(Sequence[Edge]):
    """The edges at some places, made only when they are asked for where those of the trace are views."""

    def __init__(self, edges: Sequence[Edge], places: Sequence[int]) -> None:
        self._edges, self._places = edges, places
        self._last = -1, Edge("", "", 0)  # one after another is asked for its target, its rule and its number

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Edge: ...
    @overload
    def __getitem__(self, index: slice) -> list[Edge]: ...
    def __getitem__(self, index: int | slice) -> Edge | list[Edge]:
        if isinstance(index, slice):
            return [self._edges[place] for place in self._places[index]]
        if self._last[0] != index:
            self._last = index, self._edges[self._places[index]]
        return self._last[1]


class Network:
    """The edges of a trace that lead to `target`, as columns: those that leave node v are first[v] ... first[v+1]-1.

    `sources` are the nodes whose routes are asked for: one sweep answers for all of them.

    Raises `UnknownNode` for an id that is no node, `NotATrace` when edges and nodes do not fit together.
    """

    def __init__(
        self, trace: Trace, sources: Sequence[str] = (), target: str | None = None, symbolic: bool = False
    ) -> None:
        self.trace = trace
        column = getattr(trace.nodes, "column", None)  # of a large trace, whose nodes are views
        self.ids = [node.id for node in trace.nodes] if column is None else column("id")
        self.place = {name: place for place, name in enumerate(self.ids)}
        if len(self.place) != len(self.ids):
            raise NotATrace("two nodes of this trace have the same id")
        self.target = self._find(trace.output if target is None else target)
        names = sources or trace.wrt or list(trace.inputs)
        self.sources = [self._find(name) for one in names for name in self._elements(one)]
        self._read_numbers(self._read_edges(), symbolic)
        self._made: dict[Callable[[Network], Any], Any] = {}

    def _elements(self, name: str) -> list[str]:
        """The nodes that a name stands for: of an opened trace W is all of W[0,0], W[0,1], ..., and W[0] its first row.

        An element or a row may be written with blanks, `W[0, 1]`.
        """
        if self.trace.opened is None or name in self.place:
            return [name]
        array, at = element_of(name)
        start = f"{array}[{''.join(f'{one},' for one in at)}"
        found = [known for known in self.ids if known.startswith(start) and known.endswith("]")]
        written = element_name(array, at)
        return [written] if written in self.place else found or [name]

    def _find(self, name: str) -> int:
        place = self.place.get(name)
        if place is None:
            names = [node.id for node in self.trace.nodes if node.op != "const"]
            if len(names) > 40:  # numbered ones are no help among so many
                names = [known for known in names if not re.fullmatch(r"v\d+", known)][:40]
            elements = [known for known in self.ids if known.startswith(f"{name}[") and known.endswith("]")]
            names = elements[:40] or names  # of an array one of its elements
            raise UnknownNode(name, names)
        return place

    def _read_edges(self) -> list[Value | None]:
        """Keep the edges that can reach the target, grouped by the node they leave, otherwise in the trace's order.

        Gives their partials.
        """
        trace = self.trace
        column, arcs = getattr(trace.nodes, "column", None), getattr(trace.edges, "arcs", None)
        taken = [node.taken for node in trace.nodes] if column is None else column("taken")
        found = [arc for arc in (self._arcs() if arcs is None else arcs()) if taken[arc[1]] and taken[arc[2]]]
        leaving: list[list[int]] = [[] for _ in self.ids]
        for number, (_, source, _, _) in enumerate(found):
            leaving[source].append(number)
        reaches = bytearray(len(self.ids))
        reaches[self.target] = 1
        for node in range(self.target - 1, -1, -1):
            leaving[node] = [number for number in leaving[node] if reaches[found[number][2]]]
            reaches[node] = bool(leaving[node])
        self.first = [*accumulate(map(len, leaving[: self.target]), initial=0)]
        self.first += [self.first[-1]] * (len(self.ids) - self.target)
        kept = [found[number] for group in leaving[: self.target] for number in group]
        self.edges: Sequence[Edge] = _Chosen(trace.edges, [place for place, _, _, _ in kept])
        self.to = [target for _, _, target, _ in kept]
        self.parallel = bytearray(len(self.edges))  # marks those that have another beside them
        for node in range(self.target):
            start, end = self.first[node], self.first[node + 1]
            if end - start > 1:
                group = self.to[start:end]
                if len(set(group)) < len(group):
                    times = Counter(group)
                    self.parallel[start:end] = bytes(times[target] > 1 for target in group)
        return [partial for _, _, _, partial in kept]

    def _arcs(self) -> Iterator[tuple[int, int, int, Value | None]]:
        """Place, source, target and partial of each edge that carries a derivative. Raises `NotATrace`."""
        find = self.place.get
        for place, edge in enumerate(self.trace.edges):
            source, target = find(edge.source), find(edge.target)
            if source is None or target is None or source >= target:
                raise NotATrace(f"the edge from {edge.source} to {edge.target} does not run from one node to a later")
            if edge.partial is not None or edge.formula is not None:
                yield place, source, target, edge.partial

    def _read_numbers(self, partials: Sequence[Value | None], symbolic: bool) -> None:
        """The partials as numbers, and the arithmetic that carries them without overflow, loss or guessing."""
        found = [] if symbolic else list(map(number_of, partials))
        self.digits = 15  # that a sum can be expected to share with the adjoint; 0 when it has to be the same
        self.symbolic = symbolic or any(value is NotImplemented for value in found)
        if self.symbolic:
            self.numbers: list[Number] = [None] * len(self.edges)
            self.plain = False
            self.arithmetic = ABSENT
            return
        self.plain = all(type(value) is float and value - value == 0 for value in found) and self._in_range(found)
        if self.plain:
            self.numbers, self.arithmetic = found, PLAIN
            return
        if any(isinstance(value, Enclosure) for value in found):
            self.arithmetic = BALLS
            self.numbers = [value if isinstance(value, Enclosure) else None for value in found]
        elif self.trace.kind == "exact" or any(isinstance(value, Fraction) for value in found):
            self.arithmetic = EXACT
            self.digits = 0
            self.numbers = [None if value is None or not is_finite(value) else Fraction(value) for value in found]
        else:
            told = digits_of(self.trace.kind, found)
            self.digits = (told or 16) - 1
            self.arithmetic = wide(told)
            self.numbers = [widened(value) for value in found]
        if None in self.numbers:
            dead = self.arithmetic.dead
            pairs = zip(self.edges, self.numbers, strict=True)
            self.numbers = [dead if self._is_dead(edge) else value for edge, value in pairs]

    def _in_range(self, numbers: Sequence[float]) -> bool:
        """Whether no product of partials along any stretch of any route leaves the range of a double."""
        grows = [0.0] * len(self.ids)
        shrinks = [0.0] * len(self.ids)
        first, to = self.first, self.to
        for node in range(self.target - 1, -1, -1):
            most = least = 0.0
            for edge in range(first[node], first[node + 1]):
                target, size = to[edge], abs(numbers[edge])
                power = math.log2(size) if size else 0.0
                grown, shrunk = grows[target], shrinks[target]
                if power > 0:
                    grown += power
                else:
                    shrunk -= power
                most, least = max(most, grown), max(least, shrunk)
            grows[node], shrinks[node] = most, least
            if most > 1000 or least > 1000:
                return False
        return True

    def _is_dead(self, edge: Edge) -> bool:
        """An exact 0 (relu of a negative number): reverse mode sends nothing over it, whatever lies behind."""
        from backprop import ops
        from backprop.kinds import by_name
        from backprop.rules import is_kink

        if number_of(edge.partial) != 0:
            return False
        target = self.trace.nodes[self.place[edge.target]]
        if not any(row.name == target.op for row in ops.rows()):
            return False
        row = ops.by_name(target.op)
        known = [self.trace.nodes[self.place[name]].value for name in target.args if name in self.place]
        if not row.locally_constant or len(known) != len(target.args):
            return False
        if not all(isinstance(value, (float, Written)) for value in known):
            return False
        doubles = all(isinstance(value, float) for value in known)
        kind = by_name("real") if doubles else by_name(self.trace.kind, limit=1 << 40)
        operands = [kind.read(value) for value in known]
        return not is_kink(row, kind, operands, kind.read(target.value))

    def leads(self, source: int) -> bool:
        """Whether a path leads from a node to the target."""
        return source == self.target or self.first[source] < self.first[source + 1]

    def sweep(
        self,
        weights: Sequence[Any] | None,
        one: Any,
        mul: Callable[[Any, Any], Any],
        add: Callable[[Any, Any], Any],
    ) -> dict[int, Any]:
        """Σ over paths of Π of weights, for every source at once: one step an edge, from the target back.

        A node's sum is let go after its last use: the counts of a long graph have many digits.
        """
        first, to = self.first, self.to
        last_use = [-1] * len(self.ids)
        for node in range(self.target - 1, -1, -1):
            for edge in range(first[node], first[node + 1]):
                last_use[to[edge]] = node
        kept = set(self.sources)
        found: list[Any] = [None] * len(self.ids)
        known = bytearray(len(self.ids))
        found[self.target], known[self.target] = one, 1
        for node in range(self.target - 1, -1, -1):
            start, end = first[node], first[node + 1]
            if start == end:
                continue
            total = found[to[start]] if weights is None else mul(weights[start], found[to[start]])
            for edge in range(start + 1, end):
                part = found[to[edge]] if weights is None else mul(weights[edge], found[to[edge]])
                total = add(total, part)
            found[node], known[node] = total, 1
            for edge in range(start, end):
                target = to[edge]
                if last_use[target] == node and target not in kept:
                    found[target] = None
        return {node: found[node] for node in kept if known[node]}

    def once(self, work: Callable[[Network], Made]) -> Made:
        """What `work` makes of this network, made once: it serves all sources."""
        if work not in self._made:
            self._made[work] = work(self)
        found: Made = self._made[work]
        return found

    def is_trivial(self, edge: int) -> bool:
        """Whether a partial is 1 or -1 whatever the inputs: it is no factor on paper."""
        return self.label(edge) in ("1", "-1")

    def label(self, edge: int) -> str:
        """The partial of an edge as a formula, as a number where it has none."""
        record = self.edges[edge]
        if record.formula is not None:
            return record.formula
        return figure(record.partial, 17)


class Routes:
    """Every path from the node `source` to the target: `Routes(trace, ["b"])` or `Routes(trace, "b", "e")`.

    For several sources at once use `routes`: what one sweep finds serves them all.
    """

    __slots__ = ("network", "source")

    def __init__(
        self, trace: Trace, source: str | Sequence[str], target: str | None = None, *, symbolic: bool = False
    ) -> None:
        name = source if isinstance(source, str) else source[0]
        self.network = Network(trace, [name], target, symbolic)
        self.source = self.network.sources[0]

    @classmethod
    def of(cls, network: Network, source: int) -> Routes:
        """The routes from one node of a network that is there already."""
        made = cls.__new__(cls)
        made.network, made.source = network, source
        return made

    @property
    def source_id(self) -> str:
        return self.network.ids[self.source]

    @property
    def target_id(self) -> str:
        return self.network.ids[self.network.target]

    @property
    def symbolic(self) -> bool:
        """Whether terms are formulas and not numbers."""
        return self.network.symbolic

    @property
    def leads(self) -> bool:
        """Whether there is a path at all; from a node to itself leads the path without an edge."""
        return self.network.leads(self.source)


def routes(
    trace: Trace, sources: Sequence[str] = (), target: str | None = None, *, symbolic: bool = False
) -> list[Routes]:
    """The routes from each source (the variables asked for, when none is named) to the target (the output).

    With `symbolic` terms are products of formulas and no value is needed. Raises `UnknownNode` and `NotATrace`.
    """
    network = Network(trace, sources, target, symbolic)
    return [Routes.of(network, source) for source in network.sources]
