"""Collects labels, relations and definitions while a file is read, into an Ontology."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import isfinite

import msgspec

from opilio.text.words import DEFAULT_LANGUAGE
from opilio.topic.ontology.model import Concept, Edge, Ontology, Relation, Wording

PREFERRED, ALTERNATIVE, HIDDEN = range(3)  # kinds of labels, the best first
LONGEST_LABEL = 200  # characters; longer ones are sentences and name nothing
LONGEST_NOTE = 2_000

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NUMBER = re.compile(r"\d{3}|^[A-Za-z]{0,3}[_-]?\d+$")
_SPACES = re.compile(r"[\s_]+")


class DraftLexicon:
    """What things are called and how they are explained, by their ids."""

    def __init__(self) -> None:
        self._labels: dict[str, list[tuple[int, str, str]]] = {}  # kind, language, text
        self._notes: dict[str, list[tuple[int, str, str]]] = {}

    def __contains__(self, concept: str) -> bool:
        return concept in self._labels

    @property
    def concepts(self) -> Iterable[str]:
        """The ids of the concepts so far."""
        return self._labels.keys()

    def concept(self, concept: str) -> None:
        """Add a concept of this id."""
        self._labels.setdefault(concept, [])

    def label(self, concept: str, kind: int, text: str, language: str = "") -> None:
        """Add a label of a concept."""
        text = _SPACES.sub(" ", text).strip()
        if text and len(text) <= LONGEST_LABEL:
            labels = self._labels.setdefault(concept, [])
            labels.append((kind, primary(language), text))

    def labels(self, concept: str) -> Sequence[tuple[int, str, str]]:
        """Its labels so far: kind, language, text."""
        return self._labels.get(concept, ())

    def note(self, concept: str, rank: int, text: str, language: str = "") -> None:
        """Add a definition; the lowest rank of each language is kept."""
        if text := _SPACES.sub(" ", text).strip():
            notes = self._notes.setdefault(concept, [])
            notes.append((rank, primary(language), text[:LONGEST_NOTE]))

    def entry(self, concept: str, language: str) -> Concept:
        """The concept with its labels, those in this language first."""
        labels: dict[str, dict[str, None]] = {}
        for _, code, text in sorted(set(self._labels[concept])):
            labels.setdefault(code, {})[text] = None
        order = sorted(labels, key=lambda code: (code != language, code))
        notes = sorted(self._notes.get(concept, ()), reverse=True)
        return Concept(
            id=concept,
            label=next(iter(labels[order[0]])) if order else words_of_iri(concept),
            labels={code: tuple(labels[code]) for code in order}
            or {"": (words_of_iri(concept),)},
            definitions={code: text for _, code, text in notes},
        )


class OntologyDraft(DraftLexicon):
    """An ontology that is being read; order of arrival does not matter."""

    def __init__(self) -> None:
        super().__init__()
        self.individuals = DraftLexicon()
        self._attributes: dict[str, dict[str, dict[tuple[str, str], None]]] = {}
        self._instances: dict[str, dict[str, None]] = {}
        self._importance: dict[str, float] = {}
        self._edges: dict[tuple[str, Relation, str], None] = {}
        self._disjoint: list[tuple[str, ...]] = []

    def attribute(
        self, concept: str, name: str, value: str = "", language: str = ""
    ) -> None:
        """Add an attribute of a concept, maybe with a value."""
        values = self._attributes.setdefault(concept, {}).setdefault(name, {})
        if 0 < len(value) <= LONGEST_LABEL:
            values[primary(language), value] = None

    def instance(self, concept: str, individual: str) -> None:
        """Add the id of an individual of a concept."""
        self.individuals.concept(individual)
        self._instances.setdefault(concept, {})[individual] = None

    def importance(self, concept: str, text: str) -> None:
        """Set the importance that the file gives; ignored unless it is from 0 to 1."""
        try:
            value = float(text)
        except ValueError:
            return
        if isfinite(value) and 0 < value <= 1:
            self._importance[concept] = value

    def relate(self, source: str, relation: Relation, target: str) -> None:
        """Add a relation between two concepts; a relation to itself is ignored."""
        if source == target:
            return
        if relation is Relation.HAS_KIND:
            source, relation, target = target, Relation.IS_A, source
        elif relation is Relation.RELATED and target < source:
            source, target = target, source
        self._edges[source, relation, target] = None

    def disjoint(self, group: Iterable[str]) -> None:
        """Note that no two of these concepts have an instance in common."""
        self._disjoint.append(tuple(sorted(set(group))))

    def finish(self, name: str, source: str = "") -> Ontology:
        """The ontology, with its concepts in the order of their ids."""
        ids = sorted(self._labels)
        places = {concept: place for place, concept in enumerate(ids)}
        language = self._language()
        edges = sorted(
            (places[start], relation, places[end])
            for start, relation, end in self._edges
            if start in places and end in places
        )
        groups = sorted(
            {tuple(places[c] for c in group if c in places) for group in self._disjoint}
        )
        return Ontology(
            name=name,
            concepts=tuple(self._concept(concept, language) for concept in ids),
            edges=tuple(Edge(*edge) for edge in edges),
            disjoint=tuple(group for group in groups if len(group) > 1),
            language=language,
            source=source,
        )

    def _language(self) -> str:
        """The language of most preferred labels; English if it is among them."""
        counts = Counter(
            language
            for labels in self._labels.values()
            for kind, language, _ in labels
            if kind == PREFERRED and language
        )
        if not counts or DEFAULT_LANGUAGE in counts:
            return DEFAULT_LANGUAGE
        return max(sorted(counts), key=counts.__getitem__)

    def _concept(self, concept: str, language: str) -> Concept:
        instances = self._instances.get(concept, ())
        attributes = self._attributes.get(concept, {})
        return msgspec.structs.replace(
            self.entry(concept, language),
            attributes={
                name: _by_language(values)
                for name, values in sorted(attributes.items())
            },
            instances=tuple(self.individuals.entry(one, language) for one in instances),
            importance=self._importance.get(concept, 0.0),
        )


def _by_language(values: Iterable[tuple[str, str]]) -> Wording:
    """Language -> values, from pairs of value and language."""
    found: dict[str, list[str]] = {}
    for language, value in sorted(values):
        found.setdefault(language, []).append(value)
    return {language: tuple(said) for language, said in found.items()}


def primary(language: str) -> str:
    """The primary tag of a language in lower case: "en-GB" is "en"."""
    return language.lower().replace("_", "-").partition("-")[0]


def local(iri: str) -> str:
    """The last part of an IRI, after its #, / or :.

    >>> local("http://example.org/pc#MotherBoard")
    'MotherBoard'
    """
    return re.split(r"[#/:]", iri.rstrip("#/:"))[-1] or iri


def words_of_iri(iri: str) -> str:
    """The words in an IRI's last part; a name with spaces stays as it is.

    >>> words_of_iri("http://example.org/pizza#HotGreenPepperTopping")
    'Hot Green Pepper Topping'
    """
    return split_camel(local(iri) if " " not in iri else iri)


def split_camel(name: str) -> str:
    """The words of a CamelCase or snake_case name."""
    return _SPACES.sub(" ", _CAMEL.sub(" ", name.replace("-", " "))).strip()


def is_number(name: str) -> bool:
    """Whether a name is only a number, like "concept4938" and "C12"."""
    return bool(_NUMBER.search(name))
