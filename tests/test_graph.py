"""The graph in characters: what is drawn can be read back, it fits, and says what it leaves out."""

from __future__ import annotations

import random
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from backprop.layout import Direction
from backprop.path_sums import listing, nth, routes
from backprop.record import Edge, Node, Trace
from backprop.render.characters import Labels, drawn
from backprop.render.look import Look, View
from backprop.render.tables import cells
from backprop.render.text import render
from backprop.tracing import trace
from command import call
from conftest import Golden
from drawn_graphs import HEADS, WAYS, followed, grid

DIRECTIONS: tuple[Direction, ...] = ("up", "down", "right")
EVERYTHING, NOTHING = Labels(), frozenset[tuple[str, str, int]]()


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


def read_back(
    trace: Trace, direction: Direction, labels: Labels = EVERYTHING, path: frozenset[tuple[str, str, int]] = NOTHING
) -> None:
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
    told: Counter[tuple[int, int, str, bool]] = Counter()
    for edge in trace.edges:
        heavy = (edge.source, edge.target, edge.key) in path
        told[places[edge.source], places[edge.target], _label(edge, look, labels), heavy] += 1
    below = dict(line.split(" = ", 1) for line in drawing.legend)
    assert Counter((one.source, one.target, below.get(one.label, one.label), one.heavy) for one in seen) == told
    for node in trace.nodes:
        x, y, width, height = drawing.boxes[node.id]
        inside = "".join("".join(letters[x : x + width]) for letters in grid(rows)[y : y + height])
        for word in [node.id, *([look.figure(node.value)] if node.value is not None else [])]:
            assert word in inside


def _label(edge: Edge, look: Look, labels: Labels) -> str:
    number = look.figure(edge.partial)
    if not labels.rules and number:
        return number
    return " = ".join(part for part in (edge.formula, number) if part)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("seed", range(40))
def test_every_edge_is_read_back_from_the_drawing(seed: int, direction: Direction) -> None:
    read_back(random_trace(seed), direction)


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_every_edge_of_many_graphs_is_read_back(direction: Direction) -> None:
    for seed in range(1000, 1100):
        trace = random_trace(seed, 30)
        chance = random.Random(seed)
        some = frozenset((edge.source, edge.target, edge.key) for edge in trace.edges if chance.random() < 0.2)
        read_back(trace, direction, Labels(rules=chance.random() < 0.5), some)


# -- the command ------------------------------------------------------------------------------------------------------


SAMPLES = sorted((Path(__file__).parent.parent / "samples").glob("*.bp"))
LESSON = ("(x*y + z)*x", "--x", "3", "--y", "-1", "--z", "2")


@lru_cache
def sample(path: Path) -> Trace:
    return trace(path.read_text(encoding="utf-8"), {}, check=False)


def lines_of(found: Trace, **look: Any) -> list[str]:
    return list(render(found, Look(**look)))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_sample_fits_a_screen_or_says_what_is_left_out(path: Path, golden: Golden) -> None:
    found = sample(path)
    for width in (60, 80, 120):
        lines = lines_of(found, width=width)
        assert max(map(cells, lines)) <= width
        if width == 80:
            golden(f"graphs/{path.stem}.{width}.txt", "\n".join(lines) + "\n", near=True)
        if not any(line.startswith(("note: the whole", "note: this is")) for line in lines):
            assert all(any(node.id in line for line in lines) for node in found.nodes if node.op != "const")


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("plain", [False, True], ids=["unicode", "ascii"])
def test_the_lesson_looks_as_it_should(direction: Direction, plain: bool, golden: Golden) -> None:
    found = trace("(x*y + z)*x + x*x", {"x": 3, "y": -1, "z": 2}, check=False)
    lines = lines_of(
        found, ascii=plain, view=View(direction=direction, path=frozenset({("x", "v4", 1), ("v4", "f", 1)}))
    )
    assert not plain or "".join(lines).isascii()
    golden(f"graphs/lesson.{direction}.{'ascii' if plain else 'unicode'}.txt", "\n".join(lines) + "\n")


def test_the_graph_is_what_the_command_shows() -> None:
    code, out, err = call("graph", *LESSON)
    assert (code, err) == (0, "")
    for text in ("f = v2*x", "value -3", "∂f/∂x = -4", "∂f/∂y = 9", "y = -1", "v2 = -1"):
        assert text in out


