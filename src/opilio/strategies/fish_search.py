"""Fish-Search: De Bra & Post, WWW1, 1994, as in Hersovici et al., WWW7, 1998, figure 1.

For the links of page p, in document order:

    potential = 1    for the first α·width, if p is relevant
                0.5  for the first width, if it is not and depth(p) > 0
                0    for the rest: fish that have died, visited when no other is left
    depth(u)  = D if p is relevant, else depth(p) - 1

Symbols: width and D, `width` and `depth`, chosen by the user; α = 1.5: fish that find
food have more offspring. depth(u) and the potential are the largest over all parents.
We differ: relevance is the configured judge's; links to other sites and fast servers
are not preferred, since the frontier lets every host rest alike. Links of a page at
depth 0 wait with potential 0, as De Bra describes the algorithm
(https://de-bra.nl/tut/blue/fishalg.html); Hersovici et al. drop them. Links of the same
potential are visited in the order in which they were found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opilio.records import Knowledge, Lease, Page, Ranked, Reads, Verdict
from opilio.settings import Count, Section, Some
from opilio.strategies.shared.notes import Notes

ALPHA = 1.5


class FishSearchOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many offspring there are, and how long they live without food."""

    width: Some = 20
    depth: Count = 3


class FishSearch:
    """Follows many links of relevant pages, few of others, none after too many."""

    Options = FishSearchOptions
    reads = Reads()

    def __init__(self, options: FishSearchOptions, knowledge: Knowledge) -> None:
        self.width = options.width
        self.depth = options.depth
        self.depths: Notes[int] = Notes(int)
        self.changes = self.depths.changes

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Restore the depths of links of earlier runs."""
        self.depths.recall(notes)

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """The first links of the page with a potential, the rest without."""
        own = self.depths.get(lease.fingerprint, self.depth)
        if verdict.relevant:
            potential, first, depth = 1.0, int(ALPHA * self.width), self.depth
        else:
            potential, first, depth = 0.5, self.width if own > 0 else 0, max(own - 1, 0)
        level = lease.level_after(verdict)
        for place, link in enumerate(page.links):
            if depth > self.depths.get(link.fingerprint, -1):
                self.depths[link.fingerprint] = depth
            promise = potential if place < first else 0.0
            parts = {"potential": promise, "depth": float(depth)}
            yield Ranked(link, promise, parts, level)
