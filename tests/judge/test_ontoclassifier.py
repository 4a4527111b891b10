"""Tests of paper C, section 3 and figure 3: two stages (papers.md, C4, C5, C.5-6)."""

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judged_pages import page
from opilio.errors import BadInput
from opilio.judge.ontoclassifier import OntoClassifier
from opilio.records import ClassFeatures, Subject

# A PC domain as in figures 1 and 3: square nodes hold what is a class's own, oval ones
# what two classes share, with its distance from each.
CLASSES = {
    "CPU": ClassFeatures(
        representative=["cpu", "l2 cach", "clock rate", "pentium", "athlon"],
        related={"socket": 1, "front side bus": 1, "cach": 2, "comput": 3},
    ),
    "Motherboard": ClassFeatures(
        representative=["motherboard", "chipset", "pci slot", "bio"],
        related={"socket": 2, "front side bus": 1, "dimm slot": 1, "comput": 3},
    ),
    "Memory": ClassFeatures(
        representative=["ram", "sdram", "dram"],
        related={"dimm slot": 2, "cach": 1, "comput": 3},
    ),
}
SUBJECT = Subject(classes=CLASSES, targets=["CPU"])


def classifier(mode="fixed", **changes) -> OntoClassifier:
    return OntoClassifier(
        Subject(**{"classes": CLASSES, "targets": ["CPU"], **changes}), mode
    )


def test_stage_1_counts_the_representative_features_that_appear():
    """Section 3: "the number of ontological features of a class that appears"."""
    found, evidence = classifier("paper").classify(
        {"cpu": 9, "pentium": 1, "athlon": 1, "ram": 40, "socket": 3}
    )
    assert (found, evidence) == ("CPU", {"CPU": 3, "Memory": 1})


def test_stage_2_takes_over_when_no_representative_feature_is_found():
    """Section 3, "a level-related weighting mechanism"; C.5-6: 1/level."""
    found, evidence = classifier("paper").classify({"socket": 5, "cach": 1})
    assert evidence == {"CPU": 1 + 1 / 2, "Motherboard": 1 / 2, "Memory": 1}
    assert found == "CPU"


def test_stage_2_takes_over_when_two_classes_are_too_close():
    """C.5-6: the top two within 10 %. Yang, section 3: "If for any reason the first
    stage cannot return a class for a webpage/website, we move to the second stage"."""
    terms = {"cpu": 1, "motherboard": 1, "dimm slot": 1}
    found, evidence = classifier("paper").classify(terms)
    assert (found, evidence) == ("Motherboard", {"Motherboard": 1, "Memory": 1 / 2})
    found, evidence = classifier().classify(terms)
    assert found == "Motherboard"
    assert evidence == {"CPU": 1, "Motherboard": 2, "Memory": 1 / 2}


@pytest.mark.parametrize(("second", "stage"), [(8, 1), (9, 2), (10, 2)])
def test_within_ten_percent_means_nine_of_ten_but_not_eight(second: int, stage: int):
    classes = {
        "A": ClassFeatures([f"a{n}" for n in range(10)]),
        "B": ClassFeatures([f"b{n}" for n in range(10)], {"shared": 1}),
    }
    terms = dict.fromkeys([f"a{n}" for n in range(10)], 1)
    terms |= dict.fromkeys([f"b{n}" for n in range(second)], 1)
    judge = classifier("paper", classes=classes, targets=["A"])
    found, _ = judge.classify({**terms, "shared": 1})
    assert found == {1: "A", 2: "B"}[stage]


def test_a_tie_in_stage_2_leaves_the_page_without_a_class():
    assert classifier("paper").classify({"comput": 4})[0] == ""
    assert classifier().classify({"cpu": 1, "motherboard": 1})[0] == ""
    assert classifier().classify({}) == ("", {})


def test_the_score_is_the_share_of_the_evidence_for_what_is_sought():
    terms = {"cpu": 1, "pentium": 1, "athlon": 1, "ram": 1}
    in_paper = classifier("paper").judge(page(terms, norm=9.0))
    assert in_paper.score == pytest.approx(3 / 4)
    assert in_paper.parts == {"CPU": 3 / 4, "Memory": 1 / 4}
    assert in_paper.relevant
    fixed = classifier().judge(page(terms, norm=9.0))
    assert fixed.score == pytest.approx(3 / (4 + 9 / 2))


def test_one_word_on_a_long_page_does_not_make_it_certain_when_fixed():
    terms = {"cpu": 1}
    assert classifier("paper").judge(page(terms, norm=50.0)).score == 1.0
    assert classifier().judge(page(terms, norm=50.0)).score == pytest.approx(1 / 26)
    assert classifier().judge(page(terms, norm=2.0)).score == pytest.approx(1 / 2)
    often = classifier().judge(page({"cpu": 10}, norm=50.0))
    assert often.score == pytest.approx((1 + log(10)) / (26 + log(10)))


def test_a_page_of_another_class_is_not_relevant_whatever_its_score():
    terms = {"cpu": 1, "clock rate": 1, "ram": 1, "sdram": 1, "dram": 1}
    verdict = classifier(threshold=0.1).judge(page(terms, norm=9.0))
    assert verdict.score > 0.1
    assert not verdict.relevant
    both = classifier(targets=["CPU", "Memory"]).judge(page(terms, norm=9.0))
    assert both.relevant
    assert both.score == pytest.approx(5 / (5 + 9 / 2))


def test_the_threshold_of_the_topic_holds_too():
    seen = page({"cpu": 3, "pentium": 1}, norm=9.0)
    assert classifier().judge(seen).relevant
    assert not classifier(threshold=0.99).judge(seen).relevant


@pytest.mark.parametrize(
    ("subject", "lacks"),
    [
        (Subject(), "classes of an ontology"),
        (Subject(classes=CLASSES), "which class is sought"),
        (Subject(classes=CLASSES, targets=["Screen"]), "which class is sought"),
    ],
)
def test_a_topic_that_lacks_classes_is_told_what_to_add(subject: Subject, lacks: str):
    with pytest.raises(BadInput, match=lacks) as refused:
        OntoClassifier(subject)
    for word in ("'ontoclassifier'", "[ontology]", "--judge cosine"):
        assert word in str(refused.value)


FEATURES = sorted(
    {key for c in CLASSES.values() for key in (*c.representative, *c.related)}
)


@given(
    st.dictionaries(st.sampled_from(FEATURES), st.integers(1, 1000)),
    st.sampled_from(["fixed", "paper"]),
)
def test_every_score_is_between_0_and_1(terms, mode):
    verdict = OntoClassifier(SUBJECT, mode).judge(page(terms, norm=9.0))
    assert 0 <= verdict.score <= 1
    assert verdict.score == pytest.approx(verdict.parts.get("CPU", 0.0))
    assert verdict.relevant <= (verdict.score > 0)