def test_forward_mode_draws_tangents() -> None:
    code, out, _ = call("graph", *LESSON, "--mode", "forward", "--wrt", "x")
    assert code == 0
    assert "∂f/∂x = -4" in out
    assert "∂f/∂v2" not in out


def test_without_values_the_graph_is_drawn_in_formulas() -> None:
    code, out, err = call("graph", "tanh(w*x)")
    assert code == 0
    assert "∂v1/∂w" in out or "x" in out
    assert err == "note: no values were given, so the graph is drawn in formulas\n"
    code, out, err = call("graph", "w*x", "--w", "2")
    assert (code, out) == (2, "")
    assert "I have no value for x" in err


def test_a_saved_trace_is_drawn_as_it_was() -> None:
    _, saved, _ = call("trace", *LESSON, "--no-check", "--format", "json")
    _, drawn_from_saved, _ = call("graph", "-", stdin=saved)
    _, rendered, _ = call("render", "-", "--format", "text", stdin=saved)
    assert drawn_from_saved == rendered == call("graph", *LESSON)[1]


def test_a_file_gets_the_format_of_its_ending(tmp_path: Path) -> None:
    for name, start in (("g.svg", "<svg"), ("g.dot", "digraph"), ("g.txt", " ")):
        assert call("graph", *LESSON, "-o", str(tmp_path / name)) == (0, "", "")
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)


def test_a_path_stands_out_with_its_term() -> None:
    _, out, _ = call("graph", "x*x", "--x", "3", "--path", "2")
    assert "path 2: x →₂ f   brings x = 3 to ∂f/∂x" in out
    assert out.count("┃") > 0
    code, out, err = call("graph", "x*x", "--x", "3", "--path", "5")
    assert (code, out) == (2, "")
    assert "there are 2 paths to f, so --path cannot be 5" in err


@pytest.mark.parametrize("seed", range(20))
def test_the_nth_path_is_the_nth_of_the_listing(seed: int) -> None:
    found = random_trace(seed, 10)
    for one in routes(found, [node.id for node in found.nodes if node.op == "input"][:3] or [found.nodes[0].id]):
        listed = list(listing(one)) if one.leads else []
        for place, path in enumerate(listed, 1):
            alone = nth(one, place)
            assert alone is not None
            assert (alone.edges, alone.term, alone.index) == (path.edges, path.term, place)
        assert nth(one, len(listed) + 1) is None


def test_the_part_around_a_node_says_what_it_leaves_out() -> None:
    program = "h = sin(x); k = exp(h); m = k*h; n = m + x; n^2"
    code, out, _ = call("graph", program, "--x", "1", "--around", "k", "--hops", "1")
    assert code == 0
    assert "note: this is k with what lies within 1 step before and after it: 3 of 7 nodes" in out
    assert "m = k*h" in out
    assert "n = m + x" not in out
    code, _, err = call("graph", program, "--x", "1", "--around", "kk")
    assert code == 2
    assert "Did you mean k?" in err


def test_a_part_is_for_drawings_alone() -> None:
    code, out, err = call("trace", "x*x", "--x", "3", "--no-check", "--around", "x", "--format", "json")
    assert (code, out) == (2, "")
    assert "--around is about a drawing" in err


def test_a_large_graph_is_drawn_in_part_and_says_so() -> None:
    program = "s0 = x\n" + "\n".join(f"s{place} = sin(s{place - 1}) + x" for place in range(1, 5000))
    code, out, _ = call("graph", program, "--x", "1")
    assert code == 0
    assert "of 10000 nodes" in out
    assert "--around NODE" in out
    assert len(out) < 20_000
    code, out, _ = call("graph", program, "--x", "1", "--around", "s100")
    assert "s101 = " in out


def test_control_characters_and_wide_letters_keep_their_cells() -> None:
    nodes = [Node("a\x1b[2J", "input", value=1.0), Node("漢字", "neg", ("a\x1b[2J",), "-a\x1b[2J", value=-1.0)]
    found = Trace(
        "p", "p", "real", "reverse", {}, [], "漢字", -1.0, [], {}, {}, nodes, [Edge("a\x1b[2J", "漢字", 0, -1.0)]
    )
    lines = lines_of(found)
    assert "\x1b" not in "".join(lines)
    frame = [line for line in lines if "║" in line or "═" in line]
    assert len({cells(line) for line in frame}) == 1


def test_both_passes_have_no_room_in_characters() -> None:
    code, out, err = call("graph", *LESSON, "--both")
    assert (code, out) == (2, "")
    assert "-o graph.svg" in err
