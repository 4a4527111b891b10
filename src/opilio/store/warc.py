"""Responses and verdicts in; WARC/1.1 records, and the files that hold them, out.

Each record is a gzip member of its own. They are formatted by hand: fastwarc's writer
takes longer to lay a record out, and its zlib four times as long to compress it as
isal. To pack a record is pure, so readers do it in their processes.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO

from isal import isal_zlib

from opilio import __version__, archive
from opilio.errors import BadInput
from opilio.types import Clock, Headers, Response

GIB = 2**30
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
SECRET = frozenset(("authorization", "proxy-authorization", "cookie"))
PHRASES = {status.value: status.phrase for status in HTTPStatus}
# Whatever could end a line early, here or in the tool that reads it.
CONTROLS = dict.fromkeys((*range(9), *range(10, 32), 127), " ")


def pack(response: Response) -> bytes:
    """The exchange as two records: what we sent, and what came back."""
    at = date(response.fetched_at)
    body = wire(response)
    return pack_request(response, at) + record(
        ("response", response.url, at),
        [*told_by(response), f"WARC-Payload-Digest: {digest(body)}"],
        "application/http; msgtype=response",
        http_head(response, len(body)),
        body,
    )


def pack_request(response: Response, at: str) -> bytes:
    """What we sent for a response, without anything that is secret."""
    host, _, path = response.url.partition("://")[2].partition("/")
    headers = [line for line in response.request if line[0].lower() not in SECRET]
    if not any(name.lower() == "host" for name, _ in headers):
        headers.insert(0, ("host", host))
    answer = record_id("response", response.url, at)
    return record(
        ("request", response.url, at),
        [f"WARC-Concurrent-To: {answer}"],
        "application/http; msgtype=request",
        head(f"GET /{path} HTTP/1.1", headers),
    )


def pack_revisit(response: Response, original: str, fetched_at: float) -> bytes:
    """The exchange when its body is that of an earlier one, which is named instead."""
    at = date(response.fetched_at)
    body = wire(response)
    return pack_request(response, at) + record(
        ("revisit", response.url, at),
        [
            *told_by(response),
            f"WARC-Payload-Digest: {digest(body)}",
            f"WARC-Profile: {IDENTICAL}",
            f"WARC-Refers-To: {record_id('response', original, date(fetched_at))}",
            f"WARC-Refers-To-Target-URI: {clean(original)}",
            f"WARC-Refers-To-Date: {date(fetched_at)}",
        ],
        "application/http; msgtype=response",
        http_head(response, len(body)),
    )


def pack_metadata(response: Response, fields: Mapping[str, str]) -> bytes:
    """What was made of a response."""
    at = date(response.fetched_at)
    return record(
        ("metadata", response.url, at),
        [f"WARC-Refers-To: {record_id('response', response.url, at)}"],
        "application/warc-fields",
        warc_fields(fields),
    )


def pack_warcinfo(filename: str, created_at: float, fields: Mapping[str, str]) -> bytes:
    """The record that a file starts with.

    Its length does not depend on the time, so that the offsets of two runs agree.
    """
    at = date(created_at)
    return record(
        ("warcinfo", "", at),
        [f"WARC-Filename: {filename}"],
        "application/warc-fields",
        warc_fields(fields),
        stored=True,
    )


def record(
    identity: tuple[str, str, str],
    lines: Iterable[str],
    content_type: str,
    block: bytes,
    body: bytes = b"",
    *,
    stored: bool = False,
) -> bytes:
    """A finished record, given its (type, URL, date) and the other header lines."""
    kind, url, at = identity
    lines = (
        "WARC/1.1",
        f"WARC-Type: {kind}",
        f"WARC-Record-ID: {record_id(kind, url, at)}",
        f"WARC-Date: {at}",
        *([f"WARC-Target-URI: {clean(url)}"] if url else []),
        *lines,
        f"Content-Type: {content_type}",
        f"Content-Length: {len(block) + len(body)}\r\n\r\n",
    )
    head = "\r\n".join(lines).encode("utf-8", "replace")
    data = b"".join((head, block, body, b"\r\n\r\n"))
    if stored:
        return zlib.compress(data, 0, wbits=31)
    packed: bytes = isal_zlib.compress(data, level=2 if body else 0, wbits=31)
    return packed


def record_id(kind: str, url: str, at: str) -> str:
    """The same for the same exchange in every run (a UUID of version 8)."""
    name = f"{kind} {at} {url}".encode("utf-8", "replace")
    x = hashlib.blake2b(name, digest_size=16).hexdigest()
    return f"<urn:uuid:{x[:8]}-{x[8:12]}-8{x[13:16]}-a{x[17:20]}-{x[20:]}>"


def date(at: float) -> str:
    """Seconds since 1970 as WARC-Date."""
    moment = datetime.fromtimestamp(at, UTC).isoformat(timespec="microseconds")
    return moment.removesuffix("+00:00") + "Z"


def digest(body: bytes) -> str:
    """SHA-1 in base 32, which is what archives compare bodies by."""
    sha1 = hashlib.sha1(body, usedforsecurity=False)
    return f"sha1:{base64.b32encode(sha1.digest()).decode()}"


def wire(response: Response) -> bytes:
    """The body with its content codings, as it came."""
    return response.body if response.wire is None else response.wire


def told_by(response: Response) -> list[str]:
    """The header lines that say how a response was had."""
    facts = (
        ("WARC-IP-Address", response.ip),
        ("WARC-Protocol", response.protocol.removeprefix("http/1.1")),
        ("WARC-Truncated", response.truncated),
    )
    return [f"{name}: {clean(value)}" for name, value in facts if value]


def http_head(response: Response, length: int) -> bytes:
    """Status line and headers, true of the body as it is kept: whole and unchunked."""
    headers = [("content-length", str(length))]
    for name, value in response.headers:
        if name == "transfer-encoding" or (
            name == "content-length" and value.strip() != str(length)
        ):
            headers.append((f"x-crawler-{name}", value))
        elif name != "content-length":
            headers.append((name, value))
    phrase = PHRASES.get(response.status, "")
    return head(f"HTTP/1.1 {response.status} {phrase}", headers)


def head(first: str, headers: Headers) -> bytes:
    """A first line and header lines as bytes, none of which can be more than one."""
    lines = [clean(first), *[clean(f"{name}: {value}") for name, value in headers]]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def clean(value: str) -> str:
    """A value that cannot end its line."""
    return value if value.isprintable() else value.translate(CONTROLS)


def warc_fields(fields: Mapping[str, str]) -> bytes:
    """`name: value` lines."""
    lines = (f"{name}: {clean(value)}\r\n" for name, value in fields.items())
    return "".join(lines).encode("utf-8", "replace")


def read_record(folder: Path, name: str, offset: int, length: int) -> Response:
    """The response that was appended there."""
    try:
        return archive.read_response(folder / name, offset, length)
    except (OSError, ValueError) as error:
        raise damaged(folder / name, str(error)) from error


def read_bytes(path: Path, offset: int, length: int) -> bytes:
    """The finished records that were appended there."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            records = file.read(length)
    except OSError as error:
        raise damaged(path, str(error)) from error
    if len(records) < length:
        raise damaged(path, f"it ends {length - len(records)} bytes too soon")
    return records


