"""Decides from status and headers whether a response is a page, useless, or to
retry."""

from __future__ import annotations

from datetime import UTC

from opilio.errors import Unusable
from opilio.records import Headers, Response
from opilio.settings import DocumentSettings
from opilio.text import content
from opilio.text.document_kinds import DocumentKind, kind_of, told_kind

REDIRECTS = frozenset((300, 301, 302, 303, 307, 308))
EMPTY = frozenset((204, 205))
RETRIED = frozenset((408, 425, 429))  # and all of 5xx


class WantedBody:
    """Looks at the headers of a response: whether its body is wanted, and how much."""

    def __init__(self, url: str, documents: DocumentSettings, max_bytes: int) -> None:
        self.url = url
        self.documents = documents
        self.max_bytes = max_bytes

    def refuse(self, status: int, headers: Headers) -> str:
        """The reason to skip the body of a response that is no page; "": it may be."""
        if not 200 <= status < 300:
            return ""
        kind = told_kind(self.url, header(headers, "content-type"))
        if not is_wanted(kind, self.documents):
            return "not_html"
        length = header(headers, "content-length")
        if kind is DocumentKind.PDF and length.isdecimal():
            return "too_large" if int(length) > self.documents.pdf_bytes else ""
        return ""

    def limit(self, headers: Headers) -> int:
        """The most bytes of the body that are read."""
        kind = told_kind(self.url, header(headers, "content-type"))
        return self.documents.pdf_bytes if kind is DocumentKind.PDF else self.max_bytes


def header(headers: Headers, name: str) -> str:
    """The value of a header, repeated lines joined by commas."""
    return ", ".join(value for key, value in headers if key == name)


def is_wanted(kind: DocumentKind, documents: DocumentSettings) -> bool:
    """Whether the settings ask for documents of a kind."""
    if kind is DocumentKind.PDF:
        return documents.pdf
    if kind in (DocumentKind.TEXT, DocumentKind.MARKDOWN):
        return documents.text
    return kind is DocumentKind.HTML


def is_retried(status: int) -> bool:
    """Whether a request with this status is retried."""
    return status in RETRIED or 500 <= status < 600


def refuse_unusable(response: Response, documents: DocumentSettings) -> None:
    """Raise Unusable unless the response is a page, a document that is wanted, or a
    redirect."""
    url, status = response.url, response.status
    if status in REDIRECTS:
        if response.header("location"):
            return
        raise Unusable("bad_redirect", f"{url} answered {status} without a Location")
    if not 200 <= status < 300 or status == 206:
        raise Unusable(f"http_{status}", f"{url} answered {status}")
    if status in EMPTY or not response.body:
        raise Unusable("empty", f"{url} answered {status} with an empty body")
    kind = kind_of(response)
    if kind is DocumentKind.HTML:
        if not content.is_html(response.header("content-type"), response.body):
            message = f"{url} is not HTML, whatever its Content-Type says"
            raise Unusable("not_html", message)
    elif not is_wanted(kind, documents):
        message = f"{url} is a document that [documents] does not ask for ({kind})"
        raise Unusable("not_html", message)
    elif kind is DocumentKind.PDF:
        if response.truncated == "length":
            message = f"{url} is larger than {documents.pdf_bytes:,} bytes (pdf_bytes)"
            raise Unusable("too_large", message)
    elif content.looks_binary(response.body):
        raise Unusable("not_html", f"{url} is not text, whatever its Content-Type says")


def retry_after(response: Response) -> float | None:
    """Seconds that the host asks us to wait: a number, or until a date."""
    told = response.header("retry-after")
    if told.isdecimal():
        return float(told)
    from email.utils import parsedate_to_datetime  # slow to import, rarely needed

    try:
        date = parsedate_to_datetime(told)
        moment = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, moment - response.fetched_at)
