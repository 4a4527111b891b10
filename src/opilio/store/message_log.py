"""What became of the messages that a crawl was sent: table `message` of crawl.db.

A row is written in the transaction of what the message did. So a message that has a row
has taken effect, and one that has none, has not, however the process ended.
"""

from __future__ import annotations

import sqlite3
import time
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from opilio.store.folder import CrawlFolder
from opilio.store.inbox import Sent, all_sent

if TYPE_CHECKING:
    from opilio.store.messages import AskQuery

WAITING = "waiting"  # nobody has taken it up
SERVING = "serving"  # pages are being fetched for it
DONE = "done"
REFUSED = "refused"
PAUSED = (
    "the crawl is paused, so it fetches no pages for a query; "
    "`opilio tell DIR resume` first"
)
LATEST = """
    SELECT id, key, at, taken_at, body, state, outcome, ended,
        (SELECT count(*) FROM asked_page WHERE message = message.id)
    FROM message
"""


class ToldMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message, and what became of it."""

    key: str
    text: str  # as one types it: "seed https://example.org/"
    at: float  # when it was sent, seconds since 1970
    state: str = WAITING  # waiting, serving, done, refused
    outcome: str = ""  # in words
    taken_at: float | None = None
    ended: str = ""  # why a query ended: pages, links (no other matches), time, paused
    pages: int = 0  # fetched for a query so far

    @property
    def is_over(self) -> bool:
        """Is nothing more to be expected of it?"""
        return self.state in (DONE, REFUSED)


class OpenQuery(NamedTuple):
    """A query that pages are fetched for."""

    id: int  # of the message
    ask: AskQuery
    pages: int  # fetched so far


class MessageLog:
    """Writes and reads the rows of a running crawl, within its transaction."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def has(self, sent: Sent) -> bool:
        """Was this message taken up?"""
        row = self.db.execute("SELECT 1 FROM message WHERE key = ?", (sent.key,))
        return row.fetchone() is not None

    def keep(self, sent: Sent, state: str, outcome: str) -> int:
        """Mark a message as taken up; returns its number."""
        rows = self.db.execute(
            "INSERT INTO message (key, at, taken_at, body, state, outcome) "
            "VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
            (sent.key, sent.at, time.time(), sent.body, state, outcome),
        ).fetchall()
        return int(rows[0][0])

    def finish(self, id: int, ended: str, outcome: str) -> None:
        """A query has ended."""
        self.db.execute(
            "UPDATE message SET state = ?, ended = ?, outcome = ? WHERE id = ?",
            (DONE, ended, outcome, id),
        )

    def add_page(self, id: int, page: int) -> None:
        """A page was fetched for a query."""
        self.db.execute("INSERT OR IGNORE INTO asked_page VALUES (?, ?)", (id, page))

    def open_queries(self) -> list[OpenQuery]:
        """The queries that the last run did not finish, and those of this one."""
        found = self.db.execute(f"{LATEST} WHERE state = ?", (SERVING,)).fetchall()
        return [OpenQuery(row[0], query_in(row[4]), row[-1]) for row in found]

    def host_rules(self) -> dict[str, float]:
        """The hosts that are blocked or boosted, and by what factor."""
        return dict(self.db.execute("SELECT host, factor FROM host_rule").fetchall())

    def set_rule(self, host: str, factor: float) -> None:
        """Block or boost a host; 1 ends both."""
        self.db.execute("DELETE FROM host_rule WHERE host = ?", (host,))
        if factor != 1:
            self.db.execute("INSERT INTO host_rule VALUES (?, ?)", (host, factor))

    def set_paused(self, paused: bool) -> None:
        """Remember whether the crawl is paused."""
        value = str(int(paused))
        self.db.execute("INSERT OR REPLACE INTO meta VALUES ('paused', ?)", (value,))


def is_paused(db: sqlite3.Connection) -> bool:
    """Was the crawl told to pause, and not to resume since?"""
    rows = db.execute("SELECT value FROM meta WHERE key = 'paused'").fetchall()
    return any(value == "1" for (value,) in rows)


def messages_of(folder: CrawlFolder, db: sqlite3.Connection) -> list[ToldMessage]:
    """All messages of a crawl, those that wait last, else in the order in which they
    were taken up; `db` is crawl.db."""
    told = [
        ToldMessage(
            key=key,
            text=message_text(body),
            at=at,
            state=state,
            outcome=outcome,
            taken_at=taken_at,
            ended=ended or "",
            pages=pages,
        )
        for _, key, at, taken_at, body, state, outcome, ended, pages in db.execute(
            f"{LATEST} ORDER BY id"
        )
    ]
    known = {one.key for one in told}
    return told + [
        ToldMessage(key=sent.key, text=message_text(sent.body), at=sent.at)
        for sent in all_sent(folder)
        if sent.key not in known
    ]


def query_in(body: str) -> AskQuery:
    """The query that a message asks for."""
    from opilio.store.messages import AskQuery  # most crawls are told nothing

    return msgspec.json.decode(body, type=AskQuery)


def message_text(body: str) -> str:
    """A message as one types it."""
    from opilio.store.messages import decode_message, message_in_words

    try:
        return message_in_words(decode_message(body))
    except msgspec.DecodeError:  # of another version, or somebody wrote it by hand
        return body


def pages_for(db: sqlite3.Connection, key: str) -> list[dict[str, Any]]:
    """The pages that were fetched for a query so far, in order."""
    rows = db.execute(
        "SELECT link.url, link.state, page.title, page.score, page.noindex "
        "FROM message JOIN asked_page ON message = message.id "
        "JOIN page ON page.id = asked_page.page JOIN link ON link.id = page.id "
        "WHERE message.key = ? ORDER BY page.number",
        (key,),
    )
    names = ("url", "state", "title", "score", "noindex")
    return [dict(zip(names, row, strict=True)) for row in rows]
