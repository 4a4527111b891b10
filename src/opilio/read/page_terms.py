"""Counts the topic terms in each part of a page.

Title, URLs and names of pictures are appended to the visible text, a line each, so that
all of it is split into words and compared with the terms in one pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import unquote

from opilio.read.lexicon import LONGEST, Lexicon
from opilio.read.link_terms import with_terms
from opilio.read.link_words import headings_of, with_words
from opilio.read.page_and_link_vectors import with_vectors
from opilio.read.parsed_markup import ParsedMarkup
from opilio.read.term_counts import Vector, Words
from opilio.read.word_vector_cache import WordRows
from opilio.records import NOTHING, Block, Counted, Link

MOST_TEXT = LONGEST * 3 // 4  # characters; leaves room for what is appended


class Count(NamedTuple):
    """The result of counting the words of a page."""

    vector: Vector
    title: Counted
    url: Counted
    links: list[Link]  # those found, with their terms
    blocks: list[Block]
    sequence: bytes
    vectors: bytes  # of the page


def count(
    lexicon: Lexicon,
    found: ParsedMarkup,
    url: str,
    language: str,
    *,
    vector: bool = False,
    link_words: bool = False,
    sequence: bool = False,
    blocks: bool = True,
    known: WordRows | None = None,
) -> Count:
    """Count the words of the page at this URL in this language; with `known`, make
    vectors, too."""
    text = found.text[:MOST_TEXT]
    lines = [text, found.head.title, words_of(url), *link_lines(found)]
    if sequence:
        lines.append(" ".join(found.headings))
    ends = [end + line for line, end in enumerate(accumulate(map(len, lines)), 1)]
    words = lexicon.words("\n".join(lines), language)
    of_links = ends[:-1] if sequence else ends
    links = with_terms(words, found.links, found.spots, of_links)
    headings = headings_of(found) if link_words or known else []
    if link_words:
        links = with_words(words, links, found, of_links, headings)
    vectors = b""
    if known:
        links, vectors = with_vectors(known, words, links, found, of_links, headings)
    return Count(
        vector=words.total(len(text), vector=vector),
        title=words.between(ends[0], ends[1]),
        url=words.between(ends[1], ends[2]),
        links=links,
        blocks=blocks_of(words, found, ends) if blocks else [],
        sequence=words.sequence(ends[0], ends[1], ends[-2]) if sequence else b"",
        vectors=vectors,
    )


def link_lines(found: ParsedMarkup) -> Iterator[str]:
    """The URL of each link that has a spot, and the name that replaces its anchor."""
    for link, (_, start, end, _) in zip(found.links, found.spots, strict=False):
        yield words_of(link.url)
        # An anchor that is not in the text is the name of a picture.
        yield link.anchor if start == end else ""


def words_of(url: str) -> str:
    """The part of a URL that has words in it."""
    address = url.partition("://")[2]
    return unquote(address).replace("\n", " ") if "%" in address else address


def blocks_of(words: Words, found: ParsedMarkup, ends: list[int]) -> list[Block]:
    """The blocks with their words counted; the title is in the first."""
    if not found.sections:
        return []
    cuts = [cut for cut in found.cuts if cut[0] < ends[0]] or [(0, 0)]
    cuts += [(ends[0], 0), (ends[1], -1)]
    begins = {number: place for place, number in reversed(cuts)}
    blocks = []
    told = zip(found.sections, words.tally(cuts, len(found.sections)), strict=True)
    for number, (section, tally) in enumerate(told):
        heading = NOTHING
        if section.heading and tally.terms:  # a block begins with its heading
            place = begins[number]
            heading = words.between(place, place + len(section.heading))
        blocks.append(Block(*section, *tally, heading))
    return blocks
