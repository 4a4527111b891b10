"""The queue of one host's waiting links, best first, in little memory.

The best few links are near, in a heap; the others, from the bar on, are far: only ids
of four bytes each, unordered. Far links cost nothing when their promise changes or they
are parked. When no near link is left, the best sixteenth of the far ones becomes near.
When twice as many are near, half of them become far again. So all links are scanned
only once per sixteenth of them that is visited, and few entries are in memory.
"""

from __future__ import annotations

from array import array
from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from opilio.frontier import sort_keys
from opilio.frontier.link_columns import LinkColumns, LinkMode

MOST = 64  # near links before half of them become far; more where many wait
SHARE = 16  # one in this many far links becomes near
SLACK = 64  # outdated entries that are not worth removing
SAMPLE = 16  # links looked at, near and far, to estimate how many are better
NO_BAR = 1 << 128  # greater than every entry: nothing is far


class Backlog:
    """The waiting links of a host, with outdated entries that are removed lazily."""

    __slots__ = ("_bar", "_far", "_leftovers", "_links", "_most", "_near")

    def __init__(self, links: LinkColumns) -> None:
        self._links = links
        self._near: list[int] = []
        self._far: array[int] | None = None
        self._bar = NO_BAR
        self._most = MOST
        self._leftovers = 0

    def __len__(self) -> int:
        """About how many links wait here: leftovers are counted, but not exactly."""
        held = len(self._near) + len(self._far or ())
        return max(held - max(self._leftovers, 0), 0)

    def push(self, entry: int) -> None:
        """Add a waiting link."""
        if self._far is not None and entry >= self._bar:
            self._far.append(entry & sort_keys.ID_MASK)
            return
        heappush(self._near, entry)
        if len(self._near) > self._most:
            half = self._most // 2
            self._near.sort()
            self._bar = self._near[half]
            ids = [spilt & sort_keys.ID_MASK for spilt in self._near[half:]]
            self._far = self._far or array("I")
            self._far.extend(ids)
            del self._near[half:]

    def move(self, before: int, after: int) -> None:
        """Change the entry of a waiting link."""
        if before < self._bar or after < self._bar:
            self._leftovers += 1
            self.push(after)

    def remove(self, entry: int) -> None:
        """Note that a link stopped waiting without being popped."""
        if len(self._near) <= MOST and entry in self._near:
            self._near.remove(entry)
            heapify(self._near)
        else:
            self._leftovers += 1

    def load(self, ids: NDArray[np.int64]) -> None:
        """Add many waiting links to an empty queue."""
        if len(ids) > MOST:
            self._far, self._bar = _pack(ids), 0
        else:
            self._near = [self._links.entry(id) for id in ids.tolist()]
            heapify(self._near)

    def top(self) -> int:
        """The best entry, or 0."""
        if self._leftovers > SLACK:
            self._sweep()
        near, is_current = self._near, self._links.is_current
        while True:
            while near and not is_current(near[0], LinkMode.WAITING):
                heappop(near)
                self._leftovers -= 1
            if near or not self._far:
                return near[0] if near else 0
            self._fetch(self._far)

    def count_before(self, bound: int) -> int:
        """How many waiting links have an entry before this one; estimated from a sample
        where many wait."""
        near, far, links = self._near, self._far, self._links
        step = len(near) // SAMPLE or 1
        better = [entry for entry in near[::step] if entry < bound]
        if self._leftovers:
            better = [
                each for each in better if links.is_current(each, LinkMode.WAITING)
            ]
        count = step * len(better)
        if far and self._bar < bound:
            step, key = len(far) // SAMPLE or 1, bound >> sort_keys.ID_BITS
            key_of, mode_of = links.key_of, links.mode_of
            ids = far[::step]
            waits = [key_of[id] < key and mode_of[id] == LinkMode.WAITING for id in ids]
            count += step * sum(waits)
        return count

    def pop(self) -> int:
        """Remove the best entry, which `top` has just returned."""
        return heappop(self._near)

    def _waiting(self, far: array[int]) -> NDArray[np.int64]:
        """The ids of far links that still wait, in order of discovery."""
        ids = np.sort(np.array(far, np.int64))
        wanted = self._links.mode[ids] == LinkMode.WAITING
        wanted[1:] &= ids[1:] != ids[:-1]  # np.unique would import a lot of numpy
        waiting: NDArray[np.int64] = ids[wanted]
        return waiting

    def _fetch(self, far: array[int]) -> None:
        """Make the best of the far links near."""
        ids = self._waiting(far)
        keys = self._links.key[ids]
        number = max(MOST // 2, len(ids) // SHARE)
        self._most = 2 * number
        if len(ids) <= number:
            chosen, rest, self._bar = ids, ids[:0], NO_BAR
        else:
            edge = np.partition(keys, number)[number]
            near = keys < edge
            ties = np.flatnonzero(keys == edge)
            near[ties[: number - np.count_nonzero(near)]] = True
            chosen, rest = ids[near], ids[~near]
            # Some of the links at the edge stay far; the first of them is the new bar.
            first = int(rest[keys[~near].argmin()])
            self._bar = self._links.entry(first)
        self._near += sort_keys.entries(
            self._links.key[chosen].tolist(), chosen.tolist()
        )
        heapify(self._near)
        self._far = _pack(rest)
        self._leftovers = 0

    def _sweep(self) -> None:
        """Remove outdated entries, if they are more than the others."""
        far = self._far or array("I")
        if self._leftovers * 2 > len(self._near) + len(far):
            is_current = self._links.is_current
            self._near[:] = {e for e in self._near if is_current(e, LinkMode.WAITING)}
            heapify(self._near)
            self._far = _pack(self._waiting(far))
            self._leftovers = 0


def _pack(ids: NDArray[np.int64]) -> array[int]:
    return array("I", ids.astype(np.uint32).tobytes())
