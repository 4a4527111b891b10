"""Extracts title, text and links by patterns from markup that crashes the parser.

Every pattern takes time linear in the markup, whatever it is.
"""

from __future__ import annotations

import re

from opilio.read.parsed_markup import PageHead, ParsedMarkup, clean
from opilio.records import Link
from opilio.text.link_joiner import Joiner

MAX_LINKS = 5000
MAX_TITLE = 500

_title = re.compile(r"<title[^<>]{0,200}>([^<]{0,2000})", re.IGNORECASE).search
_hrefs = re.compile(
    r"""<a\s[^<>]{0,500}?\bhref\s{0,9}=\s{0,9}["']?([^"'\s<>]{1,2000})""", re.IGNORECASE
).finditer
_tags = re.compile(r"<[^<>]*>").sub


def scan(markup: str, url: str) -> ParsedMarkup:
    """The title, text and links of a page, roughly."""
    title = _title(markup)
    joiner = Joiner(url)
    links: dict[str, Link] = {}
    for match in _hrefs(markup):
        target, fingerprint = joiner[match[1]]
        if target and target != url:
            links.setdefault(target, Link(target, fingerprint))
        if len(links) == MAX_LINKS:
            break
    head = PageHead(clean(title[1], MAX_TITLE) if title else "")
    text = _tags(" ", markup).replace("\n", " ")
    return ParsedMarkup(head, text, list(links.values()))
