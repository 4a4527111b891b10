"""Reads responses from WARC files."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import msgspec
from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from opilio.records import Headers, Response
from opilio.storage.warc_places import read_at
from opilio.text import content

KINDS = WarcRecordType.response | WarcRecordType.revisit
MAX_BYTES = 64 * 2**20  # of a decoded body: a WARC may come from anywhere


def responses(stream: BinaryIO) -> Iterator[Response]:
    """Every response among the records of a stream, in order."""
    for record in ArchiveIterator(
        stream, record_types=KINDS, parse_http=True, strict_mode=False
    ):
        if record.is_http:
            yield response_of(record)


def read_response(path: Path, offset: int, length: int) -> Response:
    """The first response among the records at a place in a WARC file."""
    records = read_at(path, offset, length)
    found = next(responses(BytesIO(records)), None)
    if found is None:
        raise ValueError(f"{path} has no response in {length} bytes at {offset}")
    markup = rendered_in(BytesIO(records))
    return msgspec.structs.replace(found, rendered=markup) if markup else found


def rendered_in(stream: BinaryIO) -> bytes:
    """The rendered HTML in the first conversion record of a stream."""
    kind = WarcRecordType.conversion
    for record in ArchiveIterator(stream, record_types=kind, parse_http=False):
        if is_rendered(record):
            return bytes(record.reader.read(MAX_BYTES))
        break
    return b""


def is_rendered(record: WarcRecord) -> bool:
    """Whether a conversion record has the HTML of a page after its scripts ran."""
    return (record.headers.get("Content-Type") or "").startswith("text/html")


def response_of(record: WarcRecord) -> Response:
    """The response of a record, with its content codings removed."""
    named, date = record.headers.get, record.record_date
    status = record.http_headers.status_code or 0
    headers = http_headers(record)
    raw = record.reader.read()
    body, truncated = raw, ""
    coding = ", ".join(value for name, value in headers if name == "content-encoding")
    if coding and 200 <= status < 300:
        body, truncated = content.decode(raw, coding, MAX_BYTES)
    return Response(
        url=(named("WARC-Target-URI") or "").strip("<>"),  # some writers add these
        status=status,
        headers=headers,
        body=body,
        fetched_at=date.timestamp() if date else 0.0,  # it may be missing or odd
        wire=None if body is raw else raw,
        ip=named("WARC-IP-Address") or "",
        protocol=named("WARC-Protocol") or "http/1.1",
        truncated=named("WARC-Truncated") or truncated,
    )


def http_headers(record: WarcRecord) -> Headers:
    """The header lines of a response, names in lower case."""
    return tuple(
        (name.decode("latin-1").lower(), value.decode("latin-1"))
        for name, value in record.http_headers.items_bytes()
    )
