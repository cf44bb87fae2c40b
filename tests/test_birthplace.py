"""Where a NaN was born: the first of them, who made it, and a program of a line or two that makes it again."""

from __future__ import annotations

import json
import math
import shlex
import time
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import backprop
from backprop import ops
from backprop.record import Birth, Trace
from backprop.schema import schema
from command import call
from conftest import Golden


def born(program: str, **inputs: float | str) -> Birth:
    found = backprop.trace(program, inputs, undefined="propagate", check=False).birth
    assert found is not None
    return found


# program, inputs, node, as what, a part of why
CASES = (
    ("a = x*y; b = log(a); b + x", {"x": -1, "y": 2}, "b", "value", "log of a negative number, it needs a > 0"),
    ("1 + log(x)", {"x": 0}, "v1", "value", "log of 0, it needs x > 0"),
    ("y/x + 1", {"x": 0, "y": 2}, "v1", "value", "division by 0"),
    ("y/(-x)", {"x": 0, "y": 2}, "f", "value", "division by -0"),
    ("sin(x)/x", {"x": 0}, "f", "value", "0/0"),
    ("sqrt(x - 2)*0", {"x": 1}, "v2", "value", "sqrt of a negative number, it needs v1 >= 0"),
    ("acos(x)^2", {"x": 2}, "v1", "value", "acos of 2, it needs -1 <= x and x <= 1"),
    ("gamma(x) + 1", {"x": -3}, "v1", "value", "gamma of -3, it needs x > 0 or x != floor(x)"),
    ("x^y", {"x": -8, "y": "1/3"}, "f", "value", "(-8)^0.333333 has no finite value"),
    ("x % y", {"x": 3, "y": 0}, "f", "value", "3 % 0 has no finite value, it needs y != 0"),
    ("exp(x) + 1", {"x": 800}, "v1", "value", "overflow: exp(800) is beyond the largest double"),
    ("(x*x - x*x)*1", {"x": 1e200}, "v1", "value", "overflow: 1e+200*1e+200 is beyond the largest double"),
    ("1/(1 + exp(-x))", {"x": -800}, "v2", "value", "overflow: exp(800)"),
    ("log(x) - log(x)", {"x": 0}, "v1", "value", "becomes NaN at f = v1 - v2: -inf - (-inf)"),
    ("exp(x) - exp(x)", {"x": 999}, "v1", "value", "becomes NaN at f = v1 - v2: inf - inf"),
    ("x*log(x)", {"x": 0}, "v1", "value", "becomes NaN at f = x*v1: 0·(-inf)"),
    ("1/exp(x)*exp(x)", {"x": 800}, "v3", "value", "becomes NaN at f = v2*v3: 0·inf"),
    ("sqrt(x)^2", {"x": 0}, "x", "adjoint", "0·inf on edge ∂v1/∂x: its partial is infinite at x = 0"),
    ("sqrt(x*x + y*y)", {"x": 0, "y": 0}, "v3", "adjoint", "the partial on edge ∂f/∂v3 is inf at v3 = 0"),
    ("asin(x) + 1", {"x": 1}, "x", "adjoint", "the partial on edge ∂v1/∂x is inf at x = 1"),
    ("a = x*1e200; 1e200*(a*x)", {"x": 1e-60}, "x", "adjoint", "overflow: 1e+140 · 1e+200 on edge ∂a/∂x"),
    ("x*1e308 + x*1e308", {"x": 0}, "x", "adjoint", "overflow: the sum 1e+308 + 1e+308 where edges meet at x"),
    ("x - x", {"x": "inf"}, "x", "value", "the input x came in as inf; it becomes NaN at f = x - x: inf - inf"),
    ("a = 2*x; sin(a)", {"x": "nan"}, "x", "value", "the input x came in as NaN"),
    ("x*inf", {"x": 0}, "inf", "value", "the constant inf; it becomes NaN at f = x*inf: 0·inf"),
    ("1e400*x", {"x": 0}, "1e400", "value", "1e400 is beyond the largest double"),
)  # fmt: skip


