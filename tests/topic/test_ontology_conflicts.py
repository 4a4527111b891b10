"""Terms that agree with a term, and terms that stand against it: never the same."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opilio.topic.ontology import Ontology, compatible, conflicting, load_ontology
from topic.ontologies import turtle
from topic.test_ontology_extraction import any_ontology

SHARED = Path(__file__).parents[3] / "shared" / "data"

FOOD = """
@prefix : <http://example.org/food#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Soup a owl:Class ; owl:disjointWith :Broth , :Cake ;
    rdfs:subClassOf [ owl:onProperty :hasBase ; owl:someValuesFrom :Broth ] .
:Goulash a owl:Class ; rdfs:subClassOf :Soup .
:Broth a owl:Class . :Cake a owl:Class .
"""


def test_a_part_that_is_declared_to_be_no_whole_does_not_conflict():
    """Yang, §2 (C2): "finding compatible or conflicting terms"."""
    ontology = turtle(FOOD)
    assert compatible(ontology, "soup") == ["Broth", "Goulash"]
    assert conflicting(ontology, "soup") == ["Cake"]
    assert conflicting(ontology, "broth") == []


def test_what_belongs_to_a_whole_does_not_conflict_with_its_kinds():
    assert conflicting(turtle(FOOD), "goulash") == ["Cake"]


@settings(max_examples=100, deadline=None)
@given(any_ontology(), st.lists(st.sets(st.integers(0, 11), min_size=2), max_size=4))
def test_no_term_is_both_compatible_and_conflicting(
    ontology: Ontology, groups: list[set[int]]
):
    size = len(ontology.concepts)
    disjoint = tuple(tuple(sorted({n % size for n in group})) for group in groups)
    declared = msgspec.structs.replace(ontology, disjoint=disjoint)
    for concept in ontology.concepts:
        against = conflicting(declared, concept.id)
        assert concept.label not in against
        assert not set(against) & set(compatible(declared, concept.id))


@pytest.mark.skipif(not SHARED.exists(), reason="needs ../shared/data")
def test_a_pizza_agrees_with_its_base_and_topping(tmp_path):
    """Reads ../shared/data/pizza.owl, which declares the three disjoint."""
    ontology = load_ontology(SHARED / "pizza.owl", cache_folder=tmp_path)
    parts = {"Pizza Base", "Pizza Topping"}
    assert parts <= set(compatible(ontology, "Pizza"))
    for name in ("Pizza", "Margherita"):
        assert not parts & set(conflicting(ontology, name))
    assert "Ice Cream" in conflicting(ontology, "Pizza")
