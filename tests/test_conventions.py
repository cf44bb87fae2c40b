"""Conventions: the number taken at a kink, what the frameworks take there, and which of them is right."""

from __future__ import annotations

import importlib
import itertools
import json
import math
import os
import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import backprop
import peers
from backprop import ops
from backprop.conventions import FRAMEWORKS, framework
from backprop.conventions.opinions import Truth, opinions
from backprop.point import at
from backprop.rules import formula
from command import call

NAN, INF = math.nan, math.inf


def slopes(convention: str, program: str, **inputs: float) -> list[float]:
    return list(backprop.grad(program, inputs, convention=convention)[1].values())


def same(ours: float, theirs: float, tolerance: float = 1e-9) -> bool:
    if math.isnan(ours) or math.isnan(theirs):
        return math.isnan(ours) and math.isnan(theirs)
    return ours == theirs or abs(ours - theirs) <= tolerance * max(abs(ours), abs(theirs), 1e-3)


# -- the facts: what released frameworks were measured to give ------------------------------------------------------

# autograd 1.9.1, JAX 0.10.2, PyTorch 2.14.1, TensorFlow 2.21.0, CasADi 3.8.2; None where it is not offered.
MEASURED = ("autograd", "jax", "torch", "tensorflow", "casadi")
FACTS = (
    ("abs(x)", {"x": 0}, [0], [1], [0], [0], [0]),
    ("relu(x)", {"x": 0}, None, [0], [0], [0], None),
    ("max(x, 0)", {"x": 0}, [0.5], [0.5], [0.5], [1], [0.5]),
    ("clip(x, 0, 1)", {"x": 0}, [0], [0.5], [0], [1], None),
    ("max(x, y)", {"x": 2, "y": 2}, [0.5, 0.5], [0.5, 0.5], [0.5, 0.5], [1, 0], [0.5, 0.5]),
    ("sign(x) + floor(x) + x", {"x": 1}, [1], [1], [1], [1], [1]),
    ("x % y", {"x": 5, "y": 3}, [1, -1], [1, -1], [1, -1], [1, -1], None),
    ("sqrt(x)", {"x": 0}, [INF], [INF], [INF], [INF], [INF]),
    ("sqrt(x*x)", {"x": 0}, [NAN], [NAN], [NAN], [NAN], None),
    ("sqrt(x^2 + y^2)", {"x": 0, "y": 0}, [NAN, NAN], [NAN, NAN], [NAN, NAN], [NAN, NAN], [NAN, NAN]),
    ("hypot(x, y)", {"x": 0, "y": 0}, [NAN, NAN], [0.5, 0.5], [NAN, NAN], None, [NAN, NAN]),
    ("x^0", {"x": 0}, [0], [0], [0], None, [0]),
    ("x^y", {"x": 0, "y": 0}, [0, 0], [NAN, 0], [0, 0], [NAN, 0], [NAN, -INF]),
    ("x^y", {"x": 0, "y": 2}, [0, 0], [0, 0], [0, 0], [0, 0], [0, NAN]),
    ("x^y", {"x": -2, "y": 3}, [12, NAN], [12, NAN], [12, NAN], [12, 0], [12, NAN]),
    ("x^y", {"x": 0, "y": -1}, [-INF, NAN], [-INF, NAN], [-INF, -INF], [-INF, NAN], [-INF, -INF]),
    ("0^y", {"y": 0}, [0], [0], [0], [0], [-INF]),
    ("log(x)", {"x": 0}, [INF], [INF], [INF], [INF], [INF]),
    ("log(x)", {"x": -1}, [-1], [-1], [-1], [-1], [-1]),
    ("x*log(x)", {"x": 0}, [NAN], [NAN], [NAN], [NAN], None),
    ("xlogy(x, x)", {"x": 0}, None, [NAN], [NAN], [0], None),
    ("atan2(y, x)", {"y": 0, "x": 0}, [NAN, NAN], [NAN, NAN], [0, 0], [NAN, NAN], [NAN, NAN]),
    ("asin(x)", {"x": 1}, [INF], [INF], [INF], [INF], [INF]),
    ("sinc(x)", {"x": 0}, [NAN], [0], [0], None, None),
    ("1/x", {"x": 0}, [-INF], [-INF], [-INF], [-INF], [-INF]),
    ("where(x > 0, sqrt(x), 0)", {"x": 0}, [NAN], [NAN], [NAN], [0], [0]),
    ("where(x < 1, x, sqrt(x))", {"x": 0}, [NAN], [NAN], [NAN], [1], [1]),
    ("log(1 + exp(x))", {"x": 800}, [NAN], [NAN], [NAN], [NAN], [NAN]),
    ("1/(1 + exp(-x))", {"x": -800}, [NAN], [NAN], [NAN], [NAN], [NAN]),
    ("leaky_relu(x)", {"x": 0}, None, [1], [0.01], [0.01], None),
    ("elu(x)", {"x": 0}, None, [1], [1], [1], None),
    ("min(max(x, 0), 6)", {"x": 6}, [0.5], [0.5], [0.5], [1], [0.5]),
)  # fmt: skip


