"""A crawl's catalogue and WARC files in; its page profiles and sites, made anew, out.

For crawls made before profiles were kept, and after the topic has changed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing

import msgspec

from opilio.brief import Brief
from opilio.database import open_database
from opilio.errors import OpilioError
from opilio.reader import make_reader
from opilio.sites.keeper import SiteKeeper
from opilio.store.folder import CrawlFolder
from opilio.store.warc_files import read_record
from opilio.types import Lease, ReaderSetup, State, Verdict

JUDGED = """
    SELECT link.id, url, host.name, state, fetched_at, score, relevant,
        (SELECT count(*) > 1 FROM version WHERE version.page = link.id),
        warc, warc_offset, warc_length
    FROM page JOIN link USING (id) JOIN host ON host.id = link.host
    WHERE score IS NOT NULL AND warc IS NOT NULL ORDER BY number
"""
ROOTS = """
    SELECT link.id, url, host.name, state
    FROM link JOIN host ON host.id = link.host
    WHERE url GLOB '*/' AND state IN ('copy', 'unusable') ORDER BY link.id
"""
THERE = (State.KEPT, State.IRRELEVANT)  # others were once, and are gone


class Rebuilt(msgspec.Struct, frozen=True):
    """What came of it."""

    pages: int  # that have a profile now
    unread: int  # that the archive no longer has


def rebuild(
    folder: CrawlFolder,
    brief: Brief,
    setup: ReaderSetup,
    tell: Callable[[int], None] = lambda pages: None,
) -> Rebuilt:
    """Read all pages of a crawl again by a setup that has headings; `tell` hears how
    many it were after each. All of the tables is made anew, or nothing."""
    folder.require().lock()
    try:
        with closing(open_database(folder.database)) as db:
            db.execute("BEGIN")
            db.execute("DELETE FROM page_profile")
            db.execute("DELETE FROM site")
            rebuilt = profile_all(db, folder, SiteKeeper(db, brief), setup, tell)
            db.execute("COMMIT")
            return rebuilt
    finally:
        folder.unlock()


def profile_all(
    db: sqlite3.Connection,
    folder: CrawlFolder,
    keeper: SiteKeeper,
    setup: ReaderSetup,
    tell: Callable[[int], None],
) -> Rebuilt:
    """Live through the visits of a crawl again, in their order."""
    reader = make_reader(setup)
    pages = unread = 0
    for id, url, host, state, *facts in db.execute(JUDGED):
        at, score, relevant, changed, *place = facts
        lease = Lease(id, url, 0, host, 0.0)
        keeper.enter(lease)
        if state not in THERE:
            continue
        try:
            response = read_record(folder.warcs, *place)
        except OpilioError:
            unread += 1
            continue
        keeper.profile(
            lease,
            msgspec.structs.replace(response, fetched_at=at),
            reader.read(response),
            Verdict(score, bool(relevant)),
            changed=changed,
        )
        pages += 1
        tell(pages)
    for id, url, host, state in db.execute(ROOTS):
        keeper.missed(Lease(id, url, 0, host, 0.0), State(state))
    keeper.flush()
    return Rebuilt(pages, unread)
