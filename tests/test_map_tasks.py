"""`backprop map` in many tasks: a table that is cut, done by whoever there is, and put together again."""

from __future__ import annotations

import csv
import io
import json
import math
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from fractions import Fraction
from inspect import getmembers, isclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backprop import mistakes
from backprop.mapping import folders, gathering, lines, partitions, tables, tasks, whole
from backprop.mapping.crews import Alone, Processes, refuse_other_versions, versions
from backprop.mapping.gathering import Job, crew_for, portion, to_folder, to_stream, to_sums
from backprop.mapping.partitions import files
from backprop.mapping.plan import plan
from backprop.mapping.run import Outcome
from backprop.mapping.tables import Source
from backprop.mapping.tasks import Done, Task, in_order
from backprop.mistakes import FolderTaken, Mistake, WorkerLost
from backprop.point import Program
from command import call

LOSS = "(w*x + b - y)^2"
BOUND = ("--w", "2", "--b", "0.5")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few rows, so that a small table has many."""
    monkeypatch.setattr(lines, "PART", 400)
    monkeypatch.setattr(lines, "PIECE", 100)
    monkeypatch.setattr(tables, "ROWS", 40)


def numbers(count: int) -> list[tuple[float, float]]:
    """Decimals of three digits, the same everywhere."""
    return [((i * 37 % 101 - 50) / 8, (i * i % 97 - 48) / 16) for i in range(count)]


def points(folder: Path, format: str = "csv", count: int = 200, name: str = "points") -> str:
    """A table with the columns x and y."""
    path, rows = folder / f"{name}.{format}", numbers(count)
    if format == "csv":
        path.write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in rows), encoding="utf-8")
    elif format == "ndjson":
        path.write_text("".join(json.dumps({"x": x, "y": y}) + "\n" for x, y in rows), encoding="utf-8")
    else:
        pa = pytest.importorskip("pyarrow", reason="Parquet and Arrow need the extra map")
        import pyarrow.parquet

        table = pa.table({"x": [x for x, _ in rows], "y": [y for _, y in rows]})
        if format == "parquet":
            pyarrow.parquet.write_table(table, path, row_group_size=20)
        else:
            with pa.ipc.new_file(path, table.schema) as file:
                file.write_table(table, 20)
    return str(path)


def job(path: str, format: str = "csv", text: str = LOSS, **facts: Any) -> Job:
    """The table at that path, to be mapped."""
    source = Source(path)
    found = plan(Program(text), source.reader().names, {"w": 2, "b": 0.5})
    parts = list(source.parts())
    return Job(found, parts, format, gathering.layout_of(found, parts, format, tables.Layout()), **facts)


class Losing:
    """A crew that does its tasks here, and loses the worker of a task as often as it is told to by the place."""

    width, room = 2, 6

    def __init__(self, losses: dict[int, int]) -> None:
        self.losses = losses
        self.done: list[int] = []
        self.mended = 0

    def submit(self, work: Callable[..., Any], *given: Any) -> Future[Any]:
        place = given[0].place
        if self.losses.get(place, 0):
            self.losses[place] -= 1
            future: Future[Any] = Future()
            future.set_exception(BrokenProcessPool("it is gone"))
            return future
        self.done.append(place)
        return Alone().submit(work, *given)

    def has_lost(self, error: BaseException) -> bool:
        return isinstance(error, BrokenProcessPool)

    def gives_up(self, error: BaseException) -> int:
        return 0

    def explained(self, error: BaseException) -> BaseException:
        return error

    def mend(self) -> None:
        self.mended += 1

    def look_after(self) -> None:
        pass

    def close(self, at_once: bool = False) -> None:
        pass


# -- cutting a table -------------------------------------------------------------------------------------------------


def cells(source: Source, names: Sequence[str]) -> list[tuple[Any, ...]]:
    """All rows of a source."""
    found: list[tuple[Any, ...]] = []
    for batch in source.reader().batches(names):
        found += zip(*(batch.columns[name].values() for name in names), strict=True)
    return found


@pytest.mark.parametrize("format", ["csv", "ndjson", "parquet", "arrow"])
def test_the_parts_of_a_table_have_each_row_once_and_in_its_place(format: str, tmp_path: Path) -> None:
    source = Source(points(tmp_path, format))
    parts = list(source.parts())
    assert len(parts) > 3
    assert [row for part in parts for row in cells(part, ["x", "y"])] == cells(source.part(), ["x", "y"])


text_cell = st.text(st.sampled_from('ab,"\n\r é'), max_size=6)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(text_cell, text_cell), min_size=1, max_size=40), st.sampled_from(["\n", "\r\n"]))
def test_csv_is_never_cut_inside_quotation_marks(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], end: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "quoted.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator=end, quoting=csv.QUOTE_ALL)
        writer.writerow(["a", "b"])
        writer.writerows(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PART", 50)
        parts = list(Source(str(path)).parts())
    with open(path, encoding="utf-8", newline="") as file:
        expected = list(csv.reader(file))
    found = []
    for part in parts:
        assert part.span is not None
        with open(path, "rb") as raw:
            raw.seek(part.span[0])
            text = raw.read(part.span[1] - part.span[0]).decode()
        found += list(csv.reader(io.StringIO(text, newline="")))
    assert [expected[0], *found] == expected


def test_a_quotation_mark_inside_a_cell_opens_nothing(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("a,b\n" + '5" wide,1\n' * 200, encoding="utf-8")
    parts = list(Source(str(path)).parts())
    assert len(parts) > 3
    assert sum(len(cells(part, ["a", "b"])) for part in parts) == 200


@pytest.mark.parametrize("text", ["x,y\n", "x,y"])
def test_a_table_without_rows_is_one_part(text: str, tmp_path: Path) -> None:
    path = tmp_path / "empty.csv"
    path.write_text(text, encoding="utf-8")
    assert call("map", "x*y", str(path), "--jobs", "2") == (0, "x,y,f,d_x,d_y,note\n", "")


def test_files_of_several_formats_are_one_table(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n", encoding="utf-8")
    (tmp_path / "b.ndjson").write_text('{"x": 2}\n', encoding="utf-8")
    assert call("map", "x^2", str(tmp_path), "--keep", "none", "--value-only")[1] == "f,note\n1,\n4,\n"


def test_what_cannot_be_cut_is_one_part(tmp_path: Path) -> None:
    import gzip

    packed = tmp_path / "points.csv.gz"
    packed.write_bytes(gzip.compress(Path(points(tmp_path)).read_bytes()))
    assert [part.span for part in Source(str(packed)).parts()] == [None]
    carriage = tmp_path / "old.csv"
    carriage.write_text("x,y\r" + "1,2\r" * 200, encoding="utf-8")
    assert [part.span for part in Source(str(carriage)).parts()] == [None]


@given(st.integers(0, 10**15), st.integers(1, 10**7))
def test_parts_are_neither_too_many_nor_too_large(total: int, least: int) -> None:
    size = tables.share(total, least)
    assert least <= size <= tables.LARGER * least
    assert size == tables.LARGER * least or total / size < tables.PARTS + 1 + 2 * tables.PARTS**2 / max(total, 1)


def test_a_longer_program_has_smaller_parts() -> None:
    short = plan(Program("x + 1"), ["x"], {})
    long = plan(Program("+".join(["sin(x)"] * 500)), ["x"], {})
    assert portion(short) == 1
    assert portion(long) > 5
    assert portion(replace(short, engine="plain")) > 1


@pytest.mark.parametrize("format", ["csv", "ndjson", "parquet"])
def test_a_table_of_one_usual_part_is_cut_for_those_who_do_it(
    format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name, size in ((lines, "PART", 1 << 26), (tables, "ROWS", 1 << 20)):
        monkeypatch.setattr(module, name, size)
    monkeypatch.setattr(lines, "LEAST", 100)
    monkeypatch.setattr(tables, "FEW_ROWS", 10)
    source = Source(points(tmp_path, format))
    found = plan(Program(LOSS), ["x", "y"], {"w": 2, "b": 0.5})
    usual, shared = gathering.cut(found, [source]), gathering.cut(found, [source], jobs=2)
    assert len(usual) == 1
    assert len(shared) >= (5 if format == "parquet" else 8)  # of ten groups, two for each part
    assert [row for part in shared for row in cells(part, ["x", "y"])] == cells(source.part(), ["x", "y"])
    sizes = [len(cells(part, ["x"])) for part in shared]
    assert max(sizes[:-1]) <= 1.5 * min(sizes[:-1])
    # parts in a folder are what can be gone on with, whoever does them
    assert gathering.cut(found, [source], jobs=5, folder=True) == usual
    assert len(gathering.cut(found, [source], cluster=True)) > 8


def test_parts_never_get_tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "PART", 1 << 26)
    source = Source(points(tmp_path))
    found = plan(Program(LOSS), ["x", "y"], {"w": 2, "b": 0.5})
    assert len(gathering.cut(found, [source], jobs=64)) == 1
    assert len(gathering.cut(replace(found, engine="plain"), [source], jobs=64)) == 1


@given(st.integers(0, 10**13), st.integers(2, 10**4), st.integers(1, 256))
def test_a_cut_for_many_makes_enough_parts_or_the_least_ones(total: int, wanted: int, portion: int) -> None:
    size = tables.Cut(portion, wanted).size(total, 1 << 26, 1 << 20)
    assert 1 <= size <= tables.Cut(portion).size(total, 1 << 26, 1 << 20)
    assert size <= -(-total // wanted) or size == (1 << 20) // portion


def test_a_group_of_rows_is_cut_where_there_are_too_few(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs the extra map")
    import pyarrow.parquet

    path = str(tmp_path / "one.parquet")
    pyarrow.parquet.write_table(pa.table({"x": range(200_000)}), path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "ROWS", 1 << 20)
        parts = list(Source(path).parts(tables.Cut(parts=8)))
        assert [part.groups for part in Source(path).parts()] == [(0, 1)]
    assert [(part.before, part.rows) for part in parts] == [(place * 50_000, 50_000) for place in range(4)]
    assert [row for part in parts for (row,) in cells(part, ["x"])] == list(range(200_000))
    assert [next(part.reader().batches(["x"])).first for part in parts] == [1, 50_001, 100_001, 150_001]
    assert len({partitions.told(part) for part in parts}) == 4


def test_processes_share_out_a_table_of_one_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs the extra map")
    import pyarrow.parquet

    monkeypatch.setattr(tables, "ROWS", 1 << 20)
    monkeypatch.setattr(tables, "FEW_ROWS", 100)
    path = str(tmp_path / "one.parquet")
    pyarrow.parquet.write_table(pa.table({"x": [float(x) for x in range(-1000, 1000)]}), path)
    words = ("map", "log(x)*w", path, "--w", "2", "--to", "csv")
    assert call(*words, "--jobs", "2") == call(*words)


# -- many files ------------------------------------------------------------------------------------------------------


def test_a_folder_and_a_pattern_are_one_table(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name, text in (("a.csv", "x\n1\n"), ("b/c.csv", "x\n2\n"), ("d.csv", "x\n3\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in ("_done.csv", ".hidden.csv", "notes.txt"):
        (tmp_path / name).write_text("nothing", encoding="utf-8")
    assert [Path(path).name for path in files(str(tmp_path))] == ["a.csv", "c.csv", "d.csv"]
    assert call("map", "x^2", str(tmp_path), "--keep", "none", "--value-only")[1] == "f,note\n1,\n4,\n9,\n"
    assert call("map", "x^2", str(tmp_path / "*.csv"), "--sum", "--format", "json")[1].count('"rows": 2') == 1


@pytest.mark.parametrize(
    ("data", "told"),
    [("nothing", "there is no table in this folder"), ("nothing/*.csv", "no file is called like this")],
)
def test_a_table_of_no_files_is_refused(data: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "nothing").mkdir()
    code, _, err = call("map", "x^2", str(tmp_path / data))
    assert code == 2
    assert told in err


def test_a_file_with_other_columns_than_the_first_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("x,z\n1,2\n", encoding="utf-8")
    code, out, err = call("map", "x*y", str(tmp_path), "-o", str(tmp_path / "out.csv"))
    assert (code, out) == (2, "")
    assert "b.csv has no column y, and " in err
    assert not (tmp_path / "out.csv").exists()


# -- whoever does it, the result is the same -------------------------------------------------------------------------


@pytest.mark.parametrize("to", ["csv", "ndjson", "parquet", "arrow", "arrows"])
def test_a_file_is_the_same_to_the_byte_whoever_makes_its_parts(to: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet and Arrow need the extra map")
    path = points(tmp_path, "parquet")
    alone, many = tmp_path / f"alone.{to}", tmp_path / f"many.{to}"
    to_stream(job(path, to), Alone(), str(alone))
    to_stream(job(path, to), Losing({}), str(many))
    assert alone.read_bytes() == many.read_bytes()
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted([alone.name, many.name, "points.parquet"])


def test_processes_write_what_one_process_writes(tmp_path: Path) -> None:
    path = points(tmp_path)
    alone = call("map", LOSS, path, *BOUND)
    assert call("map", LOSS, path, *BOUND, "--jobs", "2") == alone
    assert call("map", LOSS, path, *BOUND, "--sum", "--jobs", "0") == call("map", LOSS, path, *BOUND, "--sum")
    assert alone[0] == 0


def test_a_joined_parquet_file_is_read_by_others(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet needs the extra map")
    duckdb = pytest.importorskip("duckdb", reason="one of the readers that are tried")
    path = points(tmp_path, "parquet")
    out = tmp_path / "out.parquet"
    to_stream(job(path, "parquet"), Losing({}), str(out))
    found = duckdb.sql(f"select x, y, d_x from '{out}'").fetchall()
    assert found == [(x, y, 2 * (2 * x + 0.5 - y) * 2) for x, y in numbers(200)]


def test_parquet_files_of_every_type_are_put_one_behind_the_other(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs the extra map")
    import pyarrow.parquet as parquet

    from backprop.mapping.footers import FileJoiner

    def table(begin: int, rows: int) -> Any:
        count = list(range(begin, begin + rows))
        columns = {
            "x": pa.array([i / 7 for i in count], pa.float64()),
            "n": pa.array([None if i % 3 else i for i in count], pa.int32()),
            "s": pa.array([f"é{i % 5}" for i in count], pa.string()),
            "b": pa.array([i % 2 == 0 for i in count], pa.bool_()),
            "l": pa.array([[i, i + 1] for i in count], pa.list_(pa.int64())),
            "note": pa.nulls(rows, pa.string()),
        }
        return pa.table(columns)

    tables = [table(0, 100), table(100, 0), table(100, 250), table(350, 1)]
    with open(tmp_path / "out.parquet", "wb") as sink:
        joiner = FileJoiner(sink)
        for place, one in enumerate(tables):
            parquet.write_table(one, tmp_path / f"{place}.parquet", row_group_size=40)
            joiner.add(str(tmp_path / f"{place}.parquet"))
        joiner.close()
    assert parquet.read_table(tmp_path / "out.parquet").equals(pa.concat_tables(tables))
    found = parquet.ParquetFile(tmp_path / "out.parquet").metadata
    assert (found.num_rows, found.num_row_groups) == (351, 3 + 1 + 7 + 1)  # no rows are a group too
    parquet.write_table(table(0, 9), tmp_path / "indexed.parquet", write_page_index=True)
    parquet.write_table(pa.table({"x": [1.0]}), tmp_path / "other.parquet")
    (tmp_path / "cut.parquet").write_bytes((tmp_path / "0.parquet").read_bytes()[:-3])
    for name, told in (("indexed", "an index"), ("other", "other types"), ("cut", "does not end like")):
        with open(os.devnull, "wb") as sink:
            joiner = FileJoiner(sink)
            joiner.add(str(tmp_path / "0.parquet"))
            with pytest.raises(Mistake, match=told):
                joiner.add(str(tmp_path / f"{name}.parquet"))


def test_a_folder_is_read_as_one_table_by_others(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet needs the extra map")
    import pyarrow.dataset

    duckdb = pytest.importorskip("duckdb", reason="one of the readers that are tried")
    polars = pytest.importorskip("polars", reason="one of the readers that are tried")
    out = tmp_path / "out"
    code, _, err = call("map", LOSS, points(tmp_path), *BOUND, "-o", f"{out}/")
    assert (code, err) == (0, "")
    assert len(list(out.iterdir())) > 3
    expected = sum(4 * (2 * x + 0.5 - y) for x, y in numbers(200))  # of eighths and sixteenths: exact
    assert sum(pyarrow.dataset.dataset(out).to_table()["d_x"].to_pylist()) == expected
    assert duckdb.sql(f"select sum(d_x), count(*) from '{out}/*.parquet'").fetchall() == [(expected, 200)]
    assert polars.scan_parquet(f"{out}/").select(polars.col("d_x").sum()).collect().item() == expected


@settings(max_examples=20, deadline=None)
@given(
    st.lists(st.floats(-1e300, 1e300, allow_nan=False), min_size=1, max_size=60),
    st.integers(1, 200),
)
def test_a_sum_does_not_depend_on_how_the_table_is_cut(
    tmp_path_factory: pytest.TempPathFactory, column: list[float], size: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "sums.csv"
    path.write_text("x\n" + "".join(f"{number!r}\n" for number in column), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PART", size)
        found = to_sums(job(str(path), "", "x + w*0 + b*0"), Losing({0: 1}))
    assert found.totals is not None
    assert found.totals.sums[""] == sum(map(Fraction, column))
    try:
        assert found.totals.number("", mean=False) == math.fsum(column)
    except OverflowError:  # in between; the true sum may be less
        assert abs(sum(map(Fraction, column))) > 1e300


def test_a_small_table_starts_no_process() -> None:
    assert isinstance(crew_for(8, "", 1), Alone)
    assert isinstance(crew_for(8, "", 3), Alone)
    crew = crew_for(0, "", 1000)
    assert crew.width == gathering.cores()
    crew.close()


# -- rows that are told by their numbers -----------------------------------------------------------------------------


def broken(folder: Path, line: str) -> str:
    """The points, with another line in place of row 150."""
    path = Path(points(folder))
    rows = path.read_text(encoding="utf-8").splitlines()
    rows[150] = line
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("line", "told"), [("1", "row 150 has 1 cell"), ("1,2.5.1", "row 150, column y"), ("1,2,3", "row 150 has 3 cells")]
)
@pytest.mark.parametrize("crew", [Alone, lambda: Losing({})], ids=["alone", "many"])
def test_a_bad_row_is_told_by_its_number_in_the_whole_table(
    line: str, told: str, crew: Callable[[], Any], tmp_path: Path
) -> None:
    path = broken(tmp_path, line)
    out = tmp_path / "out.csv"
    with pytest.raises(Mistake, match=told):
        to_stream(job(path), crew(), str(out))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["points.csv"]


@pytest.mark.parametrize("crew", [Alone, lambda: Losing({})], ids=["alone", "many"])
def test_a_note_is_told_by_its_row_in_the_whole_table(crew: Callable[[], Any], tmp_path: Path) -> None:
    found = to_stream(job(broken(tmp_path, "1,"), check_rows=3), crew(), io.BytesIO())
    assert found.counts.first == (150, "y is missing")
    assert found.counts.undefined == 1
    assert len(found.sample.rows) == 3
    assert all(row.inputs == dict(zip("xy", numbers(200)[row.row - 1], strict=True)) for row in found.sample.rows)


def test_every_mistake_comes_whole_from_another_process() -> None:
    kinds = [kind for _, kind in getmembers(mistakes, isclass) if issubclass(kind, Mistake)]
    assert len(kinds) > 50
    for kind in kinds:
        one = kind.__new__(kind, "cause")
        Mistake.__init__(one, "cause", "repair", (1, 2))
        again = pickle.loads(pickle.dumps(one.within("text", "file")))
        assert type(again) is kind
        assert again.__dict__ == one.__dict__


# -- workers that are lost -------------------------------------------------------------------------------------------


def test_a_lost_worker_costs_a_retry_and_no_row(tmp_path: Path) -> None:
    crew = Losing({0: 1, 3: 2, 5: 1})
    out = tmp_path / "out.csv"
    to_stream(job(points(tmp_path)), crew, str(out))
    assert out.read_text(encoding="utf-8") == call("map", LOSS, str(tmp_path / "points.csv"), *BOUND)[1]
    assert sorted(crew.done) == list(range(len(crew.done)))
    assert crew.mended >= 2


def test_a_part_that_loses_its_worker_again_and_again_is_named(tmp_path: Path) -> None:
    made = job(points(tmp_path))
    crew = Losing({3: 99})
    with pytest.raises(WorkerLost) as caught:
        to_stream(made, crew, str(tmp_path / "out.csv"))
    begin, end = made.parts[3].span or (0, 0)
    assert f"3 workers ended while they did bytes {begin} to {end} of" in caught.value.cause
    assert [one.name for one in tmp_path.iterdir()] == ["points.csv"]


def test_few_tasks_are_out_at_a_time(tmp_path: Path) -> None:
    made = job(points(tmp_path, count=2000))
    out = [0, 0]

    class Counting(Losing):
        def submit(self, work: Callable[..., Any], *given: Any) -> Future[Any]:
            out[0] += 1
            out[1] = max(out[1], out[0])
            return super().submit(work, *given)

    crew = Counting({})
    for _ in in_order(crew, made.tasks(lambda _: "", crew), {}):
        out[0] -= 1
    assert len(made.parts) > 30
    assert out[1] <= crew.room


def test_a_killed_process_costs_a_retry_and_no_row(tmp_path: Path) -> None:
    made = job(points(tmp_path), "")
    crew = Processes(2)
    killed: list[Any] = []

    def keep(place: int, done: Done) -> None:
        if not killed:
            killed.append(multiprocessing.active_children()[0])
            killed[0].kill()

    with tasks.employed(crew):
        found = list(in_order(crew, made.tasks(lambda _: "", crew), {}, keep))
    assert killed
    assert sum(one.outcome.rows for one in found) == 200
    assert multiprocessing.active_children() == []


SLOW = "+".join(f"sin({i}*x)" for i in range(1, 30))


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="an interrupt reaches a group of processes on POSIX alone")
@pytest.mark.parametrize("where", ["out/", "out.csv"])
def test_an_interrupt_leaves_no_process_and_nothing_unfinished(where: str, tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("x\n" + "".join(f"{i}\n" for i in range(40_000)), encoding="utf-8")
    words = ["map", SLOW, str(path), "--engine", "plain", "--jobs", "2", "-o", str(tmp_path / where)]
    smaller = "import sys; from backprop import cli; from backprop.mapping import lines; lines.PART = 1 << 22"
    command = [sys.executable, "-c", f"{smaller}; sys.exit(cli.main())", *words]
    process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    end = time.monotonic() + 30
    while not list(tmp_path.rglob(".*unfinished")) and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert (process.returncode, err) == (130, b"")
    assert list(tmp_path.rglob("*")) == [path]
    assert ended(process.pid, end)


def ended(group: int, end: float) -> bool:
    """Whether no process of a group works any more; the last of them, which tidies up, ends by itself."""
    while time.monotonic() < end:
        listed = subprocess.run(["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True).stdout
        found = [line.split() for line in listed.splitlines()]
        if not any(pgid == str(group) and not state.startswith("Z") for pgid, state in found):
            return True
        time.sleep(0.05)
    return False


# -- a folder that is gone on with -----------------------------------------------------------------------------------


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The places of the parts that are worked out."""
    places: list[int] = []
    work = tasks.work

    def noted(task: Task) -> Done:
        places.append(task.place)
        return work(task)

    monkeypatch.setattr(tasks, "work", noted)
    return places


