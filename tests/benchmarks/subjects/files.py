"""The same rows from a Parquet file to a Parquet file, by the command."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from harness import HERE, MILLION_A_SECOND, Found, Subject
from scratch import folder, kept

from subjects.rows import COLUMNS, FORMULA, OURS

ALONE = "pyarrow, reading and writing alone"
DEFAULTS = "pyarrow, as it writes unless told otherwise (dictionaries of doubles)"
NAMES = {engine: name.replace("backprop, ", "backprop map, ") for engine, name in OURS.items()}
JOBS = {jobs: f"backprop map, NumPy, into a folder, --jobs {jobs}" for jobs in (1, 2)}

FILES = Subject(
    "files",
    "Rows from file to file",
    "`backprop map` on Parquet: six columns in; the six, value and six derivatives of the expression above out; "
    "start-up included, against pyarrow that reads the six and writes thirteen in the same encoding.",
    sizes=(10**5, 10**6, 4 * 10**6),
    quick=(10**3,),
    measure=MILLION_A_SECOND,
    repeats=3,
    limit=300,
    size_word="rows",
    memory="Memory of the process",
    plot="bars",
)
# Two processes take half a second to start, so the tables here are larger.
TWO = Subject(
    "jobs",
    "Rows from file to file on two cores",
    "The same into a folder, by one process on one core and by two on two.",
    sizes=(4 * 10**6, 16 * 10**6),
    quick=(10**3,),
    measure=MILLION_A_SECOND,
    repeats=3,
    limit=300,
    size_word="rows",
)
SUBJECTS = [FILES, TWO]

WRITE = """
import sys
import pyarrow as pa, pyarrow.parquet as pq
sys.path.insert(0, sys.argv[3])
from subjects.rows import columns
pq.write_table(pa.table(columns(int(sys.argv[1]))), sys.argv[2], row_group_size=131072)
"""

READ_AND_WRITE = """
import sys
import pyarrow as pa, pyarrow.parquet as pq
names = sys.argv[3].split(",")
made = pa.schema([(name, pa.float64()) for name in [*names, "value", *(f"d_{name}" for name in names)]])
dictionaries = sys.argv[4] == "True"
with pq.ParquetFile(sys.argv[1]) as source, pq.ParquetWriter(sys.argv[2], made, use_dictionary=dictionaries) as sink:
    for batch in source.iter_batches(131072):
        columns = batch.columns
        sink.write_batch(pa.record_batch([*columns, columns[0], *columns], schema=made))
"""


def data(size: int) -> Path:
    """The rows as a Parquet file, made by a process of its own: this one stays small."""

    def write(path: Path) -> None:
        subprocess.run([sys.executable, "-c", WRITE, str(size), str(path), str(HERE)], check=True)

    return kept(f"rows-{size}.parquet", write)


def _alone(dictionaries: bool) -> Callable[[int], list[str]]:
    def words(size: int) -> list[str]:
        out = folder() / "copied.parquet"
        names = ",".join(COLUMNS)
        return [sys.executable, "-c", READ_AND_WRITE, str(data(size)), str(out), names, str(dictionaries)]

    return words


FILES.command(ALONE, ["pyarrow"])(_alone(False))
FILES.command(DEFAULTS, ["pyarrow"])(_alone(True))


def _map(*options: str) -> Callable[[int], list[str]]:
    def words(size: int) -> list[str]:
        out = str(folder() / "mapped.parquet")
        return [sys.executable, "-m", "backprop", "map", FORMULA, str(data(size)), *options, "-o", out]

    return words


for engine, name in NAMES.items():
    needs = ["backprop.mapping", "pyarrow", {"numpy": "numpy", "numba": "numba", "c": "gcc"}[engine]]
    FILES.command(name, needs, ours=True)(_map("--engine", engine))


INTO_NEW_FOLDER = """
import shutil, subprocess, sys
shutil.rmtree(sys.argv[1], ignore_errors=True)
sys.exit(subprocess.run([sys.executable, "-m", "backprop", *sys.argv[2:], "-o", sys.argv[1] + "/"]).returncode)
"""


def _jobs(jobs: int) -> Callable[[int], list[str]]:
    def words(size: int) -> list[str]:
        asked = ["map", FORMULA, str(data(size)), "--engine", "numpy", "--jobs", str(jobs)]
        return [sys.executable, "-c", INTO_NEW_FOLDER, str(folder() / "parts"), *asked]

    return words


for jobs, name in JOBS.items():
    TWO.command(name, ["backprop.mapping", "pyarrow"], ours=True, cores=jobs)(_jobs(jobs))


def _limit(engine: str, name: str) -> None:
    @FILES.budget(f"files {engine}", f"Parquet in and out, {name}: pyarrow alone = 1", 2)
    def _(found: Found) -> float:
        return found.ratio(name, ALONE)


for engine, name in NAMES.items():
    _limit(engine, name)


@TWO.budget("files jobs", "Parquet: two jobs on two cores, times as fast as one", 1.7, more=True)
def _(found: Found) -> float:
    return found.ratio(JOBS[1], JOBS[2])


@FILES.budget("files memory", "Parquet: memory at the most rows over that at a quarter of them", 1.1)
def _(found: Found) -> float:
    return found.peak_growth(NAMES["numpy"])
