"""Pushes the figures of a crawl to browsers, at most twice a second."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from opilio.errors import OpilioError
from opilio.serve.figures import CrawlFigures
from opilio.serve.library import Library
from opilio.serve.plot import live_values
from opilio.serve.served_crawl import ServedCrawl

EVERY = 0.5  # seconds between two events
BEAT = 15.0  # seconds without news, after which a comment shows that we are alive
MOST_STREAMS = 40  # browsers at a time


class LiveEvents:
    """Streams of events; those of one crawl share one computation."""

    def __init__(self, library: Library, is_ending: Callable[[], bool]) -> None:
        self.library = library
        self.is_ending = is_ending  # the server is, so streams must end too
        self.streams = 0
        self.broadcasts: dict[str, Broadcast] = {}  # by the name of the crawl

    async def stream(self, request: Request) -> Response:
        """The events of a crawl."""
        crawl = self.library.find(request.path_params["crawl"])
        if crawl is None:
            return PlainTextResponse("There is no crawl of this name.\n", 404)
        if self.streams >= MOST_STREAMS:
            return PlainTextResponse(
                f"{MOST_STREAMS} pages are watching already; close some.\n",
                503,
                {"retry-after": "10"},
            )
        self.streams += 1  # at once: many may ask before the first is answered
        return EventStream(self.events(crawl, request), self.left)

    def left(self) -> None:
        """A browser has left."""
        self.streams -= 1

    async def events(
        self, crawl: ServedCrawl, request: Request
    ) -> AsyncIterator[bytes]:
        """Each new state of a crawl as an event, until the browser leaves."""
        yield b"retry: 2000\n\n"
        broadcast = self.broadcasts.get(crawl.name)
        if broadcast is None or broadcast.crawl is not crawl:  # it was made again
            broadcast = self.broadcasts[crawl.name] = Broadcast(crawl)
        seen, quiet = 0, 0.0
        while not (self.is_ending() or await request.is_disconnected()):
            version, event = await broadcast.event()
            if broadcast.is_gone:
                self.library.forget()
                return
            if version != seen:
                seen, quiet = version, 0.0
                yield event
            elif quiet >= BEAT:
                quiet = 0.0
                yield b": still here\n\n"
            await asyncio.sleep(EVERY)
            quiet += EVERY


class EventStream(StreamingResponse):
    """A stream of events that says when it has ended, also before it began."""

    media_type = "text/event-stream"

    def __init__(self, events: AsyncIterator[bytes], left: Callable[[], None]) -> None:
        super().__init__(events)
        self.left = left

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.left()


class Broadcast:
    """The latest event of a crawl, computed once for all browsers that ask."""

    def __init__(self, crawl: ServedCrawl) -> None:
        self.crawl = crawl
        self.version = 0
        self.encoded = b""
        self.is_gone = False  # its folder was deleted, or made again
        self.under_way: asyncio.Task[None] | None = None

    async def event(self) -> tuple[int, bytes]:
        """The latest event and its number; 0: there is none yet.

        One thread counts, however many browsers wait for it.
        """
        if self.under_way is None or self.under_way.done():
            self.under_way = asyncio.create_task(self.look())
        await asyncio.shield(self.under_way)
        return self.version, self.encoded

    async def look(self) -> None:
        """Ask for the figures, and encode them if they have changed."""
        self.is_gone = await run_in_threadpool(self.crawl.is_replaced)
        try:
            figures = await run_in_threadpool(self.crawl.figures)
        except (OpilioError, sqlite3.Error):  # it has only just begun
            return
        if figures.version != self.version:
            self.version, self.encoded = figures.version, encode(figures)


def encode(figures: CrawlFigures) -> bytes:
    """An event: the figures, and how the page shows them."""
    return b"data: " + msgspec.json.encode(live_values(figures)) + b"\n\n"