def resumed(path: str, out: Path, *more: str) -> tuple[int, str, str]:
    return call("map", LOSS, path, *BOUND, "-o", f"{out}/", "--to", "csv", "--resume", *more)


def test_whole_parts_are_not_done_again(tmp_path: Path, counted: list[int]) -> None:
    path, out = points(tmp_path), tmp_path / "out"
    assert resumed(path, out)[0] == 0
    whole = {one.name: one.read_bytes() for one in out.iterdir()}
    (out / "part-00002.csv").unlink()
    (out / "part-00003.csv").write_bytes(b"cut off")
    (out / ".part-00004.csv.0123456789abcdef.unfinished").write_bytes(b"somebody was killed")
    record = tmp_path / "out.manifest.ndjson"
    kept = record.read_text(encoding="utf-8").splitlines()
    record.write_text("\n".join(line for line in kept if '"part": 1,' not in line)[:-20], encoding="utf-8")
    counted.clear()
    assert resumed(path, out)[0] == 0
    assert counted == [1, 2, 3]
    assert {one.name: one.read_bytes() for one in out.iterdir()} == whole


def test_what_was_told_of_whole_parts_is_told_again(tmp_path: Path, counted: list[int]) -> None:
    path, out = broken(tmp_path, "1,"), tmp_path / "out"
    first = resumed(path, out)
    counted.clear()
    assert resumed(path, out) == first
    assert first[0] == 3
    assert "1 of 200 rows has no answer; the first is row 150: y is missing" in first[2]
    assert counted == []


