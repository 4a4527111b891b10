"""What is sought has words in every table, whatever language is asked for."""

import pytest

from opilio.topic.ontology import Repository, association, importance_table
from opilio.topic.ontology.repository import Sought
from topic.ontologies import skos

FOOD = skos(
    """
:pizza a skos:Concept ; skos:prefLabel "Pizza"@en ; skos:altLabel "pizza pie"@en .
:base a skos:Concept ; skos:prefLabel "Pizza base"@en ; skos:broader :pizza .
:top a skos:Concept ; skos:prefLabel "Topping"@en , "Cobertura"@pt ;
    skos:broader :pizza .
:c a skos:Concept ; skos:prefLabel "C"@en ; skos:broader :pizza .
"""
)


def sought(*names: str) -> Sought:
    return Repository((FOOD,)).extract(names)


@pytest.mark.parametrize("table_of", [importance_table, association])
def test_a_target_without_a_label_in_the_language_has_its_other_labels(table_of):
    table = table_of(sought("pizza", "topping"), languages=["pt"])
    assert table.keys() == {"Pizza", "pizza pie", "Cobertura"}  # and no "Pizza base"


@pytest.mark.parametrize("table_of", [importance_table, association])
def test_a_target_whose_labels_say_nothing_has_the_word_it_was_found_by(table_of):
    assert "c" in table_of(sought("c"))


def test_a_language_that_nothing_has_a_word_in_stands_for_all():
    assert sought("pizza").spoken(["pt"]) == ["pt"]
    assert sought("pizza").spoken(["hi"]) == ()


def test_the_words_that_found_something_are_known():
    words = ["ships", "pizzas", "toppings", "pizza"]
    found = Repository((FOOD,)).extract(words, lenient=True)
    assert found.named == ("pizzas", "toppings", "pizza")
