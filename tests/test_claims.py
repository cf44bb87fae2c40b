"""Claims: answers of others, judged right or wrong, and the slip behind a wrong one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backprop import check, diff, ops, rules
from backprop.checks import CheckReport
from backprop.claims import Judged, judge
from backprop.claims.numbers import match
from backprop.claims.reading import read
from backprop.claims.slips import likely_slips
from backprop.claims.truth import texts_of
from backprop.claims.wrong_rules import RIGHT, WRONG_RULES, WrongRule
from backprop.mistakes import MissingValue, Mistake, TwoReadings, UnknownInClaim, UnreadableClaim
from backprop.ops import ATOM
from backprop.point import Program, at
from backprop.render import mistakes as lessons
from backprop.render.check import render
from backprop.render.look import Look
from backprop.writing import written
from command import call
from conftest import Golden
from programs import SMOOTH, points, programs

NEURON = "z = x1*w1 + x2*w2 + b; h = tanh(z); L = (h - y)^2"
AT_NEURON = {"x1": 2, "w1": 0.5, "x2": -1, "w2": -0.3, "b": 0.1, "y": 1}
ENTROPY = "z = w*x + b; a = sigmoid(z); L = -(y*log(a) + (1 - y)*log(1 - a))"
SLOPED = "z = w*x + b; h = tanh(z); L = (h - y)^2"


def judged(program: str, claim: str, inputs: dict[str, Any] | None = None) -> Judged:
    """The one claim about a program, judged (`check` would ask the witnesses as well)."""
    if inputs is None:
        syntax, graph = Program(program).read()
        [found] = judge(graph, syntax.source, read(syntax, graph, [(claim, None)]), None)
        return found
    here = at(program, inputs)
    graph, source = here.graph, here.syntax.source
    [found] = judge(graph, source, read(here.syntax, graph, [(claim, None)]), texts_of(graph, here.given))
    return found


def shown(report: CheckReport, **look: Any) -> str:
    return "".join(line + "\n" for line in render(report, Look(**look)))


# -- right claims -----------------------------------------------------------------------------------------------------

# Each is the derivative in another form than ours: identities, nothing simplified, other names for the same thing.
RIGHT_FORMS = [
    ("sin(x)^2", "dx = sin(2x)"),
    ("sin(x)^2", "dx = 2*sin(x)*cos(x)"),
    ("cos(x)^2", "dx = -sin(2*x)"),
    ("cos(2x)", "dx = -4*sin(x)*cos(x)"),
    ("sin(x)^2 + cos(x)^2", "dx = 0"),
    ("tan(x)", "dx = 1/cos(x)^2"),
    ("tan(x)", "dx = sec(x)^2"),
    ("sin(x)/cos(x)", "dx = 1 + tan(x)^2"),
    ("sin(x)*cos(x)", "dx = cos(2*x)"),
    ("log(sin(x))", "dx = cot(x)"),
    ("log(abs(x))", "dx = 1/x"),
    ("log(x^2 + 1)", "dx = 2/(x + 1/x)"),
    ("log(3*x)", "dx = 1/x"),
    ("log10(x)", "dx = 1/(x*log(10))"),
    ("log(x, 3)", "dx = log(e, 3)/x"),
    ("exp(x)^2", "dx = 2*exp(2*x)"),
    ("exp(2*log(x))", "dx = 2x"),
    ("2^x", "dx = log(2)*exp(x*log(2))"),
    ("x^x", "dx = exp(x*log(x))*(1 + log(x))"),
    ("x^2/x", "dx = 1"),
    ("(x + 1)/(x - 1)", "dx = -2/(x - 1)^2"),
    ("x^3 - 3*x", "dx = 3*(x - 1)*(x + 1)"),
    ("(x + 1)^3", "dx = 3*x^2 + 6*x + 3"),
    ("sqrt(x)", "dx = 1/2*x^(-1/2)"),
    ("sqrt(x)", "dx = sqrt(x)/(2*x)"),
    ("cbrt(x)", "dx = 1/(3*cbrt(x^2))"),
    ("x*sqrt(x)", "dx = 3/2*sqrt(x)"),
    ("1/(1 + exp(-x))", "dx = exp(-x)/(1 + exp(-x))^2"),
    ("sigmoid(x)", "dx = sigmoid(x)*sigmoid(-x)"),
    ("sigmoid(x)", "dx = 1/(2 + 2*cosh(x))"),
    ("tanh(x)", "dx = 1 - tanh(x)^2"),
    ("tanh(x)", "dx = 4/(exp(x) + exp(-x))^2"),
    ("softplus(x)", "dx = 1/(1 + exp(-x))"),
    ("cosh(x)", "dx = (exp(x) - exp(-x))/2"),
    ("asin(x)", "dx = (1 - x^2)^(-1/2)"),
    ("acos(x)", "dx = -1/sqrt((1 - x)*(1 + x))"),
    ("atan(x) + atan(1/x)", "dx = 0"),
    ("atan(x)", "dx = cos(atan(x))^2"),
    ("abs(x)", "dx = x/abs(x)"),
    ("sqrt(x^2)", "dx = sign(x)"),
    ("relu(x)", "dx = 1 if x > 0 else 0"),
    ("max(x, y)", "dx = (1 + sign(x - y))/2"),
    ("erf(x)", "dx = 2/sqrt(pi)*exp(-x^2)"),
    ("gamma(x)", "dx = gamma(x)*digamma(x)"),
    ("x!", "dx = x!*digamma(x + 1)"),
    ("floor(x)*x", "dx = floor(x)"),
    ("x^2*y", "d/dy = x*x"),
    ("x^2*y", "∂f/∂x = 2*x*y"),
    (SLOPED, "dw = 2*(h - y)*(1 - h^2)*x"),
    (SLOPED, "dL/dz = 2(h - y)/cosh(z)^2"),
    (SLOPED, "dz/dw = x"),
    (SLOPED, "dh/dx = w*(1 - h^2)"),
    (SLOPED, "L = h^2 - 2*h*y + y^2"),
    ("s(z) = 1/(1 + exp(-z)); s(w*x)", "dw = x*s(w*x)*(1 - s(w*x))"),
    ("c = a + b; d = b + 1; e = c*d", "db = c + d"),
    ("c = a + b; d = b + 1; e = c*d", "e = a*b + a + b^2 + b"),
    ("x = 2*x; x^2", "dx = 8*x"),
    ("x^5", "dx = 5*x^5/x"),
    ("sqrt(1 - x^2)", "dx = -tan(asin(x))"),
    ("x*log(x)", "dx = 1 - log(1/x)"),
    ("x/(x + 1)", "dx = (x + 1)^-2"),
    ("atan((1 + x)/(1 - x))", "dx = 1/(1 + x^2)"),
    ("log(x + sqrt(x^2 + 1))", "dx = 1/sqrt(1 + x^2)"),
    ("max(x, -x)", "dx = sign(x)"),
    ("log(exp(x) + exp(y))", "dx = sigmoid(x - y)"),
    ("exp(x)/(exp(x) + exp(y))", "dx = sigmoid(x - y)*sigmoid(y - x)"),
    ("s = exp(x) + exp(y); p = exp(x)/s; L = -log(p)", "dx = p - 1"),
    ("s = exp(x) + exp(y); p = exp(x)/s; L = -log(p)", "dy = 1 - p"),
    (ENTROPY, "dw = (a - y)*x"),
    (ENTROPY, "dL/dz = a - y"),
    (ENTROPY, "dL/da = (a - y)/(a*(1 - a))"),
    ("h = relu(w*x + b); L = (h - y)^2", "dw = 2*(h - y)*x*where(h > 0, 1, 0)"),
    ("log(x)", "dy/dx = 1/x"),
    ("log(x)", "y' = 1/x"),
]


@pytest.mark.parametrize(("program", "claim"), RIGHT_FORMS)
def test_a_right_formula_is_right_in_whatever_form(program: str, claim: str) -> None:
    found = judged(program, claim)
    assert (found.verdict, found.slips) == ("right", []), found
    assert found.points is not None
    assert found.agree == found.points >= 4


def test_there_are_at_least_forty_right_forms() -> None:
    assert len(set(RIGHT_FORMS)) >= 40


@pytest.mark.parametrize(
    ("program", "inputs", "claim"),
    [
        ("(x*y + z)*x", {"x": 3, "y": -1, "z": 2}, "x = -4"),
        ("(x*y + z)*x", {"x": 3, "y": -1, "z": 2}, "dy = 9"),
        ("(x*y + z)*x", {"x": 3, "y": -1, "z": 2}, "f = −3"),
        ("c = a + b; d = b + 1; e = c*d", {"a": 2, "b": 1}, "de/db = 5"),
        ("c = a + b; d = b + 1; e = c*d", {"a": 2, "b": 1}, "c = 3"),
        ("c = a + b; d = b + 1; e = c*d", {"a": 2, "b": 1}, "df/da = 2"),  # f stands for the output
        ("a = 2; b = 1; e = (a + b)*(b + 1)", {}, "de/db = 5"),
        (NEURON, AT_NEURON, "dw1 = -0.099126"),
        (NEURON, AT_NEURON, "dw1 = -0.0991"),
        (NEURON, AT_NEURON, "dL/dz = -0.049563"),
        (NEURON, AT_NEURON, "∂h/∂z = 0.216152"),
        (NEURON, AT_NEURON, "L = 0.013144"),
        ("x/3", {"x": 2}, "dx = 1/3"),
        ("x^2", {"x": "0.1"}, "dx = 1/5"),  # 0.1 is a tenth, as it was typed
        ("x^2", {"x": "0.1"}, "dx = 0,2"),
        ("cos(x)", {"x": "pi"}, "dx = 0"),
        ("cos(x)", {"x": "pi"}, "dx = -1.2246467991473532e-16"),  # as every program in doubles has it
        ("log(x)", {"x": 2}, "y = 0.693"),
        ("log(1 + exp(x))", {"x": 800}, "dx = sigmoid(x) = 1"),
        ("log(1 + exp(x))", {"x": -800}, "dx = 3.67e-348"),
        ("exp(-sqrt(x^2 + y^2)^2)", {"x": 0, "y": 0}, "dx = -2*x*exp(-x^2 - y^2) = 0"),
        ("x^2", {"x": 3}, "f' = 6"),
        ("x^2", {"x": 3}, "f'(x) = 2*3"),
        ("sin(x)", {"x": "pi"}, "dx = -1"),
        ("x^3", {"x": 2}, "dx = 3*x^2 = 12"),
        ("tau*x/4", {"x": 1}, "dx = pi/2"),
        ("exp(1000*x)", {"x": 1}, "f = 1.97e434"),  # beyond doubles
    ],
)
def test_a_right_number_is_right(program: str, inputs: dict[str, Any], claim: str) -> None:
    assert {one.verdict for one in check(program, inputs, claims=[claim]).claims} == {"right"}


# -- numbers to the digits typed --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "remark"),
    [
        ("0.5403", "right to 4 digits"),
        ("0.54030231", "right to 8 digits"),
        ("0.54", "right to 2 digits"),
        ("0.54030230", "right to 7 digits; the last one is not rounded"),
        ("0.5403023058681397", "right to 16 digits"),
        ("0.5403023058681398", "right to 15 digits, as far as doubles carry"),  # as doubles print it
        ("0.5403023058681377", "right to 14 digits, as far as doubles carry"),
        ("0.54030230586813971740", "right to 20 digits"),
    ],
)
def test_a_number_is_right_to_the_digits_typed(said: str, remark: str) -> None:
    # cos(1) = 0.540302305868139717400936607442976603732...
    found = judged("sin(x)", f"dx = {said}", {"x": 1})
    assert (found.verdict, found.reason) == ("right", remark)


@pytest.mark.parametrize(
    ("said", "remark"),
    [
        ("0.5412", "right to 2 digits only; not to the 4 you wrote"),
        ("0.5404", "right to 3 digits only; not to the 4 you wrote"),
        ("0.54032", "right to 4 digits only; not to the 5 you wrote"),
        ("0.55", "the derivative is 0.540302"),
        ("0.541", "right to 2 digits only; not to the 3 you wrote"),
        ("1", "rounded to a whole number; write some decimals"),
        ("54/100", "right to 3 digits only; a fraction or a constant is taken at its word"),
    ],
)
def test_a_number_that_is_nearly_right_is_wrong_and_told_by_how_little(said: str, remark: str | None) -> None:
    found = judged("sin(x)", f"dx = {said}", {"x": 1})
    assert (found.verdict, found.reason) == ("wrong", remark)


@pytest.mark.parametrize("said", ["5.999", "6.001", "6.0001", "5.99999", "5.99"])
def test_a_number_that_the_true_one_neither_rounds_to_nor_begins_with_is_wrong(said: str) -> None:
    assert judged("x^2", f"dx = {said}", {"x": 3}).verdict == "wrong"


def test_a_number_is_right_for_the_point_as_typed_or_as_doubles_have_it() -> None:
    found = judged("cos(x)", "dx = -1.2246e-16", {"x": "pi"})
    assert found.reason == "right for the doubles nearest to the inputs; as they are typed it is 0"
    assert judged("cos(x)", "dx = -1.3e-16", {"x": "pi"}).verdict == "wrong"


def test_one_third_is_0_33_to_2_digits_and_not_0_34() -> None:
    assert judged("x/3", "dx = 0.33", {"x": 1}).reason == "right to 2 digits"
    assert judged("x/3", "dx = 0.34", {"x": 1}).verdict == "wrong"


def test_digits_that_are_right_are_fewer_than_those_written_when_the_number_is_wrong() -> None:
    assert judged("1e6*x", "dx = 999999.9", {"x": 1}).reason == "right to 6 digits only; not to the 7 you wrote"
    assert judged("2*x/3", "dx = 0.66", {"x": 1}).reason == "the derivative is 0.666667"


def test_nothing_but_0_is_0() -> None:
    assert judged("x^2", "dx = 0", {"x": 0}).verdict == "right"
    assert judged("x^2", "dx = 0.000", {"x": 1e-5}).verdict == "wrong"
    assert judged("x^2", "dx = 0.001", {"x": 0}).verdict == "wrong"


@given(st.integers(-(10**9), 10**9), st.integers(1, 12), st.integers(-20, 20))
def test_a_number_rounded_to_any_digits_is_right_and_one_further_off_is_not(
    value: int, digits: int, scale: int
) -> None:
    from mpmath import mp, mpf, nstr

    true = mpf(value or 1) / 7 * mpf(10) ** scale
    with mp.workdps(40):
        text = nstr(true, digits + 1, strip_zeros=False)
        said = mpf(text)
        assert match(text, said, true).right
        unit = abs(true) * mpf(10) ** -digits
        off = nstr(said + 4 * unit, digits + 1, strip_zeros=False)
        assert not match(off, mpf(off), true).right


BETWEEN = "a subgradient: it lies between"

# -- kinks, holes, the domain -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "x", "said", "verdict", "reason"),
    [
        ("abs(x)", 0, "1", "right", "the slope from the right; there is a kink: -1 from the left, 1 from the right"),
        ("abs(x)", 0, "-1", "right", "the slope from the left; there is a kink: -1 from the left, 1 from the right"),
        (
            "abs(x)",
            0,
            "0",
            "right",
            "a subgradient: it lies between; there is a kink: -1 from the left, 1 from the right",
        ),
        (
            "relu(x)",
            0,
            "0.5",
            "right",
            "a subgradient: it lies between; there is a kink: 0 from the left, 1 from the right",
        ),
        ("relu(x)", 0, "2", "wrong", "there is a kink: 0 from the left, 1 from the right"),
        ("abs(x)", 0, "undefined", "right", "there is a kink: -1 from the left, 1 from the right"),
        ("x*sqrt(x)", 0, "0", "right", "the slope from the right; there is a slope from the right only, 0"),
        ("log(x)", -1, "undefined", "right", "there is no value here"),
        ("log(x)", -1, "nan", "right", "there is no value here"),
        ("log(x)", 2, "-NaN", "wrong", "it is 0.5"),
        ("log(x)", -1, "-1", "undefined", "there is no value here"),
        ("1/x", 0, "does not exist", "right", "there is no value here"),
        ("sqrt(x)", 0, "inf", "right", "the slope grows without bound"),
        ("sqrt(x)", 0, "-inf", "wrong", "its sign is not the same"),
        ("x^2", 3, "undefined", "wrong", "it is 6"),
        ("x^0.3*0", 0, "0", "right", "the slope from the right; there is a slope from the right only, 0"),
        ("x^2", 3, "inf", "wrong", "it is finite"),
        ("floor(x)", 2, "0", "right", "the slope from the right; there is a slope from the right only, 0"),
        ("sign(x)", 0, "0", "undefined", "the value jumps"),
        ("sign(x)", 0, "undefined", "right", "the value jumps"),
        ("relu(x) - max(x, 0)", 0, "0", "right", None),
        ("relu(x) - relu(-x)", 0, "1", "right", None),
    ],
)
def test_at_a_kink_or_outside_the_domain_a_claim_is_judged_as_what_it_is(
    program: str, x: float, said: str, verdict: str, reason: str | None
) -> None:
    found = judged(program, f"dx = {said}", {"x": x})
    assert (found.verdict, found.reason) == (verdict, reason)


def test_a_formula_without_a_value_where_the_derivative_has_none_is_right() -> None:
    found = judged("sqrt(x)", "dx = 1/(2*sqrt(x))", {"x": 0})
    assert (found.verdict, found.reason) == ("right", "at this point neither has a value")


@pytest.mark.parametrize(
    ("program", "claim", "slopes"),
    [
        ("abs(x)", "dx = x/abs(x)", "there is a kink: -1 from the left, 1 from the right"),
        ("x*sqrt(x)", "dx = 3/2*x/sqrt(x)", "there is a slope from the right only, 0"),
    ],
)
def test_a_formula_without_a_value_at_a_kink_is_right(program: str, claim: str, slopes: str) -> None:
    found = judged(program, claim, {"x": 0})
    assert (found.verdict, found.reason) == ("right", f"at this point neither has a value: {slopes}")


def test_a_formula_that_never_has_a_value_is_wrong_where_the_derivative_has_one() -> None:
    found = judged("log(x)", "dx = -inf*x", {"x": 2})
    assert (found.verdict, found.reason) == ("wrong", "at this point it has no value, where 0.5 is right")
    found = judged("x^2*y", "dx = log(x)", {"x": -3, "y": 0})
    assert (found.verdict, found.slips) == ("wrong", [])


def test_random_points_where_the_node_has_no_value_are_skipped() -> None:
    # at z = 80 sigmoid is 1 to 30 digits and log(1 - a) has no value
    assert judged(ENTROPY, "dL/da = -y/a").verdict == "wrong"
    assert judged("a = sigmoid(99*z); L = log(1 - a)", "dL/da = -1/(1 - a)").verdict == "right"


def test_a_formula_that_gives_a_number_where_nothing_is_defined_is_not_right_there() -> None:
    found = judged("log(x)", "dx = 1/x", {"x": -1})
    assert found.verdict == "undefined"
    assert found.reason is not None
    assert "random points, but at this point it gives -1, though nothing is defined: there is no value" in found.reason
    assert check("log(x)", {"x": -1}, claims=["dx = 1/x"]).exit_code == 3


def test_a_formula_without_a_value_where_the_derivative_has_one_is_wrong() -> None:
    found = judged("x^2", "dx = 2*x^2/x", {"x": 0})
    assert found.verdict == "wrong"
    assert found.reason is not None
    assert found.reason.startswith("at this point it has no value, where 0 is right")


def test_a_formula_at_a_kink_is_right_with_any_subgradient() -> None:
    assert judged("abs(x)", "dx = sign(x)", {"x": 0}).verdict == "right"
    assert judged("relu(x)", "dx = where(x >= 0, 1, 0)", {"x": 0}).verdict == "right"
    assert judged("relu(x)", "dx = where(x >= 0, 1, 0)", {"x": 2}).verdict == "right"


def test_a_formula_that_holds_on_one_branch_is_right_there_and_told_so() -> None:
    found = judged("max(0, w*x + b)", "dw = x", {"x": 2, "w": 3, "b": -4})
    assert found.verdict == "right"
    assert found.reason is not None
    assert found.reason.startswith("right where the same branches are taken; at w = ")


def test_a_formula_that_is_right_at_the_point_alone_is_wrong() -> None:
    found = judged("x^2", "dx = 3*x - 3", {"x": 3})
    assert found.verdict == "wrong"
    assert found.reason is not None
    assert found.reason.startswith("right at this point by luck: at x = ")
    assert found.points
    assert found.agree == 0


def test_digits_lost_in_a_formula_are_no_reason_to_call_it_wrong() -> None:
    # 1 - tanh(x)^2 is 0 with 60 digits at x = 300, and 1.06e-260 with 800
    assert judged("tanh(x)", "dx = 1 - tanh(x)^2", {"x": 300}).verdict == "right"
    assert judged("tanh(x)", "dx = 1 + tanh(x)^2", {"x": 300}).verdict == "wrong"
    assert judged("log(1 + exp(x))", "dx = 1 - 1/(1 + exp(x))", {"x": -200}).verdict == "right"


def test_a_formula_that_loses_its_digits_everywhere_is_not_checked() -> None:
    for factor in ("1", "2"):
        assert judged("tanh(1000 + x^2)", f"dx = {factor}*2*x*(1 - tanh(1000 + x^2)^2)").verdict == "not checked"
    assert judged("tanh(1000 + x^2)", "dx = 2*x*sech(1000 + x^2)^2").verdict == "right"
    assert judged("tanh(1000 + x^2)", "dx = 0").verdict == "wrong"


def test_a_graph_of_thousands_of_nodes_has_random_points_too() -> None:
    program = "a = x" + "; a = a + 1" * 1500 + "; a^2"
    assert judged(program, "dx = 2*(x + 1500)").verdict == "right"
    assert judged(program, "dx = 2*(x + 1501)", {"x": 1}).verdict == "wrong"


def test_a_graph_too_large_for_many_digits_is_not_checked() -> None:
    program = "a = x" + "; a = sin(a)" * 12_000
    assert judged(program, "dx = 0.5", {"x": 1}).verdict == "not checked"
    assert judged(program, "dx = cos(x)").verdict == "not checked"


# -- without values ---------------------------------------------------------------------------------------------------


def test_formulas_need_no_values() -> None:
    report = check("x^2*y", claims=["dx = 2*x*y", "dy = x"])
    assert [claim.verdict for claim in report.claims] == ["right", "wrong"]
    assert report.witnesses == report.conclusions == []
    assert report.exit_code == 1


def test_without_values_a_number_is_a_constant_function() -> None:
    assert judged("3*x + 1", "dx = 3").verdict == "right"
    found = judged("x^2", "dx = 6")
    assert found.verdict == "wrong"
    assert found.reason is not None
    assert found.reason.startswith("it is no constant: at x = ")


def test_at_infinity_nothing_is_claimed_in_vain() -> None:
    assert judged("sinc(x)*atan2(x, y)", "dy = 1", {"x": "inf", "y": 0}).verdict in ("wrong", "not checked")
    assert judged("x^2", "dx = inf", {"x": "inf"}).verdict == "undefined"


def test_without_values_nothing_is_infinite_or_undefined() -> None:
    for said in ("inf", "-inf", "undefined"):
        found = judged("x^2", f"dx = {said}")
        assert (found.verdict, found.points) == ("not checked", None)


def test_an_infinite_number_is_never_right_where_the_derivative_is_finite() -> None:
    assert judged("x^2", "dx = inf", {"x": 3}).verdict == "wrong"
    assert judged("x^2", "dx = 1e999", {"x": 3}).verdict == "wrong"
    assert judged("x^2", "dx = 1/0*x").verdict == "not checked"
    assert judged("x^2", "dx = 1e999*x").verdict == "wrong"


def test_with_some_values_alone_the_others_are_asked_for() -> None:
    with pytest.raises(MissingValue):
        check("x*y", {"x": 2}, claims=["dx = y"])
    with pytest.raises(MissingValue):
        check("x*y", {})


def test_a_formula_that_cannot_be_tried_anywhere_is_not_checked() -> None:
    found = judged("log(x - 1000)", "dx = 1/(x - 1000)")
    assert found.verdict == "not checked"
    assert found.reason is not None
    assert "too few" in found.reason
    assert "give the inputs values" in found.reason
    assert check("log(x - 1000)", claims=["dx = 1/(x - 1000)"]).exit_code == 1
    # with a value there are points near by
    assert judged("log(x - 1000)", "dx = 1/(x - 1000)", {"x": 1100}).verdict == "right"


def test_the_same_question_gives_the_same_bytes() -> None:
    claims = ["dx = cos(x)*y", "dy = cos(x)", "dx = 0.3"]
    first, second = (check("sin(x)*y", {"x": 1, "y": 2}, claims=claims) for _ in range(2))
    assert first.to_json() == second.to_json()
    assert shown(first) == shown(second)


# -- wrong claims and their slips -------------------------------------------------------------------------------------

# What students write, and what they did: each from the rule of the book on one side and the slip on the other.
WRONG_CLAIMS = [
    ("x^3", "dx = x^2", "exponent-not-down"),
    ("x^3", "dx = 3*x^3", "exponent-not-lowered"),
    ("x^3", "dx = 3*x^4", "exponent-raised"),
    ("x^3", "dx = 2*x^2", "exponent-lowered-first"),
    ("x^-2", "dx = 2*x^-3", "power-sign"),
    ("x^-2", "dx = -2*x^-1", "exponent-raised"),  # -2 + 1 in place of -2 - 1
    ("x^3", "dx = x^4/4", "integrated"),
    ("5*x^2", "dx = 2*x", "factor-lost"),
    ("x^2 + 7", "dx = 2*x + 7", "constant-kept"),
    ("x^2 + 7", "dx = 2*x + 1", "constant-one"),
    ("x^2/2", "dx = 2*x", "divisor-lost"),
    ("x^2", "dx = -2*x", "sign"),
    ("x^2", "dx = x^2", "value-instead"),
    ("x^2", "dx = 0", "taken-as-constant"),
    ("x^3", "dx = 9*x^2", "constant-factor"),
    ("x^2", "dx = 7/3*x", "constant-factor"),
    ("(3*x + 1)^4", "dx = 4*(3*x + 1)^3", "inner-factor"),
    ("(x^2 + 1)^3", "dx = 3*(x^2 + 1)^2", "inner-factor"),
    ("(x^2 + 1)^3", "dx = 3*(2*x)^2", "inner-in-place"),
    ("sin(3*x)", "dx = cos(3*x)", "inner-factor"),
    ("sin(x^2)", "dx = cos(x^2)", "inner-factor"),
    ("sin(x^2)", "dx = cos(2*x)", "inner-in-place"),
    ("sin(x^2)", "dx = sin(2*x)", "inner-in-place"),
    ("sin(x^2)", "dx = cos(x^2) + 2*x", "chain-added"),
    ("sin(x^2)", "dx = 2*x*sin(x^2)", "sin-kept"),
    ("sin(exp(x^2))", "dx = cos(exp(x^2))*exp(x^2)", "inner-factor"),
    ("sin(exp(x^2))", "dx = cos(exp(x^2))*2*x", "middle-factor"),
    ("sin(x)^2", "dx = 2*sin(x)", "inner-factor"),
    ("sin(x)^2", "dx = 2*cos(x)", "inner-in-place"),
    ("exp(x^2)", "dx = exp(x^2)", "inner-factor"),
    ("exp(x^2)", "dx = exp(2*x)", "inner-in-place"),
    ("exp(-x)", "dx = exp(-x)", "inner-factor"),
    ("exp(x)", "dx = x*exp(x - 1)", "power-rule-on-exponential"),
    ("2^x", "dx = x*2^(x - 1)", "power-rule-on-exponential"),
    ("2^x", "dx = 2^x", "log-of-base"),
    ("x^x", "dx = x*x^(x - 1)", "exponential-as-power"),
    ("x^x", "dx = x^x*log(x)", "power-as-exponential"),
    ("log(x^2 + 1)", "dx = 1/(x^2 + 1)", "inner-factor"),
    ("log(x^2 + 1)", "dx = 1/(2*x)", "inner-in-place"),
    ("log(x)", "dx = 1/log(x)", "log-kept"),
    ("log10(x)", "dx = 1/x", "log-of-base"),
    ("cos(x)", "dx = sin(x)", "cos-sign"),
    ("cos(2*x)", "dx = 2*sin(2*x)", "cos-sign"),
    ("sin(x)", "dx = -cos(x)", "sin-sign"),
    ("cos(x)*cos(2*x)", "dx = sin(x)*cos(2*x) + 2*cos(x)*sin(2*x)", "cos-sign"),  # at both places
    ("tan(x)", "dx = sec(x)", "tan-square"),
    ("acos(x)", "dx = 1/sqrt(1 - x^2)", "arc-sign"),
    ("atan(x)", "dx = 1/(1 + x)", "arc-square"),
    ("sqrt(x)", "dx = 1/sqrt(x)", "root-half"),
    ("sqrt(x^2 + 1)", "dx = 1/(2*sqrt(x^2 + 1))", "inner-factor"),
    ("x^2*sin(x)", "dx = 2*x*cos(x)", "product-of-derivatives"),
    ("x^2*sin(x)", "dx = 2*x*sin(x)", "product-half"),
    ("x^2*sin(x)", "dx = x^2*cos(x)", "product-half"),
    ("x^2*sin(x)", "dx = 2*x*sin(x) - x^2*cos(x)", "product-sign"),
    ("x*exp(x)", "dx = exp(x)", "product-half"),
    ("sin(x)/x", "dx = (sin(x) - x*cos(x))/x^2", "quotient-order"),
    ("sin(x)/x", "dx = cos(x)", "quotient-of-derivatives"),
    ("sin(x)/x", "dx = (x*cos(x) - sin(x))/x", "quotient-square"),
    ("sin(x)/x", "dx = x*cos(x) - sin(x)", "quotient-below"),
    ("sin(x)/x", "dx = (x*cos(x) + sin(x))/x^2", "quotient-sign"),
    ("sin(x)/x", "dx = cos(x)/x", "quotient-half"),
    ("1/x", "dx = 1/x^2", "reciprocal-sign"),
    ("1/x", "dx = log(x)", "reciprocal-log"),
    ("x*y", "dx = x", "another-variable"),
    ("x - 2*y", "dy = 2", "difference-sign"),
    ("x^2 + 3*x", "dx = 2*x", "lost-path"),
    ("c = a + b; d = b + 1; e = c + d^2", "db = 1", "lost-path"),
    ("c = a + b; d = b + 1; e = c*d", "db = d", "product-half"),
    ("sigmoid(x)", "dx = x*(1 - x)", "before-the-function"),
    ("sigmoid(x)", "dx = sigmoid(x)", "sigmoid-half"),
    ("tanh(w*x)", "dw = 1 - tanh(w*x)^2", "inner-factor"),
    (SLOPED, "dw = (h - y)*(1 - h^2)*x", "exponent-not-down"),  # the 2 of the square
    (SLOPED, "dw = 2*(h - y)*x", "middle-factor"),  # the slope of tanh
    (SLOPED, "dw = 2*(h - y)*(1 - z^2)*x", "before-the-function"),
    (SLOPED, "dw = 2*(h - y)*(1 - h^2)", "inner-factor"),
    (SLOPED, "dw = 2*(y - h)*(1 - h^2)*x", "sign"),
    (SLOPED, "dw = x", "outer-factor"),
    (SLOPED, "dy = 2*(h - y)", "difference-sign"),
    ("(a + b + c)/3", "da = 1", "divisor-lost"),  # a sum for a mean
    ("relu(x)", "dx = 1", "relu-open"),
    ("x^2*exp(x)", "dx = 2*x + exp(x)", "product-as-sum"),
    ("exp(-x)*cos(x)", "dx = -exp(-x)*cos(x) + exp(-x)*sin(x)", "cos-sign"),
    ("exp(-x)*cos(x)", "dx = exp(-x)*cos(x) - exp(-x)*sin(x)", "inner-factor"),
    ("s = exp(x) + exp(y); p = exp(x)/s; L = -log(p)", "dx = 1 - p", "minus-lost"),
    ("s = exp(x) + exp(y); p = exp(x)/s; L = -log(p)", "dx = -1/p", "inner-factor"),
    ("s = exp(x) + exp(y); p = exp(x)/s", "dx = p", "quotient-half"),
    (ENTROPY, "dw = (a - y)*a*(1 - a)*x", "factor-twice"),  # sigmoid once more than there is
    (ENTROPY, "dw = a - y", "inner-factor"),
    ("x/y", "dy = -1/y^2", "factor-lost"),
    ("log2(x)", "dx = log(2)/x", "log-of-base"),
    ("3^x", "dx = 3^x/log(3)", "log-of-base"),
    ("exp(3*x)", "dx = 3*exp(3*x - 1)", "power-rule-on-exponential"),
    ("x^2 + y^2", "dx = 2*x + 2*y", "all-variables"),
    ("x^2 + 3*x + 5", "dx = 2*x + 3*x", "not-differentiated"),
    ("x^2", "f = 2*x", "derivative-instead"),
    ("c = a + b; e = c^2", "e = a + b", "another-node"),
]


@pytest.mark.parametrize(("program", "claim", "code"), WRONG_CLAIMS)
def test_a_wrong_formula_is_wrong_and_its_slip_is_named(program: str, claim: str, code: str) -> None:
    found = judged(program, claim)
    assert found.verdict == "wrong", found
    assert [slip.code for slip in found.slips] == [code], found


def test_there_are_at_least_forty_wrong_claims() -> None:
    assert len(set(WRONG_CLAIMS)) >= 40


@pytest.mark.parametrize(
    ("program", "inputs", "claim", "code"),
    [
        ("sin(x^2)", {"x": 3}, "dx = -0.91113", "inner-factor"),
        ("cos(x)", {"x": 1}, "dx = 0.841", "cos-sign"),
        ("x^2", {"x": 3}, "dx = -6", "sign"),
        ("x^2", {"x": 3}, "dx = 9", "value-instead"),
        ("x^2*y", {"x": 3, "y": 5}, "dx = 9", "another-variable"),
        ("sin(x)", {"x": 30}, "dx = 0.8660", "degrees"),
        ("sin(x)", {"x": 60}, "dx = 0.5", "degrees"),
        ("exp(x)*x^2", {"x": 2}, "dx = 0", "taken-as-constant"),
        ("log(x)", {"x": 4}, "dx = 2.5", "constant-factor"),  # the decimal point
        ("exp(2*x)", {"x": 1.5}, "dx = 0.09957", "wrong-point"),  # at -1.5
        (NEURON, AT_NEURON, "dw1 = -0.049563", "inner-factor"),  # the slope of z: x1 is missing
        (NEURON, AT_NEURON, "dw1 = 0.099126", "sign"),
        (NEURON, AT_NEURON, "dL/dh = -0.114649", "exponent-not-down"),
    ],
)
def test_the_likely_slip_behind_a_wrong_number_is_among_those_named(
    program: str, inputs: dict[str, Any], claim: str, code: str
) -> None:
    found = judged(program, claim, inputs)
    assert found.verdict == "wrong"
    assert code in [slip.code for slip in found.slips], found
    assert len(found.slips) <= 3


def test_a_slip_says_what_is_missing_in_the_words_of_the_program() -> None:
    [slip] = judged("log(x^2 + 1)", "dx = 1/(x^2 + 1)").slips
    assert slip.text == "chain rule: the inner derivative is missing: 2*x for the inner function x^2 + 1"
    [slip] = judged("x^2 + 3*x", "dx = 2*x").slips
    assert slip.text == "x reaches f in several ways, and the one through 3*x is missing"
    [slip] = judged("x^2*sin(x)", "dx = 2*x*sin(x)").slips
    assert slip.text == (
        "product rule half done: the product rule is u'·v + u·v', and u·v' with v = sin(x) is missing; v' = cos(x)"
    )


def test_a_slip_that_gives_a_number_exactly_leaves_no_room_for_those_that_round_to_it() -> None:
    # cos of 60 degrees is 0.5; -1/2 of cos(60) and cos(1) only round to it
    assert [slip.code for slip in judged("sin(x)", "dx = 0.5", {"x": 60}).slips] == ["degrees"]


def test_what_is_0_with_few_digits_alone_is_no_slip() -> None:
    # the value, log(1 + exp(-800)), is 3.7e-348, which 60 digits cannot tell from 0 beside 1
    found = judged("log(1 + exp(x))", "dx = 0", {"x": -800})
    assert [slip.code for slip in found.slips] == ["taken-as-constant"]


def test_a_factor_between_two_constants_explains_nothing() -> None:
    assert judged("x + pi^2", "dx = 1 + 2*pi").slips == []
    assert judged("e^2*x", "dx = 2*e").slips == []


def test_the_inner_function_is_called_by_its_name() -> None:
    [slip] = judged(SLOPED, "dL/dz = 2*(h - y)").slips
    assert slip.text.endswith("for the inner function h")


@pytest.mark.parametrize("claim", ["dx = x^5 - 17", "dx = exp(x) + 3", "dx = 41.7", "dx = sin(x)/x"])
def test_what_no_slip_explains_is_given_no_slip(claim: str) -> None:
    assert judged("x^2*cos(x)", claim, {"x": 1.37}).slips == []


@pytest.mark.parametrize("rule", WRONG_RULES, ids=lambda rule: f"{rule.code}-{rule.wrong}")
def test_every_wrong_rule_speaks_of_operations_of_the_table_and_can_be_told(rule: Any) -> None:
    for name in rule.ops:
        row = ops.by_name(name)
        words = dict.fromkeys([*row.parameters, *(f"d{one}" for one in row.parameters), "node"], "") | RIGHT
        assert rule.says.format(**words)
        assert set(rule.still) <= set(row.parameters)


# Operands that move, with their derivatives; the logarithm needs positive ones, abs and relu both signs.
MOVING = {"x": ("(x/5 + 0.3)", "(1/5)"), "y": ("(x^2/9 + 1.2)", "(2*x/9)"), "b": ("(x^2/9 + 1.2)", "(2*x/9)")}
BOTH_MOVE = ("half", "as-power", "as-exponential")


def misremembered(rule: WrongRule, name: str) -> tuple[str, str]:
    """A program of one operation, and what the wrong rule makes of its derivative."""
    row = ops.by_name(name)
    words, operands = {}, []
    for operand in row.parameters:
        text, slope = "2.3" if (name, operand) in (("pow", "x"), ("log_base", "b")) else "(-2.3)", "0"
        if operand not in rule.still and (f"d{operand}" in rule.wrong or rule.code.endswith(BOTH_MOVE)):
            text, slope = ("(x/5)", "(1/5)") if name in ("abs", "relu") else MOVING[operand]
        words |= {operand: text, f"d{operand}": slope}
        operands.append((text, ATOM))
    program = written(row, operands)[0]
    words["out"] = f"({program})"
    return program, re.sub(r"\b[a-z]\w*\b", lambda found: words.get(found[0], found[0]), rule.wrong)


@pytest.mark.parametrize("rule", WRONG_RULES, ids=lambda rule: f"{rule.code}-{rule.wrong}")
def test_every_wrong_rule_is_found_out_by_its_name(rule: WrongRule) -> None:
    for name in rule.ops:
        program, wrong = misremembered(rule, name)
        found = judged(program, f"dx = {wrong}")
        assert found.verdict == "wrong", (program, wrong)
        assert [slip.code for slip in found.slips] == [rule.code], (program, wrong, found.slips)


# -- laws -------------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(programs(statements=2), points)
def test_a_claim_made_of_our_own_derivative_is_right(program: str, point: dict[str, float]) -> None:
    derivatives = diff(program)
    if derivatives.shared:  # the parts of a long formula have names that the program has not
        return
    inputs = {name: point[name] for name in derivatives.inputs}
    for name in inputs:
        found = judged(program, f"d{name} = {derivatives[name]}", inputs)
        assert found.verdict != "wrong", found


@settings(deadline=None, max_examples=30)
@given(
    st.sampled_from(["x^2*y", "sin(x)*y + x", "exp(x*y)", "x/(1 + y^2)", "tanh(x)*x*y", "log(1 + x^2)*y"]),
    st.sampled_from(["2*({0})", "-({0})", "({0}) + 1", "({0})*x", "({0}) + 1e-9", "({0})*(1 + 1e-12*y)", "({0})^2"]),
    st.booleans(),
)
def test_a_derivative_that_was_changed_is_never_right(program: str, change: str, here: bool) -> None:
    wrong = change.format(diff(program, [["x"]])["x"])
    found = judged(program, f"dx = {wrong}", {"x": 1.3, "y": 0.7} if here else None)
    assert found.verdict == "wrong"


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.sampled_from(["x^2", "x*y", "sin(x)", "exp(y)*x", "x^3", "cos(x)*y"]), min_size=1, max_size=3),
    st.sampled_from(["expand", "factor", "simplify", "trigsimp", "together"]),
)
def test_the_forms_that_a_computer_algebra_gives_are_right(terms: list[str], form: str) -> None:
    import sympy

    program = " + ".join(terms)
    x, y = sympy.symbols("x y", real=True)
    named = {"x": x, "y": y, "sin": sympy.sin, "cos": sympy.cos, "exp": sympy.exp}
    slope = sympy.diff(sympy.sympify(program.replace("^", "**"), locals=named), x)
    text = str(getattr(sympy, form)(slope)).replace("**", "^")
    assert judged(program, f"dx = {text}").verdict == "right", text


@pytest.mark.parametrize("template", [one for one, count in SMOOTH if count == 1])
def test_a_slip_that_is_named_gives_the_claim_at_other_points_too(template: str) -> None:
    # the chain rule forgotten: the outer derivative alone, for every function of the laws
    program = template.format("x^2 + x")
    outer = diff(template.format("u"), [["u"]])["u"].replace("u", "(x^2 + x)")
    found = judged(program, f"dx = {outer}") if "(x^2 + x)" in outer else None
    if found is not None and found.verdict == "wrong":
        assert found.slips, (program, outer)


def test_a_rule_of_ours_that_is_wrong_does_not_make_a_wrong_claim_right() -> None:
    from dataclasses import replace

    row = ops.by_name("sin")
    ops.rows()[row.code] = replace(row, partials=("cos(x)*1.001",), stable=None)
    rules.rules.cache_clear()
    try:
        found = judged("sin(x)*y", "dx = 0.5403*2", {"x": 1, "y": 2})
        formula = judged("sin(x)*y", "dx = 1.001*cos(x)*y", {"x": 1, "y": 2})
        right = judged("sin(x)*y", "dx = 1.0806046", {"x": 1, "y": 2})
    finally:
        ops.rows()[row.code] = row
        rules.rules.cache_clear()
    assert right.verdict == "right"
    assert formula.verdict != "right"
    assert found.right == pytest.approx(1.0806046117362795)


# -- claims that cannot be read ---------------------------------------------------------------------------------------


def lesson(program: str, claim: str, inputs: dict[str, Any] | None = None) -> str:
    with pytest.raises(Mistake) as caught:
        judged(program, claim, inputs or {"x": 3})
    return "".join(line + "\n" for line in lessons.lines(caught.value, Look()))


MISREAD = [
    ("nothing", "x ="),
    ("no-sign", "2*x"),
    ("no-left", "= 3"),
    ("unknown-name", "dq = 3"),
    ("unknown-node", "df/dxx = 3"),
    ("unknown-in-formula", "dx = 2*xx"),
    ("unfinished", "dx = 2*x +"),
    ("unknown-function", "dx = sinn(x)"),
    ("two-statements", "dx = input y = 3"),
    ("thousands", "dx = 1,000"),
    ("condition", "dx = x > 2"),
    ("not-a-derivative", "2x = 3"),
    ("a-derivative-in-a-formula", "dx = df*2"),
    ("empty", ""),
    ("by-which", "f' = 3"),
    ("interval", "dx = 0.2..0.4"),
    ("two-signs", "dx == 6"),
]


@pytest.mark.parametrize(("name", "claim"), MISREAD, ids=[name for name, _ in MISREAD])
def test_a_claim_that_cannot_be_read_is_a_lesson(name: str, claim: str, golden: Golden) -> None:
    program, at = ("x^2*y", {"x": 3, "y": 1}) if name == "by-which" else ("x^2", {"x": 3})
    golden(f"claims/mistake-{name}.txt", lesson(program, claim, at))


def test_a_mistake_in_a_claim_stands_in_the_claim() -> None:
    for claim, kind in (("x =", UnreadableClaim), ("dx = 2*xx", UnknownInClaim), ("dx = 1,000", TwoReadings)):
        with pytest.raises(kind) as caught:
            judged("x^2", claim, {"x": 3})
        assert caught.value.source == claim
        assert caught.value.span is not None
        assert caught.value.exit_code == 2


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="xydf/∂=+-*^(){}[]0123.,;#@'!<>| \n\tsincoλ", max_size=24))
def test_whatever_is_claimed_is_judged_or_refused(text: str) -> None:
    if "@" in text:
        return
    try:
        report = check("x^2 + 1", claims=[text])
    except Mistake:
        return
    assert all(claim.verdict in ("right", "wrong", "not checked", "undefined") for claim in report.claims)


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from(["x^2*y", "sin(x)/x + y", "log(x)*y", "abs(x) + relu(y)", "x^y", "floor(x)*y", "gamma(x)*y",
                     "clip(x, 0, y)", "log(1 + exp(x*y))", "a = x*y; b = a + y; a = a*b; tanh(a)"]),
    st.sampled_from(["dx", "dy", "f"]),
    st.sampled_from(["0", "x", "f/x", "inf", "nan", "1/x", "x/abs(x)", "1e400", "x^y", "log(x)", "exp(1000*x)", "0/0",
                     "gamma(x)", "exp(exp(exp(x)))", "x^1000000", "1e-400", "x*inf"]),
    st.none() | st.tuples(*[st.sampled_from(["0", "1", "-1", "1e-7", "1e300", "800", "-800", "inf", "pi", "1/3"])] * 2),
)  # fmt: skip
def test_whatever_is_claimed_wherever_has_a_verdict(
    program: str, left: str, said: str, point: tuple[str, str] | None
) -> None:
    found = judged(program, f"{left} = {said}", None if point is None else dict(zip("xy", point, strict=True)))
    assert found.verdict in ("right", "wrong", "not checked", "undefined")


# -- the command ------------------------------------------------------------------------------------------------------


def test_the_command_judges_claims_and_its_exit_code_grades_them() -> None:
    line = ("check", "(x*y + z)*x", "--x", "3", "--y", "-1", "--z", "2")
    code, out, err = call(*line, "--claim", "x=-4", "--claim", "dy=x^2")
    assert (code, err) == (0, "")
    assert out.endswith("all 2 claims are right\n")
    code, out, _ = call(*line, "--claim", "x=-4", "--claim", "dy=2*x")
    assert code == 1
    assert out.endswith("1 of 2 claims is right, 1 wrong\n")
    assert call("check", "log(x)", "--x", "-1", "--claim", "x=3")[0] == 3
    assert call("check", "log(x)", "--x", "-1", "--claim", "x=undefined")[0] == 0
    assert call("check", "x^2", "--x", "3", "--claim", "x=")[0] == 2
    assert call("check", "x^2", "--claim", "dx=2*x")[0] == 0
    assert call("check", "x^2", "--claim", "dx=2*x; dx=x")[0] == 1
    assert call("check", "x^2", "--claim", "dx=2*x;")[0] == 0


def test_a_sheet_of_answers_is_read_from_a_file(tmp_path: Path) -> None:
    sheet = tmp_path / "answers.txt"
    sheet.write_text("# the third exercise\ndx = 2*x*y   # by heart\n\n∂f/∂y = x\n", encoding="utf-8")
    code, out, _ = call("check", "x^2*y", "--x", "3", "--y", "5", "--claim", f"@{sheet}")
    assert code == 1
    assert "1 of 2 claims is right" in out
    sheet.write_bytes(b"\xef\xbb\xbf# a sheet\r\n\r\n  dx = 2*x*y # by heart\r\ndy = 9;\r\n")
    assert call("check", "x^2*y", "--x", "3", "--y", "5", "--claim", f"@{sheet}")[0] == 0
    sheet.write_text("dx = 2*x*y\ndy = x^^2\n", encoding="utf-8")
    code, _, err = call("check", "x^2*y", "--claim", f"@{sheet}")
    assert code == 2
    assert f"{sheet}, line 2" in err
    assert call("check", "x^2", "--claim", f"@{tmp_path / 'none.txt'}")[0] == 2


def test_claims_in_json_say_what_was_claimed_and_what_is_right() -> None:
    code, out, _ = call("check", "sin(x^2)", "--x", "3", "--claim", "dx=cos(x^2)", "--format", "json")
    record = json.loads(out, parse_constant=pytest.fail)
    assert code == 1
    [claim] = record["claims"]
    assert claim["name"] == "∂f/∂x"
    assert claim["claim"] == "dx=cos(x^2)"
    assert claim["formula"] == "2*x*cos(x^2)"
    assert claim["right"] == pytest.approx(-5.466781571308061)
    assert claim["verdict"] == "wrong"
    assert claim["slips"][0]["code"] == "inner-factor"
    assert record["right"] == 0


CLAIMED = {
    "polynomial": ("(x*y + z)*x", {"x": 3, "y": -1, "z": 2}, ["x = -4", "dy = x^2", "dz = y", "f = 3", "dx = 2*x*y"]),
    "neuron": (NEURON, AT_NEURON, ["dw1 = -0.0991", "dL/dz = 2*(h - y)*(1 - h^2)", "dw2 = -0.0496", "db = 2*(h - y)"]),
    "kink": ("abs(x) + relu(y)", {"x": 0, "y": 0}, ["dx = 0", "dy = 1", "dy = 2", "dx = undefined"]),
    "undefined": ("log(x)", {"x": -1}, ["dx = -1", "dx = undefined", "dx = 1/x"]),
    "nowhere": ("x^2*sin(x)", {}, ["dx = 2*x*sin(x) + x^2*cos(x)", "dx = 2*x*cos(x)", "dx = x"]),
}


@pytest.mark.parametrize("name", CLAIMED)
def test_what_is_said_of_claims(name: str, golden: Golden) -> None:
    program, at, claims = CLAIMED[name]
    report = check(program, at, claims=claims)
    report.notes = []  # told by others, tested there
    golden(f"claims/{name}.txt", shown(report))
    golden(f"claims/{name}.60.txt", shown(report, width=60))
    assert shown(report, ascii=True).isascii()


def test_slips_of_nothing_are_none() -> None:
    tree, graph = Program("x^2").read()
    [claim] = read(tree, graph, [("dx = x", None)])
    assert likely_slips(graph, claim, [], lambda sample, value: True) == []


@pytest.mark.parametrize(("program", "x", "claim"), [("1/3*x", 2, "dx=0.334"), ("sin(x)", 1, "dx=0.541")])
def test_a_last_digit_that_is_off_by_one_is_no_slip_of_a_rule(program: str, x: float, claim: str) -> None:
    [judged] = check(program, {"x": x}, claims=[claim]).claims
    assert (judged.verdict, judged.slips) == ("wrong", [])
