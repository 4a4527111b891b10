"""Breadth-first: Najork & Wiener, WWW10, 2001.

    promise = -(depth + 1)

Symbols: depth, the links from a seed to the page that holds the link.
Links of one depth are visited in the order in which they were found.
"""

from __future__ import annotations

from opilio.records import Knowledge, Lease, Page, Ranked, Reads, Verdict
from opilio.strategies.shared.options import NoOptions


class BreadthFirst:
    """Visits all pages of one depth before the next."""

    Options = NoOptions
    reads = Reads()

    def __init__(self, options: NoOptions, knowledge: Knowledge) -> None:
        pass

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> list[Ranked]:
        """Every link of the page with the same promise."""
        promise = -float(lease.depth + 1)
        level = lease.level_after(verdict)
        parts = {"depth": -promise}
        return [Ranked(link, promise, parts, level) for link in page.links]
