"""The graph in characters: what is drawn can be read back, it fits, and says what it leaves out."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from backprop.record import Edge, Node, Trace
from backprop.render.characters import Labels, drawn
from backprop.render.characters.channels import channel
from backprop.render.look import Look, View
from drawn_graphs import HEADS, WAYS, followed

DIRECTIONS = ("up", "down", "right")


def random_trace(seed: int, most: int = 14) -> Trace:
    """A graph with edges side by side, long ones, names of wide letters, and constants."""
    chance = random.Random(seed)
    count = chance.randint(1, most)
    nodes, edges = [], []
    for index in range(count):
        name = chance.choice(["a", "long_name_", "漢字", "e\u0301", "α"]) + str(index)
        args = [chance.randrange(index) for _ in range(chance.choice([0, 1, 1, 2, 2, 2, 3, 6]))] if index else []
        if not args:
            is_number = chance.random() < 0.3
            nodes.append(Node(str(index), "const", value=float(index)) if is_number else Node(name, "input", value=1.5))
            continue
        ids = tuple(nodes[arg].id for arg in args)
        shown = "f(" + ", ".join(ids) + ")"
        adjoint = chance.choice([None, -0.123456])
        nodes.append(Node(name, "f", ids, shown, value=chance.choice([1.0, -1e-12]), adjoint=adjoint))
        for key, one in enumerate(ids):
            partial = None if chance.random() < 0.1 else chance.choice([1.0, -2.5, 123456.0])
            edges.append(Edge(one, name, key, partial, chance.choice([None, f"rule_{index}_{key}"])))
    chance.shuffle(edges)
    return Trace("p", "p", "real", "reverse", {}, [], nodes[-1].id, 1.0, [], {}, {}, nodes, edges)


def read_back(trace: Trace, direction: str, labels: Labels = Labels(), path: frozenset[tuple[str, str, int]] = frozenset()) -> None:
    """Draws a trace and compares all that can be read from the drawing with it."""
    look = Look(view=View(direction=direction, path=path))
    drawing = drawn(trace, look, labels)
    rows = ["".join(text for text, _ in spans) for spans in drawing.rows]
    places = {node.id: place for place, node in enumerate(trace.nodes)}
    seen = followed(rows, [drawing.boxes[node.id] for node in trace.nodes], direction)
    found = Counter((one.source, one.target) for one in seen)
    assert found == Counter((places[edge.source], places[edge.target]) for edge in trace.edges)
    # no two lines share a cell, and every letter of a line belongs to one that was followed
    owners = Counter(cell for one in seen for cell in one.cells)
    assert max(owners.values(), default=1) == 1
    assert sum(row.count(HEADS[WAYS[direction]]) for row in rows) == len(trace.edges)
    told = Counter(
        (places[edge.source], places[edge.target], _label(edge, look, labels), (edge.source, edge.target, edge.key) in path)
        for edge in trace.edges
    )
    assert Counter((one.source, one.target, one.label, one.heavy) for one in seen) == told
    for node in trace.nodes:
        x, y, width, height = drawing.boxes[node.id]
        inside = "".join("".join(letters[x : x + width]) for letters in _grid(rows)[y : y + height])
        for word in [node.id, *([look.figure(node.value)] if node.value is not None else [])]:
            assert word in inside


def _label(edge: Edge, look: Look, labels: Labels) -> str:
    number = look.figure(edge.partial)
    if not labels.rules and number:
        return number
    return " = ".join(part for part in (edge.formula, number) if part)


def _grid(rows: list[str]) -> list[list[str]]:
    from drawn_graphs import grid

    return grid(rows)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("seed", range(40))
def test_every_edge_is_read_back_from_the_drawing(seed: int, direction: str) -> None:
    read_back(random_trace(seed), direction)


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_every_edge_of_many_graphs_is_read_back(direction: str) -> None:
    for seed in range(1000, 1500):
        trace = random_trace(seed, 30)
        chance = random.Random(seed)
        some = frozenset((edge.source, edge.target, edge.key) for edge in trace.edges if chance.random() < 0.2)
        read_back(trace, direction, Labels(rules=chance.random() < 0.5), some)
