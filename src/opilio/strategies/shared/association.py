"""Measures the association of texts with the concepts of an ontology: Koundal, section
4.

    AS(text) = Σ_c w_c·[c is named in the text]

Symbols: c a concept, w_c how near it is to the sought one: 1 for that itself. `paper`
is this sum. `fixed`: a concept that is named n times counts 1 + ln n times, the sum x
is divided by the length of the text, and AS = 1 - e^-x, as in the judge `association`.
If the topic has no ontology, AS is the cosine with its weight table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import exp, hypot, log

from opilio.records import Block, Counted, Link, Mode, Subject
from opilio.strategies.shared.similarity import Similarity


class ConceptAssociation:
    """How much texts are about what is sought.

    >>> birds = Association(Subject(concepts={"wren": ("Wren", 0.5)}), "paper")
    >>> birds.of({"wren": 2}, 3.0)
    0.5
    """

    def __init__(self, subject: Subject, mode: Mode) -> None:
        self.concepts = subject.concepts
        self.is_paper = mode == "paper"
        self.similarity = Similarity(subject.weights)

    def of(self, terms: Mapping[str, int], norm: float) -> float:
        """AS of a text with these terms, whose length is `norm`."""
        if not terms:
            return 0.0
        if not self.concepts:
            return self.similarity.of(terms, norm)
        times: dict[str, int] = {}
        nearness: dict[str, float] = {}
        for term, count in terms.items():
            if term in self.concepts:
                concept, near = self.concepts[term]
                times[concept] = times.get(concept, 0) + count
                nearness[concept] = max(near, nearness.get(concept, 0.0))
        if self.is_paper:
            return sum(nearness.values())
        total = sum((1 + log(times[name])) * near for name, near in nearness.items())
        return 1 - exp(-total / max(norm, 1.0))

    def block(self, block: Block) -> float:
        """AS of a block of a page."""
        return self.of(block.terms, block.norm)

    def link(self, link: Link) -> float:
        """AS(u) of the link's anchor, the words around it and its URL together."""
        if link.terms is None:
            return 0.0
        text = together((link.terms.anchor, link.terms.around, link.terms.url))
        return self.of(text.terms, text.norm)


def together(parts: Iterable[Counted]) -> Counted:
    """The terms of several pieces of text that do not overlap."""
    some = [part for part in parts if part.terms]
    if len(some) == 1:
        return some[0]
    terms: dict[str, int] = {}
    for part in some:
        for term, count in part.terms.items():
            terms[term] = terms.get(term, 0) + count
    return Counted(terms, hypot(*(part.norm for part in some)))
