"""Second opinions are calibrated by the pages seen, and wanted on doubtful ones."""

from __future__ import annotations

import random
from math import log

import pytest

from opilio.judge.opinions import EVERY, FIRST, LEAST, LIMIT, SAMPLE, Opinions

WEIGHT = 0.4


def taught(scale: float = 0.1, level: float = 0.3, pages: int = 300) -> Opinions:
    """An adviser whose opinions are level + scale·logit/10, more or less."""
    chance = random.Random(1)
    opinions = Opinions("embedding")
    for _ in range(pages):
        logit = chance.uniform(-4, 4)
        opinions.add(logit, level + scale * (logit / 10 + chance.gauss(0, 1)))
    return opinions


def test_an_opinion_counts_by_how_much_it_differs_from_what_was_expected():
    opinions = taught()
    full = WEIGHT * 300 / 310
    assert opinions.worth(0.0, 0.3) == pytest.approx(0, abs=0.1)
    assert opinions.worth(0.0, 0.4) == pytest.approx(full, abs=0.08)
    assert opinions.worth(0.0, 0.2) == pytest.approx(-full, abs=0.08)
    assert opinions.worth(4.0, 0.34) == pytest.approx(0, abs=0.1)
    assert opinions.worth(0.0, 9.0) == pytest.approx(LIMIT * full)


def test_the_unit_of_the_adviser_does_not_matter():
    one, other = taught(), taught(scale=2.0, level=-7.0)
    assert one.worth(1.0, 0.3 + 0.15) == pytest.approx(other.worth(1.0, -7.0 + 3.0))


def test_opinions_count_little_at_first():
    assert taught(pages=LEAST - 1).worth(0.0, 0.5) == 0
    few, many = taught(pages=20).worth(0.0, 0.4), taught().worth(0.0, 0.4)
    assert 0 < few < many


def test_opinions_that_never_differ_say_nothing():
    opinions = Opinions("embedding")
    for number in range(20):
        opinions.add(float(number), 0.5)
    assert opinions.worth(0.0, 0.5) == opinions.worth(0.0, 0.9) == 0


def test_the_line_is_never_turned_upside_down():
    opinions = taught(scale=-0.1)
    assert opinions.slope >= 0


def test_what_was_seen_is_limited_and_can_be_restored():
    opinions = taught(pages=SAMPLE + 50)
    assert len(opinions.seen) == SAMPLE
    again = Opinions("embedding")
    again.restore(list(opinions.seen))
    assert again.worth(0.5, 0.4) == opinions.worth(0.5, 0.4)


def test_doubtful_pages_and_some_sure_ones_are_asked_about():
    opinions = Opinions("embedding")
    later = FIRST + 1
    assert opinions.wants(9.0, 0.5, FIRST - 1)
    assert opinions.wants(9.0, 0.5, 3 * EVERY)
    assert not opinions.wants(1.5, 0.5, later)
    assert opinions.wants(1.3, 0.5, later) and opinions.wants(-1.3, 0.5, later)
    high = log(0.9 / 0.1)  # the threshold is elsewhere
    assert opinions.wants(high + 1.3, 0.9, later)
    assert not opinions.wants(high - 1.5, 0.9, later)


def test_a_language_model_is_asked_about_doubtful_pages_only():
    opinions = Opinions("llm")
    assert opinions.wants(1.3, 0.5, 0) and not opinions.wants(1.5, 0.5, 0)


def test_the_answer_of_a_language_model_takes_four_fifths_of_the_way():
    opinions = Opinions("llm")
    assert opinions.worth(0.0, 0.5) == 0
    assert opinions.worth(1.0, 0.5) == pytest.approx(-0.8)
    sure = log(0.95 / 0.05)
    assert opinions.worth(-1.0, 1.0) == pytest.approx(0.8 * (sure + 1))
    assert opinions.worth(1.0, 0.0) == pytest.approx(0.8 * (-sure - 1))
    opinions.add(0.0, 0.9)
    assert not opinions.seen  # it needs no calibration
