"""Second derivatives: the Hessian, its products with vectors, and where there is none."""

from __future__ import annotations

import contextlib
import json
import math
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import backprop
from backprop.higher import hessians
from backprop.higher.curvature import Entry, entries, product
from backprop.higher.differences import second
from backprop.higher.directions import directional
from backprop.higher.gradient_graph import Curvature, gradient_graph
from backprop.kinds import Hole, is_number
from backprop.kinds.node import Nodes
from backprop.mistakes import Mistake, NoVariable, TooMuchWork, Undefined, UnreadableDirection
from backprop.point import Program, at
from backprop.rules import kinks
from backprop.schema import hessian_schema
from backprop.witnesses import sympy_whole
from command import call
from conftest import Golden
from programs import NAMES, at_a_kink, numbers, points, programs

ROSENBROCK = "(1 - x)^2 + 100*(y - x^2)^2"


# -- the gradient as a graph ------------------------------------------------------------------------------------------


def test_equal_operations_on_equal_operands_are_one_node() -> None:
    kind = Nodes()
    x, y = kind.leaf("x"), kind.leaf("y")
    assert kind.scale(x, y) == kind.scale(y, x)
    assert kind.add(x, y) == kind.add(x, y)
    assert kind.number("0.10") != kind.number("0.1")  # a literal is its text


def test_a_literal_of_the_program_is_not_taken_for_one_of_a_rule() -> None:
    # the slope of leaky_relu is the very number 0.01, and the 0.01 of the program is a double
    written = gradient_graph(Program("0.01*x + leaky_relu(x)").read()[1], [1])
    literals = [text for text in written.graph.literals.values() if text == "0.01"]
    assert len(literals) == 2


def test_a_slope_that_stands_in_a_branch_not_taken_of_another_is_worked_out() -> None:
    # ∂f/∂x = 1/(2 + y²) is a part of ∂f/∂y = where(y > 2, 1/(2 + y²), 0) - ...: at y = 1, ∂²f/∂x∂y = -2y/(2 + y²)²
    program, inputs = "(where(y > 2, y, 5) + x)/(2 + y^2)", {"x": 0, "y": 1}
    for wrt in (["x", "y"], ["y", "x"]):
        found = backprop.hessian(program, inputs, wrt=wrt)
        assert found["x"] == pytest.approx({"x": 0, "y": -2 / 9})
        assert found["y"] == pytest.approx({"x": -2 / 9, "y": 5 * 2 / 27})
    hvp = directional(program, inputs, hvp={"x": 1, "y": 1}).hvp
    assert hvp is not None
    assert hvp[1] == pytest.approx({"x": -2 / 9, "y": -2 / 9 + 10 / 27})


def test_the_gradient_graph_has_the_gradient_for_its_values() -> None:
    here = at("tanh(x)*y^3 + sinc(x*y)/y", {"x": 0.3, "y": 2})
    assert Curvature(here).level.gradient == pytest.approx(list(here.gradient().values()), rel=1e-14)


def test_a_long_sum_is_differentiated_twice_without_recursion() -> None:
    here = at(" + ".join(["x*y"] * 20_000), {"x": 2, "y": 3})
    assert Curvature(here).level.times({here.wrt[0]: 1.0})[1] == 20_000


def test_a_deep_chain_of_relus_stays_small() -> None:
    deep = "x"
    for place in range(300):
        deep = f"relu({deep} + {place})"
    assert len(gradient_graph(Program(deep).read()[1], [0]).graph) < 40_000