def facts() -> Iterator[tuple[str, dict[str, float], str, list[float]]]:
    for program, point, *found in FACTS:
        for name, expected in zip(MEASURED, found, strict=True):
            if expected is not None:
                yield program, point, name, expected


@pytest.mark.parametrize(("program", "point", "name", "expected"), list(facts()))
def test_each_fact_that_was_measured(program: str, point: dict[str, float], name: str, expected: list[float]) -> None:
    found = slopes(name, program, **point)
    assert all(map(same, found, expected)), found


# -- what is said of the slopes of the whole ------------------------------------------------------------------------

# program, point, then minimum-norm, mean, left, right; the slopes of both sides from paper
SIDES = (
    ("abs(x)", {"x": 0}, 0, 0, -1, 1),
    ("relu(x)", {"x": 0}, 0, 0.5, 0, 1),
    ("max(x, 0) + 3*x", {"x": 0}, 3, 3.5, 3, 4),
    ("-abs(x) + x/2", {"x": 0}, 0.5, 0.5, 1.5, -0.5),  # the smallest at each operation, and it is a subgradient
    ("sqrt(x*x)", {"x": 0}, 0, 0, -1, 1),
    ("leaky_relu(x)", {"x": 0}, 0.01, 0.505, 0.01, 1),
    ("clip(x, 0, 1)", {"x": 1}, 0, 0.5, 1, 0),
    ("relu(x) - relu(-x)", {"x": 0}, 1, 1, 1, 1),
    ("x^2", {"x": 3}, 6, 6, 6, 6),
)


@pytest.mark.parametrize(("program", "point", "least", "mean", "left", "right"), SIDES, ids=[one[0] for one in SIDES])
def test_conventions_about_slopes_take_those_of_the_whole(
    program: str, point: dict[str, float], least: float, mean: float, left: float, right: float
) -> None:
    expected = {"minimum-norm": least, "mean": mean, "left": left, "right": right}
    for convention, slope in expected.items():
        (found,) = slopes(convention, program, **point)
        assert same(found, slope), convention
    (found,) = slopes("nan", program, **point)
    assert math.isnan(found) if left != right else same(found, left)


def test_a_side_without_a_finite_slope_has_no_derivative_to_take() -> None:
    program = "where(x > 0, sqrt(x), 0)"
    assert slopes("left", program, x=0) == [0.0]
    assert slopes("right", "x*sqrt(x)", x=0) == [0.0]
    assert slopes("left", "floor(x)", x=1) == [0.0]
    for convention, text in (("right", program), ("left", "x*sqrt(x)"), ("left", "sqrt(x)")):
        code, _, err = call("grad", text, "--x", "0", "--convention", convention)
        assert (code, f"there is no finite slope from the {convention}" in err) == (3, True)
    assert all(math.isnan(slopes("nan", text, x=0)[0]) for text in ("floor(x)", "sqrt(x)", "x*sqrt(x)"))


def test_the_trace_says_by_which_convention_and_comes_back_from_json() -> None:
    for convention in ("left", "torch"):
        trace = backprop.trace("max(x, 0)", {"x": 0}, convention=convention)
        record = json.loads(trace.to_json())
        assert record["convention"] == convention
        assert trace.from_json(trace.to_json()).to_json() == trace.to_json()
    assert "convention" not in json.loads(backprop.trace("max(x, 0)", {"x": 0}).to_json())


@pytest.mark.parametrize("command", ["trace", "grad", "paths"])
def test_the_option_is_taken_by_every_command_about_a_point(command: str) -> None:
    code, out, _ = call(command, "max(x, y)", "--x", "1", "--y", "1", "--convention", "tensorflow")
    assert code in (0, 1)
    assert "∂f/∂y" in out
    assert backprop.grad("max(x, y)", {"x": 1, "y": 1}, convention="tensorflow")[1] == {"x": 1.0, "y": 0.0}


