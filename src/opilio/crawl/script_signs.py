"""Tells by its markup whether a page is likely to be built by scripts.

Every pattern takes time linear in the markup, whatever it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from opilio.records import Page, Response

LOOKED_AT = 256 * 1024  # bytes of the markup
MANY_WORDS = 250  # a page with more has its text in its markup
FEW_WORDS = 50
MOST_SCRIPT = 20  # times as many bytes of scripts as of text
WORD = 6  # bytes of an ordinary word
NOSCRIPTS, LONGEST_WISH = 5, 1000  # that are looked at; bytes of one

_asks = re.compile(rb"\b(?:javascript|java script|scripts?)\b").search
_empty_elements = re.compile(
    rb"<([a-z][a-z0-9-]{0,30})([^<>]{0,300})>\s*(?:<!--[^<>]{0,200}-->\s*)?</"
).finditer
_names_root = re.compile(
    rb"""\b(?:id|class)\s?=\s?["']?(?:root|app|__next|__nuxt|___gatsby|main|app-root
    |application|q-app|svelte|content)(?:["'\s]|$)""",
    re.VERBOSE,
).search


def looks_scripted(response: Response, page: Page) -> bool:
    """Whether plain reading gives too little: few words or no links although there are
    scripts, an empty root element, or a <noscript> that asks for them."""
    if page.words > MANY_WORDS:
        return False
    if not has_script(response):
        return False
    markup = response.body[:LOOKED_AT].lower()
    if page.words < FEW_WORDS or not (page.links or page.settled):
        return True
    if any(map(_asks, wishes(markup))) or has_empty_root(markup):
        return True
    scripts = (
        piece.partition(b"</script")[0] for piece in markup.split(b"<script")[1:]
    )
    return sum(map(len, scripts)) > MOST_SCRIPT * WORD * page.words


def has_script(response: Response) -> bool:
    """Whether there is a script."""
    return b"<script" in response.body[:LOOKED_AT].lower()


def has_empty_root(markup: bytes) -> bool:
    """Whether there is an empty element that scripts usually fill: one with a usual
    name, or an element that HTML does not have."""
    return any(
        b"-" in found[1] or _names_root(found[2]) for found in _empty_elements(markup)
    )


def wishes(markup: bytes) -> Iterator[bytes]:
    """The first elements for browsers without scripts."""
    for piece in markup.split(b"<noscript", NOSCRIPTS)[1:]:
        yield piece[:LONGEST_WISH].partition(b"</noscript")[0]
