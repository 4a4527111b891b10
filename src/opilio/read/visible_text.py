"""Extracts the visible text of a page, the same as was indexed."""

from __future__ import annotations

from opilio.read.document import MarkupSource
from opilio.read.documents.as_markup import markup_of
from opilio.read.regions import LARGE
from opilio.records import Response

Ranges = list[tuple[int, int]]


def visible_text(response: Response) -> tuple[str, Ranges]:
    """The text of a page, and the ranges that are menus, footers or advertising.

    Unnamed lists of links count as ordinary text here.
    """
    markup, _ = markup_of(response)
    text, _, parts, _ = MarkupSource(markup).walk()
    beside = [
        (part.start, part.end)
        for part in parts
        # Wrappers of whole pages may have such names, too.
        if part.told and (part.told.sure or part.end - part.start <= LARGE * len(text))
    ]
    return text, beside
