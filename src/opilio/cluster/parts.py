"""The folders of a worker, and its WARC files, which are named by worker and round.

A worker has a folder for each round, with a crawl.db that is deleted afterwards: what
counts is in PostgreSQL. Its WARC files are then moved to where they shall stay. Those
of a worker that was killed are found and moved by the next one on the same machine.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from opilio.errors import BadInput
from opilio.storage.database import Database
from opilio.store.folder import CrawlFolder

if TYPE_CHECKING:
    import psycopg


class RoundFolder(CrawlFolder):
    """The folder of one round of a worker."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.prefix = f"{path.name}-"  # of the names of its WARC files

    def parts(self, db: Database) -> Mapping[str, tuple[int, str]]:
        """The WARC files: name -> the length that is safe, and the place."""
        rows = db.execute("SELECT name, length FROM warc")
        return {
            self.prefix + name: (length, str(self.warcs.absolute() / name))
            for name, length in rows
        }


class WorkFolders:
    """The folder that the workers on a machine share: `work/` and `warc/`."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.work = home / "work"
        self.warcs = home / "warc"

    def new_round(self, worker: int, number: int) -> RoundFolder:
        """A new, locked folder."""
        folder = RoundFolder(self.work / f"{worker:05}-{number:03}")
        with self.alone():
            folder.make()
            folder.lock()
        return folder

    def seal(self, db: psycopg.Connection, folder: RoundFolder) -> int:
        """Move the recorded WARC files of a round to where they stay, cut back to what
        was recorded, and delete the rest; returns their number."""
        rows = db.execute(
            "SELECT name, length, place FROM part WHERE NOT is_sealed AND name LIKE %s",
            (f"{folder.prefix}%",),
        ).fetchall()
        for name, length, place in rows:
            if not self._move(Path(place), self.warcs / name, length):
                continue  # it is on another disk
            db.execute(
                "UPDATE part SET place = %s, is_sealed = true WHERE name = %s",
                (str((self.warcs / name).absolute()), name),
            )
        folder.unlock()
        shutil.rmtree(folder.path)
        return len(rows)

    def adopt(self, db: psycopg.Connection) -> int:
        """Seal the WARC files of workers that died here; returns their number."""
        count = 0
        with self.alone():
            left = sorted(self.work.iterdir()) if self.work.is_dir() else []
            for path in left:
                folder = RoundFolder(path)
                try:
                    folder.lock()
                except (BadInput, NotADirectoryError):  # it works, or is not ours
                    continue
                count += self.seal(db, folder)
        return count

    @staticmethod
    def _move(source: Path, target: Path, length: int) -> bool:
        """Move a file, cut back to its length; may be done again after a crash. False:
        it is not there."""
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.exists():
            os.truncate(source, length)
            shutil.move(source, target)
        return target.exists()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep out other workers that make or adopt folders."""
        self.work.mkdir(parents=True, exist_ok=True)
        with (self.work / ".lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
