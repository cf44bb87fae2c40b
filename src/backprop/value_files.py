"""Values in files: `--W @W.csv`, `@W.npy`, `@W.json`, and `@x.txt` with one number or an array in brackets."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from os import fstat
from pathlib import PurePath
from typing import Any

from backprop import arrays_text
from backprop.mistakes import CannotRead, EmptyArray, Mistake, NotANumber, NotReal, RaggedArray
from backprop.numerals import array_numeral, is_plain, numeral, saved_number

# Other files that arrays are saved in.
FOREIGN = (".npz", ".mat", ".pt", ".pth", ".pkl", ".pickle", ".h5", ".parquet", ".xlsx", ".ods", ".gz", ".zip")


def is_binary(path: str) -> bool:
    """Whether a file is read by `binary_value`. Raises `CannotRead` for one whose name promises what I cannot read."""
    suffix = PurePath(path).suffix.lower()
    if suffix in FOREIGN:
        raise CannotRead(path, f"files of type {suffix} are not read", "Save the array as .npy, .csv or .json")
    return suffix == ".npy"


def text_value(text: str, path: str, name: str) -> str:
    """The number or the array in the text of a file, as `numeral` gives it.

    JSON is told by the name of the file and brackets by the first letter. Rows of numbers are a table: see `table`.
    Raises `Mistake`.
    """
    suffix = PurePath(path).suffix.lower()
    with within(path):
        if not text.strip():
            raise CannotRead(path, "there is nothing in it", "One number, or an array: [1, 2, 3]")
        if suffix == ".json":
            return _json(text, path, name)
        if text.lstrip().startswith("["):
            return array_numeral(text, name)
        if suffix in (".csv", ".tsv"):
            return table(text, path, name)
        try:
            return numeral(text, name)
        except NotANumber:
            if len(text.split()) == 1 and ";" not in text and "," not in text:
                raise
        return table(text, path, name)


@contextmanager
def within(path: str) -> Iterator[None]:
    """Mistakes are told with the file in which they stand."""
    try:
        yield
    except Mistake as mistake:
        if not isinstance(mistake, CannotRead):
            mistake.origin = mistake.origin or path
        raise


def json_record(text: str, path: str, **how: Any) -> Any:
    """What JSON holds; numbers are kept as they are written, for the kinds that take them at their word.

    Raises `CannotRead`.
    """
    import json

    try:
        return json.loads(text, parse_float=str, parse_int=str, parse_constant=str, **how)
    except RecursionError:
        raise CannotRead(path, "its brackets are nested too deeply") from None
    except ValueError as error:
        raise CannotRead(path, f"this is no JSON: {error}") from None


def _json(text: str, path: str, name: str) -> str:
    record = json_record(text, path)
    if isinstance(record, dict) and record.keys() != {"mid", "rad"}:
        told = f"Values of many names are given with --at {path}"
        raise CannotRead(path, "this is neither a number nor an array", told)
    return saved_number(record, name)


def table(text: str, path: str, name: str) -> str:
    """The array in lines of cells: of several rows and columns a matrix, of one row or one column a vector.

    Semicolons separate, else tabs, else commas, else blanks; where commas do not, they may be decimal. Blank lines and
    lines that begin with # are passed over, so is a first line without a single number: the names of the columns.
    Raises `RaggedArray`, `EmptyArray`, and for a cell what `numeral` does.

    >>> table("x;y\\n0,5;1\\n2;3", "W.csv", "W")
    '[[0.5, 1], [2, 3]]'
    """
    numbered = [
        (number, line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not numbered:
        raise CannotRead(path, "there are no numbers in it")
    lines = [line for _, line in numbered]
    separator = next((sign for sign in ";\t," if sign in lines[0]), None)
    if separator is None:
        rows = [line.split() for line in lines]
    else:
        try:
            rows = list(csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True))
        except csv.Error as error:
            raise CannotRead(path, f"its cells cannot be told apart: {error}") from None
    if len(rows) != len(lines):
        raise CannotRead(path, "a quoted cell goes on over the end of its line")
    if not any(_reads(cell) for cell in rows[0]):
        if len(rows) == 1 and len(rows[0]) == 1:
            raise NotANumber(name, rows[0][0])
        del rows[0], numbered[0]
    if not rows:
        raise EmptyArray(f"{name} has names of columns and no numbers")
    first, width = numbered[0][0], len(rows[0])
    arrays_text.refuse_shape((len(rows), width), name)
    elements = []
    for (number, _), row in zip(numbered, rows, strict=True):
        if len(row) != width:
            raise RaggedArray(f"line {number}", len(row), f"line {first}", width)
        for column, cell in enumerate(row, 1):
            if is_plain(cell):
                elements.append(cell)
                continue
            elements.append(numeral(cell, f"line {number}, column {column}"))
    shape = tuple(size for size in (len(rows), width) if size > 1)
    return arrays_text.written(shape, elements)


def _reads(cell: str) -> bool:
    try:
        numeral(cell, "")
    except Mistake:
        return False
    return True


def binary_value(path: str, name: str) -> str:
    """The array in a file of NumPy's format NPY, as `numeral` gives it.

    https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html. The head of the file is judged first: no
    array is loaded that is too large, without elements, or not of real numbers. Raises `Mistake`.
    """
    from numpy import load
    from numpy.lib import format as npy

    try:
        with open(path, "rb") as file, within(path):
            version = npy.read_magic(file)
            head = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, _, holds = head(file)
            arrays_text.refuse_shape(shape, name)
            if holds.kind not in "biuf":
                raise NotReal(name, "Python objects" if holds.hasobject else str(holds))
            if fstat(file.fileno()).st_size < file.tell() + prod(shape) * holds.itemsize:
                raise CannotRead(path, "it ends before its last number")
            file.seek(0)
            return numeral(load(file, allow_pickle=False), name)
    except OSError as error:
        raise CannotRead(path, error.strerror or str(error)) from None
    except ValueError as error:
        raise CannotRead(path, f"this is no NPY file: {str(error).partition(chr(10))[0]}") from None
