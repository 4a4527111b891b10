"""Fetches sitemaps and feeds of sites, if robots.txt allows it.

Each host gets one request at a time, with a pause in between.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from math import inf
from typing import Protocol

from opilio.errors import Transient, Unusable
from opilio.records import Clock, Response
from opilio.seeds.seed import Get
from opilio.seeds.service_requests import REDIRECTS, redirect_target
from opilio.text import urls

MAX_BYTES = 16 * 2**20  # only the beginning of a larger sitemap is used
MAX_HOPS = 5
MAX_PAUSE = 60.0  # seconds


class SiteSitemaps(Protocol):
    """A parsed robots.txt file."""

    @property
    def sitemaps(self) -> Iterable[str]: ...


class SiteRules(Protocol):
    """The rules in the robots.txt of an origin."""

    @property
    def parsed(self) -> SiteSitemaps | None: ...

    @property
    def fresh(self) -> bool: ...

    @property
    def delay(self) -> float | None: ...

    def allows(self, url: str) -> bool: ...


class SiteRobots(Protocol):
    """Fetches or remembers robots.txt; raises Transient while it is unreachable."""

    async def rules(self, origin: str) -> SiteRules: ...


class Visits:
    """Visits sites for their sitemaps and feeds, politely."""

    def __init__(
        self,
        get: Get,
        robots: SiteRobots,
        pause: float = 1.0,
        now: Clock = time.monotonic,
    ) -> None:
        self._get = get
        self._robots = robots
        self._pause = pause  # seconds between two requests to one host
        self._now = now
        self.pauses: dict[str, float] = {}  # host -> seconds between two requests
        self._last: dict[str, float] = {}  # host -> time of the last request
        self._turns: dict[str, asyncio.Lock] = {}

    async def fetch(self, url: str) -> Response:
        """The file at a canonical URL, redirects followed."""
        first = url
        for _ in range(MAX_HOPS + 1):
            response = await self._visit(url)
            status = response.status
            if 200 <= status < 300:
                return response
            if status == 429 or status >= 500:
                raise Transient(
                    f"http_{status}", f"{url} answered {status}", after=60.0
                )
            target = redirect_target(response) if status in REDIRECTS else ""
            if not (target := urls.join("", target)):
                raise Unusable(f"http_{status}", f"{url} answered {status}")
            url = target
        raise Unusable("too_many_redirects", f"{first} redirects more than {MAX_HOPS}×")

    async def sitemaps(self, origin: str) -> Sequence[str]:
        """The sitemaps that robots.txt of an origin names."""
        async with self._turn(urls.host(f"{origin}/")):
            rules = await self._rules(origin)
        return list(rules.parsed.sitemaps) if rules.parsed else []

    async def _visit(self, url: str) -> Response:
        host = urls.host(url)
        async with self._turn(host):
            rules = await self._rules(urls.origin(url))
            if not rules.allows(url):
                raise Unusable("robots", f"robots.txt forbids {url}", contacted=False)
            due = self._last.get(host, -inf) + self.pauses[host]
            await asyncio.sleep(due - self._now())
            try:
                return await self._get(url, max_bytes=MAX_BYTES)
            finally:
                self._last[host] = self._now()

    async def _rules(self, origin: str) -> SiteRules:
        rules = await self._robots.rules(origin)
        host = urls.host(f"{origin}/")
        self.pauses[host] = min(max(self._pause, rules.delay or 0.0), MAX_PAUSE)
        if rules.fresh:
            self._last[host] = self._now()
        return rules

    def _turn(self, host: str) -> asyncio.Lock:
        return self._turns.setdefault(host, asyncio.Lock())
