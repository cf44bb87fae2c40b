"""What has no value: IEEE values under `--undefined propagate`, and the same numbers as ever where there are some."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import backprop
from backprop import mistakes, ops
from backprop.kinds.ieee import IEEE
from backprop.kinds.real import REAL
from backprop.record import Trace
from command import call

INF, NAN = math.inf, math.nan

# Operands at which floating-point arithmetic has something to decide.
CORNERS = (0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, -0.5, -1.5, 1e-300, 1e300, -1e300, INF, -INF, NAN)

# The rows that NumPy has, by its own functions.
NUMPY: dict[str, Callable[..., object]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power, "neg": np.negative,
    "mod": np.remainder, "abs": np.abs, "sign": np.sign, "floor": np.floor, "ceil": np.ceil, "round": np.round,
    "max": np.maximum, "min": np.minimum, "relu": lambda x: np.maximum(x, 0.0), "clip": np.clip,
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2, "log10": np.log10,
    "log1p": np.log1p, "sqrt": np.sqrt, "cbrt": np.cbrt, "logaddexp": np.logaddexp,
    "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "atan2": np.arctan2, "hypot": np.hypot, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh,
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
}  # fmt: skip


def bits(x: float) -> bytes:
    return struct.pack("<d", x)


def same(ours: float | bool, theirs: Any) -> bool:
    """Equal as IEEE values, zeros by their sign too; ordinary numbers to a few roundings, as functions differ there."""
    if isinstance(ours, bool):
        return ours == bool(theirs)
    other = float(theirs)
    if math.isnan(ours) or math.isnan(other):
        return math.isnan(ours) and math.isnan(other)
    if ours == 0 and other == 0:
        return math.copysign(1, ours) == math.copysign(1, other)
    return ours == other or math.isclose(ours, other, rel_tol=1e-14)


@pytest.mark.parametrize("name", NUMPY)
def test_every_row_that_numpy_has_gives_what_numpy_gives_at_every_corner(name: str) -> None:
    row = ops.by_name(name)
    arity = 2 if row.variadic else len(row.parameters)
    points = np.array(np.meshgrid(*[CORNERS] * arity)).T.reshape(-1, arity)
    for operands in ([float(one) for one in point] for point in points):
        if name == "atan2" and any(bits(one) == bits(-0.0) for one in operands):
            continue  # kind real takes -0 for 0 there, and has a number
        if name in ("max", "min", "relu", "clip") and any(one == 0 for one in operands):
            continue  # which of 0 and -0 is larger, nobody says
        if name == "pow" and operands[1] == 0.5 and operands[0] in (0, -INF):
            continue  # NumPy takes the square root, and C tells them apart
        with np.errstate(all="ignore"):
            theirs: Any = NUMPY[name](*operands)
        ours = IEEE.apply(row, operands)
        if name in ("floor", "ceil", "round"):
            theirs = theirs + 0.0  # kind real gives 0 where C gives -0
        assert same(ours, theirs), f"{name}{tuple(operands)} is {ours}, and NumPy says {theirs}"


@pytest.mark.parametrize("row", ops.elementwise(), ids=lambda row: row.name)
def test_where_kind_real_has_a_number_this_has_the_same_to_the_last_bit(row: ops.Row) -> None:
    arity = 2 if row.variadic else len(row.parameters)
    tried = [operands for operands in (*row.samples, *row.edges) if len(operands) == arity]
    if not row.conditions:
        grid = np.array(np.meshgrid(*[CORNERS[:-1]] * arity)).T.reshape(-1, arity)
        tried += [tuple(map(float, point)) for point in grid[:: 1 if arity < 3 else 7]]
    for operands in tried:
        try:
            real = REAL.apply(row, list(operands))
        except (ValueError, ZeroDivisionError, OverflowError):
            continue
        ours = IEEE.apply(row, list(operands))
        if isinstance(real, float) and not math.isnan(real):
            assert bits(ours) == bits(real), f"{row.name}{operands} is {ours} and in kind real {real}"


@pytest.mark.parametrize("row", [row for row in ops.elementwise() if not row.conditions], ids=lambda row: row.name)
def test_no_row_raises_and_nan_goes_through_each(row: ops.Row) -> None:
    arity = 2 if row.variadic else len(row.parameters)
    for place in range(arity):
        for other in CORNERS:
            operands = [other] * arity
            operands[place] = NAN
            value = IEEE.apply(row, operands)
            if row.gives_condition:
                assert value is (row.name == "ne")
            elif row.name == "pow":
                assert math.isnan(value) or 0 in operands or 1 in operands
            elif row.name == "hypot":
                assert math.isnan(value) or other in (INF, -INF)
            elif row.name == "leaky_relu_with" and place == 1 and other > 0:
                assert value == other  # the slope to the left has no part in it
            else:
                assert math.isnan(value), f"{row.name}{tuple(operands)} is {value}"


# Values of C99 annex F and of SciPy 1.17, for the rows that NumPy does not have.
POLES = (
    ("gamma(x)", 0.0, INF), ("gamma(x)", -0.0, -INF), ("gamma(x)", -1.0, NAN), ("gamma(x)", -INF, NAN),
    ("gamma(x)", INF, INF), ("lgamma(x)", 0.0, INF), ("lgamma(x)", -3.0, INF), ("lgamma(x)", -INF, INF),
    ("lgamma(x)", INF, INF), ("digamma(x)", 0.0, -INF), ("digamma(x)", -0.0, INF), ("digamma(x)", -1.0, NAN),
    ("digamma(x)", INF, INF), ("polygamma(1, x)", 0.0, INF), ("polygamma(1, x)", -1.0, INF),
    ("polygamma(1, x)", INF, 0.0), ("factorial(x)", -1.0, INF), ("factorial(x)", -2.0, NAN),
    ("sec(x)", INF, NAN), ("csc(x)", 0.0, INF), ("csc(x)", -0.0, -INF), ("cot(x)", 0.0, INF), ("coth(x)", -0.0, -INF),
    ("csch(x)", 0.0, INF), ("acot(x)", 0.0, math.pi / 2), ("asech(x)", 0.0, INF), ("asech(x)", -1.0, NAN),
    ("acsch(x)", -0.0, -INF), ("acoth(x)", 1.0, INF), ("acoth(x)", 0.5, NAN), ("asec(x)", 0.5, NAN),
    ("xlogy(0, x)", -1.0, 0.0), ("xlogy(0, x)", 0.0, 0.0), ("xlogy(0, x)", NAN, NAN), ("xlogy(1, x)", 0.0, -INF),
    ("log(x, 1)", 2.0, INF), ("log(x, 0)", 2.0, -0.0), ("log(-1, x)", 2.0, NAN), ("x % 0", 1.0, NAN),
    ("(-x)^(1/3)", 8.0, NAN), ("x^-1", -0.0, -INF), ("x^-2", -0.0, INF), ("x^0", NAN, 1.0),
    ("clip(x, 2, 1)", 0.0, 1.0), ("sigmoid(x)", -INF, 0.0), ("softplus(x)", NAN, NAN), ("sinc(x)", INF, 0.0),
    ("1e400*x", 0.0, NAN), ("x - 1e400", 0.0, -INF), ("1 if x > 0 else 2", NAN, 2.0), ("1 if x != x else 2", NAN, 1.0),
)  # fmt: skip


@pytest.mark.parametrize(("program", "x", "value"), POLES)
def test_poles_and_undefined_values_are_what_the_standard_says(program: str, x: float, value: float) -> None:
    found, _ = backprop.grad(program, {"x": "-0" if bits(x) == bits(-0.0) else x}, undefined="propagate")
    assert same(found, value), found


# Derivatives on a plain tape, from the rules on paper: 0·inf is NaN, a pole of the rule is an infinity, and an
# operation without a value has no slope (a tape of a framework says -1 for log at -1).
SLOPES = (
    ("sqrt(x)", 0.0, INF), ("log(x)", 0.0, INF), ("log(x)", -1.0, NAN), ("log(x) + x", -1.0, NAN),
    ("max(log(x), 2)", -1.0, NAN), ("1/x", 0.0, -INF), ("sqrt(x)", -1.0, NAN),
    ("sqrt(x)^2", 0.0, NAN), ("x*log(x)", 0.0, NAN), ("sin(x)/x", 0.0, NAN), ("1/(1/x)", 0.0, NAN),
    ("1/(1 + exp(-x))", -800.0, NAN), ("where(x > 0, sqrt(x), 0)", -1.0, 0.0), ("relu(x)*0 + log(x)*0", 0.0, NAN),
    ("where(x < 1, x, sqrt(x - 1))", 0.0, 1.0), ("relu(x) - relu(-x)", 0.0, 0.0), ("acos(x)", 1.0, -INF),
)  # fmt: skip


@pytest.mark.parametrize(("program", "x", "slope"), SLOPES)
def test_derivatives_are_those_of_a_plain_tape(program: str, x: float, slope: float) -> None:
    _, gradient = backprop.grad(program, {"x": x}, undefined="propagate")
    assert same(gradient["x"], slope), gradient


def test_a_branch_not_taken_cannot_poison() -> None:
    trace = backprop.trace("where(x > 0, log(x) + 1/x, 2*x)", {"x": 0}, undefined="propagate")
    assert (trace.value, trace.gradient, trace.birth) == (0.0, {"x": 2.0}, None)


def test_minus_zero_keeps_its_sign() -> None:
    assert backprop.grad("1/x", {"x": "-0"}, undefined="propagate")[0] == -INF
    assert backprop.grad("1/(-x)", {"x": 0}, undefined="propagate")[0] == -INF
    assert backprop.grad("1/x", {"x": "-0.0"}, undefined="propagate")[1]["x"] == -INF


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(("x*y + sin(x)", "exp(x)/(1 + y^2)", "log(1 + x^2)*y", "max(x, y)*tanh(x)", "abs(x - y) + x^3")),
    st.floats(-50, 50).map(lambda x: round(x, 3)),
    st.floats(-50, 50).map(lambda x: round(x, 3) + 0.0001),
)
def test_at_ordinary_points_nothing_changes(program: str, x: float, y: float) -> None:
    here = {"x": x, "y": y}
    point = backprop.compile(program).at(here)
    assert backprop.grad(program, here, undefined="propagate") == (point.value(), point.by_rules())


def test_the_trace_says_how_it_was_worked_out_and_comes_back_from_json() -> None:
    trace = backprop.trace("log(x)*y", {"x": -1, "y": 2}, undefined="propagate")
    record = json.loads(trace.to_json())
    assert (record["kind"], record["undefined"], record["value"]) == ("real", "propagate", "NaN")
    assert record["gradient"] == {"x": "NaN", "y": "NaN"}
    assert Trace.from_json(trace.to_json()).to_json() == trace.to_json()
    assert "undefined" not in json.loads(backprop.trace("x", {"x": 1}).to_json())


@pytest.mark.parametrize("command", ["trace", "grad", "paths"])
def test_the_exit_code_is_0_and_a_note_tells_where_it_began(command: str) -> None:
    code, out, err = call(command, "x*log(x)", "--x", "0", "--undefined", "propagate")
    assert code == 0
    assert "born at v1 = log(x), x = 0: log of 0" in out + err
    assert call(command, "x*log(x)", "--x", "0")[0] == 3


def test_a_witness_still_objects_where_the_tape_is_wrong() -> None:
    code, out, _ = call("trace", "relu(x) - relu(-x)", "--x", "0", "--undefined", "propagate")
    assert code == 1
    assert "DISAGREES" in out
    assert call("trace", "x^2", "--x", "3", "--undefined", "propagate")[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--kind", "exact", "--undefined", "propagate"),
        ("--kind", "digits:30", "--convention", "torch"),
        ("--convention", "left", "--undefined", "propagate"),
        ("--symbolic", "--undefined", "propagate"),
        ("--symbolic", "--convention", "jax"),
    ],
)
def test_options_that_leave_nothing_to_do_for_each_other_are_refused(words: tuple[str, ...]) -> None:
    code, _, err = call("trace", "x^2", "--x", "1", *words)
    assert code == 2
    assert "do not go together" in err


def test_an_unknown_way_is_refused_with_those_there_are() -> None:
    with pytest.raises(mistakes.OptionValue) as caught:
        backprop.grad("x", {"x": 1}, undefined="ignore")
    assert "explain, propagate" in caught.value.repair
    assert call("grad", "x", "--x", "1", "--convention", "pytorch")[0] == 2
