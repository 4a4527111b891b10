"""Reads summaries and explanations of URLs from crawl.db, also while a crawl runs."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, TypeVar

import msgspec

from opilio.progress import BusyServer, Estimate, OpinionCounts, RenderedCounts
from opilio.records import Clock, Fingerprint
from opilio.storage.database import open_database
from opilio.storage.promise_log import new_promise
from opilio.store.folder import CrawlFolder
from opilio.store.resting_hosts import Resting, count_resting, rest_of, resting, slowest
from opilio.store.seed_origins import SeedOrigin, origin_of

T = TypeVar("T")
IS_PAGE = "status BETWEEN 200 AND 299"  # redirects and errors are not pages


class Summary(msgspec.Struct, frozen=True):
    """A crawl in figures."""

    pages: int  # URLs that answered with a page; redirects are not counted
    kept: int  # relevant pages that can be exported
    harvest_rate: float
    harvest_rate_recent: float  # over the last 100 pages
    pages_per_second: float  # from the first page to the last
    links: int
    hosts: int
    bytes: int  # of all bodies
    states: dict[str, int]
    reasons: dict[str, int]  # of the links that are unusable, parked or copies
    last_event: dict[str, Any] | None
    hosts_resting: int = 0  # because a visit failed or they asked for it
    resting: list[Resting] = []  # those that rest longest
    slowest: dict[str, float] = {}  # the hosts with the longest Crawl-delays
    estimate: Estimate | None = None  # of what is left; None: not known
    opinions: OpinionCounts | None = None  # of an adviser; None: there is none
    rendered: RenderedCounts | None = None  # by a browser; None: no page
    retried: int = 0  # links that failed for now and are tried again later
    next_retry: float | None = None  # when, seconds since 1970
    silent_hosts: int = 0  # that gave no good answer for a while
    silent_since: float | None = None  # the first of them, seconds since 1970
    noindex: int = 0  # relevant pages marked noindex, which do not count as kept


class Way(msgspec.Struct, frozen=True):
    """One step on the path from a seed to a URL."""

    url: str
    anchor: str | None
    promise: float
    score: float | None


class Explanation(msgspec.Struct, frozen=True):
    """Everything known about one URL."""

    link: dict[str, Any]
    page: dict[str, Any] | None
    way: list[Way]  # from the seed to the URL itself
    original: str | None  # the URL this is a copy of, or redirects to
    in_links: int
    robots: dict[str, Any] | None
    deaths: int = 0  # crashes while it was processed
    delay: float | None = None  # the Crawl-delay that its host asks for
    resting: Resting | None = None  # its host, if it rests
    number: int = 0  # among the pages; 0: it is not a page
    seed: SeedOrigin | None = None  # where it came from, if it is a seed


@contextmanager
def opened(folder: CrawlFolder) -> Iterator[sqlite3.Connection]:
    """A connection that cannot write, with rows by name."""
    with closing(open_database(folder.require().database, read_only=True)) as db:
        db.row_factory = sqlite3.Row
        yield db


def summary(db: sqlite3.Connection, now: Clock = time.time) -> Summary:
    """The figures of a crawl as of its last commit."""
    pages, kept, noindex, size, first, last = db.execute(
        "SELECT count(*), coalesce(sum(relevant AND NOT noindex), 0), "  # noqa: S608
        "coalesce(sum(relevant AND noindex), 0), coalesce(sum(bytes), 0), "
        f"min(fetched_at), max(fetched_at) FROM page WHERE {IS_PAGE}"
    ).fetchone()
    recent = [
        row[0] or 0
        for row in db.execute(
            f"SELECT relevant AND NOT noindex FROM page WHERE {IS_PAGE} "  # noqa: S608
            "ORDER BY number DESC LIMIT 100"
        )
    ]
    states: dict[str, int] = {}
    reasons: dict[str, int] = {}
    for state, reason, count in db.execute(
        "SELECT state, reason, count(*) FROM link GROUP BY state, reason"
    ):
        states[state] = states.get(state, 0) + count
        if reason and state not in ("waiting", "leased"):
            reasons[reason] = reasons.get(reason, 0) + count
    event = db.execute("SELECT * FROM event ORDER BY id DESC LIMIT 1").fetchone()
    retried, next_retry = db.execute("SELECT count(*), min(due) FROM retry").fetchone()
    silent, since = db.execute(
        "SELECT count(*), min(since) FROM silent_host"
    ).fetchone()
    return Summary(
        silent_hosts=silent,
        silent_since=since,
        retried=retried,
        next_retry=next_retry,
        pages=pages,
        kept=kept,
        harvest_rate=kept / pages if pages else 0.0,
        harvest_rate_recent=sum(recent) / len(recent) if recent else 0.0,
        pages_per_second=(pages - 1) / (last - first)
        if pages > 1 and last > first
        else 0.0,
        links=sum(states.values()),
        hosts=db.execute("SELECT count(*) FROM host").fetchone()[0],
        bytes=size,
        states=states,
        reasons=dict(sorted(reasons.items(), key=lambda item: -item[1])),
        last_event=with_json(event, "detail") if event else None,
        hosts_resting=count_resting(db, now()),
        resting=resting(db, now()),
        slowest=slowest(db),
        estimate=estimate_in(db),
        opinions=opinions_in(db),
        rendered=rendered_in(db),
        noindex=noindex,
    )


def estimate_in(db: sqlite3.Connection) -> Estimate | None:
    """The strategy's estimate of what is left to find, as of the last commit."""
    return learnt_in(db, "estimate", msgspec.json.Decoder(Estimate))


def opinions_in(db: sqlite3.Connection) -> OpinionCounts | None:
    """How often an adviser was asked, as of the last commit."""
    return learnt_in(db, "opinions", msgspec.json.Decoder(OpinionCounts))


