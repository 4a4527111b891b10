"""The page that the loop has in hand in; those that killed its process before out.

A page is in hand while it is judged, ranked and recorded in a turn of the loop: here
its content reaches the loop's own process, its memory and someone's code. (It is
fetched within limits and read in another process.) Which page it is, is noted in a
small file outside of all transactions, which the system keeps when a process dies. What
stands in it when a crawl goes on was in hand at a death and is a suspect. A page that
was in hand at three deaths is not tried again.
"""

from __future__ import annotations

import os
import sqlite3
from mmap import mmap
from pathlib import Path
from struct import Struct

from opilio.errors import OpilioError
from opilio.records import Fingerprint
from opilio.storage.database import Database

DEADLY = 3  # deaths
_NOTE = Struct("<q")
NOBODY = 0
# What ends a crawl without a fault of the page: ours, the disk's, the database's.
_NOT_ITS_FAULT = (OpilioError, OSError, sqlite3.Error)


class CrashSuspects:
    """Notes a page by its fingerprint; counts deaths in the table `suspect`."""

    def __init__(self, db: Database, path: Path) -> None:
        self._db = db
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        self._count_death()
        # Written once, so that the disk has room for it: there is no way to tell us
        # later that it has none.
        os.pwrite(self._file, _NOTE.pack(NOBODY), 0)
        self._noted = mmap(self._file, _NOTE.size)
        self._is_final = False  # it was this page; others may still have a turn
        self.deaths: dict[Fingerprint, int] = dict(
            db.execute("SELECT fingerprint, deaths FROM suspect")
        )

    def is_deadly(self, page: Fingerprint) -> bool:
        """Was this page in hand too often when the process died?"""
        return self.deaths.get(page, 0) >= DEADLY

    def take(self, page: Fingerprint) -> None:
        """The page is in hand, until it is put down."""
        if not self._is_final:
            self._noted[:] = _NOTE.pack(page)

    def put_down(self, page: Fingerprint, error: BaseException | None = None) -> None:
        """The page is recorded, or an error ended its turn, and with it the crawl.

        The note stays if that may be the fault of the page.
        """
        if isinstance(error, Exception) and not isinstance(error, _NOT_ITS_FAULT):
            self._is_final = True
        self.take(NOBODY)
        if page in self.deaths and error is None:
            self._db.execute("DELETE FROM suspect WHERE fingerprint = ?", (page,))
            del self.deaths[page]

    def _count_death(self) -> None:
        """Make a suspect of the page that the last process had in hand at its end."""
        noted = os.pread(self._file, _NOTE.size, 0)
        page = _NOTE.unpack(noted)[0] if len(noted) == _NOTE.size else NOBODY
        if page != NOBODY:
            self._db.execute(
                "INSERT INTO suspect VALUES (?, 1) "
                "ON CONFLICT DO UPDATE SET deaths = deaths + 1",
                (page,),
            )
            self._db.commit()
            self._db.begin()

    def close(self) -> None:
        """Let the file go."""
        self._noted.close()
        os.close(self._file)
