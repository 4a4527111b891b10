"""Reads the concepts of SKOS, RDFS and OWL files."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from opilio.topic.ontology import owl
from opilio.topic.ontology.draft import (
    ALTERNATIVE,
    HIDDEN,
    PREFERRED,
    DraftLexicon,
    OntologyDraft,
    is_number,
    local,
    split_camel,
    words_of_iri,
)
from opilio.topic.ontology.model import Relation
from opilio.topic.ontology.triples import (
    DCTERMS,
    ISO,
    OBO,
    OBO_IN_OWL,
    OWL,
    RDFS,
    SKOS,
    SKOSXL,
    VOCABULARIES,
    Triples,
)

if TYPE_CHECKING:
    from rdflib import Graph

LABELS = {
    SKOS + "prefLabel": PREFERRED,
    SKOS + "altLabel": ALTERNATIVE,
    SKOS + "hiddenLabel": HIDDEN,
    RDFS + "label": PREFERRED,
    OBO_IN_OWL + "hasExactSynonym": ALTERNATIVE,
    OBO_IN_OWL + "hasNarrowSynonym": HIDDEN,
    OBO_IN_OWL + "hasRelatedSynonym": HIDDEN,
}
LONG_LABELS = {SKOSXL + local(name): rank for name, rank in islice(LABELS.items(), 3)}
NOTES = {  # the better ones first
    SKOS + "definition": 0,
    OBO + "IAO_0000115": 0,
    RDFS + "comment": 1,
    DCTERMS + "description": 1,
    SKOS + "scopeNote": 2,
    SKOS + "note": 3,
}
RELATIONS = {
    RDFS + "subClassOf": Relation.IS_A,
    SKOS + "broader": Relation.IS_A,
    SKOS + "narrower": Relation.HAS_KIND,
    ISO + "broaderGeneric": Relation.IS_A,
    ISO + "narrowerGeneric": Relation.HAS_KIND,
    ISO + "broaderInstantial": Relation.IS_A,
    ISO + "narrowerInstantial": Relation.HAS_KIND,
    ISO + "broaderPartitive": Relation.PART_OF,
    ISO + "narrowerPartitive": Relation.HAS,
    SKOS + "related": Relation.RELATED,
    SKOS + "broadMatch": Relation.IS_A,
    SKOS + "narrowMatch": Relation.HAS_KIND,
    SKOS + "exactMatch": Relation.RELATED,
    SKOS + "closeMatch": Relation.RELATED,
    SKOS + "relatedMatch": Relation.RELATED,
    OWL + "equivalentClass": Relation.RELATED,
    DCTERMS + "isPartOf": Relation.PART_OF,
    DCTERMS + "hasPart": Relation.HAS,
    OBO + "BFO_0000050": Relation.PART_OF,
    OBO + "BFO_0000051": Relation.HAS,
}


def understand(graph: Graph) -> OntologyDraft:
    """The concepts of a graph, whichever of the three vocabularies it uses."""
    triples, draft = Triples(graph), OntologyDraft()
    schema = _classes(triples)
    for node in triples.of_type(SKOS + "Concept"):
        if triples.is_iri(node):
            draft.concept(str(node))
    for predicate in (SKOS + "prefLabel", SKOSXL + "prefLabel"):
        for node, _ in triples.with_predicate(predicate):
            if triples.is_iri(node) and not triples.types(node):
                draft.concept(str(node))
    for name in schema:
        draft.concept(name)
    _label(triples, draft, schema)
    for name in schema:
        _label_by_name(draft, name)
    _note(triples, draft)
    _relate(triples, draft)
    owl.describe(triples, draft, schema)
    _label(triples, draft.individuals, set())
    _note(triples, draft.individuals)
    return draft


def _classes(triples: Triples) -> set[str]:
    """The OWL and RDFS classes, declared or used as such."""
    nodes = set(triples.of_type(OWL + "Class")) | set(triples.of_type(RDFS + "Class"))
    for pair in triples.with_predicate(RDFS + "subClassOf"):
        nodes.update(pair)
    names = (str(node) for node in nodes if triples.is_iri(node))
    return {name for name in names if not name.startswith(VOCABULARIES)}


def _label(triples: Triples, draft: DraftLexicon, schema: set[str]) -> None:
    for predicate, kind in LABELS.items():
        for node, label in triples.with_predicate(predicate):
            name = str(node)
            if name not in draft or not triples.is_literal(label):
                continue
            text, language = triples.written(label)
            if name in schema and " " not in text and split_camel(text) != text:
                draft.label(name, kind, split_camel(text), language)
                kind_as_written = HIDDEN
            else:
                kind_as_written = kind
            draft.label(name, kind_as_written, text, language)
    for predicate, kind in LONG_LABELS.items():
        for node, form in triples.with_predicate(predicate):
            for label in triples.objects(form, SKOSXL + "literalForm"):
                if str(node) in draft:
                    draft.label(str(node), kind, *triples.written(label))


def _note(triples: Triples, draft: DraftLexicon) -> None:
    for predicate, rank in NOTES.items():
        for node, note in triples.with_predicate(predicate):
            if str(node) in draft and triples.is_literal(note):
                draft.note(str(node), rank, *triples.written(note))


def _relate(triples: Triples, draft: OntologyDraft) -> None:
    for predicate, kind in RELATIONS.items():
        for node, other in triples.with_predicate(predicate):
            if str(node) in draft and str(other) in draft:
                draft.relate(str(node), kind, str(other))


def _label_by_name(draft: OntologyDraft, name: str) -> None:
    """Name classes without an English label by the end of their IRI, unless a
    number."""
    labels = draft.labels(name)
    if any(language in ("", "en") for _, language, _ in labels):
        return
    if not labels or not is_number(local(name)):
        draft.label(name, PREFERRED, words_of_iri(name))
