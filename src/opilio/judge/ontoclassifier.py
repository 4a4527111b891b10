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

from opilio.equations.ontology_classes import OntoClasses
from opilio.errors import BadInput
from opilio.judge.largest_parts import largest
from opilio.records import Mode, Page, Subject, Verdict

THRESHOLD: Mapping[Mode, float] = {"fixed": 0.1, "paper": 0.0}  # best F1 when tuned
DOUBT = 0.5  # evidence against all classes, for each unit of a page's length


class OntoClassifier:
    """Judges a page by the ontology class that its terms indicate."""

    def __init__(self, subject: Subject, mode: Mode = "fixed") -> None:
        require_classes(subject)
        self.mode = mode
        self.doubt = DOUBT if mode == "fixed" else 0.0
        self.targets = frozenset(subject.targets)
        self.classify = OntoClasses(subject.classes, mode).classify
        self.threshold = (
            THRESHOLD[mode] if subject.threshold is None else subject.threshold
        )

    def judge(self, page: Page) -> Verdict:
        """The share of the evidence for the sought classes, and of each class."""
        found, evidence = self.classify(page.terms)
        if not evidence:
            return Verdict(0.0, False)
        total = sum(evidence.values()) + self.doubt * page.norm
        shares = {name: value / total for name, value in evidence.items()}
        score = sum(shares.get(target, 0.0) for target in self.targets)
        relevant = found in self.targets and score >= self.threshold
        return Verdict(min(1.0, score), relevant, largest(shares))


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
