"""The links between pages as two arrays, with reachability and distances.

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
        """All links of some pages: their sources and targets."""
        first = self.offsets[pages]
        counts = self.offsets[pages + 1] - first
        ends = np.cumsum(counts)
        # Page by page the places run on by one; each page shifts them to its own.
        places = np.arange(counts.sum()) + np.repeat(first - ends + counts, counts)
        return np.repeat(pages, counts), self.targets[places]

    def sources(self) -> Nodes:
        """The page that each link is on."""
        pages = np.arange(self.size, dtype=np.int32)
        return np.repeat(pages, np.diff(self.offsets))

    def only(self, allowed: NDArray[np.bool_]) -> LinkGraph:
        """The same pages with only those links that lead to allowed ones."""
        kept = allowed[self.targets]
        return _rows(self.sources()[kept], self.targets[kept], self.size)

    def reversed(self) -> LinkGraph:
        """The same pages with every link reversed."""
        order = np.argsort(self.targets, kind="stable")
        return _rows(self.targets[order], self.sources()[order], self.size)


def _rows(sources: Nodes, targets: Nodes, size: int) -> LinkGraph:
    """The graph of links that are sorted by where they stand."""
    offsets = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(sources, minlength=size), out=offsets[1:])
    return LinkGraph(offsets, targets)


def distances(graph: LinkGraph, starts: Sequence[int] | Nodes) -> Nodes:
    """The distance of each page from the nearest start, in links; -1: unreachable."""
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
    """Which pages can be reached from the starts, themselves included."""
    return distances(graph, starts) >= 0