@pytest.mark.parametrize(("program", "inputs", "node", "what", "why"), CASES, ids=[case[0] for case in CASES])
def test_the_birthplace_is_the_first_node_and_says_why(
    program: str, inputs: dict[str, float | str], node: str, what: str, why: str
) -> None:
    found = born(program, **inputs)
    assert (found.node, found.what) == (node, what)
    assert why in found.why


def test_what_spreads_further_is_not_blamed_and_neither_is_what_dies_out() -> None:
    # exp(800) is an infinity that ends in a 0; the NaN comes from the logarithm
    found = born("a = 1/exp(x); b = log(y); a*b + b^2", x=800, y=-1)
    assert (found.node, found.operands) == ("b", {"y": -1.0})


def test_there_is_none_where_nothing_is_wrong_or_the_wrong_branch_is_not_taken() -> None:
    for program in ("x^2", "where(x > 0, 1/x, x)", "min(x, inf)"):
        assert backprop.trace(program, {"x": 0}, undefined="propagate").birth is None


def test_of_a_choice_only_the_branch_taken_is_followed() -> None:
    found = backprop.trace(
        "where(x > 0, log(y), sqrt(z))", {"x": 1, "y": -1, "z": -2}, convention="torch", check=False
    ).birth
    assert found is not None
    assert (found.node, found.inputs) == ("v2", {"y": -1.0})
    found = backprop.trace("where(x > 0, log(y), sqrt(z))", {"x": -1, "y": -1, "z": -2}, convention="jax").birth
    assert found is not None
    assert found.program == "v3 = sqrt(z)"


def test_an_infinity_that_does_no_harm_is_told_all_the_same() -> None:
    trace = backprop.trace("tanh(exp(x))", {"x": 800}, undefined="propagate", check=False)
    assert trace.value == 1.0
    assert trace.birth is not None
    assert trace.birth.node == "v1"


def test_the_program_is_the_operation_alone_with_its_operands_as_inputs() -> None:
    found = born("a = x*y; b = a - 3; c = log(b)*x; c^2 + b", x=1, y=2)
    assert (found.program, found.inputs) == ("v1 = log(b)", {"b": -1.0})
    assert found.command == 'backprop trace "v1 = log(b)" b=-1 --undefined propagate'


def test_an_infinity_that_becomes_nan_is_followed_as_far_as_that() -> None:
    found = born("a = exp(x); b = a*2; c = b - a*1; c + x", x=999)
    assert (found.node, found.program) == ("a", "a = exp(x); b = a*2; c = b - v1")
    assert found.inputs == {"x": 999.0, "v1": math.inf}
    assert born("3 + x*y", x="inf", y=0).command == 'backprop trace "v1 = x*y" x=inf y=0 --undefined propagate'
    code, out, _ = call("grad", "c = exp(x); c - exp(x)", "x=999", "--undefined", "propagate")
    assert (code, out) == (0, "f     = NaN\n∂f/∂x = NaN\n")


def test_a_number_beyond_all_doubles_is_its_own_program() -> None:
    assert born("1e400*x", x=1).command == 'backprop trace "1e400" --undefined propagate'
    assert born("1e400*x", x=0).command == 'backprop trace "f = 1e400*x" x=0 --undefined propagate'


def test_of_an_adjoint_the_program_is_what_lies_behind_it_with_numbers_for_the_rest() -> None:
    found = born("a = x*y; b = sqrt(a); c = w*b; c + exp(w)", x=0, y=3, w=0)
    assert (found.program, found.inputs) == ("b = sqrt(a); c = 0*b; f = c + 1", {"a": 0.0})
    assert found.edge == ("a", "b", 0)


