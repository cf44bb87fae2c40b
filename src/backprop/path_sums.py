"""Paths: the derivative of one node by another as the sum, over every path between them, of the product of partials.

There may be 3^k of them on a graph of a few k edges, so listing is lazy and everything else (how many, their sum, the
largest, the factored form) is a sweep over the edges instead. All of it reads a Trace, so one read from JSON will do.

What counts as a path: every edge through which a derivative passes, also when its partial happens to be 0 (the smaller
operand of a max) or undefined (the slope of sqrt at 0: the path is listed and its term is undefined). Constants,
conditions and branches that were not evaluated carry no partial, and no path runs through them.
"""

from __future__ import annotations

import decimal
import heapq
import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from itertools import islice, repeat
from typing import Any

from backprop.figures import figure
from backprop.mistakes import TermsWithoutSize, UnknownNode
from backprop.record import Edge, NotATrace, Trace, Value

# Below a node whose remaining routes have so few edges in all, they are worked out once and used for every route that
# comes by: prefix products are then extended thousands of times by one multiplication each.
LARGEST_TAIL = 4096
_TAILS_KEPT = 128

# Numbers of 60 digits with exponents that do not end, where a product could leave the range of a double. Sizes are
# compared at 40 digits, so that the same factors in another order are a tie.
_WIDE = decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])
_COMPARED = decimal.Context(prec=40, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[])

Number = Any  # float, Decimal or Fraction; None where undefined


@dataclass(frozen=True, slots=True)
class _Arithmetic:
    """How terms are multiplied and added. `out` gives a number as a trace holds it, None where it is undefined."""

    one: Number
    mul: Callable[[Number, Number], Number]
    add: Callable[[Number, Number], Number]
    size: Callable[[Number], Number]
    out: Callable[[Number], Value | None]
    dead: Number = None


