"""The positions of words on pages, to find phrases.

A place is a page of the segment and a position on it, in 32 bits. Title, headings and
text begin at separate positions, so no phrase continues from one into the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from opilio.text.word_sequence import MOST, MOST_TOLD, Words, WordSequence

BITS = 15  # of the number on the page
HEADINGS = MOST_TOLD + 1  # where they begin
TEXT = 2 * HEADINGS
NUMBERS = np.arange(TEXT + MOST, dtype=np.uint32)

Numbers = npt.NDArray[np.uint32]


class WordPositions(NamedTuple):
    """Terms in ascending order; the places of term n begin at starts[n]."""

    terms: Words
    starts: npt.NDArray[np.int64]
    places: Numbers

    def find(self, term: int) -> Numbers:
        """The places of a term, in ascending order."""
        found = int(np.searchsorted(self.terms, np.uint32(term)))
        if found == len(self.terms) or self.terms[found] != term:
            return self.places[:0]
        return self.places[int(self.starts[found]) : int(self.starts[found + 1])]

    def pages_with(self, phrase: Sequence[int]) -> Numbers:
        """The pages that have these words in a row; some more than once."""
        # Where the phrase would begin, were it there, by each of its words.
        begins = []
        for number, term in enumerate(phrase):
            at = self.find(term)
            # In the first places of all, what would come before is nowhere.
            begins.append(at[at.searchsorted(number) :] - np.uint32(number))
        found, *others = sorted(begins, key=len)
        for other in others:
            found = common(found, other)
        return found >> np.uint32(BITS)


def common(few: Numbers, many: Numbers) -> Numbers:
    """The values in both of two ascending arrays."""
    if not len(few):  # nor may be many
        return few
    nearest = np.minimum(many.searchsorted(few), len(many) - 1)
    found: Numbers = few[many[nearest] == few]
    return found


def places_of(pages: Sequence[WordSequence]) -> WordPositions:
    """The places of each word of some pages."""
    nothing = NUMBERS[:0]
    words = np.concatenate([part for page in pages for part in page] or [nothing])
    numbers = np.concatenate(
        [part for page in pages for part in spread(page)] or [nothing]
    )
    sizes = [sum(map(len, page)) for page in pages]
    keys = words.astype(np.uint64) << np.uint64(32)
    keys |= np.repeat(np.arange(len(pages), dtype=np.uint64) << np.uint64(BITS), sizes)
    keys |= numbers
    keys.sort()  # by term, then by place
    terms = (keys >> np.uint64(32)).astype("<u4")
    starts = np.flatnonzero(np.diff(terms.astype(np.int64), prepend=-1))
    return WordPositions(
        terms=terms[starts],
        starts=np.append(starts, len(terms)).astype("<i8"),
        places=keys.astype("<u4"),  # the lower half
    )


def spread(page: WordSequence) -> tuple[Numbers, Numbers, Numbers]:
    """The positions of the words of a page."""
    title, headings, text = map(len, page)
    return (
        NUMBERS[:title],
        NUMBERS[HEADINGS : HEADINGS + headings],
        NUMBERS[TEXT : TEXT + text],
    )