def test_a_long_way_to_the_output_is_cut_short() -> None:
    steps = "".join(f"c{i} = 2*c{i - 1}; " for i in range(1, 200))
    found = born(f"c0 = sqrt(x); {steps} c199*0", x=0)
    assert (found.program, found.inputs) == ("c0 = sqrt(x); 0*c0", {"x": 0.0})


def test_a_name_bound_again_and_a_factorial_give_lines_that_can_be_typed() -> None:
    found = born("c = x; c = c - 2; c = log(c); c", x=1)
    assert (found.node, found.program) == ("c~3", "c_3 = log(c_2)")
    assert born("x!", x=-2).command == "backprop trace 'f = x!' x=-2 --undefined propagate"


def test_the_table_the_note_and_json_tell_it(tmp_path: Path) -> None:
    program = tmp_path / "net.bp"
    program.write_text("input x = 0\nh = sqrt(x)\nL = log(h)*x\n", encoding="utf-8")
    code, out, _ = call("trace", "--file", str(program), "--undefined", "propagate")
    assert code == 0
    assert "note: the first NaN or infinity is born at v1 = log(h), h = 0: log of 0, it needs h > 0" in out
    assert 'to see it alone: backprop trace "v1 = log(h); L = v1*x" h=0 x=0 --undefined propagate' in out
    _, text, _ = call("trace", "--file", str(program), "--undefined", "propagate", "--format", "json")
    record = json.loads(text)
    jsonschema.validate(record, schema())
    assert record["birth"]["inputs"] == {"h": 0.0, "x": 0.0}
    assert Trace.from_json(text).birth == backprop.trace(program.read_text(), undefined="propagate").birth
    assert call("render", "-", stdin=text)[1] == out


@pytest.mark.parametrize(
    ("name", "program", "point"),
    [
        ("value", "a = x*y; h = sqrt(a); log(h)*x", ("x=0", "y=3")),
        ("adjoint", "a = x^2 + y^2; r = sqrt(a); exp(-r^2)", ("x=0", "y=0")),
        ("input", "a = 2*x; sin(a) - a", ("x=nan",)),
    ],
)
def test_the_trace_with_a_birthplace_stands_as_it_was_read(
    name: str, program: str, point: tuple[str, ...], golden: Golden
) -> None:
    code, out, err = call("trace", program, *point, "--undefined", "propagate")
    assert (code, err) == (0, "")
    golden(f"birthplace.{name}.txt", out)


def test_forward_mode_propagates_too() -> None:
    words = ("sqrt(x)^2", "x=0", "--mode", "forward", "--wrt", "x", "--undefined", "propagate")
    code, out, _ = call("trace", *words)
    assert code == 0
    assert "NaN" in out
    assert "0·inf on edge ∂v1/∂x" in out


def test_it_is_found_quickly_in_a_program_of_thousands_of_nodes() -> None:
    lines = ["a0 = x"] + [f"a{i} = tanh(a{i - 1}*1.01 + {i % 7}) - 0.{i % 9}" for i in range(1, 5000)]
    lines.append("sqrt(a4999 - a4999)*0 + log(a2500 - 100)")
    here = backprop.compile("\n".join(lines))
    began = time.process_time()
    found = backprop.trace(here, {"x": 0.3}, undefined="propagate", check=False).birth
    assert found is not None
    assert "log of a negative number" in found.why
    assert time.process_time() - began < 20


# -- any program ------------------------------------------------------------------------------------------------------

