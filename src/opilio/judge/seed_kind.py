"""Tells from the chosen seeds whether the user wants whole sites or pages of a kind.

A seed that is the home page of a site stands for sites about the subject: all of their
pages count, even those that hardly mention it. A seed that has a keyword in its address
(`/docs/installation.html`) stands for pages of that kind, on any site.

    worth(seed) = r₀² / (1 + (hosts/20)²)
    share(seed) = worth(seed) / max(worth of the best seed, that of a doubtful one)
    named = max share(seed)·kinds         over seeds with a keyword in their address
    sites = max share(seed)·(1 − named)   over seeds that are home pages

Symbols: r₀ what the keywords say about a seed; hosts the number of hosts that its links
lead to: a page that leads to many is a place to start from, not an example of what is
sought; kinds from 0 to 1, by how ordinary the keywords are: words that name kinds of
pages are ordinary ones (install, tutorial, news). Without seeds, or while all pages are
of one site, named and sites are 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]
Number = TypeVar("Number", float, Floats)

DOUBTFUL = 0.3  # r₀ of a seed that is hardly about the keywords
HUB = 20.0  # hosts a page links to at which it counts half as an example
SITES = 5.0  # how much more the other pages of a site count if sites are sought
SEED_SITE = 1.5  # how near the site of a seed is, in spreads above the mean
LEAST = 0.3  # share of a seed whose site counts
NAMED, USUAL = 1.3, 0.7  # an address with keywords, and an ordinary one, if named
RARE, ORDINARY = 0.3, 0.6  # keywords that name no kinds of pages, and that do
PLAIN = 0.1  # an address with keywords, if not


def shares_of(first: Floats, seeds: Flags, hosts: npt.NDArray[np.int64]) -> Floats:
    """share(seed) of each page; 0 for pages that are not seeds."""
    if not seeds.any():
        return np.zeros(len(seeds), np.float32)
    example = 1 / (1 + (hosts / HUB) ** 2)
    worth = np.where(seeds, first * first * example, 0.0)
    least = DOUBTFUL**2 * float(example[seeds].max())
    return (worth / max(least, float(worth.max()))).astype(np.float32)


class SeedKind(msgspec.Struct, frozen=True, array_like=True):
    """What the seeds stand for, each from 0 to 1."""

    sites: float = 0.0
    named: float = 0.0
    homes: dict[str, float] = {}  # site whose home page is a seed -> its share

    @classmethod
    def of_seeds(
        cls, shares: Floats, homes: Sequence[str], named: Flags, ordinary: float
    ) -> SeedKind:
        """Compare pages: their shares, the site of each that is a home page, and
        which of them have a keyword in their address."""
        kinds = min(1.0, max(0.0, (ordinary - RARE) / (ORDINARY - RARE)))
        by_name = float(shares[named].max(initial=0.0)) * kinds
        found = {
            site: float(share)
            for site, share in zip(homes, shares.tolist(), strict=True)
            if site and share > LEAST
        }
        return cls(max(found.values(), default=0.0) * (1 - by_name), by_name, found)

    def near(self, site: str, others: float) -> float:
        """How close a site is to the topic compared with other sites; `others` is what
        its pages say."""
        if site in self.homes:
            others = max(others, SEED_SITE * self.homes[site])
        return others * (1 + SITES * self.sites) * (1 - self.named)

    def address(self, keywords: Number, ordinary: float) -> Number:
        """How much keywords in an address say for a page, or their absence against
        it; `ordinary` as in `keyword_evidence.py`."""
        plain = PLAIN * ordinary * ordinary * (1 - self.named)
        return keywords * (plain + NAMED * self.named) - USUAL * self.named
