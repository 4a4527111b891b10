"""The list of crawls in the folder that is served."""

from __future__ import annotations

import sqlite3
from urllib.parse import quote

import msgspec

from opilio.errors import OpilioError
from opilio.serve.library import Library
from opilio.serve.log_file import failed_with, last_lines
from opilio.serve.served_crawl import ServedCrawl
from opilio.serve.view import LibraryView, NoParameters
from opilio.serve.views.lab_reports import lab_folders

NOT_FETCHED = "the first pages could not be fetched"


class CrawlCard(msgspec.Struct, frozen=True, kw_only=True):
    """A crawl in the list."""

    name: str
    path: str  # of the page that shows it
    topic: str = ""
    state: str = "unreadable"
    state_words: str = ""
    pages: int = 0
    kept: int = 0
    harvest_rate: float = 0.0
    waiting: int = 0
    curve: list[float] = []  # the harvest rate over the pages, 0 to 1


class CrawlList(msgspec.Struct, frozen=True):
    """The crawls of the folder."""

    crawls: list[CrawlCard]
    may_start: bool  # new crawls can be started here
    folder: str
    comparisons: int  # of the lab, that are in the folder


def show_home(library: Library, _: NoParameters) -> CrawlList:
    """The crawls, those that run first."""
    cards = [card(crawl) for crawl in library.crawls().values()]
    cards.sort(key=lambda one: (one.state not in ("running", "paused"), one.name))
    comparisons = len(lab_folders(library))
    return CrawlList(cards, not library.is_single, str(library.root), comparisons)


def card(crawl: ServedCrawl) -> CrawlCard:
    """A crawl in short; also one that cannot be read."""
    path = f"/crawls/{quote(crawl.name, safe='')}"
    try:
        figures = crawl.figures()
    except (OpilioError, sqlite3.Error, OSError) as error:
        return CrawlCard(name=crawl.name, path=path, state_words=str(error))
    has_failed = figures.state == "new" and failed_with(last_lines(crawl.log))
    return CrawlCard(
        name=crawl.name,
        path=f"{path}/preview" if has_failed else path,
        topic=figures.topic,
        state="failed" if has_failed else figures.state,
        state_words=NOT_FETCHED if has_failed else figures.state_words,
        pages=figures.pages,
        kept=figures.kept,
        harvest_rate=figures.harvest_rate,
        waiting=figures.waiting,
        curve=figures.curve.overall[::4],
    )


HOME = LibraryView(
    name="home",
    path="",
    title="Crawls",
    help="The crawls of the folder that is served.",
    parameters=NoParameters,
    result=CrawlList,
    show=show_home,
)
