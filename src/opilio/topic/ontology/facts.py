"""Describes an ontology, or one of its terms, for people and programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from opilio.topic.ontology.model import Ontology, Relation
from opilio.topic.ontology.services import (
    compatible,
    conflicting,
    definition,
    place_of,
)

AROUND = {  # how the concepts that a relation leads to are called
    Relation.IS_A: "broader",
    Relation.HAS_KIND: "kinds",
    Relation.PART_OF: "part of",
    Relation.HAS: "has",
    Relation.RELATED: "related",
}
MOST_TOPS = 12


class TermFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What an ontology knows of one term."""

    term: str  # the preferred label
    id: str
    labels: Mapping[str, Sequence[str]]  # by language; "": of none
    definition: str
    around: Mapping[str, Sequence[str]]  # broader, kinds, part of, has, related
    attributes: Mapping[str, Sequence[str]]
    compatible: Sequence[str]
    conflicting: Sequence[str]


class OntologyFacts(msgspec.Struct, frozen=True, kw_only=True):
    """An ontology in numbers."""

    name: str
    source: str
    concepts: int
    instances: int
    labels: int
    languages: Sequence[str]
    relations: Mapping[str, int]
    tops: Sequence[str]  # concepts that are no kind of any other, those with most kinds


def describe_term(ontology: Ontology, word: str, language: str = "") -> TermFacts:
    """Everything about the concept or instance that a word names."""
    place = place_of(ontology, word)
    known = ontology.populated
    concept = known.concepts[place]
    around = {
        name: sorted({known.concepts[n].label for n in known.towards(place, relation)})
        for relation, name in AROUND.items()
    }
    return TermFacts(
        term=concept.label,
        id=concept.id,
        labels=concept.labels,
        definition=definition(ontology, word, language),
        around={name: labels for name, labels in around.items() if labels},
        attributes={
            name: [text for texts in values.values() for text in texts]
            for name, values in concept.attributes.items()
        },
        compatible=compatible(ontology, word),
        conflicting=conflicting(ontology, word),
    )


def describe_ontology(ontology: Ontology) -> OntologyFacts:
    """How many concepts, labels and relations there are, and what is on top."""
    relations: dict[str, int] = {}
    for edge in ontology.edges:
        relations[edge.relation] = relations.get(edge.relation, 0) + 1
    tops = [
        place
        for place, steps in enumerate(ontology.steps)
        if Relation.IS_A not in steps and steps.get(Relation.HAS_KIND)
    ]
    below = {n: sum(1 for _ in ontology.reach([n], Relation.HAS_KIND)) for n in tops}
    tops.sort(key=lambda place: -below[place])
    return OntologyFacts(
        name=ontology.name,
        source=ontology.source,
        concepts=len(ontology.concepts),
        instances=len(ontology.populated.concepts) - len(ontology.concepts),
        labels=sum(
            len(forms) for one in ontology.concepts for forms in one.labels.values()
        ),
        languages=ontology.languages,
        relations=dict(sorted(relations.items(), key=lambda item: -item[1])),
        tops=[ontology.concepts[place].label for place in tops[:MOST_TOPS]],
    )
