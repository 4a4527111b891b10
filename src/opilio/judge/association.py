"""Association of a text with an ontology: Koundal, sections 4 and 5.

    AS(text) = Σ_c w_c·[c is named in the text]

Symbols: c a concept of the ontology, w_c how near it is to what is sought by its
relations (is a, part of, has): 1 for the sought concept itself. A concept counts once,
whichever of its terms name it. The same measure is used for a page, AS(p), and for the
words of a link, AS(u).

The paper leaves the measure to "proper text classification algorithms"; the sum is our
reading of it, which is the mode `paper`. A sum has no limit, so the score is 1 − e^−AS.
We differ (`fixed`): long texts name more concepts, whether they are about them or not,
and mention others only once. So a concept that is named n times counts 1 + ln n times,
and the sum is divided by the length of the text, ‖p‖, as in a cosine.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp, log

from opilio.errors import BadInput
from opilio.judge.largest_parts import largest
from opilio.records import Counted, Mode, Page, Subject, Verdict

THRESHOLD: Mapping[Mode, float] = {"fixed": 0.08, "paper": 0.9}  # best F1 when tuned

Concepts = Mapping[str, tuple[str, float]]
"""Term -> the concept it names, and w_c."""


def association(
    concepts: Concepts, text: Counted, mode: Mode = "fixed"
) -> tuple[float, dict[str, float]]:
    """AS of a text in [0, 1], and the contribution of each concept."""
    times: dict[str, int] = {}
    nearness: dict[str, float] = {}
    for term, count in text.terms.items():
        if term in concepts:
            concept, weight = concepts[term]
            times[concept] = times.get(concept, 0) + count
            nearness[concept] = max(weight, nearness.get(concept, 0.0))
    if mode == "fixed":
        length = max(text.norm, 1.0)  # that of one word
        for concept, count in times.items():
            nearness[concept] *= (1 + log(count)) / length
    total = sum(nearness.values())
    if not total:
        return 0.0, {}
    score = 1 - exp(-total)
    return score, {name: score * part / total for name, part in nearness.items()}


class Association:
    """Judges a page by the concepts that it names, near the one that is sought."""

    def __init__(self, subject: Subject, mode: Mode = "fixed") -> None:
        if not subject.concepts:
            raise BadInput(
                "the judge 'association' needs the concepts of an ontology and the "
                "topic has none; add [ontology] files = ['FILE.ttl'] to the topic "
                "file, or choose --judge cosine"
            )
        self.concepts = subject.concepts
        self.mode: Mode = mode
        self.threshold = (
            THRESHOLD[mode] if subject.threshold is None else subject.threshold
        )

    def judge(self, page: Page) -> Verdict:
        """The score, and the contribution of each concept."""
        text = Counted(page.terms, page.norm)
        score, parts = association(self.concepts, text, self.mode)
        return Verdict(score, score >= self.threshold, largest(parts))
