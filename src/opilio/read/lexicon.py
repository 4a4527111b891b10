"""Splits text into words, stems them and finds the topic's terms, in one pass.

Later questions, about the whole text, a part or each block, cost little more than their
answers. The number of terms does not matter: for each word seen before, it is stored
whether it begins a term.
"""

from __future__ import annotations

from opilio.read.stems import StemTable
from opilio.read.term_counts import TermTally, Vector, Words
from opilio.read.term_tree import Terms
from opilio.read.translation import Lattice, Transcribe
from opilio.text.words import Vocabulary

__all__ = ["LONGEST", "Lexicon", "TermTally", "Transcribe", "Vector", "Words"]

LONGEST = 2**21  # bytes of UTF-8 that are read of a text


class Lexicon:
    """The words seen so far with their stems, and the terms of a topic.

    A term inside a longer one counts only if `overlapping`. Words that the transcriptor
    can translate count as their meanings in the topic's language.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        transcriptor: Transcribe | None = None,
        *,
        overlapping: bool = False,
    ) -> None:
        self.terms = Terms(vocabulary.keys.values())
        self.table = StemTable(self.terms, vocabulary.language)
        self.lattice = Lattice(transcriptor, self.table) if transcriptor else None
        self.overlapping = overlapping

    def words(self, text: str, language: str = "") -> Words:
        """The words of a text in this language; "": unknown."""
        runs = self.table.find_runs(text[:LONGEST], LONGEST)
        foreign = self.lattice.foreign(runs, language) if self.lattice else None
        if self.lattice and foreign:
            found = self.lattice.read(runs, foreign, language)
            words = Words(self.terms.tree, self.overlapping, *found[:3])
            return words.with_runs(runs, found[3])
        words = Words(self.terms.tree, self.overlapping, self.table.row(runs))
        return words.with_runs(runs)
