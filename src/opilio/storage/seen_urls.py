"""The URL-seen test: a compact map from fingerprints of URLs to their ids.

Recent fingerprints are in a dictionary, since pages of one site link to the same URLs;
the rest is in a table. A full table is moved step by step into one of twice its size,
and both are searched until that is done, so no step takes long.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

WIDTH = 16  # places in a bucket
FULLEST = 0.625  # share of places in use before a table is full
# A table has room for 0.625 fingerprints more a place of the one before: one that is
# emptied four times as fast as they come is empty long before the next is full.
HASTE = 4
# A bucket is chosen by the first bits of the product with a number that nobody knows
# (multiply-shift, Dietzfelbinger et al. 1997): otherwise a site could fill one bucket
# with links, and every search would have to pass it. Results do not depend on it.
_MIX = np.uint64(secrets.randbits(64) | 1)

Ids = NDArray[np.int64]
Prints = NDArray[np.int64]


class SeenUrls:
    """A growing map from fingerprints to ids, which ascend."""

    recent = 2**16  # fingerprints in the dictionary before it is emptied
    at_once = 2**18  # places of a full table that are emptied in one step, at least

    def __init__(self, expected: int = 0) -> None:
        self.count = 0
        self._recent: dict[int, int] = {}
        self._last = 0  # the highest id in a table; higher ones are in none yet
        self._table = FingerprintTable(
            max(4, int(expected / FULLEST / WIDTH).bit_length())
        )
        self._full: FingerprintTable | None = (
            None  # the one before, while it is emptied
        )
        self._emptied = 0  # places of that

    def find(self, prints: Sequence[int]) -> list[int]:
        """The id of each fingerprint; 0 where it is not known."""
        recent = self._recent
        ids = list(map(recent.get, prints, repeat(0)))
        if self._last and 0 in ids:
            missing = [place for place, id in enumerate(ids) if not id]
            sought = np.array([prints[place] for place in missing], np.int64)
            for place, id in zip(missing, self._search(sought).tolist(), strict=True):
                if id:
                    ids[place] = recent[prints[place]] = id
            self._make_room()
        return ids

    def put(self, new: Mapping[int, int]) -> None:
        """Store the ids of new fingerprints."""
        self.count += len(new)
        self._recent.update(new)
        self._make_room()

    def load(self, prints: Prints, ids: Ids) -> None:
        """Store very many at once."""
        self.count += len(ids)
        self._clear()
        self._file(prints, ids)

    def _search(self, prints: Prints) -> Ids:
        ids = self._table.find(prints)
        if self._full is not None:
            where = np.flatnonzero(ids == 0)
            ids[where] = self._full.find(prints[where])
        return ids

    def _make_room(self) -> None:
        if len(self._recent) > self.recent:
            self._clear()

    def _clear(self) -> None:
        """Empty the dictionary; move what is not yet in a table into one."""
        prints = np.fromiter(self._recent, np.int64)
        ids = np.fromiter(self._recent.values(), np.int64)
        new = ids > self._last
        self._recent.clear()
        self._file(prints[new], ids[new])

    def _file(self, prints: Prints, ids: Ids) -> None:
        if not len(ids):
            return
        self._last = int(ids.max())
        while self._table.count + len(ids) > self._table.capacity:
            self._empty(0 if self._full is None else self._full.size)
            self._full, self._emptied = self._table, 0
            self._table = FingerprintTable(self._full.bits + 1, self._full.count)
        self._table.insert(prints, ids.astype(np.uint32))
        self._table.count += len(ids)
        self._empty(max(self.at_once, HASTE * len(ids)))

    def _empty(self, places: int) -> None:
        """Move the contents of this many places of the full table, if there is one."""
        while self._full is not None and places > 0:
            start, self._emptied = self._emptied, self._emptied + self.at_once
            self._table.insert(*self._full.content(start, self._emptied))
            places -= self.at_once
            if self._emptied >= self._full.size:
                self._full = None


class FingerprintTable:
    """An open-addressing table in numpy: buckets of sixteen, two cache lines each.

    A batch is looked up in a few array operations. A fingerprint whose bucket is full
    goes to the next one. A place takes twelve bytes. It is free while its id is 0, so
    every fingerprint is allowed, also 0. Memory is allocated as buckets are filled.
    """

    def __init__(self, bits: int, count: int = 0) -> None:
        self.bits = bits  # log2 of the number of buckets
        self.size = WIDTH << bits
        self.capacity = int(self.size * FULLEST)
        self.count = count  # fingerprints in it or about to be added
        self._shift = np.uint64(64 - bits)
        self._mask = (1 << bits) - 1
        self._prints = np.zeros((1 << bits, WIDTH), np.int64)
        self._ids = np.zeros((1 << bits, WIDTH), np.uint32)
        self._filled = np.zeros(1 << bits, np.uint8)

    def find(self, prints: Prints) -> Ids:
        """The id of each fingerprint; 0 where it is not here."""
        buckets = self._buckets(prints)
        ids = self._look(prints, buckets)
        if np.count_nonzero(ids) == len(ids):
            return ids
        where = np.flatnonzero((ids == 0) & (self._filled.take(buckets) == WIDTH))
        buckets = buckets[where]
        while where.size:
            buckets = (buckets + 1) & self._mask
            ids[where] = found = self._look(prints[where], buckets)
            on = (found == 0) & (self._filled.take(buckets) == WIDTH)
            where, buckets = where[on], buckets[on]
        return ids

    def insert(self, prints: Prints, ids: NDArray[np.uint32]) -> None:
        """Add fingerprints, each given once and none in the table so far."""
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
            buckets, prints, ids = (buckets[on] + 1) & self._mask, prints[on], ids[on]

    def content(self, start: int, stop: int) -> tuple[Prints, NDArray[np.uint32]]:
        """The fingerprints in these places, and their ids."""
        ids = self._ids.reshape(-1)[start:stop]
        return self._prints.reshape(-1)[start:stop][ids != 0], ids[ids != 0]

    def _buckets(self, prints: Prints) -> Ids:
        return ((prints.view(np.uint64) * _MIX) >> self._shift).view(np.int64)

    def _look(self, prints: Prints, buckets: Ids) -> Ids:
        column = (self._prints.take(buckets, axis=0) == prints[:, None]).argmax(axis=1)
        slots = buckets * WIDTH + column
        ids: Ids = self._ids.take(slots).astype(np.int64)
        ids[self._prints.take(slots) != prints] = 0
        return ids
