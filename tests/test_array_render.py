"""What arrays look like: on a screen, in a pipe, in every format, whole or in a few words."""

from __future__ import annotations

import csv as csv_reader
import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backprop.figures import ALL, Figures, Written, elements_of, figure, nested, shape_of, summary
from backprop.latex import latex_number
from backprop.record import Edge, Node, Trace, Witness
from backprop.render import by_name
from backprop.render.blocks import block
from backprop.render.grad import render as grad_lines
from backprop.render.gradients import checked
from backprop.render.look import Look
from backprop.render.tables import cells, equation, table
from backprop.tracing import trace
from backprop.working import reverse_line, tangent_line
from backprop.working.brought import Known
from backprop.working.formula_texts import put_numbers_in
from command import call
from drawings import TEXTS

LAYER = "z = W @ x + b; a = tanh(z); L = sum((a - y)^2)"
AT_LAYER = {"x": "[2, -1]", "y": "[1, 0]", "W": "[[0.5, -0.3], [0.8, 0.2]]", "b": "[0.1, -0.4]"}
BATCH = "Z = X @ W.T + b; L = sum(relu(Z))"
AT_BATCH = {"X": "[[1, 2], [3, -1]]", "W": "[[1, 1], [-1, 2]]", "b": "[0.5, -1]"}
SAMPLES = sorted((Path(__file__).parent.parent / "samples").glob("*.bp"))
WITH_ARRAYS = [path for path in SAMPLES if "[" in path.read_text(encoding="utf-8").partition("expect")[0]]


def rendered(found: Trace, name: str = "table", **look: Any) -> str:
    return "".join(line + "\n" for line in by_name(name).render(found, Look(**look)))


def layer(**options: Any) -> Trace:
    return trace(LAYER, AT_LAYER, check=False, **options)


def large() -> Trace:
    """A sum over a matrix of 5 times 8: more elements than a cell of a table holds."""
    rows = [[row + column / 4 for column in range(8)] for row in range(5)]
    return trace("L = sum((A*2)^2)", {"A": rows}, check=False)


def answer(*words: str) -> str:
    """What a command prints."""
    code, told, talk = call(*words)
    assert code == 0, talk
    return told


# -- figures --------------------------------------------------------------------------------------------------------


def test_an_array_is_written_in_brackets_with_the_digits_asked_for() -> None:
    assert figure([[0.8853516482, -0.0], [4.0, 1 / 3]], 3) == "[[0.885, 0], [4, 0.333]]"
    assert figure([[[1.0]], [[2.0]]]) == "[[[1]], [[2]]]"


def test_an_element_without_a_value_says_so() -> None:
    assert figure([1.0, None]) == "[1, undefined]"


def test_every_kind_of_number_stands_in_an_array() -> None:
    assert figure([Written("2/7"), Written("0.33333333333")], 4) == "[2/7, 0.3333]"
    # a ball that proves few digits is told by its ends, which are no brackets inside brackets
    assert figure([{"mid": "0.3", "rad": "0.1"}, {"mid": "2", "rad": "0"}]) == "[0.2..0.4, 2]"
    assert figure(["Infinity", "NaN"]) == "[inf, NaN]"


def test_a_large_array_is_told_by_its_shape_its_norm_and_its_ends() -> None:
    # 3-4-5, six times: the norm is 5 times the root of 6
    told = summary((3, 4), [3.0, -4.0] * 6)
    assert told == "3×4, norm 12.2474, -4 .. 3"
    assert figure([[3.0, -4.0] * 7] * 2) == "2×14, norm 18.7083, -4 .. 3"
    assert figure([2.0] * 25) == "25 elements, all 2"


