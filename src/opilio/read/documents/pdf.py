"""Makes HTML of a PDF file: title, authors, dates, headings, paragraphs and links."""

from __future__ import annotations

import re
import time
from html import escape
from urllib.parse import unquote

import pypdfium2 as pdfium
from pypdfium2 import raw

from opilio.errors import Unusable
from opilio.read.documents.pdf_blocks import PdfBlock, pdf_blocks_of
from opilio.read.documents.pdf_lines import PdfLine, lines_of

MOST_PAGES = 500  # that are read
MOST_SECONDS = 5.0  # of CPU for them; the reader process ends at 10
MOST_LETTERS = 4 * 2**20
LONGEST_TITLE = 300

_date = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?").match
_no_title = re.compile(
    r"(?i)untitled|unbenannt|microsoft word|slide \d|powerpoint|\S+\.\w{2,4}$"
).match


def pdf_markup(body: bytes, url: str) -> str:
    """The text of a PDF file as HTML; Unusable if there is none."""
    document = opened(body)
    try:
        pages = read_pages(document)
        if not any(line.words.strip() for page in pages for line in page):
            raise Unusable("pdf_no_text", "the PDF file has no text, only pictures")
        return written(document, pdf_blocks_of(pages), url)
    finally:
        document.close()


def opened(body: bytes) -> pdfium.PdfDocument:
    """The document; Unusable if it is encrypted or broken."""
    try:
        document = pdfium.PdfDocument(body)
    except pdfium.PdfiumError as error:
        if error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            message = "the PDF file is encrypted; it opens with a password only"
            raise Unusable("pdf_encrypted", message) from None
        message = f"the PDF file is broken: {error}"
        raise Unusable("pdf_broken", message) from None
    if not len(document):
        raise Unusable("pdf_broken", "the PDF file is broken: it has no pages")
    return document


def read_pages(document: pdfium.PdfDocument) -> list[list[PdfLine]]:
    """The lines of each page, within the limits; a broken page has none."""
    pages: list[list[PdfLine]] = []
    until = time.process_time() + MOST_SECONDS
    letters = 0
    for number in range(min(len(document), MOST_PAGES)):
        if letters > MOST_LETTERS or time.process_time() > until:
            break
        try:
            page = document[number]
        except pdfium.PdfiumError:
            continue
        pages.append(lines_of(document, page))
        page.close()
        letters += sum(len(line.words) for line in pages[-1])
    return pages


def written(document: pdfium.PdfDocument, blocks: list[PdfBlock], url: str) -> str:
    """The document as HTML."""
    told = document.get_metadata_dict()
    metas = {
        "author": told["Author"],
        "description": told["Subject"],
        "article:published_time": day_of(told["CreationDate"]),
        "article:modified_time": day_of(told["ModDate"]),
        "pages": str(len(document)),
    }
    head = "".join(
        f'<meta name="{name}" property="{name}" content="{escape(value)}">\n'
        for name, value in metas.items()
        if value
    )
    title = escape(title_of(told["Title"], blocks, url))
    return (
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        f"<title>{title}</title>\n{head}</head>\n"
        f"<body>\n{body_of(blocks)}</body>\n</html>\n"
    )


def body_of(blocks: list[PdfBlock]) -> str:
    """The blocks as HTML; items in a row make a list."""
    parts = []
    before = ""
    for element, pieces in blocks:
        if (element == "li") != (before == "li"):
            parts.append("<ul>\n" if element == "li" else "</ul>\n")
        words = "".join(
            f'<a href="{escape(url)}">{escape(words)}</a>' if url else escape(words)
            for words, url in pieces
        )
        parts.append(f"<{element}>{words.strip()}</{element}>\n")
        before = element
    if before == "li":
        parts.append("</ul>\n")
    return "".join(parts)


def title_of(told: str, blocks: list[PdfBlock], url: str) -> str:
    """The title that the file states; else its largest heading near the beginning, its
    first words, or the name of the file."""
    told = " ".join(told.split())
    if told and not _no_title(told):
        return told[:LONGEST_TITLE]
    headings = [block for block in blocks[:20] if block.element.startswith("h")]
    largest = min(headings, key=lambda block: block.element, default=None)
    first = largest or next((block for block in blocks if block.words.strip()), None)
    words = " ".join(first.words.split()) if first else ""
    if words and len(words) <= LONGEST_TITLE:
        return words
    return told or unquote(url.partition("?")[0].rstrip("/").rpartition("/")[2])


def day_of(told: str) -> str:
    """A date of PDF (D:20260102…) as YYYY-MM-DD; "" if it is none."""
    found = _date(told.strip())
    return f"{found[1]}-{found[2] or '01'}-{found[3] or '01'}" if found else ""
