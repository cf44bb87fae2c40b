"""Parquet files put one behind the other without being unpacked: their bytes are copied, and the places in their
footers moved.

A footer is a record of Thrift in its compact protocol, which is read into plain lists here and written again:
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md. What the fields mean is told in
https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift.
"""

from __future__ import annotations

import os
from typing import Any, BinaryIO, NamedTuple

from backprop.mistakes import CannotRead

MAGIC = b"PAR1"
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_DEEPEST = 32  # a footer nests six deep

# The fields by their numbers: of FileMetaData, RowGroup, ColumnChunk and ColumnMetaData.
_SCHEMA, _ROWS, _GROUPS = 2, 3, 4
_COLUMNS, _GROUP_OFFSET, _ORDINAL = 1, 5, 7
_CHUNK_OFFSET, _META = 2, 3
_PAGES = (9, 10, 11)
# Places that lead to more places, in the bytes themselves: page indexes and bloom filters, which we do not write.
_ELSEWHERE_IN_CHUNK, _ELSEWHERE_IN_META = (4, 6), (14,)


class Field(NamedTuple):
    """A value of Thrift with its type."""

    type: int
    value: Any


Struct = dict[int, Field]


class FileJoiner:
    """A Parquet file that is made of others of the same schema."""

    def __init__(self, sink: BinaryIO) -> None:
        self.sink = sink
        self.footer: Struct = {}
        self.size = sink.write(MAGIC)

    def add(self, path: str) -> None:
        """Put a file behind those before. Raises `CannotRead` for one that cannot be put there."""
        with open(path, "rb") as file:
            footer, end = _footer(file, path)
            file.seek(len(MAGIC))
            _copy(file, self.sink, end - len(MAGIC))
        by = self.size - len(MAGIC)
        groups = list(footer[_GROUPS].value[1])
        known = len(self.footer[_GROUPS].value[1]) if self.footer else 0
        for place, group in enumerate(groups, known):
            _move(group, _GROUP_OFFSET, by)
            if _ORDINAL in group:
                group[_ORDINAL] = Field(_I16, place)
            for chunk in group[_COLUMNS].value[1]:
                _move(chunk, _CHUNK_OFFSET, by)
                meta: Struct = chunk[_META].value
                for number in _PAGES:
                    _move(meta, number, by)
                if any(one in chunk for one in _ELSEWHERE_IN_CHUNK) or any(one in meta for one in _ELSEWHERE_IN_META):
                    raise CannotRead(path, "it has an index, and files with one are not put together here")
        if not self.footer:
            self.footer = footer
        else:
            if self.footer[_SCHEMA] != footer[_SCHEMA]:
                raise CannotRead(path, "its columns are of other types than those before")
            self.footer[_GROUPS] = Field(_LIST, (_STRUCT, self.footer[_GROUPS].value[1] + groups))
            self.footer[_ROWS] = Field(_I64, self.footer[_ROWS].value + footer[_ROWS].value)
        self.size += end - len(MAGIC)

    def close(self) -> None:
        """Write the footer of all."""
        out = bytearray()
        _write(out, _STRUCT, self.footer)
        self.sink.write(bytes(out) + len(out).to_bytes(4, "little") + MAGIC)


def _copy(file: BinaryIO, sink: BinaryIO, left: int) -> None:
    while left and (data := file.read(min(left, 1 << 20))):
        sink.write(data)
        left -= len(data)


def _footer(file: BinaryIO, path: str) -> tuple[Struct, int]:
    """The footer of a file, and where it begins."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 8))
    tail = file.read()
    end = size - 8 - int.from_bytes(tail[:4], "little")
    if tail[4:] != MAGIC or end < len(MAGIC):
        raise CannotRead(path, "it does not end like a Parquet file")
    file.seek(end)
    return _Reader(file.read(size - 8 - end)).value(_STRUCT, 0), end


def _move(struct: Struct, number: int, by: int) -> None:
    """Move a place in the file, if there is one: 0 is none."""
    field = struct.get(number)
    if field is not None and field.value:
        struct[number] = Field(field.type, field.value + by)


class _Reader:
    """Values of Thrift's compact protocol, out of bytes."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def varint(self) -> int:
        found = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found

    def number(self) -> int:
        """A number as zigzag: 0, -1, 1, -2 are 0, 1, 2, 3."""
        found = self.varint()
        return (found >> 1) ^ -(found & 1)

    def take(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def value(self, type: int, depth: int) -> Any:
        if depth > _DEEPEST:
            raise CannotRead("a part", "its footer is damaged")
        if type in (_I16, _I32, _I64):
            return self.number()
        if type == _BINARY:
            return self.take(self.varint())
        if type in (_TRUE, _FALSE):  # an element of a list; of a field the type is the value
            return self.take(1)
        if type in (_BYTE, _DOUBLE):
            return self.take(1 if type == _BYTE else 8)
        if type in (_LIST, _SET):
            head = self.take(1)[0]
            count = head >> 4 if head < 0xF0 else self.varint()
            return head & 15, [self.value(head & 15, depth + 1) for _ in range(count)]
        if type == _MAP:
            count = self.varint()
            kinds = self.take(1)[0] if count else 0
            pairs = [(self.value(kinds >> 4, depth + 1), self.value(kinds & 15, depth + 1)) for _ in range(count)]
            return kinds, pairs
        found: Struct = {}
        number = 0
        while head := self.take(1)[0]:
            number = number + (head >> 4) if head >> 4 else self.number()
            kind = head & 15
            found[number] = Field(kind, kind if kind in (_TRUE, _FALSE) else self.value(kind, depth + 1))
        return found


def _write(out: bytearray, type: int, value: Any) -> None:
    """Put a value behind others."""
    if type in (_I16, _I32, _I64):
        _varint(out, (value << 1) ^ (value >> 63))
    elif type == _BINARY:
        _varint(out, len(value))
        out += value
    elif type in (_TRUE, _FALSE, _BYTE, _DOUBLE):
        out += value
    elif type in (_LIST, _SET):
        kind, items = value
        out.append((len(items) if len(items) < 15 else 15) << 4 | kind)
        if len(items) >= 15:
            _varint(out, len(items))
        for item in items:
            _write(out, kind, item)
    elif type == _MAP:
        kinds, pairs = value
        _varint(out, len(pairs))
        if pairs:
            out.append(kinds)
        for pair in pairs:
            for kind, item in zip((kinds >> 4, kinds & 15), pair, strict=True):
                _write(out, kind, item)
    else:
        before = 0
        for number, field in value.items():
            if 0 < number - before < 16:
                out.append((number - before) << 4 | field.type)
            else:
                out.append(field.type)
                _write(out, _I16, number)
            if field.type not in (_TRUE, _FALSE):
                _write(out, field.type, field.value)
            before = number
        out.append(0)


def _varint(out: bytearray, number: int) -> None:
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