def test_fractions_many_digits_and_balls_are_summarised_without_doubles() -> None:
    assert summary((2,), [Written("3/5"), Written("-4/5")]) == "2 elements, norm 1, -4/5 .. 3/5"
    assert summary((2,), [Written("3e400"), Written("4e400")]) == "2 elements, norm 5e+400, 3e400 .. 4e400"
    assert summary((2,), [{"mid": "3", "rad": "0"}, {"mid": "4", "rad": "0"}]) == "2 elements, norm 5, 3 .. 4"


def test_what_is_no_number_is_counted_and_has_no_norm() -> None:
    assert summary((4,), [1.0, None, 3.0, None]) == "4 elements, 1 .. 3, 2 undefined"
    assert summary((3,), [1.0, float("nan"), 3.0]) == "3 elements, 1 .. 3, 1 NaN"
    assert summary((2,), [None, None]) == "2 elements, 2 undefined"
    assert summary((2,), [float("inf"), 1.0]) == "2 elements, norm inf, 1 .. inf"


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=40))
def test_a_summary_never_fails_and_tells_an_element_for_each_end(values: list[float]) -> None:
    told = summary((len(values),), values, 17)
    ends = told.rpartition(", ")[2].removeprefix("all ").split(" .. ")
    assert {float(end) for end in ends} == {min(values), max(values)}


def test_a_formula_takes_small_arrays_and_keeps_the_names_of_large_ones() -> None:
    figures = Figures()
    assert figures.put_in([1.0, 2.0]) == "[1, 2]"
    assert figures.put_in([1.0] * 13) is None
    assert Figures(most=ALL).put_in([1.0] * 13) is None
    assert put_numbers_in("W.T @ g - x", {"W": "[[1, -2]]", "x": "[-3]"}.get) == "[[1, -2]].T @ g - [-3]"


def test_a_setting_is_no_name_to_put_numbers_in_for() -> None:
    assert put_numbers_in("sum(x, axis=0)", {"x": "[1, 2]", "axis": "7"}.get) == "sum([1, 2], axis=0)"
    assert put_numbers_in("axis==x", {"axis": "7", "x": "2"}.get) == "7==2"


# -- matrices -------------------------------------------------------------------------------------------------------


def test_a_matrix_is_drawn_with_its_decimal_points_under_each_other() -> None:
    assert block("[[0.5, -0.25], [10, 3]]") == ["⎡ 0.5  -0.25⎤", "⎣10     3   ⎦"]
    assert block("[[1], [20], [undefined]]") == ["⎡        1⎤", "⎢       20⎥", "⎣undefined⎦"]


def test_what_is_no_matrix_of_several_rows_stays_in_its_line() -> None:
    for text in (
        "[1, 2, 3]",
        "[[1, 2, 3]]",
        "3",
        "[[a, b]] + [[c]]",
        "[[1, 2], [3]]",
        "[[max(a, b)], [c]]",
        "[[1, 2], [3, 4",
    ):
        assert block(text) == [text]


def test_matrices_in_a_formula_stand_beside_each_other() -> None:
    assert block("tanh([[1, 2], [3, -4]]) ⊙ [[5], [6]]") == ["tanh(⎡1   2⎤) ⊙ ⎡5⎤", "     ⎣3  -4⎦    ⎣6⎦"]
    assert block("[[1], [2]].T @ x", 8) == ["[[1], [2]].T @ x"]


def test_a_stack_is_told_matrix_by_matrix() -> None:
    assert block("[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]") == [
        "[0, :, :]",
        "⎡1  2⎤",
        "⎣3  4⎦",
        "[1, :, :]",
        "⎡5  6⎤",
        "⎣7  8⎦",
    ]


