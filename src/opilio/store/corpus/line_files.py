"""Writes pages as JSON lines or CSV, plain or compressed.

Each batch of pages is compressed by itself, as a gzip member or zstandard frame, so
that an interrupted file can be continued after any batch.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from typing import Any, BinaryIO

import msgspec
from isal import isal_zlib

from opilio.store.corpus.columns import ExportRow
from opilio.store.corpus.pyarrow_needed import require_pyarrow

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # beginnings that spreadsheets execute
GZIP, GZIP_LEVEL = 31, 2

Compress = Callable[[bytes], bytes]


def compressor(out: str) -> Compress | None:
    """The compression that a file name asks for, if any."""
    if out.lower().endswith(".gz"):
        return gzipped
    if out.lower().endswith(".zst"):
        codec = require_pyarrow("writing .zst").Codec("zstd")
        return lambda data: bytes(codec.compress(data, asbytes=True))
    return None


def gzipped(data: bytes) -> bytes:
    """A gzip member; without name and time in it, the same pages make the same file."""
    archive = isal_zlib.compressobj(GZIP_LEVEL, isal_zlib.DEFLATED, GZIP)
    return archive.compress(data) + archive.flush()


class JsonLines:
    """One JSON object per page."""

    def __init__(self, fields: Sequence[str], compress: Compress | None) -> None:
        self.fields = fields
        self.compress = compress

    def begin(self, file: BinaryIO, *, fresh: bool) -> None:
        """Write to this file from now on."""
        self.file = file

    def write(self, rows: Sequence[ExportRow]) -> None:
        """Write some pages."""
        lines = (
            msgspec.json.encode({name: row[name] for name in self.fields}) + b"\n"
            for row in rows
        )
        self.put(b"".join(lines))

    def put(self, data: bytes) -> None:
        """Write some bytes, compressed if that was asked for."""
        if data:
            self.file.write(self.compress(data) if self.compress else data)

    def is_settled(self) -> bool:
        """Whether all pages so far are in the file."""
        return True

    def end(self) -> None:
        """Complete the file."""

    def abandon(self) -> None:
        """Leave the file as it is."""


class CsvTable(JsonLines):
    """One row per page, safe to open in a spreadsheet."""

    def begin(self, file: BinaryIO, *, fresh: bool) -> None:
        """Write to this file from now on; a new one gets a header."""
        self.file = file
        if fresh:
            self.put(as_csv([self.fields]))

    def write(self, rows: Sequence[ExportRow]) -> None:
        """Write some pages."""
        self.put(as_csv([[cell(row[name]) for name in self.fields] for row in rows]))


def as_csv(rows: Sequence[Sequence[Any]]) -> bytes:
    """Rows as lines of CSV."""
    lines = io.StringIO(newline="")
    csv.writer(lines).writerows(rows)
    return lines.getvalue().encode()


def cell(value: Any) -> Any:
    """A cell that spreadsheets treat as text, whatever a page put into it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, list):
        value = "; ".join(value)
    elif isinstance(value, dict):
        value = msgspec.json.encode(value).decode() if value else ""
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return value
