"""Decodes bodies, and finds their encoding and type.

Everything here is pure and expects hostile input: each loop over a body has a limit.
turbohtml is imported where it is needed, since fetching does without it.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

import brotli
from isal import isal_zlib

from opilio.errors import Unusable

InflateError: type[Exception] = isal_zlib.error  # type: ignore[assignment]  # its stub

MAX_CODINGS = 2
MAX_MEMBERS = 1000  # of a gzip body; each costs a decoder, even an empty one
MAX_RATIO = 200  # decoded to encoded, looked at once the output is large
RATIO_FROM = 2**20
READ = 2**14  # bytes given to a decoder at a time, which it may have to give back
PIECE = 2**18  # bytes asked of a decoder at a time


def decode(raw: bytes, content_encoding: str, limit: int) -> tuple[bytes, str]:
    """Remove the content codings; also returns why the result is incomplete, if it is.

    "length": it was cut at `limit` bytes or is a bomb; "disconnect": the stream ends
    too early. Raises Unusable if it is not such a stream at all.
    """
    codings = [item for item in split_list(content_encoding) if item != "identity"]
    if len(codings) > MAX_CODINGS:
        raise Unusable(
            "bad_encoding", f"{len(codings)} content codings; at most {MAX_CODINGS}"
        )
    cut = "length" if len(raw) > limit and not codings else ""
    body = raw
    for coding in reversed(codings):
        body, reason = remove(coding, body, limit)
        cut = cut or reason
    return body[:limit], cut


def split_list(value: str) -> list[str]:
    """The items of a comma-separated header, in lower case."""
    items = (item.strip().lower() for item in value.split(","))
    return [item for item in items if item]


def remove(coding: str, raw: bytes, limit: int) -> tuple[bytes, str]:
    """Remove one content coding; an empty body is returned as it is."""
    output = Output(limit)
    try:
        match coding:
            case _ if not raw:
                cut = ""
            case "gzip" | "x-gzip":
                cut = inflate(raw, 31, output)
            case "deflate":
                cut = inflate(raw, 15 if has_zlib_header(raw) else -15, output)
            case "br":
                cut = unbrotli(raw, output)
            case _:
                raise Unusable(
                    "bad_encoding", f"unknown content coding {coding[:40]!r}"
                )
    except (InflateError, brotli.error) as error:
        raise Unusable("bad_encoding", f"the body is not {coding}: {error}") from None
    return b"".join(output.pieces)[:limit], cut


class Output:
    """The output of a decoder, with its limit."""

    def __init__(self, limit: int) -> None:
        self.pieces: list[bytes] = []
        self.size = 0
        self.limit = limit

    def full(self, piece: bytes, read: int) -> bool:
        """Add a piece, made from `read` bytes; returns whether the limit is reached."""
        self.pieces.append(piece)
        self.size += len(piece)
        return self.size > self.limit or self.size > max(RATIO_FROM, MAX_RATIO * read)


def has_zlib_header(raw: bytes) -> bool:
    """Whether this is deflate as specified (RFC 1950), not raw as some servers send."""
    return raw[0] & 15 == 8 and int.from_bytes(raw[:2], "big") % 31 == 0


def inflate(raw: bytes, wbits: int, output: Output) -> str:
    """Decode gzip members or one deflate stream (isal: 2.4 times as fast as zlib)."""
    view = memoryview(raw)
    decoder, members = isal_zlib.decompressobj(wbits), 1
    for start in range(0, len(raw), READ):
        pending: bytes | memoryview = view[start : start + READ]
        end = start + len(pending)
        piece = b""
        # A full piece may leave output in the decoder though all input was read.
        while pending or len(piece) == PIECE:
            if decoder.eof:
                if wbits != 31 or pending[0] != 0x1F:
                    return ""  # padding after the end, which browsers ignore too
                if members == MAX_MEMBERS:
                    return "length"
                decoder, members = isal_zlib.decompressobj(wbits), members + 1
            piece = decoder.decompress(pending, PIECE)
            pending = decoder.unused_data if decoder.eof else decoder.unconsumed_tail
            if output.full(piece, end - len(pending)):
                return "length"
            if decoder.eof:
                piece = b""
    return "" if decoder.eof else "disconnect"


def unbrotli(raw: bytes, output: Output) -> str:
    """Decode brotli; its output limit is a soft one, about twice what was asked."""
    decoder = brotli.Decompressor()
    for start in range(0, len(raw), READ):
        pending = raw[start : start + READ]
        end = start + len(pending)
        while pending or not decoder.can_accept_more_data():
            piece = decoder.process(pending, output_buffer_limit=PIECE)
            pending = b""
            if output.full(piece, end):
                return "length"
        if decoder.is_finished():
            return ""
    return "disconnect"


CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s;"',]+)""", re.IGNORECASE)
BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16le"),
    (codecs.BOM_UTF16_BE, "utf-16be"),
)
# UTF-8 in its usual place: after nothing but simple tags that declare no encoding.
SAYS_UTF_8 = re.compile(
    rb"""\s*(?:<(?:!doctype|html|head|link|base|meta(?![^<>]*charset))\b
    (?:[^<>"']|"[^"<>]*"|'[^'<>]*')*>\s*)*
    <meta\s+(?:charset=(["']?)utf-8\1
    |http-equiv=(["']?)content-type\2\s+content=(["'])text/html;\s*charset=utf-8\3
    |content=(["'])text/html;\s*charset=utf-8\4\s+http-equiv=(["']?)content-type\5)
    \s*/?>""",
    re.IGNORECASE | re.VERBOSE,
).match
PRESCAN = 1024  # bytes in which a <meta charset> counts, as in browsers
SAMPLE = 2**13  # bytes the statistical detector sees: it costs 0.13 ms a KB