# -- what is known from elsewhere -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "inputs", "expected"),
    [
        (ROSENBROCK, {"x": 1, "y": 1}, [[802, -400], [-400, 200]]),
        (ROSENBROCK, {"x": -1.2, "y": 1}, [[1330, 480], [480, 200]]),
        ("x^2*y", {"x": 3, "y": 2}, [[4, 6], [6, 0]]),
        # powers at a zero base
        ("x^2", {"x": 0}, [[2]]),
        ("x*x", {"x": 0}, [[2]]),
        ("x^3", {"x": 0}, [[0]]),
        ("x^1", {"x": 0}, [[0]]),
        ("x^0", {"x": 0}, [[0]]),
        ("x^4/12 + x^2*y", {"x": 0, "y": 0}, [[0, 0], [0, 0]]),
        # away from the kink nothing bends
        ("relu(x)", {"x": 2}, [[0]]),
        ("relu(x)", {"x": -2}, [[0]]),
        ("max(x, y)*abs(x)", {"x": -2, "y": 1}, [[0, -1], [-1, 0]]),
        ("where(x > 0, x^3, sqrt(x))", {"x": 2}, [[12]]),
        ("where(x > 0, sqrt(x), 0)", {"x": -1}, [[0]]),
        ("where(x > 0, where(y > 0, sqrt(y)*x, 0), 0)", {"x": -1, "y": -1}, [[0, 0], [0, 0]]),
        ("floor(x)*x", {"x": 2.5}, [[0]]),
        # singular points at which the whole is smooth
        ("sqrt(x^2 + y^2)^2", {"x": 0, "y": 0}, [[2, 0], [0, 2]]),
        ("exp(-sqrt(x^2 + y^2)^2)", {"x": 0, "y": 0}, [[-2, 0], [0, -2]]),
        ("hypot(x, y)^2", {"x": 0, "y": 0}, [[2, 0], [0, 2]]),
        ("abs(x)^3", {"x": 0}, [[0]]),
        ("sinc(x)", {"x": 0}, [[-1 / 3]]),
        ("xlogy(x, y)", {"x": 0, "y": 2}, [[0, 0.5], [0.5, 0]]),
        ("y*(relu(x) - relu(-x))", {"x": 0, "y": 1}, [[0, 1], [1, 0]]),
        ("m = max(a, b); m + log1p(exp(-abs(a - b)))", {"a": 1, "b": 1}, [[0.25, -0.25], [-0.25, 0.25]]),
        # the mixed quotient of a rectangle depends on its shape, but both orders give 0
        ("sqrt(x^4 + y^4)", {"x": 0, "y": 0}, [[2, 0], [0, 2]]),
        ("cbrt(x)^6", {"x": 0}, [[2]]),
        ("max(x, y)*min(x, y)", {"x": 1, "y": 1}, [[0, 1], [1, 0]]),
        ("log1p(exp(-abs(x))) + max(x, 0)", {"x": 0}, [[0.25]]),
        # x^3 also to the left of 0, since 3 is a whole number
        ("x^y", {"x": 0, "y": 3}, [[0, 0], [0, 0]]),
        # doubles overflow on the way, or lose every digit
        ("log(exp(x) + 1)", {"x": 800}, [[0]]),
        ("1 - cos(x)", {"x": 1e-9}, [[1]]),
    ],
)
def test_a_hessian_known_from_paper(program: str, inputs: dict[str, float], expected: list[list[float]]) -> None:
    found = backprop.hessian(program, inputs)
    assert [list(row.values()) for row in found.values()] == [pytest.approx(row, rel=1e-13) for row in expected]


def test_a_hessian_that_doubles_lose_is_the_true_one() -> None:
    # kinetic energy at 30 m/s, m·(v²/2 + 3 v⁴/8c² + ...), differentiated on paper; what is left out is below 1e-13
    v, c, m = 30.0, 299792458.0, 1000.0
    found = backprop.hessian("(1/sqrt(1 - v^2/c^2) - 1)*m*c^2", {"v": v, "c": c, "m": m})
    beta = v / c
    assert found["v"]["v"] == pytest.approx(m * (1 + 4.5 * beta**2), rel=1e-15)
    assert found["v"]["m"] == pytest.approx(v * (1 + 1.5 * beta**2), rel=1e-15)
    assert found["v"]["c"] == pytest.approx(-3 * m * beta**3, rel=1e-12)
    assert found["c"]["c"] == pytest.approx(2.25 * m * beta**4, rel=1e-12)
    assert found["c"]["m"] == pytest.approx(-0.75 * v * beta**3, rel=1e-12)
    assert found["m"]["m"] == 0


