"""The data model of an ontology: concepts, their labels and relations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property

import msgspec

from opilio.text.words import DEFAULT_LANGUAGE, tokens
from opilio.topic.ontology.names import Names, unqualified


class Relation(StrEnum):
    """The relation of one concept to another."""

    IS_A = "is-a"
    HAS_KIND = "has-kind"  # is-a, seen from above
    PART_OF = "part-of"
    HAS = "has"  # a part, an ingredient; part-of seen from the whole
    RELATED = "related"

    @property
    def inverse(self) -> Relation:
        """The same relation seen from the other side."""
        return _INVERSE[self]


_INVERSE = {
    Relation.IS_A: Relation.HAS_KIND,
    Relation.HAS_KIND: Relation.IS_A,
    Relation.PART_OF: Relation.HAS,
    Relation.HAS: Relation.PART_OF,
    Relation.RELATED: Relation.RELATED,
}


Wording = Mapping[str, tuple[str, ...]]
"""Language ("": unknown, or none) -> what is said in it."""


class Concept(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A concept of the ontology, and all the words for it."""

    id: str  # its IRI, or its id in the file
    label: str  # the preferred one, in English if there is one
    labels: Wording = {}  # its surface forms, the preferred one first
    definitions: Mapping[str, str] = {}  # language -> definition, or else a note
    attributes: Mapping[str, Wording] = {}  # name -> values
    instances: tuple[Concept, ...] = ()  # the individuals of a class
    importance: float = 0.0  # as the file gives it, above 0 to 1; 0: it does not

    def surfaces(self, languages: Sequence[str] = ()) -> list[str]:
        """The words for the concept on a page, the preferred ones first.

        Labels without a language count for each; no language given: labels of all.
        Qualifiers are left out: "Mercury (planet)" gives "Mercury".
        """
        return words_in(self.labels, languages)

    def instance_surfaces(self, languages: Sequence[str] = ()) -> list[str]:
        """The same for all its instances."""
        words = (word for one in self.instances for word in one.surfaces(languages))
        return list(dict.fromkeys(words))


class Edge(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A relation between two concepts, by their places in the ontology."""

    source: int
    relation: Relation  # any but has-kind
    target: int


class Ontology(msgspec.Struct, frozen=True, dict=True):
    """Concepts and their relations; look-up tables are made on first use."""

    name: str
    concepts: tuple[Concept, ...] = ()
    edges: tuple[Edge, ...] = ()
    disjoint: tuple[
        tuple[int, ...], ...
    ] = ()  # groups of which no two share an instance
    language: str = DEFAULT_LANGUAGE  # of most preferred labels
    source: str = ""  # the file it was read from

    @cached_property
    def places(self) -> dict[str, int]:
        """The index of each concept in `concepts`, by its id."""
        return {concept.id: place for place, concept in enumerate(self.concepts)}

    @cached_property
    def steps(self) -> list[dict[Relation, list[int]]]:
        """For each concept: the concepts that each relation leads to."""
        steps: list[dict[Relation, dict[int, None]]] = [{} for _ in self.concepts]
        for edge in self.edges:
            steps[edge.source].setdefault(edge.relation, {})[edge.target] = None
            back = edge.relation.inverse
            steps[edge.target].setdefault(back, {})[edge.source] = None
        return [
            {kind: list(others) for kind, others in found.items()} for found in steps
        ]

    @cached_property
    def names(self) -> Names:
        """The labels of all concepts, to be looked up."""
        return Names((concept.labels for concept in self.concepts), self.language)

    @cached_property
    def populated(self) -> Ontology:
        """The same with each instance as a concept, a kind of its classes.

        Concepts keep their places; instances come after them.
        """
        found: dict[str, Concept] = {}
        edges: list[Edge] = []
        first = len(self.concepts)
        places: dict[str, int] = {}
        for place, concept in enumerate(self.concepts):
            for one in concept.instances:
                if one.id not in self.places:
                    found.setdefault(one.id, one)
                    its = places.setdefault(one.id, first + len(places))
                    edges.append(Edge(its, Relation.IS_A, place))
        if not found:
            return self
        classes = (
            msgspec.structs.replace(concept, instances=())
            if concept.instances
            else concept
            for concept in self.concepts
        )
        return msgspec.structs.replace(
            self,
            concepts=(*classes, *found.values()),
            edges=(*self.edges, *edges),
        )

    def holding(self, *places: int) -> Ontology:
        """The ontology itself if these places are concepts, otherwise `populated`."""
        return self if max(places) < len(self.concepts) else self.populated

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages its labels are written in, the most frequent first."""
        counts: dict[str, int] = {}
        for concept in self.concepts:
            for language in filter(None, concept.labels):
                counts[language] = counts.get(language, 0) + 1
        return tuple(sorted(counts, key=lambda name: (-counts[name], name)))

    def towards(self, place: int, *relations: Relation) -> list[int]:
        """The places that any of these relations lead to in one step."""
        steps = self.steps[place]
        return [other for kind in relations for other in steps.get(kind, ())]

    def around(self, place: int) -> set[int]:
        """The places that any relation leads to in one step."""
        return set().union(*self.steps[place].values())

    def reach(self, starts: Iterable[int], *relations: Relation) -> Iterator[int]:
        """The starts and all that these relations lead to, nearest first, once each."""
        waiting = list(dict.fromkeys(starts))
        seen = set(waiting)
        for place in waiting:
            yield place
            for other in self.towards(place, *relations):
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)


def combine(name: str, parts: Iterable[tuple[Ontology, Iterable[int]]]) -> Ontology:
    """One ontology from parts of several; a concept in two of them is used once."""
    concepts: dict[str, Concept] = {}
    edges: dict[Edge, None] = {}
    groups: list[tuple[int, ...]] = []
    places: dict[str, int] = {}
    language = source = ""
    for ontology, kept in parts:
        language, source = language or ontology.language, source or ontology.source
        moved: dict[int, int] = {}
        for place in kept:
            concept = ontology.concepts[place]
            concepts.setdefault(concept.id, concept)
            moved[place] = places.setdefault(concept.id, len(places))
        for edge in ontology.edges:
            if edge.source in moved and edge.target in moved:
                edges[Edge(moved[edge.source], edge.relation, moved[edge.target])] = (
                    None
                )
        inside = (
            tuple(moved[n] for n in group if n in moved) for group in ontology.disjoint
        )
        groups += (group for group in inside if len(group) > 1)
    return Ontology(
        name=name,
        concepts=tuple(concepts.values()),
        edges=tuple(edges),
        disjoint=tuple(groups),
        language=language or DEFAULT_LANGUAGE,
        source=source,
    )


def words_for(labels: Iterable[str]) -> list[str]:
    """Labels as they would appear on a page, once each, without single letters."""
    plain = dict.fromkeys(map(unqualified, labels))
    return [text for text in plain if len(text) > 1 or not text.isascii()]


def words_in(wording: Wording, languages: Sequence[str] = ()) -> list[str]:
    """The texts in these languages and without a language; none given: all."""
    wanted = [*languages, ""] if languages else list(wording)
    return words_for(text for name in wanted for text in wording.get(name, ()))


def is_word(text: str) -> bool:
    """Whether a value may be a term: a few words, not a number or a sentence."""
    words = tokens(text)
    return 0 < len(words) <= 6 and any(not word.isdigit() for word in words)
