"""The evaluator of the page: in JavaScript it gives the numbers of the engine, at whatever point a reader chooses."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import backprop
from backprop.mistakes import Mistake
from backprop.page.evaluator import MOST_NODES, evaluator
from backprop.point import Program, has_arrays
from backprop.record import Trace
from evaluated import differences, evaluated, held, inputs_of
from programs import daring, programs
from test_emit import cases

SAMPLES = sorted((Path(__file__).parent.parent / "samples").glob("*.bp"))
NUMBERS = (0.0, 1.0, -1.0, 0.5, 2.0, -0.3, 3.0, 1.7)

peers = pytest.mark.peers


@peers
def test_every_operation_gives_values_partials_and_adjoints_of_the_engine() -> None:
    assert held([(text, at) for _, text, at in cases()], within=0) == []


@peers
def test_every_sample_of_single_numbers_does_at_its_own_point_and_at_others() -> None:
    done, chance = [], random.Random(7)
    for path in SAMPLES:
        program = Program(path.read_text(encoding="utf-8"))
        graph = program.read()[1]
        if has_arrays(graph, graph.defaults) or len(graph) > MOST_NODES:
            continue
        own = {name: float(one) for name, one in backprop.trace(program, {}, check=False).inputs.items()}  # type: ignore[arg-type]
        others = [{name: one * chance.uniform(0.5, 1.5) for name, one in own.items()} for _ in range(3)]
        done.append((program.text, [own, *others]))
    assert len(done) >= 9
    assert held(done) == []


@peers
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(programs(), min_size=30, max_size=30), st.randoms(use_true_random=False))
def test_random_programs_do_at_random_points(texts: list[str], chance: random.Random) -> None:
    assert held([(text, points_of(text, chance, lambda: chance.uniform(-2, 2))) for text in texts]) == []


@peers
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(daring(), min_size=40, max_size=40), st.randoms(use_true_random=False))
def test_programs_do_at_kinks_outside_domains_and_with_branches_not_taken(
    texts: list[str], chance: random.Random
) -> None:
    some = []
    for text in texts:
        try:
            Program(text).read()
        except Mistake:  # a bound of clip that is none
            continue
        some.append((text, points_of(text, chance, lambda: chance.choice(NUMBERS))))
    assert held(some) == []


def points_of(text: str, chance: random.Random, number: object) -> list[dict[str, float]]:
    """Four points of a program."""
    names = Program(text).read()[1].inputs
    return [{name: number() for name in names} for _ in range(4)]  # type: ignore[operator]


def worked_out(program: str, given: dict[str, float], *inputs: float, **options: object) -> tuple[object, ...]:
    """Values, partials, contributions and adjoints by JavaScript, under the evaluator of a trace at a point."""
    found = evaluator(backprop.trace(program, given, check=False, **options))  # type: ignore[arg-type]
    return evaluated([(found, [inputs])])[0][0]


@peers
def test_the_lesson_comes_out_at_another_point() -> None:
    """(a + b)*(b + 1) at a = 5, b = 7 is 96, with the slopes 8 and 8 + 12."""
    values, partials, _, adjoints = worked_out("(a + b)*(b + 1)", {"a": 2, "b": 1}, 5, 7)
    assert values == [5, 7, 12, 1, 8, 96]
    assert partials == [1, 1, 1, None, 8, 12]
    assert adjoints[:2] == [8, 20]


@peers
def test_both_edges_of_a_square_have_their_partials() -> None:
    values, partials, contributions, adjoints = worked_out("x*x", {"x": 1}, 3)
    assert (values, partials, contributions, adjoints) == ([3, 9], [3, 3], [3, 3], [6, 1])


@peers
def test_named_constants_are_numbers_that_can_be_chosen() -> None:
    program = "a = 2; b = 1; e = (a + b)*(b + 1)"
    found = evaluator(backprop.trace(program, {}, check=False))
    other = backprop.trace(program.replace("2", "5").replace("b = 1", "b = 7"), {}, check=False)
    assert [other.nodes[node].id for node in found.leaves] == ["a", "b"]
    assert differences(evaluated([(found, [[5, 7]])])[0][0], other) == []


@peers
def test_functions_of_the_reader_and_names_bound_again_are_put_in() -> None:
    program = "g(t) = t^2 + 3*t; x = 2*x; y = g(x) - g(g(y)); x = x + y; x*y"
    assert held([(program, [{"x": 1.0, "y": 0.5}, {"x": -2.0, "y": 0.25}, {"x": 0.0, "y": 0.0}])]) == []


@peers
def test_at_a_kink_the_slope_is_the_smallest_one_and_what_has_no_value_is_no_number() -> None:
    for program, at, value, slope in (
        ("abs(x)", 0, 0, 0),
        ("max(x, 2*x)", 0, 0, 1.5),
        ("leaky_relu(x, -0.5)", 0, 0, 0),
        ("log(x)", -1, "NaN", None),
        ("where(log(x) > 0, 1, x)", -1, "NaN", None),
        ("tanh(1/x)", 0, "NaN", None),
        ("sqrt(x)", 0, 0, "NaN"),
        ("where(x > 0, log(x), 3*x)", -1, -3, 3),
        ("exp(x)", 1000, "Infinity", "Infinity"),
    ):
        values, _, _, adjoints = worked_out(program, {"x": 1}, at)
        assert (values[-1], adjoints[0]) == (value, slope), program  # type: ignore[index]


@peers
def test_a_saved_trace_with_an_unused_input_and_few_slopes_has_the_same_evaluator() -> None:
    trace = backprop.trace("w*x + b", {"w": 1, "x": 2, "b": 3, "more": 4}, wrt=["w"])
    found = evaluator(Trace.from_json(trace.to_json()))
    assert found == evaluator(trace)
    assert differences(evaluated([(found, [inputs_of(found, trace)])])[0][0], trace) == []


def test_no_word_of_the_program_is_in_its_evaluator() -> None:
    program = "alert_1 = x₁*𝜋_𝜋  # </script><script>alert(1)</script>\nalert_1 + 1"
    source = evaluator(backprop.trace(program, {"x₁": 1, "𝜋_𝜋": 2}, check=False)).source
    assert "alert" not in source
    assert "<" not in source.replace(" < ", "")
    assert source.isascii()


@pytest.mark.parametrize(
    ("program", "given", "options", "told"),
    [
        ("sum(x)", {"x": "[1, 2]"}, {}, "arrays"),
        ("dot([x, 2], [3, x])", {"x": 1}, {}, "arrays"),
        ("dot(x, x)", {"x": "[1, 2]"}, {"opened": []}, "arrays"),
        ("x/3", {"x": 1}, {"kind": "exact"}, "kind exact"),
        ("x*y", {}, {"symbolic": True}, "kind symbol"),
        ("abs(x)", {"x": 0}, {"convention": "torch"}, "convention"),
        ("1/x", {"x": 0}, {"undefined": "propagate"}, "convention"),
        (" + ".join(["x"] * (MOST_NODES + 1)), {"x": 1}, {}, "up to 2000 nodes"),
    ],
)
def test_a_trace_without_an_evaluator_says_why(
    program: str, given: dict[str, float], options: dict[str, object], told: str
) -> None:
    found = evaluator(backprop.trace(program, given, check=False, **options))  # type: ignore[arg-type]
    assert found.source == ""
    assert told in found.reason


def test_a_trace_whose_program_was_changed_has_none() -> None:
    trace = backprop.trace("x*y", {"x": 1, "y": 2}, check=False)
    for changed in ("x*y + 1", "x*q", "x*", "y*x*2"):
        trace.program = changed
        assert "another graph" in evaluator(trace).reason
