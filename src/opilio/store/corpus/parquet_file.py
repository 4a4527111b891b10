"""Writes pages as Parquet, with typed columns; an interrupted file can be continued."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import starmap
from pathlib import Path
from typing import Any, BinaryIO

from opilio.store.corpus.columns import COLUMNS, ColumnKind
from opilio.store.corpus.parquet_footer import joined_footer
from opilio.store.corpus.pyarrow_needed import require_pyarrow

GROUP_ROWS = 1000  # pages of a row group, and some more
GROUP_CHARACTERS = 16 * 2**20  # of their texts
MAGIC = b"PAR1"  # where a Parquet file begins and ends
TAIL = 8  # bytes after a footer: its length, and MAGIC
NOTE = struct.Struct("<QI")  # where the file of a row group is, length of its footer


class ParquetTable:
    """Rows of a schema, such as one per page. `index` is a file beside the one that is
    written, with the footer of each row group so far; without it, nothing can be
    continued."""

    def __init__(self, schema: Any, index: Path | None = None) -> None:
        self.arrow = require_pyarrow("writing Parquet")
        self.schema = schema
        self.index = index
        self.rows: list[Mapping[str, Any]] = []
        self.size = 0
        self.groups: list[tuple[bytes, int]] = []  # footers, and where their files are

    def begin(self, file: BinaryIO, *, fresh: bool) -> None:
        """Write to this file from now on, after the row groups that it has."""
        self.file = file
        if not fresh and self.index:
            self.place = file.tell()
            self.groups = list(groups_in(self.index.read_bytes(), self.place))
            self.index.write_bytes(b"".join(starmap(noted, self.groups)))
            return
        file.write(MAGIC)
        self.place = len(MAGIC)
        if self.index:
            self.index.write_bytes(b"")

    def write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write some rows; row groups have at least those of a call."""
        self.rows += rows
        self.size += sum(
            len(row.get("text") or "") + len(row.get("markdown") or "") for row in rows
        )
        if len(self.rows) >= GROUP_ROWS or self.size >= GROUP_CHARACTERS:
            self.write_group()

    def write_group(self) -> None:
        """Append the rows of a file with one row group, and remember its footer."""
        from pyarrow import parquet

        columns = [
            self.arrow.array([as_stored(row[name]) for row in self.rows], kind)
            for name, kind in zip(self.schema.names, self.schema.types, strict=True)
        ]
        table = self.arrow.Table.from_arrays(columns, schema=self.schema)
        made = self.arrow.BufferOutputStream()
        with parquet.ParquetWriter(made, self.schema, compression="zstd") as writer:
            writer.write_table(table, row_group_size=max(1, len(self.rows)))
        data = memoryview(made.getvalue())
        length = int.from_bytes(data[-TAIL : -len(MAGIC)], "little")
        footer = bytes(data[-TAIL - length : -TAIL])
        self.groups.append((footer, self.place - len(MAGIC)))
        if self.index:
            with self.index.open("ab") as index:
                index.write(noted(*self.groups[-1]))
        self.file.write(data[len(MAGIC) : -TAIL - length])
        self.place += len(data) - len(MAGIC) - TAIL - length
        self.rows, self.size = [], 0

    def is_settled(self) -> bool:
        """Whether all rows so far are in the file."""
        return not self.rows

    def end(self) -> None:
        """Complete the file."""
        if self.rows or not self.groups:
            self.write_group()
        footer = joined_footer(self.groups)
        self.file.write(footer + len(footer).to_bytes(4, "little") + MAGIC)

    def abandon(self) -> None:
        """Leave the file as it is."""


def noted(footer: bytes, start: int) -> bytes:
    """A row group as the index has it."""
    return NOTE.pack(start, len(footer)) + footer


def groups_in(index: bytes, end: int) -> Iterator[tuple[bytes, int]]:
    """The footers of the row groups before a place, and where their files are."""
    place = 0
    while place + NOTE.size <= len(index):
        start, length = NOTE.unpack_from(index, place)
        if start + len(MAGIC) >= end:  # it was not written to the end
            return
        place += NOTE.size + length
        yield index[place - length : place], start


def schema_of(fields: Sequence[str]) -> Any:
    """The types of the columns of pages."""
    arrow = require_pyarrow("writing Parquet")
    text = arrow.string()
    types = {
        ColumnKind.TEXT: text,
        ColumnKind.TEXTS: arrow.list_(text),
        ColumnKind.NUMBER: arrow.float64(),
        ColumnKind.INTEGER: arrow.int64(),
        ColumnKind.FLAG: arrow.bool_(),
        ColumnKind.TIME: arrow.timestamp("ms", "UTC"),
        ColumnKind.DATE: arrow.date32(),
        # Lists of pairs, not maps: not every program reads those.
        ColumnKind.SHARES: arrow.list_(
            arrow.struct([("name", text), ("value", arrow.float64())])
        ),
        ColumnKind.WORDS: arrow.list_(arrow.struct([("name", text), ("value", text)])),
    }
    return arrow.schema([(name, types[COLUMNS[name]]) for name in fields])


def as_stored(value: Any) -> Any:
    """A value as Parquet holds it: a mapping as pairs."""
    if isinstance(value, dict):
        return [{"name": name, "value": one} for name, one in value.items()]
    return value
