"""What a program costs: counts from paper, closed and opened alike, and both modes really run."""

from __future__ import annotations

import csv
import io
import json
from itertools import islice

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import backprop
from backprop import costs, ops, schema
from backprop.array_point import ArrayPoint
from backprop.costs import CostReport, cost
from backprop.kinds.array import Arrays
from backprop.kinds.doubles import Doubles
from backprop.kinds.elements import Elements
from backprop.kinds.real import REAL
from backprop.mistakes import MissingValue, NoVariable, Undefined
from backprop.ops import Row
from backprop.point import at
from backprop.render.cost import render
from backprop.render.look import Look
from backprop.values import values
from command import call

NEURON = "z = x1*w1 + x2*w2 + b; h = tanh(z); L = (h - y)^2"
NEURON_AT = {"x1": 2, "x2": -1, "w1": 0.5, "w2": -0.3, "b": 0.1, "y": 1}
LAYER = "z = W@x + b; a = tanh(z); L = sum((a - y)^2)"
LAYER_AT = {"W": [[1, 2, -1], [3, 4, 0.5]], "x": [1, -1, 0.25], "b": [0, 0.5], "y": [1, 0]}
PATHS = "Y = α*X + β*X + γ*X; Z = δ*Y + ε*Y + ζ*Y"
PATHS_AT = {"α": 2, "β": 3, "γ": 5, "δ": 7, "ε": 11, "ζ": 13, "X": 1}

ARRAY_ROWS = [row for row in ops.rows() if row.arrays]
# These are counted as they are done, shifted by the largest number or up to a sign, not as their definition opens.
OTHERWISE_DONE = ("logsumexp", "softmax", "log_softmax", "cross_entropy", "det", "logdet")


def opened_cost(row: Row, texts: tuple[str, ...]) -> int:
    """The operations of the scalar graph that a row of arrays stands for."""
    kind = Elements("", REAL, 1_000_000)
    arrays = Arrays(kind)
    arrays.apply(row, [arrays.number(text) for text in texts])
    graph = kind.graph
    known = values(graph, REAL, {})
    return sum(
        found.cost([known[operand] for operand in graph.operands(node)], known[node])
        for node in range(len(graph))
        if (found := graph.row(node)) is not None
    )


def closed_cost(row: Row, texts: tuple[str, ...]) -> int:
    """The operations that the row itself tells."""
    kind = Doubles(REAL)
    operands = [kind.number(text) for text in texts]
    return row.cost(operands, kind.apply(row, operands))


def array_samples() -> list[object]:
    return [
        pytest.param(row, operands, id=f"{row.name}{operands}")
        for row in ARRAY_ROWS
        for operands in (*row.samples, *row.edges)
    ]


def written_program(count: int) -> str:
    """A chain of diamonds: 3^count paths."""
    return "\n".join(["input y0 = 1", *(f"y{k + 1} = 0.5*y{k} + 0.75*y{k} + 0.25*y{k}" for k in range(count))])


def text(array: np.ndarray) -> str:
    return json.dumps(array.tolist())


# -- the table --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", [row for row in ops.rows() if not row.arrays], ids=lambda row: row.name)
def test_every_operation_of_numbers_costs_something_but_a_copy(row: Row) -> None:
    for operands in row.samples:
        expected_nothing = row.name == "copy" or (row.name == "pow" and operands[1] in (0, 1))
        assert (row.cost(operands, 1.0) == 0) is expected_nothing


@pytest.mark.parametrize(("row", "operands"), array_samples())
def test_an_operation_of_arrays_costs_what_its_opened_graph_does(row: Row, operands: tuple[str, ...]) -> None:
    closed, opened = closed_cost(row, operands), opened_cost(row, operands)
    if row.name.removesuffix("_along") in OTHERWISE_DONE:
        assert opened / 2.5 <= closed <= opened * 2.5
    else:
        assert closed == opened


def test_only_what_moves_numbers_is_free() -> None:
    free = {row.name for row in ARRAY_ROWS if all(closed_cost(row, operands) == 0 for operands in row.samples)}
    moves = "transpose reshape flatten expand_dims index vector concat concat_along diag eye size size_along one_hot"
    assert free <= {*moves.split(), "put"}
    assert free >= set(moves.split())


