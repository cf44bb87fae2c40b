"""CSV, and TSV: a line of names, then a row a line, read as text so that what is carried over stays letter for letter.

With PyArrow it is read and written many times faster; without it Python's own module does it, with the same result.
https://www.rfc-editor.org/rfc/rfc4180
"""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from backprop.mapping.cells import ArrowCells, ArrowColumn, Cells, Column, Notes, Numbers
from backprop.mapping.lines import LineJoiner, line_parts
from backprop.mapping.tables import Batch, Cut, Joiner, Layout, Reader, Source, TableFormat, Writer, has_arrow, reading
from backprop.mistakes import CannotRead, OptionValue, RaggedRow

FORMAT = TableFormat("csv", (".csv", ".tsv", ".tab"), says="text, a line of names and a row a line")

# Bytes of text in a batch; no row is much longer.
BLOCK = 1 << 22
# Letters in a cell without PyArrow.
LONGEST = 1 << 26
# Rows in a batch without PyArrow.
ROWS = 1 << 14
_MARK_OR_END = re.compile(rb'["\r\n]')
_NEEDS_QUOTES = '["\n\r{}]'


def reader(source: Source) -> Reader:
    """The table in a source. Raises `CannotRead`."""
    stream = _Text(source.stream(), source.head)
    head = stream.first_line(source.name)
    separator = _separator(source, head)
    names = next(csv.reader(io.StringIO(head), delimiter=separator, skipinitialspace=True))
    layout = Layout(separator, source.decimal)
    if has_arrow():
        return ArrowReader(source, stream, names, layout)
    return PlainReader(source, stream, names, layout)


def parts(source: Source, cut: Cut) -> Iterator[Source]:
    """The table in runs of whole lines."""
    text = _Text(source.stream())
    head = text.first_line(source.name)
    text.stream.close()
    length = len(head.encode())
    for end in (b"\r\n", b"\n"):
        if text.waiting.startswith(end, length):
            line = text.waiting[: length + len(end)]
            yield from line_parts(source, cut, line, text.passed + len(line), _separator(source, head))
            return
    yield source


def writer(sink: BinaryIO, names: Sequence[str], layout: Layout) -> Writer:
    """A table that is written to `sink`."""
    return ArrowWriter(sink, names, layout) if has_arrow() else PlainWriter(sink, names, layout)


def joiner(sink: BinaryIO, names: Sequence[str], layout: Layout) -> Joiner:
    """What puts files that were written here one behind the other."""
    return LineJoiner(sink, len(_line(names, layout).encode()))


def _separator(source: Source, head: str) -> str:
    """What stands between cells: as asked for, else a tab or a semicolon where the line of names has no comma."""
    if source.separator:
        asked = {"tab": "\t", r"\t": "\t"}.get(source.separator, source.separator)
        if len(asked) != 1 or asked in '"\r\n' or asked == source.decimal:
            raise OptionValue("separator", source.separator, "One letter that stands between cells: ;  or  tab")
        return asked
    if source.decimal == ",":
        return "\t" if "\t" in head else ";"
    bare = re.sub('"[^"]*"', "", head)
    return "," if "," in bare else next((sign for sign in "\t;" if sign in bare), ",")


class _Text(io.RawIOBase):
    """The bytes of a table, without a byte order mark, their quotation marks counted."""

    def __init__(self, stream: BinaryIO, head: bytes = b"") -> None:
        self.stream = stream
        self.waiting = head
        self.passed = 0  # bytes before the line of names
        self.marks = 0

    def readable(self) -> bool:
        return True

    def first_line(self, name: str) -> str:
        """The line of names, which may go on inside quotation marks; it stays to be read. Raises `CannotRead`."""
        end, looked_at, inside = -1, 0, False
        while end < 0:
            data = self.stream.read(1 << 16)
            if not self.waiting and data[:2] in (b"\xff\xfe", b"\xfe\xff"):
                raise CannotRead(name, "this is text in UTF-16", "Save it as UTF-8.")
            if not self.waiting:
                found_bytes = len(data)
                data = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
                self.passed += found_bytes - len(data)
            self.waiting += data
            if not data:  # nothing but a line of names
                self.waiting += b"\n"
            for found in _MARK_OR_END.finditer(self.waiting, looked_at):
                if found[0] == b'"':
                    inside = not inside
                elif not inside:
                    end = found.start()
                    break
            looked_at = len(self.waiting)
            if end < 0 and (not data or len(self.waiting) > BLOCK):
                break
        line = self.waiting if end < 0 else self.waiting[:end]
        if not line.strip():
            raise CannotRead(name, "there is nothing in it", "The first line of a CSV file names the columns: x,y")
        if line.count(b'"') % 2:
            raise CannotRead(name, "a quotation mark in the line of names is never closed")
        if len(line) > BLOCK:
            raise CannotRead(name, f"the line of names goes on for more than {BLOCK >> 20} MiB")
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise CannotRead(name, f"byte {error.start + 1} is no text", "Text is read as UTF-8.") from None
        if "\0" in text:
            raise CannotRead(name, f"byte {text.index(chr(0)) + 1} is no text", "Text is read as UTF-8.")
        return text

    def readinto(self, buffer: Any) -> int:
        data = self.waiting[: len(buffer)] if self.waiting else self.stream.read(len(buffer))
        self.waiting = self.waiting[len(data) :]
        self.marks += data.count(b'"')
        buffer[: len(data)] = data
        return len(data)


