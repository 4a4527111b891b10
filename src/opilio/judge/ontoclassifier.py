"""OntoClassifier, which finds the class of a page in two stages: Yang, section 3.

    stage 1   E_1(c) = number of the representative features of c on the page
    stage 2   E_2(c) = Σ 1/level over the related features of c on the page
    score     Σ_{c sought} E(c) / Σ_c E(c)

Symbols: c a class of the ontology; a representative feature is a term that stands for
one class alone, a related one is shared, `level` steps away from the class.

Stage 1 returns the class with the most evidence. If no feature is found or the two best
classes are within 10 % of each other it returns none, and stage 2 decides, on its own
evidence; a tie there leaves the page without a class. A page is relevant if its class
is one that is sought. (The paper names neither the failures nor the weights of the
levels, and gives a class, no score.)

We differ (`fixed`): a feature found n times counts 1 + ln n times, a page that names it
all along being more about it than one that does once; stage 2 adds to the evidence of
stage 1 instead of forgetting it; and what else the page says is evidence too, for none
of the classes: ‖p‖/2, half its length, is added to the sum, so that one word on a long
page does not make it certain.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import log

from opilio.errors import BadInput
from opilio.judge.parts import Mode, largest
from opilio.types import ClassFeatures, Page, Subject, Verdict

THRESHOLD: Mapping[Mode, float] = {"fixed": 0.1, "paper": 0.0}  # best F1 when tuned
CLEAR_LEAD = 0.1  # of the best class over the next, as a share of the best
DOUBT = 0.5  # evidence against all classes, for each unit of a page's length

Evidence = dict[str, float]
"""Class -> how much speaks for it; classes without evidence are left out."""

Weighted = dict[str, list[tuple[str, float]]]
"""Feature -> the classes it speaks for, and how much."""


class OntoClassifier:
    """Judges a page by the class that its terms speak for."""

    reads_blocks = False
    reads_vector = False

    def __init__(self, subject: Subject, mode: Mode = "fixed") -> None:
        require_classes(subject)
        self.mode = mode
        self.doubt = DOUBT if mode == "fixed" else 0.0
        self.targets = frozenset(subject.targets)
        self.representative, self.related = by_feature(subject.classes)
        self.threshold = (
            THRESHOLD[mode] if subject.threshold is None else subject.threshold
        )

    def judge(self, page: Page) -> Verdict:
        """The share of the evidence that is for what is sought; each class's share."""
        found, evidence = self.classify(page.terms)
        if not evidence:
            return Verdict(0.0, False)
        total = sum(evidence.values()) + self.doubt * page.norm
        shares = {name: value / total for name, value in evidence.items()}
        score = sum(shares.get(target, 0.0) for target in self.targets)
        relevant = found in self.targets and score >= self.threshold
        return Verdict(min(1.0, score), relevant, largest(shares))

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
        """What the terms of a text say for each class, by one kind of features."""
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


def require_classes(subject: Subject) -> None:
    """Raise BadInput unless there are classes, and some of them are sought."""
    lacks = ""
    if not subject.classes:
        lacks = "the classes of an ontology"
    elif not set(subject.targets) & set(subject.classes):
        lacks = "to know which class is sought"
    if lacks:
        raise BadInput(
            f"the judge 'ontoclassifier' needs {lacks} and the topic does not say; "
            "add [ontology] files = ['FILE.ttl'], concepts = ['NAME'] to the topic "
            "file, or choose --judge cosine"
        )
