"""A queue of the k best links, which is filled again when it is empty.

Koundal, section 5.A: the k best links of the frontier are put in a queue and fetched in
that order, whatever happens to their values. A link in the queue has a higher promise
than any other, and a lower one than the link before it. The queue is filled again after
as many visits as it had links, also if some of them could not be visited yet: they stay
ahead. The exact order of the paper needs crawl.in_flight = 1.
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

AHEAD = 500_000.0  # promise of the first link ever queued: only seeds have more
STEP = 2.0**-10  # the difference to the next one


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
        self._count = 0  # links queued so far
        self._visits = 0  # left until the queue is filled again

    def promise(self, links: Which, values: Values) -> Values:
        """The promises of links with these values."""
        if not self.k:
            return values
        self._queued.reach(len(self.graph))
        queued = self._queued.values[links]
        return np.where(queued > 0, queued, values)

    def holds(self, links: Numbers) -> NDArray[np.bool_]:
        """Whether each of them is or was in the queue."""
        self._queued.reach(len(self.graph))
        return self._queued.values[links] > 0

    def change(self, links: Numbers) -> None:
        """Note links that are new, or have new values."""
        if self.k:
            free = self._queued.values[links] == 0
            self.shortlist.change(links[free & self.promises.wait(links)])

    def forget(self) -> None:
        """Note that all values are new."""
        self.shortlist.forget()

    def visited(self, number: int) -> None:
        """Note that a link was visited; -1: an unknown one."""
        self._visits -= 1
        self.shortlist.remove(number)

    def fill(self) -> None:
        """Choose the next k links, if due."""
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
