"""`check`: all witnesses, and how difference quotients of doubles close in on the derivative."""

from __future__ import annotations

import dataclasses
import json
import math
import re

import pytest

from backprop import ops, rules
from backprop.checks import CheckReport, check, conclusion
from backprop.record import Witness
from backprop.render.check import render
from backprop.render.look import Look
from backprop.schema import check_schema
from backprop.stencils import steps
from conftest import Golden


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


def test_at_a_kink_each_side_closes_in_on_its_own_slope() -> None:
    report = check("abs(x) + x^2", {"x": 0})
    assert report.exit_code == 0
    for row in report.convergence["x"]:
        # from the left -(h + h²)/h, from the right (h + h²)/h
        assert (row.central, row.one_sided) == (None, None)
        assert row.left is not None
        assert row.right is not None
        assert (row.left.value, row.right.value) == pytest.approx((-1 - row.step, 1 + row.step))
        assert row.left.error == pytest.approx(row.step, rel=1e-3)
    approaches = report.approaches["x"]
    assert [one.sort for one in approaches] == ["from the left", "from the right"]
    assert [one.order for one in approaches] == pytest.approx([1, 1], abs=0.01)
    assert ": it lies between the slopes of a kink; SymPy " in report.conclusions[0].text


# -- kinks, jumps and ends inside the stencil -----------------------------------------------------------------------


def crossed(program: str, **inputs: float) -> list[float]:
    """The steps at which the central quotient of the first input is across another branch."""
    [rows] = check(program, inputs, wrt=[next(iter(inputs))]).convergence.values()
    return [row.step for row in rows if row.crosses]


@pytest.mark.parametrize(
    ("program", "inputs", "steps_across"),
    [
        ("relu(x - 1)", {"x": 1.002}, [0.1, 0.01]),
        ("abs(x - 1)*3", {"x": 0.98}, [0.1]),
        ("max(x, y)", {"x": 1.002, "y": 1}, [0.1, 0.01]),
        ("max(x, y, 0)", {"x": 1.002, "y": 1}, [0.1, 0.01]),
        ("min(x, 1)", {"x": 0.95}, [0.1]),
        ("clip(x, 0, 1)", {"x": 0.995}, [0.1, 0.01]),
        ("leaky_relu(x - 1)", {"x": 1.05}, [0.1]),
        ("where(x > 1, x^2, x)", {"x": 1.002}, [0.1, 0.01]),
        ("floor(x)", {"x": 1.95}, [0.1]),
        ("ceil(x)", {"x": 1.05}, [0.1]),
        ("round(x) + x", {"x": 1.495}, [0.1, 0.01]),
        ("sign(x - 1)*x", {"x": 1.05}, [0.1]),
        ("x % 2", {"x": 1.95}, [0.1]),
        ("x^2/(x - 1) - x - 1 - 1/(x - 1)", {"x": 1.05}, [0.1]),  # it is 0, and has a pole in its middle
        ("1/(x - 1)", {"x": 1.0002}, []),  # the first step is chosen so small that it is free of the pole
        ("tan(x*1000)", {"x": 1.57}, [0.001]),
        ("(x - 1)^(-2) + 1e12*x^3", {"x": 1.0005}, [0.001]),
        ("(x - y)^(-2) + 1e12*x^3", {"x": 1, "y": 1.0005}, [0.001]),
        ("atan2(x, y)", {"x": 1e-5, "y": -1}, [1e-3, 1e-4, 1e-5]),
        ("1e9*x + gamma(x)", {"x": -0.995}, [0.1, 0.01]),
        ("x^3", {"x": 0.05}, []),
        ("x^2", {"x": 0.0}, []),
        ("sin(x)*exp(x)", {"x": 0.01}, []),
    ],
)
def test_a_branch_inside_the_stencil_is_seen(program: str, inputs: dict[str, float], steps_across: list[float]) -> None:
    assert crossed(program, **inputs) == steps_across


