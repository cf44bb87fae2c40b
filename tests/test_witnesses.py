"""The witnesses: they agree where a number is right, and object, by name, where a rule is wrong."""

from __future__ import annotations

import dataclasses
import json
import math
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from backprop import ops, rules, sympy_child, tracing
from backprop.accuracy.fine import Fine
from backprop.graph import Graph
from backprop.kinds import Hole, Kind
from backprop.kinds.digits import Digits
from backprop.notes import notes
from backprop.ops import ATOM, SUM, Row
from backprop.point import Point, at
from backprop.record import Note, Trace, Witness
from backprop.reverse import Reverse, reverse
from backprop.rules import Partials
from backprop.witnesses import child, differences, modes, sympy_rules, verify
from backprop.witnesses.child import Answers
from backprop.writing import written
from programs import points, programs

CALLED = [row for row in ops.elementwise() if not row.gives_condition]


def said(witnesses: list[Witness], of: str, by: str) -> Witness:
    found = [witness for witness in witnesses if witness.of == of and witness.by == by]
    assert len(found) == 1, witnesses
    return found[0]


def note(notes: list[Note], code: str) -> Note:
    found = [one for one in notes if one.code == code]
    assert len(found) == 1, notes
    return found[0]


def verdicts(program: str, **inputs: float | str) -> set[str]:
    return {witness.verdict for witness in verify(at(program, inputs))[0]}


def rules_witness(point: Point) -> list[Witness]:
    """Witness 1 without its process, which takes most of a second to start."""
    questions = sympy_rules.questions(point)
    answers = Answers(slopes={place: sympy_child.local(group) for place, group in enumerate(questions.groups)})
    return sympy_rules.testify(point, questions, answers, Fine(point))


def tried(row: Row, sample: ops.Operands) -> Point:
    """A program of one operation at operands of the table."""
    names = [f"a{place}" for place in range(len(sample))]
    operands = [(f"{name} > 0", SUM) if i in row.conditions else (name, ATOM) for i, name in enumerate(names)]
    inputs = {
        name: 2.0 * value - 1.0 if isinstance(value, bool) else value for name, value in zip(names, sample, strict=True)
    }
    return at(written(row, operands)[0], inputs)


@contextmanager
def planted(row: Row, rules_instead: tuple[str | None, ...]) -> Iterator[None]:
    """The table with other rules for one operation."""
    ops.rows()[row.code] = dataclasses.replace(row, partials=rules_instead, stable=None)
    rules.rules.cache_clear()
    try:
        yield
    finally:
        ops.rows()[row.code] = row
        rules.rules.cache_clear()


def faults(row: Row, sample: ops.Operands, point: Point) -> Iterator[tuple[str, tuple[str | None, ...]]]:
    """Rules wrong by one part in a thousand, by a sign, and by a thousandth at negative arguments alone."""
    output = point.graph.output
    moving = tuple(bool(point.moving[source]) for source in point.graph.operands(output))
    right = row.evaluated_rules(moving)
    for position, rule in enumerate(right):
        slope = point.partials.values[point.graph.offsets[output] + position]
        if rule is None or not isinstance(slope, float) or slope == 0:
            continue  # a thousandth of nothing is nothing
        name = row.names(len(sample))[position]
        wrongs = {"a thousandth": f"({rule})*1.001", "its sign": f"-({rule})"}
        if sample[position] < 0:
            wrongs["a thousandth below 0"] = f"where({name} < 0, ({rule})*1.001, {rule})"
        for fault, wrong in wrongs.items():
            yield f"operand {position + 1} off by {fault}", (*right[:position], wrong, *right[position + 1 :])


# -- every row ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", CALLED, ids=lambda row: row.name)
def test_sympy_and_every_rule_agree_and_a_wrong_rule_is_caught_and_named(row: Row) -> None:
    for sample in row.samples:
        point = tried(row, sample)
        assert [w.verdict for w in rules_witness(point)] in ([], ["agrees"]), sample
        for fault, wrong in faults(row, sample, point):
            with planted(row, wrong):
                found = rules_witness(tried(row, sample))
            named = [
                w for w in found if w.verdict == "DISAGREES" and (w.reason or "").startswith(f"{row.name} at node")
            ]
            assert named, (sample, fault, found)


