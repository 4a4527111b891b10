"""Links with values that change in; a queue of the k best of them at a time out.

Koundal, section 5.A: the k best links of the frontier are put in a queue and fetched in
that order, whatever happens to their values; when it is empty, it is filled again. A
link in the queue promises more than any other, and less than the one before it. After
as many visits as it held the queue is filled again, also if some of its links could not
be visited yet: they stay ahead. Exactly the paper's order needs crawl.in_flight = 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from opilio.strategies.shared.graph import CrawlGraph, Numbers, Which
from opilio.strategies.shared.growing_array import Column
from opilio.strategies.shared.page_rank import Values
from opilio.strategies.shared.promises import Promises
from opilio.strategies.shared.shortlist import Shortlist

AHEAD = 500_000.0  # promise of the first link ever in the queue: behind the seeds only
STEP = 2.0**-10  # each one after it promises so much less


class Batches:
    """The queue of size k; with k = 0 there is none."""

    def __init__(
        self,
        k: int,
        graph: CrawlGraph,
        promises: Promises,
        value: Callable[[Numbers], Values],
    ) -> None:
        self.k = k
        self.graph = graph
        self.promises = promises
        self.shortlist = Shortlist(self._not_queued, value)
        self._queued = Column(np.float64)  # promise in the queue; 0: never in it
        self._count = 0  # links that ever were
        self._visits = 0  # that are left until the queue is filled again

    def promise(self, links: Which, values: Values) -> Values:
        """What links promise that have these values."""
        if not self.k:
            return values
        self._queued.reach(len(self.graph))
        queued = self._queued.values[links]
        return np.where(queued > 0, queued, values)

    def holds(self, links: Numbers) -> NDArray[np.bool_]:
        """Is each of them in the queue, or was it?"""
        self._queued.reach(len(self.graph))
        return self._queued.values[links] > 0

    def change(self, links: Numbers) -> None:
        """These links are new, or have new values."""
        if self.k:
            free = self._queued.values[links] == 0
            self.shortlist.change(links[free & self.promises.wait(links)])

    def forget(self) -> None:
        """All values are new."""
        self.shortlist.forget()

    def visited(self, number: int) -> None:
        """A link was visited; -1: one that we do not know."""
        self._visits -= 1
        self.shortlist.remove(number)

    def fill(self) -> None:
        """Choose the next k links if it is time."""
        if self.k and self._visits <= 0:
            chosen = np.array(self.shortlist.take(self.k), np.int32)
            places = np.arange(self._count, self._count + len(chosen))
            self._queued.values[chosen] = AHEAD - STEP * places
            self._count += len(chosen)
            self._visits = len(chosen)
            self.promises.move(chosen)

    def _not_queued(self) -> Numbers:
        waiting = self.promises.waiting
        free: Numbers = waiting[self._queued.values[waiting] == 0]
        return free