def test_a_quotient_across_a_kink_counts_for_nothing_and_the_free_side_serves() -> None:
    # relu 1e-7 beside its corner: with h = 1e-3 the central quotient is 0.50005 and would pass for a slope
    report = check("relu(x - 1)", {"x": 1.0000001})
    rows = {row.step: row for row in report.convergence["x"]}
    across = rows[1e-3]
    assert across.central is not None
    assert across.central.value == pytest.approx(0.50005)
    assert (across.central.error, across.crosses, across.best_central) == (None, ("f",), False)
    assert across.one_sided is not None
    assert (across.one_sided.value, across.side, across.one_sided_crosses) == (pytest.approx(1.0), None, False)
    central, right = report.approaches["x"]
    assert "f takes another branch inside the stencil down to h = 1e-07" in central.text
    assert "the quotient from the right is free of it" in central.text
    assert right.sort == "from the right"
    assert right.digits is not None
    assert right.digits > 14
    assert report.exit_code == 0


def test_left_of_a_kink_the_quotient_from_the_left_serves() -> None:
    report = check("abs(x - 1)*x", {"x": 0.9999})
    assert {row.side for row in report.convergence["x"]} == {"left"}
    assert [one.sort for one in report.approaches["x"]] == ["central", "from the left"]
    assert "from the left" in "\n".join(render(report, Look()))


def test_an_end_of_the_domain_inside_the_stencil_is_no_value() -> None:
    rows = check("log(x)", {"x": 0.05}).convergence["x"]
    assert rows[0].step < 0.05
    rows = check("log(x - 1) + x*1e6", {"x": 1.0005}).convergence["x"]
    assert [row.central is None for row in rows] == [row.step > 0.0005 for row in rows]


# -- what rounding hides ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "x"),
    [
        ("x^2", 1e-200),  # every value is 0 in doubles
        ("1e20 + x - 1e20", 1.0),
        ("x*1e-320", 3.0),
        ("1e20 + x", 1.0),
    ],
)
def test_nothing_is_called_exact_or_rough_where_rounding_hides_it(program: str, x: float) -> None:
    for one in check(program, {"x": x}).approaches["x"]:
        assert one.text.startswith("nothing but rounding from the first step on: it hides how the quotient closes in")
        assert one.order is None


@pytest.mark.parametrize(("program", "x"), [("exp(x)", 1e-9), ("cos(x) + x", 1e-7), ("tanh(x - 1)", 1e-12)])
def test_beside_a_small_number_the_step_goes_with_the_function(program: str, x: float) -> None:
    central = check(program, {"x": x}).approaches["x"][0]
    assert central.step is not None
    assert central.digits is not None
    assert central.step > 1e-7 > x * 0.99
    assert central.digits > 9


# -- how fast the quotients close in --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "inputs", "central", "one_sided"),
    [
        ("x^3", {"x": 1.0}, 2, 1),
        ("exp(x)", {"x": 0.3}, 2, 1),
        ("sin(x)*y", {"x": 2.0, "y": 3.0}, 2, 1),
        ("tanh(x*y)", {"x": 0.4, "y": 2.0}, 2, 1),
        ("sin(x)", {"x": 0.0}, 2, 2),  # the second derivative is 0 there
        ("x^2", {"x": 3.0}, None, 1),  # the central quotient of a parabola is exact
        ("2*x + 1", {"x": 3.0}, None, None),
        ("x^5", {"x": 0.0}, 4, 4),  # h^4, as (h^5 - 0)/h
    ],
)
def test_the_order_is_seen(program: str, inputs: dict[str, float], central: int | None, one_sided: int | None) -> None:
    approaches = check(program, inputs, wrt=["x"]).approaches["x"]
    for order, usual, one in zip((central, one_sided), (2, 1), approaches, strict=True):
        assert one.order == (None if order is None else pytest.approx(order, abs=0.1))
        if order == usual:
            assert one.text.startswith(f"order {usual}.0 as it should be")
        elif order is not None:
            assert f"better than {usual}" in one.text
        else:
            assert one.text.startswith("nothing but rounding from the first step on")


def test_an_order_below_the_usual_one_is_told() -> None:
    # x·sqrt|x| has no second derivative at 0: f(h)/h = h^0.5
    approaches = check("x*sqrt(abs(x)) + x", {"x": 0}).approaches["x"]
    assert approaches
    for one in approaches:
        assert one.order == pytest.approx(0.5, abs=0.01)
        assert "order 0.5 instead of" in one.text


