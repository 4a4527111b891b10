"""Reads ontologies and derives tables of terms from them."""

from opilio.topic.ontology.association import association
from opilio.topic.ontology.concept_words import concept_words
from opilio.topic.ontology.dictionary import dictionary, terms
from opilio.topic.ontology.features import classes_around, features
from opilio.topic.ontology.importance import importance_table, read_importances
from opilio.topic.ontology.load import load_ontology, read_ontology
from opilio.topic.ontology.model import Concept, Edge, Ontology, Relation
from opilio.topic.ontology.propose import Proposal, Support, propose
from opilio.topic.ontology.repository import Match, Repository, Sought, load_repository
from opilio.topic.ontology.services import (
    canonical_term,
    canonical_terms,
    compatible,
    conflicting,
    definition,
    expand,
    relations,
)
from opilio.topic.ontology.term_counts import CrawledText

__all__ = [
    "Concept",
    "CrawledText",
    "Edge",
    "Match",
    "Ontology",
    "Proposal",
    "Relation",
    "Repository",
    "Sought",
    "Support",
    "association",
    "canonical_term",
    "canonical_terms",
    "classes_around",
    "compatible",
    "concept_words",
    "conflicting",
    "definition",
    "dictionary",
    "expand",
    "features",
    "importance_table",
    "load_ontology",
    "load_repository",
    "propose",
    "read_importances",
    "read_ontology",
    "relations",
    "terms",
]
