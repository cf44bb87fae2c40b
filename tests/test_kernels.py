"""Kernels: whole columns at once give what a row alone gives, and say which rows they do not answer for."""

from __future__ import annotations

import math
import threading
from collections.abc import Container
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, assume, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from backprop import ops
from backprop.accuracy.rounding import DOUBLE, errors
from backprop.gradient import refuse_holes
from backprop.kinds import Hole
from backprop.kinds.real import REAL
from backprop.mapping.kernels import ENGINES, MANY, Answers, c, kernel, numba
from backprop.mapping.kernels import numpy as numpy_kernel
from backprop.mapping.kernels.common.line import line
from backprop.mistakes import ExtraMissing, Mistake, NoEngine, NotElementwise, NoWord, OptionValue
from backprop.ops import Row
from backprop.point import Program
from backprop.rules import kinks, partial
from backprop.writing import written
from programs import programs

HERE = [
    "numpy",
    pytest.param("c", marks=pytest.mark.skipif(c.compiler() is None, reason="there is no C compiler here")),
    pytest.param("numba", marks=pytest.mark.skipif(find_spec("numba") is None, reason="numba is not installed here")),
]
WORDS: dict[str, Container[str]] = {"numpy": numpy_kernel.WORDS, "c": c.WORDS, "numba": numba.WORDS}
# libmvec is good to 4 units in the last place, and an operation that is made of others to a few of them
NEAR = 2e-13


def run(text: str, engine: str, wrt: str = "x", **columns: Any) -> Answers:
    """The answers of an engine for some rows."""
    arrays = {name: np.array(column, dtype=float) for name, column in columns.items()}
    return kernel(Program(text), list(arrays), {}, wrt.split(), engine=engine).run(arrays)


# -- every row of the table ------------------------------------------------------------------------------------------

CONDITIONS = {"where", "and", "or", "not"}
NUMBERS = [row for row in ops.elementwise() if not row.gives_condition and row.name not in CONDITIONS]


@lru_cache(maxsize=1)
def all_rows(engine: str) -> tuple[list[Row], dict[str, list[float]], Answers]:
    """Every operation at its samples and edges at once: w_i is the weight of one, whose slope is its value."""
    rows, terms, columns = [], [], {}
    for number, row in enumerate(NUMBERS):
        tries = [*row.samples, *row.edges]
        names = [f"a{number}_{place}" for place in range(len(tries[0]))]
        if row.settings or row.name == "polygamma":
            names[0] = str(int(tries[0][0]))
            tries = [operands for operands in tries if operands[0] == tries[0][0]]
        try:
            text = written(row, [(name, ops.ATOM) for name in names])[0]
            moving = [name for name in names if name.startswith("a")]
            line(Program(f"({text})*w0"), [*moving, "w0"], {}, moving, WORDS[engine])
        except Exception as missing:
            if type(missing).__name__ == "Wordless":
                continue
            raise
        for place, name in enumerate(names):
            if name.startswith("a"):
                columns[name] = [float(tries[i % len(tries)][place]) for i in range(MOST_TRIES)]
        columns[f"w{number}"] = [1.0] * MOST_TRIES
        rows.append(row)
        terms.append(f"w{number}*({text})")
    wrt = list(columns)
    arrays = {name: np.array(column) for name, column in columns.items()}
    return rows, columns, kernel(Program(" + ".join(terms)), wrt, {}, wrt, engine=engine).run(arrays)


MOST_TRIES = max(len(row.samples) + len(row.edges) for row in NUMBERS)


