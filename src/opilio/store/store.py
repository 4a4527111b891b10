"""Stores pages: their WARC records and their rows in crawl.db, kept consistent.

Records are appended to the WARC file first, then the rows are written. A commit makes
the file durable, then the rows that point into it; after a crash the file is truncated
to what the rows know.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from opilio.errors import NO_ROOM
from opilio.records import Fingerprint, Lease, MainText, Page, Response, Verdict
from opilio.settings import StoreSettings
from opilio.storage.database import open_database
from opilio.store.catalogue import Catalogue, Location
from opilio.store.copies import ContentSeen, NearCopies
from opilio.store.crash_suspects import CrashSuspects
from opilio.store.folder import CrawlFolder
from opilio.store.warc_files import WarcWriter
from opilio.store.warc_records import pack_metadata, pack_response, pack_revisit

SAVE_EXTRACTION = "INSERT OR REPLACE INTO extracted (id, packed) VALUES (?, ?)"
# Few texts are under way when a crawl is killed, and all of them of its last pages.
LOST_TEXTS = """
    SELECT page.id, warc, warc_offset, warc_length
    FROM indexed JOIN page ON page.id = page JOIN link ON link.id = page
    WHERE entry > (SELECT max(entry) FROM indexed) - 256
        AND state = 'kept' AND NOT noindex AND degraded IS NULL
        AND page NOT IN (SELECT id FROM extracted)
    ORDER BY entry DESC LIMIT 64
