"""The words of a text with the terms among them in; counts of any part of it out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from opilio.read import kernels
from opilio.read.plain_kernels import Integers, Part, Text, count
from opilio.read.stems import Row
from opilio.read.terms import Phrases, Terms
from opilio.types import NOTHING, Counted, Fingerprint

SHORTEST = 50  # words; of fewer, too many are a template's to tell copies by
MOST = 2**16 - 1  # what Vector.counts counts to

END = 2**62  # a place after all others


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
        self.phrases = phrases
        self.names = terms.names
        self.overlapping = overlapping
        self.hits = kernels.hits(terms.ends, row.nodes, phrases.first)

    @cached_property
    def starts(self) -> Integers:
        """How many characters stand before each word."""
        return kernels.characters(self.text, self.row.starts)

    def total(self, end: int = END, *, vector: bool = True) -> Vector:
        """What the text has, or its first `end` characters; its stems if asked for."""
        words, terms, norm, simhash = kernels.count_text(self.all, end)
        if words < SHORTEST:
            simhash = 0
        found = Vector(words, terms, norm, simhash)
        if not vector:
            return found
        stems, counts = count(self.row.stems[:words])
        return found._replace(
            stems=stems.astype("<u8", copy=False).tobytes(),
            counts=np.minimum(counts, MOST).astype("<u2").tobytes(),
        )

    def between(self, start: int, end: int) -> Counted:
        """The terms in a part of the text."""
        return self.parts([(0, start, end)]).get(0, NOTHING)

    def parts(self, parts: list[Part]) -> dict[int, Counted]:
        """The terms that each owner of parts has, for those that have any."""
        if not len(self.hits):
            return {}
        found = kernels.count_parts(self.all, parts)
        return {owner: Counted(*terms) for owner, terms in found.items()}

    def tally(self, cuts: Sequence[tuple[int, int]], number: int) -> list[Tally]:
        """What each of so many blocks has.

        From each cut, a place and the number of a block, the text belongs to this
        block, up to the next cut. Where the number is negative, it belongs to none, as
        does what stands before the first cut.
        """
        parts = [
            (block, place, until)
            for (place, block), (until, _) in pairwise([*cuts, (END, -1)])
            if block >= 0
        ]
        return [Tally(*each) for each in kernels.count_blocks(self.all, parts, number)]

    @cached_property
    def all(self) -> Text:
        """What the kernels want to know of the words."""
        nodes, stems = self.row.nodes, self.row.stems
        found = self.starts, self.hits, self.phrases
        return Text(self.names, nodes, stems, *found, self.overlapping)
