"""Compares text vectors with the keywords of a topic, and weighs words by rarity.

    s(x) = ½·(mean of the two largest x·Kᵢ) + ½·x·u(ΣKᵢ)

Symbols: Kᵢ the unit vector of keyword i, u(·) a unit vector, x the unit vector of a
text.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from opilio.records import Subject
from opilio.text.page_words import word_weights

Floats = npt.NDArray[np.float32]

MOST_KEYWORDS = 64  # that are compared, the heaviest
RARITY_BITS = 18  # upper bits of a stem's hash that index its rarity
# 1 + ln tf; a word that is there at all is there once.
LOGS: Floats = 1 + np.log(np.maximum(np.arange(1 << 16), 1), dtype=np.float32)


class KeywordVectors:
    """The vectors of a topic's keywords; those of unknown words are left out."""

    def __init__(self, rows: Floats) -> None:
        self.rows = rows
        middle = rows.sum(axis=0)
        length = float(np.linalg.norm(middle))
        self.middle = middle / np.float32(length) if length else middle
        self._every = np.vstack((rows, self.middle)).T  # one matrix to compare with

    def __len__(self) -> int:
        """How many keywords have a vector."""
        return len(self.rows)

    def similar(self, vectors: Floats) -> Floats:
        """s of each row; 0 if no keyword has a vector."""
        if not len(self.rows) or not len(vectors):
            return np.zeros(len(vectors), np.float32)
        each = vectors @ self._every
        along, each = each[:, -1], each[:, :-1]
        if each.shape[1] > 2:
            each = np.sort(each, axis=1)[:, -2:]  # faster than np.partition
        found: Floats = 0.25 * (each[:, 0] + each[:, -1]) + 0.5 * along
        return found


def dimensions(subject: Subject) -> int:
    """How many dimensions the word vectors of a crawl have; 0: there are none."""
    return len(next(iter(subject.vectors.values()), b"")) // 4


def keyword_vectors(subject: Subject) -> KeywordVectors:
    """The vectors of the heaviest keywords of a topic."""
    weights = {key: weight for key, weight in subject.weights.items() if weight > 0}
    known = [
        subject.vectors[key] for key in heaviest(weights) if key in subject.vectors
    ]
    rows = [np.frombuffer(each, "<f4") for each in known[:MOST_KEYWORDS]]
    rows = [row for row in rows if row.any()]
    size = dimensions(subject)
    return KeywordVectors(np.array(rows, np.float32).reshape(len(rows), size))


def heaviest(weights: Mapping[str, float]) -> list[str]:
    """Keywords by their weight, the heaviest first."""
    return sorted(weights, key=lambda key: -weights[key])


def unpack_vectors(packed: bytes, rows: int) -> Floats:
    """Vectors that were packed as int8, 127 times each number."""
    numbers = np.frombuffer(packed, np.int8)
    return np.divide(numbers, np.float32(127), dtype=np.float32).reshape(rows, -1)


class Rarity:
    """How rare words are, by Subject.common: 0 common, 1 rare; words that are not in
    it are rare."""

    def __init__(self, common: bytes) -> None:
        self.table = np.ones(1 << RARITY_BITS, np.float32)
        known = np.frombuffer(common, np.dtype([("place", "<u4"), ("rarity", "<f4")]))
        self.table[known["place"] >> (32 - RARITY_BITS)] = known["rarity"]
        self._stems, self._counts = b"", b""
        self._weights = np.zeros(0, np.float32)

    def weights(self, stems: bytes, counts: bytes) -> Floats:
        """The weight of each word of a page: (1 + ln tf)·(0.05 + rarity²).

        Judge and strategy ask for the same page one after the other, so the last result
        is cached.
        """
        if stems is not self._stems or counts is not self._counts:
            self._weights = word_weights(
                np.frombuffer(stems, "<u8"),
                np.frombuffer(counts, "<u2"),
                self.table,
                LOGS,
                RARITY_BITS,
            )
            self._weights.flags.writeable = False
            self._stems, self._counts = stems, counts
        return self._weights


@lru_cache(maxsize=2)
def rarity_of_words(common: bytes) -> Rarity:
    """The Rarity that judge and strategy of a crawl share."""
    return Rarity(common)
