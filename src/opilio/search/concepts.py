"""Keeps the features of an ontology out of the postings of words.

Yang, section 4.4: the ontology index knows the features of a query, and the full-text
index is partial: it has no ontology features. What a query means is asked of the
Thesaurus.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from opilio.equations.thesaurus import Thesaurus
from opilio.search.index import KeptEntries
from opilio.search.segment import Without
from opilio.text.word_sequence import Words, word
from opilio.text.words import hash_of


class Concepts(Thesaurus):
    """The concepts that a search knows; there may be none."""

    @cached_property
    def kept(self) -> KeptEntries:
        """In `paper` mode, the filter that keeps features out of the word postings."""
        if self.mode == "fixed" or not self.holders:
            return KeptEntries()
        number = hash_of("\n".join(sorted(self.holders))) >> 1
        return KeptEntries(_without([key.split() for key in self.holders]), number)


def _without(features: Sequence[Sequence[str]]) -> Without:
    """A function that removes the features from a text, the longest first."""
    known = {tuple(map(word, feature)) for feature in features}
    firsts = np.array(sorted({feature[0] for feature in known}), np.uint32)
    lengths = sorted({len(feature) for feature in known}, reverse=True)

    def without(words: Words) -> Words:
        kept = np.ones(len(words), np.bool_)
        done = 0
        for place in np.flatnonzero(np.isin(words, firsts)).tolist():
            for length in lengths if place >= done else ():
                if tuple(words[place : place + length].tolist()) in known:
                    done = place + length
                    kept[place:done] = False
                    break
        return words[kept]

    return without