@given(n=st.integers(1, 4), k=st.integers(1, 5), m=st.integers(1, 4))
def test_a_product_of_matrices_takes_its_multiplications_and_additions(n: int, k: int, m: int) -> None:
    row = ops.by_name("matmul")
    operands = text(np.ones((n, k))), text(np.ones((k, m)))
    assert closed_cost(row, operands) == n * m * k + n * m * (k - 1) == opened_cost(row, operands)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_elimination_takes_as_many_operations_as_the_opened_one(n: int) -> None:
    matrix = np.eye(n) * n + np.arange(n * n).reshape(n, n) / 7
    solve, inverse = ops.by_name("solve"), ops.by_name("inv")
    for columns in (1, 3):
        operands = text(matrix), text(np.ones((n, columns)))
        assert closed_cost(solve, operands) == opened_cost(solve, operands)
    assert closed_cost(inverse, (text(matrix),)) == opened_cost(inverse, (text(matrix),))


def test_elimination_grows_as_the_books_say() -> None:
    matrix = np.eye(200)
    operands = [matrix, np.ones((200, 5))]
    assert ops.by_name("solve").cost(operands, np.ones((200, 5))) == pytest.approx(
        2 / 3 * 200**3 + 2 * 200**2 * 5, rel=0.01
    )
    assert ops.by_name("inv").cost([matrix], matrix) == pytest.approx(8 / 3 * 200**3, rel=0.01)


