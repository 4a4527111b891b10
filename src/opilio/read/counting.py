"""The words of a text with the terms among them in; counts of any part of it out."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from opilio.read.simhash import simhash
from opilio.read.stems import Row
from opilio.read.terms import Hashes, Integers, Phrases, Terms
from opilio.types import NOTHING, Counted, Fingerprint

SHORTEST = 50  # words; of fewer, too many are a template's to tell copies by
MANY = 100  # hits; fewer are looked at one by one
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


class Begun(NamedTuple):
    """The terms that begin at each hit: a word where one begins."""

    words: list[int]  # the number of each hit
    singles: list[str]  # the term that this word is, or ""
    phrases: list[int]  # which of the next two begin here: up to the next hit's
    lasts: list[int]  # the last word of each phrase
    names: list[str]


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
        self.phrases = phrases
        self.names = terms.names
        self.overlapping = overlapping
        begins = terms.ends[row.nodes]
        begins[phrases.first] = True
        self.hits = begins.nonzero()[0]  # the words where a term begins
        self.ends = terms.ends

    @cached_property
    def starts(self) -> Integers:
        """How many characters stand before each word."""
        before = self.row.starts
        if self.text.isascii():
            return before
        # Bytes that go on with a character; as signed numbers they are the least.
        further = (np.frombuffer(self.text, np.int8) < -64).nonzero()[0]
        added = np.bincount(before.searchsorted(further), minlength=len(before) + 1)
        return before - np.cumsum(added[:-1])

    @cached_property
    def places(self) -> memoryview:
        """The same, quick to bisect."""
        return np.ascontiguousarray(self.starts).data

    @cached_property
    def hit_places(self) -> list[int]:
        """The characters before each hit."""
        found: list[int] = self.starts[self.hits].tolist()
        return found

    @cached_property
    def begun(self) -> Begun:
        """What begins at each hit."""
        nodes = self.row.nodes[self.hits]
        begins = self.phrases.first.searchsorted(self.hits).tolist()
        names = self.names
        return Begun(
            words=self.hits.tolist(),
            singles=[names[node] for node in nodes.tolist()],
            phrases=[*begins, len(self.phrases.first)],
            lasts=self.phrases.last.tolist(),
            names=[names[node] for node in self.phrases.node.tolist()],
        )

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
        places, owners = map(list, zip((0, -1), *cuts, strict=True))
        edges = self.starts.searchsorted(places)
        terms: list[dict[str, int]] = [{} for _ in range(number)]
        firsts = [*edges.tolist(), len(self.starts)]
        begins = self.hits.searchsorted(firsts).tolist()
        for stretch, owner in enumerate(owners):
            low, high = begins[stretch : stretch + 2]
            if low < high and owner >= 0:
                self.add(terms[owner], low, high, firsts[stretch + 1])
        sizes = [end - first for first, end in pairwise(firsts)]
        blocks = np.repeat(np.array(owners) + 1, sizes)
        parts = by_block(self.row.stems, blocks, number + 1)
        counted = zip(*(part[1:] for part in parts), strict=True)
        return [
            Tally(words, found, norm, most)
            for found, (words, norm, most) in zip(terms, counted, strict=True)
        ]

    def add(self, terms: dict[str, int], low: int, high: int, end: int) -> None:
        """Count the terms that begin at some of the hits and end before a word."""
        if high - low > MANY:
            names = self.names
            for node, times in self.at_once(low, high, end):
                terms[names[node]] = terms.get(names[node], 0) + times
        elif self.overlapping:
            self.add_all(terms, low, high, end)
        else:
            self.add_longest(terms, low, high, end)

    def add_longest(self, terms: dict[str, int], low: int, high: int, end: int) -> None:
        """The same for the leftmost and longest terms only."""
        words, singles, phrases, lasts, names = self.begun
        done = -1  # the last word of the last term
        for hit in range(low, high):
            word = words[hit]
            if word <= done:
                continue
            if word >= end:
                break
            before = done
            for phrase in range(phrases[hit], phrases[hit + 1]):
                last = lasts[phrase]
                # Words with several meanings may make several terms of one length.
                if last < end and done in (before, last):
                    done = last
                    name = names[phrase]
                    terms[name] = terms.get(name, 0) + 1
            if done == before and (name := singles[hit]):
                terms[name] = terms.get(name, 0) + 1

    def add_all(self, terms: dict[str, int], low: int, high: int, end: int) -> None:
        """The same for all terms, also for those inside others."""
        words, singles, phrases, lasts, names = self.begun
        ends: dict[str, int] = {}  # phrase -> its last word when it was last found
        for hit in range(low, high):
            word = words[hit]
            if word >= end:
                break
            for phrase in range(phrases[hit], phrases[hit + 1]):
                name = names[phrase]
                if lasts[phrase] < end and word > ends.get(name, -1):
                    ends[name] = lasts[phrase]
                    terms[name] = terms.get(name, 0) + 1
            if name := singles[hit]:
                terms[name] = terms.get(name, 0) + 1

    def at_once(self, low: int, high: int, end: int) -> Iterable[tuple[int, int]]:
        """The nodes of many terms, each with the times it occurs."""
        hits = self.hits[low:high]
        hits = hits[hits < end]
        begin = int(self.hits[low])
        part = slice(*np.searchsorted(self.phrases.first, (begin, end)).tolist())
        first, last, node = (column[part] for column in self.phrases)
        inside = last < end
        first, last, node = first[inside], last[inside], node[inside]
        kept = choose(first, last, node if self.overlapping else None)
        if not self.overlapping:
            steps = np.zeros(max(end - begin, 0) + 1, np.int64)
            steps[first[kept] - begin] += 1
            steps[last[kept] + 1 - begin] -= 1
            hits = hits[np.cumsum(steps)[hits - begin] == 0]
        singles = self.row.nodes[hits]
        singles = singles[self.ends[singles]]
        counted = count(np.concatenate((singles, node[kept])).view(np.uint64))
        return zip(*(column.tolist() for column in counted), strict=True)


def choose(first: Integers, last: Integers, node: Integers | None) -> list[int]:
    """The numbers of the phrases that count, as in `add_longest` and `add_all`."""
    kept = []
    firsts, lasts = first.tolist(), last.tolist()
    if node is not None:
        ends: dict[int, int] = {}
        for number, one in enumerate(node.tolist()):
            if firsts[number] > ends.get(one, -1):
                ends[one] = lasts[number]
                kept.append(number)
        return kept
    span = (-1, -1)
    for number, other in enumerate(zip(firsts, lasts, strict=True)):
        if other[0] > span[1] or other == span:
            span = other
            kept.append(number)
    return kept


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
    owners, counts = kinds(stems, blocks, number)
    most = np.zeros(number, np.int64)
    there = sizes.nonzero()[0]
    most[there] = np.maximum.reduceat(counts, owners.searchsorted(there))
    return sizes.tolist(), norms_of(owners, counts, number), most.tolist()


def kinds(stems: Hashes, blocks: Integers, number: int) -> tuple[Integers, Integers]:
    """For each kind of stem in each block, the block and how often it occurs there."""
    # One number for both, so that one sort is enough: the block, then the stem without
    # the bits that there is no room for.
    bits = number.bit_length()
    above = blocks.view(np.uint64) << np.uint64(64 - bits)
    both, counts = count(above | stems >> np.uint64(bits))
    return (both >> np.uint64(64 - bits)).view(np.int64), counts


def norms_of(owners: Integers, counts: Integers, number: int) -> list[float]:
    """√Σ(1+ln tf)² over the kinds of stems of each block."""
    weights = 1 + np.log(counts)
    norms: list[float] = np.sqrt(
        np.bincount(owners, weights * weights, number)
    ).tolist()
    return norms


def count(hashes: Hashes) -> tuple[Hashes, Integers]:
    """Each hash once, in ascending order, and how often it occurs."""
    if not len(hashes):
        return hashes, np.zeros(0, np.int64)
    ordered = hashes.copy()
    ordered.sort()
    first = np.ones(len(ordered) + 1, np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:-1])
    edges = first.nonzero()[0]
    return ordered[edges[:-1]], edges[1:] - edges[:-1]
