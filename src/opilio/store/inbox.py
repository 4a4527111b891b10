"""inbox.db: the messages that a crawl was sent, in the order in which they came.

It is a file of its own beside crawl.db. A crawl keeps a write transaction open on
crawl.db nearly all the time; whoever wanted to write there would wait long, and might
make the crawl's own commit fail. Here each message is one short transaction, durable
before `send` returns. What became of a message is in crawl.db, table `message`.
"""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from opilio.errors import BadInput
from opilio.store.folder import CrawlFolder

if TYPE_CHECKING:
    from opilio.store.messages import AnyMessage

BUSY_SECONDS = 10.0  # that others may write before us
SCHEMA = """
CREATE TABLE IF NOT EXISTS message (
    id INTEGER PRIMARY KEY AUTOINCREMENT,  -- in the order in which they came
    key TEXT NOT NULL UNIQUE,              -- by which crawl.db knows it
    at REAL NOT NULL,                      -- seconds since 1970
    body TEXT NOT NULL                     -- JSON: the verb and what belongs to it
)
"""


class Sent(NamedTuple):
    """A message as it lies in the inbox."""

    id: int
    key: str
    at: float
    body: str


def send(folder: CrawlFolder, message: AnyMessage) -> str:
    """Leave a message for a crawl; returns its key once it is safely on disk."""
    folder.require()
    key = uuid.uuid4().hex
    row = (key, time.time(), msgspec.json.encode(message).decode())
    try:
        with closing(connect(folder.inbox)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")
            db.execute(SCHEMA)
            db.execute("INSERT INTO message (key, at, body) VALUES (?, ?, ?)", row)
    except sqlite3.Error as error:
        raise BadInput(
            f"{folder.inbox} cannot take a message: {error}; check that you may write "
            "there and that the disk is not full"
        ) from None
    return key


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """A connection that commits each statement by itself."""
    uri = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS)


def sent_since(db: sqlite3.Connection, last: int) -> list[Sent]:
    """The messages after this one, in order."""
    rows = db.execute(
        "SELECT id, key, at, body FROM message WHERE id > ? ORDER BY id", (last,)
    )
    return [Sent._make(row) for row in rows]


@contextmanager
def reading(folder: CrawlFolder) -> Iterator[sqlite3.Connection | None]:
    """The inbox of a crawl to read from; None: there is none, or none that can be
    read."""
    if not folder.inbox.is_file():
        yield None
        return
    with closing(connect(folder.inbox, read_only=True)) as db:
        yield db


def all_sent(folder: CrawlFolder) -> list[Sent]:
    """All messages that a crawl was ever sent; none if the inbox cannot be read."""
    try:
        with reading(folder) as db:
            return sent_since(db, 0) if db else []
    except sqlite3.Error:
        return []
