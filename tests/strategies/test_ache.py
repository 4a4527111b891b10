"""ACHE ranks as its code does, or with the ranking mended."""

from __future__ import annotations

import math

import numpy as np
import pytest

from opilio.records import Knowledge, Ranked, State
from opilio.strategies.ache import Ache, AcheOptions
from opilio.strategies.shared.naive_bayes import bayes_weights, bias
from strategies.learning_pages import BAD, GOOD, lease, link, page

SEED = "http://a.test/"


def taught(mode: str = "fixed", visits: int = 8) -> Ache:
    """One that saw four links on birds lead to relevant pages, four on cars not."""
    made = Ache(AcheOptions(mode=mode, relearn=visits + 1), Knowledge())
    links = [
        link(f"http://a.test/{number}", "car" if number % 2 else "bird")
        for number in range(visits)
    ]
    list(made.rank(page(SEED, links), GOOD, lease(SEED)))
    for number, one in enumerate(links):
        verdict = BAD if number % 2 else GOOD
        list(made.rank(page(one.url), verdict, lease(one.url)))
    return made


def ranked(made: Ache, *anchors: str) -> list[Ranked]:
    links = [link(f"http://b.test/{anchor}", anchor) for anchor in anchors]
    url = "http://b.test/"
    return list(made.rank(page(url, links), GOOD, lease(url, depth=2)))


def test_naive_bayes_by_hand():
    # Two texts: "a a b" of the class, "b" not. V = 2, N(+) = 3, N(-) = 1.
    columns = np.array([0, 1, 1])
    weights = bayes_weights(
        columns, np.array([2.0, 1.0, 1.0]), np.array([1.0, 1.0, 0.0]), 4
    )
    assert weights[0] == pytest.approx(math.log(3 / 5) - math.log(1 / 3))
    assert weights[1] == pytest.approx(math.log(2 / 5) - math.log(2 / 3))
    assert weights[2:].tolist() == [0, 0]
    assert bias(1, 1) == 0


def test_it_is_breadth_first_until_it_has_learnt():
    made = Ache(AcheOptions(), Knowledge())
    assert [one.promise for one in ranked(made, "bird", "car")] == [-3, -3]


def test_what_it_learnt_by_hand():
    # Four links "bird" of POS, four "car" of NEG: weights ±ln 5 (5/6 against 1/6).
    bird, car, neither = ranked(taught(), "bird", "car", "plane")
    assert bird.promise == pytest.approx(5 / 6)
    assert car.promise == pytest.approx(1 / 6)
    assert neither.promise == pytest.approx(1 / 2)
    assert bird.parts == {"P(POS)": bird.promise}


def test_its_code_visits_the_surest_bad_links_first():
    # beyond.md 2: a link predicted NEG gets 100 + 100·P(NEG).
    bird, car, worse = ranked(taught("faithful"), "bird", "car", "car car bird car")
    assert bird.promise == pytest.approx(200 + 100 * 5 / 6)
    assert car.promise == pytest.approx(100 + 100 * 5 / 6)
    assert worse.promise == pytest.approx(250)  # each word counts once: it is even
    assert car.parts == {"100·weight": 100, "100·P": pytest.approx(100 * 5 / 6)}


def test_bad_examples_are_never_more_than_good_ones():
    made = taught()
    for number in range(20):
        ranked(made, f"bad {number}")
        made.missed(lease(f"http://b.test/bad {number}"), State.UNUSABLE)
    bad, good = made.experience.counts()
    assert bad <= good


def test_links_that_wait_hear_of_each_lesson():
    made = Ache(AcheOptions(relearn=3), Knowledge())
    links = [link(f"http://a.test/{word}", word) for word in ("bird", "car", "nest")]
    list(made.rank(page(SEED, links), GOOD, lease(SEED)))
    list(made.rank(page(links[0].url), GOOD, lease(links[0].url)))
    assert list(made.revise()) == []
    list(made.rank(page(links[1].url), BAD, lease(links[1].url)))
    assert [fingerprint for fingerprint, *_ in made.revise()] == [links[2].fingerprint]
    assert made.dump() and made.dump() is None
