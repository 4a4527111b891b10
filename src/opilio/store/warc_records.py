"""Formats responses and verdicts as WARC/1.1 records.

Each record is a gzip member. They are formatted by hand, because fastwarc's writer is
slower, and its zlib takes four times as long as isal to compress. Formatting is a pure
function, so readers do it in their processes.
"""

from __future__ import annotations

import hashlib
import math
import struct
import zlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from http import HTTPStatus

from isal import igzip_lib, isal_zlib

from opilio.records import METHOD_FIELD, Headers, Response

IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
RENDERED = "text/html; charset=utf-8"
SECRET = frozenset(("authorization", "proxy-authorization", "cookie"))
PHRASES = {status.value: status.phrase for status in HTTPStatus}
# Whatever could end a line early, here or in the tool that reads it.
CONTROLS = dict.fromkeys((*range(9), *range(10, 32), 127), " ")
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"  # of base 32, five bits each
TWO_DIGITS = [first + second for first in DIGITS for second in DIGITS]
PAIRS = range(150, -10, -10)  # bits of a SHA-1 below each two digits
SMALL = 1024  # bytes; fewer take as much room when they are compressed at once
MOST_STORED = 2**16 - 1  # bytes in one block
STORED = struct.Struct("<10sBHH").pack
SUMS = struct.Struct("<II").pack
GZIP = b"\x1f\x8b\b\0\0\0\0\0\0\xff"


def pack_response(response: Response) -> bytes:
    """The exchange as two records, request and response; if the page was rendered,
    a third."""
    at = date(response.fetched_at)
    body = wire(response)
    exchange = pack_request(response, at) + record(
        ("response", response.url, at),
        [*told_by(response), f"WARC-Payload-Digest: {digest(body)}"],
        "application/http; msgtype=response",
        http_head(response, len(body)),
        body,
    )
    return exchange + pack_rendered(response) if response.rendered else exchange


def pack_rendered(response: Response) -> bytes:
    """The HTML of a page after its scripts ran, as a record."""
    at = date(response.fetched_at)
    return record(
        ("conversion", response.url, at),
        [
            f"WARC-Refers-To: {record_id('response', response.url, at)}",
            f"WARC-Payload-Digest: {digest(response.rendered)}",
        ],
        RENDERED,
        b"",
        response.rendered,
    )


def pack_request(response: Response, at: str) -> bytes:
    """The request of a response, without secrets."""
    host, _, path = response.url.partition("://")[2].partition("/")
    headers = [line for line in response.request if line[0].lower() not in SECRET]
    if not any(name.lower() == "host" for name, _ in headers):
        headers.insert(0, ("host", host))
    answer = record_id("response", response.url, at)
    return record(
        ("request", response.url, at),
        [f"WARC-Concurrent-To: {answer}"],
        "application/http; msgtype=request",
        head(f"{'POST' if response.posted else 'GET'} /{path} HTTP/1.1", headers),
        response.posted,
    )


def pack_revisit(response: Response, original: str, fetched_at: float) -> bytes:
    """The exchange with a reference to an earlier one that had the same body.

    Either the body was the same again, or the server answered 304 without one.
    """
    at = date(response.fetched_at)
    body = wire(response)
    same = [f"WARC-Payload-Digest: {digest(body)}", f"WARC-Profile: {IDENTICAL}"]
    if response.status == HTTPStatus.NOT_MODIFIED:
        same = [f"WARC-Profile: {NOT_MODIFIED}"]
    return pack_request(response, at) + record(
        ("revisit", response.url, at),
        [
            *told_by(response),
            *same,
            f"WARC-Refers-To: {record_id('response', original, date(fetched_at))}",
            f"WARC-Refers-To-Target-URI: {clean_field(original)}",
            f"WARC-Refers-To-Date: {date(fetched_at)}",
        ],
        "application/http; msgtype=response",
        http_head(response, len(body)),
    )


