"""Adds the topic terms of anchors, surroundings and URLs to the links of a page."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from opilio.read.parsed_markup import Spot
from opilio.read.term_counts import Words
from opilio.records import Link


def with_terms(
    words: Words, links: list[Link], spots: Sequence[Spot], ends: list[int]
) -> list[Link]:
    """The links with the terms in their anchors, surroundings and URLs; `ends` as for
    `Words.links`."""
    if not spots:
        return links
    found = words.links(spots, ends)
    links = links.copy()
    for number, terms in found.items():
        links[number] = msgspec.structs.replace(links[number], terms=terms)
    return links
