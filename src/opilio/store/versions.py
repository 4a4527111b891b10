"""Records the versions of pages that are visited again, in the table `version`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from opilio.records import Fingerprint, Response, State
from opilio.store.catalogue import Location, encode
from opilio.store.index_entries import drop_entry

SAME = (
    "status, title, content, simhash, score, relevant, warc, warc_offset, warc_length"
)
ADD = f"""
    INSERT INTO version (page, fetched_at, seen_at, tried_at, {SAME}, change)
    SELECT id, fetched_at, fetched_at, fetched_at, {SAME}, ? FROM page WHERE id = ?
"""  # noqa: S608
LAST = "id = (SELECT max(id) FROM version WHERE page = ?)"
COPY = "status = ?, content = ?, warc = ?, warc_offset = ?, warc_length = ?"
STATES = """
    UPDATE link SET reason = NULL,
        state = CASE (SELECT relevant FROM page WHERE page.id = link.id)
            WHEN 1 THEN 'kept' ELSE 'irrelevant' END
    WHERE id = ?
"""


class SeenVersion(msgspec.Struct, frozen=True):
    """A page as it was last seen."""

    id: int
    fetched_at: float
    title: str
    content: Fingerprint
    simhash: Fingerprint
    score: float
    relevant: bool
    truncated: bool
    noindex: bool
    place: Location
    visits: int  # that found it unchanged
    trouble: str  # of the last visit
    is_there: bool  # not gone, moved or a copy of another page


class Versions:
    """The table `version`; everything stays in the caller's transaction.

    A page has rows here once it is visited again. Changed content is a new row;
    unchanged content only updates `seen_at` of the last one.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        # Needed to look up the links of one page.
        db.execute("CREATE INDEX IF NOT EXISTS edge_page ON edge (page)")

    def last(self, page: int) -> SeenVersion | None:
        """The last version of a page that was judged; None: it is not known."""
        row = self.db.execute(
            "SELECT fetched_at, coalesce(title, ''), content, coalesce(simhash, 0), "
            "score, relevant, truncated IS NOT NULL, noindex, "
            "state IN ('kept', 'irrelevant'), warc, warc_offset, warc_length "
            "FROM page JOIN link USING (id) "
            "WHERE page.id = ? AND score IS NOT NULL AND warc IS NOT NULL",
            (page,),
        ).fetchone()
        if row is None:
            return None
        at, title, content, simhash, score, relevant, *flags = row[:9]
        truncated, noindex, is_there = map(bool, flags)
        place = row[9:]
        visits, trouble = self.db.execute(
            f"SELECT visits, coalesce(trouble, '') FROM version WHERE {LAST}",  # noqa: S608
            (page,),
        ).fetchone() or (1, "")
        return SeenVersion(
            page,
            at,
            title,
            content,
            simhash,
            score,
            bool(relevant),
            truncated,
            noindex,
            (place[0], place[1], place[2]),
            visits,
            trouble,
            is_there,
        )

    def begin(self, page: int) -> None:
        """Record the page as its own first version, unless it has one."""
        if not self.db.execute(
            "SELECT 1 FROM version WHERE page = ?", (page,)
        ).fetchone():
            self.db.execute(ADD, (None, page))

    def same(self, page: int, at: float) -> None:
        """Record that a page has not changed."""
        self.begin(page)
        self.db.execute(
            "UPDATE version SET seen_at = max(seen_at, ?), tried_at = ?, failures = 0, "  # noqa: S608
            f"trouble = NULL, visits = visits + 1 WHERE {LAST}",
            (at, at, page),
        )
        self._restore(page)

    def recopied(
        self, page: int, response: Response, content: Fingerprint, place: Location
    ) -> None:
        """Record that a page says the same in other bytes, which replace the old."""
        self.begin(page)
        copy = (response.status, content, *place)
        whole = (response.fetched_at, len(response.body), response.truncated or None)
        self.db.execute(
            f"UPDATE page SET fetched_at = ?, bytes = ?, truncated = ?, {COPY} "  # noqa: S608
            "WHERE id = ?",
            (*whole, *copy, page),
        )
        self.db.execute(f"UPDATE version SET {COPY} WHERE {LAST}", (*copy, page))  # noqa: S608

    def changed(self, page: int, change: Mapping[str, Any]) -> None:
        """Record that a page has changed; its row has the new content."""
        self.db.execute(ADD, (encode(change), page))
        self._restore(page)

    def failed(self, page: int, at: float, trouble: str) -> None:
        """Record that a page could not be fetched."""
        self.begin(page)
        self.db.execute(
            "UPDATE version SET tried_at = ?, failures = failures + 1, trouble = ? "  # noqa: S608
            f"WHERE {LAST}",
            (at, trouble, page),
        )

    def end(self, page: int, state: State, reason: str, copy_of: int = 0) -> None:
        """Record that a page is gone, moved, or a copy of another page."""
        self.db.execute(
            "UPDATE link SET state = ?, reason = ? WHERE id = ?",
            (state.value, reason, page),
        )
        drop_entry(self.db, page)
        if copy_of:
            self.db.execute("UPDATE page SET copy_of = ? WHERE id = ?", (copy_of, page))

    def links(self, page: int) -> dict[Fingerprint, int]:
        """The fingerprints and ids of the links on a page."""
        return dict(
            self.db.execute(
                "SELECT fingerprint, link.id FROM edge JOIN link ON link.id = link "
                "WHERE page = ?",
                (page,),
            )
        )

    def urls(self, links: Iterable[int]) -> list[str]:
        """The URLs of links."""
        return [
            url
            for id in links
            for (url,) in self.db.execute("SELECT url FROM link WHERE id = ?", (id,))
        ]

    def _restore(self, page: int) -> None:
        """Set the state of a page by its verdict, because it is there (again)."""
        self.db.execute(STATES, (page,))
        self.db.execute(
            "UPDATE page SET copy_of = NULL WHERE id = ? AND copy_of IS NOT NULL",
            (page,),
        )


def versions_of(db: sqlite3.Connection, page: int) -> list[dict[str, Any]]:
    """All versions of a page, the first one first; none if it was visited once."""
    cursor = db.execute("SELECT * FROM version WHERE page = ? ORDER BY id", (page,))
    names = [column[0] for column in cursor.description]
    found = [dict(zip(names, row, strict=True)) for row in cursor]
    for version in found:
        version["change"] = msgspec.json.decode(version["change"] or "{}")
    return found
