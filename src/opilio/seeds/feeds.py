"""Reads the URLs that the feeds of given pages list.

RSS 0.9 to 2.0, RDF, Atom and JSON Feed are supported. A page names its feeds by
<link rel=alternate>; a URL may also be a feed itself. The order of the feed is kept.
"""

from __future__ import annotations

import asyncio
import logging
from codecs import BOM_UTF8
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from lxml import etree

from opilio.errors import OpilioError
from opilio.records import Response
from opilio.seeds.seed import Site
from opilio.seeds.xml_records import Record, read_records
from opilio.text import content, urls

FEED_TYPES = frozenset(
    ("application/rss+xml", "application/atom+xml", "application/rdf+xml",
     "application/feed+json", "application/json", "text/xml", "application/xml")
)  # fmt: skip
FEED_ROOTS = frozenset(("rss", "RDF", "feed", "channel"))
MAX_FEEDS = 5  # of a page
HEAD = 2**18  # bytes of a page in which its feeds are named
MAX_ITEMS = 5000  # of a JSON feed that are looked at


log = logging.getLogger(__name__)


async def read_feeds(page: str, site: Site, limit: int) -> list[str]:
    """The URLs in the feeds of a page, each once; failures are logged."""
    found: dict[str, None] = {}
    try:
        response = await site.fetch(page)
        links = await asyncio.to_thread(feed_links, response)
        feeds = [] if links else await asyncio.to_thread(named_feeds, response)
        found.update(dict.fromkeys(links))
        if not links and not feeds:
            log.warning("%s is not a feed and names none", page)
    except OpilioError as error:
        log.warning("no feeds of %s: %s", page, error)
        return []
    for feed in feeds:
        try:
            response = await site.fetch(feed)
        except OpilioError as error:
            log.warning("the feed %s could not be fetched: %s", feed, error)
            continue
        found.update(dict.fromkeys(await asyncio.to_thread(feed_links, response)))
    return list(found)[:limit]


def feed_links(response: Response) -> list[str]:
    """The canonical URLs that a feed lists; none if it is not a feed."""
    base, body = urls.page(response.url), response.body.removeprefix(BOM_UTF8)
    if body[:100].lstrip().startswith(b"{"):
        return json_links(body, base)
    root, records = read_records(body, base, "item", "entry")
    return record_links(records) if root in FEED_ROOTS else []


def record_links(records: Sequence[Record]) -> list[str]:
    """The URL of each item or entry that has one."""
    return [
        url
        for record in records
        if (link := record_link(record)) and (url := urls.join(record.base, link))
    ]


def record_link(record: Record) -> str:
    """The URL of an item or entry; "" if it has none."""
    for name, attributes, text in record.fields:
        if name == "link" and attributes.get("rel", "alternate") == "alternate":
            link = attributes.get("href") or text
            if link:
                return link
    for name, attributes, text in record.fields:
        if name == "guid" and attributes.get("isPermaLink", "true") == "true":
            return text
    return record.attributes.get("about", "")


def json_links(body: bytes, base: str) -> list[str]:
    """The URLs that a JSON Feed lists; none if it is not one."""
    try:
        feed = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return []
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(items, list) or "jsonfeed" not in str(feed.get("version")):
        return []
    return [
        url
        for item in items[:MAX_ITEMS]
        if (link := json_link(item)) and (url := urls.join(base, link))
    ]


def json_link(item: Any) -> str:
    """The URL of an item of a JSON Feed; "" if it has none."""
    if isinstance(item, dict):
        for key in ("url", "external_url"):
            if isinstance(link := item.get(key), str) and link:
                return link
    return ""


def named_feeds(response: Response) -> list[str]:
    """The feeds that a page names, in its own order."""
    head = FeedHead()
    text, _ = content.text(response.body[:HEAD], response.header("content-type"))
    parser = etree.HTMLParser(target=head, no_network=True, huge_tree=False)
    try:
        parser.feed(text)
        parser.close()
    except (etree.LxmlError, ValueError):
        pass  # use what was read so far
    base = urls.join(response.url, head.base) or response.url
    found = (urls.join(base, href) for href in head.feeds)
    return list(dict.fromkeys(url for url in found if url))[:MAX_FEEDS]


class FeedHead:
    """A parser target that collects the base and the feeds of a page."""

    def __init__(self) -> None:
        self.base = ""
        self.feeds: list[str] = []

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle a start tag."""
        href = attributes.get("href", "")
        if tag == "base":
            self.base = self.base or href
        elif tag == "link" and href and len(self.feeds) < 100:
            rel = attributes.get("rel", "").lower().split()
            kind = content.media_type(attributes.get("type", ""))
            if "alternate" in rel and kind in FEED_TYPES:
                self.feeds.append(href)

    def close(self) -> None:
        """Handle the end of the page."""
