"""A document in; what it says of itself out: title, language, address and wishes."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from opilio import urls
from opilio.read.found import Head, clean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turbohtml import Document, Element

PRODUCT_TOKEN = "opilio"  # noqa: S105 - how robots rules name us
MAX_TITLE = 500  # characters
MAX_ALTERNATES = 100  # Europe has 24 official languages
SOON = 5.0  # seconds; a slower refresh is not a redirect

_hreflang = re.compile("[a-z0-9-]{2,35}", re.IGNORECASE | re.ASCII).fullmatch


def head_of(document: Document, url: str, joiner: urls.Joiner) -> Head:
    """What the document at this URL says of itself."""
    title, metas = document.select_one("title"), document.select("meta")
    root = document.root
    canonical, alternates = relations_of(document, joiner, url)
    return Head(
        title=clean(title.text, MAX_TITLE) if title else "",
        declared=(root.attr("lang") or "") if root else "",
        canonical=canonical,
        refresh=refresh_of(document, joiner, url) if any(map(refreshes, metas)) else "",
        alternates=alternates,
        robots=robots_of(metas),
    )


def base_of(document: Document) -> str:
    """What <base href> says."""
    base = document.select_one("base")
    return (base.attr("href") or "") if base else ""


def relations_of(
    document: Document, joiner: urls.Joiner, url: str
) -> tuple[str, dict[str, str]]:
    """The page's own idea of its URL, unless that is on another site, and the URLs of
    the same page in other languages."""
    canonical: str | None = None
    alternates: dict[str, str] = {}
    for link in document.select("link"):
        relations = (link.attr("rel") or "").lower().split()
        if canonical is None and "canonical" in relations:
            canonical = joiner[link.attr("href") or ""][0]
        elif "alternate" in relations and len(alternates) < MAX_ALTERNATES:
            language = _hreflang(link.attr("hreflang") or "")
            if language and (target := joiner[link.attr("href") or ""][0]):
                alternates.setdefault(language[0].lower(), target)
    if not canonical or not urls.same_site(canonical, url):
        canonical = ""
    return canonical, alternates


def refreshes(meta: Element) -> bool:
    """May this element say where the page leads? The parser would look at all."""
    return "refresh" in (meta.attr("http-equiv") or "").lower()


def refresh_of(document: Document, joiner: urls.Joiner, url: str) -> str:
    """Where a <meta http-equiv=refresh> leads at once, unless that is here."""
    delay, href = document.meta_refresh() or (math.inf, "")
    if delay > SOON or not href:
        return ""
    target = joiner[href][0]
    return "" if target == url else target


def robots_of(metas: Iterable[Element]) -> list[str]:
    """What the page says to all robots or to us."""
    return [
        meta.attr("content") or ""
        for meta in metas
        if (meta.attr("name") or "").lower() in ("robots", PRODUCT_TOKEN)
    ]
