"""Reads the pages of a web once, and shares them among all trials.

Strategies need different parts of a page. Every page is read with all parts that any of
them may need, so one reading serves all trials with the same terms. There is one file
per reader setup, which processes share.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import msgspec
import xxhash

from opilio.read.html import PageReader
from opilio.read.main_content.extract import extract_content
from opilio.records import MainText, Page, ReaderSetup, Reading, Response
from opilio.storage.packed import pack_extraction
from opilio.subject.page_reader import make_reader
from opilio.text import urls

decode = msgspec.msgpack.Decoder(Page).decode
encode = msgspec.msgpack.Encoder().encode


class SharedReadings:
    """Readers of a trial, which parse a page only if no other trial has."""

    def __init__(
        self, folder: Path, setup: bytes, vectors: str = "", texts: bool = False
    ) -> None:
        """`texts`: the judge needs main texts of pages."""
        self.folder = folder
        self.texts = texts
        self.vectors = vectors  # as in ReaderSetup, also if this strategy needs none
        self.spent = 0.0  # CPU seconds that do not count for the trial
        self.reader: PageReader | None = None  # made when first needed
        self.setup, self.db = self.open(setup)

    async def start(self) -> None:
        """Do nothing: there are no processes."""

    async def read(self, response: Response) -> Reading:
        """The page, without WARC records, which trials do not need."""
        began = time.process_time()
        key = urls.fingerprint(response.url)
        row = self.db.execute("SELECT page FROM reading WHERE url = ?", (key,))
        found = row.fetchone()
        if found:
            page = decode(found[0])
        else:
            self.reader = self.reader or make_reader(self.setup)
            page = self.reader.read(response)
            self.db.execute(
                "INSERT OR IGNORE INTO reading VALUES (?, ?)", (key, encode(page))
            )
        self.spent += time.process_time() - began
        return Reading(page)

    async def extract(self, response: Response) -> MainText | None:
        """The main text of a response, if the judge needs it; nothing is indexed."""
        if not self.texts:
            return None
        began = time.process_time()
        key = urls.fingerprint(response.url)
        row = self.db.execute("SELECT packed FROM content WHERE url = ?", (key,))
        if found := row.fetchone():
            packed = bytes(found[0])
        else:
            packed = pack_extraction(extract_content(response))
            self.db.execute(
                "INSERT OR IGNORE INTO content VALUES (?, ?)", (key, packed)
            )
        self.spent += time.process_time() - began
        return MainText(packed)

    def renew(self, setup: bytes) -> None:
        """Use another setup from now on."""
        self.db.close()
        self.reader = None
        self.setup, self.db = self.open(setup)

    def settle(self, links: bytes) -> None:
        """Do nothing: trials share parsed pages with all their links."""

    def open(self, setup: bytes) -> tuple[ReaderSetup, sqlite3.Connection]:
        """The setup that reads every part, and the file of its readings."""
        asked = msgspec.msgpack.decode(setup, type=ReaderSetup)
        asked = msgspec.structs.replace(asked, vectors=asked.vectors or self.vectors)
        full = everything(asked)
        name = xxhash.xxh3_64_hexdigest(encode(full))
        db = sqlite3.connect(
            self.folder / f"{name}.readings", isolation_level=None, timeout=60
        )
        db.execute("PRAGMA journal_mode = wal")
        db.execute("PRAGMA synchronous = off")  # it can be made again
        db.execute(
            "CREATE TABLE IF NOT EXISTS reading (url INTEGER PRIMARY KEY, page BLOB)"
        )
        db.execute(
            "CREATE TABLE IF NOT EXISTS content (url INTEGER PRIMARY KEY, packed BLOB)"
        )
        return full, db

    async def close(self) -> None:
        """Close the file."""
        self.db.close()


def everything(setup: ReaderSetup) -> ReaderSetup:
    """The setup that also reads what this strategy and judge do not ask for."""
    return msgspec.structs.replace(
        setup, context=True, blocks=True, vector=True, words=True
    )
