"""One path by its place in the listing, without listing those before it."""

from __future__ import annotations

from backprop.path_sums.listed import PathTerm, Ways
from backprop.path_sums.network import Routes


def nth(routes: Routes, place: int) -> PathTerm | None:
    """The path at a place of the listing, from 1; None when there are fewer. Its sum so far is not worked out.

    A sweep counts the ways on from each node (up to the place asked for), then one walk takes the edge that holds it.
    """
    network = routes.network
    first, to = network.first, network.to
    ways = [0] * len(network.ids)
    ways[network.target] = 1
    for node in range(network.target - 1, routes.source - 1, -1):
        ways[node] = min(place, sum(ways[target] for target in to[first[node] : first[node + 1]]))
    if not 0 < place <= ways[routes.source]:
        return None
    edges: list[int] = []
    node, before = routes.source, place - 1
    while node != network.target:
        for edge in range(first[node], first[node + 1]):
            if before < ways[to[edge]]:
                edges.append(edge)
                node = to[edge]
                break
            before -= ways[to[edge]]
    route = tuple(edges)
    term = None
    if not routes.symbolic:
        term = network.arithmetic.out(network.once(Ways).product(routes.source, route))
    return PathTerm(routes, place, (), route, term, None)
