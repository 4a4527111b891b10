"""Caches the vectors of words by the words' keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from opilio.read import kernels
from opilio.read.plain_tree import Hashes, Integers, different
from opilio.read.plain_vectors import FREE, USED, Matrix, Rows, in_stretches
from opilio.read.stems import Runs
from opilio.text import words
from opilio.vectors.words import Vectors

MEMORY = 2**26  # bytes of cached vectors: 65,536 words of 256 dimensions
MOST_OF_A_PAGE = 2**13  # different words; the others have no vector

Told = Mapping[int, Sequence[str]]
"""Number of a run in another language -> its meanings in the topic's language."""


class WordRows:
    """A row of numbers for each word seen so far; row 0 is for all unknown words."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors
        self.most = max(MOST_OF_A_PAGE * 2, MEMORY // (4 * vectors.size))
        self.matrix: Matrix = np.zeros((self.most + 1, vectors.size), np.float32)
        places = 1 << (2 * self.most).bit_length()  # at most half of them are taken
        self.table = np.zeros((places, 2), np.uint64)
        self.table[:, 0] = FREE
        self.known = 0

    def make_room(self) -> None:
        """Drop the words that were not used since the last time, and others if more
        than half of the room is still taken."""
        kept = self.table[self.table[:, 1] >= USED][: self.most // 2]
        rows = (kept[:, 1] - USED).astype(np.int32)
        self.known = len(rows)
        self.matrix[1 : self.known + 1] = self.matrix[rows]
        self.table[:, 0], self.table[:, 1] = FREE, 0
        new = np.arange(1, self.known + 1, dtype=np.int32)
        new[rows == 0] = 0
        kernels.put_rows(self.table, kept[:, 0].copy(), new)

    def rows(self, runs: Runs, begins: Integers, ends: Integers, told: Told) -> Rows:
        """The row of each run in some stretches of them; 0 for the others.

        The meanings in `told` replace a run.
        """
        keys = runs.keys
        if told:
            keys = keys.copy()
            keys[list(told)] = list(map(meaning_key, told.values()))
        if np.maximum(ends - begins, 0).sum() > MOST_OF_A_PAGE:
            keys = first_ones(keys, begins, ends)
        found = kernels.find_rows(self.table, keys, begins, ends)
        new = (found < 0).nonzero()[0]
        if len(new) and self.known + len(new) > self.most:
            self.make_room()
            found = kernels.find_rows(self.table, keys, begins, ends)
            new = (found < 0).nonzero()[0]
        if len(new):
            distinct, first, where = different(keys[new])
            found[new] = self.learn(distinct, runs, new[first].tolist(), told)[where]
        return found

    def learn(self, keys: Hashes, runs: Runs, numbers: list[int], told: Told) -> Rows:
        """Add the words of these runs to the table; returns their rows."""
        texts = [text.decode("utf-8", "replace") for text in runs.texts(numbers)]
        telling = self.vectors.telling
        vectors = self.vectors.sums(list(map(telling, texts)))
        for at, number in enumerate(numbers):
            if number in told:
                each = self.vectors.sums(list(map(telling, told[number])))
                vectors[at] = each.mean(axis=0)
        rows = np.arange(self.known + 1, self.known + 1 + len(keys), dtype=np.int32)
        self.known += len(keys)
        self.matrix[rows] = vectors
        rows[np.einsum("ij,ij->i", vectors, vectors) == 0] = 0
        kernels.put_rows(self.table, keys, rows)
        return rows


def first_ones(keys: Hashes, begins: Integers, ends: Integers) -> Hashes:
    """The keys of words in some stretches, with 0 for all but the first MOST_OF_A_PAGE
    different ones. Words of earlier pages make no difference."""
    wanted = in_stretches(len(keys), begins, ends).nonzero()[0]
    distinct, first, where = different(keys[wanted])
    late = np.ones(len(distinct), np.bool_)
    late[first.argsort()[:MOST_OF_A_PAGE]] = False
    keys = keys.copy()
    keys[wanted[late[where]]] = 0
    return keys


def meaning_key(meanings: Sequence[str]) -> int:
    """A key for the meanings of a run; a noise word has the key of long words."""
    return words.hash_of("\0".join(meanings)) if meanings else 0
