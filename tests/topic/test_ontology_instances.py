"""Instances have labels in every language, and the services know them."""

from __future__ import annotations

from pathlib import Path

import pytest

from opilio.errors import BadInput
from opilio.topic.ontology import (
    CrawledText,
    Relation,
    Repository,
    association,
    canonical_term,
    canonical_terms,
    classes_around,
    compatible,
    concept_words,
    conflicting,
    definition,
    dictionary,
    expand,
    features,
    importance_table,
    load_ontology,
    propose,
    read_ontology,
    relations,
    terms,
)
from topic.ontologies import PC, turtle

SHARED = Path(__file__).parents[3] / "shared" / "data"

RIVERS = turtle(
    """
@prefix : <http://example.org/rivers#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
:Water a owl:Class ; rdfs:label "water"@en , "Wasser"@de .
:River a owl:Class ; rdfs:label "river"@en , "Fluss"@de ; rdfs:subClassOf :Water .
:Stream a owl:Class ; rdfs:label "stream"@en , "Strom"@de ; rdfs:subClassOf :Water .
:danube a :River , :Stream ; rdfs:label "Danube"@en , "Donau"@de-AT ;
    skos:altLabel "Ister"@en ; rdfs:comment "It flows to the Black Sea."@en .
:rhine a :River ; rdfs:label "Rhine"@en , "Rhein"@de ; :joins :sea .
:sea a :Water ; rdfs:label "North Sea"@en , "Nordsee"@de ; :mood "rau"@de , "rough"@en .
:Inn a :River .
""",
    "rivers.ttl",
)


def test_an_instance_has_its_labels_in_each_language():
    assert {"Donau", "Rhein", "Inn"} <= set(terms(RIVERS, ["de"]))
    assert not {"Danube", "Rhine", "Ister"} & set(terms(RIVERS, ["de"]))
    assert dictionary(RIVERS, "de", "en") == {
        "Wasser": ("water",),
        "Fluss": ("river",),
        "Strom": ("stream",),
        "Donau": ("Danube", "Ister"),
        "Rhein": ("Rhine",),
        "Nordsee": ("North Sea",),
    }


def test_tables_of_a_language_name_instances_and_values_in_it():
    sought = Repository((RIVERS,)).extract(["Fluss", "Wasser"])
    german = {"Fluss", "Wasser", "Strom", "Donau", "Rhein", "Nordsee", "Inn"}
    assert importance_table(sought, languages=["de"]).keys() == {*german, "rau"}
    assert association(sought, languages=["de"]).keys() == german
    known = concept_words(sought.ontology, str, languages=["de"])
    assert set(known["river"].features) == {"Fluss", "Donau", "Rhein", "Inn"}
    made = features(RIVERS, ["river", "water"], languages=["de"])
    assert {"Fluss", "Inn", "Rhein"} <= set(made["river"].representative)
    assert "rau" in made["water"].representative
    english = importance_table(sought, languages=["en"])
    assert {"Danube", "Ister", "Rhine", "rough", "Inn"} <= english.keys()
    assert not {"Donau", "Rhein", "rau"} & english.keys()


def test_an_instance_is_a_term():
    assert (
        canonical_term(RIVERS, "Donau") == canonical_term(RIVERS, "ister") == "Danube"
    )
    assert canonical_terms(RIVERS, "the river Rhine") == ["river", "Rhine"]
    assert definition(RIVERS, "Donau") == "It flows to the Black Sea."
    assert relations(RIVERS, "Rhine", "Danube") == [
        ("Rhine", Relation.IS_A, "river"),
        ("river", Relation.HAS_KIND, "Danube"),
    ]
    assert compatible(RIVERS, "Rhine") == ["river", "water"]
    assert conflicting(RIVERS, "Rhine") == ["Danube", "Inn"]
    assert expand(RIVERS, "Danube", languages=["en"]) == {
        "danube": 1.0,
        "Ister": 0.9,
        "river": 0.3,
        "stream": 0.3,
    }
    with pytest.raises(BadInput, match=r"'Danubium' is not a term .*Danube"):
        definition(RIVERS, "Danubium")


def test_what_is_said_of_a_class_stays_as_it_is_without_its_instances():
    assert compatible(RIVERS, "river") == ["water"]
    assert conflicting(RIVERS, "river") == ["stream"]
    assert relations(RIVERS, "river", "stream") == [
        ("river", Relation.IS_A, "water"),
        ("water", Relation.HAS_KIND, "stream"),
    ]
    assert "Rhine" not in expand(RIVERS, "river")


def test_an_instance_may_be_what_is_sought():
    sought = Repository((RIVERS,)).extract(["Donau"])
    assert sought.labels == ["Danube"]
    assert sought.matches[0].sure == 1.0
    table = importance_table(sought, languages=["en"])
    assert table["Danube"] == table["Ister"] == 1.0
    assert 1 > table["river"] > table["Rhine"] > 0
    assert association(sought)["Donau"] == ("Danube", 1.0)
    made = features(sought.ontology, classes_around(sought), languages=["en"])
    assert set(made) == {"Danube", "Rhine", "Inn"}
    assert made["Danube"].representative == ("Danube", "Ister")


def test_a_concept_is_meant_before_an_instance_of_its_name():
    ontology = turtle(PC + ':Memory2 a :CPU ; rdfs:label "Memory"@en .')
    assert Repository((ontology,)).extract(["memory"]).targets == (
        "http://example.org/pc#Memory",
    )
    assert canonical_term(ontology, "Memory") == "memory"


def test_an_instance_is_found_by_some_of_its_words_or_named_as_near():
    ontology = turtle(PC)
    (match,) = Repository((ontology,)).extract(["old Pentium III chips"]).matches
    assert match.label == "Pentium III"
    assert match.sure < 0.8
    with pytest.raises(BadInput, match="Athlon"):
        Repository((ontology,)).extract(["Athlom"])


def test_an_instance_of_an_obo_file_may_be_sought():
    text = """format-version: 1.2

[Term]
id: T:1
name: car

[Instance]
id: I:1
name: Herbie
instance_of: T:1
"""
    ontology = read_ontology(text.encode(), "cars.obo")
    assert Repository((ontology,)).extract(["herbie"]).labels == ["Herbie"]
    assert canonical_term(ontology, "Herbie") == "Herbie"


def test_a_word_of_an_instance_is_no_new_word():
    text = "The processor of this kind is an Athlon indeed."
    pages = [CrawledText(f"http://a.test/{n}", text) for n in range(3)]
    assert "athlon" not in {found.term for found in propose(turtle(PC), pages)}


def test_instances_survive_the_cache(tmp_path):
    path = tmp_path / "pc.ttl"
    path.write_text(PC)
    first = load_ontology(path, cache_folder=tmp_path / "cache")
    again = load_ontology(path, cache_folder=tmp_path / "cache")
    assert again == first
    assert canonical_term(again, "pentium iii") == "Pentium III"


@pytest.mark.skipif(not SHARED.exists(), reason="needs ../shared/data")
def test_the_countries_of_pizzas_are_related(tmp_path):
    """Reads ../shared/data/pizza.owl."""
    ontology = load_ontology(SHARED / "pizza.owl", cache_folder=tmp_path)
    assert relations(ontology, "America", "Italy") == [
        ("America", Relation.IS_A, "Country"),
        ("Country", Relation.HAS_KIND, "Italy"),
    ]
