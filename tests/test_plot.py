"""Plots: curves break where the mathematics says so, and nowhere else; what has no value is never drawn."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backprop.checks import check
from backprop.mistakes import Mistake, OptionValue, Undefined
from backprop.plots import Pair, Plot, runs
from backprop.plots.curves import over
from backprop.point import Program
from backprop.step import Descent
from backprop.tracing import trace
from command import call


def drawn(text: str, low: float = -3, high: float = 3, **inputs: float) -> Plot:
    return over(Program(text), inputs, "x", low, high)


def marks(found: Plot, panel: int = 0) -> list[tuple[str, float, float | None]]:
    return [(mark.sort, mark.x, mark.y) for mark in found.panels[panel].marks]


def pieces(found: Plot, panel: int = 0) -> list[list[Pair]]:
    return found.panels[panel].curves[0].pieces


def told(found: Plot) -> list[str]:
    return [note.text for note in found.notes]


# -- curves ----------------------------------------------------------------------------------------------------------


def test_the_derivative_of_sine_is_cosine_at_every_point() -> None:
    found = drawn("sin(x)")
    x, value, slope = np.array(found.points).T
    assert np.allclose(value, np.sin(x), rtol=1e-15, atol=1e-15)
    assert np.allclose(slope, np.cos(x), rtol=1e-15, atol=1e-15)
    assert len(pieces(found)) == 1
    assert found.notes == []


def test_the_corner_of_abs_is_at_0_and_its_slopes_are_not_joined() -> None:
    found = drawn("abs(x)", -3, 2)
    assert marks(found) == [("kink", 0.0, 0.0)]
    left, right = pieces(found, 1)
    assert {y for _, y in left} == {-1.0}
    assert {y for _, y in right} == {1.0}
    assert left[-1] == (0.0, -1.0)
    assert right[0] == (0.0, 1.0)
    assert [row for row in found.points if row[0] == 0] == [[0.0, 0.0, None]]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("1/x", [0.0]),
        ("1/(x - 1)^2", [1.0]),
        ("tan(x)", [-math.pi / 2, math.pi / 2]),
        ("1/sin(x)^2", [0.0]),
        ("1/(x^2 - 2)", [-math.sqrt(2), math.sqrt(2)]),
        ("log(abs(x))", [0.0]),
        ("gamma(x)", [-2.0, -1.0, 0.0]),
        ("x^-2", [0.0]),
    ],
)
def test_no_line_goes_through_a_pole(text: str, at: list[float]) -> None:
    found = drawn(text, -2.9, 2.8)
    poles = [x for sort, x, _ in marks(found) if sort == "pole"]
    assert poles == pytest.approx(at, rel=2**-51, abs=0)
    for piece in pieces(found) + pieces(found, 1):
        assert not any(piece[0][0] < pole < piece[-1][0] for pole in poles)


def test_a_jump_has_an_open_and_a_closed_end() -> None:
    found = drawn("floor(x)", -1.5, 1.5)
    expected = [("open", -1.0, -2.0), ("closed", -1.0, -1.0), ("open", 0.0, -1.0), ("closed", 0.0, 0.0)]
    assert marks(found) == [*expected, ("open", 1.0, 0.0), ("closed", 1.0, 1.0)]
    assert [{y for _, y in piece} for piece in pieces(found)] == [{-2.0}, {-1.0}, {0.0}, {1.0}]


def test_rounding_goes_to_the_even_number_at_each_half() -> None:
    found = drawn("round(x)", -1, 2)
    assert [(x, y) for sort, x, y in marks(found) if sort == "closed"] == [(-0.5, 0.0), (0.5, 0.0), (1.5, 2.0)]


def test_a_choice_jumps_where_its_condition_turns() -> None:
    found = drawn("where(x > 0.3, x, 2)", -1, 1)
    assert marks(found) == [("open", 0.3, pytest.approx(0.3)), ("closed", 0.3, 2.0)]


def test_a_hole_is_an_open_end_at_its_limit() -> None:
    found = drawn("sin(x)/x")
    assert marks(found) == [("open", 0.0, 1.0)]
    assert pieces(found)[0][-1] == pieces(found)[1][0] == (0.0, 1.0)
    assert told(found) == ["hole at x = 0: no value there, 1 from both sides"]


def test_where_there_is_no_value_there_is_no_curve_and_it_is_said() -> None:
    found = drawn("sqrt(x)", -1, 2)
    assert [piece[0] for piece in pieces(found)] == [(0.0, 0.0)]
    assert marks(found) == [("closed", 0.0, 0.0)]
    assert "no value for x from -1 to 0" in told(found)[0]
    assert "it needs x >= 0" in told(found)[0]
    assert all(value is None for x, value, _ in found.points if x < 0)


@pytest.mark.parametrize(
    ("text", "at", "slopes"),
    [
        ("sqrt(x^2)", 0.0, (-1, 1)),
        ("max(x, 1)", 1.0, (0, 1)),
        ("abs(x - 0.3)", 0.3, (-1, 1)),
        ("relu(x)", 0.0, (0, 1)),
        ("hypot(x, 0)", 0.0, (-1, 1)),
        ("clip(x, -9, 2)", 2.0, (1, 0)),
        ("abs(x)*x + abs(x + 1)", -1.0, (1, 3)),
    ],
)
def test_a_kink_is_found_where_it_is(text: str, at: float, slopes: tuple[float, float]) -> None:
    found = drawn(text, -2.7, 2.9)
    assert [(sort, x) for sort, x, _ in marks(found)] == [("kink", at)]
    one, other = pieces(found, 1)
    assert (one[-1][1], other[0][1]) == pytest.approx(slopes)


def test_a_kink_between_two_doubles_is_one_kink() -> None:
    found = drawn("abs(sin(x))", -4, 4)
    assert [(sort, x) for sort, x, _ in marks(found)] == [
        ("kink", pytest.approx(-math.pi, rel=2**-51)),
        ("kink", 0.0),
        ("kink", pytest.approx(math.pi, rel=2**-51)),
    ]


@pytest.mark.parametrize("text", ["relu(x) - relu(-x)", "x*abs(x)", "abs(x)^3", "sqrt(x^2 + 1)", "where(x > 0, x, x)"])
def test_what_is_smooth_has_no_mark(text: str) -> None:
    found = drawn(text)
    assert marks(found) == []
    assert len(pieces(found)) == 1


def test_an_infinite_slope_is_told_and_not_joined() -> None:
    found = drawn("cbrt(x)", -1, 1.7)
    assert told(found) == ["vertical at x = 0: the slope is +infinity"]
    assert len(pieces(found, 1)) == 2


def test_what_overflows_is_left_out() -> None:
    found = drawn("exp(x)", 0, 1000)
    assert max(x for x, _ in pieces(found)[0]) < 709.8
    assert "too large" in told(found)[-1]
    assert all(value is None or math.isfinite(value) for _, value, _ in found.points)


def test_other_inputs_may_be_arrays() -> None:
    found = over(Program("sum(relu(W*x))"), {"W": [1, -2]}, "x", -1, 1)
    assert marks(found) == [("kink", 0.0, 0.0)]
    assert (pieces(found, 1)[0][-1][1], pieces(found, 1)[1][0][1]) == (-2.0, 1.0)


def test_the_value_that_was_given_is_marked() -> None:
    found = drawn("x^2", -1, 3, x=0.5)
    assert ("here", 0.5, 0.25) in marks(found)
    assert ("here", 0.5, 1.0) in marks(found, 1)


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(-28, 28), min_size=1, max_size=4, unique=True))
def test_kinks_of_a_sum_of_distances_are_at_its_terms(places: list[int]) -> None:
    text = " + ".join(f"abs(x - ({place}/10))" for place in places)
    found = drawn(text)
    assert [x for _, x, _ in marks(found)] == sorted(place / 10 for place in places)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=5))
def test_chords_lie_on_the_curve_of_a_polynomial(coefficients: list[int]) -> None:
    text = " + ".join(f"({c})*x^{power}" for power, c in enumerate(coefficients))
    found = drawn(text + " + 0*x")
    x, y = np.array(pieces(found)[0]).T
    fine = np.linspace(-3, 3, 1001)
    true = np.polynomial.polynomial.polyval(fine, coefficients)
    height = found.panels[0].y.high - found.panels[0].y.low
    assert np.max(np.abs(np.interp(fine, x, y) - true)) < 0.005 * height


# -- what is refused -------------------------------------------------------------------------------------------------


def test_nothing_defined_in_the_range_is_undefined() -> None:
    with pytest.raises(Undefined, match="no finite value for any x from -3 to -1"):
        drawn("sqrt(x)", -3, -1)
    code, out, err = call("plot", "sqrt(x)", "--over", "x=-3..-1")
    assert (code, out) == (3, "")
    assert "it needs x >= 0" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("x*y", "--over", "q=1..2", "--y", "2"), "The inputs of the program are: x, y"),
        (("rate*y", "--over", "rat=1..2", "--y", "2"), "Did you mean rate?"),
        (("x", "--over", "x=2..1"), "--over x=1..2"),
        (("x", "--over", "x=1..1"), "A range has some room"),
        (("x", "--over", "x=0..inf"), "both finite"),
        (("x", "--over", "x=-1e308..1e308"), "both finite"),
        (("x", "--over", "x=nan..1"), "--over x=-3..3"),
        (("x", "--over", "x"), "--over x=-3..3"),
        (("x", "--over", "x=1"), "--over x=-3..3"),
        (("x", "--over", "x=a..b"), "Both ends are numbers"),
        (("x", "--over", "x=1..2", "--over", "x=1..3"), "Keep one of them"),
        (("x", "--over", "x=1..2", "--check"), "ask for different things"),
        (("x", "--over", "x=1..2", "--points", "1"), "from 2 up to 20001"),
        (("x", "--over", "x=1..2", "--height", "3"), "from 8 up to 500"),
        (("x", "--over", "x=1..2", "--format", "gif"), "text, svg, png, csv, json"),
        (("x", "--x", "2"), "nothing says what to draw"),
        (("x*y", "--over", "x=1..2"), "I have no value for y"),
        (("sum(W)", "--over", "W=0..1", "--W", "[1, 2]"), "Make the element that is to move an input of its own"),
        (("W*x", "--over", "x=0..1", "--W", "[1, 2]"), "the output is a vector"),
        (("x^2", "--x", "1", "--descent"), "--update x"),
    ],
)
def test_a_mistake_is_told_with_its_repair(words: tuple[str, ...], said: str) -> None:
    code, out, err = call("plot", *words)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(("low", "high"), [(1, 1), (2, 1), (0, math.inf), (math.nan, 1), (-1.7e308, 1.7e308)])
def test_a_range_without_room_is_refused(low: float, high: float) -> None:
    with pytest.raises(OptionValue, match="over"):
        drawn("x", low, high)


# -- descent, check, gradients ---------------------------------------------------------------------------------------


def test_the_loss_of_a_parabola_falls_by_the_same_factor() -> None:
    # w - 3 is multiplied by 1 - 2·rate at each step
    run = Descent(Program("param w = 1; (w - 3)^2"), {}, 0.1, 20)
    found = runs.descent(run, run)
    losses = [y for _, y in pieces(found)[0]]
    assert losses == pytest.approx([4 * 0.64**n for n in range(21)])
    assert found.panels[0].y.log
    assert found.exit_code == 0


def test_a_descent_that_is_lost_ends_with_a_word() -> None:
    run = Descent(Program("param w = 1; w^4"), {}, 10, 50)
    found = runs.descent(run, run)
    assert found.exit_code == 3
    assert "the descent ends after step" in told(found)[-1]
    assert all(math.isfinite(y) for _, y in pieces(found)[0])


def test_the_errors_of_quotients_make_a_v_with_its_foot_where_rounding_meets_truncation() -> None:
    found = runs.check(check("exp(x)", {"x": 1}))
    (panel,) = found.panels
    central, one_sided = (curve for curve in panel.curves if curve.dots)
    # about eps^(1/3) and eps^(1/2), as far as rounding, which may be small by chance, lets it be seen
    for curve, order, best in ((central, 2, 2 ** (-52 / 3)), (one_sided, 1, 2.0**-26)):
        errors = dict(curve.pieces[0])
        assert math.log10(errors[1e-1] / errors[1e-2]) == pytest.approx(order, abs=0.1)
        foot = min(errors, key=lambda h: errors[h])
        assert best / 100 < foot < best * 30
        assert errors[1e-12] > 100 * errors[foot]
    slopes = {curve.name: curve.pieces[0] for curve in panel.curves if not curve.dots}
    for name, order in (("like h²", 2), ("like h", 1)):
        (h, error), (other_h, other) = slopes[name]
        assert math.log(other / error) / math.log(other_h / h) == pytest.approx(order)


def test_at_a_kink_the_quotients_of_both_sides_are_drawn() -> None:
    found = runs.check(check("abs(x)*exp(x)", {"x": 0}))
    assert [curve.name for curve in found.panels[0].curves if curve.dots] == ["from the left", "from the right"]


def test_adjoints_of_a_chain_of_halves_vanish_by_halves() -> None:
    text = "; ".join(["h0 = x/2", *(f"h{n} = h{n - 1}/2" for n in range(1, 20))])
    found = runs.gradients(trace(text, {"x": 1}, check=False))
    sizes = {name: (depth, size) for name, depth, size in found.points}
    assert sizes["x"] == (20, 2.0**-20)
    assert sizes["h9"] == (10, 2.0**-10)
    assert found.notes[0].code == "vanishing"
    assert "times 0.5 an operation" in found.notes[0].text


def test_adjoints_that_grow_explode() -> None:
    found = runs.gradients(trace("; ".join(["a = 3x", *("a = 3a" for _ in range(9))]), {"x": 1}, check=False))
    assert found.notes[0].code == "exploding"


def test_depth_is_the_longest_way_and_the_size_of_an_array_its_norm() -> None:
    found = runs.gradients(trace("y = 2x; sum(y*y) + sum(x)", {"x": [3, 4]}, check=False))
    depth = {name: (depth, size) for name, depth, size in found.points}
    # d/dx = 8x + 1 = (25, 33); the ways x → y → y*y → sum → + and x → sum → +
    assert depth["x"] == (4, pytest.approx(math.hypot(25, 33)))


def test_a_dead_node_is_named_because_a_scale_of_powers_has_no_0() -> None:
    found = runs.gradients(trace("relu(x) + y", {"x": -1, "y": 2}, check=False))
    assert any("the adjoint of x is 0" in note.text for note in found.notes)


# -- the line --------------------------------------------------------------------------------------------------------


def test_points_are_written_with_every_digit_and_gaps_are_empty() -> None:
    code, out, _ = call("plot", "1/x", "--over", "x=-1..1", "--points", "5", "--format", "csv")
    rows = [line.split(",") for line in out.splitlines()]
    assert code == 0
    assert rows[0] == ["x", "f", "∂f/∂x"]
    assert ["0.0", "", ""] in rows
    assert ["0.5", "2.0", "-4.0"] in rows
    assert "nan" not in out.lower()
    assert "inf" not in out.lower()


def test_json_has_points_marks_and_notes() -> None:
    code, out, _ = call("plot", "abs(x)", "--over", "x=-1..1", "--format", "json")
    found = json.loads(out, parse_constant=lambda text: pytest.fail(text))
    assert code == 0
    assert (found["format"], found["sort"], found["columns"]) == ("backprop-plot", "over", ["x", "f", "∂f/∂x"])
    assert {"sort": "kink", "x": 0.0, "y": 0.0, "panel": "f"} in found["marks"]
    assert [0.0, 0.0, None] in found["points"]


def test_a_saved_trace_is_plotted_too() -> None:
    saved = trace("a*x^2", {"a": 2, "x": 1}, check=False).to_json()
    code, out, _ = call("plot", "-", "--over", "x=0..2", stdin=saved)
    assert code == 0
    assert "at a = 2" in out
    assert "the value given" in out


@pytest.mark.parametrize("text", ["x", "x/0", "0/x*0", "1e308*x*10", "(-1)^x", "x!", "atanh(x)", "log(x - x)"])
def test_whatever_is_drawn_has_numbers_alone(text: str) -> None:
    try:
        found = drawn(text)
    except Mistake as mistake:
        assert mistake.exit_code == 3  # noqa: PT017
        return
    for panel in found.panels:
        assert math.isfinite(panel.y.low) and math.isfinite(panel.y.high) and panel.y.low < panel.y.high  # noqa: PT018
        for curve in panel.curves:
            assert all(math.isfinite(x) and math.isfinite(y) for piece in curve.pieces for x, y in piece)
