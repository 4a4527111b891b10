"""Estimates how many relevant pages a crawl still has to find.

Two estimates come from different evidence. The model adds up the chances of all waiting
links, corrected by what earlier chances came to:

    m = r·Σ p(v)     r = Σ worth / Σ p over the last visits

Capture and recapture (Lincoln and Petersen): the links of a relevant page are a sample
of the relevant pages. If a share of that sample was caught before, so was about the
same share of them all:

    c = kept·r·U/V

Both know only pages that some link leads to, and both are often wrong by a factor of
two or more. So half of the evidence, on a logarithmic scale, is that as many pages
are left as were found, and a share is added for pages without a known link:

    left = 1.15·√(found·(m + c)/2)

This was the best of a few such combinations at six stages of the crawls of six webs
(docs/results/left.md).

Symbols: p the chance of a link; worth the score of a page that is kept, 0 of any other
visit; found the sum of worth, kept the number of pages kept; V the links of the last of
them that lead to pages kept before, U the sum of the chances of their links that wait.
"""

from __future__ import annotations

from collections import deque
from math import sqrt

import numpy as np
import numpy.typing as npt

from opilio.progress import Estimate
from opilio.records import Fingerprint

Floats = npt.NDArray[np.float64]

VISITS = 100  # the last ones, by which chances are corrected
LEAST = 20  # of them, before anything is said
PAGES = 60  # the last relevant ones, whose links are the sample
NEXT = 100  # links, the best of those that wait
FEW = 0.5  # added to both sides of a ratio
UNKNOWN = 1.15  # pages left for each that a known link leads to
LOW, HIGH = 0.3, 4.0  # the range, relative to the estimate


class Remaining:
    """Collects the evidence of visits and links about the relevant pages left."""

    def __init__(self) -> None:
        self.found = 0.0
        self.kept: set[Fingerprint] = set()
        self.elsewhere = 0  # pages that others kept, and that are not known here
        self.visits: deque[tuple[float, float]] = deque(maxlen=VISITS)
        self.samples: deque[tuple[int, float]] = deque(maxlen=PAGES)

    def visit(self, chance: float, worth: float) -> None:
        """Note that a link with this chance was visited."""
        self.visits.append((chance, worth))

    def keep(
        self, link: Fingerprint, worth: float, caught: int, waiting: float
    ) -> None:
        """A page is relevant. So many of its links lead to relevant pages found before;
        the chances of those that wait add up to `waiting`."""
        self.found += worth
        self.kept.add(link)
        self.samples.append((caught, waiting))

    @property
    def count(self) -> int:
        """The number of relevant pages found."""
        return len(self.kept) + self.elsewhere

    @property
    def ratio(self) -> float:
        """What the last visits were worth, relative to their chances."""
        chances = sum(chance for chance, _ in self.visits)
        return (sum(worth for _, worth in self.visits) + FEW) / (chances + FEW)

    def recaptured(self) -> float:
        """The estimate by capture and recapture."""
        caught = sum(caught for caught, _ in self.samples)
        waiting = self.ratio * sum(waiting for _, waiting in self.samples)
        return self.count * (waiting + FEW) / (caught + FEW)

    def estimate(self, chances: Floats, waiting: int, best: Floats) -> Estimate | None:
        """What is left, from the chances of a sample of the `waiting` links and those
        of the best of them; None: too little was visited to say."""
        if len(self.visits) < LEAST or not self.found:
            return None
        ratio = self.ratio
        model = recapture = 0.0
        if len(chances):
            scale = waiting / len(chances)
            model = scale * float(np.minimum(ratio * chances, 1).sum())
            recapture = self.recaptured()
        mean = (model + recapture) / 2 if model else 0.0
        left = UNKNOWN * sqrt(self.found * mean)
        best = np.sort(np.minimum(ratio * best, 1))[::-1][:NEXT]
        return Estimate(
            found=self.found,
            left=left,
            low=LOW * left,
            high=HIGH * left,
            recapture=recapture,
            next=float(best.sum()),
        )
