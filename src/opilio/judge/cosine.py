"""Cosine of page and topic: Meenu, Singla & Batra, equation 4.

    score = Σ_common w_t·w_p / (√Σ_{i∈t} w_t² · √Σ_{i∈p} w_p²)

Symbols: w_t weight of a term in the topic, w_p weight of a term on the page.
The paper leaves w_p open; `paper`: tf, as its sources have it.
We differ (`fixed`): w_p = 1 + ln tf. In both modes the page's length is taken over all
its terms, not only the topic's, or a page with one word of the topic would be all about
it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import fsum, log, sqrt

import numpy as np

from opilio.errors import BadInput
from opilio.judge.largest_parts import largest
from opilio.records import Mode, Page, Reads, Subject, Verdict

THRESHOLD: Mapping[Mode, float] = {"fixed": 0.06, "paper": 0.03}
# where precision and recall meet, roughly, on the tuning topics

Weigh = Callable[[int], float]
"""Times a term occurs -> its weight there."""


def by_logarithm(count: int) -> float:
    """1 + ln tf: each further time counts less."""
    return 1 + log(count)


class CosineWeights:
    """The weights of the topic's terms, ready to be compared with texts."""

    def __init__(self, weights: Mapping[str, float], judge: str) -> None:
        self.weights = {term: weight for term, weight in weights.items() if weight > 0}
        self.length = sqrt(sum(weight**2 for weight in self.weights.values()))
        if not self.weights:
            raise BadInput(
                f"the judge {judge!r} needs a weight table and the topic has none; add "
                "keywords = ['a word', 'a phrase'] to the topic file, or choose "
                "another judge with --judge"
            )

    def parts(
        self, terms: Mapping[str, int], norm: float, weigh: Weigh = by_logarithm
    ) -> dict[str, float]:
        """The contribution of each term to the cosine with a text of length `norm`."""
        if not norm:
            return {}
        scale = 1 / (self.length * norm)
        return {
            term: self.weights[term] * weigh(count) * scale
            for term, count in terms.items()
            if term in self.weights
        }


class Cosine:
    """Judges a page by the angle between its terms and the topic's."""

    names_terms = True  # the parts of its verdicts are terms, by their keys

    def __init__(self, subject: Subject, mode: Mode = "fixed") -> None:
        self.table = CosineWeights(subject.weights, "cosine")
        self.reads = Reads(vector=mode == "paper")
        self.threshold = (
            THRESHOLD[mode] if subject.threshold is None else subject.threshold
        )

    def judge(self, page: Page) -> Verdict:
        """The score, and the contribution of each topic term."""
        if self.reads.vector:
            parts = self.table.parts(page.terms, plain_norm(page), float)
        else:
            parts = self.table.parts(page.terms, page.norm)
        score = min(1.0, fsum(parts.values()))
        return Verdict(score, score >= self.threshold, largest(parts))


def plain_norm(page: Page) -> float:
    """The length of the page's vector over all its stems, by plain counts: √Σ tf²."""
    counts = np.frombuffer(page.counts, "<u2").astype(np.float64)
    return sqrt(float(counts @ counts))
