"""Links and where they are among the words of a page in; their topic terms out.

Most links have none, and are passed over. Where the parts of the others begin and end,
among the words and among those that begin a term, is found at once; and so are the
norms in the end.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from opilio.read.counting import Words, kinds, norms_of
from opilio.read.found import Spot
from opilio.types import NOTHING, Counted, Link, LinkTerms

# Which of a link's edges are around each part of it; the edges are those of a Spot, of
# its address, and of the name that may stand for its anchor.
ANCHOR, AROUND, ADDRESS = ((1, 2), (5, 6)), ((0, 1), (2, 3)), ((4, 5),)

NO_TERMS = LinkTerms()
PARTS = (ANCHOR, AROUND, ADDRESS)  # as in LinkTerms

Span = tuple[int, int, int]  # number of the part, its first word, the word after it


def with_terms(
    words: Words, links: list[Link], spots: Sequence[Spot], ends: Sequence[int]
) -> list[Link]:
    """The links with the terms in their anchors, surroundings and addresses.

    `ends` are the places where the text, the title and the page's own address end, and
    then, for each link, its address and the name that stands for its anchor.
    """
    if not spots or not len(words.hits):
        return links
    numbers = list(with_hits(words.hit_places, spots, ends))
    if not numbers:
        return links
    some = [
        (*spots[number], *ends[2 * number + 2 : 2 * number + 5]) for number in numbers
    ]
    places = np.array(some)
    np.minimum(places[:, :4], ends[0], out=places[:, :4])
    edges = words.starts.searchsorted(places)
    hits = words.hits.searchsorted(edges)
    terms = list(count_parts(words, edges.tolist(), hits.tolist()))
    links = links.copy()
    for place, number in enumerate(numbers):
        told = LinkTerms(*terms[len(PARTS) * place : len(PARTS) * (place + 1)])
        if told != NO_TERMS:
            links[number] = msgspec.structs.replace(links[number], terms=told)
    return links


def with_hits(
    hits: list[int], spots: Sequence[Spot], ends: Sequence[int]
) -> Iterator[int]:
    """The numbers of the links near whose text, or in whose address or name, one of the
    hits is."""
    addresses = zip(spots, ends[2:-1:2], ends[4::2], strict=True)
    for number, ((first, _, _, last), start, end) in enumerate(addresses):
        near = bisect_left(hits, first)
        if near < len(hits) and hits[near] < last:
            yield number
            continue
        near = bisect_left(hits, start)
        if near < len(hits) and hits[near] < end:
            yield number


def count_parts(
    words: Words, edges: list[list[int]], hits: list[list[int]]
) -> Iterator[Counted]:
    """The terms in each part of each link, given its edges among all words and among
    those that begin a term."""
    terms: list[dict[str, int]] = []
    spans: list[Span] = []
    for edge, hit in zip(edges, hits, strict=True):
        for part in PARTS:
            found: dict[str, int] = {}
            for low, high in part:
                if hit[low] < hit[high]:
                    words.add(found, hit[low], hit[high], edge[high])
            if found:
                spans += [(len(terms), edge[low], edge[high]) for low, high in part]
            terms.append(found)
    for found, norm in zip(terms, norms(words, spans, len(terms)), strict=True):
        yield Counted(found, norm) if found else NOTHING


def norms(words: Words, spans: list[Span], number: int) -> list[float]:
    """√Σ(1+ln tf)² over the stems of each of so many parts; 0 if it has no span."""
    if not spans:
        return [0.0] * number
    owners, begins, ends = np.array(spans).T
    lengths = ends - begins
    before = np.cumsum(lengths) - lengths
    chosen = np.arange(lengths.sum()) + np.repeat(begins - before, lengths)
    stems = words.row.stems[chosen]
    each, counts = kinds(stems, np.repeat(owners, lengths), number)
    return norms_of(each, counts, number)
