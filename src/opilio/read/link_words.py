"""Gives links the stems of their own words.

Strategies learn from them which words lead to relevant pages. Each word is the hash of
its stem and the part of the link that it is in, packed into 32 bits (see Link.words).
"""

from __future__ import annotations

import msgspec

from opilio.read import kernels
from opilio.read.parsed_markup import ParsedMarkup
from opilio.read.term_counts import Words
from opilio.records import Link

Headings = list[tuple[int, int]]
"""Offsets in the text."""


def with_words(
    words: Words,
    links: list[Link],
    found: ParsedMarkup,
    ends: list[int],
    headings: Headings,
) -> list[Link]:
    """The links with their words; `ends` as for `with_terms`."""
    if not found.spots:
        return links
    told = kernels.link_words(words.starts, words.stems, found.spots, ends, headings)
    return [
        msgspec.structs.replace(link, words=codes)
        for link, codes in zip(links, told, strict=True)
    ]


def headings_of(found: ParsedMarkup) -> Headings:
    """For each link, where the heading of its block begins and ends in the text."""
    if not found.spots:
        return []
    places = [(0, 0)] * max(1, len(found.sections))
    seen = set()
    for place, number in found.cuts:
        if number not in seen:  # later cuts continue the block after an interruption
            seen.add(number)
            heading = found.sections[number].heading
            places[number] = (place, place + len(heading)) if heading else (0, 0)
    return [places[link.block] for link in found.links]
