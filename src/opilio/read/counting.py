"""The words of a text with the terms among them in; counts of any part of it out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from opilio.read import kernels
from opilio.read.plain_kernels import Integers, count
from opilio.read.stems import Row
from opilio.read.terms import Phrases, Terms
from opilio.types import NOTHING, Counted, Fingerprint

SHORTEST = 50  # words; of fewer, too many are a template's to tell copies by
MOST = 2**16 - 1  # what Vector.counts counts to

END = 2**62  # a place after all others
NO_TERMS: dict[str, int] = {}


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


class Parts(NamedTuple):
    """Parts of a text, each of which belongs to somebody."""

    owners: Integers
    begins: Integers  # the characters before them
    ends: Integers  # and before what follows them


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
        self.hits = kernels.hits(terms.ends, row.nodes, phrases.first)

    @cached_property
    def starts(self) -> Integers:
        """How many characters stand before each word."""
        return kernels.characters(self.text, self.row.starts)

    def total(self, end: int | None = None, *, vector: bool = True) -> Vector:
        """What the text has, or its first `end` characters; its stems if asked for."""
        size = len(self.row.stems)
        if end is not None and size and self.starts[-1] >= end:
            size = int(np.searchsorted(self.starts, end))
        norm, simhash = kernels.weigh(self.row.stems[:size])
        found = Vector(
            words=size,
            terms=self.terms_in(one_part(0, END if end is None else end)).get(0, {}),
            norm=norm,
            simhash=simhash if size >= SHORTEST else 0,
        )
        if not vector:
            return found
        stems, counts = count(self.row.stems[:size])
        return found._replace(
            stems=stems.astype("<u8", copy=False).tobytes(),
            counts=np.minimum(counts, MOST).astype("<u2").tobytes(),
        )

    def between(self, start: int, end: int) -> Counted:
        """The terms in a part of the text."""
        return self.parts(one_part(start, end)).get(0, NOTHING)

    def parts(self, parts: Parts) -> dict[int, Counted]:
        """The terms that each owner has, with the norms, for those that have any."""
        terms = self.terms_in(parts)
        if not terms:
            return {}
        number = int(parts.owners.max()) + 1
        norms = self.tallies(parts, number, terms)[1]
        return {owner: Counted(found, norms[owner]) for owner, found in terms.items()}

    def tally(self, cuts: Sequence[tuple[int, int]], number: int) -> list[Tally]:
        """What each of so many blocks has.

        From each cut, a place and the number of a block, the text belongs to this
        block, up to the next cut. Where the number is negative, it belongs to none, as
        does what stands before the first cut.
        """
        begins, owners = np.array(cuts, np.int64).reshape(-1, 2).T
        owned = owners >= 0
        parts = Parts(owners[owned], begins[owned], np.append(begins[1:], END)[owned])
        terms = self.terms_in(parts)
        each = zip(*self.tallies(parts, number), strict=True)
        return [
            Tally(words, terms.get(block, NO_TERMS), norm, most)
            for block, (words, norm, most) in enumerate(each)
        ]

    def terms_in(self, parts: Parts) -> dict[int, dict[str, int]]:
        """The terms that each owner has, for those that have any."""
        if not len(self.hits):
            return {}
        among = self.names, self.row.nodes, self.starts, self.hits, self.phrases
        return kernels.count_terms(*among, self.overlapping, *parts)

    def tallies(
        self, parts: Parts, number: int, only: Collection[int] | None = None
    ) -> tuple[list[int], list[float], list[int]]:
        """Words, norm and most frequent stem of each of so many owners."""
        return kernels.tallies(self.row.stems, self.starts, *parts, number, only)


def one_part(start: int, end: int) -> Parts:
    """A part of a text by itself."""
    return Parts(np.zeros(1, np.int64), np.array((start,)), np.array((end,)))
