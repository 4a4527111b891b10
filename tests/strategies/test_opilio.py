"""The default strategy: its equation, what it learns, and what survives a restart."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, isfinite

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opilio.records import Lease, State, Subject
from opilio.strategies.opilio import EVERY, Opilio
from opilio.strategies.shared.chooser.visits import Visit
from opilio.text.urls import fingerprint
from strategies.chooser_pages import (
    KEYWORDS,
    SEA,
    STAR,
    Crawl,
    chooser,
    floats,
    lease,
    link,
    page,
    subject,
    verdict,
)

SEED = "http://seed.test/"


def ranked(strategy: Opilio, links: list, score: float = 0.5) -> dict[str, float]:
    found = strategy.rank(page(links), verdict(score), lease(SEED))
    return {one.link.url: one.promise for one in found}


def logit(promise: float) -> float:
    return float(np.log(promise / (1 - promise)))


def test_the_promise_is_the_equation_of_the_docstring():
    strategy = chooser(explore=2.0)
    urls = [f"http://h{number}.test/" for number in range(3)]
    promises = ranked(strategy, [link(url) for url in urls])
    # Three links that are alike, of new hosts: no feature stands out, z = 0 but for
    # those whose mean is not that of the links, of which there are none.
    bias = strategy.trained.bias + (
        strategy.trained.of("pages") * float(np.log(150))
        + strategy.trained.of("base") * 0.3
    )
    slots = strategy.waiting.slots([fingerprint(url) for url in urls])
    z = strategy.features.standard(slots)
    for row, url in zip(z, urls, strict=True):
        expected = bias + float(row @ strategy.weights) + 2.0 / (1 + 0) ** 2
        assert logit(promises[url]) == pytest.approx(expected, abs=1e-4)


def test_hosts_that_were_visited_are_less_new():
    strategy = chooser()
    ranked(strategy, [link("http://new.test/"), link("http://seed.test/more")])
    slots = strategy.waiting.slots(
        [fingerprint("http://new.test/"), fingerprint("http://seed.test/more")]
    )
    added, _ = strategy.score(slots)
    assert added[:, -1].tolist() == [2.0, 0.5]


def test_links_similar_to_the_keywords_promise_more():
    strategy = chooser()
    links = [link(f"http://h.test/{n}", vector=SEA) for n in range(20)]
    promises = ranked(strategy, [*links, link("http://h.test/star", vector=STAR)])
    best = promises.pop("http://h.test/star")
    assert best > 1.5 * max(promises.values())


def test_without_vectors_keywords_in_the_anchor_promise_more():
    strategy = chooser(subject(vectors=False))
    links = [link(f"http://h.test/{n}", vector=None) for n in range(20)]
    star = link("http://h.test/star", vector=None, terms={"star": 1})
    promises = ranked(strategy, [*links, star])
    best = promises.pop("http://h.test/star")
    assert best > 1.5 * max(promises.values())


@pytest.mark.parametrize("vectors", [True, False])
def test_it_visits_more_pages_about_the_subject_than_there_are(vectors: bool):
    crawl = Crawl(chooser(subject(vectors=vectors)))
    for _ in range(150):
        crawl.step()
    good = [int(url.rpartition("/")[2]) % 5 < 2 for url, _ in crawl.order[30:]]
    assert sum(good) / len(good) > 0.8


@pytest.mark.parametrize("vectors", [True, False])
def test_the_parts_add_up_to_the_promise_also_after_revisions(vectors: bool):
    strategy = chooser(subject(vectors=vectors))
    crawl = Crawl(strategy)
    sums = []
    told = strategy.tell

    def listening(slots, others):
        told(slots, others)
        sums.extend(strategy.latest.values())
        sums.extend(strategy.revised.values())

    strategy.tell = listening
    for _ in range(60):
        crawl.step()
    assert len(sums) > 500
    for promise, text in sums:
        parts = msgspec.json.decode(text)
        assert sum(parts.values()) == pytest.approx(promise, abs=1e-5)
        assert len(parts) <= 11


@pytest.mark.parametrize("vectors", [True, False])
@settings(max_examples=5, deadline=None)
@given(stops=st.lists(st.integers(1, 50), min_size=1, max_size=3))
def test_a_restart_changes_neither_order_nor_numbers(vectors: bool, stops: list[int]):
    whole = Crawl(chooser(subject(vectors=vectors)))
    broken = Crawl(chooser(subject(vectors=vectors)))
    for stop in stops:
        for _ in range(stop):
            whole.step()
            broken.step()
        broken.strategy = chooser(subject(vectors=vectors))
        broken.strategy.recall(reversed(broken.notes))
        assert list(broken.strategy.revise()) == []
    for _ in range(30):
        whole.step()
        broken.step()
    assert broken.order == whole.order


def test_two_crawls_are_the_same():
    one, other = Crawl(chooser()), Crawl(chooser())
    for _ in range(80):
        one.step()
        other.step()
    assert one.order == other.order
    assert one.notes == other.notes


def test_new_keywords_lift_links_that_wait():
    strategy = chooser()
    seas = [link(f"http://h.test/sea{n}", vector=SEA) for n in range(20)]
    stars = [link(f"http://h.test/star{n}", vector=STAR) for n in range(20)]
    before = ranked(strategy, [*seas, *stars])
    list(strategy.revise())
    ocean = Subject(weights={"ocean": 1.0}, vectors={"ocean": floats(SEA)})
    strategy.seek(ocean)
    for number in range(EVERY + 5):  # beyond the pages after which it learns anyway
        one = lease(f"http://other.test/{number}")
        list(strategy.rank(page([]), verdict(0.5), one))
    revised = {each: promise for each, promise, _ in strategy.revise()}
    sea, star = (fingerprint(f"http://h.test/{name}0") for name in ("sea", "star"))
    assert before["http://h.test/star0"] > before["http://h.test/sea0"]
    assert revised[sea] > before["http://h.test/sea0"]
    assert revised[sea] > revised[star]


def test_a_restart_after_new_keywords_changes_nothing():
    ocean = Subject(weights={"ocean": 1.0}, vectors={"ocean": floats(SEA)})
    whole, broken = Crawl(chooser()), Crawl(chooser())
    for crawl in (whole, broken):
        for _ in range(30):
            crawl.step()
        crawl.strategy.seek(ocean)
        for _ in range(10):
            crawl.step()
    broken.strategy = chooser(ocean)  # that is what the topic says now
    broken.strategy.recall(broken.notes)
    for _ in range(30):
        whole.step()
        broken.step()
    assert broken.order == whole.order


def test_keywords_that_stay_are_noted_once():
    crawl = Crawl(chooser())
    for _ in range(20):
        crawl.strategy.seek(subject())
        crawl.step()
    sizes = [msgspec.msgpack.decode(note, type=Visit).sought for _, note in crawl.notes]
    assert [len(each) for each in sizes if each] == [len(KEYWORDS) * 3 * 4]


def test_a_link_on_several_pages_takes_what_the_better_page_says():
    strategy = chooser()
    both = link("http://h.test/both", "deep sea", SEA)
    ranked(strategy, [both], score=0.0)
    better = link("http://h.test/both", "bright stars", STAR)
    rank = strategy.rank(page([better]), verdict(1.0), lease("http://good.test/"))
    list(rank)
    [slot] = strategy.waiting.slots([both.fingerprint])
    [vector] = strategy.waiting.vectors(np.array([slot]))
    # Pages count 0.2 and 1.2: the mean is (1·SEA + 6·STAR)/7, much like STAR.
    assert vector @ STAR > 0.6
    assert abs(vector @ SEA) < 0.3
    assert strategy.waiting.scores[slot] == pytest.approx(1.0)
    assert strategy.waiting.parents[slot] == 2


def test_what_a_fifth_page_says_of_a_link_is_not_noted():
    strategy = chooser()
    same = link("http://h.test/same", "home", STAR)
    for number in range(6):
        one = lease(f"http://p.test/{number}")
        [found] = strategy.rank(page([same]), verdict(0.5), one)
        assert found.promise > 0
    notes = [msgspec.msgpack.decode(note, type=Visit) for _, note in strategy.changes()]
    assert [len(each.links) for each in notes] == [8, 8, 8, 8, 0, 0]


def test_a_link_that_was_visited_promises_nothing_and_teaches():
    strategy = chooser()
    star = link("http://h.test/star", vector=STAR)
    ranked(strategy, [star])
    list(strategy.rank(page([star]), verdict(0.9), lease("http://h.test/star")))
    assert strategy.waiting.count == 0
    assert ranked(strategy, [star]) == {"http://h.test/star": 0.0}
    assert strategy.waiting.count == 0
    assert strategy.groups.host_count.values.sum() == 3


def test_links_of_a_host_that_seems_to_be_a_trap_are_left_aside():
    strategy = chooser()
    trap = [link(f"http://trap.test/{n}", "star", STAR) for n in range(50)]
    others = [link(f"http://other.test/{n}", "sea", SEA) for n in range(9)]
    told = ranked(strategy, [*trap, *others])
    list(strategy.revise())
    came = msgspec.structs.replace(lease("http://trap.test/0"), is_doubted=True)
    came = msgspec.structs.replace(came, promise=0.8)
    before = strategy.groups.pages, strategy.features.words.sums.copy()
    new = link("http://trap.test/new", vector=STAR)
    [one] = strategy.rank(page([new], "star"), verdict(1.0), came)
    assert one.promise == pytest.approx(0.08)
    assert strategy.waiting.count == len(others)
    assert strategy.groups.pages == before[0]
    assert np.array_equal(strategy.features.words.sums, before[1])
    news = list(strategy.revise())
    assert {parts for _, _, parts in news} == {"{}"}  # JSON, as crawl.db has it
    revised = {print_: promise for print_, promise, _ in news}
    assert len(revised) == len(trap) - 1
    for each in trap[1:]:
        assert revised[each.fingerprint] == pytest.approx(told[each.url] / 10, rel=1e-3)
    copy = msgspec.structs.replace(lease("http://other.test/0"), is_doubted=True)
    strategy.missed(copy, State.COPY)
    assert strategy.waiting.count == 0
    # After a restart the same is left aside.
    again = chooser()
    again.recall(strategy.changes())
    assert again.waiting.count == 0


def test_links_of_a_section_that_leads_nowhere_promise_less():
    def promise_after(miss: Callable[[Opilio, Lease], None]) -> float:
        strategy = chooser()
        tried = [link(f"http://h.test/images/{n}", vector=STAR) for n in range(5)]
        others = [link(f"http://h.test/pages/{n}", vector=SEA) for n in range(10)]
        ranked(strategy, [*tried, *others], score=0.9)
        for one in tried:
            miss(strategy, lease(one.url))
        next_one = link("http://h.test/images/9", vector=STAR)
        return ranked(strategy, [next_one], score=0.9)[next_one.url]

    unknown = promise_after(lambda strategy, one: strategy.missed(one, State.UNUSABLE))
    assert promise_after(Opilio.dead) < 0.9 * unknown


def test_the_chance_by_which_links_are_corrected_is_the_one_they_were_told():
    """With the usual number of pages and mean score, offset and promise agree."""
    strategy = chooser(explore=0.0)
    star = link("http://h.test/star", vector=STAR)
    told = ranked(strategy, [star])["http://h.test/star"]
    strategy.now = lambda: 0.0
    list(strategy.rank(page([]), verdict(0.9), lease("http://h.test/star")))
    [(_, offset, score)] = strategy.correction.rows
    assert offset == pytest.approx(logit(told), abs=1e-4)
    assert score == 0.9


HOSTILE = {
    "no links": [],
    "no words and no vectors": [link("http://h.test/1", vector=None)],
    "some with vectors": [
        link("http://h.test/1", vector=STAR),
        link("http://h.test/2", vector=None),
    ],
    "vectors of other dimensions": [link("http://h.test/1", vector=(1.0, 0.0))],
    "the page itself": [link(SEED, vector=STAR)],
    "one link twice": [link("http://h.test/1"), link("http://h.test/1")],
    "ten thousand": [link(f"http://h{n}.test/", "a b c", STAR) for n in range(10_000)],
    "long words": [link("http://h.test/1", "x" * 10_000, STAR, path="a/" * 5000)],
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("vectors", [True, False])
def test_hostile_pages_do_no_harm(name: str, vectors: bool):
    strategy = chooser(subject(vectors=vectors))
    links = HOSTILE[name]
    found = list(strategy.rank(page(links), verdict(0.5), lease(SEED)))
    assert [one.link for one in found] == links
    assert all(0 <= one.promise < 1 for one in found)
    again = chooser(subject(vectors=vectors))
    again.recall(strategy.changes())
    assert again.waiting.count == strategy.waiting.count
    count = len({one.fingerprint for one in links} - {fingerprint(SEED)})
    assert strategy.waiting.count == count


@pytest.mark.parametrize("score", [1e300, -5.0, float("inf"), float("nan")])
def test_scores_beyond_all_bounds_do_no_harm(score: float):
    strategy = chooser()
    for number in range(30):
        links = [link(f"http://h.test/{number}/{n}", "a", STAR) for n in range(5)]
        one = lease(f"http://h.test/{number - 1}/0")
        found = list(strategy.rank(page(links, "a"), verdict(score), one))
        assert all(isfinite(one.promise) for one in found)


def test_keywords_of_which_no_vector_is_known_do_no_harm():
    zeros = {key: floats((0.0, 0.0, 0.0)) for key in KEYWORDS}
    strategy = chooser(Subject(weights=dict.fromkeys(KEYWORDS, 1.0), vectors=zeros))
    assert ranked(strategy, [link("http://h.test/1", vector=STAR)])
    crawl = Crawl(strategy)
    for _ in range(40):
        crawl.step()
    assert strategy.features.taught.direction.any()


def test_notes_of_a_crawl_with_other_vectors_are_taken_up_without_them():
    crawl = Crawl(chooser())
    for _ in range(20):
        crawl.step()
    for changed in (
        subject(vectors=False),
        Subject(weights={"star": 1.0}, vectors={"star": floats((1.0, 0.0))}),
    ):
        strategy = chooser(changed)
        strategy.recall(crawl.notes)
        assert strategy.waiting.count == crawl.strategy.waiting.count
        assert not strategy.waiting.vector.any()


def test_a_topic_without_keywords_has_promises_too():
    strategy = chooser(Subject())
    promises = ranked(strategy, [link("http://h.test/1", vector=None)])
    assert promises["http://h.test/1"] == pytest.approx(
        1 / (1 + exp(-strategy.ordinary - 2)), abs=0.2
    )


def test_of_too_many_links_the_worse_half_is_forgotten(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("opilio.strategies.opilio.MOST_WAITING", 100)
    strategy = chooser()
    stars = [link(f"http://h.test/star{n}", vector=STAR) for n in range(60)]
    seas = [link(f"http://h.test/sea{n}", vector=SEA) for n in range(60)]
    ranked(strategy, [*stars, *seas])
    list(strategy.rank(page([]), verdict(0.5), lease("http://other.test/")))
    assert strategy.waiting.count == 60
    kept = set(strategy.waiting.link[strategy.waiting.all()].tolist())
    assert kept == {one.fingerprint for one in stars}
    # A link that was forgotten is new when a page has it again.
    assert ranked(strategy, [seas[0]])[seas[0].url] > 0
    assert strategy.waiting.count == 61


def test_means_follow_the_links_that_wait_from_page_to_page():
    strategy = chooser()
    places = [f"http://seed.test/{number}" for number in range(40)]
    ranked(strategy, [link(url) for url in places])
    strategy.next_fit = 1000
    strategy.features.rescale(strategy.waiting.all())
    host = strategy.features.names.index("host")
    before = strategy.features.mean.copy()
    for _ in range(20):
        strategy.groups.add_page("seed.test", 1.0)
    strategy.features.follow()
    moved = strategy.features.mean - before
    rows = strategy.features.standard(strategy.waiting.all())
    assert moved[host] > 0.1
    assert rows[:, host] == pytest.approx(np.zeros(len(rows)), abs=1e-3)
    for url in places:
        strategy.waiting.leave(fingerprint(url))
    strategy.groups.add_page("seed.test", 0.0)
    strategy.features.follow()  # nothing is left to follow
    assert strategy.features.mean - before == pytest.approx(moved)