@settings(max_examples=60)
@given(st.integers(2, 5), st.integers(1, 7), st.data(), st.integers(5, 60))
def test_a_drawn_matrix_loses_no_element_and_no_order(rows: int, columns: int, data: st.DataObject, width: int) -> None:
    numbers = st.floats(-1e6, 1e6).map(figure)
    texts = data.draw(st.lists(numbers, min_size=rows * columns, max_size=rows * columns))
    text = nested((rows, columns), texts)
    lines = block(text)
    assert [line.strip("⎡⎤⎢⎥⎣⎦").split() for line in lines] == [
        texts[row * columns : (row + 1) * columns] for row in range(rows)
    ]
    assert len({len(line) for line in lines}) == 1
    parts = block(text, width)
    if parts != [text]:
        assert max(map(len, parts)) <= width or any(line.startswith("[:") and len(line) > width for line in parts)
        shown = [word for line in parts if not line.startswith("[:") for word in line.strip("⎡⎤⎢⎥⎣⎦").split()]
        assert sorted(shown) == sorted(texts)


def test_a_cell_that_is_a_matrix_is_drawn_on_a_screen_and_one_line_in_a_pipe() -> None:
    rows = [["W", "[[1, 2], [3, 4]]"], ["x", "[1, 2]"]]
    assert list(table(Look(width=40), None, ["node", "value"], rows))[2:] == [
        "W     ⎡1  2⎤",
        "      ⎣3  4⎦",
        "x     [1, 2]",
    ]
    assert list(table(Look(), None, ["node", "value"], rows))[2] == "W     [[1, 2], [3, 4]]"
    narrow = list(table(Look(width=12), None, ["node", "value"], [["W", "[[1.25, 2.25], [3, 4]]"]]))
    assert max(map(cells, narrow)) <= 12
    assert "".join("".join(narrow[2:]).split()) == "W[[1.25,2.25],[3,4]]"


def test_an_equation_breaks_at_its_equals_signs() -> None:
    parts = ["[[1, 2], [3, 4]]", "- 0.5 ·", "[[2, 2], [2, 2]]"], ["[[0, 1], [2, 3]]"]
    assert list(equation(Look(width=40), "W", *parts)) == [
        "W = ⎡1  2⎤ - 0.5 · ⎡2  2⎤ = ⎡0  1⎤",
        "    ⎣3  4⎦         ⎣2  2⎦   ⎣2  3⎦",
    ]
    assert list(equation(Look(width=30), "W", *parts)) == [
        "W = ⎡1  2⎤ - 0.5 · ⎡2  2⎤",
        "    ⎣3  4⎦         ⎣2  2⎦",
        "  = ⎡0  1⎤",
        "    ⎣2  3⎦",
    ]
    assert list(equation(Look(), "W", *parts)) == ["W = [[1, 2], [3, 4]] - 0.5 · [[2, 2], [2, 2]] = [[0, 1], [2, 3]]"]


# -- the working ----------------------------------------------------------------------------------------------------


def test_a_pull_is_told_with_the_adjoint_by_its_name_then_with_numbers() -> None:
    nodes = [
        Node("W", "input", shape=(2, 2), value=[[1.0, 2.0], [3.0, 4.0]]),
        Node("x", "input", shape=(2,), value=[2.0, -1.0], adjoint=[7.0, 10.0]),
        Node("z", "matmul", ("W", "x"), "W @ x", shape=(2,)),
    ]
    edge = Edge("x", "z", 1, pull="W.T @ g", contribution=[7.0, 10.0])
    # Wᵀ g = (1·1 + 3·2, 2·1 + 4·2)
    assert reverse_line(nodes[1], [edge], {"z": [1.0, 2.0]}.get, "L", known=Known(nodes)) == (
        "∂L/∂x = Wᵀ ∂L/∂z = W.T @ ∂L/∂z = [[1, 2], [3, 4]].T @ [1, 2] = [7, 10]"
    )


def test_a_node_called_g_is_not_taken_for_the_adjoint() -> None:
    nodes = [
        Node("g", "input", shape=(2,), value=[5.0, 6.0]),
        Node("x", "input", shape=(2,), value=[2.0, -1.0], adjoint=[15.0, 18.0]),
        Node("z", "dot", ("x", "g"), "dot(x, g)"),
    ]
    edge = Edge("x", "z", 0, pull="g_*g", contribution=[15.0, 18.0])
    assert reverse_line(nodes[1], [edge], {"z": 3.0}.get, "L", known=Known(nodes)) == (
        "∂L/∂x = ∂L/∂z · ∂z/∂x = ∂L/∂z*g = 3*[5, 6] = [15, 18]"
    )


