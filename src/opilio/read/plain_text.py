"""Counts words and terms in parts of a text with numpy, if nothing was compiled."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from opilio.read.plain_tree import (
    FoundPhrases,
    Hashes,
    Integers,
    Marks,
    Row,
    Tree,
    find_phrases,
    in_order,
)
from opilio.read.simhash import simhash
from opilio.records import NOTHING, Counted, LinkTerms
from opilio.text import word_sequence

END = 2**62  # beyond any place
LONGEST_ANCHOR = 5000  # characters in which terms are sought; links can be nested


class Text:
    """The words of a text and the terms among them; places are numbers of characters
    before them.

    A term is in a part if all its words are; of terms that overlap there, the leftmost
    and longest counts, unless `overlapping`: then all do, but no term overlaps itself.
    """

    def __init__(
        self,
        tree: Tree,
        row: Row,
        overlapping: bool,
        apart: Marks | None = None,  # words that no phrase may continue to
        others: FoundPhrases | None = None,  # further phrases
    ) -> None:
        self.names = tree.names
        self.stems, self.nodes, self.starts, _ = row
        self.overlapping = overlapping
        phrases = find_phrases(tree, row, apart)
        if others is not None:
            phrases = in_order([phrases, others])
        self.first, self.last, self.node = (column.tolist() for column in phrases)
        begins = tree.ends[self.nodes]
        begins[phrases.first] = 1
        self.hits = begins.nonzero()[0]  # the words where a term begins
        self._hits = self.hits.tolist()
        self._places = self.starts[self.hits].tolist()

    def between(self, begin: int, end: int) -> Counted:
        """The terms in a part of the text, and the norm √Σ(1+ln tf)² over all its
        stems."""
        return self._counted((begin, end))

    def links(
        self, spots: Sequence[tuple[int, int, int, int]], ends: list[int]
    ) -> dict[int, LinkTerms]:
        """The terms in the anchors of links, around them, and in their URLs.

        A spot is where the words before a link begin, where the link begins and ends,
        and where the words after it end. `ends` are the places where the text, the
        title and the page's own URL end, and then, for each link, its URL and the name
        that replaces its anchor.
        """
        found = {}
        addresses = zip(ends[2:-1:2], ends[3::2], ends[4::2], strict=True)
        for number, (spot, each) in enumerate(zip(spots, addresses, strict=True)):
            first, start, end, last = (min(place, ends[0]) for place in spot)
            address, name, after = each
            terms = (
                self._counted((start, min(end, start + LONGEST_ANCHOR)), (name, after)),
                self._counted((first, start), (end, last)),
                self._counted((address, name)),
            )
            if any(counted is not NOTHING for counted in terms):
                found[number] = LinkTerms(*terms)
        return found

    def blocks(
        self, cuts: Sequence[tuple[int, int]], number: int
    ) -> list[tuple[int, dict[str, int], float, int]]:
        """For each block: its words, terms, norm, and the count of its commonest stem.

        A cut is a place and the number of the block to which the text belongs from
        there to the next cut; none if the number is negative.
        """
        parts: list[list[tuple[int, int]]] = [[] for _ in range(number)]
        for (place, block), (until, _) in pairwise([*cuts, (END, -1)]):
            if block >= 0:
                parts[block].append((place, until))
        found = []
        for spans in parts:
            terms: dict[str, int] = {}
            for span in spans:
                self._note(terms, *span)
            _, counts = self._count(*spans)
            most = int(counts.max(initial=0))
            found.append((int(counts.sum()), terms, norm(counts), most))
        return found

    def total(self, end: int) -> tuple[int, dict[str, int], float, int]:
        """For the text up to a place: the words, the terms, the norm and the SimHash,
        in which each stem has the same weight as in the norm."""
        terms: dict[str, int] = {}
        self._note(terms, 0, end)
        kinds, counts = self.stem_counts(end)
        fingerprint = simhash(kinds, 1 + np.log(counts)) if len(kinds) else 0
        return int(counts.sum()), terms, norm(counts), fingerprint

    def stem_counts(self, end: int) -> tuple[Hashes, Integers]:
        """Each stem up to a place once, in ascending order, and how often it occurs."""
        return self._count((0, end))

    def sequence(self, text: int, title: int, headings: int) -> bytes:
        """The words up to the end of the text, from there to the end of the title, and
        from where the headings begin, for the index."""
        words, told, first = self.starts.searchsorted((text, title, headings))
        stems = self.stems
        return word_sequence.pack(stems[words:told], stems[first:], stems[:words])

    def _counted(self, *spans: tuple[int, int]) -> Counted:
        terms: dict[str, int] = {}
        for span in spans:
            self._note(terms, *span)
        return Counted(terms, norm(self._count(*spans)[1])) if terms else NOTHING

    def _count(self, *spans: tuple[int, int]) -> tuple[Hashes, Integers]:
        edges = (self.starts.searchsorted(span) for span in spans)
        parts = (self.stems[begin:end] for begin, end in edges)
        return count(np.concatenate([self.stems[:0], *parts]))

    def _note(self, found: dict[str, int], start: int, stop: int) -> None:
        """Add the terms between two places to those found before."""
        first = bisect_left(self._places, start)
        if first == len(self._places) or self._places[first] >= stop:
            return
        end = int(self.starts.searchsorted(stop))
        done = -1  # the last word of the last term
        until: dict[int, int] = {}  # phrase -> its last word when it was last found
        for at in range(first, len(self._hits)):
            word = self._hits[at]
            if word >= end:
                break
            if word <= done:
                continue
            names_here = []
            phrase = bisect_left(self.first, word)
            while phrase < len(self.first) and self.first[phrase] == word:
                final, node = self.last[phrase], self.node[phrase]
                if final < end:
                    if self.overlapping:
                        if word > until.get(node, -1):
                            until[node] = final
                            names_here.append(self.names[node])
                    # Words with several meanings may give several of one length.
                    elif done < word or done == final:
                        done = final
                        names_here.append(self.names[node])
                phrase += 1
            single = self.names[int(self.nodes[word])]
            if single and (self.overlapping or not names_here):
                names_here.append(single)
            for name in names_here:
                found[name] = found.get(name, 0) + 1


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


def norm(counts: Integers) -> float:
    """√Σ(1+ln tf)²."""
    weights = 1 + np.log(counts)
    return math.sqrt(float(weights @ weights))
