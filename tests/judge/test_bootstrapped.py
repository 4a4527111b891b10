"""The judge that starts from keywords: what it learns, and when it does not."""

from math import isfinite

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.learning_pages import crawl, make, page_of, subject
from opilio.errors import BadInput
from opilio.judge.bootstrapped import Bootstrapped
from opilio.judge.keyword_score import CUT
from opilio.judge.page_sample import SIZE
from opilio.records import Page, Subject


def taught(pages: list[Page]) -> Bootstrapped:
    judge = Bootstrapped(subject())
    for page in pages:
        judge.judge(page)
    return judge


def test_it_finds_pages_of_the_topic_that_name_no_keyword():
    silent, other = make("sky", 9000, silent=True), make("sea", 9000)
    assert Bootstrapped(subject()).judge(silent).score == 0
    judge = taught(crawl(600))
    assert judge.judge(silent).relevant
    assert not judge.judge(other).relevant


def test_it_unlearns_keywords_that_mean_something_else():
    page = page_of(["star", *(f"film{i}" for i in range(1, 21))])
    judge = taught(crawl(300))
    assert Bootstrapped(subject()).judge(page).relevant
    assert judge.judge(page).score < judge.judge(make("sky", 9001, silent=True)).score


def test_before_it_has_learnt_it_judges_by_keywords_and_half_is_the_cosine_threshold():
    judge = Bootstrapped(subject())
    assert judge.score(None, CUT).score == pytest.approx(0.5)
    verdict = judge.judge(page_of(["star", *"abc"]))
    assert verdict.parts.keys() == {"keywords"}
    assert verdict.relevant


def test_when_every_page_seen_is_relevant_it_goes_on_with_keywords_alone():
    always = [page_of(["star", "planet", *words]) for words in ("ab", "bc", "ca")]
    judge = taught(always * 50)
    verdict = judge.judge(always[0])
    assert verdict.parts.keys() == {"keywords"}
    assert verdict.relevant


def test_when_the_only_background_is_relevant_too_most_pages_stay_relevant():
    judge = taught([make("sky", number) for number in range(200)])
    pages = [make("sky", number) for number in range(9100, 9150)]
    assert sum(judge.judge(page).relevant for page in pages) >= 45


def test_it_learns_in_a_crawl_of_mostly_relevant_pages_too():
    judge = taught(crawl(300, share=0.85))
    silent, other = make("sky", 9003, silent=True), make("law", 9003)
    assert judge.judge(silent).score > judge.judge(other).score + 0.2


def test_the_parts_add_up_to_the_score():
    verdict = taught(crawl(200)).judge(make("sky", 9004))
    assert verdict.parts.keys() == {"keywords", "words"}
    assert sum(verdict.parts.values()) == pytest.approx(verdict.score)


def test_a_title_with_a_keyword_counts():
    judge = Bootstrapped(subject())
    plain, titled = page_of(["star", "x"]), page_of(["star", "x"], "star atlas")
    assert judge.judge(titled).score > judge.judge(plain).score


def test_the_topic_may_set_the_threshold():
    page = make("sky", 1)
    score = Bootstrapped(subject()).judge(page).score
    assert not Bootstrapped(subject(threshold=score + 0.01)).judge(page).relevant


def test_the_same_pages_in_the_same_order_give_the_same_scores():
    first, second = taught(crawl(500)), taught(crawl(500))
    pages = [make("sky", 9005), make("film", 9005), make("law", 9005)]
    assert [first.judge(p) for p in pages] == [second.judge(p) for p in pages]


def test_what_it_remembers_is_bounded():
    judge = taught(crawl(2 * SIZE))
    assert len(judge.sample.surest) == len(judge.sample.any) == SIZE
    numbers = [seen.number for seen in judge.sample.any]
    assert sum(number > SIZE for number in numbers) > SIZE / 3  # late pages too


def test_looking_at_a_page_teaches_nothing():
    judge = taught(crawl(100))
    seen = judge.sample.rarity.pages
    assert judge.look(make("sky", 9007)) == judge.judge(make("sky", 9007))
    assert judge.sample.rarity.pages == seen + 1


def test_an_empty_page_is_not_relevant_and_teaches_nothing():
    judge = taught(crawl(100))
    seen = judge.sample.rarity.pages
    assert judge.judge(page_of([])).score == 0
    assert judge.sample.rarity.pages == seen


def test_a_topic_without_keywords_is_refused_with_a_remedy():
    with pytest.raises(BadInput, match="keywords = "):
        Bootstrapped(Subject())


@settings(max_examples=20, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(["star", "planet", "a", "b", "c", "d"]), max_size=9),
        min_size=1,
        max_size=80,
    )
)
def test_whatever_it_reads_scores_stay_between_zero_and_one(texts: list[list[str]]):
    judge = Bootstrapped(subject())
    for words in texts:
        score = judge.judge(page_of(words, " ".join(words[:2]))).score
        assert isfinite(score)
        assert 0 <= score <= 1
