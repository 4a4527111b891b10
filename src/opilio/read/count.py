"""What was found on a page in; the topic terms in each part of it, counted, out.

Title, addresses and pictures' names are put after the visible text, a line each, so
that all of it is split into words and compared with the terms in one go.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import unquote

import msgspec
import numpy as np

from opilio.read.counting import Vector, Words, norm
from opilio.read.found import Found, Spot
from opilio.read.lexicon import LONGEST, Lexicon
from opilio.types import NOTHING, Block, Counted, Link, LinkTerms

MOST_TEXT = LONGEST * 3 // 4  # characters; what follows the text must find room too
NO_TERMS = LinkTerms()


class Count(NamedTuple):
    """What counting the words of a page gives."""

    vector: Vector
    title: Counted
    url: Counted
    links: list[Link]  # those found, with their terms
    blocks: list[Block]


def count(lexicon: Lexicon, found: Found, url: str, language: str) -> Count:
    """Count the words of the page at this URL, which is in this language."""
    text = found.text[:MOST_TEXT]
    lines = [text, found.head.title, words_of(url)]
    for link, (_, start, end, _) in zip(found.links, found.spots, strict=False):
        # An anchor that is not in the text is the name of a picture.
        name = link.anchor if start == end else ""
        lines += (words_of(link.url), name)
    ends = list(accumulate(len(line) + 1 for line in lines))
    words = lexicon.words("\n".join(lines), language)
    return Count(
        vector=words.total(len(text)),
        title=words.between(ends[0], ends[1]),
        url=words.between(ends[1], ends[2]),
        links=links_with_terms(words, found, ends),
        blocks=blocks_of(words, found, ends),
    )


def words_of(url: str) -> str:
    """The part of an address that has words in it."""
    address = url.partition("://")[2]
    return unquote(address).replace("\n", " ") if "%" in address else address


def links_with_terms(words: Words, found: Found, ends: list[int]) -> list[Link]:
    """The links with the terms in their anchors, addresses and surroundings."""
    if not found.spots:
        return found.links
    links = []
    between, text_end = words.between, ends[0]
    lines = zip(ends[2::2], ends[3::2], ends[4::2], strict=False)
    for link, spot, (start, middle, end) in zip(
        found.links, found.spots, lines, strict=True
    ):
        if spot.last > text_end:
            spot = Spot(text_end, text_end, text_end, text_end)
        in_text = spot.start < spot.end
        terms = LinkTerms(
            between(spot.start, spot.end) if in_text else between(middle, end),
            around(words, spot),
            between(start, middle),
        )
        if terms != NO_TERMS:
            link = msgspec.structs.replace(link, terms=terms)
        links.append(link)
    return links


def around(words: Words, spot: Spot) -> Counted:
    """The terms before and after a link, which is left out."""
    before = words.between(spot.first, spot.start)
    after = words.between(spot.end, spot.last)
    if before is NOTHING and after is NOTHING:
        return NOTHING
    terms = dict(before.terms)
    for term, times in after.terms.items():
        terms[term] = terms.get(term, 0) + times
    edges = [bisect_left(words.places, place) for place in spot]
    stems = words.row.stems
    both = np.concatenate((stems[edges[0] : edges[1]], stems[edges[2] : edges[3]]))
    return Counted(terms, norm(both))


def blocks_of(words: Words, found: Found, ends: list[int]) -> list[Block]:
    """The blocks with their words counted; the title is in the first."""
    if not found.sections:
        return []
    cuts = [cut for cut in found.cuts if cut[0] < ends[0]]
    cuts += [(ends[0], 0), (ends[1], -1)]
    tallies = words.tally(cuts, len(found.sections))
    return [
        Block(*section, *tally)
        for section, tally in zip(found.sections, tallies, strict=True)
    ]