class Network:
    """The edges of a trace that lead to `target`, as columns: those that leave node v are first[v] ... first[v+1]-1.

    `sources` are the nodes whose routes are asked for: one sweep answers for all of them.

    Raises `UnknownNode` for an id that is no node, `NotATrace` when edges and nodes do not fit together.
    """

    def __init__(
        self, trace: Trace, sources: Sequence[str] = (), target: str | None = None, symbolic: bool = False
    ) -> None:
        self.trace = trace
        self.ids = [node.id for node in trace.nodes]
        self.place = {name: place for place, name in enumerate(self.ids)}
        if len(self.place) != len(self.ids):
            raise NotATrace("two nodes of this trace have the same id")
        self.target = self._find(trace.output if target is None else target)
        self.sources = [self._find(name) for name in sources or trace.wrt or trace.inputs]
        self._read_edges()
        self._read_numbers(symbolic)
        self._measure()
        self._tails: dict[int, tuple[list[tuple[int, ...]], list[Number]]] = {}
        self._swept: dict[str, dict[int, Any]] = {}
        self._ranking: _Ranking | None = None

    def _find(self, name: str) -> int:
        place = self.place.get(name)
        if place is None:
            names = [node.id for node in self.trace.nodes if node.op != "const"]
            if len(names) > 40:  # numbered ones are no help among so many
                names = [known for known in names if not re.fullmatch(r"v\d+", known)][:40]
            raise UnknownNode(name, names)
        return place

    def _read_edges(self) -> None:
        """Keep the edges that can reach the target, grouped by the node they leave, otherwise in the trace's order."""
        place, nodes = self.place, self.trace.nodes
        leaving: list[list[Edge]] = [[] for _ in nodes]
        for edge in self.trace.edges:
            source, target = place.get(edge.source), place.get(edge.target)
            if source is None or target is None or source >= target:
                raise NotATrace(f"the edge from {edge.source} to {edge.target} does not run from one node to a later")
            carries = edge.partial is not None or edge.formula is not None
            if carries and nodes[source].taken and nodes[target].taken:
                leaving[source].append(edge)
        reaches = bytearray(len(nodes))
        reaches[self.target] = 1
        self.first = [0] * (len(nodes) + 1)
        for node in range(self.target - 1, -1, -1):
            leaving[node] = [edge for edge in leaving[node] if reaches[place[edge.target]]]
            reaches[node] = bool(leaving[node])
        self.edges: list[Edge] = []
        for node in range(len(nodes)):
            if node < self.target:
                self.edges.extend(leaving[node])
            self.first[node + 1] = len(self.edges)
        self.to = [place[edge.target] for edge in self.edges]
        ends = [(edge.source, edge.target) for edge in self.edges]
        # edges side by side leave the same node, so they stand in one group
        seen: dict[tuple[str, str], int] = {}
        for pair in ends:
            seen[pair] = seen.get(pair, 0) + 1
        self.parallel = bytearray(seen[pair] > 1 for pair in ends)

    def _read_numbers(self, symbolic: bool) -> None:
        """The partials as numbers, and the arithmetic that carries them without overflow, loss or guessing."""
        found = [] if symbolic else [_number(edge.partial) for edge in self.edges]
        self.digits = 15  # that a sum can be expected to share with the adjoint
        self.symbolic = symbolic or any(value is NotImplemented for value in found)
        if self.symbolic:
            self.numbers: list[Number] = [None] * len(self.edges)
            self.plain = False
            self.arithmetic = _Arithmetic(None, _nothing, _nothing, _nothing_of, _nothing_of)
            return
        self.plain = all(type(value) is float and value - value == 0 for value in found) and self._in_range(found)
        if self.plain:
            self.numbers, self.arithmetic = found, _PLAIN
            return
        if any(isinstance(value, Fraction) for value in found):
            self.arithmetic = _careful(operator.mul, operator.add, Fraction(0), Fraction(1), abs, str)
            self.numbers = [None if value is None or not math.isfinite(value) else Fraction(value) for value in found]
        else:
            self.digits = (_digits_of(self.trace, found) or 16) - 1
            self.arithmetic = _wide(_digits_of(self.trace, found))
            self.numbers = [_widened(value) for value in found]
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
        from backprop.kinds.real import REAL
        from backprop.rules import is_kink

        target = self.trace.nodes[self.place[edge.target]]
        if _number(edge.partial) != 0 or not any(row.name == target.op for row in ops.rows()):
            return False
        row = ops.by_name(target.op)
        known = [self.trace.nodes[self.place[name]].value for name in target.args if name in self.place]
        if not row.locally_constant or len(known) != len(target.args):
            return False
        return all(isinstance(value, float) for value in known) and not is_kink(row, REAL, known, target.value)

    def _measure(self) -> None:
        """Mark the nodes from which the routes to the target are few: `small`. `longest` counts edges."""
        size = [math.inf] * len(self.ids)
        count = [0.0] * len(self.ids)
        length = [0] * len(self.ids)
        size[self.target], count[self.target] = 0.0, 1.0
        first, to = self.first, self.to
        for node in range(self.target - 1, -1, -1):
            below = to[first[node] : first[node + 1]]
            if below:
                count[node] = ways = sum([count[target] for target in below])
                size[node] = ways + sum([size[target] for target in below])
                length[node] = 1 + max([length[target] for target in below])
        self.small = bytearray(weight <= LARGEST_TAIL for weight in size)
        self.longest = length

    def leads(self, source: int) -> bool:
        """Whether a path leads from a node to the target."""
        return source == self.target or self.first[source] < self.first[source + 1]

    # -- sweeps ----------------------------------------------------------------------------------------------------

    def sweep(
        self,
        weights: Sequence[Any] | None,
        one: Any,
        mul: Callable[[Any, Any], Any],
        add: Callable[[Any, Any], Any],
        keep: Sequence[int] | None = None,
    ) -> dict[int, Any]:
        """Σ over paths of Π of weights, for every source at once: one step an edge, from the target back.

        A node's sum is let go after its last use: the counts of a long graph have many digits.
        """
        first, to = self.first, self.to
        last_use = [-1] * len(self.ids)
        for node in range(self.target - 1, -1, -1):
            for edge in range(first[node], first[node + 1]):
                last_use[to[edge]] = node
        kept = set(self.sources if keep is None else keep)
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

    def swept(self, what: str, source: int) -> Any:
        """A sweep by name, run once for all sources."""
        if what not in self._swept:
            self._swept[what] = self._sweeps(what)
        return self._swept[what].get(source)

    def _sweeps(self, what: str) -> dict[int, Any]:
        if what == "count":
            return self.sweep(None, 1, operator.mul, operator.add)
        if what == "undefined":
            dead = self.arithmetic.dead
            alive = [0 if dead is not None and value is dead else 1 for value in self.numbers]
            defined = [0 if value is None else keeps for value, keeps in zip(self.numbers, alive, strict=True)]
            every = self.sweep(alive, 1, operator.mul, operator.add)
            good = self.sweep(defined, 1, operator.mul, operator.add)
            return {node: every[node] - good[node] for node in every}
        if what == "cost":
            trivial = [self.is_trivial(edge) for edge in range(len(self.edges))]
            return self.sweep(trivial, (1, 0, 1), _lengthened, _joined)
        numbers, arithmetic = self.numbers, self.arithmetic
        if what == "size":
            numbers = [None if value is None else arithmetic.size(value) for value in numbers]
        sums = self.sweep(numbers, arithmetic.one, arithmetic.mul, arithmetic.add)
        if self.plain and not all(math.isfinite(value) for value in sums.values()):
            # so many terms that their sum leaves the range on the way, though it may come back
            wide = _wide(0)
            sums = self.sweep([_widened(value) for value in numbers], wide.one, wide.mul, wide.add)
            return {node: wide.out(value) for node, value in sums.items()}
        return {node: arithmetic.out(value) for node, value in sums.items()}

    def is_trivial(self, edge: int) -> bool:
        """Whether a partial is 1 or -1 whatever the inputs: it is no factor on paper."""
        return self.label(edge) in ("1", "-1")

    def label(self, edge: int) -> str:
        """The partial of an edge as a formula, as a number where it has none."""
        record = self.edges[edge]
        if record.formula is not None:
            return record.formula
        return figure(record.partial, 17)

    # -- listing ---------------------------------------------------------------------------------------------------

    def tails(self, node: int) -> tuple[list[tuple[int, ...]], list[Number]]:
        """Every route from a `small` node to the target, in order, and its product."""
        known = self._tails.get(node)
        if known is not None:
            return known
        routes: list[tuple[int, ...]] = []
        products: list[Number] = []
        if node == self.target:
            routes, products = [()], [self.arithmetic.one]
        else:
            for edges, edge, product in self._walk(node, lambda reached: reached == self.target):
                routes.append((*edges, edge))
                products.append(product)
        if len(self._tails) >= _TAILS_KEPT:
            self._tails.clear()
        self._tails[node] = routes, products
        return routes, products

    def _walk(self, source: int, stops: Callable[[int], Any]) -> Iterator[tuple[list[int], int, Number]]:
        """Every stretch from the source to a node where `stops` holds: edges but the last, the last, their product.

        A stack of its own, so that depth is no matter; the list of edges is the stack itself and moves on.
        """
        first, to, numbers, mul = self.first, self.to, self.numbers, self.arithmetic.mul
        edges: list[int] = []
        products = [self.arithmetic.one]
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
            yield (), self.arithmetic.one, source
            return
        for edges, edge, product in self._walk(source, self.small.__getitem__):
            yield (*edges, edge), product, self.to[edge]

    def product(self, source: int, edges: Sequence[int]) -> Number:
        """The product along a route, multiplied in the order of the listing: the same to the last digit."""
        mul, numbers = self.arithmetic.mul, self.numbers
        before = after = self.arithmetic.one
        small = self.small[source]
        for edge in edges:
            if small:
                after = mul(after, numbers[edge])
            else:
                before = mul(before, numbers[edge])
                small = self.small[self.to[edge]]
        return mul(before, after)


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


