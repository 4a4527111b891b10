"""Chooses the pages to export, and reads them from crawl.db a few at a time."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterator, Sequence

import msgspec

from opilio.records import Purpose

AT_ONCE = 100  # pages in memory
NO_PATTERN = str.maketrans({"*": "[*]", "?": "[?]", "[": "[[]"})

CHOSEN = """
    SELECT page.id FROM page JOIN link USING (id)
    WHERE score IS NOT NULL AND copy_of IS NULL
      AND (relevant OR NOT :relevant) AND (NOT noindex OR :noindex)
      AND score >= :min_score AND fetched_at >= :since
      AND (:languages = '[]' OR language IN (SELECT value FROM json_each(:languages)))
      AND (:hosts IS NULL OR link.host IN (SELECT value FROM json_each(:hosts)))
    ORDER BY score DESC, number
"""
# `linked` is the link whose redirects led to the page, over up to 20 hops.
ROWS = """
    SELECT page.id, link.url, linked.url AS linked, title, language, score, relevant,
           page.parts, link.state, link.depth, linked.anchor, fetched_at, status, mime,
           words, content, degraded, warc, warc_offset, warc_length,
           parent.url AS parent, extracted.packed,
           (SELECT count(*) FROM page AS copy JOIN link AS its ON its.id = copy.id
            WHERE copy.copy_of = page.id AND its.reason IS NOT 'redirect') AS copies
    FROM page JOIN link USING (id) JOIN link AS linked ON linked.id = (
        WITH RECURSIVE hop (id, found_on, redirects, count) AS (
            SELECT link.id, link.found_on, link.redirects, 0
            UNION ALL
            SELECT source.id, source.found_on, source.redirects, count + 1
            FROM hop JOIN link AS source ON source.id = hop.found_on
            WHERE hop.redirects AND count < 20)
        SELECT id FROM hop ORDER BY count DESC LIMIT 1)
    LEFT JOIN link AS parent ON parent.id = linked.found_on
    LEFT JOIN extracted ON extracted.id = page.id
    WHERE page.id IN (SELECT value FROM json_each(?))
"""


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Which pages are exported; all that were judged, if nothing is said."""

    relevant: bool = False  # those that were kept, only
    noindex: bool = False  # also those that ask not to be shown
    min_score: float = 0.0
    languages: tuple[str, ...] = ()  # empty: any
    since: float = 0.0  # fetched then or later, in seconds since 1970
    sites: tuple[str, ...] = ()  # hosts, with those below them; empty: all
    purpose: Purpose | None = None  # omits pages that are reserved against it


def chosen_pages(db: sqlite3.Connection, selection: Selection) -> array[int]:
    """The ids of the chosen pages, best first; reservations are not looked at."""
    wanted = {
        "relevant": selection.relevant,
        "noindex": selection.noindex,
        "min_score": selection.min_score,
        "since": selection.since,
        "languages": as_json(selection.languages),
        "hosts": as_json(hosts_of(db, selection.sites)) if selection.sites else None,
    }
    return array("q", (page for (page,) in db.execute(CHOSEN, wanted)))


def hosts_of(db: sqlite3.Connection, sites: Sequence[str]) -> list[int]:
    """The ids of the named hosts and of those below them."""
    return [
        host
        for site in sites
        for (host,) in db.execute(
            "SELECT id FROM host WHERE name = :name OR name GLOB '*.' || :pattern "
            "OR name GLOB :pattern || ':*' OR domain = :name",
            {"name": site.lower(), "pattern": site.lower().translate(NO_PATTERN)},
        )
    ]


def rows_of(
    db: sqlite3.Connection, pages: Sequence[int]
) -> Iterator[list[sqlite3.Row]]:
    """The rows of the pages in this order, in batches."""
    cursor = db.cursor()
    cursor.row_factory = sqlite3.Row
    for start in range(0, len(pages), AT_ONCE):
        some = list(pages[start : start + AT_ONCE])
        found = {row["id"]: row for row in cursor.execute(ROWS, (as_json(some),))}
        yield [found[page] for page in some if page in found]


def as_json(values: Sequence[object]) -> str:
    """A list as a parameter of a statement."""
    return msgspec.json.encode(values).decode()
