"""Makes a crawl.db from what PostgreSQL has of some shards, or of all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
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
from opilio.store.folder import CrawlFolder

if TYPE_CHECKING:
    import psycopg

AT_ONCE = 10_000  # rows that are fetched together
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
        self.links: dict[int, int] = {}  # fingerprint -> id

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
        retries: list[tuple[int, float]] = []
        late: list[tuple[int, int]] = []  # fingerprint of the source, id

        def made() -> Rows:
            for id, row in enumerate(self.rows("link", columns, "number"), 1):
                fingerprint, url, host, *rest, found_on, anchor, parts, due = row
                self.links[fingerprint] = id
                if due is not None:
                    retries.append((id, due))
                source = self.links.get(found_on, 0) if found_on is not None else 0
                if found_on is not None and not source:
                    late.append((found_on, id))
                yield (
                    *(id, url, fingerprint, self.hosts[host], *rest),
                    *(source, anchor, parts),
                )

        marks = ", ".join("?" * 15)
        self._put(f"INSERT INTO link VALUES ({marks})", made())
        self._put("INSERT INTO retry VALUES (?, ?)", retries)
        self._put(  # a link may be found again, on a page that was found later
            "UPDATE link SET found_on = ? WHERE id = ?",
            ((self.links[page], id) for page, id in late if page in self.links),
        )

    def _pages(self) -> None:
        columns = ", ".join(PAGE_COLUMNS)
        place = PAGE_COLUMNS.index("copy_of")

        def made() -> Rows:
            for number, row in enumerate(self.rows("page", columns, "number"), 1):
                original = self.links.get(row[place]) if row[place] else None
                cells = (*row[1:place], original, *row[place + 1 :])
                yield self.links[row[0]], number, *cells

        marks = ", ".join("?" * 22)
        self._put(f"INSERT INTO page VALUES ({marks})", made())

    def _sites(self) -> None:
        columns = "host, pages, in_domain, concepts, modified, entry, root"
        self._put(
            "INSERT INTO site VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    self.hosts[host],
                    *counts,
                    self.links.get(entry, 0),
                    self.links.get(root),
                )
                for host, *counts, entry, root in self.rows("site", columns, "host")
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


def load_shards(
    source: psycopg.Connection,
    folder: CrawlFolder,
    shards: Iterable[int],
    also: Callable[[Loader], None] = lambda _: None,
) -> None:
    """Make the crawl.db of a folder, as of one moment; `also` loads more than workers
    need."""
    target = open_database(folder.database)
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
