"""Layered drawings of graphs: the time they take, and how many lines cross in them.

Crossings are counted in what is drawn, for all libraries by the same function: the polylines of the arrows (the curves
of Graphviz cut into short pieces), each pair of pieces of two different arrows that cross properly. Every library
finds its own layers. `python tests/benchmarks/subjects/layout.py` prints them side by side.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from harness import SECONDS, Found, NotMeasured, Subject, Works

OURS, GRAPHLAY, DOT, GRANDALF = "backprop", "graphlay (Rust)", "Graphviz dot (C)", "grandalf"
WIDTH, HEIGHT, PIECES = 60, 30, 8
Edges = list[tuple[int, int]]
Lines = list[list[tuple[float, float]]]

LAYOUT = Subject(
    "layout",
    "Layered drawings",
    "A graph like that of a program, each node made of one or two of the earlier ones, mostly of the six last, in "
    "boxes of one size: layers, order, coordinates and lines.",
    sizes=(30, 100, 300, 2000),
    quick=(30, 100),
    measure=SECONDS,
    repeats=3,
    limit=120,
    plot="lines",
    size_word="nodes",
)
SUBJECTS = [LAYOUT]


def program(count: int, seed: int = 0, near: float = 0.9) -> Edges:
    """A graph like that of a program."""
    chance = Random(seed)
    edges = []
    for node in range(4, count):
        for _ in range(chance.choice((1, 2, 2))):
            edges.append((chance.randrange(max(0, node - 6) if chance.random() < near else 0, node), node))
    return edges


def anything(count: int, seed: int = 0) -> Edges:
    """Four arrows for three nodes, each between any two."""
    chance = Random(seed)
    pairs = (sorted(chance.sample(range(count), 2)) for _ in range(4 * count // 3))
    return [(low, high) for low, high in pairs]


def by_backprop(count: int, edges: Edges) -> Lines:
    from backprop.layout import Arrow, Box, laid_out

    drawn = laid_out([Box(WIDTH, HEIGHT)] * count, [Arrow(*edge) for edge in edges])
    return [route.points for route in drawn.arrows]


def by_graphlay(count: int, edges: Edges) -> Lines:
    import graphlay

    graph = graphlay.Graph()
    for _ in range(count):
        graph.node(width=WIDTH, height=HEIGHT)
    for edge in edges:
        graph.edge(*edge)
    routing = {"style": "diagonal", "bundle_parallel": False}
    drawn = graphlay.layout(graph, options={"direction": "topbottom", "routing": routing})
    return [[(point["x"], point["y"]) for point in edge["points"]] for edge in drawn.edges]


def by_dot(count: int, edges: Edges) -> Lines:
    text = f"digraph {{ splines=polyline; node [shape=box, fixedsize=true, width={WIDTH / 72}, height={HEIGHT / 72}];"
    text += ";".join(map(str, range(count))) + ";" + ";".join(f"{low} -> {high}" for low, high in edges) + "}"
    plain = subprocess.run(["dot", "-Tplain"], input=text, capture_output=True, text=True, check=True).stdout
    lines = []
    for row in plain.replace("\\\n", "").splitlines():
        words = row.split()
        if words[0] == "edge":
            numbers = [72 * float(word) for word in words[4 : 4 + 2 * int(words[3])]]
            lines.append(_flattened(list(zip(numbers[::2], numbers[1::2], strict=True))))
    return lines


def _flattened(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """A chain of cubic Bézier curves as a polyline."""
    line = points[:1]
    for first in range(0, len(points) - 1, 3):
        four = points[first : first + 4]
        for piece in range(1, PIECES + 1):
            t = piece / PIECES
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            x, y = (sum(w * point[axis] for w, point in zip(weights, four, strict=True)) for axis in (0, 1))
            line.append((x, y))
    return line


def by_grandalf(count: int, edges: Edges) -> Lines:
    from grandalf.graphs import Edge, Graph, Vertex
    from grandalf.layouts import SugiyamaLayout, VertexViewer

    nodes = [Vertex(node) for node in range(count)]
    for node in nodes:
        node.view = VertexViewer(WIDTH, HEIGHT)
    graph = Graph(nodes, [Edge(nodes[low], nodes[high]) for low, high in edges])
    for part in graph.C:
        layout = SugiyamaLayout(part)
        layout.init_all()
        layout.draw(3)
    return []  # its lines are laid by whoever draws them, so only its time is told


BY: dict[str, tuple[Callable[[int, Edges], Lines], list[str]]] = {
    OURS: (by_backprop, ["backprop"]),
    GRAPHLAY: (by_graphlay, ["graphlay"]),
    DOT: (by_dot, ["dot"]),
    GRANDALF: (by_grandalf, ["grandalf"]),
}


def _contender(name: str) -> Callable[[int], Works]:
    def works(size: int) -> Works:
        edges = program(size)
        return {"": lambda: BY[name][0](size, edges)}

    return works


SLOW = {"largest": 300, "why_no_more": "20 seconds to minutes"}
LAYOUT.contender(OURS, BY[OURS][1], ours=True)(_contender(OURS))
LAYOUT.contender(GRAPHLAY, BY[GRAPHLAY][1], **SLOW)(_contender(GRAPHLAY))
LAYOUT.contender(GRANDALF, BY[GRANDALF][1], **SLOW)(_contender(GRANDALF))


@LAYOUT.command(DOT, ["dot"], **SLOW)
def dot(size: int) -> list[str]:
    text = "digraph { node [shape=box];" + ";".join(f"{low} -> {high}" for low, high in program(size)) + "}"
    feed = "import subprocess, sys; subprocess.run(['dot', '-Tplain'], input=sys.argv[1], text=True, stdout=-3)"
    return [sys.executable, "-c", feed, text]


def crossings(lines: Lines) -> int:
    """How many times pieces of two different lines cross; a crossing in a bend counts once."""
    import numpy as np

    pieces = np.array([(*a, *b) for line in lines for a, b in pairwise(line)]).reshape(-1, 4)
    owner = np.array([index for index, line in enumerate(lines) for _ in pairwise(line)])

    def side(a: Any, b: Any, c: Any) -> Any:
        """Whether c is to the left of the line from a to b."""
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) > 1e-7

    count = 0
    for index in range(len(pieces) - 1):
        a, b = pieces[index, :2], pieces[index, 2:]
        c, d = pieces[index + 1 :, :2].T, pieces[index + 1 :, 2:].T
        hit = (side(a, b, c) != side(a, b, d)) & (side(c, d, a) != side(c, d, b))
        count += int((hit & (owner[index + 1 :] != owner[index])).sum())
    return count


SETS: dict[str, tuple[Callable[[int, int], Edges], int]] = {
    "programs of 15": (program, 15),
    "programs of 30": (program, 30),
    "programs of 60": (program, 60),
    "programs of 150": (program, 150),
    "anything, 10": (anything, 10),
    "anything, 30": (anything, 30),
    "anything, 60": (anything, 60),
}
GRAPHS = 12


@cache
def mean_crossings(name: str, kind: str) -> tuple[float, float]:
    """Crossings in a drawing of a set, and seconds, both in the mean."""
    make, size = SETS[kind]
    total, seconds = 0, 0.0
    for seed in range(GRAPHS):
        edges = make(size, seed)
        begun = perf_counter()
        lines = BY[name][0](size, edges)
        seconds += perf_counter() - begun
        total += crossings(lines)
    return total / GRAPHS, seconds / GRAPHS


@LAYOUT.budget("layout-300", "300 nodes are laid out in a second", 1, unit=" s")
def three_hundred(found: Found) -> float:
    return found.median(OURS, 300)


@LAYOUT.budget("layout-2000", "2000 nodes are laid out in ten seconds", 10, unit=" s")
def two_thousand(found: Found) -> float:
    return found.median(OURS, 2000)


@LAYOUT.budget("layout-crossings", "fewer crossings than graphlay, in the mean of all sets", 1)
def fewer(found: Found) -> float:
    if LAYOUT.contenders[1].missing():
        raise NotMeasured("graphlay is not here")
    pairs = [(mean_crossings(OURS, kind)[0], mean_crossings(GRAPHLAY, kind)[0]) for kind in SETS]
    return sum((own + 1) / (other + 1) for own, other in pairs) / len(pairs)  # one more, for sets without any


if __name__ == "__main__":
    for kind in SETS:
        for name in (OURS, GRAPHLAY, DOT):
            mean, seconds = mean_crossings(name, kind)
            print(f"{kind:18} {name:18} {mean:8.1f} crossings {seconds:8.3f} s", flush=True)
