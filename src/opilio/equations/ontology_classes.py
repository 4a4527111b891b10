"""Finds the ontology class of a text by its terms.

The two stages of Yang's OntoClassifier (section 3), for pages and for queries:

    stage 1   E_1(c) = number of the representative features of c in the text
    stage 2   E_2(c) = Σ 1/level over the related features of c in the text

Stage 1 returns the class with the most evidence. If no feature is found or the two best
classes are within 10 % of each other it returns none, and stage 2 decides, on its own
evidence; a tie there leaves the text without a class.

We differ (`fixed`): a feature found n times counts 1 + ln n times, and stage 2 adds to
the evidence of stage 1 instead of forgetting it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log

from opilio.records import ClassFeatures, Mode

CLEAR_LEAD = 0.1  # of the best class over the next, as a share of the best

Evidence = dict[str, float]
"""Class -> its evidence; classes without evidence are left out."""

Weighted = dict[str, list[tuple[str, float]]]
"""Feature -> the classes that it indicates, and how strongly."""


class OntoClasses:
    """Classes of an ontology, distinguished by their features."""

    def __init__(
        self,
        classes: Mapping[str, ClassFeatures],
        mode: Mode = "fixed",
    ) -> None:
        self.mode = mode
        self.representative, self.related = by_feature(classes)

    def classify(self, terms: Mapping[str, int]) -> tuple[str, Evidence]:
        """The class of a text, "" if none, and the evidence that decided."""
        evidence = self.gather(terms, self.representative)
        if found := leader(evidence, CLEAR_LEAD):
            return found, evidence
        more = self.gather(terms, self.related)
        if self.mode == "fixed":
            for name, value in evidence.items():
                more[name] = more.get(name, 0.0) + value
        return leader(more, 0.0), more

    def gather(self, terms: Mapping[str, int], features: Weighted) -> Evidence:
        """The evidence of the terms of a text for each class, by one kind of
        features."""
        evidence: Evidence = {}
        for term, count in terms.items():
            times = 1 + log(count) if self.mode == "fixed" else 1
            for name, weight in features.get(term, ()):
                evidence[name] = evidence.get(name, 0.0) + weight * times
        return evidence


def leader(evidence: Evidence, lead: float) -> str:
    """The best class, if the next is behind it by more than `lead` of its evidence."""
    ranking = sorted(evidence.values(), reverse=True)
    if not ranking or (len(ranking) > 1 and ranking[1] >= (1 - lead) * ranking[0]):
        return ""
    return max(evidence, key=evidence.__getitem__)


def by_feature(classes: Mapping[str, ClassFeatures]) -> tuple[Weighted, Weighted]:
    """The representative and the related features, each with its classes."""
    representative: Weighted = {}
    related: Weighted = {}
    for name, features in classes.items():
        for key in features.representative:
            representative.setdefault(key, []).append((name, 1.0))
        for key, level in features.related.items():
            related.setdefault(key, []).append((name, 1 / max(1, level)))
    return representative, related
