"""Writes an ontology file with what a person accepted, as Turtle with provenance.

The first file stays as it is. The new one has all that it says, then the additions:
SKOS concepts, or OWL classes if the file is of classes. A new concept names the pages
it came from (`dcterms:source`), when it was accepted (`dcterms:created`) and a sentence
of them (`skos:changeNote`); a new label or relation is explained by such a note of its
concept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import msgspec

from opilio.errors import BadInput
from opilio.topic.ontology.load import format_of, load_ontology, read_file
from opilio.topic.ontology.model import Concept, Ontology, Relation
from opilio.topic.ontology.parse import parse_graph
from opilio.topic.ontology.propose import RELATION, TERM, Proposal
from opilio.topic.ontology.text_patterns import LABEL
from opilio.topic.ontology.triples import DCTERMS, ISO, OWL, PROV, RDF, RDFS, SKOS

XSD = "http://www.w3.org/2001/XMLSchema#"
TERMS = "urn:opilio:term:"
CONCEPTS = "urn:opilio:concept:"  # of files that have no IRIs
LINKS = {
    Relation.IS_A: SKOS + "broader",
    Relation.HAS_KIND: SKOS + "narrower",
    Relation.PART_OF: ISO + "broaderPartitive",
    Relation.HAS: ISO + "narrowerPartitive",
    Relation.RELATED: SKOS + "related",
}

_UNFIT = re.compile(r'[\x00-\x20<>"{}|^`\\]')  # in an IRI

Pair = tuple[str, str]
"""A predicate, and its object as Turtle writes it."""


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal that a person accepted."""

    proposal: Proposal
    when: str  # ISO 8601


def write_improved(source: Path, accepted: Sequence[Accepted], target: Path) -> None:
    """Write the ontology of `source` with what was accepted to `target`, at once."""
    text = improved(read_file(source), source.name, accepted, load_ontology(source))
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_suffix(".new.ttl")
    draft.write_text(text, encoding="utf-8", errors="replace")
    try:
        load_ontology(draft)  # what cannot be read never becomes the file
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def improved(
    data: bytes, name: str, accepted: Sequence[Accepted], ontology: Ontology
) -> str:
    """The Turtle of an ontology file and the additions to it."""
    kind = format_of(data, name)
    if kind == "turtle":
        text = data.removeprefix(b"\xef\xbb\xbf").decode()
    elif kind in ("obo", "rows"):
        text = "\n".join(as_skos(ontology))
    else:
        text = parse_graph(data, kind, name).serialize(format="turtle")
    owl = (OWL + "Class").encode() in data or b"owl:Class" in data
    skos = (SKOS + "Concept").encode() in data or b"skos:Concept" in data
    lines = [text.rstrip(), "", "# Accepted from crawled pages (opilio ontology)"]
    lines += revision(name, accepted)
    lines += additions(ontology, accepted, classes=owl and not skos)
    return "\n".join(lines) + "\n"


def revision(name: str, accepted: Sequence[Accepted]) -> Iterator[str]:
    """What the file is made of."""
    last = max((one.when for one in accepted), default="")
    subject = f"urn:opilio:revision:{quote(name, safe='')}"
    pairs = [
        (RDF + "type", iri(PROV + "Entity")),
        (PROV + "wasRevisionOf", iri(f"urn:opilio:file:{quote(name, safe='')}")),
    ]
    if last:
        pairs.append((DCTERMS + "modified", date(last)))
    yield statement(subject, pairs)


def additions(
    ontology: Ontology, accepted: Sequence[Accepted], *, classes: bool
) -> Iterator[str]:
    """The Turtle of each addition; a term that is related twice is one concept."""
    ids = ConceptIds(ontology, accepted)
    for one in accepted:
        proposal = one.proposal
        target = ids.of(proposal.concept_id, proposal.concept)
        if proposal.kind == TERM:
            pairs = new_concept(one, ontology.language, target, classes)
            yield statement(term_iri(proposal.term), pairs)
        elif proposal.kind == LABEL:
            label = literal(proposal.term, ontology.language)
            yield statement(target, [(SKOS + "altLabel", label), note(one)])
        elif proposal.kind == RELATION:
            subject = ids.of(proposal.term_id, proposal.term)
            link = link_of(proposal.relation, classes)
            yield statement(subject, [(link, iri(target)), note(one)])