@pytest.mark.parametrize("row", CALLED, ids=lambda row: row.name)
def test_differences_alone_catch_a_wrong_rule(row: Row) -> None:
    for sample in row.samples[:1]:
        point = tried(row, sample)
        assert "DISAGREES" not in {w.verdict for w in differences.testify(point, Fine(point))}
        for fault, wrong in faults(row, sample, point):
            with planted(row, wrong):
                point = tried(row, sample)
                found = differences.testify(point, Fine(point))
            assert "DISAGREES" in {w.verdict for w in found}, (sample, fault, found)


@pytest.mark.parametrize("row", CALLED, ids=lambda row: row.name)
def test_the_rule_shown_and_the_rule_evaluated_are_one_function(row: Row) -> None:
    kind = Digits(60)
    for sample in row.samples:
        moving = tuple(place not in row.conditions for place in range(len(sample)))
        operands = [value if isinstance(value, bool) else kind.from_double(value) for value in sample]
        out = kind.apply(row, operands)
        for shown, evaluated in zip(row.rules(moving), row.evaluated_rules(moving), strict=True):
            if shown is None or shown == evaluated:
                continue
            one = rules.formula(shown, row, len(sample)).evaluate(kind, operands, out)
            assert evaluated is not None
            other = rules.formula(evaluated, row, len(sample)).evaluate(kind, operands, out)
            if rules.Hole in (type(one), type(other)):
                assert type(one) is type(other), (sample, shown, evaluated)
            else:
                assert abs(one - other) <= abs(one) * kind.number("1e-40"), (sample, shown, evaluated)


def test_a_wrong_rule_makes_the_whole_trace_disagree_and_is_blamed_by_every_witness() -> None:
    row = ops.by_name("tanh")
    with planted(row, ("(1 - out^2)*1.001",)):
        witnesses, _ = verify(at("z = w*x; h = tanh(z); (h - y)^2", {"w": 0.7, "x": 2, "y": 1}, wrt=["w", "y"]))
    for by in ("sympy", "difference"):
        assert said(witnesses, "w", by).verdict == "DISAGREES"
        assert "tanh at node h, operand 1" in (said(witnesses, "w", by).reason or "")
        assert said(witnesses, "y", by).verdict == "agrees"  # y does not pass through tanh
    assert said(witnesses, "all", "sympy rules").verdict == "DISAGREES"
    assert said(witnesses, "w", "forward mode").verdict == "agrees"  # the engines share the wrong partial


def test_a_slope_of_0_where_it_is_small_is_caught() -> None:
    with planted(ops.by_name("mul"), ("y", "0")):
        witnesses, _ = verify(at("1e-6*x^2", {"x": 1}))
    assert said(witnesses, "x", "difference").verdict == "DISAGREES"
    assert said(witnesses, "x", "difference").value == 2e-6


def scalar_cases() -> list[dict[str, Any]]:
    cases = json.loads((Path(__file__).parent / "cases" / "handed.json").read_text(encoding="utf-8"))
    return [
        case
        for case in cases
        if isinstance(case["expect"].get("grad"), dict)
        and not any(isinstance(x, list) for x in case["inputs"].values())
    ]


@pytest.mark.parametrize("case", scalar_cases(), ids=lambda case: case["id"])
def test_differences_find_the_known_slopes_of_the_worked_cases(case: dict[str, Any]) -> None:
    point = at(case["program"], case["inputs"])
    tolerance = case["tolerance"]
    for witness in differences.testify(point, Fine(point)):
        expected = case["expect"]["grad"].get(witness.of)
        assert witness.verdict != "DISAGREES", witness
        if isinstance(expected, float) and isinstance(witness.value, float):
            # where doubles go to 0 on the way the cases expect that 0, and many digits find what is left
            allowed = max(tolerance["abs"] + tolerance["rel"] * abs(expected), 1e-300)
            assert abs(witness.value - expected) <= allowed, witness
        if isinstance(expected, dict) and "right" in expected and isinstance(expected["left"], float):
            assert "kink" in (witness.reason or ""), witness


# -- kinks, edges and singular points -----------------------------------------------------------------------------