# -- by PyArrow ------------------------------------------------------------------------------------------------------


class ArrowReader:
    """A CSV table, read by PyArrow, every cell as text."""

    rows: int | None = None

    def __init__(self, source: Source, text: _Text, names: list[str], layout: Layout) -> None:
        self.origin, self.begin = source.name, source.first
        self.text, self.names, self.layout = text, names, layout

    def batches(self, wanted: Sequence[str]) -> Iterator[Batch]:
        import pyarrow as pa
        import pyarrow.csv as arrow_csv

        # names of our own: theirs may be empty
        keys = [str(place) for place in range(len(self.names))]
        ragged: list[tuple[int, str]] = []

        def refuse(row: Any) -> str:
            ragged.append((row.actual_columns, row.text))
            return "error"

        first = self.begin
        try:
            found = arrow_csv.open_csv(
                io.BufferedReader(self.text, 1 << 16),
                arrow_csv.ReadOptions(use_threads=False, block_size=BLOCK, column_names=keys, skip_rows_after_names=1),
                arrow_csv.ParseOptions(
                    delimiter=self.layout.separator, newlines_in_values=True, invalid_row_handler=refuse
                ),
                arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(keys, pa.string()),
                    include_columns=[keys[self.names.index(name)] for name in wanted] or keys[:1],
                    strings_can_be_null=False,
                ),
            )
            last = None
            while True:
                batch = found.read_next_batch()
                if not batch.num_rows:
                    continue
                columns = dict(zip(wanted, map(ArrowCells, batch.columns), strict=False))
                yield Batch(first, batch.num_rows, dict[str, Column](columns))
                first += batch.num_rows
                last = batch
        except StopIteration:
            if self.text.marks % 2 and last is not None and any("\n" in str(one[-1]) for one in last.columns):
                raise _unclosed(self.origin, first - 1) from None
            if first == self.begin:
                yield Batch(first, 0, {name: ArrowCells(pa.array([], pa.string())) for name in wanted})
        except pa.ArrowInvalid as error:
            raise self._told(str(error), ragged, first) from None
        except (OSError, EOFError, zlib.error) as error:
            with reading(self.origin):
                raise error

    def _number(self, found: re.Match[str]) -> int:
        """The number of a row, from that of its line."""
        return self.begin + int(found[1]) - 2

    def _told(self, error: str, ragged: list[tuple[int, str]], first: int) -> Exception:
        """What PyArrow found, in our words."""
        if ragged:
            length, text = ragged[0]
            row = re.search(r"Row #(\d+)", error)
            return RaggedRow(self.origin, self._number(row) if row else first, length, self.names, text)
        if "straddling" in error:
            told = f"row {first} or one soon after goes on for more than {BLOCK >> 20} MiB"
            return CannotRead(self.origin, told, "Is a quotation mark never closed?")
        if "UTF8" in error:
            column = re.search(r"column #(\d+)", error)
            at = f", column {self.names[int(column[1])]}," if column else ""
            row = re.search(r"Row #(\d+)", error)
            where = f"row {self._number(row)}" if row else f"row {first} or one soon after"
            return CannotRead(self.origin, f"{where}{at} is no text", "Text is read as UTF-8.")
        return CannotRead(self.origin, error.partition("\n")[0][:300])


def _unclosed(origin: str, row: int) -> CannotRead:
    return CannotRead(
        origin,
        f"a quotation mark in row {row} is never closed",
        'Inside quotation marks one is written twice: "5"" wide"',
    )