def listing(routes: Routes) -> Iterator[PathTerm]:
    """Every path in order (by first edge, then by second, ...), one after another and never all at once.

    >>> from backprop.record import Edge, Node, Trace
    >>> nodes = [Node("b", "input"), Node("c", "add"), Node("d", "add"), Node("e", "mul")]
    >>> edges = [Edge("b", "c", 1, 1.0, "1"), Edge("b", "d", 0, 1.0, "1")]
    >>> edges += [Edge("c", "e", 0, 2.0, "d"), Edge("d", "e", 1, 3.0, "c")]
    >>> trace = Trace("", "", "real", "reverse", {}, [], "e", 6.0, ["b"], {}, {}, nodes, edges)
    >>> from backprop.path_sums import Routes
    >>> [(path.nodes, path.term, path.running) for path in listing(Routes(trace, "b"))]
    [(['b', 'c', 'e'], 2.0, 2.0), (['b', 'd', 'e'], 3.0, 5.0)]
    """
    network = routes.network
    arithmetic = network.arithmetic
    mul, add, out, plain = arithmetic.mul, arithmetic.add, arithmetic.out, network.plain
    if not routes.leads:
        return
    running: Number = None
    index = 0
    for head, product, node in network.stretches(routes.source):
        tails, products = network.tails(node)
        for tail, after in zip(tails, products, strict=True):
            term = mul(product, after)
            running = term if index == 0 else add(running, term)
            index += 1
            if plain:
                yield PathTerm(routes, index, head, tail, term + 0.0, running + 0.0)
            else:
                yield PathTerm(routes, index, head, tail, out(term), out(running))


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
    for _, product, node in network.stretches(routes.source):
        found = map(mul, repeat(product), network.tails(node)[1])
        yield from found if network.plain else map(out, found)


