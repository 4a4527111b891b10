"""Guesses from tag, class, id and role whether an element is a region of a page."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from opilio.records import BlockKind

LONGEST = 200  # characters of a class or id that are looked at

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
# "no-sidebar" and "has-nav" describe what is inside or beside.
_ABOUT = {"no", "not", "has", "have", "with", "without", "hide", "show"}


class Told(NamedTuple):
    """The guess about a part of a page, before its text is seen."""

    kind: BlockKind
    sure: bool  # decided by its tag or role


@lru_cache(maxsize=2**12)
def told_of(tag: str, classes: str, name: str, role: str) -> Told | None:
    """What an element may be, given its tag, class, id and role."""
    named = kind_of_name(f"{classes[:LONGEST]} {name[:LONGEST]}")
    if tag in BY_TAG:
        advertises = named is BlockKind.ADVERTISING
        return Told(BlockKind.ADVERTISING if advertises else BY_TAG[tag], sure=True)
    if by_role := ROLES.get(role):
        return Told(by_role, sure=True)
    return Told(named, sure=False) if named else None


def kind_of_name(name: str) -> BlockKind | None:
    """The kind of region that a class or id names.

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
