"""The sum path by path: the scalar graph of a program as a network of paths, and what it takes to add them up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from backprop.costs.counting import kept_numbers
from backprop.costs.machines import Machine, chosen_places, machine
from backprop.costs.reports import PathCost
from backprop.kinds import Hole
from backprop.kinds.counted import Counted, Tally, Unit
from backprop.kinds.real import REAL, Real
from backprop.record import Edge, Node, Trace
from backprop.reverse import reverse
from backprop.rules import Partials

if TYPE_CHECKING:
    from backprop.path_sums import Routes
    from backprop.point import Point

# Paths are counted in graphs of so many nodes.
MOST_NODES = 200_000
# and for so many edges in all, when there are several outputs
MOST_EDGES = 2_000_000


@dataclass(slots=True)
class Scalars:
    """A scalar program ready for its paths to be counted: the routes, and what value and partials take."""

    routes: list[Routes]
    operations: int
    factored: Tally
    kept: int


def scalars(point: Point) -> Scalars | str:
    """The scalar graph of a program with its partials as a network of paths, or why there is none."""
    from backprop.path_sums import routes

    tally = Tally()
    kind = Counted(tally)
    graph = point.graph
    if isinstance(point.kind, Real):
        leaves = machine(point).leaves
        wrt, outputs = point.wrt, [graph.output]
    else:
        from backprop.array_point import ArrayPoint

        assert isinstance(point, ArrayPoint)
        opened = point.opened_graph(MOST_NODES)
        if opened is None:
            return f"opened into single numbers the program has more than {MOST_NODES} nodes"
        graph, places = opened.graph, opened.places
        leaves = {graph.inputs[name]: float(REAL.number(text)) for name, text in opened.given.items()}
        some = chosen_places(point)
        wrt = [
            int(place)
            for node in point.wrt
            for place in (places[node].ravel()[some[node]] if node in some else places[node].flat)
        ]
        outputs = [int(place) for place in places[point.graph.output].flat if place >= 0]
    if len(graph) > MOST_NODES or len(outputs) * len(graph.args) > MOST_EDGES:
        return f"paths are counted in graphs of up to {MOST_NODES} nodes, and of few outputs"
    runner = Machine(graph, kind, leaves, wrt, graph.moving(wrt))
    known = runner.value()
    slopes = runner.partials(known)
    operations, before = tally.operations, replace(tally)
    for output in outputs:
        reverse(graph, slopes, kind, output)
    factored = Tally(tally.multiplications - before.multiplications, tally.additions - before.additions)
    trace = _network(runner, known, slopes)
    found: list[Routes] = []
    for output in outputs:
        found += routes(trace, [str(node) for node in wrt], str(output))
    return Scalars(found, operations, factored, kept_numbers(known) + kept_numbers(slopes.values))


def _network(runner: Machine, known: list[Any], slopes: Partials) -> Trace:
    """As much of a trace as its paths are read from: nodes by their numbers, edges with their partials."""
    graph = runner.graph
    nodes = [Node(str(node), graph.op(node), taken=known[node] is not None) for node in range(len(graph))]
    edges: list[Edge] = []
    for node in range(len(graph)):
        for edge in graph.edges_to(node):
            partial = slopes.values[edge.place]
            if partial is not None:
                trivial = isinstance(partial, Unit)
                formula = f"{partial:g}" if trivial else "partial"
                number = float(partial) if not isinstance(partial, Hole) else None
                edges.append(Edge(str(edge.source), str(node), edge.position, number, formula))
    wrt = [str(node) for node in runner.wrt]
    return Trace("", "", "real", "reverse", {}, [], str(graph.output), None, wrt, {}, {}, nodes, edges)


def path_cost(paths: Scalars) -> PathCost:
    from backprop.path_sums import count, listed_cost

    listed = [listed_cost(routes) for routes in paths.routes]
    return PathCost(
        sum(map(count, paths.routes)),
        sum(multiplications for multiplications, _ in listed),
        sum(additions for _, additions in listed),
        paths.factored.multiplications,
        paths.factored.additions,
    )
