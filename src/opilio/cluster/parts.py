"""The folders of a worker, and its WARC files (parts), named by worker and round.

A worker has a folder for each round, with a crawl.db that is deleted afterwards: what
counts is in PostgreSQL. A WARC file that is complete is sealed: copied to where it
stays, which is then entered in the table `part`. Those of a worker that was killed are
found and sealed by the next one on the same machine.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import platform
import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from opilio.cluster.part_places import PartTarget, crawl_id
from opilio.errors import BadInput, OpilioError
from opilio.storage.database import Database
from opilio.storage.warc_places import read_places, write_places
from opilio.store.folder import CrawlFolder
from opilio.store.warc_files import sync_folder

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)

_UNSEALED = """
    SELECT name, length, place FROM part
    WHERE NOT is_sealed AND NOT is_lost AND starts_with(name, %s) ORDER BY name
"""
_SEAL = """
    UPDATE part SET place = %s, is_sealed = true, changed = DEFAULT
    WHERE name = %s AND NOT is_lost
"""


class RoundFolder(CrawlFolder):
    """The folder of one round of a worker."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.prefix = f"{path.name}-"  # of the names of its WARC files
        self.home = name_of_home(path.parent.parent)

    def parts(self, db: Database) -> Mapping[str, tuple[int, str, str]]:
        """The WARC files: name -> the length that is safe, the place, and the machine
        and folder."""
        rows = db.execute("SELECT name, length FROM warc")
        return {
            self.prefix + name: (length, str(self.warcs.absolute() / name), self.home)
            for name, length in rows
        }


class WorkFolders:
    """The folder that the workers on a machine share: `work/` and `warc/`.

    `place`: the folder or URL where WARC files stay; "": in `warc/`.
    """

    def __init__(self, home: Path, place: str = "") -> None:
        self.home = home
        self.name = name_of_home(home)
        self.work = home / "work"
        self.warcs = home / "warc"
        self.place = place
        self._sealing = threading.Lock()

    def new_round(self, worker: int, number: int) -> RoundFolder:
        """A new, locked folder."""
        folder = RoundFolder(self.work / f"{worker:05}-{number:03}")
        with self.alone():
            folder.make()
            folder.lock()
        return folder

    def seal(self, db: psycopg.Connection, folder: RoundFolder) -> int:
        """Seal the WARC files of a round that has ended, cut back to what was recorded,
        and delete the rest; returns their number. If that fails, the folder stays, and
        is tried again."""
        with self._sealing:
            rows = db.execute(_UNSEALED, (folder.prefix,)).fetchall()
            try:
                for name, length, place in rows:
                    source = Path(place)
                    if source.exists() and source.stat().st_size > length:
                        os.truncate(source, length)
                    self._seal_one(db, source, name, length)
            except OpilioError as error:
                log.warning("%s; it is tried again", error)
                folder.unlock()
                return 0
            folder.unlock()
            shutil.rmtree(folder.path, ignore_errors=True)
        return len(rows)

    def seal_finished(
        self, db: psycopg.Connection, folder: RoundFolder, current: str
    ) -> int:
        """Seal the complete WARC files of a running round; `current` is being
        written. Returns their number."""
        count = 0
        with self._sealing:
            for name, length, place in db.execute(_UNSEALED, (folder.prefix,)):
                source = Path(place)
                if source.name == current or not source.exists():
                    continue
                if source.stat().st_size != length:
                    continue  # the rest is not recorded yet
                sealed = self._seal_one(db, source, name, length)
                if self.place and sealed:
                    known = read_places(source.parent)
                    write_places(source.parent, {**known, source.name: sealed})
                    source.unlink()
                count += 1
        return count

    def _seal_one(
        self, db: psycopg.Connection, source: Path, name: str, length: int
    ) -> str:
        """Copy a part to its place, and enter that; may be done again after a crash.
        Returns the place; "": the part is not here."""
        if self.place:
            target = PartTarget(self.place, crawl_id(db))
            place = target.add(source, name, length) if source.exists() else ""
            place = place or target.find(name, length)
        else:
            place = self._keep(source, name, length)
        if place:
            db.execute(_SEAL, (place, name))
        return place

    def _keep(self, source: Path, name: str, length: int) -> str:
        """Let a part stay on this machine, in `warc/`; returns its place."""
        target = self.warcs / name
        if source.exists() and not target.exists():
            self.warcs.mkdir(parents=True, exist_ok=True)
            draft = target.with_name(f"{name}.new")
            draft.unlink(missing_ok=True)
            try:
                draft.hardlink_to(source)
            except OSError as error:
                if error.errno not in (errno.EXDEV, errno.EPERM, errno.ENOTSUP):
                    raise OpilioError(f"{target} cannot be made: {error}") from error
                shutil.copyfile(source, draft)
            draft.replace(target)
            sync_folder(self.warcs)
        is_whole = target.exists() and target.stat().st_size == length
        return str(target.absolute()) if is_whole else ""

    def adopt(self, db: psycopg.Connection) -> int:
        """Seal the WARC files of workers that died here; returns their number."""
        left = []
        with self.alone():
            for path in sorted(self.work.iterdir()):
                folder = RoundFolder(path)
                # It works, or is not ours.
                with suppress(BadInput, OSError):
                    folder.lock()
                    left.append(folder)
        return sum(self.seal(db, folder) for folder in left)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep out other workers that make or adopt folders."""
        self.work.mkdir(parents=True, exist_ok=True)
        with (self.work / ".lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def name_of_home(home: Path) -> str:
    """The machine and the folder of workers, as others know them."""
    return f"{platform.node()}:{home.absolute()}"
