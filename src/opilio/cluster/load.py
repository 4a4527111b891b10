"""Makes a crawl.db from what PostgreSQL has of some shards, or of all."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from opilio.cluster.folder_tables import (
    FOR_WORKERS,
    load_state,
    pull_rest,
    pull_same,
    write_file,
)
from opilio.cluster.tables import LINK_COLUMNS, PAGE_COLUMNS
from opilio.storage.database import Database, open_database
from opilio.storage.seen_urls import SeenUrls
from opilio.store.folder import CrawlFolder

if TYPE_CHECKING:
    import psycopg

AT_ONCE = 1000  # rows that are fetched together
CACHE = 4096  # KB
Rows = Iterator[tuple[Any, ...]]


class Loader:
    """Copies rows of some shards into a new crawl.db, where links get ids."""

    def __init__(
        self,
        source: psycopg.Connection,
        target: Database,
        folder: CrawlFolder,
        shards: Iterable[int],
    ) -> None:
        self.source = source
        self.target = target
        self.folder = folder
        self.shards = list(shards)
        self.hosts: dict[str, int] = {}
        self.known = SeenUrls()  # fingerprint -> id
        self.links: Mapping[int, int] = {}  # the same, for those who ask one by one

    def load(self) -> None:
        """Copy what a worker needs to continue."""
        self._hosts()
        self._links()
        self._pages()
        self._copy("standing", "domain, branch, support, is_established")
        self._copy("domain_words", "domain, stale, words")
        robots = "origin, status, fetched_at, expires_at, body, failures"
        self._copy("robots", robots)
        self._copy("tdmrep", "origin, status, fetched_at, expires_at, body")
        self._sites()
        for table in FOR_WORKERS:
            pull_same(self.source, self.target, table)
        load_state(self.source, self.target)
        for name, content in self.source.execute("SELECT name, content FROM file"):
            write_file(self.folder, name, content)

    def load_rest(self) -> None:
        """Copy what only readers of a crawl need."""
        self.links = dict(self.target.execute("SELECT fingerprint, id FROM link"))
        self._put(
            "INSERT INTO edge VALUES (?, ?)",
            (
                (self.links[page], self.links[link])
                for page, links in self.rows("edges", "page, links", "page")
                for link in links
                if link in self.links
            ),
        )
        self._of_pages("extracted", "packed")
        rows = self.rows("indexed", "page, words, features", "number")
        self._put(
            "INSERT INTO indexed (page, words, features) VALUES (?, ?, ?)",
            ((self.links[page], words, features) for page, words, features in rows),
        )
        self._of_pages("page_profile", "modified, in_domain, concepts, class, headings")
        pull_rest(self.source, self.target, self.folder, self.links)

    def rows(self, table: str, columns: str, order: str) -> Rows:
        """The rows of a table, not all of them in memory."""
        with self.source.cursor(name=f"load_{table}") as cursor:
            cursor.itersize = AT_ONCE
            yield from cursor.execute(
                f"SELECT {columns} FROM {table} WHERE shard = ANY(%s) ORDER BY {order}",
                (self.shards,),
            )

    def _hosts(self) -> None:
        columns = "name, domain, ip, delay, rest_until, taken, why, silent_since"
        found = list(self.rows("host", columns, "number"))
        self.hosts = {row[0]: id for id, row in enumerate(found, 1)}
        self._put(
            "INSERT INTO host VALUES (?, ?, ?, ?, ?, ?, ?)",
            ((self.hosts[row[0]], *row[:6]) for row in found),
        )
        told = ((self.hosts[name], why) for name, *_, why, _ in found if why)
        self._put("INSERT INTO rest VALUES (?, ?)", told)
        silent = ((self.hosts[row[0]], row[-1]) for row in found if row[-1] is not None)
        self._put("INSERT INTO silent_host VALUES (?, ?)", silent)

    def _links(self) -> None:
        columns = ", ".join(LINK_COLUMNS)
        found_at = LINK_COLUMNS.index("found_on")
        retries: list[tuple[int, float]] = []
        late = array("q")  # fingerprint of the source, id, fingerprint ...

        def made() -> Rows:
            last = 0
            for some in in_batches(self.rows("link", columns, "number")):
                ids = range(last + 1, last + len(some) + 1)
                self.known.put({row[0]: id for row, id in zip(some, ids, strict=True)})
                sources = self.known.find([row[found_at] or 0 for row in some])
                for id, row, source in zip(ids, some, sources, strict=True):
                    fingerprint, url, host, *rest, found_on, anchor, parts, due = row
                    if due is not None:
                        retries.append((id, due))
                    if found_on is not None and not source:
                        late.extend((found_on, id))
                    yield (
                        *(id, url, fingerprint, self.hosts[host], *rest),
                        *(source if found_on is not None else 0, anchor, parts),
                    )
                last = ids[-1]

        marks = ", ".join("?" * 15)
        self._put(f"INSERT INTO link VALUES ({marks})", made())
        self._put("INSERT INTO retry VALUES (?, ?)", retries)
        for start in range(0, len(late), 2 * AT_ONCE):
            # A link may be found again, on a page that was found later.
            some = late[start : start + 2 * AT_ONCE]
            sources = self.known.find(some[::2].tolist())
            self._put(
                "UPDATE link SET found_on = ? WHERE id = ?",
                (pair for pair in zip(sources, some[1::2], strict=True) if pair[0]),
            )

    def _pages(self) -> None:
        columns = ", ".join(PAGE_COLUMNS)
        place = PAGE_COLUMNS.index("copy_of")

        def made() -> Rows:
            number = 0
            for some in in_batches(self.rows("page", columns, "number")):
                ids = self.known.find([row[0] for row in some])
                originals = self.known.find([row[place] or 0 for row in some])
                for id, original, row in zip(ids, originals, some, strict=True):
                    number += 1
                    copy_of = original or None if row[place] else None
                    yield id, number, *row[1:place], copy_of, *row[place + 1 :]

        marks = ", ".join("?" * 22)
        self._put(f"INSERT INTO page VALUES ({marks})", made())

    def _sites(self) -> None:
        columns = "host, pages, in_domain, concepts, modified, entry, root"
        rows = list(self.rows("site", columns, "host"))
        entries = self.known.find([row[-2] or 0 for row in rows])
        roots = self.known.find([row[-1] or 0 for row in rows])
        self._put(
            "INSERT INTO site VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (self.hosts[host], *counts, entry, root or None)
                for (host, *counts, _, _), entry, root in zip(
                    rows, entries, roots, strict=True
                )
            ),
        )

    def _of_pages(self, table: str, columns: str) -> None:
        rows = self.rows(table, f"page, {columns}", "page")
        marks = ", ".join("?" * (2 + columns.count(",")))
        self._put(
            f"INSERT INTO {table} VALUES ({marks})",
            ((self.links[page], *cells) for page, *cells in rows),
        )

    def _copy(self, table: str, columns: str) -> None:
        marks = ", ".join("?" * (1 + columns.count(",")))
        self._put(
            f"INSERT INTO {table} ({columns}) VALUES ({marks})",
            self.rows(table, columns, columns.partition(",")[0]),
        )

    def _put(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        self.target.executemany(statement, rows)


def in_batches(rows: Rows) -> Iterator[list[tuple[Any, ...]]]:
    """The same rows, many at a time."""
    while some := list(islice(rows, AT_ONCE)):
        yield some


def spare_memory(db: Database) -> None:
    """Let SQLite keep little of a crawl.db in memory: a worker has its links there
    already, and reads few rows."""
    db.execute(f"PRAGMA cache_size = -{CACHE}")


def load_shards(
    source: psycopg.Connection,
    folder: CrawlFolder,
    shards: Iterable[int],
    also: Callable[[Loader], None] = lambda _: None,
) -> None:
    """Make the crawl.db of a folder, as of one moment; `also` loads more than workers
    need."""
    target = open_database(folder.database)
    spare_memory(target)
    try:
        target.begin()
        with source.transaction():
            source.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            loader = Loader(source, target, folder, shards)
            loader.load()
            also(loader)
        target.commit()
    finally:
        target.close()
