"""Parses a sitemap file: XML, text or a feed, gzipped or not."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable
from typing import NamedTuple

from opilio.records import Response
from opilio.seeds.feeds import FEED_ROOTS, record_links
from opilio.seeds.site_files import MAX_BYTES
from opilio.seeds.xml_records import MAX_RECORDS, UTF16, Record, read_records
from opilio.text import content, urls

GZIP = b"\x1f\x8b"
USUAL_PRIORITY = 0.5
_date = re.compile(r"\d{4}(?:-\d\d(?:-\d\d(?:T[\d:]{5,8})?)?)?").match
_share = re.compile(r"[01](?:\.\d{1,4})?").fullmatch


class SitemapEntry(NamedTuple):
    """A page or sitemap in a sitemap file."""

    url: str  # canonical
    priority: float = USUAL_PRIORITY  # among the pages of its site
    modified: str = ""  # as in ISO 8601, so that it can be sorted; "" if unknown


class Listing(NamedTuple):
    """The entries of a sitemap: pages or, if it is an index, sitemaps."""

    pages: list[SitemapEntry]
    sitemaps: list[SitemapEntry]


def read_sitemap(response: Response) -> Listing:
    """The entries of a file; those at the beginning if it is truncated or damaged."""
    body, base = response.body, urls.page(response.url)
    if body.startswith(GZIP):
        body, _ = content.decode(body, "gzip", MAX_BYTES)
    body = body.removeprefix(BOM_UTF8)
    if not body[:100].lstrip().startswith((b"<", *UTF16)):
        return Listing(text_entries(body), [])
    root, records = read_records(body, base, "url", "sitemap", "item", "entry")
    match root:
        case "urlset":
            return Listing(entries(records, "url"), [])
        case "sitemapindex":
            return Listing([], entries(records, "sitemap"))
        case _ if root in FEED_ROOTS:
            return Listing([SitemapEntry(url) for url in record_links(records)], [])
    return Listing([], [])


def entries(records: Iterable[Record], name: str) -> list[SitemapEntry]:
    """The records of that name that have a location."""
    return [
        SitemapEntry(
            url, priority(record.text("priority")), date(record.text("lastmod"))
        )
        for record in records
        if record.name == name and (url := urls.join("", record.text("loc")))
    ]


def text_entries(body: bytes) -> list[SitemapEntry]:
    """The URLs of a text file, one per line."""
    lines = body.split(b"\n", MAX_RECORDS)[:MAX_RECORDS]
    found = (urls.join("", line.decode("utf-8", "replace").strip()) for line in lines)
    return [SitemapEntry(url) for url in found if url]


def priority(text: str) -> float:
    """A number from 0 to 1; the default if it is not valid."""
    return min(float(text), 1.0) if _share(text) else USUAL_PRIORITY


def date(text: str) -> str:
    """The date at the start of a text; "" if there is none."""
    found = _date(text)
    return found[0] if found else ""
