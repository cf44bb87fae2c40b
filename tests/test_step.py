"""Gradient descent: the learning step of the lesson, runs that converge and runs that lose the loss."""

from __future__ import annotations

import json
import math

import pytest

import command
from backprop import mistakes
from backprop.step import descend

NEURON = """
input x1 = 2
input x2 = -1
input y = 1
param w1 = 0.5
param w2 = -0.3
param b = 0.1
z = x1*w1 + x2*w2 + b
h = tanh(z)
L = (h - y)^2
"""


def call(*words: str, stdin: str = "") -> tuple[int, str, str]:
    return command.call("step", *words, stdin=stdin)


def test_the_learning_step_of_the_lesson_comes_out_digit_for_digit() -> None:
    (step,) = descend(NEURON, {}, rate=0.5)
    assert {name: f"{value:.6f}" for name, value in step.after.items()} == {
        "w1": "0.549563",
        "w2": "-0.324782",
        "b": "0.124782",
    }
    assert {name: f"{value:.6f}" for name, value in step.slopes.items()} == {
        "w1": "-0.099126",
        "w2": "0.049563",
        "b": "-0.049563",
    }
    assert f"{step.loss:.6f}" == "0.013144"
    assert f"{step.loss_after:.6f}" == "0.007470"
    code, out, err = call("-", "--rate", "0.5", "--figures", "7", "--format", "json", stdin=NEURON)
    assert (code, err) == (0, "")
    nodes = {node["id"]: node.get("value") for node in json.loads(out)["trace"]["nodes"]}
    assert [f"{nodes[name]:.6f}" for name in "zhL"] == ["1.548689", "0.913569", "0.007470"]


def test_one_step_shows_the_trace_before_the_update_and_the_trace_after() -> None:
    code, out, err = call("-", "--rate", "0.5", "--figures", "7", stdin=NEURON)
    assert (code, err) == (0, "")
    assert "w1 = 0.5 - 0.5 · (-0.09912609) = 0.549563" in out
    assert "Worked out again" in out
    before, after = out.split("Worked out again")
    assert "tanh(1.4)" in before
    assert "tanh(1.548689)" in after


def test_many_steps_are_a_table_of_losses_and_complete_in_a_pipe() -> None:
    # w^2 with rate 1/4 halves w: 8, 4, 2, 1; the loss is its square
    code, out, _ = call("param w = 8; w^2", "--rate", "1/4", "--steps", "3")
    assert code == 0
    rows = [line.split() for line in out.splitlines()[2:6]]
    assert rows == [["0", "64", "8"], ["1", "16", "4"], ["2", "4", "2"], ["3", "1", "1"]]
    assert len(call("param w = 8; w^2", "--steps", "500")[1].splitlines()) > 500


def test_each_step_is_a_line_of_json() -> None:
    code, out, _ = call("param w = 8; w^2", "--rate", "0.25", "--steps", "3", "--format", "ndjson")
    records = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [record["loss_after"] for record in records] == [16.0, 4.0, 1.0]
    assert records[0] == {
        "step": 1,
        "rate": 0.25,
        "loss": 64.0,
        "loss_after": 16.0,
        "before": {"w": 8.0},
        "gradient": {"w": 16.0},
        "after": {"w": 4.0},
    }


def test_update_names_what_is_trained_instead_of_the_params() -> None:
    (step,) = descend("param w = 1; (w*x - 3)^2", {"x": 1}, rate=0.5, update=["x"])
    assert step.after == {"x": 3.0}  # slope 2(wx - 3)w = -4
    (step,) = descend("x₁^2", {"x1": 1}, rate=0.5, update=["x1"])
    assert step.after == {"x₁": 0.0}


def test_values_on_the_line_win_over_the_defaults_of_the_params() -> None:
    assert [step.after["w"] for step in descend("param w = 8; w^2", {"w": "1"}, rate=0.25)] == [0.5]


def test_a_program_without_params_is_told_to_declare_them() -> None:
    code, out, err = call("w*x", "w=1", "x=2")
    assert (code, out) == (2, "")
    assert "param" in err
    assert "--update" in err


@pytest.mark.parametrize("update", ["z", "nothing", "w,,b"])
def test_only_inputs_can_be_trained(update: str) -> None:
    code, out, _ = call("param w = 1; z = w^2; z + 1", "--update", update)
    assert (code, out) == (2, "")


def test_a_loss_that_is_lost_ends_the_descent_with_a_note() -> None:
    # slope of -log(w) at 1/2 is -2; of log it is 2, and 0.5 - 2 < 0 has no logarithm
    code, out, err = call("param w = 0.5; log(w)", "--rate", "1", "--steps", "5", "--format", "ndjson")
    (record,) = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (3, "")
    assert "loss_after" not in record
    assert "log" in record["trouble"]
    for steps in ("1", "5"):
        code, out, _ = call("param w = 0.5; log(w)", "--rate", "1", "--steps", steps)
        assert code == 3
        assert "The descent ends" in out


