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
import numpy.typing as npt
from msgspec import Meta

from opilio.records import (
    Fingerprint,
    Knowledge,
    Lease,
    Link,
    Page,
    Ranked,
    Reads,
    Subject,
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
    again: bool = False  # by another weight table: only the differences are paid


class Otie:
    """Visits first what holds most cash, which flows along relevant links."""

    Options = OtieOptions
    reads = Reads(context=True)

    def __init__(self, options: OtieOptions, knowledge: Knowledge) -> None:
        self.income = options.income
        self.floor = options.floor
        self.seek(knowledge.subject)
        self.paid: dict[Fingerprint, tuple[float, bytes]] = {}  # share, relevance
        self.cash: dict[Fingerprint, float] = {}
        self.virtual = 0.0  # cash of the virtual page
        self.journal = StrategyJournal(TopicalPayment, self.pay)
        self.changes = self.journal.changes

    def seek(self, subject: Subject) -> None:
        """Compare with this weight table from now on."""
        self.similarity = Similarity(subject.weights)

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Replay the payments of earlier runs."""
        for _ in self.journal.replay(notes):
            pass

    def pay(self, payment: TopicalPayment) -> None:
        """Pass the cash of a page on."""
        if payment.again:
            self.pay_again(payment)
            return
        cash = self.cash
        links = unpack_graph(payment.links)
        amount = cash.get(payment.page, payment.brought) + payment.income
        cash[payment.page] = 0.0
        share = amount / max(len(links), 1)
        self.paid[payment.page] = share, payment.relevance
        shares = np.frombuffer(payment.relevance, "<f4").astype(np.float64) * share
        self.virtual += amount - float(shares.sum())
        for link, given in zip(links, shares.tolist(), strict=True):
            cash[link] = cash.get(link, 0.0) + given

    def pay_again(self, payment: TopicalPayment) -> None:
        """Pay what links get more or less by their new relevance."""
        share, before = self.paid[payment.page]
        self.paid[payment.page] = share, payment.relevance
        now, old = (
            np.frombuffer(relevance, "<f4").astype(np.float64) * share
            for relevance in (payment.relevance, before)
        )
        self.virtual -= float((now - old).sum())
        for link, more in zip(
            unpack_graph(payment.links), (now - old).tolist(), strict=True
        ):
            self.cash[link] = max(self.cash.get(link, 0.0) + more, 0.0)

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
        return self.ranked(page, relevance, lease.level_after(verdict))

    def rescore(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """The same by another weight table: cash that was paid for relevance is moved;
        pages keep the income they had."""
        relevance = np.array([self.relevance(link) for link in page.links], "<f4")
        _, before = self.paid.get(lease.fingerprint, (0.0, b""))
        if len(before) != relevance.nbytes:  # it has other links than it had
            return iter(())
        self.journal.write(
            TopicalPayment(
                lease.fingerprint,
                0.0,
                0.0,
                pack_graph(page.links),
                relevance.tobytes(),
                again=True,
            )
        )
        return self.ranked(page, relevance, lease.level_after(verdict))

    def ranked(
        self, page: Page, relevance: npt.NDArray[np.float32], level: int
    ) -> Iterator[Ranked]:
        """Every link of a page with its cash."""
        for link, own in zip(page.links, relevance.tolist(), strict=True):
            cash = self.cash[link.fingerprint]
            yield Ranked(link, cash, {"C(u)": cash, "r(u)": own}, level)
