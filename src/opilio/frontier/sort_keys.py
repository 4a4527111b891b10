"""Turns promises into integers that sort the best links first, then by discovery.

    key   = the 64 bits of the promise, turned so that more promise is a smaller key
    entry = key · 2⁵⁶ + id

Promises are not rounded, so only equal ones tie (0.0 and -0.0 are equal). An entry
takes 48 bytes as a Python integer and 8 more in the heap's list, so only the best few
links of each host have one (see host_queue.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import isfinite
from struct import Struct

import numpy as np
from numpy.typing import NDArray

ID_BITS = 56
ID_MASK = (1 << ID_BITS) - 1
WORST = 2**64 - 1  # greater than the key of any promise
MAGNITUDE = 2**63 - 1
_AS_FLOAT, _AS_INTEGER = Struct("<d"), Struct("<q")

Keys = NDArray[np.uint64]


def keys(promises: Sequence[float] | NDArray[np.float64]) -> Keys:
    """The sort key of each promise; ValueError if one is not a finite number."""
    values = np.asarray(promises, np.float64) + 0.0  # -0.0 becomes 0.0
    if not np.isfinite(values).all():
        raise ValueError("a promise must be a finite number; fix the strategy")
    bits = values.view(np.int64)
    # The bits of negative floats ascend as the floats fall; those of positive ones are
    # inverted, and come first since their highest bit is not set.
    return np.where(bits < 0, bits, bits ^ np.int64(MAGNITUDE)).view(np.uint64)


@lru_cache(maxsize=1024)  # links of one page often share their promise
def key(promise: float) -> int:
    """The sort key of one promise."""
    if not isfinite(promise):
        raise ValueError("a promise must be a finite number; fix the strategy")
    bits: int = _AS_INTEGER.unpack(_AS_FLOAT.pack(promise + 0.0))[0]
    return (bits if bits < 0 else bits ^ MAGNITUDE) & WORST


def promise(key: int) -> float:
    """The promise of a key, also of a link that was demoted."""
    key &= WORST
    bits = key if key >> 63 else key ^ MAGNITUDE
    value: float = _AS_FLOAT.unpack(bits.to_bytes(8, "little"))[0]
    return value


def entries(some_keys: list[int], ids: list[int]) -> list[int]:
    """The heap entry of each link."""
    return [key << ID_BITS | id for key, id in zip(some_keys, ids, strict=True)]
