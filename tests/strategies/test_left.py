"""The estimate of what is left, against numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from opilio.records import Knowledge, State, Subject
from opilio.strategies.opilio import Opilio, OpilioOptions
from opilio.strategies.shared.chooser.relevant_left import LEAST, Remaining
from strategies.learning_pages import BAD, GOOD, lease, link, page

EVERY = np.full(400, 0.05)  # chances of 400 links
BEST = np.full(128, 0.05)


def crawled(worth: float, caught: int = 3, waiting: float = 1.0) -> Remaining:
    """40 visits with a chance of one half, every other one to a relevant page."""
    left = Remaining()
    for number in range(40):
        is_kept = number % 2 == 0
        left.visit(0.5, worth if is_kept else 0.0)
        if is_kept:
            left.keep(number, worth, caught, waiting)
    return left


def test_chances_that_come_true_are_added_up() -> None:
    found = crawled(1.0).estimate(EVERY, 400, BEST)
    assert found is not None
    assert found.found == 20
    # Of four relevant pages that a relevant page links to, three were found before:
    # 20 pages are about three quarters of all, (20·1 + ½)/(20·3 + ½) as many are left.
    assert found.recapture == pytest.approx(20 * 20.5 / 60.5)
    mean = (400 * 0.05 + found.recapture) / 2  # of the two estimates
    assert found.left == pytest.approx(1.15 * (20 * mean) ** 0.5)
    assert found.low == pytest.approx(0.3 * found.left)
    assert found.high == pytest.approx(4 * found.left)
    assert found.next == pytest.approx(100 * 0.05)


def test_chances_that_promised_too_much_are_corrected() -> None:
    found = crawled(0.5).estimate(EVERY, 400, BEST)
    ratio = (40 * 0.25 + 0.5) / (40 * 0.5 + 0.5)
    assert found is not None
    recapture = 20 * (20 * ratio + 0.5) / 60.5
    assert found.recapture == pytest.approx(recapture)
    mean = (ratio * 400 * 0.05 + recapture) / 2
    assert found.left == pytest.approx(1.15 * (10 * mean) ** 0.5)
    assert found.next == pytest.approx(ratio * 100 * 0.05)


def test_a_sample_stands_for_all_links() -> None:
    whole = crawled(1.0).estimate(EVERY, 400, BEST)
    part = crawled(1.0).estimate(EVERY[::4], 400, BEST)
    assert whole is not None and part is not None
    assert part.left == pytest.approx(whole.left)


def test_more_links_to_known_pages_lower_the_estimate() -> None:
    few = crawled(1.0, caught=1).estimate(EVERY, 400, BEST)
    many = crawled(1.0, caught=9).estimate(EVERY, 400, BEST)
    assert few is not None and many is not None
    assert many.left < few.left
    assert many.recapture < few.recapture / 4
    assert many.low < few.low


def test_nothing_is_left_where_nothing_waits() -> None:
    nothing = np.zeros(0)
    found = crawled(1.0).estimate(nothing, 0, nothing)
    assert found is not None
    assert (found.left, found.high, found.next, found.share) == (0, 0, 0, 1)


def test_too_few_visits_say_nothing() -> None:
    left = Remaining()
    left.keep(1, 1.0, 0, 0.0)
    for _ in range(LEAST - 1):
        left.visit(0.5, 1.0)
    assert left.estimate(EVERY, 400, BEST) is None
    left.visit(0.5, 1.0)
    assert left.estimate(EVERY, 400, BEST) is not None


def strategy() -> Opilio:
    return Opilio(OpilioOptions(), Knowledge(subject=Subject(weights={"bee": 1.0})))


def visited(pages: int) -> Opilio:
    """A crawl in which each page has two links of its own and one to the page before;
    every third page is relevant."""
    made = strategy()
    for number in range(pages):
        url = f"http://a.test/{number}"
        links = [
            link(f"http://a.test/{2 * number + 1}", "bee"),
            link(f"http://a.test/{2 * number + 2}", "wasp"),
            link(f"http://a.test/{max(number - 3, 0)}", "back"),
        ]
        verdict = BAD if number % 3 else GOOD
        list(made.rank(page(url, links, "bee honey"), verdict, lease(url)))
    return made


def test_the_strategy_counts_what_it_found_and_what_waits() -> None:
    made = visited(60)
    found = made.estimate()
    assert found is not None
    assert found.found == pytest.approx(20 * GOOD.score)
    assert 0 < found.left < made.waiting.count
    assert 0 < found.next <= 100


def test_an_estimate_is_the_same_after_a_restart() -> None:
    before = visited(60)
    after = strategy()
    after.recall(before.changes())
    assert before.estimate() == after.estimate() is not None


def test_a_failed_visit_lowers_what_links_are_worth() -> None:
    made = visited(60)
    ratio = made.left.ratio
    for number in range(61, 81):
        made.missed(lease(f"http://a.test/{number}"), State.UNUSABLE)
    assert made.left.ratio < ratio


def test_many_links_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    made = visited(200)
    exact = made.estimate()
    monkeypatch.setattr("opilio.strategies.opilio.ESTIMATED", 64)
    assert len(made.waiting.sample(64)) <= 64
    sampled = made.estimate()
    assert exact is not None and sampled is not None
    assert sampled.left == pytest.approx(exact.left, rel=0.5)
