"""Fetches `/.well-known/tdmrep.json` of the sites that pages are kept from.

It is fetched once a day at most, and only from origins with a page that was kept: by
the next visit there, which waits for its turn afterwards, or else at the end of the
crawl. robots.txt and the delays of hosts hold for it as for any page.

response                     recorded as    fetched again
2xx with an array of rules   rules          in 24 hours
other 2xx, 3xx, 4xx          none           in 24 hours
forbidden by robots.txt      forbidden      in 24 hours
429, 5xx, network            the last rules in 1 hour
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

import msgspec

from opilio.errors import FetchError, Transient
from opilio.fetch.tdm_rules import read_tdm_rules
from opilio.records import Clock, Response, TdmRecord
from opilio.text import urls

if TYPE_CHECKING:
    from opilio.fetch.host_turns import HostTurns
    from opilio.fetch.http import AskedRobots
    from opilio.fetch.robots import GetRobots

PATH = "/.well-known/tdmrep.json"
RULES, NONE, FORBIDDEN, FAILED = "rules", "none", "forbidden", "failed"
DAY, HOUR = 86_400.0, 3600.0
MAX_BYTES = 256 * 1024
MOST_HOPS = 2  # redirects that are followed, on the same host
AT_ONCE = 8  # origins that are asked together at the end
LONGEST_END = 20.0  # seconds that the end of a crawl waits for them


class TdmMemory(Protocol):
    """Stores records across restarts."""

    def load(self, origin: str) -> TdmRecord | None: ...

    def save(self, record: TdmRecord) -> None: ...


class TdmFiles:
    """The files of all origins, fetched when they are wanted and stored."""

    def __init__(
        self,
        get: GetRobots,
        robots: AskedRobots,
        memory: TdmMemory,
        turns: HostTurns,
        now: Clock = time.time,
        *,
        pause: float = 0.0,
        longest: float = 60.0,
    ) -> None:
        self.get = get
        self.robots = robots
        self.memory = memory
        self.turns = turns  # of hosts that no visit comes to any more
        self.now = now  # seconds since 1970: records outlive the process
        self.pause = pause  # seconds between two requests to one host
        self.longest = longest  # seconds; no longer Crawl-delay is obeyed
        self.wanted: set[str] = set()  # origins to ask
        self.known: dict[str, float] = {}  # origin -> when to ask it again

    def want(self, url: str) -> None:
        """Ask the origin of a page that was kept, unless that was done lately."""
        origin, now = urls.origin(url), self.now()
        if origin not in self.known:
            record = self.memory.load(origin)
            self.known[origin] = record.expires_at if record else 0.0
        if not now < self.known[origin] <= now + DAY:
            self.wanted.add(origin)

    async def ask_first(self, url: str) -> None:
        """Return if a page may be fetched now; raise Transient if the file of its site
        was fetched instead, so that the page waits for the delay of its host."""
        if self.wanted and await self.ask(urls.origin(url)):
            raise Transient(
                "tdmrep_first",
                f"{url} waits: tdmrep.json of its site was fetched just now",
                after=0.0,
                counted=False,
            )

    async def ask(self, origin: str) -> bool:
        """Fetch the file of an origin if it is wanted; returns whether a request was
        made. The caller has the turn of its host."""
        if origin not in self.wanted:
            return False
        self.wanted.discard(origin)
        self.known[origin] = self.now() + HOUR  # nobody else asks meanwhile
        rules = await self.robots.rules(origin)
        if rules.fresh or not rules.allows(origin + PATH):
            if rules.fresh:  # its host rests after this request
                self.wanted.add(origin)
            else:
                self.save(origin, FORBIDDEN)
            return rules.fresh
        try:
            asked = min(rules.delay or 0.0, self.longest)
            response = await self.fetch(origin, max(self.pause, asked))
        except FetchError:
            self.save(origin, FAILED)
            return True
        self.take(origin, response)
        return True

    async def fetch(self, origin: str, pause: float) -> Response:
        """The response, after redirects on the same host."""
        url = origin + PATH
        for _ in range(MOST_HOPS):
            response = await self.get(url, max_bytes=MAX_BYTES)
            if response.status // 100 != 3 or not response.location:
                return response
            target = urls.join(url, response.location)
            if not target or urls.host(target) != urls.host(url):
                return response
            url = target
            await asyncio.sleep(pause)
        return await self.get(url, max_bytes=MAX_BYTES)

    def take(self, origin: str, response: Response) -> None:
        """Store what a response says."""
        if response.status == 429 or response.status >= 500 or response.truncated:
            self.save(origin, FAILED)
            return
        is_file = 200 <= response.status < 300
        rules = read_tdm_rules(response.body) if is_file else None
        if rules is None:
            self.save(origin, NONE)
        else:
            self.save(origin, RULES, msgspec.json.encode(rules))

    def save(self, origin: str, status: str, body: bytes = b"") -> None:
        """Store a record; after a failure the last rules stay."""
        now, wait = self.now(), DAY
        if status == FAILED:
            wait, last = HOUR, self.memory.load(origin)
            if last and last.status == RULES:
                status, body = last.status, last.body
        self.known[origin] = now + wait
        self.memory.save(TdmRecord(origin, status, now, now + wait, body))

    async def ask_rest(self) -> None:
        """Ask the origins that no visit came to any more, in the turns of their hosts,
        for a limited time."""
        room = asyncio.Semaphore(AT_ONCE)

        async def ask(origin: str) -> None:
            async with room:
                for _ in range(2):  # if robots.txt has to be fetched first
                    if origin not in self.wanted:
                        return
                    host = urls.host(f"{origin}/")
                    async with self.turns.turn_at(host) as may_request:
                        if may_request:
                            with suppress(FetchError):
                                await self.ask(origin)

        with suppress(TimeoutError):
            async with asyncio.timeout(LONGEST_END), asyncio.TaskGroup() as group:
                for origin in sorted(self.wanted):
                    group.create_task(ask(origin))
