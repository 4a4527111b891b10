"""The frontier on crawl.db: chosen in memory, kept in the tables `link` and `host`.

A lease is not written down: what was leased when a process died waits again when the
crawl goes on, with as many attempts as before. (Of pages that kill the whole process,
store/crash_suspects.py keeps count.) Everything else is written into the transaction
that the caller commits.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from opilio.frontier.frontier import LEASE_SECONDS, LinkFrontier
from opilio.frontier.ledger import Cells, LinkRow, PromiseEvidence
from opilio.frontier.reopen import reopen
from opilio.records import Clock, State
from opilio.settings import BoundsSettings, PolitenessSettings
from opilio.storage.database import Database

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
# Made where there is a capacity only, so other crawls pay nothing for it.
_INDEX_DISPLACED = """
    CREATE INDEX IF NOT EXISTS link_displaced ON link (promise DESC)
    WHERE state = 'parked' AND reason = 'capacity'
"""
_BEST_DISPLACED = """
    SELECT id FROM link INDEXED BY link_displaced
    WHERE state = 'parked' AND reason = 'capacity' ORDER BY promise DESC, id LIMIT 1
"""
_VISITED = "UPDATE host SET taken = taken + 1 WHERE id = ?"
_PACE = """
    UPDATE host SET delay = coalesce(?, delay), ip = coalesce(?, ip),
        rest_until = coalesce(?, rest_until)
    WHERE id = ?
"""
RECENT = 2**14  # links, of half a KB each
FEW = 256  # links, as a page may have; of more at once, most are not leased soon
ENDS = frozenset((State.KEPT, State.IRRELEVANT, State.COPY, State.UNUSABLE))


class SqliteFrontier(LinkFrontier):
    """Goes on where the last one on the same database stopped."""

    def __init__(
        self,
        db: Database,
        politeness: PolitenessSettings,
        bounds: BoundsSettings,
        *,
        clock: Clock = time.monotonic,
        wall: Clock = time.time,
        lease_time: float = LEASE_SECONDS,
    ) -> None:
        ledger = SqliteLedger(db)
        agenda, intake = reopen(
            db, ledger, politeness, bounds, clock(), wall(), lease_time
        )
        super().__init__(agenda, intake, ledger, clock=clock, wall=wall)


class SqliteLedger:
    """Rows of the tables `link` and `host`.

    Only the ends of links and the visits of hosts are put off; nothing else here reads
    or changes what they do, so nothing has to wait for them.
    """

    def __init__(self, db: Database) -> None:
        self._later, self._catch_up = db.later, db.catch_up
        self._execute = db.execute_at_once
        self._executemany = db.executemany_at_once
        self._recent: dict[Any, Cells] = {}  # links as they were kept of late
        self._is_indexed = False  # by promise, those that are displaced

    def append(self, rows: list[Cells]) -> None:
        """Keep new links."""
        self._executemany(_APPEND, rows)
        if len(rows) <= FEW:
            if len(self._recent) > RECENT:
                self._recent.clear()
            self._recent.update({row[0]: row for row in rows})

    def read(self, id: int) -> LinkRow:
        """A link as it is kept now."""
        cells = self._recent.get(id) or self._execute(_READ, (id,)).fetchone()
        return LinkRow._make(cells)

    def improve(self, evidence: list[PromiseEvidence]) -> None:
        """Let links wait for these reasons; their least depth stays."""
        self._forget(new.id for new in evidence)
        self._executemany(_IMPROVE, evidence)

    def revise(self, promises: list[tuple[float, str, int]]) -> None:
        """Give links, named by id, new promises and their parts as JSON."""
        self._forget(id for _, _, id in promises)
        self._executemany(_REVISE, promises)

    def _forget(self, ids: Iterable[int]) -> None:
        """Let links be read from the table again."""
        for id in ids:
            self._recent.pop(id, None)

    def settle(self, id: int, state: State, reason: str, tries: int) -> None:
        """Change the state of a link, which was tried so many times more."""
        self._recent.pop(id, None)
        row = (state.value, reason or None, tries, id)
        if state in ENDS:
            self._later(_SETTLE, row)
        else:
            self._execute(_SETTLE, row)

    def best_displaced(self) -> int:
        """The id of the most promising link that is parked with the reason `capacity`,
        the first found of equal ones; 0 when there is none."""
        if not self._is_indexed:
            self._execute(_INDEX_DISPLACED)
            self._is_indexed = True
        found = self._execute(_BEST_DISPLACED).fetchone()
        return int(found[0]) if found else 0

    def add_host(self, number: int, name: str, domain: str) -> None:
        """Keep a new host."""
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
        """Keep what is given of a host; the rest ends at a time of the wall clock."""
        self._execute(_PACE, (delay, ip, rest_until, number))

    def rest(self, number: int, why: str) -> None:
        """Keep why a host rests."""
        self._execute("INSERT OR REPLACE INTO rest VALUES (?, ?)", (number, why))

    def flush(self) -> None:
        """Write what was put off."""
        self._catch_up()