NASTY = (
    ("({0} + {1})", 2), ("({0} - {1})", 2), ("{0}*{1}", 2), ("({0})/({1})", 2), ("({0})^({1})", 2), ("({0})^2", 1),
    ("log({0})", 1), ("sqrt({0})", 1), ("exp({0})", 1), ("abs({0})", 1), ("relu({0})", 1), ("max({0}, {1})", 2),
    ("min({0}, {1}, 0.5)", 2), ("where({0} > {1}, sqrt({0}), {1}/{0})", 2), ("asin({0})", 1), ("atanh({0})", 1),
    ("({0}) % ({1})", 2), ("gamma({0})", 1), ("-({0})", 1), ("1e200*{0}", 1), ("hypot({0}, {1})", 2), ("acosh({0})", 1),
    ("clip({0}, {1}, 1)", 2), ("logaddexp({0}, {1})", 2), ("xlogy({0}, {1})", 2), ("log({0}, {1})", 2),
    ("({0} if {1} == 0 or {0} < 1 else {1}^3)", 2), ("cbrt({0})", 1), ("atan2({0}, {1})", 2), ("1/({0})", 1),
)  # fmt: skip
POINTS = st.sampled_from(("0", "1", "-1", "2", "-0.5", "1e200", "-0", "1e-200", "0.3", "-3", "700", "inf", "nan"))


@st.composite
def nasty(draw: st.DrawFn) -> str:
    known, lines = ["x", "y"], []
    for place in range(draw(st.integers(1, 5))):
        template, count = draw(st.sampled_from(NASTY))
        lines.append(f"n{place} = " + template.format(*(draw(st.sampled_from(known)) for _ in range(count))))
        known.append(f"n{place}")
    return "; ".join([*lines, " + ".join(draw(st.permutations(known))[: draw(st.integers(1, 3))])])


def check_that_the_slice_does_the_same(program: str, inputs: dict[str, str]) -> None:
    trace = backprop.trace(program, inputs, undefined="propagate", check=False)
    found = trace.birth
    if found is None:
        given = [value for value in trace.inputs.values() if isinstance(value, float)]
        if all(map(math.isfinite, given)):
            assert isinstance(trace.value, float)
            assert math.isfinite(trace.value)
            assert all(isinstance(slope, float) and math.isfinite(slope) for slope in trace.gradient.values())
        return
    words = shlex.split(found.command)
    assert words[:2] == ["backprop", "trace"]
    code, out, err = call(*words[1:], "--no-check", "--format", "json")
    assert code == 0, err
    again = Trace.from_json(out)
    assert again.birth is not None, found
    assert again.birth.what == found.what
    node, twin = trace.node(found.node), again.node(again.birth.node)
    if found.what == "value":
        assert "becomes NaN" not in found.why or again.value != again.value
        assert node.op == twin.op or node.op == "const"
        assert str(node.value) == str(twin.value)
    else:
        assert str(node.adjoint) == str(twin.adjoint)
        assert (found.edge is None) == (again.birth.edge is None)
        if found.edge is not None and again.birth.edge is not None:
            assert trace.node(found.edge[1]).op == again.node(again.birth.edge[1]).op
            assert found.edge[2] == again.birth.edge[2]
    assert len(again.nodes) <= max(3, 2 * len(trace.nodes))


@settings(deadline=None, max_examples=150)
@given(nasty(), POINTS, POINTS)
def test_the_slice_of_any_program_sees_the_same_born_at_the_same_operation(program: str, x: str, y: str) -> None:
    check_that_the_slice_does_the_same(program, {"x": x, "y": y})


@pytest.mark.slow
@settings(deadline=None, max_examples=3000)
@given(nasty(), POINTS, POINTS)
def test_the_slice_of_very_many_programs_does(program: str, x: str, y: str) -> None:
    check_that_the_slice_does_the_same(program, {"x": x, "y": y})


def test_every_operation_can_stand_in_a_slice() -> None:
    for row in ops.elementwise():
        if row.gives_condition or row.conditions or row.name == "copy":
            continue
        names = ["x", "y", "z"][: 2 if row.variadic else len(row.parameters)]
        text = row.form or f"{row.called[0]}({', '.join(names)})"
        for mark, name in zip(row.parameters if row.form else (), names, strict=False):
            text = text.replace(mark, name)
        check_that_the_slice_does_the_same(f"a = {text}; a*2", dict.fromkeys(names, "0"))
