"""Reads title, language, canonical URL, refresh and robots wishes of a page."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from opilio.read.parsed_markup import PageHead, clean
from opilio.text import urls
from opilio.text.link_joiner import Joiner

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from turbohtml import Document

    from opilio.read.document import MarkupSource
    from opilio.read.plain_walk import Declared

MAX_TITLE = 500  # characters
MAX_ALTERNATES = 100  # Europe has 24 official languages
SOON = 5.0  # seconds; a slower refresh is not a redirect

_hreflang = re.compile("[a-z0-9-]{2,35}", re.IGNORECASE | re.ASCII).fullmatch


def head_of(
    source: MarkupSource,
    declared: Sequence[Declared],
    url: str,
    joiner: Joiner,
    agent: str,
) -> PageHead:
    """The metadata of the page at this URL, with its rules for the robot `agent`."""
    metas = [given for tag, given in declared if tag == "meta"]
    canonical, alternates = relations_of(declared, joiner, url)
    return PageHead(
        title=clean(first_of(declared, "title", ""), MAX_TITLE),
        declared=first_of(declared, "html", "lang"),
        canonical=canonical,
        refresh=refresh_of(source.document, joiner, url)
        if any(map(refreshes, metas))
        else "",
        alternates=alternates,
        robots=robots_of(metas, agent),
    )


def first_of(declared: Iterable[Declared], wanted: str, name: str) -> str:
    """The value of this attribute at the first element of this tag."""
    return next((given.get(name, "") for tag, given in declared if tag == wanted), "")


def relations_of(
    declared: Iterable[Declared], joiner: Joiner, url: str
) -> tuple[str, dict[str, str]]:
    """The canonical URL, unless that is on another site, and the URLs of the same page
    in other languages."""
    canonical: str | None = None
    alternates: dict[str, str] = {}
    for tag, given in declared:
        if tag != "link":
            continue
        relations = given.get("rel", "").lower().split()
        if canonical is None and "canonical" in relations:
            canonical = joiner[given.get("href", "")][0]
        elif "alternate" in relations and len(alternates) < MAX_ALTERNATES:
            language = _hreflang(given.get("hreflang", ""))
            if language and (target := joiner[given.get("href", "")][0]):
                alternates.setdefault(language[0].lower(), target)
    if canonical and (canonical == url or urls.same_site(canonical, url)):
        return canonical, alternates
    return "", alternates


def refreshes(meta: dict[str, str]) -> bool:
    """Whether this element may be a refresh; saves parsing other pages."""
    return "refresh" in meta.get("http-equiv", "").lower()


def refresh_of(document: Document, joiner: Joiner, url: str) -> str:
    """The target of an immediate <meta http-equiv=refresh>, unless it is this page."""
    try:
        delay, href = document.meta_refresh() or (math.inf, "")
    except ValueError:  # a delay that is no number, such as "."
        return ""
    if delay > SOON or not href:
        return ""
    target = joiner[href][0]
    return "" if target == url else target


def robots_of(metas: Iterable[dict[str, str]], agent: str) -> list[str]:
    """The robots rules of a page for all robots or for the one of this name."""
    return [
        meta.get("content", "")
        for meta in metas
        if meta.get("name", "").lower() in ("robots", agent)
    ]
