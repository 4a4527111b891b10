"""Reads the values of elements with an itemprop (microdata)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from opilio.read.markup import unescaped

MOST = 200  # elements that are looked at
LONGEST_THING = 1000  # characters of markup in which the name of a thing is looked for

_properties = re.compile(
    r' itemprop="(datePublished|dateModified|dateCreated)"([^>]*)>([^<]*)'
).finditer
_authors = re.compile(r'<[^<>]* itemprop="author"([^>]*)>([^<]*)').finditer
_name = re.compile(r' itemprop="name"([^>]*)>([^<]*)').search
_content = re.compile(r' (?:content|datetime|title)="([^"]*)"').search


def values_of(markup: str, *names: str) -> Iterator[str]:
    """The values of elements with one of these names."""
    if ' itemprop="date' not in markup:  # as on most pages
        return
    for number, found in enumerate(_properties(markup)):
        if number == MOST:
            return
        if found[1] in names:
            yield content_of(found[2]) or unescaped(found[3]).strip()


def authors_within(markup: str) -> Iterator[str]:
    """The authors that elements name, together with the first of them."""
    if ' itemprop="author"' not in markup:  # as on most pages
        return
    last = 0
    for found in islice(_authors(markup), MOST):
        if last and found.start() > last + LONGEST_THING:
            return
        if "comment" in found[0]:
            continue
        value = content_of(found[1]) or unescaped(found[2]).strip()
        if not value and " itemscope" in found[0]:
            value = name_within(markup, found.end())
        if value:
            last = found.end()
            yield value


def name_within(markup: str, start: int) -> str:
    """The name of a thing that is described from here on: a person, for example."""
    found = _name(markup, start, start + LONGEST_THING)
    return (content_of(found[1]) or unescaped(found[2]).strip()) if found else ""


def content_of(given: str) -> str:
    """The value that the attributes of an element state; "": none."""
    found = _content(given)
    return unescaped(found[1]) if found else ""
