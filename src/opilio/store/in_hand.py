"""The pages that the loop has in hand in; those that killed its process before out.

A page is in hand from its answer on until it is recorded. Which ones are, is noted in
a small file outside of all transactions, which the system keeps when a process dies.
Whatever stands in it when a crawl goes on was in hand then: one of these may have been
the cause, by what it does to memory or to someone's code. They are suspects, and only
one of them is in hand at a time from then on, so that the count becomes exact. A page
that was in hand at three deaths is not tried again.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from pathlib import Path
from struct import Struct

from opilio.errors import OpilioError
from opilio.types import Fingerprint

DEADLY = 3  # deaths
_SLOT = Struct("<q")
NOBODY = _SLOT.pack(0)
# What ends a crawl without a fault of the page: ours, the disk's, the database's.
_NOT_ITS_FAULT = (OpilioError, OSError, sqlite3.Error)


class InHand:
    """Notes pages by their fingerprints; counts deaths in the table `suspect`."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db = db
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        self._slots = 0  # in use or free
        self._free: list[int] = []
        self.alone = asyncio.Lock()  # held by the one suspect in hand
        self._count_deaths()
        self.deaths: dict[Fingerprint, int] = dict(
            db.execute("SELECT fingerprint, deaths FROM suspect")
        )

    def is_deadly(self, page: Fingerprint) -> bool:
        """Was this page in hand too often when the process died?"""
        return self.deaths.get(page, 0) >= DEADLY

    def holding(self, page: Fingerprint) -> Holding:
        """While the block runs, the page is in hand; of suspects, one at a time."""
        return Holding(self, page)

    def note(self, page: Fingerprint) -> int:
        """Note a page; answers the slot it stands in."""
        if self._free:
            slot = self._free.pop()
        else:
            slot, self._slots = self._slots, self._slots + 1
        os.pwrite(self._file, _SLOT.pack(page), slot * _SLOT.size)
        return slot

    def drop(self, slot: int) -> None:
        """The page in this slot is no longer in hand."""
        os.pwrite(self._file, NOBODY, slot * _SLOT.size)
        self._free.append(slot)

    def clear(self, page: Fingerprint) -> None:
        """A suspect was recorded: it is none any more."""
        self._db.execute("DELETE FROM suspect WHERE fingerprint = ?", (page,))
        self.deaths.pop(page, None)  # another visit of it may have been quicker

    def _count_deaths(self) -> None:
        """Make suspects of the pages that the last process had in hand at its end."""
        noted = os.pread(self._file, os.fstat(self._file).st_size, 0)
        whole = noted[: len(noted) // _SLOT.size * _SLOT.size]
        left = {page for (page,) in _SLOT.iter_unpack(whole) if page}
        if left:
            self._db.executemany(
                "INSERT INTO suspect VALUES (?, 1) "
                "ON CONFLICT DO UPDATE SET deaths = deaths + 1",
                [(page,) for page in left],
            )
            self._db.execute("COMMIT")
            self._db.execute("BEGIN")
        os.ftruncate(self._file, 0)

    def close(self) -> None:
        """Let the file go."""
        os.close(self._file)


class Holding:
    """One page in hand, for `async with`."""

    def __init__(self, hand: InHand, page: Fingerprint) -> None:
        self._hand = hand
        self._page = page
        self._is_suspect = page in hand.deaths

    async def __aenter__(self) -> None:
        if self._is_suspect:
            await self._hand.alone.acquire()
        self._slot = self._hand.note(self._page)

    async def __aexit__(
        self, _: object, error: BaseException | None, trace: object
    ) -> None:
        try:
            if isinstance(error, Exception) and not isinstance(error, _NOT_ITS_FAULT):
                return  # the note stays: it is this page that ends the crawl
            self._hand.drop(self._slot)
            if self._is_suspect and error is None:
                self._hand.clear(self._page)
        finally:
            if self._is_suspect:
                self._hand.alone.release()
