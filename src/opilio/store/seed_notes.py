"""Records and finds seeds of a crawl that brought no page or lead nowhere."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from opilio.records import SEED_PROMISE
from opilio.store.catalogue import Catalogue

KIND = "seed"  # of the events
NOTED = "SELECT detail FROM event WHERE kind = ? ORDER BY id LIMIT ?"
FAILED = """
    SELECT url, reason FROM link
    WHERE depth = 0 AND promise >= ? AND state IN ('unusable', 'parked')
    ORDER BY id LIMIT ?
"""
MOST = 20  # seeds that are reported


class SeedNote(msgspec.Struct, frozen=True):
    """A seed, and why it leads nowhere."""

    url: str
    obstacles: Sequence[str]  # as `followable.obstacles` names them, or why it failed


def note_seed(catalogue: Catalogue, url: str, obstacles: Sequence[str]) -> None:
    """Record the obstacles of a seed that was read."""
    catalogue.save_event(KIND, url=url, obstacles=list(obstacles))


def seed_notes(db: sqlite3.Connection) -> list[SeedNote]:
    """The seeds with obstacles, and those that could not be fetched; the first 20."""
    noted = [
        msgspec.json.decode(row[0], type=SeedNote)
        for row in db.execute(NOTED, (KIND, MOST))
    ]
    failed = [
        SeedNote(url, [reason or "unusable"])
        for url, reason in db.execute(FAILED, (SEED_PROMISE, MOST))
    ]
    return [*failed, *noted][:MOST]
