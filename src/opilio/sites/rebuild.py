"""Rebuilds the page profiles and site models of a crawl from its WARC files.

For crawls of versions without profiles, and after the topic has changed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import NamedTuple

import msgspec

from opilio.assembly.reader_process import ReaderProcess
from opilio.profiles.keeper import SiteKeeper
from opilio.records import Lease, ReaderSetup, Response, State, Subject, Verdict
from opilio.storage.database import open_database
from opilio.store.folder import CrawlFolder
from opilio.store.stored_responses import StoredResponses

JUDGED = """
    SELECT link.id, url, host.name, state, fetched_at, score, relevant,
        (SELECT count(*) > 1 FROM version WHERE version.page = link.id),
        warc, warc_offset, warc_length
    FROM page JOIN link USING (id) JOIN host ON host.id = link.host
    WHERE score IS NOT NULL AND warc IS NOT NULL ORDER BY number
"""
THERE = (State.KEPT, State.IRRELEVANT)  # pages in other states are gone


class Rebuilt(msgspec.Struct, frozen=True):
    """The result of a rebuild."""

    pages: int  # with a profile now
    unread: int  # could not be read
    trouble: str  # why, if the WARC files no longer have them


class StoredVisit(NamedTuple):
    """The stored facts about a page that was judged."""

    lease: Lease
    is_there: bool
    at: float
    verdict: Verdict
    changed: bool  # since it was first seen


def rebuild(
    folder: CrawlFolder,
    subject: Subject,
    setup: ReaderSetup,
    tell: Callable[[int], None] = lambda pages: None,
) -> Rebuilt:
    """Read all pages of a crawl again with a setup that has headings; `tell` is called
    with their number after each. Either both tables are rebuilt completely, or not at
    all."""
    folder.require().lock()
    try:
        with closing(open_database(folder.database)) as db:
            db.begin()
            db.execute("DELETE FROM page_profile")
            db.execute("DELETE FROM site")
            with closing(ReaderProcess(setup)) as reader:
                records = StoredResponses(folder.warcs)
                keeper = SiteKeeper(db, subject)
                rebuilt = profile_all(db, records, keeper, reader, tell)
            db.commit()
            return rebuilt
    finally:
        folder.unlock()


def profile_all(
    db: sqlite3.Connection,
    records: StoredResponses,
    keeper: SiteKeeper,
    reader: ReaderProcess,
    tell: Callable[[int], None],
) -> Rebuilt:
    """Replay the visits of a crawl, in their order."""
    pages = unread = 0
    for visit, response, page in reader.pages(visits(db, records)):
        keeper.enter(visit.lease)
        if not visit.is_there:
            continue
        if response is None or page is None:
            unread += 1
            continue
        keeper.profile(
            visit.lease,
            msgspec.structs.replace(response, fetched_at=visit.at),
            page,
            visit.verdict,
            changed=visit.changed,
        )
        pages += 1
        tell(pages)
    keeper.miss_roots()
    keeper.flush()
    return Rebuilt(pages, unread, records.trouble)


def visits(
    db: sqlite3.Connection, records: StoredResponses
) -> Iterator[tuple[StoredVisit, Response | None]]:
    """Each page that was judged, with its response if the page still exists and can be
    read."""
    for id, url, host, state, at, *facts in db.execute(JUDGED):
        score, relevant, changed, *place = facts
        visit = StoredVisit(
            Lease(id, url, 0, host, 0.0),
            state in THERE,
            at,
            Verdict(score, bool(relevant)),
            bool(changed),
        )
        yield visit, records.response(*place) if visit.is_there else None