@pytest.mark.parametrize("engine", HERE)
def test_every_operation_and_its_slopes_are_those_of_a_row_alone(engine: str) -> None:
    rows, columns, answers = all_rows(engine)
    assert {row.name for row in NUMBERS} - {row.name for row in rows} <= {
        "digamma",
        "polygamma",
        "lgamma",
        "gamma",
        "factorial",
    }
    wrong = []
    for row in rows:
        number = NUMBERS.index(row)
        for i in range(MOST_TRIES):
            operands = [
                columns[name][i] if (name := f"a{number}_{place}") in columns else row.samples[0][0]
                for place in range(len(row.samples[0]))
            ]
            pairs = [(answers.slopes[f"w{number}"][i], row.value(REAL, *operands))]
            moving = tuple(f"a{number}_{place}" in columns for place in range(len(operands)))
            for place, moves in enumerate(moving):
                if moves:
                    slope = partial(row, place, moving).evaluate(REAL, operands, pairs[0][1])
                    pairs.append((answers.slopes[f"a{number}_{place}"][i], slope))
            for found, expected in pairs:
                if isinstance(expected, Hole) or not math.isfinite(expected):
                    fine = not math.isfinite(found)
                else:
                    fine = math.isclose(found, expected, rel_tol=NEAR, abs_tol=1e-300)
                if not fine:
                    wrong.append((row.name, operands, found, expected))
    assert wrong == []


# -- random programs -------------------------------------------------------------------------------------------------

ANYTHING = (
    *(("({0} + {1})", 2), ("({0} - {1})", 2), ("({0})*({1})", 2), ("({0})/({1})", 2), ("-({0})", 1), ("abs({0})", 1)),
    *(("exp({0})", 1), ("log({0})", 1), ("sqrt({0})", 1), ("({0})^2", 1), ("({0})^-1", 1), ("({0})^1.5", 1)),
    *(
        ("({0})^({1})", 2),
        ("sin({0})", 1),
        ("tanh({0})", 1),
        ("sigmoid({0})", 1),
        ("atan2({0}, {1})", 2),
        ("acot({0})", 1),
    ),
    *(("max({0}, {1})", 2), ("min({0}, {1}, 1)", 2), ("relu({0})", 1), ("floor({0})", 1), ("({0}) % ({1})", 2)),
    *(("where({0} > {1}, {0}, log({1}))", 2), ("where({1} != 0, {0}/({1}), 0)", 2), ("hypot({0}, {1})", 2)),
    *(("where({0} <= 0 or {1} > 2, sqrt({1}), {0})", 2), ("clip({0}, -1, {1})", 2), ("softplus({0})", 1)),
)
SPECIAL = st.sampled_from([0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 1e-200, -1e-200, 1e200, 700.0, -700.0, 800.0, 1e-9])
ORDINARY = st.floats(-3, 3).map(lambda number: round(number, 4))


@st.composite
def any_programs(draw: st.DrawFn) -> str:
    """A program that may be undefined, overflow, or have a kink, at about any place."""
    known = ["x", "y"]
    lines = []
    for place in range(draw(st.integers(1, 5))):
        template, count = draw(st.sampled_from(ANYTHING))
        lines.append(f"n{place} = {template.format(*(draw(st.sampled_from([*known, '2'])) for _ in range(count)))}")
        known.append(f"n{place}")
    return "; ".join([*lines, draw(st.sampled_from(known[2:]))])


def held(text: str, engine: str, columns: dict[str, list[float]]) -> list[int]:
    """The marks of an engine's rows, held against each row alone."""
    answers = run(text, engine, "x y", **columns)
    program = Program(text)
    for i, mark in enumerate(answers.odd):
        if mark == 2:
            continue
        row = {name: column[i] for name, column in columns.items()}
        if "floor" in text and max(map(abs, row.values())) > 1e15:
            continue
        here = program.at(row, wrt=list(columns))
        refuse_holes(here)  # where the kernel answers there is an answer
        found = here.accuracy()
        if found is not None and (found.value is not None or found.slopes):
            continue  # doubles have lost digits; a kernel has nothing but doubles
        assert answers.value[i] == pytest.approx(here.value(), rel=1e-9, abs=1e-300), row
        for name, slope in here.gradient().items():
            assert answers.slopes[name][i] == pytest.approx(slope, rel=1e-9, abs=1e-300), (row, name)
        if mark == 1:
            assert answers.kink is not None
            ids = [here.graph.ids[node] for node in kinks(here.graph, here.kind, here.values)]
            assert here.graph.ids[answers.kink[i]] in ids
    return [int(mark) for mark in answers.odd]


