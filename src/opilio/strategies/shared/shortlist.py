"""Finds the best few of many links whose values change.

Only the best are kept in order: all above a mark, and some that are at it. Links above
the mark are put on a heap; outdated entries are skipped when they come up. When the
heap is empty, a new mark is set with a fiftieth of all links above it, so that looking
at all of them is rare.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from math import inf

import numpy as np
from numpy.typing import NDArray

from opilio.strategies.shared.graph import Numbers

PART = 50

Values = NDArray[np.float64]


class Shortlist:
    """The best of the links that wait, by a value that may change."""

    def __init__(
        self,
        everybody: Callable[[], Numbers],
        value: Callable[[Numbers], Values],
    ) -> None:
        self.everybody = everybody  # that may be taken
        self.value = value
        self._heap: list[tuple[float, int]] = []
        self._listed: dict[int, float] = {}  # as it is on the heap; older ones are void
        self._mark = inf

    def change(self, links: Numbers) -> None:
        """Note links that are new, or have new values."""
        values = self.value(links)
        for lost, number in zip((-values).tolist(), links.tolist(), strict=True):
            if lost < -self._mark:
                self._listed[number] = lost
                heappush(self._heap, (lost, number))
            else:
                self._listed.pop(number, None)

    def remove(self, number: int) -> None:
        """Exclude a link."""
        self._listed.pop(number, None)

    def forget(self) -> None:
        """Note that all values have changed."""
        self._heap.clear()
        self._listed.clear()
        self._mark = inf

    def take(self, count: int) -> list[int]:
        """The best `count` links, in order."""
        taken = self._pop(count)
        if len(taken) < count:
            self._search(count)  # among all once more, these too
            taken = self._pop(count)
        return taken

    def _pop(self, count: int) -> list[int]:
        taken: list[int] = []
        while self._heap and len(taken) < count:
            lost, number = heappop(self._heap)
            if self._listed.get(number) == lost:
                del self._listed[number]
                taken.append(number)
        return taken

    def _search(self, count: int) -> None:
        links = self.everybody()
        values = self.value(links)
        size = max(count, len(links) // PART)
        self._mark = -inf
        if size < len(links):
            self._mark = float(np.partition(values, -size)[-size])
        # Of those at the mark, which may be most of all, only as many as are wanted.
        above = np.flatnonzero(values > self._mark)
        at_mark = np.flatnonzero(values == self._mark)[: size - len(above)]
        best = np.concatenate((above, at_mark))
        lost, numbers = (-values[best]).tolist(), links[best].tolist()
        self._listed = dict(zip(numbers, lost, strict=True))
        self._heap = list(zip(lost, numbers, strict=True))
        heapify(self._heap)
