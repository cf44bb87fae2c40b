"""Taylor series: coefficients from the rules of the table, against SymPy's forms, series on paper, and differences."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import assume, given, settings

from backprop import ops
from backprop.higher.curvature import product
from backprop.higher.directions import directional
from backprop.higher.gradient_graph import Curvature
from backprop.higher.taylor import taylor
from backprop.kinds.digits import Digits
from backprop.mistakes import OptionValue, TooMuchWork, Undefined, UnreadableDirection
from backprop.ops import Operands, Row
from backprop.point import Point, at
from backprop.writing import Written, written
from command import call
from programs import at_a_kink, points, programs

ORDER = 6
FIFTY = Digits(50)


def coefficients(program: str, inputs: dict[str, Any], order: int, **along: float) -> list[Any]:
    here = at(program, inputs)
    direction = {here.graph.inputs[name]: amount for name, amount in (along or {"x": 1.0}).items()}
    return [one.value for one in taylor(here, direction, order)]


# -- on paper ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "x", "expected"),
    [
        ("exp(x)", 0, [1, 1, 1 / 2, 1 / 6, 1 / 24, 1 / 120]),
        ("sin(x)", 0, [0, 1, 0, -1 / 6, 0, 1 / 120]),
        ("tan(x)", 0, [0, 1, 0, 1 / 3, 0, 2 / 15, 0, 17 / 315]),
        ("log(1 + x)", 0, [0, 1, -1 / 2, 1 / 3, -1 / 4]),
        ("1/(1 - x)", 0, [1, 1, 1, 1, 1, 1, 1]),
        ("sqrt(1 + x)", 0, [1, 1 / 2, -1 / 8, 1 / 16, -5 / 128]),
        ("exp(sin(x))", 0, [1, 1, 1 / 2, 0, -1 / 8, -1 / 15]),
        ("x^3", 0, [0, 0, 0, 1, 0]),
        ("x^3 - 2*x", 2, [4, 10, 6, 1, 0, 0]),
        ("atan(x)", 0, [0, 1, 0, -1 / 3, 0, 1 / 5]),
        ("relu(x)*exp(x)", -1, [0, 0, 0, 0]),
        ("where(x > 0, sqrt(x), x^2)", -1, [1, -2, 1, 0]),
        ("leaky_relu(x, 0.5)", -2, [-1, 0.5, 0, 0]),
        # 0·inf, and kinks that cancel: from values beside the point
        ("sqrt(x^2)^2", 0, [0, 0, 1, 0, 0]),
        ("relu(x) - relu(-x)", 0, [0, 1, 0, 0]),
        ("sinc(x)", 0, [1, 0, -1 / 6, 0, 1 / 120]),
    ],
)
def test_a_series_known_from_paper(program: str, x: float, expected: list[float]) -> None:
    found = coefficients(program, {"x": x}, len(expected) - 1)
    assert found == pytest.approx(expected, rel=1e-13, abs=1e-15)


def test_a_series_of_high_order_is_exact_in_fractions() -> None:
    found = directional("1/(1 - x - x^2)", {"x": 0}, kind="exact", order=60)
    assert found.taylor is not None
    fibonacci = [1, 1]
    while len(fibonacci) < 61:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    assert [int(str(one.value)) for one in found.taylor[1]] == fibonacci


def test_the_derivatives_are_the_coefficients_times_factorials() -> None:
    found = directional("exp(2*x)", {"x": 0}, order=10)
    assert found.taylor is not None
    assert [one.derivative for one in found.taylor[1]] == pytest.approx([2.0**k for k in range(11)], rel=1e-13)


@pytest.mark.parametrize(
    ("program", "derivatives"),
    [
        ("exp(x)", [1.0] * 201),  # 1/200! is 1e-375: no double holds the coefficient, the derivative is 1
        ("sin(x/10)", [0.0 if k % 2 == 0 else (-1) ** (k // 2) * 10.0**-k for k in range(201)]),
        ("x^2", [0.0, 0.0, 2.0] + [0.0] * 198),
    ],
)
def test_derivatives_of_high_order_are_right_though_coefficients_underflow(
    program: str, derivatives: list[float]
) -> None:
    found = directional(program, {"x": 0}, order=200)
    assert found.taylor is not None
    assert [one.derivative for one in found.taylor[1]] == pytest.approx(derivatives, rel=1e-13, abs=0)


def test_derivatives_beyond_all_doubles_are_infinite_and_a_note_says_so() -> None:
    # 1/(1 - x) has the coefficients 1, and 170! is the last factorial below 1.8e308
    found = directional("1/(1 - x)", {"x": 0}, order=172)
    assert found.taylor is not None
    assert [one.value for one in found.taylor[1]] == [1.0] * 173
    assert [one.derivative for one in found.taylor[1][169:171]] == [float(math.factorial(k)) for k in (169, 170)]
    assert [one.derivative for one in found.taylor[1][171:]] == [math.inf, math.inf]
    assert any("from k = 171 on" in note.text for note in found.notes)
    assert call("grad", "1/(1 - x)", "x=0", "--order", "172", "--kind", "digits:5")[1].rstrip().endswith("2.1346e+311")


def test_a_series_that_underflows_for_too_long_is_refused() -> None:
    with pytest.raises(TooMuchWork, match="doubles underflow from"):
        directional("*".join(f"exp(x/{k})" for k in range(100, 250)), {"x": 0}, order=190)


def test_a_series_along_a_node_in_the_middle_holds_the_others() -> None:
    # with x held, z²·x in z = x*y = 6 at x = 3: 108 + 36 t + 3 t²
    found = directional("z = x*y; z^2*x", {"x": 3, "y": 2}, wrt=["z"], jvp="z=1", vjp=2, order=3)
    assert found.jvp == ({"z": 1.0}, 36.0)
    assert found.vjp == (2.0, {"z": 72.0})
    assert found.taylor is not None
    assert [one.value for one in found.taylor[1]] == [108.0, 36.0, 3.0, 0.0]


def test_coefficients_that_doubles_lose_are_the_true_ones() -> None:
    # 1/sqrt(1 - b²) - 1 = b²/2 + 3/8 b⁴ + ..., with b = v/c, differentiated on paper
    v, c = 30.0, 299792458.0
    found = coefficients("1/sqrt(1 - v^2/c^2) - 1", {"v": v, "c": c}, 4, v=1.0)
    expected = [v**2 / c**2 / 2, v / c**2, 1 / c**2 / 2, 1.5 * v / c**4, 0.375 / c**4]
    assert found == pytest.approx(expected, rel=1e-12, abs=0)
    found = coefficients("log1p(exp(x)) - x", {"x": 50}, 3)
    assert found == pytest.approx([math.exp(-50) * (-1) ** k / math.factorial(k) for k in range(4)], rel=1e-12, abs=0)


def test_a_series_along_a_direction() -> None:
    # (x + t)·(y - 2t)² at (3, 2): 12 + (4 - 24) t + (-8 + 12) t² + 4 t³
    assert coefficients("x*y^2", {"x": 3, "y": 2}, 4, x=1.0, y=-2.0) == [12, -20, 4, 4, 0]


# -- every row of the table -------------------------------------------------------------------------------------------


def cases() -> list[Any]:
    found = []
    for row in ops.elementwise():
        if not row.gives_condition:
            found += [pytest.param(row, sample, id=f"{row.name}{sample}") for sample in row.samples]
    return found


def question(row: Row, sample: Operands) -> tuple[str, dict[int, float]]:
    """The row written out over a0, a1, ..., and the direction in which those move that can."""
    moving = [
        place
        for place in range(len(sample))
        if place not in row.conditions and (callable(row.partials) or row.partials[place] is not None)
    ]
    if row.name == "pow" and sample[0] < 0:
        moving = [0]
    operands: list[Written] = []
    for place, value in enumerate(sample):
        text = f"a{place}" if place in moving else repr(value)
        if place in row.conditions:
            text = "1 > 0" if value else "1 < 0"
        operands.append((text, 0))
    return written(row, operands)[0], {place: 0.5 + 0.25 * place for place in moving}


def by_sympy(row: Row, sample: Operands, direction: dict[int, float]) -> list[Any]:
    """The coefficients by numerical differentiation of SymPy's form, which knows nothing of our rules."""
    import mpmath
    import sympy

    t = sympy.Symbol("t", real=True)
    operands: list[Any] = []
    for place, value in enumerate(sample):
        if place in row.conditions:
            operands.append(sympy.true if value else sympy.false)
        else:
            moved = sympy.Rational(str(direction.get(place, 0))) * t
            operands.append(sympy.Rational(str(value)) + moved)
    assert row.sympy is not None
    function = sympy.lambdify(t, row.sympy(sympy, *operands), "mpmath")
    with mpmath.workdps(60):
        return list(mpmath.taylor(function, 0, ORDER))