def test_a_product_element_by_element_has_a_sign_of_its_own() -> None:
    edge = Edge("z", "a", 0, [0.5, 0.25], "1 - a^2", [1.0, 1.0], pull="g*(1 - a^2)")
    node = Node("z", "input", shape=(2,), adjoint=[1.0, 1.0])
    assert reverse_line(node, [edge], {"a": [2.0, 4.0]}.get, "L") == (
        "∂L/∂z = ∂L/∂a · ∂a/∂z = [2, 4] ⊙ (1 - a^2) = [2, 4] ⊙ [0.5, 0.25] = [1, 1]"
    )


def test_what_was_broadcast_comes_back_as_a_sum() -> None:
    found = trace(BATCH, AT_BATCH, check=False)
    texts = [step.text for step in found.steps]
    # Z = [[3.5, 2], [2.5, -8]], so that the last element is dead
    line = "∂L/∂b = ∂L/∂Z · ∂Z/∂b = sum(∂L/∂Z, 0) = sum([[1, 1], [1, 0]], 0) = [2, 1]"
    assert f"{line}   (b was repeated 2 times along axis 0: add)" in texts


def test_the_outer_product_is_seen() -> None:
    texts = [step.text for step in layer().steps]
    assert (
        "∂L/∂W = ∂L/∂v1 xᵀ = outer(∂L/∂v1, x) = outer([-0.049563, 0.6397], [2, -1])"
        " = [[-0.0991261, 0.049563], [1.2794, -0.6397]]"
    ) in texts


def test_names_of_large_arrays_stay_in_the_lines() -> None:
    text = rendered(large())
    assert re.search(r"v1 +5×8 +A\*2 +5×8, norm ", text)
    assert re.search(r"∂L/∂A +∂L/∂v1 · ∂v1/∂A +∂L/∂v1 ⊙ 2 +", text)
    assert "told in a few words" in text
    whole = rendered(large(), most=ALL)
    assert "norm" not in whole
    assert "told in a few words" not in whole
    assert "[8, 8.5, 9, 9.5, 10, 10.5, 11, 11.5]" in whole


def test_a_tangent_is_pushed_by_its_rule() -> None:
    nodes = [
        Node("A", "input", shape=(2, 2), value=[[1.0, 2.0], [3.0, 4.0]]),
        Node("x", "input", shape=(2,), value=[5.0, 6.0], tangent=[1.0, 0.0]),
        Node("z", "matmul", ("A", "x"), "A @ x", shape=(2,), tangent=[1.0, 3.0]),
    ]
    edge = Edge("x", "z", 1, pull="A @ t", contribution=[1.0, 3.0])
    assert tangent_line(nodes[2], [edge], {"x": [1.0, 0.0]}.get, "x", known=Known(nodes)) == (
        "∂z/∂x = A ∂x/∂x = A @ ∂x/∂x = [[1, 2], [3, 4]] @ [1, 0] = [1, 3]"
    )


def test_one_element_that_moves_is_told_in_forward_mode() -> None:
    text = rendered(layer(mode="forward", wrt=["W[0,1]"]))
    # only z[0] moves, by x[1] = -1
    assert re.search(r"^∂v1/∂W\[0,1\] +∂W/∂W\[0,1\] x +∂W/∂W\[0,1\] @ x .* +\[-1, 0\]$", text, re.MULTILINE)
    assert re.search(r"^W\[0,1\] +-0.3 +0.049563$", text, re.MULTILINE)
    assert "W does not move" not in text
    assert "x does not move with W[0,1]" in text


