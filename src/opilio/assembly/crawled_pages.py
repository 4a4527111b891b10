"""Reads the pages of a crawl as typed records; text and HTML are loaded on demand."""

from __future__ import annotations

import atexit
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from opilio.assembly.plan import load_plan
from opilio.errors import BadInput
from opilio.limits.scope import Scope
from opilio.records import Extraction, Response
from opilio.storage.database import open_database
from opilio.store.extractions import load_extraction
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import Explanation, opened
from opilio.store.lookup import explain_link as look_up
from opilio.store.warc_files import file_in, read_record
from opilio.text import content, urls
from opilio.text.document_kinds import DocumentKind, kind_of

if TYPE_CHECKING:
    from opilio.read.page_texts import PageTexts

PAGES = """
    SELECT page.id, link.url, title, language, score, relevant, page.parts, link.depth,
           fetched_at, warc, warc_offset, warc_length, parent.url AS parent
    FROM page JOIN link USING (id) LEFT JOIN link AS parent ON parent.id = link.found_on
    WHERE score IS NOT NULL AND copy_of IS NULL AND NOT noindex
"""
BEST_FIRST = f"{PAGES} AND (relevant OR NOT ?) ORDER BY score DESC, number"
ONE = f"{PAGES} AND page.id = ?"


@dataclass(frozen=True)
class WarcPlace:
    """Where the WARC records of a page are."""

    file: Path
    offset: int
    length: int


@dataclass(frozen=True, kw_only=True)
class CrawledPage:
    """A page of a crawl."""

    url: str
    title: str
    language: str  # BCP 47 primary tag in lower case; "" if unknown
    score: float  # in [0, 1], by the judge
    relevant: bool  # it was kept
    parts: Mapping[str, float] = field(repr=False)  # what the score is made of
    parent: str | None  # the URL of the page that led here; None: a seed
    depth: int  # links from a seed
    fetched: datetime  # in UTC
    warc: WarcPlace | None = field(repr=False)
    folder: CrawlFolder = field(repr=False)
    id: int = field(repr=False)

    @cached_property
    def content(self) -> Extraction:
        """The main text, its Markdown, and what the page says about itself: authors,
        dates and more. Stored for pages that were kept, else extracted now."""
        with opened(self.folder) as db:
            stored = load_extraction(db, self.id)
        return stored or page_texts().extract(self.response())

    @property
    def text(self) -> str:
        """The main text, without menus and footers."""
        return self.content.text

    @property
    def markdown(self) -> str:
        """The main text in Markdown, with links."""
        return self.content.markdown

    @cached_property
    def html(self) -> str:
        """The HTML as it was fetched, decoded, or as its scripts made it; read from the
        WARC file. BadInput for a PDF file or a text."""
        response = self.response()
        if (kind := kind_of(response)) is not DocumentKind.HTML:
            raise BadInput(
                f"{self.url} is no HTML page ({kind}); use .text, .markdown, or "
                ".response().body for its bytes"
            )
        if response.rendered:
            return response.rendered.decode("utf-8", "replace")
        return content.text(response.body, response.header("content-type"))[0]

    def response(self) -> Response:
        """What was fetched, read from the WARC file; BadInput if it cannot be."""
        if self.warc is None:
            raise BadInput(f"{self.url} cannot be read: it is not in the WARC files")
        place = self.warc
        return read_record(
            place.file.parent, place.file.name, place.offset, place.length
        )


@cache
def page_texts() -> PageTexts:
    """Extracts the texts of all pages, in a process that ends with this one."""
    from opilio.read.page_texts import PageTexts  # slow to import

    texts = PageTexts()
    atexit.register(texts.close)
    return texts


def best_first(folder: CrawlFolder, relevant: bool = False) -> Iterator[CrawledPage]:
    """The pages of a crawl, best first; `relevant`: only those that were kept.

    Copies and noindex pages are left out.
    """
    with closing(open_database(folder.database, read_only=True)) as db:
        db.row_factory = sqlite3.Row
        for row in db.execute(BEST_FIRST, (relevant,)):
            yield as_page(folder, row)


def by_id(folder: CrawlFolder, ids: Iterable[int]) -> list[CrawledPage]:
    """The pages with these ids, in this order."""
    with opened(folder) as db:
        rows = [db.execute(ONE, (page,)).fetchone() for page in ids]
    return [as_page(folder, row) for row in rows if row]


def as_page(folder: CrawlFolder, row: sqlite3.Row) -> CrawledPage:
    """A row as a record."""
    place = None
    if row["warc"] is not None:
        file = file_in(folder.warcs, row["warc"])
        place = WarcPlace(file, row["warc_offset"], row["warc_length"])
    return CrawledPage(
        url=row["url"],
        title=row["title"] or "",
        language=row["language"] or "",
        score=row["score"],
        relevant=bool(row["relevant"]),
        parts=msgspec.json.decode(row["parts"] or "{}"),
        parent=row["parent"],
        depth=row["depth"],
        fetched=datetime.fromtimestamp(row["fetched_at"], UTC),
        warc=place,
        folder=folder,
        id=row["id"],
    )


def explain_url(folder: CrawlFolder, url: str) -> Explanation:
    """How a URL was found, ranked, fetched and judged; BadInput if it is unknown."""
    canonical = urls.join("", url)
    if not canonical:
        raise BadInput(f"{url!r} is not a URL; write http://… or https://…")
    with opened(folder) as db:
        found = look_up(db, urls.fingerprint(canonical), urls.origin(canonical))
    if found is None:
        in_scope = Scope(load_plan(folder).topic.scope).allows(canonical)
        why = "no crawled page links to it" if in_scope else "it is out of scope"
        raise BadInput(f"{canonical} is not known to this crawl: {why}")
    return found