@pytest.mark.parametrize(
    ("program", "inputs", "pair", "told"),
    [
        ("x*abs(x)", {"x": 0}, "x,x", "-2 from the left, 2 from the right"),
        ("elu(x)", {"x": 0}, "x,x", "1 from the left, 0 from the right"),
        ("elu(min(x, y))", {"x": 0, "y": 0.3}, "x,x", "1 from the left, 0 from the right"),
        ("relu(x)^2", {"x": 0}, "x,x", "0 from the left, 2 from the right"),
        ("abs(x)", {"x": 0}, "x,x", "∂f/∂x itself does not exist: it is -1 from the left and 1 from the right"),
        ("relu(x)", {"x": 0}, "x,x", "∂f/∂x itself does not exist"),
        ("x^1.5", {"x": 0}, "x,x", "grow without bound"),
        # the second derivative is 0, and 1e-60 beside the point it is still 1.99999997
        ("abs(x)^2.0000000001", {"x": 0}, "x,x", "not steady"),
        ("1/x", {"x": 1e-200}, "x,x", "beyond the largest double"),
        ("x*abs(y)", {"x": 1, "y": 0}, "x,y", "∂f/∂y itself does not exist"),
        ("abs(x)*abs(y)", {"x": 0, "y": 0}, "x,y", "1 towards -x, -y, -1 towards -x, +y"),
        ("(x + y)*abs(x)*sign(y)^2", {"x": 0, "y": 2}, "x,y", "∂f/∂x itself does not exist"),
    ],
)
def test_where_there_is_no_second_derivative_the_sides_are_told(
    program: str, inputs: dict[str, float], pair: str, told: str
) -> None:
    report = hessians.report(program, inputs, check=False)
    assert report.exit_code == 3
    x, y = pair.split(",")
    assert y not in report.hessian[x]
    notes = [note.text for note in report.notes if note.code == "undefined" and note.node == pair]
    assert len(notes) == 1
    assert told in notes[0]
    with pytest.raises(Undefined):
        backprop.hessian(program, inputs)


def test_derivatives_that_depend_on_their_order_are_no_second_derivative() -> None:
    # the example of Peano: ∂²f/∂y∂x is -1 and ∂²f/∂x∂y is 1, and every square rectangle gives 0
    here = at("where(x == 0 and y == 0, 0, x*y*(x^2 - y^2)/(x^2 + y^2))", {"x": 0, "y": 0})
    assert second(here, *here.wrt).sides == (("by x first", -1.0), ("by y first", 1.0))


def test_other_entries_than_the_undefined_one_are_given() -> None:
    report = hessians.report("abs(x)*y + y^2", {"x": 0, "y": 1})
    assert report.hessian == {"x": {}, "y": {"y": 2.0}}


def test_the_end_of_a_domain_gives_the_second_derivative_from_inside() -> None:
    report = hessians.report("x^2.5", {"x": 0})
    assert report.hessian == {"x": {"x": 0.0}}
    assert [note.text for note in report.notes if note.code == "one-sided"] == ["∂²f/∂x² is 0 from the right alone"]


def test_a_point_without_a_value_has_no_hessian() -> None:
    report = hessians.report("log(x - 3)", {"x": 2})
    assert (report.exit_code, report.value, report.hessian) == (3, None, {})


def test_a_kink_is_seen_through_an_operation_that_might_have_one_but_has_none() -> None:
    assert backprop.grad("relu(min(x, 5)) - relu(-min(x, 5))", {"x": 0})[1] == {"x": 1.0}


# -- laws -------------------------------------------------------------------------------------------------------------

EXAMPLES = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])


@EXAMPLES
@given(programs(3), points)
def test_hessian_is_that_of_sympy(program: str, point: dict[str, float]) -> None:
    from mpmath import mpf

    from backprop.sympy_child import whole_twice

    here = at(program, point)
    assume(not at_a_kink(here) and is_number(here.value()))
    asked = sympy_whole.question(here)
    assume(isinstance(asked, dict) and len(asked["nodes"]) < 40)
    assert isinstance(asked, dict)
    places = sympy_whole.places_of(here)
    for (i, j), entry in list(entries(here, Curvature(here)).items())[:2]:
        if i in places and j in places:
            truth = whole_twice(asked, [places[i], places[j]])
            assert truth is not None
            assert entry.value == pytest.approx(float(mpf(truth)), rel=1e-10, abs=1e-12)


