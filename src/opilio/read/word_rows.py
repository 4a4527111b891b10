"""Remembers the vectors of words that were met, by the keys of the words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from opilio import words
from opilio.read import kernels
from opilio.read.plain_tree import Hashes, Integers
from opilio.read.plain_vectors import FREE, Matrix, Rows, in_stretches
from opilio.read.stems import Runs
from opilio.vectors import Vector, Vectors

MOST = 2**15  # words that are remembered; 8 MB at 64 dimensions
PLACES = 4 * MOST
MOST_OF_A_PAGE = 2**13  # different words; the others have no vector
SHIFT = 65 - PLACES.bit_length()

Told = Mapping[int, Sequence[str]]
"""Number of a run in another language -> what it means in the topic's."""


class WordRows:
    """A row of numbers for each word met so far; row 0 is that of all unknown ones."""

    def __init__(self, vectors: Vectors) -> None:
        self.vectors = vectors
        self.matrix: Matrix = np.zeros((MOST + 1, vectors.size), np.float32)
        self.table = np.zeros((PLACES, 2), np.uint64)
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self.table[:, 0] = FREE
        self.known = 0

    def rows(self, runs: Runs, begins: Integers, ends: Integers, told: Told) -> Rows:
        """The row of each run in some stretches of them; 0 for the others.

        What `told` says of a run takes its place.
        """
        keys = runs.keys
        if told:
            keys = keys.copy()
            keys[list(told)] = list(map(meaning_key, told.values()))
        if np.maximum(ends - begins, 0).sum() > MOST_OF_A_PAGE:
            keys = first_ones(keys, begins, ends)
        found = kernels.find_rows(self.table, keys, begins, ends)
        new = (found < 0).nonzero()[0]
        if len(new) and self.known + len(new) > MOST:
            self.forget()
            found = kernels.find_rows(self.table, keys, begins, ends)
            new = (found < 0).nonzero()[0]
        numbers = new.tolist()
        rows: dict[int, int] = {}  # of keys that are new
        for number, text in zip(numbers, runs.texts(numbers), strict=True):
            key = keys.item(number)
            if key not in rows:
                rows[key] = self.learn(key, self.vector(text, told.get(number)))
            found[number] = rows[key]
        return found

    def vector(self, text: bytes, meanings: Sequence[str] | None) -> Vector:
        """The vector of a run, or the mean over those of its meanings."""
        add_up = self.vectors.add_up
        if meanings is None:
            return add_up(words.tokens(text.decode("utf-8", "replace")))
        each = [add_up(words.tokens(one)) for one in meanings]
        return sum(each, self.vectors.zero) / np.float32(max(1, len(each)))

    def learn(self, key: int, vector: Vector) -> int:
        """Put a word into the table; its row."""
        self.known += 1
        row = self.known if vector.any() else 0
        if row:
            self.matrix[row] = vector
        place = key >> SHIFT
        while self.table[place, 0] != FREE:
            place = (place + 1) % PLACES
        self.table[place] = key, row
        return row


def first_ones(keys: Hashes, begins: Integers, ends: Integers) -> Hashes:
    """The keys of words in some stretches, with 0 for all but the first so many that
    are different. How many were met on earlier pages must not matter."""
    wanted = in_stretches(len(keys), begins, ends).nonzero()[0]
    distinct, first, where = np.unique(
        keys[wanted], return_index=True, return_inverse=True
    )
    late = np.ones(len(distinct), np.bool_)
    late[first.argsort()[:MOST_OF_A_PAGE]] = False
    keys = keys.copy()
    keys[wanted[late[where]]] = 0
    return keys


def meaning_key(meanings: Sequence[str]) -> int:
    """A key for what a run means; that of a noise word is the one for long words."""
    return words.hash_of("\0".join(meanings)) if meanings else 0
