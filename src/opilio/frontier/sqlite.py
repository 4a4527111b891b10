"""A frontier stored in the tables `link` and `host` of crawl.db.

Links are chosen in memory. Leases are not stored: links that were leased when a process
ended wait again when the crawl is resumed, with as many attempts as before.
(store/crash_suspects.py counts pages that crash the process.) Everything else is
written into the transaction that the caller commits.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Collection
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from opilio.frontier.frontier import LEASE_SECONDS, LinkFrontier
from opilio.frontier.hosts import RegisteredDomain
from opilio.frontier.ledger import (
    NOT_TOLD,
    Cells,
    LinkRow,
    NewPromise,
    PromiseEvidence,
    parts_text,
)
from opilio.frontier.reopen import reopen
from opilio.records import Clock, Parts, PartsText, State
from opilio.settings import BoundsSettings, PolitenessSettings
from opilio.storage.database import Database

if TYPE_CHECKING:
    from opilio.storage.promise_log import PromiseLog

_APPEND = "INSERT INTO link VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_READ = "SELECT * FROM link WHERE id = ?"
_IMPROVE = """
    UPDATE link SET state = 'waiting', reason = NULL,
        template = coalesce(?, template), promise = ?, level = ?, depth = min(depth, ?),
        redirects = ?, found_on = ?, anchor = ?, parts = ?
    WHERE id = ?
"""
_REVISE = "UPDATE link SET promise = ?, parts = ? WHERE id = ?"
_SETTLE = "UPDATE link SET state = ?, reason = ?, attempts = attempts + ? WHERE id = ?"
_VISITED = "UPDATE host SET taken = taken + 1 WHERE id = ?"
_PACE = """
    UPDATE host SET delay = coalesce(?, delay), ip = coalesce(?, ip),
        rest_until = coalesce(?, rest_until)
    WHERE id = ?
