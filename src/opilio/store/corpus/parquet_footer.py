"""Joins the metadata of Parquet files that were appended to each other into one.

pyarrow writes whole files only. So that an interrupted file can be continued, each row
group is made as a file of its own, and its pages are appended to the file that is
written. The footer of that file has the row groups of all of them, moved to where their
pages are now. Footers are written in Thrift's compact protocol (Apache Parquet,
"parquet.thrift"; Apache Thrift, "thrift-compact-protocol").
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
NUMBERS = (4, 5, 6)  # of 16, 32 and 64 bits, all written alike
NUM_ROWS, ROW_GROUPS = 3, 4  # fields of FileMetaData
COLUMNS, GROUP_OFFSET = 1, 5  # of RowGroup
CHUNK_OFFSETS = (2, 4, 6)  # of ColumnChunk: file_offset, those of its indexes
CHUNK_METADATA = 3
PAGE_OFFSETS = (9, 10, 11, 14)  # of ColumnMetaData: data, index, dictionary, filter

Fields = dict[int, tuple[int, Any]]
"""A struct: the number of each field -> its type and value."""


def joined_footer(footers: Iterable[tuple[bytes, int]]) -> bytes:
    """One footer for many, each with the distance by which its pages were moved."""
    whole: Fields = {}
    for footer, distance in footers:
        one = FooterReader(footer).struct()
        groups = one[ROW_GROUPS][1]
        for group in groups[1]:
            move(group, distance)
        if not whole:
            whole = one
            continue
        whole[ROW_GROUPS][1][1].extend(groups[1])
        kind, rows = whole[NUM_ROWS]
        whole[NUM_ROWS] = kind, rows + one[NUM_ROWS][1]
    made = bytearray()
    put_struct(made, whole)
    return bytes(made)


def move(group: Fields, distance: int) -> None:
    """Add a distance to every place in a file that a row group names."""
    shift(group, (GROUP_OFFSET,), distance)
    for chunk in group[COLUMNS][1][1]:
        shift(chunk, CHUNK_OFFSETS, distance)
        if CHUNK_METADATA in chunk:
            shift(chunk[CHUNK_METADATA][1], PAGE_OFFSETS, distance)


def shift(fields: Fields, numbers: Iterable[int], distance: int) -> None:
    """Add a distance to some fields; 0 stands for a place that is not given."""
    for number in numbers:
        if number in fields and fields[number][1] > 0:
            kind, place = fields[number]
            fields[number] = kind, place + distance


class FooterReader:
    """Reads a struct in the compact protocol."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0

    def byte(self) -> int:
        """The next byte."""
        self.place += 1
        return self.data[self.place - 1]

    def varint(self) -> int:
        """A number without sign, seven bits a byte."""
        value = bits = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << bits
            if byte < 128:
                return value
            bits += 7

    def number(self) -> int:
        """A number with a sign, which is its last bit."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def take(self, length: int) -> bytes:
        """So many bytes."""
        self.place += length
        return self.data[self.place - length : self.place]

    def struct(self) -> Fields:
        """A struct."""
        fields: Fields = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.number()
            kind = head & 15
            fields[number] = kind, self.value(kind)
        return fields

    def value(self, kind: int) -> Any:
        """A value of this type."""
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind in NUMBERS:
            return self.number()
        if kind == BYTE:
            return self.byte()
        if kind == DOUBLE:
            return self.take(8)
        if kind == BINARY:
            return self.take(self.varint())
        if kind in (LIST, SET):
            head = self.byte()
            size = head >> 4 if head >> 4 < 15 else self.varint()
            inner = head & 15
            if inner in (TRUE, FALSE):
                return inner, [self.byte() for _ in range(size)]
            return inner, [self.value(inner) for _ in range(size)]
        if kind == STRUCT:
            return self.struct()
        raise ValueError(f"a Parquet footer has a value of the unknown type {kind}")


def put_struct(made: bytearray, fields: Fields) -> None:
    """Write a struct."""
    last = 0
    for number, (kind, value) in fields.items():
        if 0 < number - last < 16:
            made.append((number - last) << 4 | kind)
        else:
            made.append(kind)
            put_number(made, number)
        put_value(made, kind, value)
        last = number
    made.append(0)


def put_value(made: bytearray, kind: int, value: Any) -> None:
    """Write a value of this type."""
    if kind in NUMBERS:
        put_number(made, value)
    elif kind == BYTE:
        made.append(value)
    elif kind == DOUBLE:
        made += value
    elif kind == BINARY:
        put_varint(made, len(value))
        made += value
    elif kind in (LIST, SET):
        inner, values = value
        made.append(min(len(values), 15) << 4 | inner)
        if len(values) >= 15:
            put_varint(made, len(values))
        if inner in (TRUE, FALSE):
            made += bytes(values)
            return
        for one in values:
            put_value(made, inner, one)
    elif kind == STRUCT:
        put_struct(made, value)


def put_number(made: bytearray, value: int) -> None:
    """Write a number with a sign."""
    put_varint(made, value << 1 if value >= 0 else (-value << 1) - 1)


def put_varint(made: bytearray, value: int) -> None:
    """Write a number without sign."""
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    made.append(value)
