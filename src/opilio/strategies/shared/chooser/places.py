"""Finds the slot of a waiting link by its fingerprint, at 8 to 16 bytes a link.

A hash table of buckets of sixteen places. A place holds a slot and eight bits of the
fingerprint; the fingerprint itself is in the slot's column, and is looked at only where
those bits agree. A full table is moved step by step into one of twice its size, so that
no page has to wait for it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from opilio.strategies.shared.chooser import loops
from opilio.strategies.shared.chooser.plain_rows import FREE, MIX, WIDTH

Prints = npt.NDArray[np.int64]
Slots = npt.NDArray[np.int64]

FULLEST = 0.6  # share of places in use
FIRST = 7  # bits of the first table
HASTE = 4096  # buckets that are emptied with each insertion, at least


class Places:
    """A map from fingerprints to slots; `links` is the column of fingerprints."""

    def __init__(self) -> None:
        self._table = Table(FIRST)
        self._full: Table | None = None  # the one before, while it is emptied
        self._emptied = 0  # buckets of that
        self.count = 0

    def find(self, prints: Prints, links: Prints) -> Slots:
        """The slot of each fingerprint, or FREE."""
        found = self._table.find(prints, links)[0]
        if self._full is not None:
            missing = np.flatnonzero(found == FREE)
            found[missing] = self._full.find(prints[missing], links)[0]
        return found

    def insert(self, prints: Prints, slots: Slots, links: Prints) -> None:
        """Add new fingerprints, each once."""
        self.count += len(slots)
        if self.count > self._table.capacity:
            self._empty(self._full.buckets if self._full else 0, links)
            self._full, self._emptied = self._table, 0
            bits = self._full.bits + 1
            while int(FULLEST * (WIDTH << bits)) < self.count:
                bits += 1
            self._table = Table(bits)
        self._table.insert(prints, slots)
        if self._full is not None:
            self._empty(max(HASTE, len(slots)), links)

    def remove_one(self, print_: int, links: Prints) -> int:
        """Remove a fingerprint; returns its slot, or FREE."""
        slot = self._table.remove_one(print_, links)
        if slot == FREE and self._full is not None:
            slot = self._full.remove_one(print_, links)
        self.count -= slot != FREE
        return slot

    def remove(self, prints: Prints, links: Prints) -> Slots:
        """Remove fingerprints; returns their slots, or FREE."""
        found, cells = self._table.find(prints, links)
        self._table.free(cells[found != FREE])
        if self._full is not None:
            missing = np.flatnonzero(found == FREE)
            slots, cells = self._full.find(prints[missing], links)
            self._full.free(cells[slots != FREE])
            found[missing] = slots
        self.count -= int(np.count_nonzero(found != FREE))
        return found

    @property
    def bytes(self) -> int:
        """The memory of the tables."""
        tables = [self._table] + ([self._full] if self._full else [])
        return sum(table.buckets * (WIDTH * 5 + 1) for table in tables)

    def _empty(self, buckets: int, links: Prints) -> None:
        """Move the contents of the next buckets of the full table."""
        if self._full is None:
            return
        stop = self._emptied + buckets
        slots = self._full.take(self._emptied, stop)
        self._table.insert(links[slots], slots)
        self._emptied = stop
        if stop >= self._full.buckets:
            self._full = None


class Table:
    """Buckets of one size; what does not fit into a bucket goes to the next one."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.buckets = 1 << bits
        self.capacity = int(FULLEST * (WIDTH << bits))
        self._mask = self.buckets - 1
        self._slots = np.full((self.buckets, WIDTH), FREE, np.int32)
        self._tags = np.zeros((self.buckets, WIDTH), np.uint8)
        self._passed = np.zeros(self.buckets, np.uint8)  # something went to the next

    def find(self, prints: Prints, links: Prints) -> tuple[Slots, Slots]:
        """The slot of each fingerprint and its cell, or FREE."""
        found = np.full(len(prints), FREE, np.int64)
        cells = np.full(len(prints), FREE, np.int64)
        loops.find(
            prints,
            links,
            self._slots,
            self._tags,
            self._passed,
            self.bits,
            found,
            cells,
        )
        return found, cells

    def remove_one(self, print_: int, links: Prints) -> int:
        """Remove one fingerprint, much faster than with `find`; returns its slot."""
        mixed = print_ * MIX & 2**64 - 1
        bucket = mixed >> 64 - self.bits
        for _ in range(self.buckets):
            tags = self._tags[bucket].tobytes()
            place = tags.find(mixed & 255)
            while place != -1:
                slot = int(self._slots[bucket, place])
                if slot != FREE and links[slot] == print_:
                    self._slots[bucket, place] = FREE
                    return slot
                place = tags.find(mixed & 255, place + 1)
            if not self._passed[bucket]:
                break
            bucket = bucket + 1 & self._mask
        return FREE

    def insert(self, prints: Prints, slots: Slots) -> None:
        """Add fingerprints, each given once and none in the table so far."""
        loops.insert(prints, slots, self._slots, self._tags, self._passed, self.bits)

    def free(self, cells: Slots) -> None:
        """Empty these cells."""
        self._slots.reshape(-1)[cells] = FREE

    def take(self, start: int, stop: int) -> Slots:
        """Remove and return the slots in some buckets."""
        part = self._slots[start:stop]
        found: Slots = part[part != FREE].astype(np.int64)
        part[:] = FREE
        return found
