"""A text names concepts of the domain: the ontology's, or else the topic's terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.profiles.subject_concepts import SubjectConcepts
from opilio.records import ClassFeatures, Subject

PLAIN = Subject(
    weights={"honey bee": 1.0, "hive": 0.5},
    terms=("Honey bees", "hives"),
    language="en",
)
CPU, MEMORY = "CPU", "memory"
PC = Subject(
    weights={"comput": 1.0},
    concepts={
        "cpu": (CPU, 1.0),
        "processor": (CPU, 1.0),
        "memori": (MEMORY, 0.5),
    },
    classes={
        CPU: ClassFeatures(["cpu", "processor"]),
        MEMORY: ClassFeatures(["memori"]),
    },
    targets=[CPU],
    terms=("computer", "CPU", "processor", "memory"),
    language="en",
)
MANY = SubjectConcepts(PC)


def test_terms_stand_for_concepts_where_there_is_no_ontology():
    domain = SubjectConcepts(PLAIN)
    assert domain.concepts == ["Honey bees", "hives"]
    assert domain.count({"honey bee": 3, "hive": 1}) == {"Honey bees": 3, "hives": 1}
    assert domain.classify({"honey bee": 3}) == ""


def test_all_names_of_a_concept_count_for_it():
    domain = SubjectConcepts(PC)
    assert domain.concepts == [CPU, MEMORY]
    assert domain.count({"cpu": 2, "processor": 3, "comput": 9}) == {CPU: 5}


def test_a_page_has_the_class_that_its_terms_speak_for():
    domain = SubjectConcepts(PC)
    assert domain.classify({"cpu": 1, "processor": 1, "memori": 1}) == CPU
    assert domain.classify({"comput": 5}) == ""


@pytest.mark.parametrize(
    ("anchor", "counts"),
    [
        ("Processors: the CPU, with memory", {CPU: 2, MEMORY: 1}),
        ("Computers", {}),
        ("", {}),
        ("\ud800 \x00 CPU", {CPU: 1}),
    ],
)
def test_an_anchor_names_concepts(anchor: str, counts: dict[str, int]):
    # Anchor(U,C) of equations 5 and 6.
    assert SubjectConcepts(PC).concepts_of_anchor(anchor) == counts


WORDS = st.lists(
    st.sampled_from(["CPU", "memory", "Processors", "the", "ß", "\n", "\ud800", "価"])
)


@given(st.lists(WORDS.map(" ".join), max_size=30))
def test_many_anchors_at_once_name_what_each_names_alone(anchors: list[str]):
    found = MANY.concepts_of_anchors(anchors)
    alone = [MANY.concepts_of_anchor(anchor) for anchor in anchors]
    assert [found.get(number, {}) for number in range(len(anchors))] == alone


def test_anchors_are_read_in_portions_and_never_whole_books():
    anchors = ["x" * 5000 + " CPU", *["the CPU and its memory"] * 30_000, "y"]
    found = MANY.concepts_of_anchors(anchors)
    assert list(found) == list(range(1, 30_001))
    assert found[30_000] == {CPU: 1, MEMORY: 1}
