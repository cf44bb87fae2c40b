"""Arrow IPC files, also known as Feather 2, by PyArrow (extra `map`): https://arrow.apache.org/docs/format/Columnar.html."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

from backprop.mapping.cells import ArrowColumn, Column
from backprop.mapping.tables import Batch, Cut, Layout, Reader, Source, TableFormat, Writer, arrow, group_parts, reading
from backprop.mistakes import CannotRead, ColumnChanges

FORMAT = TableFormat(
    "arrow", (".arrow", ".feather", ".ipc"), says="Arrow's own file, also called Feather; PyArrow", typed=True
)


def reader(source: Source) -> Reader:
    """The table in a source. Raises `CannotRead` and `ExtraMissing`."""
    arrow()
    if source.path == "-":
        raise CannotRead("stdin", "an Arrow file is read from its end", "A stream is read from stdin: --from arrows")
    return ArrowFile(source)


def parts(source: Source, cut: Cut) -> Iterator[Source]:
    """The table in runs of record batches, each taken to have as many rows as the first."""
    file = ArrowFile(source).file
    with told(source.name):
        count = file.num_record_batches
        yield from group_parts(source, cut, [file.get_batch(0).num_rows if count else 0] * count, exact=False)


def writer(sink: BinaryIO, names: Sequence[str], layout: Layout) -> Writer:
    """A table that is written to `sink`. Raises `ExtraMissing`."""
    return ArrowWriter(sink, names, arrow().ipc.new_file, layout.schema)


@contextmanager
def told(origin: str) -> Iterator[None]:
    """What PyArrow says of a file, as `CannotRead`."""
    pa = arrow()
    try:
        with reading(origin):
            yield
    except MemoryError:  # which PyArrow has one of its own for; the file may be whole
        raise
    except (pa.ArrowException, KeyError, IndexError) as error:
        raise CannotRead(origin, str(error).partition("\n")[0][:300], "Is it whole?") from None


class ArrowFile:
    """A table in an Arrow file."""

    def __init__(self, source: Source) -> None:
        self.source, self.origin, self.layout = source, source.name, Layout()
        with told(self.origin):
            self.file = arrow().ipc.open_file(source.stream())
            self.schema = self.file.schema
        self.names = list(self.schema.names)
        self.rows: int | None = None

    def batches(self, wanted: Sequence[str]) -> Iterator[Batch]:
        with told(self.origin):
            yield from batches_of(self._found(), self.schema, wanted, self.source.first)

    def _found(self) -> Iterator[Any]:
        for place in range(*self.source.groups or (self.file.num_record_batches,)):
            yield self.file.get_batch(place)


# Larger batches are taken in parts, so that memory does not depend on how the table was written.
ROWS = 1 << 16


def batches_of(found: Iterator[Any], schema: Any, wanted: Sequence[str], begin: int = 1) -> Iterator[Batch]:
    """Record batches of PyArrow, as ours."""
    first = begin
    for whole in found:
        for place in range(0, whole.num_rows, ROWS):
            batch = whole.slice(place, ROWS)
            columns: dict[str, Column] = {name: ArrowColumn(batch.column(name)) for name in wanted}
            yield Batch(first, batch.num_rows, columns)
            first += batch.num_rows
    if first == begin:
        yield Batch(begin, 0, {name: ArrowColumn(arrow().array([], schema.field(name).type)) for name in wanted})


def joined(batch: Batch, names: Sequence[str], schema: Any) -> Any:
    """A batch as one of PyArrow, of the types in `schema` where there is one already. Raises `ColumnChanges`."""
    pa = arrow()
    arrays = [column.arrow() for column in batch.columns.values()]
    if schema is not None:
        for place, (name, array) in enumerate(zip(names, arrays, strict=True)):
            kind = schema.field(place).type
            if array.type == kind:
                continue
            try:
                arrays[place] = array.cast(kind)
            except pa.ArrowInvalid:
                raise ColumnChanges(name, batch.first, str(kind), str(array.type)) from None
    return pa.record_batch(arrays, names=list(names))


class Gate(io.RawIOBase):
    """What PyArrow writes to. Once it is shut nothing comes through any more.

    A writer of PyArrow that is given up ends its file all the same, so that a part of a table would look whole.
    """

    def __init__(self, sink: BinaryIO) -> None:
        self.sink, self.is_open = sink, True

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self.is_open:
            self.sink.write(data)
        return len(data)


class ArrowWriter:
    """An Arrow file or stream. `begin` makes the writer of PyArrow, once the types are known."""

    def __init__(self, sink: BinaryIO, names: Sequence[str], begin: Any, schema: Any = None) -> None:
        self.gate, self.names, self.begin = Gate(sink), list(names), begin
        self.file: Any = None
        self.schema = schema

    def write(self, batch: Batch) -> None:
        found = joined(batch, self.names, self.schema)
        if self.file is None:
            self.schema = found.schema
            self.file = self.begin(self.gate, found.schema)
        if found.num_rows:
            self.file.write_batch(found)

    def close(self) -> None:
        self.file.close()

    def __del__(self) -> None:
        self.gate.is_open = False