def put(text: str, sample: Operands, direction: dict[int, float], kind: Any = None) -> tuple[Point, dict[int, Any]]:
    here = at(text, {f"a{place}": str(sample[place]) for place in direction}, kind=kind)
    numbers = {place: here.kind.number(str(amount)) for place, amount in direction.items()}
    return here, {here.graph.inputs[f"a{place}"]: amount for place, amount in numbers.items()}


@pytest.mark.parametrize(("row", "sample"), cases())
def test_the_series_of_a_row_is_that_of_its_form_in_sympy(row: Row, sample: Operands) -> None:
    text, direction = question(row, sample)
    truth = by_sympy(row, sample, direction)
    here, along = put(text, sample, direction)
    for one in taylor(here, along, ORDER):
        assert one.value == pytest.approx(float(truth[one.k]), rel=1e-11, abs=1e-13)
        assert one.k == 0 or one.beside or (one.digits or 0) > 10  # the values beside the point agree
    here, along = put(text, sample, direction, FIFTY)
    for one in taylor(here, along, ORDER, check=False):
        assert abs(one.value - truth[one.k]) <= 1e-30 * abs(truth[one.k]) + 1e-32


# -- laws -------------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(programs(), points)
def test_the_first_coefficients_are_slope_and_half_the_curvature(program: str, point: dict[str, float]) -> None:
    here = at(program, point)
    assume(not at_a_kink(here))
    along = {node: 0.5 + 0.3 * place for place, node in enumerate(here.wrt)}
    found = taylor(here, along, 2, check=False)
    assume(all(one.value is not None for one in found))
    gradient = list(here.gradient().values())
    terms = [slope * amount for slope, amount in zip(gradient, along.values(), strict=True)]
    assert found[1].value == pytest.approx(math.fsum(terms), rel=1e-9, abs=1e-11 * sum(map(abs, terms)) + 1e-300)
    rows = [value for value, _ in product(here, Curvature(here), along)]
    assume(None not in rows)
    terms = [value * amount / 2 for value, amount in zip(rows, along.values(), strict=True)]
    assert found[2].value == pytest.approx(math.fsum(terms), rel=1e-8, abs=1e-10 * sum(map(abs, terms)) + 1e-300)