"""
FIRST = 2**16  # links that share so few pages that new promises are written at once
RECENT = 2**14  # links, of half a KB each
MOST_REVISED = 2**16  # links whose new promises are not written yet
FEW = 256  # links, as a page may have; of more at once, most are not leased soon
ENDS = frozenset((State.KEPT, State.IRRELEVANT, State.COPY, State.UNUSABLE))


class SqliteFrontier(LinkFrontier):
    """A frontier that continues where the last one on the same database stopped."""

    def __init__(
        self,
        db: Database,
        politeness: PolitenessSettings,
        bounds: BoundsSettings,
        *,
        clock: Clock = time.monotonic,
        wall: Clock = time.time,
        lease_time: float = LEASE_SECONDS,
        max_idle: float = 0.0,
        rest: float = 0.0,
    ) -> None:
        """`rest`: seconds that all hosts rest besides their delays, also new ones."""
        ledger = SqliteLedger(db)
        agenda, intake = reopen(
            db, ledger, politeness, bounds, clock(), wall(), lease_time, rest
        )
        super().__init__(
            agenda, intake, ledger, clock=clock, wall=wall, max_idle=max_idle
        )


class SqliteLedger:
    """Rows of the tables `link` and `host`.

    Most changes are put off, because links change again soon: better evidence and the
    ends of links until the next statement that may have to do with them, new promises
    until the next flush. Links that were found lately are read from memory.
    """

    def __init__(self, db: Database) -> None:
        self._later, self._catch_up = db.later, db.catch_up
        self._execute = db.execute_at_once
        self._executemany = db.executemany_at_once
        self._recent: dict[Any, Cells] = {}  # links as they are stored or put off
        self._improved: dict[int, PromiseEvidence] = {}  # not written yet
        self._revised: dict[int, NewPromise] = {}  # not written yet; later than these
        self._log: PromiseLog | None = None  # only large crawls have it
        db.write_first(self._write_evidence)

    def append(self, rows: list[Cells]) -> None:
        """Store new links."""
        self._executemany(_APPEND, rows)
        if len(rows) <= FEW:
            if len(self._recent) > RECENT:
                self._recent.clear()
            self._recent.update({row[0]: row for row in rows})

    def read(self, id: int) -> LinkRow:
        """A link as it is now."""
        row = LinkRow._make(
            self._recent.get(id) or self._execute(_READ, (id,)).fetchone()
        )
        if better := self._improved.get(id):
            row = row.improved(better)
        if new := self._revised.get(id):
            row = row._replace(promise=new[1], parts=_text(new[2]))
        return row

    def improve(self, evidence: list[PromiseEvidence]) -> None:
        """Queue links with this evidence; the smallest depth is kept."""
        improved, revised = self._improved, self._revised
        for new in evidence:
            id = new.id
            revised.pop(id, None)
            if before := improved.get(id):
                new = new.after(before)
            improved[id] = new
            if self._log and self._log.may_have(id):  # a promise that is older
                revised[id] = id, new.promise, new.parts

    def revise(self, promises: list[NewPromise]) -> None:
        """Give links new promises."""
        for id, promise, parts in promises:
            self._revised[id] = id, promise, NOT_TOLD if parts is None else parts
        if len(self._revised) > MOST_REVISED:
            self._write_promises()

    def _write_evidence(self) -> None:
        if self._improved:
            self._executemany(_IMPROVE, list(self._improved.values()))
            for id, better in self._improved.items():
                if cells := self._recent.get(id):
                    self._recent[id] = LinkRow._make(cells).improved(better)
            self._improved.clear()

    def _write_promises(self) -> None:
        self._write_evidence()
        # By id, so that the rows of one page of the file are written together.
        news = [self._revised[id] for id in sorted(self._revised)]
        rows = [(id, promise, _text(parts)) for id, promise, parts in news]
        few = bisect_left(rows, FIRST, key=itemgetter(0))
        self._executemany(_REVISE, [(*row[1:], row[0]) for row in rows[:few]])
        if few < len(rows):
            self._log_of_large_crawl().write(rows[few:])
        for id, promise, parts in rows:
            if cells := self._recent.get(id):
                row = LinkRow._make(cells)
                self._recent[id] = row._replace(promise=promise, parts=parts)
        self._revised.clear()

    def _log_of_large_crawl(self) -> PromiseLog:
        if self._log is None:
            from opilio.storage.promise_log import PromiseLog  # most crawls are small

            self._log = PromiseLog(self._execute, self._executemany)
        return self._log

    def settle(self, id: int, state: State, reason: str, tries: int) -> None:
        """Change the state of a link, and add to its attempts."""
        self._recent.pop(id, None)
        row = (state.value, reason or None, tries, id)
        if state in ENDS:
            self._later(_SETTLE, row)
        else:
            if id in self._improved:
                self._write_evidence()
            self._execute(_SETTLE, row)

    def parked(self, reason: str, hosts: Collection[int]) -> list[int]:
        """The links of these hosts that were parked for a reason."""
        self._catch_up()
        rows = self._execute(
            "SELECT id, host FROM link WHERE state = 'parked' AND reason = ?", (reason,)
        )
        return [id for id, host in rows.fetchall() if host in hosts]

    def add_host(self, number: int, name: str, domain: str) -> None:
        """Store a new host."""
        self._execute(
            "INSERT INTO host (id, name, domain) VALUES (?, ?, ?)",
            (number, name, domain),
        )

    def visited(self, number: int) -> None:
        """Count a visit to a host."""
        self._later(_VISITED, (number,))

    def pace(
        self, number: int, delay: float | None, rest_until: float | None, ip: str | None
    ) -> None:
        """Store the given values of a host; its rest ends at a wall-clock time."""
        self._execute(_PACE, (delay, ip, rest_until, number))

    def rest(self, number: int, why: str) -> None:
        """Store why a host rests."""
        self._execute("INSERT OR REPLACE INTO rest VALUES (?, ?)", (number, why))

    def save_standing(self, domain: RegisteredDomain) -> None:
        """Store who supports a domain."""
        self._execute(
            "INSERT OR REPLACE INTO standing VALUES (?, ?, ?, ?)",
            (
                domain.name,
                domain.branch,
                " ".join(domain.support),
                domain.is_established,
            ),
        )

    def save_words(self, domain: str, stale: int, words: bytes) -> None:
        """Store the words of a domain, and how many of its pages repeat them."""
        self._execute(
            "INSERT OR REPLACE INTO domain_words VALUES (?, ?, ?)",
            (domain, stale, words),
        )

    def schedule(self, id: int, due: float) -> None:
        """Store when a link is tried again, by the wall clock."""
        self._execute("INSERT OR REPLACE INTO retry VALUES (?, ?)", (id, due))

    def unschedule(self, ids: list[int]) -> None:
        """Forget when links are tried again."""
        self._executemany("DELETE FROM retry WHERE link = ?", [(id,) for id in ids])

    def scheduled(self) -> list[tuple[float, int]]:
        """The times and ids of links that are tried again."""
        return self._execute("SELECT due, link FROM retry").fetchall()

    def save_silent(self, host: int, since: float | None) -> None:
        """Store since when a host is silent, by the wall clock; None: it is not."""
        self._execute("DELETE FROM silent_host WHERE host = ?", (host,))
        if since is not None:
            self._execute("INSERT INTO silent_host VALUES (?, ?)", (host, since))

    def silent_hosts(self) -> dict[int, float]:
        """The silent hosts, and since when they are."""
        return dict(self._execute("SELECT host, since FROM silent_host").fetchall())

    def flush(self, *, last: bool) -> None:
        """Write everything that was put off; `last`: to the table `link` itself."""
        self._write_promises()
        if last and self._log:
            self._log.copy_all()
        self._catch_up()


def _text(parts: Parts | PartsText | None) -> PartsText | None:
    """The parts of a promise as they are stored; None: the strategy has none."""
    return None if parts is None else parts_text(parts)