def test_a_loss_that_outgrows_double_precision_ends_the_descent() -> None:
    steps = list(descend("param w = 3; w^4", {}, rate=1, steps=50))
    assert len(steps) < 10
    assert steps[-1].trouble is not None
    assert steps[-1].loss_after is None
    json.dumps(steps[-1].to_dict(), allow_nan=False)


def test_a_point_without_a_slope_is_undefined_from_the_start() -> None:
    with pytest.raises(mistakes.Undefined):
        next(descend("param w = 0; sqrt(w)", {}, rate=1))
    assert call("param w = 0; sqrt(w)")[0] == 3


@pytest.mark.parametrize("words", [("--rate", "fast"), ("--rate", "inf"), ("--steps", "0"), ("--steps", "1.5")])
def test_a_rate_is_a_number_and_steps_are_counted(words: tuple[str, ...]) -> None:
    assert call("param w = 1; w^2", *words)[0] == 2


def test_descent_finds_the_minimum_of_a_parabola() -> None:
    *_, last = descend("param a = 5; param c = -7; (a - 1)^2 + 2*(c + 2)^2", {}, rate=0.2, steps=100)
    assert math.isclose(last.after["a"], 1, abs_tol=1e-9)
    assert math.isclose(last.after["c"], -2, abs_tol=1e-9)


def test_on_a_terminal_the_table_is_thinned_and_says_so() -> None:
    import sys

    import pexpect

    child = pexpect.spawn(
        sys.executable,
        ["-m", "backprop", "step", "param w = 1; w^2", "--rate", "0.001", "--steps", "400"],
        encoding="utf-8",
        dimensions=(50, 100),
        timeout=60,
    )
    shown = child.read()
    child.close()
    assert child.exitstatus == 0
    assert "of 400 steps are shown" in shown
    assert len(shown.splitlines()) < 100


LINE = """input X = [[1, 1], [1, 2], [1, 3]]
input y = [1, 2, 2]
param w = [0, 0.5]
L = mse(X @ w, y)
"""


def test_a_vector_is_moved_against_its_slopes() -> None:
    (step,) = descend(LINE, {}, rate=0.1)
    assert step.before == {"w": [0.0, 0.5]}
    assert step.slopes["w"] == pytest.approx([-4 / 3, -8 / 3], rel=1e-15)  # 2/3·Xᵀ r with r = (-1/2, -1, -1/2)
    assert step.after["w"] == pytest.approx([2 / 15, 23 / 30], rel=1e-15)
    assert (step.loss, step.loss_after) == (0.5, pytest.approx(((-0.1) ** 2 + (-1 / 3) ** 2 + (13 / 30) ** 2) / 3))


def test_a_line_is_found_by_descent() -> None:
    """The least squares of (1, 1), (2, 2), (3, 2): height 2/3, slope 1/2, and 1/18 is left."""
    *_, last = descend(LINE, {}, rate=0.15, steps=400)
    assert last.after["w"] == pytest.approx([2 / 3, 1 / 2], rel=1e-6)
    assert last.loss_after == pytest.approx(1 / 18)


def test_of_several_arrays_those_named_are_moved() -> None:
    (step,) = descend(LINE, {"w": [1, 0]}, rate=0.5, update=["y"])
    assert step.after == {"y": [1.0, pytest.approx(5 / 3), pytest.approx(5 / 3)]}  # 2 - 0.5·2/3·(2 - 1)


def test_an_array_that_leaves_the_numbers_ends_the_descent() -> None:
    program = "param w = [1e200, 1]; L = sum(w^2/2)*1e-100"
    (step,) = descend(program, {}, rate=1e300)
    assert step.trouble == "w is beyond the largest number of double precision"
    assert step.loss_after is None
    assert step.to_dict()["after"] == {}


def test_an_array_whose_loss_is_lost_says_which_element_is_to_blame() -> None:
    *_, last = descend("param w = [0.1, 2]; L = sum(log(w))", {}, rate=1, steps=5)
    assert last.loss_after is None
    assert "at w[0] = -9.9: it needs w[0] > 0" in (last.trouble or "")


def test_a_step_of_a_layer_is_told_in_json() -> None:
    code, out, err = call("-", "--rate", "0.1", "--format", "ndjson", stdin=LINE)
    assert (code, err) == (0, "")
    record = json.loads(out.splitlines()[0])
    assert record["before"] == {"w": [0.0, 0.5]}
    assert record["after"]["w"] == pytest.approx([2 / 15, 23 / 30])
