"""Reads relations, attributes and instances from OWL and RDFS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from opilio.topic.ontology.draft import OntologyDraft, is_number, local, words_of_iri
from opilio.topic.ontology.model import Relation
from opilio.topic.ontology.relations import attribute, relation
from opilio.topic.ontology.triples import (
    OWL,
    RDF,
    RDFS,
    SKOS,
    VOCABULARIES,
    Triples,
)

if TYPE_CHECKING:
    from rdflib.term import Node

IMPORTANCE = "importance"  # the local name of our annotation
DEEPEST = 8  # class expressions inside class expressions
LARGEST_GROUP = 200  # classes that are disjoint pair by pair


def describe(triples: Triples, draft: OntologyDraft, schema: set[str]) -> None:
    """Add restrictions, properties and individuals to the draft."""
    if schema:
        for name in sorted(schema):
            _restrict(triples, draft, name)
        _properties(triples, draft)
        _disjoint(triples, draft)
    owners = _individuals(triples, draft, schema)
    _assertions(triples, draft, owners)


def _restrict(triples: Triples, draft: OntologyDraft, name: str) -> None:
    """Add the class expressions that a class is under, or equivalent to."""
    from rdflib import URIRef

    for predicate in (RDFS + "subClassOf", OWL + "equivalentClass"):
        for expression in triples.objects(URIRef(name), predicate):
            if not triples.is_iri(expression):
                for kind, other in _conditions(triples, expression):
                    _attach(triples, draft, name, kind, other)


def _attach(
    triples: Triples, draft: OntologyDraft, name: str, predicate: str, other: Node
) -> None:
    """Add a condition: the class is under another, or has a property with a value."""
    if not predicate:
        draft.relate(name, Relation.IS_A, str(other))
    elif str(other) in draft:
        draft.relate(name, relation(_in_words(triples, predicate)), str(other))
    else:
        words = attribute(_in_words(triples, predicate))
        for text, language in _called(triples, other):
            draft.attribute(name, words, text, language)


def _conditions(
    triples: Triples, expression: Node, depth: int = 0
) -> Iterator[tuple[str, Node]]:
    """The conditions of an expression: (property, value) or ("", a broader class)."""
    if depth > DEEPEST:
        return
    for members in triples.objects(expression, OWL + "intersectionOf"):
        for member in triples.members(members):
            if triples.is_iri(member):
                yield "", member
            else:
                yield from _conditions(triples, member, depth + 1)
    for name in triples.objects(expression, OWL + "onProperty"):
        for value in triples.objects(expression, OWL + "hasValue"):
            yield str(name), value
        for value in triples.objects(expression, OWL + "someValuesFrom"):
            for other in _named(triples, value):
                yield str(name), other


def _named(triples: Triples, expression: Node, depth: int = 0) -> Iterator[Node]:
    """The classes an expression names: itself, or the members of its union."""
    if triples.is_iri(expression):
        yield expression
    elif depth <= DEEPEST:
        for kind in ("unionOf", "intersectionOf"):
            for members in triples.objects(expression, OWL + kind):
                for member in triples.members(members):
                    yield from _named(triples, member, depth + 1)


def _properties(triples: Triples, draft: OntologyDraft) -> None:
    """Relate the domain of each property to its range, or add it as an attribute."""
    for name, domain in triples.with_predicate(RDFS + "domain"):
        words = _in_words(triples, str(name))
        ranges = triples.objects(name, RDFS + "range")
        others = [str(node) for item in ranges for node in _named(triples, item)]
        concepts = [other for other in others if other in draft]
        for source in _named(triples, domain):
            if str(source) not in draft:
                continue
            for other in concepts:
                draft.relate(str(source), relation(words), other)
            if not concepts:
                draft.attribute(str(source), attribute(words))


def _disjoint(triples: Triples, draft: OntologyDraft) -> None:
    for one, other in triples.with_predicate(OWL + "disjointWith"):
        if str(one) in draft and str(other) in draft:
            draft.disjoint((str(one), str(other)))
    for group in triples.of_type(OWL + "AllDisjointClasses"):
        for members in triples.objects(group, OWL + "members"):
            named = [str(node) for node in triples.members(members)]
            if len(named) <= LARGEST_GROUP:
                draft.disjoint(name for name in named if name in draft)


def _individuals(
    triples: Triples, draft: OntologyDraft, schema: set[str]
) -> dict[Node, list[str]]:
    """Add each class's individuals; returns individual -> its classes."""
    owners: dict[Node, list[str]] = {}
    for name, kind in triples.with_predicate(RDF + "type"):
        if str(kind) in schema and triples.is_iri(name) and str(name) not in draft:
            owners.setdefault(name, []).append(str(kind))
    for name, classes in sorted(owners.items(), key=lambda item: str(item[0])):
        for owner in classes:
            draft.instance(owner, str(name))
    return owners


def _assertions(
    triples: Triples, draft: OntologyDraft, owners: dict[Node, list[str]]
) -> None:
    """Add statements about concepts and individuals with the ontology's properties.

    Properties of an individual become attributes of its class: a Pentium's provider is
    one of the providers of CPUs.
    """
    said = [
        (node, predicate, thing)
        for node, predicate, thing in triples.all()
        if not predicate.startswith(VOCABULARIES)
    ]
    for node, predicate, thing in sorted(
        said, key=lambda triple: tuple(map(str, triple))
    ):
        name = str(node)
        concept = name in draft
        if local(predicate) == IMPORTANCE and concept:
            draft.importance(name, str(thing))
        elif concept and str(thing) in draft:
            draft.relate(name, relation(_in_words(triples, predicate)), str(thing))
        elif triples.is_literal(thing) or thing in owners:
            words = attribute(_in_words(triples, predicate))
            for owner in [name] if concept else owners.get(node, ()):
                for text, language in _called(triples, thing):
                    draft.attribute(owner, words, text, language)


def _called(triples: Triples, node: Node) -> list[tuple[str, str]]:
    """The text of a value; for an individual its labels or the end of its IRI.

    Each comes with its language.
    """
    if triples.is_literal(node):
        return [triples.written(node)]
    for predicate in (RDFS + "label", SKOS + "prefLabel"):
        if labels := triples.objects(node, predicate):
            return [triples.written(label) for label in labels]
    return [(words_of_iri(str(node)), "")]


def _in_words(triples: Triples, predicate: str) -> str:
    """A property in words: its label if its IRI only numbers it."""
    if is_number(local(predicate)):
        from rdflib import URIRef

        for label in triples.objects(URIRef(predicate), RDFS + "label"):
            return str(label)
    return words_of_iri(predicate)
