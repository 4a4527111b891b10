"""The best links that wait, kept up to date without a look at all the others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from opilio.strategies.chooser.places import Slots
from opilio.strategies.chooser.waiting import Waiting

SIZE = 1024  # links; there may be twice as many


class Pool:
    """Candidates for the next visits, by what they were told to promise."""

    def __init__(self, waiting: Waiting) -> None:
        self._waiting = waiting
        self._slots: Slots = np.zeros(0, np.int64)
        self._low = 0.0  # links that promise less are left out

    def refill(self) -> None:
        """Choose among all that wait."""
        self._slots = self._waiting.best(SIZE)
        is_all = self._waiting.count <= SIZE
        self._low = 0.0 if is_all else float(self._waiting.told[self._slots].min())

    def add(self, slots: Slots) -> None:
        """Take in links that were told a promise just now."""
        good = slots[self._waiting.told[slots] >= self._low]
        self._slots = np.concatenate((self._slots, good))

    def best(self, count: int) -> Slots:
        """The best links of the pool."""
        told = self._waiting.told
        slots = self._slots[told[self._slots] >= 0]  # the others were visited
        if len(slots) > 2 * SIZE:
            slots = np.unique(slots)
            slots = best_of(slots, told[slots], SIZE)
            self._low = max(self._low, float(told[slots].min()))
        self._slots = slots
        if len(slots) < count // 4 and self._waiting.count > len(slots):
            self.refill()
        return best_of(self._slots, told[self._slots], count)

    def glance(self, count: int) -> Slots:
        """The best links of the pool as it is; changes nothing."""
        told = self._waiting.told
        slots = np.unique(self._slots[told[self._slots] >= 0])
        return best_of(slots, told[slots], count)


def best_of(slots: Slots, values: npt.NDArray[np.floating], count: int) -> Slots:
    """The slots with the largest values, in order."""
    if len(slots) <= count:
        return slots
    chosen: Slots = np.sort(slots[np.argpartition(values, -count)[-count:]])
    return chosen
