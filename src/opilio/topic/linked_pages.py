"""Fetches the pages that example pages link to, to learn rules between classes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from itertools import chain, islice, zip_longest
from typing import NamedTuple

from opilio.errors import BadInput, FetchError, Transient, Unusable
from opilio.records import Clock, Page, Response
from opilio.stage_protocols import Fetch
from opilio.text import urls

Read = Callable[[Response], Page]
Sleep = Callable[[float], Awaitable[object]]

NOWHERE = "http://nowhere.invalid/"  # the URL of pages without one
GOLDEN = (5**0.5 - 1) / 2
LIMIT = 50  # pages of train-1 per class
HOSTS = 8  # that are visited at a time
REDIRECTS = 5
TRIES = 3
LONGEST_WAIT = 60.0  # seconds between two attempts


class Pace:
    """Lets each host rest between two requests.

    `HttpFetch` reports crawl delays to its `learn`.
    """

    def __init__(
        self, delay: float, now: Clock = time.monotonic, sleep: Sleep = asyncio.sleep
    ) -> None:
        self.delay = delay
        self.now = now
        self.sleep = sleep
        self.delays: dict[str, float] = {}
        self.free: dict[str, float] = {}  # host -> when it may be visited next

    async def turn(self, host: str) -> None:
        """Wait until a host may be visited, and let it rest after that."""
        now = self.now()
        at = max(now, self.free.get(host, now))
        self.free[host] = at + max(self.delay, self.delays.get(host, 0.0))
        if at > now:
            await self.sleep(at - now)

    async def rest(self) -> None:
        """Wait until every host may be visited."""
        now = self.now()
        if (at := max(self.free.values(), default=now)) > now:
            await self.sleep(at - now)

    async def learn(
        self, host: str, *, delay: float | None = None, ip: str | None = None
    ) -> None:
        """Note the delay that a host asks for."""
        if delay is not None:
            self.delays[host] = delay


class FollowedLink(NamedTuple):
    """A link of an example page that was followed."""

    source: str  # class of the example
    example: Page
    place: int  # of the link among those of the example
    page: Page  # that it leads to


async def train_one(
    train_zero: Sequence[tuple[str, Page]],
    fetch: Fetch,
    read: Read,
    *,
    limit_per_class: int = LIMIT,
    pace: Pace | None = None,
) -> list[FollowedLink]:
    """The links of the examples of each class, and the pages that they lead to.

    Each page counts once per class. The links of its examples are taken in turns, up to
    the limit, from all over each page: its first links are its navigation. Pages that
    cannot be fetched are left out.
    """
    pace = pace or Pace(0.0)
    wanted = {
        name: dict(islice(targets(train_zero, name).items(), limit_per_class))
        for name in dict.fromkeys(name for name, _ in train_zero)
    }
    by_host: dict[str, list[str]] = {}
    for url in dict.fromkeys(chain.from_iterable(wanted.values())):
        by_host.setdefault(urls.host(url), []).append(url)
    found: dict[str, Page] = {}
    failures: list[FetchError] = []
    places = asyncio.Semaphore(HOSTS)

    async def visit(addresses: Sequence[str]) -> None:
        async with places:
            for url in addresses:
                try:
                    found[url] = read(await follow(url, fetch, pace))
                except FetchError as error:
                    failures.append(error)

    async with asyncio.TaskGroup() as group:
        for addresses in by_host.values():
            group.create_task(visit(addresses))
    if not found:
        raise BadInput(none_found(failures))
    return [
        FollowedLink(name, example, place, found[url])
        for name, links in wanted.items()
        for url, (example, place) in links.items()
        if url in found
    ]


def targets(
    train_zero: Sequence[tuple[str, Page]], name: str
) -> dict[str, tuple[Page, int]]:
    """The URLs that pages of a class link to, one of each page in turns, and where each
    was found first: the page, and the place among its links."""
    own = [page for each, page in train_zero if each == name]
    every: dict[str, tuple[Page, int]] = {}
    for column in zip_longest(*(spread(len(page.links)) for page in own)):
        for page, place in zip(own, column, strict=True):
            if place is not None:
                every.setdefault(page.links[place].url, (page, place))
    return {url: at for url, at in every.items() if not url.startswith(NOWHERE)}


def spread(count: int) -> list[int]:
    """The places 0, 1, …, in an order of which any first part is spread over the whole.

    >>> spread(8)
    [0, 5, 2, 7, 4, 1, 6, 3]
    """
    return sorted(range(count), key=lambda place: place * GOLDEN % 1)


async def follow(url: str, fetch: Fetch, pace: Pace) -> Response:
    """The page at a URL, through redirects."""
    for _ in range(REDIRECTS + 1):
        response = await patiently(url, fetch, pace)
        if not 300 <= response.status < 400:
            return response
        url = urls.join(url, response.location)
        if not url:
            break
    raise Unusable("redirects", f"{url or 'a redirect'} leads to no page")


async def patiently(url: str, fetch: Fetch, pace: Pace) -> Response:
    """The response of a URL, with retries."""
    for left in reversed(range(TRIES)):
        await pace.turn(urls.host(url))
        try:
            return await fetch.fetch(url)
        except Transient as error:
            if not left:
                raise
            await pace.sleep(min(error.after, LONGEST_WAIT))
    raise AssertionError("the last attempt returns or raises")


def none_found(failures: Sequence[FetchError]) -> str:
    """Why there is no page at all, and what to do."""
    if not failures:
        return (
            "the example pages have no links; list where they were saved from in a "
            "file urls.tsv beside them: name<TAB>url"
        )
    return (
        f"none of the {len(failures)} pages that the examples link to can be fetched "
        f"(the first: {failures[0]})"
    )
