"""Back-link count: Cho, Garcia-Molina & Page, WWW7, 1998, section 2.

    promise(u) = IB'(u)

Symbols: IB'(u), the number of pages read so far that link to u; an estimate of IB(u),
which counts all of the web.
We differ: a page that links to itself is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opilio.records import Fingerprint, Knowledge, Lease, Page, Ranked, Reads, Verdict
from opilio.strategies.shared.graph import pack_graph, unpack_graph
from opilio.strategies.shared.journal import StrategyJournal
from opilio.strategies.shared.options import NoOptions


class BacklinkCount:
    """Visits first what most of the pages read so far link to."""

    Options = NoOptions
    reads = Reads()

    def __init__(self, options: NoOptions, knowledge: Knowledge) -> None:
        self.backlinks: dict[Fingerprint, int] = {}
        self.journal = StrategyJournal(bytes, self.read)
        self.changes = self.journal.changes

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Count the links of earlier runs again."""
        for _ in self.journal.replay(notes):
            pass

    def read(self, links: bytes) -> None:
        """Count the links of a page."""
        counts = self.backlinks
        for link in unpack_graph(links):
            counts[link] = counts.get(link, 0) + 1

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link of the page with the number of pages that link to it."""
        own = lease.fingerprint
        others = [link for link in page.links if link.fingerprint != own]
        self.journal.write(pack_graph(others))
        level = lease.level_after(verdict)
        for link in page.links:
            count = self.backlinks.get(link.fingerprint, 0)
            yield Ranked(link, float(count), {"IB'(u)": count}, level)
