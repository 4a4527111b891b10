"""Runs a coroutine in a separate thread with its own event loop.

So `opilio.Crawl` works without an event loop as well as inside a running one, as in a
notebook or a service.
"""

from __future__ import annotations

import asyncio
import atexit
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

from opilio.crawl import DRAIN_SECONDS

T = TypeVar("T")
PATIENCE = 15.0  # seconds to wait for the coroutine when the program exits
ENDING: set[Background[Any]] = set()  # told to stop, and still running


class Background(Generic[T]):
    """A coroutine that runs in a thread until it ends, or until it is told to stop."""

    def __init__(
        self,
        work: Callable[[Background[T]], Coroutine[Any, Any, T]],
        folder: Path,
    ) -> None:
        self.folder = folder.absolute()
        self._stopping: float | None = None  # seconds that what is under way has
        self._work = work
        self._lock = threading.RLock()  # collecting garbage may stop a run
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: Callable[[float], None] | None = None
        self._done: Future[T] = Future()
        self._done.set_running_or_notify_cancel()  # it cannot be cancelled any more
        # A daemon, so that a program with an unfinished crawl can exit.
        self._thread = threading.Thread(target=self._run, name="opilio", daemon=True)
        atexit.register(self._leave)
        self._thread.start()

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=fastest_loop()) as runner:
                result = runner.run(self._work(self))
        except BaseException as error:
            self._done.set_exception(error)
        else:
            self._done.set_result(result)
        finally:
            atexit.unregister(self._leave)
            with self._lock:
                ENDING.discard(self)

    def _leave(self) -> None:
        """Stop when the program exits."""
        self.stop()
        with suppress(TimeoutError):
            self._done.exception(PATIENCE)

    @property
    def is_running(self) -> bool:
        """Whether the coroutine has not ended yet."""
        return not self._done.done()

    def on_stop(self, end: Callable[[float], None]) -> None:
        """Call `end` in this event loop when somebody wants it to stop, with the
        seconds that what is under way has; called by the coroutine itself."""
        with self._lock:
            self._loop, self._end = asyncio.get_running_loop(), end
            if self._stopping is not None:
                end(self._stopping)

    def on_done(self, call: Callable[[], None]) -> None:
        """Register a function to be called, from any thread, once it has ended."""
        self._done.add_done_callback(lambda _: call())

    def stop(self, within: float = DRAIN_SECONDS) -> None:
        """Ask it to stop: what is under way has so many seconds. From any thread, any
        number of times; the shortest time counts."""
        with self._lock:
            if self._stopping is not None and self._stopping <= within:
                return
            self._stopping = within
            if self.is_running:
                ENDING.add(self)
            if self._loop and self._end:
                with suppress(RuntimeError):  # the loop has ended
                    self._loop.call_soon_threadsafe(self._end, within)

    def join(self) -> None:
        """Wait until it has ended, successfully or not."""
        if threading.current_thread() is not self._thread and not sys.is_finalizing():
            self._done.exception()

    def result(self) -> T:
        """Wait for its result; Ctrl-C stops it first."""
        try:
            return self._done.result()
        except KeyboardInterrupt:
            self.stop()
            self.join()
            raise

    async def wait(self) -> T:
        """The same for coroutines; cancellation stops it first."""
        try:
            return await asyncio.shield(asyncio.wrap_future(self._done))
        except asyncio.CancelledError:
            self.stop()
            await asyncio.wait([asyncio.wrap_future(self._done)])
            raise


def ending_runs(folder: Path) -> list[Background[Any]]:
    """The runs of this program over a folder that were told to stop, and still run."""
    return [run for run in ENDING.copy() if run.folder == folder.absolute()]


def fastest_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The factory of uvloop's event loop if it is installed; None: asyncio's own."""
    try:
        import uvloop
    except ImportError:
        return None
    make: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return make
