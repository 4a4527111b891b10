"""What waits at a host, against a plain heap, and how often all is looked at."""

from __future__ import annotations

import random
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from opilio.frontier import sort_keys
from opilio.frontier.host_queue import Backlog
from opilio.frontier.link_columns import LinkColumns, LinkMode


class CountingBacklog(Backlog):
    """A backlog that counts the far links that it looks at."""

    looked_at = 0

    def _waiting(self, far) -> NDArray[np.int64]:
        self.looked_at += len(far)
        return super()._waiting(far)


def test_the_best_comes_first_and_few_are_looked_at_though_better_ones_keep_coming():
    """20,000 links wait; each visit finds ten more, anywhere among them."""
    rng = random.Random(5)
    links = LinkColumns()
    backlog, model = CountingBacklog(links), list[int]()

    def wait() -> None:
        [key] = sort_keys.keys([rng.random()])
        entry = links.entry(links.add(int(key), LinkMode.WAITING, 0))
        backlog.push(entry)
        heappush(model, entry)

    for _ in range(20_000):
        wait()
    visits = 3_000
    for _ in range(visits):
        best = backlog.top()
        assert best == heappop(model)
        assert backlog.pop() == best
        links.mode[best & sort_keys.ID_MASK] = LinkMode.LEASED
        for _ in range(10):
            wait()
    assert backlog.looked_at / visits < 40


def test_links_before_another_are_counted_exactly_where_few_wait_and_else_roughly():
    rng = random.Random(8)
    for size in (5, 16, 3_000, 50_000):
        links = LinkColumns()
        backlog = Backlog(links)
        for _ in range(size):
            [key] = sort_keys.keys([rng.random()])
            backlog.push(links.entry(links.add(int(key), LinkMode.WAITING, 0)))
        for share in (0.01, 0.2, 0.8):
            bound = int(sort_keys.keys([1 - share])[0]) << sort_keys.ID_BITS
            entries = [links.entry(id) for id in range(1, size + 1)]
            exact = sum(entry < bound for entry in entries)
            count = backlog.count_before(bound)
            if size <= 16:
                assert count == exact
            else:
                assert abs(count - exact) < size * 0.25
