"""The Relevant Ontology Extractor of Kumar & Vig: which concepts terms mean, and how
well an ontology covers them."""

from __future__ import annotations

from math import log

import pytest

from opilio.errors import BadInput
from opilio.topic.ontology import Repository, importance_table, read_ontology
from opilio.topic.ontology.repository import specificity
from topic.ontologies import skos, turtle

BEES = """
@prefix : <http://example.org/bees#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Bees a owl:Class ; rdfs:label "Bees"@en .
:Wing a owl:Class ; rdfs:label "Wing"@en .
:Bee a :Wing ; rdfs:label "bee" .
"""


def test_ic_falls_with_the_kinds_of_a_concept():
    """Seco et al. 2004: IC(c) = 1 − ln(1 + kinds of c) / ln(1 + concepts)."""
    three = skos(
        """:a skos:prefLabel "Bees" . :b skos:prefLabel "Honey bee"; skos:broader :a .
           :c skos:prefLabel "Mason bee" ; skos:broader :a ."""
    )
    assert specificity(three, 0) == pytest.approx(1 - log(3) / log(4))
    assert specificity(three, 1) == 1.0
    assert Repository((three,)).extract(["bees"]).scores["made.ttl"] == pytest.approx(
        (1 + 1 - log(3) / log(4)) / 2
    )
    two = skos(':a skos:prefLabel "Bees" . :b skos:prefLabel "Wasp"; skos:broader :a .')
    assert specificity(two, 0) == pytest.approx(1 - log(2) / log(3))


def test_the_whole_counts_half_and_other_kinds_of_what_is_broader_a_quarter():
    rows = b"wing\tpart of\tbee\nbee\tis a\tinsect\nwasp\tis a\tinsect\n"
    ontology = read_ontology(rows, "bees.tsv")
    assert importance_table(ontology, ["wing"])["bee"] == pytest.approx(0.5)
    assert importance_table(ontology, ["bee"])["wasp"] == pytest.approx(0.5 * 0.5)


def test_a_concept_in_another_form_is_preferred_to_an_instance():
    [match] = Repository((turtle(BEES),)).extract(["bee"]).matches
    assert (match.label, match.sure) == ("Bees", 0.9)


def test_what_is_extracted_has_instances_only_if_one_is_sought():
    repository = Repository((turtle(BEES),))
    concepts = repository.extract(["bees", "wing"]).ontology.concepts
    assert [concept.label for concept in concepts] == ["Bees", "Wing"]


def test_terms_are_remembered_by_which_targets_were_found():
    sought = Repository((turtle(BEES),)).extract(["wings", "Bees", "bees"])
    assert sought.named == ("wings", "Bees", "bees")
    assert sought.labels == ["Wing", "Bees"]


def test_a_target_has_words_also_in_languages_that_have_none_for_it():
    ontology = skos(
        """:a skos:prefLabel "Bienen"@de ; skos:related :b , :c .
           :b skos:prefLabel "Honig"@de . :c skos:prefLabel "honey"@en ."""
    )
    sought = Repository((ontology,)).extract(["Bienen"])
    words = {
        concept.id.rpartition("#")[2]: sought.surfaces(place, ["en"])
        for place, concept in enumerate(sought.ontology.concepts)
    }
    assert words == {"a": ["Bienen"], "b": [], "c": ["honey"]}
    assert sought.spoken(["en"]) == ["en"]
    assert sought.spoken(["fr"]) == ()


def test_an_unknown_name_is_refused_with_the_name_of_the_ontology():
    ontology = turtle(BEES, "bees.ttl")
    named = ontology.source or ontology.name
    with pytest.raises(BadInput, match=f"'zzz' is not a concept of {named}, which has"):
        Repository((ontology,)).extract(["zzz"])