# -- where there is none, and bounds ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "k", "told"),
    [
        ("abs(x)", 1, "-1 from the left and 1 from the right"),
        ("x*abs(x)", 2, "-1 from the left and 1 from the right"),
        ("elu(x)", 2, "0.5 from the left and 0 from the right"),
        ("x^2.5", 3, "kink or a boundary"),
    ],
)
def test_a_coefficient_that_does_not_exist_is_named(program: str, k: int, told: str) -> None:
    with pytest.raises(Undefined) as caught:
        directional(program, {"x": 0}, order=4)
    assert f"t^{k}" in caught.value.cause
    assert told in caught.value.cause


def test_the_end_of_a_domain_has_a_series_from_inside() -> None:
    found = directional("x^2.5", {"x": 0}, order=2)
    assert found.taylor is not None
    assert [one.value for one in found.taylor[1]] == [0, 0, 0]
    assert [note.text for note in found.notes if note.code == "one-sided"] == [
        "the coefficients are those from the right alone: there is no value on the other side"
    ]


def test_a_series_of_several_inputs_asks_along_which_line() -> None:
    with pytest.raises(UnreadableDirection, match="along one line"):
        directional("x*y", {"x": 1, "y": 2}, order=3)


def test_a_series_that_takes_too_long_is_refused() -> None:
    program = "*".join(f"sin({k}*x)" for k in range(1, 400))
    with pytest.raises(TooMuchWork, match="products"):
        directional(program, {"x": 0.1}, order=200)


def test_a_long_program_is_no_recursion() -> None:
    found = directional(" + ".join(["sin(x)"] * 5_000), {"x": 0}, order=3)
    assert found.taylor is not None
    assert [one.value for one in found.taylor[1]] == pytest.approx([0, 5000, 0, -5000 / 6])


def test_the_order_has_bounds() -> None:
    code, _, err = call("grad", "x^2", "--x", "3", "--order", "1000")
    assert code == 2
    assert "from 1 up to 200" in err


@pytest.mark.parametrize("order", [0, -1, 201, 1.5, "3"])
def test_python_hears_of_the_same_bounds(order: Any) -> None:
    with pytest.raises(OptionValue, match="--order cannot be"):
        directional("x^2", {"x": 3}, order=order)


def test_the_json_of_a_series() -> None:
    code, out, _ = call("grad", "exp(x)", "--x", "0", "--order", "3", "--format", "json")
    found = json.loads(out)["taylor"]
    assert code == 0
    assert found["direction"] == {"x": 1.0}
    assert found["coefficients"] == pytest.approx([1, 1, 1 / 2, 1 / 6])
    assert found["derivatives"] == [1, 1, 1, 1]