# -- the table ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120])
@pytest.mark.parametrize("most", [24, ALL])
@pytest.mark.parametrize("make", [layer, large, lambda: trace(BATCH, AT_BATCH, check=False)])
def test_no_line_with_arrays_is_wider_than_the_screen(width: int, most: int, make: Any) -> None:
    lines = rendered(make(), width=width, most=most).splitlines()
    assert max(map(cells, lines)) <= width


def test_the_shapes_stand_in_a_column() -> None:
    text = rendered(layer())
    assert re.search(r"^node +shape +formula +numbers put in +value$", text, re.MULTILINE)
    assert re.search(r"^v1 +2 +W @ x +\[\[0.5, -0.3\], \[0.8, 0.2\]\] @ \[2, -1\] +\[1.3, 1.4\]$", text, re.MULTILINE)
    assert re.search(r"^variable +shape +value +gradient$", text, re.MULTILINE)
    assert "v1 = W @ x   (shape 2)" in rendered(layer(), width=60)


def test_a_program_of_numbers_has_no_column_for_shapes() -> None:
    text = rendered(trace("x*y", {"x": 2, "y": 3}, check=False))
    assert "shape" not in text
    assert "shape" not in rendered(trace("x*y", {"x": 2, "y": 3}, check=False), "markdown")


def test_the_point_has_a_line_for_each_array() -> None:
    text = rendered(
        trace("k*m*sum(W @ x)", {"k": 2, "m": 4, "W": "[[1, 2], [3, 4]]", "x": "[1, 1]"}, check=False), width=80
    )
    assert "at  k = 2, m = 4\n    W = ⎡1  2⎤\n        ⎣3  4⎦\n    x = [1, 1]\n" in text


def test_declared_arrays_are_told_as_the_point_and_not_as_the_program() -> None:
    program = "input A = [\n  [1, 2],  # one row\n  [3, 4]\n]\nparam b = [1/3, 1e-3]; c = A @ b\nsum(c)"
    lines = rendered(trace(program, {}, check=False)).splitlines()
    assert lines[0] == "param b = [1/3, 1e-3]; c = A @ b"
    assert lines[1] == "sum(c)"


def test_an_ascii_screen_gets_ascii_of_arrays_in_every_format() -> None:
    for found in (layer(), large()):
        for name in TEXTS:
            for width in (None, 60):
                assert rendered(found, name, ascii=True, width=width).isascii(), name
    assert "\n        [0.8   0.2]\n" in rendered(layer(), ascii=True, width=60).replace("            [", "        [")


def test_the_verdict_of_an_array_names_its_worst_element() -> None:
    agrees = Witness("W", "difference", "agrees", digits=14.7, worst="W[0,1]")
    assert checked([agrees]) == ("agrees: difference 14 at W[0,1]", "good")
    wrong = Witness("W", "difference", "DISAGREES", value=2.5, worst="W[1,0]")
    assert checked([wrong]) == ("DISAGREES: difference at W[1,0] says 2.5", "bad")
    wrong = Witness("W", "difference", "DISAGREES", value=[[1.0, 2.0], [3.5, 4.0]], worst="W[1,0]")
    assert checked([wrong]) == ("DISAGREES: difference at W[1,0] says 3.5", "bad")


def test_a_saved_name_of_no_element_is_no_fault() -> None:
    for name in ("W[7,7]", "W[a]", "W[", "W[0,0,0]", "V[0]"):
        record = layer(mode="forward", wrt=["W[0,1]"]).to_dict() | {"wrt": [name], "gradient": {name: 1.0}}
        saved = Trace.from_dict(record)
        assert all(rendered(saved, format) for format in TEXTS)


# -- other formats --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("path", WITH_ARRAYS, ids=lambda path: path.stem)
def test_a_saved_trace_of_arrays_draws_the_same_bytes(path: Path, name: str) -> None:
    found = trace(path.read_text(encoding="utf-8"), {}, check=False)
    saved = Trace.from_json(found.to_json())
    for look in ({}, {"width": 80}, {"most": ALL}):
        assert rendered(saved, name, **look) == rendered(found, name, **look)


