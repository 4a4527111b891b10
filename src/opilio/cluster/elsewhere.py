"""Pages that other workers have, by which copies of them are recognised.

They have numbers below 0, and are kept on disk. Only when a copy of one is found does
its link get an id here.
"""

from __future__ import annotations

import msgspec

from opilio.records import Fingerprint
from opilio.storage.database import Database
from opilio.store.copies import ContentSeen, NearCopies

TABLE = """
    CREATE TABLE IF NOT EXISTS elsewhere (
        number INTEGER PRIMARY KEY, url TEXT NOT NULL, fetched_at REAL NOT NULL)
"""


class SeenElsewhere(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A page of another worker."""

    url: str
    content: Fingerprint  # of its body; 0: there is none
    simhash: Fingerprint
    fetched_at: float


class PagesElsewhere:
    """The pages of other workers."""

    def __init__(self, db: Database, seen: ContentSeen, near: NearCopies) -> None:
        db.execute(TABLE)
        self._db, self._seen, self._near = db, seen, near
        self._last = 0  # number

    def add(self, page: SeenElsewhere) -> None:
        """Recognise copies of a page from now on."""
        if not page.content:
            return
        self._last -= 1
        row = self._last, page.url, page.fetched_at
        self._db.later("INSERT INTO elsewhere VALUES (?, ?, ?)", row)
        self._seen.add(page.content, self._last)
        if page.simhash:
            self._near.add(page.simhash, self._last)

    def find(self, number: int) -> tuple[str, float]:
        """The URL of a page, and when it was fetched."""
        query = "SELECT url, fetched_at FROM elsewhere WHERE number = ?"
        [(url, fetched_at)] = self._db.execute(query, (number,)).fetchall()
        return url, fetched_at
