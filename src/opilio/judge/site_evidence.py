"""Measures how close the pages of a site are to the topic, compared with other sites.

    near(S) = ((Σ cosine⁴ + mean of cosine⁴ over all pages) / (n_S + 1))^¼

The sum is over the n_S pages of S that were seen. A project's site has few pages that
say what it is about and many that hardly do, so its best pages tell more than the
average; the fourth power gives them the most weight. The site is a host. The result is
standardised over the sites seen; while fewer than `LEAST` were seen it is 0.
"""

from __future__ import annotations

import msgspec
import numpy as np

LEAST = 3  # sites
MOST = 20_000  # sites that are remembered
LIMIT = 4.0  # of the standardised value
POWER = 4
NARROWEST = 1e-6  # spread


class KeptSites(msgspec.Struct, frozen=True, array_like=True):
    """What is stored across restarts."""

    sites: dict[str, tuple[int, float]]  # pages, and the sum of their cosines⁴
    pages: int
    powers: float
    mean: float
    spread: float


class SiteEvidence:
    """How close the pages of each site are to the keywords."""

    def __init__(self) -> None:
        self.sites: dict[str, tuple[int, float]] = {}
        self._pages = 0
        self._powers = 0.0
        self._mean, self._spread = 0.0, 0.0  # of near(S) over the sites; 0: not known

    def add(self, site: str, cosine: float) -> None:
        """Count a page of a site that has this cosine with the keywords."""
        power = cosine**POWER
        self._pages += 1
        self._powers += power
        if site in self.sites or len(self.sites) < MOST:
            pages, powers = self.sites.get(site, (0, 0.0))
            self.sites[site] = (pages + 1, powers + power)

    def rescale(self) -> None:
        """Recompute mean and spread over the sites seen."""
        if len(self.sites) < LEAST:
            return
        counts = np.array([pages for pages, _ in self.sites.values()])
        powers = np.array([powers for _, powers in self.sites.values()])
        near = ((powers + self._powers / self._pages) / (counts + 1)) ** (1 / POWER)
        self._mean = float(near.mean())
        self._spread = max(float(near.std()), NARROWEST)

    def kept(self) -> KeptSites:
        """The state to store."""
        return KeptSites(
            self.sites, self._pages, self._powers, self._mean, self._spread
        )

    def restore(self, kept: KeptSites) -> None:
        """Restore the state, for the same keywords."""
        self.sites = dict(kept.sites)
        self._pages, self._powers = kept.pages, kept.powers
        self._mean, self._spread = kept.mean, kept.spread

    def near(self, site: str) -> float:
        """How close its best pages are."""
        if not self._pages:
            return 0.0
        pages, powers = self.sites.get(site, (0, 0.0))
        usual = self._powers / self._pages
        return float(((powers + usual) / (pages + 1)) ** (1 / POWER))

    def of(self, site: str) -> float:
        """The same, standardised; 0 for a site that is new."""
        if not self._spread or site not in self.sites:
            return 0.0
        near = (self.near(site) - self._mean) / self._spread
        return max(-LIMIT, min(LIMIT, near))
