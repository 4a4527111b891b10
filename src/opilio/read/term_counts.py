"""Counts the words and topic terms in any part of a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from opilio.read import kernels
from opilio.read.parsed_markup import Spot
from opilio.read.plain_text import END
from opilio.read.plain_tree import FoundPhrases, Integers, Marks, Tree
from opilio.read.stems import Runs, StemRow
from opilio.records import Counted, Fingerprint, LinkTerms

SHORTEST = 50  # words; shorter pages have too many words of a template to compare
MOST = 2**16 - 1  # the largest number in Vector.counts


class Vector(NamedTuple):
    """The result of counting the words of a text."""

    words: int
    terms: dict[str, int]  # topic term -> times it occurs
    norm: float  # √Σ(1+ln tf)² over all stems
    simhash: Fingerprint  # 0: the text is too short
    stems: bytes = b""  # hashes of all stems, ascending, as little-endian uint64
    counts: bytes = b""  # how often each of these occurs, as little-endian uint16


class TermTally(NamedTuple):
    """The result of counting the words of a block."""

    words: int
    terms: dict[str, int]
    norm: float
    most: int  # times its most frequent stem occurs


class Words:
    """The words of a text; places are numbers of characters before them.

    A word is where it begins. A term is in a part of the text if all its words are; of
    terms that overlap there, the leftmost and longest counts, unless `overlapping`:
    then all do. No term overlaps itself.
    """

    def __init__(
        self,
        tree: Tree,
        overlapping: bool,
        row: StemRow,
        apart: Marks | None = None,
        others: FoundPhrases | None = None,
    ) -> None:
        self.stems = row.stems
        self.starts = row.starts  # how many characters stand before each word
        self.text = kernels.Text(tree, row, overlapping, apart, others)
        self.runs: Runs | None = None  # of the text as it is written
        self.told: Mapping[int, Sequence[str]] = {}  # of foreign runs, their meanings

    def with_runs(self, runs: Runs, told: Mapping[int, Sequence[str]] = {}) -> Words:
        """The same words with the text that they were written as."""
        self.runs, self.told = runs, told
        return self

    @property
    def hits(self) -> Integers:
        """The words where a term begins."""
        return self.text.hits

    def total(self, end: int = END, *, vector: bool = True) -> Vector:
        """The counts of the text, or of its first `end` characters; `vector` adds the
        stems."""
        words, terms, norm, simhash = self.text.total(end)
        if words < SHORTEST:
            simhash = 0
        if not vector:
            return Vector(words, terms, norm, simhash)
        stems, counts = self.text.stem_counts(end)
        return Vector(
            words,
            terms,
            norm,
            simhash,
            stems=stems.astype("<u8", copy=False).tobytes(),
            counts=np.minimum(counts, MOST).astype("<u2").tobytes(),
        )

    def sequence(self, text: int, title: int, headings: int) -> bytes:
        """The words of text, title and headings for the index, given where the text
        ends, where the title does that follows it, and where the headings begin."""
        return self.text.sequence(text, title, headings)

    def between(self, start: int, end: int) -> Counted:
        """The terms in a part of the text."""
        return self.text.between(start, end)

    def links(self, spots: Sequence[Spot], ends: list[int]) -> dict[int, LinkTerms]:
        """The terms of those links that have any.

        `ends` are the places where the text, the title and the page's own URL end, and
        then, for each link, its URL and the name that replaces its anchor.
        """
        return self.text.links(spots, ends)

    def tally(self, cuts: Sequence[tuple[int, int]], number: int) -> list[TermTally]:
        """The counts of each block.

        A cut is a place and the number of the block to which the text belongs from
        there to the next cut; none if the number is negative, as before the first cut.
        """
        return [TermTally(*each) for each in self.text.blocks(cuts, number)]
