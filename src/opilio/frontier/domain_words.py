"""Notices domains whose pages repeat the same words.

The pages of a real site bring new words all the time, and these come again on later
pages (Heaps, 1978). Pages that a trap makes of a list of words soon bring none, and
words of random letters never come again. So a page is fresh if one of its words is on a
second page of its domain for the first time. Words are sampled by their hashes.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Iterable

import numpy as np

SAMPLED = 8  # one word in so many
BITS = 11  # of the slots of a domain
SLOTS = 1 << BITS
TWICE = 1 << 15  # marks a word that was on two pages
MOST = 2048  # domains that are remembered, of 4 KB each
LONGEST = 512  # sampled words of a page
SETTLED = 10  # pages of a domain before its words are looked at


class DomainWords:
    """The words of the domains that were visited last."""

    def __init__(self) -> None:
        self._slots: OrderedDict[str, array[int]] = OrderedDict()
        self._changed: set[str] = set()

    def is_fresh(self, domain: str, stems: bytes) -> bool:
        """Note the words of a page, given as in Page.stems; returns whether one of them
        is on a second page of the domain for the first time."""
        slots = self._slots.get(domain)
        if slots is None:
            slots = self._slots[domain] = array("H", bytes(2 * SLOTS))
            if len(self._slots) > MOST:
                forgotten, _ = self._slots.popitem(last=False)
                self._changed.discard(forgotten)
        self._slots.move_to_end(domain)
        self._changed.add(domain)
        hashes = np.frombuffer(stems, "<u8")
        sampled = hashes[hashes % SAMPLED == 0][:LONGEST] // SAMPLED
        fresh = False
        for word in sampled.tolist():
            place, tag = word % SLOTS, word // SLOTS % TWICE or 1
            before = slots[place]
            if before == tag:
                slots[place] = tag | TWICE
                fresh = True
            elif before < TWICE:
                slots[place] = tag
        return fresh

    def restore(self, domain: str, packed: bytes) -> None:
        """Remember the words of a domain as they were stored."""
        if len(packed) == 2 * SLOTS:
            self._slots[domain] = array("H", packed)

    def take_changes(self) -> Iterable[tuple[str, bytes]]:
        """The words that are not stored yet."""
        for domain in self._changed:
            yield domain, self._slots[domain].tobytes()
        self._changed.clear()
