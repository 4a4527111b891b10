"""What an ontology answers: Yang's services, features, dictionary, proposals."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opilio.errors import BadInput
from opilio.topic.ontology import (
    Relation,
    Repository,
    canonical_term,
    canonical_terms,
    classes_around,
    compatible,
    conflicting,
    definition,
    dictionary,
    expand,
    features,
    relations,
    terms,
)
from topic.ontologies import PC, skos, turtle
from topic.test_ontology_extraction import any_ontology

ONTOLOGY = turtle(PC)


@pytest.mark.parametrize(
    ("word", "term"),
    [
        ("Processors", "CPU"),
        ("central processing unit", "CPU"),
        ("CPUs", "CPU"),
        ("Prozessoren", "CPU"),
        ("mainboards", "motherboard"),
        ("RAM", "memory"),
        ("house", None),
        ("board", None),
    ],
)
def test_a_word_becomes_the_canonical_term(word: str, term: str | None):
    """Yang, §2 (C2): "transforming query terms into canonical ontology terms"."""
    assert canonical_term(ONTOLOGY, word) == term


def test_the_terms_of_a_query_become_canonical_in_its_order():
    """Yang, §2 (C2)."""
    query = "Mainboards for multi-core processors and RAM"
    assert canonical_terms(ONTOLOGY, query) == [
        "motherboard",
        "multi-core processor",
        "memory",
    ]


def test_a_term_has_its_definition():
    """Yang, §2 (C2): "finding definitions of specific terms"."""
    assert definition(ONTOLOGY, "processor") == "The part that executes instructions."
    assert definition(ONTOLOGY, "processor", "de").startswith("The part")
    assert definition(ONTOLOGY, "memory") == ""
    with pytest.raises(BadInput, match=r"'processr' is not a term .*processor"):
        definition(ONTOLOGY, "processr")


def test_the_relations_between_two_terms_are_a_way_with_names():
    """Yang, §2 (C2): "finding relationships among terms"."""
    assert relations(ONTOLOGY, "processor", "PC") == [
        ("CPU", Relation.PART_OF, "motherboard"),
        ("motherboard", Relation.PART_OF, "personal computer"),
    ]
    assert relations(ONTOLOGY, "motherboard", "CPU") == [
        ("motherboard", Relation.HAS, "CPU")
    ]
    assert relations(ONTOLOGY, "CPU", "CPU") == []
    apart = skos(':a skos:prefLabel "Bee" . :b skos:prefLabel "Sea" .')
    assert relations(apart, "bee", "sea") == []


def test_compatible_terms_are_of_the_branch_or_belong_together():
    """Yang, §2 (C2): "finding compatible or conflicting terms"."""
    assert compatible(ONTOLOGY, "CPU") == [
        "chipset",
        "hardware",
        "motherboard",
        "multi-core processor",
        "personal computer",
    ]


def test_conflicting_terms_are_disjoint_or_siblings():
    """Yang, §2 (C2); what is disjoint with CPU is so with its kinds."""
    assert conflicting(ONTOLOGY, "CPU") == ["memory"]
    assert conflicting(ONTOLOGY, "multi-core processor") == ["memory"]
    assert conflicting(ONTOLOGY, "memory") == [
        "CPU",
        "motherboard",
        "personal computer",
    ]


def test_siblings_that_something_is_both_of_do_not_conflict():
    ontology = skos(
        """:a skos:prefLabel "Art" . :b skos:prefLabel "Film" ; skos:broader :a .
           :c skos:prefLabel "Music" ; skos:broader :a .
           :d skos:prefLabel "Dance" ; skos:broader :a .
           :e skos:prefLabel "Musical" ; skos:broader :b , :c ."""
    )
    assert conflicting(ontology, "film") == ["Dance"]


def test_a_query_grows_by_synonyms_then_kinds_then_what_is_broader():
    """Yang, §4.2 (C9): synonyms first, then concepts along the inheritance."""
    assert expand(ONTOLOGY, "cheap processors", languages=["en"]) == {
        "processors": 1.0,
        "cheap": 1.0,
        "CPU": 0.9,
        "central processing unit": 0.9,
        "multi-core processor": 0.6,
        "hardware": 0.3,
    }
    assert expand(ONTOLOGY, "cheap house") == {"cheap": 1.0, "house": 1.0}


def test_the_reorganised_ontology_has_representative_and_related_features():
    """Yang, figure 3 (C4): features of one class alone, and those between two. Yang,
    section 3: "a set of representative ontology features for a specific concept"."""
    sought = Repository((ONTOLOGY,)).extract(["CPU"])
    made = features(ONTOLOGY, classes_around(sought), languages=["en"])
    assert list(made) == ["CPU", "memory", "motherboard", "personal computer"]
    cpu, board = made["CPU"], made["motherboard"]
    assert set(cpu.representative) == {
        *("CPU", "central processing unit", "processor", "multi-core processor"),
        *("Athlon", "Pentium III", "clock speed", "AMD", "Intel", "Slot A"),
    }
    assert set(board.representative) == {"motherboard", "mainboard", "P3B-F", "Asus"}
    between = {"provider": 1, "socket": 1, "Slot 1": 1, "hardware": 1}
    assert cpu.related == {**between, "chipset": 1}
    assert board.related == between


def test_related_features_further_away_have_a_higher_level():
    ontology = skos(
        """:a skos:prefLabel "Bees" ; skos:related :c . :b skos:prefLabel "Ants" .
           :c skos:prefLabel "Hives" ; skos:related :d . :d skos:prefLabel "Wood" ;
           skos:related :e . :e skos:prefLabel "Trees" ."""
    )
    made = features(ontology, ["bees", "ants"])
    assert made["Bees"].related == {"Hives": 1, "Wood": 2}
    assert made["Ants"].related == {}


def test_a_kind_that_is_a_class_itself_keeps_its_words_to_itself():
    made = features(ONTOLOGY, ["CPU", "multi-core processor"], languages=["en"])
    assert made["multi-core processor"].representative == ("multi-core processor",)
    assert "multi-core processor" not in made["CPU"].representative


def test_a_target_at_the_top_is_told_from_the_other_tops():
    ontology = skos(
        """:a skos:prefLabel "Plants" . :b skos:prefLabel "Animals" .
           :c skos:prefLabel "Trees" ; skos:broader :a .
           :d skos:prefLabel "Bees" ; skos:broader :b ; skos:related :a ."""
    )
    sought = Repository((ontology,)).extract(["plants"])
    made = features(ontology, classes_around(sought))
    assert set(made) == {"Plants", "Animals"}
    assert made["Plants"].representative == ("Plants", "Trees")


def test_labels_of_two_languages_are_a_dictionary():
    words = dictionary(ONTOLOGY, "de-AT", "en")
    assert words["Hauptprozessor"] == ("CPU", "central processing unit", "processor")
    assert words["Speicher"] == ("memory", "RAM")
    assert dictionary(ONTOLOGY, "en", "de")["RAM"] == ("Speicher",)
    assert dictionary(ONTOLOGY, "en", "fr") == dictionary(ONTOLOGY, "en", "en") == {}


def test_terms_are_every_word_of_the_languages_asked_for():
    assert "Prozessor" in terms(ONTOLOGY)
    english = terms(ONTOLOGY, ["en"])
    assert english == sorted(set(english))
    assert {"CPU", "Pentium III", "PC"} <= set(english)
    assert "Prozessor" not in english


@settings(max_examples=60, deadline=None)
@given(any_ontology(), st.integers(0, 11))
def test_every_question_ends_on_any_graph(ontology, number: int):
    word = f"word{number % len(ontology.concepts)}x"
    way = relations(ontology, "word0x", word)
    assert all(one[2] == other[0] for one, other in pairwise(way))
    assert not set(compatible(ontology, word)) & {word}
    assert word not in conflicting(ontology, word)
    assert expand(ontology, word)[word] == 1.0
    made = features(ontology, [c.id for c in ontology.concepts])
    for label, found in made.items():
        assert label in found.representative
        assert not set(found.representative) & set(found.related)
