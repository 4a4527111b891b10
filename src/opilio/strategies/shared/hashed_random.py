"""Random numbers that depend only on their arguments."""

from __future__ import annotations

from struct import pack

from xxhash import xxh3_64_intdigest


def chance(*of: int) -> float:
    """An evenly spread number in [0, 1) for these integers of 64 bits.

    >>> chance(0, 7) == chance(0, 7) != chance(1, 7)
    True
    """
    # The upper 53 bits are what a float can hold; more would round up to 1.
    return (xxh3_64_intdigest(pack(f"<{len(of)}q", *of)) >> 11) / 2**53
