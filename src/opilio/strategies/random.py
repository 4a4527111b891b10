"""Random: the baseline of Cho, Garcia-Molina & Page, WWW7, 1998.

    promise(u) = h(seed, u)

Symbols: h, a hash that is spread evenly over [0, 1); seed, the option `seed`.
We differ: a link's number is drawn when it is first found and not when one is chosen,
so that a crawl can be repeated; the order is a random one all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from opilio.records import Knowledge, Lease, Page, Ranked, Reads, Verdict
from opilio.settings import Section
from opilio.strategies.shared.hashed_random import chance


class RandomOptions(Section, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The seed of the random order."""

    seed: Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)] = 0


class Random:
    """Visits links in an order that is random, and the same for the same seed."""

    Options = RandomOptions
    reads = Reads()

    def __init__(self, options: RandomOptions, knowledge: Knowledge) -> None:
        self.seed = (knowledge.seed, options.seed)

    def rank(self, page: Page, verdict: Verdict, lease: Lease) -> Iterator[Ranked]:
        """Every link of the page with its random number."""
        level = lease.level_after(verdict)
        for link in page.links:
            promise = chance(*self.seed, link.fingerprint)
            yield Ranked(link, promise, {"h(seed, u)": promise}, level)
