"""Reads the URLs that the sitemaps of a site list, by priority and date.

The protocol: https://www.sitemaps.org/protocol.html. Sitemaps are those that robots.txt
names and /sitemap.xml; an index leads to others. A sitemap may only list URLs of the
site's host, or of the host it is on if that has the same domain.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from opilio.errors import OpilioError, Unusable
from opilio.seeds.seed import Site
from opilio.seeds.sitemap_parsing import SitemapEntry, read_sitemap
from opilio.text import urls

MAX_FILES = 20  # of a site
MAX_DEPTH = 2  # of indexes
MAX_ENTRIES = 200_000  # of a site that are compared


log = logging.getLogger(__name__)


async def read_sitemaps(origin: str, site: Site, limit: int) -> list[str]:
    """The best `limit` URLs that the sitemaps of an origin list."""
    usual = f"{origin}/sitemap.xml"
    try:
        named = await site.sitemaps(origin)
    except OpilioError as error:
        log.warning("no sitemaps of %s: %s", origin, error)
        return []
    waiting = [(url, 0) for name in named if (url := urls.join(usual, name))]
    waiting.append((usual, 0))
    seen: set[str] = set()
    entries: dict[str, SitemapEntry] = {}
    while waiting and len(seen) < MAX_FILES:
        url, depth = waiting.pop(0)
        if url in seen:
            continue
        seen.add(url)
        try:
            response = await site.fetch(url)
            listing = await asyncio.to_thread(read_sitemap, response)
        except OpilioError as error:
            if not (url == usual and isinstance(error, Unusable)):  # optional
                log.warning("the sitemap %s could not be fetched: %s", url, error)
            continue
        spoken_for = hosts_of(origin, urls.page(response.url))
        for entry in listing.pages:
            if len(entries) < MAX_ENTRIES and urls.host(entry.url) in spoken_for:
                entries.setdefault(entry.url, entry)
        if depth < MAX_DEPTH:
            waiting += [
                (entry.url, depth + 1)
                for entry in by_weight(listing.sitemaps)
                if urls.same_site(entry.url, response.url)
            ]
    return [entry.url for entry in by_weight(entries.values())][:limit]


def hosts_of(origin: str, sitemap: str) -> set[str]:
    """The hosts whose URLs a sitemap may list."""
    hosts = {urls.host(f"{origin}/")}
    if urls.same_site(f"{origin}/", sitemap):
        hosts.add(urls.host(sitemap))
    return hosts


def by_weight(entries: Iterable[SitemapEntry]) -> list[SitemapEntry]:
    """By priority, then the last modified first, then as listed."""
    latest_first = sorted(entries, key=lambda entry: entry.modified, reverse=True)
    return sorted(latest_first, key=lambda entry: -entry.priority)
