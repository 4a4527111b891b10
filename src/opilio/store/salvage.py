"""Copies what can be read of a damaged crawl.db into a new one, and mends its rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from opilio.records import State
from opilio.storage.database import SCHEMA, TABLE, Database, open_database
from opilio.store.check import LINKS, fault_of_link
from opilio.text import urls

BEYOND = 2**40  # greater than every id
AT_ONCE = 10_000  # rows
# What judge and strategy learnt cannot be checked; pages are judged again instead.
LEARNT = frozenset(("learnt", "note", "page_profile", "site", "indexed"))
LOST = "lost"  # reason of links whose rows were lost
LOST_HOST = "lost.invalid"


def salvage(damaged: Path, repaired: Path) -> int:
    """Make a new database of the rows that can be read; returns how many there are."""
    new = open_database(repaired)
    count = 0
    try:
        old = sqlite3.connect(f"{damaged.absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.DatabaseError:
        return 0
    old.text_factory = lambda raw: raw.decode("utf-8", "replace")
    new.begin()
    for table, body in TABLE.findall(SCHEMA):
        if table in LEARNT:
            continue
        columns = columns_of(old, new, table)
        if columns:
            names = ", ".join(columns)
            marks = ", ".join("?" * len(columns))
            put = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})"  # noqa: S608
            keyed = "WITHOUT ROWID" not in body
            for row in readable(old, f"SELECT {names} FROM {table}", keyed):  # noqa: S608
                try:
                    new.execute(put, row)
                    count += 1
                except sqlite3.IntegrityError:
                    continue  # a value that must be there is not
    new.commit()
    old.close()
    new.close()
    return count


def columns_of(old: sqlite3.Connection, new: Database, table: str) -> list[str]:
    """The columns that a table has in both."""
    query = f"PRAGMA table_info({table})"
    try:
        there = {row[1] for row in old.execute(query)}
    except sqlite3.DatabaseError:
        return []
    return [row[1] for row in new.execute(query) if row[1] in there]


def readable(
    db: sqlite3.Connection, query: str, keyed: bool
) -> Iterator[tuple[object, ...]]:
    """The rows of a table that can be read, by halving what cannot."""
    if not keyed:
        try:
            yield from db.execute(query)
        except sqlite3.DatabaseError:
            return
        return
    ranges = [(0, BEYOND)]
    while ranges:
        first, last = ranges.pop()
        try:
            yield from db.execute(f"{query} WHERE rowid BETWEEN ? AND ?", (first, last))
        except sqlite3.DatabaseError:
            if first < last:
                # Rows that were read already are ignored when they come again.
                middle = (first + last) // 2
                ranges += [(middle + 1, last), (first, middle)]


def mend_rows(db: Database) -> int:
    """Make hosts and links complete and true; returns how many links were lost."""
    hosts: dict[str, int] = {}
    last = 0
    for id, name in db.execute("SELECT id, name FROM host ORDER BY id").fetchall():
        for missing in range(last + 1, id):
            fill_host(db, missing)
        hosts[str(name)], last = id, id
    lost, before = 0, 0
    for row in db.execute(f"{LINKS} ORDER BY id").fetchall():
        for missing in range(before + 1, row[0]):
            lost += 1
            fill_link(db, hosts, missing)
        before = row[0]
        if fault_of_link(row):
            lost += 1
            fill_link(db, hosts, row[0])
        elif hosts.get(urls.host(row[1])) != row[3]:
            host = host_number(db, hosts, urls.host(row[1]))
            db.execute("UPDATE link SET host = ? WHERE id = ?", (host, row[0]))
    db.execute("DELETE FROM page WHERE id NOT IN (SELECT id FROM link)")
    db.execute("DELETE FROM edge WHERE page NOT IN (SELECT id FROM page)")
    db.execute("DELETE FROM edge WHERE link NOT IN (SELECT id FROM link)")
    return lost


def fill_host(db: Database, id: int) -> None:
    """Put something in the place of a host that was lost: ids have no gaps."""
    name = f"{id}.{LOST_HOST}"
    db.execute("INSERT INTO host (id, name, domain) VALUES (?, ?, ?)", (id, name, name))


def fill_link(db: Database, hosts: dict[str, int], id: int) -> None:
    """Put something in the place of a link that was lost. Its page is lost, too: it is
    found again in the WARC files."""
    url = f"http://{LOST_HOST}/{id}"
    db.execute("DELETE FROM page WHERE id = ?", (id,))
    db.execute(
        "INSERT OR REPLACE INTO link (id, url, fingerprint, host, state, reason, "
        "promise) VALUES (?, ?, ?, ?, 'unusable', ?, 0.0)",
        (id, url, urls.fingerprint(url), host_number(db, hosts, LOST_HOST), LOST),
    )


def host_number(db: Database, hosts: dict[str, int], name: str) -> int:
    """The id of a host, which is added if it is new."""
    if name not in hosts:
        [last] = db.execute("SELECT coalesce(max(id), 0) FROM host").fetchone()
        hosts[name] = last + 1
        row = (last + 1, name, urls.domain(name))
        db.execute("INSERT INTO host (id, name, domain) VALUES (?, ?, ?)", row)
    return hosts[name]


def add_link(db: Database, hosts: dict[str, int], url: str) -> int:
    """A new link, which was visited; returns its id."""
    [last] = db.execute("SELECT coalesce(max(id), 0) FROM link").fetchone()
    db.execute(
        "INSERT INTO link (id, url, fingerprint, host, state, promise) "
        "VALUES (?, ?, ?, ?, ?, 0.0)",
        (
            last + 1,
            url,
            urls.fingerprint(url),
            host_number(db, hosts, urls.host(url)),
            State.IRRELEVANT.value,
        ),
    )
    return int(last) + 1
