"""Yields the pages of a running crawl to `async for`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from opilio.assembly import crawled_pages
from opilio.assembly.background_loop import Background
from opilio.assembly.crawled_pages import CrawledPage
from opilio.assembly.run_crawl import Publish
from opilio.store.folder import CrawlFolder

Begin = Callable[[Publish], Awaitable[Background[Any]]]
"""Starts the crawl, which publishes the pages that it keeps."""


class AsyncPages:
    """The pages of a running crawl, for `async for`; leaving the loop stops the
    crawl."""

    def __init__(self, folder: CrawlFolder, begin: Begin) -> None:
        self._folder = folder
        self._begin = begin
        self._run: Background[Any] | None = None
        self._found: asyncio.Queue[list[int] | None] = asyncio.Queue()
        self._ready: list[CrawledPage] = []  # the next one last

    def __aiter__(self) -> AsyncPages:
        return self

    async def __anext__(self) -> CrawledPage:
        if self._run is None:
            self._run = await self._begin(self._publisher())
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
        return self._ready.pop()

    def _publisher(self) -> Publish:
        loop, put = asyncio.get_running_loop(), self._found.put_nowait

        def publish(ids: list[int] | None) -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(put, ids)

        return publish

    async def aclose(self) -> None:
        """Stop the crawl and wait until everything is stored."""
        if self._run:
            self._run.stop()
            await asyncio.to_thread(self._run.join)

    def __del__(self) -> None:
        # After `break`. This blocks the event loop while visits under way end; to avoid
        # that, use contextlib.aclosing.
        if self._run:
            self._run.stop()
            self._run.join()
