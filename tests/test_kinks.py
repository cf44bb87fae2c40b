"""Kinks: the slopes on both sides, the subgradients, and the number that is taken, at nodes and for the whole."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import backprop
from backprop.beside.hull import minimum_norm
from backprop.point import Point, at
from backprop.record import OneSided, Trace
from backprop.schema import schema
from command import call

INF = float("inf")


def sides_of(program: str, inputs: dict[str, Any], name: str = "x", **options: Any) -> OneSided:
    trace = backprop.trace(program, inputs, check=False, **options)
    return next(one for one in trace.one_sided if one.of == name)


# -- the whole, with one input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "left", "right", "taken"),
    [
        ("abs(x)", -1, 1, 0),
        ("sqrt(x*x)", -1, 1, 0),
        ("3*abs(x) + x", -2, 4, 1),  # the rules: 3·0 + 1
        ("relu(x)", 0, 1, 0),
        ("max(x, 0)", 0, 1, 0),
        ("clip(x, 0, 1)", 0, 1, 0),
        ("min(x, 2*x)", 2, 1, 1.5),  # a tie of two that move: half of each
        ("where(x > 0, 3*x, x)", 1, 3, 1),
        ("leaky_relu(x)", 0.01, 1, 0.01),
        ("sin(abs(x))", -1, 1, 0),
        ("exp(relu(x))", 0, 1, 0),
        ("relu(x) - 2*relu(-x)", 2, 1, 1),  # both rules give 0, which is between no two slopes
    ],
)
def test_a_corner_has_a_slope_on_each_side_and_one_between_is_taken(
    program: str, left: float, right: float, taken: float
) -> None:
    one = sides_of(program, {"x": 0})
    assert (one.sort, one.left, one.right, one.taken) == ("corner", left, right, taken)
    assert (one.low, one.high) == (min(left, right), max(left, right))
    assert one.convention in ("minimum-norm", "minimum-norm at each operation")


def test_the_smallest_is_said_to_be_taken_only_where_it_is() -> None:
    assert sides_of("abs(x)", {"x": 0}).convention == "minimum-norm"
    assert sides_of("3*abs(x) + x", {"x": 0}).convention == "minimum-norm at each operation"
    # the subgradients of max(a, b) - a at a tie are the line from (-1, 1) to (0, 0)
    assert sides_of("max(a, b) - a", {"a": 1, "b": 1}, "a").convention == "minimum-norm at each operation"
    assert sides_of("max(a, b)", {"a": 1, "b": 1}, "a").convention == "minimum-norm"


@pytest.mark.parametrize(
    ("program", "slope"),
    [
        ("relu(x) - max(x, 0)", 0),
        ("relu(x) - relu(-x)", 1),
        ("abs(x)^3", 0),
        ("x*abs(x)", 0),
        ("abs(x)^1.1", 0),
        ("sqrt(x^2)^2", 0),
        ("cosh(3*sqrt(x^2))", 0),
        ("where(x > 0, x^2 + x, x)", 1),
        ("max(x, sin(x), tan(x))", 1),  # three arguments that tie with one slope
        ("max(x, x) + min(x, x)", 2),
        ("abs(x)*log(1 + abs(x))", 0),
    ],
)
@pytest.mark.parametrize("kind", ["real", "digits:40"])
def test_kinks_that_cancel_leave_a_derivative(program: str, slope: float, kind: str) -> None:
    trace = backprop.trace(program, {"x": 0}, check=False, kind=kind)
    (one,) = trace.one_sided
    assert one.sort == "smooth"
    assert [float(str(value)) for value in (one.left, one.right, one.taken, trace.gradient["x"])] == [slope] * 4
    assert one.convention is None
    assert one.low is None
    assert trace.exit_code == 0


def test_where_kinks_cancel_it_is_said_that_there_is_a_derivative() -> None:
    trace = backprop.trace("max(a, b) + log1p(exp(-abs(a - b)))", {"a": 1, "b": 1}, check=False)
    assert trace.gradient == {"a": 0.5, "b": 0.5}
    assert [one.sort for one in trace.one_sided] == ["smooth", "smooth"]
    texts = [note.text for note in trace.notes if note.code == "smooth"]
    assert texts == ["f is differentiable here all the same: ∂f/∂a is 0.5, ∂f/∂b is 0.5, from both sides"]


@pytest.mark.parametrize(
    ("program", "x", "left", "right", "taken"),
    [
        ("floor(x)", 2, 0, 0, 0),
        ("sign(x)", 0, 0, 0, 0),
        ("round(x)", 2.5, 0, 0, 0),
        ("where(x > 1, x + 5, 3*x)", 1, 3, 1, 3),
        ("x*floor(x)", 2, 1, 2, 2),
        ("exp(x)*sign(x)", 0, -1, 1, 0),
    ],
)
def test_a_jump_is_told_apart_from_a_corner(program: str, x: float, left: float, right: float, taken: float) -> None:
    one = sides_of(program, {"x": x})
    assert (one.sort, one.left, one.right, one.taken) == ("jump", left, right, taken)
    assert one.low is None
    assert one.convention is None


@pytest.mark.parametrize(
    ("program", "x", "left", "right"),
    [
        ("sqrt(x)", 0, None, INF),
        ("sqrt(-x)", 0, -INF, None),
        ("asin(x)", 1, INF, None),
        ("acos(x)", 1, -INF, None),
        ("cbrt(x)", 0, INF, INF),
        ("sqrt(abs(x))", 0, -INF, INF),
        ("abs(x)^0.9", 0, -INF, INF),  # grows so slowly that a few steps would not tell
        ("xlogy(x, x)", 0, None, -INF),
        ("acosh(x)", 1, None, INF),
    ],
)
def test_an_infinite_slope_is_undefined_and_said_to_be_infinite(
    program: str, x: float, left: float | None, right: float | None
) -> None:
    trace = backprop.trace(program, {"x": x}, check=False)
    (one,) = trace.one_sided
    assert (one.sort, one.left, one.right, one.taken) == ("vertical", left, right, None)
    assert trace.exit_code == 3
    assert trace.gradient == {}
    assert any("infinity" in note.text for note in trace.notes if note.code == "undefined")


@pytest.mark.parametrize(
    ("program", "right"), [("x^1.5", 0), ("sqrt(x)^2", 1), ("sqrt(x^3)", 0), ("x*sqrt(x) + 2*x", 2)]
)
def test_at_the_edge_of_a_domain_there_is_one_side(program: str, right: float) -> None:
    one = sides_of(program, {"x": 0})
    assert (one.sort, one.left, one.right, one.taken) == ("edge", None, right, right)


def test_a_jump_behind_what_is_locally_constant_is_seen() -> None:
    # at 1 the branch y is taken, and held at 0; above 1 it is the branch x
    one = sides_of("clip(where(y > 1, x, y), -1, 0)", {"x": -1, "y": 1}, "y")
    assert (one.sort, one.taken) == ("jump", 0)
    assert sides_of("clip(5*floor(x), -1, 8)", {"x": 2}).sort == "jump"  # 10 is held at 8, and 5 is not
    assert backprop.trace("clip(5 + abs(x), -1, 0)", {"x": 0}, check=False).one_sided == []


def test_an_ordinary_point_has_nothing_to_tell_and_loads_no_many_digits() -> None:
    trace = backprop.trace("abs(x)*max(x, y)", {"x": 2, "y": 1}, check=False)
    assert trace.one_sided == []
    assert trace.limits is None
    assert not {"one_sided", "limits"} & trace.to_dict().keys()


# -- several inputs -----------------------------------------------------------------------------------------------


def gradient(program: str, **inputs: float) -> dict[str, Any]:
    return backprop.trace(program, inputs, check=False).gradient


def test_the_subgradient_of_several_inputs_is_the_smallest_of_them_together() -> None:
    # (0, 0) would lie between the slopes of each side, and yet not between (1, 0) and (0, 1)
    assert gradient("(a + b + sqrt((a - b)^2))/2", a=1, b=1) == {"a": 0.5, "b": 0.5}
    # max(a, b) + a - b, between (2, -1) and (1, 0): the smallest is (1, 0)
    assert gradient("max(a, b) + relu(a - b) - relu(b - a)", a=1, b=1) == {"a": 1, "b": 0}
    assert gradient("sqrt(x^2 + y^2)", x=0, y=0) == {"x": 0, "y": 0}
    # from (2, 1), where a wins, to (1, 2): the smallest is halfway
    assert gradient("(3*a + 3*b + sqrt((a - b)^2))/2", a=1, b=1) == {"a": 1.5, "b": 1.5}


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([[1, 0], [0, 1]], [0.5, 0.5]),
        ([[3, 4]], [3, 4]),
        ([[1, 1], [1, -1]], [1, 0]),
        ([[1, 0], [-1, 1], [-1, -1]], [0, 0]),  # the origin inside
        ([[2, 0, 0], [0, 2, 0], [0, 0, 2]], [2 / 3, 2 / 3, 2 / 3]),
        ([[1, 5], [1, 2], [1, -1], [1, 7]], [1, 0]),
        ([[1, 1], [1, 1], [2, 2]], [1, 1]),
    ],
)
def test_the_point_of_smallest_norm_in_a_convex_hull(points: list[list[float]], expected: list[float]) -> None:
    assert minimum_norm(points) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(*[st.integers(-5, 5)] * 3), min_size=1, max_size=7))
def test_no_point_lies_farther_back_than_the_smallest_one(points: list[tuple[int, int, int]]) -> None:
    # Wolfe's criterion: x is the smallest when x·p >= x·x for every point p
    x = minimum_norm([list(map(float, one)) for one in points])
    size = sum(part * part for part in x)
    assert all(sum(a * b for a, b in zip(x, one, strict=True)) >= size - 1e-9 for one in points)


@pytest.mark.parametrize("program", ["min(abs(x), abs(y))", "min(abs(x), abs(y)) + relu(x) - max(x, 0)"])
def test_slopes_along_the_axes_that_are_no_gradient_are_not_called_one(program: str) -> None:
    trace = backprop.trace(program, {"x": 0, "y": 0}, check=False)
    assert {(one.sort, one.low, one.high) for one in trace.one_sided} == {("corner", -1, 1)}
    assert not [note for note in trace.notes if note.code == "smooth"]


@pytest.mark.parametrize(
    ("program", "inputs"),
    [
        ("x^0.3*y^0.7", {"x": 0, "y": 0}),
        ("sqrt(x*y)", {"x": 0, "y": 0}),
        ("cbrt(x*y*z)", {"x": 0, "y": 0, "z": 0}),  # 0 along the axes and in the planes between them
        ("sqrt(abs(x*y))", {"x": 0, "y": 0}),
        ("cbrt(x^2*y)", {"x": 0, "y": 0}),
    ],
)
def test_slopes_along_the_axes_that_do_not_give_those_between_stay_undefined(
    program: str, inputs: dict[str, float]
) -> None:
    trace = backprop.trace(program, inputs, check=False)
    assert trace.exit_code == 3
    assert any("between the axes" in note.text for note in trace.notes)


@pytest.mark.parametrize(
    ("program", "inputs", "expected"),
    [
        ("exp(-sqrt(x^2 + y^2)^2)", {"x": 0, "y": 0}, {"x": 0, "y": 0}),
        ("sqrt(x^2 + y^2 + z^2)^2 + x", {"x": 0, "y": 0, "z": 0}, {"x": 1, "y": 0, "z": 0}),
        ("abs(x)*y", {"x": 0, "y": 0}, {"x": 0, "y": 0}),
        ("x*y*sign(x*y)", {"x": 0, "y": 0}, {"x": 0, "y": 0}),
        ("max(x, y) + min(x, y)", {"x": 2, "y": 2}, {"x": 1, "y": 1}),
    ],
)
def test_a_gradient_between_the_axes_too_is_one(
    program: str, inputs: dict[str, float], expected: dict[str, float]
) -> None:
    trace = backprop.trace(program, inputs, check=False)
    assert trace.gradient == expected
    assert {one.sort for one in trace.one_sided} == {"smooth"}


# -- at the nodes -------------------------------------------------------------------------------------------------


def edges(program: str, inputs: dict[str, Any], **options: Any) -> list[tuple[Any, Any, Any]]:
    trace = backprop.trace(program, inputs, check=False, **options)
    told = [(edge.left, edge.partial, edge.right) for edge in trace.edges]
    return [(left, partial, right) for left, partial, right in told if (left, right) != (None, None)]


def test_an_edge_at_a_kink_holds_the_partials_of_both_sides() -> None:
    assert edges("2*abs(x)", {"x": 0}) == [(-1, 0, 1)]
    assert edges("max(x, y, z)", {"x": 1, "y": 1, "z": 0}) == [(0, 0.5, 1), (0, 0.5, 1)]
    assert edges("x^1.5", {"x": 0}) == [(None, 0, 0)]
    assert edges("floor(x)", {"x": 2}) == []  # the same on both sides
    assert edges("2*abs(x)", {"x": 1}) == []


@pytest.mark.parametrize("x", [1e40, 1e-200, 3.0])
def test_the_sides_of_a_node_are_seen_whatever_its_size(x: float) -> None:
    assert edges("max(x, y)", {"x": x, "y": x}) == [(0, 0.5, 1), (0, 0.5, 1)]


def test_a_bound_so_near_that_a_step_would_pass_it_is_not_passed() -> None:
    assert edges("clip(x, 0, 1e-100)", {"x": 0}) == [(0, 0, 1)]


def test_a_step_is_said_to_jump_and_a_corner_is_not() -> None:
    def note(program: str, x: float) -> str:
        return next(n.text for n in backprop.trace(program, {"x": x}, check=False).notes if n.code == "kink")

    assert note("floor(x)", 2).endswith("∂f/∂x is taken as 0 (it jumps here)")
    assert "∂f/∂x is taken as 0 (from the left -1, from the right 1); any number between" in note("abs(x)", 0)
    assert "jumps" not in note("clip(x, 1, 1)", 1)


def test_the_note_of_the_whole_tells_both_sides_the_subgradients_and_the_convention() -> None:
    notes = [n.text for n in backprop.trace("3*abs(x) + x", {"x": 0}, check=False).notes if n.code == "kink"]
    told = "the slope is -2 from the left and 4 from the right; any of [-2, 4] is a subgradient"
    assert notes[1] == f"kink: ∂f/∂x is taken as 1 by minimum norm at each operation: {told}"
    (text,) = [n.text for n in backprop.trace("sqrt(x*x)", {"x": 0}, check=False).notes]
    told = "the slope is -1 from the left and 1 from the right; any of [-1, 1] is a subgradient"
    assert text == f"kink: the rules have no number here; ∂f/∂x is taken as 0 by minimum norm: {told}"


# -- kinds, modes, records ----------------------------------------------------------------------------------------


def test_exact_slopes_are_fractions() -> None:
    one = sides_of("abs(x - 1/3)/7 + relu(x - 1/3)", {"x": "1/3"}, kind="exact")
    assert (one.left, one.right, one.low, one.high) == ("-1/7", "8/7", "-1/7", "8/7")
    one = sides_of("sqrt((x - 1/3)^2)/x", {"x": "1/3"}, kind="exact")
    assert (one.left, one.right, one.taken) == ("-3", "3", "0")


def test_slopes_have_as_many_digits_as_the_kind() -> None:
    # sqrt(2) to 50 digits
    root = "1.4142135623730950488016887242096980785696718753769"
    one = sides_of("sqrt(2)*sqrt((x - 0.1)^2)", {"x": "0.1"}, kind="digits:50")
    assert (one.left, one.right) == (f"-{root}", root)


@pytest.mark.parametrize(
    ("program", "inputs"),
    [
        ("sqrt(x*x)", {"x": 0}),
        ("relu(x) - relu(-x)", {"x": 0}),
        ("where(x > 1, x + 5, 3*x)", {"x": 1}),
        ("x^1.5", {"x": 0}),
        ("sqrt(x)", {"x": 0}),
        ("abs(x)*y", {"x": 0, "y": 3}),
    ],
)
def test_both_modes_and_grad_give_the_same(program: str, inputs: dict[str, float]) -> None:
    reverse = backprop.trace(program, inputs, wrt=["x"], check=False)
    forward = backprop.trace(program, inputs, wrt=["x"], mode="forward", check=False)
    assert forward.gradient == reverse.gradient
    assert forward.one_sided == reverse.one_sided
    assert forward.exit_code == reverse.exit_code
    if reverse.exit_code == 0:
        assert backprop.grad(program, inputs)[1]["x"] == reverse.gradient["x"]
        assert backprop.check(program, inputs, wrt=["x"]).gradient == reverse.gradient
    else:
        with pytest.raises(backprop.Mistake):
            backprop.grad(program, inputs)


@pytest.mark.parametrize("program", ["abs(x)", "sqrt(x)", "floor(x)", "max(x, -x, 2*x)", "x^1.5"])
def test_the_record_keeps_to_its_schema_and_comes_back(program: str) -> None:
    trace = backprop.trace(program, {"x": 0}, check=False)
    record = trace.to_dict()
    jsonschema.validate(record, schema())
    assert record["one_sided"]
    assert Trace.from_json(trace.to_json()) == trace
    assert Trace.from_json(trace.to_json()).to_json() == trace.to_json()


def test_a_graph_too_large_to_look_beside_says_so() -> None:
    names = [f"x{i}" for i in range(1, 81)]
    program = " + ".join(f"abs({name})" for name in names)
    trace = backprop.trace(program, dict.fromkeys(names, 0), check=False)
    assert trace.one_sided == []
    (text,) = [note.text for note in trace.notes if note.code == "not-looked-at"]
    assert "nodes" in text
    assert "not looked at" in text
    assert sum(note.code == "kink" for note in trace.notes) == 21  # twenty, and how many more


# -- the law, in exact arithmetic ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Piecewise:
    """A piecewise linear expression: its text, and the operation on its parts, worked out here with fractions."""

    sort: str
    parts: tuple[Any, ...]

    def text(self) -> str:
        parts = [one.text() if isinstance(one, Piecewise) else str(one) for one in self.parts]
        forms = {
            "name": "{0}",
            "number": "({0})",
            "add": "({0} + {1})",
            "sub": "({0} - {1})",
            "scale": "({0})*{1}",
            "max3": "max({0}, {1}, {2})",
            "where>": "where({0} > {1}, {2}, {3})",
            "where<=": "where({0} <= {1}, {2}, {3})",
            "clip": "clip({0}, {1}, {2})",
        }
        return forms.get(self.sort, self.sort + "({0}, {1})" if len(parts) == 2 else self.sort + "({0})").format(*parts)

    def at(self, point: dict[str, Fraction]) -> Fraction:
        if self.sort == "name":
            return point[self.parts[0]]
        v = [one.at(point) if isinstance(one, Piecewise) else Fraction(one) for one in self.parts]
        if self.sort in ("where>", "where<="):
            holds = v[0] > v[1] if self.sort == "where>" else v[0] <= v[1]
            return v[2] if holds else v[3]
        if self.sort == "clip":
            return min(max(v[0], v[1]), v[2])
        simple: dict[str, Callable[..., Fraction]] = {
            "number": lambda x: x,
            "add": lambda x, y: x + y,
            "sub": lambda x, y: x - y,
            "scale": lambda x, y: x * y,
            "max": max,
            "min": min,
            "max3": max,
            "abs": abs,
            "relu": lambda x: max(x, Fraction(0)),
        }
        return simple[self.sort](*v)


NAMES = ("x", "y")
leaf = st.one_of(
    st.sampled_from(NAMES).map(lambda name: Piecewise("name", (name,))),
    st.integers(-2, 2).map(lambda number: Piecewise("number", (number,))),
)


def node(sort: str) -> Callable[[tuple[Any, ...]], Piecewise]:
    return lambda parts: Piecewise(sort, parts)


def grown(inner: st.SearchStrategy[Piecewise]) -> st.SearchStrategy[Piecewise]:
    two, one = st.tuples(inner, inner), st.tuples(inner)
    return st.one_of(
        *(two.map(node(sort)) for sort in ("add", "sub", "max", "min")),
        *(one.map(node(sort)) for sort in ("abs", "relu")),
        st.tuples(st.integers(-3, 3), inner).map(node("scale")),
        st.tuples(inner, inner, inner).map(node("max3")),
        st.tuples(inner, st.integers(-2, 0), st.integers(0, 2)).map(node("clip")),
        *(st.tuples(inner, inner, inner, inner).map(node(sort)) for sort in ("where>", "where<=")),
    )


piecewise = st.recursive(leaf, grown, max_leaves=10)


def side(expression: Piecewise, point: dict[str, Fraction], step: dict[str, int]) -> tuple[Fraction, Fraction]:
    """The slope and the value just beside a point, in exact fractions: nothing else changes within 10^-30."""
    tiny = [{name: point[name] + step[name] * Fraction(k, 10**30) for name in point} for k in (1, 2)]
    near, far = (expression.at(one) for one in tiny)
    slope = (far - near) * 10**30
    return slope, near - slope / 10**30


def close(answer: Any, slope: Fraction) -> bool:
    """Whether an answer is a slope: to the last bit as a fraction, but for rounding as a double (1/3 + 1/3 + 1/3)."""
    return bool(answer == slope) if isinstance(answer, Fraction) else math.isclose(answer, slope, rel_tol=1e-14)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(piecewise, st.tuples(st.integers(-1, 1), st.integers(-1, 1)), st.sampled_from(["exact", "real"]))
def test_slopes_from_left_and_right_are_those_of_exact_arithmetic(
    expression: Piecewise, numbers: tuple[int, int], kind: str
) -> None:
    point = dict(zip(NAMES, map(Fraction, numbers), strict=True))
    program = f"{expression.text()} + 0*x + 0*y"
    here: Point = at(program, {name: str(value) for name, value in point.items()}, kind=backprop.kinds.by_name(kind))
    told = {here.name_of(node): one for node, one in here.singular().items()}
    value = expression.at(point)
    for name in NAMES:
        axis = {other: int(other == name) for other in NAMES}
        right, above = side(expression, point, axis)
        left, below = side(expression, point, {other: -by for other, by in axis.items()})
        left = -left
        answer = here.gradient()[name]
        jumps = above != value or below != value
        one = told.get(name)
        if one is None:
            # no kink on the way, so there is a derivative, and the rules have it
            assert (jumps, left) == (False, right), (program, point, name)
            assert close(answer, left), (program, point, name)
            continue
        assert (one.left, one.right) == (left, right), (program, point, name)
        if jumps:
            assert one.sort == "jump", (program, point, name)
        elif left == right and not one.apart:
            assert one.sort == "smooth", (program, point, name)
            assert close(answer, left), (program, point, name)
        else:
            assert one.sort == "corner", (program, point, name)
            if one.apart:
                continue  # what lies between the axes decides, as the next test has it
            between = min(max(Fraction(answer), min(left, right)), max(left, right))
            assert close(answer, between), (program, point, name)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(piecewise, st.tuples(st.integers(-1, 1), st.integers(-1, 1)))
def test_what_is_taken_at_a_corner_of_two_inputs_is_a_subgradient(
    expression: Piecewise, numbers: tuple[int, int]
) -> None:
    point = dict(zip(NAMES, map(Fraction, numbers), strict=True))
    here = at(f"{expression.text()} + 0*x + 0*y", {name: str(value) for name, value in point.items()})
    told = here.singular()
    if len(told) < 2 or {one.sort for one in told.values()} != {"corner"}:
        return
    taken = [Fraction(here.gradient()[name]) for name in NAMES]
    # Clarke's gradient is the hull of the gradients beside the point: along no direction is a member beyond them all
    numbers_beside = random.Random(1)
    beside = []
    for _ in range(60):
        way = {name: Fraction(numbers_beside.randint(-1000, 1000), 10**15) for name in NAMES}
        there = {name: point[name] + way[name] for name in NAMES}
        beside.append([(side(expression, there, {other: int(other == name) for other in NAMES}))[0] for name in NAMES])
    for _ in range(60):
        d = [numbers_beside.randint(-100, 100) for _ in NAMES]
        most = max(sum(a * b for a, b in zip(one, d, strict=True)) for one in beside)
        along = sum(a * b for a, b in zip(taken, d, strict=True))
        assert float(along) <= float(most) + 1e-9, (expression.text(), numbers, taken)


# -- numbers alone ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("program", ["abs(x)", "sqrt(x*x)", "relu(x)", "max(x, 0)", "clip(x, 0, 1)", "floor(x)"])
def test_grad_says_that_a_slope_was_taken_at_a_kink(program: str) -> None:
    code, _, err = call("grad", program, "--x", "0")
    assert code == 0
    assert "note: kink: " in err
    assert "is taken as 0" in err


@pytest.mark.parametrize("program", ["relu(x) - relu(-x)", "x*abs(x)", "x^2", "abs(x - 1)", "sqrt(x^4)"])
def test_grad_says_nothing_where_the_whole_has_a_derivative(program: str) -> None:
    assert call("grad", program, "--x", "0")[2] == ""


# -- stairs, seen from afar ---------------------------------------------------------------------------------------

# Every double from 2^53 on is whole, and 1e200 is a double that 4 divides. Between two jumps floor, ceil and round are
# level, and x mod y is x less a whole number of y.
FAR = [
    ("floor(x)", 1e200, 0, True),
    ("ceil(x)", -1e300, 0, True),
    ("round(x)", 1e200, 0, False),  # it jumps half way between
    ("x % 4", 1e200, 1, True),
    ("x % 3", 1e200, 1, False),
    ("x - floor(x)", 1e30, 1, True),
    ("x*floor(x)", 1e30, 1e30, True),
    ("floor(1e200*x)", 1.0, 0, True),
    ("floor(exp(x))", 300.0, 0, False),  # e^300 is no whole number, though its double is
    ("floor(floor(x)*5)", 1e100, 0, True),
    ("floor(5*x) + floor(1e30*(x - 1))", 1.0, 0, True),
]


@pytest.mark.parametrize(("program", "x", "slope", "kink"), FAR)
def test_a_stair_is_no_ramp_however_far_out_it_is(program: str, x: float, slope: float, kink: bool) -> None:
    here = at(program, {"x": x})
    assert here.gradient() == {"x": slope}
    found = here.singular().values()
    assert [one.sort for one in found if one.sort == "jump"] == ["jump"] * kink


def test_what_is_told_of_a_stair_far_out_is_what_is_told_near_by() -> None:
    near, far = (call("grad", "floor(x)", "--x", x)[2] for x in ("2", "1e200"))
    assert far.replace("1e+200", "2") == near
    assert "it jumps here" in near


def test_a_claim_about_a_stair_far_out_is_judged_by_the_stair() -> None:
    assert call("check", "floor(x)", "--x", "1e200", "--claim", "df/dx = 0")[0] == 0
    assert call("check", "floor(x)", "--x", "1e200", "--claim", "df/dx = 1")[0] == 1


def test_kinks_of_several_inputs_at_once_are_looked_at_on_one_stair() -> None:
    here = at("floor(x) + abs(y - 2) + floor(z)", {"x": 1e200, "y": 2, "z": 3e60})
    assert here.gradient() == {"x": 0, "y": 0, "z": 0}
