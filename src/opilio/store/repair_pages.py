"""Makes the pages of a crawl and its WARC files agree again.

A page whose record is gone waits to be fetched again. A record whose page is gone from
crawl.db becomes a page again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from opilio.equations.site_model import THW, SiteCounts, main_concepts
from opilio.records import Response
from opilio.storage.database import Database
from opilio.storage.warc_reading import read_response
from opilio.store.damage_check import PAGES, fault_of_page
from opilio.store.folder import CrawlFolder
from opilio.store.repair_database import add_link
from opilio.store.stored_responses import StoredResponses
from opilio.store.warc_members import WarcMember, members, our_files
from opilio.text import content, urls
from opilio.text.document_kinds import DocumentKind, told_kind

_AGAIN = "UPDATE link SET state = 'waiting', reason = NULL, attempts = 0"
_PROFILES = """
    SELECT host, in_domain, concepts FROM page_profile JOIN link USING (id)
    WHERE id NOT IN (SELECT id FROM page)
"""


def drop_unreadable(folder: CrawlFolder, db: Database) -> int:
    """Let links wait again whose pages can no longer be read; returns how many."""
    records = StoredResponses(folder.warcs)
    lost = [
        (id,)
        for id, url, *place in db.execute(PAGES).fetchall()
        if fault_of_page(records, url, (place[0], place[1], place[2]))
    ]
    db.executemany("DELETE FROM page WHERE id = ?", lost)
    db.executemany(f"{_AGAIN} WHERE id = ?", lost)
    db.execute(
        f"{_AGAIN} WHERE state IN ('kept', 'irrelevant', 'copy') "  # noqa: S608
        "AND id NOT IN (SELECT id FROM page)"
    )
    uncount_profiles(db)
    gone = "NOT IN (SELECT id FROM page)"
    for table in ("edge", "version", "label"):
        db.execute(f"DELETE FROM {table} WHERE page {gone}")  # noqa: S608
    for table in ("page_profile", "extracted"):
        db.execute(f"DELETE FROM {table} WHERE id {gone}")  # noqa: S608
    db.execute(f"UPDATE indexed SET page = 0 WHERE page {gone}")  # noqa: S608
    return len(lost)


def uncount_profiles(db: Database) -> None:
    """Take pages that are gone off the counts of their sites."""
    for host, in_domain, concepts in db.execute(_PROFILES).fetchall():
        row = db.execute(
            "SELECT pages, in_domain, concepts FROM site WHERE host = ?", (host,)
        ).fetchone()
        if not row:
            continue
        site = SiteCounts()
        site.pages, site.in_domain = row[0], row[1]
        site.concepts.update(msgspec.json.decode(row[2], type=dict[str, int]))
        named = msgspec.json.decode(concepts, type=dict[str, int])
        site.remove(bool(in_domain), main_concepts(named, THW))
        left = msgspec.json.encode(dict(sorted(site.concepts.items()))).decode()
        db.execute(
            "UPDATE site SET pages = ?, in_domain = ?, concepts = ? WHERE host = ?",
            (site.pages, site.in_domain, left, host),
        )


def add_found(folder: CrawlFolder, db: Database) -> int:
    """Make pages of responses that crawl.db does not know; returns how many."""
    found = RecoveredPages(db)
    for path in our_files(folder.warcs):
        places = db.execute(
            "SELECT warc_offset, warc_length FROM page WHERE warc = ? "
            "ORDER BY warc_offset",
            (path.name,),
        ).fetchall()
        for member in members(path):
            if member.kind == b"response" and not is_within(member.offset, places):
                response = read_response(path, member.offset, member.length)
                # Scripts that a rendered page requested are no pages.
                told = told_kind(response.url, response.header("content-type"))
                if told is DocumentKind.OTHER:
                    continue
                if 200 <= response.status < 300 and response.body:
                    found.add(response, path.name, member)
    return found.count


def is_within(offset: int, places: Sequence[tuple[int, int]]) -> bool:
    """Whether one of these places, ordered by offset, has this offset in it.

    >>> [is_within(offset, [(0, 10), (20, 10)]) for offset in (0, 9, 10, 29, 30)]
    [True, True, False, True, False]
    """
    place = bisect_right(places, offset, key=lambda one: one[0]) - 1
    return place >= 0 and offset < sum(places[place])


class RecoveredPages:
    """Makes pages of responses, to be judged again."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.count = 0
        self.hosts = dict(db.execute("SELECT name, id FROM host").fetchall())
        [self.number] = db.execute(
            "SELECT coalesce(max(number), 0) FROM page"
        ).fetchone()
        # The table `link` has no index of fingerprints.
        db.execute(
            "CREATE TEMP TABLE id_of (fingerprint INTEGER PRIMARY KEY, id INTEGER)"
        )
        db.execute("INSERT OR IGNORE INTO id_of SELECT fingerprint, id FROM link")

    def add(self, response: Response, warc: str, at: WarcMember) -> None:
        """Make a page of a response, unless its URL has one."""
        url = urls.page(response.url)
        id = self.id_of(url)
        if self.db.execute("SELECT 1 FROM page WHERE id = ?", (id,)).fetchone():
            return
        self.count += 1
        self.db.execute(
            "INSERT INTO page (id, number, fetched_at, status, mime, bytes, content, "
            "score, relevant, warc, warc_offset, warc_length) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, 0.0, 0, ?, ?, ?)",
            (
                id,
                self.number + self.count,
                response.fetched_at,
                response.status,
                content.media_type(response.header("content-type")),
                len(response.body),
                urls.fingerprint(response.body),
                warc,
                at.offset,
                at.length,
            ),
        )
        self.db.execute(
            "UPDATE link SET state = 'irrelevant', reason = NULL WHERE id = ?", (id,)
        )

    def id_of(self, url: str) -> int:
        """The id of a link, which is added if it is new."""
        fingerprint = urls.fingerprint(url)
        row = self.db.execute(
            "SELECT id FROM id_of WHERE fingerprint = ?", (fingerprint,)
        ).fetchone()
        if row:
            return int(row[0])
        id = add_link(self.db, self.hosts, url)
        self.db.execute("INSERT INTO id_of VALUES (?, ?)", (fingerprint, id))
        return id
