"""The link graph of the pages read so far, by numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from opilio.records import Fingerprint, Link
from opilio.strategies.shared.growing_array import Column

Numbers = NDArray[np.int32]
Which = Numbers | slice
"""Some URLs by number, or a slice of them, which is faster."""


class GraphVisit(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The note of a strategy that only uses links on a visit."""

    url: Fingerprint
    links: bytes | None  # fingerprints as little-endian int64; None: it gave no page

    @property
    def found(self) -> list[Fingerprint]:
        """The fingerprints of the links."""
        return unpack_graph(self.links or b"")


def pack_graph(links: Iterable[Link]) -> bytes:
    """The fingerprints of links."""
    return np.array([link.fingerprint for link in links], "<i8").tobytes()


def unpack_graph(links: bytes) -> list[Fingerprint]:
    """Fingerprints that were packed."""
    found: list[Fingerprint] = np.frombuffer(links, "<i8").tolist()
    return found


class CrawlGraph:
    """The links between the pages read so far; URLs have numbers from 0 on.

    >>> graph = CrawlGraph()
    >>> page, links = graph.visit(70, [71, 72])
    >>> page, links.tolist(), graph.backlinks.values.tolist()
    (0, [1, 2], [0, 1, 1])
    """

    def __init__(self) -> None:
        self._numbers: dict[Fingerprint, int] = {}
        self.fingerprints = Column(np.int64)
        self.outlinks = Column(np.int32)  # c: how many others a page links to
        self.backlinks = Column(np.int32)  # IB: how many pages link to it
        self.visited = Column(np.bool_)
        self.sources = Column(np.int32)  # of each link: the page that it is on
        self.targets = Column(np.int32)  # and where it leads

    def __len__(self) -> int:
        return len(self._numbers)

    def find(self, url: Fingerprint) -> int:
        """The number of a URL; -1: no page that was read links to it."""
        return self._numbers.get(url, -1)

    def visit(
        self, page: Fingerprint, links: Sequence[Fingerprint]
    ) -> tuple[int, Numbers]:
        """Add a page that was read; returns its number and those of its links.

        Links of a page to itself do not count.
        """
        number, *found = self._number([page, *links])
        there = np.array(found, np.int32)
        others = there[there != number]
        self.sources.append(np.full(len(others), number, np.int32))
        self.targets.append(others)
        self.outlinks.values[number] += len(others)
        self.backlinks.values[others] += 1
        self.visited.values[number] = True
        return number, there

    def _number(self, urls: Sequence[Fingerprint]) -> list[int]:
        numbers = self._numbers
        known = len(numbers)
        found = [numbers.setdefault(url, len(numbers)) for url in urls]
        if len(numbers) > known:
            new = {n: url for n, url in zip(found, urls, strict=True) if n >= known}
            self.fingerprints.append(np.fromiter(new.values(), np.int64, len(new)))
            for column in (self.outlinks, self.backlinks, self.visited):
                column.reach(len(numbers))
        return found
