"""A crawl that is served: its files, and what is kept open between requests."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from opilio.assembly.plan import Plan, load_plan
from opilio.assembly.search import open_search
from opilio.records import Subject
from opilio.serve.figures import CrawlFigures, FiguresKeeper
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import opened
from opilio.subject.current import current_subject

if TYPE_CHECKING:
    from opilio.search.searcher import Searcher

T = TypeVar("T")


class ServedCrawl:
    """A crawl with what is kept open between requests: figures and search index.

    Both have a thread of their own, since SQLite's connections belong to threads. All
    connections are read-only and hold no transaction between two statements, so they
    never keep a crawl from writing.
    """

    def __init__(self, name: str, folder: CrawlFolder, log: Path) -> None:
        self.name = name
        self.folder = folder
        self.log = log  # of processes that the server starts
        self._figures = FiguresKeeper(name, folder)
        self._counting = ThreadPoolExecutor(1, f"figures of {name}")
        self._searching = ThreadPoolExecutor(1, f"search of {name}")
        self._open = ExitStack()
        self._searcher: Searcher | None = None
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
        with opened(self.folder) as db:
            yield db

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
        return self._counting.submit(self._figures.now).result()

    def search(self, work: Callable[[Searcher], T]) -> T:
        """Do something with the search index, which has all that was committed."""
        return self._searching.submit(self._search, work).result()

    def _search(self, work: Callable[[Searcher], T]) -> T:
        if self._searcher is None:
            self._searcher = self._open.enter_context(open_search(self.folder))
        else:
            self._searcher.refresh()
        return work(self._searcher)

    def cached(self, name: str, key: object, make: Callable[[], T]) -> T:
        """What `make` returns, computed again only when the key changes."""
        known = self._memory.get(name)
        if known is None or known[0] != key:
            known = self._memory[name] = key, make()
        made: T = known[1]
        return made

    def close(self) -> None:
        """Close the connections, each in its thread."""
        self._counting.submit(self._figures.close)
        self._searching.submit(self._open.close)
        self._counting.shutdown()
        self._searching.shutdown()
