"""SimHash: a 64-bit fingerprint of a page that is nearly the same for near copies.

Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002:

    v = Σₜ w(t)·h(t),    h(t) ∈ {-1, +1}⁶⁴
    bit i of the SimHash is 1 where vᵢ > 0

The share of bits in which two pages differ is the angle between their vectors / π.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from opilio.records import Fingerprint

STEPS = 16  # in a weight of 1: weights are whole numbers of these, and sums exact


def simhash(
    hashes: npt.NDArray[np.uint64], weights: npt.NDArray[np.float64]
) -> Fingerprint:
    """The SimHash of terms, each given by a 64-bit hash of it and its weight."""
    whole = np.rint(STEPS * weights).astype(np.float32)
    bits = np.unpackbits(hashes.astype("<u8").view(np.uint8).reshape(-1, 8), axis=1)
    above = 2 * (whole @ bits.astype(np.float32)) > whole.sum()
    return int(np.packbits(above).view("<i8")[0])


def distance(a: Fingerprint, b: Fingerprint) -> int:
    """In how many bits two fingerprints differ."""
    return ((a ^ b) & 2**64 - 1).bit_count()
