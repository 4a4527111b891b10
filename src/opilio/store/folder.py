"""The folder of a crawl: its paths, its lock and its free space."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import time
from pathlib import Path
from typing import IO

from opilio.errors import BadInput

DATABASES = ("postgresql://", "postgres://")


def is_database(name: object) -> bool:
    """Whether this names the database of a crawl on many machines instead of a folder.

    >>> is_database("postgresql://me@db.test/bees"), is_database("bees-crawl")
    (True, False)
    """
    return str(name).startswith(DATABASES)


class CrawlFolder:
    """The folder with everything of one crawl."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.settings = path / "crawl.toml"
        self.database = path / "crawl.db"
        self.repaired = path / "crawl.db.repaired"  # takes its place in a moment
        self.warcs = path / "warc"
        self.models = path / "models"
        self.subject = self.models / "brief.msgpack"  # named so in version 0.1
        self.index = path / "index"
        self.in_hand = path / "in-hand"
        self.queries = path / "queries.txt"
        self.inbox = path / "inbox.db"
        self.keywords = path / "keywords.jsonl"  # how they changed, and when
        self.ontology = path / "ontology"  # what was decided about proposals
        self.locked_at = 0.0  # when this process got its lock, seconds since 1970
        self._lock: IO[str] | None = None

    @property
    def exists(self) -> bool:
        """Whether there is a crawl here already."""
        return self.settings.is_file()

    def require(self) -> CrawlFolder:
        """The folder itself; BadInput if it holds no crawl."""
        if not self.exists or not self.database.is_file():
            raise BadInput(
                f"{self.path} holds no crawl (no crawl.toml and crawl.db in it); "
                "start one with: opilio crawl TOPIC.toml -o DIR"
            )
        self.refuse_odd_files()
        return self

    def refuse_odd_files(self) -> None:
        """Raise BadInput if something here is neither a file nor a folder: reading a
        pipe or a device may never end."""
        for folder in (self.path, self.warcs, self.models, self.index, self.ontology):
            if not folder.is_dir():
                continue
            for path in folder.iterdir():
                try:
                    mode = path.stat().st_mode
                except FileNotFoundError:  # a running crawl has deleted it
                    continue
                except OSError:  # links in a ring
                    mode = 0
                if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                    raise BadInput(f"{path} is neither a file nor a folder; delete it")

    def check_free(self) -> None:
        """Raise BadInput if the path holds something other than a crawl."""
        if self.path.exists() and not self.path.is_dir():
            raise BadInput(f"{self.path} is a file; choose a folder with -o DIR")
        if (
            self.path.is_dir()
            and not self.exists
            and any(map(is_foreign, self.path.iterdir()))
        ):
            raise BadInput(
                f"{self.path} is not empty and holds no crawl; choose another folder "
                "with -o DIR"
            )

    def make(self) -> None:
        """Create the folder, if it does not exist."""
        try:
            self.warcs.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(
                f"{self.path} cannot be made: {error.strerror}; choose another folder "
                "with -o DIR"
            ) from None

    def clear(self) -> None:
        """Delete what a crawl has written here, and nothing else."""
        for folder in (self.warcs, self.models, self.index):
            shutil.rmtree(folder, ignore_errors=True)
        databases = (self.database.name, self.repaired.name, self.inbox.name)
        files = [name + end for name in databases for end in ("", "-wal", "-shm")]
        for name in ("crawl.toml", "in-hand", *files):
            (self.path / name).unlink(missing_ok=True)

    def lock(self) -> None:
        """Keep other processes out until `unlock`.

        The kernel releases the lock when the process ends, also after kill -9.
        """
        if self._lock:
            return
        if (self.path / "workers.json").exists():
            raise BadInput(
                f"{self.path} is a copy of a crawl on many machines, which only its "
                "workers change; make one of your own with: opilio pull DSN DIR"
            )
        self.refuse_odd_files()
        self.refuse_symlinks()
        file = (self.path / "lock").open("a+", encoding="ascii")
        self.locked_at = time.time()  # before others can see it
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            owner = file.read().strip() or "unknown"
            file.close()
            raise BadInput(
                f"{self.path} is being crawled by another process (id {owner}); wait "
                "for it, stop it, or choose another folder with -o DIR"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        self._lock = file

    def refuse_symlinks(self) -> None:
        """Raise BadInput if a file that is written here is a link to another place: a
        folder may come from a stranger."""
        own = ("lock", *(self.database.name + end for end in ("", "-wal", "-shm")))
        files = [self.path / name for name in own]
        files += [self.in_hand, self.keywords, self.inbox]
        if self.warcs.is_dir():
            files += self.warcs.iterdir()
        for file in files:
            if file.is_symlink():
                raise BadInput(
                    f"{file} is a symbolic link, and Opilio would write to what it "
                    "points at; replace it by the file itself"
                )

    def unlock(self) -> None:
        """Release the lock."""
        if self._lock:
            self._lock.close()
            self._lock = None


def is_foreign(path: Path) -> bool:
    """Whether this cannot be left over from a crawl that was killed at its start."""
    if path.name in ("warc", "models"):
        return any(path.iterdir())
    return path.name not in ("lock", "crawl.new", "work")  # the last of workers
