"""Who links to whom, as two arrays; which pages can be reached, and how far they are.

The links of page v are targets[offsets[v] : offsets[v + 1]], a layout known as
compressed sparse rows. A redirect is a page with one link.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Offsets = NDArray[np.int64]
Nodes = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class LinkGraph:
    """The links between the pages 0 … n-1 of a web."""

    offsets: Offsets  # n + 1 of them
    targets: Nodes  # one a link

    @property
    def size(self) -> int:
        """How many pages there are."""
        return len(self.offsets) - 1

    def links_of(self, pages: Nodes) -> tuple[Nodes, Nodes]:
        """All links of some pages: where each stands, and where it leads."""
        first = self.offsets[pages]
        counts = self.offsets[pages + 1] - first
        ends = np.cumsum(counts)
        # Page by page the places run on by one; each page shifts them to its own.
        places = np.arange(counts.sum()) + np.repeat(first - ends + counts, counts)
        return np.repeat(pages, counts), self.targets[places]

    def reversed(self) -> LinkGraph:
        """Every link the other way round."""
        order = np.argsort(self.targets, kind="stable")
        counts = np.bincount(self.targets, minlength=self.size)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return LinkGraph(offsets, self.sources()[order])

    def only(self, allowed: NDArray[np.bool_]) -> LinkGraph:
        """The links that lead to pages which are allowed."""
        kept = allowed[self.targets]
        counts = np.bincount(self.sources()[kept], minlength=self.size)
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return LinkGraph(offsets, self.targets[kept])

    def sources(self) -> Nodes:
        """The page on which each link stands."""
        return np.repeat(np.arange(self.size, dtype=np.int32), np.diff(self.offsets))


def link_graph(links: Sequence[Sequence[int]]) -> LinkGraph:
    """The graph in which page v links to the pages links[v]."""
    offsets = np.cumsum([0, *map(len, links)], dtype=np.int64)
    targets = np.fromiter((to for row in links for to in row), np.int32, offsets[-1])
    return LinkGraph(offsets, targets)


def distances(graph: LinkGraph, starts: Sequence[int] | Nodes) -> Nodes:
    """How many links each page is away from the nearest start; -1: out of reach."""
    away = np.full(graph.size, -1, np.int32)
    front = np.unique(np.asarray(starts, np.int32))
    links = 0
    while len(front):
        away[front] = links
        links += 1
        _, linked = graph.links_of(front)
        front = np.unique(linked[away[linked] < 0])
    return away


def reachable(graph: LinkGraph, starts: Sequence[int] | Nodes) -> NDArray[np.bool_]:
    """Which pages can be reached from the starts; these are."""
    return distances(graph, starts) >= 0
