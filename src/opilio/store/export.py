"""Exports the pages of a crawl as JSON lines, CSV, Parquet or WARC, best first.

Copies, pages that could not be read and noindex pages are left out (the latter unless
they are asked for). Only a few pages are in memory at a time, and a file gets its name
only when it is complete. Records that can no longer be read from the WARC files are
missing, and counted by `records`.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import msgspec

from opilio.errors import BadInput
from opilio.records import Response
from opilio.storage.database import open_database
from opilio.store.export_format import is_compressed
from opilio.store.folder import CrawlFolder
from opilio.store.stored_responses import StoredResponses
from opilio.store.warc_records import date

PAGES = """
    SELECT url, title, language, score, relevant, page.parts, state, fetched_at,
           degraded, warc, warc_offset, warc_length
    FROM page JOIN link USING (id)
    WHERE score IS NOT NULL AND copy_of IS NULL
      AND (relevant OR NOT :relevant_only) AND (NOT noindex OR :noindex)
    ORDER BY score DESC, number
"""
COLUMNS = ("url", "title", "language", "score", "relevant", "state", "fetched_at")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # beginnings that spreadsheets execute
CHUNK = 2**20
GROUP = 1000  # pages written to Parquet at a time


class Extract(Protocol):
    """Extracts the text of a page; `degraded`: the parser has failed on it before."""

    def __call__(self, response: Response, /, *, degraded: bool) -> str: ...


def export_jsonl(
    folder: CrawlFolder,
    out: str,
    *,
    relevant_only: bool = False,
    noindex: bool = False,
    extract: Extract | None = None,
    records: StoredResponses | None = None,
) -> int:
    """Write one JSON object per page, with its text if `extract` is given; returns how
    many."""
    records = records or StoredResponses(folder.warcs)
    count = 0
    with packed(out) as file:
        for row in pages(folder, relevant_only, noindex):
            page = {name: row[name] for name in COLUMNS}
            page["relevant"] = bool(row["relevant"])
            page["fetched_at"] = date(row["fetched_at"])
            page["parts"] = msgspec.json.decode(row["parts"] or "{}")
            if extract is not None:
                page["text"] = text_of(row, records, extract)
            file.write(msgspec.json.encode(page) + b"\n")
            count += 1
    return count


def export_parquet(
    folder: CrawlFolder,
    out: str,
    *,
    relevant_only: bool = False,
    noindex: bool = False,
    extract: Extract | None = None,
    records: StoredResponses | None = None,
) -> int:
    """Write one row per page, with its text if `extract` is given; returns how many."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise BadInput(
            "writing Parquet needs pyarrow: pip install 'opilio[lab]'"
        ) from None
    texts = [(name, pa.string()) for name in ("url", "title", "language", "state")]
    figures = [("score", pa.float64()), ("relevant", pa.bool_())]
    moment = ("fetched_at", pa.timestamp("ms", "UTC"))
    parts = ("parts", pa.map_(pa.string(), pa.float64()))
    records = records or StoredResponses(folder.warcs)
    schema = pa.schema([*texts, *figures, moment, parts, ("text", pa.string())])
    count = 0
    with output(out) as file, parquet.ParquetWriter(file, schema) as writer:
        rows = pages(folder, relevant_only, noindex)
        while some := list(islice(rows, GROUP)):
            table = [
                {
                    **{name: row[name] for name in COLUMNS},
                    "relevant": bool(row["relevant"]),
                    "fetched_at": datetime.fromtimestamp(row["fetched_at"], UTC),
                    "parts": msgspec.json.decode(row["parts"] or "{}"),
                    "text": extract and text_of(row, records, extract),
                }
                for row in some
            ]
            writer.write_table(pa.Table.from_pylist(table, schema))
            count += len(some)
    return count


def export_csv(
    folder: CrawlFolder,
    out: str,
    *,
    relevant_only: bool = False,
    noindex: bool = False,
    records: StoredResponses | None = None,
) -> int:
    """Write one row per page, safe to open in a spreadsheet; returns how many. No
    records are needed for it."""
    count = 0
    with packed(out) as file:
        lines = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
        table = csv.writer(lines)
        table.writerow(COLUMNS)
        for row in pages(folder, relevant_only, noindex):
            cells = {name: guarded(row[name]) for name in COLUMNS}
            cells["relevant"] = "yes" if row["relevant"] else "no"
            cells["fetched_at"] = date(row["fetched_at"])
            table.writerow(cells.values())
            count += 1
        lines.detach()
    return count


def export_warc(
    folder: CrawlFolder,
    out: str,
    *,
    relevant_only: bool = False,
    noindex: bool = False,
    records: StoredResponses | None = None,
) -> int:
    """Copy the records of the pages, gzip member by gzip member; returns how many. A
    file whose name does not end in `.gz` gets them uncompressed.

    These are, for each page, our request, its response and the verdict. Damaged records
    are left out, because many programs cannot read what comes after them.
    """
    records = records or StoredResponses(folder.warcs)
    unpack = Path(out).suffix.lower() == ".warc"
    count = 0
    with output(out) as file:
        for row in pages(folder, relevant_only, noindex):
            if found := records.raw(*location(row)):
                file.write(gzip.decompress(found) if unpack else found)
                count += 1
    return count


def pages(
    folder: CrawlFolder, relevant_only: bool, noindex: bool
) -> Iterator[sqlite3.Row]:
    """The rows of the wanted pages, from one consistent snapshot."""
    with closing(open_database(folder.database, read_only=True)) as db:
        db.row_factory = sqlite3.Row
        wanted = {"relevant_only": relevant_only, "noindex": noindex}
        yield from db.execute(PAGES, wanted)


def location(row: sqlite3.Row) -> tuple[str, int, int]:
    """Where the records of a page are."""
    return row["warc"], row["warc_offset"], row["warc_length"]


def text_of(row: sqlite3.Row, records: StoredResponses, extract: Extract) -> str | None:
    """The text of a page; None if its record cannot be read."""
    response = records.response(*location(row))
    return extract(response, degraded=bool(row["degraded"])) if response else None


def guarded(value: Any) -> Any:
    """A cell that spreadsheets treat as text, whatever a page put into it."""
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return value


@contextmanager
def packed(out: str) -> Iterator[BinaryIO]:
    """The output, compressed if its name ends in `.gz`."""
    with output(out) as file:
        if not is_compressed(out):
            yield file
            return
        # Without name and time in it, the same pages make the same file.
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as archive:
            yield archive  # type: ignore[misc]


@contextmanager
def output(out: str) -> Iterator[BinaryIO]:
    """A file that gets its name once it is complete; "-" is standard output."""
    if out == "-":
        if sys.stdout is None:
            raise BadInput("standard output is closed; name a file with -o FILE")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(out).resolve()  # a symbolic link stays one
    if path.is_dir():
        raise BadInput(f"{out} is a folder; name a file")
    if path.exists() and not path.is_file():
        with path.open("wb") as device:  # or a pipe: written to, never replaced
            yield device
        return
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        file = draft.open("wb", buffering=CHUNK)
    except OSError as error:
        raise BadInput(f"{out} cannot be written: {error.strerror}") from None
    try:
        with file:
            yield file
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
