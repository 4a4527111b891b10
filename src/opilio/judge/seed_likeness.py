"""Measures how similar a page is to the chosen seeds, compared with other pages.

    like(x) = max over seeds of share(seed)·x·seed,   standardised over the pages seen

Symbols: x the unit vector of a page; share(seed) 1 for the seed that the keywords speak
for most, less for the others. Where keywords are ordinary words they name a kind of
page rather than a subject; then the subject of the seeds says little, and the evidence
counts less: times (1.6 − ordinary), between 0 and 1 (`keyword_evidence.py`).
"""

from __future__ import annotations

import msgspec
import numpy as np

from opilio.text.meaning import Floats

LIMIT = 4.0
LEAST = 4  # pages besides the seeds
NARROWEST = 0.001  # spread
ORDINARY = 1.6  # keywords that name a kind of page


class SeedLikeness(msgspec.Struct, frozen=True, array_like=True):
    """The seeds, and how similar ordinary pages are to them."""

    seeds: bytes = b""  # vectors times their shares, float32
    mean: float = 0.0
    spread: float = 1.0

    @classmethod
    def of_pages(cls, vectors: Floats, lifts: Floats) -> SeedLikeness:
        """Measure it on pages; those with a lift are seeds."""
        chosen = lifts > 0
        if not chosen.any() or np.count_nonzero(~chosen) < LEAST:
            return cls()
        shares = lifts[chosen] / lifts.max()
        seeds = (vectors[chosen] * shares[:, None]).astype(np.float32)
        usual = (vectors[~chosen] @ seeds.T).max(axis=1)
        spread = max(float(usual.std()), NARROWEST)
        return cls(seeds.tobytes(), float(usual.mean()), spread)

    def of(self, vector: Floats) -> float:
        """How similar a page is; 0 if it or the seeds have no vector."""
        if not self.seeds or not len(vector):
            return 0.0
        seeds = np.frombuffer(self.seeds, np.float32).reshape(-1, len(vector))
        like = (float((seeds @ vector).max()) - self.mean) / self.spread
        return max(-LIMIT, min(LIMIT, like))


def weight_of(ordinary: float) -> float:
    """How much it counts, by how ordinary the keywords are."""
    return max(0.0, min(1.0, ORDINARY - ordinary))