@settings(max_examples=150, deadline=None)
@given(any_programs(), st.lists(st.tuples(SPECIAL | ORDINARY, SPECIAL | ORDINARY), min_size=1, max_size=6))
@example("n0 = acot(x); n0", [(0.0, 1.0)])
@example("n0 = 1/(1/x); n0", [(0.0, 1.0), (2.0, 1.0)])
@example("n0 = atan2(x, y); n0", [(0.0, 0.0)])
@example("n0 = log(x); n1 = where(n0 > y, x, 2*x); n1", [(-1.0, 0.0)])
@example("n0 = exp(x); n1 = tanh(n0); n1", [(800.0, 0.0)])
def test_where_a_kernel_answers_the_row_alone_says_the_same(text: str, rows: list[tuple[float, float]]) -> None:
    held(text, "numpy", {"x": [x for x, _ in rows], "y": [y for _, y in rows]})


@pytest.mark.parametrize("engine", HERE)
@settings(max_examples=3, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])  # each is compiled
@given(programs(), st.lists(st.tuples(ORDINARY, ORDINARY, ORDINARY), min_size=1, max_size=20))
def test_every_engine_gives_the_answers_of_a_row_alone(engine: str, text: str, rows: Any) -> None:
    columns = {name: [row[place] for row in rows] for place, name in enumerate("xyz")}
    program = Program(text)
    read = [name for name in columns if name in program.read()[1].inputs]
    assume(read)
    answers = run(text, engine, " ".join(read), **{name: columns[name] for name in read})
    for i in np.flatnonzero(answers.odd == 0):
        here = program.at({name: columns[name][i] for name in read})
        wrong = errors(here.graph, here.kind, here.values, here.partials, here.moving, here.reverse(), DOUBLE)
        # libmvec is good to 4 units, and what is made of others to some more
        allowed = 32 * DOUBLE.unit
        assert abs(answers.value[i] - here.value()) <= allowed * wrong.values[here.graph.output]
        for name in read:
            adjoint, node = here.reverse().adjoints[here.graph.inputs[name]], here.graph.inputs[name]
            assert abs(answers.slopes[name][i] - (adjoint or 0.0)) <= allowed * wrong.adjoints[node]


# -- rows that are odd -----------------------------------------------------------------------------------------------

ODD = [
    ("log(x)", [1.0, 0.0, -1.0], [0, 2, 2]),
    ("1/x", [2.0, 0.0], [0, 2]),
    ("sqrt(x)", [4.0, 0.0, -1.0], [0, 2, 2]),
    # what dies out on the way: 1/inf is 0, and so is a comparison with NaN
    ("1/(1/x)", [2.0, 0.0], [0, 2]),
    ("tanh(1/x)", [2.0, 0.0], [0, 2]),
    ("acot(x)", [2.0, 0.0], [0, 2]),
    ("1/(1 + exp(-x))", [1.0, -1000.0], [0, 2]),
    ("where(log(x) > 1, 1, 2)*x", [3.0, -1.0], [0, 2]),
    ("max(log(x), 0.5)*x", [3.0, -1.0, 0.0], [0, 2, 2]),
    ("x/(x*1e200)^2", [1e-100, 1.0], [0, 2]),
    # that is no overflow: these are worked out so that nothing is
    ("sigmoid(x)", [1.0, -1000.0, 1000.0], [0, 0, 0]),
    ("softplus(x) + logaddexp(x, -x) + tanh(x)", [1.0, -1000.0, 1000.0], [0, 0, 0]),
    # a branch that is not taken may have no value
    ("where(x > 0, log(x), 2*x)", [3.0, -1.0, 0.0], [0, 0, 2]),
    ("where(x > 0, where(x > 1, 1/(x - 1), x), sqrt(-x))", [3.0, 0.5, -1.0, 1.0], [0, 0, 0, 2]),
    ("where(x != 0, sin(x)/x, 1)", [3.0, 0.0], [0, 2]),
    ("where(x >= 0, x^2, x)", [3.0, -1.0, 0.0], [0, 0, 1]),
    # kinks
    ("abs(x)", [3.0, -1.0, 0.0], [0, 0, 1]),
    ("relu(x) + abs(x - 1)", [3.0, 1.0, 0.0], [0, 1, 1]),
    ("relu(x) + abs(x)", [3.0, 0.0], [0, 2]),
    ("where(x > 0, abs(x - 1), abs(x + 1))", [3.0, 1.0, -1.0], [0, 1, 1]),
    ("where(x > 0, abs(x + 1), 2*x)", [3.0, -1.0], [0, 0]),
    ("max(x, 1, 2*x)", [3.0, 1.0, 0.5], [0, 0, 1]),
    # a choice with a 0 in it, into which the factors of its product go, has its kink all the same
    ("leaky_relu(x, 0)*(x + 2)", [3.0, -1.0, 0.0], [0, 0, 1]),
    ("where(x > -1, leaky_relu(x, 0)*(x + 2), x)", [3.0, 0.0, -3.0], [0, 1, 0]),
    ("floor(x)*x", [2.5, 2.0], [0, 2]),
    ("abs(x)^0.5", [4.0, 0.0], [0, 2]),
]