class ArrowWriter:
    """A CSV table, its lines put together by PyArrow."""

    def __init__(self, sink: BinaryIO, names: Sequence[str], layout: Layout) -> None:
        self.sink, self.layout = sink, layout
        self.head = _line(names, layout).encode()  # it goes out with the first rows: what is refused leaves nothing

    def write(self, batch: Batch) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        self.sink.write(self.head)
        self.head = b""
        if not batch.rows:
            return
        columns = [self._cells(column) for column in batch.columns.values()]
        # the line end belongs to the last cell, so that the text of all the rows is one run of bytes
        columns[-1] = pc.binary_join_element_wise(columns[-1], "\n", "")
        joined = pc.binary_join_element_wise(*columns, self.layout.separator)
        for lines in joined.chunks if isinstance(joined, pa.ChunkedArray) else [joined]:
            offsets, text = lines.buffers()[1:]
            places = memoryview(offsets).cast("i" if lines.type == pa.string() else "q")
            self.sink.write(memoryview(text)[places[lines.offset] : places[lines.offset + len(lines)]])

    def _cells(self, column: Column) -> Any:
        """The cells as an array of strings, in quotation marks where they have to be."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if isinstance(column, Numbers) or (isinstance(column, ArrowColumn) and _is_number(column.array.type)):
            array = column.arrow()
            text = pc.cast(array, pa.string())
            if self.layout.decimal != "." and pa.types.is_floating(array.type):
                text = pc.replace_substring(text, ".", self.layout.decimal)
            return pc.fill_null(text, "") if text.null_count else text
        if isinstance(column, Notes) and not column.told:
            return pa.repeat("", column.rows)
        if isinstance(column, ArrowCells):
            text = column.array
        else:
            text = pa.array(column.texts(self.layout.decimal), pa.string())
        needs = pc.match_substring_regex(text, _NEEDS_QUOTES.format(re.escape(self.layout.separator)))
        if pc.any(needs).as_py():
            quoted = pc.binary_join_element_wise('"', pc.replace_substring(text, '"', '""'), '"', "")
            text = pc.if_else(needs, quoted, text)
        return text

    def close(self) -> None:
        pass


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind))


# -- by Python alone -------------------------------------------------------------------------------------------------


class PlainReader:
    """A CSV table, read by Python's own module."""

    rows: int | None = None

    def __init__(self, source: Source, text: _Text, names: list[str], layout: Layout) -> None:
        self.origin, self.begin = source.name, source.first
        self.text, self.names, self.layout = text, names, layout

    def batches(self, wanted: Sequence[str]) -> Iterator[Batch]:
        usual = csv.field_size_limit(LONGEST)  # of the whole process: put back when the table has been read
        places = [self.names.index(name) for name in wanted]
        lines = io.TextIOWrapper(io.BufferedReader(self.text), "utf-8", newline="")
        found = csv.reader(lines, delimiter=self.layout.separator, strict=True)
        rows: list[list[str]] = []
        first = self.begin
        try:
            next(found)
            for row in found:
                if not row:  # a line with nothing on it
                    continue
                if len(row) != len(self.names):
                    text = self.layout.separator.join(row)
                    raise RaggedRow(self.origin, first + len(rows), len(row), self.names, text)
                rows.append(row)
                if len(rows) == ROWS:
                    yield self._batch(first, rows, wanted, places)
                    first += len(rows)
                    rows = []
        except csv.Error as error:
            if "unexpected end" in str(error):
                raise _unclosed(self.origin, first + len(rows)) from None
            raise CannotRead(self.origin, f"row {first + len(rows)} cannot be told apart: {error}") from None
        except UnicodeDecodeError:
            told = f"row {first + len(rows)} or one soon after is no text"
            raise CannotRead(self.origin, told, "Text is read as UTF-8.") from None
        except (OSError, EOFError, zlib.error) as error:
            with reading(self.origin):
                raise error
        finally:
            csv.field_size_limit(usual)
        if rows or first == self.begin:
            yield self._batch(first, rows, wanted, places)

    def _batch(self, first: int, rows: list[list[str]], wanted: Sequence[str], places: list[int]) -> Batch:
        columns = {name: Cells([row[place] for row in rows]) for name, place in zip(wanted, places, strict=True)}
        return Batch(first, len(rows), dict[str, Column](columns))


class PlainWriter:
    """A CSV table, written by Python's own module."""

    def __init__(self, sink: BinaryIO, names: Sequence[str], layout: Layout) -> None:
        self.sink, self.layout = sink, layout
        self.head = _line(names, layout).encode()  # it goes out with the first rows: what is refused leaves nothing

    def write(self, batch: Batch) -> None:
        text = io.StringIO()
        self.sink.write(self.head)
        self.head = b""
        rows = zip(*(column.texts(self.layout.decimal) for column in batch.columns.values()), strict=True)
        csv.writer(text, delimiter=self.layout.separator, lineterminator="\n").writerows(rows)
        self.sink.write(text.getvalue().encode())

    def close(self) -> None:
        pass


def _line(cells: Sequence[str], layout: Layout) -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=layout.separator, lineterminator="\n").writerow(cells)
    return text.getvalue()
