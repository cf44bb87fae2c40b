"""NDJSON: a record in JSON a line, a row each. The columns are the keys of the first record, in its order.

https://github.com/ndjson/ndjson-spec. NaN and the infinities are the strings "NaN", "Infinity" and "-Infinity", as in
all JSON that is written here.
"""

from __future__ import annotations

import io
import json
import math
import zlib
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, BinaryIO

from backprop.figures import json_value
from backprop.mapping.cells import Column, Values
from backprop.mapping.lines import LineJoiner, line_parts
from backprop.mapping.tables import Batch, Cut, Joiner, Layout, Reader, Source, TableFormat, Writer, reading
from backprop.mistakes import BadRecord, CannotRead, ColumnTwice

FORMAT = TableFormat("ndjson", (".ndjson", ".jsonl"), says="a record in JSON a line")

ROWS = 1 << 14
# Bytes of a line; what is longer is no row.
LONGEST = 1 << 26


def reader(source: Source) -> Reader:
    """The table in a source. Raises `CannotRead` and `BadRecord`."""
    return RecordReader(source)


def parts(source: Source, cut: Cut) -> Iterator[Source]:
    """The table in runs of whole lines. The first record stands in each part for the names of the columns."""
    stream = source.stream()
    begin, line = 0, b""
    while not line.removeprefix(b"\xef\xbb\xbf").strip():
        begin += len(line)
        line = stream.readline(LONGEST + 1)
        if not line or len(line) > LONGEST:
            yield source
            return
    stream.close()
    yield from line_parts(source, cut, line, begin)


def writer(sink: BinaryIO, names: Sequence[str], layout: Layout) -> Writer:
    """A table that is written to `sink`."""
    return RecordWriter(sink, names)


def joiner(sink: BinaryIO, names: Sequence[str], layout: Layout) -> Joiner:
    """What puts files one behind the other."""
    return LineJoiner(sink)


class RecordReader:
    """A table of records. A record that lacks a key has no value there; one with a key that is new is refused."""

    rows: int | None = None

    def __init__(self, source: Source) -> None:
        self.origin = source.name
        self.layout = Layout()
        self.begin = source.first
        self.records = _records(source.stream(), self.origin, self.begin)
        self.first = next(self.records, None)
        if source.head:
            self.names = list(next(_records(io.BytesIO(source.head), self.origin)))
            return
        if self.first is None:
            raise CannotRead(self.origin, "there is nothing in it", 'A row is a record a line: {"x": 1.5, "y": 2}')
        self.names = list(self.first)

    def batches(self, wanted: Sequence[str]) -> Iterator[Batch]:
        known, first = set(self.names), self.begin
        rows: list[dict[str, Any]] = []
        for record in chain([] if self.first is None else [self.first], self.records):
            if not record.keys() <= known:
                new = next(key for key in record if key not in known)
                told = f"the key {json.dumps(new, ensure_ascii=False)} is not in the first record"
                raise BadRecord(self.origin, first + len(rows), told)
            rows.append(record)
            if len(rows) == ROWS:
                yield _batch(first, rows, wanted)
                first += len(rows)
                rows = []
        if rows or first == self.begin:
            yield _batch(first, rows, wanted)


def _batch(first: int, rows: list[dict[str, Any]], wanted: Sequence[str]) -> Batch:
    columns = {name: Values([row.get(name) for row in rows]) for name in wanted}
    return Batch(first, len(rows), dict[str, Column](columns))


def _records(stream: BinaryIO, origin: str, row: int = 1) -> Iterator[dict[str, Any]]:
    """The records, one a line; lines with nothing on them are passed over. Raises `BadRecord` and `CannotRead`."""

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(items)
        if len(found) < len(items):
            name = next(key for place, (key, _) in enumerate(items) if key in dict(items[:place]))
            raise ColumnTwice(name, f"a key of row {row}", "another")
        return found

    decoder = json.JSONDecoder(object_pairs_hook=pairs, parse_constant=_constant)
    while True:
        try:
            line = stream.readline(LONGEST + 1)
        except (OSError, EOFError, zlib.error) as error:
            with reading(origin):
                raise error
        if not line:
            return
        if len(line) > LONGEST:
            raise BadRecord(origin, row, f"it goes on for more than {LONGEST >> 20} MiB")
        try:
            text = line.decode("utf-8-sig" if row == 1 else "utf-8").strip()
            if not text:
                continue
            record, end = decoder.raw_decode(text)
            if end < len(text):
                raise BadRecord(origin, row, f"behind its record stands {text[end:].strip()[:40]}")
        except RecursionError:
            raise BadRecord(origin, row, "its brackets are nested too deeply") from None
        except UnicodeDecodeError as error:
            raise BadRecord(origin, row, f"byte {error.start + 1} of it is no text (UTF-8)") from None
        except ValueError as error:
            raise BadRecord(origin, row, f"this is no JSON: {error}") from None
        if not isinstance(record, dict):
            raise BadRecord(origin, row, "it is a list" if isinstance(record, list) else f"it is {text[:40]}")
        yield record
        row += 1


def _constant(text: str) -> str:
    """NaN and Infinity, which JSON does not have and Python writes: as the strings that stand for them here."""
    return text


class RecordWriter:
    """A table of records."""

    def __init__(self, sink: BinaryIO, names: Sequence[str]) -> None:
        self.sink = sink
        keys = [json.dumps(name, ensure_ascii=False).replace("%", "%%") for name in names]
        self.template = "{" + ", ".join(f"{key}: %s" for key in keys) + "}\n"

    def write(self, batch: Batch) -> None:
        template = self.template
        rows = zip(*(_texts(column.values()) for column in batch.columns.values()), strict=True)
        self.sink.write("".join([template % row for row in rows]).encode())

    def close(self) -> None:
        pass


def _texts(values: Sequence[Any]) -> list[str]:
    """Each value as JSON."""
    kinds = {type(value) for value in values}
    if kinds == {type(None)}:
        return ["null"] * len(values)
    if kinds == {float} and math.isfinite(sum(map(abs, values))):
        return list(map(repr, values))
    return [_text(value) for value in values]


def _text(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:  # a number in it that JSON does not have
        return json.dumps(json_value(value), ensure_ascii=False)
