"""OPIC: Abiteboul, Preda & Cobena, WWW2003, sections 3 and 4.

    promise(u) = C(u)

When page p is visited, with links to u_1 … u_n:

    H(p) += C(p);   C(u_i) += C(p)/n;   C(p) = 0;   G += C(p)

Symbols: C cash, H history, G all cash that was ever passed on. The importance of a
page is (H + C)/(G + 1). The cash of a page without links goes to the virtual page.
We differ: the web is not known beforehand, so each seed starts with cash 1 and other
pages with 0. No page is visited twice: cash that comes back to a visited page stays
there, and only counts for its importance. The virtual page keeps its cash; passing it
on would raise all waiting links equally.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from opilio.records import (
    Fingerprint,
    Knowledge,
    Lease,
    Page,
    Ranked,
    Reads,
    State,
    Verdict,
)
from opilio.strategies.shared.graph import pack_graph, unpack_graph
from opilio.strategies.shared.journal import StrategyJournal
from opilio.strategies.shared.options import NoOptions

SEED = 1.0  # cash


class Payment(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A page passes its cash on to its links."""

    page: Fingerprint
    brought: float  # its initial cash, if no page that was read links to it
    links: bytes


class Opic:
    """Visits first what holds most cash, which pages hand on to what they link to."""

    Options = NoOptions
    reads = Reads()

    def __init__(self, options: NoOptions, knowledge: Knowledge) -> None:
        self.cash: dict[Fingerprint, float] = {}
        self.history: dict[Fingerprint, float] = {}
        self.virtual = 0.0  # cash of the virtual page
        self.handed_on = 0.0  # G
        self.journal = StrategyJournal(Payment, self.pay)
        self.changes = self.journal.changes

    def recall(self, notes: Iterable[tuple[int, bytes]]) -> None:
        """Replay the payments of earlier runs."""
        for _ in self.journal.replay(notes):
            pass

    def pay(self, payment: Payment) -> None:
        """Pass the cash of a page on."""
        cash = self.cash
        page, links = payment.page, unpack_graph(payment.links)
        amount = cash.get(page, payment.brought)
        cash[page] = 0.0
        self.history[page] = self.history.get(page, 0.0) + amount
        self.handed_on += amount
        if not links:
            self.virtual += amount
            return
        share = amount / len(links)
        for link in links:
            cash[link] = cash.get(link, 0.0) + share

    def importance(self, url: Fingerprint) -> float:
        """The share of all cash that has passed through a URL so far."""
        passed = self.history.get(url, 0.0) + self.cash.get(url, 0.0)
        return passed / (self.handed_on + 1)

    def missed(self, lease: Lease, state: State) -> None:
        """Pass the cash of a visit without a page to the virtual page."""
        if lease.fingerprint in self.cash:
            self.journal.write(Payment(lease.fingerprint, 0.0, b""))

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link of the page with the cash that it has now."""
        brought = min(max(lease.promise, 0.0), SEED)
        self.journal.write(Payment(lease.fingerprint, brought, pack_graph(page.links)))
        level = lease.level_after(verdict)
        for link in page.links:
            cash = self.cash[link.fingerprint]
            yield Ranked(link, cash, {"C(u)": cash}, level)
