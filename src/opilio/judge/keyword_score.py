"""Scores a page by the topic's keywords, for the judges that learn.

k = the cosine with the topic, as in `cosine.py`, and a twentieth of its title's.
"""

from __future__ import annotations

from math import log, sqrt

from opilio.records import Counted, Page, Subject

TITLE = 0.05  # share of the title
CUT = 0.06  # the threshold of the cosine judge


class Keywords:
    """The keyword score of pages."""

    def __init__(self, subject: Subject) -> None:
        self.weights = subject.weights
        self.length = sqrt(sum(weight * weight for weight in self.weights.values()))

    def score(self, page: Page) -> float:
        """k of a page."""
        text = self.cosine(Counted(page.terms, page.norm))
        return text + TITLE * self.cosine(page.title_terms)

    def cosine(self, text: Counted) -> float:
        """The cosine of a text with the keywords."""
        if not text.norm or not self.length:
            return 0.0
        common = sum(
            self.weights[term] * (1 + log(count))
            for term, count in text.terms.items()
            if term in self.weights
        )
        return min(1.0, common / (self.length * text.norm))