@EXAMPLES
@given(programs(), points)
def test_rows_by_reverse_mode_are_columns_by_forward_mode(program: str, point: dict[str, float]) -> None:
    here = at(program, point)
    of = Curvature(here)
    assume(not at_a_kink(here) and not any(kinks(of.of.graph, here.kind, of.level.known)))
    level = of.level
    rows = [level.row(place) for place in range(len(here.wrt))]
    columns = [level.times({node: 1.0}) for node in here.wrt]
    assume(not any(isinstance(value, Hole) for row in (*rows, *columns) for value in row))
    scale = max(abs(value) for row in rows for value in row) + 1e-3
    for a in range(len(rows)):
        for b in range(len(rows)):
            assert rows[a][b] == pytest.approx(columns[b][a], rel=1e-9, abs=1e-11 * scale)
            assert rows[a][b] == pytest.approx(rows[b][a], rel=1e-9, abs=1e-11 * scale)


@EXAMPLES
@given(programs(), points, st.lists(numbers, min_size=3, max_size=3))
def test_hessian_times_vector_is_one_pass(program: str, point: dict[str, float], vector: list[float]) -> None:
    here = at(program, point)
    assume(not at_a_kink(here))
    of = Curvature(here)
    found = entries(here, of)
    assume(all(entry.value is not None for entry in found.values()))
    direction = dict(zip(here.wrt, vector, strict=False))
    at_once = product(here, of, direction)
    for node, (value, _) in zip(here.wrt, at_once, strict=True):
        terms = [entry_of(found, node, other).value * amount for other, amount in direction.items()]
        size = sum(map(abs, terms))
        assert value == pytest.approx(math.fsum(terms), rel=1e-9, abs=1e-10 * size + 1e-300)


def entry_of(found: dict[tuple[int, int], Entry], i: int, j: int) -> Entry:
    return found[(i, j) if (i, j) in found else (j, i)]


@pytest.mark.parametrize(
    ("program", "inputs"),
    [
        ("x^2*sin(y) + exp(x*y)", {"x": 0.3, "y": -1.2}),
        ("tanh(x*y)/(1 + x^2)", {"x": 0.7, "y": 2}),
        ("x^y", {"x": 1.3, "y": -0.4}),
        ("log(1 + exp(x - y))*cbrt(y)", {"x": 1, "y": 2}),
        ("atan2(y, x)", {"x": 3, "y": -2}),
    ],
)
def test_entries_are_the_second_derivatives_of_diff(program: str, inputs: dict[str, float]) -> None:
    formulas = backprop.diff(program, order=2)
    found = backprop.hessian(program, inputs)
    for one in formulas.derivatives:
        x, y = one.wrt
        assert found[x][y] == pytest.approx(backprop.grad(one.text, inputs)[0], rel=1e-12)


# -- witnesses --------------------------------------------------------------------------------------------------------


def test_every_entry_has_four_witnesses() -> None:
    report = hessians.report("x^2*y", {"x": 3, "y": 2})
    said = {(one.of, one.by): one.verdict for one in report.witnesses}
    assert set(said.values()) == {"agrees"}
    assert [by for of, by in said if of == "x,y"] == ["sympy", "difference", "reverse over reverse", "symmetry"]


@pytest.mark.parametrize(
    ("program", "by"),
    [("x^2*y", ["sympy", "difference"]), ("abs(x)*x^2*y", ["sympy", "difference"])],
)
def test_a_wrong_entry_is_found_out(monkeypatch: pytest.MonkeyPatch, program: str, by: list[str]) -> None:
    def wrong(here: Any, of: Any) -> Any:
        found = entries(here, of)
        for entry in found.values():
            entry.value *= 1.001
        return found

    monkeypatch.setattr(hessians, "entries", wrong)
    report = hessians.report(program, {"x": 3, "y": 2})
    assert report.exit_code == 1
    disagreeing = {one.by for one in report.witnesses if one.verdict == "DISAGREES" and one.of == "x,y"}
    assert set(by) <= disagreeing


def test_a_wrong_entry_among_very_many_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(here: Any, of: Any) -> Any:
        found = entries(here, of)
        found[here.wrt[40], here.wrt[41]].value += 1e-6
        return found

    monkeypatch.setattr(hessians, "entries", wrong)
    names = [f"x{place}" for place in range(60)]
    report = hessians.report(" + ".join(f"{name}^3" for name in names), dict.fromkeys(names, 2))
    assert [one.verdict for one in report.witnesses if one.of == "all"] == ["DISAGREES"]


def test_an_answer_from_beside_the_point_says_so() -> None:
    report = hessians.report("sqrt(x^2 + y^2)^2", {"x": 0, "y": 0})
    assert report.exit_code == 0
    reasons = {one.reason for one in report.witnesses if one.by == "difference"}
    assert reasons == {"the answer itself comes from the values beside the point"}
    assert [note.code for note in report.notes if note.node == "x,x"] == ["singular"]


