"""Columns of a batch: the numbers in them, and what they are in each sort of table.

What is no number is never guessed at: an empty cell or a null is missing, and text that is none is refused with its
row and column. A boolean counts as 1 or 0.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from backprop.mapping.tables import arrow
from backprop.mistakes import ColumnType, Mistake, TableCell
from backprop.numerals import numeral

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Cells of text that say that there is nothing, besides the empty one.
MISSING = ("", "NA", "N/A", "#N/A", "null", "NULL", "None")
_PLAIN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
# The doubles from here on do not hold every whole number.
WHOLE = 2**53
# How PyArrow writes a double: its shortest digits, with an exponent outside these powers of ten.
_SMALL, _LARGE = 1e-6, 1e10


@dataclass(frozen=True, slots=True)
class Doubles:
    """The numbers of a column: an array of n doubles, NaN where `missing` (an array of n booleans, or none is).

    `rounded` are the place in the batch and the text of a whole number that no double is equal to.
    """

    values: NDArray[np.float64]
    missing: NDArray[np.bool_] | None = None
    rounded: tuple[int, str] | None = None


class Column(Protocol):
    """One column of a batch, from whatever sort of table."""

    def doubles(self, name: str, first: int, decimal: str = ".") -> Doubles:
        """The numbers in it. `name` and `first`, the number of the first row, are for what is told of a cell that
        holds none: raises `TableCell` and `ColumnType`."""

    def texts(self, decimal: str = ".") -> Sequence[str]:
        """The cells of a table of text, the empty text where one is missing."""

    def values(self) -> Sequence[Any]:
        """Python's values, None where one is missing."""

    def arrow(self) -> Any:
        """An array of PyArrow."""


# -- text ------------------------------------------------------------------------------------------------------------


class Cells:
    """Cells of a table of text. Once their numbers are known, they are numbers where a table has types."""

    def __init__(self, cells: list[str]) -> None:
        self.cells = cells
        self.known: Doubles | None = None

    def doubles(self, name: str, first: int, decimal: str = ".") -> Doubles:
        self.known = doubles_of_texts(self.cells, name, first, decimal)
        return self.known

    def texts(self, decimal: str = ".") -> Sequence[str]:
        return self.cells

    def values(self) -> Sequence[Any]:
        if self.known is not None:
            return Numbers(self.known.values, self.known.missing).values()
        return [cell or None for cell in self.cells]

    def arrow(self) -> Any:
        if self.known is not None:
            return Numbers(self.known.values, self.known.missing).arrow()
        return arrow().array([cell or None for cell in self.cells], arrow().string())


class ArrowCells:
    """The same in an array of PyArrow's strings."""

    def __init__(self, array: Any) -> None:
        self.array = array
        self.known: Doubles | None = None

    def doubles(self, name: str, first: int, decimal: str = ".") -> Doubles:
        import numpy as np

        pa, pc = arrow(), _compute()
        cells = self.array
        missing = pc.is_in(cells, value_set=pa.array(MISSING, pa.string()))
        any_missing = bool(pc.any(missing).as_py())
        if any_missing:
            cells = pc.if_else(missing, pa.scalar(None, pa.string()), cells)
        try:
            if decimal == ",":
                if pc.any(pc.match_substring(cells, ".")).as_py():
                    raise pa.ArrowInvalid("a point")
                cells = pc.replace_substring(cells, ",", ".")
            numbers = pc.cast(cells, pa.float64())
        except pa.ArrowInvalid:  # something that only people read: 1/3, a blank, or no number at all
            self.known = doubles_of_texts(self.array.to_pylist(), name, first, decimal)
            return self.known
        mask = missing.to_numpy(zero_copy_only=False) if any_missing else None
        values = (numbers.fill_null(math.nan) if any_missing else numbers).to_numpy() + 0.0
        for place in np.flatnonzero(np.isinf(values)).tolist():  # 1e400 is no infinity
            values[place] = number_of_text(self.array[place].as_py(), name, first + place, decimal)
        large = np.flatnonzero(np.abs(values) >= WHOLE).tolist()
        rounded = _first_whole((place, self.array[place].as_py(), values[place]) for place in large)
        self.known = Doubles(values, mask, rounded)
        return self.known

    def texts(self, decimal: str = ".") -> Sequence[str]:
        found: list[str] = self.array.to_pylist()
        return found

    def values(self) -> Sequence[Any]:
        return Cells(self.array.to_pylist()).values() if self.known is None else self._numbers().values()

    def arrow(self) -> Any:
        if self.known is not None:
            return self._numbers().arrow()
        pa, pc = arrow(), _compute()
        return pc.if_else(pc.equal(self.array, ""), pa.scalar(None, pa.string()), self.array)

    def _numbers(self) -> Numbers:
        assert self.known is not None
        return Numbers(self.known.values, self.known.missing)


