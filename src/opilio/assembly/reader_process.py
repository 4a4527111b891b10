"""Reads stored pages again in a separate process, for synchronous callers."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Coroutine, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

import msgspec

from opilio.read.pool import ReaderPool
from opilio.records import Page, ReaderSetup, Reading, Response

JOB = "opilio.subject.page_reader:make_plain_job"
AHEAD = 8  # pages to read ahead

K = TypeVar("K")
T = TypeVar("T")


class ReaderProcess:
    """Reads pages in a separate process, as a crawl does, for synchronous callers. The
    process starts when it is first needed."""

    def __init__(self, setup: ReaderSetup, job: str = JOB) -> None:
        self.pool = ReaderPool(1, job, msgspec.msgpack.encode(setup))
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def pages(
        self, kept: Iterable[tuple[K, Response | None]]
    ) -> Iterator[tuple[K, Response | None, Page | None]]:
        """Each key with its page, in order; the page is None if there is no response,
        or if it crashes the reader."""
        ahead: deque[tuple[K, Response | None, Future[Reading] | None]] = deque()
        for key, response in kept:
            ahead.append((key, response, self.send(response) if response else None))
            if len(ahead) > AHEAD:
                yield answered(*ahead.popleft())
        while ahead:
            yield answered(*ahead.popleft())

    def send(self, response: Response) -> Future[Reading]:
        """Start reading a response."""
        if not self.thread.is_alive():
            self.thread.start()
            self.begin(self.pool.start()).result()
        return self.begin(self.pool.read(response))

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Start a coroutine in the thread that talks to the process."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def close(self) -> None:
        """End the process."""
        if self.thread.is_alive():
            self.begin(self.pool.close()).result()
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join()
        self.loop.close()


def answered(
    key: K, response: Response | None, reading: Future[Reading] | None
) -> tuple[K, Response | None, Page | None]:
    """A key with the page that was read for it, once it is ready."""
    return key, response, reading.result().page if reading else None
