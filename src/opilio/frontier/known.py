"""The URL-seen test: fingerprints in; the ids they are known by, or 0, out.

An open-addressing table in numpy: buckets of sixteen fingerprints, two cache lines,
so that a whole batch is looked up in a handful of array operations. A fingerprint
whose bucket is full goes to the next one. Twelve bytes a place, at most five of eight
places in use. A slot is free while its id is 0, so every fingerprint, 0 too, is fine.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

WIDTH = 16  # places in a bucket
FULLEST = 0.625  # share of places in use before the table doubles
AT_ONCE = 2**19  # fingerprints moved in one step while it does, to bound memory
# Fibonacci hashing: fingerprints that are close to each other part company.
_MIX = np.uint64(0x9E3779B97F4A7C15)

Ids = NDArray[np.int64]


class Known:
    """A growing map from fingerprints to ids."""

    def __init__(self, expected: int = 0) -> None:
        self.count = 0
        self._allot(max(4, int(expected / FULLEST / WIDTH).bit_length()))

    def _allot(self, bits: int) -> None:
        self._shift = np.uint64(64 - bits)
        self._last = (1 << bits) - 1
        self._prints = np.zeros((1 << bits, WIDTH), np.int64)
        self._ids = np.zeros((1 << bits, WIDTH), np.uint32)
        self._filled = np.zeros(1 << bits, np.uint8)

    def find(self, prints: NDArray[np.int64]) -> Ids:
        """The id of each fingerprint; 0 where it is not known."""
        buckets = self._buckets(prints)
        ids = self._look(prints, buckets)
        if np.count_nonzero(ids) == len(ids):
            return ids
        where = np.flatnonzero((ids == 0) & (self._filled.take(buckets) == WIDTH))
        buckets = buckets[where]
        while where.size:
            buckets = (buckets + 1) & self._last
            ids[where] = found = self._look(prints[where], buckets)
            on = (found == 0) & (self._filled.take(buckets) == WIDTH)
            where, buckets = where[on], buckets[on]
        return ids

    def put(self, prints: NDArray[np.int64], ids: Ids) -> None:
        """Remember fingerprints, each given once and none known so far."""
        self.count += len(prints)
        while self.count > self._ids.size * FULLEST:
            self._double()
        self._insert(prints, ids.astype(np.uint32))

    def _buckets(self, prints: NDArray[np.int64]) -> Ids:
        return ((prints.view(np.uint64) * _MIX) >> self._shift).view(np.int64)

    def _look(self, prints: NDArray[np.int64], buckets: Ids) -> Ids:
        column = (self._prints.take(buckets, axis=0) == prints[:, None]).argmax(axis=1)
        slots = buckets * WIDTH + column
        ids: Ids = self._ids.take(slots).astype(np.int64)
        ids[self._prints.take(slots) != prints] = 0
        return ids

    def _insert(self, prints: NDArray[np.int64], ids: NDArray[np.uint32]) -> None:
        buckets = self._buckets(prints)
        while len(prints):
            order = np.argsort(buckets, kind="stable")
            buckets, prints, ids = buckets[order], prints[order], ids[order]
            rank = np.arange(len(buckets)) - np.searchsorted(buckets, buckets)
            places = self._filled[buckets] + rank
            fits = places < WIDTH
            slots = (buckets * WIDTH + places)[fits]
            self._prints.reshape(-1)[slots] = prints[fits]
            self._ids.reshape(-1)[slots] = ids[fits]
            # Of those that share a bucket the last, with the highest place, stays.
            self._filled[buckets[fits]] = places[fits] + 1
            on = ~fits
            buckets, prints, ids = (buckets[on] + 1) & self._last, prints[on], ids[on]

    def _double(self) -> None:
        prints, ids = self._prints, self._ids
        self._allot((self._last + 1).bit_length())
        step = AT_ONCE // WIDTH
        for start in range(0, len(ids), step):
            some = ids[start : start + step]
            used = some != 0
            self._insert(prints[start : start + step][used], some[used])