def doubles_of_texts(cells: Sequence[str], name: str, first: int, decimal: str) -> Doubles:
    """The numbers in cells of text, one by one. Raises `TableCell`."""
    import numpy as np

    values = np.empty(len(cells))
    missing = np.zeros(len(cells), bool)
    match = _PLAIN.fullmatch
    for place, cell in enumerate(cells):
        if decimal == "." and match(cell) and (value := float(cell)) - value == 0:
            values[place] = value
        elif cell.strip() in MISSING:
            values[place], missing[place] = math.nan, True
        else:
            values[place] = number_of_text(cell, name, first + place, decimal)
    large = np.flatnonzero(np.abs(values) >= WHOLE).tolist()
    rounded = _first_whole((place, cells[place], values[place]) for place in large)
    return Doubles(values + 0.0, missing if missing.any() else None, rounded)


def _first_whole(found: Iterable[tuple[int, str, float]]) -> tuple[int, str] | None:
    """The first whole number that its double is not equal to; one written with an exponent is no count or key."""
    for place, text, value in found:
        if text.strip().lstrip("+-").isdecimal() and int(text) != int(value):
            return place, text.strip()
    return None


def number_of_text(cell: str, name: str, row: int, decimal: str) -> float:
    """The double nearest to what a cell says: 2.5, 1e-3, 1/3, −1, inf, NaN. Raises `TableCell`."""
    from backprop.kinds.real import REAL

    text = cell.strip()
    if text.lower() == "nan":
        return math.nan
    if "\n" in text:
        raise TableCell(name, row, cell, "The cell goes on behind its line: is a quotation mark never closed?")
    if decimal == ",":
        if "." in text:
            raise TableCell(name, row, cell, "With --decimal , a point separates nothing: 1.000,5 is written 1000,5.")
        text = text.replace(",", ".")
    elif "," in text:
        digits = text.replace(",", "")
        if re.fullmatch(r"[-+−]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?", text):
            point = f" or, with a decimal point, {text.replace(',', '.')}" if text.count(",") == 1 else ""
            raise TableCell(name, row, cell, f"Numbers have no separators of thousands: write {digits}{point}.")
        raise TableCell(
            name, row, cell, "A decimal point is needed, as in 2.5; with --decimal , all commas are decimal."
        )
    try:
        return float(REAL.number(numeral(text, name)))
    except OverflowError:
        raise TableCell(name, row, cell, "It is beyond the largest double, 1.8e308.") from None
    except (Mistake, ValueError, ZeroDivisionError):
        raise TableCell(
            name, row, cell, "Numbers look like 3, -1, 2.5, 1e-3, 1/3, inf; an empty cell is missing."
        ) from None


def number_text(value: float) -> str:
    """A double as a cell: the shortest digits that give it back, as PyArrow writes them.

    >>> [number_text(value) for value in (5.0, 0.1, 1e-5, 1.5e10, 1e-7)]
    ['5', '0.1', '0.00001', '1.5e+10', '1e-7']
    """
    text = repr(value)
    if text.endswith(".0") and -_LARGE < value < _LARGE:
        return text[:-2]
    size = abs(value)
    if ("e" not in text and size < _LARGE) or value - value != 0:
        return text
    digits, _, power = text.lstrip("-").partition("e")
    sign = "-" if value < 0 else ""
    whole, _, decimals = digits.partition(".")
    decimals = "" if decimals == "0" else decimals
    if _SMALL <= size < 1:
        return f"{sign}0.{'0' * (-int(power) - 1)}{whole}{decimals}"
    exponent = int(power or 0) + len(whole) - 1
    mantissa = (whole[1:] + decimals).rstrip("0")
    return f"{sign}{whole[0]}{'.' if mantissa else ''}{mantissa}e{'+' if exponent > 0 else '-'}{abs(exponent)}"


# -- values of Python ------------------------------------------------------------------------------------------------


class Values:
    """Values as JSON has them: numbers, texts, booleans, None, and lists and records of them."""

    def __init__(self, found: list[Any]) -> None:
        self.found = found
        self.known: Doubles | None = None

    def doubles(self, name: str, first: int, decimal: str = ".") -> Doubles:
        import numpy as np

        values = np.empty(len(self.found))
        missing = np.zeros(len(self.found), bool)
        rounded: tuple[int, str] | None = None
        for place, value in enumerate(self.found):
            kind = type(value)
            if kind is float or kind is bool:
                values[place] = value
            elif kind is int:
                try:
                    values[place] = value
                except OverflowError:
                    told = "It is beyond the largest double, 1.8e308."
                    raise TableCell(name, first + place, _short(value), told) from None
                if rounded is None and not -WHOLE <= value <= WHOLE and int(values[place]) != value:
                    rounded = place, str(value)
            elif value is None:
                values[place], missing[place] = math.nan, True
            elif value in ("NaN", "Infinity", "-Infinity"):  # as JSON is written here
                values[place] = float(value)
            else:
                told = "Numbers stand without quotation marks: 2.5; null is missing."
                raise TableCell(name, first + place, _short(value), told)
        self.known = Doubles(values + 0.0, missing if missing.any() else None, rounded)
        return self.known

    def texts(self, decimal: str = ".") -> Sequence[str]:
        return [_text(value, decimal) for value in self.found]

    def values(self) -> Sequence[Any]:
        return self.found

    def arrow(self) -> Any:
        if self.known is not None:
            return Numbers(self.known.values, self.known.missing).arrow()
        pa = arrow()
        kinds = {type(value) for value in self.found} - {type(None)}
        if kinds == {int} and all(value is None or -(2**63) <= value < 2**63 for value in self.found):
            return pa.array(self.found, pa.int64())
        if kinds and kinds <= {int, float}:
            return pa.array([None if value is None else float(value) for value in self.found], pa.float64())
        if kinds == {bool}:
            return pa.array(self.found, pa.bool_())
        return pa.array([None if value is None else _text(value, ".") for value in self.found], pa.string())


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."


