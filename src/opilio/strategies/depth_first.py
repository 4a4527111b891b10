"""Depth-first: Cormen, Leiserson, Rivest & Stein, Introduction to Algorithms.

    promise = n

Symbols: n, the number of pages read before this one and it: links of the page that was
read last come first, in the order in which they stand on it.
We differ: with several pages under way, the page that was read last is seldom the one
that was asked for last. A link that is found again moves up, as on a stack.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from opilio.records import Knowledge, Lease, Page, Ranked, Reads, Verdict
from opilio.strategies.shared.options import NoOptions


class DepthFirst:
    """Visits links of the page that was read last."""

    Options = NoOptions
    reads = Reads()

    def __init__(self, options: NoOptions, knowledge: Knowledge) -> None:
        self.pages = 0

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link of the page with more promise than any before."""
        self.pages += 1
        promise = float(self.pages)
        parts = {"n": promise}
        level = lease.level_after(verdict)
        for link in page.links:
            yield Ranked(link, promise, parts, level)

    def dump(self) -> bytes:
        """The number of pages."""
        return msgspec.msgpack.encode(self.pages)

    def load(self, learnt: bytes) -> None:
        """Continue counting from there."""
        self.pages = msgspec.msgpack.decode(learnt, type=int)
