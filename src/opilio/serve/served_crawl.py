"""A crawl that is served: its files, and what is kept open between requests."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from opilio.assembly.plan import Plan, load_plan
from opilio.assembly.search import open_search
from opilio.records import Subject
from opilio.serve.facets import DetailsMemory
from opilio.serve.figures import CrawlFigures, FiguresKeeper
from opilio.storage.database import open_database
from opilio.store.folder import CrawlFolder
from opilio.subject.current import current_subject

if TYPE_CHECKING:
    from opilio.search.searcher import Searcher

MOST_IDLE = 8  # connections that are kept open
T = TypeVar("T")


class ServedCrawl:
    """A crawl with what is kept open between requests: figures and search index.

    One thread at a time uses each of them; pages share some connections. All are
    read-only and hold no transaction between two statements, so they
    never keep a crawl from writing.
    """

    def __init__(self, name: str, folder: CrawlFolder, log: Path) -> None:
        self.name = name
        self.folder = folder
        self.log = log  # of processes that the server starts
        self._place = os.open(folder.path, os.O_RDONLY | os.O_DIRECTORY)
        self._figures = FiguresKeeper(name, folder, log)
        self._counting = threading.Lock()
        self._searching = threading.Lock()
        self._open = ExitStack()
        self._searcher: Searcher | None = None
        self._idle: list[sqlite3.Connection] = []  # connections for any thread
        self.details = DetailsMemory()  # used while the search index is
        self._memory: dict[str, tuple[object, Any]] = {}
        self._plan: tuple[int, Plan] | None = None
        self._subject: tuple[tuple[int, ...], Subject] | None = None

    @property
    def plan(self) -> Plan:
        """The topic and settings of the crawl, as they are now."""
        changed = self.folder.settings.stat().st_mtime_ns
        if self._plan is None or self._plan[0] != changed:
            self._plan = changed, load_plan(self.folder)
        return self._plan[1]

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection to crawl.db that cannot write, with rows by name."""
        try:
            db = self._idle.pop()
        except IndexError:
            path = self.folder.require().database
            db = open_database(path, read_only=True, any_thread=True)
            db.row_factory = sqlite3.Row
        try:
            yield db
        except BaseException:  # it may still be reading
            db.close()
            raise
        if len(self._idle) < MOST_IDLE:
            self._idle.append(db)
        else:
            db.close()

    def subject(self, db: sqlite3.Connection) -> Subject:
        """The compiled topic, with what people asked for last."""
        files = (self.folder.subject, self.folder.settings, self.folder.queries)
        changed = tuple(f.stat().st_mtime_ns if f.exists() else 0 for f in files)
        if self._subject is None or self._subject[0] != changed:
            found = current_subject(self.plan.topic, self.folder, db)
            self._subject = changed, found
        return self._subject[1]

    def figures(self) -> CrawlFigures:
        """The figures of the crawl, at most half a second old while it is small."""
        with self._counting:
            return self._figures.now()

    def search(self, work: Callable[[Searcher], T]) -> T:
        """Do something with the search index, which has all that was committed."""
        with self._searching:
            if self._searcher is None:
                self._searcher = self._open.enter_context(open_search(self.folder))
            else:
                self._searcher.refresh()
            return work(self._searcher)

    def is_replaced(self) -> bool:
        """Whether the folder was deleted, and perhaps made again."""
        try:
            return not os.path.samestat(os.fstat(self._place), self.folder.path.stat())
        except OSError:
            return True

    def cached(self, name: str, key: object, make: Callable[[], T]) -> T:
        """What `make` returns, computed again only when the key changes."""
        known = self._memory.get(name)
        if known is None or known[0] != key:
            known = self._memory[name] = key, make()
        made: T = known[1]
        return made

    def close(self) -> None:
        """Close the connections."""
        with self._counting:
            self._figures.close()
        with self._searching:
            self._searcher = None
            self._open.close()
        while self._idle:
            self._idle.pop().close()
        os.close(self._place)
