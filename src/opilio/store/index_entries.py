"""Writes the entries of pages for the search index, rows of the table `indexed`.

An outdated entry is emptied, not deleted: entry numbers only grow, so a reader that
knows the entries up to a number knows that all later ones are new.
"""

from __future__ import annotations

import sqlite3

import msgspec

from opilio.records import MainText, Page
from opilio.storage.database import Row

_ADD = "INSERT INTO indexed (page, words, features) VALUES (?, ?, ?)"


def entry(id: int, page: Page | MainText) -> tuple[str, Row]:
    """The statement that adds a page to the index, and its parameters."""
    return _ADD, (id, page.sequence, msgspec.msgpack.encode(page.terms))


def save_entry(db: sqlite3.Connection, id: int, page: Page | MainText) -> None:
    """Add a page to the index, in the caller's transaction."""
    db.execute(*entry(id, page))


def drop_entry(db: sqlite3.Connection, id: int) -> None:
    """Remove a page from the index."""
    db.execute(
        "UPDATE indexed SET page = 0, words = x'', features = x'' WHERE page = ?", (id,)
    )