def test_csv_has_a_row_for_each_element() -> None:
    rows = list(csv_reader.DictReader(StringIO(rendered(layer(), "csv"))))
    weights = {row["id"]: float(row["value"]) for row in rows if row["id"].startswith("W")}
    assert weights == {"W[0,0]": 0.5, "W[0,1]": -0.3, "W[1,0]": 0.8, "W[1,1]": 0.2}
    adjoints = {row["id"]: float(row["adjoint"]) for row in rows if row["id"].startswith("W")}
    brought = {row["source"]: float(row["contribution"]) for row in rows if row["source"].startswith("W")}
    assert adjoints == brought
    (bend,) = [row for row in rows if (row["source"], row["target"]) == ("z[1]", "a[1]")]
    assert float(bend["partial"]) == pytest.approx(0.419974, abs=1e-6)


def test_csv_tells_a_partial_and_what_it_brings_apart_where_they_differ_in_shape() -> None:
    rows = list(csv_reader.DictReader(StringIO(rendered(trace(BATCH, AT_BATCH, check=False), "csv"))))
    edges = [row for row in rows if row["what"] == "edge" and row["source"].startswith("b")]
    assert [(row["source"], row["target"], row["partial"], row["contribution"]) for row in edges] == [
        ("b", "Z[0,0]", "1", ""),
        ("b", "Z[0,1]", "1", ""),
        ("b", "Z[1,0]", "1", ""),
        ("b", "Z[1,1]", "1", ""),
        ("b[0]", "Z", "", "2"),
        ("b[1]", "Z", "", "1"),
    ]


def test_lines_of_json_hold_nested_lists() -> None:
    lines = [json.loads(line) for line in rendered(layer(), "ndjson").splitlines()]
    (weights,) = [line for line in lines if line.get("id") == "W"]
    assert weights["shape"] == [2, 2]
    assert weights["value"] == [[0.5, -0.3], [0.8, 0.2]]


def test_drawings_name_the_shape_and_what_an_edge_brings() -> None:
    for name in ("dot", "mermaid"):
        text = rendered(layer(), name)
        assert "shape 2×2" in text
        assert "outer(∂L/∂v1, x)" in text
        assert "norm" in rendered(large(), name)