@pytest.mark.parametrize("engine", HERE)
def test_a_row_that_is_not_answered_is_odd(engine: str) -> None:
    # one program: z picks one of the terms, and a branch that is not taken makes no row odd
    columns: dict[str, list[float]] = {"x": [], "z": []}
    text, expected = "0", []
    for place, (term, numbers, marks) in enumerate(ODD[::6] if engine == "numba" else ODD):  # numba takes its time
        text = f"where(floor(z) == {place}, {term}, {text})"
        columns["x"] += numbers
        columns["z"] += [place + 0.5] * len(numbers)
        expected += marks
    found = list(run(text, engine, "x", **columns).odd)
    # at a kink all branches have to be finite, also those of the other terms
    assert [mark if mark == sure else min(mark, 1) for mark, sure in zip(found, expected, strict=True)] == expected


@pytest.mark.parametrize(("text", "numbers", "marks"), ODD)
def test_a_row_is_odd_alone(text: str, numbers: list[float], marks: list[int]) -> None:
    answers = run(text, "numpy", "x", x=numbers)
    assert list(answers.odd) == marks
    graph = Program(text).read()[1]
    for mark, node in zip(answers.odd, answers.kink if answers.kink is not None else [], strict=False):
        if mark == 1:
            row = graph.row(int(node))
            assert row is not None
            assert row.kink


def test_a_value_alone_has_no_kinks() -> None:
    answers = kernel(Program("abs(x)"), ["x"], {}, ["x"], value_only=True, engine="numpy").run({"x": np.zeros(3)})
    assert list(answers.odd) == [0, 0, 0]
    assert answers.slopes == {}


# -- digits that rounding takes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "numbers", "marks"),
    [
        ("(x + 1) - x", [1.0, 1e6, 1e15], [0, 2, 2]),
        ("(1 - cos(x))/x^2", [1.0, 1e-4, 1e-8], [0, 2, 2]),
        ("log(1 + x) - x", [1.0, 1e-7], [0, 2]),
        ("1 - tanh(x)", [1.0, 18.0], [0, 2]),
        # nothing is lost where the operands are exact, or in a branch that is not taken
        ("(x - 1)*(x + 1)", [1.0 + 2**-40, -1.0, 3.0], [0, 0, 0]),
        ("where(x > 2, x, (x + 1) - x)", [1e9], [0]),
        ("tanh(x) + sigmoid(x) + softplus(x)", [20.0, -30.0, 1e-9], [0, 0, 0]),
        # which branch is taken hangs on a rounding
        ("where(x*0.1 > 0.3, x, 2*x)", [3.0, 4.0], [2, 0]),
        ("floor(x*10)", [0.3, 0.35], [2, 0]),
        # a jump may lie above as well as below
        ("floor((x - 0.2)/0.1)", [0.3, 0.35], [2, 0]),
        ("(x*0.1) % 0.3", [3.0, math.nextafter(3.0, 0.0), 4.0], [2, 2, 0]),
    ],
)
def test_a_careful_kernel_leaves_out_rows_that_have_lost_digits(
    text: str, numbers: list[float], marks: list[int]
) -> None:
    made = kernel(Program(text), ["x"], {}, ["x"], engine="numpy", careful=True)
    assert list(made.run({"x": np.array(numbers)}).odd) == marks