def count(routes: Routes) -> int:
    """How many paths there are, exactly, without listing them: listing would take 3^k steps on k diamonds."""
    return routes.network.swept("count", routes.source) or 0


def undefined(routes: Routes) -> int:
    """How many paths have a term that is undefined."""
    return 0 if routes.symbolic else routes.network.swept("undefined", routes.source) or 0


def total(routes: Routes) -> Value | None:
    """The sum of every term, without listing: the derivative. None where it is undefined or a formula."""
    return _sum(routes, "total")


def size_total(routes: Routes) -> Value | None:
    """The sum of the absolute values of every term: against it the total shows how much cancels."""
    return _sum(routes, "size")


def _sum(routes: Routes, what: str) -> Value | None:
    if routes.symbolic:
        return None
    return routes.network.swept(what, routes.source) if routes.leads else 0.0


def adjoint(routes: Routes) -> Value | None:
    """The derivative as the trace has it, found without paths; None where it has none between these two nodes."""
    trace = routes.network.trace
    if routes.target_id != trace.output or routes.symbolic:
        return None
    known = trace.nodes[routes.source].adjoint  # at a singular point the gradient may be another number
    return trace.gradient.get(routes.source_id) if known is None else known


def answer_apart(routes: Routes) -> Value | None:
    """The derivative that the trace answers with, where it is not the adjoint (a singular point); else None."""
    trace = routes.network.trace
    known = trace.gradient.get(routes.source_id) if routes.target_id == trace.output else None
    same = known is None or trace.mode != "reverse" or known == trace.nodes[routes.source].adjoint
    return None if same else known


def agrees(routes: Routes, found: Value | None) -> bool | None:
    """Whether a sum of terms is the adjoint of the trace, as near as rounding lets it; None when one is missing."""
    known = _size_of_difference(adjoint(routes), Decimal(0))
    if known is None or _number(found) is None:
        return None
    difference = _size_of_difference(adjoint(routes), _widened(_number(found)))
    size = _widened(_number(size_total(routes)))
    if difference is None or size is None or not size.is_finite():
        return adjoint(routes) == found
    digits = routes.network.digits
    steps = 8 + routes.network.longest[routes.source] + min(count(routes), 10**9)
    return difference <= _WIDE.multiply(size, steps * Decimal(10) ** -digits)


def _digits_of(trace: Trace, numbers: Sequence[Number]) -> int:
    """To how many decimal digits the numbers of a trace are given; 0 for doubles."""
    texts = [value for value in numbers if isinstance(value, Decimal)]
    said = trace.kind.partition(":")[2]
    if not texts or said.isdecimal():
        return int(said) if texts else 0
    return max(16, *(len(value.as_tuple().digits) for value in texts))


def _size_of_difference(value: Value | None, other: Decimal | None) -> Decimal | None:
    number = _widened(_number(value))
    if number is None or other is None:
        return None
    difference = _WIDE.subtract(number, other).copy_abs()
    return None if difference.is_nan() else difference


def exit_code(found: Sequence[Routes]) -> int:
    """0 fine, 1 when a sum over paths is not the adjoint, 3 when a sum is undefined at this point."""
    numeric = [routes for routes in found if not routes.symbolic]
    if any(total(routes) is None for routes in numeric):
        return 3
    return 1 if any(agrees(routes, total(routes)) is False for routes in numeric) else 0


