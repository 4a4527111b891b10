"""Counts the concepts of a subject that the terms of a page or an anchor name.

The domain D of Yang's paper is the concepts of the topic's ontology; without one, the
terms of its weight table stand for concepts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from opilio.records import Subject
from opilio.subject.compile import setup_for, written_terms

if TYPE_CHECKING:
    from opilio.equations.ontology_classes import OntoClasses
    from opilio.read.lexicon import Lexicon


class SubjectConcepts:
    """The concepts of a subject, to be found in texts."""

    def __init__(self, subject: Subject) -> None:
        written = written_terms(subject)
        self.subject = subject
        self.concept_of = {
            term: concept for term, (concept, _) in subject.concepts.items()
        } or {term: written.get(term, term) for term in subject.weights}
        self.concepts = sorted(set(self.concept_of.values()))
        self.classifier: OntoClasses | None = None
        if set(subject.targets) & set(subject.classes):
            from opilio.equations.ontology_classes import OntoClasses

            self.classifier = OntoClasses(subject.classes)

    def count(self, terms: Mapping[str, int]) -> dict[str, int]:
        """How often each concept is named, given the topic terms of a text."""
        counts: dict[str, int] = {}
        concept_of = self.concept_of
        for term, times in terms.items():
            if concept := concept_of.get(term):
                counts[concept] = counts.get(concept, 0) + times
        return counts

    def classify(self, terms: Mapping[str, int]) -> str:
        """The ontology class of a text; "" if it has none, or there are no classes."""
        return self.classifier.classify(terms)[0] if self.classifier else ""

    def concepts_of_anchor(self, anchor: str) -> dict[str, int]:
        """Anchor(U,C): how often the words of a link name each concept."""
        return self.concepts_of_anchors([anchor]).get(0, {})

    def concepts_of_anchors(self, anchors: Sequence[str]) -> dict[int, dict[str, int]]:
        """The same for many at once, by number; anchors without a concept are left
        out."""
        from opilio.profiles.anchor_terms import terms_in  # plain crawls need none

        found = terms_in(anchors, self.lexicon, self.subject.language)
        counted = ((number, self.count(terms)) for number, terms in found.items())
        return {number: named for number, named in counted if named}

    @cached_property
    def lexicon(self) -> Lexicon:
        """The topic's terms, ready to be found in a text."""
        from opilio.subject.page_reader import make_reader  # plain crawls need none

        return make_reader(setup_for(self.subject)).lexicon
