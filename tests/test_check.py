"""`check`: all witnesses, and how difference quotients of doubles close in on the derivative."""

from __future__ import annotations

import dataclasses
import json

import pytest

from backprop import ops, rules
from backprop.checks import check, steps
from backprop.render.check import render
from backprop.render.look import Look


def test_the_central_error_falls_like_h_squared_and_the_one_sided_one_like_h() -> None:
    # f = x^3 at 1: central (f(1 + h) - f(1 - h))/2h = 3 + h^2, one-sided = 3 + 3h + h^2
    rows = check("x^3", {"x": 1}).convergence["x"]
    assert [row.step for row in rows[:3]] == [0.1, 0.01, 0.001]
    assert [row.central.error for row in rows[:3] if row.central] == pytest.approx([1e-2, 1e-4, 1e-6], rel=1e-6)
    assert [row.one_sided.error for row in rows[:3] if row.one_sided] == pytest.approx(
        [0.31, 0.0301, 0.003001], rel=1e-6
    )
    assert rows[1].central is not None
    assert rows[1].one_sided is not None
    assert rows[1].central.ratio == pytest.approx(100, rel=1e-3)
    assert rows[1].one_sided.ratio == pytest.approx(10.3, rel=1e-2)
    best = [(row.best_central, row.best_one_sided) for row in rows]
    assert sum(central for central, _ in best) == sum(one_sided for _, one_sided in best) == 1
    # rounding takes over near h = 1e-5 for the first and near 1e-8 for the second
    assert 3 <= [central for central, _ in best].index(True) + 1 <= 7
    assert 6 <= [one_sided for _, one_sided in best].index(True) + 1 <= 9


def test_steps_go_with_the_size_of_the_input() -> None:
    assert steps(0.0) == steps(1.0) == steps(-9.9) == steps(0.1)
    assert steps(300.0)[0] == 10.0
    assert max(steps(1e-7)) <= 1e-7


def test_the_neuron_of_the_lesson_checks_with_a_step_of_a_millionth() -> None:
    neuron = "z = x1*w1 + x2*w2 + b; h = tanh(z); L = (h - y)^2"
    report = check(neuron, {"x1": 2, "x2": -1, "w1": 0.5, "w2": -0.3, "b": 0.1, "y": 1}, wrt=["w1"])
    row = next(row for row in report.convergence["w1"] if row.step == 1e-6)
    assert row.central is not None
    assert round(row.central.value, 6) == -0.099126
    assert report.exit_code == 0


def test_beyond_the_domain_only_one_side_is_shown() -> None:
    rows = check("sqrt(x)*x", {"x": 0}).convergence["x"]
    assert all(row.central is None and row.one_sided is not None for row in rows)


def test_at_a_kink_no_error_is_claimed() -> None:
    report = check("abs(x)", {"x": 0})
    assert report.exit_code == 0
    assert all(row.one_sided and row.one_sided.error is None for row in report.convergence["x"])


def test_a_wrong_rule_gives_exit_code_1_and_is_named() -> None:
    row = ops.by_name("sin")
    ops.rows()[row.code] = dataclasses.replace(row, partials=("-cos(x)",), stable=None)
    rules.rules.cache_clear()
    try:
        report = check("sin(x)*y", {"x": 0.3, "y": 2})
    finally:
        ops.rows()[row.code] = row
        rules.rules.cache_clear()
    assert report.exit_code == 1
    text = "\n".join(render(report, Look()))
    assert "sin at node v1, operand 1" in text
    assert text.splitlines()[-1].endswith("DISAGREE")


def test_where_nothing_is_defined_it_says_so() -> None:
    report = check("log(x)", {"x": -1})
    assert report.exit_code == 3
    assert report.value is None
    text = "\n".join(render(report, Look()))
    assert "∂f/∂x = undefined" in text
    assert text.endswith("undefined at this point: see the notes")


def test_constants_alone_have_no_derivative_to_check() -> None:
    assert list(render(check("2 + 3", {}), Look()))[-1] == "there is no input, so there is no derivative to check"


def test_the_text_is_ascii_where_only_that_can_be_shown() -> None:
    text = "\n".join(render(check("x^2", {"x": 3}), Look(ascii=True)))
    assert text.isascii()
    assert "df/dx = 6" in text


def test_the_json_is_one_record_with_no_nan_in_it() -> None:
    report = check("exp(x)", {"x": 1000})
    record = json.loads(report.to_json(), parse_constant=pytest.fail)
    assert record["format"] == "backprop-check"
    assert record["value"] == "Infinity"
    assert record["witnesses"][0]["of"] == "x"
    assert report.to_json() == check("exp(x)", {"x": 1000}).to_json()


def test_on_a_narrow_screen_ratios_make_room_and_remarks_stand_below() -> None:
    lines = list(render(check("tanh(x*w) + abs(y)", {"x": 1.4, "w": 2, "y": 0}), Look(width=60)))
    assert max(map(len, lines)) <= 60
    assert any(line.split() == ["h", "central", "error", "one-sided", "error"] for line in lines)
    assert any(line.startswith("∂f/∂y, difference: kink at") for line in lines)
    assert not any("remark" in line for line in lines)


def test_a_check_begins_with_what_is_worked_out_and_the_point() -> None:
    lines = list(render(check("input x = 2; y = x^2; y", {}), Look()))
    assert lines[:2] == ["y = x^2; y", "at  x = 2"]
