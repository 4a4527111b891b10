"""Keeps the mean score of the pages behind the links of a host, section or page.

Means are shrunk towards what is known more generally, as if that many pages more had
been like it:

    host     = (Σ score + 1·base) / (n + 1)
    host²    = (Σ score² + 1·base²) / (n + 1)
    section  = (Σ score² + ½·max(host², base²)) / (n + ½)
    siblings = (Σ score + 2·host) / (n + 2)

`base` and `base²` are means over all pages. Where the items of a list are about one
subject, the first one shows what the others are, hence the half. Scores are squared so
that many scores slightly above zero do not look like a few good pages: an untried
section is worth more than one that was tried without success. It is worth as much as
any even if everything known about its host is a poor home page.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from opilio.strategies.shared.chooser.visits import SECTIONS
from opilio.strategies.shared.growing_array import Column


class Groups:
    """Sums and counts of scores by host, section and linking page."""

    def __init__(self) -> None:
        self.hosts: dict[str, int] = {}
        self.host_sum: Column[np.float64] = Column(np.float64)
        self.host_squares: Column[np.float64] = Column(np.float64)
        self.host_count: Column[np.int32] = Column(np.int32)
        self.section_sum = np.zeros(SECTIONS)
        self.section_count = np.zeros(SECTIONS, np.int32)
        self.page_sum: Column[np.float64] = Column(np.float64)
        self.page_count: Column[np.int32] = Column(np.int32)
        self.numbered = 0  # pages that have a number here
        self.pages = 0  # that were read, also by others
        self.total = 0.0
        self.squares = 0.0

    @property
    def base(self) -> float:
        """The mean score of all pages."""
        return self.total / self.pages if self.pages else 0.0

    @property
    def square(self) -> float:
        """base²: the mean of the squared scores of all pages."""
        return self.squares / self.pages if self.pages else 0.0

    def host_numbers(self, names: Iterable[str]) -> list[int]:
        """The numbers of hosts, perhaps new ones."""
        hosts = self.hosts
        found = [hosts.setdefault(name, len(hosts)) for name in names]
        self.host_sum.reach(len(hosts))
        self.host_squares.reach(len(hosts))
        self.host_count.reach(len(hosts))
        return found

    def add_page(self, host: str, score: float) -> int:
        """Count a page; returns its number."""
        [number] = self.host_numbers([host])
        self.host_sum.values[number] += score
        self.host_squares.values[number] += score * score
        self.host_count.values[number] += 1
        self.total += score
        self.squares += score * score
        self.pages += 1
        self.numbered += 1
        self.page_sum.reach(self.numbered)
        self.page_count.reach(self.numbered)
        return self.numbered - 1

    def add_link(self, section: int, page: int, score: float) -> None:
        """Count what a link brought."""
        self.add_section(section, score)
        self.page_sum.values[page] += score
        self.page_count.values[page] += 1

    def add_section(self, section: int, score: float) -> None:
        """Count what a link brought for its section alone."""
        self.section_sum[section] += score * score
        self.section_count[section] += 1

    @property
    def columns(self) -> tuple[npt.NDArray[Any], ...]:
        """Sums and counts of hosts, sections and pages, for `rows.raw`."""
        return (
            self.host_sum.values,
            self.host_count.values,
            self.section_sum,
            self.section_count,
            self.page_sum.values,
            self.page_count.values,
            self.host_squares.values,
        )
