"""Every path, one after another: a route, its partials, its term and the sum so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, repeat
from typing import Any

from backprop.factors import product_of
from backprop.path_sums.arithmetic import Number
from backprop.path_sums.network import Network, Routes
from backprop.record import Edge, Value

# Below a node whose remaining routes have so few edges in all, they are worked out once and used for every route that
# comes by: prefix products are then extended thousands of times by one multiplication each.
LARGEST_TAIL = 4096
_TAILS_KEPT = 128


@dataclass(slots=True, eq=False)
class PathTerm:
    """One path: `index` counts from 1, `term` is the product of its partials, `running` the sum of terms so far.

    `term` and `running` are None where they are undefined, and when terms are formulas. The edges come in two parts:
    many paths share the same `tail`.
    """

    routes: Routes
    index: int
    head: tuple[int, ...]
    tail: tuple[int, ...]
    term: Value | None
    running: Value | None

    @property
    def edges(self) -> list[Edge]:
        records = self.routes.network.edges
        return [records[edge] for edge in self.head + self.tail]

    @property
    def nodes(self) -> list[str]:
        """The ids along the way, both ends included."""
        return [self.routes.source_id, *(edge.target for edge in self.edges)]

    @property
    def keys(self) -> list[int]:
        """At which operand each edge arrives: what tells parallel edges apart."""
        return [edge.key for edge in self.edges]

    @property
    def partials(self) -> list[Value | None]:
        return [edge.partial for edge in self.edges]

    @property
    def formulas(self) -> list[str]:
        network = self.routes.network
        return [network.label(edge) for edge in self.head + self.tail]

    @property
    def product(self) -> str:
        """The term in symbols, with factors of 1 left out: `α·δ`."""
        return product_of(self.formulas)


@dataclass(slots=True, eq=False)
class Stretch:
    """Paths that begin alike: `head`, their edges up to `node`, then each of `tails`, which other stretches share.

    `index` is that of the first, `terms` and `sums` are the term of each and the sum so far.
    """

    index: int
    head: tuple[int, ...]
    node: int
    tails: list[tuple[int, ...]]
    terms: list[Value | None]
    sums: list[Value | None]


def listing(routes: Routes) -> Iterator[PathTerm]:
    """Every path in order (by first edge, then by second, ...), one after another and never all at once.

    >>> from backprop.record import Edge, Node, Trace
    >>> nodes = [Node("b", "input"), Node("c", "add"), Node("d", "add"), Node("e", "mul")]
    >>> edges = [Edge("b", "c", 1, 1.0, "1"), Edge("b", "d", 0, 1.0, "1")]
    >>> edges += [Edge("c", "e", 0, 2.0, "d"), Edge("d", "e", 1, 3.0, "c")]
    >>> trace = Trace("", "", "real", "reverse", {}, [], "e", 6.0, ["b"], {}, {}, nodes, edges)
    >>> [(path.nodes, path.term, path.running) for path in listing(Routes(trace, "b"))]
    [(['b', 'c', 'e'], 2.0, 2.0), (['b', 'd', 'e'], 3.0, 5.0)]
    """
    for found in stretches(routes):
        index, head = found.index, found.head
        for tail, term, running in zip(found.tails, found.terms, found.sums, strict=True):
            yield PathTerm(routes, index, head, tail, term, running)
            index += 1


def stretches(routes: Routes) -> Iterator[Stretch]:
    """Every path in the order of `listing`, those together that begin alike and go on from the same node."""
    network = routes.network
    arithmetic = network.arithmetic
    mul, add, out = arithmetic.mul, arithmetic.add, arithmetic.out
    if not routes.leads:
        return
    running: Number = 0.0 if network.plain else None
    index = 1
    ways = network.once(Ways)
    for head, product, node in ways.stretches(routes.source):
        tails, products = ways.tails(node)
        terms: list[Any]
        sums: list[Any]
        if network.plain:
            terms = [product * after + 0.0 for after in products]
            sums = list(accumulate(terms, initial=running))
            running = sums[-1]
            del sums[0]
        else:
            terms, sums = [], []
            for after in products:
                term = mul(product, after)
                running = term if index == 1 and not terms else add(running, term)
                terms.append(out(term))
                sums.append(out(running))
        yield Stretch(index, head, node, tails, terms, sums)
        index += len(tails)


def terms(routes: Routes) -> Iterator[Value | None]:
    """The terms alone, in the order of `listing`; formulas when the routes are symbolic."""
    if routes.symbolic:
        return (path.product for path in listing(routes))
    return _terms(routes)


def _terms(routes: Routes) -> Iterator[Value | None]:
    network = routes.network
    mul, out = network.arithmetic.mul, network.arithmetic.out
    if not routes.leads:
        return
    ways = network.once(Ways)
    for _, product, node in ways.stretches(routes.source):
        found = map(mul, repeat(product), ways.tails(node)[1])
        yield from found if network.plain else map(out, found)


class Ways:
    """The ways through a network, in the order of the listing. The last stretches, which many paths share, are kept."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.small = _few_ways_on(network)
        self._tails: dict[int, tuple[list[tuple[int, ...]], list[Number]]] = {}

    def tails(self, node: int) -> tuple[list[tuple[int, ...]], list[Number]]:
        """Every route from a `small` node to the target, in order, and its product."""
        known = self._tails.get(node)
        if known is not None:
            return known
        routes: list[tuple[int, ...]] = []
        products: list[Number] = []
        if node == self.network.target:
            routes, products = [()], [self.network.arithmetic.one]
        else:
            for edges, edge, product in self._walk(node, lambda reached: reached == self.network.target):
                routes.append((*edges, edge))
                products.append(product)
        if len(self._tails) >= _TAILS_KEPT:
            self._tails.clear()
        self._tails[node] = routes, products
        return routes, products

    def _walk(self, source: int, stops: Callable[[int], object]) -> Iterator[tuple[list[int], int, Number]]:
        """Every stretch from the source to a node where `stops` holds: edges but the last, the last, their product.

        A stack of its own, so that depth is no matter; the list of edges is the stack itself and moves on.
        """
        network = self.network
        first, to, numbers, mul = network.first, network.to, network.numbers, network.arithmetic.mul
        edges: list[int] = []
        products = [network.arithmetic.one]
        ahead, ends = [first[source]], [first[source + 1]]
        while ahead:
            edge = ahead[-1]
            if edge == ends[-1]:
                ahead.pop()
                ends.pop()
                products.pop()
                if edges:
                    edges.pop()
                continue
            ahead[-1] = edge + 1
            node = to[edge]
            product = mul(products[-1], numbers[edge])
            if stops(node):
                yield edges, edge, product
            else:
                edges.append(edge)
                products.append(product)
                ahead.append(first[node])
                ends.append(first[node + 1])

    def stretches(self, source: int) -> Iterator[tuple[tuple[int, ...], Number, int]]:
        """The ways to the first `small` node: their edges, their product and that node."""
        if self.small[source]:
            yield (), self.network.arithmetic.one, source
            return
        for edges, edge, product in self._walk(source, self.small.__getitem__):
            yield (*edges, edge), product, self.network.to[edge]

    def product(self, source: int, edges: Sequence[int]) -> Number:
        """The product along a route, multiplied in the order of the listing: the same to the last digit."""
        mul, numbers, to = self.network.arithmetic.mul, self.network.numbers, self.network.to
        before = after = self.network.arithmetic.one
        small = self.small[source]
        for edge in edges:
            if small:
                after = mul(after, numbers[edge])
            else:
                before = mul(before, numbers[edge])
                small = self.small[to[edge]]
        return mul(before, after)


def _few_ways_on(network: Network) -> bytearray:
    """Marks the nodes from which the routes to the target are few."""
    first, to = network.first, network.to
    count = [0.0] * len(network.ids)
    size = [math.inf] * len(network.ids)  # edges in all of the routes
    count[network.target], size[network.target] = 1.0, 0.0
    for node in range(network.target - 1, -1, -1):
        below = to[first[node] : first[node + 1]]
        if below:
            count[node] = ways = sum([count[target] for target in below])
            size[node] = ways + sum([size[target] for target in below])
    return bytearray(weight <= LARGEST_TAIL for weight in size)
