"""Yang's ontology services for queries: what they mean, and what is added to them."""

import pytest

from opilio.equations.ontology_classes import CLEAR_LEAD, OntoClasses, leader
from opilio.equations.thesaurus import Thesaurus, spot_longest
from opilio.records import ClassFeatures, ConceptWords

WORDS = {
    "Jaguar (animal)": ConceptWords(
        ("jaguar", "panthera onca"), {"Cats": 1}, {"Cats": 0.5}, broader=("Cats",)
    ),
    "Jaguar (car)": ConceptWords(("jaguar",), {"Cars": 2}),
    "Cats": ConceptWords(("cat",), {"Jaguar (animal)": 1}, kinds=("Jaguar (animal)",)),
    "Cars": ConceptWords(("car",), {"Jaguar (car)": 2}),
}


def test_what_names_a_concept_alone_represents_it_and_what_it_shares_is_level_1():
    """Figure 3: square nodes are a class's own features, oval ones are shared."""
    thesaurus = Thesaurus(WORDS)
    assert thesaurus.features_of("Jaguar (animal)") == ClassFeatures(
        ["panthera onca"], {"jaguar": 1, "cat": 1}
    )
    assert thesaurus.features_of("Cars") == ClassFeatures(["car"], {"jaguar": 2})


def test_a_name_of_two_concepts_means_each_by_half():
    thesaurus = Thesaurus(WORDS)
    both = {"Jaguar (animal)": 0.5, "Jaguar (car)": 0.5}
    assert thesaurus.meant(["jaguar"]) == both
    assert thesaurus.meant(["jaguar", "cat"]) == {"Jaguar (animal)": 1.0, "Cats": 1.0}


def test_expansion_weighs_a_term_by_how_surely_its_concept_is_meant():
    """0.9 of a synonym, 0.3 of what is broader, each by half."""
    assert Thesaurus(WORDS).expand(["jaguar"]) == {
        ("jaguar",): 1.0,
        ("panthera", "onca"): pytest.approx(0.45),
        ("cat",): pytest.approx(0.15),
    }


def test_the_terms_of_a_concept_speak_for_it_in_full_and_others_as_near_as_they_are():
    assert Thesaurus(WORDS).near("Jaguar (animal)") == {
        "jaguar": 1.0,
        "panthera onca": 1.0,
        "cat": 0.5,
    }


@pytest.mark.parametrize(("words", "found"), [(8, [(0, 8)]), (9, [])])
def test_a_feature_has_at_most_eight_words(words, found):
    stems = [f"s{n}" for n in range(words)]
    assert list(spot_longest(stems, {" ".join(stems)})) == found


def test_a_class_leads_by_more_than_a_tenth():
    """papers.md C.5-6: within 10 % of each other, stage 2 decides."""
    assert leader({"CPU": 20, "Memory": 17}, CLEAR_LEAD) == "CPU"
    assert leader({"CPU": 20, "Memory": 18}, CLEAR_LEAD) == ""


def test_stage_2_adds_to_the_evidence_of_stage_1_when_fixed():
    classes = {
        "CPU": ClassFeatures(["cpu"], {"socket": 2}),
        "Board": ClassFeatures(["board"], {"slot": 1}),
    }
    terms = {"cpu": 1, "board": 1, "slot": 1}
    assert OntoClasses(classes).classify(terms) == ("Board", {"Board": 2, "CPU": 1})
    paper = OntoClasses(classes, "paper").classify(terms)
    assert paper == ("Board", {"Board": 1})


def test_any_lead_is_enough_in_stage_2():
    """1 + ln 100 against 1 + ln 99; a tie leaves the text without a class."""
    classes = {
        "CPU": ClassFeatures((), {"socket": 1}),
        "Board": ClassFeatures((), {"slot": 1}),
    }
    found, _ = OntoClasses(classes).classify({"socket": 100, "slot": 99})
    assert found == "CPU"
    assert OntoClasses(classes).classify({"socket": 9, "slot": 9})[0] == ""
