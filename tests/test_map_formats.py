"""The tables that `backprop map` reads and writes: every format, with PyArrow and without, whole and damaged."""

from __future__ import annotations

import csv as python_csv
import gzip
import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backprop.mapping import tables
from backprop.mapping.cells import number_text
from backprop.mapping.formats import csv, ndjson
from command import call

Writer = Callable[[bytes], str]


@pytest.fixture(params=["with PyArrow", "without PyArrow"])
def either(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """CSV is read and written by PyArrow, and by Python alone."""
    if request.param == "without PyArrow":
        monkeypatch.setattr(csv, "has_arrow", lambda: False)
    return str(request.param)


@pytest.fixture
def table(tmp_path: Path) -> Writer:
    """Writes a CSV file and gives its path."""

    def write(data: bytes) -> str:
        path = tmp_path / "data.csv"
        path.write_bytes(data)
        return str(path)

    return write


def saved(found: pa.Table, path: Path) -> str:
    """A table in the format that the path ends in."""
    if path.suffix == ".parquet":
        pq.write_table(found, path)
    else:
        begin = pa.ipc.new_stream if path.suffix == ".arrows" else pa.ipc.new_file
        with begin(str(path), found.schema) as writer:
            writer.write_table(found)
    return str(path)


def loaded(path: Path) -> pa.Table:
    """A table that was written."""
    if path.suffix == ".parquet":
        return pq.read_table(path)
    begin = pa.ipc.open_stream if path.suffix == ".arrows" else pa.ipc.open_file
    return begin(path.read_bytes()).read_all()


# -- every format gives the same answers -----------------------------------------------------------------------------

COLUMNS = {"id": ["a", "b", "c"], "x": [1.0, None, 3.0], "n": [2, 0, -1]}
ANSWERS = {"f": [2.0, None, -3.0], "d_x": [2.0, None, -1.0], "d_n": [1.0, None, 3.0]}


@pytest.mark.parametrize("target", ["csv", "ndjson", "parquet", "arrow", "arrows", "csv.gz", "ndjson.gz", "tsv"])
@pytest.mark.parametrize("source", ["csv", "ndjson", "parquet", "arrow", "arrows", "csv.gz"])
def test_every_format_leads_to_every_other(source: str, target: str, tmp_path: Path) -> None:
    first, last = tmp_path / f"in.{source}", tmp_path / f"out.{target}"
    if source.startswith("csv"):
        data = b"id,x,n\na,1,2\nb,,0\nc,3,-1\n"
        first.write_bytes(gzip.compress(data) if source.endswith("gz") else data)
    elif source == "ndjson":
        rows = zip(*COLUMNS.values(), strict=True)
        first.write_text("".join(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in rows))
    else:
        saved(pa.table(COLUMNS), first)
    code, out, err = call("map", "x*n", str(first), "-o", str(last))
    assert (code, out) == (3, "")
    assert err == "1 of 3 rows has no answer; the first is row 2: x is missing\n"
    data = gzip.decompress(last.read_bytes()) if target.endswith("gz") else last.read_bytes()
    if target.startswith("csv") or target == "tsv":
        expected = "id,x,n,f,d_x,d_n,note\na,1,2,2,2,1,\nb,,0,,,,x is missing\nc,3,-1,-3,-1,3,\n"
        assert data.decode() == expected.replace(",", "\t" if target == "tsv" else ",")
        return
    if target.startswith("ndjson"):
        found = pa.Table.from_pylist([json.loads(line) for line in data.decode().splitlines()])
    else:
        found = loaded(last)
    assert found.column_names == ["id", "x", "n", "f", "d_x", "d_n", "note"]
    assert {name: found[name].to_pylist() for name in ANSWERS} == ANSWERS
    assert {name: found[name].to_pylist() for name in COLUMNS} == COLUMNS
    assert found["note"].to_pylist() == [None, "x is missing", None]


def test_columns_of_any_type_are_carried_over_as_they_are(tmp_path: Path) -> None:
    found = pa.table(
        {
            "x": pa.array([1, 2], pa.int16()),
            "d": [date(2020, 1, 2), None],
            "t": [datetime(2020, 1, 2, 3), None],
            "list": [[1, 2], []],
            "record": [{"a": 1}, {"a": None}],
            "bytes": [b"a", b""],
            "dec": [Decimal("1.50"), None],
            "word": pa.array(["p", "q"]).dictionary_encode(),
            "flag": [True, None],
            "none": pa.nulls(2),
        }
    )
    path, target = saved(found, tmp_path / "in.parquet"), tmp_path / "out.parquet"
    assert call("map", "x^2", path, "-o", str(target)) == (0, "", "")
    written = loaded(target)
    assert written.select(found.column_names).equals(found)
    assert written["f"].to_pylist() == [1.0, 4.0]
    _, out, _ = call("map", "x^2", path, "--to", "ndjson")
    assert out.splitlines()[0] == (
        '{"x": 1, "d": "2020-01-02", "t": "2020-01-02 03:00:00", "list": [1, 2], "record": {"a": 1}, "bytes": "61", '
        '"dec": "1.50", "word": "p", "flag": true, "none": null, "f": 1.0, "d_x": 2.0, "note": null}'
    )
    _, out, _ = call("map", "x^2", path, "--value-only")
    assert out.splitlines()[1] == '1,2020-01-02,2020-01-02 03:00:00,"[1, 2]","{""a"": 1}",61,1.50,p,true,,1,'


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_numbers_of_every_type_are_exact_or_that_is_told(suffix: str, tmp_path: Path) -> None:
    def values(array: pa.Array) -> tuple[list[Any], str]:
        path, target = saved(pa.table({"x": array}), tmp_path / f"in{suffix}"), tmp_path / f"out{suffix}"
        code, _, err = call("map", "1*x", path, "-o", str(target), "--keep", "none")
        assert code == 0
        return loaded(target)["f"].to_pylist(), err

    assert values(pa.array([0.1, -0.0], pa.float32())) == ([float(np.float32(0.1)), 0.0], "")
    assert values(pa.array([0.1, 65504], pa.float16())) == ([float(np.float16(0.1)), 65504.0], "")
    assert values(pa.array([255, 0], pa.uint8())) == ([255.0, 0.0], "")
    assert values(pa.array([True, False])) == ([1.0, 0.0], "")
    assert values(pa.array([2**53, -(2**53)])) == ([2.0**53, -(2.0**53)], "")
    assert values(pa.array([1.5, 2.5, 1.5]).dictionary_encode()) == ([1.5, 2.5, 1.5], "")
    rounded, err = values(pa.array([1, 2**53 + 1]))
    assert rounded == [1.0, 2.0**53]
    assert err == (
        "note: column x has whole numbers that no double is equal to, the first in row 2: 9007199254740993; "
        "the nearest doubles were taken\n"
    )
    assert values(pa.array([2**64 - 1], pa.uint64()))[1].count("18446744073709551615") == 1


@pytest.mark.parametrize(
    ("array", "told"),
    [
        (pa.array(["1"]), "row 1, column x: it is of type string"),
        (pa.array([Decimal("1.5")]), "Decimals are not rounded unasked: cast the column to double."),
        (pa.array([date(2020, 1, 2)]), "it is of type date32"),
        (pa.array([[1.0]]), "it is of type list"),
    ],
    ids=["text", "decimal", "date", "list"],
)
def test_what_holds_no_numbers_is_refused(array: pa.Array, told: str, tmp_path: Path) -> None:
    code, out, err = call("map", "x^2", saved(pa.table({"x": array}), tmp_path / "in.parquet"))
    assert (code, out) == (2, "")
    assert told in err


def test_a_column_without_a_type_is_missing_everywhere(tmp_path: Path) -> None:
    path = saved(pa.table({"x": [1.0], "y": pa.nulls(1)}), tmp_path / "in.parquet")
    code, out, _ = call("map", "x*y", path)
    assert (code, out) == (3, "x,y,f,d_x,d_y,note\n1,,,,,y is missing\n")


def test_streams_are_told_by_how_they_begin(tmp_path: Path) -> None:
    found = pa.table({"x": [2.0]})
    stream = Path(saved(found, tmp_path / "in.arrows")).read_bytes()
    assert call("map", "x^2", "-", stdin=stream)[1] == "x,f,d_x,note\n2,4,4,\n"
    assert call("map", "x^2", "-", stdin=b'\n{"x": 2}\n')[1] == '{"x": 2, "f": 4.0, "d_x": 4.0, "note": null}\n'
    assert call("map", "x^2", "-", stdin=b"\xef\xbb\xbfx\n2\n")[1] == "x,f,d_x,note\n2,4,4,\n"
    assert call("map", "x^2", "-", "--from", "ndjson", stdin=b'{"x": 2}')[0] == 0
    parquet = Path(saved(found, tmp_path / "in.parquet")).read_bytes()
    assert "stdin: parquet is read from its end" in call("map", "x^2", "-", stdin=parquet)[2]
    file = Path(saved(found, tmp_path / "in.arrow")).read_bytes()
    assert "--from arrows" in call("map", "x^2", "-", stdin=file)[2]


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen([sys.executable, "-c", f"open({str(pipe)!r}, 'w').write('x\\n3\\n')"]) as process:
        code, out, _ = call("map", "x^2", str(pipe))
        assert (process.wait(), code, out) == (0, 0, "x,f,d_x,note\n3,9,6,\n")


def test_a_file_without_an_ending_is_told_by_how_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "data"
    pq.write_table(pa.table({"x": [3.0]}), path)
    assert call("map", "x^2", str(path))[1] == "x,f,d_x,note\n3,9,6,\n"


# -- CSV -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"x,y\n1,2\n", "x,y,f,d_x,d_y,note\n1,2,2,2,1,\n"),
        (b"\xef\xbb\xbfx,y\r\n1,2\r\n", "x,y,f,d_x,d_y,note\n1,2,2,2,1,\n"),
        (b"x,y\r1,2\r", "x,y,f,d_x,d_y,note\n1,2,2,2,1,\n"),
        (b'"x","y"\n"1","2"', "x,y,f,d_x,d_y,note\n1,2,2,2,1,\n"),
        (b"x;y\n1.5;2\n", "x;y;f;d_x;d_y;note\n1.5;2;3;2;1.5;\n"),
        (b"x\ty\n1\t2\n", "x\ty\tf\td_x\td_y\tnote\n1\t2\t2\t2\t1\t\n"),
        (b"x,y\n\n1,2\n\n\n", "x,y,f,d_x,d_y,note\n1,2,2,2,1,\n"),
        (b"x,y\n", "x,y,f,d_x,d_y,note\n"),
        (b"x,y", "x,y,f,d_x,d_y,note\n"),
        (b'x,y,t\n1,2,"a\nb, ""c"""\n', 'x,y,t,f,d_x,d_y,note\n1,2,"a\nb, ""c""",2,2,1,\n'),
        (b'x,y,t\n1,2,5" pipe\n1,3,\n', 'x,y,t,f,d_x,d_y,note\n1,2,"5"" pipe",2,2,1,\n1,3,,3,3,1,\n'),
        ("x,y\n½, −2 \n1/3,+3\n".encode(), "x,y,f,d_x,d_y,note\n½, −2 ,-1,-2,0.5,\n1/3,+3,1,3,0.3333333333333333,\n"),
        (b"x,y\n0010,1e3\n", "x,y,f,d_x,d_y,note\n0010,1e3,10000,1000,10,\n"),
        (b",x,y\n7,1,2\n", ",x,y,f,d_x,d_y,note\n7,1,2,2,2,1,\n"),
        (b'"x","y","a,b"\n1,2,3\n', 'x,y,"a,b",f,d_x,d_y,note\n1,2,3,2,2,1,\n'),
        (b"x,y\n9007199254740993,1\n", "x,y,f,d_x,d_y,note\n9007199254740993,1,9007199254740992,1,9007199254740992,\n"),
    ],
)
def test_text_is_read_as_it_is_found(either: str, table: Writer, data: bytes, expected: str) -> None:
    code, out, err = call("map", "x*y", table(data))
    if b"993" in data:
        assert err.startswith("note: column x has whole numbers that no double is equal to, the first in row 1")
        expected = expected.replace(",9007199254740992", ",9.007199254740992e+15")
    assert (code, out) == (0, expected)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "there is nothing in it"),
        (b"\n \n", "there is nothing in it"),
        (b"x,y\n1,2\n3\n", "row 2 has 1 cell, and there are 2 columns; it ends with column x: 3"),
        (b"x,y\n1,2\n3,4,5\n", "row 2 has 3 cells, and there are 2 columns; it goes on behind column y: 3,4,5"),
        (b"x,y\n1,2,5\n", "a decimal point is a point"),
        (b'x,y\n1,2\n1,"2,5"\n', "row 2, column y: '2,5' is not a number\n  A decimal point is needed, as in 2.5"),
        (b"x;y\n1;2,5\n", "row 1, column y: '2,5' is not a number"),
        (b'x,y\n1,"1,000"\n', "write 1000 or, with a decimal point, 1.000"),
        (b'x,y\n1,"1,000,000.5"\n', "write 1000000.5."),
        (b"x,y\n1,abc\n", "row 1, column y: 'abc' is not a number"),
        (b"x,y\n1,true\n", "row 1, column y: 'true' is not a number"),
        (b"x,y\n5%,1\n", "row 1, column x: '5%' is not a number"),
        (b"x,y\n1e400,1\n", "row 1, column x: '1e400' is not a number\n  It is beyond the largest double"),
        (b"x,x\n1,2\n", "column 1 and column 2 are both called x"),
        (b",\n1,2\n", "column 1 and column 2 have no name"),
        (b" x,x,y\n1,2,3\n", "column 1 and column 2 are both called x"),
        (b"1,2\n3,4\n", "The first line has to name the columns; here it is 1, 2."),
        (b"x,\xff\n1,2\n", "byte 3 is no text"),
        (b"x,y,t\n1,2,\xff\n", "is no text\n  Text is read as UTF-8."),
        (b'x,y,t\n1,2,"a\n3,4,b\n', "a quotation mark in row 1 is never closed"),
        (b'x,"y\n1,2\n', "a quotation mark in the line of names is never closed"),
        ("x,y\n1,2\n".encode("utf-16"), "this is text in UTF-16"),
        (bytes(range(256)), "byte 1 is no text"),
    ],
)
def test_text_that_is_no_table_is_refused_by_row_and_column(
    either: str, table: Writer, tmp_path: Path, data: bytes, told: str
) -> None:
    target = tmp_path / "out.csv"
    code, out, err = call("map", "x*y", table(data), "-o", str(target))
    assert (code, out) == (2, "")
    assert told in err
    assert sorted(os.listdir(tmp_path)) == ["data.csv"]


