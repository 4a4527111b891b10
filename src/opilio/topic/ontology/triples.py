"""Gives access to an RDF graph by plain strings instead of rdflib's terms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rdflib import Graph
    from rdflib.term import Node

SKOS = "http://www.w3.org/2004/02/skos/core#"
SKOSXL = "http://www.w3.org/2008/05/skos-xl#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
ISO = "http://purl.org/iso25964/skos-thes#"
OBO = "http://purl.obolibrary.org/obo/"
OBO_IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"
DC = "http://purl.org/dc/elements/1.1/"
DCTERMS = "http://purl.org/dc/terms/"
PROV = "http://www.w3.org/ns/prov#"
VOCABULARIES = (SKOS, SKOSXL, RDF, RDFS, OWL, ISO, OBO_IN_OWL, DC, DCTERMS, PROV)

LARGEST_LIST = 10_000  # members of an RDF list that are read


class Triples:
    """A graph with access by plain strings."""

    def __init__(self, graph: Graph) -> None:
        from rdflib import Literal, URIRef

        self._graph = graph
        self._iri = URIRef
        self._literal = Literal

    def with_predicate(self, predicate: str) -> Iterator[tuple[Node, Node]]:
        """Subject and object of each triple of a predicate."""
        for subject, _, thing in self._graph.triples(
            (None, self._iri(predicate), None)
        ):
            yield subject, thing

    def of_type(self, kind: str) -> Iterator[Node]:
        """The nodes of a type."""
        for subject, _, _ in self._graph.triples(
            (None, self._iri(RDF + "type"), self._iri(kind))
        ):
            yield subject

    def all(self) -> Iterator[tuple[Node, str, Node]]:
        """Every triple."""
        for subject, predicate, thing in self._graph.triples((None, None, None)):
            yield subject, str(predicate), thing

    def objects(self, subject: Node, predicate: str) -> list[Node]:
        """The objects of a node's predicate, in a stable order."""
        found = self._graph.triples((subject, self._iri(predicate), None))
        return sorted((thing for _, _, thing in found), key=str)

    def members(self, head: Node) -> list[Node]:
        """The members of an RDF list, which ends where it is damaged or circular."""
        found: list[Node] = []
        seen: set[Node] = set()
        while head not in seen and len(found) < LARGEST_LIST:
            seen.add(head)
            found += self.objects(head, RDF + "first")[:1]
            rest = self.objects(head, RDF + "rest")
            if not rest:
                break
            head = rest[0]
        return found

    def is_iri(self, node: Node) -> bool:
        """Whether a node is a name, not a literal and not blank."""
        return isinstance(node, self._iri)

    def is_literal(self, node: Node) -> bool:
        """Whether a node is a value."""
        return isinstance(node, self._literal)

    def written(self, node: Node) -> tuple[str, str]:
        """Text and language of a literal."""
        return str(node), str(getattr(node, "language", None) or "")

    def types(self, node: Node) -> list[Node]:
        """The types of a node."""
        return self.objects(node, RDF + "type")
