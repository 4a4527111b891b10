"""Writes pages as Parquet, with typed columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, BinaryIO

from opilio.store.corpus.columns import COLUMNS, ColumnKind, ExportRow
from opilio.store.corpus.pyarrow_needed import require_pyarrow

GROUP_ROWS = 1000  # pages of a row group at most
GROUP_CHARACTERS = 16 * 2**20  # of their texts


class ParquetTable:
    """One row per page. A file that was interrupted has to be written anew."""

    continues = False

    def __init__(self, fields: Sequence[str]) -> None:
        self.arrow = require_pyarrow("writing Parquet")
        self.fields = fields
        self.schema = schema_of(self.arrow, fields)
        self.rows: list[ExportRow] = []
        self.size = 0

    def begin(self, file: BinaryIO, *, fresh: bool) -> None:
        """Write to this file from now on."""
        from pyarrow import parquet

        self.writer = parquet.ParquetWriter(file, self.schema, compression="zstd")

    def write(self, rows: Sequence[ExportRow]) -> None:
        """Write some pages; row groups have more of them than a call."""
        for row in rows:
            self.rows.append(row)
            self.size += len(row["text"] or "") + len(row["markdown"] or "")
            if len(self.rows) >= GROUP_ROWS or self.size >= GROUP_CHARACTERS:
                self.write_group()

    def write_group(self) -> None:
        """Write a row group."""
        columns = [
            self.arrow.array([as_stored(row[name]) for row in self.rows], kind)
            for name, kind in zip(self.schema.names, self.schema.types, strict=True)
        ]
        table = self.arrow.Table.from_arrays(columns, schema=self.schema)
        self.writer.write_table(table)
        self.rows, self.size = [], 0

    def end(self) -> None:
        """Complete the file."""
        if self.rows:
            self.write_group()
        self.writer.close()

    def abandon(self) -> None:
        """Leave the file, which will be written anew."""
        self.writer.close()


def schema_of(arrow: Any, fields: Sequence[str]) -> Any:
    """The types of the columns."""
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
