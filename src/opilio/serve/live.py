"""Pushes the figures of a crawl to browsers, at most twice a second."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse

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
        self.encoded: dict[str, tuple[int, bytes]] = {}  # crawl -> version, event

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
        return StreamingResponse(
            self.events(crawl, request), media_type="text/event-stream"
        )

    async def events(
        self, crawl: ServedCrawl, request: Request
    ) -> AsyncIterator[bytes]:
        """Each new state of a crawl as an event, until the browser leaves."""
        self.streams += 1
        try:
            yield b"retry: 2000\n\n"
            seen, quiet = 0, 0.0
            while not (self.is_ending() or await request.is_disconnected()):
                version, event = await self.event(crawl)
                if version != seen:
                    seen, quiet = version, 0.0
                    yield event
                elif quiet >= BEAT:
                    quiet = 0.0
                    yield b": still here\n\n"
                await asyncio.sleep(EVERY)
                quiet += EVERY
        finally:
            self.streams -= 1

    async def event(self, crawl: ServedCrawl) -> tuple[int, bytes]:
        """The latest event of a crawl, encoded once for all browsers."""
        try:
            figures = await run_in_threadpool(crawl.figures)
        except (OpilioError, sqlite3.Error):  # it has only just begun
            return 0, b""
        known = self.encoded.get(crawl.name)
        if known is None or known[0] != figures.version:
            known = figures.version, encode(figures)
            self.encoded[crawl.name] = known
        return known


def encode(figures: CrawlFigures) -> bytes:
    """An event: the figures, and how the page shows them."""
    return b"data: " + msgspec.json.encode(live_values(figures)) + b"\n\n"
