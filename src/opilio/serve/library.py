"""Finds the crawls in the folder that is served."""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path

from opilio.errors import BadInput, OpilioError
from opilio.serve.served_crawl import ServedCrawl
from opilio.store.folder import CrawlFolder

COUNTED_FIRST = 8  # crawls
LOOK_AGAIN = 1.0  # seconds between two looks at the folder
MOST = 1000  # crawls of a folder that are listed
NEW_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,49}")


class Library:
    """The crawls of a folder, by name; the folder may itself be a crawl.

    Requests name crawls by names that are looked up here, never by paths.
    """

    def __init__(self, root: Path) -> None:
        if not root.is_dir():
            raise BadInput(f"{root} is not a folder; name a crawl or a folder of them")
        self.root = root.resolve()
        self.is_single = CrawlFolder(self.root).exists
        self._opened: dict[str, ServedCrawl] = {}
        self._looked_at = 0.0
        self._lock = threading.Lock()  # requests are answered by many threads

    def crawls(self) -> dict[str, ServedCrawl]:
        """The crawls that are there now, by name."""
        with self._lock:
            if not self._opened or time.monotonic() - self._looked_at > LOOK_AGAIN:
                self._look()
                self._looked_at = time.monotonic()
            return dict(sorted(self._opened.items()))

    def _look(self) -> None:
        """Open the crawls that are new, and close those that are gone or were made
        again."""
        folders = [self.root] if self.is_single else self._subfolders()
        names = {folder.name: CrawlFolder(folder) for folder in folders}
        for name, crawl in list(self._opened.items()):
            if name not in names or crawl.is_replaced():
                del self._opened[name]
                threading.Thread(target=crawl.close, daemon=True).start()  # may wait
        for name in names.keys() - self._opened.keys():
            log = self.log_of(names[name].path)
            self._opened[name] = ServedCrawl(name, names[name], log)

    def count_first(self) -> None:
        """Count the pages and links of some crawls, before somebody asks."""
        for crawl in list(self.crawls().values())[:COUNTED_FIRST]:
            with suppress(OpilioError, sqlite3.Error, OSError, RuntimeError):
                crawl.figures()

    def _subfolders(self) -> list[Path]:
        found = []
        for path in sorted(self.root.iterdir()):
            inside = path.resolve().is_relative_to(self.root)  # else a link elsewhere
            if path.is_dir() and inside and CrawlFolder(path).exists:
                found.append(path)
        return found[:MOST]

    def log_of(self, folder: Path) -> Path:
        """The log file of the processes of a crawl: beside its folder, or in it if it
        alone is served."""
        beside = folder.with_name(f"{folder.name}.log")
        return folder / "run.log" if self.is_single else beside

    def find(self, name: str) -> ServedCrawl | None:
        """The crawl of this name, if there is one."""
        return self.crawls().get(name)

    def forget(self) -> None:
        """Look at the folder again at the next request."""
        self._looked_at = 0.0

    def new_folder(self, name: str) -> Path:
        """The folder for a new crawl, with a number if the name is taken; BadInput for
        what cannot be a name."""
        if self.is_single:
            raise BadInput(
                "new crawls need a folder to be in, but a single crawl is served here; "
                "run `opilio serve` on the folder above it"
            )
        if not NEW_NAME.fullmatch(name):
            raise BadInput(
                f"{name!r} cannot be the name of a crawl; use small letters, digits "
                "and hyphens, at most 50"
            )
        for number in range(1, MOST):
            path = self.root / (f"{name}-{number}" if number > 1 else name)
            if not path.exists() and not path.with_suffix(".toml").exists():
                return path
        raise BadInput(f"there are too many crawls named {name!r}; choose another name")

    def close(self) -> None:
        """Close all crawls."""
        for crawl in self._opened.values():
            crawl.close()
        self._opened = {}
