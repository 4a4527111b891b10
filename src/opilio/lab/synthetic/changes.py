"""Decides when each page of a synthetic web changes."""

from __future__ import annotations

import math
import random
from bisect import bisect_right

from opilio.lab.synthetic.graph import Graph, Node

DAY = 86_400.0
RAREST, OFTENEST = 1 / 365, 12.0  # changes a day; what lies between is equally likely
WHETHER, HOW_OFTEN, WHEN = 20, 21, 22  # purposes of chance


class Changes:
    """Changes of each page as a Poisson process of its own rate.

    The rates are spread evenly over the orders of magnitude from once a year to twelve
    times a day, roughly as studies of the web find. Time is in seconds since the web
    began.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.share = graph.dials.changing
        self._times: dict[int, tuple[random.Random, list[float]]] = {}

    def rate(self, node: Node) -> float:
        """Changes a day; 0: it never does."""
        if self._chance(node, WHETHER) >= self.share:
            return 0.0
        spread = math.log(OFTENEST / RAREST)
        return RAREST * math.exp(spread * self._chance(node, HOW_OFTEN))

    def times(self, node: Node, until: float) -> list[float]:
        """When the page changes, at least up to a time."""
        rate = self.rate(node) / DAY
        if not rate:
            return []
        rng = random.Random(self.graph.draw(node.number, WHEN))
        start: tuple[random.Random, list[float]] = (rng, [])
        rng, times = self._times.setdefault(node.number, start)
        while not times or times[-1] <= until:
            times.append((times[-1] if times else 0.0) + rng.expovariate(rate))
        return times

    def version(self, node: Node, at: float) -> int:
        """How often the page has changed by then."""
        return bisect_right(self.times(node, at), at)

    def since(self, node: Node, at: float) -> float:
        """When the page last changed before that time."""
        version = self.version(node, at)
        return self.times(node, at)[version - 1] if version else 0.0

    def _chance(self, node: Node, purpose: int) -> float:
        return self.graph.draw(node.number, purpose) / 2**64
