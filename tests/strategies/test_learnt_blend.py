"""How far words of links and rules of classes are trusted is learnt."""

import json

import numpy as np
import pytest

from opilio.records import Link
from opilio.strategies.shared.learnt_blend import (
    LearntBlend,
    Row,
    noisy_or,
    terms,
)

WORDS, RULES = (4.0, 0.05), (0.0, 0.4)  # OBRS and LARS of two links


def rows(relevant_by) -> list[Row]:
    """Links of all kinds of OBRS and LARS; given both, are they relevant?"""
    rng = np.random.default_rng(5)
    scores = zip(rng.random(300) * 5, rng.random(300) * 0.5, strict=True)
    return [(float(a), float(b), bool(relevant_by(a, b))) for a, b in scores]


def promises(blend: LearntBlend, *scores: tuple[float, float]) -> list[float]:
    return blend.promises(np.array(scores)).tolist()


def link(number: int) -> Link:
    return Link(f"http://a.test/{number}", number)


def test_before_anything_is_learnt_one_of_two_signs_is_right():
    blend = LearntBlend(0)
    expected = [noisy_or(*WORDS), noisy_or(*RULES)]
    assert promises(blend, WORDS, RULES) == pytest.approx(expected)
    assert noisy_or(2.0, 0.5) == pytest.approx(1 - np.exp(-1) * 0.5)
    assert blend.dump() is None


def test_where_words_tell_nothing_the_rules_decide():
    """1 − exp(−o/2) has no weight, log(l/(1 − l)) has much."""
    blend = LearntBlend(0, rows(lambda obrs, lars: lars > 0.25))
    words, rules = promises(blend, WORDS, RULES)
    assert rules > 0.8 > 0.2 > words
    assert blend.weights[1] > 2


def test_where_words_mislead_they_count_against_a_link():
    blend = LearntBlend(0, rows(lambda obrs, lars: obrs < 1))
    few, many = promises(blend, (0.1, 0.2), (4.0, 0.2))
    assert blend.weights[0] < 0
    assert few > many


def test_where_rules_tell_nothing_the_words_decide():
    blend = LearntBlend(0, rows(lambda obrs, lars: obrs > 2.5))
    words, rules = promises(blend, WORDS, RULES)
    assert words > 0.8 > 0.2 > rules


def test_links_that_all_end_alike_teach_nothing():
    blend = LearntBlend(0, rows(lambda obrs, lars: False))
    assert blend.weights is None
    assert promises(blend, WORDS) == pytest.approx([noisy_or(*WORDS)])


def test_visits_alone_teach_nothing():
    """They are the links that promised most, so they say little about others."""
    blend = LearntBlend(0)
    for number in range(100):
        blend.expect([link(number)], np.array([WORDS if number % 2 else RULES]))
        blend.settle(number, relevant=number % 2 == 0)
    assert blend.weights is None
    assert blend.revise() == []


def test_visits_correct_what_the_first_links_taught_and_revise_waiting_links():
    blend = LearntBlend(0, rows(lambda obrs, lars: obrs > 2.5)[:40])
    blend.expect([link(1000), link(1001)], np.array([WORDS, RULES]))
    before = promises(blend, WORDS, RULES)
    assert before[0] > before[1]
    revised = {}
    for number in range(400):
        blend.expect([link(number)], np.array([WORDS if number % 2 else RULES]))
        blend.settle(number, relevant=number % 2 == 0)
        revised |= {new[0]: new for new in blend.revise()}
    after = promises(blend, WORDS, RULES)
    assert after[1] > after[0]
    assert [revised[1000][1], revised[1001][1]] == pytest.approx(after, abs=0.1)
    for _, promise, parts in revised.values():
        assert sum(parts.values()) == pytest.approx(promise)
    assert 100 not in {new[0] for new in blend.revise()}


def test_a_visit_without_a_page_teaches_nothing_and_no_longer_waits():
    blend = LearntBlend(0, rows(lambda obrs, lars: obrs > 2.5))
    before = blend.weights.copy()
    for number in range(400):
        blend.expect([link(number)], np.array([WORDS]))
        blend.settle(number, relevant=False, teaches=False)
    assert blend.weights == pytest.approx(before)
    assert blend.experience.waiting == 0


