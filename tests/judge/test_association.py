"""Tests of paper B, sections 4 and 5: AS(p) and AS(u) (papers.md, B2, B5, B.5-10)."""

from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judged_pages import page
from opilio.errors import BadInput
from opilio.judge.association import Association, association
from opilio.records import Counted, Subject

CONCEPTS = {  # as of an ontology of the computer: the sought CPU, and what is near
    "cpu": ("CPU", 1.0),
    "central process unit": ("CPU", 1.0),
    "processor core": ("Core", 0.5),  # is part of
    "motherboard": ("Motherboard", 0.5),  # has it
    "comput": ("Computer", 0.25),  # two steps away
}


def test_the_weights_of_the_concepts_that_are_named_add_up():
    """B.5-10: the weight by the distance from the target, squashed to [0, 1]. Koundal,
    section 4: "the association metric for this page p is also calculated and
    preserved"."""
    text = Counted({"cpu": 7, "motherboard": 1, "comput": 1, "weather": 9}, 30.0)
    score, parts = association(CONCEPTS, text, "paper")
    assert score == pytest.approx(1 - exp(-1.75))
    assert parts == {
        "CPU": pytest.approx(score * 1 / 1.75),
        "Motherboard": pytest.approx(score * 0.5 / 1.75),
        "Computer": pytest.approx(score * 0.25 / 1.75),
    }


@pytest.mark.parametrize("mode", ["fixed", "paper"])
def test_a_concept_counts_once_however_many_of_its_terms_occur(mode):
    both = Counted({"cpu": 2, "central process unit": 3}, 10.0)
    one = Counted({"cpu": 5}, 10.0)
    assert association(CONCEPTS, both, mode) == association(CONCEPTS, one, mode)


def test_a_long_page_that_names_a_concept_once_is_not_about_it_when_fixed():
    short, long = Counted({"cpu": 1}, 4.0), Counted({"cpu": 1}, 40.0)
    in_paper = [association(CONCEPTS, text, "paper")[0] for text in (short, long)]
    assert in_paper[0] == in_paper[1] == pytest.approx(1 - exp(-1))
    assert association(CONCEPTS, short)[0] == pytest.approx(1 - exp(-1 / 4))
    assert association(CONCEPTS, long)[0] == pytest.approx(1 - exp(-1 / 40))


def test_a_concept_that_is_named_often_counts_more_when_fixed():
    score, _ = association(CONCEPTS, Counted({"cpu": 20}, 40.0))
    assert score == pytest.approx(1 - exp(-(1 + log(20)) / 40))


def test_the_words_of_a_link_have_an_association_of_their_own():
    """Koundal, section 4: "The association metric for the URL u is estimated based on
    its relevancy with the reference ontology"."""
    anchor = Counted({"cpu": 1, "motherboard": 1}, 2.0)
    assert association(CONCEPTS, anchor)[0] == pytest.approx(1 - exp(-1.5 / 2))
    assert association(CONCEPTS, Counted()) == (0.0, {})


def test_a_page_is_relevant_by_the_concepts_it_names():
    judge = Association(Subject(concepts=CONCEPTS))
    about = judge.judge(page({"cpu": 9, "motherboard": 4, "comput": 3}, norm=25.0))
    assert about.relevant
    assert sum(about.parts.values()) == pytest.approx(about.score)
    assert next(iter(about.parts)) == "CPU"
    aside = judge.judge(page({"comput": 1}, norm=25.0))
    assert not aside.relevant
    assert 0 < aside.score < about.score


def test_the_threshold_of_the_topic_wins_over_the_judges_own():
    strict = Association(Subject(concepts=CONCEPTS, threshold=0.99))
    assert not strict.judge(page({"cpu": 9}, norm=5.0)).relevant


def test_a_page_is_relevant_from_the_threshold_on():
    score, _ = association(CONCEPTS, Counted({"cpu": 1}, 4.0))
    judge = Association(Subject(concepts=CONCEPTS, threshold=score))
    assert judge.judge(page({"cpu": 1}, norm=4.0)).relevant
    assert not judge.judge(page({"cpu": 1}, norm=4.01)).relevant


def test_each_mode_has_a_threshold_of_its_own():
    """Of AS, 1 − exp(−Σ w): .08 in `fixed`, .9 in `paper`."""
    fixed = Association(Subject(concepts=CONCEPTS))
    assert fixed.judge(page({"cpu": 1}, norm=11.9)).relevant  # 1 − exp(−1/11.9) = .0806
    assert not fixed.judge(page({"cpu": 1}, norm=12.1)).relevant  # .0793
    near = {f"t{n}": (f"C{n}", 0.1) for n in range(24)}
    paper = Association(Subject(concepts=near), "paper")
    enough = dict.fromkeys(near, 1)
    assert not paper.judge(page(dict(list(enough.items())[:23]))).relevant  # .8997
    assert paper.judge(page(enough)).relevant  # .909


def test_a_concept_counts_by_the_nearest_of_its_terms():
    concepts = {"cpu": ("CPU", 1.0), "chip": ("CPU", 0.3), "bit": ("Bit", 0.001)}
    text = Counted({"cpu": 1, "chip": 1}, 10.0)
    assert association(concepts, text, "paper")[0] == pytest.approx(1 - exp(-1))
    far = Counted({"bit": 1}, 10.0)
    assert association(concepts, far, "paper")[0] == pytest.approx(1 - exp(-0.001))


def test_a_text_of_less_than_a_word_counts_as_one_word():
    assert association(CONCEPTS, Counted({"cpu": 1}, 0.5))[0] == pytest.approx(
        1 - exp(-1)
    )


def test_a_topic_without_an_ontology_is_told_what_to_add():
    with pytest.raises(BadInput, match=r"'association'.*\[ontology\].*--judge cosine"):
        Association(Subject(weights={"cpu": 1.0}))


@given(
    st.dictionaries(st.sampled_from([*CONCEPTS, "weather"]), st.integers(1, 10**6)),
    st.floats(0, 1000),
    st.sampled_from(["fixed", "paper"]),
)
def test_every_score_is_between_0_and_1_and_the_parts_add_up(terms, norm, mode):
    score, parts = association(CONCEPTS, Counted(terms, norm), mode)
    assert 0 <= score <= 1
    assert sum(parts.values()) == pytest.approx(score)
