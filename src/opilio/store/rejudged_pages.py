"""Updates the tables of a crawl whose pages are judged again.

Waiting links are set aside first, as if no page had been read yet. Each page that is
judged again adds its links to the frontier with their new promises. Links that are left
over in the end are put back.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Container, Iterator, Mapping
from typing import NamedTuple

from opilio.records import Fingerprint, Lease, Ranked, Revision, Verdict
from opilio.storage.promise_log import copy_all
from opilio.store.catalogue import encode
from opilio.store.damage_check import UNJUDGED

ASIDE = "rejudged"  # the reason of links that are set aside
SET_ASIDE = """
    CREATE TEMP TABLE waited AS
        SELECT id, state, reason, template, promise, attempts, found_on FROM link
        WHERE found_on != 0 AND (state IN ('waiting', 'leased', 'parked')
            OR state = 'unusable' AND reason = 'trap_template' AND attempts = 0)
"""
VISITS = """
    SELECT link.id, url, fingerprint, host.name, link.state, link.reason, copy_of,
        relevant, score, title, fetched_at, warc, warc_offset, warc_length,
        noindex, (SELECT count(*) > 1 FROM version WHERE version.page = link.id)
    FROM page JOIN link USING (id) JOIN host ON host.id = link.host ORDER BY number
"""
FAILED = """
    SELECT link.id, url, fingerprint, name, promise, depth, level, redirects, attempts,
        found_on, link.state FROM link JOIN host ON host.id = link.host
    WHERE attempts AND state IN ('unusable', 'copy')
        AND link.id NOT IN (SELECT id FROM page) ORDER BY link.id
"""
LEFT = """
    SELECT id, url, fingerprint, waited.state, waited.reason, waited.template,
        waited.promise, waited.found_on
    FROM waited JOIN link USING (id) WHERE link.reason = ?
"""


class PastVisit(NamedTuple):
    """A row of the table `page`, with what the crawl knows of its link."""

    id: int
    url: str
    fingerprint: Fingerprint
    host: str
    state: str
    reason: str | None
    copy_of: int | None
    relevant: int | None
    score: float | None
    title: str | None
    fetched_at: float
    warc: str | None
    warc_offset: int
    warc_length: int
    noindex: int  # a relevant page does not count then
    changed: int  # since it was first visited

    @property
    def is_judged(self) -> bool:
        """Whether the page has a verdict that is still valid."""
        return self.score is not None and self.state in ("kept", "irrelevant")


def set_aside(db: sqlite3.Connection) -> None:
    """Delete what was learnt, and let only seeds wait."""
    copy_all(db)
    for table in ("note", "page_profile", "site"):
        db.execute(f"DELETE FROM {table}")  # noqa: S608
    # Redirects and rendering are the same for any topic.
    db.execute("DELETE FROM learnt WHERE name NOT IN ('redirects', 'rendering')")
    db.execute("DELETE FROM event WHERE kind = 'seed'")
    db.execute("DELETE FROM meta WHERE key = ?", (UNJUDGED,))
    db.execute("UPDATE indexed SET page = 0, words = x'', features = x''")
    db.execute(SET_ASIDE)
    db.execute(
        "UPDATE link SET state = 'unusable', reason = ?, template = 0, attempts = 0 "
        "WHERE id IN (SELECT id FROM waited)",
        (ASIDE,),
    )
    # Needed to look up the links of one page.
    db.execute("CREATE INDEX IF NOT EXISTS edge_page ON edge (page)")


def visits(db: sqlite3.Connection) -> Iterator[PastVisit]:
    """The pages of a crawl, in the order in which they were fetched."""
    return map(PastVisit._make, db.execute(VISITS))


def lease_of(db: sqlite3.Connection, visit: PastVisit) -> Lease:
    """The lease by which a page was visited, with its promise as it is now."""
    promise, depth, level, redirects, found_on = db.execute(
        "SELECT promise, depth, level, redirects, found_on FROM link WHERE id = ?",
        (visit.id,),
    ).fetchone()
    return Lease(
        *(visit.id, visit.url, visit.fingerprint, visit.host),
        *(promise, depth, level, redirects),
        found_on=found_on,
    )


def failed(db: sqlite3.Connection) -> Iterator[tuple[Lease, str]]:
    """The visits without any page, and the states in which they ended."""
    for *cells, state in db.execute(FAILED):
        yield Lease(*cells), state


def save_verdict(db: sqlite3.Connection, page: int, verdict: Verdict) -> None:
    """Replace the verdict on a page."""
    cells = (verdict.score, int(verdict.relevant))
    db.execute(
        "UPDATE page SET score = ?, relevant = ?, parts = ? WHERE id = ?",
        (*cells, encode(verdict.parts), page),
    )
    db.execute(
        "UPDATE version SET score = ?, relevant = ? "
        "WHERE id = (SELECT max(id) FROM version WHERE page = ?)",
        (*cells, page),
    )
    state = "kept" if verdict.relevant else "irrelevant"
    db.execute("UPDATE link SET state = ? WHERE id = ?", (state, page))


def save_promise(db: sqlite3.Connection, link: int, ranked: Ranked) -> None:
    """Replace the promise of a link that was visited, as `explain` shows it."""
    parts = text_of(ranked.parts) if ranked.parts else None
    db.execute(
        "UPDATE link SET promise = ?, level = ?, parts = ? WHERE id = ?",
        (float(ranked.promise), ranked.level, parts, link),
    )


def save_revision(db: sqlite3.Connection, link: int, new: Revision) -> None:
    """Replace the promise of a link that was visited by what its strategy revised."""
    parts = text_of(new[2]) if len(new) == 3 else "{}"
    db.execute(
        "UPDATE link SET promise = ?, parts = ? WHERE id = ? AND promise != ?",
        (new[1], parts, link, new[1]),
    )


def links_on(db: sqlite3.Connection, page: int) -> set[int]:
    """The ids of the links on a page."""
    return {id for (id,) in db.execute("SELECT link FROM edge WHERE page = ?", (page,))}


def put_back(
    db: sqlite3.Connection,
    refused: Mapping[Fingerprint, str],
    in_scope: Callable[[str], bool],
    unread: Container[int],
) -> None:
    """Queue the links that no page added to the frontier behind all others, unless they
    are now refused or out of scope."""
    least = db.execute(
        "SELECT min(promise) FROM link WHERE state = 'waiting' AND found_on != 0"
    ).fetchone()[0]
    rows: list[tuple[str, str | None, float, int, int]] = []
    for id, url, fingerprint, state, reason, template, promise, found_on in db.execute(
        LEFT, (ASIDE,)
    ).fetchall():
        row: tuple[str, str | None, float, int, int]
        if not in_scope(url):
            row = ("unusable", "scope", promise, 0, id)
        elif fingerprint in refused:
            row = ("unusable", refused[fingerprint], promise, 0, id)
        elif state == "unusable":  # there are too many like it
            row = (state, reason, promise, template, id)
        elif found_on in unread or least is None:
            row = ("waiting", None, promise, template, id)
        else:
            row = ("waiting", None, least, template, id)
        rows.append(row)
    db.executemany(
        "UPDATE link SET state = ?, reason = ?, promise = ?, template = ? WHERE id = ?",
        rows,
    )
    db.execute(
        "UPDATE link SET attempts = waited.attempts FROM waited "
        "WHERE waited.id = link.id AND waited.attempts AND link.state = 'waiting'"
    )
    db.execute("DROP TABLE waited")


def text_of(parts: object) -> str:
    """The parts of a promise as they are kept; some strategies tell them so."""
    return parts if isinstance(parts, str) else encode(parts)