def test_rows_picked_from_whole_parts_are_picked_again(tmp_path: Path, counted: list[int]) -> None:
    made = job(points(tmp_path), check_rows=3)
    first = to_folder(made, Alone(), str(tmp_path / "out"), resume=True)
    counted.clear()
    assert to_folder(made, Alone(), str(tmp_path / "out"), resume=True) == first
    assert len(first.sample.rows) == 3
    assert counted == []


def test_sums_are_gone_on_with_too(tmp_path: Path, counted: list[int]) -> None:
    path, out = points(tmp_path), tmp_path / "sums"
    words = ("map", LOSS, path, *BOUND, "--mean", "--format", "json", "-o", f"{out}/", "--resume")
    first = call(*words)
    counted.clear()
    assert call(*words) == first == call(*words[:-3])
    assert first[0] == 0
    assert counted == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--w", "3"), "w of constants was 2, and now it is 3"),
        (("--wrt", "w"), "the number of wrt was 2, and now it is 1"),
        (("--to", "ndjson"), "to was csv, and now it is ndjson"),
        (("--check-rows", "2"), "check-rows was 0, and now it is 2"),
        (("--on-error", "fail"), "on-error was note, and now it is fail"),
    ],
)
def test_parts_of_another_question_are_refused(words: tuple[str, str], told: str, tmp_path: Path) -> None:
    path, out = points(tmp_path), tmp_path / "out"
    assert resumed(path, out)[0] == 0
    others = [word for word in (*BOUND, "--to", "csv") if word not in ("--w", "2", *words)] if words[0] == "--w" else []
    asked = others or [word for word in (*BOUND, "--to", "csv") if words[0] != "--to" or word not in ("--to", "csv")]
    code, _, err = call("map", LOSS, path, *asked, *words, "-o", f"{out}/", "--resume")
    assert code == 2
    assert told in err


