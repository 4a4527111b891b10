"""A crawl.db with pages that can be searched, without a crawl."""

import sqlite3
from pathlib import Path

from opilio.records import ConceptWords, ReaderSetup, Response
from opilio.search.concepts import Concepts
from opilio.search.index import Index
from opilio.search.searcher import Searcher
from opilio.storage.database import open_database
from opilio.store.index_entries import drop_entry, save_entry
from opilio.subject.page_reader import make_reader

HARDWARE = {
    "CPU": ConceptWords(("cpu", "processor"), {"Computer": 1}, {}),
    "Memory": ConceptWords(("memori", "ram"), {"Computer": 1}, {}),
    "Computer": ConceptWords(
        ("comput",), {"CPU": 1, "Memory": 1}, {"CPU": 0.7, "Memory": 0.7}
    ),
}
TERMS = ("cpu", "processor", "memory", "ram", "computer")


class Pages:
    """Pages to be searched, added one by one."""

    def __init__(self, folder: Path, terms: tuple[str, ...] = TERMS) -> None:
        self.folder = folder
        self.db: sqlite3.Connection = open_database(folder / "crawl.db")
        self.reader = make_reader(
            ReaderSetup(terms, "en", overlapping=True, sequence=True)
        )
        self.count = 0
        self.db.execute("INSERT INTO host (id, name, domain) VALUES (1, 'a.test', '')")
        self.db.execute("INSERT INTO host (id, name, domain) VALUES (2, 'b.test', '')")

    def add(
        self,
        text: str,
        title: str = "",
        *,
        host: int = 1,
        score: float = 0.5,
        at: float = 0.0,
        language: str = "en",
        copy_of: int | None = None,
    ) -> int:
        """Keep a page; its id."""
        self.count += 1
        url = f"http://{'ab'[host - 1]}.test/{self.count}"
        body = f"<html lang={language}><title>{title}</title><p>{text}"
        headers = [("content-type", "text/html; charset=utf-8")]
        page = self.reader.read(Response(url, 200, headers, body.encode(), at))
        self.db.execute(
            "INSERT INTO link (id, url, fingerprint, host, state, promise) "
            "VALUES (?, ?, ?, ?, ?, 0)",
            (self.count, url, self.count, host, "copy" if copy_of else "kept"),
        )
        self.db.execute(
            "INSERT INTO page (id, number, fetched_at, status, language, title, bytes, "
            "score, copy_of, simhash) VALUES (?, ?, ?, 200, ?, ?, 0, ?, ?, ?)",
            (self.count, self.count, at, language, title, score, copy_of, page.simhash),
        )
        if not copy_of:
            save_entry(self.db, self.count, page)
        return self.count

    def drop(self, page: int) -> None:
        """Let a page no longer be found."""
        drop_entry(self.db, page)

    def searcher(self, concepts: Concepts | None = None) -> Searcher:
        """A search over them."""
        known = concepts or Concepts()
        return Searcher(Index(self.db, self.folder / "index", known.kept), known)

    def found(self, query: str, concepts: Concepts | None = None) -> list[int]:
        """The ids of the pages that answer a query, best first."""
        answer = self.searcher(concepts).search(query)
        return [int(hit.url.rpartition("/")[2]) for hit in answer.hits]
