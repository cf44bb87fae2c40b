"""The layers of a graph: every arrow leads up by at least its length, and all of them together are short.

The network simplex of Gansner, Koutsofios, North and Vo, "A technique for drawing directed graphs" (1993): a spanning
tree of arrows as short as they may be fixes all layers; as long as moving one side of a tree arrow makes the sum of
lengths smaller, that arrow is exchanged for the one that stops the move.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

Link = tuple[int, int, int]  # source, target, least number of layers from the one to the other

# Nodes that may be looked at while trees are mended; the layers are valid whenever it stops.
MOST_WORK = 1_500_000
# Longest paths, every node next to what it is used by, are what the very large gets.
MOST_NODES = 20_000


def ranked(count: int, links: Sequence[Link]) -> list[int]:
    """The layer of each node, from 0.

    Raises ValueError for arrows that lead round in a circle.
    """
    weights: dict[tuple[int, int], int] = {}
    lengths: dict[tuple[int, int], int] = {}
    for source, target, length in links:
        pair = source, target
        weights[pair] = weights.get(pair, 0) + 1
        lengths[pair] = max(lengths.get(pair, 0), length)
    graph = _Graph(count, [(*pair, lengths[pair], weights[pair]) for pair in weights])
    graph.climb()
    if count <= MOST_NODES:
        work = MOST_WORK
        graph.span()
        for part in graph.parts:
            work = graph.mend(part, work)
    graph.settle()
    return graph.layer


class _Graph:
    """Nodes with layers, and the tree that holds them there.

    `net[v]` is what leaves the part of the tree below v less what enters it, in arrows. Where v's tree arrow leads out
    of that part, this is the cut value of the arrow; where it leads in, the negative of it.
    """

    def __init__(self, count: int, links: Sequence[tuple[int, int, int, int]]) -> None:
        self.count = count
        self.links = links
        self.layer = [0] * count
        self.leaving: list[list[int]] = [[] for _ in range(count)]
        self.entering: list[list[int]] = [[] for _ in range(count)]
        self.net = [0] * count
        for index, (source, target, _, weight) in enumerate(links):
            self.leaving[source].append(index)
            self.entering[target].append(index)
            self.net[source] += weight
            self.net[target] -= weight
        self.parent: list[int] = [-1] * count
        self.held_by: list[int] = [-1] * count  # the tree arrow to the parent
        self.children: list[set[int]] = [set() for _ in range(count)]
        self.parts: list[list[int]] = []

    def climb(self) -> None:
        """Longest paths: each node as low as it may be, and then what has more users than arguments next to a user."""
        waits = [len(links) for links in self.entering]
        ready = [node for node in range(self.count) if not waits[node]]
        for node in ready:  # grows on the way
            for link in self.leaving[node]:
                _, target, length, _ = self.links[link]
                self.layer[target] = max(self.layer[target], self.layer[node] + length)
                waits[target] -= 1
                if not waits[target]:
                    ready.append(target)
        if len(ready) < self.count:
            raise ValueError("arrows that lead round in a circle have no layers")
        for node in reversed(ready):
            if self.net[node] > 0:
                self.layer[node] = min(
                    self.layer[self.links[link][1]] - self.links[link][2] for link in self.leaving[node]
                )

    def span(self) -> None:
        """A tree of arrows without slack through each connected part.

        A tree grows by the arrow at its edge that has least slack, and moves as a whole by that slack.
        """
        seen = [False] * self.count
        for root in range(self.count):
            if seen[root]:
                continue
            order, moved = [root], 0
            seen[root] = True
            # The slack of an arrow at the edge of the tree, as if the tree had not moved.
            out: list[tuple[int, int]] = []
            into: list[tuple[int, int]] = []
            newest = root
            while True:
                here = self.layer[newest]  # less what the tree had moved when it joined
                for link in self.leaving[newest]:
                    _, target, length, _ = self.links[link]
                    if not seen[target]:
                        heappush(out, (self.layer[target] - here - length, link))
                for link in self.entering[newest]:
                    source, _, length, _ = self.links[link]
                    if not seen[source]:
                        heappush(into, (here - self.layer[source] - length, link))
                while out and seen[self.links[out[0][1]][1]]:
                    heappop(out)
                while into and seen[self.links[into[0][1]][0]]:
                    heappop(into)
                if not out and not into:
                    break
                if not into or (out and out[0][0] - moved <= into[0][0] + moved):
                    slack, link = heappop(out)
                    inside, newest, _, _ = self.links[link]
                    moved = slack
                else:
                    slack, link = heappop(into)
                    newest, inside, _, _ = self.links[link]
                    moved = -slack
                self.layer[newest] -= moved
                seen[newest] = True
                self.parent[newest], self.held_by[newest] = inside, link
                self.children[inside].add(newest)
                order.append(newest)
            for node in reversed(order[1:]):
                self.net[self.parent[node]] += self.net[node]
            self.parts.append(order)

    def mend(self, nodes: Sequence[int], work: int) -> int:
        """Exchanges arrows of the tree until no cut value is negative, or the work is used up; what is left of it."""
        start, idle = 0, 0
        while idle < len(nodes) and work > 0:
            # The worst of a few, looked for where the last search stopped.
            worst, most = -1, 0
            found = 0
            while idle < len(nodes) and found < 20:
                node = nodes[start]
                start = start + 1 if start + 1 < len(nodes) else 0
                idle += 1
                held = self.held_by[node]
                if held < 0:
                    continue
                cut = self.net[node] if self.links[held][0] == node else -self.net[node]
                if cut < 0:
                    found += 1
                    if cut < most:
                        worst, most = node, cut
            if worst >= 0:
                work -= self._exchange(worst)
                idle = 0
        return work

    def _exchange(self, node: int) -> int:
        """Lets go the tree arrow above `node` and takes the one that first stops what hung on it."""
        links, layer = self.links, self.layer
        part = [node]
        for one in part:  # grows on the way
            part.extend(self.children[one])
        inside = set(part)
        downwards = links[self.held_by[node]][0] == node  # too much pulls it down
        least, best = -1, -1
        for one in part:
            for link in self.entering[one] if downwards else self.leaving[one]:
                source, target, length, _ = links[link]
                if (source if downwards else target) not in inside:
                    slack = layer[target] - layer[source] - length
                    if best < 0 or slack < least or (slack == least and link < best):
                        least, best = slack, link
        shift = -least if downwards else least
        if shift:
            for one in part:
                layer[one] += shift
        self._hang(node, best, downwards)
        return len(part) + 10

    def _hang(self, node: int, link: int, downwards: bool) -> None:
        """The part below `node` hangs on `link` from now on, so it is turned to have that end at its top."""
        net, parent, held_by = self.net, self.parent, self.held_by
        carried = net[node]
        source, target, _, _ = self.links[link]
        end, outside = (target, source) if downwards else (source, target)
        above = parent[node]
        self.children[above].discard(node)
        while above >= 0:
            net[above] -= carried
            above = parent[above]
        below, held, kept, one = outside, link, 0, end
        while True:
            upper, upper_link, old = parent[one], held_by[one], net[one]
            parent[one], held_by[one], net[one] = below, held, carried - kept
            self.children[below].add(one)
            if one == node:
                break
            self.children[upper].discard(one)
            below, held, kept, one = one, upper_link, old, upper
        above = outside
        while above >= 0:
            net[above] += carried
            above = parent[above]

    def settle(self) -> None:
        """Every connected part starts at layer 0."""
        for part in self.parts or [list(range(self.count))]:
            lowest = min((self.layer[node] for node in part), default=0)
            for node in part:
                self.layer[node] -= lowest
