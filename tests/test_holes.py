"""Holes: where there is no value, what is approached beside the point; and the limits behind it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

import backprop
from backprop.beside.limits import Limit, limit, tends
from backprop.record import Limits, Trace
from backprop.schema import schema

INF = math.inf


def limits_of(program: str, inputs: dict[str, Any], **options: Any) -> Limits | None:
    trace = backprop.trace(program, inputs, check=False, **options)
    assert trace.exit_code == 3
    assert trace.value is None
    assert trace.gradient == {}
    return trace.limits


# -- one input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "x", "value", "slope"),
    [
        ("sin(x)/x", 0, 1, 0),
        ("(1 - cos(x))/x^2", 0, 0.5, 0),
        ("1/(1/x)", 0, 0, 1),
        ("(x^2 - 1)/(x - 1)", 1, 2, 1),
        ("(x^3 - 8)/(x - 2)", 2, 12, 6),  # x² + 2x + 4, whose slope is 2x + 2
        ("(exp(x) - 1)/x", 0, 1, 0.5),
        ("log(1 + x)/x", 0, 1, -0.5),
        ("(1 + x)^(1/x)", 0, math.e, -math.e / 2),
        ("1/x - 1/sin(x)", 0, 0, -1 / 6),
        ("x^2*sin(1/x)", 0, 0, 0),  # its derivative beside 0 oscillates, and yet it has one at 0
        ("exp(-1/x^2)", 0, 0, 0),
        ("x/x", 0, 1, 0),
        ("x^2/abs(x)*sign(x)", 0, 0, 1),
        ("sinh(3*x)/x*pi", 0, 3 * math.pi, 0),
        ("(x - 1)/log(x)", 1, 1, 0.5),
        ("x/x + 1e-300", 0, 1, 0),
        ("1e-300/x*x", 0, 1e-300, 0),
    ],
)
def test_a_hole_is_closed_by_its_limit(program: str, x: float, value: float, slope: float) -> None:
    found = limits_of(program, {"x": x})
    assert found is not None
    assert found.side is None
    assert found.why is None
    assert found.value == pytest.approx(value, rel=1e-15, abs=0)
    assert found.gradient == {"x": pytest.approx(slope, rel=1e-15, abs=0)}


@pytest.mark.parametrize(
    ("program", "value", "slope"),
    [
        ("x*log(x)", 0, -INF),
        ("x^2*log(x)", 0, 0),
        ("1/log(x)", 0, -INF),  # comes to its limit slower than any power of x
        ("1/(1 + log(x))", 0, -INF),
        ("exp(1/log(x))", 1, -INF),
        ("sqrt(x)*log(x)^5", 0, -INF),
        ("x^0.3*log(x)", 0, -INF),
        ("x + 0*log(x)", 0, 1),
        ("atan(log(x))", -math.pi / 2, INF),
        ("x^2/sqrt(x)", 0, 0),
    ],
)
def test_a_hole_at_the_edge_of_a_domain_is_closed_from_its_side(program: str, value: float, slope: float) -> None:
    found = limits_of(program, {"x": 0})
    assert found is not None
    assert found.side == "right"
    assert found.value == pytest.approx(value, rel=1e-12, abs=0)
    assert found.gradient == {"x": slope}


def test_limits_that_differ_are_told_for_each_side() -> None:
    found = limits_of("abs(x)/x", {"x": 0})
    assert found is not None
    assert (found.value, found.gradient) == (None, {})
    assert found.left == Limits(value=-1.0, gradient={"x": 0.0})
    assert found.right == Limits(value=1.0, gradient={"x": 0.0})
    found = limits_of("1/x", {"x": 0})
    assert found is not None
    assert found.left == Limits(value=-INF)
    assert found.right == Limits(value=INF)
    found = limits_of("exp(-1/x)", {"x": 0})
    assert found is not None
    assert found.left == Limits(value=INF)
    assert found.right == Limits(value=0.0, gradient={"x": 0.0})


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("sin(1/x)", "f has no limit: it oscillates"),
        ("sin(1/x)/x", "f has no limit: it oscillates"),
        ("sin(log(abs(x)))", "f has no limit: it oscillates"),
        ("x*sin(1/x)", "f goes to 0, but its slope has no limit: it oscillates"),
        ("1/x^2", "f grows without bound, to +infinity"),
        ("log(abs(x))", "f grows without bound, to -infinity"),
        ("sin(x)/x", "f goes to 1 and ∂f/∂x to 0"),
        ("log(x)", "from the right f grows without bound, to -infinity"),
        ("abs(x)/x", "from the left f goes to -1 and ∂f/∂x to 0; from the right f goes to 1 and ∂f/∂x to 0"),
    ],
)
def test_what_is_approached_is_said_in_words(program: str, words: str) -> None:
    (text,) = [note.text for note in backprop.trace(program, {"x": 0}, check=False).notes if note.code == "undefined"]
    assert text.endswith(words)
    with pytest.raises(backprop.Mistake) as refused:
        backprop.grad(program, {"x": 0})
    assert words in str(refused.value)


@pytest.mark.parametrize("program", ["log(x)", "x^2.5", "sqrt(x) + 1/x", "asin(x - 3)"])
def test_far_from_its_domain_a_program_approaches_nothing(program: str) -> None:
    assert limits_of(program, {"x": -2}) is None


@pytest.mark.parametrize(
    "program",
    [
        "log(-log(x))",  # grows, but slower than can be followed
        "1/log(-log(x))",
        "sqrt(sin(1/x))",  # has values only here and there
        "5 - log(x)/1000000",
        "sin(log(-log(x)))",
    ],
)
def test_what_cannot_be_told_is_not_told(program: str) -> None:
    found = limits_of(program, {"x": 0})
    assert found is None or found.value in (None, INF)


def test_a_hole_of_doubles_alone_is_none() -> None:
    # 0.1 + 0.2 is not 0.3 in doubles; worked out with more digits there is no division by 0
    trace = backprop.trace("1/(x - 1e-30 - x)", {"x": 1}, check=False)
    assert trace.limits is None


# -- several inputs -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "inputs", "value", "slopes"),
    [
        ("sin(x)/x + y", {"x": 0, "y": 5}, 6, {"x": 0, "y": 1}),
        ("sin(x*y)/(x*y)", {"x": 0, "y": 0}, 1, {"x": 0, "y": 0}),
        ("(exp(x) - exp(y))/(x - y)", {"x": 0, "y": 0}, 1, {"x": 0.5, "y": 0.5}),
        ("sin(x + y + z)/(x + y + z)", {"x": 0, "y": 0, "z": 0}, 1, {"x": 0, "y": 0, "z": 0}),
        ("x*log(x) + y", {"x": 0, "y": 2}, 2, {"x": -INF, "y": 1}),
    ],
)
def test_a_hole_of_several_inputs_is_closed_when_every_way_leads_to_one_limit(
    program: str, inputs: dict[str, float], value: float, slopes: dict[str, float]
) -> None:
    found = limits_of(program, inputs)
    assert found is not None
    assert (found.value, found.gradient) == (value, slopes)


@pytest.mark.parametrize(
    "program",
    [
        "x*y/(x^2 + y^2)",
        "x^2*y/(x^4 + y^2)",  # 0 along every line, 1/2 along y = x²
        "atan2(y, x)",
        "(x - y)/(x + y)",
        "x*y/(x + y)",  # 0 along every line and power, -1 along y = -x + x²
        "x^3/(x - 2*y)^2",
        "(x^2 + y^2)/(x^3 - y)*x",  # grows without bound beside the curve y = x³
    ],
)
def test_a_limit_that_depends_on_the_direction_is_none(program: str) -> None:
    found = limits_of(program, {"x": 0, "y": 0})
    assert found is not None
    assert found.value is None
    assert found.why == "the value depends on the direction"


def test_a_limit_along_all_lines_that_logarithms_escape_is_not_told() -> None:
    # x log y goes to 0 along lines and powers, and to -1 along x = -1/log y
    found = limits_of("x*log(y)", {"x": 0, "y": 0})
    assert found is None or found.value is None


def test_slopes_along_the_axes_that_are_no_gradient_are_not_told() -> None:
    found = limits_of("x*y/sqrt(x^2 + y^2)", {"x": 0, "y": 0})
    assert found is not None
    assert found.value == 0
    assert (found.gradient, found.why) == ({}, "the slopes depend on the direction")


# -- kinds, records, bounds ---------------------------------------------------------------------------------------


def test_limits_are_numbers_of_the_kind() -> None:
    found = limits_of("(x^2 - 1/9)/(x - 1/3)", {"x": "1/3"}, kind="exact")
    assert found is not None
    assert (found.value, found.gradient) == ("2/3", {"x": "1"})
    # pi to 40 digits
    found = limits_of("pi*sin(x)/x", {"x": 0}, kind="digits:40")
    assert found is not None
    assert found.value == "3.141592653589793238462643383279502884197"


@pytest.mark.parametrize("program", ["sin(x)/x", "abs(x)/x", "x*log(x)", "sin(1/x)", "1/x"])
def test_the_record_keeps_to_its_schema_and_comes_back(program: str) -> None:
    trace = backprop.trace(program, {"x": 0}, check=False)
    record = trace.to_dict()
    jsonschema.validate(record, schema())
    assert record["limits"]
    assert Trace.from_json(trace.to_json()) == trace
    assert Trace.from_json(trace.to_json()).to_json() == trace.to_json()


def test_both_modes_approach_the_same() -> None:
    traces = [backprop.trace("sin(x)/x", {"x": 0}, mode=mode, check=False) for mode in ("forward", "reverse")]
    assert traces[0].limits == traces[1].limits is not None


def test_a_hole_of_a_large_program_says_that_no_limit_is_looked_for() -> None:
    program = "sin(x)/x" + " + x" * 600
    (text,) = [note.text for note in backprop.trace(program, {"x": 0}, check=False).notes if note.code == "undefined"]
    assert "no limit is looked for: the graph has" in text


# -- limits by themselves -----------------------------------------------------------------------------------------


def of(function: Callable[[Any], Any]) -> Callable[[int, str, int], Any]:
    def sample(exponent: int, factor: str, digits: int) -> Any:
        with mp.workdps(2 * digits):
            value = function(mpf(factor) * mpf(10) ** -exponent)
            return None if isinstance(value, mp.mpc) else value

    return sample


@pytest.mark.parametrize(
    "function",
    [
        lambda h: 1.5 + h if h > 1e-9 else 1 + 0 * h,  # what a lack of digits would make of (1 - cos(h^3))/h^6
        lambda h: mpf(10) ** -430 + h,  # dwindles, until it stops
        lambda h: 1 / (h + mpf(10) ** -450),  # grows, until it stops
        lambda h: mp.log(-mp.log(h)),
        lambda h: mp.sqrt(mp.sin(1 / h)),
    ],
)
def test_what_only_looks_like_a_limit_is_not_taken_for_one(function: Callable[[Any], Any]) -> None:
    assert limit(of(function)).sort == "unclear"


def test_a_quantity_too_slow_to_follow_may_still_be_seen_to_come_nearer() -> None:
    slow = of(lambda h: mp.log(-mp.log(h)) / mp.log(h))
    assert limit(slow).sort == "unclear"
    assert tends(slow, Limit("number", mpf(0)))
    assert not tends(of(lambda h: mp.sin(1 / h)), Limit("number", mpf(0)))


@settings(max_examples=12, deadline=None)
@given(
    st.integers(-9, 9),
    st.integers(-9, 9).filter(bool),
    st.sampled_from([0.25, 0.5, 1, 1.5, 2, 3]),
    st.integers(0, 2),
)
def test_powers_and_logarithms_of_the_step_go_to_what_is_left_of_them(c: int, a: int, power: float, log: int) -> None:
    # c + a h^p (log h)^q goes to c; and its inverse, (…)^-1 without c, grows without bound
    found = limit(of(lambda h: c + a * h ** mpf(power) * mp.log(h) ** log))
    assert (found.sort, found.value) == ("number", pytest.approx(c, abs=0, rel=1e-15))
    grown = limit(of(lambda h: a * h ** -mpf(power) * mp.log(h) ** log))
    assert grown.sort == "infinite"
    assert (grown.value > 0) == (a > 0 if log != 1 else a < 0)


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(-3, 3))
def test_a_removable_hole_of_polynomials_is_closed_exactly(m: int, n: int, x: int) -> None:
    # (t^m - x^m)/(t - x) goes to m x^(m - 1), and its slope to m (m - 1)/2 x^(m - 2); n only stretches it
    found = limits_of(f"{n}*(t^{m} - ({x})^{m})/(t - ({x}))", {"t": str(x)}, kind="exact")
    assert found is not None
    value, slope = n * m * x ** (m - 1), n * (m * (m - 1) * x ** (m - 2) // 2 if m > 1 else 0)
    assert (found.value, found.gradient) == (str(value), {"t": str(slope)})


# -- powers without a value ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["real", "digits:30"])
@pytest.mark.parametrize("program", ["(1 + 1/x)^x", "1^x", "(-1)^x", "(1 - 1/x)^x"])
def test_one_to_the_power_of_infinity_has_no_value(program: str, kind: str) -> None:
    trace = backprop.trace(program, {"x": "inf"}, check=False, kind=kind)
    assert (trace.value, trace.exit_code) == (None, 3)
    assert backprop.grad("(1/2)^x + 2^(-x) + 3", {"x": "inf"}, wrt=[], kind=kind)[0] == 3


def test_on_a_plain_tape_one_to_the_power_of_infinity_is_one() -> None:
    assert backprop.grad("1^x", {"x": "inf"}, undefined="propagate")[0] == 1
