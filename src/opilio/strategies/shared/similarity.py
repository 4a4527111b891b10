"""Computes the cosine of a text with the topic's weight table.

    cos = Σ_i w_i·(1 + ln tf_i) / (|w|·norm)

Symbols: w_i weight of a term in the table, tf_i times it occurs in the text, norm the
length of the text over all its stems.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum, log, sqrt

from opilio.records import Counted


class Similarity:
    """How much texts are about the topic that has these weights, in [0, 1].

    >>> bees = Similarity({"bee": 1.0, "honey": 1.0})
    >>> round(bees.cos(Counted({"bee": 1}, 2.0)), 4)
    0.3536
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        length = sqrt(sum(weight**2 for weight in weights.values() if weight > 0))
        self._weights = {
            term: weight / length for term, weight in weights.items() if weight > 0
        }

    def cos(self, counted: Counted) -> float:
        """The cosine of a piece of text and the topic."""
        return self.of(counted.terms, counted.norm) if counted.terms else 0.0

    def of(self, terms: Mapping[str, int], norm: float) -> float:
        """The cosine of a text with these terms, whose length is `norm`."""
        if norm <= 0:
            return 0.0
        weights = self._weights
        # Exact, so that the order in which a reader found the terms does not matter.
        found = fsum(
            weights[term] * (1 + log(count))
            for term, count in terms.items()
            if term in weights
        )
        return min(1.0, found / norm)