def rendered_in(db: sqlite3.Connection) -> RenderedCounts | None:
    """How many pages were rendered, if any were."""
    return learnt_in(db, "rendering", msgspec.msgpack.Decoder(RenderedCounts))


def busy_in(db: sqlite3.Connection) -> list[BusyServer]:
    """The servers that had requests under way at the last commit."""
    return learnt_in(db, "busy", msgspec.json.Decoder(list[BusyServer])) or []


def learnt_in(
    db: sqlite3.Connection,
    name: str,
    decoder: msgspec.json.Decoder[T] | msgspec.msgpack.Decoder[T],
) -> T | None:
    """What a part of the crawl has noted; None: nothing, or nothing readable."""
    row = db.execute("SELECT state FROM learnt WHERE name = ?", (name,)).fetchone()
    try:
        return decoder.decode(row[0]) if row else None
    except (msgspec.MsgspecError, TypeError, UnicodeDecodeError):
        return None  # it is made again


def explain_link(
    db: sqlite3.Connection,
    fingerprint: Fingerprint,
    origin: str,
    now: Clock = time.time,
) -> Explanation | None:
    """How a URL was found, ranked, fetched and judged; None when it is not known."""
    row = db.execute(
        "SELECT * FROM link WHERE fingerprint = ?", (fingerprint,)
    ).fetchone()
    if row is None:
        return None
    page = db.execute("SELECT * FROM page WHERE id = ?", (row["id"],)).fetchone()
    original = None
    if page and page["copy_of"]:
        target = db.execute("SELECT url FROM link WHERE id = ?", (page["copy_of"],))
        original = target.fetchone()[0]
    robots = db.execute(
        "SELECT origin, status, fetched_at, expires_at, failures FROM robots "
        "WHERE origin = ?",
        (origin,),
    ).fetchone()
    delay = db.execute("SELECT delay FROM host WHERE id = ?", (row["host"],))
    died = db.execute(
        "SELECT deaths FROM suspect WHERE fingerprint = ?", (fingerprint,)
    )
    counted = db.execute("SELECT count(*) FROM edge WHERE link = ?", (row["id"],))
    link = current(db, row)
    return Explanation(
        link=link | {"parts": promise_parts(db, link)},
        page=with_json(page, "parts") if page else None,
        way=way_to(db, row["id"]),
        original=original,
        in_links=counted.fetchone()[0],
        robots=dict(robots) if robots else None,
        deaths=next((deaths for (deaths,) in died), 0),
        delay=delay.fetchone()[0],
        resting=rest_of(db, row["host"], now()),
        number=number_of(db, row["id"]),
        seed=None if row["found_on"] else origin_of(db, row["url"]),
    )


def promise_parts(db: sqlite3.Connection, link: dict[str, Any]) -> Any:
    """The parts of a link's promise. The target of a redirect has the promise of the
    redirected link, and so its parts."""
    seen = {link["id"]}
    while link["parts"] is None and link["found_on"]:
        found = db.execute(
            "SELECT * FROM link WHERE id = ? AND reason IN ('redirect', 'moved')",
            (link["found_on"],),
        ).fetchone()
        before = current(db, found) if found else link
        if before["id"] in seen or before["promise"] != link["promise"]:
            return None
        seen.add(before["id"])
        link = before
    return msgspec.json.decode(link["parts"]) if link["parts"] is not None else None


def current(db: sqlite3.Connection, link: sqlite3.Row) -> dict[str, Any]:
    """A row of `link` with the promise that the link has by now."""
    row = dict(link)
    if new := new_promise(db, row["id"]):
        _, row["promise"], row["parts"] = new
    return row


def number_of(db: sqlite3.Connection, page: int) -> int:
    """The number of a page among the pages of the crawl; 0: it is not a page."""
    counted = db.execute(
        f"SELECT count(*) FROM page WHERE {IS_PAGE} AND number <= "  # noqa: S608
        f"(SELECT number FROM page WHERE id = ? AND {IS_PAGE})",
        (page,),
    )
    return int(counted.fetchone()[0])


def way_to(db: sqlite3.Connection, link: int) -> list[Way]:
    """The links from a seed to this one, each the evidence for the next."""
    steps: list[Way] = []
    visited: set[int] = set()
    while link and link not in visited:
        visited.add(link)
        url, anchor, promise, found_on, score = db.execute(
            "SELECT url, anchor, promise, found_on, score FROM link "
            "LEFT JOIN page USING (id) WHERE id = ?",
            (link,),
        ).fetchone()
        if new := new_promise(db, link):
            promise = new[1]
        steps.append(Way(url, anchor, promise, score))
        link = found_on
    return steps[::-1]


def best_pages(db: sqlite3.Connection, limit: int) -> list[dict[str, Any]]:
    """The kept pages with the highest scores."""
    rows = db.execute(
        "SELECT url, title, score, number FROM page JOIN link USING (id) "
        "WHERE state = 'kept' ORDER BY score DESC, number LIMIT ?",
        (limit,),
    )
    return [dict(row) for row in rows]


def pages_in_order(db: sqlite3.Connection) -> list[str]:
    """The URLs of the pages, in the order in which they were fetched."""
    rows = db.execute(
        f"SELECT url FROM page JOIN link USING (id) "  # noqa: S608
        f"WHERE {IS_PAGE} ORDER BY number"
    )
    return [url for (url,) in rows]


def with_json(row: sqlite3.Row, column: str) -> dict[str, Any]:
    """A row as a dictionary, one column of it decoded."""
    values = dict(row)
    if values[column] is not None:
        values[column] = msgspec.json.decode(values[column])
    return values
