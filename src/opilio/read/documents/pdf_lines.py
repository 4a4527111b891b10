"""Reads the lines of a PDF page: their words, links, places and sizes of letters."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple

import pypdfium2 as pdfium
from pypdfium2 import raw

TOLERANCE = 3.0  # points around a link in which its letters are looked for
MOST_LINKS = 2000  # of one page
LONGEST_URL = 2083
BREAK = "\r\n"
# What stands for a hyphen at which a word was broken.
HYPHENS = dict.fromkeys(map(ord, "\x02\xad\ufffe"))


class PdfPiece(NamedTuple):
    """Some words, and the address that they are linked to."""

    words: str
    url: str = ""


class PdfLine(NamedTuple):
    """A line of a page; lengths are in points, from the lower left corner."""

    pieces: tuple[PdfPiece, ...]
    size: float = 0.0  # of its letters
    left: float = 0.0
    right: float = 0.0
    foot: float = 0.0

    @property
    def words(self) -> str:
        """The text of the line."""
        return "".join(piece.words for piece in self.pieces)


class LinkRange(NamedTuple):
    """A link over a range of a page's text."""

    start: int
    end: int
    url: str


def lines_of(document: pdfium.PdfDocument, page: pdfium.PdfPage) -> list[PdfLine]:
    """The lines of a page in the order of the file; links over pictures come last."""
    text_page = page.get_textpage()
    text = text_page.get_text_range()
    links = sorted(links_of(document, page, text_page))
    lines = []
    start = 0
    for words in text.split(BREAK):
        end = start + len(words)
        if words.strip():
            pieces = tuple(pieces_of(text, start, end, links))
            # A bullet or a blank says nothing about the size of the letters.
            letter = next((n for n, sign in enumerate(words) if sign.isalnum()), 0)
            lines.append(
                PdfLine(pieces, *measured(text_page, start, start + letter, end))
            )
        start = end + len(BREAK)
    pictures = tuple(PdfPiece("", link.url) for link in links if link.start == link.end)
    return [*lines, PdfLine(pictures)] if pictures else lines


def pieces_of(
    text: str, start: int, end: int, links: list[LinkRange]
) -> Iterator[PdfPiece]:
    """A line, cut where links begin and end."""
    for link in links:
        first, last = max(link.start, start), min(link.end, end)
        if first < last:
            if start < first:
                yield PdfPiece(text[start:first].translate(HYPHENS))
            yield PdfPiece(text[first:last].translate(HYPHENS), link.url)
            start = last
    if start < end:
        yield PdfPiece(text[start:end].translate(HYPHENS))


def measured(
    text_page: pdfium.PdfTextPage, start: int, letter: int, end: int
) -> tuple[float, float, float, float]:
    """The size of a line's letters, its left and right end, and its foot."""
    first, letters, last = (
        letter_box(text_page, place) for place in (start, letter, end - 1)
    )
    return letters.top - letters.bottom, first.left, last.right, letters.bottom


def letter_box(text_page: pdfium.PdfTextPage, place: int) -> Any:
    """The box of a letter with the room above and below that its typeface has."""
    box = raw.FS_RECTF()
    index = raw.FPDFText_GetCharIndexFromTextIndex(text_page.raw, place)
    raw.FPDFText_GetLooseCharBox(text_page.raw, index, box)
    return box


def links_of(
    document: pdfium.PdfDocument, page: pdfium.PdfPage, text_page: pdfium.PdfTextPage
) -> Iterator[LinkRange]:
    """The links of a page: those that the file has, then addresses in the text; of two
    that overlap, the first."""
    taken: set[int] = set()
    found = [*marked_links(document, page, text_page), *written_links(text_page)]
    for link in found[:MOST_LINKS]:
        letters = range(link.start, link.end)
        if taken.isdisjoint(letters):
            taken.update(letters)
            yield link


def marked_links(
    document: pdfium.PdfDocument, page: pdfium.PdfPage, text_page: pdfium.PdfTextPage
) -> Iterator[LinkRange]:
    """The areas of a page that lead to an address."""
    position = ctypes.c_int(0)
    link = raw.FPDF_LINK()
    buffer = ctypes.create_string_buffer(LONGEST_URL)
    for _ in range(MOST_LINKS):
        if not raw.FPDFLink_Enumerate(page.raw, position, link):
            return
        action = raw.FPDFLink_GetAction(link)
        if raw.FPDFAction_GetType(action) != raw.PDFACTION_URI:
            continue
        size = raw.FPDFAction_GetURIPath(document.raw, action, buffer, LONGEST_URL)
        area = raw.FS_RECTF()
        if 1 < size <= LONGEST_URL and raw.FPDFLink_GetAnnotRect(link, area):
            url = buffer.raw[: size - 1].decode("utf-8", "replace")
            yield LinkRange(*letters_in(text_page, area), url)


def letters_in(text_page: pdfium.PdfTextPage, area: Any) -> tuple[int, int]:
    """The range of the text in an area; an empty one if there is none."""
    middle = (area.top + area.bottom) / 2
    inset = min(1.0, (area.right - area.left) / 4)
    ends = [
        raw.FPDFText_GetCharIndexAtPos(
            text_page.raw, across, middle, TOLERANCE, TOLERANCE
        )
        for across in (area.left + inset, area.right - inset)
    ]
    if min(ends) < 0 or ends[0] > ends[1]:
        return 0, 0
    first, last = (
        raw.FPDFText_GetTextIndexFromCharIndex(text_page.raw, end) for end in ends
    )
    return (first, last + 1) if 0 <= first <= last else (0, 0)


def written_links(text_page: pdfium.PdfTextPage) -> Iterator[LinkRange]:
    """The web addresses that stand in the text of a page."""
    found = raw.FPDFLink_LoadWebLinks(text_page.raw)
    if not found:
        return
    start, count = ctypes.c_int(), ctypes.c_int()
    buffer = (ctypes.c_ushort * LONGEST_URL)()
    try:
        for number in range(min(raw.FPDFLink_CountWebLinks(found), MOST_LINKS)):
            size = raw.FPDFLink_GetURL(found, number, buffer, LONGEST_URL)
            if size < 1 or not raw.FPDFLink_GetTextRange(found, number, start, count):
                continue
            url = bytes(buffer)[: 2 * (size - 1)].decode("utf-16-le", "replace")
            place = raw.FPDFText_GetTextIndexFromCharIndex(text_page.raw, start.value)
            if place >= 0 and url.startswith(("http://", "https://")):
                yield LinkRange(place, place + count.value, url)
    finally:
        raw.FPDFLink_CloseWebLinks(found)
