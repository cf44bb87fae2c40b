"""Lazily: for a language that raises outside a domain, what a branch needs is worked out only where it is taken."""

from __future__ import annotations

from collections.abc import Callable

from backprop import ops
from backprop.graph import CONST, Graph
from backprop.guards import Range, demands
from backprop.kinds.node import Nodes
from backprop.languages.common.value_ranges import of_graph
from backprop.ops import Row
from backprop.straight import StraightLine

# So many nodes are written again wherever they are used; beyond, what is on a circle is worked out in any case.
MOST_REPEATED = 12


class _Circle(Exception):
    """A condition that asks for the very node that is worked out where it holds."""

    def __init__(self, node: int) -> None:
        super().__init__()
        self.node = node


class _Again(Nodes):
    """Kind node on a graph that is there already: an operation that it has is not made a second time."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self._known = {
            (code, *graph.operands(node)): node for node, code in enumerate(graph.codes) if graph.row(node) is not None
        }


def lazily(line: StraightLine, raises: Callable[[Row, list[Range]], bool]) -> tuple[StraightLine, set[int]]:
    """The same program in which what may raise, and a branch alone needs, is 0 where the branch is not taken.

    Also the nodes that have to stay inside the branches in which they are: they must not be worked out beforehand. Such
    is s in where(where(y > 0, s, y) > 1, s, 3), for the one condition for it would have to be known before it.
    """
    graph = line.graph
    kind = _Again(graph)
    needed, known = demands(kind, line.roots), of_graph(graph)
    uses = [0] * len(graph)
    for node in range(len(needed)):
        if needed[node] is not False:
            for operand in graph.operands(node):
                uses[operand] += 1
    for root in line.roots:
        uses[root] += 2
    repeated = set[int]()
    while True:
        inside = bytearray(len(graph))
        alone: dict[int, int] = {}  # the nodes that get a condition of their own
        for node in range(len(needed)):
            row = graph.row(node)
            if row is None or needed[node] is True or needed[node] is False or row.gives_condition:
                continue
            operands = graph.operands(node)
            if raises(row, [known[one] for one in operands]) or any(inside[one] for one in operands):
                if node in repeated or (uses[node] == 1 and node not in line.names):
                    inside[node] = 1
                else:
                    alone[node] = needed[node]
        if not alone and not any(inside):
            return line, set()
        try:
            return _rebuilt(line, graph, alone, inside, len(repeated) >= MOST_REPEATED)
        except _Circle as circle:
            repeated.add(circle.node)


def _rebuilt(
    line: StraightLine, graph: Graph, alone: dict[int, int], inside: bytearray, in_any_case: bool
) -> tuple[StraightLine, set[int]]:
    """The graph in order again, each node in `alone` as where(condition, node, 0).

    Raises `_Circle` where a condition asks for the very node, unless that is then worked out `in_any_case`.
    """
    small, place, bare = Graph(), dict[int, int](), dict[int, int]()
    where = ops.by_name("where").code
    for node in graph.inputs.values():
        place[node] = small.add_input(graph.names[node], graph.span(node))
    zero = small.add(CONST, (), (0, 0))
    small.literals[zero] = "0"
    opened: set[int] = set()  # nodes whose operands are being placed
    for root in line.roots:
        waiting = [root]
        while waiting:
            node = waiting[-1]
            if node in place:
                waiting.pop()
                continue
            before = [*graph.operands(node), *([alone[node]] if node in alone else [])]
            later = [one for one in before if one not in place]
            opened.add(node)
            if not opened.isdisjoint(later):
                if not in_any_case:
                    first = min(waiting.index(one) for one in later if one in opened)
                    raise _Circle(next(one for one in waiting[first:] if one in opened and one in alone))
                for one in opened & alone.keys():
                    del alone[one]
                waiting = [root]
                opened.clear()
                continue
            if later:
                waiting.extend(reversed(later))
                continue
            opened.discard(node)
            waiting.pop()
            place[node] = small.add(graph.codes[node], [place[one] for one in graph.operands(node)], (0, 0))
            if graph.codes[node] == CONST:
                small.literals[place[node]] = graph.literals[node]
            if node in alone:
                bare[node] = place[node]
                place[node] = small.add(where, [place[alone[node]], bare[node], zero], (0, 0))
    small.output = place[line.output]
    found = StraightLine(small, {name: place[node] for name, node in line.gradient.items()})
    found.hiding = line.hiding
    found.names = {place[node]: name for node, name in line.names.items() if node in place and not inside[node]}
    stay = {place[node] for node in range(len(inside)) if inside[node] and node in place} | set(bare.values())
    return found, stay