def test_every_word_for_nothing_is_missing(either: str, table: Writer) -> None:
    code, out, _ = call(
        "map", "x*y", table(b"x,y\n,1\nNA,1\nN/A,1\nnull,1\nNULL,1\n#N/A,1\nNone,1\n2,1\n"), "--keep", "x"
    )
    assert code == 3
    assert out.count("x is missing") == 7
    assert out.endswith("2,2,1,2,\n")


def test_decimal_commas_are_read_and_written_when_they_are_told(either: str, table: Writer) -> None:
    path = table(b"x;y\n1,5;2\n0,25;NA\n")
    code, out, _ = call("map", "x*y", path, "--decimal", ",")
    assert (code, out) == (3, "x;y;f;d_x;d_y;note\n1,5;2;3;2;1,5;\n0,25;NA;;;;y is missing\n")
    code, _, err = call("map", "x*y", table(b"x;y\n1.000,5;2\n"), "--decimal", ",")
    assert (code, "1.000,5 is written 1000,5" in err) == (2, True)
    _, out, _ = call("map", "x*y", table(b"x|y\n1|2\n"), "--separator", "|", "--keep", "none")
    assert out == "f|d_x|d_y|note\n2|2|1|\n"
    assert call("map", "x*y", table(b"x|y\n1|2\n"), "--separator", "||")[0] == 2