# -- the largest terms -----------------------------------------------------------------------------------------------


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
    if network._ranking is None:
        network._ranking = _Ranking(network)
    found: list[PathTerm] = []
    sizes: list[Decimal] = []
    arithmetic = network.arithmetic
    running: Number = None
    for size, edges in network._ranking.best(routes.source, k):
        term = network.product(routes.source, edges)
        running = arithmetic.add(running, term) if found else term
        found.append(PathTerm(routes, len(found) + 1, (), edges, arithmetic.out(term), arithmetic.out(running)))
        sizes.append(size)
    if not found:
        return Top([], None, [])
    whole = network._ranking.whole(routes.source)
    shares = [_share(size, whole) for size in sizes]
    return Top(found, _share(_exact_sum(sizes), whole), shares)


def _exact_sum(sizes: Sequence[Decimal]) -> Decimal:
    whole = Decimal(0)
    for size in sizes:
        whole = _WIDE.add(whole, size)
    return whole


def _share(size: Decimal, whole: Decimal) -> float | None:
    if whole == 0 or not whole.is_finite():
        return None
    return min(1.0, float(_WIDE.divide(size, whole)))


class _Ranking:
    """The best routes from every node to the target, found on demand: each node keeps what it has found and a heap."""

    def __init__(self, network: Network) -> None:
        self.network = network
        sizes = [_size(value) for value in network.numbers]
        # a factor of 0 makes a tie of all that it meets, so terms of 0 are not ranked but listed, when their turn comes
        self.weights = [None if size is not None and size == 0 else size for size in sizes]
        self.defined = [size is not None for size in sizes]
        self._wholes: dict[int, Decimal] | None = None
        nodes = len(network.ids)
        # runs of nodes with one way on are passed in one step: where they end, and the product up to there
        self.end = list(range(nodes))
        self.along: list[Decimal | None] = [Decimal(1)] * nodes
        # what is found: size, first edge, rank of the rest at the end of its run
        self.found: list[list[tuple[Decimal, int, int]]] = [[] for _ in range(nodes)]
        self.heaps: list[list[tuple[Decimal, int, int, Decimal]] | None] = [None] * nodes
        self.done = bytearray(nodes)
        self.found[network.target] = [(Decimal(1), -1, -1)]
        self.done[network.target] = 1
        first, to = network.first, network.to
        for node in range(network.target - 1, -1, -1):
            start, end = first[node], first[node + 1]
            if end - start == 1:
                weight, along = self.weights[start], self.along[to[start]]
                self.along[node] = None if weight is None or along is None else _WIDE.multiply(weight, along)
                self.end[node] = self.end[to[start]]
                continue
            heap: list[tuple[Decimal, int, int, Decimal]] = []
            for edge in range(start, end):
                candidate = self._candidate(edge, 0)
                if candidate is not None:
                    heap.append(candidate)
            heapq.heapify(heap)
            self.heaps[node] = heap
            if heap:
                self._take(node, heap)
            else:
                self.done[node] = 1

    def _candidate(self, edge: int, rank: int) -> tuple[Decimal, int, int, Decimal] | None:
        """An edge followed by the route of that rank from where it leads: sort key, edge, rank, size."""
        target = self.network.to[edge]
        weight, along, found = self.weights[edge], self.along[target], self.found[self.end[target]]
        if weight is None or along is None or rank >= len(found):
            return None
        size = _WIDE.multiply(_WIDE.multiply(weight, along), found[rank][0])
        return _COMPARED.minus(size), edge, rank, size

    def _take(self, node: int, heap: list[tuple[Decimal, int, int, Decimal]]) -> None:
        _, edge, rank, size = heapq.heappop(heap)
        self.found[node].append((size, edge, rank))

    def advance(self, node: int) -> None:
        """Find the next best route from a branching node, going down to others where theirs is needed first."""
        stack = [node]
        while stack:
            node = stack[-1]
            heap = self.heaps[node]
            if self.done[node] or heap is None:
                stack.pop()
                continue
            _, edge, rank = self.found[node][-1]
            below = self.end[self.network.to[edge]]
            if len(self.found[below]) <= rank + 1 and not self.done[below]:
                stack.append(below)
                continue
            candidate = self._candidate(edge, rank + 1)
            if candidate is not None:
                heapq.heappush(heap, candidate)
            if heap:
                self._take(node, heap)
            else:
                self.done[node] = 1
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
        defined = [edge for edge, known in zip(network.edges, self.defined, strict=True) if known]
        places = {id(edge): place for place, edge in enumerate(network.edges)}
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
            yield _WIDE.multiply(along, self.found[end][rank][0]), self._route(source, rank)

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
            self._wholes = self.network.sweep(weights, Decimal(1), _WIDE.multiply, _WIDE.add)
        return self._wholes[source]