# -- the data ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_every_rule_of_a_framework_is_about_a_row_and_can_be_read(name: str) -> None:
    found = framework(name)
    for choice in found.choices:
        row = ops.by_name(choice.row)
        arity = 3 if row.variadic else len(row.parameters)
        texts = choice.rules((True,) * arity)
        assert len(texts) == arity
        for text in (*texts, choice.when or None):
            assert text is None or formula(text if text != choice.when else f"where({text}, 1, 0)", row, arity)
        assert ":" in choice.source
    for row_name in (*found.zeros, *found.missing, *found.written, *found.remarks, *found.raises, *found.floats):
        ops.by_name(row_name)
    assert found.version
    assert found.source


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_away_from_kinks_and_poles_every_framework_gives_the_derivative(name: str) -> None:
    for row in ops.elementwise():
        if row.gives_condition or row.conditions or row.name in framework(name).missing or row.name == "copy":
            continue
        for operands in row.samples:
            names = "xyzabc"[: len(operands)]
            if row.form:
                put = dict(zip(row.parameters, names, strict=True))
                program = re.sub(r"[xy]", lambda found, put=put: put[found[0]], row.form)
            else:
                program = f"{row.called[0]}({', '.join(names)})"
            point = dict(zip(names, operands, strict=True))
            theirs, ours = at(program, point, convention=name).gradient(), at(program, point).gradient()
            for x in point:
                if isinstance(ours[x], float):  # (-2)^3 has no derivative in its exponent
                    assert same(theirs[x], ours[x]), (program, point, x)


def test_both_branches_are_worked_out_there_and_only_one_here() -> None:
    program = "where(x > 0, sqrt(x), 0)"
    assert slopes("minimum-norm", program, x=-1.0) == [0.0]
    assert all(math.isnan(slopes(name, program, x=-1.0)[0]) for name in ("torch", "jax", "autograd"))
    found = backprop.trace(program, {"x": -1}, convention="torch").birth
    assert found is not None
    assert (found.node, found.command) == ("v2", 'backprop trace "v2 = sqrt(x)" x=-1 --convention torch')


# -- opinions ---------------------------------------------------------------------------------------------------------


def verdicts(program: str, **inputs: float) -> dict[str, str]:
    return {one.by: one.verdict for one in opinions(program, inputs).opinions}


def test_where_there_is_a_derivative_only_that_is_right() -> None:
    found = verdicts("relu(x) - relu(-x)", x=0)
    assert {found[name] for name in ("minimum-norm", "mean", "left", "right", "nan")} == {"right"}
    assert {found[name] for name in ("torch", "jax", "tensorflow")} == {"wrong"}
    assert {found[name] for name in ("autograd", "casadi")} == {"not told"}


def test_at_a_kink_every_subgradient_is_possible_and_nan_is_wrong() -> None:
    found = verdicts("abs(x)", x=0)
    assert {found[name] for name in FRAMEWORKS} == {"possible"}
    assert found["nan"] == "not told"
    found = verdicts("sqrt(x*x)", x=0)
    assert {found[name] for name in ("torch", "jax", "tensorflow", "autograd")} == {"wrong"}
    assert found["casadi"] == "not told"  # it makes fabs(x) of it before its rules are asked
    assert Truth("corner", left=-1.0, right=1.0).judge(1.5) == "wrong"


def test_numbers_that_are_possible_one_by_one_need_not_be_together() -> None:
    found = {one.by: one for one in opinions("max(x, y)", {"x": 1, "y": 1}).opinions}
    assert (found["left"].gradient, found["left"].verdict) == ({"x": 0.0, "y": 0.0}, "apart")
    assert found["right"].verdict == "apart"
    assert {found[name].verdict for name in ("minimum-norm", "mean", *FRAMEWORKS)} == {"possible"}
    assert verdicts("abs(x) + abs(y)", x=0, y=0)["left"] == "possible"


def test_where_there_is_nothing_a_number_is_wrong_and_nan_is_right() -> None:
    assert verdicts("log(x)", x=-1)["torch"] == "wrong"
    assert verdicts("x*log(x)", x=0)["torch"] == "right"
    assert verdicts("sqrt(x)", x=0)["jax"] == "right"  # it rises without bound, to the right


