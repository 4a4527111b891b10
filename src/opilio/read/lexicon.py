"""Text in; its words out, tokenised, stemmed and compared with the topic's terms once.

What is asked of them then, as a whole, between two places or block by block, costs
little more than the answer is long. Whatever the number of terms: a word that was met
before brings along whether it begins one.
"""

from __future__ import annotations

from opilio.read.lattice import Lattice, Transcribe
from opilio.read.stems import StemTable
from opilio.read.term_counts import TermTally, Vector, Words
from opilio.read.term_tree import Terms
from opilio.text.words import Vocabulary

__all__ = ["LONGEST", "Lexicon", "TermTally", "Transcribe", "Vector", "Words"]

LONGEST = 2**21  # bytes of a text in UTF-8 that are read; hostile pages have more


class Lexicon:
    """The words met so far with their stems, and the terms of a vocabulary.

    A term inside a longer one counts only if `overlapping`. Words that the transcriptor
    reads count as what they mean in the topic's language.
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
        """The words of a text, which is in this language as far as is known."""
        runs = self.table.find_runs(text[:LONGEST], LONGEST)
        foreign = self.lattice.foreign(runs, language) if self.lattice else None
        if self.lattice and foreign:
            found = self.lattice.read(runs, foreign, language)
            words = Words(self.terms.tree, self.overlapping, *found[:3])
            return words.with_runs(runs, found[3])
        words = Words(self.terms.tree, self.overlapping, self.table.row(runs))
        return words.with_runs(runs)