# -- the factored form -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Form:
    """A nested sum of products: `sort` is "one", "edge", "name" (the derivative by a node), "sum" or "product"."""

    sort: str
    of: int = -1
    parts: tuple[Form, ...] = ()


_ONE = Form("one")


@dataclass(slots=True)
class Factored:
    """The sum over paths with everything shared taken out of the brackets once, as reverse mode works it out.

    `names` are sums that several places use, each by the node whose derivative it is; a name uses only names that
    stand before it. The numbers of multiplications and additions compare the two ways, factors of 1 and -1 not counted.
    """

    routes: Routes
    form: Form
    names: list[tuple[int, Form]]
    multiplications: int
    additions: int
    listed_multiplications: int
    listed_additions: int

    @property
    def text(self) -> str:
        """The form in symbols: `(α+β+γ)·(δ+ε+ζ)`."""
        return self.write(self.form, self.routes.network.label)

    def write(self, form: Form, label: Callable[[int], str]) -> str:
        """A form as text, each edge by its label."""
        return "".join(_tokens(form, label, self.name))

    def name(self, node: int) -> str:
        """What a shared sum is called: `∂e/∂c`."""
        return f"∂{self.routes.target_id}/∂{self.routes.network.ids[node]}"

    @property
    def value(self) -> Value | None:
        """The form worked out in numbers; None where it is undefined or symbolic."""
        arithmetic = self.routes.network.arithmetic
        if self.routes.symbolic:
            return None
        if not self.routes.leads:
            return 0.0
        known: dict[int, Number] = {}
        for node, form in self.names:
            known[node] = _worked_out(form, self.routes.network, known)
        return arithmetic.out(_worked_out(self.form, self.routes.network, known))


def factor(routes: Routes) -> Factored:
    """The factored form of the sum over paths, for any graph, in about as many steps as there are edges.

    Two edges side by side become their sum, two in a row with nothing else between become their product; where neither
    is left, the last node with several ways in gets a name for its derivative, so that nothing is written out twice.
    """
    network = routes.network
    paths, factors, bare = network.swept("cost", routes.source) or (0, 0, 0)
    form, names = _reduce(routes) if routes.leads else (Form("sum"), [])
    multiplications = additions = 0
    for each in [form, *(named for _, named in names)]:
        more = _cost(each, network)
        multiplications += more[0]
        additions += more[1]
    return Factored(routes, form, names, multiplications, additions, factors - paths + bare, max(0, paths - 1))


def _reduce(routes: Routes) -> tuple[Form, list[tuple[int, Form]]]:
    network, source, target = routes.network, routes.source, routes.network.target
    if source == target:
        return _ONE, []
    first, to = network.first, network.to
    # out[u][v] is the one edge that stands for everything between them, with its place among the edges that leave u
    out: dict[int, dict[int, tuple[int, Form]]] = {source: {}}
    into: dict[int, dict[int, None]] = {}

    def join(start: int, end: int, rank: int, form: Form) -> None:
        beside = out[start].get(end)
        if beside is None:
            into.setdefault(end, {})[start] = None
        else:
            left, right = sorted([beside, (rank, form)], key=operator.itemgetter(0))
            rank, form = left[0], Form("sum", parts=(left[1], right[1]))
        out[start][end] = rank, form

    for node in range(source, target):
        if node in out:
            for edge in range(first[node], first[node + 1]):
                if to[edge] != target:
                    out.setdefault(to[edge], {})
                join(node, to[edge], edge, _ONE if network.label(edge) == "1" else Form("edge", edge))
    inner = sorted(out.keys() - {source})
    waiting = inner[::-1]
    names: list[tuple[int, Form]] = []
    while True:
        while waiting:
            node = waiting.pop()
            if node in (source, target) or node not in out or len(into[node]) != 1 or len(out[node]) != 1:
                continue
            (before,) = into.pop(node)
            ((after, (_, form)),) = out.pop(node).items()
            rank, start = out[before].pop(node)
            del into[after][node]
            join(before, after, rank, _times(start, form))
            waiting += [before, after]
        while inner and inner[-1] not in out:
            inner.pop()
        if not inner:
            return out[source][target][1], names
        node = inner.pop()
        ((_, form),) = out.pop(node).values()  # every later node is gone, so one edge leads on, to the target
        del into[target][node]
        if form.parts:
            names.append((node, form))
            form = Form("name", node)
        for before in into.pop(node):
            rank, start = out[before].pop(node)
            join(before, target, rank, _times(start, form))
            waiting.append(before)


