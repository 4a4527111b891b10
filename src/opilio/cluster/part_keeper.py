"""Seals WARC files while a worker runs, and looks for those that were lost."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from opilio.cluster.connection import PatientConnection, library
from opilio.cluster.lost_parts import give_back_lost
from opilio.cluster.parts import RoundFolder, WorkFolders
from opilio.errors import OpilioError
from opilio.settings import StoreSettings

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)

MOST_SECONDS = 15.0  # between two looks


class PartKeeper:
    """Runs beside the rounds of a worker, with a connection of its own: uploads take
    time."""

    def __init__(
        self,
        dsn: str,
        folders: WorkFolders,
        settings: StoreSettings,
        worker: Callable[[], int],
    ) -> None:
        self.folders = folders
        self.settings = settings
        self.worker = worker
        self.every = min(settings.part_seconds / 4, settings.lost_after / 4)
        self.every = min(self.every, MOST_SECONDS)
        self.connection = PatientConnection(dsn)
        self.round: tuple[RoundFolder, Callable[[], str]] | None = None
        self.since = time.monotonic()
        self._task: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()

    def start(self) -> None:
        """Begin to look."""
        self._task = asyncio.create_task(self._look_regularly())

    def look_soon(self) -> None:
        """Look at once: a worker has died here."""
        self._wanted.set()

    async def stop(self) -> None:
        """Look no more."""
        self.connection.is_closing = True
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self.connection.close()

    async def _look_regularly(self) -> None:
        while True:
            self._wanted.clear()
            round = self.round
            current = round[1]() if round else ""
            folder = round[0] if round else None
            try:
                await self.connection.ask(partial(self.look, folder, current))
            except (OpilioError, OSError, library().Error) as error:
                log.warning("WARC files cannot be sealed: %s; it is tried again", error)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wanted.wait(), self.every)

    def look(
        self, folder: RoundFolder | None, current: str, db: psycopg.Connection
    ) -> None:
        """Seal what is complete, and give back what is lost."""
        [(began,)] = db.execute("SELECT clock_timestamp()").fetchall()
        if folder:
            self.folders.seal_finished(db, folder, current)
        self.folders.adopt(db)
        give_back_lost(db, self.folders.name, self.patience())
        db.execute(
            "UPDATE worker SET looked_at = %s WHERE id = %s", (began, self.worker())
        )

    def patience(self) -> float:
        """Seconds that other machines have to come back. After a break of all workers
        they have that time from now on."""
        after = self.settings.lost_after
        return after if time.monotonic() - self.since > after else math.inf
