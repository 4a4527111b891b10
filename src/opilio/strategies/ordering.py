"""Ordering metric: Koundal, *Prioritizing the ordering of URL queue*, 2013, section 5.

    promise(u) = O(u) = b1·CI(u) + b2·AS(u) + b3·[AS(p_1) + … + AS(p_n)] + b4·TD(u)

Symbols: CI(u) combined importance: PageRank, and `backlinks` times the back-links;
AS(u) association of the link's anchor, surroundings and URL with the ontology; p_i the
pages read so far that link to u, AS(p_i) their association; TD(u) the relevance of the
division that holds the link; b1 … b4 weights. See evidence.py and association.py.

`paper`: raw terms and sums. `fixed`: each term in [0, 1], the parents' mean. The queue:
with `k`, the k best links are fetched in their order before any other, whatever is
found meanwhile, and then the next k are chosen (section 5.A).
We differ: the paper never defines TD; ours is the division score that its related work
cites, or `depth`, 1/(1 + links from a seed). It reports no weights; ours are equal, or
with `fit` found by logistic regression from the crawl so far. Without an ontology AS(p)
is the verdict's score. O is computed again for links whose evidence changed only. The
queue is chosen again after k visits; a link that could not be visited yet stays ahead.
"Replacement of the less important" is the frontier's bounds.capacity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from opilio.records import (
    TIER,
    Fingerprint,
    Knowledge,
    Lease,
    Link,
    Mode,
    Page,
    Parts,
    Ranked,
    Reads,
    Revision,
    State,
    Subject,
    Verdict,
)
from opilio.settings import Count, Section
from opilio.strategies.pagerank import Damping
from opilio.strategies.shared.association import ConceptAssociation
from opilio.strategies.shared.batches import Batches
from opilio.strategies.shared.graph import (
    CrawlGraph,
    Numbers,
    Which,
    pack_graph,
    unpack_graph,
)
from opilio.strategies.shared.journal import StrategyJournal
from opilio.strategies.shared.ordering_fit import FittedWeights
from opilio.strategies.shared.ordering_terms import Floats, OrderingEvidence, Parents
from opilio.strategies.shared.page_rank import PageRank, Values
from opilio.strategies.shared.promises import NOBODY, Promises

NAMES = "b1·CI(u)", "b2·AS(u)", "b3·ΣAS(p)", "b4·TD(u)"
PLACE = f"{TIER}place in the queue"


class OrderingOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weights, and how the paper is interpreted."""

    mode: Mode = "fixed"
    b1: float = 1.0
    b2: float = 1.0
    b3: float = 1.0
    b4: float = 1.0
    fit: bool = False  # the weights, from the crawl so far
    td: Literal["division", "depth", "none"] = "division"
    parents: Parents = "mean"
    backlinks: Annotated[float, Meta(ge=0)] = 0.0  # in CI, beside PageRank
    damping: Damping = 0.85
    k: Count = 0  # size of the queue; 0: none
    expand_irrelevant: bool = True  # follow the links of irrelevant pages too