def test_long_cells_are_carried(either: str, table: Writer) -> None:
    before = python_csv.field_size_limit()
    long = b"a" * 3_000_000
    code, out, _ = call("map", "x^2", table(b"x,t\n1," + long + b"\n2,b\n"))
    assert (code, len(out)) == (0, len(long) + len("x,t,f,d_x,note\n1,,1,2,\n2,b,4,4,\n"))
    assert python_csv.field_size_limit() == before  # it is one for the whole process


def test_many_rows_come_in_batches_and_keep_their_numbers(
    either: str, table: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv, "BLOCK", 4096)
    monkeypatch.setattr(csv, "ROWS", 100)
    lines = [f"{number},{number / 7!r},t{number}" for number in range(3000)]
    code, out, err = call(
        "map", "sqrt(x - 1000)*y", table(("x,y,t\n" + "\n".join(lines) + "\n").encode()), "--keep", "t"
    )
    assert code == 3
    assert err.startswith("1001 of 3000 rows have no answer; the first is row 1: v2 = sqrt(v1)")
    assert [line.partition(",")[0] for line in out.splitlines()[1:]] == [f"t{number}" for number in range(3000)]
    bad = table(("x,y,t\n" + "\n".join([*lines, "1,oops,"]) + "\n").encode())
    assert "row 3001, column y: 'oops'" in call("map", "x*y", bad)[2]
    ragged = table(("x,y,t\n" + "\n".join([*lines, "1"]) + "\n").encode())
    assert "row 3001 has 1 cell" in call("map", "x*y", ragged)[2]


