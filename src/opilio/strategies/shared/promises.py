"""Decides which changed promises of links are passed on to the frontier.

A computation over all links may change all their promises at once. Those that changed
by more than a hundredth are then passed on in portions, one per page and the most
promising first, until the next computation. So a page costs the same however many
links wait, and the links that are visited next are always in order.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from opilio.strategies.shared.graph import CrawlGraph, Numbers, Which
from opilio.strategies.shared.growing_array import Column

PORTION = 200  # a page
MOST = 100_000  # of one computation
SLIGHT = 0.01  # of a promise

Values = NDArray[np.float64]
NOBODY = np.empty(0, np.int32)


class Promises:
    """The promises that the frontier has of waiting links."""

    def __init__(self, graph: CrawlGraph, value: Callable[[Which], Values]) -> None:
        self.graph = graph
        self.value = value
        self._told = Column(np.float64, fill=np.nan)  # not a number: it does not wait
        self._gone = Column(np.bool_)
        self._late = NOBODY  # whose change is not yet passed on, the best first
        self._due: list[Numbers] = []

    @property
    def waiting(self) -> Numbers:
        """The links that may wait."""
        return np.flatnonzero(~np.isnan(self._told.values)).astype(np.int32)

    def wait(self, links: Numbers) -> NDArray[np.bool_]:
        """Whether each may wait."""
        return ~np.isnan(self._told.values[links])

    def leave(self, number: int) -> None:
        """Note that a link was visited; -1: an unknown one."""
        self._reach()
        if number >= 0:
            self._told.values[number] = np.nan
            self._gone.values[number] = True

    def tell(self, links: Numbers) -> Values:
        """The promises of links that are about to be ranked; a lower one than before
        must also be revised, since the frontier keeps the higher of two."""
        self._reach()
        values = self.value(links)
        told = self._told.values
        self._due.append(links[told[links] > values])
        told[links] = np.where(self._gone.values[links], np.nan, values)
        return values

    def renew(self) -> None:
        """Note that all values may have changed."""
        self._reach()
        values, told = self.value(slice(None)), self._told.values
        changed = np.abs(values - told) > SLIGHT * np.abs(told)  # and it waits
        links = np.flatnonzero(changed).astype(np.int32)
        best = -np.maximum(values[links], told[links])
        if len(links) > MOST:
            most = np.argpartition(best, MOST)[:MOST]
            links, best = links[most], best[most]
        self._late = links[np.argsort(best, kind="stable")]

    def move(self, links: Numbers) -> None:
        """Pass these on with the next portion, whatever else there is."""
        self._due.append(links)

    def portion(self) -> None:
        """Add the next portion of pending changes."""
        some, self._late = self._late[:PORTION], self._late[PORTION:]
        self._due.append(some)

    def take(self) -> tuple[Numbers, Values]:
        """Remove and return all that is due: links and their promises."""
        once = dict.fromkeys(chain.from_iterable(map(np.ndarray.tolist, self._due)))
        self._due.clear()
        due = np.fromiter(once, np.int32, len(once))
        due = due[~np.isnan(self._told.values[due])]
        values = self.value(due)
        self._told.values[due] = values
        return due, values

    def _reach(self) -> None:
        self._told.reach(len(self.graph))
        self._gone.reach(len(self.graph))
