"""Opening: an array program as its scalar graph, all of it or one node, has the same values and the same gradient."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import backprop
from backprop import render
from backprop.array_point import ArrayPoint, opened_at
from backprop.bindings import Option, split
from backprop.kinds import Hole, by_name, is_number
from backprop.kinds.shapes import elements
from backprop.mistakes import Mistake
from backprop.point import Point, at
from backprop.record import Trace
from backprop.render.look import Look
from backprop.schema import schema
from command import call
from drawings import TEXTS

LAYER = "z = W@x + b; a = tanh(z); L = sum((a - y)^2)"
POINT: dict[str, Any] = {"W": [[1, 2], [3, 4]], "x": [1, -1], "b": [0.5, 0.1], "y": [0, 1]}
ON_A_LINE = ["--W", "[[1, 2], [3, 4]]", "--x", "[1, -1]", "--b", "[0.5, 0.1]", "--y", "[0, 1]"]


class Answer(NamedTuple):
    code: int
    out: str
    err: str


def run(*words: str, stdin: str = "") -> Answer:
    return Answer(*call(*words, stdin=stdin))


def formulas(point: Point) -> list[str]:
    graph = point.graph
    return [f"{graph.ids[node]} = {graph.formula(node)}" for node in range(len(graph)) if graph.formula(node)]


def by_element(gradient: dict[str, Any]) -> list[float]:
    """All slopes of a gradient, row by row."""
    return [float(one) for slopes in gradient.values() for one in elements(slopes)]


# -- how it reads -------------------------------------------------------------------------------------------------


def test_an_element_is_worked_out_in_steps_that_bear_its_name() -> None:
    opened = opened_at(at("z = W@x; L = sum(z)", {"W": [[1, 2], [3, 4]], "x": [1, -1]}))
    assert formulas(opened) == [
        "z[0].1 = W[0,0]*x[0]",
        "z[0].2 = W[0,1]*x[1]",
        "z[0] = z[0].1 + z[0].2",
        "z[1].1 = W[1,0]*x[0]",
        "z[1].2 = W[1,1]*x[1]",
        "z[1] = z[1].1 + z[1].2",
        "L = z[0] + z[1]",
    ]
    assert opened.graph.inputs.keys() == {"W[0,0]", "W[0,1]", "W[1,0]", "W[1,1]", "x[0]", "x[1]"}


def test_a_step_that_several_elements_need_bears_the_name_of_the_node() -> None:
    lines = formulas(opened_at(at("p = softmax(x); L = p[0]", {"x": [1, 2]})))
    assert "p.1 = logaddexp(x[0], x[1])" in lines
    assert any(line.startswith("p[0].1 = ") for line in lines)


def test_an_opened_node_stands_between_its_closed_neighbours() -> None:
    opened = opened_at(at("z = W@x; a = tanh(z); L = sum(a)", {"W": [[1, 2], [3, 4]], "x": [1, -1]}), ["z"])
    assert formulas(opened) == [
        "W[0,0] = W[0, 0]",
        "W[0,1] = W[0, 1]",
        "W[1,0] = W[1, 0]",
        "W[1,1] = W[1, 1]",
        "x[0] = x[0]",
        "x[1] = x[1]",
        "z[0].1 = W[0,0]*x[0]",
        "z[0].2 = W[0,1]*x[1]",
        "z[0] = z[0].1 + z[0].2",
        "z[1].1 = W[1,0]*x[0]",
        "z[1].2 = W[1,1]*x[1]",
        "z[1] = z[1].1 + z[1].2",
        "z = [z[0], z[1]]",
        "a = tanh(z)",
        "L = sum(a)",
    ]


def test_a_matrix_is_put_together_row_by_row_and_literals_stay_numbers() -> None:
    opened = opened_at(at("Z = X * [[2], [3]]; L = sum(Z @ v)", {"X": [[1, 2], [3, 4]], "v": [1, 1]}), ["Z"])
    lines = formulas(opened)
    assert "Z[1,0] = X[1,0]*3" in lines
    assert lines[lines.index("Z[0] = [Z[0,0], Z[0,1]]") :][:3] == [
        "Z[0] = [Z[0,0], Z[0,1]]",
        "Z[1] = [Z[1,0], Z[1,1]]",
        "Z = [Z[0], Z[1]]",
    ]


def test_the_steps_without_a_name_behind_a_node_are_opened_with_it() -> None:
    lines = formulas(opened_at(at(LAYER, POINT), ["z"]))
    assert "v1[0] = v1[0].1 + v1[0].2" in lines
    assert "z[0] = v1[0] + b[0]" in lines
    assert "a = tanh(z)" in lines


# -- the same gradient --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [[], ["z"], ["a"], ["L"], ["z", "a"], ["z", "L"], ["z", "a", "L"], ["v2"]])
@pytest.mark.parametrize("kind", ["real", "exact", "digits:30", "certified"])
def test_opened_and_closed_have_one_gradient(names: list[str], kind: str) -> None:
    if kind == "certified":
        pytest.importorskip("flint")
    program = LAYER if kind != "exact" else LAYER.replace("tanh(z)", "z^3/7")
    closed = at(program, POINT, kind=by_name(kind))
    opened = opened_at(closed, names)
    assert float(opened.answer()) == pytest.approx(float(closed.answer()), rel=1e-14)
    assert by_element(opened.gradient()) == pytest.approx(by_element(closed.gradient()), rel=1e-13)


def test_a_node_that_is_needed_whole_and_by_its_elements_has_all_of_its_adjoint() -> None:
    program = "z = W@x; a = tanh(z); L = sum(a*z) + z[0]"
    closed = at(program, {"W": [[1, 2], [3, 4]], "x": [0.5, -0.25]}, wrt=["W", "z", "a"])
    for names in (["z"], ["z", "a"], ["a"]):
        opened = opened_at(closed, names)
        assert by_element(opened.gradient()) == pytest.approx(by_element(closed.gradient()), rel=1e-13), names


def test_elements_and_steps_can_be_asked_for() -> None:
    found = backprop.trace(LAYER, POINT, opened=True, wrt=["W[0,1]", "z[0]", "v1[0].2"])
    assert list(found.gradient) == ["W[0,1]", "z[0]", "v1[0].2"]
    assert found.gradient["v1[0].2"] == found.gradient["z[0]"] == -found.gradient["W[0,1]"]
    assert {one.verdict for one in found.witnesses} == {"agrees"}
    half = backprop.trace(LAYER, POINT, opened=["z"], wrt=["W", "v1[0].2"], check=False)
    assert half.gradient["v1[0].2"] == found.gradient["v1[0].2"]
    assert np.shape(half.gradient["W"]) == (2, 2)


def test_a_scalar_program_is_open_already() -> None:
    closed = at("(x*y + z)*x", {"x": 3, "y": -1, "z": 2})
    assert opened_at(closed) is closed
    assert backprop.trace("x^2", {"x": 3}, opened=True).nodes == backprop.trace("x^2", {"x": 3}).nodes


def test_the_elements_of_a_named_constant_have_its_name_and_their_derivatives() -> None:
    found = backprop.trace("W = [[1, 2], [3, 4]]; c = 2; L = sum(c*W^2)", {}, opened=True, check=False)
    assert found.gradient == {"W[0,0]": 4.0, "W[0,1]": 8.0, "W[1,0]": 12.0, "W[1,1]": 16.0, "c": 30.0}


def test_where_a_whole_array_has_no_value_nothing_is_opened() -> None:
    for names in ([], ["v1"]):
        opened = opened_at(at("sum(inv(A))", {"A": [[1, 2], [2, 4]]}), names)
        assert isinstance(opened.value(), Hole)


# -- a trace ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opened", [True, ["z"], ["z", "a"]])
def test_an_opened_trace_is_saved_and_looks_the_same_in_every_format(opened: Any) -> None:
    found = backprop.trace(LAYER, POINT, opened=opened, check=False)
    assert found.opened == ([] if opened is True else opened)
    jsonschema.Draft202012Validator(schema()).validate(json.loads(found.to_json()))
    again = Trace.from_json(found.to_json())
    assert again == found
    assert again.to_json() == found.to_json()
    for name in TEXTS:
        renderer = render.by_name(name)
        assert list(renderer.render(again, Look())) == list(renderer.render(found, Look())), name


def test_numbers_are_put_in_for_elements_and_steps() -> None:
    lines = "\n".join(step.text for step in backprop.trace(LAYER, POINT, opened=True, check=False).steps)
    assert "v1[0].1 + v1[0].2 = 1 + (-2) = -1" in lines
    assert "W[0,1]*x[1] = 2*(-1) = -2" in lines


def test_an_opened_trace_is_checked_by_every_witness_of_single_numbers() -> None:
    found = backprop.trace(LAYER, POINT, opened=True)
    assert {one.by for one in found.witnesses if one.of == "W[0,1]"} == {"sympy", "difference", "forward mode", "paths"}
    assert {one.verdict for one in found.witnesses} == {"agrees"}
    assert found.formulas["y[0]"] == "-2*(tanh(W[0,0]*x[0] + W[0,1]*x[1] + b[0]) - y[0])"


def test_a_partly_opened_trace_is_checked_like_an_array_program() -> None:
    found = backprop.trace(LAYER, POINT, opened=["z"])
    assert {one.by for one in found.witnesses if one.of == "W"} == {"sympy", "difference", "opened", "forward mode"}
    assert {one.verdict for one in found.witnesses} == {"agrees"}


def test_formulas_of_an_opened_program_need_values_for_their_shapes_alone() -> None:
    found = backprop.trace("sum(tanh(W@x))", {"W": [[1, 2]], "x": [3, 4]}, symbolic=True, opened=True)
    assert found.gradient["W[0,1]"] == "x[1]*(1 - tanh(W[0,0]*x[0] + W[0,1]*x[1])^2)"


# -- the command line ---------------------------------------------------------------------------------------------


def test_open_takes_names_or_none() -> None:
    options = [Option("open", "", "[NAMES]", many=True), Option("file", "", "FILE")]

    def told(*words: str) -> tuple[str | None, list[str]]:
        found = split(words, options)
        return found.options.get("open"), found.positional

    assert told("W@x", "--open", "--x", "1") == ("", ["W@x"])
    assert told("W@x", "--open", "z,a") == ("z,a", ["W@x"])
    assert told("--open", "W@x") == ("", ["W@x"])
    assert told("W@x", "--open=z") == ("z", ["W@x"])
    assert told("--open", "x") == ("", ["x"])  # there is nothing else that could be the expression
    assert told("--open", "z", "--file", "a.bp") == ("z", [])
    assert told("--open", "z", "W@x") == ("z", ["W@x"])


def test_an_opened_trace_goes_through_a_pipe_to_other_commands(tmp_path: Path) -> None:
    saved = run("trace", LAYER, *ON_A_LINE, "--open", "--format", "json", "--no-check").out
    counted = run("paths", "-", "--from", "x", "--count", stdin=saved)
    assert "[2, 2]" in counted.out
    again = run("trace", "-", "--format", "json", "--no-check", stdin=saved)
    assert again.out == saved
    slopes = run("grad", "-", "--wrt", "W[0, 1]", stdin=saved)
    assert slopes.out.split() == ["L", "=", "3.15923", "∂L/∂W[0,1]", "=", "0.726862"]
    point = tmp_path / "point.json"
    point.write_text(saved, encoding="utf-8")
    assert run("grad", LAYER, "--at", str(point)).out == run("grad", LAYER, *ON_A_LINE).out
    partly = run("trace", LAYER, *ON_A_LINE, "--open", "z", "--format", "json", "--no-check").out
    assert json.loads(partly)["opened"] == ["z"]
    assert run("trace", "-", "--format", "json", "--no-check", stdin=partly).out == partly


def test_ids_with_brackets_are_escaped_where_a_format_asks_for_it() -> None:
    dot = run("trace", LAYER, *ON_A_LINE, "--open", "--no-check", "--format", "dot").out
    assert '"W[0,1]" -> "v1[0].2"' in dot
    mermaid = run("trace", LAYER, *ON_A_LINE, "--open", "--no-check", "--format", "mermaid").out
    assert "W#91;0,1#93;" in mermaid
    assert "[0,1]" not in mermaid


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([LAYER, *ON_A_LINE, "--open", "W"], "nothing to open", "W is an input"),
        ([LAYER, *ON_A_LINE, "--open", "q"], "unknown name", "q"),
        (["2*x", "--x", "[1, 2]", "--open"], "the output is not one number", "(2,)"),
        ([LAYER, *ON_A_LINE, "--open", "--wrt", "z[5]"], "there is no such element", "z[5]"),
        ([LAYER, *ON_A_LINE, "--open", "--wrt", "z[0].9"], "unknown name", "z[0].9"),
    ],
)
def test_what_cannot_be_opened_is_told(words: list[str], code: str, told: str) -> None:
    found = run("trace", *words)
    assert found.code == 2
    assert code in found.err
    assert told in found.err


def test_a_program_with_too_many_numbers_is_refused_and_one_node_of_it_is_not() -> None:
    inputs = {"X": np.ones((60, 80)) / 7, "W": np.ones((80, 60)) / 9}
    closed = at("Z = X@W; a = Z[0]; L = sum(tanh(Z)) + sum(a^2)", inputs)
    with pytest.raises(Mistake) as caught:
        opened_at(closed)
    assert caught.value.code == "too-large-to-open"
    assert by_element(opened_at(closed, ["a"]).gradient()) == pytest.approx(by_element(closed.gradient()))
    assert run("paths", "sum(X@X)", "--X", str(np.ones((50, 50)).tolist())).code == 2


# -- paths --------------------------------------------------------------------------------------------------------


def test_paths_lead_through_the_opened_graph_and_it_is_said() -> None:
    found = run("paths", LAYER, *ON_A_LINE, "--from", "x[1]")
    assert "x[1] → v1[0].2 → v1[0] → z[0] → a[0] → v2[0] → v3[0] → L" in found.out
    assert "2 paths from x[1] to L" in found.out
    assert "✓ the adjoint" in found.out
    assert found.out.startswith("The arrays are opened into single numbers, 26 nodes; paths lead through these.\n")


def test_paths_are_counted_for_every_element_of_an_array() -> None:
    found = run("paths", "sum((A@B)@(A@B))", "--A", "[[1, 2], [3, 4]]", "--B", "[[1, 0], [2, 1]]", "--count")
    # A[i,j] goes to two elements of A@B in one row; each of those to two products on the left and two on the right
    assert "32 paths from the elements of A to f" in found.out
    assert "[[8, 8], [8, 8]]" in found.out
    assert found.out.count("✓ the adjoints") == 2
    assert found.code == 0


def test_a_row_stands_for_its_elements_and_the_others_keep_their_own_lines() -> None:
    found = run("paths", LAYER, *ON_A_LINE, "--from", "W[1]", "--count")
    assert "∂L/∂W[1,0]: 1 path" in found.out
    assert "∂L/∂W[1,1]: 1 path" in found.out
    assert "W[0" not in found.out


def test_paths_in_python_begin_at_an_element() -> None:
    terms = [path.term for path in backprop.paths(LAYER, POINT, source="x[1]")]
    assert len(terms) == 2
    assert sum(terms) == pytest.approx(backprop.grad(LAYER, POINT)[1]["x"][1])


def test_the_largest_terms_and_the_factored_sum_are_those_of_elements() -> None:
    assert "this term carries" in run("paths", LAYER, *ON_A_LINE, "--from", "x[0]", "--top", "1").out
    factored = run("paths", LAYER, *ON_A_LINE, "--from", "x[0]", "--symbolic", "--factor").out
    assert "W[0,0]·(1 - a[0]^2)·2*v2[0]" in factored


# -- conventions and plain tapes ----------------------------------------------------------------------------------


BAD_POINTS = [
    ("sum(relu(x))", {"x": [0, 1, -1]}),
    ("sum(abs(x)*[1, 2, 3])", {"x": [0, 1, -1]}),
    ("max(x)", {"x": [1, 1, 0]}),
    ("norm(x)", {"x": [0, 0]}),
    ("sum(max(x, 0))", {"x": [0, 2]}),
    ("sum(where(x > 0, sqrt(x), 0))", {"x": [0, 4]}),
    ("sum(sqrt(x))", {"x": [0, 4]}),
    ("sum(x/y)", {"x": [1, 0], "y": [0, 0]}),
    ("sum(log(x))", {"x": [1, -1]}),
    ("sum(exp(x)*0)", {"x": [800, 1]}),
    ("prod(x)", {"x": [0, 0, 2]}),
    ("sum(clip(x, 0, 1))", {"x": [0, 1, 0.5]}),
    ("logsumexp(x)", {"x": [800, 799]}),
]


# what a framework takes for an array as a whole, and not for the steps that it opens into
OF_WHOLE_ARRAYS = {("norm(x)", "torch"): 0.0, ("prod(x)", "autograd"): float("nan")}


@pytest.mark.parametrize(("program", "convention"), OF_WHOLE_ARRAYS)
def test_what_a_framework_takes_for_a_whole_array_stands(program: str, convention: str) -> None:
    inputs = next(inputs for one, inputs in BAD_POINTS if one == program)
    taken = OF_WHOLE_ARRAYS[program, convention]
    slopes = list(elements(at(program, inputs, convention=convention).gradient()["x"]))
    assert same(slopes[0], taken)


@pytest.mark.parametrize(("program", "inputs"), BAD_POINTS)
@pytest.mark.parametrize("convention", ["minimum-norm", "mean", "left", "right", "torch", "jax", "autograd", "casadi"])
def test_conventions_take_the_same_number_closed_as_opened(
    program: str, inputs: dict[str, Any], convention: str
) -> None:
    if (program, convention) in OF_WHOLE_ARRAYS:
        return
    closed = at(program, inputs, convention=convention)
    theirs = opened_at(closed).gradient()
    for name, slopes in closed.gradient().items():
        for place, one in enumerate(elements(slopes)):
            other = theirs[f"{name}[{place}]"]
            assert same(one, other), (program, convention, one, other)


@pytest.mark.parametrize(("program", "inputs"), BAD_POINTS)
def test_a_plain_tape_has_the_same_values_closed_as_opened(program: str, inputs: dict[str, Any]) -> None:
    _, closed = backprop.grad(program, inputs, undefined="propagate")
    opened = backprop.trace(program, inputs, undefined="propagate", opened=True, check=False).gradient
    for name, slopes in closed.items():
        for place, one in enumerate(np.ravel(slopes)):
            assert same(float(one), float(opened[f"{name}[{place}]"])), (program, closed, opened)


def same(one: Any, other: Any) -> bool:
    if isinstance(one, Hole) or isinstance(other, Hole):
        return isinstance(one, Hole) == isinstance(other, Hole)
    if not is_number(one) or not is_number(other):
        return one == other or (one != one and other != other)
    return bool(abs(one - other) <= 1e-12 * (1 + abs(other)))


# -- any program --------------------------------------------------------------------------------------------------


NUMBERS = st.integers(-16, 16).map(lambda eighths: eighths / 8 + 0.0625)


@st.composite
def array_programs(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """A program of layers, products, broadcasting and reductions, with arrays of random shapes."""
    sizes = st.integers(1, 3)
    n, m = draw(sizes), draw(sizes)
    inputs: dict[str, Any] = {}
    known: list[tuple[str, tuple[int, ...]]] = []

    def array(name: str, shape: tuple[int, ...]) -> None:
        flat = draw(st.lists(NUMBERS, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
        inputs[name] = np.array(flat).reshape(shape).tolist()
        known.append((name, shape))

    array("A", (n, m))
    array("x", (m,))
    array("c", ())
    lines: list[str] = []

    def let(text: str, shape: tuple[int, ...]) -> None:
        name = f"t{len(lines)}"
        lines.append(f"{name} = {text}")
        known.append((name, shape))

    for _ in range(draw(st.integers(1, 5))):
        name, shape = draw(st.sampled_from(known))
        sort = draw(st.sampled_from(["each", "pair", "matmul", "turn", "reduce", "take", "join", "layer"]))
        if sort == "each":
            let(draw(st.sampled_from(["tanh({0})", "sin({0})", "exp({0}/4)", "sigmoid({0})", "relu({0})", "-{0}^2"]))
                .format(name), shape)  # fmt: skip
        elif sort == "pair":
            fitting = [one for one in known if fits(shape, one[1])]
            other, theirs = draw(st.sampled_from(fitting))
            sign = draw(st.sampled_from(["+", "-", "*"]))
            let(f"{name} {sign} {other}", tuple(np.broadcast_shapes(shape, theirs)))
        elif sort == "matmul" and shape:
            fitting = [one for one in known if one[1] and (one[1][-2] if len(one[1]) > 1 else one[1][0]) == shape[-1]]
            if fitting and len(shape) < 3:
                other, theirs = draw(st.sampled_from(fitting))
                if len(theirs) < 3:
                    let(f"{name} @ {other}", np.matmul(np.ones(shape), np.ones(theirs)).shape)
        elif sort == "turn" and len(shape) == 2:
            let(f"{name}.T", shape[::-1])
        elif sort == "reduce" and shape:
            function = draw(st.sampled_from(["sum", "mean", "max", "logsumexp", "prod"]))
            if draw(st.booleans()):
                let(f"{function}({name})", ())
            else:
                axis = draw(st.integers(0, len(shape) - 1))
                let(f"{function}({name}, axis={axis})", shape[:axis] + shape[axis + 1 :])
        elif sort == "take" and shape:
            place = draw(st.integers(0, shape[0] - 1))
            let(f"{name}[{place}]", shape[1:])
        elif sort == "join" and shape and len(shape) < 3:
            let(f"concat({name}, {name}*2)", (2 * shape[0], *shape[1:]))
        elif sort == "layer" and shape and len(shape) < 3:
            let(f"{draw(st.sampled_from(['softmax', 'log_softmax', 'layernorm']))}({name})", shape)
    name, shape = known[-1]
    lines.append(f"L = sum(sin({name} + 0.3)) + sum(A*x)" if shape else f"L = sin({name}) + sum(A*x)")
    return "; ".join(lines), inputs


def fits(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(one, other)
    except ValueError:
        return False
    return True


def near(closed: Point, opened: Point) -> None:
    """Whether both have one gradient, up to the rounding of the terms in it."""
    ours, theirs = by_element(closed.gradient()), by_element(opened.gradient())
    size = 1 + max(map(abs, theirs), default=0)
    for one, other in zip(ours, theirs, strict=True):
        assert abs(one - other) <= 1e-10 * size, (ours, theirs)


@settings(max_examples=120, deadline=None)
@given(array_programs(), st.data())
def test_opened_and_closed_agree_on_any_program(case: tuple[str, dict[str, Any]], data: st.DataObject) -> None:
    program, inputs = case
    closed = at(program, inputs)
    assert isinstance(closed, ArrayPoint)
    whole = opened_at(closed)
    assert float(closed.value()) == pytest.approx(float(whole.value()), rel=1e-12, abs=1e-12)
    near(closed, whole)
    named = [name for node, name in closed.graph.names.items() if closed.graph.codes[node] >= 0]
    chosen = data.draw(st.lists(st.sampled_from(named), min_size=1, max_size=3, unique=True))
    partly = opened_at(closed, chosen)
    near(closed, partly)
    assert isinstance(partly, ArrayPoint) or partly.is_scalar
    near(partly, opened_at(partly))


@settings(max_examples=25, deadline=None)
@given(array_programs())
def test_any_opened_trace_comes_back_from_json(case: tuple[str, dict[str, Any]]) -> None:
    found = backprop.trace(*case, opened=True, check=False)
    assert Trace.from_json(found.to_json()) == found