@pytest.mark.parametrize(
    ("program", "x", "least"),
    [
        ("exp(x)", 1.0, 10),
        ("sin(x)", 1e4, 7),
        ("sin(1e6*x)", 1.0, 7),
        ("x^3", 1e-5, 10),
        ("x^3", 1e8, 10),
        ("log(x)", 1e-9, 9),
        ("1/(x - 1)", 1.0001, 10),
        ("x^2 + 1e6*exp(x/1000)", 1.0, 7),  # the rounding of f is large beside its change
        ("tanh(x)", 5.0, 5),
    ],
)
def test_the_step_is_chosen_by_the_size_of_x_of_f_and_of_its_derivatives(program: str, x: float, least: float) -> None:
    report = check(program, {"x": x})
    central = report.approaches["x"][0]
    assert central.sort == "central"
    assert central.digits is not None
    assert central.digits >= least
    # no step of the table does much better
    errors = [row.central.error for row in report.convergence["x"] if row.central and row.central.error]
    slope = report.gradient["x"]
    assert isinstance(slope, float)
    assert central.value is not None
    assert abs(central.value - slope) <= 100 * min(errors) + 1e-14 * abs(slope)


def test_the_best_step_of_the_exponential_balances_both_errors() -> None:
    # at 1 all derivatives are e, and f is good to half an ulp, 1.1e-16 of it: h = (3 · 1.1e-16)^(1/3) = 6.9e-6
    central = check("exp(x)", {"x": 1}).approaches["x"][0]
    assert central.step is not None
    assert 3e-6 <= central.step <= 2e-5


# -- verdicts -------------------------------------------------------------------------------------------------------


def last_line(program: str, **inputs: float) -> str:
    return list(render(check(program, inputs), Look()))[-1]


def test_the_verdict_is_told_in_digits() -> None:
    report = check("tanh(x*w)", {"x": 1.4, "w": 2})
    for one in report.conclusions:
        assert one.verdict == "agrees"
        assert one.digits is not None
        assert one.digits > 13
        assert f"to {one.digits:.1f} digits" in one.text
    assert re.fullmatch(r"\d+ checks agree to 1\d\.\d digits", last_line("tanh(x*w)", x=1.4, w=2))


def test_nothing_passes_because_nothing_was_checked() -> None:
    report = check("x^2*y", {"x": math.inf, "y": 2})
    assert {one.of: one.verdict for one in report.conclusions} == {"x": "not checked", "y": "not checked"}
    assert "it is infinite, and nothing lies beside it" in report.conclusions[0].text
    assert report.exit_code == 1
    assert last_line("x^2*y", x=math.inf, y=2) == "not checked: ∂f/∂x, ∂f/∂y"


def test_witnesses_that_share_the_rules_are_no_check() -> None:
    here = CheckReport("x", "x", {"x": 1.0}, "f", 1.0, ["x"], {"x": 1.0})
    here.witnesses = [Witness("x", by, "agrees", 1.0, 15.9) for by in ("forward mode", "paths")]
    assert conclusion(here, "x").verdict == "not checked"
    here.witnesses.append(Witness("x", "difference", "agrees", 1.0, 15.2))
    assert (conclusion(here, "x").verdict, conclusion(here, "x").digits) == ("agrees", 15.2)
    here.witnesses.append(Witness("x", "sympy", "DISAGREES", 2.0, 0.0))
    assert conclusion(here, "x").verdict == "DISAGREES"


def test_an_answer_that_does_not_come_from_the_rules_is_not_checked_by_its_edges() -> None:
    report = check("relu(x) - relu(-x)", {"x": 0})  # x itself; both rules give 0 by convention
    [one] = report.conclusions
    assert one.verdict == "agrees"
    assert one.text.startswith("the quotients of doubles agree to 15")
    assert "SymPy edge by edge could not tell" in one.text.replace(" and ", " ")


def test_a_kink_that_the_rules_cannot_tell_is_shown_by_the_quotients() -> None:
    report = check("sqrt(x^2)", {"x": 0})
    assert report.conclusions[0].text.startswith("the quotients of doubles show a kink, and it lies between the slopes")


