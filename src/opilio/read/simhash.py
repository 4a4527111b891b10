"""Weighted terms in; a 64-bit fingerprint that is nearly the same for near copies out.

Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002:

    v = Σₜ w(t)·h(t),    h(t) ∈ {-1, +1}⁶⁴
    bit i of the SimHash is 1 where vᵢ > 0

The share of bits in which two pages differ is the angle between their vectors / π.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from opilio.types import Fingerprint


def simhash(
    hashes: npt.NDArray[np.uint64], weights: npt.NDArray[np.float32]
) -> Fingerprint:
    """The SimHash of terms, each given by a 64-bit hash of it and its weight."""
    bits = np.unpackbits(hashes.view(np.uint8).reshape(-1, 8), axis=1)
    above = 2 * (weights @ bits.astype(np.float32)) > weights.sum()
    return int(np.packbits(above).view(np.int64)[0])


def distance(a: Fingerprint, b: Fingerprint) -> int:
    """In how many bits two fingerprints differ."""
    return ((a ^ b) & 2**64 - 1).bit_count()