def test_what_raises_or_is_not_there_is_said() -> None:
    found = {one.by: one for one in opinions("clip(x, y, 1)", {"x": 0, "y": 0}).opinions}
    assert found["autograd"].gradient == {"x": "raises", "y": "raises"}
    assert found["casadi"].gradient == {"x": "not offered", "y": "not offered"}
    assert found["casadi"].remarks == ["it has no clip(x, lo, hi)"]
    (told,) = [one for one in opinions("1/x", {"x": 0}).opinions if one.by == "autograd"]
    assert told.remarks == ["on a Python float, not an array, div raises ZeroDivisionError here"]


@pytest.mark.parametrize(
    ("name", "program", "point"),
    [
        ("max", "max(x, 0)", {"x": "0"}),
        ("root", "sqrt(x*x)", {"x": "0"}),
        ("where", "where(x > 0, sqrt(x), 0)", {"x": "0"}),
        ("tie", "max(x, y)*clip(x, 0, 1)", {"x": "1", "y": "1"}),
        ("log", "x*log(x)", {"x": "0"}),
    ],
)
def test_the_table_of_opinions_stands_as_it_was_read(
    name: str, program: str, point: dict[str, str], golden: Any
) -> None:
    words = [word for x, value in point.items() for word in (f"--{x}", value)]
    code, out, err = call("conventions", program, *words)
    assert (code, err) == (0, "")
    golden(f"conventions.{name}.txt", out)


def test_the_json_of_opinions_holds_everything() -> None:
    code, out, _ = call("conventions", "max(x, y)", "x=2", "y=2", "--wrt", "y", "--format", "json")
    assert code == 0
    record = json.loads(out)
    assert record["truth"] == {"y": {"sort": "corner", "left": 0.0, "right": 1.0}}
    by = {one["by"]: one for one in record["opinions"]}
    assert list(by) == ["minimum-norm", "mean", "left", "right", "nan", *FRAMEWORKS]
    assert by["nan"]["gradient"] == {"y": "NaN"}
    assert by["torch"]["sources"] == ["tools/autograd/derivatives.yaml: maximum halves it where self == other"]
    assert {one["verdicts"]["y"] for one in record["opinions"]} == {"possible", "not told"}
    assert by["torch"].keys() == {"by", "title", "gradient", "verdicts", "sources"}


# -- the frameworks themselves ----------------------------------------------------------------------------------------

# Kinds of surprising composite, and points at which they surprise.
COMPOSITES = (
    "relu(x) - relu(-x)", "max(x, 0) - max(-x, 0)", "(x + abs(x))/2", "where(x > 0, x, 0)", "max(0, x) + min(0, x)",
    "sqrt(x^2)", "sqrt(x*x) + abs(x)", "x*log(x)", "x*sqrt(x)", "sqrt(x)^2", "sqrt(abs(x))", "log(relu(x))",
    "log(max(x, 0))", "sqrt(relu(x))", "sqrt(max(x, 0))*0", "exp(-sqrt(x^2)^2)", "clip(x, 0, 1)*clip(x, -1, 0)",
    "where(x > 0, log(x), 0)", "where(x > 0, 1/x, x)", "where(x == 0, 1, sin(x)/x)", "where(abs(x) < 1, x^2, sqrt(x))",
    "floor(x)*x", "floor(sqrt(x))", "sign(x)*x^2", "round(x)^2 + log(x)*0", "max(x, x)", "max(x, 2*x, 3*x)",
    "min(x, -x, 0)", "max(x, 0, 1)", "abs(abs(x) - 1)", "leaky_relu(x)*relu(x)", "elu(x) - relu(x)", "x^0.5", "x^1.5",
    "x^-1", "0*(1/x)", "0*log(x)", "tanh(1/x)", "exp(-1/x^2)", "(x^2)^0.5", "log(1 + exp(x))", "exp(x)/(1 + exp(x))",
    "log(exp(x) + exp(2*x))", "relu(x)^2", "sqrt(relu(x)^2)", "log(abs(x))", "acos(x)^2", "asin(clip(x, -1, 1))",
    "where(x > 0 and x < 2, sqrt(x*(2 - x)), 0)", "sqrt(1 - x^2)", "hypot(x, 0)", "hypot(x, x)", "atan2(x, x)",
    "atan2(x, 1)", "sinc(x)*x", "logaddexp(x, x)", "xlogy(x, x)", "relu(log(x))", "max(log(x), 0)", "x % 2",
)  # fmt: skip
POINTS = (0.0, 1.0, -1.0, 0.5, 2.0, -2.0, 800.0, -800.0)

