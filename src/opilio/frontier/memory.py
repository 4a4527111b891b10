"""The frontier in memory: for the lab, for tests, and for crawls that may be lost."""

from __future__ import annotations

import time
from heapq import heappop, heappush

from opilio.frontier.frontier import LEASE_SECONDS, LinkFrontier
from opilio.frontier.intake import Intake
from opilio.frontier.ledger import Cells, LinkRow, PromiseEvidence
from opilio.frontier.next_link import Agenda
from opilio.records import Clock, State
from opilio.settings import BoundsSettings, PolitenessSettings


class MemoryFrontier(LinkFrontier):
    """Keeps nothing after its end."""

    def __init__(
        self,
        politeness: PolitenessSettings,
        bounds: BoundsSettings,
        *,
        clock: Clock = time.monotonic,
        lease_time: float = LEASE_SECONDS,
    ) -> None:
        ledger = MemoryLedger()
        agenda = Agenda(ledger, politeness, bounds, lease_time=lease_time)
        super().__init__(agenda, Intake(agenda, ledger, bounds), ledger, clock=clock)


class MemoryLedger:
    """Rows in a list; of hosts it keeps nothing, since nobody will ask."""

    def __init__(self) -> None:
        self.rows: list[LinkRow] = []
        self._displaced: list[tuple[float, int]] = []  # heap: -promise, id

    def append(self, rows: list[Cells]) -> None:
        """Keep new links."""
        for cells in rows:
            row = LinkRow._make(cells)
            self.rows.append(row)
            self._note(row)

    def read(self, id: int) -> LinkRow:
        """A link as it is kept now."""
        return self.rows[id - 1]

    def improve(self, evidence: list[PromiseEvidence]) -> None:
        """Let links wait for these reasons; their least depth stays."""
        for new in evidence:
            row, better = self.read(new.id), new._asdict()
            if new.template is None:
                better["template"] = row.template
            better["depth"] = min(row.depth, new.depth)
            self.rows[new.id - 1] = row._replace(
                **better, state=State.WAITING.value, reason=None
            )

    def revise(self, promises: list[tuple[float, str, int]]) -> None:
        """Give links, named by id, new promises and their parts as JSON."""
        for promise, parts, id in promises:
            row = self.read(id)._replace(promise=promise, parts=parts)
            self.rows[id - 1] = row
            self._note(row)

    def settle(self, id: int, state: State, reason: str, tries: int) -> None:
        """Change the state of a link, which was tried so many times more."""
        row = self.read(id)
        row = row._replace(
            state=state.value, reason=reason or None, attempts=row.attempts + tries
        )
        self.rows[id - 1] = row
        self._note(row)

    def _note(self, row: LinkRow) -> None:
        """Let a link be found by its promise if it is displaced."""
        if row.reason == "capacity":
            heappush(self._displaced, (-row.promise, row.id))

    def best_displaced(self) -> int:
        """The id of the most promising link that is parked with the reason `capacity`,
        the first found of equal ones; 0 when there is none."""
        heap = self._displaced
        while heap:
            lost, id = heap[0]
            row = self.read(id)
            if row.reason == "capacity" and row.promise == -lost:
                return id
            heappop(heap)
        return 0

    def add_host(self, number: int, name: str, domain: str) -> None:
        """Hosts are known to the agenda."""

    def visited(self, number: int) -> None:
        """Visits are counted by the agenda."""

    def pace(
        self, number: int, delay: float | None, rest_until: float | None, ip: str | None
    ) -> None:
        """The agenda keeps the pace."""

    def rest(self, number: int, why: str) -> None:
        """Nobody will ask."""

    def flush(self) -> None:
        """There is nothing to hand over."""
