"""The words of a text with the terms among them in; counts of any part of it out."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from opilio.read.simhash import simhash
from opilio.read.stems import Row
from opilio.read.terms import Hashes, Integers, Phrases, Terms
from opilio.types import NOTHING, Counted, Fingerprint

SHORTEST = 50  # words; of fewer, too many are a template's to tell copies by
BLOCK_BITS = 16  # of a number that has a block's above and a stem's hash below
MOST = 2**16 - 1  # what Vector.counts counts to


class Vector(NamedTuple):
    """What counting the words of a text gives."""

    words: int
    terms: dict[str, int]  # topic term -> times it occurs
    norm: float  # √Σ(1+ln tf)² over all stems
    simhash: Fingerprint  # 0: the text is too short to tell
    stems: bytes = b""  # hashes of all stems, ascending, as little-endian uint64
    counts: bytes = b""  # how often each of these occurs, as little-endian uint16


class Tally(NamedTuple):
    """What counting the words of a block gives."""

    words: int
    terms: dict[str, int]
    norm: float
    most: int  # times its most frequent stem occurs


class Words:
    """The words of a text, to be asked by places: numbers of characters before.

    A word is where it begins. A term is in a part of the text if all its words are; of
    terms that overlap there, the leftmost and longest counts, unless `overlapping`:
    then all do. No term overlaps itself.
    """

    def __init__(
        self, text: bytes, row: Row, phrases: Phrases, terms: Terms, overlapping: bool
    ) -> None:
        self.text = text
        self.row = row
        self.names = terms.names
        self.overlapping = overlapping
        hits = np.flatnonzero(row.nodes)
        hits = hits[terms.ends[row.nodes[hits]]]
        self.singles = dict(zip(hits.tolist(), row.nodes[hits].tolist(), strict=True))
        self.phrases: dict[int, list[tuple[int, int]]] = {}  # first: last, node
        if len(phrases.first):
            hits = np.union1d(hits, phrases.first)
            listed = (part.tolist() for part in phrases)
            for first, last, node in zip(*listed, strict=True):
                self.phrases.setdefault(first, []).append((last, node))
        self.hits = hits

    @cached_property
    def starts(self) -> Integers:
        """How many characters stand before each word."""
        if self.text.isascii():
            return self.row.starts
        cells = np.frombuffer(self.text, np.uint8)
        begun = np.cumsum((cells & 0xC0) != 0x80, dtype=np.int64)
        return begun[self.row.starts] - 1

    @cached_property
    def places(self) -> memoryview:
        """The same, quick to bisect."""
        return np.ascontiguousarray(self.starts).data

    @cached_property
    def hit_words(self) -> list[int]:
        """The numbers of the words where a term begins."""
        found: list[int] = self.hits.tolist()
        return found

    @cached_property
    def hit_places(self) -> list[int]:
        """The characters before each of them."""
        found: list[int] = self.starts[self.hits].tolist()
        return found

    def total(self, end: int | None = None) -> Vector:
        """The vector of the text, or of its first `end` characters."""
        size = len(self.row.stems)
        if end is not None and size and self.starts[-1] >= end:
            size = int(np.searchsorted(self.starts, end))
        stems, counts = count(self.row.stems[:size])
        weights = 1 + np.log(counts, dtype=np.float32)
        terms: dict[str, int] = {}
        self.add(terms, 0, len(self.hits), size)
        return Vector(
            words=size,
            terms=terms,
            norm=math.sqrt(float(weights @ weights)),
            simhash=simhash(stems, weights) if size >= SHORTEST else 0,
            stems=stems.astype("<u8", copy=False).tobytes(),
            counts=np.minimum(counts, MOST).astype("<u2").tobytes(),
        )

    def between(self, start: int, end: int) -> Counted:
        """The terms in a part of the text."""
        places = self.hit_places
        low = bisect_left(places, start)
        high = bisect_left(places, end, low)
        if low == high:
            return NOTHING
        last = bisect_left(self.places, end)
        terms: dict[str, int] = {}
        self.add(terms, low, high, last)
        if not terms:
            return NOTHING
        first = bisect_left(self.places, start, 0, last)
        return Counted(terms, norm(self.row.stems[first:last]))

    def tally(self, cuts: Sequence[tuple[int, int]], number: int) -> list[Tally]:
        """What each of so many blocks has.

        From each cut, a place and the number of a block, the text belongs to this
        block, up to the next cut. Where the number is negative, it belongs to none, as
        does what stands before the first cut.
        """
        edges = np.searchsorted(self.starts, [place for place, _ in cuts])
        owners = np.array([owner for _, owner in cuts], np.int64)
        terms: list[dict[str, int]] = [{} for _ in range(number)]
        firsts = np.append(edges, len(self.starts)).tolist()
        begins = np.searchsorted(self.hits, firsts).tolist()
        for stretch, owner in enumerate(owners.tolist()):
            low, high = begins[stretch : stretch + 2]
            if low < high and owner >= 0:
                self.add(terms[owner], low, high, firsts[stretch + 1])
        blocks = np.repeat(owners, np.diff(firsts))
        stems = self.row.stems[firsts[0] :]
        sizes, norms, most = by_block(stems[blocks >= 0], blocks[blocks >= 0], number)
        return list(map(Tally, sizes, terms, norms, most))

    def add(self, terms: dict[str, int], low: int, high: int, end: int) -> None:
        """Count the terms that begin at some of the hits and end before a word."""
        hits = self.hit_words[low:high]
        found = (
            self.all_terms(hits, end) if self.overlapping else self.longest(hits, end)
        )
        names = self.names
        for node in found:
            name = names[node]
            terms[name] = terms.get(name, 0) + 1

    def longest(self, hits: Sequence[int], end: int) -> Iterator[int]:
        """The node of each term, leftmost and longest ones only."""
        singles, phrases = self.singles, self.phrases
        done = -1  # the last word of the last term
        for word in hits:
            if word <= done or word >= end:
                continue
            before = done
            for last, node in phrases.get(word, ()):
                # Words with several meanings may make several terms of one length.
                if last < end and done in (before, last):
                    done = last
                    yield node
            if done == before and word in singles:
                yield singles[word]

    def all_terms(self, hits: Sequence[int], end: int) -> Iterator[int]:
        """The node of each term, also of those inside others."""
        singles, phrases = self.singles, self.phrases
        ends: dict[int, int] = {}  # node -> the last word of its last term
        for word in hits:
            if word >= end:
                break
            for last, node in phrases.get(word, ()):
                if last < end and word > ends.get(node, -1):
                    ends[node] = last
                    yield node
            if word in singles:
                yield singles[word]


def norm(stems: Hashes) -> float:
    """√Σ(1+ln tf)² over the stems of a short text."""
    counts = Counter(stems.tolist())
    if len(counts) == len(stems):
        return math.sqrt(len(stems))
    return math.sqrt(sum((1 + math.log(times)) ** 2 for times in counts.values()))


def by_block(
    stems: Hashes, blocks: Integers, number: int
) -> tuple[list[int], list[float], list[int]]:
    """How many stems each block has, the norm over them, and the most of one kind."""
    sizes = np.bincount(blocks, minlength=number)
    above = blocks.astype(np.uint64) << np.uint64(64 - BLOCK_BITS)
    both, counts = count(above | stems >> np.uint64(BLOCK_BITS))
    owners = (both >> np.uint64(64 - BLOCK_BITS)).view(np.int64)
    weights = np.square(1 + np.log(counts))
    norms = np.sqrt(np.bincount(owners, weights, number))
    most = np.zeros(number, np.int64)
    np.maximum.at(most, owners, counts)
    return sizes.tolist(), norms.tolist(), most.tolist()


def count(hashes: Hashes) -> tuple[Hashes, Integers]:
    """Each hash once, in ascending order, and how often it occurs."""
    if not len(hashes):
        return hashes, np.zeros(0, np.int64)
    ordered = np.sort(hashes)
    first = np.ones(len(ordered) + 1, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:-1])
    edges = np.flatnonzero(first)
    return ordered[edges[:-1]], np.diff(edges)
