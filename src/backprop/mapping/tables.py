"""Tables in batches of rows: what a reader yields and a writer takes, whatever the format.

A format is one module in `mapping/formats`, with `FORMAT`, `reader(source)` and `writer(sink, names, layout)`; nothing
else lists them. Rows are counted from 1, and a line of names is not a row.
"""

from __future__ import annotations

import io
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from backprop import whole_files
from backprop.mistakes import CannotRead, ExtraMissing, UnknownFormat

if TYPE_CHECKING:
    from backprop.mapping.cells import Column

# How the file of each format begins, for data that has no name to tell it by.
_BEGINNINGS = ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"\xff\xff\xff\xff", "arrows"), (b"{", "ndjson"))


@dataclass(frozen=True, slots=True)
class TableFormat:
    """What a format is called (like its module), how its files end, what it is in a few words, and whether its columns
    are of types that are written down (`typed`)."""

    name: str
    suffixes: tuple[str, ...]
    says: str
    typed: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table is written: in text what separates its cells and what stands before the decimals, else the schema
    of PyArrow that it has to have (None: what the first rows make of it)."""

    separator: str = ","
    decimal: str = "."
    schema: Any = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Some rows of a table. `first` is the number of the first of them; every column has `rows` cells."""

    first: int
    rows: int
    columns: dict[str, Column]


class Reader(Protocol):
    """A table to read: the names of its columns, and how many rows it has where that is known beforehand."""

    names: list[str]
    layout: Layout
    rows: int | None

    def batches(self, wanted: Sequence[str]) -> Iterator[Batch]:
        """The rows, with the wanted columns alone; at least one batch, so that an empty table has its columns.

        Raises `CannotRead`, `RaggedRow` and the like for what is no table.
        """


class Writer(Protocol):
    """A table that is being written."""

    def write(self, batch: Batch) -> None:
        """Put the rows of a batch at the end. Raises `ColumnChanges` where a type of theirs is another than before."""

    def close(self) -> None:
        """Write what has to stand at the end. The stream beneath stays open."""


class Joiner(Protocol):
    """A table that is made of files that were written one by one."""

    def add(self, path: str) -> None:
        """Put the rows of a file behind those before."""

    def close(self) -> None:
        """Write what has to stand at the end. The stream beneath stays open."""


