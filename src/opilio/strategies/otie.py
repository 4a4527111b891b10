"""OTIE: Guan, Wang et al., WWW2008; Journal of Zhejiang University Science A, 2009.

    promise(u) = C(u)

When page p is visited, with links to u_1 … u_n:

    C(u_i) += (C(p) + κ·s(p))·r(u_i)/n;   C(p) = 0
    r(u) = min(1, ε + max(cos(anchor), cos(words around), cos(url)))

Symbols: C cash as in OPIC, s(p) the verdict's score, r the topical relevance of a link,
cos with the topic's weight table; κ `income`, ε `floor`. The explanation shows C(u) and
the r(u) of the link that brought it last.
This is our reading: we had only the abstracts of both papers, which say that the cash
of OPIC flows by content as well as by links. That relevant pages bring new cash is our
addition; without it (κ = 0) cash is nearly gone a few links from the seeds. Cash that
is withheld from irrelevant links goes to the virtual page, which keeps it; see opic.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from opilio.records import (
    Fingerprint,
    Knowledge,
    Lease,
    Link,
    Page,
    Ranked,
    Reads,
    Verdict,
)
from opilio.settings import Section
from opilio.strategies.opic import SEED
from opilio.strategies.shared.graph import pack_graph, unpack_graph
from opilio.strategies.shared.journal import StrategyJournal
from opilio.strategies.shared.similarity import Similarity

Weight = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]


class OtieOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The two constants."""

    income: Weight = 1.0  # κ
    floor: Share = 0.02  # ε


class TopicalPayment(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A page passes cash on to its links by their relevance."""

    page: Fingerprint
    brought: float  # its initial cash, if no page that was read links to it
    income: float
    links: bytes
    relevance: bytes  # of each link, as little-endian float32


class Otie:
    """Visits first what holds most cash, which flows along relevant links."""

    Options = OtieOptions
    reads = Reads(context=True)

    def __init__(self, options: OtieOptions, knowledge: Knowledge) -> None:
        self.income = options.income
        self.floor = options.floor
        self.similarity = Similarity(knowledge.subject.weights)
        self.cash: dict[Fingerprint, float] = {}
        self.virtual = 0.0  # cash of the virtual page
        self.journal = StrategyJournal(TopicalPayment, self.pay)
        self.changes = self.journal.changes

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Replay the payments of earlier runs."""
        for _ in self.journal.replay(notes):
            pass

    def pay(self, payment: TopicalPayment) -> None:
        """Pass the cash of a page on."""
        cash = self.cash
        links = unpack_graph(payment.links)
        amount = cash.get(payment.page, payment.brought) + payment.income
        cash[payment.page] = 0.0
        share = amount / max(len(links), 1)
        shares = np.frombuffer(payment.relevance, "<f4").astype(np.float64) * share
        self.virtual += amount - float(shares.sum())
        for link, given in zip(links, shares.tolist(), strict=True):
            cash[link] = cash.get(link, 0.0) + given

    def relevance(self, link: Link) -> float:
        """r(u), by the words of the link."""
        if link.terms is None:
            return self.floor
        parts = link.terms.anchor, link.terms.around, link.terms.url
        return min(1.0, self.floor + max(map(self.similarity.cos, parts)))

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link of the page with the cash that it has now."""
        relevance = np.array([self.relevance(link) for link in page.links], "<f4")
        self.journal.write(
            TopicalPayment(
                lease.fingerprint,
                min(max(lease.promise, 0.0), SEED),
                self.income * verdict.score,
                pack_graph(page.links),
                relevance.tobytes(),
            )
        )
        level = lease.level_after(verdict)
        for link, own in zip(page.links, relevance.tolist(), strict=True):
            cash = self.cash[link.fingerprint]
            yield Ranked(link, cash, {"C(u)": cash, "r(u)": own}, level)
