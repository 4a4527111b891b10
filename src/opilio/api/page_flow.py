"""Hands the pages of a crawl to the loop that takes them, which may hold it back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

LOOK_AHEAD = 100  # pages that a crawl keeps before its loop takes them
LEAVE_SECONDS = 1.0  # for visits under way when a loop is left

Publish = Callable[[list[int] | None], None]
"""Takes the ids of pages that were kept and committed; None: the crawl has ended."""


class PageFlow:
    """The pages between a crawl and the loop that takes them: about a hundred at most.

    A crawl that is further ahead starts no more visits until the loop has caught up. So
    a slow loop slows the crawl down, and one that is left wastes few requests.
    """

    def __init__(self, publish: Publish) -> None:
        self.publish = publish
        self._most = LOOK_AHEAD
        self._ahead = 0
        self._loop: asyncio.AbstractEventLoop | None = None  # that of the crawl
        self._room = asyncio.Event()
        self._room.set()

    def kept(self) -> None:
        """The crawl has kept one more page; called in its thread, as `room` is."""
        self._loop = self._loop or asyncio.get_running_loop()
        self._count(1)

    async def room(self) -> None:
        """Wait while the crawl is too far ahead."""
        await self._room.wait()

    def release(self) -> None:
        """Hold the crawl back no more, since it ends."""
        self._most = 0
        self._room.set()

    def taken(self) -> None:
        """The loop has taken a page; called in any thread."""
        if self._loop:
            with suppress(RuntimeError):  # the crawl has ended
                self._loop.call_soon_threadsafe(self._count, -1)

    def _count(self, pages: int) -> None:
        self._ahead += pages
        if self._most and self._ahead >= self._most:
            self._room.clear()
        else:
            self._room.set()
