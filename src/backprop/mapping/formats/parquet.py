"""Apache Parquet, by PyArrow (extra `map`): https://parquet.apache.org/docs/file-format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, BinaryIO

from backprop.mapping import tables
from backprop.mapping.cells import ArrowColumn, Column
from backprop.mapping.footers import FileJoiner
from backprop.mapping.formats.arrow import Gate, joined, told
from backprop.mapping.tables import Batch, Cut, Joiner, Layout, Reader, Source, TableFormat, Writer, arrow, group_parts
from backprop.mistakes import CannotRead

FORMAT = TableFormat("parquet", (".parquet", ".pq"), says="columns in groups of rows, packed; PyArrow", typed=True)

# Rows in a batch, and in a group of rows that is written.
ROWS = 1 << 16
GROUP = 1 << 19
# Bytes that wait at most to be written.
WAITING = 1 << 26


def reader(source: Source) -> Reader:
    """The table in a source. Raises `CannotRead` and `ExtraMissing`."""
    arrow()
    return ParquetReader(source)


def parts(source: Source, cut: Cut) -> Iterator[Source]:
    """The table in runs of groups of rows.

    A group is cut only where there would be too few parts else: whoever does the end of one unpacks it from its
    beginning.
    """
    found = ParquetReader(source).file.metadata
    sizes = [found.row_group(place).num_rows for place in range(found.num_row_groups)]
    least = 2 * cut.size(sum(sizes), tables.ROWS, tables.FEW_ROWS)
    for part in group_parts(source, cut, sizes):
        yield from _cut(part, least) if cut.parts > 1 else [part]


def _cut(part: Source, size: int) -> Iterator[Source]:
    """A part in pieces of about so many rows, at most."""
    rows, before = part.rows or 0, part.before or 0
    pieces = max(1, -(-rows // size))
    if pieces == 1:
        yield part
        return
    ends = [rows * place // pieces for place in range(pieces + 1)]
    for begin, end in pairwise(ends):
        yield part.part(within=(begin, end), before=before + begin, rows=end - begin)


def writer(sink: BinaryIO, names: Sequence[str], layout: Layout) -> Writer:
    """A table that is written to `sink`. Raises `ExtraMissing`."""
    arrow()
    return ParquetWriter(sink, names, layout.schema)


def joiner(sink: BinaryIO, names: Sequence[str], layout: Layout) -> Joiner:
    """What puts files that were written here one behind the other, as they are."""
    return FileJoiner(sink)


class ParquetReader:
    """A table in a Parquet file."""

    def __init__(self, source: Source) -> None:
        import pyarrow.parquet as parquet

        self.source, self.origin, self.layout = source, source.name, Layout()
        if source.path == "-":
            raise CannotRead("stdin", "Parquet is read from its end, which a stream does not have", "Name the file.")
        if source.path.lower().endswith(".gz"):
            raise CannotRead(source.name, "Parquet is packed already", "Unpack it first: gunzip")
        with told(self.origin):
            self.file = parquet.ParquetFile(source.stream())
            self.schema = self.file.schema_arrow
        self.names = list(self.schema.names)
        self.rows: int | None = source.rows if source.groups else self.file.metadata.num_rows

    def batches(self, wanted: Sequence[str]) -> Iterator[Batch]:
        first = self.source.first
        with told(self.origin):
            groups = range(*self.source.groups or (self.file.metadata.num_row_groups,))
            for batch in self._within(self.file.iter_batches(ROWS, groups, list(wanted))):
                columns: dict[str, Column] = {name: ArrowColumn(batch.column(name)) for name in wanted}
                yield Batch(first, batch.num_rows, columns)
                first += batch.num_rows
            if first == self.source.first:
                yield Batch(first, 0, {name: ArrowColumn(_none_of(self.schema.field(name).type)) for name in wanted})

    def _within(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Those rows that belong to this part."""
        if self.source.within is None:
            yield from batches
            return
        begin, end = self.source.within
        for batch in batches:
            yield from [batch.slice(max(0, begin), end - max(0, begin))] if begin < batch.num_rows else []
            begin, end = begin - batch.num_rows, end - batch.num_rows
            if end <= 0:
                return


def _none_of(kind: Any) -> Any:
    return arrow().array([], kind)


class ParquetWriter:
    """A Parquet file; rows wait until they are enough for a group."""

    def __init__(self, sink: BinaryIO, names: Sequence[str], schema: Any = None) -> None:
        self.gate, self.names, self.schema = Gate(sink), list(names), schema
        self.file: Any = None
        self.waiting: list[Any] = []

    def write(self, batch: Batch) -> None:
        import pyarrow.parquet as parquet

        found = joined(batch, self.names, self.schema)
        if self.file is None:
            self.schema = found.schema
            # doubles hardly ever repeat, and to look for some that do takes as long as to write them
            repeats = [one.name for one in found.schema if not arrow().types.is_floating(one.type)]
            self.file = parquet.ParquetWriter(self.gate, found.schema, use_dictionary=repeats or False)
        self.waiting.append(found)
        rows = sum(one.num_rows for one in self.waiting)
        if rows >= GROUP or sum(one.nbytes for one in self.waiting) >= WAITING:
            self._flush()

    def end_part(self) -> None:
        """The rows so far are groups of their own, as they would be in a file of their own."""
        self._flush()

    def _flush(self) -> None:
        if any(one.num_rows for one in self.waiting):
            self.file.write_table(arrow().Table.from_batches(self.waiting), row_group_size=GROUP)
        self.waiting = []

    def close(self) -> None:
        self._flush()
        self.file.close()

    def __del__(self) -> None:
        self.gate.is_open = False
