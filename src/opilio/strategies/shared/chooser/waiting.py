"""Stores the evidence of waiting links in columns: some 70 bytes a link and its vector.

A link that several pages have keeps the mean of their evidence; each page counts
0.2 + its score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from opilio.records import Fingerprint
from opilio.storage.seen_urls import SeenUrls
from opilio.strategies.shared.chooser.loops import enter
from opilio.strategies.shared.chooser.places import Places, Slots
from opilio.strategies.shared.chooser.plain_rows import FREE, GONE, LINK_WORDS
from opilio.strategies.shared.chooser.visits import Links
from opilio.text.meaning import KeywordVectors
from opilio.vectors import codes

Singles = npt.NDArray[np.float32]

LEAST = 1024  # slots in the beginning
NEW = FREE  # instead of a slot: nothing is known about the link


class Waiting:
    """Links that wait, by slots; a slot is used again when its link was visited."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.visited = SeenUrls()
        self.count = 0
        self._places = Places()
        self._free = np.zeros(LEAST, np.int32)  # a stack of slots that were used
        self._freed = 0  # its height
        self._top = 0  # slots from here on were never used
        self._make(LEAST)

    def _make(self, size: int) -> None:
        self.link = np.zeros(size, np.int64)
        self.vector = np.zeros((size, codes.width(self.dimensions)), np.uint8)
        self.meaning = np.zeros(size, np.float32)  # similarity to the keywords
        # To links that led to relevant pages; NaN: not worked out yet.
        self.taught = np.full(size, np.nan, np.float32)
        self.terms = np.zeros((size, 3), np.uint8)  # in address, anchor, around
        self.words = np.zeros((size, LINK_WORDS), np.uint16)
        self.scores = np.zeros(size, np.float32)  # of the pages that it is on, added up
        self.parents = np.zeros(size, np.uint8)
        self.host = np.zeros(size, np.int32)
        self.section = np.zeros(size, np.uint16)
        self.page = np.zeros(size, np.int32)  # the first that it was found on
        self.told = np.full(size, -1, np.float32)  # its promise; -1: the slot is free

    @property
    def columns(self) -> tuple[npt.NDArray[Any], ...]:
        """The evidence of all slots, for `rows.raw`."""
        return (
            self.vector,
            self.meaning,
            self.taught,
            self.terms,
            self.words,
            self.scores,
            self.parents,
            self.host,
            self.section,
            self.page,
        )

    @property
    def entered(self) -> tuple[npt.NDArray[Any], ...]:
        """The columns that the links of a page are entered into."""
        return (
            self.host,
            self.section,
            self.terms,
            self.words,
            self.page,
            self.scores,
            self.parents,
            self.told,
            self.vector,
        )

    def _grow(self, least: int) -> None:
        size = max(least, len(self.link) * 3 // 2)
        for name, column in vars(self).copy().items():
            if isinstance(column, np.ndarray) and name != "_free":
                larger = np.zeros((size, *column.shape[1:]), column.dtype)
                larger[: len(column)] = column
                setattr(self, name, larger)

    def slots(
        self, prints: Sequence[Fingerprint], packed: bytes | None = None
    ) -> Slots:
        """The slot of each link; GONE: it was visited; NEW: it is not known. `packed`
        are the same fingerprints as int64, if there are these."""
        if packed is None:
            packed = np.array(prints, np.int64).tobytes()
        found = self._places.find(np.frombuffer(packed, np.int64), self.link)
        visited = self.visited.find(prints)
        if any(visited):
            found[np.array(visited) != 0] = GONE
        return found

    def leave(self, link: Fingerprint) -> int:
        """A link was visited; returns its slot, or NEW. The columns of that slot stay
        until the next link comes."""
        if self.visited.find([link]) == [0]:
            self.visited.put({link: self.visited.count + 1})
        slot = self._places.remove_one(link, self.link)
        if slot != NEW:
            self.told[slot] = -1
            self.count -= 1
            if self._freed == len(self._free):
                self._free = np.concatenate((self._free, np.zeros_like(self._free)))
            self._free[self._freed] = slot
            self._freed += 1
        return slot

    def _release(self, slots: Slots) -> None:
        """Make slots free."""
        self.told[slots] = -1
        self.count -= len(slots)
        height = self._freed + len(slots)
        if height > len(self._free):
            more = np.zeros(max(height, len(self._free)), np.int32)
            self._free = np.concatenate((self._free, more))
        self._free[self._freed : height] = slots
        self._freed = height

    def drop_worse_half(self) -> None:
        """Drop the half of the links with lower promises."""
        every = self.all()
        order = np.argsort(self.told[every], kind="stable")
        worse = every[order[: len(order) // 2]]
        self._places.remove(self.link[worse], self.link)
        self._release(worse)

    def drop_host(self, host: int) -> tuple[list[Fingerprint], Singles]:
        """Drop the links of a host; returns them with their last promises."""
        waits = self.told[: self._top] >= 0
        slots = np.flatnonzero(waits & (self.host[: self._top] == host))
        links, promises = self.link[slots], self.told[slots]
        if len(slots):
            self._places.remove(links, self.link)
            self._release(slots)
        return links.tolist(), promises

    def take_in(
        self,
        links: Links,
        slots: Slots,
        hosts: npt.NDArray[np.int32],
        page: int,
        score: float,
        keywords: KeywordVectors,
    ) -> Slots:
        """Add new links, and evidence to those that wait already; returns their slots,
        without those of links that were visited."""
        if not len(slots):
            return slots
        slots = slots.copy()
        fresh = slots == NEW
        if np.count_nonzero(fresh):
            slots[fresh] = self._add(links.prints[fresh])
        rows = np.empty(len(slots), np.int64)
        shares = np.empty(len(slots), np.float32)
        joined = enter(
            slots,
            fresh.view(np.uint8),
            (
                hosts,
                links.sections,
                links.terms,
                links.words,
                links.vectors,
            ),
            self.entered,
            page,
            score,
            rows,
            shares,
        )
        if joined:
            rows = rows[:joined]
            if self.dimensions:
                mix = (links.vectors, rows, shares[:joined], self.dimensions)
                codes.mix(self.vector, slots[rows], *mix)
            fresh[rows] = True
        changed = slots[fresh]
        self.taught[changed] = np.nan
        self.compare(changed, keywords)
        return slots[slots >= 0]

    def compare(self, slots: Slots, keywords: KeywordVectors) -> None:
        """Compute how similar links are to the keywords."""
        if not self.dimensions or not len(slots):
            return
        self.meaning[slots] = keywords.similar(self.vectors(slots))

    def vector_of(self, slot: int) -> Singles:
        """The vector of one link."""
        found: Singles = codes.decode(self.vector[slot : slot + 1], self.dimensions)[0]
        return found

    def vectors(self, slots: Slots) -> Singles:
        """The vectors of links, nearly as they were."""
        return codes.decode(self.vector[slots], self.dimensions)

    def _add(self, prints: npt.NDArray[np.int64]) -> Slots:
        used = min(len(prints), self._freed)
        slots = np.empty(len(prints), np.int64)
        self._freed -= used
        slots[:used] = self._free[self._freed : self._freed + used]
        fresh = len(prints) - used
        slots[used:] = np.arange(self._top, self._top + fresh)
        self._top += fresh
        if self._top > len(self.link):
            self._grow(self._top)
        self.link[slots] = prints
        self._places.insert(prints, slots, self.link)
        self.count += len(slots)
        return slots

    @property
    def bytes(self) -> int:
        """The memory that is in use; columns grow by half, what was never written
        takes none."""
        columns = [each for each in vars(self).values() if isinstance(each, np.ndarray)]
        each = sum(column.nbytes // len(column) for column in columns)
        return each * self._top + self._places.bytes

    def all(self) -> Slots:
        """The slots in use, in order."""
        return np.flatnonzero(self.told[: self._top] >= 0)

    def best(self, count: int) -> Slots:
        """The slots of the best links by their last promises, in order."""
        told = self.told[: self._top]
        if self.count <= count:
            return self.all()
        chosen: Slots = np.sort(np.argpartition(told, -count)[-count:])
        return chosen

    def sample(self, most: int) -> Slots:
        """About `most` slots in use, evenly spread over all of them."""
        spread = np.arange(0, self._top, max(1, -(-self._top // most)))
        return spread[self.told[spread] >= 0]