def _text(value: Any, decimal: str) -> str:
    """A value of JSON as a cell of text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return number_text(value).replace(".", decimal)
    return json.dumps(value, ensure_ascii=False, default=str)


# -- arrays of PyArrow -----------------------------------------------------------------------------------------------


class ArrowColumn:
    """A column of a table that has types. It is carried over as it is."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def doubles(self, name: str, first: int, decimal: str = ".") -> Doubles:
        pa, pc = arrow(), _compute()
        types, array = pa.types, self.array
        if types.is_dictionary(array.type):
            array = array.dictionary_decode()
        kind = array.type
        if not (types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_null(kind)):
            raise ColumnType(name, str(kind), first)
        rounded = None
        if types.is_boolean(kind):
            array = pc.cast(array, pa.uint8())
        try:
            numbers = pc.cast(array, pa.float64())
        except pa.ArrowInvalid:  # whole numbers so large that doubles may not hold them
            numbers = pc.cast(array, pa.float64(), safe=False)
            rounded = _first_rounded(array, numbers)
        mask = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
        return Doubles((numbers.fill_null(math.nan) if array.null_count else numbers).to_numpy() + 0.0, mask, rounded)

    def texts(self, decimal: str = ".") -> Sequence[str]:
        if arrow().types.is_floating(self.array.type):
            return Numbers.of(self.array).texts(decimal)
        return [_text(value, decimal) for value in self.values()]

    def values(self) -> Sequence[Any]:
        """As JSON has them: what it has no word for, such as a date or a decimal, is text."""
        found: list[Any] = self.array.to_pylist()
        if arrow().types.is_nested(self.array.type):
            return [json.loads(json.dumps(value, default=str)) for value in found]
        plain = (str, int, float, bool, type(None))
        return found if all(isinstance(value, plain) for value in found) else [_plain(value) for value in found]

    def arrow(self) -> Any:
        return self.array


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, (str, int, float, type(None))) else str(value)


def _first_rounded(array: Any, numbers: Any) -> tuple[int, str] | None:
    for place, (value, number) in enumerate(zip(array.to_pylist(), numbers.to_pylist(), strict=True)):
        if value is not None and int(number) != value:
            return place, str(value)
    return None


def _compute() -> Any:
    import pyarrow.compute

    return pyarrow.compute


# -- results ---------------------------------------------------------------------------------------------------------


class Numbers:
    """Doubles that were worked out, with those that are missing."""

    def __init__(self, found: NDArray[np.float64], missing: NDArray[np.bool_] | None = None) -> None:
        self.found = found
        self.missing = missing

    @classmethod
    def of(cls, array: Any) -> Numbers:
        """The numbers in an array of PyArrow."""
        known = ArrowColumn(array).doubles("", 1)
        return cls(known.values, known.missing)

    def doubles(self, name: str, first: int, decimal: str = ".") -> Doubles:
        return Doubles(self.found, self.missing)

    def texts(self, decimal: str = ".") -> Sequence[str]:
        texts: Iterable[str] = map(number_text, self.found.tolist())
        if decimal != ".":
            texts = (text.replace(".", decimal) for text in texts)
        if self.missing is None:
            return list(texts)
        return ["" if missing else text for text, missing in zip(texts, self.missing.tolist(), strict=True)]

    def values(self) -> Sequence[Any]:
        found: list[float] = self.found.tolist()
        if self.missing is None:
            return found
        return [None if missing else value for value, missing in zip(found, self.missing.tolist(), strict=True)]

    def arrow(self) -> Any:
        return arrow().array(self.found, mask=self.missing)


class Notes:
    """A text for each row, None where there is nothing to say. `told` holds them by their place in the batch."""

    def __init__(self, rows: int, told: dict[int, str]) -> None:
        self.rows = rows
        self.told = told

    def doubles(self, name: str, first: int, decimal: str = ".") -> Doubles:
        raise ColumnType(name, "string", first)

    def texts(self, decimal: str = ".") -> Sequence[str]:
        found = [""] * self.rows
        for place, text in self.told.items():
            found[place] = text
        return found

    def values(self) -> Sequence[Any]:
        found: list[str | None] = [None] * self.rows
        for place, text in self.told.items():
            found[place] = text
        return found

    def arrow(self) -> Any:
        pa = arrow()
        return pa.nulls(self.rows, pa.string()) if not self.told else pa.array(self.values(), pa.string())