def test_parts_of_another_program_or_other_data_are_refused(tmp_path: Path) -> None:
    path, out = points(tmp_path), tmp_path / "out"
    assert resumed(path, out)[0] == 0
    code, _, err = call("map", "(w*x + b - y)^4", path, *BOUND, "-o", f"{out}/", "--to", "csv", "--resume")
    assert (code, "program was (w*x + b - y)^2, and now it is (w*x + b - y)^4" in err) == (2, True)
    os.utime(path, (1, 1))
    code, _, err = resumed(path, out)
    assert (code, "last change of " in err, "1970-01-01 00:00:01" in err) == (2, True, True)


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    path, out = points(tmp_path), tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine", encoding="utf-8")
    for words in ((), ("--resume",)):
        code, _, err = call("map", LOSS, path, *BOUND, "-o", f"{out}/", *words)
        assert (code, "there is something in it" in err) == (2, True)
    assert [one.name for one in tmp_path.iterdir() if one.name != "points.csv"] == ["out"]
    (out / "mine.txt").unlink()
    assert resumed(path, out)[0] == 0
    with pytest.raises(FolderTaken, match="parts of a table are in it"):
        to_folder(job(path), Alone(), str(out), resume=False)


def test_a_table_that_fails_before_its_first_part_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("x,y\n1\n", encoding="utf-8")
    assert call("map", LOSS, str(path), *BOUND, "-o", f"{tmp_path}/out/")[0] == 2
    assert list(tmp_path.iterdir()) == [path]


