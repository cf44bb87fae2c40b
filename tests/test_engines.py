"""Engines: the tapes find what the engines of kind real find, to the last bit, and decline where those know better."""

from __future__ import annotations

import itertools
import json
import math
import pickle
import subprocess
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import backprop
from backprop import ops, point, progress
from backprop.accuracy.rounding import errors
from backprop.engines import fast, plain
from backprop.engines.methods import Uncompilable
from backprop.engines.shapes import is_written
from backprop.engines.sweeps import Swept, found, sweep
from backprop.grammar import parse
from backprop.graph import Graph
from backprop.graph.building import build
from backprop.kinds import is_number
from backprop.kinds.real import REAL
from backprop.ops import Row
from backprop.reverse import reverse
from backprop.rules import kinks, partials
from backprop.values import values
from command import call
from programs import NAMES, points, programs

HAS_NUMBA = fast.is_there()
needs_numba = pytest.mark.skipif(not HAS_NUMBA, reason="numba is the extra `fast`; the tape in Python is tried above")

Engine = Callable[[Graph, Mapping[int, float], Sequence[int]], Swept | None]


def in_python(graph: Graph, inputs: Mapping[int, float], wrt: Sequence[int]) -> Swept | None:
    swept, shapes, leaves = (
        sweep(graph, REAL, inputs, wrt, "plain"),
        plain.shapes_of(graph),
        plain.leaves(graph, inputs),
    )
    if swept is not None and shapes is not None and leaves is not None:
        by_the_bare_walks(plain.walks(shapes, careful=False), graph, leaves, swept, along_edges=False)
    return swept


def by_the_bare_walks(
    names: dict[str, Any], graph: Graph, leaves: list[float], swept: Swept, along_edges: bool
) -> None:
    """The walks that leave the errors out find the same numbers, with 0 in the place of None."""
    alone = leaves[:]
    assert names["value"](graph.codes, graph.offsets, graph.args, alone) == 0
    partials, adjoints, told = [0.0] * len(graph.args), [0.0] * len(graph), [-1, -1]
    adjoints[graph.output] = 1.0
    shared = graph.codes, graph.offsets, graph.args
    assert names["constants"](*shared, partials, swept.moving) == 0
    assert names["forward"](*shared, leaves, partials, swept.moving, told) == 0
    if along_edges:
        edges = [edge for node in range(len(graph) - 1, -1, -1) for edge in graph.edges_to(node)]
        ends = [edge.place for edge in edges], [edge.target for edge in edges], [edge.source for edge in edges]
        straight = adjoints[:]
        assert names["backward"](*ends, partials, adjoints) == 0
        ordered = [set(graph.operands(node)) for node in range(len(graph)) if graph.row(node) is not None]
        if sum(map(len, ordered)) == len(graph.args):  # no operand twice
            targets = [edge.target for node in range(len(graph)) for edge in graph.edges_to(node)]
            assert names["backward_straight"](targets, graph.args, partials, straight) == 0
            assert same(straight, adjoints)
    else:
        assert names["backward"](*shared, partials, adjoints) == 0
    assert same(alone, swept.values)
    assert same(leaves, swept.values)
    moved = [0.0 if one is None else one for one in swept.reverse.adjoints]
    assert all(
        one == other
        for one, other, moves in zip(adjoints, moved, swept.moving, strict=True)
        if moves or not along_edges
    )
    assert told[0] == swept.kink


class Machine:
    """The functions of `math` as machine code has them, which raises nothing; and what numba calls types."""

    float64 = staticmethod(lambda *_: None)

    def __getattr__(self, name: str) -> Any:
        function = getattr(math, name)

        def quiet(*operands: float) -> float:
            try:
                return float(function(*operands))
            except (ValueError, OverflowError):
                return math.nan

        return quiet

    @staticmethod
    def ExternalFunction(name: str, _: Any) -> Any:
        return getattr(math, name)


@lru_cache
def walks(shapes: tuple[tuple[int, int], ...]) -> dict[str, Any]:
    """The walks that numba compiles, for Python to run."""
    names: dict[str, Any] = {"njit": lambda **_: lambda function: function, "types": Machine, "math": Machine()}
    exec(fast.source(sorted(shapes)).replace("import math\nfrom numba import njit, types\n", ""), names)
    return names


def as_compiled(graph: Graph, inputs: Mapping[int, float], wrt: Sequence[int]) -> Swept | None:
    """What numba compiles, run by Python: all of it but the compiler."""

    shapes, leaves = plain.shapes_of(graph), plain.leaves(graph, inputs)
    if shapes is None or leaves is None:
        return None
    try:
        names = walks(shapes)
    except Uncompilable:
        return in_python(graph, inputs, wrt)
    swept = _as_compiled(names, graph, leaves[:], wrt)
    if swept is not None:
        by_the_bare_walks(names, graph, leaves, swept, along_edges=True)
    return swept


