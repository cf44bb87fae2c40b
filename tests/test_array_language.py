"""Arrays in the language: how they are written, read and printed, and what is told where they cannot be read."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from backprop import arrays_text
from backprop.derivatives import differentiate
from backprop.grammar import parse
from backprop.graph import CONST, LONGEST_TEXT, Graph
from backprop.graph.building import build, misgivings
from backprop.mistakes import Mistake
from backprop.point import at
from backprop.syntax import canonical, slice_text

patient = settings(deadline=None)
W = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


def read(text: str, *given: str) -> Graph:
    return build(parse(text, given), given)


def refusal(text: str) -> Mistake:
    with pytest.raises(Mistake) as caught:
        read(text)
    return caught.value.within(text)


def told(text: str) -> str:
    """What is worked out at the output."""
    graph = read(text)
    return graph.formula(graph.output)


# -- literals ---------------------------------------------------------------------------------------------------------


def _arrays() -> some.SearchStrategy[tuple[tuple[int, ...], list[str]]]:
    number = some.sampled_from(["0", "1", "-2", "2.5", "-.5", "1e-3", "3.", "½"])
    shapes = some.lists(some.integers(1, 4), min_size=1, max_size=4).map(tuple)
    return shapes.flatmap(
        lambda shape: some.tuples(
            some.just(shape), some.lists(number, min_size=int(np.prod(shape)), max_size=int(np.prod(shape)))
        )
    )


@patient
@given(_arrays())
def test_a_vector_of_numbers_is_one_constant(array: tuple[tuple[int, ...], list[str]]) -> None:
    shape, elements = array
    graph = read(f"x + {arrays_text.written(shape, elements)}")
    assert [graph.op(node) for node in range(len(graph))] == ["input", "const", "add"]
    plain = [element.replace("½", "1/2") for element in elements]
    assert arrays_text.parts(graph.literals[1]) == (shape, plain)
    assert graph.source[slice(*graph.span(1))] == arrays_text.written(shape, elements)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("[x, y]", "[x, y]"),
        ("[x, [1, 2]]", "[x, [1, 2]]"),
        ("[[1, 2], [x, 3]]", "[[1, 2], v1]"),
        ("[pi, 1]", "[pi, 1]"),
        ("-[1, 2]", "-[1, 2]"),
        ("[1, 2][0]", "[1, 2][0]"),
        ("[[1, 2],\n[3, 4],\n] @ x", "[[1, 2], [3, 4]] @ x"),
    ],
)
def test_other_vectors_are_operations_on_their_entries(text: str, formula: str) -> None:
    assert told(text) == formula


def test_a_constant_that_has_a_name_stays_a_node_of_its_own() -> None:
    graph = read("a = 2; [a, 1]")
    assert [graph.ids[node] for node in graph.operands(graph.output)] == ["a", "1"]
    graph = read("f(a) = [a, 1]*a; f(2)")
    assert graph.formula(graph.output) == "v1*2"


def test_a_function_may_hold_an_array() -> None:
    assert at("turn(v) = [[0, -1], [1, 0]] @ v; sum(turn([x, y])*[3, 5])", {"x": 1, "y": 2}).gradient() == {
        "x": 5.0,
        "y": -3.0,
    }


def test_a_vector_has_more_entries_than_other_calls_have_operands() -> None:
    graph = read("[" + ", ".join(f"x{i}" for i in range(500)) + "]")
    assert len(graph.operands(graph.output)) == 500


def test_a_long_constant_has_a_short_name() -> None:
    numbers = ", ".join(["1"] * LONGEST_TEXT)
    graph = read(f"const2 = [{numbers}]*x + [{numbers}] + [1, 2]; const2*[{numbers}]")
    assert [graph.ids[node] for node in range(len(graph)) if graph.codes[node] == CONST] == [
        "const1",
        "const3",
        "[1, 2]",
        "const4",
    ]
    assert graph.formula(graph.output) == "const2*const4"


@pytest.mark.parametrize(
    ("default", "text"),
    [("[0, 0]", "[0, 0]"), ("[[1, -2], [1/3, ½]]", "[[1, -2], [1/3, 1/2]]"), ("[pi/2, -e, inf]", "[pi/2, -e, inf]")],
)
def test_a_default_may_be_an_array(default: str, text: str) -> None:
    assert read(f"input x\nparam w = {default}; w*x").defaults == {"w": text}


# -- subscripts -------------------------------------------------------------------------------------------------------

SUBSCRIPTS = ["0", "-1", ":", "1:", ":1", "::2", "::-1", "-2:", "0:2:1", "[0, 1]", "[-1, 0, 0]", "[[0, 1], [1, 0]]"]


@pytest.mark.parametrize("first", SUBSCRIPTS)
@pytest.mark.parametrize("second", ["", *SUBSCRIPTS])
def test_a_subscript_takes_what_numpy_takes(first: str, second: str) -> None:
    both = f"{first}, {second}" if second else first
    if first.startswith("[") and second.startswith("["):
        with pytest.raises(Mistake):
            at(f"W[{both}]", {"W": W})
        return
    expected = eval(f"W[{both}]", {"W": np.array(W)})
    found = at(f"W[{both}]", {"W": W}).value()
    assert np.shape(found) == np.shape(expected)
    assert np.array_equal(np.asarray(found, dtype=float), expected)


@patient
@given(*[some.one_of(some.none(), some.integers(-5, 5))] * 2, some.sampled_from([None, 1, 2, -1, -3]))
def test_a_slice_in_its_normal_form_is_the_same_slice(first: int | None, last: int | None, step: int | None) -> None:
    bounds = ["" if one is None else str(one).replace("-", "− ") for one in (first, last, step)]
    text = slice_text(" : ".join(bounds))
    assert eval(f"list(range(4))[{text}]") == list(range(4))[first:last:step]
    assert canonical(parse(f"x[{text}]")) == f"x[{text}]"


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("W[1:3, 0]", "W[1:3, 0]"),
        ("x[ : -1 : ]", "x[:-1]"),
        ("x[[0, 2]]", "x[[0, 2]]"),
        ("W[1][2]", "v1[2]"),
        ("(x + 1)[0]", "v1[0]"),
        ("k = 1; x[k]", "x[k]"),
        ("entry(v, i) = v[i]; entry(x, 2)", "x[2]"),
        ("x[i]", "x[i]"),
        ("-x[0]^2", "-v2"),
    ],
)
def test_subscripts_in_formulas(text: str, formula: str) -> None:
    assert told(text) == formula


# -- keywords ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("sum(W)", "sum(W)"),
        ("sum(W, axis=0)", "sum(W, axis=0)"),
        ("sum(W, 0)", "sum(W, axis=0)"),
        ("sum(x=W, axis=0)", "sum(W, axis=0)"),
        ("sum(axis=0, x=W)", "sum(W, axis=0)"),
        ("mean(W, axis=-1)", "mean(W, axis=-1)"),
        ("concat(a, b, axis=1)", "concat(a, b, axis=1)"),
        ("concat(a, b)", "concat(a, b)"),
        ("softmax(W, axis=0)", "softmax(W, axis=0)"),
        # an axis by its place is looked for last: these are the larger of two numbers
        ("max(0, x)", "max(0, x)"),
        ("max(x, 0)", "max(x, 0)"),
        ("max(W, axis=0)", "max(W, axis=0)"),
        ("max(W)", "max(W)"),
        ("atan2(y=a, x=b)", "atan2(a, b)"),
        ("n = 1; sum(W, axis=n)", "sum(W, axis=n)"),
    ],
)
def test_a_keyword_finds_the_operation_that_has_it(text: str, formula: str) -> None:
    assert told(text) == formula


def test_every_formula_of_an_array_reads_back() -> None:
    for text in ("sum(W, axis=0)", "max(W, axis=1)", "concat(a, b, axis=1)", "W[1:, 0]", "[x, y]", "size(W, axis=0)"):
        graph = read(told(text))
        assert graph.codes[graph.output] == read(text).codes[-1], text


# -- other signs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("Aᵀ @ x", "v1 @ x"),
        ("Aᵀᵀ", "v1.T"),
        ("‖x‖", "norm(x)"),
        ("∥x∥²", "v1^2"),
        ("A·x", "A*x"),
        ("x @ y", "x @ y"),
    ],
)
def test_signs_of_arrays(text: str, formula: str) -> None:
    assert told(text) == formula


def test_bars_stay_bars_in_the_normal_form() -> None:
    value: dict[str, Any] = {"x": [3.0, -4.0]}
    for text in ("|x|", canonical(parse("|x|")), canonical(parse("||x||")), "‖x‖"):
        assert at(text, value).value() == 5.0
    assert list(at("abs(x)", value).value()) == [3.0, 4.0]


# -- mistakes ---------------------------------------------------------------------------------------------------------

MISTAKES = [
    ("[[1, 2], [3]]", "ragged-array", "[3]"),
    ("[[1, 2], [x]]", "ragged-array", "[x]"),
    ("[[x, 2], [3, y], [1, 2, 3]]", "ragged-array", "[1, 2, 3]"),
    ("[[[1], [2]], [[3], [4, 5]]]", "ragged-array", "[4, 5]"),
    ("[[[1, 2]], [[3]]]", "ragged-array", "[[3]]"),
    ("[1, [2, 3]]", "mixed-array", "[2, 3]"),
    ("[[1, 2], 3]", "mixed-array", "3"),
    ("input w = [[1, 2], [3]]; w", "ragged-array", "[3]"),
    ("input w = [1, [3]]; w", "mixed-array", "[3]"),
    ("input w = -[1, 2]; w", "default-not-a-number", "-[1, 2]"),
    ("input w = [x]; w", "default-not-a-number", "x"),
    ("input w = [1]/2; w", "default-not-a-number", "[1]/2"),
    ("input w = 1/[2]; w", "default-not-a-number", "1/[2]"),
    ("[" * 33 + "1" + "]" * 33, "array-too-large", "[" * 32 + "1" + "]" * 32),
    ("[x > 0, 1]", "condition-as-number", "x > 0"),
    ("sum(W, axis=k)", "not-a-setting", "k"),
    ("sum(W, k)", "not-a-setting", "k"),
    ("sum(W, axis=0.5)", "not-a-setting", "0.5"),
    ("sum(W, axis=[0, 1])", "not-a-setting", "[0, 1]"),
    ("sum(W, axis=1 + 1)", "not-a-setting", "1 + 1"),
    ("along(n) = sum(W, axis=n); along(k)", "not-a-setting", "n"),
    ("reshape(x, 2, n)", "not-a-setting", "n"),
    ("sum(W, dim=0)", "unknown-keyword", "dim"),
    ("sum(W, axes=0)", "unknown-keyword", "axes"),
    ("sin(x, axis=0)", "unknown-keyword", "axis"),
    ("sum(axis=0, W)", "operand-after-keyword", "W"),
    ("sum(W, axis=0, 1)", "operand-after-keyword", "1"),
    ("sum(W, axis=0, axis=1)", "keyword-twice", "axis"),
    ("atan2(1, y=2)", "keyword-twice", "y"),
    ("atan2(y=1)", "wrong-number-of-operands", "atan2(y=1)"),
    ("sum(axis=0)", "wrong-number-of-operands", "sum(axis=0)"),
    ("f(x) = x^2; f(x=2)", "keyword-for-own-function", "x"),
    ("where(a = b, 1, 2)", "assignment-inside", "="),
    ("x[0.5]", "not-a-subscript", "0.5"),
    ("x[[0, 0.5]]", "not-a-subscript", "[0, 0.5]"),
    ("x[pi]", "not-a-subscript", "pi"),
    ("x[None]", "not-a-subscript", "None"),
    ("2[1, 2]", "missing-sign", "["),
    ("exp[x]", "function-without-brackets", "exp[x]"),
    ("sin [1, 2]", "function-without-brackets", "sin [1, 2]"),
    ("Aᵀx", "product-after-transpose", "Aᵀx"),
    ("x.T y", "product-after-transpose", "x.T y"),
    ("array([1, 2])", "unknown-function", "array"),
]


@pytest.mark.parametrize(("text", "code", "where"), MISTAKES, ids=[text for text, _, _ in MISTAKES])
def test_a_mistake_is_named_and_placed(text: str, code: str, where: str) -> None:
    mistake = refusal(text)
    assert mistake.span is not None
    assert (mistake.code, text[slice(*mistake.span)]) == (code, where)
    assert mistake.repair


REPAIRS = [
    ("[1 2 3]", "[1, 2, 3]"),
    ("[1 2; 3 4]", "[[1, 2], [3, 4]]"),
    ("[1, 2; 3, 4]", "[[1, 2], [3, 4]]"),
    ("[a 2]", "[a, 2]"),
    ("{1, 2}", "Write [1, 2]"),
    ("{{1, 2}, {3, 4}}", "[[1, 2], [3, 4]]"),
    ("x[1,]", "x[1], or x[1, :]"),
    ("x(1, 2)", "x[0, 1]"),
    ("x(1)", "x[1] for an entry"),
    ("W(:, 1)", "W[1:3]"),
    ("W.t()", "W.T"),
    ("W.transpose()", "W.T"),
    ("np.transpose(W)", "W.T"),
    ("W'", "W.T"),
    ("Aᵀx", "Aᵀ @ x"),
    ("A⁻ᵀ", "inv(A).T"),
    ("A.I", "inv(A)"),
    ("np.dot(a, b)", "Write dot(a, b)"),
    ("np.linalg.norm(x)", "Write norm(x)"),
    ("a.dot(b)", "Write dot(a, b)"),
    ("x.sum()", "Write sum(x)"),
    ("x.sum(axis=0)", "Write sum(x, axis=0)"),
    ("torch.sum(x, dim=0)", "Write sum(x, axis=0)"),
    ("np.exp(np.sin(x))", "Write exp(sin(x))"),
    ("np.array([1, 2])", "Write [1, 2]"),
    ("x.reshape(2, 3)", "Write reshape(x, 2, 3)"),
    ("sum(W, dim=0)", "axis=0"),
    ("sum(W, axis=1, keepdims=1)", "expand_dims"),
    ("sum(W, axis=None)", "Leave it out: sum(x)"),
    ("sum(W axis=0)", "W, axis="),
    ("summ(W, axis=0)", "Did you mean sum(x)?"),
    ("x[..., 0]", "x[:, 0]"),
    ("x[None]", "expand_dims(x, 0)"),
    ("2[1, 2]", "2*[1, 2]"),
    ("exp[x]", "exp(x)"),
    ("sin [1, 2]", "sin([1, 2])"),
    ("a ⊗ b", "outer(a, b)"),
    ("vstack(a, b)", "concat(a, b)"),
    ("[]", "[0]"),
]


@pytest.mark.parametrize(("text", "piece"), REPAIRS, ids=[text for text, _ in REPAIRS])
def test_what_is_written_elsewhere_is_told_in_our_words(text: str, piece: str) -> None:
    repair = refusal(text).repair
    assert piece in repair, repair


def test_a_missing_transpose_is_told() -> None:
    with pytest.raises(Mistake, match="T") as caught:
        at("A^T @ x", {"A": 1, "x": 2})
    assert "A.T" in caught.value.repair


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[x y]", ["[x y] was read as [x*y]"]),
        ("[x\ny, 1]", ["[x y, 1] was read as [x*y, 1]"]),
        ("[1 -2]", ["[1 -2] was read as [1 - 2]"]),
        ("x + x(1)", ["x(1) was read as x*1"]),
        ("[1 - 2, 2x, a*b, -1]", []),
        ("x + x(y + 1)", []),
    ],
)
def test_a_doubtful_reading_is_told(text: str, said: list[str]) -> None:
    tree = parse(text)
    assert [one for _, one in misgivings(tree, build(tree))] == said


# -- formulas of arrays -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["sum(W @ x)", "x[0]^2", "input x = [1, 2]; x^2", "x*[1, 2]"])
def test_formulas_are_of_single_numbers(text: str) -> None:
    with pytest.raises(Mistake) as caught:
        differentiate(text)
    assert caught.value.code == "arrays-in-formulas"
    assert "--open" in caught.value.repair


# -- sizes ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "[" + ", ".join(["[1.5, -2, 3]"] * 20_000) + "]",
        "[" + ", ".join(["[x, -2, 3]"] * 20_000) + "]",
        "x" + "[0]" * 20_000,
        "x[" * 20_000 + "0" + "]" * 20_000,
        "[1, " * 20_000 + "2" + "]" * 20_000,
        "log(x, b=" * 20_000 + "2" + ")" * 20_000,
        "x[1:2, " * 20_000,
        "f(a=" * 20_000,
        "‖" * 20_000,
    ],
    ids=["numbers", "rows", "subscripts", "nested subscripts", "nested", "keywords", "slices", "open", "bars"],
)
def test_reading_takes_linear_time(text: str) -> None:
    begin = time.perf_counter()
    try:
        tree = parse(text)
        graph = build(tree)
        list(misgivings(tree, graph))
        canonical(tree)
    except Mistake:
        pass
    assert time.perf_counter() - begin < 5  # a quarter of a second; minutes where anything is quadratic
