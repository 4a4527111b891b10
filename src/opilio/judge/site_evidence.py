"""Measures how close the pages of a site are to the topic, compared with other sites.

    best(S) = ((Σ cosine⁴ + mean of cosine⁴ over all pages) / (n_S + 1))^¼
    near(S) = ½·best(S) + ½·cosine of its home page

The sum is over the n_S pages of S that were seen. A project's site has few pages that
say what it is about and many that hardly do, so its best pages tell more than the
average; the fourth power gives them the most weight. One of the few is the home page;
until it was seen, near(S) = best(S). The site is a host. The result is standardised
over the sites seen; while fewer than `LEAST` were seen it is 0. What somebody says of
pages of a site counts too:

    (near + 3·(relevant − irrelevant)) / (1 + relevant + irrelevant)
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import numpy as np

LEAST = 3  # sites
MOST = 20_000  # sites that are remembered
LIMIT = 4.0  # of the standardised value
POWER = 4
LABEL = 3.0  # what a label says of its site, in spreads
NARROWEST = 1e-6  # spread


class KeptSites(msgspec.Struct, frozen=True, array_like=True):
    """What is stored across restarts."""

    sites: dict[str, tuple[int, float]]  # pages, and the sum of their cosines⁴
    pages: int
    powers: float
    mean: float
    spread: float
    homes: dict[str, float] = {}  # site -> the cosine of its home page


class SiteEvidence:
    """How close the pages of each site are to the keywords."""

    def __init__(self) -> None:
        self.sites: dict[str, tuple[int, float]] = {}
        self.homes: dict[str, float] = {}
        self.labels: dict[str, tuple[int, int]] = {}  # yes − no, and how many
        self._pages = 0
        self._powers = 0.0
        self._mean, self._spread = 0.0, 0.0  # of near(S) over the sites; 0: not known

    def add(self, site: str, cosine: float, is_home: bool = False) -> None:
        """Count a page of a site that has this cosine with the keywords."""
        power = cosine**POWER
        self._pages += 1
        self._powers += power
        if site in self.sites or len(self.sites) < MOST:
            pages, powers = self.sites.get(site, (0, 0.0))
            self.sites[site] = (pages + 1, powers + power)
            if is_home:
                self.homes[site] = cosine

    def label(self, said: Iterable[tuple[str, bool]]) -> None:
        """Take what somebody says of pages of sites, all of it anew."""
        self.labels.clear()
        for site, relevant in said:
            total, count = self.labels.get(site, (0, 0))
            self.labels[site] = (total + (1 if relevant else -1), count + 1)

    def rescale(self) -> None:
        """Recompute mean and spread over the sites seen."""
        if len(self.sites) < LEAST:
            return
        counts = np.array([pages for pages, _ in self.sites.values()])
        powers = np.array([powers for _, powers in self.sites.values()])
        near = ((powers + self._powers / self._pages) / (counts + 1)) ** (1 / POWER)
        homes = np.array([self.homes.get(site, np.nan) for site in self.sites])
        near = np.where(np.isnan(homes), near, (near + homes) / 2)
        self._mean = float(near.mean())
        self._spread = max(float(near.std()), NARROWEST)

    def kept(self) -> KeptSites:
        """The state to store."""
        return KeptSites(
            self.sites, self._pages, self._powers, self._mean, self._spread, self.homes
        )

    def restore(self, kept: KeptSites) -> None:
        """Restore the state, for the same keywords."""
        self.sites, self.homes = dict(kept.sites), dict(kept.homes)
        self._pages, self._powers = kept.pages, kept.powers
        self._mean, self._spread = kept.mean, kept.spread

    def near(self, site: str) -> float:
        """How close its best pages and its home page are."""
        if not self._pages:
            return 0.0
        pages, powers = self.sites.get(site, (0, 0.0))
        usual = self._powers / self._pages
        best = float(((powers + usual) / (pages + 1)) ** (1 / POWER))
        return (best + self.homes.get(site, best)) / 2

    def of(self, site: str) -> float:
        """The same, standardised, with what labels say; 0 for a site that is new."""
        if not self._spread:
            return 0.0
        near = 0.0
        if site in self.sites:
            near = (self.near(site) - self._mean) / self._spread
            near = max(-LIMIT, min(LIMIT, near))
        total, count = self.labels.get(site, (0, 0))
        return (near + LABEL * total) / (1 + count)
