"""Makes the vectors of words and texts from the vectors of their pieces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import accumulate, chain
from math import log

import numpy as np
import numpy.typing as npt

from opilio.text import words
from opilio.vectors.files import VectorTable, read_table

Vector = npt.NDArray[np.float32]

DIMENSIONS = 256  # of a table that are used, the first ones
COMMON = 0.5  # rarity up to which a stop word is one; unknown ones are, too
MOST_WORDS = 2**14  # that are remembered
MOST_TEXTS = 2**12
LONGEST_TEXT = 400  # words of a text that count
FEW_ROWS = 8  # that numpy adds one after another, the first one last
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

    def sums(self, texts: Sequence[Iterable[str]]) -> Vector:
        """A row for each list of words: the sum over them; none is remembered."""
        split = self.tokenizer.pieces
        pieces = [[piece for word in text for piece in split(word)] for text in texts]
        filled = [number for number, each in enumerate(pieces) if each]
        found: Vector = np.zeros((len(texts), self.size), np.float32)
        if filled:
            lengths = [len(pieces[number]) for number in filled]
            every = self.matrix[list(chain.from_iterable(pieces))]
            summed = sums_of_rows(every.astype(np.float32), lengths)
            # What is no number in the table shall not spoil what it is added to.
            found[filled] = np.where(
                np.isfinite(summed).all(axis=1, keepdims=True), summed, np.float32(0)
            )
        return found

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
        size = log(max(3, len(self.matrix)))
        ranked = sorted(self.tokenizer.vocabulary.items(), key=lambda item: -item[1])
        return {
            piece[len(space) :].lower(): min(
                1.0, log(2 + max(0, number - first)) / size
            )
            for piece, number in ranked
            if piece.startswith(space) and piece[len(space) :].isalpha()
        }

    def by_key(self, terms: Mapping[str, str]) -> dict[str, bytes]:
        """The unit vectors of terms, by their keys, as little-endian float32."""
        return {
            key: self.of(term).astype("<f4").tobytes() for key, term in terms.items()
        }


def sums_of_rows(rows: Vector, lengths: Sequence[int]) -> Vector:
    """The sums of so many rows each; the same as np.add.reduceat, to the last bit, in a
    fifth of the time where most sums have one to three rows."""
    starts = np.array([0, *accumulate(lengths[:-1])])
    longest = max(lengths)
    if longest > FEW_ROWS:
        long: Vector = np.add.reduceat(rows, starts)
        return long
    found: Vector = rows[starts]
    sizes = np.array(lengths)
    for size in range(2, longest + 1):
        of_size = np.flatnonzero(sizes == size)
        first = starts[of_size]
        rest = rows[first + 1]
        for place in range(2, size):
            rest += rows[first + place]
        found[of_size] += rest
    return found


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
