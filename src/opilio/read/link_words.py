"""Adds the hashed words of anchors, surroundings and headings to the links of a page.

Strategies learn from them which words lead to relevant pages. Each word is the hash of
its stem and the part of the link that it is in, packed into 32 bits (see Link.words).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np
import numpy.typing as npt

from opilio.read.parsed_markup import ParsedMarkup
from opilio.read.plain_tree import Integers
from opilio.read.term_counts import Words
from opilio.records import Link, LinkPart

Codes = npt.NDArray[np.uint32]

MOST = {  # words of each part: the last ones before a link, else the first
    LinkPart.ANCHOR: 20,
    LinkPart.URL: 16,
    LinkPart.BEFORE: 10,
    LinkPart.AFTER: 10,
    LinkPart.HEADING: 10,
    LinkPart.TITLE: 10,
}
BITS = 29  # of a stem's hash

# The name of a picture counts as an anchor, too.
ORDER = (LinkPart.ANCHOR, *LinkPart)


def with_words(
    words: Words, links: list[Link], found: ParsedMarkup, ends: Sequence[int]
) -> list[Link]:
    """The links with their words; `ends` as for `with_terms`."""
    if not found.spots:
        return links
    begins, stops = edges(words, found, ends)
    most = np.array([MOST[part] for part in ORDER])
    nearest = np.array([part is LinkPart.BEFORE for part in ORDER])
    lengths = np.clip(stops - begins, 0, most)
    begins = np.where(nearest, stops - lengths, begins)
    shift = np.array(ORDER, np.uint32) << np.uint32(BITS)
    codes = pick(words, begins.ravel(), lengths.ravel())
    codes |= np.repeat(np.tile(shift, len(begins)), lengths.ravel())
    data = codes.astype("<u4", copy=False).tobytes()
    cuts = [0, *(4 * np.cumsum(lengths.sum(axis=1))).tolist()]
    return [
        msgspec.structs.replace(link, words=data[start:end])
        for link, (start, end) in zip(links, pairwise(cuts), strict=True)
    ]


def edges(
    words: Words, found: ParsedMarkup, ends: Sequence[int]
) -> tuple[Integers, Integers]:
    """For each link, the first word of each part of it, and the word after it."""
    spots = np.minimum(found.spots, ends[0])
    titles = np.tile((ends[0], ends[1]), (len(spots), 1))
    headings = heading_places(found, ends[0])
    columns = (
        *(ends[3::2], spots[:, 1], ends[2:-1:2]),
        *(spots[:, 0], spots[:, 2], headings[:, 0], titles[:, 0]),
        *(ends[4::2], spots[:, 2], ends[3::2]),
        *(spots[:, 1], spots[:, 3], headings[:, 1], titles[:, 1]),
    )
    numbers = np.searchsorted(words.starts, np.column_stack(columns))
    return numbers[:, : len(ORDER)], numbers[:, len(ORDER) :]


def heading_places(found: ParsedMarkup, end: int) -> Integers:
    """The same as `headings_of` within the first `end` characters."""
    chosen = np.array(headings_of(found), np.int64).reshape(-1, 2)
    return np.minimum(chosen, end)


def headings_of(found: ParsedMarkup) -> list[tuple[int, int]]:
    """For each link, where the heading of its block begins and ends in the text."""
    places = [(0, 0)] * max(1, len(found.sections))
    seen = set()
    for place, number in found.cuts:
        if number not in seen:  # later cuts continue the block after an interruption
            seen.add(number)
            heading = found.sections[number].heading
            places[number] = (place, place + len(heading)) if heading else (0, 0)
    return [places[link.block] for link in found.links]


def pick(words: Words, begins: Integers, lengths: Integers) -> Codes:
    """The codes of the stems in these stretches of words, one after another."""
    before = np.cumsum(lengths) - lengths
    chosen = np.arange(lengths.sum()) + np.repeat(begins - before, lengths)
    stems = words.stems[chosen] >> np.uint64(64 - BITS)
    kept: Codes = stems.astype(np.uint32)
    return kept
