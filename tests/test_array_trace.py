"""The trace of array programs: values, adjoints and lines of working of layers, their record in JSON, their notes."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import jsonschema
import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import backprop
from backprop import mistakes
from backprop.array_point import ArrayPoint
from backprop.conventions.opinions import opinions
from backprop.figures import elements_of
from backprop.mistakes import NotATrace
from backprop.point import Program, at
from backprop.record import Edge, Trace, carried_name
from backprop.render import by_name
from backprop.render.look import Look
from backprop.schema import schema
from backprop.tracing import trace
from backprop.working.formula_texts import in_matrices
from command import call
from drawings import TEXTS

VALIDATOR = jsonschema.Draft202012Validator(schema())

LAYER = "z = W@x + b; a = tanh(z); L = sum((a - y)^2)"
AT: dict[str, Any] = {"W": [[1, 2], [3, 4]], "x": [1, -1], "b": [1.5, 0.75], "y": [1, 0]}

BATCH = """z = X @ W + b
p = softmax(z)
L = cross_entropy(z, t)"""
ROWS: dict[str, Any] = {"X": [[1, 0], [0, 2], [1, 1]], "W": [[1, -1], [0.5, 0]], "b": [0.25, 0], "t": [0, 1, 1]}


def traced(program: str, inputs: dict[str, Any], **options: Any) -> Trace:
    """A trace without witnesses, which has been through JSON and back on the way."""
    found = trace(program, inputs, check=False, **options)
    record = json.loads(found.to_json())
    VALIDATOR.validate(record)
    assert record == json.loads(json.dumps(found.to_dict()))
    assert Trace.from_json(found.to_json()) == found
    return found


def lines(found: Trace) -> list[str]:
    return [step.text for step in found.steps]


def edge(found: Trace, source: str, target: str) -> Edge:
    (one,) = (one for one in found.edges if (one.source, one.target) == (source, target))
    return one


def notes(found: Trace) -> dict[str, str]:
    return {note.code: note.text for note in found.notes}


# -- the dense layer, as on paper -------------------------------------------------------------------------------------

# z = [0.5, -0.25], a = tanh(z), L = (0.462117 - 1)^2 + 0.244919^2; ∂L/∂a = 2(a - y), ∂L/∂z = ∂L/∂a · (1 - a^2)
VALUES = {"z": "[0.5, -0.25]", "a": "[0.462117, -0.244919]", "L": "0.349303"}
ADJOINTS = {
    "a": "[-1.07577, -0.489837]",
    "z": "[-0.846033, -0.460454]",
    "b": "[-0.846033, -0.460454]",
    "W": "[[-0.846033, 0.846033], [-0.460454, 0.460454]]",  # ∂L/∂z times 1 and -1
    "x": "[-2.2274, -3.53388]",  # 1 and 3, then 2 and 4 times ∂L/∂z
    "y": "[1.07577, 0.489837]",
}


def test_the_dense_layer_comes_out_digit_for_digit() -> None:
    found = traced(LAYER, AT)
    look = Look()
    assert {name: look.figure(found.node(name).value) for name in VALUES} == VALUES
    assert {name: look.figure(found.node(name).adjoint) for name in ADJOINTS} == ADJOINTS
    assert {name: look.figure(found.gradient[name]) for name in "Wxby"} == {name: ADJOINTS[name] for name in "Wxby"}


def test_every_array_of_the_layer_tells_its_shape() -> None:
    shapes = {node.id: node.shape for node in traced(LAYER, AT).nodes}
    vectors = dict.fromkeys(("x", "v1", "b", "z", "a", "y", "v2", "v3"), (2,))
    assert shapes == {"W": (2, 2), "2": None, "L": None} | vectors


def test_the_pulls_of_the_layer_are_written_as_on_paper_and_with_their_numbers() -> None:
    written = lines(traced(LAYER, AT))
    adjoint = "[-0.846033, -0.460454]"
    assert written[0] == "v1 = W @ x = [[1, 2], [3, 4]] @ [1, -1] = [-1, -1]"
    assert f"∂L/∂W = ∂L/∂v1 xᵀ = outer(∂L/∂v1, x) = outer({adjoint}, [1, -1]) = {ADJOINTS['W']}" in written
    assert f"∂L/∂x = Wᵀ ∂L/∂v1 = W.T @ ∂L/∂v1 = [[1, 2], [3, 4]].T @ {adjoint} = {ADJOINTS['x']}" in written
    assert f"∂L/∂b = ∂L/∂z · ∂z/∂b = ∂L/∂z = {adjoint}" in written
    # two arrays are multiplied element by element
    slopes = "[0.786448, 0.940015]"
    rule = f"{ADJOINTS['a']} ⊙ (1 - a^2) = {ADJOINTS['a']} ⊙ {slopes}"
    assert f"∂L/∂z = ∂L/∂a · ∂a/∂z = {rule} = {adjoint}" in written


def test_pulls_stand_in_the_record_over_ids_and_partials_in_the_shape_of_the_result() -> None:
    found = traced(LAYER, AT)
    pulls = {(one.source, one.target): one.pull for one in found.edges}
    assert pulls["W", "v1"] == "outer(g, x)"
    assert pulls["x", "v1"] == "W.T @ g"
    assert pulls["b", "z"] == "g"
    assert pulls["y", "v2"] == "-g"
    assert pulls["z", "a"] == "g*(1 - a^2)"
    assert edge(found, "W", "v1").partial is None
    assert edge(found, "z", "a").partial == pytest.approx([1 - math.tanh(0.5) ** 2, 1 - math.tanh(0.25) ** 2])
    assert edge(found, "b", "z").partial == [1.0, 1.0]
    assert edge(found, "v3", "L").partial == [1.0, 1.0]


def test_products_of_matrices_are_written_without_a_sign() -> None:
    assert in_matrices("∂L/∂z @ W.T") == "∂L/∂z Wᵀ"
    assert in_matrices("(∂L/∂z).T @ x") == "(∂L/∂z)ᵀ x"
    assert in_matrices("sum(∂L/∂z, 0)") == ""


# -- a batch ----------------------------------------------------------------------------------------------------------


def by_hand(inputs: dict[str, Any]) -> tuple[float, list[list[float]]]:
    """The mean cross-entropy of softmax(X W + b) and its adjoint at z, row by row with nothing but `math`."""
    loss, slopes = 0.0, []
    for row, label in zip(inputs["X"], inputs["t"], strict=True):
        columns = list(zip(*inputs["W"], strict=True))
        z = [sum(a * b for a, b in zip(row, one, strict=True)) + c for one, c in zip(columns, inputs["b"], strict=True)]
        total = sum(map(math.exp, z))
        loss -= math.log(math.exp(z[label]) / total) / len(inputs["X"])
        slopes.append([(math.exp(one) / total - (at == label)) / len(inputs["X"]) for at, one in enumerate(z)])
    return loss, slopes


def test_a_batch_has_the_mean_loss_and_the_adjoints_that_a_loop_over_its_rows_has() -> None:
    found = traced(BATCH, ROWS)
    loss, slopes = by_hand(ROWS)
    assert found.value == pytest.approx(loss, rel=1e-14)
    assert found.node("z").adjoint == pytest.approx(np.array(slopes), rel=1e-13)
    assert found.gradient["b"] == pytest.approx([sum(column) for column in zip(*slopes, strict=True)], rel=1e-13)
    weights = [[sum(x[i] * g[j] for x, g in zip(ROWS["X"], slopes, strict=True)) for j in (0, 1)] for i in (0, 1)]
    assert found.gradient["W"] == pytest.approx(np.array(weights), rel=1e-13)


def test_what_is_carried_has_a_name_that_no_operand_has() -> None:
    program, inputs = "g = W @ t; L = sum(g*t)", {"W": [[1, 2], [3, 4]], "t": [1, 2]}
    found = traced(program, inputs)
    assert edge(found, "t", "v1").pull == "g_*g"
    assert edge(found, "W", "g").pull == "outer(g_, t)"
    is_what_the_pulls_say(found)
    assert "∂L/∂W = ∂L/∂g tᵀ = outer(∂L/∂g, t) = outer([1, 2], [1, 2]) = [[1, 2], [2, 4]]" in lines(found)
    forward = traced(program, inputs, mode="forward", wrt=["t[0]"])
    assert edge(forward, "t", "g").pull == "W @ t_"
    is_what_the_pulls_say(forward, forward=True)


def test_the_sum_over_the_batch_is_a_step_of_its_own() -> None:
    found = traced("z = X*w + b; L = sum(z)", {"X": [[1, 2], [3, 4], [5, 6]], "w": [10, 20], "b": 1})
    ones = "[[1, 1], [1, 1], [1, 1]]"
    assert edge(found, "w", "v1").pull == "sum(g*X, 0)"
    assert edge(found, "b", "z").pull == "sum(g)"
    written = lines(found)
    assert f"∂L/∂b = ∂L/∂z · ∂z/∂b = sum(∂L/∂z) = sum({ones}) = 6   (b was repeated 6 times: add)" in written
    numbers = f"sum({ones}*[[1, 2], [3, 4], [5, 6]], 0)"
    copies = "(w was repeated 3 times along axis 0: add)"
    assert f"∂L/∂w = ∂L/∂v1 · ∂v1/∂w = sum(∂L/∂v1*X, 0) = {numbers} = [9, 12]   {copies}" in written


def test_a_part_of_an_adjoint_is_told_from_the_adjoint_of_a_part() -> None:
    written = lines(traced("v = [x, 2*y]; L = sum(v^2)", {"x": 3, "y": 1}))
    assert "∂L/∂x = ∂L/∂v · ∂v/∂x = (∂L/∂v)[0] = [6, 4][0] = 6" in written
    written = lines(traced("v = concat(a, b); L = sum(v^2)", {"a": [3, 1], "b": [2]}))
    assert "∂L/∂a = ∂L/∂v · ∂v/∂a = (∂L/∂v)[0:2] = [6, 2, 4][0:2] = [6, 2]" in written


def test_where_edges_meet_arrays_are_added() -> None:
    found = traced("L = sum(x*x + x)", {"x": [1, 2]})
    (line,) = (line for line in lines(found) if line.startswith("∂L/∂x ="))
    assert line.endswith("= [3, 5]   (three edges meet here: add)")


def test_a_large_array_is_put_in_by_its_name_and_told_in_a_few_words() -> None:
    found = traced("z = W @ x; L = sum(z)", {"W": [[1] * 30] * 2, "x": list(range(30))})
    assert lines(found)[0] == "z = W @ x = [435, 435]"
    (line,) = (line for line in lines(found) if line.startswith("∂L/∂W"))
    norm = "130.805"  # the root of 2·(0 + 1 + 4 + ... + 29^2) = 17110
    assert line == f"∂L/∂W = ∂L/∂z xᵀ = outer(∂L/∂z, x) = outer([1, 1], x) = 2×30, norm {norm}, 0 .. 29"


# -- forward mode -----------------------------------------------------------------------------------------------------


def test_forward_mode_moves_a_number_through_arrays_to_a_vector() -> None:
    found = traced("y = x*w^2", {"x": [1, -2], "w": 3}, mode="forward", wrt=["w"])
    assert found.value == [9.0, -18.0]
    assert found.gradient == {"w": [6.0, -12.0]}
    assert found.node("x").tangent is None


def test_forward_mode_moves_one_element_of_an_array() -> None:
    backward = traced(LAYER, AT)
    for row in (0, 1):
        for column in (0, 1):
            name = f"W[{row},{column}]"
            found = traced(LAYER, AT, mode="forward", wrt=[name])
            assert found.gradient[name] == pytest.approx(np.array(backward.gradient["W"])[row, column], rel=1e-14)
            assert found.node("W").tangent == [[float((i, j) == (row, column)) for j in (0, 1)] for i in (0, 1)]
    assert edge(found, "W", "v1").pull == "t @ x"
    assert f"∂v1/∂{name} = ∂W/∂{name} x = ∂W/∂{name} @ x = [[0, 0], [0, 1]] @ [1, -1] = [0, -1]" in lines(found)


@pytest.mark.parametrize(
    ("program", "slope"),
    [
        ("y = inv(A)", [[-1, 1], [0, 0]]),  # -inv(A) dA inv(A) with inv(A) = [[1, -1], [0, 1]]
        ("y = det(A)", 1.0),
        ("y = A.T @ A", [[2, 1], [1, 0]]),
        ("y = A[0]", [1, 0]),
        ("y = max(A)", 0.0),  # of three that tie only this one moves: from 0 on the left to 1 on the right
    ],
)
def test_tangents_go_through_what_is_no_product(program: str, slope: Any) -> None:
    found = traced(program, {"A": [[1, 1], [0, 1]]}, mode="forward", wrt=["A[0,0]"])
    assert np.array(found.gradient["A[0,0]"]) == pytest.approx(np.array(slope))


def test_one_element_or_a_row_may_be_asked_for() -> None:
    found = traced(LAYER, AT, wrt=["W[0,-1]", "W[1]", "b"])
    whole: dict[str, Any] = traced(LAYER, AT).gradient
    assert found.wrt == ["W[0,1]", "W[1]", "b"]
    assert found.gradient == {"W[0,1]": whole["W"][0][1], "W[1]": whole["W"][1], "b": whole["b"]}


@pytest.mark.parametrize(
    ("options", "mistake", "says"),
    [
        ({"wrt": ["W[2,0]"]}, mistakes.NoSuchElement, "W has the shape (2, 2)"),
        ({"wrt": ["W[0,0,0]"]}, mistakes.NoSuchElement, "W has the shape (2, 2)"),
        ({"wrt": ["L[0]"]}, mistakes.NoSuchElement, "L is one number"),
        ({"wrt": ["q[0]"]}, mistakes.UnknownNode, "q"),
        ({"wrt": ["W[a]"]}, mistakes.UnknownNode, "W[a]"),
        ({"wrt": ["W"], "mode": "forward"}, mistakes.OneDirection, "W has many"),
        ({"wrt": ["W[0]"], "mode": "forward"}, mistakes.OneDirection, "W[0] has many"),
        ({"mode": "forward"}, mistakes.OneDirection, "one input"),
    ],
)
def test_what_cannot_be_asked_for_is_refused(options: dict[str, Any], mistake: Any, says: str) -> None:
    with pytest.raises(mistake) as caught:
        trace(LAYER, AT, check=False, **options)
    assert says in caught.value.cause


@pytest.mark.parametrize("opened", [None, ["z"]])
def test_formulas_of_arrays_are_refused(opened: list[str] | None) -> None:
    with pytest.raises(mistakes.ArraysInFormulas):
        trace(LAYER, AT, symbolic=True, opened=opened)
    with pytest.raises(mistakes.ArraysInFormulas):
        trace("x*y", {"x": [1, 2]}, symbolic=True)
    assert trace("z = W @ x; L = sum(z)", AT, symbolic=True, opened=[]).gradient["x[0]"] == "W[1,0] + W[0,0]"


def test_an_element_of_a_number_is_refused() -> None:
    with pytest.raises(mistakes.NoSuchElement, match="x is one number"):
        trace("x^2", {"x": 3}, wrt=["x[0]"], check=False)


def test_a_vector_has_no_gradient() -> None:
    with pytest.raises(mistakes.OutputNotANumber):
        trace("W @ x", AT, check=False)


# -- the record -------------------------------------------------------------------------------------------------------

SEVERAL: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (LAYER, AT, {}),
    (BATCH, ROWS, {}),
    (LAYER, AT, {"mode": "forward", "wrt": ["W[0,1]"]}),
    ("sum(log(x))", {"x": [1, -1]}, {}),
    ("L = sum(sqrt(x))", {"x": [0, 1]}, {}),
    ("sum(log(x))", {"x": [1, -1, 0]}, {"undefined": "propagate"}),
    ("L = sum(inv(A))", {"A": [[1, 2], [2, 4]]}, {}),
    ("L = sum(A @ x)/3", {"A": [[1, "1/3"], [0, 2]], "x": [1, 2]}, {"kind": "exact"}),
    ("L = sum(tanh(A @ x))", {"A": [[1, "1/3"], [0, 2]], "x": [1, 2]}, {"kind": "digits:30"}),
    ("L = sum(relu(x))", {"x": [[0, -1], [2, 0]]}, {}),
    ("h = x[1:3]; L = max(concat(h, where(h > 1, h, 0)))", {"x": [1, 2, 2, 3]}, {}),
    ("y = relu(x*w)", {"x": [0, 1, -1], "w": 1}, {"mode": "forward", "wrt": ["w"]}),
]


@pytest.mark.parametrize(("program", "inputs", "options"), SEVERAL)
def test_a_trace_of_arrays_is_read_back_and_drawn_as_before(
    program: str, inputs: dict[str, Any], options: dict[str, Any]
) -> None:
    found = traced(program, inputs, **options)
    back = Trace.from_json(found.to_json())
    assert back.to_json() == found.to_json()
    for name in TEXTS:
        drawn = ["\n".join(by_name(name).render(one, Look())) for one in (found, back)]
        assert drawn[0] == drawn[1]
    graph = networkx.node_link_graph(json.loads(found.to_json()), edges="edges")
    assert graph.number_of_nodes() == len(found.nodes)
    assert graph.number_of_edges() == len(found.edges)


def test_an_element_without_a_value_is_null() -> None:
    found = traced("L = sum(log(x))", {"x": [1, -1]})
    assert found.node("v1").value == [0.0, None]
    assert found.value is None
    assert found.gradient == {}
    assert found.exit_code == 3
    partly = traced("L = sum(sqrt(x))", {"x": [0, 4]})
    assert partly.gradient == {"x": [None, 0.25]}
    assert partly.exit_code == 3


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("nodes", 0, "value"), [[1.0, 2.0], [3.0]]),
        (("nodes", 0, "value"), [1.0, 2.0]),
        (("nodes", 0, "adjoint"), 1.0),
        (("nodes", 0, "value"), []),
        (("nodes", 0, "value"), [[[]]]),
        (("nodes", 0, "value"), [["x", 2.0], [{}, 4.0]]),
        (("nodes", 0, "shape"), [2]),
        (("nodes", 0, "shape"), ["a", "b"]),
        (("nodes", 0, "shape"), []),
        (("gradient", "W"), [[1.0], 2.0]),
        (("edges", 0, "pull"), 3),
    ],
)
def test_a_spoiled_array_is_no_trace(path: tuple[Any, ...], value: Any) -> None:
    record = json.loads(trace(LAYER, AT, check=False).to_json())
    place = record
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(NotATrace):
        Trace.from_dict(record)


def test_lists_deeper_than_any_array_are_refused() -> None:
    record = json.loads(trace(LAYER, AT, check=False).to_json())
    deep: Any = 1.0
    for _ in range(900):
        deep = [deep]
    record["nodes"][0]["value"] = deep
    with pytest.raises(NotATrace):
        Trace.from_dict(record)


# -- what a reader should know ----------------------------------------------------------------------------------------


def test_dead_units_are_counted_and_named_in_one_note() -> None:
    found = traced("h = relu(z); L = sum(h)", {"z": [1, -1, 2, 3, -0.5, 4, 5, -7]})
    assert [(note.code, note.node) for note in found.notes] == [("dead-relu", "h")]
    assert notes(found)["dead-relu"].startswith("3 of 8 units of h are dead: h[1], h[4], h[7]; z is below 0 there")


def test_one_dead_unit_is_told_as_it_is_alone() -> None:
    found = traced("h = relu(z); L = sum(h)", {"z": [1, -1]})
    assert notes(found)["dead-relu"] == "h[1] is dead: z[1] is below 0, so relu gives 0 and no gradient passes"


def test_columns_that_are_dead_in_every_row_are_counted() -> None:
    found = traced("h = max(0, Z); L = sum(h)", {"Z": [[1, -1, 2], [-1, -2, 3]]})
    assert "3 of 6 units of h are dead: h[0,1], h[1,0], h[1,1]" in notes(found)["dead-relu"]
    assert notes(found)["dead-relu"].endswith("1 of 3 columns in every row")


def test_saturated_units_are_counted_however_many_there_are() -> None:
    found = traced("h = tanh(z); L = sum(h)", {"z": [9.0] * 300 + [0.1] * 700})
    text = notes(found)["saturated"]
    assert text.startswith("300 of 1000 units of h are saturated: h[0], h[1],")
    assert "h[7] and 292 more" in text


def test_what_is_undefined_is_told_with_its_element() -> None:
    found = traced("v = x*2; L = sum(log(v))", {"x": [1, -1, 2]})
    (note,) = (note for note in found.notes if note.code == "undefined")
    assert note.text == "undefined: v1[1] = log(v[1]) has no real value at v[1] = -2: it needs v[1] > 0"
    assert note.node == "v1"


def test_a_singular_matrix_is_told_as_a_whole() -> None:
    found = traced("L = sum(inv(A))", {"A": [[1, 2], [2, 4]]})
    assert found.exit_code == 3
    assert "v1 = inv(A) has no real value at A = [[1, 2], [2, 4]]: it needs det(A) != 0" in notes(found)["undefined"]


def test_kinks_of_one_array_make_one_note() -> None:
    found = traced("h = relu(z); L = sum(h)", {"z": [0] * 50 + [1]})
    told = [note for note in found.notes if note.code == "kink" and note.node == "h"]
    assert len(told) == 1
    assert "h[0] = relu(z[0]) has no derivative at z[0] = 0" in told[0].text
    assert told[0].text.endswith("; likewise at h[1], h[2], h[3], h[4], h[5], h[6], h[7], h[8] and 41 more")
    assert {one.of for one in found.one_sided} == {f"z[{i}]" for i in range(50)}


def test_grad_tells_of_the_kinks_of_an_array_once() -> None:
    code, out, err = call("grad", "L = sum(relu(x))", "--x", "[0, 0, 0, 1, 0]")
    assert (code, out) == (0, "L     = 1\n∂L/∂x = [0, 0, 0, 1, 0]\n")
    assert err.count("has no derivative") == 1
    assert "likewise at v1[1], v1[2], v1[4]" in err


def test_a_tie_among_many_elements_tells_those_that_tie() -> None:
    found = traced("L = max(x)", {"x": [*range(40), 39, *range(20)]})
    (told,) = (note.text for note in found.notes if note.code == "kink" and note.node == "L")
    assert told.startswith("kink: L = max(x[0], ..., x[60]) has no derivative at x[39] = 39, x[40] = 39; ")
    assert "∂L/∂x[39] is taken as 0.5 (from the left 0, from the right 1)" in told
    assert "x[0] is taken" not in told


def test_what_is_the_same_from_both_sides_is_answered_by_the_opened_program() -> None:
    """relu(x) - relu(-x) is x, and sqrt(x^2)^2 is x^2: the rules alone cannot know."""
    found = traced("L = sum(relu(x) - relu(-x))", {"x": [0, 1]})
    assert found.gradient == {"x": [1.0, 1.0]}
    found = traced("L = sum(c*sqrt(x^2)^2)", {"x": [0, 3], "c": [1, 2]})
    assert found.gradient["x"] == [0.0, 12.0]


def test_digits_that_doubles_lose_are_mended_and_the_array_is_named() -> None:
    found = traced("L = sum((1 - cos(x))/x^2)", {"x": [1e-9, 1]})
    assert found.value == pytest.approx(0.5 + 1 - math.cos(1), rel=1e-14)
    assert "L" in found.mended


def test_class_numbers_have_no_derivative_and_a_note_says_so() -> None:
    found = traced(BATCH, ROWS)
    assert found.gradient["t"] == [0.0, 0.0, 0.0]
    text = "t is used only where no derivative passes, as in L = cross_entropy(z, t): its gradient is 0"
    assert notes(found)["no-derivative"] == text


def test_an_array_that_is_not_used_has_zeros_and_a_note() -> None:
    found = traced("L = sum(x)", {"x": [1, 2], "q": [[3, 4]]})
    assert found.gradient["q"] == [[0.0, 0.0]]
    assert "unused-input" in notes(found)


def test_an_array_that_acts_only_through_steps_says_so_once() -> None:
    found = traced("L = sum(floor(x)) + y", {"x": [1.5, 2.5], "y": 1})
    assert [note.code for note in found.notes] == ["step-function"]


def test_a_vector_in_forward_mode_is_told_element_by_element() -> None:
    found = traced("y = log(x*w)", {"x": [1, -1], "w": 3}, mode="forward", wrt=["w"])
    assert found.value == [pytest.approx(math.log(3)), None]
    assert found.gradient == {"w": [pytest.approx(1 / 3), None]}
    assert found.exit_code == 3
    assert "y[1] = log(v1[1]) has no real value at v1[1] = -3" in notes(found)["undefined"]
    # 0·w is 0 for every w, which the rule of the root cannot know
    smooth = traced("y = sqrt(x*w)", {"x": [4, 0], "w": 1}, mode="forward", wrt=["w"])
    assert smooth.gradient == {"w": [1.0, 0.0]}


def test_the_tangents_of_a_vector_have_their_witness() -> None:
    found = trace("y = tanh(W @ x)", AT, mode="forward", wrt=["W[0,1]"])
    assert [(one.of, one.by, one.verdict) for one in found.witnesses] == [("W[0,1]", "opened", "agrees")]
    lost = trace("y = log(W @ x)", {"W": [[1, 2], [-1, -1]], "x": [1, 1]}, mode="forward", wrt=["W[0,1]"])
    assert lost.gradient == {"W[0,1]": [pytest.approx(1 / 3), None]}
    (witness,) = lost.witnesses
    assert (witness.verdict, witness.reason) == ("agrees", "1 of 2 elements not checked: y[1]: there is no value here")


def test_where_the_value_is_missing_forward_mode_has_no_slope_either() -> None:
    assert traced("log(x)", {"x": -1}, mode="forward", wrt=["x"]).gradient == {}
    assert traced("y = inv(A) @ x", {"A": [[0, 0], [0, 0]], "x": [1, 1]}, mode="forward", wrt=["x[0]"]).gradient == {}


# -- kinds and conventions --------------------------------------------------------------------------------------------


def test_fractions_stay_fractions_in_arrays() -> None:
    found = traced("L = sum((W @ x)^2)/3", {"W": [[1, 2], [3, "0.1"]], "x": [1, 2]}, kind="exact")
    assert found.value == "881/75"  # (25 + 10.24)/3
    assert found.gradient["W"] == [["10/3", "20/3"], ["32/15", "64/15"]]


def test_a_fraction_that_does_not_come_out_is_refused_at_its_element() -> None:
    with pytest.raises(mistakes.NotExact, match=r"v1\[1\] = tanh\(x\[1\]\) at x\[1\] = 1"):
        trace("L = sum(tanh(x))", {"x": [0, 1]}, kind="exact", check=False)


def test_an_element_that_may_have_no_value_is_not_proven() -> None:
    pytest.importorskip("flint")
    found = traced("L = sum(sqrt(x))", {"x": ["0..1", 4]}, kind="certified")
    assert found.exit_code == 3
    slopes: Any = found.gradient["x"]
    assert slopes[0] is None
    assert "∂L/∂x[0] not proven" in notes(found)["not-proven"]
    assert not found.node("x").proven
    assert not edge(found, "x", "v1").proven


def test_on_a_plain_tape_the_birthplace_is_an_element() -> None:
    found = traced("v = x*2; L = sum(log(v))", {"x": [1, -1]}, undefined="propagate")
    assert isinstance(found.value, float)
    assert math.isnan(found.value)
    assert found.exit_code == 0
    assert found.birth is not None
    assert found.birth.node == "v1[1]"
    assert found.birth.command == 'backprop trace "v1_1 = log(v_1)" v_1=-2 --undefined propagate'
    assert (found.notes[0].code, found.notes[0].node) == ("birth", "v1")


@pytest.mark.parametrize(("convention", "slope"), [("torch", 0.5), ("jax", 0.5), ("tensorflow", 1.0)])
def test_a_convention_has_its_word_in_arrays(convention: str, slope: float) -> None:
    """max(x, 0) at 0, as CONVENTIONS tells of the frameworks; a number alone has the same."""
    found = traced("L = sum(max(x, 0))", {"x": [1, -2, 0]}, convention=convention)
    assert found.gradient == {"x": [1.0, 0.0, slope]}
    assert traced("max(x, 0)", {"x": 0}, convention=convention).gradient["x"] == slope


# Measured on the releases that CONVENTIONS names, with linalg.norm and prod of each.
MEASURED = [
    ("norm(x)", [0, 0], "torch", [0, 0]),
    ("norm(x)", [0, 0], "jax", [math.nan] * 2),
    ("norm(x)", [0, 0], "tensorflow", [math.nan] * 2),
    ("norm(x)", [0, 0], "autograd", [math.nan] * 2),
    ("prod(x)", [2, 0, 3], "torch", [0, 6, 0]),
    ("prod(x)", [2, 0, 3], "jax", [0, 6, 0]),
    ("prod(x)", [2, 0, 3], "tensorflow", [0, 6, 0]),
    ("prod(x)", [2, 0, 3], "autograd", [0, math.nan, 0]),
    ("max(x)", [1, 1, 0], "torch", [0.5, 0.5, 0]),
    ("max(x)", [1, 1, 0], "jax", [0.5, 0.5, 0]),
    ("max(x)", [1, 1, 0], "tensorflow", [0.5, 0.5, 0]),
    ("max(x)", [1, 1, 0], "autograd", [0.5, 0.5, 0]),
]


@pytest.mark.parametrize(("program", "x", "convention", "slopes"), MEASURED)
def test_what_frameworks_return_for_arrays_at_bad_points(
    program: str, x: list[float], convention: str, slopes: list[float]
) -> None:
    assert traced(program, {"x": x}, convention=convention).gradient["x"] == pytest.approx(slopes, nan_ok=True)
    (opinion,) = (one for one in opinions(program, {"x": x}).opinions if one.by == convention)
    assert list(opinion.gradient.values()) == pytest.approx(slopes, nan_ok=True)


def test_opinions_on_arrays_are_told_element_by_element() -> None:
    found = opinions("L = sum(relu(x*w))", {"x": [1, 0, -1], "w": 2})
    assert [one.sort for one in found.truth.values()] == ["smooth", "corner", "smooth", "smooth"]
    assert list(found.truth) == ["x[0]", "x[1]", "x[2]", "w"]
    assert found.inputs == {"x": [1.0, 0.0, -1.0], "w": 2.0}
    singular = opinions("L = det(A)", {"A": [[1, 2], [2, 4]]})
    assert [one.verdict for one in singular.opinions if one.by in ("minimum-norm", "jax")] == ["right", "not told"]
    lost = opinions("L = sum(inv(A))", {"A": [[1, 2], [2, 4]]})
    assert {one.sort for one in lost.truth.values()} == {"undefined"}
    with pytest.raises(mistakes.OutputNotANumber):
        opinions("2*x", {"x": [1, 2]})


# -- laws -------------------------------------------------------------------------------------------------------------

sizes = st.integers(1, 3)
ACTIVATIONS = (
    "tanh(z)",
    "sigmoid(z)",
    "z*z",
    "softplus(z)*c",
    "exp(-z^2) + b",
    "softmax(z)",
    "layernorm(z)",
    "z/(1 + z^2)",
)
LOSSES = (
    "L = sum(a^2)",
    "L = mean(a*c)",
    "L = norm(a + 2)",
    "L = logsumexp(a)",
    "L = sum(a[0]*3) + a[-1, 0]",
    "L = prod(a + 2)",
    "L = sum(sum(a, axis=0)^2)",
    "L = max(mean(a*c, axis=1))",
    "L = trace(a.T @ a)",
    "L = mse(a, c)",
    "L = cross_entropy(a, c^2)",
    "L = logdet(a.T @ a + eye(SIZE))",
    "L = sum(concat(a, [b], axis=0)^2)",
)


@st.composite
def layers(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A random layer on a batch, with its point."""
    rows, inner, columns = draw(sizes), draw(sizes), draw(sizes)
    seed = np.random.default_rng(draw(st.integers(0, 10**6)))

    def array(*shape: int) -> Any:
        return np.round(seed.uniform(-1, 1, shape), 3).tolist()

    loss = draw(st.sampled_from(LOSSES)).replace("SIZE", str(columns))
    program = f"z = X @ W + b; a = {draw(st.sampled_from(ACTIVATIONS))}; {loss}"
    return program, {
        "X": array(rows, inner),
        "W": array(inner, columns),
        "b": array(columns),
        "c": array(rows, columns),
    }


