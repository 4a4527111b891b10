"""Finds the waiting link that promises least, which a full queue displaces first."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush

from opilio.frontier.link_columns import LinkColumns, LinkMode

SLACK = 64  # out-of-date entries that are not worth sweeping up


class Least:
    """The waiting links, worst first; used only if there is a capacity."""

    def __init__(self, links: LinkColumns) -> None:
        self._links = links
        self._heap: list[int] = []  # negated entries

    def add(self, entries: Iterable[int], waiting: int) -> None:
        """Add links that wait from now on, or have a new promise."""
        for entry in entries:
            heappush(self._heap, -entry)
        if len(self._heap) > 2 * waiting + SLACK:
            self._heap = [entry for entry in set(self._heap) if self._is_current(entry)]
            heapify(self._heap)

    def peek(self) -> int:
        """The last entry; 0 when nothing waits."""
        while self._heap and not self._is_current(self._heap[0]):
            heappop(self._heap)
        return -self._heap[0] if self._heap else 0

    def _is_current(self, negated: int) -> bool:
        return self._links.is_current(-negated, LinkMode.DELAYED)