@settings(max_examples=60, deadline=None)
@given(any_programs(), st.lists(st.tuples(ORDINARY, ORDINARY), min_size=1, max_size=6))
def test_what_a_careful_kernel_answers_has_its_digits(text: str, rows: list[tuple[float, float]]) -> None:
    made = kernel(Program(text), ["x", "y"], {}, ["x", "y"], engine="numpy", careful=True)
    answers = made.run({"x": np.array([x for x, _ in rows]), "y": np.array([y for _, y in rows])})
    for i in np.flatnonzero(answers.odd == 0):
        here = Program(text).at({"x": rows[i][0], "y": rows[i][1]}, wrt=["x", "y"])
        assert answers.value[i] == pytest.approx(here.answer(), rel=1e-10, abs=1e-290)
        for name, slope in here.gradient().items():
            assert answers.slopes[name][i] == pytest.approx(slope, rel=1e-10, abs=1e-290)


# -- columns ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", HERE)
def test_any_number_of_rows_and_columns_that_are_not_contiguous(engine: str) -> None:
    made = kernel(Program("x*y + sin(x) + abs(y)"), ["x", "unused", "y"], {}, ["x", "y", "unused"], engine=engine)
    both = np.random.default_rng(7).normal(size=(9000, 2))
    for rows in (0, 1, 1023, 1024, 1025, 4096, 4097, 9000):
        x, y = both[:rows, 0], both[:rows, 1]
        answers = made.run({"x": x, "y": y, "unused": np.zeros(rows)})
        np.testing.assert_allclose(answers.value, x * y + np.sin(x) + np.abs(y), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(answers.slopes["x"], y + np.cos(x), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(answers.slopes["y"], x + np.sign(y), rtol=1e-12, atol=1e-14)
        assert not answers.slopes["unused"].any()
        assert not answers.odd.any()


@pytest.mark.parametrize("engine", HERE)
def test_threads_run_one_kernel_at_the_same_time(engine: str) -> None:
    made = kernel(Program("exp(-x^2)*y"), ["x", "y"], {}, ["x"], engine=engine)
    columns = [{"x": np.full(20000, float(i)), "y": np.arange(20000.0)} for i in range(4)]
    found: list[Answers | None] = [None] * 4

    def work(place: int) -> None:
        found[place] = made.run(columns[place])

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for place, answers in enumerate(found):
        assert answers is not None
        np.testing.assert_allclose(answers.value, math.exp(-(place**2)) * np.arange(20000.0), rtol=1e-14)


def test_columns_of_anything_but_doubles_are_refused() -> None:
    made = kernel(Program("x*y"), ["x", "y"], {}, ["x"], engine="numpy")
    with pytest.raises(TypeError, match="column x is float32 with 1 axes"):
        made.run({"x": np.zeros(3, np.float32), "y": np.zeros(3)})
    with pytest.raises(ValueError, match="column y has 2 rows, column x has 3"):
        made.run({"x": np.zeros(3), "y": np.zeros(2)})


@pytest.mark.parametrize("engine", HERE)
def test_constants_are_put_in_and_may_be_derived_by(engine: str) -> None:
    made = kernel(
        Program("param w = 3; (w*x - b)^n"), ["x"], {"b": "1/2", "n": "2", "w": "2"}, ["x", "w", "b"], engine=engine
    )
    answers = made.run({"x": np.array([1.0, 2.0])})
    np.testing.assert_allclose(answers.value, [2.25, 12.25])
    np.testing.assert_allclose(answers.slopes["x"], [6.0, 14.0])
    np.testing.assert_allclose(answers.slopes["w"], [3.0, 14.0])
    np.testing.assert_allclose(answers.slopes["b"], [-3.0, -7.0])
    assert "pow" not in {made.line.graph.op(node) for node in made.line.order}  # type: ignore[attr-defined]


@pytest.mark.parametrize("engine", HERE)
def test_answers_that_are_columns_numbers_or_each_other(engine: str) -> None:
    answers = run("x", engine, "x y", x=[3.0, -0.0], y=[1.0, 1.0])
    assert list(answers.value) == [3.0, 0.0]
    assert not np.signbit(answers.value).any()
    assert [list(answers.slopes[name]) for name in "xy"] == [[1.0, 1.0], [0.0, 0.0]]


# -- engines ---------------------------------------------------------------------------------------------------------


def test_the_engine_is_chosen_by_the_number_of_rows() -> None:
    def chosen(rows: int | None, text: str = "x^2") -> str:
        return kernel(Program(text), ["x"], {}, ["x"], rows=rows).name

    best = "numpy" if c.compiler() is None else "c"
    assert [chosen(10), chosen(MANY), chosen(None)] == ["numpy", best, best]
    assert chosen(MANY, "digamma(x)") == "numpy"  # no library of C has it
    assert chosen(10, "sum([x, 2*x])") == "plain"
    assert {"auto", "plain", "numpy", "c", "numba"} == set(ENGINES)


def test_an_engine_that_cannot_be_had_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BACKPROP_CACHE_DIR", str(tmp_path))
    with pytest.raises(NoWord, match="engine c has no digamma"):
        run("digamma(x)", "c", x=[1.0])
    with pytest.raises(OptionValue, match="fortran"):
        run("x^2", "fortran", x=[1.0])
    with pytest.raises(NotElementwise):
        run("sum([x, 2])", "numpy", x=[1.0])
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(NoEngine, match="CC is no-such-compiler, which is not there"):
        run("x^2", "c", x=[1.0])
    assert kernel(Program("x^2"), ["x"], {}, ["x"], rows=MANY).name == "numpy"
    broken = tmp_path / "cc"
    broken.write_text("#!/bin/sh\necho 'error: it is broken' >&2\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    monkeypatch.setenv("CC", str(broken))
    made = kernel(Program("x^2"), ["x"], {}, ["x"], rows=MANY)
    assert (made.name, made.remark) == ("numpy", f"engine c cannot be had: {broken} failed: error: it is broken")
    monkeypatch.setitem(__import__("sys").modules, "numba", None)
    with pytest.raises(ExtraMissing, match="--engine numba needs an extra"):
        run("x^2", "numba", x=[1.0])


@pytest.mark.skipif(c.compiler() is None, reason="there is no C compiler here")
def test_what_is_compiled_is_kept_and_a_damaged_file_is_made_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("BACKPROP_CACHE_DIR", str(tmp_path))
    made = line(Program("x^3"), ["x"], {}, ["x"], c.WORDS)
    library = c.compiled(made)
    (kept,) = tmp_path.iterdir()
    monkeypatch.setattr(c, "_compile", lambda *_: pytest.fail("it was there"))
    assert c.compiled(made) == library
    monkeypatch.undo()
    monkeypatch.setenv("BACKPROP_CACHE_DIR", str(tmp_path))
    kept.write_bytes(kept.read_bytes()[:-100])
    assert run("x^3", "c", x=[2.0]).slopes["x"][0] == 12.0
    assert len(kept.read_bytes()) > 100


def test_the_loop_in_c_falls_back_where_there_are_no_vectors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if c.compiler() is None:
        pytest.skip("there is no C compiler here")
    monkeypatch.setenv("BACKPROP_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(c, "WAYS", ((("-no-such-flag",), ("-lm",), c.VECTORS), c.WAYS[-1]))
    assert run("exp(x)*sin(x)", "c", x=[1.0]).value[0] == pytest.approx(math.exp(1) * math.sin(1), rel=1e-15)


def typed(program: str) -> NDArray[np.float64]:
    """The values of a program at 1, by NumPy."""
    return run(program, "numpy", x=[1.0]).value


def test_a_mistake_in_a_program_is_a_mistake_here_too() -> None:
    for text in ("x +", "nosuch(x)", "sin(x, x)"):
        with pytest.raises(Mistake):
            typed(text)