def charset(body: bytes, content_type: str) -> tuple[str, str]:
    """The encoding of a body, and what decided it, in the order of the WHATWG.

    The name is the WHATWG's in lower case; `in_encoding` decodes it. Decided by:
    "bom", "header", "meta", "detected", "default".
    """
    for mark, name in BOMS:
        if body.startswith(mark):
            return name, "bom"
    if (found := CHARSET.search(content_type)) and (name := encoding(found[1])):
        return name, "header"
    head = body[:PRESCAN]
    if b"charset" in head.lower():
        if SAYS_UTF_8(head):
            return "utf-8", "meta"
        import turbohtml

        document = turbohtml.parse(head, positions=False)
        if document.encoding_confidence == "certain":
            return str(document.encoding).lower(), "meta"
    return guess(body)


@lru_cache(maxsize=256)
def encoding(label: str) -> str:
    """The WHATWG name of the encoding that a label means; "" for an unknown one."""
    if label.lower() == "utf-8":
        return "utf-8"
    import turbohtml

    try:
        document = turbohtml.parse(b"", encoding=label)
    except (LookupError, ValueError):
        return ""
    return str(document.encoding).lower()


def guess(body: bytes) -> tuple[str, str]:
    """Guess from the bytes themselves: UTF-16 without a mark, UTF-8, or by frequency.

    Valid UTF-8 is no accident. For the rest, turbohtml's detector (a port of the one in
    Firefox) looks at a sample around the first non-ASCII bytes.
    """
    if name := bare_utf16(body[:PRESCAN]):
        return name, "detected"
    if b"\x1b" not in body:  # else it might be ISO-2022-JP, which is ASCII throughout
        try:
            whole, used = codecs.utf_8_decode(body, "strict", False)
        except UnicodeDecodeError as error:
            body = body[max(0, error.start - PRESCAN) :]
        else:
            if used == len(body) or not whole.isascii():  # it may be cut in a character
                return "utf-8", "default" if body.isascii() else "detected"
    from turbohtml.detect import detect

    match = detect(body[:SAMPLE])
    if match.encoding is None or match.confidence == 0.0:
        return "windows-1252", "default"
    return match.encoding.lower(), "detected"


