"""Ontology files and the names of concepts in; tables of terms to look for out."""

from opilio.topic.ontology.importance import importance_table, read_importances
from opilio.topic.ontology.load import load_ontology
from opilio.topic.ontology.model import Concept, Edge, Ontology, Relation
from opilio.topic.ontology.repository import Match, Repository, Sought, load_repository

__all__ = [
    "Concept",
    "Edge",
    "Match",
    "Ontology",
    "Relation",
    "Repository",
    "Sought",
    "importance_table",
    "load_ontology",
    "load_repository",
    "read_importances",
]
