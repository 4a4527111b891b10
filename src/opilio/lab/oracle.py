"""Computes the requests of an oracle, which knows all links and targets of a web.

The oracle knows every link and every label, and always goes to the nearest target that
it has not found (design.md, section 8). The distance is the number of requests needed:

    d(v) = 0               v was visited
    d(v) = 1               v is a start
    d(v) = 1 + min d(u)    over the pages u that link to v

A step goes the whole way to the target with the smallest d; among equals, to the one
with the lowest number. Any target on the way would have been nearer, so a step finds
one, with its last request. Then d decreases for pages linked from the path. It never
increases, so earlier results remain useful, and it is computed no farther than the
nearest target.

While some target is linked from a visited page, ties do not matter: all such targets
are visited next, whatever their order. Otherwise the choice is greedy. So the oracle is
a yardstick, not an optimum: the path to a farther target may pass more targets, and a
crawl may score higher than the oracle.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import islice
from typing import NamedTuple

import numpy as np

from opilio.lab.link_graph import LinkGraph, Nodes

FAR = np.iinfo(np.int32).max


class Step(NamedTuple):
    """A request of the oracle."""

    page: int
    via: int  # number of the step whose page has the link, from 0; -1: a start
    depth: int  # links followed from a start


def steps(
    links: LinkGraph,
    starts: Sequence[int],
    targets: Mapping[int, Hashable],
    budget: int,
) -> list[Step]:
    """The pages that the oracle visits, in order, and how each was found; it ends when
    all targets are.

    `targets` names the content of each relevant page: pages of equal content are one
    target. Those that no start leads to are left out.
    """
    requests = _Oracle(links, starts, targets).requests()
    walked: list[Step] = []
    number = {-1: -1}  # page -> its step
    for page, found_on in islice(requests, budget):
        via = number[found_on]
        depth = walked[via].depth + 1 if via >= 0 else 0
        number[page] = len(walked)
        walked.append(Step(page, via, depth))
    return walked


class _Oracle:
    """The state of the search: what was visited and found, and the distances of the
    rest."""

    def __init__(
        self, links: LinkGraph, starts: Sequence[int], targets: Mapping[int, Hashable]
    ) -> None:
        self.links = links
        self.targets = targets
        self.pages_of = defaultdict(list)  # content -> where it is
        for page, content in targets.items():
            self.pages_of[content].append(page)
        self.sought = np.zeros(links.size, bool)
        self.sought[list(targets)] = True
        self.away: Nodes = np.full(links.size, FAR, np.int32)  # d, or more
        self.found_on: Nodes = np.full(links.size, -1, np.int32)
        self.near: list[tuple[int, int]] = []  # heap of d and target
        self.fronts: dict[int, list[Nodes]] = defaultdict(list)  # d -> links to follow
        self._approach(np.unique(np.asarray(starts, np.int32)), 1)

    def requests(self) -> Iterator[tuple[int, int]]:
        """Each page visited and the page it was found on, until all targets are."""
        while (target := self._nearest()) is not None:
            way = self._way_to(target)
            for page in way:
                yield page, int(self.found_on[page])
            self.sought[self.pages_of[self.targets[target]]] = False
            self._approach(np.array(way, np.int32), 0)

    def _nearest(self) -> int | None:
        """The target with the least d; None if no other can be reached."""
        while self.near or self.fronts:
            closest = min(self.fronts, default=FAR)
            if not self.near or self.near[0][0] > closest:
                self._follow(closest)
                continue
            target = self.near[0][1]
            if self.sought[target]:
                return target
            heappop(self.near)  # it was already found
        return None

    def _way_to(self, target: int) -> list[int]:
        """The unvisited pages on the way to a target, and itself."""
        way = [target]
        while self.away[way[-1]] > 1:
            way.append(int(self.found_on[way[-1]]))
        return way[::-1]

    def _approach(self, pages: Nodes, away: int) -> None:
        """Record new, smaller distances of pages."""
        self.away[pages] = away
        for target in pages[self.sought[pages]].tolist():
            heappush(self.near, (away, target))
        self.fronts[away].append(pages)

    def _follow(self, away: int) -> None:
        """Follow the links of all pages at one distance."""
        pages = np.concatenate(self.fronts.pop(away))
        standing, linked = self.links.links_of(pages)
        nearer = self.away[linked] > away + 1
        standing, linked = standing[nearer], linked[nearer]
        if len(linked):
            self.found_on[linked] = standing
            self._approach(np.unique(linked), away + 1)
