"""Golden tests of paper D, equation 4 (papers.md, D.4, test 3)."""

from math import log, sqrt

import pytest

from judge.judged_pages import page
from opilio.errors import BadInput
from opilio.judge.cosine import Cosine
from opilio.judge.languages import InLanguages
from opilio.records import Subject

TABLE = {"lok sabha": 1.5, "poll": 1.5, "manifesto": 1.0, "2014": 1.5}


def cosine(weights: dict[str, float], threshold: float) -> Cosine:
    return Cosine(Subject(weights=weights, threshold=threshold))


def test_a_page_with_one_term_of_the_table_once():
    """Aastha, section 2.5.3: "its float value is between 0 and 1"."""
    verdict = cosine(TABLE, 0.5).judge(page({"poll": 1}, norm=1.0))
    assert verdict.score == pytest.approx(1.5 / sqrt(7.75))
    assert verdict.score == pytest.approx(0.5388, abs=1e-4)
    assert verdict.relevant


def test_a_page_that_says_what_the_table_says_scores_one():
    weights = {"a": 1.0, "b": 1.0}
    verdict = cosine(weights, 0.5).judge(page({"a": 1, "b": 1}, norm=sqrt(2)))
    assert verdict.score == pytest.approx(1.0)


def test_repetition_counts_by_its_logarithm():
    verdict = cosine({"a": 1.0}, 0.5).judge(page({"a": 10}, norm=50.0))
    assert verdict.score == pytest.approx((1 + log(10)) / 50)


def test_in_paper_mode_repetition_counts_in_full():
    """D.6-5: the weights (1.5, 1.5, 1, 1.5) as counts (3, 3, 2, 3) and nothing else."""
    judge = Cosine(Subject(weights=TABLE), "paper")
    assert judge.reads.vector
    terms = {"lok sabha": 3, "poll": 3, "manifesto": 2, "2014": 3}
    verdict = judge.judge(page(terms, counts=[3, 3, 2, 3]))
    assert verdict.score == pytest.approx(1.0)
    longer = judge.judge(page(terms, counts=[3, 3, 2, 3, 20]))
    assert longer.score == pytest.approx(sqrt(31 / 431))


def test_the_parts_add_up_to_the_score():
    verdict = cosine(TABLE, 0.1).judge(page({"poll": 3, "2014": 1}, norm=12.0))
    assert sum(verdict.parts.values()) == pytest.approx(verdict.score)
    assert set(verdict.parts) == {"poll", "2014"}


def test_of_many_parts_the_small_ones_are_one():
    weights = {f"term{n}": float(n) for n in range(1, 41)}
    verdict = cosine(weights, 0.1).judge(page(dict.fromkeys(weights, 1), norm=20.0))
    assert len(verdict.parts) == 12
    assert sum(verdict.parts.values()) == pytest.approx(verdict.score)
    assert next(iter(verdict.parts)) == "term40"
    assert "(29 more)" in verdict.parts


def test_an_empty_page_is_not_relevant():
    verdict = cosine(TABLE, 0.1).judge(page({}, norm=0.0))
    assert (verdict.score, verdict.relevant) == (0.0, False)
    verdict = Cosine(Subject(weights=TABLE), "paper").judge(page())
    assert (verdict.score, verdict.relevant) == (0.0, False)


def test_rounding_takes_no_score_above_one():
    """Eighteen terms once each: the sum of the products is 1 + 2⁻⁵²."""
    terms = [f"term{n}" for n in range(18)]
    judge = cosine(dict.fromkeys(terms, 1.0), 0.5)
    assert judge.judge(page(dict.fromkeys(terms, 1), norm=sqrt(18))).score == 1.0


def test_a_page_is_relevant_from_the_threshold_on():
    judge = cosine({"a": 1.0}, 0.25)
    assert judge.judge(page({"a": 1}, norm=4.0)).relevant
    assert not judge.judge(page({"a": 1}, norm=4.01)).relevant


@pytest.mark.parametrize(("mode", "least"), [("fixed", 0.06), ("paper", 0.03)])
def test_each_mode_has_a_threshold_of_its_own(mode, least):
    judge = Cosine(Subject(weights={"a": 1.0}), mode)
    for score, relevant in ((least * 1.05, True), (least * 0.95, False)):
        others = round(sqrt(1 / score**2 - 1))
        verdict = judge.judge(page({"a": 1}, norm=1 / score, counts=[1, others]))
        assert verdict.score == pytest.approx(score, rel=0.02)
        assert verdict.relevant is relevant


@pytest.mark.parametrize("weights", [{}, {"a": 0.0}])
def test_a_topic_without_a_weight_table_is_refused(weights):
    with pytest.raises(BadInput, match=r"'cosine' needs a weight table.*keywords ="):
        Cosine(Subject(weights=weights))


@pytest.mark.parametrize(
    ("language", "relevant"), [("en", True), ("fr", False), ("", True)]
)
def test_pages_in_another_language_are_not_relevant(language: str, relevant: bool):
    judge = InLanguages(cosine(TABLE, 0.1), ["en"])
    verdict = judge.judge(page({"poll": 1}, norm=2.0, language=language))
    assert verdict.relevant is relevant
    assert verdict.score > 0.1
