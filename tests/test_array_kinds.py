"""Arrays at bad points, in every kind of number, and beyond the size to which a program is opened.

Each element of an array is worked out as one number alone would be; what it is worth there is asked of other tests.
"""

from __future__ import annotations

import math
import random
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import backprop
from backprop import ops
from backprop.gradient import answered, remarks
from backprop.graph import INPUT, Graph
from backprop.kinds import Hole, by_name, value_at
from backprop.kinds.array import Diagonal, arrays
from backprop.kinds.ieee import IEEE
from backprop.kinds.real import REAL
from backprop.kinds.shapes import elements, shape_of
from backprop.mistakes import Mistake, ShapesDiffer, Undefined
from backprop.point import Program, at
from backprop.rules import partials

ELEMENTWISE = [row for row in ops.rows() if not row.arrays]
EDGES = [0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e-300, -1e-300, 5e-324, 1e300, 709.9, -745.2, -750.0, 37.0, -20.5, 1e-8, 1e16]
EDGES += [2.5, -2.5, math.inf, -math.inf]


@pytest.fixture(autouse=True)
def no_warnings():
    """NumPy warns of nothing that is told otherwise."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def ulps(one: float, other: float) -> float:
    if one == other or (one != one and other != other):
        return 0.0
    return abs(one - other) / math.ulp(max(abs(one), abs(other))) if math.isfinite(one - other) else math.inf


def columns(row: ops.Row) -> list[tuple[float, ...]]:
    """Operands at which an elementwise row is tried: edges, and numbers with nothing special about them."""
    chance = random.Random(row.name)
    arity = 3 if row.variadic else len(row.parameters)
    usual = [chance.uniform(-3, 3) for _ in range(15)] + [10 ** chance.uniform(-9, 9) for _ in range(15)]
    if arity == 1:
        return [(one,) for one in EDGES + usual]
    return [tuple(chance.choice(EDGES + usual) for _ in range(arity)) for _ in range(250)]


def number(value: Any) -> float:
    return math.nan if isinstance(value, Hole) else float(value)


@pytest.mark.parametrize("base", [REAL, IEEE], ids=["real", "ieee"])
@pytest.mark.parametrize("row", ELEMENTWISE, ids=lambda row: row.name)
def test_each_element_is_worked_out_as_it_would_be_alone(row, base):
    points = columns(row)
    found = arrays(base).apply(row, [np.array(column) for column in zip(*points, strict=True)])
    for operands, one in zip(points, elements(found), strict=True):
        alone = value_at(-1, row, base, list(operands))
        assert ulps(number(one), number(alone)) <= 2, operands
        if base is IEEE and one == 0:
            assert math.copysign(1, one) == math.copysign(1, alone), operands


def slopes(kind: Any, row: ops.Row, operands: list[Any]) -> list[Any]:
    graph = Graph()
    leaves = [graph.add(INPUT, (), (0, 0)) for _ in operands]
    node = graph.add(row.code, leaves, (0, 0))
    known = [*operands, value_at(node, row, kind, operands)]
    moving = graph.moving([leaf for place, leaf in enumerate(leaves) if place not in row.conditions])
    return partials(graph, kind, known, moving).values


@pytest.mark.parametrize("base", [REAL, IEEE], ids=["real", "ieee"])
@pytest.mark.parametrize("row", [row for row in ELEMENTWISE if not row.gives_condition], ids=lambda row: row.name)
def test_each_slope_is_worked_out_as_it_would_be_alone(row, base):
    points = columns(row)
    found = slopes(arrays(base), row, [np.array(column) for column in zip(*points, strict=True)])
    for place, partial in enumerate(found):
        if partial is None:
            continue
        values = np.broadcast_to(partial.values if isinstance(partial, Diagonal) else partial, (len(points),))
        for operands, one in zip(points, values.tolist(), strict=True):
            alone = slopes(base, row, list(operands))[place]
            # x^(-2/3) is worked out in more than one step
            assert ulps(number(one), math.nan if alone is None else number(alone)) <= 8, operands


# -- branches, kinks, infinities: the answers are from paper ----------------------------------------------------------

ANSWERS = [
    ("sum(where(x > 0, log(x), 0))", {"x": [1, -2, 0, 3]}, {"x": [1, 0, 0, 1 / 3]}),
    ("sum(where(x > 0, where(x > 1, log(x), sqrt(x)), 1/x))", {"x": [0.25, -2, 4]}, {"x": [1, -0.25, 0.25]}),
    ("sum(where(x > 0, 1/x, 0))", {"x": [0, 2]}, {"x": [0, -0.25]}),
    ("sum(where(not (x > 0), x, log(x)))", {"x": [2, -1]}, {"x": [0.5, 1]}),
    ("sum(log(x)[1] * x[0])", {"x": [-1, 2]}, {"x": [math.log(2), -0.5]}),
    ("sum(A if c > 0 else B)", {"A": [[1, 2], [3, 4]], "B": [1, 2], "c": -1}, {"A": [[0, 0], [0, 0]], "B": [2, 2]}),
    ("sum(A if c > 0 else 1/B)", {"A": [1, 2], "B": [0, 2], "c": 1}, {"A": [1, 1], "B": [0, 0]}),
    ("sum(where(c > 0, x, 1))", {"x": [5, 6, 7], "c": -1}, {"x": [0, 0, 0]}),
    ("sum(relu(x) + abs(x) + max(x, 0))", {"x": [0, -1, 1]}, {"x": [0, -1, 3]}),
    ("sum(max(x, y))", {"x": [0, -1], "y": [0, 2]}, {"x": [0.5, 0], "y": [0.5, 1]}),
    ("sum(sqrt(x)^2)", {"x": [0, 1]}, {"x": [1, 1]}),
    ("sum(1/exp(x))", {"x": [1000, 0]}, {"x": [0, -1]}),
    ("norm(x)", {"x": [0, 0]}, {"x": [0, 0]}),
    ("prod(x)", {"x": [0, 2, 3]}, {"x": [6, 0, 0]}),
    ("max(x)", {"x": [1.0] * 64}, {"x": [1 / 64] * 64}),
    ("max(x)", {"x": [*range(100), 99]}, {"x": [*[0] * 99, 0.5, 0.5]}),
    ("logsumexp(x)", {"x": ["-inf", 1]}, {"x": [0, 1]}),
    ("sum(softmax(x)*y)", {"x": [1000, -1000, 1000], "y": [1, 2, 3]}, {"x": [-0.5, 0, 0.5], "y": [0.5, 0, 0.5]}),
    ("sum(put([a, b], x, [0, 0])*x)", {"a": 0, "b": 2, "x": [3, 4]}, {"a": 3, "b": 3, "x": [2, 0]}),
    ("sum(x[::-1]*[1, 2, 3])", {"x": [1, 2, 3]}, {"x": [3, 2, 1]}),
    ("sum(x[k]*x[k])", {"x": [1, 2, 3], "k": [1, 1, 0]}, {"x": [2, 8, 0], "k": [0, 0, 0]}),
    ("sum(A*A.T)", {"A": [[1, 2], [3, 4]]}, {"A": [[2, 6], [4, 8]]}),
    ("sum([1, 2, 3])*a", {"a": 2}, {"a": 6}),
]


@pytest.mark.parametrize(("program", "inputs", "truth"), ANSWERS)
def test_derivatives_at_bad_points_are_those_from_paper(program, inputs, truth):
    for kind in ("real", "digits:30"):
        _, gradient = backprop.grad(program, inputs, kind=kind)
        for name, expected in truth.items():
            found = np.array(gradient[name], dtype=object).astype(float)
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
            assert kind != "real" or not np.any(np.signbit(found) & (found == 0))


UNDEFINED = [
    ("sum(max(1, log(x)))", {"x": [-1, 3]}, "x[0] = -1"),
    ("sum(log(x)^0)", {"x": [3, -1]}, "x[1] = -1"),
    ("sum(sign(log(x)))", {"x": [-1]}, "x[0] = -1"),
    ("max(1, sum(log(x)))", {"x": [2, -1]}, "x[1] = -1"),
    ("sum(where(log(x) > 0, x, 2*x))", {"x": [3, -1]}, "x[1] = -1"),
    ("sum(x*log(x))", {"x": [0, 1]}, "x[0] = 0"),
    ("sum(1/x)", {"x": [1, 0]}, "x[1] = 0"),
    ("sum(inv([[log(x), 1], [1, 2]]))", {"x": -1}, "x = -1"),
    ("sum(inv(A))", {"A": [[1, 2, 3], [4, 5, 6], [7, 8, 9]]}, "det(A) != 0"),
    ("sum(solve(A, A))", {"A": [[1, 2], [2, 4]]}, "det(A) != 0"),
    ("sum(exp(x))", {"x": [1, 1000]}, "beyond the largest double"),
]


@pytest.mark.parametrize(("program", "inputs", "told"), UNDEFINED)
def test_an_element_without_a_value_is_named(program, inputs, told):
    with pytest.raises(Undefined) as caught:
        backprop.grad(program, inputs)
    assert told in str(caught.value)


# -- programs too large to be opened ----------------------------------------------------------------------------------

MANY = 60_000  # with a few operations on each more than 200 000 nodes


def large(*first: float) -> np.ndarray:
    numbers = np.random.default_rng(0).uniform(0.5, 2, MANY)
    numbers[: len(first)] = first
    return numbers


def test_branches_not_taken_are_cut_off_in_large_programs():
    x = large(0, -1)
    value, gradient = backprop.grad("sum(where(x > 0, log(x) + 1/x, 0)*2 + where(x > 1, sqrt(x), 0))", {"x": x})
    np.testing.assert_array_equal(gradient["x"][:2], [0, 0])
    kept = x[2:]
    slope = 2 / kept - 2 / kept**2 + np.where(kept > 1, 0.5 / np.sqrt(kept), 0)
    np.testing.assert_allclose(gradient["x"][2:], slope, rtol=1e-12, atol=1e-14)
    assert math.isfinite(value)


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("sum(log(x)*x*x*x)", "v1[0] = log(x[0]) has no real value at x[0] = 0: it needs x[0] > 0"),
        ("max(1, sum(log(x)*x*x*x))", "v1[0] = log(x[0]) has no real value"),
        ("sum(sqrt(x^2)*x + x*x)", "the slope ∂v2[0]/∂v1[0] = 1/(2*v2[0]) has no finite value at v1[0] = 0"),
        ("sum(exp(x*1000)*x*x)", "is beyond the largest double"),
    ],
)
def test_what_a_large_program_cannot_tell_is_refused_by_its_element(program, told):
    with pytest.raises(Undefined) as caught:
        backprop.grad(program, {"x": large(0, -1)})
    assert told in str(caught.value)


def test_kinks_of_a_large_program_are_told():
    here = answered("sum(relu(x)*x + abs(x)*cos(x)) + max(x)", {"x": large(0, 2, 2)})
    told = " ".join(note.text for note in remarks(here))
    assert "v1[0] = relu(x[0])" not in told  # its adjoint is 0 there
    assert "abs(x[0]) has no derivative at x[0] = 0" in told
    assert "max(x) is reached by 2 elements" in told
    assert "too large to be opened" in told


def test_digits_lost_in_a_large_program_are_told():
    x = large(1e16, 1)
    here = answered("sum(x*y*y*y) - sum(x*y*y)", {"x": x, "y": np.ones(MANY)})
    assert "terms cancel" in " ".join(note.text for note in remarks(here))


def test_a_large_singular_matrix_is_refused_and_a_regular_one_is_not():
    matrix = np.random.default_rng(0).normal(size=(120, 120))
    value, _ = backprop.grad("sum(inv(A))", {"A": matrix})
    assert value == pytest.approx(float(np.sum(np.linalg.inv(matrix))), rel=1e-9)
    matrix[0] = matrix[1]
    for program in ("sum(inv(A))", "logdet(A)", "det(A)", "sum(solve(A, A))"):
        with pytest.raises(Undefined):
            backprop.grad(program, {"A": matrix})


# -- matrices ---------------------------------------------------------------------------------------------------------


def cofactors(matrix: np.ndarray) -> np.ndarray:
    """The derivative of a determinant, by minors."""
    found = np.zeros(matrix.shape)
    for row, column in np.ndindex(*matrix.shape):
        minor = np.delete(np.delete(matrix, row, 0), column, 1)
        found[row, column] = (-1) ** (row + column) * np.linalg.det(minor)
    return found


SINGULAR = [
    [[0, 1, 2, 3], [0, 4, 5, 6], [0, 7, 8, 10], [0, 1, 1, 5]],
    [[1, 2, 3, 4], [2, 4, 6, 8], [0, 0, 1, 1], [1, 0, 0, 1]],
    [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15, 17]],
    [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2]],
    [[0] * 4] * 4,
]


@pytest.mark.parametrize("kind", ["real", "exact", "digits:30", "certified"])
@pytest.mark.parametrize("matrix", SINGULAR)
def test_a_singular_determinant_has_its_derivatives(matrix, kind):
    value, gradient = backprop.grad("det(A)", {"A": matrix}, kind=kind)
    assert abs(float(value)) < 1e-15
    found = np.array(gradient["A"], dtype=object).astype(float)
    np.testing.assert_allclose(found, cofactors(np.array(matrix, dtype=float)), atol=1e-11)


@pytest.mark.parametrize("program", ["sum(inv(A))", "det(A)", "sum(solve(A, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]))"])
def test_the_hilbert_matrix_keeps_its_digits(program):
    hilbert = [[1 / (row + column + 1) for column in range(10)] for row in range(10)]
    value, gradient = backprop.grad(program, {"A": hilbert})
    truth, exact = backprop.grad(program, {"A": [[Fraction(x) for x in row] for row in hilbert]}, kind="exact")
    assert value == pytest.approx(float(truth), rel=1e-14)
    found = np.array(exact["A"], dtype=object).astype(float)
    np.testing.assert_allclose(gradient["A"], found, rtol=1e-10)


def test_a_determinant_without_divisions_is_that_of_an_elimination():
    matrix = np.random.default_rng(3).integers(-4, 5, (6, 6))
    kind = arrays(by_name("exact"))
    rows = [[Fraction(int(x)) for x in row] for row in matrix]
    free = kind._free([[kind.base.number(str(x)) for x in row] for row in rows])
    assert float(free) == pytest.approx(float(np.linalg.det(matrix)))


def test_numbers_beyond_doubles_are_inverted_in_kinds_that_hold_them():
    value, _ = backprop.grad("sum(inv(A))", {"A": [["1e400", 0], [0, "1e-400"]]}, kind="exact")
    assert value == Fraction(10) ** 400 + Fraction(1, 10**400)


# -- kinds ------------------------------------------------------------------------------------------------------------


def test_balls_hold_the_slopes_from_both_sides_of_a_kink_in_each_element():
    _, gradient = backprop.grad("sum(relu(x))", {"x": [0, 1]}, kind="certified")
    assert 0 in gradient["x"][0]
    assert 1 in gradient["x"][0]
    assert float(gradient["x"][1]) == 1


def test_intervals_go_through_arrays():
    value, _ = backprop.grad("det(A)", {"A": [["1..2", 2], [3, 4]]}, kind="certified")
    assert -2 in value  # 1·4 - 6
    assert 2 in value  # 2·4 - 6
    assert 3 not in value


def test_many_digits_are_enough_digits_for_arrays_too():
    value, gradient = backprop.grad("sum(softmax(x)^2)", {"x": ["1e300", "1e300", 1]}, kind="digits:30")
    assert float(value) == 0.5
    np.testing.assert_allclose(np.array(gradient["x"]).astype(float), 0, atol=1e-29)
    here = at("[1 - cos(x)]", {"x": ["1e-20"]}, kind=by_name("digits:30"))
    assert float(here.value().flat[0]) == pytest.approx(5e-41, rel=1e-15)


def test_a_point_in_another_kind_asks_its_own_opened_program():
    here = at("sum(x*y)", {"x": ["1/3", 2], "y": [3, 4]})
    assert here.opened() is not None
    exact = here.in_kind(by_name("exact"))
    assert exact.opened().kind.name == "exact"
    assert exact.gradient()["y"][0] == Fraction(1, 3)


def test_a_program_is_put_at_numbers_and_at_arrays_in_turn():
    program = Program("sum(x*x)")
    assert program.at({"x": 3}).gradient() == {"x": 6.0}
    np.testing.assert_array_equal(program.at({"x": [1, 2]}).gradient()["x"], [2, 4])
    assert program.at({"x": 3}).gradient() == {"x": 6.0}


# -- shapes -----------------------------------------------------------------------------------------------------------

SHAPES = {"A": [[1, 2, 3], [4, 5, 6]], "S": [[1, 2], [3, 4]], "x": [1, 2, 3], "y": [1, 2], "s": 2}
MISFITS = [
    ("sum(A + S)", "A is (2, 3), S is (2, 2): the last sizes 3 and 2 differ", None),
    ("sum(A @ S)", "A is (2, 3), S is (2, 2): the inner sizes 3 and 2 differ", "sum(A.T @ S)"),
    ("sum(S @ A @ y)", "(S @ A) is (2, 3), y is (2,)", "sum((S @ A).T @ y)"),
    ("sum(A.T @ x)", "(A.T) is (3, 2), x is (3,)", "sum(A @ x)"),
    ("sum(A @ s)", "A is (2, 3), s is one number", "sum(A*s)"),
    ("dot(x, y)", "x is (3,), y is (2,)", "sum(outer(x, y))"),
    ("dot(A, A)", "dot takes two vectors", "sum(A.T @ A)"),
    ("mse(A, x)", "A is (2, 3), x is (3,)", "mean((A - x)^2)"),
    ("sum(concat(A, S, axis=3))", "A is (2, 3): it has no axis 3", None),
    ("sum(concat(A, S))", "A is (2, 3) and S is (2, 2)", None),
    ("sum(concat(A, x, axis=0))", "A is (2, 3) and x is (3,)", None),
    ("sum(concat(s, x))", "s is one number: it has no axis 0", "sum(concat([s], x))"),
    ("sum(softmax(s))", "s is one number: it has no axis -1", "sum(softmax([s]))"),
    ("det(A)", "A is (2, 3): this takes a square matrix, and the sizes 2 and 3 differ", None),
    ("sum(solve(S, x))", "S is (2, 2), x is (3,)", None),
    ("sum(one_hot(y, 2))", "there is no class 2", None),
    ("sum(one_hot(y, -1))", "at least one class", None),
    ("cross_entropy(A, [0, 5])", "there is no class 5", None),
    ("cross_entropy(A, [0.5, 1])", "a class number is a whole number, not 0.5", None),
    ("cross_entropy(s, 0)", "s is one number", None),
    ("sum(x[y/2])", "a place is a whole number, not 0.5", None),
    ("sum(put(x, y, 1))", "x is (3,), and the places are one number", None),
    ("sum(put(s, y, 5))", "y is (2,): there is no place 5", None),
    ("s[0]", "s is one number: it has no elements to take", None),
    ("sum(reshape(A, -1, 4))", "A is (2, 3), 6 elements, which is no (-1, 4)", None),
]


@pytest.mark.parametrize(("program", "told", "repaired"), MISFITS)
@pytest.mark.parametrize("kind", ["real", "exact"])
def test_shapes_that_do_not_fit_are_told_with_their_names(program, told, repaired, kind):
    inputs = {
        name: value for name, value in SHAPES.items() if name in program.replace("sum", "").replace("softmax", "")
    }
    with pytest.raises(ShapesDiffer) as caught:
        backprop.grad(program, inputs, kind=kind)
    assert told in str(caught.value)
    assert caught.value.span is not None
    if repaired is not None and kind == "real":
        backprop.grad(repaired, inputs)


TOO_LARGE = [
    ("sum(eye(100000))*a", {"a": 1}),
    ("sum(one_hot([0, 1], 1000000000))*a", {"a": 1}),
    ("sum(outer(x, x))", {"x": [1.0] * 5000}),
    ("sum(diag(x))", {"x": [1.0] * 5000}),
    ("sum(expand_dims(x, 1) + x)", {"x": [1.0] * 5000}),
    ("sum(expand_dims(x, 1) @ expand_dims(x, 0))", {"x": [1.0] * 5000}),
    ("; ".join(["a = concat(x, x)", *["a = concat(a, a)"] * 30, "sum(a)"]), {"x": [1, 2]}),
    ("; ".join(["a = [x, x]", *["a = [a, a]"] * 28, "sum(a)"]), {"x": [1, 2]}),
    ("sum(expand_dims(x, 0)[k])", {"x": [1.0] * 5000, "k": [0] * 5000}),
]


@pytest.mark.parametrize(("program", "inputs"), TOO_LARGE)
@pytest.mark.parametrize("kind", ["real", "exact"])
def test_what_would_not_fit_into_memory_is_refused_before_it_is_made(program, inputs, kind):
    with pytest.raises(ShapesDiffer, match="elements; I hold at most"):
        backprop.grad(program, inputs, kind=kind)


def test_what_takes_too_long_in_fractions_is_refused_before_it_is_begun():
    matrix = np.ones((500, 500))
    with pytest.raises(ShapesDiffer, match="operations in kind exact"):
        backprop.grad("sum(A @ A)", {"A": matrix}, kind="exact")
    with pytest.raises(ShapesDiffer, match="operations in kind exact"):
        backprop.grad("sum(inv(A))", {"A": matrix}, kind="exact")


# -- random programs of all rows --------------------------------------------------------------------------------------

ONE = [
    row for row in ELEMENTWISE if not (row.gives_condition or row.variadic) and len(row.parameters) == 1 and row.called
]
TWO = [row for row in ELEMENTWISE if not (row.gives_condition or row.variadic) and len(row.parameters) == 2]
Part = tuple[str, tuple[int, ...]]


def grown(chance: random.Random, pool: list[Part]) -> Part | None:
    """One more array out of those there are; None where their shapes do not fit."""
    text, shape = chance.choice(pool)
    other, size = chance.choice(pool)
    third, width = chance.choice(pool)
    sort = chance.randrange(7)
    if sort == 0:
        return f"{chance.choice(ONE).called[0]}({text})", shape
    if sort in (1, 2):
        try:
            fitted = np.broadcast_shapes(shape, size) if sort == 1 else np.broadcast_shapes(shape, size, width)
        except ValueError:
            return None
        if sort == 2:
            forms = [f"where({text} > {other}, {third}, {text})", f"where({text} > 0, {other}, log({third}))",
                     f"max({text}, {other}, {third})", f"clip({text}, {other}, {third})"]  # fmt: skip
            return chance.choice(forms), fitted
        row = chance.choice(TWO)
        if not row.form:
            return f"{row.called[0]}({text}, {other})", fitted
        left, right = row.parameters
        form = row.form.replace(left, "{0}").replace(right, "{1}") if {left, right} == {"x", "y"} else "{0}*{1}"
        return form.format(f"({text})", f"({other})"), fitted
    if not shape:
        return None
    if sort == 3:
        axis = chance.randrange(len(shape))
        name = chance.choice(["sum", "mean", "prod", "max", "min", "logsumexp", "norm"])
        whole = chance.random() < 0.5
        return (f"{name}({text})", ()) if whole else (f"{name}({text}, {axis})", shape[:axis] + shape[axis + 1 :])
    if sort == 4:
        return chance.choice([f"softmax({text})", f"log_softmax({text}, axis=0)", f"layernorm({text})"]), shape
    if sort == 5:
        place = chance.randrange(shape[0])
        return chance.choice([(f"({text})[{place}]", shape[1:]), (f"({text})[[{place}, 0]]", (2, *shape[1:])),
                              (f"reshape({text}, -1)", (math.prod(shape),)), (f"[{text}, {text}]", (2, *shape)),
                              (f"concat({text}, {text})", (2 * shape[0], *shape[1:]))])  # fmt: skip
    if len(shape) == 2 and shape[0] == shape[1] and chance.random() < 0.6:
        forms = [(f"inv({text} + 3*eye({shape[0]}))", shape), (f"det({text})", ()), (f"trace({text})", ()),
                 (f"diag({text})", shape[:1]), (f"logdet({text})", ())]  # fmt: skip
        return chance.choice(forms)
    try:
        return f"({text}) @ ({other})", np.matmul(np.ones(shape), np.ones(size)).shape
    except ValueError:
        return None


def program_of(chance: random.Random) -> tuple[str, dict[str, Any]]:
    """A program out of rows of all sorts, and numbers for its inputs."""
    n, m = chance.randint(1, 3), chance.randint(1, 3)
    inputs, pool, lines = {}, [], []
    for name in "xyz"[: chance.randint(1, 3)]:
        shape = chance.choice([(), (n,), (m,), (n, m), (m, n), (n, n), (n, 1), (2, n, m)])
        numbers = [round(chance.uniform(-2, 2), chance.choice([0, 1, 3])) for _ in range(math.prod(shape))]
        inputs[name] = np.array(numbers).reshape(shape).tolist()
        pool.append((name, shape))
    for _ in range(chance.randint(1, 5)):
        part = grown(chance, pool)
        if part is not None:
            lines.append(f"v{len(lines)}_ = {part[0]}")
            pool.append((f"v{len(lines) - 1}_", part[1]))
    text, shape = pool[-1]
    return "; ".join([*lines, f"sum({text}*sin({text} + 1))" if shape else text]), inputs


def is_close(one: Any, other: Any) -> bool:
    lost = [isinstance(value, Hole) or float(value) != float(value) for value in (one, other)]
    if any(lost):
        return all(lost)
    one, other = float(one), float(other)
    return one == other or abs(one - other) <= 1e-8 * max(1e-3, abs(one), abs(other))


def hold_closed_against_opened(chance: random.Random, kind: str) -> None:
    program, inputs = program_of(chance)
    try:
        here = at(program, inputs, kind=by_name(kind))
    except Mistake:
        return
    opened = None if here.is_scalar else here.opened()
    if opened is None:
        return
    assert is_close(here.answer(), opened.answer()), program
    if isinstance(opened.answer(), Hole):
        return
    gradient, truth, places = here.gradient(), opened.gradient(), here.opening().places
    for name, (node, _) in here.asked.items():
        for place, one in zip(places[node].flat, elements(gradient[name]), strict=True):
            assert is_close(one, truth.get(opened.name_of(int(place)), 0.0)), (program, inputs, name)
    slopes_ = here.by_rules()
    numbers = [one for slope in slopes_.values() for one in elements(slope)]
    if kind == "real" and not any(isinstance(one, Hole) or not math.isfinite(one) for one in numbers):
        direction = {
            node: here.kind.packed([chance.uniform(-1, 1) for _ in elements(here.values[node])],
                                   shape_of(here.values[node]))
            for node in here.wrt
        }  # fmt: skip
        moved = here.tangents(direction)[here.graph.output]
        terms = [slopes_[here.name_of(node)] * one for node, one in direction.items()]
        size = sum(float(np.sum(np.abs(term))) for term in terms)
        if math.isfinite(size) and moved is not None and not isinstance(moved, Hole):
            assert moved == pytest.approx(sum(float(np.sum(term)) for term in terms), rel=1e-8, abs=1e-8 * (1 + size))


@settings(max_examples=120, deadline=None)
@given(st.randoms(use_true_random=False))
def test_random_programs_of_all_rows_have_one_gradient(chance):
    hold_closed_against_opened(chance, "real")


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(["exact", "digits:30", "certified"]))
def test_random_programs_have_one_gradient_in_every_kind(chance, kind):
    hold_closed_against_opened(chance, kind)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_many_random_programs_have_one_gradient(seed):
    chance = random.Random(seed)
    for _ in range(100):
        hold_closed_against_opened(chance, "real")


def test_a_hole_behind_a_branch_that_is_not_taken_harms_nobody():
    assert backprop.grad("leaky_relu(y, log(x))", {"x": -1, "y": 1}) == (1.0, {"y": 1.0, "x": 0.0})
    _, gradient = backprop.grad("sum(leaky_relu(y, log(x)))", {"x": [-1, 2], "y": [1, 1]})
    np.testing.assert_array_equal(gradient["y"], [1, 1])
