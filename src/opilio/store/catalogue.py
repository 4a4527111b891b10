"""Writes pages, their links and events into crawl.db."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import msgspec

from opilio.records import Fingerprint, Lease, Page, Response, State, Verdict
from opilio.storage.database import Database
from opilio.text.document_kinds import document_type

Location = tuple[str, int, int]
"""The name of a WARC file, the offset and the length."""

PAGE_FACTS = (  # the columns of a page, besides what identifies it
    "fetched_at",
    "status",
    "mime",
    "charset",
    "language",
    "title",
    "words",
    "bytes",
    "truncated",
    "degraded",
    "noindex",
    "content",
    "simhash",
    "copy_of",
    "score",
    "relevant",
    "parts",
    "warc",
    "warc_offset",
    "warc_length",
)
PAGE_COLUMNS = ("id", "number", *PAGE_FACTS)

INSERT_PAGE = (
    f"INSERT OR REPLACE INTO page ({', '.join(PAGE_COLUMNS)}) "  # noqa: S608
    f"VALUES ({', '.join('?' * len(PAGE_COLUMNS))})"
)
# One statement per page costs a third of one per row.
INSERT_EDGES = "INSERT INTO edge SELECT ?, value FROM json_each(?)"


class Catalogue:
    """Writes rows within the caller's transaction."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.pages: int = db.execute(
            "SELECT count(*) FROM page WHERE status BETWEEN 200 AND 299"
        ).fetchone()[0]  # redirects are not counted
        self.last_number: int = db.execute(
            "SELECT coalesce(max(number), 0) FROM page"
        ).fetchone()[0]
        self._recorded = Ids()
        for (page,) in db.execute("SELECT id FROM page"):
            self._recorded.add(page)

    def save_page(
        self,
        lease: Lease,
        response: Response,
        location: Location | None,
        *,
        content: Fingerprint | None = None,
        page: Page | None = None,
        verdict: Verdict | None = None,
        copy_of: int | None = None,
        again: bool = False,
    ) -> None:
        """Write the row of a URL that answered; `again`: it keeps its number."""
        number = self.number_of(lease.id) if again else 0
        if not number:
            self.last_number += 1
            self.pages += 200 <= response.status < 300
        self._recorded.add(lease.id)
        self.db.later(
            INSERT_PAGE,
            (
                lease.id,
                number or self.last_number,
                response.fetched_at,
                response.status,
                document_type(response),
                *(
                    (page.charset, page.language, page.title, page.words)
                    if page
                    else (None, None, None, None)
                ),
                len(response.body),
                response.truncated or None,
                (page.degraded or None) if page else None,
                int(page.noindex) if page else 0,
                content,
                (page.simhash or None) if page else None,
                copy_of,
                *(
                    (verdict.score, int(verdict.relevant), encode(verdict.parts))
                    if verdict
                    else (None, None, None)
                ),
                *(location or (None, None, None)),
            ),
        )

    def number_of(self, page: int) -> int:
        """The place of a page in the order of the crawl; 0: it has none yet."""
        row = self.db.execute("SELECT number FROM page WHERE id = ?", (page,))
        return next((number for (number,) in row), 0)

    def outcome_of(self, page: int) -> tuple[State, str] | None:
        """The state and reason that a page was recorded with; None: it is not
        recorded."""
        if page not in self._recorded:
            return None
        copy_of, relevant, status = self.db.execute(
            "SELECT copy_of, relevant, status FROM page WHERE id = ?", (page,)
        ).fetchone()
        if 300 <= status < 400:
            return State.COPY, "redirect"
        if copy_of is not None:
            return State.COPY, ""
        if relevant is None:
            return State.UNUSABLE, ""
        return (State.KEPT if relevant else State.IRRELEVANT), ""

    def drop_edges(self, page: int) -> None:
        """Delete the links of a page, which has others now."""
        self.db.execute("DELETE FROM edge WHERE page = ?", (page,))

    def save_edges(self, page: int, links: Sequence[int]) -> None:
        """Write the links of a page, by id; 0 is skipped."""
        if 0 in links:
            links = [link for link in links if link]
        self.db.later(INSERT_EDGES, (page, encode(links)))

    def seeds(self, least: float) -> frozenset[Fingerprint]:
        """The waiting seeds with at least this promise."""
        rows = self.db.execute(
            "SELECT fingerprint FROM link "
            "WHERE found_on = 0 AND state = 'waiting' AND promise >= ?",
            (least,),
        )
        return frozenset(fingerprint for (fingerprint,) in rows)

    def has_event(self, kind: str) -> bool:
        """Whether an event of this kind was recorded, in this run or an earlier one."""
        row = self.db.execute("SELECT 1 FROM event WHERE kind = ?", (kind,)).fetchone()
        return row is not None

    def save_event(self, kind: str, **detail: Any) -> None:
        """Record an event that people may want to know about later."""
        self.db.execute(
            "INSERT INTO event (at, kind, detail) VALUES (?, ?, ?)",
            (time.time(), kind, json.dumps(detail) if detail else None),
        )


class Ids:
    """A set of ids that takes one bit for each."""

    def __init__(self) -> None:
        self._bits = bytearray(1024)

    def add(self, id: int) -> None:
        """Add an id."""
        place = id >> 3
        if place >= len(self._bits):
            self._bits.extend(bytes(place))
        self._bits[place] |= 1 << (id & 7)

    def __contains__(self, id: int) -> bool:
        place = id >> 3
        return place < len(self._bits) and bool(self._bits[place] >> (id & 7) & 1)


_json = msgspec.json.Encoder().encode


def encode(parts: Any) -> str:
    """JSON for a column."""
    return _json(parts).decode()
