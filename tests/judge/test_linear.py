"""The judge that learns from example pages."""

import sys
from importlib.util import find_spec

import pytest

from judge.learning_pages import crawl, make, page_of, subject
from opilio.errors import BadInput
from opilio.judge.linear import Linear
from opilio.records import Page, Subject

pytestmark = pytest.mark.skipif(not find_spec("sklearn"), reason="needs scikit-learn")

EXAMPLES = [make("sky", number, silent=True) for number in range(1000, 1010)]


def taught(pages: list[Page], **changes: object) -> Linear:
    judge = Linear(subject(relevant=EXAMPLES, **changes))
    for page in pages:
        judge.judge(page)
    return judge


def test_it_tells_pages_like_the_examples_from_others():
    judge = taught(crawl(200))
    assert judge.judge(make("sky", 9000, silent=True)).relevant
    for other in ("sea", "law", "film"):
        assert not judge.judge(make(other, 9000)).relevant


def test_it_works_from_the_first_page_on_by_keywords():
    judge = Linear(subject(relevant=EXAMPLES))
    verdict = judge.judge(make("sky", 1))
    assert verdict.relevant
    assert verdict.parts.keys() == {"keywords"}
    assert not judge.judge(make("sea", 1)).relevant


def test_it_needs_no_keywords_once_there_are_pages_to_compare_with():
    judge = Linear(Subject(relevant=EXAMPLES))
    for page in crawl(200):
        judge.judge(page)
    assert judge.judge(make("sky", 9001, silent=True)).relevant
    assert not judge.judge(make("law", 9001)).relevant


def test_one_example_is_enough():
    judge = Linear(subject(relevant=EXAMPLES[:1]))
    for page in crawl(200):
        judge.judge(page)
    sky, sea = make("sky", 9002, silent=True), make("sea", 9002)
    assert judge.judge(sky).score > judge.judge(sea).score


def test_examples_of_what_is_irrelevant_lower_pages_like_them():
    page = page_of(["star", "planet", *(f"film{i}" for i in range(1, 21))] * 3)
    films = [make("film", number) for number in range(2000, 2010)]
    plain, warned = taught(crawl(200)), taught(crawl(200), irrelevant=films)
    assert warned.judge(page).score < plain.judge(page).score


def test_the_parts_add_up_to_the_score():
    verdict = taught(crawl(100)).judge(make("sky", 9003))
    assert verdict.parts.keys() == {"keywords", "model"}
    assert sum(verdict.parts.values()) == pytest.approx(verdict.score)


def test_the_same_pages_in_the_same_order_give_the_same_scores():
    pages = [make("sky", 9004), make("film", 9004), make("law", 9004)]
    first, second = taught(crawl(150)), taught(crawl(150))
    assert [first.judge(p) for p in pages] == [second.judge(p) for p in pages]


def test_a_topic_without_examples_is_refused_with_a_remedy():
    with pytest.raises(BadInput, match=r"\[examples\]"):
        Linear(subject())


def test_examples_without_words_are_no_examples():
    with pytest.raises(BadInput, match=r"\[examples\]"):
        Linear(subject(relevant=[page_of([])]))


def test_without_scikit_learn_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(BadInput, match=r'pip install "opilio\[learn\]"'):
        Linear(subject(relevant=EXAMPLES))