def test_just_beside_a_kink_there_is_none() -> None:
    assert verdicts("relu(x)", x=1e-7) == {"agrees"}
    assert verdicts("relu(x + y)", x=0, y=1e-25) == {"agrees"}
    assert verdicts("relu(x)", x=-1e-300) == {"agrees"}


@pytest.mark.parametrize(
    ("program", "inputs", "low", "high"),
    [
        ("abs(x)*y", {"x": 0, "y": 3}, "-3", "3"),
        ("max(0, x)", {"x": 0}, "0", "1"),
        ("where(x < 1, x, sqrt(x))", {"x": 1}, "0.5", "1"),
    ],
)
def test_at_a_kink_the_number_has_to_lie_between_the_slopes_of_both_sides(
    program: str, inputs: dict[str, float], low: str, high: str
) -> None:
    difference = said(verify(at(program, inputs))[0], "x", "difference")
    assert difference.verdict == "agrees"
    assert f"between {low} and {high}" in (difference.reason or "")


def test_kinks_that_cancel_are_not_believed() -> None:
    # relu(x) - relu(-x) is x, whose slope is 1; the convention at each kink gives 0
    point = at("relu(x) - relu(-x)", {"x": 0})
    assert (point.by_rules(), point.gradient()) == ({"x": 0.0}, {"x": 1.0})
    assert verdicts("relu(x) - relu(-x)", x=0) == {"agrees", "not checked"}


@pytest.mark.parametrize(
    ("program", "inputs", "slopes"),
    [
        ("sqrt(x^2 + y^2)^2", {"x": 0, "y": 0}, {"x": 0.0, "y": 0.0}),
        ("sqrt(x)^2", {"x": 0}, {"x": 1.0}),  # from the right
        ("sqrt(x^2)", {"x": 0}, {"x": 0.0}),  # a corner: the smallest number between -1 and 1
        ("where(x == 0, 0, x)", {"x": 0}, {"x": 1.0}),
        ("relu(x) - 2*relu(-x)", {"x": 0}, {"x": 1.0}),  # 2 from the left, 1 from the right
        ("1/(1 + exp(-x))", {"x": -1000}, {"x": 0.0}),  # exp(1000) overflows; the slope is 5e-435
    ],
)
def test_where_the_rules_cannot_tell_the_slope_the_values_beside_the_point_do(
    program: str, inputs: dict[str, float], slopes: dict[str, float]
) -> None:
    point = at(program, inputs)
    assert point.gradient() == slopes != point.by_rules()


@pytest.mark.parametrize("program", ["sqrt(x)", "(x^2)^(1/4)", "sqrt(abs(x))", "x^0.3*y^0.7", "sqrt(x*y)"])
def test_an_infinite_slope_or_one_that_depends_on_the_direction_stays_undefined(program: str) -> None:
    point = at(program, {"x": 0, "y": 0} if "y" in program else {"x": 0})
    assert all(isinstance(slope, Hole) for slope in point.gradient().values())


def test_a_wrong_rule_at_a_single_kink_is_not_taken_for_a_convention() -> None:
    with planted(ops.by_name("abs"), ("where(x == 0, 5, sign(x))",)):
        point = at("3*abs(x)", {"x": 0})
        difference = said(differences.testify(point, Fine(point)), "x", "difference")
    assert difference.verdict == "DISAGREES"
    assert "15 does not lie between" in (difference.reason or "")


