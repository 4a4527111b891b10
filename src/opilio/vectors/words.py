"""Makes the vectors of words and texts from the vectors of their pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain, islice
from math import log
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from opilio.text import words
from opilio.vectors.english import CodedMatrix
from opilio.vectors.files import VectorTable, read_table
from opilio.vectors.tokenizer import sums

Vector = npt.NDArray[np.float32]

DIMENSIONS = 256  # of a table that are used, the first ones
COMMON = 0.5  # rarity up to which a stop word is one; unknown ones are, too
MOST_WORDS = 2**14  # that are remembered
MOST_COMMON = 2**15  # the others are rare
MOST_TEXTS = 2**12
LONGEST_TEXT = 400  # words of a text that count
LONGEST_KEPT = 256  # characters of a text that is remembered


class Vectors:
    """The vector of any word or text: v(text) = Σ v(word), v(word) = Σ v(piece).

    The commonest stop words of the language do not count.
    """

    def __init__(
        self,
        table: VectorTable,
        language: str = words.DEFAULT_LANGUAGE,
        dimensions: int = DIMENSIONS,
    ) -> None:
        self.source = table.source
        self.tokenizer = table.tokenizer
        self.matrix: CodedMatrix | npt.NDArray[Any]  # of float16 or float32
        if isinstance(table.matrix, CodedMatrix):
            self.matrix = table.matrix
        else:
            self.matrix = np.ascontiguousarray(table.matrix[:, :dimensions])
        self.size: int = self.matrix.shape[1]
        # Lists of stop words have "system" and "computer", too, which say something.
        self.stop = frozenset(
            word
            for word in words.stop_words(language)
            if not COMMON < self._rarity(word) < 1
        )
        self.zero: Vector = np.zeros(self.size, np.float32)
        self.zero.flags.writeable = False
        self._words: dict[str, Vector] = {}
        self._texts: dict[str, Vector] = {}

    def word(self, word: str) -> Vector:
        """The vector of a word in lower case; zeros if it is unknown."""
        known = self._words.get(word)
        if known is None:
            known = self.sums([[word]])[0]
            if len(self._words) >= MOST_WORDS:
                self._words.clear()
            self._words[word] = known
        return known

    def sums(self, texts: Sequence[Sequence[str]]) -> Vector:
        """A row for each list of words: the sum over them; none is remembered."""
        every = iter(self.tokenizer.pieces_of_all(list(chain.from_iterable(texts))))
        pieces = [
            next(every)
            if len(text) == 1
            else list(chain.from_iterable(islice(every, len(text))))
            for text in texts
        ]
        if isinstance(self.matrix, CodedMatrix):
            return sums(*self.matrix.part(pieces))
        return sums(self.matrix, pieces)

    def telling(self, text: str) -> list[str]:
        """The words of a text that are no stop words."""
        found = [text] if text.isascii() and text.islower() and text.isalnum() else None
        return [word for word in found or words.tokens(text) if word not in self.stop]

    def of(self, text: str) -> Vector:
        """The unit vector of a text; zeros if no word of it is known.

        A text of stop words alone is taken as it is: a keyword may be one.
        """
        known = self._texts.get(text)
        if known is not None:
            return known
        found = words.tokens(text[: 64 * LONGEST_TEXT])[:LONGEST_TEXT]
        telling = [word for word in found if word not in self.stop] or found
        total = self.zero
        for word in telling:
            total = total + self.word(word)
        vector = unit(total)
        vector.flags.writeable = False
        if len(text) <= LONGEST_KEPT:
            if len(self._texts) >= MOST_TEXTS:
                self._texts.clear()
            self._texts[text] = vector
        return vector

    def rarity(self, text: str) -> float:
        """How rare the words of a text are, in [0, 1]: the mean of ln(2+rank)/ln(n).

        The rank is that among the n pieces, which stand in the order of frequency; a
        word of several pieces is as rare as can be.
        """
        found = words.tokens(text)
        if not found:
            return 0.0
        return sum(map(self._rarity, found)) / len(found)

    def _rarity(self, word: str) -> float:
        pieces = self.tokenizer.pieces(word)
        if len(pieces) != 1:
            return 1.0
        rank = max(0, pieces[0] - self.tokenizer.first)
        return min(1.0, log(2 + rank) / log(max(3, len(self.matrix))))

    def common(self) -> dict[str, float]:
        """The words that are one piece, with how rare they are, rarest first."""
        space, first = self.tokenizer.space, self.tokenizer.first
        size, start = log(max(3, len(self.matrix))), len(space)
        known, most = self.tokenizer.vocabulary.items(), first + MOST_COMMON
        ranked = [item for item in known if item[1] < most]
        ranked.sort(key=itemgetter(1), reverse=True)
        found = {}
        for piece, number in ranked:  # tens of thousands, at every start
            word = piece[start:]
            if word.isalpha() and piece.startswith(space):
                rank = max(0, number - first)
                found[word.lower()] = min(1.0, log(2 + rank) / size)
        return found

    def by_key(self, terms: Mapping[str, str]) -> dict[str, bytes]:
        """The unit vectors of terms, by their keys, as little-endian float32."""
        return {
            key: self.of(term).astype("<f4").tobytes() for key, term in terms.items()
        }


def unit(vector: Vector) -> Vector:
    """A vector of length 1; zeros stay zeros."""
    length = float(np.linalg.norm(vector))
    found: Vector = vector / np.float32(length) if length else vector.copy()
    return found


def load_vectors(
    name: str, language: str = words.DEFAULT_LANGUAGE, dimensions: int = DIMENSIONS
) -> Vectors:
    """The vectors that a resolved setting names; loaded once in a process."""
    return _load(name, language, dimensions)


@cache  # by all arguments: a call that leaves one out would load the table again
def _load(name: str, language: str, dimensions: int) -> Vectors:
    return Vectors(read_table(name), language, dimensions)