@pytest.mark.parametrize(("exponent", "products"), [(0, 0), (1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (-2, 2), (0.5, 20)])
def test_a_whole_power_is_worked_out_by_products(exponent: float, products: int) -> None:
    assert ops.by_name("pow").cost((3.0, exponent), 1.0) == products
    assert ops.by_name("pow").cost((np.ones(7), exponent), np.ones(7)) == 7 * products


def test_an_elementwise_operation_costs_once_for_each_element_of_its_result() -> None:
    assert ops.by_name("mul").cost((np.ones((4, 3)), 2.0), np.ones((4, 3))) == 12
    assert ops.by_name("max").cost((1.0, 2.0, 3.0), 3.0) == 2


# -- counts from paper ------------------------------------------------------------------------------------------------


def operations(found: CostReport) -> dict[str, int]:
    return {part.name: part.operations for part in found.parts}


def test_a_repeated_input_is_counted_as_on_paper() -> None:
    found = cost("(x*y + z)*x", {"x": 3, "y": -1, "z": 2}, time=False)
    # reverse: two products at the last multiplication, none at the sum, two at the first, one sum where x meets itself
    # forward, every input moving: x*dy + y*dx is three, + dz one, and the last product three
    assert operations(found) == {"value": 3, "partials": 0, "reverse sweep": 5, "forward sweep": 3 * 7}
    assert found.way("reverse").operations == 3 + 5
    assert found.gradient_ratio == pytest.approx(8 / 3)
    # four values, and for each input its move, a difference and a quotient
    assert found.way("differences").operations == 4 * 3 + 3 * 3
    assert found.way("central differences").operations == 6 * 3 + 3 * 4


def test_the_rules_are_counted_as_they_stand_in_the_table() -> None:
    found = cost("tanh(x)", {"x": 1.4}, time=False)
    # 1 - out^2: a square and a difference; then one product with the adjoint
    assert operations(found) == {"value": 20, "partials": 2, "reverse sweep": 1, "forward sweep": 1}


def test_an_input_that_happens_to_be_1_is_a_factor_like_any_other() -> None:
    ones, others = ({"x": a, "y": b, "z": c} for a, b, c in ((1, 1, 1), (3, -1, 2)))
    assert operations(cost("(x*y + z)*x", ones, time=False)) == operations(cost("(x*y + z)*x", others, time=False))


def test_a_branch_not_taken_costs_nothing() -> None:
    found = cost("where(x > 0, x^2, exp(exp(x)))", {"x": 3}, time=False)
    assert found.way("value").operations == 2


def test_path_by_path_counts_as_paths_does() -> None:
    found = cost(PATHS, PATHS_AT, wrt=["X"], time=False)
    assert found.paths is not None
    assert (found.paths.terms, found.paths.multiplications, found.paths.additions) == (9, 9, 8)
    # (α+β+γ) is taken out of the brackets at Y, and each of its letters is multiplied by the adjoint there
    assert (found.paths.factored_multiplications, found.paths.factored_additions) == (3, 4)


def test_3_to_the_1000_paths_are_counted_exactly_and_not_run() -> None:
    program = written_program(1000)
    found = cost(program, time=True, longest=0.5)
    way = found.way("paths")
    assert way.runs == 3**1000
    assert way.seconds is None
    assert way.estimate is not None
    assert way.estimate > 10**400
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    jsonschema.validate(record, schema.cost_schema())


# -- arrays: closed and opened, forward and reverse -------------------------------------------------------------------


@pytest.mark.parametrize(("program", "point"), [
    ("sum(W@x)", {"W": [[1, 2, 3], [4, 5, 6]], "x": [1, -1, 2]}),
    ("dot(w, x)", {"w": [1, 2, 3, 4], "x": [5, 6, 7, 8]}),
    ("sum(x*y)", {"x": [1, 2, 3], "y": [4, 5, 6]}),
    ("sum((x - y)*exp(x))", {"x": [1, 2, 3], "y": [4, 5, 6]}),
])  # fmt: skip
@pytest.mark.parametrize("only", [True, False])
def test_closed_and_opened_take_the_same_operations(program: str, point: dict[str, object], only: bool) -> None:
    here = at(program, point, list(point)[-1:] if only else None)
    assert isinstance(here, ArrayPoint)
    opened = here.opened()
    assert opened is not None
    closed, scalar = costs.counts(here), costs.counts(opened)
    assert (closed.value, closed.partials) == (scalar.value, scalar.partials)
    assert closed.reverse == scalar.reverse
    assert closed.forward == scalar.forward


@pytest.mark.parametrize(("program", "point"), [
    (NEURON, NEURON_AT), (LAYER, LAYER_AT), (PATHS, PATHS_AT),
    ("A@x", {"A": [[1, 2], [3, 4], [5, 6]], "x": [1, -1]}),
    ("[x, x*y, sin(y)]", {"x": 1.5, "y": 0.5}),
    ("x^2 + 0*y", {"x": 3, "y": 2}),
])  # fmt: skip
def test_both_modes_really_run_and_agree(program: str, point: dict[str, object]) -> None:
    here = at(program, point)
    back, ahead = costs.by_reverse(here), costs.by_forward(here)
    assert set(back) == set(ahead) == set(point)
    for name in point:
        assert back[name] == pytest.approx(ahead[name], rel=1e-14)


def test_one_reverse_pass_against_1000_tangent_passes_of_a_linear_layer() -> None:
    weights = [(i * 37 % 101 - 50) / 100 for i in range(8000)]
    point = {"W": [weights[row : row + 1000] for row in range(0, 8000, 1000)], "x": [i / 8 for i in range(1000)]}
    here = at("sum(W@x)", point, ["x"])
    back, ahead = costs.by_reverse(here)["x"], costs.by_forward(here)["x"]
    columns = np.array(point["W"]).sum(axis=0)
    assert back == pytest.approx(columns.tolist(), rel=1e-13, abs=1e-13)
    assert ahead == pytest.approx(back, rel=1e-13, abs=1e-13)
    found = cost("sum(W@x)", point, wrt=["x"], time=False)
    # for each of the 8000 weights about two operations in reverse, and about 2000 forward
    assert found.part("reverse sweep").operations == 1000 * (2 * 8 - 1)
    assert found.part("forward sweep").operations == 1000 * (8 * 1999 + 7)
    assert found.part("forward sweep").operations / 8000 == pytest.approx(2000, rel=0.001)
    assert found.part("reverse sweep").operations / 8000 == pytest.approx(2, rel=0.07)
    assert found.winner == "reverse"
    assert found.way("forward").operations > 400 * found.way("reverse").operations
    assert "one pass against 1000" in found.conclusion


def test_one_input_and_many_outputs_is_for_forward_mode() -> None:
    found = cost("[x, x^2, sin(x), x*exp(x)]", {"x": 1.5}, time=False)
    assert (found.inputs, found.outputs) == (1, 4)
    assert (found.way("reverse").runs, found.way("forward").runs) == (4, 1)
    assert found.winner == "forward"
    assert "one input and many outputs: forward wins: one pass against 4" in found.conclusion
    assert found.gradient_ratio is None


def test_a_batch_counts_a_jacobian_from_the_cheaper_side() -> None:
    tall, wide = ({"A": np.ones(shape).tolist(), "x": [1.0] * shape[1]} for shape in ((20, 3), (3, 20)))
    assert cost("A@x", tall, wrt=["x"], time=False).winner == "forward"
    assert cost("A@x", wide, wrt=["x"], time=False).winner == "reverse"


def elementary() -> list[object]:
    """A program of one operation and its first sample, for each operation with a derivative."""
    found = []
    for row in ops.rows():
        if row.arrays or row.gives_condition or row.conditions or row.name == "copy":
            continue
        operands = row.samples[-2 if row.name == "pow" else 0]  # x^y with a y that is not whole
        names = row.names(len(operands))
        program = f"{row.called[0]}({', '.join(names)})" if row.called else row.form
        found.append(pytest.param(program, dict(zip(names, operands, strict=True)), id=row.name))
    return found


@pytest.mark.parametrize(("program", "point"), elementary())
def test_the_gradient_of_every_operation_is_cheap(program: str, point: dict[str, float]) -> None:
    found = cost(program, point, time=False)
    assert found.gradient_ratio is not None
    # 1/y and -x/y^2 share nothing, nor do the comparisons of clip; all others keep the promise of the principle
    assert 1 <= found.gradient_ratio <= (7 if program in ("x/y", "clip(x, lo, hi)") else 5)


def test_memory_is_the_numbers_that_are_kept() -> None:
    found = cost("dot(w, x)", {"w": [0.5] * 1000, "x": [1.0] * 1000}, wrt=["w"], time=False)
    assert found.way("value").kept == 8 * (1000 + 1000 + 1)
    # and the adjoints of w and of the result
    assert found.way("reverse").kept == 8 * (2001 + 1000 + 1)
    assert found.way("differences").kept == 8 * (2001 + 1000)


# -- measured ---------------------------------------------------------------------------------------------------------


def test_every_way_is_measured_where_it_ends_in_time() -> None:
    found = cost(NEURON, NEURON_AT)
    for way in found.ways:
        assert way.seconds is not None
        assert way.seconds > 0
        assert way.estimate is None
        assert way.peak is not None
        assert way.time_ratio == pytest.approx(way.seconds / found.way("value").seconds)
    assert all(part.seconds is not None for part in found.parts)
    assert found.measured_ratio is not None


def test_what_takes_too_long_is_estimated() -> None:
    found = cost(LAYER, LAYER_AT, longest=0)
    for name in ("reverse", "forward", "differences", "central differences"):
        assert found.way(name).seconds is None
        assert found.way(name).estimate is not None


def test_counting_measures_nothing_and_is_the_same_each_time() -> None:
    first, second = (cost(LAYER, LAYER_AT, time=False).to_dict() for _ in range(2))
    assert first == second
    assert all("seconds" not in one and "peak" not in one for one in [*first["ways"], *first["parts"]])


# -- seen by a user ---------------------------------------------------------------------------------------------------


def test_the_command_shows_the_counts() -> None:
    code, out, _ = call("cost", "(x*y + z)*x", "--x", "3", "--y", "-1", "--z", "2", "--no-time")
    assert code == 0
    rows = {line.split("  ")[0]: line.split() for line in out.splitlines()}
    assert rows["reverse mode"] == ["reverse", "mode", "1", "pass", "8", "2.67", "128", "B"]
    assert rows["forward mode"] == ["forward", "mode", "3", "passes", "24", "8", "152", "B"]
    assert "many inputs and one output: reverse wins: one pass against 3; 3 times fewer operations" in out
    assert "Griewank and Walther" in out


@pytest.mark.parametrize("time", ["--no-time", "--seconds=1"])
@pytest.mark.parametrize("program", [NEURON, "[w1, w1*b]", "x1 - x1"])
def test_json_is_what_the_schema_says(program: str, time: str) -> None:
    words = [f"{name}={value}" for name, value in NEURON_AT.items()]
    code, out, _ = call("cost", program, *words, time, "--format", "json")
    assert code == 0
    jsonschema.validate(json.loads(out), schema.cost_schema())
    assert call("schema", "--of", "cost")[1].startswith("{")


def test_csv_has_all_digits_and_markdown_its_tables() -> None:
    words = ["(x*y + z)*x", "--x", "3", "--y", "-1", "--z", "2", "--no-time", "--format"]
    lines = list(csv.reader(io.StringIO(call("cost", *words, "csv")[1])))
    assert {len(line) for line in lines} == {len(lines[0])}
    assert lines[2][:5] == ["reverse", "1", "pass", "8", "2.6666666666666665"]
    page = call("cost", *words, "markdown")[1]
    assert "| reverse mode | 1 pass | 8 | 2.67 | 128 B |" in page


def test_a_narrow_screen_and_plain_letters_lose_nothing() -> None:
    found = cost(NEURON, NEURON_AT)
    lines = list(render(found, Look(width=40, ascii=True)))
    assert max(map(len, lines)) <= 40
    assert all(line.isascii() for line in lines)
    assert "\\x" not in "".join(lines)


def test_the_time_of_ages_is_told_in_years() -> None:
    code, out, _ = call("cost", written_program(60), "--seconds", "1")
    assert code == 0
    [line] = [line for line in out.splitlines() if line.startswith("path by path  ")]
    assert "≈4.239e+28 terms" in line
    assert "not run: about" in line
    assert "years" in line


def test_a_program_without_inputs_has_nothing_to_differentiate() -> None:
    found = cost("2 + 3", {})
    assert found.winner == "neither"
    assert "no input" in found.conclusion


def test_what_no_derivative_comes_from_is_not_moved() -> None:
    point = {"W": [[1.0, 2], [3, 4], [5, 6]], "x": [1, -1], "y": 2, "unused": 7}
    found = cost("cross_entropy(W@x, y)", point, longest=1)
    assert found.wrt == ["W", "x"]
    assert found.inputs == 6 + 2


@pytest.mark.parametrize(("names", "count"), [
    (["W[0,1]"], 1), (["W[1]"], 2), (["W[1]", "W[1,0]"], 2), (["W", "W[1,0]"], 4), (["W[0,0]", "x"], 3),
])  # fmt: skip
def test_some_elements_can_move_alone(names: list[str], count: int) -> None:
    found = cost("sum(W@x)", {"W": [[1.0, 2], [3, 4]], "x": [1, -1]}, wrt=names)
    assert found.wrt == names
    assert found.inputs == found.way("forward").runs == count
    assert found.way("central differences").runs == 2 * count
    assert found.paths is not None
    assert found.paths.terms == count + ("x" in names) * 2


@pytest.mark.parametrize(("program", "point", "names"), [
    ("max(0, w*x + b)", {"x": -1, "w": 3, "b": -4}, ["w", "x", "b"]),
    ("where(x > 0, x*a, x*b)", {"x": 1, "a": 2, "b": 3}, ["x", "a", "b"]),
])  # fmt: skip
def test_what_happens_to_be_dead_moves_all_the_same(program: str, point: dict[str, float], names: list[str]) -> None:
    assert cost(program, point, time=False).wrt == names


def test_only_inputs_move() -> None:
    with pytest.raises(NoVariable, match="c is worked out from others"):
        cost("c = a + b; c^2", {"a": 1, "b": 2}, wrt=["c"])
    with pytest.raises(MissingValue):
        cost("a + b", {"a": 1})
    assert call("cost", "a + b", "--a", "1")[0] == 2
    assert call("cost", "a", "--a", "1", "--seconds", "soon")[0] == 2


def test_what_is_undefined_costs_all_the_same() -> None:
    here, beside = (cost("log(x) + sqrt(y)", {"x": x, "y": y}, time=False) for x, y in ((-1, 0), (1, 1)))
    assert operations(here) == operations(beside)


def test_an_array_without_a_value_has_no_shape_to_count_by() -> None:
    with pytest.raises(Undefined, match="inv"):
        cost("inv(A)", {"A": [[1, 2], [2, 4]]})
    assert call("cost", "sum(inv(A))", "--A", "[[1,2],[2,4]]")[0] == 3


def test_the_python_door() -> None:
    found = backprop.cost("x*y", {"x": 2, "y": 3}, time=False)
    assert found.way("reverse").operations == 1 + 2


def test_paths_of_a_program_too_large_to_be_opened_are_not_counted() -> None:
    size = 70_000
    found = cost("sum(x*x*x*x)", {"x": [1.0] * size}, time=False)
    assert found.paths is None
    assert "200000 nodes" in str(found.paths_missing)
    assert [way.name for way in found.ways] == ["value", "reverse", "forward", "differences", "central differences"]
    assert found.way("forward").runs == size
    assert list(islice(call("cost", "sum(x)", "--x", "[1,2]", "--no-time")[1].splitlines(), 1)) == ["sum(x)"]


def test_the_conclusion_of_a_side_that_takes_no_operation_needs_no_ratio() -> None:
    # backwards the rows named twice are added up, forwards they are copied
    found = cost("A[[0, 0, 2]]", {"A": [[1, 2], [3, 4], [5, 6]]}, time=False)
    assert found.way("forward").operations == 0
    assert found.conclusion.endswith("no operation against 12")
