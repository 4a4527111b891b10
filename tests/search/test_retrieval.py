"""Yang, section 4.4 (papers.md C12, golden test C.4-7), and what we add to it."""

from pathlib import Path

import pytest

from opilio.errors import BadInput
from opilio.search.concepts import Concepts
from opilio.text.word_sequence import word
from search.searched_pages import HARDWARE, Pages

PAPER = Concepts(HARDWARE, "paper")
FIXED = Concepts(HARDWARE)


@pytest.fixture
def pages(tmp_path: Path):
    made = Pages(tmp_path)
    made.add("A cheap CPU for everyone", "Offer")  # 1
    made.add("A cheap holiday by the sea", "Travel")  # 2
    made.add("An expensive cpu of the best kind", "Luxury")  # 3
    made.add("Cheap processors and RAM", "Parts")  # 4
    yield made
    made.db.close()


def test_golden_c47_a_query_without_an_ontology_feature_is_refused(pages: Pages):
    with pytest.raises(BadInput, match="names no concept"):
        pages.found("cheap holiday", PAPER)
    assert pages.found("cheap holiday", FIXED)[0] == 2


def test_by_the_letter_ontoclassifier_chooses_one_class_for_a_query():
    """Section 4.4: the query is classified like a page, here by two votes to one."""
    features = ["cpu", "processor", "ram"]
    assert PAPER.meant(features) == {"CPU": 1.0}
    assert set(FIXED.meant(features)) == {"CPU", "Memory"}


def test_golden_c47_postings_of_ontology_and_words_are_disjoint(pages: Pages):
    segment = pages.searcher(PAPER).index.segments[-1]
    features = set(segment.features.terms.tolist())
    words = set(segment.words.terms.tolist())
    assert word("cpu") in features and word("cheap") in words
    assert not features & words
    whole = pages.searcher(FIXED).index.segments[-1]
    assert word("cpu") in set(whole.words.terms.tolist())


def test_golden_c47_cpu_cheap_is_ontology_of_cpu_and_full_text_of_cheap(pages: Pages):
    # ontology(cpu) = {1, 3, 4}: a processor is a CPU; fulltext(cheap) = {1, 2, 4}
    """Yang, section 4.4: "The partial full-text index is then used to further reduce
    them"."""
    assert set(pages.found("cpu cheap", PAPER)) == {1, 4}
    assert set(pages.found("cpu", PAPER)) == {1, 3, 4}


def test_features_of_several_words_leave_no_word_of_theirs_in_paper_mode(pages: Pages):
    from opilio.records import ConceptWords

    disks = Concepts({"Disk": ConceptWords(("hard disk",))}, "paper")
    pages.add("A hard disk is not hard to buy")
    index = pages.searcher(disks).index
    assert index.frequency("words", word("disk")) == 0
    assert index.frequency("words", word("hard")) == 1  # the other one


def test_a_synonym_is_found_by_the_concept_and_not_by_full_text(pages: Pages):
    assert 4 in pages.found("cpu", FIXED)
    assert 4 not in pages.found("cpu")


def test_a_kind_of_what_is_meant_is_found_too(pages: Pages):
    assert set(pages.found("computer", FIXED)) == {1, 3, 4}
    assert pages.found("computer") == []


def test_an_ambiguous_feature_is_decided_by_what_else_is_asked():
    from opilio.records import ConceptWords

    concepts = Concepts(
        {
            "Jaguar (animal)": ConceptWords(("jaguar",), {"Cats": 1}),
            "Jaguar (car)": ConceptWords(("jaguar",), {"Cars": 1}),
            "Cats": ConceptWords(("cat",), {"Jaguar (animal)": 1}),
            "Cars": ConceptWords(("car",), {"Jaguar (car)": 1}),
        }
    )
    assert set(concepts.meant(["jaguar"])) == {"Jaguar (animal)", "Jaguar (car)"}
    assert set(concepts.meant(["jaguar", "cat"])) == {"Jaguar (animal)", "Cats"}


def test_topics_without_an_ontology_search_just_as_well(pages: Pages):
    assert pages.found("cheap cpu")[0] == 1
    with pytest.raises(BadInput, match="the topic has none"):
        pages.found("cheap cpu", Concepts({}, "paper"))