@settings(deadline=None)
@given(st.floats(allow_nan=False))
def test_numbers_are_written_alike_with_pyarrow_and_without(value: float) -> None:
    assert number_text(value) == pc.cast(pa.array([value]), pa.string())[0].as_py()
    assert float(number_text(value)) == value


def test_the_same_table_gives_the_same_bytes_with_pyarrow_and_without(
    table: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(3)
    rows = [f'{x!r},{y!r},"t, {place}"' for place, (x, y) in enumerate(random.normal(size=(200, 2)) * 10.0**9)]
    path = table(("x,y,t\n" + "\n".join([*rows, "1,,", "-1,2,"]) + "\n").encode())
    first = call("map", "log(x)*exp(y/1e9)", path)
    monkeypatch.setattr(csv, "has_arrow", lambda: False)
    assert call("map", "log(x)*exp(y/1e9)", path) == first


def test_map_works_without_pyarrow(table: Writer) -> None:
    path = table(b"x,y\n1,2\n,3\n")
    code = f"""
import sys
sys.modules["pyarrow"] = None
from backprop import cli
print(cli.main(["map", "x*y", {path!r}]), flush=True)
print(cli.main(["map", "x*y", {path!r}, "--to", "ndjson"]), flush=True)
print(cli.main(["map", "x*y", {path!r}, "-o", "out.parquet"]), flush=True)
print(cli.main(["map", "x*y", "in.parquet"]), flush=True)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == (
        "x,y,f,d_x,d_y,note\n1,2,2,2,1,\n,3,,,,x is missing\n3\n"
        '{"x": 1.0, "y": 2.0, "f": 2.0, "d_x": 2.0, "d_y": 1.0, "note": null}\n'
        '{"x": null, "y": 3.0, "f": null, "d_x": null, "d_y": null, "note": "x is missing"}\n3\n2\n2\n'
    )
    assert found.stderr.count('Install it: pip install "backprop-trace[map]"') == 2


# -- NDJSON ----------------------------------------------------------------------------------------------------------


def test_records_keep_what_they_hold() -> None:
    first = '{"x": 1, "m": {"a": [1, null]}, "s": "é\\"", "i": 123456789012345678901, "%": true'
    code, out, _ = call("map", "2*x", "-", stdin=(first + '}\n\n{"x": null}\n{"x": true}\n').encode())
    assert code == 3
    assert out.splitlines()[0] == first + ', "f": 2.0, "d_x": 2.0, "note": null}'
    second, third = (json.loads(line) for line in out.splitlines()[1:])
    assert second["note"] == "x is missing"
    assert second["m"] is None
    assert (third["x"], third["f"]) == (True, 2.0)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("", "there is nothing in it"),
        ('{"x": 1}\n{"x": \n', "row 2: this is no JSON"),
        ('{"x": 1}\n[1]\n', "row 2: it is a list"),
        ("{}\n3\n", "the table has no column x"),
        ('{"x": 1}\n{"y": 2}\n', 'row 2: the key "y" is not in the first record'),
        ('{"x": 1, "x": 2}\n', "a key of row 1 and another are both called x"),
        ('{"x": "1"}\n', "row 1, column x: '1' is not a number\n  Numbers stand without quotation marks"),
        ('{"x": 1}\n{"x": [1]}\n', "row 2, column x: '[1]' is not a number"),
        (f'{{"x": 1{"0" * 400}}}\n', "It is beyond the largest double"),
        ('{"x": ' + "[" * 100_000 + "]" * 100_000 + "}\n", "nested too deeply"),
    ],
)
def test_lines_that_are_no_records_are_refused_by_row(data: str, told: str) -> None:
    code, out, err = call("map", "x^2", "-", "--from", "ndjson", stdin=data.encode())
    assert (code, out) == (2, "")
    assert told in err


def test_bytes_that_are_no_text_are_refused_by_row() -> None:
    code, _, err = call("map", "x^2", "-", "--from", "ndjson", stdin=b'{"x": 1}\n{"x": "\xff"}\n')
    assert (code, "stdin: row 2: byte 8 of it is no text" in err) == (2, True)


def test_infinities_and_nan_are_words_in_json() -> None:
    code, out, _ = call("map", "2*x", "-", stdin=b'{"x": "Infinity"}\n{"x": "NaN"}\n{"x": -Infinity}\n')
    assert code == 3
    assert [json.loads(line)["f"] for line in out.splitlines()] == ["Infinity", None, "-Infinity"]


def test_infinities_and_nan_are_words_in_lists_of_other_tables_too(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1.0], "tags": [[1.5, float("nan"), float("-inf")]]}), tmp_path / "a.parquet")
    code, out, _ = call("map", "2*x", str(tmp_path / "a.parquet"), "--to", "ndjson")
    assert (code, "NaN" in out) == (0, True)
    assert json.loads(out, parse_constant=pytest.fail)["tags"] == [1.5, "NaN", "-Infinity"]


def test_a_column_that_changes_its_type_is_told_where_types_are_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ndjson, "ROWS", 2)
    data = b'{"x": 1, "t": 1}\n{"x": 1, "t": 2}\n{"x": 1, "t": "a"}\n'
    target = tmp_path / "out.parquet"
    code, _, err = call("map", "x^2", "-", "-o", str(target), stdin=data)
    assert (code, target.exists()) == (2, False)
    assert "from row 3 on, column t is string, and before it was int64" in err
    assert call("map", "x^2", "-", "--to", "ndjson", stdin=data)[0] == 0
    assert call("map", "x^2", "-", "--keep", "x", "-o", str(target), stdin=data)[0] == 0


# -- files that are damaged, and files that cannot be written --------------------------------------------------------


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".arrows", ".csv.gz", ".ndjson.gz"])
@pytest.mark.parametrize("part", [0.0, 0.3, 0.6, 0.95])
def test_a_file_that_is_not_whole_is_refused_and_nothing_is_written(suffix: str, part: float, tmp_path: Path) -> None:
    path, target = tmp_path / f"in{suffix}", tmp_path / "out.csv"
    x = np.random.default_rng(1).normal(size=20_000)
    if suffix.endswith(".gz"):
        lines = [f'{{"x": {value!r}}}' if "json" in suffix else repr(value) for value in x.tolist()]
        path.write_bytes(gzip.compress(("" if "json" in suffix else "x\n").encode() + "\n".join(lines).encode()))
    else:
        saved(pa.table({"x": x}), path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * part)])
    code, out, err = call("map", "x^2", str(path), "-o", str(target))
    assert (code, out, target.exists()) == (2, "", False)
    assert err.startswith(("cannot be read\n", "a cell that is no number\n"))


@pytest.mark.parametrize("suffix", [".csv.gz", ".ndjson.gz"])
def test_a_packed_file_with_damage_in_it_is_refused(suffix: str, tmp_path: Path, either: str) -> None:
    path, target = tmp_path / f"in{suffix}", tmp_path / "out.csv"
    x = np.random.default_rng(1).normal(size=20_000).tolist()
    lines = [f'{{"x": {value!r}}}' if "json" in suffix else repr(value) for value in x]
    data = bytearray(gzip.compress(("" if "json" in suffix else "x\n").encode() + "\n".join(lines).encode()))
    data[len(data) // 2 : len(data) // 2 + 100] = bytes(range(100, 200))
    path.write_bytes(data)
    code, out, err = call("map", "x^2", str(path), "-o", str(target))
    assert (code, out, target.exists()) == (2, "", False)
    assert err.startswith(("cannot be read", "a line that is no record", "a cell that is no number"))


def test_a_parquet_file_with_damage_in_it_is_refused(tmp_path: Path) -> None:
    path, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"x": list(range(100_000))}), path)
    data = bytearray(path.read_bytes())
    data[3000:4000] = bytes(1000)
    path.write_bytes(data)
    code, _, err = call("map", "x^2", str(path), "-o", str(target))
    assert (code, target.exists()) == (2, False)
    assert "cannot be read" in err


def test_files_that_are_not_there_are_told(tmp_path: Path, table: Writer) -> None:
    assert "no such file" in call("map", "x^2", str(tmp_path / "none.csv"))[2]
    path = table(b"x\n1\n")
    code, _, err = call("map", "x^2", path, "-o", str(tmp_path / "none" / "out.csv"))
    assert (code, "cannot be written" in err) == (2, True)
    code, _, err = call("map", "x^2", path, "-o", str(tmp_path / "out.xlsx"))
    assert (code, "there is no format .xlsx" in err) == (2, True)


def test_a_table_may_take_the_place_of_the_one_it_came_from(tmp_path: Path, either: str, table: Writer) -> None:
    path = table(b"x\n" + b"2\n" * 5000)
    assert call("map", "x^2", path, "-o", path) == (0, "", "")
    assert Path(path).read_text() == "x,f,d_x,note\n" + "2,4,4,\n" * 5000
    assert os.listdir(tmp_path) == ["data.csv"]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "csv.gz"])
def test_a_full_disk_leaves_nothing_behind(suffix: str, tmp_path: Path) -> None:
    path = saved(pa.table({"x": np.random.default_rng(1).normal(size=50_000)}), tmp_path / "in.parquet")

    def little() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    words = [sys.executable, "-m", "backprop", "map", "x^2", path, "-o", str(tmp_path / f"out.{suffix}")]
    found = subprocess.run(words, capture_output=True, text=True, preexec_fn=little, check=False)
    assert found.returncode == 2
    assert found.stderr.startswith("cannot be written\n")
    assert os.listdir(tmp_path) == ["in.parquet"]


def test_an_interrupt_ends_at_once_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = saved(pa.table({"x": np.random.default_rng(1).normal(size=400_000)}), tmp_path / "in.parquet")
    words = [sys.executable, "-m", "backprop", "map", "x^2", path, "--engine", "plain", "-o", str(tmp_path / "out.csv")]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        patience = time.monotonic() + 20
        while len(os.listdir(tmp_path)) == 1 and time.monotonic() < patience:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (130, "")
    assert os.listdir(tmp_path) == ["in.parquet"]


def test_a_reader_that_has_seen_enough_ends_it_quietly(tmp_path: Path) -> None:
    path = saved(pa.table({"x": np.zeros(200_000)}), tmp_path / "in.parquet")
    with subprocess.Popen(
        [sys.executable, "-m", "backprop", "map", "x^2", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"x,f,d_x,note\n"
        process.stdout.close()
        assert (process.wait(20), process.stderr.read()) == (0, b"")


def test_a_terminal_gets_text_alone(table: Writer) -> None:
    import pexpect

    found = pexpect.spawn(sys.executable, ["-m", "backprop", "map", "x^2", table(b"x\n1\n"), "--to", "parquet"])
    found.expect(pexpect.EOF)
    assert b"parquet is nothing to look at" in found.before


# -- a format is one module ------------------------------------------------------------------------------------------


def test_a_new_format_is_one_module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from types import ModuleType

    format = ModuleType("words")
    format.FORMAT = tables.TableFormat("words", (".words",), "csv by another name")  # type: ignore[attr-defined]
    format.reader, format.writer = csv.reader, csv.writer  # type: ignore[attr-defined]
    monkeypatch.setattr(tables, "_modules", lambda: (format, csv))
    path = tmp_path / "in.words"
    path.write_text("x\n3\n")
    assert call("map", "x^2", str(path), "--to", "words")[1] == "x,f,d_x,note\n3,9,6,\n"


@pytest.mark.slow
def test_memory_does_not_grow_with_the_rows(tmp_path: Path) -> None:
    def peak(rows: int) -> int:
        path = tmp_path / "in.csv"
        path.write_bytes(b"x,y\n" + b"0.12345678,1.2345678\n" * rows)
        code = "import sys, resource; from backprop import cli\n"
        code += f"code = cli.main(['map', 'x*y', {str(path)!r}, '-o', {str(tmp_path / 'out.csv')!r}])\n"
        code += "print(code, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
        assert told[0] == "0"
        return int(told[1])

    few, many = peak(400_000), peak(1_600_000)
    assert many < 1.3 * few


def test_what_is_read_ahead_is_handed_over_whole() -> None:
    source = tables.Source("-", stdin=io.BytesIO(b"x\n" + b"1\n" * 100_000))
    batches = list(source.reader().batches(["x"]))
    assert sum(batch.rows for batch in batches) == 100_000
    assert batches[0].first == 1