def pack_metadata(response: Response, fields: Mapping[str, str]) -> bytes:
    """The verdict on a response as a record."""
    at = date(response.fetched_at)
    return record(
        ("metadata", response.url, at),
        [f"WARC-Refers-To: {record_id('response', response.url, at)}"],
        "application/warc-fields",
        warc_fields(fields),
    )


def pack_warcinfo(filename: str, created_at: float, fields: Mapping[str, str]) -> bytes:
    """The first record of a file.

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
        *([f"WARC-Target-URI: {clean_field(url)}"] if url else []),
        *lines,
        f"Content-Type: {content_type}",
        f"Content-Length: {len(block) + len(body)}\r\n\r\n",
    )
    head = "\r\n".join(lines).encode("utf-8", "replace")
    data = b"".join((head, block, body, b"\r\n\r\n"))
    if stored or len(data) <= SMALL:
        return store(data)
    packed: bytes = igzip_lib.compress(data, 2 if body else 0, igzip_lib.COMP_GZIP)
    return packed


def store(data: bytes) -> bytes:
    """A gzip member with the data uncompressed."""
    size = len(data)
    if size > MOST_STORED:
        return zlib.compress(data, 0, wbits=31)
    begin = STORED(GZIP, 1, size, size ^ MOST_STORED)  # one block, the last
    return b"".join((begin, data, SUMS(isal_zlib.crc32(data), size)))


def record_id(kind: str, url: str, at: str) -> str:
    """A record id that is the same in every run for the same exchange (a UUIDv8)."""
    name = f"{kind} {at} {url}".encode("utf-8", "replace")
    x = hashlib.blake2b(name, digest_size=16).hexdigest()
    return f"<urn:uuid:{x[:8]}-{x[8:12]}-8{x[13:16]}-a{x[17:20]}-{x[20:]}>"


def date(at: float) -> str:
    """Seconds since 1970 as WARC-Date."""
    part, whole = math.modf(at)
    micros = round(part * 1e6)
    if not 0 <= micros < 10**6:
        whole, micros = whole + micros // 10**6, micros % 10**6
    return f"{second(whole)}.{micros:06}Z"


@lru_cache(maxsize=16)  # many pages come in one second
def second(at: float) -> str:
    """The same without fractions of a second."""
    return datetime.fromtimestamp(at, UTC).isoformat()[:19]


def digest(body: bytes) -> str:
    """SHA-1 in base 32, by which archives compare bodies."""
    sha1 = hashlib.sha1(body, usedforsecurity=False)
    number = int.from_bytes(sha1.digest())
    return "sha1:" + "".join([TWO_DIGITS[number >> at & 1023] for at in PAIRS])


def wire(response: Response) -> bytes:
    """The body with its content codings, as it came."""
    return response.body if response.wire is None else response.wire


def told_by(response: Response) -> list[str]:
    """The WARC header lines about how a response was received."""
    facts = (  # a field of our own tells answers to scripts from pages
        ("WARC-IP-Address", response.ip),
        ("WARC-Protocol", response.protocol.removeprefix("http/1.1")),
        ("WARC-Truncated", response.truncated),
        (METHOD_FIELD, "POST" if response.posted else ""),
    )
    return [f"{name}: {clean_field(value)}" for name, value in facts if value]


def http_head(response: Response, length: int) -> bytes:
    """Status line and headers that match the stored body: complete and unchunked."""
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
    """A first line and header lines as bytes, each safely on one line."""
    lines = [first, *[f"{name}: {value}" for name, value in headers]]
    if not "".join(lines).isprintable():
        lines = list(map(clean_field, lines))
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def clean_field(value: str) -> str:
    """A value that cannot end its line."""
    return value if value.isprintable() else value.translate(CONTROLS)


def warc_fields(fields: Mapping[str, str]) -> bytes:
    """`name: value` lines."""
    lines = (f"{name}: {clean_field(value)}\r\n" for name, value in fields.items())
    return "".join(lines).encode("utf-8", "replace")
