"""The apprentice learns which words lead to relevant pages: Chakrabarti et al. 2002."""

from __future__ import annotations

import numpy as np
import pytest

from opilio.records import Knowledge, Ranked, State
from opilio.strategies.apprentice import Apprentice, ApprenticeOptions
from strategies.learning_pages import BAD, GOOD, lease, link, page, told_by

SEED = "http://a.test/"


def apprentice() -> Apprentice:
    return Apprentice(ApprenticeOptions(), Knowledge())


def taught() -> Apprentice:
    """One that saw links on birds lead to relevant pages, and links on cars not."""
    made = apprentice()
    links = [
        link(f"http://a.test/{number}", "some bird" if number % 2 else "some car")
        for number in range(12)
    ]
    list(made.rank(page(SEED, links), GOOD, lease(SEED)))
    for number, one in enumerate(links[:10]):
        verdict = GOOD if number % 2 else BAD
        list(made.rank(page(one.url), verdict, lease(one.url)))
    return made


def ranked(made: Apprentice, *anchors: str) -> list[Ranked]:
    links = [link(f"http://b.test/{anchor}", anchor) for anchor in anchors]
    return list(made.rank(page("http://b.test/", links), BAD, lease("http://b.test/")))


def test_before_it_has_learnt_a_link_is_worth_what_its_page_is():
    (one,) = ranked(apprentice(), "bird")
    assert one.promise == BAD.score
    assert one.parts["score(u)"] == BAD.score


def test_words_that_led_to_relevant_pages_promise_more():
    bird, some, car = ranked(taught(), "bird", "some", "car")
    assert bird.promise > some.promise > car.promise
    assert bird.promise > 0.5 > car.promise


def test_links_that_wait_hear_of_what_was_learnt():
    made = taught()
    told: dict[int, float] = told_by(made)
    bird, car = link("http://a.test/11"), link("http://a.test/10")
    assert told[bird.fingerprint] > told[car.fingerprint]
    assert list(made.revise()) == []


def test_promises_are_those_of_the_logistic_function():
    made = taught()
    (one,) = ranked(made, "bird")
    columns = np.flatnonzero(made.model.weights)
    assert 0 < one.promise < 1
    assert {0, 1} <= set(columns.tolist())  # bias and score(u)


def test_a_visit_without_a_page_is_a_bad_example():
    made = apprentice()
    one = link("http://a.test/1", "bird")
    list(made.rank(page(SEED, [one]), GOOD, lease(SEED)))
    made.missed(lease(one.url), State.UNUSABLE)
    assert made.experience.counts() == (1, 0)


def test_it_dumps_only_what_is_new_and_goes_on_the_same():
    made = taught()
    dumped = made.dump()
    assert dumped
    assert made.dump() is None
    again = apprentice()
    again.load(dumped)
    again.recall((key, note) for key, note in made.changes() if note is not None)
    for one in (made, again):
        ranked(one, "bird", "plane")
    found = [one.promise for one in ranked(made, "bird", "car", "plane")]
    assert found == [one.promise for one in ranked(again, "bird", "car", "plane")]


@pytest.mark.parametrize("verdict", [GOOD, BAD])
def test_a_tunnel_ends_at_a_relevant_page(verdict):
    links = [link("http://a.test/x")]
    (one,) = apprentice().rank(page(SEED, links), verdict, lease(SEED))
    assert one.level == (0 if verdict.relevant else 1)
