"""Keeps a copy of a crawl on many machines in a cache folder, for commands that read.

It is an ordinary crawl folder without WARC files: records are read from where they are.
The first command that needs it copies all rows; later ones only those that have changed
since. Every row has the number of the transaction that wrote it last, so these are the
rows whose transaction was not finished at the time of the last copy.
"""

from __future__ import annotations

import fcntl
import logging
import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from xxhash import xxh3_64_hexdigest

from opilio.cluster.common import PLAN, SUBJECT, setting
from opilio.cluster.connection import (
    library,
    open_postgres,
    reason_of,
    without_password,
)
from opilio.cluster.folder_tables import write_file
from opilio.cluster.load import Loader, load_shards
from opilio.cluster.messages import live_workers, take_in
from opilio.cluster.mirror_changes import MirrorChanges
from opilio.cluster.schema import SHARDS, require_crawl
from opilio.errors import OpilioError
from opilio.storage.database import open_database
from opilio.storage.warc_places import write_places
from opilio.store.folder import CrawlFolder
from opilio.store.inbox import all_sent
from opilio.store.lifecycle import WORKERS, WorkersNote

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)

STATE = "mirror"  # key of `meta`
EVERY = 1.0  # seconds between two looks for messages, and for changes at least
MOST_BEHIND = 10.0  # seconds between two looks for changes at most
THRIFT = 9  # times as long as a look took, there is none
JOIN = 5.0  # seconds to wait for the thread to end
_SNAPSHOT = """
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint,
        pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
        (SELECT oid::bigint FROM pg_database WHERE datname = current_database())
"""
_ENDED = """
    SELECT coalesce(
            (SELECT convert_from(value, 'utf8') FROM setting WHERE name = 'ended'),
            (SELECT ended FROM worker ORDER BY until DESC LIMIT 1)),
        (SELECT extract(epoch FROM max(until))::float8 FROM worker)
"""


class CopiedUntil(msgspec.Struct, frozen=True):
    """How far a mirror has copied."""

    database: int  # by which PostgreSQL knows it
    since: int  # transactions from this one on are new

    def follows(self, snapshot: tuple[int, int, int]) -> bool:
        """Whether the database is still the one that was copied: it may have been
        restored from a backup."""
        _, newest, database = snapshot
        return database == self.database and newest >= self.since


def mirror_path(dsn: str) -> Path:
    """The folder of the mirror of a database."""
    from psycopg.conninfo import conninfo_to_dict

    parts = conninfo_to_dict(dsn)
    names = [str(parts.get(name) or "") for name in ("host", "port", "dbname")]
    names += [os.environ.get("PGHOST", ""), os.environ.get("PGDATABASE", "")]
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    key = xxh3_64_hexdigest("\0".join(names).encode())
    return Path(base) / "opilio" / "mirrors" / f"{names[2] or 'crawl'}-{key}"


def mirror_of(dsn: str) -> CrawlFolder:
    """The crawl of a database as a folder, as it is now."""
    with open_postgres(dsn) as db:
        require_crawl(db, without_password(dsn))
        folder = CrawlFolder(mirror_path(dsn))
        folder.make()
        with alone(folder):
            refresh(db, folder)
    return folder


@contextmanager
def keep_current(dsn: str) -> Iterator[CrawlFolder]:
    """The crawl of a database as a folder that is brought up to date by a thread, and
    whose messages are sent by it."""
    folder = mirror_of(dsn)
    stopped = threading.Event()
    thread = threading.Thread(
        target=follow, args=(dsn, folder, stopped), name="mirror", daemon=True
    )
    thread.start()
    try:
        yield folder
    finally:
        stopped.set()
        thread.join(JOIN)


def follow(dsn: str, folder: CrawlFolder, stopped: threading.Event) -> None:
    """Bring a mirror up to date until told to stop: at once when a message was left in
    it, else seldom enough that it takes a tenth of the time, or every few seconds."""
    due, known = time.monotonic() + EVERY, 0
    while not stopped.wait(EVERY):
        began, sent = time.monotonic(), len(all_sent(folder))
        if began < due and sent == known:
            continue
        try:
            mirror_of(dsn)
            known = sent
        except (OpilioError, library().Error, sqlite3.Error, OSError) as error:
            log.warning("the copy is not up to date: %s", reason_of(error))
        now = time.monotonic()
        due = now + min(THRIFT * (now - began), MOST_BEHIND)


@contextmanager
def alone(folder: CrawlFolder) -> Iterator[None]:
    """Keep out other commands that bring the same mirror up to date."""
    with folder.path.with_suffix(".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def refresh(db: psycopg.Connection, folder: CrawlFolder) -> None:
    """Bring a mirror up to date; messages that were left in it are sent."""
    take_in(db, all_sent(folder))
    known = state_of(folder)
    snapshot = db.execute(_SNAPSHOT).fetchone()
    if known is None or snapshot is None or not known.follows(snapshot):
        copy_all(db, folder)
    else:
        copy_changes(db, folder, known)
    write_files(db, folder)


def state_of(folder: CrawlFolder) -> CopiedUntil | None:
    """How far a mirror has copied; None: it has to be made."""
    if not folder.database.is_file() or not folder.settings.is_file():
        return None
    with closing(open_database(folder.database, read_only=True)) as db:
        rows = db.execute("SELECT value FROM meta WHERE key = ?", (STATE,)).fetchall()
    return msgspec.json.decode(rows[0][0], type=CopiedUntil) if rows else None


def copy_all(db: psycopg.Connection, folder: CrawlFolder) -> None:
    """Copy all rows."""
    shutil.rmtree(folder.path)
    folder.make()

    def load_rest(loader: Loader) -> None:
        [(oldest, _, database)] = loader.source.execute(_SNAPSHOT).fetchall()
        loader.load_rest()
        target = loader.target
        target.execute("DELETE FROM event")  # the mirror has the ids of PostgreSQL
        target.executemany(
            "INSERT INTO event VALUES (?, ?, ?, ?)",
            loader.source.execute("SELECT id, at, kind, detail FROM event"),
        )
        target.execute("CREATE INDEX mirror_fingerprint ON link (fingerprint)")
        done = msgspec.json.encode(CopiedUntil(database, oldest)).decode()
        target.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (STATE, done))

    load_shards(db, folder, range(SHARDS), load_rest)


def copy_changes(
    db: psycopg.Connection, folder: CrawlFolder, known: CopiedUntil
) -> None:
    """Copy the rows that have changed since."""
    with closing(open_database(folder.database)) as target:
        target.begin()
        with db.transaction():
            db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            [(oldest, _, database)] = db.execute(_SNAPSHOT).fetchall()
            MirrorChanges(db, target, folder, known.since).copy()
        done = msgspec.json.encode(CopiedUntil(database, oldest)).decode()
        target.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (STATE, done))
        target.commit()


def write_files(db: psycopg.Connection, folder: CrawlFolder) -> None:
    """Write what a mirror has besides crawl.db."""
    places = db.execute("SELECT name, place FROM part WHERE NOT is_lost").fetchall()
    write_places(folder.warcs, dict(places))
    [(ended, at)] = db.execute(_ENDED).fetchall()
    note = WorkersNote(live_workers(db), ended or "", at or 0.0)
    write_file(folder, WORKERS, msgspec.json.encode(note))
    for name, file in ((SUBJECT, folder.subject), (PLAN, folder.settings)):
        value = setting(db, name)
        if value is not None and (not file.is_file() or file.read_bytes() != value):
            write_file(folder, str(file.relative_to(folder.path)), value)
