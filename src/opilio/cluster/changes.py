"""Collects the rows of crawl.db that changed since the last time, by triggers.

Promises that are revised do not count: they change all the time, and whoever takes a
shard over computes them again from the lessons.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from opilio.cluster.tables import EDGES, INSERT_EDGES, STEERED, TABLES
from opilio.storage.database import Database
from opilio.text import urls

Cells = tuple[Any, ...]

# Table that keys are collected for, table that changes, its key, which changes count.
WATCHED = (
    ("host", "host", "id", ("INSERT", "UPDATE")),
    ("host", "rest", "host", ("INSERT",)),
    ("host", "silent_host", "host", ("INSERT", "DELETE")),
    ("standing", "standing", "domain", ("INSERT",)),
    ("domain_words", "domain_words", "domain", ("INSERT",)),
    ("robots", "robots", "origin", ("INSERT",)),
    ("tdmrep", "tdmrep", "origin", ("INSERT",)),
    ("link", "link", "id", ("INSERT", "UPDATE OF state, attempts, found_on, depth")),
    ("link", "retry", "link", ("INSERT", "DELETE")),
    ("page", "page", "id", ("INSERT",)),
    ("extracted", "extracted", "id", ("INSERT",)),
    ("indexed", "indexed", "entry", ("INSERT",)),
    ("page_profile", "page_profile", "id", ("INSERT",)),
    ("site", "site", "host", ("INSERT",)),
    ("label", "label", "page", ("INSERT",)),
    ("message", "message", "id", ("INSERT", "UPDATE")),
    ("event", "event", "id", ("INSERT",)),
)
_EVENTS = "SELECT at, kind, detail FROM event JOIN changed_event ON key = id"


class ChangedRows(NamedTuple):
    """Rows for PostgreSQL, with the statements that write them."""

    rows: list[tuple[str, list[Cells]]]
    shards: set[int]
    pages: int
    kept: int
    events: list[Cells]

    @property
    def is_empty(self) -> bool:
        """Whether nothing has changed."""
        return not self.rows and not self.events


def watch(db: Database) -> None:
    """Note what changes in this connection from now on."""
    for name in {kept for kept, *_ in WATCHED}:
        db.execute(f"CREATE TEMP TABLE changed_{name} (key PRIMARY KEY) WITHOUT ROWID")
    db.execute("CREATE TEMP TABLE changed_edge (page, link)")
    for kept, table, key, kinds in WATCHED:
        for kind in kinds:
            row = "old" if kind == "DELETE" else "new"
            db.execute(
                f"CREATE TEMP TRIGGER {kept}_{table}_{kind.split()[0]} AFTER {kind} "
                f"ON main.{table} BEGIN INSERT OR IGNORE INTO changed_{kept} "
                f"VALUES ({row}.{key}); END"
            )
    db.execute(
        "CREATE TEMP TRIGGER edge_edge_INSERT AFTER INSERT ON main.edge "
        "BEGIN INSERT INTO changed_edge VALUES (new.page, new.link); END"
    )


def take_changes(
    db: Database, shard_of: Callable[[str], int], owned: Any, prefix: str
) -> ChangedRows:
    """The rows of shards that are owned which changed since the last call; those of
    other shards are only this machine's notes. `prefix`: of the names of WARC files."""
    found = ChangedRows([], set(), 0, 0, db.execute(_EVENTS).fetchall())
    pages = kept = 0
    for table in (*TABLES, *STEERED):
        rows = db.execute(table.rows(f"changed_{table.name}"), {"prefix": prefix})
        mine = list(_mine(rows, shard_of, owned))
        if table.name == "page":
            status, relevant = (table.columns.index(n) for n in ("status", "relevant"))
            good = [row for row in mine if 200 <= row[1 + status] < 300]
            pages, kept = len(good), sum(bool(row[1 + relevant]) for row in good)
        if mine:
            found.rows.append((table.statement, mine))
            found.shards.update(row[0] for row in mine)
    edges = db.execute(EDGES.format(changed="changed_edge"))
    mine = [
        (shard, page, json.loads(links))
        for shard, page, links in _mine(edges, shard_of, owned)
    ]
    if mine:
        found.rows.append((INSERT_EDGES, mine))
    for name in ("edge", *{kept for kept, *_ in WATCHED}):
        db.execute(f"DELETE FROM changed_{name}")
    return found._replace(pages=pages, kept=kept)


def _mine(
    rows: Iterator[Cells], shard_of: Callable[[str], int], owned: Any
) -> Iterator[Cells]:
    for host, *cells in rows:
        shard = shard_of(urls.host(host) if "/" in host else host)
        if shard in owned:
            yield (shard, *map(without_nul, cells))


def without_nul(cell: Any) -> Any:
    """A text that PostgreSQL accepts: it refuses NUL."""
    if isinstance(cell, str) and "\0" in cell:
        return cell.replace("\0", "\ufffd")
    return cell
