"""Lets pages be fetched again whose WARC files were lost with their machine.

Every worker looks now and then for parts that nobody has sealed although their worker
is dead: 1. of its own machine and folder, where the file is gone; 2. of others, if no
worker has come back there for `[store] lost_after`. Their pages go back to waiting in
one transaction, which also takes their shards from their owners: what these had in
memory is out of date. A file that comes back later is not read any more.
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from opilio.equations.site_model import THW, SiteCounts, main_concepts

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)

# Parts without a worker that could seal them; `alive` workers may have several homes.
_ORPHANS = """
    SELECT part.name, part.place, part.home FROM part JOIN worker ON worker.id = worker
    WHERE NOT is_sealed AND NOT is_lost AND worker.until < clock_timestamp()
        AND (part.home = %(home)s
            OR worker.until < clock_timestamp() - make_interval(secs => %(after)s)
            AND NOT EXISTS (
                SELECT 1 FROM worker AS other WHERE other.home = part.home
                AND other.until > clock_timestamp() AND other.ended IS NULL))
    ORDER BY part.name
"""
_CLAIM = """
    UPDATE part SET is_lost = true, changed = DEFAULT
    WHERE name = ANY(%s) AND NOT is_lost AND (NOT is_sealed OR %s)
    RETURNING name, worker
"""
_PAGES = """
    SELECT page.shard, page.fingerprint, link.host, page.warc, status, relevant,
        in_domain, concepts
    FROM page JOIN link USING (shard, fingerprint)
    LEFT JOIN page_profile ON page_profile.shard = page.shard
        AND page_profile.page = page.fingerprint
    WHERE warc = ANY(%s) ORDER BY page.shard, page.fingerprint
"""
# The owner stays, so that whoever takes the shard over lets its hosts rest.
_FENCE = """
    UPDATE shard SET epoch = epoch + 1, until = clock_timestamp()
    WHERE id = ANY(%s) AND owner IS NOT NULL
"""
FOREVER = 1e9  # seconds
_GONE = "(shard, {}) IN (SELECT * FROM unnest(%s::smallint[], %s::bigint[]))"


class LostPage(NamedTuple):
    """A page whose record is gone."""

    shard: int
    fingerprint: int
    host: str
    part: str
    status: int
    relevant: int | None
    in_domain: int | None  # of its profile; None: it has none
    concepts: str | None


def give_back_lost(db: psycopg.Connection, home: str, after: float) -> int:
    """Let pages of lost parts wait again; returns their number. `home`: our machine
    and folder, `after`: seconds that others have to come back."""
    orphans = db.execute(
        _ORPHANS, {"home": home, "after": min(after, FOREVER)}
    ).fetchall()
    names = [
        name
        for name, place, owner in orphans
        if owner != home or not Path(place).exists()
    ]
    return give_back(db, names) if names else 0


def give_back(
    db: psycopg.Connection, names: Sequence[str], *, sealed: bool = False
) -> int:
    """Let the pages of these parts wait again; `sealed`: also of parts that were
    complete. Returns their number."""
    with db.transaction():
        claimed: dict[str, int] = dict(
            db.execute(_CLAIM, (list(names), sealed)).fetchall()
        )
        if not claimed:
            return 0
        lost = [
            LostPage(*row) for row in db.execute(_PAGES, (list(claimed),)).fetchall()
        ]
        shards = sorted({page.shard for page in lost})
        db.execute(
            "SELECT 1 FROM shard WHERE id = ANY(%s) ORDER BY id FOR UPDATE", (shards,)
        )
        db.execute(_FENCE, (shards,))
        _forget(db, lost)
        _recount(db, lost, claimed)
        db.execute(
            "INSERT INTO event (at, kind, detail) "
            "VALUES (extract(epoch FROM clock_timestamp()), 'lost', %s)",
            (msgspec.json.encode({"parts": sorted(claimed), "pages": len(lost)}),),
        )
    log.warning(
        "%d WARC files are lost; their %d pages are fetched again",
        len(claimed),
        len(lost),
    )
    return len(lost)


def _forget(db: psycopg.Connection, lost: Sequence[LostPage]) -> None:
    """Delete the rows of pages, and queue their links."""
    keys = [page.shard for page in lost], [page.fingerprint for page in lost]
    db.execute(
        "INSERT INTO lost_page (shard, fingerprint, part) "
        "SELECT * FROM unnest(%s::smallint[], %s::bigint[], %s::text[])",
        (*keys, [page.part for page in lost]),
    )
    for table in ("edges", "extracted", "indexed", "page_profile"):
        db.execute(f"DELETE FROM {table} WHERE {_GONE.format('page')}".encode(), keys)
    db.execute(f"DELETE FROM page WHERE {_GONE.format('fingerprint')}".encode(), keys)
    db.execute(
        "UPDATE link SET state = 'waiting', reason = NULL, due = NULL, "
        f"changed = DEFAULT WHERE {_GONE.format('fingerprint')}".encode(),
        keys,
    )


def _recount(
    db: psycopg.Connection, lost: Sequence[LostPage], claimed: dict[str, int]
) -> None:
    """Take the pages out of the counts of workers, hosts and sites."""
    pages, kept = Counter[int](), Counter[int]()
    hosts: defaultdict[tuple[int, str], list[LostPage]] = defaultdict(list)
    for page in lost:
        if 200 <= page.status < 300:
            pages[claimed[page.part]] += 1
            kept[claimed[page.part]] += bool(page.relevant)
        hosts[page.shard, page.host].append(page)
    for worker in pages:
        db.execute(
            "UPDATE progress SET pages = pages - %s, kept = kept - %s "
            "WHERE worker = %s",
            (pages[worker], kept[worker], worker),
        )
    for (shard, host), gone in sorted(hosts.items()):
        db.execute(
            "UPDATE host SET taken = greatest(taken - %s, 0), changed = DEFAULT "
            "WHERE shard = %s AND name = %s",
            (len(gone), shard, host),
        )
        _recount_site(db, shard, host, gone)


def _recount_site(
    db: psycopg.Connection, shard: int, host: str, gone: Sequence[LostPage]
) -> None:
    rows = db.execute(
        "SELECT pages, in_domain, concepts FROM site WHERE shard = %s AND host = %s",
        (shard, host),
    ).fetchall()
    for total, in_domain, concepts in rows:
        counts = SiteCounts()
        counts.pages, counts.in_domain = total, in_domain
        counts.concepts = Counter(msgspec.json.decode(concepts, type=dict[str, int]))
        for page in gone:
            if page.concepts is not None:
                named = msgspec.json.decode(page.concepts, type=dict[str, int])
                counts.remove(bool(page.in_domain), main_concepts(named, THW))
        left = msgspec.json.encode(dict(sorted(counts.concepts.items()))).decode()
        db.execute(
            "UPDATE site SET pages = %s, in_domain = %s, concepts = %s, "
            "changed = DEFAULT WHERE shard = %s AND host = %s",
            (counts.pages, counts.in_domain, left, shard, host),
        )