def _as_compiled(names: dict[str, Any], graph: Graph, leaves: list[float], wrt: Sequence[int]) -> Swept | None:
    moving = bytearray(len(graph))
    for node in wrt:
        moving[node] = 1
    lists = plain.careful(names, graph, leaves, moving)
    return None if lists is None else found(graph, lists.columns(), moving)


def same(left: Any, right: Any) -> bool:
    """Whether two columns hold the same bits, and None at the same places."""
    return len(left) == len(right) and all(
        one is other or (one is not None and other is not None and float(one).hex() == float(other).hex())
        for one, other in zip(left, right, strict=True)
    )


def compare(engine: Engine, graph: Graph, inputs: Mapping[int, float], wrt: Sequence[int]) -> bool:
    """Whether a tape answers; then all that it says has to be what the general engines say."""
    swept = engine(graph, inputs, wrt)
    if swept is None:
        return False
    known, moving = values(graph, REAL, inputs), graph.moving(wrt)
    slopes = partials(graph, REAL, known, moving)
    back = reverse(graph, slopes, REAL)
    wrong = errors(graph, REAL, known, slopes, moving, back)
    assert all(map(is_number, known))
    assert same(known, swept.values)
    assert moving == swept.moving
    assert same(slopes.values, swept.partials.values)
    assert slopes.exact_zero == swept.partials.exact_zero
    assert same(back.adjoints, swept.reverse.adjoints)
    assert same(back.contributions, swept.reverse.contributions)
    assert same(wrong.values, swept.errors.values)
    assert same(wrong.strain, swept.errors.strain)
    assert same(wrong.adjoints, swept.errors.adjoints)
    assert wrong.branch == swept.errors.branch
    assert next(kinks(graph, REAL, known), -1) == swept.kink
    return True


def around(row: Row, operands: Sequence[float], rounded: bool) -> tuple[Graph, dict[int, float], list[int]]:
    """A small graph about one operation. With `rounded` its operands come out of others, and are wrong by a little."""
    graph = Graph()
    inputs = {graph.add_input(f"x{place}", (0, 1)): float(one) for place, one in enumerate(operands)}
    nodes = sources = list(inputs)
    if rounded:
        inputs[apart := graph.add_input("c", (0, 1))] = 1.1
        times = [graph.add(ops.by_name("mul").code, (one, apart), (0, 1)) for one in nodes]
        sources = [graph.add(ops.by_name("div").code, (one, apart), (0, 1)) for one in times]
    node = graph.add(row.code, sources, (0, 1))
    product = graph.add(ops.by_name("mul").code, (node, sources[0]), (0, 1))
    graph.output = graph.add(ops.by_name("add").code, (product, node), (0, 1))
    return graph, inputs, nodes


ROWS = [row for row in ops.elementwise() if not row.conditions and not row.gives_condition]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
@pytest.mark.parametrize("engine", [in_python, as_compiled])
def test_every_row_is_worked_out_to_the_last_bit(row: Row, engine: Engine) -> None:
    answered = 0
    for operands in (*row.samples, *row.edges):
        assert all(isinstance(one, float) for one in operands)
        for rounded, flipped in itertools.product((False, True), (1.0, -1.0)):
            graph, inputs, nodes = around(row, [flipped * float(one) for one in operands], rounded)
            for moves in itertools.product((True, False), repeat=len(nodes)):
                wrt = [node for node, one in zip(nodes, moves, strict=True) if one]
                answered += compare(engine, graph, inputs, wrt)
    if is_written(row, len(row.samples[0])):
        assert answered >= len(row.samples)


KINKS = [("abs", 0.0), ("relu", 0.0), ("relu", -1.0), ("floor", 2.0), ("sign", 0.0), ("leaky_relu", 0.0)]


@pytest.mark.parametrize(("name", "at"), KINKS)
def test_a_tape_tells_of_a_kink_and_of_a_branch_not_taken(name: str, at: float) -> None:
    for rounded in (False, True):
        graph, inputs, nodes = around(ops.by_name(name), [at], rounded)
        assert compare(in_python, graph, inputs, nodes)
        assert compare(as_compiled, graph, inputs, nodes)


