"""Cosine of page and topic: Meenu, Singla & Batra, equation 4.

    score = Σ_common w_t·w_p / (√Σ_{i∈t} w_t² · √Σ_{i∈p} w_p²)

Symbols: w_t weight of a term in the topic, w_p weight of a term on the page.
We differ: the paper leaves w_p open; ours is 1 + ln tf, and the page's length is
taken over all its terms, not only the topic's.
"""

from __future__ import annotations

from math import log, sqrt

from opilio.types import Page, Subject, Verdict

THRESHOLD = 0.06  # where precision and recall meet, roughly, on the tuning topics


class Cosine:
    """Judges a page by the angle between its terms and the topic's."""

    reads_blocks = False
    reads_vector = False

    def __init__(self, subject: Subject) -> None:
        self.weights = subject.weights
        self.threshold = THRESHOLD if subject.threshold is None else subject.threshold
        self.length = sqrt(sum(weight * weight for weight in self.weights.values()))

    def judge(self, page: Page) -> Verdict:
        """The score, and how much each term of the topic brought to it."""
        if not page.norm or not self.length:
            return Verdict(0.0, False)
        scale = 1 / (self.length * page.norm)
        parts = {
            term: self.weights[term] * (1 + log(count)) * scale
            for term, count in page.terms.items()
            if term in self.weights
        }
        score = min(1.0, sum(parts.values()))
        return Verdict(score, score >= self.threshold, parts)
