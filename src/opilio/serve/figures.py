"""Counts what a crawl has done so far, cheaply enough to ask twice a second.

Pages are read once each, in order of their numbers. Links are counted by a scan of the
whole table; it is repeated only after forty times the time that it took, so that it
costs a running crawl at most a fortieth of a core. All browsers share the result.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import msgspec

from opilio.assembly.plan import load_plan
from opilio.cli.link_reasons import reason_in_words
from opilio.errors import OpilioError
from opilio.progress import Estimate
from opilio.serve.harvest_curve import CurvePoints, HarvestCurve
from opilio.serve.host_states import HostState, WaitingHost, host_states, most_waiting
from opilio.serve.log_file import error_since
from opilio.storage.database import open_database
from opilio.store.folder import CrawlFolder
from opilio.store.lifecycle import Life, life_of
from opilio.store.lookup import estimate_in
from opilio.store.message_log import is_paused

EVERY = 0.5  # seconds between two looks at most
SCAN_SHARE = 40  # a scan of all links is repeated after so many times its own length
NEWEST = 10  # that are shown
BANDS = 10  # of promises between 0 and 1
PAGES = """
    SELECT id, number, status, relevant, noindex, copy_of, score, bytes, fetched_at
    FROM page WHERE number > ? ORDER BY number
"""
LINKS = f"""
    SELECT state, reason,
        CASE WHEN state IN ('waiting', 'leased')
            THEN CASE WHEN promise < 0 THEN -1
                ELSE min({BANDS}, CAST(promise * {BANDS} AS INTEGER)) END
            END,
        count(*)
    FROM link GROUP BY 1, 2, 3
"""  # noqa: S608  a constant
BEST = """
    SELECT url, title, score, number, fetched_at, host.name AS host
    FROM page JOIN link USING (id) JOIN host ON host.id = link.host
    WHERE page.number > ? AND state = 'kept' AND NOT noindex
    ORDER BY page.number DESC LIMIT ?
"""
STOPPED = {  # why, in words that do not speak of the command line
    "budget": "all pages that it was allowed to fetch were fetched",
    "time": "its time was up",
    "exhausted": "no links are left to follow",
    "resting": "the servers of all links that wait asked for a long rest, or fail for "
    "now",
    "interrupted": "it was interrupted",
    "told": "it was told to stop",
    "dry": "little is left to find",
    "disk": "the disk is nearly full",
}
PLAIN_OUTCOMES = {
    "kept": "relevant",
    "irrelevant": "not relevant",
    "copy": "copies and redirects",
    "unusable": "could not be used",
    "parked": "set aside",
}


class Reason(msgspec.Struct, frozen=True):
    """Why links ended in a state, in words, and how many did."""

    words: str
    links: int


class LinkOutcome(msgspec.Struct, frozen=True):
    """A final state of links, with its reasons."""

    state: str
    words: str
    links: int
    reasons: list[Reason]


class PromiseBand(msgspec.Struct, frozen=True):
    """Waiting links whose promises are between two bounds; null: no bound."""

    low: float | None
    high: float | None
    links: int


class NewPage(msgspec.Struct, frozen=True):
    """A page that was kept a moment ago."""

    url: str
    title: str
    score: float
    number: int
    host: str


class CrawlFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A crawl in figures."""

    crawl: str
    topic: str
    strategy: str
    judge: str
    state: str  # running, paused, stopped or new
    state_words: str
    pages: int
    max_pages: int  # 0: no limit
    kept: int
    harvest_rate: float
    harvest_rate_recent: float  # over the last 100 pages
    pages_per_second: float  # in the last minute of crawling
    bytes: int
    waiting: int
    hosts: int
    outcomes: list[LinkOutcome]
    promises: list[PromiseBand]
    newest: list[NewPage]
    host_states: list[HostState]
    estimate: Estimate | None
    curve: CurvePoints
    version: int  # changes whenever something else does


class LinkCounts(NamedTuple):
    """What a scan of all links has counted."""

    waiting: int = 0
    hosts: int = 0
    outcomes: tuple[LinkOutcome, ...] = ()
    promises: tuple[PromiseBand, ...] = ()
    most_waiting: tuple[WaitingHost, ...] = ()