class ConceptIds:
    """The IRIs of concepts, by id or by label."""

    def __init__(self, ontology: Ontology, accepted: Iterable[Accepted]) -> None:
        self.known = {concept.id for concept in ontology.concepts}
        self.by_label = {
            concept.label: concept.id for concept in reversed(ontology.concepts)
        }
        for one in accepted:
            if one.proposal.kind == TERM:
                term = one.proposal.term
                self.by_label.setdefault(term, term_iri(term))
                self.known.add(term_iri(term))

    def of(self, concept: str, label: str) -> str:
        """The IRI of a concept; BadInput if there is none."""
        found = concept if concept in self.known else self.by_label.get(label, concept)
        if not found:
            raise BadInput(f"there is no concept {label!r} in the ontology any more")
        return concept_iri(found)


def new_concept(
    one: Accepted, language: str, target: str, classes: bool
) -> Iterator[Pair]:
    """All that is said of a new concept."""
    yield RDF + "type", iri(OWL + "Class" if classes else SKOS + "Concept")
    label = RDFS + "label" if classes else SKOS + "prefLabel"
    yield label, literal(one.proposal.term, language)
    yield link_of(one.proposal.relation, classes), iri(target)
    yield DCTERMS + "created", date(one.when)
    for support in one.proposal.support:
        yield DCTERMS + "source", iri(support.url)
    yield note(one)


def note(one: Accepted) -> Pair:
    """Why something was added, and when."""
    proposal = one.proposal
    pages = "1 page" if proposal.pages == 1 else f"{proposal.pages} pages"
    said = f"{one.when}: {proposal.term} {proposal.relation} {proposal.concept}"
    text = f"{said}, accepted from {pages} of a crawl"
    if proposal.support:
        first = proposal.support[0]
        text += f"; {first.url}: {first.sentence}"
    return SKOS + "changeNote", literal(text, "")


def link_of(relation: str, classes: bool) -> str:
    """The predicate of a relation."""
    if classes and relation == Relation.IS_A:
        return RDFS + "subClassOf"
    return LINKS[Relation(relation)]


def as_skos(ontology: Ontology) -> Iterator[str]:
    """An ontology of another format as SKOS."""
    yield f"@prefix skos: <{SKOS}> .\n"  # by which Turtle is known
    for place, concept in enumerate(ontology.concepts):
        pairs = [(RDF + "type", iri(SKOS + "Concept")), *labels_of(concept)]
        pairs += [
            (SKOS + "definition", literal(text, code))
            for code, text in concept.definitions.items()
        ]
        for relation, others in ontology.steps[place].items():
            if relation not in (Relation.HAS_KIND, Relation.HAS):  # said by the others
                ids = (concept_iri(ontology.concepts[n].id) for n in others)
                pairs += [(LINKS[relation], iri(other)) for other in ids]
        yield statement(concept_iri(concept.id), pairs)


def labels_of(concept: Concept) -> Iterator[Pair]:
    """Its labels, the preferred one of each language first."""
    for code, forms in concept.labels.items():
        for number, text in enumerate(forms):
            kind = "altLabel" if number else "prefLabel"
            yield SKOS + kind, literal(text, code)


def term_iri(term: str) -> str:
    """The IRI of a new concept."""
    return TERMS + quote("-".join(term.casefold().split()), safe="-")


def concept_iri(concept: str) -> str:
    """The IRI of a concept; its id, if that is one."""
    if "://" in concept or concept.startswith("urn:"):
        return concept
    return CONCEPTS + quote(concept, safe="")


def statement(subject: str, pairs: Iterable[Pair]) -> str:
    """Some statements about a subject, as Turtle."""
    said = " ;\n    ".join(f"{iri(predicate)} {thing}" for predicate, thing in pairs)
    return f"{iri(subject)}\n    {said} .\n"


def iri(address: str) -> str:
    """An IRI as Turtle writes it, whatever is in it."""
    return f"<{_UNFIT.sub(lambda found: quote(found[0]), address)}>"


def literal(text: str, language: str) -> str:
    """A text as Turtle writes it; control characters become spaces."""
    plain = "".join(character if character >= " " else " " for character in text)
    escaped = plain.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"@{language}' if language else f'"{escaped}"'


def date(when: str) -> str:
    """A day as Turtle writes it."""
    return f'"{datetime.fromisoformat(when).date()}"^^<{XSD}date>'
