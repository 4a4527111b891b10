"""Reads the values of elements with an itemprop (microdata)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from opilio.read.markup import unescaped

MOST = 200  # elements that are looked at

_properties = re.compile(
    r' itemprop="(datePublished|dateModified|dateCreated|author)"([^>]*)>([^<]*)'
).finditer
_content = re.compile(r' (?:content|datetime|title)="([^"]*)"').search


def values_of(markup: str, *names: str) -> Iterator[str]:
    """The values of elements with one of these names."""
    for number, found in enumerate(_properties(markup)):
        if number == MOST:
            return
        if found[1] in names:
            yield content_of(found[2]) or unescaped(found[3]).strip()


def content_of(given: str) -> str:
    """The value that the attributes of an element state; "": none."""
    found = _content(given)
    return unescaped(found[1]) if found else ""