def test_many_inputs_are_checked_within_bounds() -> None:
    names = [f"x{place}" for place in range(60)]
    report = hessians.report(" + ".join(f"{name}^3" for name in names), dict.fromkeys(names, 2))
    assert report.hessian["x7"]["x7"] == 12
    reasons = {one.reason for one in report.witnesses if one.verdict == "not checked"}
    assert "the differences would take too long" in reasons
    assert {one.verdict for one in report.witnesses if one.by == "reverse over reverse"} == {"agrees"}
    assert [(one.by, one.verdict) for one in report.witnesses if one.of == "all"] == [("difference", "agrees")]


# -- kinds ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "digits"), [("real", 15.95), ("digits:30", 30.0), ("exact", None)])
def test_the_orders_of_a_sum_agree_to_the_digits_of_the_kind(kind: str, digits: float | None) -> None:
    found = hessians.report("x^2*y/3", {"x": "2/7", "y": 3}, kind=kind)
    both = [witness for witness in found.witnesses if witness.by in ("reverse over reverse", "symmetry")]
    assert len(both) == 4
    assert [(witness.verdict, witness.digits) for witness in both] == [("agrees", digits)] * 4


def test_exact_second_derivatives_are_fractions() -> None:
    found = backprop.hessian("x^3*y/3 + y^2/7", {"x": "1/3", "y": "0.1"}, kind="exact")
    assert {str(value) for row in found.values() for value in row.values()} == {"1/15", "1/9", "2/7"}


def test_second_derivatives_of_many_digits() -> None:
    from mpmath import mp, mpf

    found = backprop.hessian("exp(x)*y^3", {"x": 1, "y": "0.1"}, kind="digits:50")
    with mp.workdps(50):
        assert abs(found["x"]["y"] - 3 * mp.e * mpf("0.1") ** 2) < mpf(10) ** -48


def test_a_smooth_singular_point_of_many_digits() -> None:
    found = backprop.hessian("exp(-sqrt(x^2)^2)", {"x": 0}, kind="digits:40")
    assert str(found["x"]["x"]) == "-2.0"


# -- directions -------------------------------------------------------------------------------------------------------


def test_products_with_vectors() -> None:
    found = directional("x^2*y", {"x": 3, "y": 2}, jvp="x=1,y=-1", vjp="-2", hvp="[0, 1]", hessian=True)
    assert found.jvp == ({"x": 1.0, "y": -1.0}, 3.0)
    assert found.vjp == (-2.0, {"x": -24.0, "y": -18.0})
    assert found.hvp == ({"x": 0.0, "y": 1.0}, {"x": 6.0, "y": 0.0})
    assert found.hessian == {"x": {"x": 4.0, "y": 6.0}, "y": {"x": 6.0, "y": 0.0}}


def test_the_door_of_python_takes_directions() -> None:
    found = backprop.directional("x^2*y", {"x": 3, "y": 2}, jvp={"x": 1}, hvp=[1, 0], order=2)
    assert found.jvp is not None
    assert found.jvp[1] == 12.0
    assert found.taylor is not None
    assert [one.value for one in found.taylor[1]] == [18.0, 12.0, 2.0]


def test_an_array_is_a_direction_too() -> None:
    numpy = pytest.importorskip("numpy")
    assert directional("x^2*y", {"x": 3, "y": 2}, jvp=numpy.array([1.0, 2.0])).jvp == ({"x": 1.0, "y": 2.0}, 30.0)


@pytest.mark.parametrize(
    ("asked", "what"), [({"vjp": 1e308}, "u·∂f/∂x"), ({"jvp": "x=1e308"}, "∂f/∂v"), ({"hvp": "x=1e308"}, "∂(∂f/∂x)/∂v")]
)
def test_an_answer_along_a_direction_that_overflows_says_so(asked: dict[str, Any], what: str) -> None:
    with pytest.raises(Undefined, match=re.escape(f"{what} overflows: it is beyond the largest double")):
        directional("x^2*y", {"x": 3, "y": 2}, **asked)


def test_the_names_of_a_direction_are_completed() -> None:
    from backprop.completion import offers

    assert [word for word, _ in offers(["grad", "x*yy", "--jvp"], "x=1,y")] == ["x=1,yy="]


