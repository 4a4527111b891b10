"""crawl.db: one SQLite file with its schema, and group commits.

The frontier and the store write through the same connection, so that a page, its
verdict, its links and the change of the frontier are committed together or not at all.
The stages do not commit: the crawl loop commits in groups, after the WARC file is safe
on disk.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from opilio.errors import BadInput

VERSION = 1
LATE = 1000  # pending rows of one statement at most

Row = tuple[int | float | str | bytes | None, ...]
"""The parameters of a statement, in the order of its question marks."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (          -- facts about this file
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS host (          -- every host a link points to
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,             -- with its port, if that is not the default
    domain TEXT NOT NULL,                  -- registrable domain
    ip TEXT,                               -- the address it answered at last
    delay REAL,                            -- its own Crawl-delay in seconds
    rest_until REAL,                       -- seconds since 1970; no visit before
    taken INTEGER NOT NULL DEFAULT 0       -- pages of it, against its budget
);

CREATE TABLE IF NOT EXISTS standing (      -- who links to registrable domains, see frontier/standing.py
    domain TEXT PRIMARY KEY,
    branch TEXT NOT NULL,                  -- the domain by which it came into the crawl
    support TEXT NOT NULL,                 -- independent domains that link to it, with blanks between
    is_established INTEGER NOT NULL        -- it has a seed or much support: no limit
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS rest (          -- why a host was last given rest, see host.rest_until
    host INTEGER PRIMARY KEY REFERENCES host,
    reason TEXT NOT NULL                   -- of the visit after which it was
);

CREATE TABLE IF NOT EXISTS robots (        -- robots.txt of each origin, as last seen
    origin TEXT PRIMARY KEY,               -- scheme://host[:port]
    status TEXT NOT NULL,                  -- rules, unavailable or unreachable
    fetched_at REAL NOT NULL,              -- seconds since 1970
    expires_at REAL NOT NULL,
    body BLOB NOT NULL,
    failures INTEGER NOT NULL DEFAULT 0    -- in a row, while unreachable
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS link (          -- every URL ever found, once
    id INTEGER PRIMARY KEY,                -- in order of discovery
    url TEXT NOT NULL,                     -- canonical form
    fingerprint INTEGER NOT NULL,          -- 64 bits of it
    host INTEGER NOT NULL REFERENCES host,
    template INTEGER NOT NULL DEFAULT 0,   -- fingerprint of the URL without numbers and values; 0: it has none
    state TEXT NOT NULL,                   -- waiting (or leased), kept, irrelevant, copy, unusable, parked
    reason TEXT,                           -- why it is unusable, parked or a copy
    promise REAL NOT NULL,
    level INTEGER NOT NULL DEFAULT 0,      -- depth in a tunnel
    depth INTEGER NOT NULL DEFAULT 0,      -- links from a seed
    redirects INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    found_on INTEGER NOT NULL DEFAULT 0,   -- link.id of the page whose evidence set the promise; 0: a seed
    anchor TEXT,                           -- the words of that link
    parts TEXT                             -- JSON: how the promise came about
);

CREATE TABLE IF NOT EXISTS retry (         -- links that failed for now, and when they are tried again
    link INTEGER PRIMARY KEY REFERENCES link,
    due REAL NOT NULL                      -- seconds since 1970
);

CREATE TABLE IF NOT EXISTS silent_host (   -- hosts that gave no good answer for a while
    host INTEGER PRIMARY KEY REFERENCES host,
    since REAL NOT NULL                    -- seconds since 1970
);

CREATE TABLE IF NOT EXISTS new_promise (   -- promises that `link` does not have yet, see storage/promise_log.py
    id INTEGER PRIMARY KEY,                -- in the order in which they were given
    group_id INTEGER NOT NULL,             -- of 4,096 links
    previous INTEGER NOT NULL,             -- the last row of the group before this one; 0: there is none
    promises BLOB NOT NULL                 -- msgpack: link, promise, parts
);

CREATE TABLE IF NOT EXISTS suspect (       -- pages that were in hand when the process died
    fingerprint INTEGER PRIMARY KEY,       -- of the URL, which may not be in `link` yet
    deaths INTEGER NOT NULL                -- 3: it is not tried again
);

CREATE TABLE IF NOT EXISTS page (          -- every URL that answered
    id INTEGER PRIMARY KEY REFERENCES link,
    number INTEGER NOT NULL,               -- 1, 2, 3, … in the order of the crawl
    fetched_at REAL NOT NULL,              -- seconds since 1970
    status INTEGER NOT NULL,               -- HTTP
    mime TEXT,
    charset TEXT,
    language TEXT,
    title TEXT,
    words INTEGER,
    bytes INTEGER NOT NULL,                -- of the body, decoded
    truncated TEXT,                        -- why the body is not whole
    degraded TEXT,                         -- why it could not be read as a whole
    noindex INTEGER NOT NULL DEFAULT 0,    -- the page asks not to be shown
    content INTEGER,                       -- fingerprint of the body
    simhash INTEGER,                       -- of the visible text
    copy_of INTEGER REFERENCES link,       -- what this is a copy of, or redirects to
    score REAL,                            -- the verdict
    relevant INTEGER,
    parts TEXT,                            -- JSON: how the verdict came about
    warc TEXT,                             -- file in warc/
    warc_offset INTEGER,
    warc_length INTEGER
);

CREATE TABLE IF NOT EXISTS extracted (     -- the main text of a page that was kept, and the facts about it
    id INTEGER PRIMARY KEY REFERENCES page,
    packed BLOB NOT NULL                   -- compressed: storage/packed.py
);

CREATE TABLE IF NOT EXISTS version (       -- what a page that was visited again has said, each in turn; the last is the page
    id INTEGER PRIMARY KEY,                -- in order of fetching
    page INTEGER NOT NULL REFERENCES page,
    fetched_at REAL NOT NULL,              -- seconds since 1970: when it was first seen so
    seen_at REAL NOT NULL,                 -- and when last
    visits INTEGER NOT NULL DEFAULT 1,     -- that found it so
    tried_at REAL NOT NULL,                -- when it was last asked for, with or without success
    failures INTEGER NOT NULL DEFAULT 0,   -- in a row since it was last seen
    trouble TEXT,                          -- why it could not be seen then: http_404, moved, copy, timeout, …
    status INTEGER NOT NULL,               -- HTTP
    title TEXT,
    content INTEGER,                       -- fingerprint of the body
    simhash INTEGER,                       -- of the visible text
    score REAL,                            -- the verdict
    relevant INTEGER,
    warc TEXT,                             -- file in warc/
    warc_offset INTEGER,
    warc_length INTEGER,
    change TEXT                            -- JSON: what differs from the version before
);
CREATE INDEX IF NOT EXISTS version_page ON version (page);

CREATE INDEX IF NOT EXISTS page_number ON page (number);
CREATE INDEX IF NOT EXISTS page_copy_of ON page (copy_of) WHERE copy_of IS NOT NULL;

CREATE TABLE IF NOT EXISTS edge (          -- page -> link, each pair once
    page INTEGER NOT NULL REFERENCES page,
    link INTEGER NOT NULL REFERENCES link
);

CREATE TABLE IF NOT EXISTS page_profile (  -- of a page that was judged: what no other table has
    id INTEGER PRIMARY KEY REFERENCES page,
    modified REAL,                         -- when it last changed, seconds since 1970, if that is known
    in_domain INTEGER NOT NULL,            -- Domain_Mark: it was relevant
    concepts TEXT NOT NULL,                -- JSON: concept of the topic -> times it is named
    class TEXT,                            -- of the ontology, by OntoClassifier
    headings TEXT NOT NULL                 -- JSON: their texts, h1 first
);

CREATE TABLE IF NOT EXISTS site (          -- every host of which a page was judged or the root visited
    host INTEGER PRIMARY KEY REFERENCES host,
    pages INTEGER NOT NULL,                -- N_S: those judged
    in_domain INTEGER NOT NULL,            -- N_S,D: those relevant
    concepts TEXT NOT NULL,                -- JSON: concept -> N_S,C: relevant pages that it is a main concept of
    modified REAL,                         -- the latest of its pages
    entry INTEGER NOT NULL,                -- link.id of the page where the crawl came in; 0: there is none yet
    root INTEGER REFERENCES link           -- its first address, http://host/, once visited
);

CREATE TABLE IF NOT EXISTS warc (          -- how far each file is known to be good
    name TEXT PRIMARY KEY,
    length INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS learnt (        -- what judge and strategy know by now
    name TEXT PRIMARY KEY,                 -- judge, strategy, weights, estimate
    state BLOB NOT NULL                    -- as the part itself writes it
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS llm_answer (    -- what a language model said of doubtful pages
    key TEXT PRIMARY KEY,                  -- hash of endpoint, model and question
    url TEXT NOT NULL,                     -- of the page
    answer TEXT NOT NULL,                  -- JSON: relevance and reason
    at REAL NOT NULL                       -- seconds since 1970
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS llm_cost (      -- what these answers cost, one row
    id INTEGER PRIMARY KEY,                -- 1
    calls INTEGER NOT NULL,                -- of the endpoint, in all runs
    tokens INTEGER NOT NULL                -- as it counts them, or as estimated
);

CREATE TABLE IF NOT EXISTS note (          -- what the strategy knows of URLs
    key INTEGER PRIMARY KEY,               -- mostly a fingerprint
    value BLOB NOT NULL                    -- msgpack
);

CREATE TABLE IF NOT EXISTS indexed (       -- pages that can be searched
    entry INTEGER PRIMARY KEY,             -- grows: one that is read again gets a new one
    page INTEGER NOT NULL,                 -- page.id; 0: it says something else by now
    words BLOB NOT NULL,                   -- hashes of its stems: title, headings, text
    features BLOB NOT NULL                 -- msgpack: topic term -> times it occurs
);
CREATE INDEX IF NOT EXISTS indexed_page ON indexed (page);

CREATE TABLE IF NOT EXISTS message (       -- what the crawl was told, in the order in which it was taken up
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,              -- as in inbox.db
    at REAL NOT NULL,                      -- when it was sent, seconds since 1970
    taken_at REAL NOT NULL,                -- and when it was taken up
    body TEXT NOT NULL,                    -- JSON: the verb and what belongs to it
    state TEXT NOT NULL,                   -- done, refused, or serving: pages are fetched for it
    outcome TEXT NOT NULL,                 -- in words
    ended TEXT                             -- why a query ended: pages, links (no other matches), time, paused
);

CREATE TABLE IF NOT EXISTS asked_page (    -- pages that were fetched for a query
    message INTEGER NOT NULL REFERENCES message,
    page INTEGER NOT NULL REFERENCES link,
    PRIMARY KEY (message, page)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS host_rule (     -- hosts that a user has blocked or boosted
    host TEXT PRIMARY KEY,                 -- holds for those below it too
    factor REAL NOT NULL                   -- of the promises of its links; 0: blocked
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS label (         -- pages that a user has looked at
    page INTEGER PRIMARY KEY REFERENCES page,
    relevant INTEGER NOT NULL,
    at REAL NOT NULL                       -- seconds since 1970
);

CREATE TABLE IF NOT EXISTS event (         -- starts and stops, in order
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL,                      -- seconds since 1970
    kind TEXT NOT NULL,
    detail TEXT                            -- JSON
);
"""

TABLE = re.compile(
    r"^CREATE TABLE IF NOT EXISTS (\w+) (.*?);$", re.DOTALL | re.MULTILINE
)


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


def open_database(path: Path, *, read_only: bool = False) -> Database:
    """Open or make crawl.db; a file of a newer version is refused."""
    if read_only:
        db = open_reading(path)
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
        db.execute("PRAGMA cache_size = -262144")  # 256 MB, if needed
        db.execute("PRAGMA temp_store = MEMORY")
        db.executescript(SCHEMA)
        db.execute("INSERT OR IGNORE INTO meta VALUES ('version', ?)", (str(VERSION),))
    found = version_of(db, path)
    if found > VERSION:
        raise BadInput(
            f"{path} was written by a newer Opilio (format {found}, this one knows "
            f"{VERSION}); update Opilio to open it"
        )
    if read_only:
        add_missing(db)


def open_reading(path: Path) -> Database:
    """A connection that cannot write, also where the folder cannot be written.

    SQLite makes -wal and -shm files even to read. If it cannot, for lack of permission
    or space, and the -wal is empty, the file is read as it is.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro"
    db = sqlite3.connect(uri, uri=True, factory=Database)
    try:
        db.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        db.close()
        wal = path.with_name(f"{path.name}-wal")
        if wal.exists() and wal.stat().st_size:
            raise
        db = sqlite3.connect(f"{uri}&immutable=1", uri=True, factory=Database)
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
