"""A part of a page in; whether it is navigation, a footer or advertising out.

What its tag and its authors call it is a hint only: how much text and how many links it
holds decides, and makes a menu of a list that nothing else tells.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from opilio.read.plain_walk import Part
from opilio.read.tags import LIST, TAGS
from opilio.types import BlockKind

# A list is a menu if it holds so many links and little else.
MENU_LINKS = 4
MENU_SHARE = 0.8  # of its characters, in links
LARGE = 0.5  # share of the page's text above which a region is the page itself
MOSTLY_LINKS = 0.5

BY_TAG = {
    "nav": BlockKind.NAVIGATION,
    "aside": BlockKind.NAVIGATION,
    "footer": BlockKind.FOOTER,
}
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


class Told(NamedTuple):
    """What is told of a part of a page before its text is seen."""

    kind: BlockKind
    sure: bool  # by its tag or role


@lru_cache(maxsize=2**12)
def told_of(tag: str, name: str, role: str) -> Told | None:
    """What its tag, role, class and id tell of an element."""
    named = kind_of_name(name)
    if tag in BY_TAG:
        advertises = named is BlockKind.ADVERTISING
        return Told(BlockKind.ADVERTISING if advertises else BY_TAG[tag], sure=True)
    if by_role := ROLES.get(role):
        return Told(by_role, sure=True)
    return Told(named, sure=False) if named else None


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


def region_of(part: Part, size: int, *, announced: bool) -> BlockKind | None:
    """What a part of a text of this size is, if it is more than a part.

    Wrappers of whole pages have such names too. What a heading has announced is no
    menu.
    """
    length = part.end - part.start
    share = part.linked / length if length else 1.0
    large = length > LARGE * size
    if (
        TAGS[part.tag] & LIST
        and not (announced or large)
        and part.links >= MENU_LINKS
        and share >= MENU_SHARE
    ):
        return BlockKind.NAVIGATION
    told = told_of(part.tag, part.name, part.role)
    if not told or not (length or part.links):
        return None
    if told.sure or not large or share > MOSTLY_LINKS:
        return told.kind
    return None