def test_a_table_that_fails_later_can_be_gone_on_with(tmp_path: Path, counted: list[int]) -> None:
    path, out = broken(tmp_path, "1,2.5.1"), tmp_path / "out"
    assert resumed(path, out)[0] == 2
    whole = len(list(out.iterdir()))
    assert whole > 1
    assert (tmp_path / "out.manifest.ndjson").exists()


def test_a_part_that_is_not_to_be_seen_here_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "SEEN", 0.0)
    folder = folders.Folder(str(tmp_path / "out"), ".csv", {}, resume=False)
    outcome = Outcome(tasks.Counts(), None, tasks.Sample(0))
    with pytest.raises(Mistake, match=r"part-00000\.csv was written on far, and it is not to be seen from here"):
        folder.keep(0, Done(outcome, 10, "far"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("-", "--resume"), "a stream cannot be cut into parts"),
        (("FILE", "--resume"), "Parts are in a folder: -o FOLDER/"),
        (("FILE", "--jobs", "-1"), "--jobs cannot be -1"),
        (("FILE", "--jobs", "two"), "--jobs cannot be two"),
        (("FILE", "--jobs", "2", "--cluster", "tcp://h:1"), "--jobs and --cluster ask for different things"),
    ],
)
def test_what_makes_no_sense_is_refused(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    path = points(tmp_path)
    code, out, err = call("map", "x*y", *(path if word == "FILE" else word for word in words), stdin=b"x,y\n1,2\n")
    assert (code, out) == (2, "")
    assert told in err


def test_other_versions_are_refused_in_words() -> None:
    here = versions()
    refuse_other_versions("far", here | {"Python": here["Python"] + "1"}, here)
    with pytest.raises(Mistake, match=r"the worker far has backprop 0\.0\.1, and here it is"):
        refuse_other_versions("far", here | {"backprop": "0.0.1"}, here)
    with pytest.raises(Mistake, match=r"the worker far has Python 2\.7\.18, and here it is"):
        refuse_other_versions("far", here | {"Python": "2.7.18"}, here)


def test_little_is_sent_to_a_worker(tmp_path: Path) -> None:
    (task, *_) = job(points(tmp_path)).tasks(lambda place: f"/shared/out/part-{place:05d}.parquet", Alone())
    assert len(pickle.dumps(task)) < 1000
