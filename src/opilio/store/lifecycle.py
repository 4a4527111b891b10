"""Finds out whether a crawl is running and, if not, when and why it stopped."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import msgspec

from opilio.errors import BadInput
from opilio.store.folder import CrawlFolder

WORKERS = "workers.json"  # in folders that mirror a crawl on many machines
LAST = """
    SELECT kind, at, detail FROM event WHERE kind IN ('started', 'stopped')
    ORDER BY id DESC LIMIT 1
"""


class Life(msgspec.Struct, frozen=True):
    """Whether a crawl runs, and when and why it stopped."""

    running: int  # the id of the process that has it open, or the number of workers
    stopped: str  # why the last run ended; "" while it runs, or if it never began
    at: float  # when that was, or when the run began; seconds since 1970


class WorkersNote(msgspec.Struct, frozen=True):
    """Who works on a crawl on many machines, of which a folder is a copy."""

    live: int  # workers
    ended: str  # why the last one ended
    at: float  # when it was last heard of, seconds since 1970


def workers_note(folder: CrawlFolder) -> WorkersNote | None:
    """The workers of the crawl that a folder mirrors; None: it is no mirror."""
    try:
        told = (folder.path / WORKERS).read_bytes()
    except OSError:
        return None
    try:
        return msgspec.json.decode(told, type=WorkersNote)
    except msgspec.MsgspecError as error:
        raise BadInput(
            f"{folder.path / WORKERS} is damaged ({error}); delete it and its folder, "
            "a copy of a crawl on many machines"
        ) from None


def life_of(db: sqlite3.Connection, folder: CrawlFolder) -> Life:
    """Whether a crawl is running and, if not, why it stopped."""
    if note := workers_note(folder):
        return Life(note.live, "" if note.live else note.ended, note.at)
    row = db.execute(LAST).fetchone()
    kind, at, detail = row or ("", 0.0, None)
    owner = owner_of(folder)
    if owner:
        return Life(owner, "", at)
    if kind == "stopped":
        return Life(0, msgspec.json.decode(detail or b"{}").get("reason", ""), at)
    return Life(0, "killed" if kind else "", at)


def owner_of(folder: CrawlFolder) -> int:
    """The process that holds the lock of a folder; 0: none.

    It is looked for among the open files of the process that the lock file names.
    Trying the lock would block a crawl that starts at the same moment.
    """
    if note := workers_note(folder):
        return note.live
    lock = folder.path / "lock"
    try:
        owner = int(lock.read_text("ascii") or 0)
        if not owner:
            return 0
        files = list(Path(f"/proc/{owner}/fd").iterdir())
    except PermissionError:  # it exists, but belongs to another user
        return owner
    except (OSError, ValueError):
        return 0
    here = os.path.realpath(lock)
    return owner if any(target(file) == here for file in files) else 0


def target(file: Path) -> str:
    """The path of an open file of a process; "" if it was closed meanwhile."""
    try:
        return str(file.readlink())
    except OSError:
        return ""
