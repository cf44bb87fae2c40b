"""The line of `backprop map`: names of columns that are no names here, words in the wrong order, and what is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import backprop
from backprop.mapping import kernels
from backprop.mapping.kernels import kernel
from backprop.mapping.plan import named, plan
from backprop.point import Program
from command import call


@pytest.fixture
def table(tmp_path: Path) -> Any:
    """Writes a table and gives its path."""

    def write(text: str, name: str = "data.csv") -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


# -- columns whose names are no names here ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "name"),
    [
        ("my column", "my_column"),
        ("petal length (cm)", "petal_length_cm"),
        ("price-usd", "price_usd"),
        ("2nd", "col_2nd"),
        ("température °C", "température_C"),
        ("%", ""),
        ("e!", ""),  # e is a constant
        ("", ""),
    ],
)
def test_a_column_goes_by_its_name_with_underscores(column: str, name: str) -> None:
    assert named(column) == name


def test_a_column_with_a_blank_in_its_name_is_used(table: Any) -> None:
    path = table("my column,y,2nd\n3,2,5\n")
    assert call("map", "my_column*y + col_2nd", path) == (
        0,
        "my column,y,2nd,f,d_my_column,d_y,d_col_2nd,note\n3,2,5,11,2,3,1,\n",
        "",
    )
    assert call("map", "my_column*y", path, "--keep", "my column", "--wrt", "my_column")[1] == (
        "my column,f,d_my_column,note\n3,6,2,\n"
    )


def test_a_name_that_something_else_has_stays_with_it(table: Any) -> None:
    both = table("a b,a_b\n2,3\n")
    assert call("map", "a_b^2", both, "--keep", "none", "--value-only")[1] == "f,note\n9,\n"
    path = table("a b,x\n2,3\n")
    assert call("map", "a_b*x", path, "--a_b", "10", "--keep", "none", "--value-only")[1] == "f,note\n30,\n"
    assert call("map", "input a_b = 7; a_b*x", path, "--keep", "none", "--value-only")[1] == "f,note\n21,\n"
    twice = table("a b,a-b\n2,3\n")
    code, _, err = call("map", "a_b^2", twice)
    assert (code, "'a b'" in err, "'a-b'" in err) == (2, True, True)


@pytest.mark.parametrize("text", ["my column*y", "my*y", "sin(my column)*y", "my_colum*y"])
def test_who_writes_a_column_as_it_is_called_is_told_its_name_here(text: str, table: Any) -> None:
    code, out, err = call("map", text, table("my column,y\n3,2\n"))
    assert (code, out) == (2, "")
    assert "The column 'my column' is called my_column in an expression." in err


# -- the order of words ----------------------------------------------------------------------------------------------


def test_a_table_before_the_expression_is_told_with_the_right_line(table: Any) -> None:
    path = table("x\n2\n")
    code, out, err = call("map", path, "x^2")
    assert (code, out) == (2, "")
    assert "is the table" in err
    assert f'backprop map "x^2" {path}' in " ".join(err.split())
    assert "no such file" in call("map", "x^2", path + "x")[2]  # the order is right, and the file is missing


def test_a_file_that_is_called_like_the_expression_makes_no_difference(
    table: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table("y\n1\n", "x")
    table("x\n2\n")
    assert (
        call("map", "x", "*.csv", "--value-only")[1]
        == call("map", "x", "data.csv", "--value-only")[1]
        == ("x,f,note\n2,2,\n")
    )


# -- numbers and texts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["auto", "plain"])
@pytest.mark.parametrize("text", ["-x*y", "-abs(x)", "-x^3*y"])
def test_zero_has_no_sign_whatever_works_it_out(engine: str, text: str, table: Any) -> None:
    path = table("x,y\n0,1\n0,-1\n0,0\n")
    _, out, _ = call("map", text, path, "--engine", engine, "--keep", "none")
    assert not {"-0", "-0.0"} & set(out.replace("\n", ",").split(","))


def test_a_column_that_is_only_carried_over_keeps_every_letter(table: Any) -> None:
    ids = ["007", "7", "1e5", "12345678901234567890", "1.50"]
    path = table("id,x\n" + "".join(f"{one},1\n" for one in ids))
    _, out, _ = call("map", "x^2", path, "--to", "ndjson")
    assert [json.loads(line)["id"] for line in out.splitlines()] == ids


# -- engines ---------------------------------------------------------------------------------------------------------


def test_fast_is_the_word_for_numba(table: Any) -> None:
    pytest.importorskip("numba", reason="the engine needs the extra fast")
    made = kernel(Program("x^2"), ["x"], {}, ["x"], engine="fast")
    assert made.name == "numba"
    assert call("map", "x^2", table("x\n3\n"), "--engine", "fast")[1] == "x,f,d_x,note\n3,9,6,\n"
    assert backprop.map_rows("x^2", {"x": [3.0]}, engine="fast")["d_x"].tolist() == [6.0]


def test_a_program_that_no_kernel_works_out_is_told_so_once(table: Any) -> None:
    path = table("x,y\n1,2\n3,4\n")
    code, _, err = call("map", "sum([x, y]^2)", path)
    assert (code, err.count("a program with arrays is worked out row by row")) == (0, 1)
    assert "slower" in err
    assert call("map", "sum([x, y]^2)", path, "--engine", "plain")[2] == ""  # who asks for it knows


def test_operations_that_numpy_does_not_have_are_named_where_there_are_many_rows() -> None:
    program = Program("lgamma(x)*sin(x)")
    many = kernel(program, ["x"], {}, ["x"], rows=kernels.FEW)
    assert many.remark.startswith("lgamma, digamma are worked out row by row, for NumPy does not have them")
    assert kernel(program, ["x"], {}, ["x"], rows=10).remark == ""
    assert kernel(Program("where(x > 0, sin(x), 1/x)"), ["x"], {}, ["x"], rows=kernels.FEW).remark == ""


def test_a_plan_holds_the_column_as_the_table_calls_it() -> None:
    found = plan(Program("my_column^2"), ["my column"], {})
    assert (found.columns, found.slopes) == ({"my_column": "my column"}, {"my_column": "d_my_column"})


def test_short_memory_is_no_fault_of_the_file() -> None:
    pa = pytest.importorskip("pyarrow", reason="the reader of Arrow needs the extra map")
    from backprop.mapping.formats.arrow import told

    with pytest.raises(MemoryError), told("points.parquet"):
        raise pa.ArrowMemoryError("malloc of size 131072 failed")
