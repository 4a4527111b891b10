"""Pages that can be searched in; rows of the table `indexed` out.

An entry that is no longer true is emptied, not removed: numbers of entries only grow,
so that whoever has read them up to one number knows that all others are new.
"""

from __future__ import annotations

import sqlite3

import msgspec

from opilio.records import Page
from opilio.storage.database import Row

_ADD = "INSERT INTO indexed (page, words, features) VALUES (?, ?, ?)"


def entry(id: int, page: Page) -> tuple[str, Row]:
    """The statement that lets a page be found by its words, and what it is bound to."""
    return _ADD, (id, page.sequence, msgspec.msgpack.encode(page.terms))


def save_entry(db: sqlite3.Connection, id: int, page: Page) -> None:
    """Let a page be found by its words, in the caller's transaction."""
    db.execute(*entry(id, page))


def drop_entry(db: sqlite3.Connection, id: int) -> None:
    """Let a page no longer be found by what it said."""
    db.execute(
        "UPDATE indexed SET page = 0, words = x'', features = x'' WHERE page = ?", (id,)
    )
