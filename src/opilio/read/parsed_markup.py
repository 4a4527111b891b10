"""Records of what was found in the markup of a page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from opilio.records import BlockKind, Link

_unsafe = re.compile("[\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]").sub


Spot = tuple[int, int, int, int]
"""Offsets of a link in the text: where the words before it begin, where it begins and
ends, and where the words after it end."""


class MarkupSection(NamedTuple):
    """A block before its words are counted."""

    heading: str = ""
    level: int = 0
    parent: int = -1
    kind: BlockKind = BlockKind.TEXT


class PageHead(NamedTuple):
    """The metadata of a page."""

    title: str = ""
    declared: str = ""  # its language in <html lang>
    canonical: str = ""
    refresh: str = ""
    alternates: Mapping[str, str] = {}  # hreflang -> URL
    robots: Sequence[str] = ()  # of <meta name=robots>, or with our name


class ParsedMarkup(NamedTuple):
    """What was found in the markup of a page."""

    head: PageHead
    text: str
    links: list[Link]
    spots: Sequence[Spot] = ()  # of each link, if their context was asked for
    sections: Sequence[MarkupSection] = ()  # if blocks were asked for
    cuts: Sequence[tuple[int, int]] = ()
    """Offset in the text, and the number of the section from there to the next cut."""
    headings: Sequence[str] = ()  # if they were asked for
    settled: tuple[bytes, bytes] = (b"", b"")  # and their ids, as in Page


def clean(text: str, limit: int | None = None) -> str:
    """One line without control characters, of at most `limit` characters."""
    if limit is not None and len(text) > limit:
        text = text[: 4 * limit]
    text = " ".join(text.split())
    if not text.isprintable():
        text = " ".join(_unsafe("", text).split())
    return text[:limit]
