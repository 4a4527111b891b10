"""The simulated conditions of a crawl in the lab: concurrency, delays and latency."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from math import exp
from pathlib import Path
from statistics import NormalDist
from typing import Annotated

import msgspec

from opilio.fetch.replay import ReplayFetch
from opilio.records import Headers, Response
from opilio.settings import Some
from opilio.text import urls

SPREAD = 0.5  # standard deviation of the logarithm of a latency
SHORTEST, LONGEST = 0.2, 5.0  # times the median; a crawl drains longer than that


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """How a simulated crawl is run; the default is one page at a time."""

    in_flight: Some = 1
    delay: Annotated[float, msgspec.Meta(ge=0)] = 0.0  # seconds between visits to hosts
    latency: Annotated[float, msgspec.Meta(ge=0)] = 0.0  # seconds, in the median
    haste: float | None = None  # None: the default of a crawl
    breadth: float | None = None

    @property
    def are_simulated(self) -> bool:
        """Whether time is simulated."""
        return self.in_flight > 1 or bool(self.delay or self.latency)

    def __str__(self) -> str:
        told = "one page at a time"
        if self.are_simulated:
            told = (
                f"simulated time, {self.in_flight} in flight, delay {self.delay:g} s, "
                f"latency {self.latency:g} s"
            )
        for name, value in (("haste", self.haste), ("breadth", self.breadth)):
            told += "" if value is None else f", {name} {value:g}"
        return told


ONE_AT_A_TIME = Conditions()
REAL = Conditions(in_flight=64, delay=1.0, latency=0.3)  # the defaults of a crawl


class SlowReplay(ReplayFetch):
    """Answers from archives after a latency that depends on the URL alone.

    The latency is lognormal: median · exp(SPREAD · z), where z is the quantile of the
    standard normal distribution that the fingerprint of the URL stands for.
    """

    def __init__(
        self, warcs: Sequence[Path], cache: Path | None = None, *, latency: float
    ) -> None:
        super().__init__(warcs, cache)
        self.latency = latency

    async def fetch(self, url: str, validators: Headers = ()) -> Response:
        """The archived response, after its latency; a URL that is not archived fails at
        once."""
        key = urls.fingerprint(urls.canonical(url))
        if self.latency and self.has(key):
            await asyncio.sleep(latency_of(key, self.latency))
        return await super().fetch(url, validators)


def latency_of(fingerprint: int, median: float) -> float:
    """The latency of a URL, the same in every run."""
    spread = fingerprint * 0x9E3779B97F4A7C15 % 2**64
    share = (spread + 0.5) / 2**64
    factor = exp(SPREAD * NormalDist().inv_cdf(min(max(share, 1e-9), 1 - 1e-9)))
    return median * min(max(factor, SHORTEST), LONGEST)
