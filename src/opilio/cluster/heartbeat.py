"""Renews the lease of a worker from a thread of its own.

Opening a large crawl keeps the event loop busy for longer than a lease, and must not
cost the worker its shards. A worker whose event loop is silent for much longer than
that hangs; its lease is left to expire.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from opilio.cluster.common import set_once
from opilio.cluster.connection import PATIENCE, PatientConnection, library
from opilio.cluster.shards import HeldShards, LostShards, WorkersState

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)

STALLED = 600.0  # seconds without a sign of life from the event loop
JOIN = 5.0  # seconds to wait for the thread to end


class BeatListener(Protocol):
    """What hears of each beat, in its event loop."""

    def act(self, standing: WorkersState) -> None:
        """The lease was renewed, and the others are doing this."""
        ...

    def fail(self, error: Exception, worker: int) -> None:
        """The lease of this worker was lost, or cannot be renewed."""
        ...


class Heartbeat:
    """Renews the lease every quarter of it."""

    def __init__(self, dsn: str, shards: HeldShards, listener: BeatListener) -> None:
        self.shards = shards
        self.listener = listener
        self.state = False, 0  # nothing waits in our shards; lessons that were heard
        self.connection = PatientConnection(dsn)
        self._loop = asyncio.get_running_loop()
        self._awake_at = time.monotonic()  # the event loop
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)

    def start(self) -> None:
        """Begin to renew."""
        self._thread.start()

    def stop(self) -> None:
        """Renew no more."""
        self.connection.is_closing = True
        self._stopped.set()
        self._thread.join(JOIN)

    def _run(self) -> None:
        wait = 0.0
        while not self._stopped.wait(wait):
            wait = self.shards.lease / 4
            self._tell(self._wake)
            if time.monotonic() - self._awake_at > STALLED:
                log.error("the worker hangs; its lease is not renewed any more")
                continue
            worker = self.shards.worker
            try:
                standing = self.connection.ask_once(self._beat)
            except LostShards as lost:
                self._tell(partial(self.listener.fail, lost, worker))
            except library().Error as error:
                if not self.connection.may_retry(error):
                    self._tell(partial(self.listener.fail, error, worker))
                    return
                wait = min(PATIENCE, wait)
            else:
                self._tell(partial(self.listener.act, standing))
        self.connection.close()

    def _beat(self, db: psycopg.Connection) -> WorkersState:
        """Renew the lease, and say whether we are idle, and what we have heard."""
        is_idle, heard = self.state
        self.shards.renew(db, is_idle=is_idle, heard=heard)
        standing = self.shards.standing(db)
        if standing.is_finished and not standing.ended:
            set_once(db, "ended", b"exhausted")
            standing = standing._replace(ended="exhausted")
        return standing

    def _tell(self, what: Callable[[], None]) -> None:
        if not self._stopped.is_set():
            self._loop.call_soon_threadsafe(what)

    def _wake(self) -> None:
        self._awake_at = time.monotonic()
