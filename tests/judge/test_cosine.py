"""Golden tests of paper D, equation 4 (papers.md, D.4, test 3)."""

from math import log, sqrt

import pytest

from opilio.judge.cosine import Cosine
from opilio.judge.languages import InLanguages
from opilio.types import Page, Subject

TABLE = {"lok sabha": 1.5, "poll": 1.5, "manifesto": 1.0, "2014": 1.5}


def page(terms: dict[str, int], norm: float, language: str = "en") -> Page:
    return Page(
        url="http://a.test/",
        title="",
        language=language,
        charset="utf-8",
        words=sum(terms.values()),
        terms=terms,
        norm=norm,
        simhash=0,
        links=(),
    )


def cosine(weights: dict[str, float], threshold: float) -> Cosine:
    return Cosine(Subject(weights=weights, threshold=threshold))


def test_a_page_with_one_term_of_the_table_once():
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


def test_the_parts_add_up_to_the_score():
    verdict = cosine(TABLE, 0.1).judge(page({"poll": 3, "2014": 1}, norm=12.0))
    assert sum(verdict.parts.values()) == pytest.approx(verdict.score)
    assert set(verdict.parts) == {"poll", "2014"}


def test_an_empty_page_is_not_relevant():
    verdict = cosine(TABLE, 0.1).judge(page({}, norm=0.0))
    assert (verdict.score, verdict.relevant) == (0.0, False)


@pytest.mark.parametrize(
    ("language", "relevant"), [("en", True), ("fr", False), ("", True)]
)
def test_pages_in_another_language_are_not_relevant(language: str, relevant: bool):
    judge = InLanguages(cosine(TABLE, 0.1), ["en"])
    verdict = judge.judge(page({"poll": 1}, norm=2.0, language=language))
    assert verdict.relevant is relevant
    assert verdict.score > 0.1
