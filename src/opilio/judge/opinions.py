"""Weighs second opinions on pages that the default judge is unsure of.

A page with the logit l and the opinion s gets the logit

    l + w·e,  e = (s − a − b·l)/σ           of a sentence model (`embedding`)
    l + w·(ln(s/(1 − s)) − l)               of a language model (`llm`), .05 ≤ s ≤ .95

Symbols: a + b·l is the similarity that pages of this logit had so far (a least-squares
line through the last pages that were compared, b ≥ 0) and σ how far they are from it;
so e says how much more similar the page is than the judge's own evidence lets expect,
whatever the scale of model and topic. e is limited to ±3, and grows to its full size
with the number of pages that were compared.

Pages near the threshold are compared; so are the first ones and every tenth, because
the line needs sure pages, too. A language model answers with a probability, which needs
no line; it is asked about pages near the threshold alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import log
from typing import NamedTuple

import numpy as np

SAMPLE = 400  # pages that opinions are calibrated by, the last ones
LEAST = 8  # of these, before opinions count
FEW = 10  # of these, with which they count half
LIMIT = 3.0  # of e
FIRST, EVERY = 20, 10  # sure pages that are compared all the same
UNSURE = 0.05  # a model that is sure may be wrong so often
TINY = 1e-6


class Advice(NamedTuple):
    """How much an adviser counts, and when it is asked."""

    part: str  # its name in verdicts
    weight: float  # w
    doubt: float  # logits on each side of the threshold, between which it is asked
    is_chance: bool = False  # it says how likely a page is relevant


ADVICE = {
    "embedding": Advice("meaning, by the sentence model", 0.4, 1.4),
    "llm": Advice("opinion of the language model", 0.8, 1.4, is_chance=True),
}


class Opinions:
    """What an adviser said of the last pages, and what its opinions are worth."""

    def __init__(self, adviser: str) -> None:
        self.advice = ADVICE[adviser]
        self.seen: deque[tuple[float, float]] = deque(maxlen=SAMPLE)
        self.level = self.slope = self.spread = 0.0

    def wants(self, logit: float, threshold: float, pages: int) -> bool:
        """Whether an opinion is wanted on a page, given its logit without one and the
        number of pages before it."""
        if not self.advice.is_chance and (pages < FIRST or pages % EVERY == 0):
            return True
        edge = min(max(threshold, TINY), 1 - TINY)
        return abs(logit - log(edge / (1 - edge))) <= self.advice.doubt

    def add(self, logit: float, opinion: float) -> None:
        """Learn from the opinion on a page."""
        if self.advice.is_chance:
            return
        self.seen.append((logit, opinion))
        self.calibrate()

    def calibrate(self) -> None:
        """Fit the line through what was seen."""
        if len(self.seen) < LEAST:
            return
        logits, opinions = np.array(self.seen).T
        off = logits - logits.mean()
        self.slope = max(0.0, float(off @ opinions / max(float(off @ off), TINY)))
        self.level = float(opinions.mean() - self.slope * logits.mean())
        self.spread = float((opinions - self.level - self.slope * logits).std())

    def worth(self, logit: float, opinion: float) -> float:
        """What an opinion adds to the logit of a page."""
        if self.advice.is_chance:
            chance = max(UNSURE, min(1 - UNSURE, opinion))
            return self.advice.weight * (log(chance / (1 - chance)) - logit)
        if self.spread < TINY:
            return 0.0
        more = (opinion - self.level - self.slope * logit) / self.spread
        trust = len(self.seen) / (len(self.seen) + FEW)
        return self.advice.weight * trust * max(-LIMIT, min(LIMIT, more))

    def restore(self, seen: Sequence[tuple[float, float]]) -> None:
        """Know these opinions."""
        self.seen = deque(seen, maxlen=SAMPLE)
        self.calibrate()
