"""Copies the WARC records of pages, as a WARC file or a WACZ package.

For each page, these are our request, its response and the verdict. Damaged records are
left out, because many programs cannot read what comes after them.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any, BinaryIO
from urllib.parse import urlsplit

import msgspec
from isal import isal_zlib

from opilio.store.corpus.columns import ExportRow

GZIP = 31  # zlib's number for this format
DATA = "data.warc.gz"
WACZ_VERSION = "1.1.1"

_payload = re.compile(rb"(?im)^WARC-Payload-Digest: *(\S+)").search
_type = re.compile(rb"(?im)^WARC-Type: *(\S+)").search


class WarcFile:
    """The records one after another; `packed`: gzip members, as they are stored."""

    continues = True

    def __init__(self, *, packed: bool) -> None:
        self.packed = packed

    def begin(self, file: BinaryIO, *, fresh: bool) -> None:
        """Write to this file from now on."""
        self.file = file

    def write_records(self, row: ExportRow, records: bytes) -> None:
        """Write the records of one page."""
        self.file.write(records if self.packed else gzip.decompress(records))

    def end(self) -> None:
        """Complete the file."""

    def abandon(self) -> None:
        """Leave the file as it is."""


class WaczFile:
    """A package with the records, an index of them and a list of the pages."""

    continues = False

    def __init__(self, software: str, title: str) -> None:
        self.software = software
        self.title = title

    def begin(self, file: BinaryIO, *, fresh: bool) -> None:
        """Write to this file from now on."""
        self.package = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
        self.resources: list[dict[str, Any]] = []
        self.db = sqlite3.connect("")  # a file of its own, deleted when it is closed
        self.db.execute("CREATE TABLE entry (cdx TEXT, page TEXT)")
        self.records = Digested(self.open(f"archive/{DATA}"))

    def open(self, name: str) -> Any:
        """A member of the package that is written piece by piece."""
        info = zipfile.ZipInfo(name, datetime.now(UTC).timetuple()[:6])
        info.compress_type = zipfile.ZIP_STORED
        return self.package.open(info, "w", force_zip64=True)

    def write_records(self, row: ExportRow, records: bytes) -> None:
        """Write the records of one page, and index its response."""
        start = self.records.size
        for offset, length, head in members_of(records):
            kind = _type(head)
            if kind and kind[1] == b"response":
                cdx = cdx_line(row, start + offset, length, head)
                page = {
                    "id": f"{row['cluster']:x}",
                    "url": row["url"],
                    "ts": stamp(row["fetched_at"]),
                    "title": row["title"] or row["url"],
                }
                entry = cdx, msgspec.json.encode(page).decode()
                self.db.execute("INSERT INTO entry VALUES (?, ?)", entry)
        self.records.write(records)

    def end(self) -> None:
        """Write index, list of pages and description."""
        self.finish(f"archive/{DATA}", self.records)
        lines = self.db.execute("SELECT cdx FROM entry ORDER BY cdx")
        self.put("indexes/index.cdx", (line for (line,) in lines))
        head = {"format": "json-pages-1.0", "id": "pages", "title": "All pages"}
        told = self.db.execute("SELECT page FROM entry ORDER BY rowid")
        with closing(self.db):
            pages = (page for (page,) in told)
            self.put("pages/pages.jsonl", pages, msgspec.json.encode(head).decode())
        self.describe()
        self.package.close()

    def abandon(self) -> None:
        """Leave the file, which will be written anew."""
        self.records.file.close()
        self.package.close()
        self.db.close()

    def put(self, name: str, lines: Iterator[str], first: str = "") -> None:
        """Write a member of lines."""
        member = Digested(self.open(name))
        if first:
            member.write(f"{first}\n".encode())
        for line in lines:
            member.write(f"{line}\n".encode())
        self.finish(name, member)

    def finish(self, name: str, member: Digested) -> None:
        """Complete a member, and list it."""
        member.file.close()
        self.resources.append(
            {
                "name": name.rpartition("/")[2],
                "path": name,
                "hash": f"sha256:{member.digest.hexdigest()}",
                "bytes": member.size,
            }
        )

    def describe(self) -> None:
        """Write the description of the package, and its digest."""
        package = {
            "profile": "data-package",
            "title": self.title,
            "wacz_version": WACZ_VERSION,
            "software": self.software,
            "created": stamp(datetime.now(UTC)),
            "resources": self.resources,
        }
        told = msgspec.json.format(msgspec.json.encode(package), indent=2)
        self.package.writestr("datapackage.json", told)
        digest = {
            "path": "datapackage.json",
            "hash": f"sha256:{hashlib.sha256(told).hexdigest()}",
        }
        self.package.writestr("datapackage-digest.json", msgspec.json.encode(digest))


class Digested:
    """A file of which size and digest are known."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.size = 0
        self.digest = hashlib.sha256()

    def write(self, data: bytes) -> None:
        """Write some bytes."""
        self.file.write(data)
        self.digest.update(data)
        self.size += len(data)


def members_of(records: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Offset, length and beginning of each record, a gzip member each."""
    offset = 0
    while offset < len(records):
        member = isal_zlib.decompressobj(GZIP)
        head = member.decompress(records[offset:])
        length = len(records) - offset - len(member.unused_data)
        yield offset, length, head[:4096]
        offset += length


def cdx_line(row: ExportRow, offset: int, length: int, head: bytes) -> str:
    """A line of an index in the format CDXJ."""
    digest = _payload(head)
    told = {
        "url": row["url"],
        "mime": row["document"] or "unk",
        "status": str(row["status"]),
        "digest": digest[1].decode("ascii", "replace") if digest else "-",
        "length": str(length),
        "offset": str(offset),
        "filename": DATA,
    }
    when = row["fetched_at"].strftime("%Y%m%d%H%M%S")
    return f"{url_key(row['url'])} {when} {msgspec.json.encode(told).decode()}"


def url_key(url: str) -> str:
    """A URL in the form by which archives sort it: com,example)/path."""
    parts = urlsplit(url.lower())
    host = ",".join(reversed((parts.hostname or "").removeprefix("www.").split(".")))
    port = f":{parts.port}" if parts.port else ""
    query = f"?{'&'.join(sorted(parts.query.split('&')))}" if parts.query else ""
    return f"{host}{port}){parts.path or '/'}{query}"


def stamp(when: datetime) -> str:
    """A time as WACZ writes it."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
