"""Appends finished records to WARC files, and truncates these after a crash."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from opilio import __version__
from opilio.errors import BadInput
from opilio.records import Clock, Response
from opilio.store.warc_records import pack_warcinfo

GIB = 2**30
FILE_NAME = "{:06}.warc.gz"
JUST_BEGUN = 2**12  # bytes; a file with only its warcinfo record has fewer
OUR_FILES = re.compile(r"\d{6}\.warc\.gz")
IN_FOLDER = re.compile(r"\w[\w.-]*", re.ASCII)  # names that lead nowhere else
DESCRIPTION = {
    "software": f"opilio/{__version__}",
    "format": "WARC File Format 1.1",
    "conformsTo": "http://iipc.github.io/warc-specifications/specifications/"
    "warc-format/warc-1.1/",
    "robots": "obey",
}


def read_record(folder: Path, name: str, offset: int, length: int) -> Response:
    """The response that was appended there."""
    from opilio.storage import warc_reading  # most only write

    path = file_in(folder, name)
    try:
        return warc_reading.read_response(path, offset, length)
    except PermissionError as error:
        raise protected(path) from error
    except (OSError, ValueError, TypeError, OverflowError) as error:
        raise damaged(path, str(error)) from error


def read_bytes(path: Path, offset: int, length: int) -> bytes:
    """The raw records at a place."""
    from opilio.storage.warc_places import read_at  # most only write

    try:
        records = read_at(path, offset, length)
    except PermissionError as error:
        raise protected(path) from error
    except OSError as error:
        raise damaged(path, str(error)) from error
    if len(records) < length:
        raise damaged(path, f"it ends {length - len(records)} bytes too early")
    return records


class WarcWriter:
    """Appends records to the files of a folder, and tracks how much of them is safe.

    The table `warc` has the committed length of each file; anything beyond that when a
    folder is opened was never committed, and is cut off.
    """

    def __init__(
        self,
        folder: Path,
        db: sqlite3.Connection,
        max_bytes: int = GIB,
        now: Clock = time.time,
    ) -> None:
        self.folder = folder
        self.db = db
        self.max_bytes = max_bytes
        self.now = now
        self.unrecorded: dict[str, int] = {}  # file -> its length, safe on disk
        self.lock = threading.Lock()  # keeps the file unchanged while it is flushed
        folder.mkdir(parents=True, exist_ok=True)
        known: dict[str, int] = dict(db.execute("SELECT name, length FROM warc"))
        cut_back(folder, known)
        ours = filter(OUR_FILES.fullmatch, known)  # others were pulled
        self.name = max(ours, default=FILE_NAME.format(1))
        self.length = known.get(self.name, 0)  # including what is not on disk yet
        self.safe = self.length
        self.file = self.open()

    def open(self) -> BinaryIO:
        """Open the current file; a new one starts with a warcinfo record."""
        file = (self.folder / self.name).open("ab", buffering=2**20)
        if self.length == 0:
            sync_folder(self.folder)
            self.length = file.write(pack_warcinfo(self.name, self.now(), DESCRIPTION))
        return file

    def append(self, records: bytes) -> tuple[str, int, int]:
        """Add finished records; returns the file's name, the offset and the length."""
        if self.length >= self.max_bytes:
            self.rotate()
        offset = self.length
        self.file.write(records)
        self.length += len(records)
        return self.name, offset, len(records)

    def rotate(self) -> None:
        """Start a new file."""
        self.flush()
        with self.lock:
            self.file.close()
            self.name = FILE_NAME.format(int(self.name[:6]) + 1)
            self.length = self.safe = 0
            self.file = self.open()

    def flush(self) -> None:
        """Make what was appended so far safe on disk; may run in a thread."""
        with self.lock:
            length = self.length
            self.file.flush()
            os.fsync(self.file.fileno())
            self.unrecorded[self.name] = self.safe = length

    def record_length(self) -> None:
        """Note the safe lengths in the table, in the caller's transaction.

        That transaction may refer to records that were appended while `flush` ran in a
        thread, so the rest is flushed first.
        """
        if self.safe < self.length:
            self.flush()
        self.db.executemany(
            "INSERT OR REPLACE INTO warc (name, length) VALUES (?, ?)",
            self.unrecorded.items(),
        )
        self.unrecorded.clear()

    def close(self) -> None:
        """Close the file; what did not fit on a full disk was never committed."""
        with suppress(OSError):
            self.file.close()


def protected(path: Path) -> BadInput:
    """The error for a file without permission to read."""
    return BadInput(f"{path} cannot be read: no permission; change that (chmod u+r)")


def damaged(path: Path, trouble: str) -> BadInput:
    """The error for a file that does not match crawl.db."""
    return BadInput(
        f"{path} is damaged ({trouble}); restore it from a backup, or save what can be "
        f"saved with `opilio repair {path.parent.parent}`"
    )


def file_in(folder: Path, name: str) -> Path:
    """The file of this name, which crawl.db tells; BadInput if it is elsewhere."""
    if not isinstance(name, str) or not IN_FOLDER.fullmatch(name):
        raise damaged(
            folder / "…", f"crawl.db has the name {str(name)[:100]!r}, not a file here"
        )
    return folder / name


def cut_back(folder: Path, known: Mapping[str, int]) -> None:
    """Truncate the files to their committed lengths; raise if bytes are missing."""
    for path in sorted(folder.iterdir()):
        if path.name not in known and OUR_FILES.fullmatch(path.name):
            if not known and path.stat().st_size > JUST_BEGUN:
                raise BadInput(
                    f"{path} holds pages that are not in crawl.db: the database must "
                    "have been lost; restore it from a backup, rebuild it with `opilio "
                    f"repair {folder.parent}`, or start over with --fresh, which "
                    "deletes both"
                )
            path.unlink()
    for name, length in known.items():
        path = file_in(folder, name)
        size = path.stat().st_size if path.exists() else 0
        if size < length:
            raise damaged(path, f"{size} bytes, but {length} by crawl.db")
        if size > length:
            os.truncate(path, length)


def sync_folder(folder: Path) -> None:
    """Make the names of new files durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