def test_a_page_has_as_many_cells_as_its_head_with_shapes() -> None:
    for line in rendered(layer(), "markdown").splitlines():
        if line.startswith("| `v"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 6


# -- the answers alone ----------------------------------------------------------------------------------------------


def test_grad_draws_matrices_on_a_screen_and_writes_them_in_a_line_in_a_pipe() -> None:
    gradient: dict[str, Any] = {"W": [[-4.0, 4.0], [-6.0, 6.0]], "x": [-22.0, -32.0]}
    assert list(grad_lines("f", 13.0, gradient, Look(width=80))) == [
        "f     = 13",
        "∂f/∂W = ⎡-4  4⎤",
        "        ⎣-6  6⎦",
        "∂f/∂x = [-22, -32]",
    ]
    assert list(grad_lines("f", 13.0, gradient, Look()))[1:] == [
        "∂f/∂W = [[-4, 4], [-6, 6]]",
        "∂f/∂x = [-22, -32]",
    ]
    assert list(grad_lines("f", 13.0, gradient, Look(width=80, ascii=True)))[1:3] == [
        "df/dW = [-4  4]",
        "        [-6  6]",
    ]


def test_grad_wraps_long_vectors_and_cuts_wide_matrices_by_columns() -> None:
    vector = [float(number) for number in range(30)]
    lines = list(grad_lines("f", 1.0, {"x": vector}, Look(width=40)))
    assert max(map(len, lines)) <= 40
    assert lines[2].startswith("         ")
    wide = list(grad_lines("f", 1.0, {"W": [vector, vector]}, Look(width=40)))
    assert wide[1] == "∂f/∂W = [:, 0:10]"
    assert max(map(len, wide)) <= 40


def test_grad_tells_a_very_large_array_in_a_few_words_on_a_screen_only() -> None:
    many = [[1.0, 2.0] * 50] * 3
    assert list(grad_lines("f", 1.0, {"W": many}, Look(width=80)))[1].startswith("∂f/∂W = 3×100, norm ")
    assert len(list(grad_lines("f", 1.0, {"W": many}, Look(width=80, most=ALL)))) > 10
    (line,) = list(grad_lines("f", 1.0, {"W": many}, Look()))[1:]
    assert line.count(",") == 299


# W x - y is (1 - 2 - 1, 3 - 4 - 2) = (-2, -3): f = 13, ∂f/∂y = -2(Wx - y), ∂f/∂W = 2(Wx - y) xᵀ, ∂f/∂x = 2 Wᵀ(Wx - y)
SQUARES = ["sum((W @ x - y)^2)", "--W", "[[1, 2], [3, 4]]", "--x", "[1, -1]", "--y", "[1, 2]"]


@pytest.mark.parametrize("kind", ["real", "exact", "digits:30", "certified"])
def test_grad_of_every_kind_writes_plain_arrays(kind: str) -> None:
    assert (
        answer("grad", *SQUARES, "--kind", kind)
        == "f     = 13\n∂f/∂W = [[-4, 4], [-6, 6]]\n∂f/∂x = [-22, -32]\n∂f/∂y = [4, 6]\n"
    )
    record = json.loads(answer("grad", *SQUARES, "--kind", kind, "--format", "json"))
    assert shape_of(record["gradient"]["W"]) == (2, 2)
    numbers = [one["mid"] if isinstance(one, dict) else one for one in elements_of(record["gradient"]["W"])]
    assert [float(one) for one in numbers] == [-4, 4, -6, 6]


def test_grad_in_json_has_a_line_for_each_row() -> None:
    text = answer("grad", *SQUARES, "--format", "json")
    assert '  "W": [\n   [-4.0, 4.0],\n   [-6.0, 6.0]\n  ],\n  "x": [-22.0, -32.0],\n' in text


def test_trace_shows_large_arrays_whole_when_asked() -> None:
    program = ["sum((A*2)^2)", "--A", nested((5, 8), ["2"] * 40), "--no-check"]
    assert "5×8, all 4" in answer("trace", *program)
    assert "[4, 4, 4, 4, 4, 4, 4, 4]" in answer("trace", *program, "--full")


def test_vars_tells_shapes_and_large_arrays_in_a_few_words() -> None:
    found = answer("vars", "sum(A @ x)", "--A", nested((5, 8), ["2"] * 40), "--x", "[1, 1/2]")
    assert re.search(r"^A +input +5×8 +5×8, all 2$", found, re.MULTILINE)
    assert re.search(r"^x +input +2 +\[1, 1/2\]$", found, re.MULTILINE)
    record = json.loads(answer("vars", "sum(x)", "--x", "[1, 1/2]", "--format", "json"))
    assert record[0]["shape"] == [2]


def test_a_step_of_a_matrix_is_an_equation_of_matrices() -> None:
    found = answer("step", "param W = [[1, 2], [3, 4]]; sum(W^2)", "--rate", "0.25")
    assert "  W = [[1, 2], [3, 4]] - 0.25 · [[2, 4], [6, 8]] = [[0.5, 1], [1.5, 2]]\n" in found


def test_arrays_are_matrices_in_latex() -> None:
    assert latex_number("[[1, -2], [1/3, 0]]") == r"\begin{pmatrix} 1 & -2 \\ \frac{1}{3} & 0 \end{pmatrix}"
    assert latex_number("[1, 2]") == r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"
