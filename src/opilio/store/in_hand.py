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
from mmap import PAGESIZE, mmap
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
        self._free: list[slice] = []  # places in the file
        self.alone = asyncio.Lock()  # held by the one suspect in hand
        self._count_deaths()
        self._notes = self._make_room()
        self.deaths: dict[Fingerprint, int] = dict(
            db.execute("SELECT fingerprint, deaths FROM suspect")
        )

    def is_deadly(self, page: Fingerprint) -> bool:
        """Was this page in hand too often when the process died?"""
        return self.deaths.get(page, 0) >= DEADLY

    def holding(self, page: Fingerprint) -> Holding:
        """While the block runs, the page is in hand; of suspects, one at a time."""
        return Holding(self, page)

    def note(self, page: Fingerprint) -> slice:
        """Note a page; answers the place it stands in."""
        if not self._free:
            self._notes = self._make_room(len(self._notes))
        place = self._free.pop()
        self._notes[place] = _SLOT.pack(page)
        return place

    def drop(self, place: slice) -> None:
        """The page in this place is no longer in hand."""
        self._notes[place] = NOBODY
        self._free.append(place)

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

    def _make_room(self, start: int = 0) -> mmap:
        """The file as memory that the system keeps, with free places from `start` on.

        They are written once, so that the disk has room for them: there is no way to
        tell us later that it has none.
        """
        end = start + os.pwrite(self._file, bytes(PAGESIZE), start)
        places = range(start, end, _SLOT.size)
        self._free = [slice(place, place + _SLOT.size) for place in places]
        return mmap(self._file, end)

    def close(self) -> None:
        """Let the file go."""
        self._notes.close()
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
