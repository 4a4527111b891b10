"""Answers the requests of a page that is rendered, by Opilio's own way out.

So they are held to the same rules as all others: which addresses may be contacted,
robots.txt, the delays of hosts, limits of size. Only what can change the text of a page
is fetched: scripts, data and frames, without cookies.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

import msgspec

from opilio.errors import FetchError, Transient, Unusable
from opilio.fetch.answers import REDIRECTS
from opilio.fetch.egress import Egress
from opilio.fetch.host_turns import HostTurns
from opilio.fetch.http import AskedRobots
from opilio.records import Response
from opilio.text import urls

MOST_REQUESTS = 60  # of one page
MOST_BYTES = 10 * 2**20  # of one page
MOST_HOPS = 4  # redirects in a row, and the answer
LARGEST = 5 * 2**20  # bytes of one answer
CACHE_BYTES = 64 * 2**20
JSON = (("content-type", "application/json"),)

Asked = tuple[str, bytes]
"""A URL, or a host, and what is posted there."""


@dataclass
class PageRequests:
    """The requests of one page so far."""

    url: str
    last: float  # when its host was requested last, by the loop's clock
    leads_to: str = ""  # where its script wanted to send the visitor
    is_late: bool = False  # it was not complete in time
    count: int = 0
    size: int = 0
    fetched: list[Response] = field(default_factory=list)  # for the WARC file
    refused: list[str] = field(default_factory=list)  # reasons
    unreachable: set[str] = field(default_factory=set)  # hosts

    @property
    def is_hindered(self) -> bool:
        """Whether the page may lack something that it would have at another time."""
        failed = any(got.status >= 500 or got.status == 429 for got in self.fetched)
        return self.is_late or failed or bool(self.unreachable)

    @property
    def host(self) -> str:
        """The host of the page."""
        return urls.host(self.url)


class PageAnswers:
    """Answers the requests of pages; scripts that pages share are fetched once."""

    def __init__(
        self, egress: Egress, robots: AskedRobots, turns: HostTurns, delay: float
    ) -> None:
        self.egress = egress
        self.robots = robots
        self.turns = turns
        self.delay = delay  # seconds between two requests to one host
        self.cache: OrderedDict[Asked, Response] = OrderedDict()
        self.cached = 0  # bytes
        # Each lock lives as long as it is held or waited for.
        self.locks: WeakValueDictionary[Asked, asyncio.Lock] = WeakValueDictionary()

    async def answer(
        self, url: str, page: PageRequests, posted: bytes = b""
    ) -> Response:
        """The answer to a request of a page, with JSON if that is posted; raises
        FetchError."""
        try:
            for _ in range(1 if posted else MOST_HOPS):
                response = await self.answer_once(url, page, posted)
                if response.status not in REDIRECTS or not response.location:
                    return response
                url = urls.join(url, response.location)
            raise Unusable("redirects", f"{url} redirects too often")
        except FetchError as error:
            page.refused.append(error.reason)
            if isinstance(error, Transient) or error.reason in ("busy", "dns"):
                page.unreachable.add(urls.host(url))
            raise

    async def answer_once(
        self, url: str, page: PageRequests, posted: bytes
    ) -> Response:
        """The answer without following redirects."""
        if not url:
            raise Unusable("bad_url", f"{page.url} requests an invalid URL")
        key = url, posted
        if known := self.cache.get(key):
            self.cache.move_to_end(key)
            return known
        lock = self.locks.setdefault(key, asyncio.Lock())
        async with lock:  # several pages may want it at a time
            if known := self.cache.get(key):
                return known
            response = await self.fetch(url, page, posted)
        page.fetched.append(response)
        page.size += len(response.body)
        if page.size > MOST_BYTES:
            raise Unusable("too_large", f"{page.url} requests more than {MOST_BYTES} B")
        self.remember(key, response)
        return response

    async def fetch(self, url: str, page: PageRequests, posted: bytes) -> Response:
        """Fetch it in the turn of its host, if robots.txt allows it."""
        host = urls.host(url)
        if host in page.unreachable:
            raise Unusable("unreachable", f"{host} could not be reached just now")
        await self.egress.locate(url)  # raises if it must not be contacted
        for _ in range(2):  # if robots.txt has to be fetched, the host rests after it
            page.count += 1
            if page.count > MOST_REQUESTS:
                message = f"{page.url} makes more than {MOST_REQUESTS} requests"
                raise Unusable("too_many_requests", message)
            async with self.turn(host, page):
                rules = await self.robots.rules(urls.origin(url))
                if not rules.allows(url):
                    raise Unusable("robots", f"robots.txt forbids {url}")
                if not rules.fresh:
                    return await self.request(url, posted)
        raise Unusable("busy", f"robots.txt of {host} was fetched just now")

    async def request(self, url: str, posted: bytes) -> Response:
        """Make the request."""
        if not posted:
            return await self.egress.get(url, max_bytes=LARGEST)
        response = await self.egress.get(
            url, max_bytes=LARGEST, form=posted, headers=JSON
        )
        return msgspec.structs.replace(response, posted=posted)

    @asynccontextmanager
    async def turn(self, host: str, page: PageRequests) -> AsyncIterator[None]:
        """Wait until a host may be requested.

        The visit of the page has the turn of its own host, so that nobody else requests
        it meanwhile; its requests only have to keep the delay.
        """
        lock = self.locks.setdefault((host, b""), asyncio.Lock())
        async with lock:
            if host != page.host:
                async with self.turns.turn_at(host) as may_request:
                    if not may_request:
                        raise Unusable("busy", f"{host} has to rest for now")
                    yield
                return
            now = asyncio.get_running_loop().time
            await asyncio.sleep(page.last + await self.delay_of(page.url) - now())
            try:
                yield
            finally:
                page.last = now()

    async def delay_of(self, url: str) -> float:
        """The delay of a host whose robots.txt is known."""
        told = (await self.robots.rules(urls.origin(url))).delay
        return max(self.delay, told or 0.0)

    def remember(self, asked: Asked, response: Response) -> None:
        """Keep an answer for the other pages, unless it must not be stored."""
        if response.status != 200 or "no-store" in response.header("cache-control"):
            return
        self.cache[asked] = response
        self.cached += len(response.body)
        while self.cached > CACHE_BYTES:
            self.cached -= len(self.cache.popitem(last=False)[1].body)
