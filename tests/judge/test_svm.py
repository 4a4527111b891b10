"""The SVM judge of the thesis (E9), calibrated by Platt's sigmoid."""

import sys
from importlib.util import find_spec
from math import exp

import numpy as np
import pytest

from judge.learning_pages import crawl, make, subject
from opilio.errors import BadInput
from opilio.judge import JUDGES
from opilio.judge.lesson import prepare_lesson
from opilio.judge.linear import Linear
from opilio.judge.svm import Svm, fit_svm, probability
from opilio.records import Page, Subject

pytestmark = pytest.mark.skipif(not find_spec("sklearn"), reason="needs scikit-learn")

EXAMPLES = [make("sky", number, silent=True) for number in range(1000, 1010)]


def taught(pages: list[Page], **changes: object) -> Svm:
    judge = Svm(subject(relevant=EXAMPLES, **changes))
    for page in pages:
        judge.judge(page)
    return judge


def test_it_tells_pages_like_the_examples_from_others():
    judge = taught(crawl(200))
    assert judge.judge(make("sky", 9000, silent=True)).relevant
    for other in ("sea", "law", "film"):
        assert not judge.judge(make(other, 9000)).relevant


def test_it_works_from_the_first_page_on_by_keywords():
    judge = Svm(subject(relevant=EXAMPLES))
    verdict = judge.judge(make("sky", 1))
    assert verdict.relevant
    assert verdict.parts.keys() == {"keywords"}


def test_it_needs_no_keywords_once_there_are_pages_to_compare_with():
    judge = Svm(Subject(relevant=EXAMPLES))
    for page in crawl(200):
        judge.judge(page)
    assert judge.judge(make("sky", 9001, silent=True)).relevant
    assert not judge.judge(make("law", 9001)).relevant


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_examples_are_enough(count: int):
    judge = Svm(subject(relevant=EXAMPLES[:count]))
    for page in crawl(200):
        judge.judge(page)
    sky, sea = make("sky", 9002, silent=True), make("sea", 9002)
    assert judge.judge(sky).score > judge.judge(sea).score


def test_the_parts_add_up_to_the_score():
    verdict = taught(crawl(100)).judge(make("sky", 9003))
    assert verdict.parts.keys() == {"keywords", "model"}
    assert sum(verdict.parts.values()) == pytest.approx(verdict.score)


def test_others_weigh_twice_as_much_as_the_examples():
    """4.7.1: "negatives 2× positives". Aastha, section 4.7.1: "The negative examples
    are again twice as many as the positive examples"."""
    for judge, share in (
        (taught(crawl(100)), 2.0),
        (Linear(subject(relevant=EXAMPLES)), 1.0),
    ):
        for page in crawl(100):
            judge.judge(page)
        lesson = prepare_lesson(judge.sample)
        assert lesson is not None
        _, labels, weights = judge.training(lesson)
        assert weights[labels == 0].sum() == pytest.approx(
            share * weights[labels == 1].sum()
        )


@pytest.mark.parametrize("examples", [3, 30])
def test_the_score_is_what_scikit_learn_calls_the_probability(examples):
    """The model that is kept, of a direction and an offset, says the same."""
    from scipy.sparse import csr_matrix
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.model_selection import StratifiedKFold
    from sklearn.svm import LinearSVC

    rng = np.random.default_rng(0)
    labels, weights = np.repeat([1, 0], [examples, 30]), np.ones(examples + 30)
    rows = csr_matrix(rng.normal(size=(examples + 30, 5)) + labels[:, None])
    direction, a, b = fit_svm(rows, labels, weights)
    ours = [probability(-(a * value + b)) for value in rows @ direction]
    folds = StratifiedKFold(min(5, examples), shuffle=True, random_state=0)
    theirs = CalibratedClassifierCV(
        LinearSVC(C=1.0, random_state=0, max_iter=10_000), cv=folds, ensemble=False
    ).fit(rows, labels, sample_weight=weights)
    assert ours == pytest.approx(theirs.predict_proba(rows)[:, 1], abs=1e-9)


def test_without_a_cross_validation_the_sigmoid_is_half_way_between_both():
    from scipy.sparse import csr_matrix

    rows = csr_matrix([[2.0, 0.0], [2.2, 0.0], [0.0, 1.0], [0.0, 1.1], [0.0, 0.9]])
    labels = np.array([1, 1, 0, 0, 0])
    direction, a, b = fit_svm(rows, labels, np.ones(5))
    chances = np.array([probability(-(a * v + b)) for v in rows @ direction])
    assert (chances[labels == 1] > 0.8).all()
    assert (chances[labels == 0] < 0.2).all()
    logits = -(a * (rows @ direction) + b)
    assert logits[labels == 1].mean() == pytest.approx(2.0)  # a slope of 4 from
    assert logits[labels == 0].mean() == pytest.approx(-2.0)  # mean to mean


def test_keywords_count_half_with_50_pages_and_less_with_more():
    """score = v·k/(k + cut) + (1 − v)·p, v = 50/(50 + n)."""
    judge = taught(crawl(100))
    page = make("sky", 9003)
    alone = Svm(subject(relevant=EXAMPLES)).judge(page).score
    for pages in (100, 50):
        judge.sample.rarity.pages = pages
        judge.model = judge.learn()
        parts = judge.look(page).parts
        assert parts["keywords"] == pytest.approx(alone * 50 / (50 + pages))
        assert 0 < parts["model"] <= pages / (50 + pages)
    lesson = prepare_lesson(judge.sample)
    assert lesson is not None
    rows, labels, weights = judge.training(lesson)
    direction, a, b = fit_svm(rows, labels, weights)
    [logit, *_] = -(a * (rows @ direction) + b)  # of the first example
    learnt = judge.look(EXAMPLES[0]).parts["model"]
    assert learnt == pytest.approx(probability(logit) / 2, rel=1e-4)


@pytest.mark.parametrize("pages", [0, 60])
def test_a_page_is_relevant_from_the_threshold_on(pages):
    judge, page = taught(crawl(pages)), make("sky", 9003)
    judge.threshold = judge.look(page).score
    assert judge.look(page).relevant
    judge.threshold += 1e-9
    assert not judge.look(page).relevant


def test_probabilities_stay_numbers_far_away():
    assert probability(1e9) == pytest.approx(1.0)
    assert probability(-1e9) == pytest.approx(exp(-30), rel=1e-6, abs=0)
    assert probability(0.0) == 0.5


def test_what_it_learnt_survives_a_restart():
    first = taught(crawl(150))
    second = Svm(subject(relevant=EXAMPLES))
    first.journal.diary.is_due = True
    learnt = {name: one.dump() for name, one in first.learners().items()}
    for name, one in second.learners().items():
        if learnt[name] is not None:
            one.load(learnt[name])
    page = make("sky", 9004)
    assert second.look(page) == first.look(page)


def test_what_it_needs_is_named():
    with pytest.raises(BadInput, match=r"'svm' needs example pages.*\[examples\]"):
        Svm(subject())
    assert isinstance(JUDGES["svm"](subject(relevant=EXAMPLES)), Svm)


def test_scikit_learn_is_named_if_it_is_missing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(BadInput, match=r"'svm' needs scikit-learn.*opilio\[learn\]"):
        Svm(subject(relevant=EXAMPLES))
