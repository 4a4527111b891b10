"""Shows ontologies as trees: what is broader above, with hits on relevant pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec

from opilio.text.words import Vocabulary
from opilio.topic.ontology import load_ontology
from opilio.topic.ontology.model import Ontology, Relation

MOST = 600  # concepts that are shown
DEEPEST = 8


class ConceptNode(msgspec.Struct, frozen=True):
    """A concept in the tree; those that follow with a greater depth are below it."""

    label: str
    depth: int
    hits: int  # relevant pages that it is a main concept of
    relation: str  # to what stands above it: is-a or part-of; "" at the top


def concept_trees(files: Sequence[Path], hits: Counter[str]) -> list[ConceptNode]:
    """The trees of several ontologies, one after another."""
    key = Vocabulary(()).key
    by_key: Counter[str] = Counter()
    for label, pages in hits.items():
        by_key[key(label)] += pages
    found: list[ConceptNode] = []
    for file in files:
        ontology = load_ontology(file).populated
        seen: set[int] = set()
        for place in range(len(ontology.concepts)):
            if not ontology.towards(place, Relation.IS_A, Relation.PART_OF):
                add_below(found, ontology, place, 0, "", by_key, seen)
        for place in range(len(ontology.concepts)):  # those in circles
            add_below(found, ontology, place, 0, "", by_key, seen)
    return found[:MOST]


def add_below(
    found: list[ConceptNode],
    ontology: Ontology,
    place: int,
    depth: int,
    relation: str,
    hits: Counter[str],
    seen: set[int],
) -> None:
    """Add a concept and what is below it, each concept once."""
    if place in seen or depth > DEEPEST or len(found) >= MOST:
        return
    seen.add(place)
    concept = ontology.concepts[place]
    key = Vocabulary(()).key
    known = {key(word) for word in concept.surfaces()}
    pages = sum(hits[one] for one in known)
    found.append(ConceptNode(concept.label, depth, pages, relation))
    for kind, name in ((Relation.HAS_KIND, "is-a"), (Relation.HAS, "part-of")):
        for other in ontology.towards(place, kind):
            add_below(found, ontology, other, depth + 1, name, hits, seen)