class FiguresKeeper:
    """Keeps the figures of one crawl; used by one thread at a time."""

    def __init__(self, name: str, folder: CrawlFolder, log: Path | None = None) -> None:
        self.name = name
        self.folder = folder
        self.log = log  # of processes that the server has started
        self.db: sqlite3.Connection | None = None
        self.curve = HarvestCurve()
        self.last = 0  # number of the last page that was counted
        self.links = LinkCounts()
        self.scanned = 0.0  # when links were counted, and how long that took
        self.scan_took = 0.0
        self.is_behind = False  # links have changed since
        self.looked = 0.0
        self.data_version = (0, 0)
        self.figures: CrawlFigures | None = None

    def now(self) -> CrawlFigures:
        """The figures; counted again if enough time has passed."""
        start = time.monotonic()
        if self.figures and start - self.looked < EVERY:
            return self.figures
        self.looked = start
        db = self.connection()
        life = life_of(db, self.folder)
        (version,) = db.execute("PRAGMA data_version").fetchone()
        changed = self.data_version != (version, life.running)
        overdue = self.is_behind and self.may_scan(start)
        if changed or overdue or self.figures is None:
            self.data_version = version, life.running
            self.figures = self.count(db, life)
        return self.figures

    def may_scan(self, now: float) -> bool:
        """Whether links may be counted again so soon."""
        return now - self.scanned > SCAN_SHARE * self.scan_took

    def connection(self) -> sqlite3.Connection:
        """The open connection."""
        if self.db is None:
            database = self.folder.require().database
            self.db = open_database(database, read_only=True, any_thread=True)
            self.db.row_factory = sqlite3.Row
        return self.db

    def count(self, db: sqlite3.Connection, life: Life) -> CrawlFigures:
        """Count what is new."""
        self.count_pages(db)
        start = time.monotonic()
        self.is_behind = not self.may_scan(start)
        if not self.is_behind:
            self.links = count_links(db)
            self.scanned, self.scan_took = start, time.monotonic() - start
        plan, curve = load_plan(self.folder), self.curve
        state, words = state_of(life, is_paused(db), self.log)
        return CrawlFigures(
            crawl=self.name,
            topic=plan.topic.name,
            strategy=plan.crawl.strategy,
            judge=plan.crawl.judge,
            state=state,
            state_words=words,
            pages=curve.pages,
            max_pages=plan.crawl.max_pages,
            kept=curve.kept,
            harvest_rate=curve.rate(),
            harvest_rate_recent=curve.recent_rate(),
            pages_per_second=curve.speed(time.time() if life.running else None),
            bytes=curve.bytes,
            waiting=self.links.waiting,
            hosts=self.links.hosts,
            outcomes=list(self.links.outcomes),
            promises=list(self.links.promises),
            newest=self.newest(db),
            host_states=host_states(
                db, bool(life.running), self.links.most_waiting, plan.politeness.delay
            ),
            estimate=estimate_in(db),
            curve=curve.points(),
            version=self.figures.version + 1 if self.figures else 1,
        )

    def count_pages(self, db: sqlite3.Connection) -> None:
        """Add the pages since the last time; all of them if some were judged again
        or lost."""
        total, changed = db.execute(
            "SELECT (SELECT max(number) FROM page), "
            "(SELECT coalesce(max(id), 0) FROM event "
            "WHERE kind IN ('rejudged', 'lost')) "
            "+ (SELECT count(*) FROM label)"
        ).fetchone()
        if changed != self.curve.edition or (total or 0) < self.last:
            self.curve, self.last = HarvestCurve(edition=changed), 0
        for row in db.execute(PAGES, (self.last,)):
            self.last = row["number"]
            if 200 <= row["status"] <= 299:
                kept = bool(row["relevant"]) and not row["noindex"]
                self.curve.add(kept, row["bytes"], row["fetched_at"])

    def newest(self, db: sqlite3.Connection) -> list[NewPage]:
        """The best of the pages that were kept last."""
        rows = db.execute(BEST, (self.last - 200, 40)).fetchall()
        best = sorted(rows[:30], key=lambda row: -(row["score"] or 0))[:NEWEST]
        return [
            NewPage(
                row["url"],
                row["title"] or "",
                row["score"] or 0.0,
                row["number"],
                row["host"],
            )
            for row in sorted(best, key=lambda row: -row["number"])
        ]

    def close(self) -> None:
        """Close the connection."""
        if self.db:
            self.db.close()
            self.db = None


def state_of(life: Life, paused: bool, log: Path | None) -> tuple[str, str]:
    """Whether a crawl runs, in a word and in a sentence."""
    if life.running and paused:
        return "paused", "nothing is fetched until you resume it"
    if life.running:
        return "running", f"pages are being fetched (process {life.running})"
    if not life.at:
        return "new", "not started yet"
    if life.stopped == "killed":
        why = error_since(log, life.at) if log else ""
        return "stopped", why or "killed or failed; it can be resumed"
    return "stopped", STOPPED.get(life.stopped, life.stopped)


def count_links(db: sqlite3.Connection) -> LinkCounts:
    """Count all links by state and reason, and those that wait by promise."""
    states: dict[str, dict[str, int]] = {}
    bands = [0] * (BANDS + 2)
    for state, reason, band, count in db.execute(LINKS):
        if band is not None:
            bands[band + 1] += count
        else:
            reasons = states.setdefault(state, {})
            words = reason_in_words(reason) if reason else ""
            reasons[words] = reasons.get(words, 0) + count
    (hosts,) = db.execute("SELECT count(*) FROM host").fetchone()
    outcomes = tuple(
        LinkOutcome(
            state, words, sum(states[state].values()), reasons_of(states[state])
        )
        for state, words in PLAIN_OUTCOMES.items()
        if state in states
    )
    bars = promise_bands(bands)
    return LinkCounts(sum(bands), hosts, outcomes, bars, most_waiting(db))


def reasons_of(counts: dict[str, int]) -> list[Reason]:
    """The reasons, most frequent first."""
    named = [Reason(words, links) for words, links in counts.items() if words]
    return sorted(named, key=lambda reason: -reason.links)


def promise_bands(counts: list[int]) -> tuple[PromiseBand, ...]:
    """The bands of promises, the highest first; those below 0 and above 1 only if they
    have links."""
    bounds = [None, *(n / BANDS for n in range(BANDS + 1)), None]
    bands = [
        PromiseBand(low, high, links)
        for low, high, links in zip(bounds, bounds[1:], counts, strict=False)
    ]
    inner = bands[1 : BANDS + 1]
    low = [bands[0]] if bands[0].links else []
    high = [bands[-1]] if bands[-1].links else []
    return tuple(reversed([*low, *inner, *high]))


def read_figures(folder: CrawlFolder) -> CrawlFigures:
    """The figures of a crawl, counted once."""
    keeper = FiguresKeeper(folder.path.name, folder)
    with closing(keeper):
        return keeper.now()


def figures_or_none(folder: CrawlFolder) -> CrawlFigures | None:
    """The same; None if the crawl cannot be read, or has only just begun."""
    try:
        return read_figures(folder)
    except (OpilioError, sqlite3.Error):
        return None
