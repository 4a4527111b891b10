"""Finds pages with the same content, or nearly the same, by their fingerprints.

Both tests use arrays instead of objects: 20 bytes a page for exact copies, 32 for near
ones. Pages whose fingerprints agree in 16 bits form a chain, newest first: at a million
pages a chain has 15 links.
"""

from __future__ import annotations

from array import array

from opilio.records import Fingerprint

BITS = 16  # of a fingerprint that choose a chain
ALL = 2**64 - 1  # the bits of a signed fingerprint as an unsigned one
NEAR = 3  # bits in which the SimHashes of near copies may differ
LONGEST = 4096  # links of a chain to look at, in case of forged collisions


class Chains:
    """Positions 1, 2, 3, … in chains, by 16 bits of each one's fingerprint."""

    def __init__(self, shift: int = 0) -> None:
        self.shift = shift
        self.newest = array("I", bytes(4 << BITS))
        self.older = array("I", (0,))

    def append(self, fingerprint: Fingerprint) -> None:
        """Add the next position to the chain of its fingerprint."""
        chain = fingerprint >> self.shift & 0xFFFF
        self.older.append(self.newest[chain])
        self.newest[chain] = len(self.older) - 1

    def like(self, fingerprint: Fingerprint) -> list[int]:
        """The positions in the chain of a fingerprint, newest first, up to LONGEST."""
        chain: list[int] = []
        position = self.newest[fingerprint >> self.shift & 0xFFFF]
        while position and len(chain) < LONGEST:
            chain.append(position)
            position = self.older[position]
        return chain


class ContentSeen:
    """The content-seen test: finds the page with a body of this fingerprint."""

    def __init__(self) -> None:
        self.fingerprints = array("q", (0,))
        self.pages = array("q", (0,))
        self.chains = Chains()

    def add(self, fingerprint: Fingerprint, page: int) -> None:
        """Add a page; the first one with a fingerprint is the original."""
        if not self.find(fingerprint):
            self.fingerprints.append(fingerprint)
            self.pages.append(page)
            self.chains.append(fingerprint)

    def find(self, fingerprint: Fingerprint) -> int:
        """The id of the page with this fingerprint, or 0."""
        for position in self.chains.like(fingerprint):
            if self.fingerprints[position] == fingerprint:
                return self.pages[position]
        return 0

    def __len__(self) -> int:
        return len(self.pages) - 1


class NearCopies:
    """Finds a page whose SimHash differs in at most three bits.

    Manku, Jain and Das Sarma, "Detecting near-duplicates for web crawling", WWW 2007:
    of four bands of 16 bits, at least one is the same in both.
    """

    def __init__(self) -> None:
        self.simhashes = array("Q", (0,))
        self.pages = array("q", (0,))
        self.bands = [Chains(shift) for shift in range(0, 64, BITS)]

    def add(self, simhash: Fingerprint, page: int) -> None:
        """Add a page."""
        self.simhashes.append(simhash & ALL)
        self.pages.append(page)
        for band in self.bands:
            band.append(simhash)

    def find(self, simhash: Fingerprint) -> int:
        """The id of the nearest page, of several the smallest; 0 if none is near."""
        simhashes, simhash = self.simhashes, simhash & ALL
        near = {
            (distance, self.pages[position])
            for band in self.bands
            for position in band.like(simhash)
            if (distance := (simhashes[position] ^ simhash).bit_count()) <= NEAR
        }
        return min(near)[1] if near else 0

    def __len__(self) -> int:
        return len(self.pages) - 1