@pytest.mark.parametrize("edge", range(4))
def test_an_engine_that_drops_an_edge_is_caught_by_forward_mode_and_by_differences(
    edge: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without_an_edge(graph: Graph, partials: Partials, kind: Kind, **more: Any) -> Reverse:
        slopes = partials.values[:]
        slopes[[place for place, slope in enumerate(slopes) if slope is not None][edge]] = None
        return reverse(graph, dataclasses.replace(partials, values=slopes), kind, **more)

    for module in ("point", "accuracy.fine"):
        monkeypatch.setattr(f"backprop.{module}.reverse", without_an_edge)
    point = at("x*y + sin(x)*y", {"x": 0.7, "y": 2})
    fine = Fine(point)
    by_modes = {witness.verdict for witness in modes.testify(point, fine.weights)}
    by_difference = {witness.verdict for witness in differences.testify(point, fine)}
    assert "DISAGREES" in by_modes & by_difference


def test_terms_that_cancel_to_the_last_digit_have_slope_0_for_sympy_too() -> None:
    # and where doubles have noise in its place, the tape has no part in the answer
    witnesses, _ = verify(at("2*sin(x)*cos(x) - sin(2*x)", {"x": 0.7}))
    assert said(witnesses, "x", "sympy").verdict == said(witnesses, "x", "difference").verdict == "agrees"
    assert {witness.verdict for witness in witnesses} <= {"agrees", "not checked"}


def test_at_the_edge_of_a_domain_one_side_serves() -> None:
    witnesses, _ = verify(at("x^1.5 + x", {"x": 0}))
    assert said(witnesses, "x", "difference").verdict == "agrees"
    assert "from the right only" in (said(witnesses, "x", "difference").reason or "")


def test_where_the_rules_meet_0_times_infinity_the_witnesses_still_have_the_slope() -> None:
    witnesses, _ = verify(at("sqrt(x)^2", {"x": 0}))
    difference = said(witnesses, "x", "difference")
    assert (difference.verdict, difference.value) == ("not checked", 1.0)


def test_a_jump_and_an_infinite_slope_have_no_difference_quotient() -> None:
    for program, x, told in (("floor(x)", 2, "the value jumps"), ("sqrt(x)", 0, "the slope is infinite")):
        difference = said(verify(at(program, {"x": x}))[0], "x", "difference")
        assert difference.verdict == "not checked"
        assert difference.reason == told


def test_a_flat_top_has_slope_0_and_not_no_slope() -> None:
    for program in ("x^2", "x^3", "cos(x)", "x*0", "x^4 + 1"):
        assert verdicts(program, x=0) == {"agrees"}, program


def test_a_slope_too_small_beside_the_value_is_not_called_0() -> None:
    # cos(x) is 1 - 5e-601 at 1e-300: nobody sees its slope of -1e-300 in 800 digits with a step of 1e-560
    witnesses, _ = verify(at("cos(x)", {"x": 1e-300}))
    assert said(witnesses, "x", "difference").verdict == "not checked"
    assert said(witnesses, "x", "sympy").verdict == "agrees"


@settings(max_examples=40, deadline=None)
@given(programs(), points)
def test_no_witness_objects_to_a_program_taken_at_random(program: str, inputs: dict[str, float]) -> None:
    point = at(program, inputs)
    fine = Fine(point)
    for witness in [*rules_witness(point), *differences.testify(point, fine), *modes.testify(point, fine.weights)]:
        # kinks may cancel where two of them meet, and then a witness has to object
        assert witness.verdict != "DISAGREES" or "kink" in (witness.reason or ""), (program, inputs, witness)


# -- digits -------------------------------------------------------------------------------------------------------


def test_cancellation_loses_digits_and_is_no_disagreement() -> None:
    # m c^2 (gamma - 1) = m v^2/2 (1 + 3/4 (v/c)^2 + ...) = 450000.0000000034 by hand
    here = at("(1/sqrt(1 - v^2/c^2) - 1)*m*c^2", {"v": 30, "c": 299792458, "m": 1000})
    witnesses, _ = verify(here)
    assert "DISAGREES" not in {witness.verdict for witness in witnesses}
    assert said(witnesses, "all", "rounding").verdict == "inaccurate"
    assert said(witnesses, "m", "difference").verdict == "agrees"
    assert said(witnesses, "m", "sympy").value == here.gradient()["m"] == 450.00000000000335
    lost = note(notes(here), "lost-digits")
    assert lost.text.startswith("v7 = v6 - 1 keeps 1.7 of 16 digits")
    assert "f = 450000.0000000034" in lost.text


def test_a_slope_far_below_the_digits_of_the_value_is_found() -> None:
    # d tanh(x) at 300 = 4 e^-600/(1 + e^-600)^2
    witnesses, _ = verify(at("tanh(x)", {"x": 300}))
    assert {witness.verdict for witness in witnesses} == {"agrees"}
    assert said(witnesses, "x", "difference").value == pytest.approx(4 * math.exp(-600), rel=1e-12, abs=0)


def test_terms_that_cancel_exactly_leave_0_and_not_noise() -> None:
    assert verdicts("sin(x)^2 + cos(x)^2", x=1.3) == {"agrees"}


def test_an_overflow_on_the_way_is_named_with_the_right_digits() -> None:
    # log(1 + e^x) at 1000 is 1000 and its slope 1; e^1000 = 10^(1000/ln 10) = 10^434.294...
    told = note(notes(at("log(1 + exp(x))", {"x": 1000})), "overflow").text
    assert told.startswith("v1 = exp(x) is 1.97e+434")
    assert "with more digits f = 1000, ∂f/∂x = 1" in told


def test_an_underflow_is_named_with_its_size() -> None:
    # e^-800 = 10^-347.4...
    _, told = verify(at("exp(x)", {"x": -800}))
    assert "is 3.67e-348" in note(told, "underflow").text


@pytest.mark.parametrize("program", ["x^x^x^x", "exp(exp(exp(x)))", "(x!)!", "gamma(x)^gamma(x)", "2^(10^x)*x"])
def test_what_no_number_can_hold_is_refused_in_time(program: str) -> None:
    assert "DISAGREES" not in verdicts(program, x=9)


# -- engines ------------------------------------------------------------------------------------------------------


def test_forward_mode_and_the_paths_catch_a_slip_of_reverse_mode() -> None:
    point = at("(a + b)*(b + 1)", {"a": 2, "b": 1})
    weights = Fine(point).weights
    assert {w.verdict for w in modes.testify(point, weights)} == {"agrees"}
    point.reverse().adjoints[1] = 3.0  # one of the two paths of b forgotten
    caught = [(w.of, w.by, w.value) for w in modes.testify(point, weights) if w.verdict == "DISAGREES"]
    assert caught == [("b", "forward mode", 5.0), ("b", "paths", 5.0)]


def test_the_sum_over_paths_is_left_out_when_there_are_too_many() -> None:
    program = "y = x;" + "y = a*y + b*y + c*y;" * 9 + "y"  # 3^9 = 19683 paths
    witnesses = modes.testify(point := at(program, {"x": 1, "a": 0.3, "b": 0.3, "c": 0.5}), Fine(point).weights)
    assert [w.by for w in witnesses if w.of == "x"] == ["forward mode"]


# -- questions of every shape -------------------------------------------------------------------------------------


def test_an_input_that_is_not_used_and_one_that_cancels_have_slope_0() -> None:
    for program in ("y + 1", "y + 0*x", "y + x - x"):
        witnesses, _ = verify(at(program, {"x": 2, "y": 3}))
        assert {w.verdict for w in witnesses} == {"agrees"}
        assert said(witnesses, "x", "difference").value == 0


def test_a_node_inside_can_be_the_one_that_moves() -> None:
    # d(d*c)/dc with d = c + 1 at c = 6 is 2c + 1
    witnesses, _ = verify(at("c = a*b; d = c + 1; d*c", {"a": 2, "b": 3}, wrt=["c", "a"]))
    assert {w.verdict for w in witnesses} == {"agrees"}
    assert said(witnesses, "c", "sympy").value == said(witnesses, "c", "difference").value == 13


def test_without_inputs_there_is_nothing_to_say() -> None:
    for here in (at("2 + 3", {}), at("x^2", {"x": 3}, wrt=[])):
        witnesses, told = verify(here)
        assert [witness.by for witness in witnesses] == ["rounding"]
        assert told == []


def test_an_infinite_input_is_not_moved() -> None:
    witnesses, _ = verify(at("y*exp(-x)", {"x": "inf", "y": 2}))
    assert said(witnesses, "x", "difference").verdict == "not checked"
    assert said(witnesses, "y", "difference").verdict == "agrees"


def test_where_there_is_no_value_nothing_is_claimed() -> None:
    assert verdicts("log(x)", x=-1) == {"not checked"}
    assert verify(at("atan2(y, x)", {"x": 0, "y": 0}))[1] == []


def test_a_branch_not_taken_is_not_asked() -> None:
    assert verdicts("where(x > 0, log(x), 2*x)", x=-3) == {"agrees"}


def test_many_inputs_are_moved_at_once_and_it_is_said() -> None:
    names = {f"x{i}": i / 7 for i in range(200)}
    point = at("+".join(f"tanh({name}*{i}/100)" for i, name in enumerate(names)), names)
    (difference,) = differences.testify(point, Fine(point))
    assert (difference.of, difference.verdict) == ("all", "agrees")
    assert "at once" in (difference.reason or "")
    with planted(ops.by_name("tanh"), ("(1 - out^2)*1.001",)):
        point = at("+".join(f"tanh({name}*{i}/100)" for i, name in enumerate(names)), names)
        assert differences.testify(point, Fine(point))[0].verdict == "DISAGREES"


def test_a_large_graph_is_sampled_and_it_is_said() -> None:
    point = at("sin(y) +" + "+".join(["x*y"] * 5000), {"x": 2, "y": 3})
    questions = sympy_rules.questions(point)
    assert {group["op"] for group in questions.groups} == {"sin", "add", "mul"}
    (row,) = rules_witness(point)
    assert row.verdict == "agrees"
    assert f"of {questions.total} edges tried" in (row.reason or "")
    assert questions.asked < 3100


# -- the process --------------------------------------------------------------------------------------------------


def test_sympy_that_takes_too_long_is_stopped_and_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "PATIENCE", 0.0)
    witnesses, _ = verify(at("x^2", {"x": 3}))
    assert said(witnesses, "x", "sympy").reason == "SymPy took more than 0 s"
    assert said(witnesses, "x", "difference").verdict == "agrees"


