"""Best-N-First: Menczer, Pant & Srinivasan, TOIT 4(4), 2004.

    promise(u) = max over known parents p of score(p), and 1 more in the batch

The N best links that wait, all of them if there are fewer, make up a batch; whatever is
found while it is visited waits for the next one. N = 1 is best-first; the greater N,
the less the crawl trusts its own scores.

Symbols: score(p), the verdict on a page that links to u; N `n`.
We differ: the score comes from the configured judge. The next batch is chosen when as
many visits have ended as the batch had links: some of its links may never be visited
(a host that does not answer, a trap), and while its last ones are under way, others
are begun. Links of equal score enter in the order in which they got it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

import msgspec

from opilio.records import (
    TIER,
    Fingerprint,
    Knowledge,
    Lease,
    Page,
    Ranked,
    Reads,
    Revision,
    State,
    Verdict,
)
from opilio.settings import Section, Some
from opilio.strategies.shared.journal import StrategyJournal

IN_BATCH = 1.0  # no score is higher
BATCH = f"{TIER}in the batch"


class BestNFirstOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The size of a batch."""

    n: Some = 256  # N


class BatchVisit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A link whose visit ended, the score of its page, if any, and the links on it."""

    link: Fingerprint
    score: float | None = None
    links: tuple[Fingerprint, ...] = ()


class BestNFirst:
    """Visits links of the most relevant pages, in batches of N."""

    Options = BestNFirstOptions
    reads = Reads()

    def __init__(self, options: BestNFirstOptions, knowledge: Knowledge) -> None:
        self.n = options.n
        self.left = 0  # visits until the next batch
        self.gone: set[Fingerprint] = set()  # visited, or in a batch
        self.queue: list[tuple[float, int, array[int]]] = []  # links of a page
        self.pages = 0
        self.batch: list[tuple[Fingerprint, float]] = []
        self.journal = StrategyJournal(BatchVisit, self.happen)
        self.changes = self.journal.changes

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link of the page with the page's own score."""
        score = verdict.score
        links = tuple(link.fingerprint for link in page.links)
        self.journal.write(BatchVisit(lease.fingerprint, score, links))
        level = lease.level_after(verdict)
        parts = {"score(p)": score}
        for link in page.links:
            yield Ranked(link, score, parts, level)

    def missed(self, lease: Lease, state: State) -> None:
        """Count a visit without a page as one of the batch."""
        self.journal.write(BatchVisit(lease.fingerprint))

    def revise(self) -> Iterator[Revision]:
        """The links of a new batch."""
        batch, self.batch = self.batch, []
        return (
            (link, IN_BATCH + score, {"score(p)": score, BATCH: IN_BATCH})
            for link, score in batch
        )

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Replay all visits of earlier runs."""
        for _ in self.journal.replay(notes):
            self.batch.clear()

    def happen(self, visit: BatchVisit) -> None:
        """One visit less to go in the batch; some links more that wait."""
        self.gone.add(visit.link)
        self.left -= 1
        if visit.score is None:  # nobody asks for revisions now
            return
        if visit.links:
            self.pages += 1
            links = array("q", visit.links[::-1])
            heappush(self.queue, (-visit.score, self.pages, links))
        if self.left <= 0:
            self.choose()

    def choose(self) -> None:
        """Make a batch of the best links that wait."""
        self.left = 0
        while self.queue and self.left < self.n:
            score, _, links = self.queue[0]
            link = links.pop()
            if not links:
                heappop(self.queue)
            # A link on several pages comes up with the best score first.
            if link not in self.gone:
                self.gone.add(link)
                self.batch.append((link, -score))
                self.left += 1
