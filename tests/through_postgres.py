"""A crawl.db that goes to PostgreSQL and back, as when a shard changes its owner.

This is what a frontier in PostgreSQL means here (decision 41): links are chosen in the
memory of their owner, over an ordinary crawl.db. What the owner records is in
PostgreSQL, and the next owner's crawl.db is made from that.
"""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from bench.postgres_server import BINARIES, PostgresServer

from opilio.cluster.changes import take_changes, watch
from opilio.cluster.connection import open_postgres
from opilio.cluster.load import load_shards
from opilio.cluster.record import RecordBatch, Recorder
from opilio.cluster.schema import SHARDS, make_ready
from opilio.cluster.shards import HeldShards, register_worker, shard_of
from opilio.storage.database import open_database
from opilio.store.folder import CrawlFolder


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """One server for all tests; a socket's path must be short."""
    if not BINARIES:
        pytest.skip("PostgreSQL is not installed")
    memory = os.environ.get("PYTEST_DEBUG_TEMPROOT")  # see tests/conftest.py
    home = Path(tempfile.mkdtemp(prefix="pg-", dir=memory))
    home.chmod(0o755)
    server = PostgresServer(home / "s")
    server.settings = ("fsync=off",)  # what was written survives kill -9 all the same
    server.start()
    yield server
    server.stop()
    shutil.rmtree(home)


@pytest.fixture
def dsn(postgres: PostgresServer) -> str:
    """A new database."""
    return postgres.database()


@pytest.fixture(scope="session")
def shared_database(postgres: PostgresServer) -> str:
    """One database with the tables of a crawl; making them takes most of a second."""
    dsn = postgres.database()
    with open_postgres(dsn) as db:
        make_ready(db)
    return dsn


@pytest.fixture
def emptied_dsn(shared_database: str) -> str:
    """The shared database, with the rows that a new crawl has."""
    with open_postgres(shared_database) as db:
        forget_rows(db)
    return shared_database


def forget_rows(db: psycopg.Connection) -> None:
    """Make the tables as they are in a new crawl; faster than TRUNCATE, as they are
    small."""
    names = "SELECT tablename FROM pg_tables WHERE schemaname = 'opilio'"
    tables = {name for (name,) in db.execute(names)} - {"version"}
    with db.transaction():
        # In any order: rows may refer to others for a moment.
        db.execute("SET LOCAL session_replication_role = replica")
        db.execute("".join(f"DELETE FROM opilio.{name};" for name in sorted(tables)))
        shards = f"SELECT generate_series(0, {SHARDS - 1})"
        db.execute(f"INSERT INTO opilio.shard (id) {shards}")


class CurrentDatabase:
    """The crawl.db of the present owner."""

    def __init__(self, now: sqlite3.Connection) -> None:
        self.now = now

    def __getattr__(self, name: str) -> Any:
        return getattr(self.now, name)


class ThroughPostgres:
    """Records what happens in a crawl.db, and makes the next one from the records."""

    def __init__(self, dsn: str, db: CurrentDatabase, folder: Path) -> None:
        self.db = db
        self.folder = folder
        self.source = open_postgres(dsn)
        make_ready(self.source)
        self.held = HeldShards(register_worker(self.source, "test:1", 1e4), 1e4)
        self.held.take(self.source, SHARDS)
        self.recorder = Recorder(dsn, self.held)
        self.trips = 0
        watch(db.now)

    def travel(self) -> None:
        """Record everything, and go on with a crawl.db made from the records."""
        self.record()
        self.trips += 1
        folder = CrawlFolder(self.folder / f"owner-{self.trips}")
        folder.make()
        load_shards(self.source, folder, range(SHARDS))
        self.db.now.close()
        self.db.now = open_database(folder.database)
        watch(self.db.now)
        self.db.now.execute("BEGIN")

    def record(self) -> None:
        """Record what has changed."""
        changes = take_changes(self.db.now, shard_of, self.held, "")
        batch = RecordBatch(changes, [], [], {}, self.held.epochs)
        if not batch.is_empty:
            self.recorder.write(batch)

    def close(self) -> None:
        """Close the connections."""
        self.recorder.close()
        self.source.close()
