"""Kinds of number: fractions that are never rounded, and as many digits as are asked for, through the whole program.

Expected numbers come from paper, from Python's own fractions, from mpmath and from published tables of constants.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import backprop
from backprop import kinds, mistakes, ops
from backprop.figures import Written, figure
from backprop.kinds import Hole, Kind, Refused
from backprop.kinds.digits import Digits
from backprop.kinds.exact import AT, Exact, logarithm, whole_root
from backprop.path_sums import Routes, count, factor, listing, top, total
from backprop.point import Program, at
from backprop.record import Trace
from backprop.schema import schema
from command import call
from drawings import TEXTS
from programs import NAMES, points, programs
from test_witnesses import planted

# DLMF 3.12, and the tables of OEIS A000796, A001113, A002193, A002162, A002161
PI = "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211707"
E = "2.71828182845904523536028747135266249775724709369995957496696762772407663035354759457138217852516643"
SQRT_2 = "1.41421356237309504880168872420969807856967187537694807317667973799073247846210703885038753432764157"
LOG_2 = "0.69314718055994530941723212145817656807550013436025525412068000949339362196969471560586332699641868754"
SQRT_PI = "1.77245385090551602729816748334114518279754945612238712821380778985291128459103218137495065673854467"


def exact(program: str, **inputs: Any) -> tuple[Fraction, dict[str, Fraction]]:
    found: tuple[Fraction, dict[str, Fraction]] = backprop.grad(program, inputs, kind="exact")
    return found


def traced(program: str, kind: str = "exact", **inputs: Any) -> Trace:
    return backprop.trace(program, inputs, kind=kind)


def verdicts(trace: Trace) -> set[str]:
    return {witness.verdict for witness in trace.witnesses}


# -- asking for a kind ----------------------------------------------------------------------------------------------


def test_a_kind_is_found_by_the_file_that_it_lives_in() -> None:
    spelt = dict(kinds.names())
    assert {"real", "exact", "digits:N"} <= set(spelt)
    assert "symbol" not in spelt
    assert isinstance(kinds.by_name("exact"), Exact)
    assert kinds.by_name("digits:40").name == "digits:40"
    assert kinds.by_name("digits:40").figures == 40


@pytest.mark.parametrize(
    ("asked", "mistake", "says"),
    [
        ("exakt", mistakes.UnknownKind, "Did you mean exact?"),
        ("digit:20", mistakes.UnknownKind, "Did you mean digits:N?"),
        ("symbol", mistakes.UnknownKind, "The kinds are"),
        ("", mistakes.UnknownKind, "The kinds are"),
        ("os.path", mistakes.UnknownKind, "The kinds are"),
        ("digits", mistakes.KindArgument, "--kind digits:30"),
        ("digits:0", mistakes.KindArgument, "a whole number"),
        ("digits:many", mistakes.KindArgument, "a whole number"),
        ("digits:²", mistakes.KindArgument, "a whole number"),
        ("digits:100000", mistakes.KindArgument, "--limit 100000"),
        ("exact:3", mistakes.KindArgument, "--limit"),
        ("real:3", mistakes.KindArgument, "--kind real"),
    ],
)
def test_a_kind_that_there_is_not_is_a_lesson(asked: str, mistake: type[mistakes.Mistake], says: str) -> None:
    with pytest.raises(mistake) as caught:
        kinds.by_name(asked)
    assert says in caught.value.repair
    code, out, err = call("grad", "x", "--x", "1", "--kind", asked)
    assert (code, out) == (2, "")
    assert says in err


def test_the_kinds_are_completed() -> None:
    from backprop.completion import offers

    assert [word for word, _ in offers(["grad", "x", "--kind"], "")] == ["certified", "digits:30", "exact", "real"]
    assert [word for word, _ in offers(["trace", "x", "--kind"], "d")] == ["digits:30"]


@pytest.mark.parametrize("asked", [None, 3, ["exact"]])
def test_what_is_no_name_of_a_kind_is_a_lesson_in_python_too(asked: Any) -> None:
    with pytest.raises(mistakes.UnknownKind):
        backprop.grad("x", {"x": 1}, kind=asked)


@pytest.mark.parametrize("limit", [0, -1, 1.5, "many"])
def test_a_limit_is_a_whole_number(limit: Any) -> None:
    with pytest.raises(mistakes.OptionValue, match="--limit cannot be"):
        backprop.grad("x", {"x": 1}, kind="exact", limit=limit)


def test_a_limit_has_no_use_for_doubles() -> None:
    code, out, err = call("grad", "x^2", "--x", "3", "--limit", "100")
    assert (code, out) == (2, "")
    assert "--limit and --kind real do not go together" in err


def test_what_would_take_minutes_is_refused_until_the_limit_is_moved() -> None:
    code, _, err = call("grad", "gamma(x)", "--x", "0.3", "--kind", "digits:501")
    assert code == 2
    assert "more digits than the 500 that gamma is worked out to" in err
    assert call("grad", "erf(x)", "--x", "0.3", "--kind", "digits:501")[0] == 0
    assert call("grad", "gamma(x)", "--x", "0.3", "--kind", "digits:501", "--limit", "501")[0] == 0


def test_a_limit_moves_the_bound_of_a_kind() -> None:
    assert kinds.by_name("digits:20000", limit=20_000).digits == 20_000
    with pytest.raises(mistakes.KindArgument):
        kinds.by_name("digits:20", limit=10)


def test_an_extra_that_is_missing_is_named_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for module in [
        name for name in sys.modules if name.startswith(("flint", "backprop.balls.enclosures", "backprop.balls.ball"))
    ]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(mistakes.ExtraMissing) as caught:
        kinds.by_name("certified")
    assert 'pip install "backprop-trace[certify]"' in caught.value.repair


def test_formulas_have_no_kind_of_number() -> None:
    code, _, err = call("trace", "x^2", "--symbolic", "--kind", "exact")
    assert code == 2
    assert "do not go together" in err


def test_a_command_that_works_in_doubles_says_so() -> None:
    code, _, err = call("check", "x^2", "--x", "1", "--kind", "exact")
    assert code == 2
    assert "--kind is an option of backprop trace, graph, grad" in err
    assert "not of check" in err


def test_a_saved_trace_stands_for_its_program_in_its_kind() -> None:
    # the partials that a trace holds are rounded, so a path term has not quite as many digits
    for kind, slope, term in (
        ("exact", "2/35", "2/35"),
        ("digits:25", "0.05714285714285714285714286", "0.057142857142857142857143"),
    ):
        _, saved, _ = call("trace", "x^2/7", "--x", "1/5", "--kind", kind, "--no-check", "--format", "json")
        assert call("grad", "-", stdin=saved)[1].splitlines()[1] == f"∂f/∂x = {slope}"
        assert f"∂f/∂x = {term}, the sum of every term" in call("paths", "-", "--count", stdin=saved)[1]
        assert call("grad", "-", "--kind", "real", stdin=saved)[1].splitlines()[1] == "∂f/∂x = 0.0571429"


# -- exact: values and slopes on paper ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "inputs", "value", "gradient"),
    [
        ("x^2", {"x": "1/3"}, "1/9", {"x": "2/3"}),
        ("x^2/3", {"x": "0.1"}, "1/300", {"x": "1/15"}),
        ("x*y", {"x": "1e-3", "y": "2.5"}, "1/400", {"x": "5/2", "y": "1/1000"}),
        ("0.1 + 0.2 - 0.3 + 0*x", {"x": "1"}, "0", {"x": "0"}),
        ("x^-2", {"x": "-2/3"}, "9/4", {"x": "27/4"}),
        ("(x*y + z)*x", {"x": "1/3", "y": "-1", "z": "0.1"}, "-7/90", {"x": "-17/30", "y": "1/9", "z": "1/3"}),
        ("sqrt(x)", {"x": "4"}, "2", {"x": "1/4"}),
        ("sqrt(x)", {"x": "9/4"}, "3/2", {"x": "1/3"}),
        ("cbrt(x)", {"x": "-8"}, "-2", {"x": "1/12"}),
        ("x^(2/3)", {"x": "8/27"}, "4/9", {"x": "1"}),
        ("x^1.5", {"x": "4"}, "8", {"x": "3"}),
        ("hypot(x, y)", {"x": "3", "y": "-4"}, "5", {"x": "3/5", "y": "-4/5"}),
        ("sigmoid(x)", {"x": "0"}, "1/2", {"x": "1/4"}),
        ("tanh(x) + sin(x) + atan(x)", {"x": "0"}, "0", {"x": "3"}),
        ("exp(x)*cos(x)", {"x": "0"}, "1", {"x": "1"}),
        ("log(x)", {"x": "1"}, "0", {"x": "1"}),
        ("silu(x)", {"x": "0"}, "0", {"x": "1/2"}),
        ("abs(x) + sign(x) + max(x, y)", {"x": "-1/2", "y": "1/3"}, "-1/6", {"x": "-1", "y": "1"}),
        ("floor(x) + ceil(x) + round(x) + x", {"x": "5/2"}, "19/2", {"x": "1"}),
        ("mod(x, y)", {"x": "-7/2", "y": "2"}, "1/2", {"x": "1", "y": "2"}),
        ("clip(x, 0, 1)", {"x": "1/3"}, "1/3", {"x": "1"}),
        ("where(x < 1/3, 1, x)", {"x": "1/3"}, "1/3", {"x": "1"}),
        ("min(x, 1/3)*y", {"x": "1/4", "y": "4"}, "1", {"x": "4", "y": "1/4"}),
        ("x^0", {"x": "0"}, "1", {"x": "0"}),
        ("relu(x)/7", {"x": "2/3"}, "2/21", {"x": "1/7"}),
        ("leaky_relu(x)", {"x": "-3"}, "-3/100", {"x": "1/100"}),
    ],
)  # fmt: skip
def test_a_fraction_is_as_on_paper(program: str, inputs: dict[str, str], value: str, gradient: dict[str, str]) -> None:
    found, slopes = backprop.grad(program, inputs, kind="exact")
    assert (found, slopes) == (Fraction(value), {name: Fraction(slope) for name, slope in gradient.items()})
    trace = backprop.trace(program, inputs, kind="exact")
    assert (trace.value, trace.gradient) == (value, gradient)
    assert "DISAGREES" not in verdicts(trace)


@pytest.mark.parametrize(
    ("program", "value"),
    [
        ("log2(8)", "3"), ("log10(0.001)", "-3"), ("log(8, 4)", "3/2"), ("log(4/9, 27/8)", "-2/3"), ("log2(1)", "0"),
        ("5!", "120"), ("gamma(5)", "24"), ("factorial(0)", "1"), ("8^(1/3)", "2"), ("(-8)^3", "-512"), ("0^0", "1"),
        ("exp2(-3)", "1/8"), ("expm1(0)", "0"), ("log1p(0)", "0"), ("acos(1)", "0"), ("acosh(1)", "0"),
        ("cosh(0)", "1"), ("sec(0)", "1"), ("sech(0)", "1"), ("asec(1)", "0"), ("asech(1)", "0"), ("atan2(0, 2)", "0"),
        ("sinc(0)", "1"), ("xlogy(0, 5)", "0"), ("lgamma(2)", "0"), ("lgamma(1)", "0"), ("elu(0)", "0"),
        ("sqrt(0.25)", "1/2"), ("cbrt(-1/27)", "-1/3"), ("hypot(5, 12)", "13"), ("erf(0)", "0"),
        ("asinh(0)", "0"), ("erfc(0)", "1"), ("gelu(0)", "0"),
    ],
)  # fmt: skip
def test_an_operation_gives_its_exact_result_where_it_has_one(program: str, value: str) -> None:
    assert exact(program)[0] == Fraction(value)


@pytest.mark.parametrize("name", AT)
def test_the_one_rational_point_of_a_function_is_right(name: str) -> None:
    point, value = AT[name].point, AT[name].value
    assert getattr(Exact(), name)(Fraction(point)) == value
    assert float(getattr(Digits(20), name)(Digits(20).number(str(point)))) == value
    for beside in (Fraction(point) + Fraction(1, 7), Fraction(point) - Fraction(1, 7)):
        with pytest.raises((Refused, ValueError)):
            getattr(Exact(), name)(beside)


# -- exact: what is refused -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "inputs", "says"),
    [
        ("sqrt(x)", {"x": 2}, "sqrt(x) at x = 2 does not come out as a fraction"),
        ("y + exp(x)", {"x": 1, "y": 1}, "exp(x) at x = 1 does not come out"),
        ("x + pi", {"x": 1}, "pi is no fraction"),
        ("log(x, y)", {"x": 6, "y": 2}, "log(x, y) at x = 6, y = 2 does not come out"),
        ("2^x", {"x": 3}, "the slope ∂f/∂x = f*log(2) at x = 3 does not come out"),
        ("gamma(x)", {"x": "1/2"}, "gamma(x) at x = 1/2 does not come out"),
        ("x", {"x": "pi"}, "x = pi is no fraction"),
        ("x", {"x": "inf"}, "x = inf is no fraction"),
    ],
)
def test_what_is_no_fraction_is_refused_by_name(program: str, inputs: dict[str, Any], says: str) -> None:
    with pytest.raises(mistakes.NotExact) as caught:
        backprop.grad(program, inputs, kind="exact")
    assert says in caught.value.cause
    assert "--kind digits:30" in caught.value.repair
    with pytest.raises(mistakes.NotExact):
        backprop.trace(program, inputs, kind="exact")
    code, out, err = call("paths", program, *(f"{name}={value}" for name, value in inputs.items()), "--kind", "exact")
    assert (code, out) == (2, "")
    assert says in err


def test_only_what_is_asked_for_can_be_refused() -> None:
    assert exact("s = sqrt(x); x^2", x=2) == (4, {"x": 4})
    assert exact("where(x > 0, x, sqrt(x - 5))", x=2) == (2, {"x": 1})
    assert backprop.grad("2^x*y", {"x": 3, "y": 5}, wrt=["y"], kind="exact") == (40, {"y": 8})
    with pytest.raises(mistakes.NotExact, match="∂v1/∂x"):
        exact("2^x*y", x=3, y=5)
    notes = {note.code for note in traced("s = sqrt(x); x^2", x=2).notes}
    assert notes == {"unused-hole"}


def test_outside_its_domain_an_operation_is_undefined_not_refused() -> None:
    for program in ("sqrt(-x)", "log(-x)", "asin(x)", "1/(x - 2)", "atanh(x)", "log(x, 1)", "(-x)!", "(-x)^(1/2)"):
        with pytest.raises(mistakes.Undefined):
            exact(program, x=2)
        trace = traced(program, x=2)
        assert trace.exit_code == 3, program
        assert trace.notes[0].code == "undefined"


@pytest.mark.parametrize(
    "program",
    ["9^9^9^9", "factorial(10^6)", "gamma(x)^0*factorial(10^30)", "2^(10^40)", "(1/3)^(10^9)", "10^-100000",
     "; ".join(["y = x"] + ["y = y*y"] * 60), "; ".join(["y = x + 1/3"] + ["y = y^2 + 1/y"] * 60)],
)  # fmt: skip
def test_a_fraction_too_long_stops_at_once_and_says_what_helps(program: str) -> None:
    began = time.monotonic()
    with pytest.raises(mistakes.TooLargeForKind) as caught:
        exact(program, x=3)
    assert time.monotonic() - began < 5
    assert "bits, and up to 100000 are worked out" in caught.value.cause
    assert "--limit" in caught.value.repair


def test_the_limit_lets_a_fraction_be_longer() -> None:
    with pytest.raises(mistakes.TooLargeForKind, match="x\\^100000 at x = 2 has 100001 bits"):
        exact("x^100000", x=2)
    value, gradient = backprop.grad("x^100000", {"x": 2}, kind="exact", limit=200_000)
    assert (value, gradient["x"]) == (2**100000, 100000 * 2**99999)
    code, out, _ = call("grad", "x^100000", "--x", "2", "--kind", "exact", "--limit", "200000")
    assert code == 0
    assert f"= {2**100000}\n" in out
    code, _, err = call("grad", "x^64", "--x", "2", "--kind", "exact", "--limit", "60")
    assert code == 2
    assert "has 64 bits, and up to 60" in err
    code, _, err = call("grad", "x", "--x", "1e40000", "--kind", "exact")
    assert code == 2
    assert "x, as it is given, has 132800 bits" in err


@given(st.integers(0, 10**40), st.integers(2, 40))
def test_a_root_of_a_whole_number_is_the_largest_below(number: int, degree: int) -> None:
    root = whole_root(number, degree)
    assert root**degree <= number < (root + 1) ** degree


fractions = st.fractions(min_value=-50, max_value=50, max_denominator=50)


@given(
    st.fractions(min_value=Fraction(1, 9), max_value=9, max_denominator=9), st.integers(-12, 12), st.integers(-12, 12)
)
def test_the_logarithm_of_a_power_is_the_quotient_of_exponents(base: Fraction, above: int, below: int) -> None:
    assume(base != 1 and below != 0)
    assert logarithm(base**above, base**below) == Fraction(above, below)


@given(st.fractions(min_value=Fraction(1, 99), max_value=99, max_denominator=99), st.integers(2, 9), st.integers(1, 9))
def test_a_rational_power_undoes_a_root(x: Fraction, degree: int, power: int) -> None:
    assert Exact().pow(x**degree, Fraction(power, degree)) == x**power


# -- many digits ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("digits", [1, 15, 30, 50, 99])
@pytest.mark.parametrize(
    ("program", "constant"),
    [("pi + 0*x", PI), ("exp(x)", E), ("sqrt(1 + x)", SQRT_2), ("log(1 + x)", LOG_2), ("gamma(x/2)", SQRT_PI)],
)
def test_every_digit_is_that_of_the_published_constant(program: str, constant: str, digits: int) -> None:
    trace = backprop.trace(program, {"x": 1}, kind=f"digits:{digits}", check=False)
    with mpmath.workdps(120):
        assert trace.value == mpmath.nstr(mpmath.mpf(constant), digits).removesuffix(".0")


def test_literals_and_inputs_are_taken_at_their_word() -> None:
    value, gradient = backprop.grad("(x - 0.1)*1e30 + x/3", {"x": "0.1"}, kind="digits:40")
    assert mpmath.nstr(value, 40) == "0.03333333333333333333333333333333333333333"
    assert mpmath.nstr(gradient["x"], 38) == "1000000000000000000000000000000.3333333"
    assert traced("x", "digits:25", x="1/3").inputs == {"x": "0.3333333333333333333333333"}


def test_a_literal_of_any_size_is_read_in_many_digits() -> None:
    for text, shown in (("1e400000", "3e+400000"), ("1/3e-200000", "1e+200000"), ("0e99999999999999999999", "0")):
        assert traced("x*3", "digits:20", x=text).value == shown
    with pytest.raises(mistakes.UnusableNumber, match="digits:20"):
        traced("x", "digits:20", x="1e99999999999999999999")


def test_digits_are_text_in_json_and_as_many_as_asked_for_in_tables() -> None:
    code, out, _ = call("grad", "x^2/3", "--x", "1/3", "--kind", "digits:30", "--format", "json")
    assert code == 0
    assert json.loads(out) == {
        "value": "0.037037037037037037037037037037",
        "gradient": {"x": "0.222222222222222222222222222222"},
    }
    for figures, shown in (("4", "0.2222"), ("30", "0.222222222222222222222222222222")):
        _, out, _ = call("grad", "x^2/3", "--x", "1/3", "--kind", "digits:30", "--figures", figures)
        assert out.splitlines()[1] == f"∂f/∂x = {shown}"
    code, _, err = call("grad", "x", "--x", "1", "--kind", "digits:30", "--figures", "31")
    assert code == 2
    assert "up to 30" in err


def test_a_number_beyond_all_measure_is_undefined_in_many_digits() -> None:
    began = time.monotonic()
    with pytest.raises(mistakes.Undefined, match="beyond the largest number of digits:30"):
        backprop.grad("9^9^9^9 + x", {"x": 1}, kind="digits:30")
    value, _ = backprop.grad("factorial(x)", {"x": 10**6}, kind="digits:20")
    assert mpmath.nstr(value, 15) == "8.26393168833124e+5565708"  # OEIS A061010
    assert time.monotonic() - began < 5


def test_digits_that_cancel_are_told_with_those_that_are_right() -> None:
    trace = traced("(x + 1e25) - 1e25 + exp(x*1e-40)*1e40 - 1e40", "digits:30", x="1")
    assert "inaccurate" not in verdicts(trace)  # the slopes are sound, though the value has lost its digits
    trace = traced("exp(x + 1e20)/exp(1e20) - exp(x)*(1 + 1e-25)", "digits:30", x="1")
    assert "DISAGREES" not in verdicts(trace)


@pytest.mark.parametrize(
    ("program", "x", "digits", "value"),
    [
        ("1 - cos(x)", "1e-12", 20, "5e-25"),  # x^2/2 - x^4/24
        ("(1/3 + x) - 1/3", "1e-25", 30, "1e-25"),
        ("(1 + x) - 1", "1e-300", 30, "1e-300"),
        ("log(1 + x)", "1e-25", 20, "1e-25"),
        ("1 - tanh(x)^2", "300", 15, "1.06015862120172e-260"),  # 4*exp(-600), and less than 1e-500 beside it
        # x*log(x) - x: 30 digits, 60 and 120 all lose the second term
        ("x*log(x) + (1 - x)*log(1 - x)", "1e-300", 15, "-6.91775527898214e-298"),
        ("sin(x) - x", "1e-10", 25, "-1.666666666666666666665833e-31"),  # -x^3/6 + x^5/120
    ],
)
def test_as_many_digits_are_right_as_are_shown(program: str, x: str, digits: int, value: str) -> None:
    code, out, err = call("grad", program, "--x", x, "--kind", f"digits:{digits}")
    assert (code, out.splitlines()[0], err) == (0, f"f     = {value}", "")


def test_answers_that_never_stay_are_said_to() -> None:
    for command in ("grad", "trace"):
        told = call(command, "x - 0.1 - 0.2", "--x", "0.3", "--kind", "digits:30")
        assert "the answers still change with more digits" in told[1] + told[2]
    assert call("grad", "x - 0.1 - 0.2", "--x", "0.3", "--kind", "exact")[1].splitlines()[0] == "f     = 0"


# -- the whole trace, in every kind ---------------------------------------------------------------------------------

ASKED = [
    ("(x*y + z)*x/3", {"x": "1/3", "y": "-1", "z": "0.1"}),
    ("c = a + b; d = b + 1; e = c*d", {"a": "2/7", "b": "1/3"}),
    ("where(x > 1, x^2, y/x) + relu(y)", {"x": "1/2", "y": "-2/3"}),
    ("sqrt(x)*x!/7", {"x": "1"}),
    ("abs(x) + x", {"x": "0"}),
    ("1/x + y", {"x": "0", "y": "1"}),
    ("x^200/7 - 3", {"x": "3"}),
]


@pytest.mark.parametrize("kind", ["exact", "digits:25"])
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize(("program", "inputs"), ASKED)
def test_a_trace_of_any_kind_goes_through_json_and_renders_to_the_same_bytes(
    program: str, inputs: dict[str, str], mode: str, kind: str, tmp_path: Path
) -> None:
    if "!" in program and kind == "exact":
        program = program.replace("x!", "x")  # the slope of the factorial is no fraction
    wrt = [next(iter(inputs))]
    trace = backprop.trace(program, inputs, kind=kind, mode=mode, wrt=wrt, check=False)
    record = json.loads(trace.to_json())
    jsonschema.validate(record, schema())
    back = Trace.from_json(trace.to_json())
    assert back == trace
    assert back.to_json() == trace.to_json()
    words = ["trace", program, *(f"{name}={value}" for name, value in inputs.items()), "--no-check", "--kind", kind]
    words += ["--mode", mode, "--wrt", wrt[0]]
    for name in TEXTS:
        saved = tmp_path / "trace.json"
        code, text, err = call(*words, "--format", name)
        assert (code, err) in ((0, ""), (3, "")), name
        call(*words, "--format", "json", "-o", str(saved))
        assert call("render", str(saved), "--format", name)[1] == text, name


def test_fractions_stand_in_brackets_where_paper_has_them() -> None:
    steps = [step.text for step in traced("x^2/y - x", x="-1/3", y="2/7").steps]
    assert steps[0] == "v1 = x^2 = (-1/3)^2 = 1/9"
    assert steps[1] == "v2 = v1/y = (1/9)/(2/7) = 7/18"
    assert steps[2] == "f = v2 - x = 7/18 - (-1/3) = 13/18"
    assert traced("x + y", x="-1/3", y="2/7").steps[0].text == "f = x + y = -1/3 + 2/7 = -1/21"


def test_a_fraction_too_long_to_be_read_is_shown_rounded_and_kept_whole() -> None:
    trace = traced("x^200/7", x=3)
    assert trace.value == f"{3**200}/7"
    assert figure(trace.value) == "≈3.79449e+94"
    _, out, _ = call("grad", "x^200/7", "--x", "3", "--kind", "exact")
    assert out.splitlines()[0] == f"f     = {3**200}/7"
    _, out, _ = call("grad", "x^200/7", "--x", "3", "--kind", "exact", "--figures", "4")
    assert out.splitlines()[0] == "f     = ≈3.794e+94"


def test_formulas_stay_formulas() -> None:
    _, out, _ = call("trace", "0.12345678901234567890*x", "--symbolic")
    assert "0.12345678901234567890" in out
    trace = backprop.trace("0.12345678901234567890*x", symbolic=True)
    back = Trace.from_json(trace.to_json())
    assert not any(isinstance(node.value, Written) for node in back.nodes)


# -- paths ----------------------------------------------------------------------------------------------------------


def test_paths_of_fractions_add_up_exactly() -> None:
    trace = traced("(x*y + z)*x/3", x="1/3", y="-1", z="0.1")
    routes = Routes(trace, "x")
    assert [(path.term, path.running) for path in listing(routes)] == [("-1/9", "-1/9"), ("-7/90", "-17/90")]
    assert (count(routes), total(routes), factor(routes).value) == (2, "-17/90", "-17/90")
    assert [path.term for path in top(routes, 2).paths] == ["-1/9", "-7/90"]
    for option in ((), ("--count",), ("--top", "1"), ("--factor",)):
        code, out, _ = call(
            "paths", "(x*y + z)*x/3", "--x", "1/3", "--y", "-1", "--z", "0.1", "--kind", "exact", "--from", "x", *option
        )
        assert code == 0
        assert ("-1/9" if option == ("--top", "1") else "-17/90") in out
        assert "✓ the adjoint" in out or "--top" in option


def test_a_sum_over_paths_of_many_diamonds_has_no_rounding() -> None:
    program = "; ".join(["y0 = x", *(f"y{i + 1} = y{i}/3 + y{i}/7 + y{i}*2" for i in range(40))])
    trace = backprop.trace(program, {"x": 1}, kind="exact", check=False)
    routes = Routes(trace, "x")
    assert count(routes) == 3**40
    assert total(routes) == trace.gradient["x"] == str(Fraction(52, 21) ** 40)


def test_a_trace_whose_adjoint_is_off_by_the_last_bit_is_found_out_by_its_paths() -> None:
    trace = traced("(x*y + z)*x/3", x="1/3", y="-1", z="0.1")
    node = trace.node("x")
    node.adjoint = Written(str(Fraction(-17, 90) + Fraction(1, 10**80)))
    trace.gradient["x"] = node.adjoint
    code, _, _ = call("paths", "-", "--from", "x", "--kind", "exact", stdin=trace.to_json())
    assert code == 0  # the program is worked out anew
    from backprop.path_sums import agrees

    assert agrees(Routes(trace, "x"), "-17/90") is False


def test_dead_ends_are_dead_in_every_kind() -> None:
    for kind in ("exact", "digits:30"):
        code, out, _ = call("paths", "relu(x)/x + y", "--x", "-1", "--y", "2", "--kind", kind)
        assert code == 0
        assert "✗" not in out


# -- witnesses ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["exact", "digits:30", "digits:100"])
def test_every_witness_confirms_to_the_digits_of_the_kind(kind: str) -> None:
    trace = traced("(x*y + z)*x/(1 + x^2)", kind, x="1/3", y="-1", z="0.1")
    assert verdicts(trace) == {"agrees"}
    said = {(witness.of, witness.by): witness for witness in trace.witnesses}
    least = 57 if kind == "exact" else int(kind[7:]) - 3
    assert {by for of, by in said if of == "x"} == {"sympy", "difference", "forward mode", "paths"}
    assert said["all", "sympy rules"].digits is not None
    assert min(one.digits or least for one in trace.witnesses) >= min(least, 57)


@pytest.mark.parametrize("kind", ["exact", "digits:30"])
def test_a_wrong_rule_is_caught_in_every_kind(kind: str) -> None:
    row = ops.by_name("div")
    with planted(row, ("1/y", "-x/y^2*1.0000000000000000001")):
        trace = traced("x/y", kind, x="1/3", y="3/7")
    assert trace.exit_code == 1
    wrong = [witness for witness in trace.witnesses if witness.verdict == "DISAGREES"]
    assert {witness.by for witness in wrong} == {"sympy", "difference", "sympy rules"}
    assert {witness.of for witness in wrong} == {"y", "all"}
    assert "div at node f, operand 2" in (wrong[0].reason or "")


def test_a_witness_that_has_nothing_to_say_says_why() -> None:
    trace = traced("abs(x) + y", x=0, y="1/3")
    silent = [witness for witness in trace.witnesses if witness.verdict == "not checked"]
    assert silent
    assert all(witness.reason for witness in silent)
    large = backprop.trace(" + ".join(["x/3"] * 20_000), {"x": "1/7"}, kind="exact")
    assert large.gradient["x"] == "20000/3"
    assert {one.verdict for one in large.witnesses} <= {"agrees", "not checked"}
    assert all(one.reason for one in large.witnesses if one.verdict == "not checked")


# -- from Python ----------------------------------------------------------------------------------------------------


def test_python_gets_numbers_that_it_can_go_on_with() -> None:
    value, gradient = backprop.grad("x^2/3", {"x": Fraction(1, 3)}, kind="exact")
    assert (value, gradient) == (Fraction(1, 27), {"x": Fraction(2, 9)})
    assert isinstance(value, Fraction)
    value, gradient = backprop.grad("x^2/3", {"x": "1/3"}, kind="digits:40")
    with mpmath.workdps(45):
        assert abs(gradient["x"] - mpmath.mpf(2) / 9) < mpmath.mpf(10) ** -39
    point = backprop.compile("x^2/3").at({"x": "1/3"}, kind="exact")
    assert point.gradient() == {"x": Fraction(2, 9)}
    terms = [path.term for path in backprop.paths("x*x", {"x": "1/3"}, source="x", kind="exact")]
    assert terms == ["1/3", "1/3"]


def test_fractions_of_any_length_can_be_written_without_the_command() -> None:
    trace = backprop.trace("x^9000/7", {"x": 3}, kind="exact", check=False)
    assert len(str(trace.value)) == 4297
    trace = backprop.trace("x^20000/7", {"x": 3}, kind="exact", check=False)
    assert len(str(trace.value)) == 9545  # more than the 4300 digits at which Python's own str stops
    assert Trace.from_json(trace.to_json()) == trace
    assert Routes(trace, "x").network.numbers[-1] == Fraction(1, 7)


# -- laws -----------------------------------------------------------------------------------------------------------

RATIONAL = ("({0} + {1})", "({0} - {1})", "{0}*{1}", "({0})/(2 + ({1})^2)", "-({0})", "({0})^3", "abs({0})",
            "max({0}, {1})", "where({0} > {1}, {0}, {1}/3)", "floor({0})", "relu({0})")  # fmt: skip


@st.composite
def rational_programs(draw: st.DrawFn) -> str:
    known, lines = list(NAMES), []
    for place in range(draw(st.integers(1, 4))):
        text = draw(st.sampled_from(known))
        for _ in range(draw(st.integers(1, 2))):
            text = draw(st.sampled_from(RATIONAL)).format(text, draw(st.sampled_from([*known, "0.1", "2/3"])))
        lines.append(f"n{place} = {text}")
        known.append(f"n{place}")
    return "; ".join([*lines, " + ".join(known[3:])])


rationals = st.fixed_dictionaries(
    dict.fromkeys(NAMES, st.fractions(min_value=-2, max_value=2, max_denominator=12).map(str))
)


@settings(max_examples=100, deadline=None)
@given(rational_programs(), rationals)
def test_exact_forward_reverse_and_paths_are_the_same_number(program: str, inputs: dict[str, str]) -> None:
    here = at(program, inputs, kind=Exact(10**6))
    rules = here.by_rules()
    trace = backprop.trace(program, inputs, kind="exact", limit=10**6, check=False)
    for name in NAMES:
        tangent = here.tangents({here.graph.inputs[name]: Fraction(1)})[here.graph.output]
        assert (tangent or 0) == rules[name]
        found = total(Routes(trace, name))
        assert Fraction(str(found) if isinstance(found, str) else found) == rules[name]


@settings(max_examples=60, deadline=None)
@given(rational_programs(), rationals)
def test_exact_and_many_digits_agree(program: str, inputs: dict[str, str]) -> None:
    # exactly at a boundary or a jump the rounding of 1/3 may choose the other branch
    fraction = at(program, inputs, kind=Exact(10**6))
    many = at(program, inputs, kind=Digits(50))
    assume(
        not any(
            isinstance(value, bool) and value != other
            for value, other in zip(fraction.values, many.values, strict=True)
        )
    )
    for value, other in zip(fraction.values, many.values, strict=True):
        assume(not isinstance(value, Fraction) or _near(other, value))
    assert _near(many.value(), fraction.value())
    kinks = {"abs", "max", "relu", "floor", "lt", "gt"}
    if not kinks & {fraction.graph.op(place) for place in range(len(fraction.graph))}:
        for name in NAMES:
            assert _near(many.by_rules()[name], fraction.by_rules()[name])


@settings(max_examples=100, deadline=None)
@given(programs(), points)
def test_doubles_and_many_digits_agree_where_doubles_have_digits(program: str, inputs: dict[str, float]) -> None:
    real, many = Program(program).at(inputs), Program(program).at(inputs, kind=Digits(50))
    assume(not isinstance(real.value(), Hole) and abs(real.value()) < 1e6)
    assume([v for v in real.values if isinstance(v, bool)] == [v for v in many.values if isinstance(v, bool)])
    assume(all(abs(value) < 1e6 for value in real.values if isinstance(value, float)))
    assert abs(float(many.value()) - real.value()) <= 1e-6 * (1 + abs(real.value()))


def _mpf(value: Fraction) -> Any:
    with mpmath.workdps(60):
        return mpmath.mpf(value.numerator) / value.denominator


def _near(many: Any, value: Fraction) -> bool:
    with mpmath.workdps(60):
        truth = _mpf(value)
        return bool(abs(many - truth) <= mpmath.mpf(10) ** -40 * (1 + abs(truth)))


def test_a_plain_gradient_loads_no_other_kind() -> None:
    import subprocess
    import sys

    code = "import sys, backprop; backprop.grad('x^2 + 1/3', {'x': '1/3'}); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"mpmath", "sympy", "numpy", "flint", "fractions", "backprop.kinds.exact", "backprop.kinds.digits"}
    assert heavy & set(loaded) == set()


def test_every_kind_tells_what_a_trace_holds() -> None:
    for kind, value in (
        (Exact(), Fraction(2, 7)),
        (Digits(20), Digits(20).number("2/7")),
        (kinds.by_name("real"), 2 / 7),
    ):
        one: Kind = kind
        assert one.read(one.record(value)) == pytest.approx(value, rel=1e-19 if kind.name != "real" else 0)
        assert math.isclose(float(one.answer(value)), 2 / 7)


def test_a_list_of_kinds_loads_no_numpy() -> None:
    code = "import sys; from backprop import kinds; print([name for name, _ in kinds.names()], 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "['certified', 'digits:N', 'exact', 'real'] False\n"
