"""PageRank: Cho, Garcia-Molina & Page, WWW7, 1998, section 2; Page et al., 1998.

    promise(u) = IR'(u) = (1-d) + d·Σ_i IR'(t_i)/c_i

Symbols: t_i the pages read so far that link to u, c_i how many links t_i has, d
`damping`. IR' is an estimate of IR(u), which knows all of the web.
We differ: it is computed when the links have grown by a fifth, not every n pages, and
until then grows by what each page passes on; see page_rank.py. Waiting links are
revised after a computation in portions, the most promising first; see promises.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

from msgspec import Meta

from opilio.records import (
    Knowledge,
    Lease,
    Page,
    Ranked,
    Reads,
    Revision,
    State,
    Verdict,
)
from opilio.settings import Section
from opilio.strategies.shared.graph import CrawlGraph, GraphVisit, Which, pack_graph
from opilio.strategies.shared.journal import StrategyJournal
from opilio.strategies.shared.page_rank import PageRank, Values
from opilio.strategies.shared.promises import NOBODY, Promises

NAME = "IR'(u)"

Damping = Annotated[float, Meta(ge=0, lt=1)]


class ByPageRankOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The one constant."""

    damping: Damping = 0.85  # d


class ByPageRank:
    """Visits first what has the highest PageRank among the pages read so far."""

    Options = ByPageRankOptions
    reads = Reads()

    def __init__(self, options: ByPageRankOptions, knowledge: Knowledge) -> None:
        self.graph = CrawlGraph()
        self.importance = PageRank(self.graph, options.damping)
        self.promises = Promises(self.graph, self.value)
        self.journal = StrategyJournal(GraphVisit, self.happen)
        self.changes = self.journal.changes
        self.found = NOBODY  # the links of the page that was read last

    def value(self, links: Which) -> Values:
        """IR' of each."""
        return self.importance.ranks.values[links]

    def happen(self, visit: GraphVisit) -> None:
        """Process a visit, with or without a page."""
        if visit.links is None:
            self.promises.leave(self.graph.find(visit.url))
            return
        number, self.found = self.graph.visit(visit.url, visit.found)
        self.importance.visit(number, self.found)
        self.promises.leave(number)
        if self.importance.is_due:
            self.importance.compute()
            self.promises.renew()
        self.promises.tell(self.found)
        self.promises.portion()

    def revise(self) -> Iterator[Revision]:
        """The promises that changed, a portion at a time."""
        links, promises = self.promises.take()
        urls = self.graph.fingerprints.values[links].tolist()
        told = zip(urls, promises.tolist(), strict=True)
        return ((url, value, {NAME: value}) for url, value in told)

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Read the pages of earlier runs again."""
        for visit in self.journal.replay(notes):
            if visit.links is not None:
                self.promises.take()  # the frontier knows these

    def missed(self, lease: Lease, state: State) -> None:
        """Note that a link no longer waits."""
        self.journal.write(GraphVisit(lease.fingerprint, None))

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link of the page with its PageRank."""
        self.journal.write(GraphVisit(lease.fingerprint, pack_graph(page.links)))
        level = lease.level_after(verdict)
        values = self.value(self.found).tolist()
        for link, value in zip(page.links, values, strict=True):
            yield Ranked(link, value, {NAME: value}, level)
