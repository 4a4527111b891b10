"""Writes small PDF files: headings, paragraphs and links, in one typeface.

Every letter of Courier is equally wide, so that lines can be broken, and links placed,
without tables of widths.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from typing import NamedTuple

WIDTH, HEIGHT, MARGIN = 595, 842, 56  # points: A4
LEADING = 1.3  # times the size of the letters
SIZES = {"h1": 20.0, "h2": 15.0, "h3": 12.5, "p": 9.0, "li": 9.0}
LETTER = 0.6  # width of a letter of Courier, times its size

_blocks = re.compile(r"<(h[1-3]|p|li)\b[^>]*>(.*?)</\1>", re.DOTALL).finditer
_pieces = re.compile(r'<a href="([^"]*)">(.*?)</a>|<[^>]*>|([^<]+)', re.DOTALL).finditer


class LinkedWords(NamedTuple):
    """Some words, and the address that they are linked to."""

    words: str
    url: str = ""


Block = tuple[str, Sequence[LinkedWords]]
"""The name of an HTML element, and what is in it."""


class LaidOutLine(NamedTuple):
    """A line of a page: its letters' size, the place of its foot, and its pieces."""

    size: float
    foot: float
    pieces: list[LinkedWords]


def blocks_of(markup: str, base: str) -> Iterator[Block]:
    """The headings, paragraphs and items of simple HTML; links get an absolute URL."""
    for block in _blocks(markup):
        pieces = [
            LinkedWords(
                unescape(found[2] or found[3] or ""),
                base + url
                if (url := unescape(found[1] or "")).startswith("/")
                else url,
            )
            for found in _pieces(block[2])
        ]
        yield block[1], pieces


def write_pdf(title: str, blocks: Iterable[Block], author: str = "") -> bytes:
    """A PDF file with these blocks below each other."""
    pages = list(laid_out(blocks))
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier "
        b"/Encoding /WinAnsiEncoding >>"
    )
    for number, lines in enumerate(pages):
        links = "".join(links_over(lines))
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * number} 0 R "
            f"/Annots [{links}] >>".encode()
        )
        drawn = zlib.compress(b"\n".join(map(drawn_line, lines)))
        objects.append(
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream"
            % (len(drawn), drawn)
        )
    objects.append(
        b"<< /Title %b /Author %b /CreationDate (D:20260102030405Z) >>"
        % (text_string(title), text_string(author))
    )
    return file_of(objects)


def laid_out(blocks: Iterable[Block]) -> Iterator[list[LaidOutLine]]:
    """The lines of each page."""
    lines: list[LaidOutLine] = []
    foot = float(HEIGHT - MARGIN)
    for name, pieces in blocks:
        size = SIZES[name]
        foot -= size * LEADING  # an empty line between blocks
        for broken in broken_lines(pieces, int((WIDTH - 2 * MARGIN) / (LETTER * size))):
            foot -= size * LEADING
            if foot < MARGIN:
                yield lines
                lines, foot = [], HEIGHT - MARGIN - size * LEADING
            lines.append(LaidOutLine(size, foot, broken))
    yield lines


def broken_lines(
    pieces: Sequence[LinkedWords], width: int
) -> Iterator[list[LinkedWords]]:
    """The pieces in lines of at most `width` letters."""
    line: list[LinkedWords] = []
    used = 0
    for words, url in pieces:
        for number, word in enumerate(words.split(" ")):
            glue = " " if number else ""
            if used and used + len(glue) + len(word) > width:
                yield line
                line, used, glue = [], 0, ""
            used += len(glue) + len(word)
            if line and line[-1].url == url:
                line[-1] = LinkedWords(line[-1].words + glue + word, url)
            else:
                line.append(LinkedWords(glue + word, url))
    if line:
        yield line


def drawn_line(line: LaidOutLine) -> bytes:
    """A line in the language of PDF."""
    words = literal(
        "".join(piece.words for piece in line.pieces).encode("cp1252", "replace")
    )
    return b"BT /F1 %g Tf %d %g Td %b Tj ET" % (line.size, MARGIN, line.foot, words)


def links_over(lines: Iterable[LaidOutLine]) -> Iterator[str]:
    """The links of a page, each over its words."""
    for size, foot, pieces in lines:
        left = float(MARGIN)
        for words, url in pieces:
            right = left + len(words) * LETTER * size
            blank = (len(words) - len(words.lstrip())) * LETTER * size
            if url:
                target = literal(url.encode("ascii", "replace")).decode("ascii")
                yield (
                    "<< /Type /Annot /Subtype /Link /Border [0 0 0] "
                    f"/Rect [{left + blank:g} {foot - 0.2 * size:g} "
                    f"{right:g} {foot + 0.7 * size:g}] "
                    f"/A << /S /URI /URI {target} >> >>\n"
                )
            left = right


def literal(words: bytes) -> bytes:
    """A string of PDF."""
    for sign in (b"\\", b"(", b")"):
        words = words.replace(sign, b"\\" + sign)
    return b"(%b)" % words


def text_string(text: str) -> bytes:
    """A string of PDF with any letters."""
    return b"<feff%b>" % text.encode("utf-16-be").hex().encode()


def file_of(objects: Sequence[bytes]) -> bytes:
    """The objects, numbered from 1, with the table of their places; the last one is
    what the file says about itself."""
    parts = [b"%PDF-1.4\n"]
    places = []
    length = len(parts[0])
    for number, content in enumerate(objects, 1):
        places.append(length)
        parts.append(b"%d 0 obj\n%b\nendobj\n" % (number, content))
        length += len(parts[-1])
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    sizes = (count, table, count, count - 1, length)
    parts.append(
        b"xref\n0 %d\n0000000000 65535 f \n%btrailer\n"
        b"<< /Size %d /Root 1 0 R /Info %d 0 R >>\n"
        b"startxref\n%d\n%%%%EOF\n" % sizes
    )
    return b"".join(parts)
