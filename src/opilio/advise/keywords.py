"""The keywords of a subject as people write them, for models that read text."""

from __future__ import annotations

from opilio.records import Subject
from opilio.text.words import Vocabulary

MOST = 24


def keywords_of(subject: Subject) -> list[str]:
    """The terms with the greatest weights, as the topic writes them."""
    keys = Vocabulary(subject.terms, subject.language).keys
    weights = {term: subject.weights.get(key, 0.0) for term, key in keys.items()}
    known = [term for term, weight in weights.items() if weight > 0]
    return sorted(known, key=lambda term: -weights[term])[:MOST]