def test_a_jump_is_not_passed() -> None:
    report = check("floor(x)", {"x": 0})
    assert report.conclusions[0].verdict == "not checked"
    assert report.exit_code == 1
    assert "order -1.0 instead of 2: f takes another branch at the point itself" in report.approaches["x"][0].text


@pytest.mark.parametrize("name", ["sin", "exp", "tanh", "mul", "pow", "sigmoid"])
@pytest.mark.parametrize("fault", ["({})*1.001", "-({})", "({}) + 1e-9", "where(x > 1/2, 1.001*({}), x)"])
def test_a_planted_fault_in_a_rule_is_never_passed(name: str, fault: str) -> None:
    row = ops.by_name(name)
    right = row.evaluated_rules((True, False)[: len(row.parameters)])
    wrong = (fault.format(right[0]), *right[1:])
    call = {"mul": "x*y", "pow": "x^3"}.get(name, f"{name}(x)")
    ops.rows()[row.code] = dataclasses.replace(row, partials=wrong, stable=None)
    rules.rules.cache_clear()
    try:
        report = check(f"{call} + y", {"x": 0.7, "y": 2}, wrt=["x"])
    finally:
        ops.rows()[row.code] = row
        rules.rules.cache_clear()
    assert report.exit_code == 1
    assert report.conclusions[0].verdict == "DISAGREES"
    assert "difference" in {one.by for one in report.witnesses if one.verdict == "DISAGREES"}


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


@pytest.mark.parametrize(
    ("program", "inputs", "claims"),
    [
        ("x^3", {"x": 1}, []),
        ("relu(x - 1)", {"x": 1.002}, []),
        ("abs(x) + x^2", {"x": 0}, ["dx = 0", "dx = 7"]),
        ("log(x)", {"x": -1}, ["dx = -1", "dx = undefined"]),
        ("exp(x)", {"x": 1000}, []),
        ("x^2*y", {}, ["dx = 2*x*y", "dy = x"]),
        ("exp(1000*x)", {"x": 1}, ["f = 1.97e434", "dx = inf"]),
        ("2 + 3", {}, ["f = 5"]),
        ("x^2*y", {"x": math.inf, "y": 2}, []),
    ],
)
def test_every_check_in_json_fits_its_schema(program: str, inputs: dict[str, float], claims: list[str]) -> None:
    import jsonschema

    validator = jsonschema.Draft202012Validator(check_schema())
    validator.check_schema(check_schema())
    for told in ([], claims) if inputs else (claims,):
        assert list(validator.iter_errors(check(program, inputs, claims=told).to_dict())) == []


def test_on_a_narrow_screen_ratios_make_room_and_remarks_stand_below() -> None:
    lines = list(render(check("tanh(x*w) + abs(y)", {"x": 1.4, "w": 2, "y": 0}), Look(width=60)))
    assert max(map(len, lines)) <= 60
    assert any(line.split() == ["h", "central", "error", "one-sided", "error"] for line in lines)
    assert any(line.startswith("∂f/∂y, difference: kink at") for line in lines)
    assert not any("remark" in line for line in lines)


TABLES = {
    "cubic": ("x^3", {"x": 1.0}),
    "beside-a-kink": ("relu(x - 1)", {"x": 1.002}),
    "at-a-kink": ("abs(x) + x^2", {"x": 0.0}),
}


@pytest.mark.parametrize("name", TABLES)
def test_what_a_check_looks_like(name: str, golden: Golden) -> None:
    program, inputs = TABLES[name]
    report = check(program, inputs)
    report.witnesses = [one for one in report.witnesses if one.by != "certified"]  # it needs an extra
    report.notes = []  # told by others, tested there
    for width in (None, 60):
        text = "".join(line + "\n" for line in render(report, Look(width=width)))
        golden(f"check/{name}{f'.{width}' if width else ''}.txt", text)


def test_a_check_begins_with_what_is_worked_out_and_the_point() -> None:
    lines = list(render(check("input x = 2; y = x^2; y", {}), Look()))
    assert lines[:2] == ["y = x^2; y", "at  x = 2"]
