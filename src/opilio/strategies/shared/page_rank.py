"""Computes the PageRank of every URL in the graph of a crawl, incrementally.

    IR(p) = (1-d) + d·Σ_i IR(t_i)/c_i

Symbols: t_i the pages that link to p, c_i how many links t_i has, d the damping.
Page et al., 1998, as Cho, Garcia-Molina & Page, WWW7, 1998, and Koundal, section 3,
write it: not divided by the number of pages.

The links of a URL that was not visited are unknown, so it passes nothing on. Spreading
its rank evenly over all pages, as others do, would multiply every IR by the same number
and change no order. So the iteration runs over the visited pages only; one last step
over all links gives the rank of every URL.

Between two computations a link gains d·IR(t)/c for each page t that is read. Everything
is computed again, from the current values, when the links have grown by a fifth, so the
cost per page does not depend on their number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from opilio.strategies.shared.graph import CrawlGraph, Numbers
from opilio.strategies.shared.growing_array import Column

GROWTH = 1.2
FIRST = 500  # links, at the first computation
MOST_STEPS = 2000
TOLERANCE = 1e-6  # of the result, in parts of the largest IR

Values = NDArray[np.float64]


class PageRank:
    """The PageRank of each URL of a graph, approximate between computations."""

    def __init__(self, graph: CrawlGraph, damping: float) -> None:
        self.graph = graph
        self.damping = damping
        self.ranks = Column(np.float64, fill=1 - damping)
        self.computed_at = 0  # links there were
        self.highest = 1.0  # as it was last computed

    def visit(self, page: int, links: Numbers) -> None:
        """Pass on the rank of a page that was just added to the graph."""
        self.ranks.reach(len(self.graph))
        if len(links):
            given = self.damping * self.ranks.values[page]
            others = links[links != page]
            self.ranks.values[others] += given / max(len(others), 1)

    @property
    def is_due(self) -> bool:
        """Whether the links have grown enough to compute again."""
        return len(self.graph.targets.values) >= self.computed_at * GROWTH + FIRST

    def compute(self) -> None:
        """Solve the equation for all URLs, from the current values."""
        graph, d = self.graph, self.damping
        sources, targets = graph.sources.values, graph.targets.values
        self.ranks.reach(len(graph))
        ranks, c = self.ranks.values, graph.outlinks.values
        places = np.cumsum(graph.visited.values) - 1  # among the visited
        pages = np.flatnonzero(graph.visited.values)
        inner = graph.visited.values[targets]
        starts, ends = places[sources[inner]], places[targets[inner]]
        now: NDArray[np.floating[Any]] = ranks[pages]
        share = d / np.maximum(c[pages], 1)
        for _ in range(MOST_STEPS):
            passed = (now * share)[starts]
            before = now
            now = (1 - d) + np.bincount(ends, passed, len(pages))
            change = np.abs(now - before).max(initial=0.0)
            # All later steps together change less than change·d/(1-d).
            if change * d <= TOLERANCE * (1 - d) * now.max(initial=0.0):
                break
        passed = (now * share)[places[sources]]
        ranks[:] = (1 - d) + np.bincount(targets, passed, minlength=len(ranks))
        self.computed_at = len(targets)
        self.highest = float(ranks.max(initial=1 - d))
