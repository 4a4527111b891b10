"""Gives leases to calls of `take`, in the order in which they were made.

A waiting call gets its lease as soon as one is possible: when a link is added, a lease
ends, or a timer expires. No call is woken without a lease.
"""

from __future__ import annotations

import asyncio
from collections import deque

from opilio.frontier import sort_keys
from opilio.frontier.ledger import Ledger, LinkRow
from opilio.frontier.next_link import PARKED_AT_ONCE, Agenda
from opilio.frontier.url_templates import Novelty
from opilio.records import Clock, Lease

SHORTEST_WAIT = 0.001  # a timer may expire a little early by another clock


class Leasing:
    """The leases that a frontier gives out, and the calls that wait for one."""

    def __init__(
        self,
        agenda: Agenda,
        novelty: Novelty,
        ledger: Ledger,
        clock: Clock,
        max_idle: float,
    ) -> None:
        """`max_idle`: seconds to wait when links wait, but none may be visited; 0: no
        limit."""
        self._agenda = agenda
        self._novelty = novelty
        self._ledger = ledger
        self._clock = clock
        self._max_idle = max_idle
        self._waiters: deque[asyncio.Future[Lease | None]] = deque()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._serving: asyncio.Handle | None = None  # will serve soon
        self.is_closed = False
        self.is_paused = False
        self.is_fed = False  # links come from elsewhere too: wait for them
        self.rested = False  # `take` returned None because of `max_idle`

    def take_at_once(self) -> Lease | None:
        """A lease, if there is one now and no call waits for it."""
        while self._waiters and self._waiters[0].done():  # cancelled
            self._waiters.popleft()
        return None if self._waiters else self._lease(self._clock())

    def wait(self) -> asyncio.Future[Lease | None]:
        """A lease, or None, as soon as it is known which."""
        waiter: asyncio.Future[Lease | None]
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        self.serve_soon()
        return waiter

    def serve_soon(self) -> None:
        """Serve once the caller has made all its changes: recording a page adds links,
        revises promises and ends a lease, and then one choice is made."""
        if self._waiters and self._serving is None:
            loop = asyncio.get_running_loop()
            self._serving = loop.call_soon(self._serve_now)

    def serve(self, now: float) -> None:
        """Give leases to waiting calls of `take`, as far as there are any."""
        due = now
        if self.is_paused and (self._agenda.queue.count or self._agenda.leases):
            return
        while self._waiters and (due := self._agenda.next_event(now)) <= now:
            if self._waiters[0].done():  # cancelled
                self._waiters.popleft()
            elif lease := self._lease(now):
                self._waiters.popleft().set_result(lease)
            else:
                due = self._agenda.next_event(now)
                break
        if not (self._agenda.queue.count or self._agenda.leases or self.is_fed):
            self.dismiss()
        elif not self.is_fed and self.is_idle_until(due, now):
            self.rested = True
            self.dismiss()
        elif self._waiters:
            self._set_timer(due, now)

    def is_idle_until(self, due: float, now: float) -> bool:
        """Whether links wait, but none may be visited for too long."""
        too_long = self._max_idle and due - now > self._max_idle
        return bool(too_long and not self._agenda.leases and self._waiters)

    def dismiss(self) -> None:
        """Let every waiting `take` return None."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        self._waiters.clear()
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _serve_now(self) -> None:
        self._serving = None
        self.serve(self._clock())

    def _lease(self, now: float) -> Lease | None:
        if self.is_paused:
            return None
        for _ in range(PARKED_AT_ONCE):
            id = self._agenda.choose(now)
            if not id:
                return None
            row = self._ledger.read(id)
            if not self._novelty.is_spent(row.template):
                return self._lease_of(row)
            self._agenda.park(id, "template_budget", now)
        return None

    def _lease_of(self, row: LinkRow) -> Lease:
        host = self._agenda.hosts[row.host]
        return Lease(
            id=row.id,
            url=row.url,
            fingerprint=row.fingerprint,
            host=host.name,
            promise=sort_keys.promise(self._agenda.links.key_of[row.id]),
            depth=row.depth,
            level=row.level,
            redirects=row.redirects,
            attempts=self._agenda.attempts.get(row.id, 0),
            found_on=row.found_on,
            template=row.template,
            is_doubted=self._agenda.standing.is_doubted(host.domain),
        )

    def _set_timer(self, at: float, now: float) -> None:
        if self._timer and self._timer_at <= at:
            return  # it expires early enough, and is set again then
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if at < float("inf"):
            wait = max(at - now, SHORTEST_WAIT)
            self._timer_at = at
            self._timer = asyncio.get_running_loop().call_later(wait, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self.serve(self._clock())