def test_a_slope_along_a_direction_is_that_of_the_true_gradient() -> None:
    assert directional("relu(x) - relu(-x) + 3*y", {"x": 0, "y": 1}, jvp=[1, 1]).jvp == ({"x": 1.0, "y": 1.0}, 4.0)


def test_a_product_at_a_singular_point_is_that_of_the_true_hessian() -> None:
    found = directional("sqrt(x^2 + y^2)^2", {"x": 0, "y": 0}, hvp={"x": 1, "y": 2})
    assert found.hvp == ({"x": 1.0, "y": 2.0}, {"x": 2.0, "y": 4.0})


def test_a_product_does_not_need_an_entry_it_does_not_use() -> None:
    found = directional("x*abs(x) + y^2", {"x": 0, "y": 1}, hvp={"y": 3})
    assert found.hvp is not None
    assert found.hvp[1]["y"] == 6.0


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("x=1,q=2", (4, 5)),
        ("x=a", (2, 3)),
        ("x = 1 , y = inf", (12, 15)),
        ("[1,2,3]", (0, 7)),
        (" [1,b]", (4, 5)),
        ("x=0,5", (4, 5)),
        ("3", (0, 1)),
        ("[1,2", (0, 1)),
        ("x=1,x=2", (4, 5)),
        ("", (0, 1)),
        ("x=,y=1", (2, 3)),
        ("x=nan", (2, 5)),
    ],
)
def test_a_direction_that_cannot_be_read_is_shown_where(text: str, span: tuple[int, int]) -> None:
    with pytest.raises(UnreadableDirection) as caught:
        directional("x^2*y", {"x": 3, "y": 2}, jvp=text)
    assert caught.value.span == span
    assert caught.value.source == text


@given(st.text(max_size=12))
def test_any_text_is_a_direction_or_a_mistake(text: str) -> None:
    with contextlib.suppress(Mistake):
        assert directional("x^2*y", {"x": 3, "y": 2}, jvp=text).jvp is not None


@given(st.lists(numbers, min_size=len(NAMES), max_size=len(NAMES)))
def test_all_ways_to_write_a_direction_are_one(vector: list[float]) -> None:
    named = dict(zip(NAMES, vector, strict=True))
    ways: list[Any] = [vector, named, json.dumps(vector), ",".join(f"{name}={value}" for name, value in named.items())]
    found = [directional("x*y + y*z^2", {"x": 1, "y": 2, "z": 3}, jvp=way).jvp for way in ways]
    assert found.count(found[0]) == 4


def test_a_program_without_inputs_has_no_direction() -> None:
    with pytest.raises(UnreadableDirection, match="no input"):
        directional("2 + 3", {}, jvp="x=1")
    assert call("grad", "2 + 3", "--hessian") == (0, "f = 5\n", "")


# -- bounds and mistakes ----------------------------------------------------------------------------------------------


def test_a_hessian_of_very_many_inputs_is_refused_with_its_cost() -> None:
    names = [f"x{place}" for place in range(3000)]
    program = " + ".join(f"sin({name})*x0" for name in names)
    with pytest.raises(TooMuchWork, match="3000 passes over"):
        backprop.hessian(program, dict.fromkeys(names, 1))
    found = directional(program, dict.fromkeys(names, 1), hvp="x0=1", jvp="x1=1")
    assert found.hvp is not None
    assert found.hvp[1]["x1"] == pytest.approx(math.cos(1))


def test_second_derivatives_by_a_node_in_the_middle_are_refused() -> None:
    with pytest.raises(NoVariable, match="c is worked out from others"):
        backprop.hessian("c = a + b; c^2", {"a": 1, "b": 2}, wrt=["c"])


def test_a_named_constant_is_a_variable_when_there_is_no_other() -> None:
    assert backprop.hessian("a = 2; b = 1; e = a^2*b", {})["a"] == {"a": 2.0, "b": 4.0}


# -- the command ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words", "expected"),
    [
        ("rosenbrock", [ROSENBROCK, "--x", "1", "--y", "1"], 0),
        ("kink", ["x*abs(x)", "--x", "0"], 3),
        ("singular", ["exp(-sqrt(x^2+y^2)^2)", "--x", "0", "--y", "0"], 0),
        ("not-checked", ["x^2*y", "--x", "3", "--y", "2", "--no-check"], 0),
    ],
)
def test_the_table_of_the_hessian(name: str, words: list[str], expected: int, golden: Golden) -> None:
    code, out, err = call("hessian", *words)
    assert (code, err) == (expected, "")
    golden(f"hessian/{name}.txt", out)


