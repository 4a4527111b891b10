"""Makes the rows of an export: pages with their main texts, facts and usage signals."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import TYPE_CHECKING

from opilio.fetch.robots_rules import usage_in
from opilio.fetch.tdm_rules import tdm_usage
from opilio.records import Extraction
from opilio.storage.packed import unpack_extraction
from opilio.store.corpus.columns import FROM_CONTENT, ExportRow, as_row
from opilio.store.stored_responses import StoredResponses
from opilio.text import urls
from opilio.text.usage_signals import IN_ROBOTS, IN_TDM

if TYPE_CHECKING:
    from opilio.read.page_texts import PageTexts

MOST_ORIGINS = 1000  # whose robots.txt and tdmrep.json are remembered
TOKEN = "opilio"  # noqa: S105  # our name in robots.txt files of older crawls


class RowMaker:
    """Makes rows; main texts that are not stored are extracted, within limits."""

    def __init__(
        self,
        db: sqlite3.Connection,
        records: StoredResponses,
        texts: PageTexts,
        fields: tuple[str, ...],
        *,
        links: bool = False,
        usage: bool = False,
    ) -> None:
        self.db = db
        self.records = records
        self.texts = texts
        self.needs_usage = usage or "usage" in fields
        self.needs_content = self.needs_usage or bool(FROM_CONTENT & set(fields))
        self.links = links or "markdown" not in fields
        self.files: dict[str, tuple[bytes, bytes | None]] = {}  # of origins
        self.unasked: set[str] = set()  # origins whose tdmrep.json is unknown

    def row(self, row: sqlite3.Row) -> ExportRow:
        """All columns of a page."""
        content = self.content(row) if self.needs_content else None
        usage: dict[str, str] = {}
        if self.needs_usage:
            usage = {
                **(content.usage if content else {}),
                **self.site_usage(row["url"]),
            }
        made = as_row(row, content, usage)
        if not self.links and made["markdown"]:
            from opilio.read.main_content.without_links import without_links

            made["markdown"] = without_links(made["markdown"])
        return made

    def content(self, row: sqlite3.Row) -> Extraction | None:
        """The main text of a page; None if its record cannot be read."""
        if row["packed"] and (stored := unpack_extraction(row["packed"])):
            return stored
        if row["warc"] is None:
            return None
        place = row["warc"], row["warc_offset"], row["warc_length"]
        response = self.records.response(*place)
        if response is None:
            return None
        return self.texts.extract(response, degraded=bool(row["degraded"]))

    def site_usage(self, url: str) -> Mapping[str, str]:
        """What robots.txt and tdmrep.json of the page's origin say about its use."""
        origin = urls.origin(url)
        if origin not in self.files:
            if len(self.files) >= MOST_ORIGINS:
                self.files.clear()
            self.files[origin] = self.files_of(origin)
        robots, rules = self.files[origin]
        found: dict[str, str] = {}
        if robots:
            told = usage_in(robots, TOKEN, url)
            found |= {f"{IN_ROBOTS}{name}": value for name, value in told.items()}
        if rules:
            told = tdm_usage(rules, url)
            found |= {f"{IN_TDM}{name}": value for name, value in told.items()}
        if rules is None:
            self.unasked.add(origin)
        return found

    def files_of(self, origin: str) -> tuple[bytes, bytes | None]:
        """robots.txt of an origin, and its rules in tdmrep.json; None: not known."""
        robots = self.db.execute("SELECT body FROM robots WHERE origin = ?", (origin,))
        rules = self.db.execute(
            "SELECT body FROM tdmrep WHERE origin = ? AND status IN ('rules', 'none')",
            (origin,),
        )
        return (robots.fetchone() or (b"",))[0], (rules.fetchone() or (None,))[0]
