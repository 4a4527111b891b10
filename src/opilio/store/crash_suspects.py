"""Finds pages that crash the crawl's process, so that they are not tried for ever.

A page is in hand while it is judged, ranked and recorded in a turn of the loop: only
then does its content reach the loop's own process and custom code. (It is fetched
within limits and read in another process.) The current page is noted in a small file
outside of all transactions, which survives a crash of the process. A page that is still
noted there when a crawl is resumed was in hand at a crash and is a suspect. After three
crashes a page is not tried again.
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
# Errors that are not the fault of the page: ours, the disk's, the database's.
_NOT_ITS_FAULT = (OpilioError, OSError, sqlite3.Error)


class CrashSuspects:
    """Notes the current page by its fingerprint; counts crashes in table `suspect`."""

    def __init__(self, db: Database, path: Path) -> None:
        self._db = db
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        self._count_death()
        # Written once now, to make sure that the disk has room for it: later there is
        # no way to report that it has none.
        os.pwrite(self._file, _NOTE.pack(NOBODY), 0)
        self._noted = mmap(self._file, _NOTE.size)
        self._is_final = False  # it was this page; others may still have a turn
        self.deaths: dict[Fingerprint, int] = dict(
            db.execute("SELECT fingerprint, deaths FROM suspect")
        )

    def is_deadly(self, page: Fingerprint) -> bool:
        """Whether this page was in hand at too many crashes."""
        return self.deaths.get(page, 0) >= DEADLY

    def take(self, page: Fingerprint) -> None:
        """Note a page as the current one, until it is put down."""
        if not self._is_final:
            self._noted[:] = _NOTE.pack(page)

    def put_down(self, page: Fingerprint, error: BaseException | None = None) -> None:
        """End the note on a page: it was recorded, or an error ended the crawl.

        The note stays if the error may be the fault of the page.
        """
        if isinstance(error, Exception) and not isinstance(error, _NOT_ITS_FAULT):
            self._is_final = True
        self.take(NOBODY)
        if page in self.deaths and error is None:
            self._db.execute("DELETE FROM suspect WHERE fingerprint = ?", (page,))
            del self.deaths[page]

    def _count_death(self) -> None:
        """Count a crash for the page that was in hand when the last process ended."""
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
        """Close the file."""
        self._noted.close()
        os.close(self._file)
