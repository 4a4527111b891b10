"""A document in; its parts that look like navigation, footer or advertising out.

What they are called is a hint only: whether a region is one, and whether a list is a
menu, is decided by how much text and how many links it holds (see `blocks`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain, islice
from typing import TYPE_CHECKING

from opilio.read.blocks import Region
from opilio.types import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turbohtml import Document, Element

MOST = 1000  # regions that are looked at; real pages have a few dozen
LONGEST = 200  # characters of a class that are looked at

TAGS = {
    "nav": BlockKind.NAVIGATION,
    "aside": BlockKind.NAVIGATION,
    "footer": BlockKind.FOOTER,
}
LISTS = ("ul", "ol", "menu", "dir")
NAMED = ("div", "section", "header", "table", "td")  # whose names count, as do lists'
A_LIST = Region(BlockKind.NAVIGATION, a_list=True)

ROLES = {
    "navigation": BlockKind.NAVIGATION,
    "menu": BlockKind.NAVIGATION,
    "menubar": BlockKind.NAVIGATION,
    "complementary": BlockKind.NAVIGATION,
    "contentinfo": BlockKind.FOOTER,
}

_in_words = re.compile("[A-Z]?[a-z]+|[A-Z]+").findall
_WORDS = {
    BlockKind.ADVERTISING: {
        *("ad", "ads", "adv", "advert", "adverts", "advertisement", "advertising"),
        *("adsense", "adsbygoogle", "adslot", "adunit", "adbox", "adbanner"),
        *("sponsor", "sponsors", "sponsored", "promo", "promoted"),
        *("doubleclick", "outbrain", "taboola"),
    },
    BlockKind.FOOTER: {"footer", "sitefooter", "printfooter", "colophon", "copyright"},
    BlockKind.NAVIGATION: {
        *("nav", "navi", "navbar", "navbox", "navframe", "navigation", "navlist"),
        *("topnav", "mainnav", "subnav", "sidenav", "sidebar", "pager", "pagination"),
        *("menu", "menus", "menubar", "navmenu", "topmenu", "mainmenu", "submenu"),
        *("breadcrumb", "breadcrumbs", "crumbs", "toc", "sitemap"),
    },
}
# "no-sidebar" and "has-nav" say something of what is inside or beside.
_ABOUT = {"no", "not", "has", "have", "with", "without", "hide", "show"}


def find_regions(document: Document) -> list[tuple[Element, Region]]:
    """The elements that may be blocks of their own, and what is told of each."""
    return list(islice(_find(document), MOST))


def _find(document: Document) -> Iterator[tuple[Element, Region]]:
    # One tag at a time: the parser keeps an index of tags, so it need not walk.
    for tag, kind in TAGS.items():
        for element in document.select(tag):
            advertises = kind_of_name(name_of(element)) is BlockKind.ADVERTISING
            told = BlockKind.ADVERTISING if advertises else kind
            yield element, Region(told, sure=True)
    lists = [element for tag in LISTS for element in document.select(tag)]
    named = (document.select(f"{tag}[class], {tag}[id], {tag}[role]") for tag in NAMED)
    for element in chain(chain.from_iterable(named), lists):
        role = ROLES.get(element.attr("role") or "")
        found = role or kind_of_name(name_of(element))
        if found:
            yield element, Region(found, sure=bool(role))
    for element in lists:
        yield element, A_LIST


def name_of(element: Element) -> str:
    """What its authors call an element: its class and id."""
    classes, name = element.attr("class") or "", element.attr("id") or ""
    return f"{classes[:LONGEST]} {name[:LONGEST]}"


@lru_cache(maxsize=2**12)
def kind_of_name(name: str) -> BlockKind | None:
    """What a class or id tells of its element.

    >>> kind_of_name("siteFooter-links")
    <BlockKind.FOOTER: 'footer'>
    """
    words = {word.lower() for word in _in_words(name)}
    if not words or words & _ABOUT:
        return None
    for kind, telling in _WORDS.items():
        if words & telling:
            return kind
    return None
