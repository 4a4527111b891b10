"""The bandit groups tag paths and pulls the arm of the best bound: arXiv 2602.11874."""

from __future__ import annotations

from math import log, sqrt

import pytest

from opilio.records import Knowledge, State, Verdict
from opilio.strategies.shared.tag_paths import TagPathGroups, similarity
from opilio.strategies.shared.tag_paths import pairs_of as tags_of
from opilio.strategies.tag_path_bandit import (
    BELOW,
    HEADS,
    Arm,
    BanditOptions,
    TagPathBandit,
    pairs_of,
)
from strategies.learning_pages import BAD, GOOD, lease, link, page, told_by

SEED = "http://a.test/"
LIST, MENU = "body/div/ul/li/a", "body/nav/p/a"


def bandit() -> TagPathBandit:
    return TagPathBandit(BanditOptions(), Knowledge())


def links(name: str, path: str, number: int = 5):
    return [link(f"http://a.test/{name}{one}", path=path) for one in range(number)]


def visit(made: TagPathBandit, url: str, verdict: Verdict, found=()) -> dict:
    list(made.rank(page(url, found), verdict, lease(url)))
    return told_by(made)


def test_the_similarity_of_paths_by_hand():
    # (·,body) (body,ul) (ul,a) and (·,body) (body,p) (p,a): 1 of 3 pairs in common.
    assert similarity(tags_of("body/ul/a"), tags_of("body/p/a")) == pytest.approx(1 / 3)
    assert similarity(tags_of("body/ul/a"), tags_of("body/ul/a")) == pytest.approx(1)


def test_like_paths_are_of_one_group():
    groups = TagPathGroups(0.75, 10)
    paths = ["body/div/div/ul/li/a", "body/div/ul/li/a", "body/p/a", "body/p/a"]
    assert [groups.group(path) for path in paths] == [0, 0, 1, 1]


def test_when_there_are_enough_groups_a_path_joins_the_nearest():
    groups = TagPathGroups(0.75, 2)
    paths = ["body/ul/li/a", "body/p/a", "body/p/b/i/a"]
    assert [groups.group(path) for path in paths] == [0, 1, 1]


def test_the_bound_of_an_arm_by_hand():
    made = bandit()
    made.arms[0] = Arm(LIST, 4, 3)
    made._t = 10
    mean, explored = made.bound(0)
    assert mean == 0.75
    assert explored == pytest.approx(2 * sqrt(2) * sqrt(log(11) / 5))


def test_the_best_links_of_each_arm_move_up_and_the_others_wait_below():
    made = bandit()
    found = [*links("l", LIST), *links("m", MENU)]
    ranked = list(made.rank(page(SEED, found), GOOD, lease(SEED)))
    assert all(one.promise == BELOW + 0.5 for one in ranked)
    revised = told_by(made)
    assert len(revised) == 2 * HEADS
    assert all(promise >= 0 for promise in revised.values())


def test_an_arm_that_brings_relevant_pages_promises_more():
    made = bandit()
    found = [*links("l", LIST), *links("m", MENU)]
    revised = visit(made, SEED, GOOD, found)
    for one in found:
        if one.fingerprint in revised:
            revised |= visit(made, one.url, GOOD if one.path == LIST else BAD)
    waiting = [one for one in found if one.fingerprint in told_by(made)]
    told = told_by(made)
    best = max(waiting, key=lambda one: told[one.fingerprint])
    assert best.path == LIST


def test_when_a_head_is_taken_another_link_moves_up():
    made = bandit()
    found = links("l", LIST)
    before = visit(made, SEED, GOOD, found)
    taken = next(one for one in found if one.fingerprint in before)
    after = visit(made, taken.url, GOOD)
    assert taken.fingerprint not in after
    assert len(after) == HEADS
    assert set(after) - set(before)


def test_a_better_link_displaces_a_head():
    made = bandit()
    good, bad = links("good", LIST, 8), links("xyz", LIST, 8)
    visit(made, SEED, GOOD, [*good[:6], *bad])
    for one in [*good[:5], *bad[:5]]:
        visit(made, one.url, GOOD if one in good else BAD)
    before = {key for key, value in told_by(made).items() if value > 0}
    after = visit(made, "http://b.test/", GOOD, good[6:])
    assert all(after[one.fingerprint] > 0 for one in good[6:])
    assert any(after[key] < 0 for key in before)


def test_an_arm_without_links_sleeps():
    made = bandit()
    (one,) = links("l", LIST, 1)
    visit(made, SEED, GOOD, [one])
    made.missed(lease(one.url), State.UNUSABLE)
    assert told_by(made) == {}
    assert made.arms[0] == Arm(LIST, 1, 0)


def test_a_restart_changes_nothing():
    made, again = bandit(), bandit()
    found = [*links("l", LIST, 9), *links("m", MENU, 9)]
    visit(made, SEED, GOOD, found)
    for one in found[:8]:
        visit(made, one.url, GOOD if one.path == LIST else BAD)
    for one in found[9:12]:
        visit(made, one.url, BAD)
    if dumped := made.dump():
        again.load(dumped)
    again.recall((key, note) for key, note in made.changes() if note is not None)
    assert told_by(again) == told_by(made)
    more = [*links("l2", LIST, 3), *links("n", "body/table/tr/td/a", 3)]
    assert visit(again, found[8].url, GOOD, more) == visit(
        made, found[8].url, GOOD, more
    )


def test_addresses_of_one_kind_share_pairs():
    one, two = (
        {found[place : place + 4] for place in range(0, len(found), 4)}
        for found in (pairs_of("http://a.test/wp/x1"), pairs_of("http://a.test/wp/x2"))
    )
    assert one != two
    assert len(one & two) >= len(one) - 1
