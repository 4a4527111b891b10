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
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import Any, BinaryIO, cast
from urllib.parse import urlsplit

import msgspec
from isal import isal_zlib

from opilio.store.corpus.columns import ExportRow

GZIP = 31  # zlib's number for this format
DATA = "data.warc.gz"
WACZ_VERSION = "1.1.1"
PIECE = 2**20  # bytes

_payload = re.compile(rb"(?im)^WARC-Payload-Digest: *(\S+)").search
_type = re.compile(rb"(?im)^WARC-Type: *(\S+)").search


class WarcFile:
    """The records one after another; `packed`: gzip members, as they are stored."""

    def __init__(self, *, packed: bool) -> None:
        self.packed = packed

    def begin(self, file: BinaryIO, *, fresh: bool) -> None:
        """Write to this file from now on."""
        self.file = file

    def write_records(self, row: ExportRow, records: bytes) -> None:
        """Write the records of one page."""
        self.file.write(records if self.packed else gzip.decompress(records))

    def is_settled(self) -> bool:
        """Whether all pages so far are in the file."""
        return True

    def end(self) -> None:
        """Complete the file."""

    def abandon(self) -> None:
        """Leave the file as it is."""


class WaczFile:
    """A package with the records, an index of them and a list of the pages.

    The records are the first member of the package and are written in place, after
    room for their header. What the index will say is meanwhile kept in a database
    beside it, so that an interrupted package can be continued.
    """

    def __init__(self, software: str, title: str, index: Path | None = None) -> None:
        self.software = software
        self.title = title
        self.index = index  # the database; None: a temporary one
        self.member = zipfile.ZipInfo(f"archive/{DATA}", now())
        self.member.CRC = self.member.compress_size = 0  # for now

    def begin(self, file: BinaryIO, *, fresh: bool) -> None:
        """Write to this file from now on."""
        self.out = file
        # A package cannot be written to a pipe from its beginning to its end.
        self.file = file if file.seekable() else cast(BinaryIO, TemporaryFile())  # noqa: SIM115
        self.start = len(self.member.FileHeader(zip64=True))
        if fresh:
            self.file.write(bytes(self.start))
            if self.index:
                self.index.unlink(missing_ok=True)
        self.db = sqlite3.connect(self.index or "")
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute("PRAGMA synchronous = OFF")  # survives a killed process
        self.db.execute("CREATE TABLE IF NOT EXISTS entry (place, cdx, page)")
        self.size = self.file.tell() - self.start
        self.db.execute("DELETE FROM entry WHERE place >= ?", (self.size,))

    def write_records(self, row: ExportRow, records: bytes) -> None:
        """Write the records of one page, and index its response."""
        for offset, length, head in members_of(records):
            kind = _type(head)
            if kind and kind[1] == b"response":
                cdx = cdx_line(row, self.size + offset, length, head)
                page = {
                    "id": f"{row['cluster']:x}",
                    "url": row["final_url"],
                    "ts": stamp(row["fetched_at"]),
                    "title": row["title"] or row["final_url"],
                }
                entry = self.size, cdx, msgspec.json.encode(page).decode()
                self.db.execute("INSERT INTO entry VALUES (?, ?, ?)", entry)
        self.file.write(records)
        self.size += len(records)

    def is_settled(self) -> bool:
        """Whether all pages so far are in the file; makes their index entries last."""
        self.db.commit()
        return True

    def end(self) -> None:
        """Write the header of the records, then index, list of pages and description.

        If this is interrupted, it is done again.
        """
        self.resources = [self.close_records()]
        with closing(self.db), zipfile.ZipFile(self.file, "a") as package:
            package.filelist.append(self.member)
            package.NameToInfo[self.member.filename] = self.member
            lines = self.db.execute("SELECT cdx FROM entry ORDER BY cdx")
            self.put(package, "indexes/index.cdx", (line for (line,) in lines))
            head = {"format": "json-pages-1.0", "id": "pages", "title": "All pages"}
            told = self.db.execute("SELECT page FROM entry ORDER BY place")
            pages = chain(
                [msgspec.json.encode(head).decode()], (one for (one,) in told)
            )
            self.put(package, "pages/pages.jsonl", pages)
            self.describe(package)
        self.db.close()
        if self.file is not self.out:
            self.file.seek(0)
            copyfileobj(self.file, self.out)
            self.file.close()

    def close_records(self) -> dict[str, Any]:
        """Complete the first member, now that its size and checksums are known."""
        digest, checksum = hashlib.sha256(), 0
        self.file.seek(self.start)
        while piece := self.file.read(PIECE):
            digest.update(piece)
            checksum = isal_zlib.crc32(piece, checksum)
        self.member.CRC = checksum
        self.member.file_size = self.member.compress_size = self.size
        self.member.header_offset = 0
        self.file.seek(0)
        self.file.write(self.member.FileHeader(zip64=True))
        self.file.seek(0, 2)
        return resource(self.member.filename, digest.hexdigest(), self.size)

    def abandon(self) -> None:
        """Leave the file as it is."""
        self.db.close()

    def put(self, package: zipfile.ZipFile, name: str, lines: Iterable[str]) -> None:
        """Add a member of lines."""
        digest, size = hashlib.sha256(), 0
        info = zipfile.ZipInfo(name, now())
        with package.open(info, "w", force_zip64=True) as member:
            for line in lines:
                data = f"{line}\n".encode()
                member.write(data)
                digest.update(data)
                size += len(data)
        self.resources.append(resource(name, digest.hexdigest(), size))

    def describe(self, package: zipfile.ZipFile) -> None:
        """Write the description of the package, and its digest."""
        about = {
            "profile": "data-package",
            "title": self.title,
            "wacz_version": WACZ_VERSION,
            "software": self.software,
            "created": stamp(datetime.now(UTC)),
            "resources": self.resources,
        }
        told = msgspec.json.format(msgspec.json.encode(about), indent=2)
        package.writestr("datapackage.json", told)
        digest = {
            "path": "datapackage.json",
            "hash": f"sha256:{hashlib.sha256(told).hexdigest()}",
        }
        package.writestr("datapackage-digest.json", msgspec.json.encode(digest))


def resource(path: str, digest: str, size: int) -> dict[str, Any]:
    """A member as the description lists it."""
    name = path.rpartition("/")[2]
    return {"name": name, "path": path, "hash": f"sha256:{digest}", "bytes": size}


def now() -> tuple[int, int, int, int, int, int]:
    """The time of a member."""
    return datetime.now(UTC).timetuple()[:6]


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
        "url": row["final_url"],
        "mime": row["document"] or "unk",
        "status": str(row["status"]),
        "digest": digest[1].decode("ascii", "replace") if digest else "-",
        "length": str(length),
        "offset": str(offset),
        "filename": DATA,
    }
    when = row["fetched_at"].strftime("%Y%m%d%H%M%S")
    return f"{url_key(row['final_url'])} {when} {msgspec.json.encode(told).decode()}"


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
