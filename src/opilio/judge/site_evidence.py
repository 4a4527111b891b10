"""How much the pages of a site speak of the topic's keywords, beside other sites.

    lift(S) = mean over keywords of max(-1, ln((f_S + 0.01)/(f + 0.01)))
    f_S     = (pages of S with the keyword + 2·f) / (pages of S + 2)

Symbols: f the share of all pages seen that have the keyword. A project's site has all
words of its subject on some pages, and few of them on each: what its pages say together
tells more than each of them does. The site is a host. The result is standardised over
the pages seen; while fewer than `LEAST` sites were seen it is 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

LEAST = 3  # sites
MOST = 20_000  # sites that are remembered
LIMIT = 4.0  # of the standardised value

Floats = npt.NDArray[np.float64]


class KeptSites(msgspec.Struct, frozen=True, array_like=True):
    """What is kept of it through a restart."""

    sites: list[str]
    counts: bytes  # of all, then of each site, uint32
    sum: float
    square: float


class SiteEvidence:
    """Which keywords the pages of each site have."""

    def __init__(self, keywords: Sequence[str]) -> None:
        self.places = {key: place for place, key in enumerate(keywords)}
        self.sites: dict[str, Floats] = {}  # pages, then those with each keyword
        self.all = np.zeros(len(keywords) + 1)
        self._sum, self._square = 0.0, 0.0  # of the lifts of pages, when they were seen

    def add(self, site: str, keywords: Iterable[str]) -> None:
        """A page of a site has these keywords."""
        seen = np.zeros(len(self.all))
        seen[0] = 1
        for key in keywords:
            if key in self.places:
                seen[self.places[key] + 1] = 1
        self.all = self.all + seen
        known = self.sites.get(site)
        if known is not None:
            self.sites[site] = known + seen
        elif len(self.sites) < MOST:
            self.sites[site] = seen
        lift = self.lift(site)
        self._sum += lift
        self._square += lift * lift

    def kept(self) -> KeptSites:
        """Everything, to be kept."""
        counts = np.array([self.all, *self.sites.values()], "<u4")
        return KeptSites(list(self.sites), counts.tobytes(), self._sum, self._square)

    def restore(self, kept: KeptSites) -> None:
        """Take up what was kept of the same keywords."""
        counts = np.frombuffer(kept.counts, "<u4").astype(np.float64)
        self.all, *each = counts.reshape(1 + len(kept.sites), -1)
        self.sites = dict(zip(kept.sites, each, strict=True))
        self._sum, self._square = kept.sum, kept.square

    def lift(self, site: str) -> float:
        """How much more often its pages have the keywords than others do."""
        known = self.sites.get(site)
        if known is None or not self.all[0] or not self.places:
            return 0.0
        shares = self.all[1:] / self.all[0]
        own = (known[1:] + 2 * shares) / (known[0] + 2)
        return float(np.maximum(np.log((own + 0.01) / (shares + 0.01)), -1).mean())

    def of(self, site: str) -> float:
        """The lift of a site, standardised; 0 for one that is new."""
        pages = self.all[0]
        if len(self.sites) < LEAST or site not in self.sites:
            return 0.0
        mean = self._sum / pages
        spread = max(self._square / pages - mean * mean, 0.0) ** 0.5 + 1e-6
        return float(np.clip((self.lift(site) - mean) / spread, -LIMIT, LIMIT))