def _times(left: Form, right: Form) -> Form:
    if left is _ONE:
        return right
    return left if right is _ONE else Form("product", parts=(left, right))


def _flat(form: Form, sort: str) -> list[Form]:
    """The addends of a sum or the factors of a product, those of sums in sums and products in products included."""
    found: list[Form] = []
    stack = [form]
    while stack:
        form = stack.pop()
        if form.sort == sort:
            stack.extend(reversed(form.parts))
        else:
            found.append(form)
    return found


def _cost(form: Form, network: Network) -> tuple[int, int]:
    """Multiplications and additions of a form."""
    multiplications = additions = 0
    stack = [form]
    while stack:
        form = stack.pop()
        if form.sort == "sum" and form.parts:
            parts = _flat(form, "sum")
            additions += len(parts) - 1
        elif form.sort == "product":
            parts = _flat(form, "product")
            factors = sum(part.sort != "edge" or not network.is_trivial(part.of) for part in parts)
            multiplications += max(0, factors - 1)
        else:
            continue
        stack.extend(parts)
    return multiplications, additions


def _worked_out(form: Form, network: Network, names: dict[int, Number]) -> Number:
    """A form in numbers, innermost first."""
    arithmetic = network.arithmetic
    results: list[Number] = []
    stack: list[tuple[Form, bool]] = [(form, False)]
    while stack:
        form, ready = stack.pop()
        if form.sort == "one":
            results.append(arithmetic.one)
        elif form.sort == "edge":
            results.append(network.numbers[form.of])
        elif form.sort == "name":
            results.append(names[form.of])
        elif ready:
            right, left = results.pop(), results.pop()
            results.append((arithmetic.add if form.sort == "sum" else arithmetic.mul)(left, right))
        else:
            stack.append((form, True))
            stack.extend((part, False) for part in reversed(form.parts))
    return results.pop()


def _tokens(form: Form, label: Callable[[int], str], name: Callable[[int], str]) -> Iterator[str]:
    """The pieces of a form's text, from left to right: deep brackets are no matter."""
    stack: list[Form | str] = [form]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
            continue
        pieces: list[Form | str] = []
        addends = _flat(item, "sum")
        if not addends:
            pieces.append("0")
        for place, addend in enumerate(addends):
            factors = _flat(addend, "product")
            sign, written = _signed([label(part.of) if part.sort == "edge" else "" for part in factors])
            pieces.append("-" if sign else "+" if place else "")
            between = ""
            for part, text in zip(factors, written, strict=True):
                if part.sort == "edge" and text == "1":
                    continue
                pieces.append(between)
                between = "·"
                if part.sort == "sum":
                    pieces += ["(", part, ")"]
                elif part.sort == "edge":
                    pieces.append(text)
                elif part.sort == "name":
                    pieces.append(name(part.of))
                else:
                    pieces.append("1")
            if not between:
                pieces.append("1")
        stack.extend(reversed(pieces))


def product_of(factors: Sequence[str]) -> str:
    """Formulas multiplied, as on paper: factors of 1 left out, one sign in front, sums in brackets.

    >>> product_of(["1", "x + 1", "-y"]), product_of(["-1", "1"]), product_of(["0", "x"])
    ('-(x + 1)·y', '-1', '0')
    """
    if "0" in factors:
        return "0"
    negative, written = _signed(factors)
    text = "·".join(factor for factor in written if factor != "1") or "1"
    return f"-{text}" if negative else text


