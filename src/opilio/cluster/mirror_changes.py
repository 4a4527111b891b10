"""Copies rows of PostgreSQL that have changed into the crawl.db of a mirror."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from opilio.cluster.folder_tables import MESSAGE, WAITING, write_file
from opilio.cluster.tables import LINK_COLUMNS, PAGE_COLUMNS
from opilio.storage.database import Database
from opilio.store.folder import CrawlFolder
from opilio.store.inbox import SCHEMA as INBOX
from opilio.store.inbox import connect
from opilio.store.index_entries import drop_entry

if TYPE_CHECKING:
    import psycopg

AT_ONCE = 10_000  # rows that are fetched together
Row = tuple[Any, ...]
WHOLE = {  # tables whose rows are the same here and there
    "standing": "domain, branch, support, is_established",
    "robots": "origin, status, fetched_at, expires_at, body, failures",
    "tdmrep": "origin, status, fetched_at, expires_at, body",
    "domain_words": "domain, stale, words",
}


class MirrorChanges:
    """The rows that were written by transactions from `since` on."""

    def __init__(
        self,
        source: psycopg.Connection,
        target: Database,
        folder: CrawlFolder,
        since: int,
    ) -> None:
        self.source = source
        self.target = target
        self.folder = folder
        self.since = since
        self.new: set[int] = set()  # pages that were not there before

    def copy(self) -> None:
        """Copy everything, in the caller's transactions."""
        self.forget_lost()
        self.hosts()
        self.links()
        self.pages()
        self.edges()
        for table, columns in WHOLE.items():
            self.put(table, self.rows(table, columns))
        self.of_pages("extracted", "packed")
        self.of_pages("page_profile", "modified, in_domain, concepts, class, headings")
        self.of_pages("label", "relevant, at")
        self.indexed()
        self.sites()
        self.messages()
        self.put("event", self.rows("event", "id, at, kind, detail"))
        self.put("warc", self.rows("part", "name, length"))
        self.put("meta", self.source.execute("SELECT key, value FROM meta"))
        self.target.execute("DELETE FROM host_rule")
        self.put("host_rule", self.source.execute("SELECT * FROM host_rule"))
        for name, content in self.rows("file", "name, content"):
            write_file(self.folder, name, content)

    def rows(self, table: str, columns: str, order: str = "") -> Iterator[Row]:
        """The rows of a table that are new."""
        sort = f" ORDER BY {order}" if order else ""
        with self.source.cursor(name=f"changed_{table}") as cursor:
            cursor.itersize = AT_ONCE
            query = f"SELECT {columns} FROM {table} WHERE changed >= %s{sort}"
            yield from cursor.execute(query.encode(), (self.since,))

    def put(self, table: str, rows: Iterable[Row]) -> None:
        """Insert or replace whole rows."""
        for row in rows:
            marks = ", ".join("?" * len(row))
            self.target.execute(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", row)

    def one(self, query: str, *values: object) -> Any:
        """The first cell of the first row; None if there is none."""
        row = self.target.execute(query, values).fetchone()
        return row[0] if row else None

    def link_id(self, fingerprint: int | None) -> int | None:
        """The id of a link here."""
        if fingerprint is None:
            return None
        query = "SELECT id FROM link WHERE fingerprint = ?"
        found: int | None = self.one(query, fingerprint)
        return found

    def host_id(self, name: str) -> int:
        """The id of a host here."""
        return int(self.one("SELECT id FROM host WHERE name = ?", name))

    def forget_lost(self) -> None:
        """Delete pages whose WARC files were lost; those that were fetched again come
        again."""
        for (fingerprint,) in list(self.rows("lost_page", "fingerprint")):
            id = self.link_id(fingerprint)
            for table in ("page", "extracted", "page_profile"):
                self.target.execute(f"DELETE FROM {table} WHERE id = ?", (id,))
            self.target.execute("DELETE FROM edge WHERE page = ?", (id,))
            drop_entry(self.target, id or 0)

    def hosts(self) -> None:
        columns = "name, domain, ip, delay, rest_until, taken, why, silent_since"
        for name, *cells, why, since in self.rows("host", columns, "number"):
            id = self.one("SELECT id FROM host WHERE name = ?", name)
            id = id or self.one("SELECT coalesce(max(id), 0) + 1 FROM host")
            self.put("host", [(id, name, *cells)])
            for table, value in (("rest", why), ("silent_host", since)):
                self.target.execute(f"DELETE FROM {table} WHERE host = ?", (id,))
                if value is not None:
                    self.put(table, [(id, value)])

    def links(self) -> None:
        late: list[tuple[int, int]] = []  # fingerprint of the page it was found on, id
        for row in self.rows("link", ", ".join(LINK_COLUMNS), "number"):
            fingerprint, url, host, *rest, found_on, anchor, parts, due = row
            id = self.link_id(fingerprint)
            id = id or self.one("SELECT coalesce(max(id), 0) + 1 FROM link")
            late.append((found_on, id))
            cells = (id, url, fingerprint, self.host_id(host), *rest)
            self.put("link", [(*cells, 0, anchor, parts)])
            self.target.execute("DELETE FROM retry WHERE link = ?", (id,))
            if due is not None:
                self.put("retry", [(id, due)])
        for found_on, id in late:
            self.target.execute(
                "UPDATE link SET found_on = ? WHERE id = ?",
                (self.link_id(found_on) or 0, id),
            )

    def pages(self) -> None:
        place = PAGE_COLUMNS.index("copy_of")
        known = []
        for row in self.rows("page", ", ".join(PAGE_COLUMNS), "number"):
            id = self.link_id(row[0])
            number = self.one("SELECT number FROM page WHERE id = ?", id)
            if number is None:
                self.new.add(id or 0)
                number = self.one("SELECT coalesce(max(number), 0) + 1 FROM page")
            else:
                known.append(row[0])
            cells = (*row[1:place], self.link_id(row[place]), *row[place + 1 :])
            self.put("page", [(id, number, *cells)])
        # A label may have taken a page out of the index.
        found = self.source.execute(
            "SELECT page FROM indexed WHERE page = ANY(%s)", (known,)
        )
        left = {page for (page,) in found}
        for fingerprint in set(known) - left:
            drop_entry(self.target, self.link_id(fingerprint) or 0)

    def edges(self) -> None:
        for page, links in self.rows("edges", "page, links"):
            id = self.link_id(page)
            if id in self.new:
                to = (self.link_id(link) for link in links)
                self.target.executemany(
                    "INSERT INTO edge VALUES (?, ?)",
                    [(id, link) for link in to if link],
                )

    def of_pages(self, table: str, columns: str) -> None:
        rows = self.rows(table, f"page, {columns}")
        self.put(table, ((self.link_id(page), *cells) for page, *cells in rows))

    def indexed(self) -> None:
        for page, words, features in self.rows(
            "indexed", "page, words, features", "number"
        ):
            id = self.link_id(page) or 0
            if self.one("SELECT words FROM indexed WHERE page = ?", id) != words:
                drop_entry(self.target, id)
                self.target.execute(
                    "INSERT INTO indexed (page, words, features) VALUES (?, ?, ?)",
                    (id, words, features),
                )

    def sites(self) -> None:
        columns = "host, pages, in_domain, concepts, modified, entry, root"
        self.put(
            "site",
            (
                (
                    self.host_id(host),
                    *counts,
                    self.link_id(entry) or 0,
                    self.link_id(root),
                )
                for host, *counts, entry, root in self.rows("site", columns)
            ),
        )

    def messages(self) -> None:
        waiting = []
        for key, at, taken_at, body, *rest in self.rows(
            "message", ", ".join(MESSAGE), "id"
        ):
            if rest[0] == WAITING:
                waiting.append((key, at, body))
                continue
            id = self.one("SELECT id FROM message WHERE key = ?", key)
            id = id or self.one("SELECT coalesce(max(id), 0) + 1 FROM message")
            self.put("message", [(id, key, at, taken_at, body, *rest)])
        if waiting:
            inbox = connect(self.folder.inbox)
            inbox.execute(INBOX)
            inbox.executemany(
                "INSERT OR IGNORE INTO message (key, at, body) VALUES (?, ?, ?)",
                waiting,
            )
            inbox.close()
