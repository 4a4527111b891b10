"""Measures how close the pages of a site are to the topic, compared with other sites.

    best(S) = ((Σ cosine⁴ + mean of cosine⁴ over all pages) / (n_S + 1))^¼
    near(S) = ½·best(S) + ½·cosine of its home page
    z(S)    = (z_near + z_meaning) / spread of this sum, at least 1

The sum is over the n_S pages of S that were seen. A project's site has few pages that
say what it is about and many that hardly do, so its best pages tell more than the
average; the fourth power gives them the most weight. One of the few is the home page;
until it was seen, near(S) = best(S). Its meaning is the similarity of its first words
and of its text to the keywords, by word vectors: home pages say in other words what a
site is about. The site is a host. z_near and z_meaning are standardised over the sites
seen; without a home page or vectors z_meaning is 0, and while fewer than `LEAST` sites
were seen everything is. What somebody says of pages of a site counts too:

    (z + 3·(relevant − irrelevant)) / (1 + relevant + irrelevant)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Self

import msgspec
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

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
    meanings: dict[str, float] = {}  # site -> how similar in meaning that page is
    meaning: tuple[float, float] = (0.0, 0.0)  # their mean and spread
    sums: float | None = None  # the spread of z_near + z_meaning; None: not stored


class Scale(NamedTuple):
    """The mean and the spread of a number over the sites seen."""

    mean: float = 0.0
    spread: float = 0.0  # 0: not known

    @classmethod
    def of_values(cls, values: Floats) -> Self:
        """Measure them; of fewer than `LEAST` values nothing is known."""
        if len(values) < LEAST:
            return cls()
        return cls(float(values.mean()), max(float(values.std()), NARROWEST))

    def standard(self, value: float) -> float:
        """A value on this scale."""
        return (value - self.mean) / self.spread if self.spread else 0.0


class SiteEvidence:
    """How close the pages of each site are to the keywords."""

    def __init__(self) -> None:
        self.sites: dict[str, tuple[int, float]] = {}
        self.homes: dict[str, float] = {}
        self.meanings: dict[str, float] = {}
        self.labels: dict[str, tuple[int, int]] = {}  # yes − no, and how many
        self._pages = 0
        self._powers = 0.0
        self._near, self._meaning = Scale(), Scale()
        self._spread = 0.0  # of their sum; 0: not known

    def add(
        self, site: str, cosine: float, is_home: bool = False, meaning: float = 0.0
    ) -> None:
        """Count a page of a site that has this cosine with the keywords; `meaning`
        is its similarity to them by word vectors, 0 without these."""
        power = cosine**POWER
        self._pages += 1
        self._powers += power
        if site in self.sites or len(self.sites) < MOST:
            pages, powers = self.sites.get(site, (0, 0.0))
            self.sites[site] = (pages + 1, powers + power)
            if is_home:
                self.homes[site] = cosine
                if meaning:
                    self.meanings[site] = meaning

    def label(self, said: Iterable[tuple[str, bool]]) -> None:
        """Take what somebody says of pages of sites, all of it again."""
        self.labels.clear()
        for site, relevant in said:
            total, count = self.labels.get(site, (0, 0))
            self.labels[site] = (total + (1 if relevant else -1), count + 1)

    def rescale(self) -> None:
        """Recompute means and spreads over the sites seen."""
        if len(self.sites) < LEAST:
            return
        self._near = Scale.of_values(np.array([self.near(each) for each in self.sites]))
        self._meaning = Scale.of_values(np.array(list(self.meanings.values())))
        sums = np.array([self._sum(site) for site in self.sites])
        self._spread = max(float(sums.std()), 1.0)

    def kept(self) -> KeptSites:
        """The state to store."""
        return KeptSites(
            self.sites,
            self._pages,
            self._powers,
            self._near.mean,
            self._near.spread,
            self.homes,
            self.meanings,
            self._meaning,
            self._spread,
        )

    def restore(self, kept: KeptSites) -> None:
        """Restore the state, for the same keywords."""
        self.sites, self.homes = dict(kept.sites), dict(kept.homes)
        self.meanings = dict(kept.meanings)
        self._pages, self._powers = kept.pages, kept.powers
        self._near, self._meaning = Scale(kept.mean, kept.spread), Scale(*kept.meaning)
        if kept.sums is None:  # of a version without meanings
            self.rescale()
        else:
            self._spread = kept.sums

    def near(self, site: str) -> float:
        """How close its best pages and its home page are."""
        if not self._pages:
            return 0.0
        pages, powers = self.sites.get(site, (0, 0.0))
        usual = self._powers / self._pages
        best = float(((powers + usual) / (pages + 1)) ** (1 / POWER))
        return (best + self.homes.get(site, best)) / 2

    def _sum(self, site: str) -> float:
        """z_near + z_meaning of a site that was seen."""
        found = self._near.standard(self.near(site))
        if site in self.meanings:
            found += self._meaning.standard(self.meanings[site])
        return found

    def of(self, site: str) -> float:
        """How close a site is, standardised, with what labels say; 0 for a site that
        is new."""
        if not self._spread:
            return 0.0
        near = 0.0
        if site in self.sites:
            near = max(-LIMIT, min(LIMIT, self._sum(site) / self._spread))
        total, count = self.labels.get(site, (0, 0))
        return (near + LABEL * total) / (1 + count)
