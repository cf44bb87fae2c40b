"""Code that was emitted, run where its tool is installed: rows of numbers in, values and slopes out."""

from __future__ import annotations

import ctypes
import json
import math
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

Row = Mapping[str, float]
Answer = tuple[float, dict[str, float]]

COMPILER = shutil.which("cc")


def missing(language: str) -> str:
    """What has to be installed to run the code of a language; "" when it is there."""
    from backprop import languages

    if language == "c":
        return "" if COMPILER else "a C compiler"
    return ", ".join(name for name in languages.by_name(language).runs_on if find_spec(name) is None)


def run(
    language: str, code: str, rows: Sequence[Row], slopes: Sequence[str], folder: Path | None = None
) -> list[Answer]:
    """The answers for rows; NaN stands for none. `slopes` are the names of the program, in order."""
    return RUN[language](code, rows, list(slopes), folder)


def executed(code: str) -> Callable[..., Any]:
    """The first function of a module."""
    names: dict[str, Any] = {}
    exec(compile(code, "<emitted>", "exec"), names)
    return names["value_and_gradient"]


def number(found: Any) -> float:
    """A finite number, or NaN for none."""
    found = math.nan if found is None else float(found)
    return found if math.isfinite(found) else math.nan


def in_order(code: str, rows: Sequence[Row]) -> list[list[float]]:
    """The numbers of rows in the order of the parameters of a function of Python."""
    import inspect

    function = inspect.unwrap(executed(code))
    count = len(inspect.signature(getattr(function, "py_func", function)).parameters)
    assert all(len(row) == count for row in rows)
    return [list(row.values()) for row in rows]


def run_python(code: str, rows: Sequence[Row], slopes: list[str], folder: Path | None) -> list[Answer]:
    function = executed(code)
    answers = []
    for numbers in in_order(code, rows):
        try:
            value, gradient = function(*numbers)
        except (ValueError, ZeroDivisionError, OverflowError):
            value, gradient = math.nan, dict.fromkeys(slopes, math.nan)
        assert list(gradient) == slopes
        answers.append((number(value), {name: number(slope) for name, slope in gradient.items()}))
    return answers


def run_arrays(code: str, rows: Sequence[Row], slopes: list[str], folder: Path | None) -> list[Answer]:
    import warnings

    import numpy as np

    columns = np.array(in_order(code, rows), dtype=float).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, gradient = executed(code)(*columns)
    assert list(gradient) == slopes
    # a number in place of an array is the number of all rows only where there is no input
    found = [np.asarray(one, dtype=float) for one in (value, *gradient.values())]
    assert all(one.shape == (len(rows),) for one in found)
    return [answered(one, slopes) for one in zip(*found, strict=True)]


def run_torch(code: str, rows: Sequence[Row], slopes: list[str], folder: Path | None) -> list[Answer]:
    import torch

    value, gradient = executed(code)(*torch.tensor(in_order(code, rows), dtype=torch.float64).T)
    assert list(gradient) == slopes
    found = [value, *gradient.values()]
    assert all(one.shape == (len(rows),) and one.dtype == torch.float64 for one in found)
    return [answered(one, slopes) for one in zip(*found, strict=True)]


def run_jax(code: str, rows: Sequence[Row], slopes: list[str], folder: Path | None) -> list[Answer]:
    import jax
    import numpy as np

    jax.config.update("jax_enable_x64", True)
    value, gradient = executed(code)(*np.array(in_order(code, rows), dtype=float).T)
    found = [value, *(gradient[name] for name in slopes)]
    assert all(one.shape == (len(rows),) and str(one.dtype) == "float64" for one in found)
    return [answered(one, slopes) for one in zip(*found, strict=True)]


def run_numba(code: str, rows: Sequence[Row], slopes: list[str], folder: Path | None) -> list[Answer]:
    function = executed(code)
    answers = []
    for numbers in in_order(code, rows):
        found = function(*numbers)
        answers.append(answered(found if isinstance(found, tuple) else (found,), slopes))
    return answers


def run_c(code: str, rows: Sequence[Row], slopes: list[str], folder: Path | None) -> list[Answer]:
    assert folder is not None
    return c_answers(compiled({"it": code}, folder)["it"], rows, slopes)