def bare_utf16(head: bytes) -> str:
    """UTF-16 without a mark, recognised by the zeros beside its ASCII characters."""
    pairs = len(head) // 2
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if pairs >= 4 and max(even, odd) > 0.6 * pairs and min(even, odd) < 0.1 * pairs:
        return "utf-16le" if odd > even else "utf-16be"
    return ""


def text(body: bytes, content_type: str) -> tuple[str, str]:
    """A body as text, each undecodable byte as U+FFFD, and the encoding's name."""
    name, decided_by = charset(body, content_type)
    decoded = in_encoding(body, name)
    return (decoded.removeprefix("\ufeff") if decided_by == "bom" else decoded), name


def utf_8(body: bytes, content_type: str) -> tuple[bytes, str]:
    """A body as UTF-8, and the encoding's name.

    A body declared as UTF-8 is returned unchanged, with any invalid bytes.
    """
    name, decided_by = charset(body, content_type)
    if name != "utf-8":
        body = in_encoding(body, name).encode("utf-8", "surrogatepass")
    return (body.removeprefix(codecs.BOM_UTF8) if decided_by == "bom" else body), name


def in_encoding(body: bytes, name: str) -> str:
    """Bytes in an encoding of the WHATWG as text, as turbohtml would read them."""
    if name == "utf-8":  # Python's own decoder gives the same, ten times as fast
        return body.decode("utf-8", "replace")
    import turbohtml.detect  # noqa: F401  # it brings these codecs

    return body.decode(f"whatwg-{name}", "replace")


HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))
UNTOLD_TYPES = frozenset(("", "unknown/unknown", "application/unknown", "*/*"))
XML_TYPES = frozenset(("text/xml", "application/xml"))
SIGNATURES = (
    *(b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b", b"Rar!", b"7z\xbc\xaf", b"BZh"),
    *(b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"%PDF-", b"%!PS-Adobe-", b"{\\rtf", b"ID3"),
    *(b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"RIFF", b"OggS", b"wOFF", b"wOF2"),
    *(b"\x7fELF", b"MZ\x90", b"\xd0\xcf\x11\xe0", b"\x00\x00\x01\x00"),
)
CONTROLS = bytes({*range(32), 127} - {*b"\t\n\f\r\x1b"})
MARKUP = re.compile(
    rb"""<(?:!doctype\s|!--|(?:html|head|body|title|meta|link|base|script|style|iframe
    |h[1-6]|div|span|font|table|a|b|br|p|ul|ol|center|section|article|main|header|nav
    |form|img)[\s>/])""",
    re.IGNORECASE | re.VERBOSE,
)
XHTML = re.compile(rb"<(?:\w{1,20}:)?html[\s>]|<!doctype\s+html", re.IGNORECASE)


def media_type(content_type: str) -> str:
    """`Text/HTML; charset=x` as `text/html`; "" when there is none."""
    return content_type.partition(";")[0].partition(",")[0].strip().lower()


def looks_like_html(prefix: bytes) -> bool:
    """Whether a body has markup near its start and is not something else."""
    head = prefix[:PRESCAN]
    return not looks_binary(head) and bool(MARKUP.search(head.replace(b"\0", b"")))


def looks_binary(prefix: bytes) -> bool:
    """Whether this is an archive, image, program or the like, whatever its type."""
    head = prefix[:PRESCAN]
    if head.startswith(SIGNATURES):
        return True
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or bare_utf16(head):
        return False
    return len(head) - len(head.translate(None, CONTROLS)) > len(head) // 10


def is_html(content_type: str, body: bytes) -> bool:
    """Whether to read this body as a page, by its type and then its bytes."""
    kind = media_type(content_type)
    if kind in HTML_TYPES:
        return not looks_binary(body)
    if kind in UNTOLD_TYPES:
        return looks_like_html(body)
    return kind in XML_TYPES and XHTML.search(body[:PRESCAN]) is not None
