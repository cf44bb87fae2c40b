"""The largest terms out of 3^k, without the others: a K-best dynamic program over the edges."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import islice

from backprop.mistakes import TermsWithoutSize
from backprop.path_sums.arithmetic import COMPARED, WIDE, Number, widened
from backprop.path_sums.listed import PathTerm, Ways, listing
from backprop.path_sums.network import Network, Routes


@dataclass(slots=True)
class Top:
    """The largest terms by absolute value, the largest first, and the share of `size_total` that they carry."""

    paths: list[PathTerm]
    share: float | None
    shares: list[float | None]


def top(routes: Routes, k: int) -> Top:
    """The k largest terms by absolute value, without listing the others; ties stand in the order of the listing.

    The next best route from a node is the best of: each edge that leaves it, followed by the next best route from
    there that has not been used. Paths over an undefined partial have no size and are left out.
    `index` is the rank and `running` the sum so far. Raises `TermsWithoutSize` for terms in symbols.
    """
    network = routes.network
    if routes.symbolic:
        raise TermsWithoutSize
    ranking, ways = network.once(_Ranking), network.once(Ways)
    found: list[PathTerm] = []
    sizes: list[Decimal] = []
    arithmetic = network.arithmetic
    running: Number = None
    for size, edges in ranking.best(routes.source, k):
        term = ways.product(routes.source, edges)
        running = arithmetic.add(running, term) if found else term
        found.append(PathTerm(routes, len(found) + 1, (), edges, arithmetic.out(term), arithmetic.out(running)))
        sizes.append(size)
    if not found:
        return Top([], None, [])
    whole = ranking.whole(routes.source)
    shares = [_share(size, whole) for size in sizes]
    return Top(found, _share(_exact_sum(sizes), whole), shares)


def _size(value: Number) -> Decimal | None:
    wide = widened(value)
    return None if wide is None else wide.copy_abs()


def _exact_sum(sizes: Sequence[Decimal]) -> Decimal:
    whole = Decimal(0)
    for size in sizes:
        whole = WIDE.add(whole, size)
    return whole


def _share(size: Decimal, whole: Decimal) -> float | None:
    if whole == 0 or not whole.is_finite():
        return None
    return min(1.0, float(WIDE.divide(size, whole)))


class _Ranking:
    """The best routes from every node to the target, found on demand: each node keeps what it has found and a heap."""

    def __init__(self, network: Network) -> None:
        self.network = network
        sizes = [Decimal(abs(value)) for value in network.numbers] if network.plain else map(_size, network.numbers)
        # a factor of 0 makes a tie of all that it meets, so terms of 0 are not ranked but listed, when their turn comes
        self.weights = [size or None for size in sizes]
        self.defined = [value is not None for value in network.numbers]
        self._wholes: dict[int, Decimal] | None = None
        nodes = len(network.ids)
        # runs of nodes with one way on are passed in one step: where they end, and the product up to there
        self.end = list(range(nodes))
        self.along: list[Decimal | None] = [Decimal(1)] * nodes
        # of each edge that leaves a branching node: the product up to the end of its run, and that end
        self.through: list[Decimal | None] = [None] * len(self.weights)
        self.below = [0] * len(self.weights)
        # what is found: size, first edge, rank of the rest at the end of its run
        self.found: list[list[tuple[Decimal, int, int]]] = [[] for _ in range(nodes)]
        self.heaps: list[list[tuple[Decimal, int, int, Decimal]]] = [[] for _ in range(nodes)]
        self.done = bytearray(nodes)
        self.found[network.target] = [(Decimal(1), -1, -1)]
        self.done[network.target] = 1
        first, to, mul, key = network.first, network.to, WIDE.multiply, COMPARED.minus
        for node in range(network.target - 1, -1, -1):
            start, end = first[node], first[node + 1]
            if end - start == 1:
                weight, along = self.weights[start], self.along[to[start]]
                self.along[node] = None if weight is None or along is None else mul(weight, along)
                self.end[node] = self.end[to[start]]
                continue
            heap = self.heaps[node]
            for edge in range(start, end):
                weight, along = self.weights[edge], self.along[to[edge]]
                self.below[edge] = below = self.end[to[edge]]
                if weight is None or along is None or not self.found[below]:
                    continue
                self.through[edge] = through = mul(weight, along)
                size = mul(through, self.found[below][0][0])
                heap.append((key(size), edge, 0, size))
            heapq.heapify(heap)
            self._take(node)

    def _take(self, node: int) -> None:
        """The best that is known of the rest is the next best route from a node."""
        heap = self.heaps[node]
        if heap:
            _, edge, rank, size = heapq.heappop(heap)
            self.found[node].append((size, edge, rank))
        else:
            self.done[node] = 1

    def advance(self, node: int) -> None:
        """Find the next best route from a branching node, going down to others where theirs is needed first."""
        found, done, heaps, mul, key = self.found, self.done, self.heaps, WIDE.multiply, COMPARED.minus
        stack = [node]
        while stack:
            node = stack[-1]
            if not done[node]:
                _, edge, rank = found[node][-1]
                below = self.below[edge]
                rank += 1
                if len(found[below]) <= rank and not done[below]:
                    stack.append(below)
                    continue
                through = self.through[edge]
                if through is not None and rank < len(found[below]):  # the same edge, with the next best after it
                    size = mul(through, found[below][rank][0])
                    heapq.heappush(heaps[node], (key(size), edge, rank, size))
                self._take(node)
            stack.pop()

    def best(self, source: int, k: int) -> Iterator[tuple[Decimal, tuple[int, ...]]]:
        """The k best routes from a node: size and edges."""
        ranked = 0
        for found in self._nonzero(source, k):
            ranked += 1
            yield found
        if ranked < k and self.network.leads(source):
            for edges in islice(self._zeros(source), k - ranked):
                yield Decimal(0), edges

    def _zeros(self, source: int) -> Iterator[tuple[int, ...]]:
        """The routes whose term is 0, in the order of the listing, in which fewer than k others stand between them."""
        network = self.network
        every = list(network.edges)  # their identities tell them apart
        defined = [edge for edge, known in zip(every, self.defined, strict=True) if known]
        places = {id(edge): place for place, edge in enumerate(every)}
        rest = replace(network.trace, edges=defined)
        for path in listing(Routes(rest, network.ids[source], network.ids[network.target])):
            edges = tuple(places[id(edge)] for edge in path.edges)
            if any(self.weights[edge] is None for edge in edges):
                yield edges

    def _nonzero(self, source: int, k: int) -> Iterator[tuple[Decimal, tuple[int, ...]]]:
        if not self.network.leads(source):
            return
        end, along = self.end[source], self.along[source]
        if along is None:
            return
        for rank in range(k):
            while len(self.found[end]) <= rank and not self.done[end]:
                self.advance(end)
            if len(self.found[end]) <= rank:
                return
            yield WIDE.multiply(along, self.found[end][rank][0]), self._route(source, rank)

    def _route(self, node: int, rank: int) -> tuple[int, ...]:
        first, to = self.network.first, self.network.to
        edges: list[int] = []
        while node != self.network.target:
            if self.end[node] == node:
                _, edge, rank = self.found[node][rank]
            else:
                edge = first[node]
            edges.append(edge)
            node = to[edge]
        return tuple(edges)

    def whole(self, source: int) -> Decimal:
        """The sum of all sizes that are defined, which cannot overflow."""
        if self._wholes is None:
            weights = [Decimal(0) if weight is None else weight for weight in self.weights]
            self._wholes = self.network.sweep(weights, Decimal(1), WIDE.multiply, WIDE.add)
        return self._wholes[source]