@settings(max_examples=60, deadline=None)
@given(programs(), points)
def test_random_programs_come_out_the_same(text: str, at: dict[str, float]) -> None:
    graph = build(parse(text), NAMES)
    inputs = {node: at[name] for name, node in graph.inputs.items()}
    answered = compare(in_python, graph, inputs, graph.default_wrt())
    assert answered or "where" in text or not all(map(is_number, values(graph, REAL, inputs)))


DECLINED = [
    ("log(x - 1)", {"x": 1.0}),  # a pole
    ("log(x)", {"x": -1.0}),
    ("exp(x)", {"x": 1000.0}),
    ("exp(x)*0", {"x": 1000.0}),  # an infinity on the way
    ("1/exp(x)", {"x": 1000.0}),
    ("sqrt(x)^2", {"x": 0.0}),  # an infinite slope
    ("x*1e308*y - x*1e308*y", {"x": 10.0, "y": 1.0}),
    ("1e200*(1e200*x)", {"x": 1e-300}),  # the slope overflows, the value does not
    ("x + inf", {"x": 1.0}),
    ("(-8)^(x/3)", {"x": 1.0}),
]


@pytest.mark.parametrize(("text", "at"), DECLINED)
def test_a_tape_declines_what_is_not_ordinary(text: str, at: dict[str, float]) -> None:
    graph = build(parse(text))
    inputs = {node: at[name] for name, node in graph.inputs.items()}
    for engine in (in_python, as_compiled):
        assert engine(graph, inputs, graph.default_wrt()) is None


def test_a_step_that_hangs_on_its_last_digits_is_told() -> None:
    graph = build(parse("floor((x*1.1/1.1)*10)"))
    assert compare(in_python, graph, {0: 0.3}, [0])
    swept = in_python(graph, {0: 0.3}, [0])
    assert swept is not None
    assert swept.errors.branch >= 0


# -- large programs answer as they do without a tape

DELICATE = {
    "nothing": "m = x + y",
    "a kink": "m = relu(x - 0.3) + abs(y - 1) + x*y",
    "a dead unit": "m = relu(-x) * exp(700) + x*y",
    "a hole": "m = log(x - 1)*y",
    "a branch": "m = where(x > 1, log(x - 1), x*y)",
    "an overflow": "m = exp(1000*y)/exp(1000*x) + x",
    "lost digits": "m = (1 + x*1e-17) - 1 + y",
    "a jump": "m = floor(x*10) + y",
    "nothing that moves": "m = log(2)*sqrt(2) + x*y",
}


def large(middle: str, size: int = 12) -> str:
    before = "\n".join(f"a{k} = sin(x + {k}.5)*y" for k in range(size))
    after = "\n".join(f"b{k} = b{k - 1}*0.99 + a{k % size}*m" if k else "b0 = m" for k in range(4 * size))
    return f"{before}\n{middle}\n{after}\nb{4 * size - 1} + max(x, y, a0) + 2^x"


def told(text: str) -> list[Any]:
    try:
        answer: Any = backprop.grad(text, {"x": 0.3, "y": 1.0})
    except backprop.Mistake as mistake:
        answer = str(mistake)
    record = backprop.trace(text, {"x": 0.3, "y": 1.0}, check=False, rounding=True).to_json()
    return [answer, json.loads(record)]