class OrderingReading(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The note on a visit."""

    url: Fingerprint
    association: float = 0.0  # AS(p)
    relevant: bool = False
    links: bytes | None = None  # fingerprints; None: there was no page
    own: bytes = b""  # AS(u) of each link, as little-endian float32
    division: bytes = b""  # TD(u), likewise
    again: bool = False  # no visit: AS(u) and TD(u) by another weight table


class Ordering:
    """Orders links by importance, by their own and their parents' relevance."""

    Options = OrderingOptions
    reads = Reads(context=True, blocks=True)

    def __init__(self, options: OrderingOptions, knowledge: Knowledge) -> None:
        self.options = options
        self.seek(knowledge.subject)
        self.graph = CrawlGraph()
        self.evidence = OrderingEvidence(
            PageRank(self.graph, options.damping),
            options.mode,
            options.parents,
            options.backlinks,
        )
        self.fitted = FittedWeights((options.b1, options.b2, options.b3, options.b4))
        self.promises = Promises(self.graph, self.value)
        self.queue = Batches(options.k, self.graph, self.promises, self.order)
        self.journal = StrategyJournal(OrderingReading, self.happen)
        self.changes = self.journal.changes
        self.found = NOBODY  # the links of the page that was read last

    def seek(self, subject: Subject) -> None:
        """Go by this subject from now on: by its concepts, or its weight table."""
        self.has_concepts = bool(subject.concepts)
        self.association = ConceptAssociation(subject, self.options.mode)

    def order(self, links: Which) -> Values:
        """O(u) of each."""
        return ordering(self.fitted.weights, self.evidence.terms(links))

    def value(self, links: Which) -> Values:
        """The promise of each: O(u), or its place in the queue."""
        return self.queue.promise(links, self.order(links))

    def happen(self, reading: OrderingReading) -> None:
        """Process a visit, with or without a page."""
        if reading.again:
            self.read_again(reading)
            return
        known = self.graph.find(reading.url)
        self.promises.leave(known)
        self.queue.visited(known)
        if reading.links is not None:
            if self.options.fit and known >= 0:
                [terms] = self.evidence.terms(np.array([known]))
                self.fitted.add(terms, reading.relevant)
            self.read(reading, unpack_graph(reading.links))
        self.queue.fill()

    def read(self, reading: OrderingReading, links: Sequence[Fingerprint]) -> None:
        """Add the evidence of a page about its links."""
        page, found = self.graph.visit(reading.url, links)
        self.evidence.importance.visit(page, found)
        own = np.frombuffer(reading.own, "<f4")
        division = np.frombuffer(reading.division, "<f4")
        self.evidence.add(found, reading.association, own, division)
        self.promises.leave(page)
        if self.renew():
            self.queue.forget()
            self.promises.renew()
        self.promises.tell(found)
        self.queue.change(found)
        self.promises.portion()
        self.found = found

    def read_again(self, reading: OrderingReading) -> None:
        """Take up what a page says of its links by another weight table. Of several
        pages the last counts; AS(p) stays what it was when the page was read."""
        links = unpack_graph(reading.links or b"")
        numbers = np.array([self.graph.find(link) for link in links], np.int32)
        known = numbers >= 0
        self.found = numbers[known]
        evidence = self.evidence
        evidence.association.values[self.found] = np.frombuffer(reading.own, "<f4")[
            known
        ]
        evidence.division.values[self.found] = np.frombuffer(reading.division, "<f4")[
            known
        ]
        self.promises.tell(self.found)
        self.queue.change(self.found)

    def renew(self) -> bool:
        """Compute PageRank and the weights again if due; returns whether it did."""
        ranks = self.evidence.importance.is_due
        weights = self.options.fit and self.fitted.is_due
        if ranks:
            self.evidence.compute()
        if weights:
            self.fitted.fit()
        return ranks or weights

    def revise(self) -> Iterator[Revision]:
        """The promises that changed, a portion at a time."""
        links, promises = self.promises.take()
        urls = self.graph.fingerprints.values[links].tolist()
        return zip(urls, promises.tolist(), self.parts(links, promises), strict=True)

    def parts(self, links: Numbers, promises: Values) -> Iterator[Parts]:
        """The summands of each promise; of one in the queue, its place as well."""
        terms = self.evidence.terms(links) * self.fitted.weights
        places = np.where(self.queue.holds(links), promises - terms.sum(axis=1), 0.0)
        for row, place in zip(terms.tolist(), places.tolist(), strict=True):
            parts = dict(zip(NAMES, row, strict=True))
            if place:
                parts[PLACE] = place
            yield parts

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Read the pages of earlier runs again."""
        for reading in self.journal.replay(notes):
            if reading.links is not None:
                self.promises.take()  # the frontier knows these

    def missed(self, lease: Lease, state: State) -> None:
        """Note that a link no longer waits."""
        self.journal.write(OrderingReading(lease.fingerprint))

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link of the page with O(u)."""
        level = lease.level_after(verdict)
        if not verdict.relevant and not self.options.expand_irrelevant:
            self.journal.write(self.note(page, verdict, lease, ()))
            for link in page.links:
                yield Ranked(link, 0.0, {}, level, "irrelevant_page")
            return
        self.journal.write(self.note(page, verdict, lease, page.links))
        promises = self.value(self.found)
        each = zip(
            page.links,
            promises.tolist(),
            self.parts(self.found, promises),
            strict=True,
        )
        for link, promise, parts in each:
            yield Ranked(link, promise, parts, level)

    def rescore(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """The links of a page by another weight table."""
        links = [link for link in page.links if self.graph.find(link.fingerprint) >= 0]
        reading = self.note(page, verdict, lease, links)
        self.journal.write(msgspec.structs.replace(reading, again=True))
        promises, level = self.value(self.found), lease.level_after(verdict)
        each = zip(
            links, promises.tolist(), self.parts(self.found, promises), strict=True
        )
        for link, promise, parts in each:
            yield Ranked(link, promise, parts, level)

    def note(
        self, page: Page, verdict: Verdict, lease: Lease, links: Sequence[Link]
    ) -> OrderingReading:
        """The note on a page that was read."""
        association = verdict.score
        if self.has_concepts:
            association = self.association.of(page.terms, page.norm)
        own = np.array([self.association.link(link) for link in links], "<f4")
        return OrderingReading(
            lease.fingerprint,
            association,
            verdict.relevant,
            pack_graph(links),
            own.tobytes(),
            self.division(page, lease, links).tobytes(),
        )

    def division(self, page: Page, lease: Lease, links: Sequence[Link]) -> Floats:
        """TD(u) of each link."""
        if self.options.td == "division" and page.blocks:
            blocks = [self.association.block(block) for block in page.blocks]
            return np.array([blocks[link.block] for link in links], "<f4")
        near = 1 / (lease.depth + 2) if self.options.td == "depth" else 0.0
        return np.full(len(links), near, "<f4")


def ordering(b: Values, terms: Values) -> Values:
    """O = b1·CI + b2·AS(u) + b3·ΣAS(p) + b4·TD of each row of terms."""
    # Column by column: a matrix product may round differently for other sizes.
    total: Values = terms[:, 0] * b[0]
    for column in range(1, len(b)):
        total += terms[:, column] * b[column]
    return total
