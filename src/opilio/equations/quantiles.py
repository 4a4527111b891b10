"""Sorted distinct numbers and quantiles: the results of np.unique and np.quantile.

These two import numpy's masked arrays, which takes as long as crawling ten pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

N = TypeVar("N", bound=np.generic)


def distinct(numbers: npt.NDArray[N]) -> npt.NDArray[N]:
    """The different numbers, ascending."""
    ordered = np.sort(numbers)
    is_first = np.ones(len(ordered), np.bool_)
    is_first[1:] = ordered[1:] != ordered[:-1]
    return ordered[is_first]


def quantiles(numbers: npt.NDArray[Any], shares: Sequence[float]) -> list[float]:
    """The numbers that these shares are below, between two of them in proportion.

    >>> quantiles(np.array([4.0, 1.0, 2.0]), [0.5, 0.75])
    [2.0, 3.0]
    """
    ordered = np.sort(numbers)
    found = []
    for share in shares:
        place = share * (len(ordered) - 1)
        at = int(place)
        low, high = ordered[at], ordered[min(at + 1, len(ordered) - 1)]
        way = place - at
        # From the nearer of the two, as numpy does, so that rounding is the same.
        step = (high - low) * (way if way < 0.5 else 1 - way)
        found.append(float(low + step if way < 0.5 else high - step))
    return found
