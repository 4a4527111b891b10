"""A numpy array that grows at its end."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

D = TypeVar("D", bound=np.generic)
LEAST = 1024


class Column(Generic[D]):
    """An array that grows at its end; growing by one costs the same at any size.

    >>> column = Column(np.float64, fill=0.5)
    >>> column.reach(2)
    >>> column.append(np.array([3.0]))
    >>> column.values.tolist()
    [0.5, 0.5, 3.0]
    """

    def __init__(self, kind: type[D], fill: float = 0) -> None:
        self._fill = fill
        self._room: NDArray[D] = np.full(LEAST, fill, kind)
        self.values: NDArray[D] = self._room[:0]

    def reach(self, size: int) -> None:
        """Grow to `size` values; new ones have the fill value."""
        if size > len(self._room):
            room = np.full(2 * size, self._fill, self._room.dtype)
            room[: len(self.values)] = self.values
            self._room = room
        if size > len(self.values):
            self.values = self._room[:size]

    def append(self, values: NDArray[Any]) -> None:
        """Put values at the end."""
        size = len(self.values)
        self.reach(size + len(values))
        self.values[size:] = values
