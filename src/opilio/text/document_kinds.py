"""Tells pages, PDF files, plain text and Markdown apart, by type, name and bytes."""

from __future__ import annotations

from enum import StrEnum
from urllib.parse import urlsplit

from opilio.records import Response
from opilio.text import content

PDF_TYPES = frozenset(("application/pdf", "application/x-pdf"))
MARKDOWN_TYPES = frozenset(("text/markdown", "text/x-markdown"))
TEXT_TYPES = MARKDOWN_TYPES | {"text/plain"}
BINARY_TYPES = frozenset(("application/octet-stream", "binary/octet-stream"))
MARKDOWN_ENDINGS = (".md", ".markdown", ".mkd")
PDF_HEAD = b"%PDF-"


class DocumentKind(StrEnum):
    """How a document is read."""

    HTML = "html"
    PDF = "pdf"
    TEXT = "text"
    MARKDOWN = "markdown"
    OTHER = "other"  # not at all


TYPES = {
    DocumentKind.PDF: "application/pdf",
    DocumentKind.TEXT: "text/plain",
    DocumentKind.MARKDOWN: "text/markdown",
}


def told_kind(url: str, content_type: str) -> DocumentKind:
    """The kind of a document by its type and address, before its body is known."""
    told = content.media_type(content_type)
    if told in PDF_TYPES or (told in BINARY_TYPES and ends_with(url, (".pdf",))):
        return DocumentKind.PDF
    if told in TEXT_TYPES:
        is_markdown = told in MARKDOWN_TYPES or ends_with(url, MARKDOWN_ENDINGS)
        return DocumentKind.MARKDOWN if is_markdown else DocumentKind.TEXT
    if told in content.HTML_TYPES or told in content.UNTOLD_TYPES:
        return DocumentKind.HTML
    return DocumentKind.OTHER


def kind_of(response: Response) -> DocumentKind:
    """The kind of a document, by its type, address and bytes."""
    kind = told_kind(response.url, response.header("content-type"))
    if kind is not DocumentKind.PDF and is_pdf(response.body):
        return DocumentKind.PDF
    return DocumentKind.HTML if kind is DocumentKind.OTHER else kind


def document_type(response: Response) -> str:
    """The media type of a document, as an export states it."""
    kind = kind_of(response)
    if kind in TYPES:
        return TYPES[kind]
    return response.header("content-type").partition(";")[0].strip().lower()


def is_pdf(body: bytes) -> bool:
    """Whether a body is a PDF file, whatever its type."""
    return body.startswith(PDF_HEAD)


def ends_with(url: str, endings: tuple[str, ...]) -> bool:
    """Whether the path of a URL has one of these endings."""
    return urlsplit(url).path.lower().endswith(endings)
