"""Tells from the chosen seeds whether whole sites are sought, or pages of a kind.

A seed that is the home page of a site stands for sites about the subject: all of their
pages count, also those that hardly mention it. A seed that has a keyword in its address
(`/docs/installation.html`) stands for pages of that kind, wherever they are.

    named = max share(seed)           over the seeds with a keyword in their address
    sites = max share(seed)·(1 − named)    over the seeds that are home pages

Symbols: share(seed) is 1 for the seed that the keywords speak for most, less for the
others. Both are 0 without seeds.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt

Flags = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]

SITES = 5.0  # how much more other pages of a site count if whole sites are sought
SEED_SITE = 1.5  # spreads above the mean
LEAST = 0.3  # share of a seed whose site counts
import os
NAMED = float(os.environ.get('NAMED','1.3'))
USUAL = float(os.environ.get('USUAL','0.7'))
PLAIN = 0.3  # how much addresses count if no seed has a keyword in its own


class SeedKind(msgspec.Struct, frozen=True, array_like=True):
    """What the seeds stand for, each from 0 to 1."""

    sites: float = 0.0
    named: float = 0.0
    homes: dict[str, float] = {}  # of seeds: site -> share

    @classmethod
    def of_seeds(cls, lifts: Floats, homes: Sequence[str], named: Flags) -> SeedKind:
        """Compare pages: how much each counts as a seed, whose home page it is, if it
        is one, and whether a keyword is in its address."""
        most = float(lifts.max(initial=0.0))
        if not most:
            return cls()
        shares = lifts / np.float32(most)
        by_name = float(shares[named].max(initial=0.0))
        found = {
            site: float(share)
            for site, share in zip(homes, shares.tolist(), strict=True)
            if site and share > LEAST
        }
        return cls(max(found.values(), default=0.0) * (1 - by_name), by_name, found)

    def of_seed(self, site: str) -> float:
        """How near a site comes to the subject because its home page is a seed."""
        return SEED_SITE * self.homes[site] if site in self.homes else -np.inf

    @property
    def of_site(self) -> float:
        """How much the other pages of its site count for a page."""
        return (1 + SITES * self.sites) * (1 - self.named)

    def of_address(self, address, ordinary):
        """How much keywords in its address say for a page, or their absence against."""
        plain = PLAIN * ordinary**2 * (1 - self.named)
        return address * (plain + NAMED*self.named) - USUAL * self.named
