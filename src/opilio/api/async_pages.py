"""Yields the pages of a running crawl to `async for`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from opilio.api.background_loop import Background
from opilio.api.page_flow import LEAVE_SECONDS, PageFlow
from opilio.assembly import crawled_pages
from opilio.assembly.crawled_pages import CrawledPage
from opilio.store.folder import CrawlFolder

Begin = Callable[[PageFlow], Awaitable[Background[Any]]]
"""Starts the crawl, which hands on what it has kept."""


class AsyncPages:
    """The pages of a running crawl, for `async for`; leaving the loop stops the
    crawl."""

    def __init__(self, folder: CrawlFolder, begin: Begin) -> None:
        self._folder = folder
        self._begin = begin
        self._run: Background[Any] | None = None
        self._found: asyncio.Queue[list[int] | None] = asyncio.Queue()
        self._flow: PageFlow | None = None
        self._ready: list[CrawledPage] = []  # the next one last

    def __aiter__(self) -> AsyncPages:
        return self

    async def __anext__(self) -> CrawledPage:
        if self._run is None or self._flow is None:
            self._flow = PageFlow(self._publish_here())
            self._run = await self._begin(self._flow)
        try:
            while not self._ready:
                ids = await self._found.get()
                if ids is None:
                    await self._run.wait()
                    raise StopAsyncIteration
                self._ready = crawled_pages.by_id(self._folder, ids)[::-1]
        except asyncio.CancelledError:
            await self.aclose()
            raise
        self._flow.taken()
        return self._ready.pop()

    def _publish_here(self) -> Callable[[list[int] | None], None]:
        """Takes what a crawl publishes in its thread to the event loop of this one."""
        loop, put = asyncio.get_running_loop(), self._found.put_nowait

        def publish(ids: list[int] | None) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(put, ids)

        return publish

    async def aclose(self) -> None:
        """Stop the crawl and wait until everything is stored."""
        if self._run:
            self._run.stop(LEAVE_SECONDS)
            await asyncio.to_thread(self._run.join)

    def __del__(self) -> None:
        # After `break`. The event loop is not kept waiting: what is done with the crawl
        # next waits for its end.
        if self._run:
            self._run.stop(LEAVE_SECONDS)