def _signed(factors: Sequence[str]) -> tuple[bool, list[str]]:
    """Whether the product is written with a minus, and each factor without its own."""
    negative = False
    written: list[str] = []
    for text in factors:
        if " " in text and _is_sum(text):
            written.append(f"({text})")
            continue
        if text.startswith("-"):
            negative, text = not negative, text[1:]
        written.append(text)
    return negative, written


def as_factor(text: str) -> str:
    """A formula as it stands among other factors: in brackets where it is a sum or begins with a minus.

    >>> as_factor("x*y"), as_factor("-1"), as_factor("1 - out^2"), as_factor("log(x, 2)")
    ('x*y', '(-1)', '(1 - out^2)', 'log(x, 2)')
    """
    return f"({text})" if text.startswith("-") or _is_sum(text) else text


def _is_sum(text: str) -> bool:
    """Whether a formula has a blank outside brackets: only sums, conditions and comparisons are written with one."""
    depth = 0
    for letter in text:
        if letter in "([":
            depth += 1
        elif letter in ")]":
            depth -= 1
        elif letter == " " and depth == 0:
            return True
    return False


# -- numbers ---------------------------------------------------------------------------------------------------------


def _number(value: Value | None) -> Number:
    """A partial as a number; None when it has none or is no number, NotImplemented when it is a formula."""
    if value is None:
        return None
    if isinstance(value, int | float):
        return None if value != value else float(value)
    if value in ("NaN", "Infinity", "-Infinity"):
        return None if value == "NaN" else math.copysign(math.inf, -1 if value.startswith("-") else 1)
    try:
        return Fraction(value) if "/" in value else Decimal(value)
    except (ValueError, ArithmeticError):
        return NotImplemented


def _widened(value: Number) -> Decimal | None:
    if value is None or isinstance(value, Decimal):
        return value
    if isinstance(value, Fraction):
        return _WIDE.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Decimal(value)


def _size(value: Number) -> Decimal | None:
    widened = _widened(value)
    return None if widened is None else widened.copy_abs()


def _careful(
    mul: Callable[[Any, Any], Any],
    add: Callable[[Any, Any], Any],
    dead: Number,
    one: Number,
    size: Callable[[Any], Any],
    out: Callable[[Any], Value],
) -> _Arithmetic:
    """Arithmetic in which None is undefined and spreads, but not through an exact 0 (`dead`, told by identity)."""

    def product(left: Number, right: Number) -> Number:
        if left is dead or right is dead:
            return dead
        if left is None or right is None:
            return None
        found = mul(left, right)
        return None if found != found else found

    def plus(left: Number, right: Number) -> Number:
        if left is None or right is None:
            return None
        if left is dead or right is dead:
            return right if left is dead else left
        found = add(left, right)
        return None if found != found else found

    return _Arithmetic(
        one,
        product,
        plus,
        lambda value: dead if value is dead else size(value),
        lambda value: None if value is None else out(value),
        dead,
    )


def _wide(digits: int) -> _Arithmetic:
    """Decimal arithmetic that cannot overflow; results as doubles, or as text of so many digits when not 0."""
    context = _WIDE.copy()
    context.prec = max(60, digits + 10)
    shown = _WIDE.copy()
    shown.prec = max(digits, 1)

    def out(value: Decimal) -> Value:
        if digits == 0:
            return float(value) + 0.0
        found = shown.normalize(value)
        return f"{found:f}" if -7 <= found.adjusted() < max(digits, 16) else str(found).replace("E", "e")

    return _careful(context.multiply, context.add, Decimal(0), Decimal(1), Decimal.copy_abs, out)


_PLAIN = _Arithmetic(1.0, operator.mul, operator.add, abs, lambda value: value + 0.0)


def _nothing(_left: Any, _right: Any) -> None:
    return None


def _nothing_of(_value: Any) -> None:
    return None


Cost = tuple[int, int, int]  # paths, factors in all of them, paths without a factor


def _lengthened(trivial: bool, rest: Cost) -> Cost:
    paths, factors, _ = rest
    return rest if trivial else (paths, factors + paths, 0)


def _joined(left: Cost, right: Cost) -> Cost:
    return left[0] + right[0], left[1] + right[1], left[2] + right[2]
