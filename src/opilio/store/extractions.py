"""Reads the main texts of pages and the facts about them from the table `extracted`."""

from __future__ import annotations

import sqlite3

from opilio.records import Extraction
from opilio.storage.packed import unpack_extraction


def load_extraction(db: sqlite3.Connection, page: int) -> Extraction | None:
    """The extraction of a page; None: none is stored, or it is damaged."""
    row = db.execute("SELECT packed FROM extracted WHERE id = ?", (page,)).fetchone()
    return unpack_extraction(row[0]) if row else None
