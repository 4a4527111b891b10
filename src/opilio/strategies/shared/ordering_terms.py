"""Computes the four terms of Koundal's ordering metric for any URL.

    CI(u) = IR(u) + w·IB(u)     AS(u)     ΣAS(p_i)     TD(u)

Symbols: IR PageRank, IB back-links, AS association, p_i the pages read so far that link
to u, TD the relevance of the division that holds the link. `paper` uses these.
`fixed` has each term in [0, 1]: IR and IB in parts of the highest, and the mean of
AS(p_i), or their noisy or, 1 - Π(1 - AS(p_i)), in place of the sum.

Each is an array over the URLs of the graph, so that the terms of a page's links, or of
all links, are a few operations on arrays.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from opilio.records import Mode
from opilio.strategies.shared.graph import CrawlGraph, Numbers, Which
from opilio.strategies.shared.growing_array import Column
from opilio.strategies.shared.page_rank import PageRank, Values

Parents = Literal["mean", "noisy-or"]
Floats = NDArray[np.float32]


class OrderingEvidence:
    """The evidence about each URL that a page links to."""

    def __init__(
        self, importance: PageRank, mode: Mode, parents: Parents, backlinks: float
    ) -> None:
        self.graph: CrawlGraph = importance.graph
        self.importance = importance
        self.is_paper = mode == "paper"
        self.is_mean = parents == "mean"
        self.backlinks = backlinks  # w
        self.association = Column(np.float32)  # AS(u), the best of all places
        self.division = Column(np.float32)  # TD(u), likewise
        self.total = Column(np.float64)  # Σ AS(p_i)
        self.lack = Column(np.float64, fill=1.0)  # Π (1 - AS(p_i))
        self.most_backlinks = 1.0  # when PageRank was last computed

    def add(
        self, links: Numbers, parent: float, association: Floats, division: Floats
    ) -> None:
        """Add a page with its AS(p), and its links with their AS(u) and TD(u)."""
        for column in (self.association, self.division, self.total, self.lack):
            column.reach(len(self.graph))
        own, held = self.association.values, self.division.values
        own[links] = np.maximum(own[links], association)
        held[links] = np.maximum(held[links], division)
        self.total.values[links] += parent
        self.lack.values[links] *= 1 - min(parent, 1.0)

    def compute(self) -> None:
        """Compute PageRank and the maxima again."""
        self.importance.compute()
        self.most_backlinks = float(self.graph.backlinks.values.max(initial=1))

    def terms(self, links: Which) -> Values:
        """A row of CI(u), AS(u), AS of the parents and TD(u) for each link."""
        own = self.association.values[links]
        rows = np.empty((len(own), 4), order="F")
        rows[:, 0] = self._combined_importance(links)
        rows[:, 1] = own
        rows[:, 2] = self._of_parents(links)
        rows[:, 3] = self.division.values[links]
        return rows

    def _combined_importance(self, links: Which) -> Values:
        ranks = self.importance.ranks.values[links]
        counts = self.graph.backlinks.values[links]
        if self.is_paper:
            return ranks + self.backlinks * counts
        ranks = np.minimum(ranks / self.importance.highest, 1.0)
        counts = np.minimum(counts / self.most_backlinks, 1.0)
        return (ranks + self.backlinks * counts) / (1 + self.backlinks)

    def _of_parents(self, links: Which) -> Values:
        if self.is_paper:
            return self.total.values[links]
        if self.is_mean:
            counts = np.maximum(self.graph.backlinks.values[links], 1)
            return self.total.values[links] / counts
        return 1 - self.lack.values[links]