def flat(value: Any) -> list[Any]:
    return elements_of(value)


@settings(deadline=None, max_examples=60)
@given(layers())
def test_adjoints_of_arrays_are_those_of_the_opened_program(case: tuple[str, dict[str, Any]]) -> None:
    program, inputs = case
    found, point = traced(program, inputs), at(program, inputs)
    assert isinstance(point, ArrayPoint)
    opened, graph = point.opened(), point.opened_graph()
    assert opened is not None
    assert graph is not None
    adjoints, seen = opened.reverse().adjoints, {-1}
    for node, places in zip(found.nodes, graph.places, strict=True):
        fresh = seen.isdisjoint(places.ravel().tolist())  # a[0] makes no new nodes
        seen.update(places.ravel().tolist())
        if node.adjoint is None or not fresh:
            continue
        told = [adjoints[place] or 0.0 for place in places.ravel().tolist()]
        assert flat(node.adjoint) == pytest.approx(told, rel=1e-9, abs=1e-11), node.id


def is_what_the_pulls_say(found: Trace, forward: bool = False) -> None:
    """Every pull is a program over ids: what it gives, repeated, is what the edge brings."""
    nodes = {node.id: node for node in found.nodes}
    for one in found.edges:
        if one.pull is None or one.contribution is None:
            continue
        source, target = nodes[one.source], nodes[one.target]
        names = [name for name in (target.id, *target.args) if re.fullmatch(r"\w+", name)]
        known: dict[str, Any] = {name: nodes[name].value for name in names if re.search(rf"\b{name}\b", one.pull)}
        letter = carried_name("t" if forward else "g", (target.id, *target.args))
        known[letter] = source.tangent if forward else target.adjoint
        point = Program(f"pulled = {one.pull}").at(known)
        end = target if forward else source
        brought = np.broadcast_to(point.values[point.graph.output], end.shape or ())
        assert flat(one.contribution) == pytest.approx(brought.ravel().tolist(), rel=1e-9, abs=1e-11), one.pull


