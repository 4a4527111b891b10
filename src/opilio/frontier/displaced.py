"""The links that better ones have displaced from a full queue.

Koundal calls what is kept outside the queue All_URLs. Here it is the table `link`,
where a displaced link is `parked` with the reason `capacity`, and the columns of
`LinkColumns`, which say what each one promises. The best few are in a heap: all above a
mark, one in 64 of them. When the heap has run out, the columns are searched for the
next best ones, so each link that comes back pays for looking at 64.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from opilio.frontier import sort_keys
from opilio.frontier.link_columns import LinkColumns, LinkMode

FEWEST = 64  # links in the heap after a search
SHARE = 64  # or one in so many, if that is more
NOTHING, BEHIND_ALL = 0, 1 << 128  # as marks: no entry comes before, or all do


class Displaced:
    """Knows which displaced link promises most."""

    def __init__(self, links: LinkColumns) -> None:
        self._links = links
        self._heap: list[int] = []  # entries, also of links that are not displaced now
        self._mark = NOTHING  # displaced links with entries before it are in the heap
        self._most = 2 * FEWEST  # entries, before half of them are left to the columns

    def add(self, id: int) -> None:
        """Take in a link that was displaced, or that promises something else now."""
        entry = self._links.entry(id)
        if entry < self._mark:
            heappush(self._heap, entry)
            if len(self._heap) > self._most:
                self._heap = sorted(filter(self._is_current, set(self._heap)))
                if len(self._heap) > self._most // 2:
                    self._mark = self._heap[self._most // 2]
                    del self._heap[self._most // 2 :]

    def best(self) -> int:
        """The entry that comes before all others; 0 when nothing is displaced."""
        while True:
            while self._heap and not self._is_current(self._heap[0]):
                heappop(self._heap)
            if self._heap:
                return self._heap[0]
            if not self._search():
                return 0

    def _is_current(self, entry: int) -> bool:
        id, links = entry & sort_keys.ID_MASK, self._links
        return (
            links.mode_of[id] == LinkMode.CROWDED
            and links.key_of[id] == entry >> sort_keys.ID_BITS
        )

    def _search(self) -> bool:
        """Put the best displaced links into the heap; False if there are none."""
        links = self._links
        ids = np.flatnonzero(links.mode == LinkMode.CROWDED)
        keys = links.key[ids]
        number = max(FEWEST, len(ids) // SHARE)
        if number < len(ids):
            edge = np.partition(keys, number)[number]
            chosen = keys < edge
            first = 0  # of the links at the edge that is left to the columns
            if not chosen.any():  # so many promise the same
                tied = np.flatnonzero(keys == edge)
                chosen[tied[:number]] = True
                first = int(ids[tied[number]])
            self._mark = int(edge) << sort_keys.ID_BITS | first
            ids, keys = ids[chosen], keys[chosen]
        else:
            self._mark = BEHIND_ALL
        self._most = 2 * number
        self._heap = sort_keys.entries(keys.tolist(), ids.tolist())
        heapify(self._heap)
        return bool(self._heap)