FILE_NAME = "{:06}.warc.gz"
JUST_BEGUN = 2**12  # bytes; a file that has only described itself has fewer
OUR_FILES = re.compile(r"\d{6}\.warc\.gz")
DESCRIPTION = {
    "software": f"opilio/{__version__}",
    "format": "WARC File Format 1.1",
    "conformsTo": "http://iipc.github.io/warc-specifications/specifications/"
    "warc-format/warc-1.1/",
    "robots": "obey",
}


class WarcWriter:
    """Appends records to the files of a folder, and knows how much of them is safe.

    The table `warc` says how far each file is good; what is beyond that when a folder
    is opened was never committed, and is cut off.
    """

    def __init__(
        self,
        folder: Path,
        db: sqlite3.Connection,
        max_bytes: int = GIB,
        now: Clock = time.time,
    ) -> None:
        self.folder = folder
        self.db = db
        self.max_bytes = max_bytes
        self.now = now
        self.unrecorded: dict[str, int] = {}  # file -> its length, safe on disk
        self.lock = threading.Lock()  # the file is not changed while it is flushed
        folder.mkdir(parents=True, exist_ok=True)
        known: dict[str, int] = dict(db.execute("SELECT name, length FROM warc"))
        cut_back(folder, known)
        self.name = max(known, default=FILE_NAME.format(1))
        self.length = known.get(self.name, 0)  # with what is not on disk yet
        self.safe = self.length
        self.file = self.open()

    def open(self) -> BinaryIO:
        """Open the current file; a new one starts by describing itself."""
        file = (self.folder / self.name).open("ab", buffering=2**20)
        if self.length == 0:
            sync_folder(self.folder)
            self.length = file.write(pack_warcinfo(self.name, self.now(), DESCRIPTION))
        return file

    def append(self, records: bytes) -> tuple[str, int, int]:
        """Add finished records; answers the file's name, the offset and the length."""
        if self.length >= self.max_bytes:
            self.rotate()
        offset = self.length
        self.file.write(records)
        self.length += len(records)
        return self.name, offset, len(records)

    def rotate(self) -> None:
        """Go on in a new file."""
        self.flush()
        with self.lock:
            self.file.close()
            self.name = FILE_NAME.format(int(self.name[:6]) + 1)
            self.length = self.safe = 0
            self.file = self.open()

    def flush(self) -> None:
        """Make what was appended so far safe on disk; may run in a thread."""
        with self.lock:
            length = self.length
            self.file.flush()
            os.fsync(self.file.fileno())
            self.unrecorded[self.name] = self.safe = length

    def record_length(self) -> None:
        """Note the safe lengths in the table, in the caller's transaction.

        That transaction may hold places in what was appended during a `flush` in a
        thread, so the rest is made safe first.
        """
        if self.safe < self.length:
            self.flush()
        self.db.executemany(
            "INSERT OR REPLACE INTO warc (name, length) VALUES (?, ?)",
            self.unrecorded.items(),
        )
        self.unrecorded.clear()

    def sync(self) -> None:
        """Make everything safe, and note so."""
        self.flush()
        self.record_length()

    def close(self) -> None:
        """Let go of the file; what a full disk has not taken was never committed."""
        with suppress(OSError):
            self.file.close()


def damaged(path: Path, trouble: str) -> BadInput:
    """The error for a file that is not what crawl.db knows it to be."""
    return BadInput(
        f"{path} is damaged ({trouble}); put it back from a copy, or crawl into a new "
        "folder"
    )


def cut_back(folder: Path, known: Mapping[str, int]) -> None:
    """Make the files what the table says; what is lost cannot be made up for."""
    for path in sorted(folder.iterdir()):
        if path.name not in known and OUR_FILES.fullmatch(path.name):
            if not known and path.stat().st_size > JUST_BEGUN:
                raise BadInput(
                    f"{path} holds pages that crawl.db knows nothing of: the database "
                    "must have been lost; put it back from a copy, or start again with "
                    "--fresh, which removes both"
                )
            path.unlink()
    for name, length in known.items():
        path = folder / name
        size = path.stat().st_size if path.exists() else 0
        if size < length:
            raise damaged(path, f"{size} bytes, but crawl.db knows of {length}")
        if size > length:
            os.truncate(path, length)


def sync_folder(folder: Path) -> None:
    """Make a new file's name as safe as its bytes."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