@settings(deadline=None, max_examples=60)
@given(layers())
def test_a_pull_is_a_program_that_gives_what_the_edge_brings(case: tuple[str, dict[str, Any]]) -> None:
    program, inputs = case
    is_what_the_pulls_say(traced(program, inputs))
    is_what_the_pulls_say(traced(program, inputs, mode="forward", wrt=["b[0]"]), forward=True)


@pytest.mark.parametrize(
    ("program", "slope"),
    [
        ("y = concat(x, b, x)", [1, 0, 0, 0, 1, 0]),
        ("y = stack(x, 2*x)", [1, 0, 2, 0]),
        ("y = [x[0], b[1]]", [1, 0]),
        ("y = concat([x], [b], axis=1)", [1, 0, 0, 0]),
    ],
)
def test_what_is_put_together_of_parts_moves_with_each_of_them(program: str, slope: list[float]) -> None:
    found = traced(program, {"x": [1, 2], "b": [3, 4]}, mode="forward", wrt=["x[0]"])
    is_what_the_pulls_say(found, forward=True)
    assert flat(found.gradient["x[0]"]) == slope


@settings(deadline=None, max_examples=40)
@given(layers(), st.sampled_from("XWb"))
def test_forward_mode_by_an_element_is_that_element_of_the_gradient(
    case: tuple[str, dict[str, Any]], name: str
) -> None:
    program, inputs = case
    gradient = traced(program, inputs).gradient[name]
    element = f"{name}[0]" if name == "b" else f"{name}[0,0]"
    forward = traced(program, inputs, mode="forward", wrt=[element]).gradient[element]
    assert forward == pytest.approx(flat(gradient)[0], rel=1e-9, abs=1e-11)


def test_backprop_trace_takes_arrays_of_numpy() -> None:
    found = backprop.trace(LAYER, {name: np.array(value, dtype=float) for name, value in AT.items()}, check=False)
    assert found.gradient == traced(LAYER, AT).gradient


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("sum(A^-1)", "A^(-1) was read element by element; the inverse is inv(A)"),
        ("sum(A^2)", None),
        ("sum(B^-1)", None),
    ],
)
def test_the_inverse_as_it_is_written_on_paper_tells_how_it_was_read(program: str, says: str | None) -> None:
    found = traced(program, {"A": [[1, 2], [3, 4]], "B": [[1, 2, 3]]})
    assert [note.text for note in found.notes if "element by element" in note.text] == ([] if says is None else [says])