def test_another_subject_replaces_what_is_known_about_waiting_links_only():
    blend = LearntBlend(0, rows(lambda obrs, lars: obrs > 2.5))
    blend.expect([link(1), link(2)], np.array([WORDS, WORDS]))
    blend.settle(2, relevant=True)
    blend.replace([link(1), link(2), link(3)], np.array([RULES, RULES, RULES]))
    fingerprints, seen = blend.experience.all_waiting()
    assert fingerprints == [1]
    assert blend._score(seen) == pytest.approx(promises(blend, RULES))


def test_a_restart_changes_nothing():
    def live(blend: LearntBlend, start: int, end: int) -> None:
        for number in range(start, end):
            blend.expect([link(number)], np.array([WORDS if number % 3 else RULES]))
            blend.settle(number, relevant=number % 3 == 0)

    first = rows(lambda obrs, lars: obrs > 2.5)[:60]
    whole = LearntBlend(0, first)
    live(whole, 0, 300)
    begun = LearntBlend(0, first)
    live(begun, 0, 150)
    resumed = LearntBlend(0)
    resumed.load(begun.dump())
    resumed.recall((key, note) for key, note in begun.changes() if note)
    live(resumed, 150, 300)
    assert resumed.weights.tolist() == whole.weights.tolist()
    assert resumed.age == whole.age


def test_what_was_learnt_from_the_first_links_is_stored_at_once():
    blend = LearntBlend(0, rows(lambda obrs, lars: obrs > 2.5))
    resumed = LearntBlend(0)
    resumed.load(blend.dump())
    assert promises(resumed, WORDS, RULES) == promises(blend, WORDS, RULES)
    assert blend.dump() is None
    assert resumed.dump() is None


def test_certain_rules_have_finite_odds():
    assert np.isfinite(terms(np.array([(0.0, 0.0), (900.0, 1.0)]))).all()


def learnt(*weights: float) -> LearntBlend:
    blend = LearntBlend(0)
    blend.weights = np.array(weights)
    return blend


def chance(odds: float) -> float:
    return float(1 / (1 + np.exp(-odds)))


def test_the_promise_is_that_of_a_logistic_regression():
    """1/(1 + e^-(a·(1 − exp(−o/2)) + b·log(l/(1 − l)) + c)), a = 3, b = 2, c = −½."""
    odds = 3 * (1 - np.exp(-1)) + 2 * np.log(0.3 / 0.7) - 0.5
    assert promises(learnt(3, 2, -0.5), (2.0, 0.3)) == pytest.approx([chance(odds)])
    assert promises(learnt(999, 0, 999), (99.0, 0.5)) == [1.0]
    assert promises(learnt(-999, 0, -999), (99.0, 0.5)) == pytest.approx([0.0])


def test_odds_of_rules_that_say_never_or_always_are_bounded():
    never, always = terms(np.array([(0.0, 0.0), (0.0, 1.0)]))[:, 1]
    assert never == pytest.approx(np.log(0.001 / 0.999))
    assert always == pytest.approx(-never)


def test_the_parts_of_a_promise():
    scores = np.array([(2.0, 0.3)])
    [before] = LearntBlend(0).parts(scores)
    own = 1 - np.exp(-1)
    assert before == pytest.approx({"OBRS": own, "LARS": (1 - own) * 0.3})
    [after] = learnt(3, 2, -0.5).parts(scores)
    alone = chance(2 * np.log(0.3 / 0.7) - 0.5)
    whole = chance(3 * own + 2 * np.log(0.3 / 0.7) - 0.5)
    assert list(after) == ["LARS", "OBRS"]
    assert after == pytest.approx({"LARS": alone, "OBRS": whole - alone})


def test_links_that_tell_nothing_leave_the_weights_as_they_are():
    blend = LearntBlend(0, [(2.0, 0.3, True), (2.0, 0.3, False)])
    assert blend.weights[:2] == pytest.approx([2.0, 1.0], abs=0.15)


def test_weights_are_fitted_again_when_links_have_grown_by_three_in_ten():
    """And five: with 20 first links at 11, 26, 45, … visits."""
    blend = LearntBlend(0, rows(lambda obrs, lars: obrs > 2.5)[:20])
    assert json.loads(blend.dump())["age"] == 0
    fitted = []
    for number in range(46):
        blend.expect([link(number)], np.array([WORDS]))
        blend.settle(number, relevant=True)
        if blend.age == number + 1:
            fitted.append(blend.age)
    assert fitted == [11, 26, 45]
