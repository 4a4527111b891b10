"""Weighted terms in; a 64-bit fingerprint that is nearly the same for near copies out.

Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002:

    v = Σₜ w(t)·h(t),    h(t) ∈ {-1, +1}⁶⁴,    w(t) = 1 + ln tf(t)
    bit i of the SimHash is 1 where vᵢ > 0

The share of bits in which two pages differ is the angle between their vectors / π.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from xxhash import xxh3_64_intdigest

from opilio.types import Fingerprint

SHORTEST = 50  # words; in fewer, a template's say more than the page's own
MEMO_SIZE = 2**17


class _Hashes(dict[str, int]):
    """Term -> its 64 bits, remembered; forgets everything when it is full."""

    def __missing__(self, term: str) -> int:
        if len(self) >= MEMO_SIZE:
            self.clear()
        value = self[term] = xxh3_64_intdigest(term.encode("utf-8", "replace"))
        return value


_hashes = _Hashes()
_weights = np.array([0.0, *(1 + math.log(tf) for tf in range(1, 1000))], np.float32)


def simhash(counts: Mapping[str, int]) -> Fingerprint:
    """The SimHash of a text by its terms and how often each occurs; 0: too short."""
    size = len(counts)
    times = np.fromiter(counts.values(), np.int64, size)
    if times.sum() < SHORTEST:
        return 0
    hashes = np.fromiter(map(_hashes.__getitem__, counts), np.uint64, size)
    bits = np.unpackbits(hashes.view(np.uint8).reshape(size, 8), axis=1)
    weights = _weights.take(times, mode="clip")
    above = 2 * (weights @ bits) > weights.sum()
    return int(np.packbits(above).view(np.int64)[0])


def distance(a: Fingerprint, b: Fingerprint) -> int:
    """In how many bits two fingerprints differ."""
    return ((a ^ b) & 2**64 - 1).bit_count()
