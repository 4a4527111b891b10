"""Extracts the texts of stored pages, within limits of memory and CPU.

A page that the parser cannot take within the limits is scanned by patterns instead.
"""

from __future__ import annotations

import msgspec

from opilio.read import kernels
from opilio.read.documents.as_markup import markup_of
from opilio.read.limited import LimitedReader
from opilio.read.pattern_scan import scan
from opilio.read.visible_text import Ranges, visible_text
from opilio.records import Extraction, Reading, Response
from opilio.text import content
from opilio.text.document_kinds import DocumentKind, kind_of

MAIN, VISIBLE = f"{__name__}:make_main", f"{__name__}:make_visible"
decode_visible = msgspec.msgpack.Decoder(tuple[str, Ranges]).decode
decode_extraction = msgspec.msgpack.Decoder(Extraction).decode


class PageTexts:
    """Extracts texts of pages; counts those that are scanned by patterns."""

    def __init__(self) -> None:
        self.parsers: dict[str, LimitedReader] = {}
        self.degraded = 0

    def extract(self, response: Response, *, degraded: bool = False) -> Extraction:
        """The main text of a page and the facts about it; `degraded`: the parser has
        failed on it before."""
        if not degraded and (found := self._parsed(MAIN, response)):
            return decode_extraction(found)
        return Extraction(text=self._scanned(response))

    def main(self, response: Response, *, degraded: bool = False) -> str:
        """The main text of a page, without menus and footers."""
        return self.extract(response, degraded=degraded).text

    def visible(self, response: Response) -> tuple[str, Ranges]:
        """The text of a page as it was indexed, and the ranges of menus and such."""
        if kind_of(response) is DocumentKind.HTML:
            markup, _ = markup_of(response)
            if kernels.tidied(markup) is not None:  # no parser is needed
                return visible_text(response)
        if found := self._parsed(VISIBLE, response):
            return decode_visible(found)
        return self._scanned(response), []

    def _parsed(self, job: str, response: Response) -> bytes:
        if job not in self.parsers:
            self.parsers[job] = LimitedReader(job)
        return self.parsers[job].read(response).record

    def _scanned(self, response: Response) -> str:
        self.degraded += 1
        if kind_of(response) is DocumentKind.PDF:
            return ""  # patterns find nothing there
        markup = response.rendered
        if not markup:
            markup, _ = content.utf_8(response.body, response.header("content-type"))
        text = scan(markup.decode("utf-8", "replace"), response.url).text
        return " ".join(text.split())

    def close(self) -> None:
        """End the processes."""
        for parser in self.parsers.values():
            parser.close()


class TextJob:
    """Extracts one kind of text, in a reader process."""

    def __init__(self, is_main: bool) -> None:
        self.is_main = is_main

    def __call__(self, response: Response) -> Reading:
        from opilio.read.main_content.extract import (
            extract_content,
        )  # numpy takes its time

        try:
            found = (
                extract_content(response) if self.is_main else visible_text(response)
            )
        except Exception:  # MemoryError, or whatever a young parser may raise
            return Reading(None, reason="parse_crashed")
        return Reading(None, msgspec.msgpack.encode(found))


def make_main(_: bytes) -> TextJob:
    """The job of extracting main texts and facts."""
    return TextJob(is_main=True)


def make_visible(_: bytes) -> TextJob:
    """The job of extracting visible texts."""
    return TextJob(is_main=False)