# What another number comes of than a rule: constants in single precision, a pole, a factorial taken as 0.
ROUNDED = {("tensorflow", "gelu"): 1e-6, ("tensorflow", "leaky_relu"): 1e-7}
APART = {
    ("jax", "factorial"),
    ("jax", "digamma"),
    ("tensorflow", "digamma"),
    ("tensorflow", "erf"),
    ("torch", "polygamma"),
}


@pytest.fixture(scope="module")
def quiet() -> Iterator[None]:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def installed(name: str) -> None:
    """Skip, with its name, where the framework is not installed.

    Only under the mark `peers`, in which nobody has to have all five; the facts themselves are tested without them.
    """
    try:
        importlib.import_module(name)
    except ImportError:
        pytest.skip(f"{name} is not installed")


def compare(name: str, program: str, point: dict[str, float], tolerance: float = 1e-9) -> str | None:
    """What is wrong between the framework and the convention called after it; None when they are one."""
    try:
        value, theirs = peers.PEERS[name](program, point)
    except peers.NotOffered:
        return None
    here = at(program, point, convention=name)
    ours = here.gradient()
    wrong = not same(here.value(), value, tolerance) or any(not same(ours[x], theirs[x], tolerance) for x in point)
    if wrong and framework(name).simplifies and not all(map(math.isfinite, [here.value(), *ours.values()])):
        return None  # what has no number by the rules may have one after simplification
    return f"{program} at {point}: {name} gives {value} {theirs}, we {here.value()} {ours}" if wrong else None


@pytest.mark.peers
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_every_fact_is_what_the_framework_gives(name: str, quiet: None) -> None:
    installed(name)
    for program, point, of, expected in facts():
        if of == name:
            _, theirs = peers.PEERS[name](program, {x: float(v) for x, v in point.items()})
            assert all(same(one, fact, 1e-7) for one, fact in zip(theirs.values(), expected, strict=True)), program


@pytest.mark.peers
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_every_composite_is_what_the_framework_gives(name: str, quiet: None) -> None:
    installed(name)
    wrong = [compare(name, program, {"x": x}) for program in COMPOSITES for x in POINTS]
    assert [one for one in wrong if one] == []


def rows_at_corners() -> Iterator[tuple[str, str, dict[str, float]]]:
    """Every row at corners, each of its operands once a variable and once a number."""
    for row in ops.elementwise():
        if row.gives_condition or row.conditions or row.name == "copy":
            continue
        arity = 2 if row.variadic else len(row.parameters)
        corners = {1: (0, 1, -1, 2, -3, 0.5, 30, -800), 2: (0, 1, -1, 2, -0.5), 3: (0, 1, -1, 2)}[arity]
        for moving in itertools.product((True, False), repeat=arity):
            if not any(moving):
                continue
            for operands in itertools.product(corners, repeat=arity):
                names = "xyz"[:arity]
                if row.name == "clip" and operands[1] > operands[2]:
                    continue  # which bound wins is another question
                if row.name == "polygamma" and (moving[0] or operands[0] not in (0, 1, 2) or operands[1] <= 0):
                    continue
                if row.name in ("digamma", "gamma", "lgamma") and operands[0] < 0:
                    continue
                texts = [name if moves else f"({x})" for name, moves, x in zip(names, moving, operands, strict=True)]
                if row.form:
                    put = dict(zip(row.parameters, texts, strict=True))
                    program = re.sub(r"[xy]", lambda found, put=put: put[found[0]], row.form)
                else:
                    program = f"{row.called[0]}({', '.join(texts)})"
                yield row.name, program, {n: float(x) for n, m, x in zip(names, moving, operands, strict=True) if m}


@pytest.mark.peers
@pytest.mark.parametrize("name", FRAMEWORKS)
def test_every_row_at_corners_is_what_the_framework_gives(name: str, quiet: None) -> None:
    installed(name)
    wrong, offered = [], set()
    for row, program, point in rows_at_corners():
        if (name, row) in APART:
            continue
        try:
            found = compare(name, program, point, ROUNDED.get((name, row), 1e-9))
            peers.PEERS[name](program, point)
        except peers.NotOffered:
            continue
        except Exception:  # whatever a framework raises; where it does is told by the row
            assert set(framework(name).raises).issuperset({row}) or row == "mod", (name, program)
            continue
        offered.add(row)
        wrong += [found] if found else []
    assert wrong == []
    smooth = {row.name for row in ops.elementwise() if not row.gives_condition and not row.conditions}
    assert smooth - offered - {"copy"} - {row for _, row in APART if (name, row) in APART} == framework(name).missing