@dataclass(frozen=True, slots=True)
class Cut:
    """How a table is cut: into parts so many times smaller than usual (`portion`), and into so many `parts` at least,
    where none of them gets tiny by that."""

    portion: int = 1
    parts: int = 1

    def size(self, total: int, usual: int, least: int) -> int:
        """The size of the parts of a table of that size, `usual` and `least` as they are for a usual program.

        >>> Cut().size(10**6, 10**6, 1000), Cut(parts=8).size(10**6, 10**6, 1000), Cut(parts=8).size(4000, 10**6, 1000)
        (1000000, 125000, 1000)
        """
        size = share(total, max(1, usual // self.portion))
        if self.parts == 1:
            return size
        return min(size, max(1, least // self.portion, -(-total // self.parts)))


@dataclass(slots=True)
class Source:
    """Where a table comes from: a path, or `-` for the stream `stdin`; "" for a format that is to be found out.

    A part of a table is a source too: of text some bytes, the `span` (from, to), behind the line `head` that names its
    columns, else some `groups` (from, to) of rows, of which it may have those `within` (from, to) alone. `before`
    counts the rows of the table that stand before them, None where that is not known, and `rows` those in it.
    """

    path: str
    format: str = ""
    separator: str = ""
    decimal: str = "."
    stdin: BinaryIO | None = None
    span: tuple[int, int] | None = None
    head: bytes = b""
    groups: tuple[int, int] | None = None
    within: tuple[int, int] | None = None
    before: int | None = 0
    rows: int | None = None
    _stream: BinaryIO | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        """What the table is called in a message."""
        return "stdin" if self.path == "-" else self.path

    @property
    def is_file(self) -> bool:
        """Whether it can be opened again: a pipe has one reader."""
        return self.path != "-" and os.path.isfile(self.path)

    def stream(self) -> BinaryIO:
        """The bytes, unpacked where the name ends in .gz. Raises `CannotRead`."""
        if self._stream is None:
            if self.path == "-":
                if self.stdin is None:
                    raise CannotRead("stdin", "it is closed")
                self._stream = self.stdin
            else:
                with reading(self.name):
                    self._stream = _unpacked(self.path) if self.span is None else _slice(self.path, *self.span)
        return self._stream

    @property
    def first(self) -> int:
        """The number of its first row."""
        return 1 + (self.before or 0)

    def part(self, **facts: Any) -> Source:
        """A part of it."""
        return replace(self, **facts, _stream=None)

    def parts(self, cut: Cut | None = None) -> Iterator[Source]:
        """The table in parts that can be read apart, in their order; itself where it cannot be cut.

        Raises `CannotRead`.
        """
        with reading(self.name):
            found = module(self.format or self._by_name() or self._by_beginning())
            if not self.is_file or self.path.lower().endswith(".gz") or not hasattr(found, "parts"):
                yield self
            else:
                yield from found.parts(self.part(format=found.FORMAT.name), cut or Cut())

    def reader(self) -> Reader:
        """The table. Raises `Mistake` for one that cannot be read."""
        with reading(self.name):
            self.format = self.format or self._by_name() or self._by_beginning()
            found: Reader = module(self.format).reader(self)
            return found

    def _by_name(self) -> str | None:
        stem = self.path.lower().removesuffix(".gz")
        return next((one.name for one in formats() if stem.endswith(one.suffixes)), None)

    def _by_beginning(self) -> str:
        """The format by the first bytes; what is nothing else is CSV."""
        stream = self.stream()
        if not hasattr(stream, "peek"):
            stream = self._stream = io.BufferedReader(_Raw(stream))
        head = stream.peek(8).lstrip(b"\xef\xbb\xbf \r\n\t")
        return next((name for begin, name in _BEGINNINGS if head.startswith(begin)), "csv")


# Rows in a part, and the most parts that there should be; a part is at most so many times as large to that end.
ROWS, PARTS, LARGER = 1 << 20, 4096, 16
# Rows in the least part that is made so that there are enough parts for all who do them.
FEW_ROWS = 1 << 15


def share(total: int, least: int) -> int:
    """The size of the parts of something of that size: so that they are not too many, and never too large.

    >>> share(10**6, 1000), share(10**9, 1000)
    (1000, 16000)
    """
    return max(least, min(total // PARTS, LARGER * least))


def group_parts(source: Source, cut: Cut, sizes: Sequence[int], exact: bool = True) -> Iterator[Source]:
    """A table in runs of groups of rows; `sizes` are the rows of each group, as they are or about."""
    size = cut.size(sum(sizes), ROWS, FEW_ROWS)
    begin = before = rows = 0
    for place, more in enumerate(sizes, 1):
        rows += more
        if rows >= size or place == len(sizes):
            known = exact or not before
            yield source.part(groups=(begin, place), before=before if known else None, rows=rows if exact else None)
            begin, before, rows = place, before + rows, 0
    if not sizes:
        yield source


class _Raw(io.RawIOBase):
    """A stream that only has `read`, as one that can be looked ahead in; at most `left` bytes of it."""

    def __init__(self, stream: Any, left: int = sys.maxsize) -> None:
        self.stream, self.left = stream, left

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.stream.read(min(len(buffer), self.left))
        buffer[: len(data)] = data
        self.left -= len(data)
        return len(data)


def _slice(path: str, begin: int, end: int) -> BinaryIO:
    """The bytes of a file from one place to another."""
    file = open(path, "rb", buffering=0)  # noqa: SIM115 -- it is closed with the stream
    file.seek(begin)
    return io.BufferedReader(_Raw(file, end - begin), 1 << 16)


def _unpacked(path: str) -> BinaryIO:
    if os.path.isdir(path):
        raise IsADirectoryError(21, "it is a folder")
    if path.lower().endswith(".gz"):
        import gzip

        return io.BufferedReader(gzip.open(path, "rb"))
    return open(path, "rb")


@contextmanager
def reading(name: str) -> Iterator[None]:
    """What can go wrong with a file that is read, as `CannotRead`."""
    try:
        yield
    except EOFError:
        raise CannotRead(name, "it ends before it is whole", _TRUNCATED) from None
    except zlib.error as error:
        raise CannotRead(name, f"it is damaged: {error}", _TRUNCATED) from None
    except (OSError, ValueError) as error:
        told = (getattr(error, "strerror", None) or str(error)).partition("\n")[0]
        raise CannotRead(name, told[:300] or type(error).__name__) from None


_TRUNCATED = "Copy it again: a part of it did not arrive."


def formats() -> list[TableFormat]:
    """Every format of tables, in the order of their names.

    >>> [format.name for format in formats()]
    ['arrow', 'arrows', 'csv', 'ndjson', 'parquet']
    """
    return [one.FORMAT for one in _modules()]


@lru_cache(maxsize=1)
def _modules() -> tuple[Any, ...]:
    from pkgutil import iter_modules

    from backprop.mapping import formats as package

    names = sorted(found.name for found in iter_modules(package.__path__))
    found = [import_module(f"{package.__name__}.{name}") for name in names]
    return tuple(one for one in found if hasattr(one, "FORMAT"))


def module(name: str) -> Any:
    """The module of the format of that name. Raises `UnknownFormat`."""
    for one in _modules():
        if one.FORMAT.name == name:
            return one
    raise UnknownFormat(name, [one.name for one in formats()])


def format_of_path(path: str) -> str:
    """The format that the ending of a file stands for. Raises `UnknownFormat`."""
    stem = path.lower().removesuffix(".gz")
    for one in formats():
        if stem.endswith(one.suffixes):
            return one.name
    suffix = os.path.splitext(stem)[1]
    raise UnknownFormat(suffix or path, [one.suffixes[0] for one in formats()])


def arrow() -> Any:
    """PyArrow. Raises `ExtraMissing`."""
    try:
        import pyarrow
    except ImportError:
        raise ExtraMissing("a table in Parquet or Arrow", "map") from None
    return pyarrow


@lru_cache(maxsize=1)
def has_arrow() -> bool:
    """Whether PyArrow is installed: with it, CSV is read and written many times faster."""
    from importlib.util import find_spec

    return find_spec("pyarrow") is not None


@contextmanager
def whole_file(path: str) -> Iterator[BinaryIO]:
    """A file to write, whole or not at all (`whole_files`). What ends in .gz is packed. Raises `CannotWrite`."""
    with whole_files.whole_file(path) as file, _packed(file, path) as packed:
        yield packed


@contextmanager
def _packed(file: BinaryIO, path: str) -> Iterator[BinaryIO]:
    if not path.lower().endswith(".gz"):
        yield file
        return
    import gzip

    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:  # the same rows give the same bytes
        yield packed  # type: ignore[misc]  # a stream of bytes in all but its type
