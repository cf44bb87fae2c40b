"""Arrow IPC streams, by PyArrow (extra `map`): what programs hand each other through a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from backprop.mapping.formats.arrow import ArrowWriter, batches_of, told
from backprop.mapping.tables import Batch, Layout, Reader, Source, TableFormat, Writer, arrow

FORMAT = TableFormat("arrows", (".arrows",), says="Arrow's stream, for pipes; PyArrow", typed=True)


def reader(source: Source) -> Reader:
    """The table in a source. Raises `CannotRead` and `ExtraMissing`."""
    arrow()
    return ArrowStream(source)


def writer(sink: BinaryIO, names: Sequence[str], layout: Layout) -> Writer:
    """A table that is written to `sink`. Raises `ExtraMissing`."""
    return ArrowWriter(sink, names, arrow().ipc.new_stream, layout.schema)


class ArrowStream:
    """A table in an Arrow stream."""

    def __init__(self, source: Source) -> None:
        self.origin, self.layout = source.name, Layout()
        with told(self.origin):
            self.stream = arrow().ipc.open_stream(source.stream())
            self.schema = self.stream.schema
        self.names = list(self.schema.names)
        self.rows: int | None = None

    def batches(self, wanted: Sequence[str]) -> Iterator[Batch]:
        with told(self.origin):
            yield from batches_of(iter(self.stream), self.schema, wanted)
