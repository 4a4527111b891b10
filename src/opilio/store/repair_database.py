"""Copies what can be read of a damaged crawl.db into a new one; repairs its rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from opilio.records import State
from opilio.storage.database import Database, open_database
from opilio.storage.schema import SCHEMA, TABLE
from opilio.store.damage_check import LINKS, UNREADABLE, decode, fault_of_link
from opilio.store.odd_values import JSON, is_odd
from opilio.text import urls

SMALLEST = 8  # bytes of a row; so a file has few enough of them
MOST_FAILURES = 20_000  # parts of a table that are tried without success
# What judge, strategy and extractor made cannot be checked; it is made again instead.
LEARNT = frozenset(
    (
        *("learnt", "note", "page_profile", "site", "indexed"),
        *("new_promise", "extracted"),
    )
)
PYTHON: dict[str, tuple[type | tuple[type, ...], object]] = {
    "INTEGER": (int, 0),
    "REAL": ((int, float), 0.0),
    "TEXT": (str, ""),
    "BLOB": (bytes, b""),
}
LOST = "lost"  # reason of links whose rows were lost
LOST_HOST = "lost.invalid"


def salvage(damaged: Path, repaired: Path) -> None:
    """Make a new database of the rows that can be read."""
    with closing(open_database(repaired)) as new:
        if not damaged.is_file():
            return
        most = damaged.stat().st_size // SMALLEST
        uri = f"{damaged.absolute().as_uri()}?mode=ro"
        with closing(sqlite3.connect(uri, uri=True)) as old:
            old.text_factory = decode
            with suppress(*UNREADABLE):  # one table that is damaged spoils no others
                old.execute("PRAGMA writable_schema = ON")
            new.begin()
            for table, body in TABLE.findall(SCHEMA):
                if table not in LEARNT:
                    copy_rows(old, new, table, most if "WITHOUT" not in body else 0)
            new.commit()


def copy_rows(old: sqlite3.Connection, new: Database, table: str, most: int) -> None:
    """Copy the rows of a table that can be read; `most` is its greatest id, or 0."""
    columns = columns_of(old, new, table)
    if not columns:
        return
    names = ", ".join(columns)
    marks = ", ".join("?" * len(columns))
    put = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})"  # noqa: S608
    for row in readable(old, f"SELECT {names} FROM {table}", most):  # noqa: S608
        with suppress(sqlite3.IntegrityError):  # it has the key of another row
            new.execute(put, list(map(true_to_type, row, columns.values())))


def true_to_type(value: object, column: tuple[str, int]) -> object:
    """A value of a column, or an empty one if it is of another type."""
    kind, needed = column
    python, empty = PYTHON[kind]
    return value if isinstance(value, python) else empty if needed else None


def columns_of(
    old: sqlite3.Connection, new: Database, table: str
) -> dict[str, tuple[str, int]]:
    """The columns that a table has in both, with their types and whether they must have
    a value."""
    query = f"PRAGMA table_info({table})"
    try:
        there = {row[1] for row in old.execute(query)}
    except UNREADABLE:
        return {}
    rows = new.execute(query).fetchall()
    return {name: (kind, needed) for _, name, kind, needed, *_ in rows if name in there}


def readable(
    db: sqlite3.Connection, query: str, most: int
) -> Iterator[tuple[object, ...]]:
    """The rows of a table that can be read, with ids up to `most`, by halving what
    cannot; 0: it has no ids."""
    if not most:
        with suppress(*UNREADABLE):
            yield from db.execute(query)
        return
    ranges, failures = [(0, most)], 0
    while ranges and failures < MOST_FAILURES:
        first, last = ranges.pop()
        try:
            yield from db.execute(f"{query} WHERE rowid BETWEEN ? AND ?", (first, last))
        except UNREADABLE:
            failures += 1
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
    empty_odd_values(db)
    drop_lost_references(db)
    return lost


def empty_odd_values(db: Database) -> None:
    """Replace values that cannot be by empty ones."""
    for table in [name for name, _ in TABLE.findall(SCHEMA)]:
        columns = db.execute(f"PRAGMA table_info({table})").fetchall()
        for _, column, kind, needed, _, key in columns:
            odd = is_odd(table, column, kind, bool(needed))
            if key:
                db.execute(f"DELETE FROM {table} WHERE {odd}")  # noqa: S608
                continue
            json = {"object": "{}", "array": "[]"}.get(
                JSON.get(f"{table}.{column}", "")
            )
            empty = (json or PYTHON[kind][1]) if needed else None
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {odd}", (empty,))  # noqa: S608


def drop_lost_references(db: Database) -> None:
    """Let no row refer to one that does not exist: pages, then what belongs to them."""
    db.execute(
        "UPDATE link SET found_on = 0 WHERE found_on NOT IN (SELECT id FROM link)"
    )
    for table, column in (("page", "copy_of"), ("site", "root")):
        db.execute(
            f"UPDATE {table} SET {column} = NULL "  # noqa: S608
            f"WHERE {column} NOT IN (SELECT id FROM link)"
        )
    names = [name for name, _ in TABLE.findall(SCHEMA)]
    names.sort(key=lambda name: name != "page")
    for table in names:
        for _, _, other, column, *_ in db.execute(
            f"PRAGMA foreign_key_list({table})"
        ).fetchall():
            [key] = [
                row[1] for row in db.execute(f"PRAGMA table_info({other})") if row[5]
            ]
            db.execute(
                f"DELETE FROM {table} WHERE {column} IS NOT NULL "  # noqa: S608
                f"AND {column} NOT IN (SELECT {key} FROM {other})"
            )


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
