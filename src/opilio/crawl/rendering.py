"""Decides which pages are rendered in a browser, and learns where that pays.

Rendering costs many times as much as reading. With `auto`, a page is
rendered if its markup looks as if scripts built the page, and if rendering has changed
enough pages of its kind before: those of its host and URL template, or of its host as
long as the template is new. Where it does not pay, it is tried again now and then.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Protocol

import msgspec

from opilio.crawl.script_signs import has_script, looks_scripted
from opilio.records import Lease, Page, Reading, Response
from opilio.settings import BrowserSettings
from opilio.stage_protocols import Readers
from opilio.store.warc_records import pack_response
from opilio.text import urls
from opilio.text.document_kinds import DocumentKind, kind_of

HOPE = 0.5  # share of pages of a new host that rendering is expected to change
HOST_WEIGHT = 1.0  # pages of the template that all pages of its host count as
LEAST = 0.25  # render if it changes at least this share of pages
RETRY = 64  # pages that are not rendered before one of them is
MORE_WORDS, MORE_LINKS = 1.2, 2  # what counts as a change
FEW = 10  # words more count as none
FAILURES = 3  # in a row count as pages that rendering did not change
MOST_KINDS = 20_000  # hosts and templates that are remembered


class PageRequestsMade(Protocol):
    """What a page requested while it was rendered."""

    @property
    def fetched(self) -> list[Response]: ...

    @property
    def leads_to(self) -> str: ...

    @property
    def is_hindered(self) -> bool: ...


class Renders(Protocol):
    """A browser."""

    @property
    def is_usable(self) -> bool: ...

    async def render(self, response: Response) -> tuple[bytes, PageRequestsMade]: ...

    async def close(self) -> None: ...


class Tried(msgspec.Struct, array_like=True):
    """How often pages of a kind were rendered, and how often that changed them."""

    rendered: int = 0
    changed: int = 0
    skipped: int = 0  # since the last one that was rendered
    failed: int = 0  # in a row

    def expected(self, prior: float, weight: float) -> float:
        """The share of pages that rendering changes."""
        return (self.changed + weight * prior) / (self.rendered + weight)


class Learnt(msgspec.Struct):
    """What was learnt so far."""

    hosts: dict[str, Tried] = {}
    templates: dict[str, Tried] = {}
    rendered: int = 0  # pages in all
    changed: int = 0
    failed: int = 0


class Rendering:
    """Renders the pages that need it."""

    def __init__(
        self, settings: BrowserSettings, browser: Renders, readers: Readers
    ) -> None:
        self.always = settings.render == "always"
        self.browser = browser
        self.readers = readers
        self.tabs = Tabs(settings.tabs)
        self.learnt = Learnt()
        self.is_new = False  # something was learnt since the last dump
        self.subresources: list[bytes] = []  # WARC records that nobody stored yet

    async def read(
        self, lease: Lease, response: Response, reading: Reading
    ) -> tuple[Response, Reading, bool]:
        """The rendered version of a page that was read, if it needs one, and whether
        rendering it failed."""
        if reading.page is None or not self.wants(lease, response, reading.page):
            return response, reading, False
        async with self.tabs.one(lease.promise):
            markup, requests = await self.browser.render(response)
        self.subresources += map(pack_response, requests.fetched)
        if not markup:
            self.note_failure(lease)
            return response, reading, True
        rendered = msgspec.structs.replace(response, rendered=markup)
        better = await self.readers.read(rendered)
        has_changed = bool(better.page and gains(reading.page, better.page))
        target = requests.leads_to and urls.join(response.url, requests.leads_to)
        moves = target not in ("", lease.url)
        if requests.is_hindered and not (has_changed or moves):
            self.note_failure(lease)
            return response, reading, True
        self.note(lease, has_changed or moves)
        if moves and not has_changed:
            moved = msgspec.structs.replace(reading.page, refresh=target)
            return response, msgspec.structs.replace(reading, page=moved), False
        if better.page is None or not (has_changed or self.always):
            return response, reading, False
        return rendered, better, False

    def wants(self, lease: Lease, response: Response, page: Page) -> bool:
        """Whether a page should be rendered."""
        if response.rendered or not self.browser.is_usable:
            return False
        if kind_of(response) is not DocumentKind.HTML or page.refresh:
            return False
        if self.always:
            return True
        if not looks_scripted(response, page):
            return False
        host = self.learnt.hosts.setdefault(lease.host, Tried())
        here = self.learnt.templates.setdefault(template_of(lease), Tried())
        of_host = host.expected(HOPE, HOST_WEIGHT)
        if here.expected(of_host, HOST_WEIGHT) >= LEAST or here.skipped >= RETRY:
            here.skipped = 0
            return True
        here.skipped += 1
        return False

    def may_build(self, response: Response) -> bool:
        """Whether scripts may make different pages of the same body."""
        if response.rendered or kind_of(response) is not DocumentKind.HTML:
            return False
        return has_script(response)

    def note_failure(self, lease: Lease) -> None:
        """Count a page that could not be rendered; one alone says nothing about others
        of its kind."""
        self.learnt.failed += 1
        self.learnt.rendered += 1
        self.is_new = True
        for tried in self.tried(lease):
            tried.failed += 1
            tried.rendered += tried.failed >= FAILURES

    def note(self, lease: Lease, has_changed: bool) -> None:
        """Learn whether rendering a page changed it."""
        for tried in self.tried(lease):
            tried.failed = 0
            tried.rendered += 1
            tried.changed += has_changed
        self.learnt.rendered += 1
        self.learnt.changed += has_changed
        self.is_new = True

    def tried(self, lease: Lease) -> Iterator[Tried]:
        """What is known about the host of a page, and of its template."""
        for known, name in (
            (self.learnt.hosts, lease.host),
            (self.learnt.templates, template_of(lease)),
        ):
            yield known.setdefault(name, Tried())
            if len(known) > MOST_KINDS:
                del known[next(iter(known))]

    def take_records(self) -> bytes:
        """The WARC records of what rendered pages requested since the last call."""
        records, self.subresources = self.subresources, []
        return b"".join(records)

    def dump(self) -> bytes | None:
        """What was learnt since the last dump, with all before it."""
        if not self.is_new:
            return None
        self.is_new = False
        return msgspec.msgpack.encode(self.learnt)

    def load(self, learnt: bytes) -> None:
        """Restore what was learnt before."""
        self.learnt = msgspec.msgpack.decode(learnt, type=Learnt)


def template_of(lease: Lease) -> str:
    """The kind of a page: its host and the template of its URL."""
    return f"{lease.host} {lease.template}"


def gains(plain: Page, rendered: Page) -> bool:
    """Whether a rendered page has more words or links."""
    if rendered.words > MORE_WORDS * plain.words + FEW:
        return True
    return link_count(rendered) >= link_count(plain) + MORE_LINKS


def link_count(page: Page) -> int:
    """The number of links, with those that are settled."""
    return len(page.links) + len(page.settled) // 8


class Tabs:
    """Lets some pages be rendered at a time, the most promising of those that wait."""

    def __init__(self, places: int) -> None:
        self.free = places
        self.waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self.numbers = count()

    @asynccontextmanager
    async def one(self, promise: float) -> AsyncIterator[None]:
        """Wait for a place."""
        if self.free:
            self.free -= 1
        else:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            heapq.heappush(self.waiting, (-promise, next(self.numbers), turn))
            try:
                await turn
            except asyncio.CancelledError:
                if not turn.cancelled():  # the place was given just now
                    self.pass_on()
                raise
        try:
            yield
        finally:
            self.pass_on()

    def pass_on(self) -> None:
        """Give a place to the next page, or free it."""
        while self.waiting:
            turn = heapq.heappop(self.waiting)[2]
            if not turn.cancelled():
                turn.set_result(None)
                return
        self.free += 1
