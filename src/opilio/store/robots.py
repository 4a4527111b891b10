"""Stores what robots.txt and tdmrep.json of origins say, in crawl.db."""

from __future__ import annotations

import sqlite3

import msgspec

from opilio.records import RobotsRecord, TdmRecord


class SqliteRobots:
    """Robots records in crawl.db; durable with the next commit of the connection."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def load(self, origin: str) -> RobotsRecord | None:
        """The record of an origin, if there is one."""
        row = self.db.execute(
            "SELECT origin, status, fetched_at, expires_at, body, failures "
            "FROM robots WHERE origin = ?",
            (origin,),
        ).fetchone()
        return RobotsRecord(*row) if row else None

    def save(self, record: RobotsRecord) -> None:
        """Store a record, replacing an earlier one of its origin."""
        self.db.execute(
            "INSERT OR REPLACE INTO robots "
            "(origin, status, fetched_at, expires_at, body, failures) "
            "VALUES (?, ?, ?, ?, ?, ?)",
            (
                record.origin,
                record.status,
                record.fetched_at,
                record.expires_at,
                record.body,
                record.failures,
            ),
        )


class SqliteTdm:
    """Records of tdmrep.json in crawl.db; durable with the next commit."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def load(self, origin: str) -> TdmRecord | None:
        """The record of an origin, if there is one."""
        row = self.db.execute(
            "SELECT origin, status, fetched_at, expires_at, body FROM tdmrep "
            "WHERE origin = ?",
            (origin,),
        ).fetchone()
        return TdmRecord(*row) if row else None

    def save(self, record: TdmRecord) -> None:
        """Store a record, replacing an earlier one of its origin."""
        self.db.execute(
            "INSERT OR REPLACE INTO tdmrep "
            "(origin, status, fetched_at, expires_at, body) VALUES (?, ?, ?, ?, ?)",
            msgspec.structs.astuple(record),
        )
