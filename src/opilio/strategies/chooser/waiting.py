"""The evidence of links that wait, in columns: some 50 bytes a link and its vector.

A link that several pages have keeps the mean of their evidence; each page counts
0.2 + its score.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from opilio.known import Known
from opilio.strategies.chooser.visits import ANCHOR_WORDS, Links
from opilio.strategies.columns import Column
from opilio.types import Fingerprint

Slots = npt.NDArray[np.int64]

LEAST = 1024  # slots in the beginning
MOST_PARENTS = 4  # pages whose evidence is taken; more say the same again
PARENT = 0.2  # what a page counts beside its score
GONE = -1  # instead of a slot: the link was visited, or there was no room for it


class Waiting:
    """Links that wait, by slots; a slot is used again when its link was visited."""

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions
        self.known = Known()
        self.slot_of: Column[np.int32] = Column(np.int32, fill=GONE)
        self.slot_of.reach(1)  # number 0 is no URL
        self.count = 0
        self._free: list[int] = []
        self._top = 0  # slots from here on were never used
        self._make(LEAST)

    def _make(self, size: int) -> None:
        self.link = np.zeros(size, np.int64)
        self.vector = np.zeros((size, self.dimensions), np.int8)
        self.terms = np.zeros((size, 3), np.float16)  # in address, anchor, around
        self.anchor = np.zeros((size, ANCHOR_WORDS), np.uint16)
        self.weight = np.zeros(size, np.float16)
        self.scores = np.zeros(size, np.float16)  # of the pages that it is on, added up
        self.parents = np.zeros(size, np.uint8)
        self.host = np.zeros(size, np.int32)
        self.path = np.zeros(size, np.uint16)
        self.page = np.zeros(size, np.int32)  # the first that it was found on
        self.told = np.zeros(size, np.float32)  # its promise, as the frontier knows it

    def _grow(self) -> None:
        size = len(self.link) * 3 // 2
        for name, column in vars(self).copy().items():
            if isinstance(column, np.ndarray):
                larger = np.zeros((size, *column.shape[1:]), column.dtype)
                larger[: len(column)] = column
                setattr(self, name, larger)

    def slots(self, prints: Sequence[Fingerprint]) -> Slots:
        """The slot of each link; GONE: it was visited or dropped; -2: it is new."""
        numbers = np.array(self.known.find(prints), np.int64)
        found = self.slot_of.values[numbers].astype(np.int64)
        found[numbers == 0] = GONE - 1
        return found

    def leave(self, link: Fingerprint) -> int:
        """A link waits no longer; answers its slot, whose columns stay until the next
        link comes, or GONE."""
        [number] = self.known.find([link])
        if not number:
            self._number(link)
            return GONE
        slot = int(self.slot_of.values[number])
        if slot != GONE:
            self.slot_of.values[number] = GONE
            self._free.append(slot)
            self.count -= 1
            self.told[slot] = -1
        return slot

    def take_in(
        self, links: Links, slots: Slots, hosts: Sequence[int], page: int, score: float
    ) -> Slots:
        """Let new links wait and add evidence to those that do; their slots now."""
        slots = slots.copy()
        weight = PARENT + score
        for row, slot in enumerate(slots.tolist()):
            if slot == GONE:
                continue
            if slot < GONE:
                slots[row] = slot = self._add(links.prints[row])
                self.host[slot] = hosts[int(links.hosts[row])]
                self.page[slot] = page
                self.terms[slot] = links.terms[row]
                self.anchor[slot] = links.anchors[row]
                self.vector[slot] = links.vectors[row]
                self.weight[slot] = weight
                self.scores[slot] = score
                self.parents[slot] = 1
                self.path[slot] = links.paths[row]
                self.told[slot] = 0
            elif self.parents[slot] < MOST_PARENTS and self.page[slot] != page:
                self._join(slot, links, row, weight, score)
        return slots

    def _join(
        self, slot: int, links: Links, row: int, weight: float, score: float
    ) -> None:
        before = float(self.weight[slot])
        share = weight / (before + weight)
        if weight > before / int(self.parents[slot]):  # it stands on a better page
            self.path[slot] = links.paths[row]
            self.anchor[slot] = links.anchors[row]
        if self.dimensions:
            old = self.vector[slot].astype(np.float32)
            mixed = old + np.float32(share) * (links.vectors[row] - old)
            length = float(np.sqrt(mixed @ mixed))
            self.vector[slot] = np.rint(mixed * (127 / length)) if length else 0
        kept = self.terms[slot].astype(np.float32)
        kept[1:] += np.float32(share) * (links.terms[row, 1:] - kept[1:])
        self.terms[slot] = kept
        self.weight[slot] = before + weight
        self.scores[slot] = float(self.scores[slot]) + score
        self.parents[slot] += 1

    def _number(self, link: Fingerprint) -> int:
        number = self.known.count + 1
        self.known.put({link: number})
        self.slot_of.reach(number + 1)
        return number

    def _add(self, link: Fingerprint) -> int:
        if self._free:
            slot = self._free.pop()
        else:
            slot, self._top = self._top, self._top + 1
            if slot == len(self.link):
                self._grow()
        [number] = self.known.find([link])
        number = number or self._number(link)
        self.slot_of.values[number] = slot
        self.link[slot] = link
        self.count += 1
        return slot

    def drop(self, slots: Slots) -> None:
        """Forget the evidence of links; their promises stay as they were told."""
        for link in self.link[slots].tolist():
            self.leave(link)

    def all(self) -> Slots:
        """The slots in use, in order."""
        return np.flatnonzero(self.told[: self._top] >= 0)

    def sample(self, most: int) -> Slots:
        """Slots in use, at most about so many, evenly spread over all of them."""
        spread = np.arange(0, self._top, max(1, -(-self._top // most)))
        return spread[self.is_waiting(spread)]

    def is_waiting(self, slots: Slots) -> npt.NDArray[np.bool_]:
        """Which of these slots are in use?"""
        return self.told[slots] >= 0
