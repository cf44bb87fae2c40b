"""What users of arrays ran into: tuples as Python has them, sums of many numbers, elements without a value, stacks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

import numpy as np
import pytest

import backprop
from backprop import expect
from backprop.beside.differences import behind_output, leads_to_output
from backprop.mistakes import Mistake, ShapesDiffer, Undefined
from backprop.point import Number, at
from backprop.render.blocks import block

ROWS: dict[str, Number] = {"A": [[1, 2], [3, 4]]}


def repair(program: str, inputs: Mapping[str, Number]) -> str:
    """How a mistake in a program is to be mended."""
    with pytest.raises(Mistake) as caught:
        backprop.grad(program, inputs)
    return caught.value.repair


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("sum(A, axis=(0,1))", "Take one axis after the other: sum(sum(x, axis=1), axis=0)"),
        ("sum(reshape(A, (4,1)))", "Sizes stand without brackets: reshape(x, 4, 1)"),
        ("sum(reshape(A, (-1, 2,)))", "Sizes stand without brackets: reshape(x, -1, 2)"),
        ("dot((1,2), A[0])", "A vector is written [1, 2]"),
        ("dot(A[0], (1,2))", "A vector is written [1, 2]"),
        ("x = (2,5,7) + 1", "A vector is written [2, 5, 7]"),
        ("x = (2,5) + 1", "Write 2.5, or [2, 5] for a vector"),
        ("x = 2,5 + 1", "Write 2.5"),
    ],
)
def test_numbers_in_round_brackets_are_no_decimal_comma_where_a_tuple_is_meant(program: str, told: str) -> None:
    assert repair(program, ROWS) == told


@pytest.mark.parametrize(
    "program",
    ["sum(sum(A, axis=1), axis=0)", "sum(reshape(A, 4, 1))", "sum(reshape(A, -1, 2))", "dot([1, 2], A[0]) + A[1, 0]"],
)
def test_the_repairs_run(program: str) -> None:
    assert backprop.grad(program, ROWS)[0] in (10, 8)


def test_sizes_in_a_vector_are_told_without_brackets() -> None:
    assert repair("sum(reshape(A, [4, 1]))", ROWS) == "Write the numbers themselves, without brackets: reshape(x, 4, 1)"
    assert repair("sum(A, axis=[0, 1])", ROWS) == "Take one after the other: sum(sum(x, axis=1), axis=0)"


def test_a_size_that_is_no_number_gets_an_example_that_can_be_a_size() -> None:
    assert repair("sum(eye(n))", {"n": 3}).startswith("Write it out, like 3:")
    assert repair("sum(A, axis=n)", {"n": 0, **ROWS}).startswith("Write it out, like 0 or -1:")


def test_a_vector_has_one_axis() -> None:
    with pytest.raises(ShapesDiffer) as caught:
        backprop.grad("sum(x, axis=2)", {"x": [1, 2]})
    assert caught.value.repair == "It has one axis, 0 (or -1 from the end)."


def test_what_the_output_is_worked_out_from_is_found_in_one_walk() -> None:
    graph = at("u = a*b; v = c + 1; w = u^2; w*d", {"a": 1, "b": 2, "c": 3, "d": 4}).graph
    assert behind_output(graph) == {node for node in range(len(graph)) if leads_to_output(graph, node)}


def test_one_zero_among_twenty_thousand_logarithms_is_told_at_once() -> None:
    with pytest.raises(Undefined) as caught:
        backprop.grad("sum(log(a))", {"a": np.arange(20_000.0)})
    assert caught.value.cause.startswith("v1[0] = log(a[0]) has no real value at a[0] = 0: it needs a[0] > 0")


@pytest.mark.parametrize("program", ["sum(relu(a - 5))", "sum(0.1*a)", "0.1*a @ a", "norm(a)"])
def test_sums_of_many_numbers_agree_in_any_order(program: str) -> None:
    trace = backprop.trace(program, {"a": np.arange(40_000.0)})
    assert {one.verdict for one in trace.witnesses if one.by == "forward mode"} == {"agrees"}


@pytest.mark.parametrize(
    "program", ["sum(x)*pi", "inv(pi*A)[0, 0]", "solve(A, [pi, 1])[0]", "max(A*pi)", "cross_entropy(x, pi)"]
)
def test_an_array_program_in_fractions_says_where_pi_stands(program: str) -> None:
    with pytest.raises(Mistake) as caught:
        backprop.grad(program, {"x": [1, 2], **ROWS}, kind="exact")
    assert caught.value.cause == "pi is no fraction"
    assert caught.value.span is not None
    start, end = caught.value.span
    assert program[start:end] in ("pi", "[pi, 1]")


def test_a_step_without_a_value_names_the_operation_it_belongs_to() -> None:
    with pytest.raises(Undefined) as caught:
        backprop.grad("logdet(A)", {"A": [[1, 2], [2, 4]]})
    assert "(a step of logdet(A))" in caught.value.cause


def test_a_pole_of_gamma_functions_of_several_inputs_is_told_without_half_a_minute_of_limits() -> None:
    with pytest.raises(Undefined) as caught:
        backprop.grad("lgamma(x - y)", {"x": -2, "y": 1})
    assert "gamma functions of 2 inputs take too long" in caught.value.cause


def test_the_cost_of_an_array_without_a_value_names_the_element() -> None:
    with pytest.raises(Undefined) as caught:
        backprop.cost("sum(lgamma(min(0.1, A)))", {"A": [[0, -0.3], [1, 2]]}, time=False)
    assert "v2[0,0] = lgamma(v1[0,0])" in caught.value.cause


def test_paths_of_an_array_are_those_of_all_its_elements() -> None:
    paths = list(backprop.paths("sum(x^3)", {"x": [1, 2]}, source="x"))
    assert [(one.routes.source_id, one.term) for one in paths] == [("x[0]", 3.0), ("x[1]", 12.0)]


def test_expectations_count_the_paths_of_elements_and_of_arrays() -> None:
    text = """input X = [[1, 2], [3, 4]]
