"""Tables of text, cut where a row ends."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import lru_cache
from shutil import copyfileobj
from typing import Any, BinaryIO

from backprop.mapping.tables import Cut, Source

# Bytes in a part, and bytes that are looked at together.
PART, PIECE = 1 << 26, 1 << 24
# Bytes in the least part that is made so that there are enough parts for all who do them: of smaller ones a few are
# done sooner than a process begins, unless rows need care.
LEAST = 1 << 21


def line_parts(source: Source, cut: Cut, head: bytes, begin: int, separator: str = "") -> Iterator[Source]:
    """A table of text in parts of whole rows: `head` is the line that names the columns, the rows begin at `begin`.

    With a `separator` a row may go on behind a line end that stands in quotation marks. So such a file is read once
    from its beginning; no other way tells whether a line end does.
    """
    end = os.path.getsize(source.path)
    size = cut.size(end - begin, PART, LEAST)
    known: int | None = 0
    if begin >= end:  # nothing but the names
        yield source
    with open(source.path, "rb") as file:
        while begin < end:
            upto = begin + size
            upto = end if upto >= end else _row_end(file, begin, upto, separator)
            yield source.part(span=(begin, upto), head=head, before=known)
            begin, known = upto, None


def _row_end(file: BinaryIO, begin: int, least: int, separator: str) -> int:
    """The first place at or behind `least` where a row ends, of a file in which one begins at `begin`."""
    if not separator:
        file.seek(least - 1)
        file.readline()
        return file.tell()
    whole = begin  # here a row begins
    data = b""
    while True:
        file.seek(whole + len(data))
        more = file.read(PIECE)
        data += more
        found = data.rfind(b"\n") + 1 if b'"' not in data else _whole_rows(data, separator)
        if whole + found >= least:
            return _first_end(data, found, least - whole, separator) + whole
        whole, data = whole + found, data[found:]
        if not more:
            return whole + len(data)


def _whole_rows(data: bytes, separator: str) -> int:
    """Where the last of the rows ends that are whole."""
    rows = _rows(separator).match(data)
    return 0 if rows is None else rows.end()


def _first_end(data: bytes, found: int, least: int, separator: str) -> int:
    """Of rows that end at `found` the first end at or behind `least`."""
    if b'"' not in data:
        return data.index(b"\n", max(0, least - 1)) + 1
    end = 0
    for row in _row(separator).finditer(data, 0, found):
        end = row.end()
        if end >= least:
            break
    return end


@lru_cache(maxsize=8)
def _rows(separator: str) -> re.Pattern[bytes]:
    """Rows that are whole: a quotation mark opens at the beginning of a cell alone, and two of them are a letter."""
    return re.compile(b"(?:%s)*+" % _row(separator).pattern)


@lru_cache(maxsize=8)
def _row(separator: str) -> re.Pattern[Any]:
    sign = re.escape(separator.encode())
    cell = b'(?:"(?:[^"]++|"")*+"[^%s\\n]*+|[^"%s\\n][^%s\\n]*+)?+' % (sign, sign, sign)
    return re.compile(b"%s(?:%s%s)*+\\n" % (cell, sign, cell))


class LineJoiner:
    """A table of text that is made of others; each begins with `head` bytes that name the columns."""

    def __init__(self, sink: BinaryIO, head: int = 0) -> None:
        self.sink, self.head, self.first = sink, head, True

    def add(self, path: str) -> None:
        with open(path, "rb") as file:
            file.seek(0 if self.first else self.head)
            copyfileobj(file, self.sink, 1 << 20)
        self.first = False

    def close(self) -> None:
        pass