"""
LostText = tuple[int, str, int, int]
"""A page, and the place of its record: file, offset and length."""


class Store:
    """Everything that a crawl stores."""

    def __init__(
        self, folder: CrawlFolder, settings: StoreSettings, index_all: bool = False
    ) -> None:
        self.folder = folder
        self.index_all = index_all  # otherwise only relevant pages are indexed
        folder.lock()
        self.db = open_database(folder.database)
        self.db.begin()
        self.in_hand = CrashSuspects(self.db, folder.in_hand)
        self.warc = WarcWriter(folder.warcs, self.db, settings.warc_bytes)
        self.catalogue = Catalogue(self.db)
        self.seen = ContentSeen()
        self.near = NearCopies()
        # Pages to index, by their visible text unless their main text comes first.
        self.unindexed: dict[int, Page] = {}
        self.remember()

    def remember(self) -> None:
        """Load the fingerprints of pages of earlier runs, to recognise copies."""
        rows = self.db.execute(
            "SELECT page.id, content, CASE WHEN copy_of IS NULL THEN simhash END "
            "FROM page JOIN link USING (id) "
            "WHERE content IS NOT NULL AND reason IS NOT 'content' ORDER BY number"
        )
        for page, content, simhash in rows:
            self.seen.add(content, page)
            if simhash:
                self.near.add(simhash, page)

    def save_page(
        self,
        lease: Lease,
        response: Response,
        record: bytes,
        content: Fingerprint,
        page: Page,
        verdict: Verdict,
        links: Sequence[int],
        *,
        again: bool = False,
    ) -> None:
        """Store a page that was read and judged, with the ids of its links; `again`:
        replace its last version."""
        self.catalogue.save_page(
            lease,
            response,
            self.append(response, record, page, verdict),
            content=content,
            page=page,
            verdict=verdict,
            again=again,
        )
        if again:
            self.catalogue.drop_edges(lease.id)
        self.catalogue.save_edges(lease.id, links)
        self.seen.add(content, lease.id)
        if page.simhash:
            self.near.add(page.simhash, lease.id)
        wanted = verdict.relevant or self.index_all
        if again or (page.sequence and wanted):
            self.index(lease.id, page, wanted and not page.noindex, again=again)

    def index(self, id: int, page: Page, wanted: bool, *, again: bool) -> None:
        """Add a page that is wanted to the search index; `again`: drop its last
        version."""
        from opilio.store.index_entries import drop_entry  # after the start

        self.unindexed.pop(id, None)
        if again:
            drop_entry(self.db, id)
        if page.sequence and wanted:
            self.unindexed[id] = page

    def save_extraction(self, page: int, text: MainText) -> None:
        """Store the main text of a page, and index the page by it."""
        self.db.later(SAVE_EXTRACTION, (page, text.packed))
        if text.sequence:
            from opilio.store.index_entries import drop_entry, entry

            if self.unindexed.pop(page, None) is None:
                drop_entry(self.db, page)  # it was indexed by its visible text
            self.db.later(*entry(page, text))

    def index_rest(self) -> None:
        """Index pages whose main text is not there yet, so that they can be found."""
        if self.unindexed:
            from opilio.store.index_entries import entry

            for id, page in self.unindexed.items():
                self.db.later(*entry(id, page))
            self.unindexed.clear()

    def lost_texts(self) -> list[LostText]:
        """Pages whose main texts were under way when the crawl was killed."""
        return self.db.execute(LOST_TEXTS).fetchall()

    def drop_extraction(self, page: int) -> None:
        """Delete the main text of a page that says something else by now."""
        self.db.execute("DELETE FROM extracted WHERE id = ?", (page,))

    def append(
        self, response: Response, record: bytes, page: Page, verdict: Verdict
    ) -> Location:
        """Append a page and its verdict to the WARC file; returns the place."""
        metadata = pack_metadata(
            response,
            {
                "score": f"{verdict.score:.6f}",
                "relevant": "yes" if verdict.relevant else "no",
                "language": page.language,
                "title": page.title,
            },
        )
        return self.warc.append(record + metadata)

    def save_copy(
        self, lease: Lease, response: Response, original: int, content: Fingerprint
    ) -> None:
        """Store a response with the same bytes as another page."""
        location = self.warc.append(self.revisit(response, original))
        self.catalogue.save_page(
            lease, response, location, content=content, copy_of=original
        )

    def save_near_copy(
        self,
        lease: Lease,
        response: Response,
        record: bytes,
        content: Fingerprint,
        page: Page,
        original: int,
    ) -> None:
        """Store a page that is a near copy of another."""
        location = self.warc.append(record)
        self.catalogue.save_page(
            lease, response, location, content=content, page=page, copy_of=original
        )
        self.seen.add(content, lease.id)

    def save_redirect(
        self, lease: Lease, response: Response, target: int | None
    ) -> None:
        """Store a URL that redirects to another."""
        location = self.warc.append(pack_response(response))
        self.catalogue.save_page(lease, response, location, copy_of=target)

    def save_unread(self, lease: Lease, response: Response) -> None:
        """Store a response that could not be read, with its bytes."""
        self.catalogue.save_page(
            lease, response, self.warc.append(pack_response(response))
        )

    def revisit(self, response: Response, original: int) -> bytes:
        """A WARC revisit record: the same bytes as another page."""
        url, fetched_at = self.db.execute(
            "SELECT url, fetched_at FROM page JOIN link USING (id) WHERE id = ?",
            (original,),
        ).fetchone()
        return pack_revisit(response, url, fetched_at)

    def learnt(self, name: str) -> bytes | None:
        """The state that a learning part saved in an earlier run."""
        rows = self.db.execute("SELECT state FROM learnt WHERE name = ?", (name,))
        return next((state for (state,) in rows), None)

    def save_learnt(self, name: str, state: bytes) -> None:
        """Save the state of a learning part, in this transaction."""
        self.db.execute("INSERT OR REPLACE INTO learnt VALUES (?, ?)", (name, state))

    def notes(self) -> Iterator[tuple[int, bytes]]:
        """The strategy's notes by URL from earlier runs."""
        return iter(self.db.execute("SELECT key, value FROM note ORDER BY key"))

    def save_notes(self, changes: Iterable[tuple[int, bytes | None]]) -> None:
        """Save the strategy's notes by URL; None deletes a note."""
        kept, dropped = [], []
        for key, value in changes:
            if value is None:
                dropped.append((key,))
            else:
                kept.append((key, value))
        self.db.executemany("INSERT OR REPLACE INTO note VALUES (?, ?)", kept)
        self.db.executemany("DELETE FROM note WHERE key = ?", dropped)

    async def flush(self) -> None:
        """Make the WARC file durable; the rows that point into it may follow."""
        await asyncio.to_thread(self.warc.flush)

    def commit(self) -> None:
        """Commit all rows so far, together."""
        self.index_rest()
        self.warc.record_length()
        self.db.commit()
        self.db.begin()

    def close(self) -> None:
        """Close the files; what was not committed is dropped."""
        try:
            self.db.rollback()
            self.db.close()
            self.in_hand.close()
            self.warc.close()
        finally:
            self.folder.unlock()


def is_full_disk(error: BaseException) -> bool:
    """Whether an error of SQLite or of a file means that the disk is full."""
    if isinstance(error, sqlite3.OperationalError):
        return "is full" in str(error) or "disk I/O" in str(error)
    return isinstance(error, OSError) and error.errno in NO_ROOM
