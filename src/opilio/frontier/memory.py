"""A frontier in memory, for the lab, tests and crawls that need not be resumed."""

from __future__ import annotations

import time
from collections.abc import Collection

from opilio.frontier.frontier import LEASE_SECONDS, LinkFrontier
from opilio.frontier.hosts import RegisteredDomain
from opilio.frontier.intake import Intake
from opilio.frontier.ledger import (
    Cells,
    LinkRow,
    NewPromise,
    PromiseEvidence,
    parts_text,
)
from opilio.frontier.next_link import Agenda
from opilio.records import Clock, State
from opilio.settings import BoundsSettings, PolitenessSettings


class MemoryFrontier(LinkFrontier):
    """A frontier that stores nothing on disk."""

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
        super().__init__(
            agenda, Intake(agenda.queue, ledger, bounds), ledger, clock=clock
        )


class MemoryLedger:
    """Rows of links in a list; hosts are not stored, since nothing reads them."""

    def __init__(self) -> None:
        self.rows: list[LinkRow] = []

    def append(self, rows: list[Cells]) -> None:
        """Store new links."""
        self.rows += map(LinkRow._make, rows)

    def read(self, id: int) -> LinkRow:
        """A link as it is stored now."""
        return self.rows[id - 1]

    def improve(self, evidence: list[PromiseEvidence]) -> None:
        """Queue links with this evidence; the smallest depth is kept."""
        for new in evidence:
            self.rows[new.id - 1] = self.read(new.id).improved(new)

    def revise(self, promises: list[NewPromise]) -> None:
        """Give links new promises."""
        for id, promise, parts in promises:
            self.rows[id - 1] = self.read(id)._replace(
                promise=promise, parts=parts_text(parts)
            )

    def settle(self, id: int, state: State, reason: str, tries: int) -> None:
        """Change the state of a link, and add to its attempts."""
        row = self.read(id)
        self.rows[id - 1] = row._replace(
            state=state.value, reason=reason or None, attempts=row.attempts + tries
        )

    def parked(self, reason: str, hosts: Collection[int]) -> list[int]:
        """The links of these hosts that were parked for a reason."""
        sought = State.PARKED.value, reason
        return [
            row.id
            for row in self.rows
            if (row.state, row.reason) == sought and row.host in hosts
        ]

    def add_host(self, number: int, name: str, domain: str) -> None:
        """Do nothing: the agenda knows the hosts."""

    def visited(self, number: int) -> None:
        """Do nothing: the agenda counts visits."""

    def pace(
        self, number: int, delay: float | None, rest_until: float | None, ip: str | None
    ) -> None:
        """Do nothing: the agenda knows the pace."""

    def rest(self, number: int, why: str) -> None:
        """Do nothing: nothing reads it."""

    def save_standing(self, domain: RegisteredDomain) -> None:
        """Do nothing: the agenda knows it."""

    def save_words(self, domain: str, stale: int, words: bytes) -> None:
        """Do nothing: the agenda knows it."""

    def schedule(self, id: int, due: float) -> None:
        """Do nothing: the frontier knows it."""

    def unschedule(self, ids: list[int]) -> None:
        """Do nothing: the frontier knows it."""

    def scheduled(self) -> list[tuple[float, int]]:
        """None: every frontier begins with nothing."""
        return []

    def save_silent(self, host: int, since: float | None) -> None:
        """Do nothing: the frontier knows it."""

    def silent_hosts(self) -> dict[int, float]:
        """None: every frontier begins with nothing."""
        return {}

    def flush(self, *, last: bool) -> None:
        """Do nothing: there is no transaction."""
