"""Finds the hosts in crawl.db that may not be visited for a while, and why."""

from __future__ import annotations

import sqlite3

import msgspec

SHOWN = 5  # hosts, those that rest longest


class Resting(msgspec.Struct, frozen=True):
    """A host that may not be visited yet."""

    host: str
    reason: str  # of the visit after which it rests: http_429, robots_unreachable, …
    until: float  # seconds since 1970


def resting(db: sqlite3.Connection, now: float) -> list[Resting]:
    """The hosts that rest longest from now on."""
    return _resting(db, "1 ORDER BY rest_until DESC", now, SHOWN)


def rest_of(db: sqlite3.Connection, host: int, now: float) -> Resting | None:
    """The rest of a host, by id, if it rests."""
    return next(iter(_resting(db, "host.id = ?", now, 1, host)), None)


def wishes_of(
    db: sqlite3.Connection, name: str, now: float
) -> tuple[Resting | None, float]:
    """The rest of a host, by name, if it rests; and the Crawl-delay it asks for."""
    row = db.execute("SELECT id, delay FROM host WHERE name = ?", (name,)).fetchone()
    return (rest_of(db, row[0], now), row[1] or 0.0) if row else (None, 0.0)


def count_resting(db: sqlite3.Connection, now: float) -> int:
    """How many hosts rest."""
    row = db.execute("SELECT count(*) FROM host WHERE rest_until > ?", (now,))
    return int(row.fetchone()[0])


def slowest(db: sqlite3.Connection) -> dict[str, float]:
    """The hosts that ask for the longest Crawl-delays, with these."""
    rows = db.execute(
        "SELECT name, delay FROM host WHERE delay > 0 ORDER BY delay DESC LIMIT ?",
        (SHOWN,),
    )
    return dict(rows.fetchall())


def _resting(
    db: sqlite3.Connection, which: str, now: float, limit: int, *more: int
) -> list[Resting]:
    rows = db.execute(
        "SELECT name, coalesce(reason, ''), rest_until "  # noqa: S608
        "FROM host LEFT JOIN rest ON rest.host = host.id "
        f"WHERE rest_until > ? AND {which} LIMIT ?",
        (now, *more, limit),
    )
    return [Resting(*row) for row in rows]