def test_the_process_is_gone_afterwards() -> None:
    working = child.Child([], None)
    assert working.answers().trouble == ""
    assert working.process is not None
    assert working.process.poll() is not None


def test_without_a_process_the_other_witnesses_still_speak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(Path(sys.executable).with_name("no-such-python")))
    witnesses, _ = verify(at("x^2", {"x": 3}))
    assert said(witnesses, "x", "sympy").verdict == "not checked"
    assert "could not be started" in (said(witnesses, "x", "sympy").reason or "")
    assert said(witnesses, "x", "difference").verdict == "agrees"


def test_files_beside_the_user_are_not_imported_and_sympy_stays_in_its_process(tmp_path: Path) -> None:
    (tmp_path / "sympy.py").write_text("raise SystemExit('the wrong sympy')")
    program = (
        "import sys; from backprop.point import at; from backprop.witnesses import verify;"
        "print({w.verdict for w in verify(at('x^2', {'x': 3}))[0]}, 'sympy' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "{'agrees'} False"


def test_witnesses_say_the_same_every_time() -> None:
    first = verify(at("x^y + sin(x*y)", {"x": 1.3, "y": 0.7}))
    assert first == verify(at("x^y + sin(x*y)", {"x": 1.3, "y": 0.7}))


@pytest.mark.parametrize(("program", "x"), [("(1 + x) - 1", 1e-40), ("log(1 + x)", 1e-40), ("exp(x) - 1", 3e-41)])
def test_a_step_lost_in_rounding_is_no_slope_of_zero(program: str, x: float) -> None:
    # 1 + 1e-40 moves by a last digit of 60, or not at all, when x moves by a part in 1e20
    [said] = [one for one in verify(at(program, {"x": x}))[0] if one.by == differences.BY]
    assert (said.verdict, said.value) == ("agrees", pytest.approx(1.0))


@pytest.mark.parametrize("program", ["1 + x^3", "1 + x^2", "1e30 + x^3"])
def test_a_slope_of_zero_beside_a_large_value_is_still_seen(program: str) -> None:
    [said] = [one for one in verify(at(program, {"x": 0}))[0] if one.by == differences.BY]
    assert (said.verdict, said.value) == ("agrees", 0.0)


def test_tables_do_not_wait_for_the_witnesses_but_the_gradient_does() -> None:
    from backprop.render.look import Look
    from backprop.render.table import render

    found = tracing.trace("(x*y + z)*x", {"x": 3, "y": -1, "z": 2}, wait=False)
    waited: list[str] = []
    shown: list[str] = []
    judge = found.verdicts
    assert judge is not None
    assert not found.witnesses

    def spy(trace: Trace) -> None:
        waited.extend(shown)
        judge(trace)

    found.verdicts = spy
    for line in render(found, Look()):
        shown.append(line)
    assert any("∂f/∂x" in line for line in waited)
    assert not any("variable" in line for line in waited)
    assert shown == list(render(tracing.trace("(x*y + z)*x", {"x": 3, "y": -1, "z": 2}), Look()))
