"""How far a new crawl is, and what it would visit next.

A new crawl first fetches a few pages only. The page shows those that are relevant, the
topic file that was written, the next links by promise, and keywords that the pages
suggest; the user changes what is wrong and continues the crawl.
"""

from __future__ import annotations

import re
import sqlite3
import tomllib

import msgspec

from opilio.assembly.topic_update import proposals_for
from opilio.errors import BadInput, OpilioError
from opilio.serve.figures import CrawlFigures
from opilio.serve.library import Library
from opilio.serve.log_file import failed_with, last_lines
from opilio.serve.view import LibraryView
from opilio.serve.views.links import LinksRequest, ListedLink, show_links
from opilio.serve.views.start import PREVIEWED, Name, topic_file
from opilio.serve.views.topic import KeywordStep

FIRST_PAGES = 8  # of those that are shown
NO_SEEDS = (
    "No search engine could be asked, or none found anything. Write one or more "
    "addresses to start from into the form."
)


class PreviewRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A crawl that was started a moment ago."""

    name: Name = ""


class CrawlPreview(msgspec.Struct, frozen=True, kw_only=True):
    """How far a new crawl is, and what it would visit first."""

    name: str
    topic: str
    state: str  # starting, fetching, ready or failed
    topic_file: str
    log: list[str]
    advice: str = ""  # what to do, if it failed
    figures: CrawlFigures | None = None
    pages: list[ListedLink] = []  # the best of those that were fetched
    links: list[ListedLink] = []  # those to be visited next
    proposals: list[KeywordStep] = []


def show_preview(library: Library, asked: PreviewRequest) -> CrawlPreview:
    """How far a new crawl is."""
    file = topic_file(library, asked.name)
    known = re.fullmatch(r"[a-z0-9-]{1,60}", asked.name)
    if library.is_single or not known or not file.is_file():
        raise BadInput("no crawl of this name was started here")
    library.forget()
    text = file.read_text(encoding="utf-8", errors="replace")
    log = last_lines(library.log_of(library.root / asked.name))
    has_failed = failed_with(log)
    starting = CrawlPreview(
        name=asked.name,
        topic=name_in(text) or asked.name,
        state="failed" if has_failed else "starting",
        topic_file=text,
        log=log,
        advice=NO_SEEDS if any("no search engine" in line for line in log) else "",
    )
    crawl = library.find(asked.name)
    if crawl is None:
        return starting
    try:
        figures = crawl.figures()
        links = show_links(crawl, LinksRequest()).links[:PREVIEWED]
        pages = show_links(crawl, LinksRequest("kept")).links[:FIRST_PAGES]
    except (OpilioError, sqlite3.Error):
        return starting
    starting = msgspec.structs.replace(starting, figures=figures, pages=pages)
    nothing = not figures.pages and not links
    if figures.state == "new" and has_failed:
        return starting
    if figures.state in ("new", "running") or (nothing and not log):
        return msgspec.structs.replace(starting, state="fetching")
    if nothing:
        return msgspec.structs.replace(starting, state="failed")
    changes = [
        KeywordStep(one.term, one.kind, one.before, one.after, one.pages)
        for one in proposals_for(crawl.folder)
    ]
    return msgspec.structs.replace(
        starting, state="ready", links=links, proposals=changes
    )


def name_in(topic_file: str) -> str:
    """The name of a topic in its file; "" if that cannot be read."""
    try:
        return str(tomllib.loads(topic_file).get("name", ""))
    except tomllib.TOMLDecodeError:
        return ""


PREVIEW = LibraryView(
    name="preview",
    path="preview",
    title="Preview",
    help="How far a new crawl is, its topic file, and the links it would visit first.",
    parameters=PreviewRequest,
    result=CrawlPreview,
    show=show_preview,
)
