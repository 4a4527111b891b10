"""Opens crawl.db, the one SQLite file of a crawl, and commits in groups.

The frontier and the store write through the same connection, so that a page, its
verdict, its links and the change of the frontier are committed together or not at all.
The stages do not commit: the crawl loop commits in groups, after the WARC file is safe
on disk.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from opilio.errors import BadInput
from opilio.storage.schema import SCHEMA, TABLE, VERSION

LATE = 1000  # pending rows of one statement at most

Row = tuple[int | float | str | bytes | None, ...]
"""The parameters of a statement, in the order of its question marks."""


class Database(sqlite3.Connection):
    """A connection that can also write rows later, in batches.

    Pending rows are written before any other statement is executed, so the delay cannot
    be noticed. Statements given to `later` must not depend on the order in which those
    of different kinds are written.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._late: dict[str, list[Row]] = {}
        self._writers: list[Callable[[], None]] = []
        self._failure: BaseException | None = None
        self._begun = False

    def begin(self) -> None:
        """Begin a transaction; everything that follows is part of it, or refused.

        When the disk is full or fails, SQLite may roll back a transaction by itself.
        Later statements would then be committed one by one.
        """
        self.execute("BEGIN")
        self._begun = True

    def commit(self) -> None:
        """Commit everything since `begin`."""
        self.execute("COMMIT")
        self._begun = False

    def later(self, statement: str, row: Row) -> None:
        """Execute a statement for a row later, before the next immediate statement."""
        rows = self._late.get(statement)
        if rows is None:
            rows = self._late[statement] = []
        rows.append(row)
        if len(rows) >= LATE:
            self.catch_up()

    def write_first(self, write: Callable[[], None]) -> None:
        """Let something that puts off rows of its own write them by `*_at_once`, before
        anything is done that may have to do with them."""
        self._writers.append(write)

    def catch_up(self) -> None:
        """Write the pending rows; if that fails, nothing can be committed any more."""
        if self._failure:
            raise self._failure
        self._require_transaction()
        try:
            for write in self._writers:
                write()
            for statement, rows in self._late.items():
                super().executemany(statement, rows)
        except BaseException as failure:
            self._failure = failure
            raise
        self._late = {}

    def execute(self, *args: Any) -> sqlite3.Cursor:
        """Execute one statement, after the pending ones."""
        if self._late or self._writers:
            self.catch_up()
        return self.execute_at_once(*args)

    def executemany(self, *args: Any) -> sqlite3.Cursor:
        """Execute one statement for many rows, after the pending ones."""
        if self._late or self._writers:
            self.catch_up()
        return self.executemany_at_once(*args)

    def execute_at_once(self, *args: Any) -> sqlite3.Cursor:
        """Execute one statement that is independent of the pending ones."""
        self._require_transaction()
        return super().execute(*args)

    def executemany_at_once(self, *args: Any) -> sqlite3.Cursor:
        """The same for many rows."""
        self._require_transaction()
        return super().executemany(*args)

    def _require_transaction(self) -> None:
        if self._begun and not self.in_transaction:
            raise sqlite3.OperationalError(
                "the transaction was rolled back when the disk or database failed; "
                "nothing more is written"
            )

    def rollback(self) -> None:
        """Undo everything since the last commit."""
        self._late, self._failure, self._begun = {}, None, False
        self._writers.clear()
        super().rollback()


def open_database(
    path: Path, *, read_only: bool = False, any_thread: bool = False
) -> Database:
    """Open or make crawl.db; a file of a newer version is refused.

    A connection for reading may be used by several threads in turn (`any_thread`).
    """
    if read_only:
        db = open_reading(path, any_thread=any_thread)
    else:
        db = sqlite3.connect(path, isolation_level=None, factory=Database)
    try:
        make_ready(db, path, read_only=read_only)
    except BaseException:
        db.close()
        raise
    return db


def make_ready(db: Database, path: Path, *, read_only: bool) -> None:
    """Check the version of a file, and add what it lacks."""
    if not read_only:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("PRAGMA wal_autocheckpoint = 16384")  # pages: 64 MB
        db.execute("PRAGMA cache_size = -16384")  # 16 MB; the system caches the rest
        db.execute("PRAGMA temp_store = MEMORY")
        # In one transaction, or each statement would wait for the disk.
        db.executescript(f"BEGIN IMMEDIATE; {SCHEMA}")
        db.execute("INSERT OR IGNORE INTO meta VALUES ('version', ?)", (str(VERSION),))
        db.execute("COMMIT")
    found = version_of(db, path)
    if found > VERSION:
        raise BadInput(
            f"{path} was written by a newer Opilio (format {found}, this one knows "
            f"{VERSION}); update Opilio to open it"
        )
    if read_only:
        add_missing(db)


def open_reading(path: Path, *, any_thread: bool = False) -> Database:
    """A connection that cannot write, also where the folder cannot be written.

    SQLite makes -wal and -shm files even to read. If it cannot, for lack of permission
    or space, and the -wal is empty, the file is read as it is.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro"
    connect = partial(Database, check_same_thread=not any_thread, uri=True)
    db = connect(uri)
    try:
        db.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        db.close()
        wal = path.with_name(f"{path.name}-wal")
        if wal.exists() and wal.stat().st_size:
            raise
        db = connect(f"{uri}&immutable=1")
    except BaseException:
        db.close()
        raise
    return db


def add_missing(db: sqlite3.Connection) -> None:
    """Add empty tables that a file of an older version lacks, for a reader.

    They are temporary, so nothing is written.
    """
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    for name, columns in TABLE.findall(SCHEMA):
        if name not in there:
            db.execute(f"CREATE TEMP TABLE {name} {columns}")


def version_of(db: sqlite3.Connection, path: Path) -> int:
    """The format of the file; BadInput while it has none."""
    try:
        row = db.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        row = None
    if row is None:
        raise BadInput(f"{path} is empty: the crawl has only just begun; try again")
    if not str(row[0]).isdecimal():
        raise BadInput(
            f"{path} is damaged (its format is {row[0]!r}, but must be a number); "
            "restore it from a backup"
        )
    return int(row[0])
