"""The data of each link that choosing needs, in arrays by id: 13 bytes a link."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from opilio.frontier import sort_keys
from opilio.records import State

Column = list[int] | NDArray[Any]
DISPLACED = State.PARKED, "capacity"  # the state of a CROWDED link, and the reason


class LinkMode:
    """The state of a link for the choice; the numbers are compared, so order matters.

    They are plain integers: reading a member of an enumeration takes ten times as long
    on Python 3.11, and this is done for each link of each page.
    """

    WAITING = 1  # in the queue of its host
    DELAYED = 2  # waits, but may not be tried again yet
    REFUSED = 3  # not wanted where it was found so far
    CROWDED = 4  # parked because better links fill the capacity
    LEASED = 5
    OVER = 6  # never to be chosen again


class LinkColumns:
    """The columns; `key_of`, `mode_of` and `host_of` give fast access to one cell.

    Row 0 is a dummy; it is OVER, so that it is always ignored.
    """

    def __init__(self, expected: int = 0) -> None:
        self.count = 0  # ids go from 1 to this
        size = max(expected + 1, 1024)
        self._hold(
            np.zeros(size, np.uint64),
            np.zeros(size, np.uint8),
            np.zeros(size, np.uint32),
        )
        self.mode[0] = LinkMode.OVER

    def _hold(
        self, key: sort_keys.Keys, mode: NDArray[np.uint8], host: NDArray[np.uint32]
    ) -> None:
        self.key, self.key_of = key, key.data
        self.mode, self.mode_of = mode, mode.data
        self.host, self.host_of = host, host.data

    def add(self, key: int, mode: int, host: int) -> int:
        """Add one row at the end; returns its id."""
        id = self.count + 1
        if id == len(self.key):
            self._grow(id + 1)
        self.key_of[id], self.mode_of[id], self.host_of[id] = key, mode, host
        self.count = id
        return id

    def append(
        self, keys: sort_keys.Keys, modes: Column, hosts: Column
    ) -> NDArray[np.int64]:
        """Add rows at the end; returns their ids."""
        start, stop = self.count + 1, self.count + 1 + len(keys)
        if stop > len(self.key):
            self._grow(stop)
        self.key[start:stop] = keys
        self.mode[start:stop] = modes
        self.host[start:stop] = hosts
        self.count = stop - 1
        return np.arange(start, stop)

    def _grow(self, least: int) -> None:
        size = max(least, len(self.key) * 3 // 2)
        self._hold(
            *(_grown(column, size) for column in (self.key, self.mode, self.host))
        )

    def entry(self, id: int) -> int:
        """The heap entry of a link with its current promise."""
        return self.key_of[id] << sort_keys.ID_BITS | id

    def is_current(self, entry: int, last: int) -> bool:
        """Whether an entry has the link's current promise, and the link still waits.

        `last` is WAITING, or DELAYED to accept both kinds of waiting.
        """
        id = entry & sort_keys.ID_MASK
        return (
            self.mode_of[id] <= last and self.key_of[id] == entry >> sort_keys.ID_BITS
        )


def _grown(column: NDArray[Any], size: int) -> NDArray[Any]:
    larger = np.zeros(size, column.dtype)
    larger[: len(column)] = column
    return larger
