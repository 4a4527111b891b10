"""What a visited link taught one worker's strategy teaches the strategies of others."""

import numpy as np

from opilio.cluster.lessons import SharedLesson
from opilio.cluster.sharing import ShardSharing
from strategies.chooser_pages import STAR, chooser, lease, link, page, verdict

SEED = "http://seed.test/"


def visited(strategy, count=20):
    """Visit so many links of a page, every other one relevant."""
    found = [
        link(f"http://h{n}.test/a/", vector=STAR if n % 2 else None)
        for n in range(count)
    ]
    strategy.rank(page(found), verdict(0.5), lease(SEED))
    for n, one in enumerate(found):
        strategy.rank(page([]), verdict(float(n % 2)), lease(one.url))


def test_a_strategy_learns_from_visits_of_others():
    one, two, apart = chooser(), chooser(), chooser()
    one.experiences()
    visited(one)
    told = one.experiences()
    assert len(told) == 20
    two.learn_from(came for _, came in told)
    for strategy in (one, two, apart):
        strategy.correction.fit()
        strategy.features.taught.fit()
    assert np.allclose(one.correction.weights, two.correction.weights, atol=1e-3)
    assert not np.allclose(one.correction.weights, apart.correction.weights)
    directions = one.features.taught.direction, two.features.taught.direction
    assert np.allclose(*directions, atol=1e-2)


def test_a_crawl_on_one_machine_collects_nothing():
    alone = chooser()
    visited(alone)
    assert alone.experienced is None


def test_what_a_round_has_relived_is_not_learnt_twice():
    sharing = ShardSharing.__new__(ShardSharing)
    strategy = chooser()
    sharing.strategy, sharing.relived, sharing.lessons = strategy, set(), []
    strategy.experiences()
    visited(strategy)  # as heard from the lessons
    before = len(strategy.correction.rows)
    told = tuple(chooser_told())
    sharing._learn_from(SharedLesson(lease(SEED), experiences=told[:10]))
    assert len(strategy.correction.rows) == before
    assert len(sharing.relived) == 10  # whose experiences come with a later lesson
    sharing._learn_from(SharedLesson(lease(SEED), experiences=told[10:]))
    assert len(strategy.correction.rows) == before and not sharing.relived


def chooser_told():
    other = chooser()
    other.experiences()
    visited(other)
    return other.experiences()
