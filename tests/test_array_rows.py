"""The rows of arrays test themselves: every sample of every row, against its definition, differences and transposition.

The general definition of an operation (`kinds.definitions`), in sixty digits, knows nothing of NumPy nor of any rule.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import backprop
from backprop import ops
from backprop.kinds import Hole, by_name
from backprop.kinds.array import Arrays, arrays
from backprop.kinds.digits import Digits
from backprop.kinds.real import REAL
from backprop.kinds.shapes import elements, shape_of
from backprop.point import at
from backprop.rules import partials

ROWS = [row for row in ops.rows() if row.arrays]
SIXTY = Arrays(Digits(60))
DOUBLES = arrays(REAL)
STEP = SIXTY.base.number("1e-20")


def points(*, edges: bool = True) -> list[Any]:
    return [
        pytest.param(row, operands, id=f"{row.name}{operands}")
        for row in ROWS
        for operands in row.samples + (row.edges if edges else ())
    ]


def read(kind: Arrays, operands: tuple[Any, ...]) -> list[Any]:
    return [kind.number(text) for text in operands]


def differentiable(row: ops.Row, operands: list[Any]) -> list[int]:
    """The operands that may move: no settings, slices, nor what has no rule."""
    texts = row.pulled(SIXTY.shapes(row, operands)) if row.pulls is not None else row.rules((True,) * len(operands))
    return [place for place, text in enumerate(texts) if text is not None]


def carried(kind: Arrays, row: ops.Row, operands: list[Any], place: int) -> Any:
    """The partial by one operand, as the engines have it."""
    from backprop.graph import INPUT, Graph

    graph = Graph()
    leaves = [graph.add(INPUT, (), (0, 0)) for _ in operands]
    node = graph.add(row.code, leaves, (0, 0))
    known = [*operands, kind.apply(row, operands)]
    return partials(graph, kind, known, graph.moving([leaves[place]])).values[graph.offsets[node] + place]


def weights(shape: tuple[int, ...]) -> Any:
    """Numbers of one shape with no pattern in them."""
    numbers = [SIXTY.base.number(str(((7 * place + 3) % 11 - 5.5) / 4)) for place in range(math.prod(shape))]
    return SIXTY.packed(numbers, shape)


def product(one: Any, other: Any) -> Any:
    """The sum of the products of the elements of two of one shape."""
    return sum(x * y for x, y in zip(elements(one), elements(other), strict=True))


def as_doubles(value: Any) -> Any:
    return np.array([float(one) for one in elements(value)]).reshape(shape_of(value))


@pytest.mark.parametrize(("row", "operands"), points())
def test_numpy_gives_what_the_definition_says(row, operands):
    truth = as_doubles(SIXTY.apply(row, read(SIXTY, operands)))
    found = DOUBLES.apply(row, read(DOUBLES, operands))
    assert shape_of(found) == truth.shape
    np.testing.assert_allclose(as_doubles(found), truth, rtol=1e-13, atol=1e-300)


@pytest.mark.parametrize(("row", "operands"), points())
def test_what_comes_back_is_the_slope(row, operands):
    exact = read(SIXTY, operands)
    out = SIXTY.apply(row, exact)
    g = weights(shape_of(out))
    for place in differentiable(row, exact):
        if row.name.startswith("norm") and not any(elements(exact[0])):
            continue
        brought = SIXTY.pull(g, carried(SIXTY, row, exact, place))
        assert shape_of(brought) == shape_of(exact[place])
        for position, number in enumerate(elements(brought)):
            sides = []
            for sign in (1, -1):
                moved = list(elements(exact[place]))
                step = STEP * max(abs(moved[position]), 1)
                moved[position] = moved[position] + sign * step
                beside = list(exact)
                beside[place] = SIXTY.packed(moved, shape_of(exact[place]))
                sides.append(product(g, SIXTY.apply(row, beside)))
            difference = (sides[0] - sides[1]) / (2 * step)
            assert abs(number - difference) <= 1e-30 * (1 + abs(difference))


@pytest.mark.parametrize(("row", "operands"), points())
def test_forward_is_the_transpose_of_reverse(row, operands):
    exact = read(SIXTY, operands)
    out = SIXTY.apply(row, exact)
    g = weights(shape_of(out))
    for place in differentiable(row, exact):
        partial = carried(SIXTY, row, exact, place)
        t = weights(shape_of(exact[place]))
        pushed, pulled = SIXTY.push(t, partial), SIXTY.pull(g, partial)
        assert shape_of(pushed) == shape_of(out)
        assert abs(product(g, pushed) - product(pulled, t)) <= 1e-45 * (1 + abs(product(pulled, t)))


@pytest.mark.parametrize(("row", "operands"), points())
def test_doubles_bring_back_what_many_digits_do(row, operands):
    exact, doubles = read(SIXTY, operands), read(DOUBLES, operands)
    out = SIXTY.apply(row, exact)
    g = weights(shape_of(out))
    near = DOUBLES.packed([float(one) for one in elements(g)], shape_of(g))
    for place in differentiable(row, exact):
        truth = as_doubles(SIXTY.pull(g, carried(SIXTY, row, exact, place)))
        found = as_doubles(DOUBLES.pull(near, carried(DOUBLES, row, doubles, place)))
        np.testing.assert_allclose(found, truth, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row_has_samples_and_says_what_it_does(row):
    assert row.samples
    assert row.says
    for operands in row.samples + row.edges:
        exact = read(SIXTY, operands)
        assert not any(isinstance(one, Hole) for one in elements(SIXTY.apply(row, exact)))


# -- whole programs of random shapes

SIZES = st.integers(1, 4)
FLOATS = st.floats(-2, 2, allow_nan=False).map(lambda x: round(x, 3) or 0.125)


def array_of(shape: tuple[int, ...]) -> st.SearchStrategy[Any]:
    return st.lists(FLOATS, min_size=math.prod(shape), max_size=math.prod(shape)).map(
        lambda numbers: np.array(numbers).reshape(shape).tolist()
    )


# programs over arrays whose sizes are n, m, k, with the shapes of their inputs
PROGRAMS = [
    ("sum(tanh(W @ x + b)^2)", {"W": "nm", "x": "m", "b": "n"}),
    ("sum(exp(-(X @ W + b)^2))", {"X": "nm", "W": "mk", "b": "k"}),
    ("sum((X @ W + c) * sin(X @ W))", {"X": "nm", "W": "mk", "c": "n1"}),
    ("sum(A * B / (1 + C^2))", {"A": "nm", "B": "m", "C": "n1"}),
    ("sum((A + B) * C)", {"A": "knm", "B": "m", "C": "n1"}),
    ("mean(softmax(X)^2)", {"X": "nm"}),
    ("sum(log_softmax(X, axis=0) * Y)", {"X": "nm", "Y": "nm"}),
    ("logsumexp(X) + sum(logsumexp(X, axis=1)^2)", {"X": "nm"}),
    ("sum(sum(X, axis=0)^2) + sum(mean(X, 1)^3)", {"X": "nm"}),
    ("norm(X) * norm(x) + sum(norm(X, axis=0))", {"X": "nm", "x": "k"}),
    ("sum(prod(X, axis=0)) + prod(x)", {"X": "nm", "x": "k"}),
    ("sum(X.T @ Y @ X)", {"X": "nm", "Y": "nn"}),
    ("sum(outer(x, y) * Z) + dot(x, x)", {"x": "n", "y": "m", "Z": "nm"}),
    ("logdet(X @ X.T + 3*eye_) + sum(inv(X @ X.T + 3*eye_))", {"X": "nm"}),
    ("sum(solve(X @ X.T + 3*eye_, Y)^2) + det(X @ X.T + eye_)", {"X": "nm", "Y": "nk"}),
    ("trace(X @ Y) + sum(diag(X @ Y)^2)", {"X": "nm", "Y": "mn"}),
    ("mse(X @ W, Y) + sum(layernorm(Y) * Y)", {"X": "nm", "W": "mk", "Y": "nk"}),
    ("cross_entropy(X @ W, softmax(Y))", {"X": "nm", "W": "mk", "Y": "nk"}),
    ("sum(concat(X, Y, axis=1)^3) + sum(concat(x, x) * concat(x, 2*x))", {"X": "nm", "Y": "nk", "x": "k"}),
    ("sum([x, 2*x, x^2] @ y) + sum(reshape(X, -1)^2)", {"x": "n", "y": "n", "X": "mk"}),
    ("sum(X[0] * X[-1]) + sum(X[:, 0]^2) + sum(X[[0, 0]])", {"X": "nm"}),
    ("sum(A @ X) + sum((X @ x)^2)", {"A": "nm", "X": "kmn", "x": "n"}),
    ("sum(max(X, axis=0)) + min(X) + sum(where(X > 0, X^2, -X))", {"X": "nm"}),
]


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    text, letters = draw(st.sampled_from(PROGRAMS))
    sizes = {"n": draw(SIZES), "m": draw(SIZES), "k": draw(SIZES), "1": 1}
    text = text.replace("eye_", f"eye({sizes['n']})")
    shapes = {name: tuple(sizes[letter] for letter in word) for name, word in letters.items()}
    return text, {name: draw(array_of(shape)) for name, shape in shapes.items()}


@settings(max_examples=150, deadline=None)
@given(programs())
def test_closed_and_opened_programs_have_one_gradient(question):
    text, inputs = question
    here = at(text, inputs)
    opened = here.opened()
    assert opened is not None
    found = here.by_rules()
    places = here.opened_graph(20_000) or here.opened_graph()
    by_name_ = opened.by_rules()
    for node in here.wrt:
        for place, number in zip(places.places[node].flat, elements(found[here.name_of(node)]), strict=True):
            truth = by_name_[opened.name_of(int(place))] if place >= 0 else 0.0
            assert number == pytest.approx(truth, rel=1e-9, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(programs(), st.randoms(use_true_random=False))
def test_forward_and_reverse_agree_in_a_random_direction(question, random):
    text, inputs = question
    here = at(text, inputs)
    direction = {
        node: here.kind.packed([random.uniform(-1, 1) for _ in elements(here.values[node])],
                               shape_of(here.values[node]))
        for node in here.wrt
    }  # fmt: skip
    moved = here.tangents(direction)[here.graph.output]
    reverse = here.by_rules()
    along = sum(float(np.sum(reverse[here.name_of(node)] * t)) for node, t in direction.items())
    size = sum(float(np.sum(np.abs(reverse[here.name_of(node)] * t))) for node, t in direction.items())
    assert moved == pytest.approx(along, rel=1e-9, abs=1e-11 * (1 + size))


@settings(max_examples=40, deadline=None)
@given(programs())
def test_gradient_is_the_difference_of_many_digits(question):
    text, inputs = question
    here = at(text, inputs)
    name = sorted(inputs)[0]
    numbers = np.array(inputs[name])
    gradient = np.asarray(here.gradient()[name])
    if any(here.told().singular().values()):
        return
    kind, step = by_name("digits:50"), 1e-20
    sides = []
    place = numbers.size // 2
    for sign in ("", "-"):
        flat = [repr(float(x)) for x in numbers.flat]
        moved = f"{flat[place]}" if not step else kind.number(flat[place]) + kind.number(f"{sign}1e-20")
        flat[place] = kind.context.nstr(moved, 50)
        array = np.array(flat, dtype=object).reshape(numbers.shape).tolist()
        sides.append(at(text, inputs | {name: array}, kind=kind).value())
    slope = float((sides[0] - sides[1]) / (2 * kind.number("1e-20")))
    assert gradient.flat[place] == pytest.approx(slope, rel=1e-9, abs=1e-9)


def test_vector_programs_answer_in_python_with_arrays():
    value, gradient = backprop.grad("sum(x*x)", {"x": [1, 2, 3]})
    assert value == 14
    np.testing.assert_array_equal(gradient["x"], [2, 4, 6])
