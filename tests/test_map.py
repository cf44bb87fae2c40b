"""`backprop map`: value and gradient for every row of a table, and what is told of the rows that have none."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import validate

import backprop
from backprop.mapping import command, lines, worker
from backprop.mapping.cells import Numbers
from backprop.mapping.kernels import Answers
from backprop.mapping.plan import plan
from backprop.mapping.sample import Sample
from backprop.mapping.tables import Batch
from backprop.mapping.totals import exact_sum, rounded
from backprop.mapping.worker import Worker
from backprop.point import Program
from backprop.schema import map_schema
from command import call

DATA = Path(__file__).parent.parent / "samples" / "data"
IRIS = DATA / "iris12_features.csv"


def rows(text: str) -> list[dict[str, Any]]:
    """The records in NDJSON."""
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def table(tmp_path: Path) -> Any:
    """Writes a table and gives its path."""

    def write(text: str, name: str = "data.csv") -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


# -- answers ---------------------------------------------------------------------------------------------------------


def test_every_row_has_its_columns_its_value_and_its_slopes(table: Any) -> None:
    code, out, err = call("map", "(x*y + z)*x", table("id,x,y,z\n007,3,-1,2\n008,1,2,0.5\n"))
    assert (code, err) == (0, "")
    assert out == "id,x,y,z,f,d_x,d_y,d_z,note\n007,3,-1,2,-3,-4,9,3,\n008,1,2,0.5,2.5,4.5,1,1,\n"


def test_the_value_goes_by_the_name_of_the_output(table: Any) -> None:
    _, out, _ = call("map", "h = tanh(x); L = (h - y)^2", table("x,y\n0,1\n"), "--keep", "none")
    assert out == "L,d_x,d_y,note\n1,-2,2,\n"  # (0 - 1)^2; 2·(h - y)·(1 - h^2) = -2; -2·(h - y) = 2


@pytest.mark.parametrize("engine", ["auto", "plain"])
@pytest.mark.parametrize(
    "program",
    [
        "sin(x)*exp(-y^2) + x/(1 + y^2)",
        "max(x, y)*abs(x - 1) + relu(x)*y",
        "log(x) + sqrt(y + 2)",
        "where(x > y, x^y, cbrt(x))",
        "1/x + atan2(y, x)",
        "log(1 + exp(1000*x)) - 1000*x*sigmoid(y)",
    ],
)
def test_every_row_is_what_grad_answers(program: str, engine: str) -> None:
    points = [(x, y) for x in (-1.0, 0.3, 1.0, 2.5) for y in (-1.0, 0.3, 1.0)] + [(0.0, 1.0), (1.0, 0.0)]
    columns = {"x": np.array([x for x, _ in points]), "y": np.array([y for _, y in points])}
    found = backprop.map_rows(program, columns, engine=engine)
    for place, (x, y) in enumerate(points):
        try:
            value, slopes = backprop.grad(program, {"x": x, "y": y})
        except backprop.Mistake:
            assert found["note"][place], (x, y)
            continue
        told = [found["f"][place], found["d_x"][place], found["d_y"][place]]
        assert told == pytest.approx([value, slopes["x"], slopes["y"]], rel=1e-12, abs=1e-300), (x, y)


def test_the_mean_loss_of_a_line_moves_with_its_weights_as_least_squares_says(table: Any) -> None:
    # y = 2x + 1 at x = 1, 2, 3 and the line w = b = 0: d/dw mean (w·x + b - y)^2 = -2·mean(x·y), d/db = -2·mean(y)
    path = table("x,y\n1,3\n2,5\n3,7\n")
    code, out, err = call("map", "(w*x + b - y)^2", path, "--w", "0", "--b", "0", "--mean", "--format", "json")
    record = json.loads(out)
    assert (code, err) == (0, "")
    assert record["value"] == pytest.approx((9 + 25 + 49) / 3)
    assert record["gradient"] == pytest.approx({"w": -2 * (3 + 10 + 21) / 3, "b": -10.0})
    assert (record["rows"], record["answered"]) == (3, 3)
    validate(record, map_schema())


def test_a_sum_is_shown_as_a_table_and_tells_what_it_goes_over(table: Any) -> None:
    code, out, err = call("map", "log(x)*w", table("x\n1\n-1\n1\n"), "w=3", "--sum")
    assert code == 3
    assert out == "sum over 3 rows, 1 without an answer left out\nΣf     = 0\nΣ∂f/∂w = 0\n"
    assert err.startswith("1 of 3 rows has no answer; the first is row 2: v1 = log(x)")


def test_the_mean_of_no_rows_is_no_number(table: Any) -> None:
    code, out, _ = call("map", "x^2", table("x\n"), "--mean", "--format", "json")
    record = json.loads(out)
    assert (code, record["rows"], record["gradient"]) == (0, 0, {})
    assert "value" not in record
    validate(record, map_schema())
    assert call("map", "x^2", table("x\n"), "--mean")[1] == "mean over 0 rows\n"
    assert call("map", "x^2", table("x\n"), "--sum")[1] == "sum over 0 rows\nΣf     = 0\nΣ∂f/∂x = 0\n"


# -- what is asked ---------------------------------------------------------------------------------------------------


def test_inputs_are_columns_else_given_else_their_defaults(table: Any) -> None:
    path = table("x\n2\n")
    program = "input x = 100; input a = 10; param w = 1; a*w*x + c"
    _, out, _ = call("map", program, path, "--set", "c=½", "--keep", "none")
    assert out == "f,d_x,note\n20.5,10,\n"
    assert call("map", program, path, "--c", "0.5", "--keep", "none")[1] == out
    _, out, _ = call("map", program, path, "c=0.5", "--set", "w=3", "--keep", "none", "--wrt", "w,x")
    assert out == "f,d_w,d_x,note\n60.5,20,30,\n"


def test_derivatives_by_nodes_and_elements_of_arrays_can_be_asked_for(table: Any) -> None:
    path = table("x,y\n1,2\n")
    assert call("map", "h = x*y; h^2", path, "--wrt", "h", "--keep", "none")[1] == "f,d_h,note\n4,4,\n"
    words = ("map", "sum((W @ [x, y])^2)", path, "--W", "[[1, 2], [3, 4]]", "--keep", "none")
    # W·(1, 2) = (5, 11); d/dW[0,1] = 2·5·2
    assert call(*words, "--wrt", "W[0,1]")[1] == 'f,"d_W[0,1]",note\n146,20,\n'
    code, _, err = call(*words, "--wrt", "W")
    assert (code, "the derivative by W is an array" in err) == (2, True)
    code, _, err = call("map", "[x, y]", path)
    assert (code, "a gradient belongs to one number" in err) == (2, True)


def test_names_never_collide_with_columns(table: Any) -> None:
    _, out, _ = call("map", "f*x", table("f,x,d_x,note,f~2\n2,3,a,b,c\n"))
    assert out == "f,x,d_x,note,f~2,out,d_f,d_x~2,note~2\n2,3,a,b,c,6,3,2,\n"
    _, out, _ = call("map", "f = x^2; f", table("f,x,d_x\n2,3,a\n"))
    assert out == "f,x,d_x,f~2,d_x~2,note\n2,3,a,9,6,\n"
    _, out, _ = call("map", "f = x^2; f", table("f,x,d_x\n2,3,a\n"), "--keep", "x")
    assert out == "x,f,d_x,note\n3,9,6,\n"


def test_columns_are_found_by_what_their_names_mean(table: Any) -> None:
    _, out, _ = call("map", "x₁*é", table(" x1 ,e\u0301,x 1\n2,3,4\n"), "--keep", "x 1")
    assert out == "x 1,f,d_x₁,d_é,note\n4,6,3,2,\n"
    code, out, err = call("map", "e^x", table("x,e\n1,2\n"), "--value-only", "--keep", "none")
    assert (code, out) == (0, "f,note\n2,\n")
    assert err == "note: e is the column e of the table here, not the constant\n"


def test_the_program_comes_from_a_file_and_values_from_another(table: Any) -> None:
    program, point = table("param w = 1\nw*x + b", "line.bp"), table('{"w": 3, "b": 1}', "at.json")
    _, out, _ = call("map", "--file", program, table("x\n2\n"), "--at", point, "--keep", "none")
    assert out == "f,d_x,note\n7,3,\n"


def test_derivatives_are_left_out_when_they_are_not_asked_for(table: Any) -> None:
    assert call("map", "x^2", table("x\n3\n"), "--value-only")[1] == "x,f,note\n3,9,\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("x*zz",), "the table has no column zz\n  The columns are x, y.   The same value in every row: --zz 2"),
        (("x*yy",), "Did you mean y where you wrote yy?"),
        (("x*Y",), "Did you mean y where you wrote Y?"),
        (("x*y", "--x", "2"), "x is a column of the table, and given a value too"),
        (("x*y", "--ww", "2"), "nothing here is called ww"),
        (("x*y", "--set", "ww=2"), "nothing here is called ww"),
        (("x*y", "--set", "w"), "--set cannot be w"),
        (("x*w", "--w", "2", "--set", "w=2"), "w is given twice"),
        (("2*w", "--w", "2"), "it has none of the columns"),
        (("x*y", "--wrt", "q"), "nothing here is called q"),
        (("x*y", "--keep", "z"), "the table has no column z\n  The columns are x, y.\n"),
        (("x*y", "--sum", "--mean"), "--sum and --mean ask for different things"),
        (("x*y", "--sum", "--to", "csv"), "--to and --sum"),
        (("x*y", "--value-only", "--wrt", "x"), "--value-only and --wrt"),
        (("x*y", "--on-error", "stop"), "There are: note, fail"),
        (("x*y", "--engine", "faster"), "There are: auto, c, numba, numpy, plain, fast"),
        (("x*y", "--from", "xlsx"), "There are: arrow, arrows, csv, ndjson, parquet"),
        (("x +* y",), "between + and * there has to be"),
    ],
)
def test_what_makes_no_sense_is_refused(table: Any, words: tuple[str, ...], told: str) -> None:
    code, out, err = call("map", words[0], table("x,y\n1,2\n"), *words[1:])
    assert (code, out) == (2, "")
    assert told in err


def test_a_line_that_lacks_the_table_or_the_expression_is_told_so() -> None:
    assert "map needs an expression and a table" in call("map")[2]
    assert "map needs a table besides the expression" in call("map", "x^2")[2]
    assert "- for the expression and - for the table" in call("map", "-", "-")[2]


# -- rows without an answer ------------------------------------------------------------------------------------------


def test_rows_without_an_answer_have_a_note_and_are_counted(table: Any) -> None:
    path = table("x,y\n1,2\n,3\n-1,4\nNaN,5\n1,\n2,0\n")
    code, out, err = call("map", "log(x)/y", path, "--to", "ndjson")
    assert code == 3
    assert err == "5 of 6 rows have no answer; the first is row 2: x is missing\n"
    found = rows(out)
    assert [row["note"] for row in found] == [
        None,
        "x is missing",
        "v1 = log(x) has no real value at x = -1: it needs x > 0",
        "x is NaN",
        "y is missing",
        "f = v1/y has no real value at v1 = 0.693147, y = 0: it needs y != 0",
    ]
    assert [row["f"] for row in found[1:]] == [row["d_x"] for row in found[1:]] == [None] * 5
    assert [row["x"] for row in found] == [1.0, None, -1.0, "NaN", 1.0, 2.0]


def test_a_row_keeps_the_numbers_that_it_has(table: Any) -> None:
    _, out, _ = call("map", "sqrt(x) + y", table("x,y\n0,1\n"), "--to", "ndjson")
    (row,) = rows(out)
    assert (row["f"], row["d_x"], row["d_y"]) == (1.0, None, 1.0)
    assert row["note"].startswith("the slope ∂v1/∂x = 1/(2*v1) has no finite value at x = 0")


def test_a_kink_is_a_remark_and_its_row_has_an_answer(table: Any) -> None:
    code, out, err = call("map", "abs(x)*y", table("x,y\n0,2\n1,2\n"), "--keep", "none", "--to", "ndjson")
    first, second = rows(out)
    assert (code, first["f"], first["d_x"], first["d_y"], second["note"]) == (0, 0.0, 0.0, 0.0, None)
    assert "v1 = abs(x)" in first["note"]
    assert err.startswith("note: 1 of 2 rows has a remark in column note; the first is row 1: kink")


def test_kinks_that_meet_are_worked_out_with_care(table: Any) -> None:
    _, out, _ = call("map", "relu(x) - relu(-x)", table("x\n0\n"), "--keep", "none")
    assert out == "f,d_x,note\n0,1,\n"


def test_what_overflows_on_the_way_has_its_true_value_and_says_so(table: Any) -> None:
    code, out, err = call("map", "log(1 + exp(x))", table("x\n800\n1\n"), "--keep", "none", "--to", "ndjson")
    first, _ = rows(out)
    assert (code, first["f"], first["d_x"]) == (0, 800.0, 1.0)
    assert "beyond the largest double" in first["note"]
    assert "write softplus(x)" in err


def test_doubles_that_lose_digits_are_told_and_engine_plain_mends_them(table: Any) -> None:
    path = table("x\n1e-7\n")
    _, _, err = call("map", "1 - cos(x)", path)
    assert err.startswith("note: doubles lose digits here: in row 1 they give f = 4.99")
    _, out, _ = call("map", "1 - cos(x)", path, "--engine", "plain", "--keep", "none", "--to", "ndjson")
    assert rows(out)[0]["f"] == pytest.approx(2 * math.sin(5e-8) ** 2, rel=1e-15)


def test_the_first_bad_row_is_refused_when_that_is_asked_for(table: Any, tmp_path: Path) -> None:
    path, target = table("x\n1\n2\n-3\n-4\n"), tmp_path / "out.csv"
    code, out, err = call("map", "log(x)", path, "--on-error", "fail", "-o", str(target))
    assert (code, out, target.exists()) == (3, "", False)
    assert "row 3: f = log(x) has no real value at x = -3: it needs x > 0" in err
    assert call("map", "log(x)", path, "--on-error", "fail", "--sum")[0] == 3
    assert call("map", "abs(x)", table("x\n0\n"), "--on-error", "fail")[0] == 0  # a remark is no error


def test_many_rows_outside_the_domain_are_told_quickly() -> None:
    x = np.linspace(-5, 5, 4001)
    found = backprop.map_rows("sqrt(x*y - 1)*sin(x)", {"x": x, "y": np.ones(4001)})
    assert sum(note is not None for note in found["note"]) == 2401
    assert found["note"][0] == "v3 = sqrt(v2) has no real value at v2 = -6: it needs v2 >= 0"


def test_what_care_takes_is_told_when_it_is_long(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "LONG", -1.0)
    few = table("x\n1\n-1\n-2\n")
    _, _, err = call("map", "log(x)", few)
    assert err.startswith("note: 2 rows needed care and took 0 s, one by one\n")
    _, _, err = call("map", "log(exp(x))", table("x\n1\n800\n900\n", "large.csv"))
    assert "one by one; most often an expression that does not overflow on the way needs none\n" in err
    monkeypatch.setattr(lines, "LEAST", 1)  # --jobs is named where it would find something to do
    longer = table("x\n1\n-1\n" + "-2\n" * 9, "longer.csv")
    assert "one by one, which --jobs shares out\n" in call("map", "log(x)", longer)[2]
    assert "--jobs" not in call("map", "log(x)", longer, "--jobs", "0")[2]


@pytest.mark.parametrize(
    ("program", "x"), [("sqrt(x*x - 0.01)", 0.1), ("sqrt(1e16 + x - 1e16)", 0.4), ("asin(3*x)", 1 / 3)]
)
def test_a_domain_that_only_digits_decide_is_decided_by_digits(program: str, x: float) -> None:
    try:
        value: float | None = backprop.grad(program, {"x": x})[0]
    except backprop.Mistake:
        value = None
    found = backprop.map_rows(program, {"x": [x]}, engine="plain", value_only=True)
    assert (None if math.isnan(found["f"][0]) else found["f"][0]) == value


def test_whether_a_difference_is_negative_is_decided_as_fractions_decide_it() -> None:
    random = np.random.default_rng(7)
    x, y = random.uniform(1, 2, 300), random.uniform(1, 2, 300)
    # within a few of the last bits of x·y, and far from it
    z = x * y * (1 + 2.0**-52 * random.integers(-3, 4, 300)) + np.where(
        random.random(300) < 0.3, random.normal(size=300), 0
    )
    found = backprop.map_rows("sqrt(x*y - z)", {"x": x, "y": y, "z": z}, value_only=True, engine="plain")
    for place in range(300):
        exact = Fraction(x[place]) * Fraction(y[place]) - Fraction(z[place])
        assert math.isnan(found["f"][place]) == (exact < 0), place
        if exact >= 0 and found["note"][place]:  # worked out with care
            assert found["f"][place] == pytest.approx(math.sqrt(exact), rel=1e-15)


# -- rows that are checked -------------------------------------------------------------------------------------------


def test_rows_picked_at_random_are_put_before_every_witness() -> None:
    words = ("map", "tanh(petal_width)", str(IRIS), "--keep", "none", "--check-rows", "2")
    code, out, err = call(*words)
    assert code == 0
    assert len(out.splitlines()) == 13
    assert err.count("every derivative agrees, to ") == 2


def test_a_wrong_answer_is_found_by_the_witnesses(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        name, remark = "wrong", ""

        def run(self, columns: dict[str, Any]) -> Answers:
            x = columns["x"]
            return Answers(np.sin(x), {"x": np.cos(x) * 1.001}, np.zeros(len(x), np.uint8))

    monkeypatch.setattr(worker, "kernel", lambda *_: Wrong())
    code, _, err = call("map", "sin(x)", table("x\n0.5\n"), "--check-rows", "1")
    assert code == 1
    assert "check of row 1: DISAGREES: ∂f/∂x is 0.8775825618903728, and 0.87846" in err
    assert "note: doubles lose digits here: in row 1 they give ∂f/∂x = 0.87846" in err


def test_a_sample_takes_every_row_with_the_same_chance() -> None:
    worker = Worker(plan(Program("x^2"), ["x"], {}, engine="numpy"))
    answered = worker.answer(Batch(1, 100, {"x": Numbers(np.arange(100.0))}))
    taken = [0] * 100
    for part in range(300):
        sample = Sample(5, part)
        sample.add_rows(answered)
        for one in sample.rows:
            taken[one.row - 1] += 1
    assert sum(taken) == 1500
    assert min(taken) >= 3
    assert max(taken) <= 33  # 15 each, give or take


# -- sums ------------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_sums_are_exact(values: list[float]) -> None:
    exact = sum(map(Fraction, values), Fraction(0))
    assert exact_sum(np.array(values, dtype=float)) == exact
    half = len(values) // 2
    assert exact_sum(np.array(values[:half])) + exact_sum(np.array(values[half:])) == exact


def test_a_sum_keeps_what_plain_addition_loses(table: Any) -> None:
    path = table("x\n1e16\n1\n-1e16\n1e-30\n")
    _, out, _ = call("map", "x*w", path, "--w", "1", "--sum", "--format", "json")
    assert json.loads(out)["value"] == 1.0
    assert math.fsum([1e16, 1, -1e16, 1e-30]) == 1.0
    assert rounded(Fraction(2) ** 2000) == math.inf


# -- Python ----------------------------------------------------------------------------------------------------------


def test_python_gets_columns_for_columns() -> None:
    found = backprop.map_rows("w*x^2", {"x": np.array([1.0, 2.0]), "unused": ["a", "b"]}, {"w": 3})
    assert list(found) == ["f", "d_x", "note"]
    assert found["f"].tolist() == [3, 12]
    assert found["d_x"].tolist() == [6, 12]
    assert found["note"] == [None, None]
    found = backprop.map_rows("w*x^2", {"x": [1, 2]}, {"w": 3}, wrt=["w"])
    assert found["d_w"].tolist() == [1, 4]


def test_python_is_told_what_is_wrong_with_columns() -> None:
    with pytest.raises(backprop.Mistake, match="column y has length 2, and column x has length 1"):
        backprop.map_rows("x*y", {"x": [1.0], "y": [1.0, 2.0]})
    with pytest.raises(backprop.Mistake, match="row 1, column x: it is of type <U1"):
        backprop.map_rows("x", {"x": ["a"]})
    with pytest.raises(backprop.Mistake, match="the table has no column y"):
        backprop.map_rows("x*y", {"x": [1.0]})


def test_a_table_of_arrow_is_a_mapping_of_columns() -> None:
    import pyarrow as pa

    found = backprop.map_rows("x*y", pa.table({"x": [1, None], "y": [1.5, 2.0]}))
    assert found["f"].tolist()[0] == 1.5
    assert found["note"] == [None, "x is NaN"]


def test_grad_does_not_load_what_map_needs() -> None:
    import subprocess
    import sys

    code = "import sys; from backprop import cli; cli.main(['grad', 'x^2', '--x', '3'])\n"
    code += "print(*[name for name in sys.modules if name.startswith(('backprop.mapping', 'numpy', 'pyarrow'))])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.splitlines()[-1] == ""


def test_the_irises_are_mapped(tmp_path: Path) -> None:
    target = tmp_path / "area.csv"
    code, out, err = call("map", "petal_length*petal_width", str(DATA / "iris_features.csv"), "-o", str(target))
    assert (code, out, err) == (0, "", "")
    lines = target.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 151
    assert lines[1].startswith("5.1,3.5,1.4,0.2,0.27999999999999997,0.2,1.4,")
