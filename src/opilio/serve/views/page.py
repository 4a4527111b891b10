"""One page or link: where it came from, why it was judged so, its text and links."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta

from opilio.assembly.crawled_pages import page_texts
from opilio.cli.link_reasons import reason_in_words
from opilio.errors import BadInput, OpilioError
from opilio.records import TIER, Extraction
from opilio.serve.page_links import links_on
from opilio.serve.page_text import ShadedBlock, text_blocks
from opilio.serve.served_crawl import ServedCrawl
from opilio.serve.view import View
from opilio.store.extractions import load_extraction
from opilio.store.lookup import current, promise_parts, way_to
from opilio.store.versions import versions_of
from opilio.store.warc_files import read_record
from opilio.text import urls

LINKS = 200  # of a page that are shown
COPIES = 20
LinkId: TypeAlias = Annotated[int, Meta(ge=0, le=2**62)]


class PageRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page or link, by its number in the crawl or by its URL."""

    id: LinkId = 0
    url: Annotated[str, Meta(max_length=8_000)] = ""


class ScorePart(msgspec.Struct, frozen=True):
    """A part of a verdict or promise."""

    name: str
    value: float


class PathStep(msgspec.Struct, frozen=True):
    """A step on the path from a seed."""

    url: str
    anchor: str
    promise: float
    score: float | None


class PageLink(msgspec.Struct, frozen=True):
    """A link of a page, and what became of it."""

    id: int
    url: str
    anchor: str
    promise: float
    parts: list[ScorePart]
    state: str
    reason: str  # in words
    score: float | None
    is_from_here: bool  # this page gave it its promise


class PageVersion(msgspec.Struct, frozen=True):
    """What a page said when it was visited."""

    fetched_at: float
    seen_at: float
    title: str
    score: float | None


class PageDetails(msgspec.Struct, frozen=True, kw_only=True):
    """Everything known about a page or link."""

    id: int
    url: str
    host: str
    state: str
    reason: str  # in words
    depth: int
    promise: float
    promise_parts: list[ScorePart]
    title: str = ""
    score: float | None = None
    relevant: bool = False
    verdict_parts: list[ScorePart] = []
    number: int = 0
    fetched_at: float | None = None
    status: int | None = None
    mime: str = ""
    language: str = ""
    words: int | None = None
    size: int | None = None
    label: bool | None = None  # what a user said of it
    original: PathStep | None = None  # what this is a copy of
    path: list[PathStep] = []
    blocks: list[ShadedBlock] = []
    trouble: str = ""  # why there is no text
    links: list[PageLink] = []
    copies: list[str] = []
    versions: list[PageVersion] = []


def show_page(crawl: ServedCrawl, asked: PageRequest) -> PageDetails:
    """All about one page or link."""
    with crawl.reading() as db:
        row = link_row(db, asked)
        link = current(db, row)
        details = PageDetails(
            id=row["id"],
            url=row["url"],
            host=urls.host(row["url"]),
            state=row["state"],
            reason=reason_in_words(row["reason"]) if row["reason"] else "",
            depth=row["depth"],
            promise=link["promise"],
            promise_parts=parts_of(promise_parts(db, link)),
            path=[
                PathStep(step.url, step.anchor or "", step.promise, step.score)
                for step in way_to(db, row["id"])
            ],
        )
        page = db.execute("SELECT * FROM page WHERE id = ?", (row["id"],)).fetchone()
        if page is None:
            return details
        return with_page(crawl, db, details, page)


def link_row(db: sqlite3.Connection, asked: PageRequest) -> sqlite3.Row:
    """The row of a link; BadInput if the crawl does not know it."""
    if asked.id:
        query, value = "SELECT * FROM link WHERE id = ?", asked.id
    else:
        canonical = urls.join("", asked.url)
        if not canonical:
            raise BadInput(f"{asked.url!r} is not a URL; write http://… or https://…")
        query = "SELECT * FROM link WHERE fingerprint = ?"
        value = urls.fingerprint(canonical)
    row: sqlite3.Row | None = db.execute(query, (value,)).fetchone()
    if row is None:
        raise BadInput(
            f"{asked.url or asked.id} is not known to this crawl: no crawled page "
            "links to it, or it is out of scope"
        )
    return row


