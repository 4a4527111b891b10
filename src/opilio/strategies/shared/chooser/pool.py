"""Keeps the best waiting links up to date without looking at all the others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from opilio.strategies.shared.chooser.places import Slots
from opilio.strategies.shared.chooser.waiting import Waiting

SIZE = 1024  # links; there may be more for a while
HEAD = 128  # of them, whose promises are looked at after each page


class Pool:
    """Candidates for the next visits, by their last promises.

    The head, the best of them, is filled from the others when half of it was visited.
    """

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._slots: Slots = np.zeros(0, np.int64)
        self._low = 0.0  # links with a lower promise are left out
        self.head: Slots = self._slots
        self._head_low = 0.0

    def refill(self) -> None:
        """Choose among all waiting links."""
        self._slots = self._waiting.best(SIZE)
        is_all = self._waiting.count <= SIZE
        self._low = 0.0 if is_all else float(self._waiting.told[self._slots].min())
        self._fill_head()

    def add(self, slots: Slots) -> None:
        """Add links with a new promise, and remove visited ones."""
        told = self._waiting.told
        promises = told[slots]
        good = slots[promises >= self._low]
        self._slots = np.concatenate((self._slots, good))
        head = np.concatenate((self.head, slots[promises > self._head_low]))
        self.head = head[told[head] >= 0]
        if not HEAD // 2 <= len(self.head) <= 2 * HEAD:
            self._fill_head()

    def _fill_head(self) -> None:
        told = self._waiting.told
        slots = distinct(self._slots)
        slots = slots[told[slots] >= 0]
        if len(slots) < HEAD < self._waiting.count:
            self.refill()
            return
        if len(slots) > 2 * SIZE:
            slots = best_of(slots, told[slots], SIZE)
            self._low = max(self._low, float(told[slots].min()))
        self._slots = slots
        self.head = best_of(slots, told[slots], HEAD)
        self._head_low = float(told[self.head].min()) if len(slots) > HEAD else 0.0

    def glance(self, count: int) -> Slots:
        """The best links of the pool, without changing it."""
        told = self._waiting.told
        slots = distinct(self._slots[told[self._slots] >= 0])
        return best_of(slots, told[slots], count)


def best_of(slots: Slots, values: npt.NDArray[np.floating], count: int) -> Slots:
    """The slots with the largest values, in order."""
    if len(slots) <= count:
        return slots
    chosen: Slots = np.sort(slots[np.argpartition(values, -count)[-count:]])
    return chosen


def distinct(slots: Slots) -> Slots:
    """Each slot once, ascending; np.unique would import numpy's masked arrays, which
    takes as long as crawling ten pages."""
    ordered = np.sort(slots)
    is_first = np.ones(len(ordered), np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    found: Slots = ordered[is_first]
    return found
