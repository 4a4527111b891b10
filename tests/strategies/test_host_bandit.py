"""The bandit over hosts: arms that pay, chance that decays, and the released code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opilio.records import State
from opilio.strategies.host_bandit import EXPLORED, FRONT, BanditVisit, HostBandit
from strategies.site_pages import Crawl, lease, link, make, of

NO_CHANCE = {"randomness": 0}


def bandit(**options: object) -> HostBandit:
    made = make("host-bandit", options)
    assert isinstance(made, HostBandit)
    return made


def test_a_host_that_pays_is_preferred():
    # Success rate times best score, after SuccessRateBestScoreFunction of Anthelion.
    crawl = Crawl(bandit(**NO_CHANCE))
    crawl.visit("seed/", ["a/1", "a/2", "b/1", "b/2"], 0.8)
    crawl.visit("a/1", score=0.9)
    crawl.visit("b/1", score=0.1)
    # s(u) = 0.8/4; θ_a = (1+1)/(1+2), θ_b = 1/3.
    assert crawl.promise("a/2") == pytest.approx(2 / 3 * 0.2)
    assert crawl.promise("b/2") == pytest.approx(1 / 3 * 0.2)


def test_a_link_is_scored_by_its_page_and_its_words():
    # s(u) = (0.8 + 1/√2 + 0 + 0)/4: the anchor is one of two equal keywords.
    crawl = Crawl(bandit(**NO_CHANCE))
    crawl.visit("seed/", [link("a/1", "bee", {"bee": 1})], 0.8)
    assert crawl.promise("a/1") == pytest.approx(0.5 * (0.8 + 0.5**0.5) / 4)
    score = 0.2 + 0.5**0.5 / 4
    assert crawl.parts[of("a/1")] == pytest.approx({"θ(h)": 0.5, "s(u)": score})
    # A link that is found waits behind, and tells the summands of its s(u).
    many = [link(f"a/{n}", "bee", {"bee": 1}) for n in range(2, 20)]
    crawl.visit("seed/2", many, 0.8)
    assert crawl.promise("a/19") == pytest.approx(score - 1)
    assert crawl.parts[of("a/19")] == pytest.approx(
        {"¼score(p)": 0.2, "¼cos(anchor)": 0.5**0.5 / 4, "tier: behind the front": -1}
    )


def test_an_unusable_link_counts_against_its_host_and_a_copy_does_not():
    crawl = Crawl(bandit(**NO_CHANCE))
    crawl.visit("seed/", ["a/1", "a/2", "b/1", "b/2"], 0.8)
    crawl.strategy.missed(lease("a/1"), State.UNUSABLE)
    crawl.strategy.missed(lease("b/1"), State.COPY)
    hosts = crawl.strategy.hosts
    assert hosts["a.test"].theta == pytest.approx(1 / 3)
    assert hosts["b.test"].theta == 0.5


@given(st.lists(st.lists(st.integers(1, 30), max_size=9), min_size=1, max_size=40))
def test_the_links_of_one_host_are_visited_in_the_order_of_their_scores(
    pages: list[list[int]],
):
    """So bringing some of them to the front changes nothing."""
    crawl = Crawl(bandit(**NO_CHANCE))
    made = 0
    place = "a/seed"
    for scores in pages:
        links = []
        for score in scores:
            made += 1
            links.append(link(f"a/{made}-{score}", "bee", {"bee": score}))
        crawl.visit(place, links)
        if not crawl.waiting:
            return
        place = crawl.next()
        scores = crawl.strategy.scores
        assert scores[of(place)] == max(scores[one] for one in crawl.waiting)


def test_a_visit_revises_few_links_however_many_wait():
    strategy = bandit(**NO_CHANCE)
    crawl = Crawl(strategy)
    crawl.visit("seed/", [f"a/{n}" for n in range(500)], 0.8)
    assert sum(promise >= 0 for promise in crawl.waiting.values()) == FRONT
    strategy.happen(BanditVisit(of("a/0"), "a.test", 1, ()))
    assert len(list(strategy.revise())) == FRONT


def test_chance_decays_with_the_pages():
    # λ_t = λ/(1 + t/decay), the paper's "decaying λ".
    strategy = bandit(randomness=0.4, decay=100)
    chances = []
    for pages in (0, 100, 300):
        strategy.pages = pages
        chances.append(strategy.randomness())
    assert chances == pytest.approx([0.4, 0.2, 0.1])


def test_the_released_code_divides_integers():
    # AnthBandit: lambda * (1 / ((armsPulled / lambdaDecayValue) + 1)), all integers.
    strategy = bandit(randomness=0.4, decay=100, mode="faithful")
    chances = []
    for pages in (0, 99, 100, 300):
        strategy.pages = pages
        chances.append(strategy.randomness())
    assert chances == [0.4, 0.4, 0, 0]


def test_the_released_code_takes_the_last_host_of_any_value():
    # AnthBandit.getNextItem never keeps the best score: b is last, though it pays less.
    crawl = Crawl(bandit(mode="faithful", **NO_CHANCE))
    crawl.visit("seed/", ["a/1", "a/2", "b/1", "b/2"], 0.8)
    crawl.visit("a/1", score=0.9)
    crawl.visit("b/1", score=0.1)
    assert crawl.next() == "b/2"
    crawl = Crawl(bandit(**NO_CHANCE))
    crawl.visit("seed/", ["a/1", "a/2", "b/1", "b/2"], 0.8)
    crawl.visit("a/1", score=0.9)
    crawl.visit("b/1", score=0.1)
    assert crawl.next() == "a/2"


def test_chance_lifts_the_best_link_of_some_host():
    crawl = Crawl(bandit(randomness=1, decay=10**9))
    links = [link(f"{host}/{n}", "bee", {"bee": n}) for host in "abc" for n in (1, 9)]
    crawl.visit("seed/", links, 0.8)
    lifted = [one for one in crawl.waiting if crawl.waiting[one] >= EXPLORED]
    assert [crawl.places[one][1:] for one in lifted] == ["/9"]


def test_samples_are_the_same_for_the_same_record():
    one, two = bandit(arm="thompson"), bandit(arm="thompson")
    for strategy in (one, two):
        crawl = Crawl(strategy)
        crawl.visit("seed/", ["a/1", "b/1", "c/1"], 0.8)
        crawl.visit("a/1", score=0.9)
    thetas = [{name: h.theta for name, h in s.hosts.items()} for s in (one, two)]
    assert thetas[0] == thetas[1]
    assert len(set(thetas[0].values())) == 4  # a host has its own
    assert all(0 < theta < 1 for theta in thetas[0].values())


def test_a_restart_changes_nothing():
    def live(crawl: Crawl, start: int, end: int) -> None:
        for n in range(start, end):
            links = [
                link(f"{host}/{n}-{times}", "bee", {"bee": times})
                for host in "ab"
                for times in (1, 7)
            ]
            crawl.visit(crawl.next() if crawl.waiting else "seed/", links, n % 4 / 3)

    options = {"randomness": 0.3, "arm": "thompson"}
    whole = Crawl(bandit(**options))
    live(whole, 0, 40)
    first = Crawl(bandit(**options))
    live(first, 0, 23)
    second = Crawl(bandit(**options))
    second.strategy.recall(first.strategy.changes())
    second.waiting, second.places = first.waiting, first.places
    live(second, 23, 40)
    assert second.waiting == whole.waiting