@pytest.mark.parametrize("middle", DELICATE, ids=str)
def test_a_large_program_answers_as_it_does_without_a_tape(middle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = large(DELICATE[middle])
    without = told(text)
    monkeypatch.setattr(point, "LARGE", 1)
    assert told(text) == without


def test_a_large_ordinary_program_goes_by_the_tape() -> None:
    here = backprop.compile(large(DELICATE["nothing"], 150)).at({"x": 0.3, "y": 1.0})
    assert len(here.graph) > point.LARGE
    assert isinstance(here.values, array)
    small = backprop.compile("x*y").at({"x": 0.3, "y": 1.0})
    assert isinstance(small.values, list)


def test_a_small_program_loads_no_engine() -> None:
    code = "import sys, backprop; backprop.grad('sin(x)*y', {'x': 1, 'y': 2}); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not [name for name in loaded if name.startswith(("backprop.engines.", "numba", "numpy"))]


# -- evaluated again and again

POINTS = [{"x": 0.1 * k - 0.4, "y": 1.5 - 0.2 * k} for k in range(9)]
REPEATED = ["sin(x)*y + x^2", "relu(x) + abs(y - 0.5)", "log(x + 0.2)*y", "where(x > 0, x, y)", "x*y + hypot(x, y)",
            "(1 + x*1e-17) - 1 + y", "floor(y*10)/x", "max(x, y, 0.3)^2", "3", "exp(900*y)"]  # fmt: skip


def answer(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except backprop.Mistake as mistake:
        return str(mistake)


@pytest.mark.parametrize("text", REPEATED)
def test_the_same_program_at_many_points_answers_as_grad(text: str) -> None:
    program = backprop.compile(text, engine="plain")
    for at in POINTS:
        ours = answer(lambda at=at: program.value_and_gradient(at))  # type: ignore[misc]
        assert ours == answer(lambda at=at: backprop.grad(text, at))  # type: ignore[misc]


def test_what_is_asked_for_may_change_from_point_to_point() -> None:
    program = backprop.compile("x^2*y")
    for _ in range(2):
        assert program.value_and_gradient({"x": 3, "y": 2}) == (18.0, {"x": 12.0, "y": 9.0})
        assert program.value_and_gradient({"x": 3, "y": 2}, wrt=["y"]) == (18.0, {"y": 9.0})
        assert program.value_and_gradient({"x": "1/2", "y": 2}) == (0.5, {"x": 2.0, "y": 0.25})
        assert program.value_and_gradient({"x": 3, "y": 2, "z": 1})[1] == {"x": 12.0, "y": 9.0, "z": 0.0}
        assert program.value({"x": 3, "y": 2}) == program.value({"x": 3, "y": 2}, careful=False) == 18.0
        with pytest.raises(backprop.Mistake, match="y"):
            program.value_and_gradient({"x": 3})
        with pytest.raises(backprop.Mistake):
            program.value_and_gradient({"x": math.nan, "y": 1})


def test_lost_digits_are_looked_for_unless_nobody_asks() -> None:
    program = backprop.compile("(1 + x) - 1")
    for _ in range(2):
        assert program.value_and_gradient({"x": 1e-17})[0] == 1e-17
    assert program.value_and_gradient({"x": 1e-17}, careful=False)[0] == 0.0


def test_an_engine_that_there_is_not_is_refused() -> None:
    with pytest.raises(backprop.Mistake, match="engine"):
        backprop.compile("x", engine="steam")


def test_the_compiled_engine_without_numba_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "find_spec", lambda name: None)
    with pytest.raises(backprop.Mistake, match="engine fast") as raised:
        backprop.compile("x", engine="fast")
    assert "[fast]" in str(raised.value.repair)


def test_the_tape_is_compiled_when_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    from backprop import compiled

    program = backprop.compile("x*y")
    asked: list[Any] = []
    monkeypatch.setattr(compiled, "WORTH_COMPILING", 10)
    monkeypatch.setattr(fast, "is_there", lambda: True)
    monkeypatch.setattr(fast, "walks", asked.append)
    for _ in range(9):
        assert program.value_and_gradient({"x": 3.0, "y": 2.0})[0] == 6.0
    assert len(asked) == 1  # and there was no tape for it, so that it was not asked again


# -- numba

COMPILED = "s = x; " + "; ".join(f"s = sin(s)*y + relu(s - {k}) + {k}*x" for k in range(6))


QUICK = "x*y + x"


@needs_numba
@pytest.mark.parametrize("text", [QUICK, pytest.param(COMPILED, marks=pytest.mark.slow)])
def test_numba_finds_the_same_bits(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKPROP_CACHE_DIR", str(tmp_path))
    fast._walks.cache_clear()
    graph = build(parse(text))
    for at in POINTS:
        inputs = {node: at[name] for name, node in graph.inputs.items()}
        assert compare(lambda *given: sweep(given[0], REAL, given[1], given[2], "fast"), graph, inputs, [0])
    assert len(list(tmp_path.rglob("*.nbc"))) >= 2  # the machine code is there for the next run
    quick, careful = (backprop.compile(text, engine=engine) for engine in ("fast", "plain"))
    for at in POINTS:
        assert quick.value_and_gradient(at) == careful.value_and_gradient(at)
        assert quick.value_and_gradient(at, careful=False) == careful.value_and_gradient(at, careful=False)
        assert quick.value(at, careful=False) == careful.value(at, careful=False)


@needs_numba
@pytest.mark.slow
def test_a_set_of_operations_is_compiled_once_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    phases: list[str] = []
    monkeypatch.setattr(progress, "phase", lambda name, *_, **__: phases.append(name))
    fast._walks.cache_clear()
    for text in ("x*y + x", "x + y*x", "(x + y)*(x + y + 1)"):
        backprop.compile(text, engine="fast").value_and_gradient({"x": 2.0, "y": 3.0})
    assert phases.count("compiling") == 1
    assert fast._walks.cache_info().currsize == 1


@needs_numba
@pytest.mark.slow
@pytest.mark.parametrize("text", ["x*x + (x + x)*y + y*y", "(x*x - x)*(x - x*y) + (y - y)/3 + (x*x - y)/(x*x - y)"])
def test_equal_operands_bring_back_the_same_bits_in_either_order(text: str) -> None:
    quick, slow = (backprop.compile(text, engine=engine) for engine in ("fast", "plain"))
    for at in POINTS:
        one, other = (answer(lambda p=p, at=at: p.value_and_gradient(at, careful=False)) for p in (quick, slow))  # type: ignore[misc]
        assert one == other


LONG = "s = x*y; " + "; ".join(f"s = sin(s + {k})*0.9 + x*y" for k in range(600))


@pytest.mark.parametrize("engine", ["plain", pytest.param("fast", marks=needs_numba)])
def test_two_threads_may_use_one_program(engine: str) -> None:
    program = backprop.compile(LONG, engine=engine)
    places = [{"x": 0.1 * k, "y": 0.3} for k in range(8)]
    for careful in (True, False):
        program.value_and_gradient(places[0], careful=careful)
        alone = [program.value_and_gradient(at, careful=careful) for at in places]
        ask = partial(program.value_and_gradient, careful=careful)
        with ThreadPoolExecutor(2) as pool:
            assert list(pool.map(ask, places * 12)) == alone * 12


@pytest.mark.parametrize("engine", ["plain", pytest.param("fast", marks=needs_numba)])
def test_a_program_that_was_used_can_be_sent_to_another_process(engine: str) -> None:
    program = backprop.compile("x*y + x", engine=engine)
    for _ in range(2):
        found = program.value_and_gradient({"x": 2.0, "y": 3.0}), program.value({"x": 2.0, "y": 3.0}, careful=False)
    sent = pickle.loads(pickle.dumps(program))
    assert (sent.value_and_gradient({"x": 2.0, "y": 3.0}), 8.0) == found


# those that have hypot in their value or in a rule: Python's own is better than that of C by a part of the last bit
LAST_BIT = {"hypot", "atan2", "asinh", "acsch"}
GROUPS = [[row.name for row in ROWS[first : first + 11]] for first in range(0, len(ROWS), 11)]
AROUND = [(ops.by_name(name).code, 2) for name in ("add", "mul", "div")]


@needs_numba
@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: f"{group[0]} to {group[-1]}")
def test_numba_works_every_row_out(group: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BACKPROP_CACHE_DIR", str(tmp_path))
    written = [row for row in map(ops.by_name, group) if can_be_compiled(row)]
    shapes = {(row.code, len(operands)) for row in written for operands in (*row.samples, *row.edges)}
    # one tape for all of them: each has to be compiled
    program = fast.walks(tuple(sorted(shapes | set(AROUND))))
    assert program is not None
    for row in written:
        for operands in (*row.samples, *row.edges):
            graph, inputs, nodes = around(row, [float(one) for one in operands], rounded=True)
            leaves = plain.leaves(graph, inputs)
            assert leaves is not None
            moving = bytearray(len(graph))
            for node in nodes:
                moving[node] = 1
            columns = fast.run(program, graph, array("d", leaves), moving[:])
            theirs = sweep(graph, REAL, inputs, nodes, "plain")
            if row.name not in LAST_BIT:
                assert (columns is None) == (theirs is None)
            if columns is None or theirs is None:
                continue
            ours = found(graph, columns, moving)
            for one, other in ((ours.values, theirs.values), (ours.reverse.adjoints, theirs.reverse.adjoints)):
                assert (near if row.name in LAST_BIT else same)(one, other), (row.name, operands)


def can_be_compiled(row: Row) -> bool:
    if not is_written(row, len(row.samples[0])):
        return False
    try:
        fast.source([(row.code, len(row.samples[0]))])
    except Uncompilable:
        return False
    return True


def near(left: Any, right: Any) -> bool:
    """Whether two columns are the same but for the last bits, with None at the same places."""
    return len(left) == len(right) and all(
        one is other or (one is not None and other is not None and one == pytest.approx(other, rel=1e-15, abs=0))
        for one, other in zip(left, right, strict=True)
    )


# -- the command


@pytest.mark.parametrize("command", ["grad", "trace", "step"])
def test_an_engine_can_be_asked_for_by_name(command: str) -> None:
    words = [command, "param w = 2; (w*x - 1)^2", "--x", "3", *(["--no-check"] if command == "trace" else [])]
    answers = [call(*words, "--engine", engine) for engine in ("auto", "plain")]
    assert answers[0][0] == 0
    assert answers[0] == answers[1]
    code, _, told = call(*words, "--engine", "steam")
    assert code == 2
    assert "engine" in told