def compiled(codes: Mapping[str, str], folder: Path) -> dict[str, Any]:
    """The functions of several files of C, put together into one with what they share once; no warning is let pass."""
    folder = Path(tempfile.mkdtemp(dir=folder))  # a library is loaded once by its path
    parts: dict[str, None] = {}
    for place, code in enumerate(codes.values()):
        named = code.replace("double value_and_gradient(", f"double f{place}(")
        parts |= dict.fromkeys(part for part in named.split("\n\n"))
    source, library = folder / "emitted.c", folder / "emitted.so"
    source.write_text("\n\n".join(parts), encoding="utf-8")
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O0"]
    command = [str(COMPILER), *strict, "-shared", "-fPIC", str(source), "-o", str(library), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr[:2000]) == (0, "")
    loaded = ctypes.CDLL(str(library))
    return {name: loaded[f"f{place}"] for place, name in enumerate(codes)}


def c_answers(function: Any, rows: Sequence[Row], slopes: Sequence[str]) -> list[Answer]:
    function.restype = ctypes.c_double
    answers = []
    for row in rows:
        places = [ctypes.c_double(math.nan) for _ in slopes]
        value = function(*map(ctypes.c_double, row.values()), *map(ctypes.byref, places))
        answers.append((number(value), {name: number(one.value) for name, one in zip(slopes, places, strict=True)}))
    return answers


def run_javascript(code: str, rows: Sequence[Row], slopes: list[str], folder: Path | None) -> list[Answer]:
    names = [name.strip() for name in re.search(r"export function \w+\(([^)]*)\)", code)[1].split(",")]  # type: ignore[index]
    assert all(len(row) == len([name for name in names if name]) for row in rows)
    numbers = json.dumps([list(row.values()) for row in rows])
    told = f"const told = {numbers}.map((row) => value_and_gradient(...row));\n"
    told += "console.log(JSON.stringify(told.map(({ value, gradient }) => [value, Object.entries(gradient)])));\n"
    answers = []
    for value, gradient in json.loads(in_node(f"{code}\n{told}")):
        assert [name for name, _ in gradient] == slopes
        answers.append((number(value), {name: number(slope) for name, slope in gradient}))
    return answers


def in_node(module: str) -> str:
    """What a module of JavaScript prints; it fails where Node is not installed."""
    command = ["node", "--input-type=module", "-"]
    done = subprocess.run(command, input=module, capture_output=True, encoding="utf-8", timeout=60)
    assert (done.returncode, done.stderr[:2000]) == (0, "")
    return done.stdout


def run_sql(code: str, rows: Sequence[Row], slopes: list[str], folder: Path | None) -> list[Answer]:
    import duckdb

    columns = ", ".join('"' + name.replace('"', '""') + '"' for name in rows[0])
    row = f"({', '.join(['CAST(? AS DOUBLE)'] * len(rows[0]))})"
    numbers = [number for row in rows for number in row.values()]
    table = f"SELECT * FROM (VALUES {', '.join([row] * len(rows))}) AS rows({columns})"
    duckdb.execute(f"CREATE OR REPLACE TABLE data AS {table}", numbers)
    found = duckdb.execute(code).fetchall()
    return [answered(one, slopes) for one in found]


def answered(row: Sequence[Any], slopes: list[str]) -> Answer:
    """The last columns of a row: the value and the slopes."""
    value, *found = map(number, row[len(row) - len(slopes) - 1 :])
    return value, dict(zip(slopes, found, strict=True))


def run_polars(code: str, rows: Sequence[Row], slopes: list[str], folder: Path | None) -> list[Answer]:
    import polars as pl

    found = executed(code)(pl.DataFrame(list(rows))).collect().rows()
    return [answered(one, slopes) for one in found]


RUN: dict[str, Callable[[str, Sequence[Row], list[str], Path | None], list[Answer]]] = {
    "python": run_python,
    "numpy": run_arrays,
    "torch": run_torch,
    "jax": run_jax,
    "numba": run_numba,
    "c": run_c,
    "javascript": run_javascript,
    "sql": run_sql,
    "polars": run_polars,
}