def with_page(
    crawl: ServedCrawl, db: sqlite3.Connection, details: PageDetails, page: sqlite3.Row
) -> PageDetails:
    """The details of a link whose page was fetched."""
    blocks, trouble = text_of(crawl, db, page)
    label = db.execute("SELECT relevant FROM label WHERE page = ?", (details.id,))
    told = label.fetchone()
    return msgspec.structs.replace(
        details,
        title=page["title"] or "",
        score=page["score"],
        relevant=bool(page["relevant"]),
        verdict_parts=parts_of(msgspec.json.decode(page["parts"] or "{}")),
        number=page["number"],
        fetched_at=page["fetched_at"],
        status=page["status"],
        mime=page["mime"] or "",
        language=page["language"] or "",
        words=page["words"],
        size=page["bytes"],
        label=bool(told[0]) if told else None,
        original=original_of(db, page["copy_of"]),
        blocks=blocks,
        trouble=trouble,
        links=page_links(db, details.id, page["number"]),
        copies=[
            url
            for (url,) in db.execute(
                "SELECT url FROM page JOIN link USING (id) WHERE copy_of = ? LIMIT ?",
                (details.id, COPIES),
            )
        ],
        versions=[
            PageVersion(
                one["fetched_at"], one["seen_at"], one["title"] or "", one["score"]
            )
            for one in versions_of(db, details.id)
        ],
    )


def original_of(db: sqlite3.Connection, id: int | None) -> PathStep | None:
    """The page that another one is a copy of, or redirects to."""
    row = db.execute(
        "SELECT url, title, promise, score FROM link LEFT JOIN page USING (id) "
        "WHERE link.id = ?",
        (id,),
    ).fetchone()
    return PathStep(row[0], row[1] or "", row[2], row[3]) if row else None


def text_of(
    crawl: ServedCrawl, db: sqlite3.Connection, page: sqlite3.Row
) -> tuple[list[ShadedBlock], str]:
    """The blocks of a page's text; or none, and the reason."""
    if page["score"] is None:
        return [], ""
    try:
        content = load_extraction(db, page["id"]) or extracted(crawl, page)
        return text_blocks(content, crawl.subject(db)), ""
    except OpilioError as error:
        return [], str(error)


def extracted(crawl: ServedCrawl, page: sqlite3.Row) -> Extraction:
    """The main text of a page whose text is not stored, from the WARC file."""
    if page["warc"] is None:
        raise BadInput("the page is not in the WARC files")
    place = page["warc"], page["warc_offset"], page["warc_length"]
    response = read_record(crawl.folder.warcs, *place)
    return page_texts().extract(response, degraded=bool(page["degraded"]))


def parts_of(parts: Mapping[str, Any] | None) -> list[ScorePart]:
    """The parts of a score, largest first, without those that only name a group."""
    found = [
        ScorePart(name, float(value))
        for name, value in (parts or {}).items()
        if not name.startswith(TIER)
    ]
    return sorted(found, key=lambda part: (part.name[:1] == "(", -abs(part.value)))


def page_links(db: sqlite3.Connection, page: int, number: int) -> list[PageLink]:
    """The links of a page, most promising first."""
    ids = links_on(db, page, number, LINKS)
    rows = db.execute(
        "SELECT link.*, score FROM link LEFT JOIN page USING (id) "
        "WHERE link.id IN (SELECT value FROM json_each(?))",
        (msgspec.json.encode(ids).decode(),),
    ).fetchall()
    found = []
    for row in rows:
        link = current(db, row)
        here = row["found_on"] == page
        found.append(
            PageLink(
                id=row["id"],
                url=row["url"],
                anchor=(row["anchor"] or "") if here else "",
                promise=link["promise"],
                parts=parts_of(msgspec.json.decode(link["parts"] or "{}")),
                state=row["state"],
                reason=reason_in_words(row["reason"]) if row["reason"] else "",
                score=row["score"],
                is_from_here=here,
            )
        )
    return sorted(found, key=lambda link: (not link.is_from_here, -link.promise))


PAGE = View(
    name="page",
    path="page",
    title="Page",
    help="One page or link: its path from a seed, verdict, text by blocks and links.",
    parameters=PageRequest,
    result=PageDetails,
    show=show_page,
    in_navigation=False,
)
