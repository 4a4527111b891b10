"""What the frontier is told of links whose promises change; the best few of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from opilio.strategies.shared.graph import CrawlGraph
from opilio.strategies.shared.journal import StrategyJournal
from opilio.strategies.shared.promises import PORTION, Promises
from opilio.strategies.shared.shortlist import Shortlist

SEED = 10**6


class Valued:
    """Links with values that a test sets: link 1000 + n has values[n]."""

    def __init__(self, values: list[float]) -> None:
        self.graph = CrawlGraph()
        _, self.links = self.graph.visit(SEED, range(1000, 1000 + len(values)))
        self.values = np.array([0.0, *values])
        self.promises = Promises(self.graph, lambda links: self.values[links])
        self.promises.leave(0)
        self.promises.tell(self.links)

    def take(self) -> list[tuple[int, float]]:
        """The fingerprints and promises that are due."""
        links, promises = self.promises.take()
        urls = self.graph.fingerprints.values[links]
        return list(zip(urls.tolist(), promises.tolist(), strict=True))


def test_nothing_is_told_of_a_link_that_became_better_on_a_page_since_rank_does():
    some = Valued([0.5, 0.5])
    some.values[1] = 0.7
    some.promises.tell(some.links)
    assert some.take() == []


def test_a_link_that_became_worse_on_a_page_is_told_of_once():
    some = Valued([0.5, 0.5])
    some.values[1] = 0.3
    some.promises.tell(some.links)
    assert some.take() == [(1000, 0.3)]
    assert some.take() == []


def test_after_a_computation_the_links_that_changed_are_told_best_first_in_portions():
    count = 2 * PORTION
    some = Valued([1.0 + n for n in range(count)])
    some.values[1:] += np.where(np.arange(count) % 4, 0.0, 500.0)
    some.promises.renew()
    changed = {1000 + n: 501.0 + n for n in range(0, count, 4)}
    some.promises.portion()
    told = some.take()
    assert dict(told) == changed
    some.values[1:] *= 2
    some.promises.renew()
    some.promises.portion()
    best = set(np.argsort(-some.values)[:PORTION].tolist())
    assert {url - 999 for url, _ in some.take()} == best
    some.promises.portion()
    assert len(some.take()) == count - PORTION
    some.promises.portion()
    assert some.take() == []


def test_slight_changes_and_visited_links_are_not_told():
    some = Valued([1.0, 1.0, 1.0])
    some.promises.leave(2)
    some.values[1:] = 1.001, 9.0, 9.0
    some.promises.renew()
    some.promises.portion()
    assert some.take() == [(1002, 9.0)]
    assert some.promises.waiting.tolist() == [1, 3]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("take"), st.integers(1, 5), st.just(0.0)),
        st.tuples(st.just("set"), st.integers(0, 299), st.floats(0, 1)),
        st.tuples(st.just("leave"), st.integers(0, 299), st.just(0.0)),
        st.tuples(st.just("forget"), st.just(0), st.just(0.0)),
    ),
    max_size=60,
)


@given(st.lists(st.floats(0, 1), min_size=300, max_size=300), STEPS)
def test_a_shortlist_gives_the_best_whatever_happens(values, steps):
    now = np.array(values)
    free = set(range(len(now)))
    shortlist = Shortlist(
        lambda: np.array(sorted(free), np.int32), lambda links: now[links]
    )
    for step, number, value in steps:
        if step == "take":
            taken = shortlist.take(number)
            assert free.issuperset(taken) and len(set(taken)) == len(taken)
            best = sorted((now[one] for one in free), reverse=True)[:number]
            assert [now[one] for one in taken] == best
            free.difference_update(taken)
        elif step == "set" and number in free:
            now[number] = value
            shortlist.change(np.array([number], np.int32))
        elif step == "leave":
            free.discard(number)
            shortlist.remove(number)
        elif step == "forget":
            now[:] = now[::-1].copy()
            shortlist.forget()


def test_a_shortlist_ends_when_there_is_nothing_left():
    shortlist = Shortlist(lambda: np.array([], np.int32), lambda links: links * 1.0)
    assert shortlist.take(3) == []


def test_events_happen_again_in_their_order_and_are_written_once():
    happened: list[int] = []
    journal = StrategyJournal(int, happened.append)
    kept: dict[int, bytes] = {}
    for event in (5, 3):
        journal.write(event)
    kept.update(journal.changes())
    assert list(journal.changes()) == []
    again: list[int] = []
    other = StrategyJournal(int, again.append)
    assert list(other.replay(reversed(kept.items()))) == [5, 3]
    assert list(other.changes()) == []
    other.write(9)
    kept.update(other.changes())
    third: list[int] = []
    list(StrategyJournal(int, third.append).replay(kept.items()))
    assert third == [5, 3, 9]
