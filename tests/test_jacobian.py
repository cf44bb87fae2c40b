"""Jacobians, their products with vectors from either side, and second derivatives of programs with arrays."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import math
import re
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import backprop
import frameworks
from backprop import ops
from backprop.higher.array_directions import moving_gradient
from backprop.higher.directions import components, directional
from backprop.higher.jacobians import by_name as by_name_of
from backprop.higher.jacobians import matrix, told_jacobian
from backprop.higher.outputs import Outputs
from backprop.higher.passes import plan
from backprop.kinds import by_name
from backprop.kinds.array import Diagonal
from backprop.mistakes import (
    Mistake,
    NotExact,
    NoVariable,
    OptionValue,
    OutputNotANumber,
    TooMuchWork,
    Undefined,
    UnreadableDirection,
)
from backprop.ops import Row
from backprop.point import at
from backprop.schema import grad_schema, hessian_schema
from backprop.writing import ATOM, written
from command import call
from conftest import Golden
from layers import ATTENTION, LAYERS, Layer, numbers
from programs import points, programs

FIGURES = Path(__file__).parent / "arrays" / "jacobians.json"
DENSE = "tanh(W @ x)"
AT_DENSE: dict[str, Any] = {"W": [[1, 2], [3, 4]], "x": [0.1, -0.2]}


def outputs(program: str, inputs: dict[str, Any], wrt: list[str] | None = None) -> Outputs:
    return Outputs(at(program, inputs, wrt))


# -- numbers from paper -----------------------------------------------------------------------------------------------


def test_the_jacobian_of_a_product_of_matrix_and_vector() -> None:
    # ∂(Wx)_i/∂x_j = W_ij, ∂(Wx)_i/∂W_jk = δ_ij x_k
    found = backprop.jacobian("W @ x", {"W": [[1, 2], [3, 4]], "x": [5, 6]})
    assert found["x"].tolist() == [[1, 2], [3, 4]]
    assert found["W"].tolist() == [[[5, 6], [0, 0]], [[0, 0], [5, 6]]]


def test_the_jacobian_of_polar_coordinates() -> None:
    # x = r cos t, y = r sin t: the determinant of the Jacobian is r
    found = backprop.jacobian("[r*cos(t), r*sin(t)]", {"r": 2, "t": 0.5})
    c, s = math.cos(0.5), math.sin(0.5)
    assert found["r"] == pytest.approx(np.array([c, s]), rel=1e-15)
    assert found["t"] == pytest.approx(np.array([-2 * s, 2 * c]), rel=1e-15)
    assert found["r"][0] * found["t"][1] - found["r"][1] * found["t"][0] == pytest.approx(2, rel=1e-15)


def test_the_jacobian_of_softmax() -> None:
    # s_i (δ_ij - s_j), and at [0, log 2] the shares are 1/3 and 2/3
    found = backprop.jacobian("softmax(x)", {"x": [0, math.log(2)]})["x"]
    assert found == pytest.approx(np.array([[2, -2], [-2, 2]]) / 9, rel=1e-14)


def test_the_jacobian_of_an_inverse() -> None:
    # ∂(A⁻¹)_ij/∂A_kl = -(A⁻¹)_ik (A⁻¹)_lj, exactly in fractions
    found = backprop.jacobian("inv(A)", {"A": [[1, 2], [3, 5]]}, kind="exact")["A"]
    inverse = [[-5, 2], [3, -1]]
    for i, j, k, m in np.ndindex(2, 2, 2, 2):
        assert found[i, j, k, m] == Fraction(-inverse[i][k] * inverse[m][j])


def test_the_jacobian_of_one_number_is_its_gradient() -> None:
    assert backprop.jacobian("x*y", {"x": 2, "y": 3}) == {"x": 3, "y": 2}
    found = backprop.jacobian("sum(x^2)*b", {"x": [1, 2], "b": 3})
    assert found["x"].tolist() == [6, 12]
    assert found["b"] == 5


def test_numbers_that_are_not_differentiated_have_rows_of_zeros() -> None:
    assert backprop.jacobian("[2, x, 3*x]", {"x": 5})["x"].tolist() == [0, 1, 3]
    assert backprop.jacobian("[x, x]", {"x": 5, "y": 1})["y"].tolist() == [0, 0]


def test_a_node_on_the_way_has_its_jacobian_too() -> None:
    # z = 2x, f = z + zᵀ: by z alone
    found = backprop.jacobian("z = x.T; z + x.T", {"x": [[1, 2], [3, 4]]}, wrt=["z"])["z"]
    assert found.reshape(4, 4).tolist() == np.eye(4).tolist()


def test_rows_and_elements_can_be_asked_for() -> None:
    found = backprop.jacobian("W @ x", AT_DENSE, wrt=["W[1]", "x[0]"])
    assert {name: one.tolist() for name, one in found.items()} == {"W[1]": [[0, 0], [0.1, -0.2]], "x[0]": [1, 3]}


# -- modes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", [one for one in LAYERS if one.name not in ("784-128-10", "all-irises")],
                         ids=lambda one: one.name)  # fmt: skip
def test_forward_and_reverse_and_the_gradient_are_one(layer: Layer) -> None:
    here = at(layer.program, layer.inputs, layer.wrt)
    forward, reverse = (by_name_of(Outputs(here), mode) for mode in ("forward", "reverse"))
    for name, slope in here.gradient().items():
        assert forward[name] == pytest.approx(slope, rel=1e-11, abs=1e-13)
        assert reverse[name] == pytest.approx(slope, rel=1e-11, abs=1e-13)


MATRICES: dict[str, tuple[str, dict[str, Any]]] = {
    "dense": ("tanh(W @ x + b)", {"W": numbers(3, 4, seed=1), "x": numbers(4, seed=2), "b": numbers(3, seed=3)}),
    "softmax of rows": ("softmax(X @ W, axis=1)", {"X": numbers(2, 3, seed=4), "W": numbers(3, 3, seed=5)}),
    "normalised rows": ("layernorm(X)*g", {"X": numbers(2, 4, seed=6), "g": numbers(4, seed=7)}),
    "solved": ("solve(A, b)", {"A": numbers(3, 3, seed=8) + 3 * np.eye(3), "b": numbers(3, seed=9)}),
    "inverse": ("inv(A)", {"A": numbers(3, 3, seed=10) + 3 * np.eye(3)}),
    "broadcast": ("X*row + col/s", {"X": numbers(3, 2, seed=11), "row": numbers(2, seed=12),
                                    "col": numbers(3, 1, seed=13), "s": 2.5}),
    "cut and joined": ("concat(x[1:]*x[:-1], [sum(x)], y[::-1])", {"x": numbers(4, seed=14), "y": numbers(2, seed=15)}),
    "attention": (ATTENTION.program.rpartition("\n")[0], {k: v for k, v in ATTENTION.inputs.items() if k != "T"}),
}  # fmt: skip
CURVED: dict[str, tuple[str, dict[str, Any]]] = {
    "dense": ("sum(tanh(W @ x)^2)", {"W": numbers(2, 3, seed=21), "x": numbers(3, seed=22)}),
    "entropy": ("cross_entropy(X @ W, y)", {"X": numbers(2, 2, seed=23), "W": numbers(2, 3, seed=24),
                                            "y": [[0.2, 0.3, 0.5], [1, 0, 0]]}),
    "quadratic": ("y @ solve(A, y) + logdet(A)", {"A": numbers(2, 2, seed=26) + 2 * np.eye(2), "y": [1, -2]}),
}  # fmt: skip


@cache
def figures() -> dict[str, Any]:
    kept: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8"))
    return kept


@pytest.mark.parametrize("mode", ["forward", "reverse", None])
@pytest.mark.parametrize("name", MATRICES)
def test_jacobians_are_those_of_jax(name: str, mode: str | None) -> None:
    program, inputs = MATRICES[name]
    found = backprop.jacobian(program, inputs, mode=mode)
    kept = figures()["jacobians"][name]
    assert found.keys() == kept.keys()
    for one, slopes in found.items():
        theirs = np.array(kept[one])
        assert slopes.shape == theirs.shape
        assert np.abs(slopes - theirs).max() <= 1e-12 * np.abs(theirs).max()


@pytest.mark.parametrize("name", CURVED)
def test_hessians_and_their_products_are_those_of_jax(name: str) -> None:
    program, inputs = CURVED[name]
    found, kept = backprop.hessian(program, inputs), figures()["hessians"][name]
    here = outputs(program, inputs)
    direction = {part.name: numbers(*part.shape, seed=31) for part in here.parts}
    opened = directional(program, inputs, hvp=direction).hvp
    dual, _ = moving_gradient(here, here.direction(direction))
    assert opened is not None
    for one, row in kept.items():
        total: Any = 0
        for other, block in row.items():
            theirs = np.array(block)
            assert np.asarray(found[one][other]).shape == theirs.shape
            assert np.abs(found[one][other] - theirs).max() <= 1e-12 * max(1, np.abs(theirs).max())
            total = total + np.tensordot(theirs, direction[other], axes=np.ndim(direction[other]))
        assert np.array(opened[1][one]) == pytest.approx(total, rel=1e-11, abs=1e-12)
        assert np.asarray(dual[one]) == pytest.approx(total, rel=1e-11, abs=1e-12)


@pytest.mark.peers
def test_the_figures_are_those_of_jax(pytestconfig: pytest.Config) -> None:
    """With `-m peers --golden` they are written before they are read.

    Only under the mark `peers`, in which nobody has to have JAX; the figures themselves are tested without it.
    """
    if importlib.util.find_spec("jax") is None:
        pytest.skip("jax is not installed")
    jacobians = {name: frameworks.jax_jacobian(*case) for name, case in MATRICES.items()}
    hessians = {name: frameworks.jax_hessian(*case) for name, case in CURVED.items()}
    if pytestconfig.getoption("--golden"):
        text = json.dumps({"jacobians": jacobians, "hessians": hessians}, separators=(",", ":"))
        FIGURES.write_text(text.replace('},"', '},\n"') + "\n", encoding="utf-8")
    kept = json.loads(FIGURES.read_text(encoding="utf-8"))
    for name, found in jacobians.items():
        for one, slopes in found.items():
            assert np.array(slopes) == pytest.approx(np.array(kept["jacobians"][name][one]), rel=1e-12, abs=1e-14)
    for name, rows in hessians.items():
        for one, row in rows.items():
            for other, block in row.items():
                theirs = np.array(kept["hessians"][name][one][other])
                assert np.array(block) == pytest.approx(theirs, rel=1e-12, abs=1e-14)


def test_the_cheaper_side_is_taken() -> None:
    wide = plan(outputs("W @ x", {"W": numbers(3, 10, seed=1), "x": numbers(10, seed=2)}, ["x"]))[0]
    assert (wide.mode, wide.reverse, wide.forward) == ("reverse", 3, 10)
    tall = plan(outputs("x*[1, 2, 3, 4]", {"x": 2}))[0]
    assert (tall.mode, tall.reverse, tall.forward) == ("forward", 4, 1)


def test_a_mode_can_be_forced_and_is_told() -> None:
    words = ("grad", "W @ x", "--W", "[[1, 2, 3], [4, 5, 6]]", "--x", "[1, 1, 1]", "--wrt", "x", "--jacobian")
    code, out, _ = call(*words)
    assert code == 0
    assert "2 reverse passes (3 forward passes would do the same)" in out
    assert "3 forward passes (2 reverse passes would do the same)" in call(*words, "--mode", "forward")[1]
    with pytest.raises(OptionValue):
        backprop.jacobian("x", {"x": 1}, mode="backward")
    assert call("grad", "x", "--x", "1", "--mode", "forward")[0] == 2


def test_shared_passes_are_told() -> None:
    code, out, _ = call("grad", "x^2", "--x", "[1, 2, 3]", "--jacobian")
    assert code == 0
    told = "1 forward pass instead of 3, since columns that do not touch share one (1 reverse pass would do the same)"
    assert told in out


# -- kinds of number --------------------------------------------------------------------------------------------------


def test_fractions_stay_fractions() -> None:
    found = backprop.jacobian("[x/y, x^2]", {"x": "1/3", "y": 2}, kind="exact")
    assert found["x"].tolist() == [Fraction(1, 2), Fraction(2, 3)]
    with pytest.raises(NotExact):
        backprop.jacobian("[exp(x), x]", {"x": 1}, kind="exact")


def test_many_digits_are_right() -> None:
    import mpmath

    found = backprop.jacobian("[exp(x[0]), x[0]*x[1]]", {"x": [1, 2]}, kind="digits:40")["x"]
    with mpmath.workdps(45):
        assert abs(found[0, 0] - mpmath.e) < mpmath.mpf(10) ** -38
    assert (found[1, 0], found[1, 1], found[0, 1]) == (2, 1, 0)


def test_balls_hold_the_true_derivatives() -> None:
    pytest.importorskip("flint")
    found = backprop.jacobian("[x^2, 3*x]", {"x": "0.1..0.2"}, kind="certified")["x"]
    assert 0.3 in found[0]
    assert 0.19 not in found[0]
    assert 3 in found[1]


def test_digits_that_doubles_lose_are_mended() -> None:
    # d/dx (1 - cos x)/x² is 0/0 in doubles at 1e-9; it is -x/12
    found = backprop.jacobian("[(1 - cos(x))/x^2, x]", {"x": 1e-9})["x"]
    assert found[0] == pytest.approx(-1e-9 / 12, rel=1e-12)


# -- delicate points --------------------------------------------------------------------------------------------------


def test_a_kink_is_told_element_by_element() -> None:
    code, _, err = call("grad", "relu(x)", "--x", "[1, 0, -1]", "--jacobian")
    assert code == 0
    assert "note: kink: f[1] = relu(x[1]) has no derivative at x[1] = 0" in err
    assert "f[0] =" not in err
    assert backprop.jacobian("relu(x) - relu(-x)", {"x": [0, 2]})["x"].tolist() == [[1, 0], [0, 1]]


def test_a_product_at_a_kink_is_that_of_the_true_derivatives() -> None:
    # relu(x) - relu(-x) is x: the rules give 0 at 0
    found = directional("relu(x) - relu(-x)", {"x": [0, 2]}, jvp="x=[1, 1]", vjp="[3, 5]")
    assert found.jvp is not None
    assert found.vjp is not None
    assert found.jvp[1] == [1, 1]
    assert found.vjp[1] == {"x": [3, 5]}


@pytest.mark.parametrize("asked", [{"jacobian": True}, {"vjp": "[1, 1]"}, {"jvp": "[1, 1]"}])
def test_an_element_without_a_value_is_explained(asked: dict[str, Any]) -> None:
    with pytest.raises(Undefined, match=r"f\[1\] = log\(x\[1\]\) has no real value at x\[1\] = -1"):
        directional("log(x)", {"x": [1, -1]}, **asked)
    with pytest.raises(Undefined, match=r"infinite|finite"):
        directional("sqrt(x)", {"x": [1, 0]}, **asked)


def test_a_singular_matrix_is_explained() -> None:
    code, out, err = call("grad", "solve(A, b)", "--A", "[[1, 2], [2, 4]]", "--b", "[1, 1]", "--jacobian")
    assert (code, out) == (3, "")
    assert "it needs det(A) != 0" in err


def test_a_hole_in_a_large_program_is_told_too() -> None:
    inputs = {"W": np.ones((110, 100)), "x": np.ones(100)}
    with pytest.raises(Undefined, match="no real value"):
        backprop.jacobian("log(W @ x - 100)", inputs, wrt=["x"])
    with pytest.raises(Undefined, match=r"slope|finite"):
        backprop.jacobian("U @ sqrt(W @ x - 100)", inputs | {"U": np.ones((1, 110))}, wrt=["x"])


def test_a_kink_in_a_large_program_is_told_too() -> None:
    inputs = {"W": np.ones((300, 100)), "x": np.zeros(100), "U": np.ones((2, 300))}
    told = directional("U @ relu(W @ x)", inputs, ["x"], jacobian=True).notes
    assert any("relu" in note.text and "likewise at 299 more" in note.text for note in told)


# -- products with a vector -------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_products_are_those_of_the_jacobian(data: st.DataObject) -> None:
    small = st.floats(-2, 2, allow_subnormal=False)
    name = data.draw(st.sampled_from([one for one in MATRICES if one != "attention"]))
    program, inputs = MATRICES[name]
    found = outputs(program, inputs)
    seed = np.array(data.draw(st.lists(small, min_size=found.count, max_size=found.count))).reshape(found.shape)
    along = {part.name: np.array(data.draw(st.lists(small, min_size=len(part.places), max_size=len(part.places))))
             .reshape(part.shape) for part in found.parts}  # fmt: skip
    made = by_name_of(found)
    told = directional(program, inputs, jvp=along, vjp=seed)
    assert told.jvp is not None
    assert told.vjp is not None
    moved: Any = sum(np.tensordot(made[one], along[one], axes=np.ndim(along[one])) for one in made)
    assert np.array(told.jvp[1]) == pytest.approx(moved, rel=1e-10, abs=1e-10)
    for one, pulled in told.vjp[1].items():
        assert np.array(pulled) == pytest.approx(np.tensordot(seed, made[one], axes=seed.ndim), rel=1e-10, abs=1e-10)


def test_a_direction_has_an_array_for_each_array() -> None:
    ways: list[Any] = [
        "W=[[1, 0], [0, 1]] x=[1, 0]",
        "W=[[1,0],[0,1]],x=[1,0]",
        "x = [1, 0], W = [[1, 0], [0, 1]]",
        "[[[1, 0], [0, 1]], [1, 0]]",
        {"W": np.eye(2), "x": [1, 0]},
        [np.eye(2), np.array([1, 0])],
    ]
    found = [directional("W @ x", {"W": [[1, 2], [3, 4]], "x": [5, 6]}, jvp=way).jvp for way in ways]
    # (W + tV)(x + tv): V x + W v = [5, 6] + [1, 3]
    assert found[0] == ({"W": [[1, 0], [0, 1]], "x": [1, 0]}, [6, 9])
    assert found.count(found[0]) == len(ways)


def test_one_array_needs_no_name_and_what_is_left_out_does_not_move() -> None:
    assert directional("x^2", {"x": [1, 2]}, jvp="[1, 10]").jvp == ({"x": [1, 10]}, [2, 40])
    assert directional("x*y", {"x": [1, 2], "y": 3}, jvp="y=1").jvp == ({"x": [0, 0], "y": 1}, [1, 2])


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"jvp": "x=1"}, r"x needs an array of shape \(2,\), and here is one number"),
        ({"jvp": "x=[1,2,3]"}, r"x needs an array of shape \(2,\), and here is an array of shape \(3,\)"),
        ({"jvp": "y=[1, 2]"}, r"y needs one number"),
        ({"jvp": "x=[1, nan]"}, "holds a number that is not finite"),
        ({"jvp": "z=[1, 2]"}, "nothing that is differentiated by is called z"),
        ({"jvp": "[1, 2]"}, r"x needs an array of shape \(2,\), and here is one number"),
        ({"vjp": "1"}, r"this needs an array of shape \(2,\)"),
        ({"vjp": "[[1, 2]]"}, r"this needs an array of shape \(2,\), and here is an array of shape \(1, 2\)"),
        ({"vjp": "[1, 2"}, "never closed"),
    ],
)
def test_a_direction_of_another_shape_is_refused(asked: dict[str, Any], told: str) -> None:
    with pytest.raises(Mistake, match=told) as caught:
        directional("x*y", {"x": [1, 2], "y": 3}, **asked)
    assert caught.value.source is not None or not isinstance(caught.value, UnreadableDirection)


@given(st.text("[]=,x y1", max_size=14))
def test_any_text_is_a_direction_of_arrays_or_a_mistake(text: str) -> None:
    with contextlib.suppress(Mistake):
        assert directional("x*y", {"x": [1, 2], "y": 3}, jvp=text).jvp is not None


# -- second derivatives -----------------------------------------------------------------------------------------------


def test_the_hessian_of_a_quadratic_form_is_its_matrix() -> None:
    found = backprop.hessian("x @ A @ x", {"A": [[2, 1], [3, 5]], "x": [1, 1]}, wrt=["x"])
    assert found["x"]["x"].tolist() == [[4, 4], [4, 10]]


def test_blocks_have_the_shapes_of_both_inputs() -> None:
    found = backprop.hessian("sum(W @ x)*b", {"W": [[1, 2], [3, 4], [5, 6]], "x": [1, 1], "b": 2})
    assert found["W"]["x"].shape == (3, 2, 2)
    assert found["x"]["W"].shape == (2, 3, 2)
    assert found["x"]["b"].tolist() == [9, 12]
    assert found["b"]["b"] == 0
    assert np.array_equal(found["W"]["x"], found["x"]["W"].transpose(1, 2, 0))


def test_a_vector_has_no_hessian() -> None:
    for asked in ({"hessian": True}, {"hvp": "[1, 1]"}, {"order": 2, "jvp": "[1, 1]"}):
        with pytest.raises(OutputNotANumber):
            directional("x^2", {"x": [1, 2]}, **asked)
    assert call("hessian", "x^2", "--x", "[1, 2]")[0] == 2


LARGE = {"W": np.asarray(numbers(300, 100, seed=41)), "x": np.asarray(numbers(100, seed=42))}


def test_a_large_hessian_is_refused_with_what_to_do() -> None:
    for asked in ({"hessian": True}, {"order": 2, "jvp": {"x": np.ones(100)}}):
        with pytest.raises(TooMuchWork) as caught:
            directional("sum(tanh(W @ x)^2)", LARGE, **asked)
        assert "--hvp" in caught.value.repair
    with pytest.raises(TooMuchWork):
        backprop.hessian("sum(tanh(W @ x)^2)", LARGE, wrt=["x"])


def test_the_product_with_a_large_hessian_is_a_difference_of_gradients() -> None:
    program, v = "sum(tanh(W @ x)^2)", np.asarray(numbers(100, seed=43))
    found = directional(program, LARGE, hvp={"x": v}).hvp
    assert found is not None
    h = 1e-5
    beside = [backprop.grad(program, LARGE | {"x": LARGE["x"] + sign * h * v})[1] for sign in (1, -1)]
    for name, moved in found[1].items():
        quotient = (beside[0][name] - beside[1][name]) / (2 * h)
        assert np.abs(np.array(moved) - quotient).max() <= 1e-7 * np.abs(quotient).max()


@pytest.mark.parametrize("layer", [one for one in LAYERS if one.name not in ("784-128-10", "all-irises")],
                         ids=lambda one: one.name)  # fmt: skip
def test_dual_numbers_move_the_gradient_as_the_opened_program_does(layer: Layer) -> None:
    found = outputs(layer.program, layer.inputs, layer.wrt)
    shapes = {part.name: part.shape for part in found.parts}
    given_direction = {name: numbers(*shape, seed=51) if shape else 0.7 for name, shape in shapes.items()}
    along = components(found.kind, "hvp", given_direction, shapes)
    dual, _ = moving_gradient(found, found.direction(along))
    opened = directional(layer.program, layer.inputs, layer.wrt, hvp=given_direction).hvp
    assert opened is not None
    for name, moved in opened[1].items():
        size = max(1e-30, float(np.abs(np.array(moved)).max()))
        assert np.abs(np.asarray(dual[name]) - np.array(moved)).max() <= 1e-11 * size


def test_dual_numbers_are_exact_over_fractions() -> None:
    found = Outputs(at("sum((W @ x)^3)", {"W": [[1, 2], [3, 4]], "x": ["1/3", "1/2"]}, kind=by_name("exact")))
    along = found.direction(components(found.kind, "hvp", "x=[1, 0]", {part.name: part.shape for part in found.parts}))
    dual, _ = moving_gradient(found, along)
    # ∂f/∂x = 3 Wᵀ(Wx)², moved by v: 6 Wᵀ diag(Wx) W v, with Wx = [4/3, 3] and W v = [1, 3]
    assert dual["x"].tolist() == [6 * (Fraction(4, 3) + 27), 6 * (2 * Fraction(4, 3) + 36)]


def test_a_kink_leaves_no_product_unless_the_gradient_moves_evenly() -> None:
    large = {"W": np.ones((300, 100)), "x": np.zeros(100)}
    with pytest.raises(Undefined, match="kink or a boundary at relu"):
        directional("sum(relu(W @ x)^2) + sum(relu(W @ x))", large, ["x"], hvp=np.ones(100))
    # max(0, ·)² has a slope that bends at 0
    with pytest.raises(Undefined, match="kink or a boundary at relu"):
        directional("sum(relu(W @ x)^2)", large, ["x"], hvp=np.ones(100))
    # |y|³ is as smooth as can be at 0 up to its second derivative
    found = directional("sum(abs(W @ x)^3)", large, ["x"], hvp=np.ones(100))
    assert found.hvp is not None
    product: Any = found.hvp[1]["x"]
    assert set(product) == {0.0}
    assert any("evenly" in note.text for note in found.notes)


def test_ties_for_the_largest_are_kinks_of_the_product() -> None:
    large = {"X": np.ones((200, 200))}
    with pytest.raises(Undefined, match="kink"):
        directional("sum(max(X, axis=1)^2)", large, hvp=np.eye(200))
    alone = np.arange(200.0)[None, :] + np.zeros((200, 1))
    found = directional("sum(max(X, axis=1)^2)", {"X": alone}, hvp=np.ones((200, 200))).hvp
    assert found is not None
    moved = np.array(found[1]["X"])  # 2·1 in the last column, where the largest stand
    assert moved[:, -1].tolist() == [2.0] * 200
    assert not moved[:, :-1].any()


def test_second_derivatives_by_what_is_worked_out_are_refused() -> None:
    with pytest.raises(NoVariable):
        directional("z = W @ x; sum(z^2)", {"W": np.ones((200, 200)), "x": np.ones(200)}, ["z"], hvp=np.ones(200))


# -- witnesses --------------------------------------------------------------------------------------------------------


def test_a_wrong_rule_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    found = outputs(DENSE, AT_DENSE)
    assert [(one.of, one.by, one.verdict) for one in matrix(found)[2]] == [
        ("W", "opened", "agrees"),
        ("x", "opened", "agrees"),
        ("all", "forward mode", "agrees"),
    ]
    wrong = outputs(DENSE, AT_DENSE)
    for place, partial in enumerate(wrong.here.partials.values):
        if isinstance(partial, Diagonal):
            wrong.here.partials.values[place] = Diagonal(partial.values * 1.001, partial.source, partial.target)
    told = told_jacobian(wrong)
    assert told.disagrees
    assert {one.of for one in told.witnesses if one.verdict == "DISAGREES"} == {"W", "x"}


def test_the_other_mode_is_a_witness_where_the_program_is_too_large_to_be_opened() -> None:
    found = told_jacobian(outputs("tanh(W @ x)", LARGE, ["x"]))
    assert [(one.by, one.verdict) for one in found.witnesses] == [("opened", "not checked"), ("reverse mode", "agrees")]


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize(("kind", "size"), [("real", 1e-14), ("digits:30", 1e-28)])
def test_derivatives_that_are_nothing_but_rounding_are_no_disagreement(mode: str, kind: str, size: float) -> None:
    # inv(A) A is the unit matrix whatever A is: every derivative is 0
    here = Outputs(at("inv(A) @ A", {"A": [[2.0, 0.3, -0.4], [0.1, 1.7, 0.6], [-0.2, 0.5, 2.2]]}, kind=by_name(kind)))
    made, _, witnesses = matrix(here, mode)
    assert max(abs(float(one)) for one in made.flat) < size
    assert {one.verdict for one in witnesses} == {"agrees"}


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("program", ["sum(softmax(v @ A)[::-1])", "softmax(A - mean(v[1:]))"])
def test_the_shares_of_a_softmax_add_up_to_one_whatever_moves_them_together(program: str, mode: str) -> None:
    here = outputs(program, {"v": [0.7, 0.2, 1.3], "A": [[2.0, 0.3, -0.4], [0.1, 1.7, 0.6], [-0.2, 0.5, 2.2]]})
    made, _, witnesses = matrix(here, mode)
    assert np.abs(here.by_name(made)["v"]).max() < 1e-15
    assert {one.verdict for one in witnesses} == {"agrees"}
    assert min(one.digits for one in witnesses if one.digits is not None) > 12


def test_an_inverse_that_doubles_hardly_know_is_no_disagreement() -> None:
    hilbert = [[1 / (row + column + 1) for column in range(8)] for row in range(8)]
    found = told_jacobian(outputs("inv(A) @ v", {"A": hilbert, "v": [1, -1, 1, -1, 1, -1, 1, -1]}))
    assert not found.disagrees


# -- the command ------------------------------------------------------------------------------------------------------

DENSE_WORDS = ("grad", DENSE, "--W", "[[1, 2], [3, 4]]", "--x", "[0.1, -0.2]")


def test_the_table_of_a_jacobian(golden: Golden) -> None:
    code, out, err = call(*DENSE_WORDS, "--jacobian", "--jvp", "x=[1, 0]", "--vjp", "[1, -1]")
    assert (code, err) == (0, "")
    golden("jacobian/dense.txt", out)
    code, out, _ = call("grad", "[r*cos(t), r*sin(t)]", "--r", "2", "--t", "0.5", "--jacobian")
    golden("jacobian/polar.txt", out)


def test_a_wide_jacobian_is_cut_by_columns_on_a_screen() -> None:
    from backprop.render.jacobian import render
    from backprop.render.look import Look

    found = told_jacobian(outputs("W @ x", {"W": numbers(2, 8, seed=1), "x": numbers(8, seed=2)}, ["x"]))
    lines = list(render(found, "f", Look(width=50)))
    assert max(map(len, lines)) <= 50
    assert "∂f/∂x, shape (2, 8), columns x[0] to x[4]" in lines
    shown = " ".join(lines)
    assert all(f"x[{place}]" in shown for place in range(8))


def test_a_huge_jacobian_is_told_in_a_few_words() -> None:
    from backprop.render.jacobian import render
    from backprop.render.look import Look

    found = told_jacobian(outputs("W @ x", {"W": np.ones((150, 150)), "x": np.ones(150)}, ["x"]))
    lines = list(render(found, "f", Look()))
    assert lines[1].startswith("∂f/∂x, shape (150, 150): 22,500 numbers from 1 to 1, 22,500 of them not 0; --full")
    assert len(list(render(found, "f", Look().in_full()))) > 150


def test_json_has_every_number_with_its_shape() -> None:
    code, out, _ = call(*DENSE_WORDS, "--jacobian", "--jvp", "x=[1, 0]", "--vjp", "[1, -1]", "--format", "json")
    record = json.loads(out)
    jsonschema.validate(record, grad_schema())
    assert code == 0
    assert record["jacobian"]["W"]["shape"] == [2, 2, 2]
    found = backprop.jacobian(DENSE, AT_DENSE)
    for name, slopes in found.items():
        assert record["jacobian"][name]["values"] == slopes.tolist()
    assert record["passes"] == {"mode": "reverse", "forward": 4, "reverse": 2}


@pytest.mark.parametrize(
    "words",
    [
        ("x^2", "--x", "3"),
        ("x*y", "--x", "3", "--y", "2", "--jacobian", "--hessian", "--jvp", "x=1", "--hvp", "y=1", "--vjp", "2"),
        ("exp(x)", "--x", "0", "--order", "3"),
        ("sum(x^2)", "--x", "[1, 2]", "--hessian", "--hvp", "[1, 0]", "--order", "2", "--jvp", "[1, 1]"),
        ("relu(x)", "--x", "[0, 2]", "--jacobian"),
        ("x^2", "--x", "[1, 2]", "--sparsity"),
        ("[x, 2*x]", "--x", "1/3", "--kind", "exact", "--jacobian"),
    ],
)
def test_what_grad_prints_in_json_is_as_its_schema_says(words: tuple[str, ...]) -> None:
    code, out, _ = call("grad", *words, "--format", "json")
    assert code == 0
    jsonschema.validate(json.loads(out), grad_schema())


def test_the_hessian_of_arrays_is_as_its_schema_says() -> None:
    code, out, _ = call("hessian", "sum(W @ x)*b", "--W", "[[1, 2]]", "--x", "[1, 1]", "--b", "2", "--format", "json")
    record = json.loads(out)
    jsonschema.validate(record, hessian_schema())
    assert code == 0
    assert record["inputs"] == {"W": [[1, 2]], "x": [1, 1], "b": 2}
    assert record["shapes"] == {"W": [1, 2], "x": [2], "b": []}
    assert record["hessian"]["W"]["x"] == [[[2, 0], [0, 2]]]
    assert record["hessian"]["b"] == {"W": [[1, 1]], "x": [1, 2], "b": 0}


def test_too_many_derivatives_are_refused_before_memory_is() -> None:
    with pytest.raises(TooMuchWork, match="elements") as caught:
        backprop.jacobian("x*y", {"x": np.ones(5000), "y": np.ones(5000)})
    assert "--vjp" in caught.value.repair


def test_the_number_of_passes_of_a_square_map_says_forward_where_it_costs_no_more() -> None:
    assert plan(outputs("tanh(W @ x)", {"W": np.ones((2, 2)), "x": np.ones(2)}, ["x"]))[0].mode == "forward"


def test_a_node_that_is_another_one_turned_is_told_apart_from_it() -> None:
    # relu(z) - relu(-z) is z, and the elements of z are those of x in another order
    for program in ("z = x.T; relu(z) - relu(-z) + 5*x.T", "z = x[[0], :].T; relu(z) - relu(-z) + 5*x.T"):
        found = directional(program, {"x": [[0, 1]]}, ["z"], jacobian=True, vjp="[[1], [2]]", jvp="[[3], [4]]")
        assert found.jacobian is not None
        assert found.vjp is not None
        assert found.jvp is not None
        assert found.jacobian.derivatives["z"] == [[[[1], [0]]], [[[0], [1]]]]
        assert (found.vjp[1], found.jvp[1]) == ({"z": [[1], [2]]}, [[3], [4]])
        assert [one.verdict for one in found.jacobian.witnesses if one.by == "opened"] == ["agrees"]
    assert backprop.grad("z = x.T; sum(relu(z) - relu(-z)) + 5*sum(x)", {"x": [[0, 1]]}, wrt=["z"])[1][
        "z"
    ].tolist() == [
        [1],
        [1],
    ]


def test_infinities_that_were_given_are_no_overflow() -> None:
    found = directional("x + 1/y", {"x": ["inf", 1], "y": ["inf", 2]}, jacobian=True, vjp="[1, 2]", jvp="x=[1, 1]")
    assert found.jacobian is not None
    assert found.jvp is not None
    assert found.jacobian.derivatives == {"x": [[1, 0], [0, 1]], "y": [[0, 0], [0, -0.25]]}
    assert found.jvp[1] == [1, 1]


def test_an_answer_beyond_all_doubles_says_so() -> None:
    directions: list[dict[str, Any]] = [{"jvp": "y=1e10"}, {"vjp": "[1e10, 0]"}]
    for asked in directions:
        with pytest.raises(Undefined, match=r"overflows: it is beyond"):
            directional("x*y", {"x": [1e300, 2], "y": 1}, **asked)
    with pytest.raises(Undefined, match=r"f\[0\]"):
        backprop.jacobian("exp(x)", {"x": [1000, 1]})


@pytest.mark.filterwarnings("error")
def test_nothing_is_said_by_numpy() -> None:
    for program, inputs in (("exp(x)", {"x": [1000, 1]}), ("1/x", {"x": [0, 1]}), ("x", {"x": ["inf", 1]})):
        with contextlib.suppress(Mistake):
            backprop.jacobian(program, inputs)


def test_a_program_without_inputs_has_no_derivatives() -> None:
    told = "there is no input, so there are no derivatives\n"
    assert call("grad", "[1, 2]", "--jacobian")[:2] == (0, f"f = [1, 2]\n\n{told}")
    assert call("grad", "[1, 2]", "--sparsity")[:2] == (0, told)


KINKED = ("relu(x)", "abs(x*y)", "max(x, y)", "relu(x - y) - relu(y - x)", "sqrt(x)", "log(y)", "where(x > z, x, z^2)")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(st.data())
def test_the_rows_of_a_vector_are_the_gradients_of_its_elements(data: st.DataObject) -> None:
    several = data.draw(st.lists(programs(3) | st.sampled_from(KINKED), min_size=1, max_size=3))
    inputs = data.draw(points | st.fixed_dictionaries(dict.fromkeys("xyz", st.sampled_from([-1.0, 0.0, 0.5, 1.0]))))
    statements: list[str] = []
    last: list[str] = []
    for place, program in enumerate(several):
        own = re.sub(r"\bn(\d)", rf"m{place}n\1", program)
        *before, element = [part.strip() for part in own.split(";")]
        statements += before
        last.append(element)
    whole = "; ".join([*statements, f"[{', '.join(last)}]"])
    expected: list[dict[str, float]] = []
    for program in several:
        try:
            expected.append(backprop.grad(program, inputs)[1])
        except Undefined:
            with pytest.raises(Undefined):
                backprop.jacobian(whole, inputs)
            return
    mode = data.draw(st.sampled_from(["forward", "reverse", None]))
    for name, slopes in backprop.jacobian(whole, inputs, mode=mode).items():
        for row, slope in zip(expected, slopes, strict=True):
            assert slope == pytest.approx(row.get(name, 0.0), rel=1e-9, abs=1e-12)


def test_an_array_and_a_part_of_it_may_both_be_asked_for() -> None:
    program, inputs, wrt = "relu(x) - relu(-x)", {"x": [0, 2]}, ["x", "x[0]"]
    found = directional(program, inputs, wrt, jacobian=True, vjp="[3, 5]", jvp="x=[1, 1] x[0]=4")
    assert found.jacobian is not None
    assert found.jacobian.derivatives == {"x": [[1, 0], [0, 1]], "x[0]": [1, 0]}
    assert found.vjp is not None
    assert found.vjp[1] == {"x": [3, 5], "x[0]": 3}
    assert found.jvp is not None
    assert found.jvp[1] == [5, 1]
    second = directional("sum(x^3)", {"x": [1, 2]}, wrt, hvp="x=[1, 1] x[0]=4", hessian=True)
    assert second.hvp is not None
    assert second.hvp[1] == {"x": [30, 12], "x[0]": 30}


def test_the_schema_of_grad_is_printed() -> None:
    code, out, _ = call("schema", "--of", "grad")
    assert code == 0
    assert json.loads(out) == grad_schema()
    jsonschema.Draft202012Validator.check_schema(grad_schema())


def test_the_table_of_the_hessian_of_arrays(golden: Golden) -> None:
    code, out, err = call("hessian", "sum(W @ x)*b", "--W", "[[1, 2]]", "--x", "[1, 3]", "--b", "2", "--wrt", "x,b")
    assert (code, err) == (0, "")
    golden("hessian/arrays.txt", out)


ROWS = [row for row in ops.rows() if row.samples and not row.conditions and not row.gives_condition]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_dual_numbers_know_every_operation(row: Row) -> None:
    for sample in row.samples:
        inputs: dict[str, Any] = {}
        operands = []
        for position, (name, value) in enumerate(zip(row.names(len(sample)), sample, strict=True)):
            setting = row.is_setting(position) or value == ":" or (row.name in ("index", "put") and name[:2] == "at")
            if not setting:
                inputs[name] = value if isinstance(value, str) else [float(value), float(value)]
            operands.append((str(value) if setting else name, ATOM))
        program = f"r = {written(row, operands)[0]}; sum(r*r) + sum(r)"
        if not inputs or (":" in sample and not row.form):
            continue  # a slice stands in brackets alone
        found = outputs(program, inputs)
        shapes = {part.name: part.shape for part in found.parts}
        along = {name: numbers(*shape, seed=61) if shape else 0.7 for name, shape in shapes.items()}
        try:
            opened = directional(program, inputs, hvp=along).hvp
        except Undefined:
            continue  # (-2)^y, where y moves
        dual, _ = moving_gradient(found, found.direction(components(found.kind, "hvp", along, shapes)))
        assert opened is not None
        for name, moved in opened[1].items():
            size = max(1e-12, float(np.abs(np.array(moved)).max()))
            assert np.abs(np.asarray(dual[name]) - np.array(moved)).max() <= 1e-9 * size, program


def test_a_slice_in_a_program_too_large_to_be_opened_is_no_number_to_look_at() -> None:
    v = np.cos(np.arange(30_000))
    found = directional("mean(v[::-1]*v)", {"v": v}, jvp={"v": v}, hvp={"v": v})
    assert found.jvp is not None
    assert found.hvp is not None
    # f is a quadratic form: its slope along v is 2 f, and its gradient moves along v by the gradient
    assert found.jvp[1] == pytest.approx(2 * float(np.mean(v[::-1] * v)), rel=1e-12, abs=1e-16)
    assert np.allclose(found.hvp[1]["v"], 2 * v[::-1] / 30_000, rtol=1e-12, atol=0)


def test_what_underflows_on_the_way_is_pulled_back_all_the_same() -> None:
    # exp(800) overflows on a plain tape; σ'(-710) = σ(-710)(1 - σ(-710)) = exp(-710) to all digits
    found = directional("1/(1 + exp(-x))", {"x": [800, -800, -710]}, vjp=[1, 1, 2], jvp=[1, 1, 2])
    assert found.vjp is not None
    assert found.vjp[1]["x"] == [0, 0, pytest.approx(2 * math.exp(-710), rel=1e-9)]
    assert found.jvp is not None
    assert found.jvp[1] == found.vjp[1]["x"]


@pytest.mark.parametrize(
    ("program", "asked"),
    [
        ("1e308*x - 1e308*y", {"jvp": "x=10,y=10"}),
        ("abs(z) + 1e308*x - 1e308*y", {"jvp": "x=10,y=10"}),
        ("[1e308*x - 1e308*y, 1]", {"jvp": "x=10,y=10"}),
        ("[1e308*x, -1e308*x, abs(z)]", {"vjp": "[10, 10, 1]"}),
        ("[1e308*abs(x), -1e308*abs(x), abs(z)]", {"vjp": "[10, 10, 1]"}),
    ],
)
def test_infinities_that_meet_are_no_number_and_no_fault(program: str, asked: dict[str, Any]) -> None:
    with pytest.raises(Undefined):
        directional(program, {"x": 0.1, "y": 0.1, "z": 0}, **asked)


# -- what is told where something is wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "given"),
    [
        ("jvp", "x=1"),
        ("jvp", "W=[1, 2]"),
        ("jvp", "x=[1, nan]"),
        ("jvp", ""),
        ("jvp", "[1, 2]"),
        ("jvp", "[[[1, 2], [3, 4]]]"),
        ("jvp", "x=[1, 0], 3"),
        ("vjp", "1"),
        ("vjp", "[1, 2, 3]"),
        ("vjp", "[1, inf]"),
    ],
)
def test_the_repair_of_a_direction_of_arrays_runs(option: str, given: str) -> None:
    code, out, err = call("grad", DENSE, "--W", "[[1, 2], [3, 4]]", "--x", "[1, 2]", f"--{option}", given)
    assert (code, out) == (2, "")
    repair = re.search(rf'--{option} (?:"([^"]*)"|(\S+))', err)
    assert repair is not None, err
    words = ("grad", DENSE, "--W", "[[1, 2], [3, 4]]", "--x", "[1, 2]", f"--{option}", repair[1] or repair[2])
    assert call(*words)[0] == 0


@pytest.mark.parametrize("words", [("grad", "--hvp", "[1, 0]"), ("grad", "--hessian"), ("hessian",)])
def test_a_step_that_does_not_move_by_itself_is_called_as_the_user_does(words: tuple[str, ...]) -> None:
    command, *options = words
    code, _, err = call(
        command, "z = W @ x; sum(z^2)", "--W", "[[1, 2], [3, 4]]", "--x", "[1, 2]", "--wrt", "z", *options
    )
    assert code == 2
    assert "z is worked out from others" in err
    assert "The inputs are: W, x" in err


def test_a_jacobian_of_zeros_takes_no_pass_and_says_so() -> None:
    code, out, _ = call("grad", "[1, 2] + 0*floor(x)", "--x", "3.5", "--jacobian")
    assert code == 0
    assert "all of them are 0, so no pass is needed" in out


def test_directions_come_from_files(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", [1.0, -2.0])
    (tmp_path / "W.csv").write_text("1,0\n0,0\n", encoding="utf-8")
    at_point = ("--W", "[[1, 2], [3, 4]]", "--x", "[1, 2]", "--format", "json")
    # W x moves by V x + W v along (V, v)
    _, out, _ = call("grad", "W @ x", *at_point, "--jvp", f"W=@{tmp_path / 'W.csv'}, x=@{tmp_path / 'v.npy'}")
    assert json.loads(out)["jvp"]["value"] == [1 * 1 + 1 - 4, 3 - 8]
    _, out, _ = call("grad", "sum(x^3)", "--x", "[1, 2]", "--hvp", f"@{tmp_path / 'v.npy'}", "--format", "json")
    assert json.loads(out)["hvp"]["product"]["x"] == [6 * 1, 12 * -2]
    _, out, _ = call("grad", "W @ x", *at_point, "--vjp", f"@{tmp_path / 'v.npy'}")
    assert json.loads(out)["vjp"]["gradient"]["x"] == [1 - 6, 2 - 8]
    code, _, err = call("grad", "W @ x", *at_point, "--vjp", f"@{tmp_path / 'nothing.npy'}")
    assert code == 2
    assert "nothing.npy" in err
