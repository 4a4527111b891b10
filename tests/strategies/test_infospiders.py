"""Agents estimate, learn, reproduce and die as in Menczer & Belew (2000)."""

from __future__ import annotations

from math import tanh

import msgspec
import pytest

from opilio.records import (
    Counted,
    Knowledge,
    Link,
    LinkTerms,
    State,
    Subject,
    Verdict,
)
from opilio.strategies.infospiders import (
    BELOW,
    HEADS,
    MOST_LINKS,
    InfoSpiders,
    InfoSpidersOptions,
)
from opilio.strategies.shared.spiders import Spider, inputs_of
from strategies.learning_pages import lease, link, page, told_by

SEED = "http://a.test/"
RICH, POOR = Verdict(1.0, True), Verdict(0.0, False)
KNOWLEDGE = Knowledge(subject=Subject(weights={"bird": 2.0, "nest": 1.0}))


def population(**options: float) -> InfoSpiders:
    chosen = msgspec.convert(options, InfoSpidersOptions)
    return InfoSpiders(chosen, KNOWLEDGE)


def links(name: str, number: int) -> list[Link]:
    return [link(f"http://a.test/{name}{one}") for one in range(number)]


def visit(
    made: InfoSpiders, url: str, verdict: Verdict, found: list[Link] | None = None
) -> dict[int, float]:
    list(made.rank(page(url, found or []), verdict, lease(url)))
    return told_by(made)


def test_inputs_by_hand():
    terms = LinkTerms(Counted({"bird": 1}), Counted({"bird": 1, "nest": 3}), Counted())
    told = msgspec.structs.replace(link(SEED), terms=terms)
    assert inputs_of(told, {"bird": 1, "nest": 2}) == ((0, 1.0), (1, 1.5), (2, 1.5))
    assert inputs_of(link(SEED), {"bird": 1}) == ((0, 1.0),)


def test_the_estimate_by_hand():
    spider = Spider(1.0, 0, (0.1, 1.0, 0.5))
    assert spider.estimate(((0, 1.0), (1, 1.5))) == pytest.approx(tanh(1.6))


def test_the_delta_rule_by_hand():
    # λ = 0, target 0.8, η = 0.5: w_1 += 0.5·0.8·1·2.
    spider = Spider(1.0, 0, (0.0, 0.0)).learn(((1, 2.0),), 0.5, 0.8)
    assert spider.weights == pytest.approx((0.0, 0.8))


def test_a_net_begins_with_the_weights_of_the_topic():
    assert population().net == (0.0, 1.0, 0.5)


def test_a_seed_makes_an_agent_which_earns_its_score_less_the_cost():
    made = population(cost=0.25)
    visit(made, SEED, Verdict(0.5, True), links("x", 2))
    (spider,) = made.spiders.values()
    assert spider.energy == pytest.approx(1.0 + 0.5 - 0.25)
    assert spider.moves == 1


def test_only_the_best_links_of_an_agent_move_up():
    made = population()
    ranked = list(made.rank(page(SEED, links("x", 6)), POOR, lease(SEED)))
    assert all(BELOW <= one.promise <= BELOW + 1 for one in ranked)
    told = told_by(made)
    assert len(told) == HEADS
    assert all(-1 < promise < 0 for promise in told.values())  # it moved once


def test_the_agent_that_moved_least_is_next():
    made = population(agents=2)
    other = "http://b.test/"
    visit(made, SEED, POOR, links("x", 4))
    visit(made, other, POOR, links("y", 4))
    told = told_by(made)
    first = next(one for one in links("x", 4) if one.fingerprint in told)
    told = visit(made, first.url, POOR)
    best = max(told, key=lambda key: told[key])
    assert best in {one.fingerprint for one in links("y", 4)}


def test_an_agent_that_thrives_shares_energy_and_links_with_its_offspring():
    made = population(cost=0.1)
    visit(made, SEED, RICH, links("x", 6))  # 1 + 1 - 0.1 < 2
    assert len(made.spiders) == 1
    told = told_by(made)
    first = next(one for one in links("x", 6) if one.fingerprint in told)
    visit(made, first.url, RICH)
    assert [spider.energy for spider in made.spiders.values()] == pytest.approx(
        [1.4] * 2
    )
    assert sorted(map(len, made._queues.values())) == [2, 3]
    parent, child = made.spiders.values()
    assert parent.weights != child.weights


def test_there_are_never_more_agents_than_allowed():
    made = population(agents=3, cost=0.01)
    for number in range(20):
        visit(made, f"http://s{number}.test/", RICH, links(f"x{number}-", 3))
    assert len(made.spiders) == 3


def test_an_agent_that_starves_dies_and_its_links_step_back():
    made = population(cost=1.5, agents=2)
    visit(made, SEED, RICH, links("x", 3))
    before = visit(made, "http://b.test/", RICH, links("y", 3))
    starved = next(one for one in links("x", 3) if one.fingerprint in before)
    after = visit(made, starved.url, POOR)
    assert len(made.spiders) == 1
    assert [key for key in after if after[key] < BELOW / 2]


def test_the_last_agent_lives_on():
    made = population(cost=5.0)
    visit(made, SEED, POOR, links("x", 3))
    (spider,) = made.spiders.values()
    assert spider.energy == 0


def test_an_agent_keeps_its_best_links():
    made = population()
    visit(made, SEED, POOR, links("x", MOST_LINKS + 50))
    assert len(made._queues[0]) == MOST_LINKS
    assert len(made.links) == MOST_LINKS + 1  # and the seed


def test_a_restart_changes_nothing():
    made, again = population(cost=0.1), population(cost=0.1)
    told = visit(made, SEED, RICH, links("x", 30))
    for number in range(10):
        best = max(told, key=lambda key: told[key])
        url = next(one.url for one in links("x", 30) if one.fingerprint == best)
        told = visit(made, url, RICH if number % 3 else POOR)
    made.missed(lease("http://a.test/x3"), State.UNUSABLE)
    again.recall((key, note) for key, note in made.changes() if note is not None)
    more = links("y", 9)
    assert visit(again, "http://c.test/", RICH, more) == visit(
        made, "http://c.test/", RICH, more
    )
    assert dict(again.spiders) == dict(made.spiders)