def test_the_table_of_directions(golden: Golden) -> None:
    words = ["x^2*y", "--x", "3", "--y", "2", "--jvp", "x=1,y=0", "--hvp", "[1, 0]", "--hessian", "--vjp", "2"]
    code, out, err = call("grad", *words, "--order", "3")
    assert (code, err) == (0, "")
    golden("hessian/directions.txt", out)


def test_the_json_of_the_hessian() -> None:
    code, out, _ = call("hessian", "x*abs(x) + y", "--x", "0", "--y", "1", "--format", "json")
    record = json.loads(out)
    assert code == 3
    assert (record["format"], record["version"], record["wrt"]) == ("backprop-hessian", 1, ["x", "y"])
    assert record["hessian"] == {"x": {"y": 0.0}, "y": {"x": 0.0, "y": 0.0}}
    assert record["sides"] == {"x,x": {"from the left": -2.0, "from the right": 2.0}}
    assert {"program", "canonical", "inputs", "value", "gradient", "witnesses", "notes"} <= set(record)


@pytest.mark.parametrize(
    ("program", "inputs", "kind"),
    [
        (ROSENBROCK, {"x": 1, "y": 1}, "real"),
        ("x*abs(x) + y", {"x": 0, "y": 1}, "real"),
        ("abs(x)*abs(y)", {"x": 0, "y": 0}, "real"),
        ("log(x - 3)", {"x": 2}, "real"),
        ("x^3/7", {"x": "1/3"}, "exact"),
        ("exp(x)", {"x": 1}, "digits:30"),
    ],
)
def test_every_hessian_in_json_fits_its_schema(program: str, inputs: dict[str, Any], kind: str) -> None:
    import jsonschema

    validator = jsonschema.Draft202012Validator(hessian_schema())
    validator.check_schema(hessian_schema())
    assert list(validator.iter_errors(hessians.report(program, inputs, kind=kind).to_dict())) == []


def test_the_json_of_directions() -> None:
    code, out, _ = call("grad", "x^2", "--x", "3", "--jvp", "2", "--hvp", "1", "--vjp", "1/2", "--format", "json")
    record = json.loads(out)
    assert code == 0
    assert record["jvp"] == {"direction": {"x": 2.0}, "value": 12.0}
    assert record["hvp"] == {"direction": {"x": 1.0}, "product": {"x": 2.0}}
    assert record["vjp"] == {"seed": 0.5, "gradient": {"x": 3.0}}


def test_a_hessian_fits_a_narrow_screen() -> None:
    from backprop.render.hessian import render
    from backprop.render.look import Look

    names = [f"variable{place}" for place in range(6)]
    report = hessians.report(" + ".join(f"{name}^3" for name in names), dict.fromkeys(names, 2), check=False)
    lines = list(render(report, Look(width=40)))
    assert max(map(len, lines)) <= 40
    assert sum(line.startswith("Hessian, columns") for line in lines) > 1


def test_directions_and_propagation_exclude_each_other() -> None:
    code, _, err = call("grad", "x^2", "--x", "3", "--hessian", "--undefined", "propagate")
    assert code == 2
    assert "--undefined and --hessian" in err


def test_an_ordinary_gradient_loads_nothing_of_this() -> None:
    import subprocess
    import sys

    code = "import sys; from backprop import cli; cli.main(['grad', 'x^2', '--x', '3']); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {
        "backprop.higher.directions",
        "backprop.higher.hessians",
        "backprop.higher.taylor",
        "backprop.kinds.node",
    } & set(loaded)


@pytest.mark.parametrize(("program", "x"), [("x^4", 1e-200), ("x^3*1e-300", 1e-100), ("x^4", 1e-159)])
def test_a_second_derivative_that_no_double_is_nearer_to_is_confirmed(program: str, x: float) -> None:
    said = hessians.report(program, {"x": x}).witnesses
    assert {one.by for one in said if one.verdict == "agrees"} >= {"sympy", "difference"}
    assert all(one.verdict == "agrees" for one in said)