param w = [0.5, -1]
y = X @ w
L = sum(y^2)
# expect paths from X[0, 0] = 1
# expect paths from w[1] = 2
# expect paths from w = 4
# expect paths from w[1] to y[0] = 1
"""
    assert expect.run("here.bp", text).fine
    wrong = expect.run("here.bp", text + "# expect paths from w = 5\n# expect paths from w[7] = 1\n")
    assert [(one.line, one.found) for one in wrong.differences] == [
        (9, "paths from w = 4"),
        (10, "there is no w[7]: w has the shape (2,)"),
    ]


def test_a_stack_of_matrices_is_drawn_by_itself_and_never_inside_a_formula() -> None:
    assert block("[[[1], [2]], [[3], [4]]]") == ["[0, :, :]", "⎡1⎤", "⎣2⎦", "[1, :, :]", "⎡3⎤", "⎣4⎦"]
    assert block("[[[1], [2]], [[3], [4]]]^2") == ["[[[1], [2]], [[3], [4]]]^2"]
    assert block("[[1], [2]]^2") == ["⎡1⎤^2", "⎣2⎦"]


def test_no_pipe_stays_open_behind_a_trace() -> None:
    code = "import backprop, gc; backprop.trace('sum(x^2)', {'x': [3, 2]}); gc.collect()"
    done = subprocess.run([sys.executable, "-W", "error::ResourceWarning", "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("count", [2, 6, 12, 20, 24, 30])
def test_many_relus_at_zero_pass_nothing_however_many_corners_their_box_of_subgradients_has(count: int) -> None:
    assert not backprop.grad("sum(relu(x))", {"x": [0] * count})[1]["x"].any()
    assert not backprop.grad("sum(abs(x))", {"x": [0] * count})[1]["x"].any()


def test_many_scalar_relus_at_zero_pass_nothing() -> None:
    names = [f"x{place}" for place in range(10)]
    slopes = backprop.grad(" + ".join(f"relu({name})" for name in names), dict.fromkeys(names, 0))[1]
    assert set(slopes.values()) == {0.0}


def test_what_is_a_subgradient_of_many_relus_is_not_called_apart() -> None:
    from backprop.conventions.opinions import opinions

    names = [f"x{place}" for place in range(8)]
    found = opinions(" + ".join(f"relu({name})" for name in names), dict.fromkeys(names, 0))
    assert {one.by for one in found.opinions} >= {"torch", "left", "right"}
    assert not any(one.apart for one in found.opinions)
