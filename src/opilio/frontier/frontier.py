"""The frontier's interface: queues links, leases the best one, ends leases."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from heapq import nsmallest
from itertools import compress
from types import MappingProxyType
from typing import Protocol

import msgspec
import numpy as np

from opilio.frontier import sort_keys
from opilio.frontier.host_rules import BLOCKED, HostRules
from opilio.frontier.hosts import NEVER
from opilio.frontier.intake import Intake, Trail
from opilio.frontier.later_tries import DEAD_HOST, HOST_GONE, OFFLINE, LaterTries
from opilio.frontier.leasing import Leasing
from opilio.frontier.ledger import Ledger
from opilio.frontier.link_columns import LinkMode
from opilio.frontier.next_link import Agenda
from opilio.progress import BusyServer, Counts
from opilio.records import Clock, Fingerprint, Lease, Link, Ranked, Revision, State

LEASE_SECONDS = 600.0
TURN_PATIENCE = 10.0  # seconds to wait for a host, and at least two of its delays
TURN_POLL = 0.1  # seconds; a host with a request under way may be free at any time
BUSY = 5  # servers that are shown


class LinkFrontier:
    """A Frontier made of an agenda, which chooses links, and a ledger, which stores."""

    def __init__(
        self,
        agenda: Agenda,
        intake: Intake,
        ledger: Ledger,
        *,
        clock: Clock = time.monotonic,
        wall: Clock = time.time,
        max_idle: float = 0.0,
    ) -> None:
        """`max_idle`: seconds to wait when links wait, but none may be visited; 0: no
        limit."""
        self._agenda = agenda
        self._intake = intake
        self._ledger = ledger
        self._clock = clock
        self._wall = wall
        self._leases = Leasing(agenda, intake.novelty, ledger, clock, max_idle)
        self._watcher: Watcher | None = None
        self._later = LaterTries(ledger, agenda.retry_for, wall)
        self._borrowed: set[str] = set()  # hosts with a turn, or a wait for one

    @property
    def rested(self) -> bool:
        """Whether `take` returned None because no link may be visited for long."""
        return self._leases.rested

    def expect_links(self) -> None:
        """Let `take` wait although no link is left: links come from elsewhere, too."""
        self._leases.is_fed = True

    def report_to(self, watcher: Watcher | None) -> None:
        """Tell this watcher from now on what happens to links; None: nobody."""
        self._watcher = watcher

    async def add(
        self,
        found: Iterable[Ranked],
        via: Lease | None = None,
        *,
        redirect: bool = False,
    ) -> list[int]:
        """Let links wait; answers the id of each."""
        batch = list(found)
        if not batch:
            return []
        now = self._clock()
        ids = self._intake.admit(
            batch, Trail.of(via, redirect), now, via.host if via else ""
        )
        if self._watcher:
            self._watcher.found(batch, ids, via, redirect=redirect)
        self._leases.serve_soon()
        return ids

    def unchanging(self, links: Sequence[Fingerprint]) -> Mapping[Fingerprint, int]:
        """Those of these links whose state does not change when they are found again
        with the promise that they have, and their ids."""
        return self._intake.unchanging(links)

    def support(self, ids: Sequence[int], host: str) -> None:
        """Note that a page of this host links to known links that are not added again,
        because they do not change."""
        self._intake.support(ids, host)

    def heard(self, host: str, stems: bytes | None, size: int = 0) -> None:
        """Note the words of a page of this host, as in Page.stems, and how many bytes
        it takes. None: they are not known; no words: it is a copy of another page."""
        queue = self._agenda.queue
        self._agenda.standing.heard(queue.host(host).domain, stems, size)

    def without_floods(self, links: Sequence[Link], host: str) -> Sequence[Link]:
        """The links of a page of this host, without those to new hosts if its site has
        linked to too many of them."""
        return self._intake.without_floods(links, host)

    def beyond_room(self, links: Sequence[Link], host: str) -> Collection[int]:
        """The places of the links of a page that the strategy need not look at: new
        ones to the site itself, of which enough wait."""
        return self._intake.beyond_room(links, host)

    async def take(self) -> Lease | None:
        """The best link whose host may be visited now; waits while there may be one."""
        if self._leases.is_closed:
            return None
        if lease := self._leases.take_at_once():
            return lease
        waiter = self._leases.wait()
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and (lease := waiter.result()):
                # The lease came in the same turn: give it to another waiter.
                await self.retry(lease, 0.0, "", counted=False, contacted=False)
            raise

    async def done(
        self,
        lease: Lease,
        state: State,
        reason: str = "",
        *,
        contacted: bool = True,
        likeness: str = "",
    ) -> None:
        """End a lease for good."""
        if state in (State.WAITING, State.LEASED):
            raise ValueError(f"a lease cannot end as {state}; use retry")
        now = self._clock()
        host = self._agenda.links.host_of[lease.id]
        if reason == DEAD_HOST and self._later.is_given_up(host):
            state, reason = State.UNUSABLE, HOST_GONE
        ended = self._agenda.finish(
            lease.id, lease.attempts, state, reason, now, contacted=contacted
        )
        if ended:
            self._intake.novelty.note(lease.template, state, reason, likeness)
            if reason in (DEAD_HOST, OFFLINE):
                self._later.schedule_silent(lease.id, host)
            elif contacted:
                self._later.heard(host)
            if self._watcher:
                self._watcher.ended(lease, state, reason)
        self._leases.serve_soon()

    async def retry(
        self,
        lease: Lease,
        after: float,
        reason: str,
        *,
        counted: bool = True,
        contacted: bool = True,
    ) -> bool:
        """Queue the link again; False, and it is unusable, after too many attempts."""
        now = self._clock()
        again = self._agenda.again(
            lease.id, lease.attempts, after, now, tried=counted, contacted=contacted
        )
        if not again:
            self._agenda.finish(
                lease.id,
                lease.attempts,
                State.UNUSABLE,
                reason,
                now,
                contacted=contacted,
            )
            self._later.schedule(lease.id, self._agenda.count_later(lease.attempts))
            if self._watcher:
                self._watcher.ended(lease, State.UNUSABLE, reason)
        self._leases.serve_soon()
        return again

    def retry_due(self) -> int:
        """Queue links again that failed some time ago; returns how many."""
        now, count, due = self._clock(), 0, self._later.take_due()
        if due:
            self._ledger.flush(last=False)  # their ends may not be written yet
        for id in due:
            if self._agenda.links.mode_of[id] != LinkMode.OVER:
                continue
            row = self._ledger.read(id)
            if row.state in (State.UNUSABLE, State.PARKED):
                self._agenda.attempts[id] = row.attempts
                self._agenda.queue.reopen(id, row.reason or "", now, State(row.state))
                count += 1
        if count:
            self._leases.serve(now)
        return count

    async def reopen(self, id: int, reason: str) -> Fingerprint:
        """Queue a link again that was parked for this reason."""
        if not id or self._agenda.links.mode_of[id] != LinkMode.OVER:
            return 0
        row = self._ledger.read(id)
        if (row.state, row.reason) != (State.PARKED, reason):
            return 0
        now = self._clock()
        self._agenda.queue.reopen(id, reason, now)
        self._leases.serve(now)
        return row.fingerprint

    async def revise(self, revisions: Iterable[Revision]) -> int:
        """Give links that wait, or were displaced, new promises; answers how many."""
        news = list(revisions)
        if not news:
            return 0
        prints = [new[0] for new in news]
        if len(set(prints)) < len(prints):  # the last one counts
            news = list({new[0]: new for new in news}.values())
            prints = [new[0] for new in news]
        keys = sort_keys.keys([new[1] for new in news])
        ids = np.array(self._intake.known.find(prints))
        links = self._agenda.links
        modes = links.mode.take(ids)
        waiting = (modes <= LinkMode.DELAYED) | (modes == LinkMode.CROWDED)
        changed = waiting & (links.key.take(ids) != keys)
        moved = ids[changed].tolist()
        if moved:
            now = self._clock()
            told = compress(news, changed.tolist())
            self._ledger.revise(
                [
                    (id, new[1], new[2] if len(new) == 3 else None)
                    for id, new in zip(moved, told, strict=True)
                ]
            )
            self._agenda.queue.reprice(moved, keys[changed].tolist(), now)
            self._leases.serve_soon()
        return int(np.count_nonzero(waiting))

    async def pace(
        self,
        host: str,
        *,
        delay: float | None = None,
        rest: float | None = None,
        ip: str | None = None,
        why: str = "",
    ) -> bool:
        """Note what was learnt about a host, unless no link points to it."""
        known = self._agenda.turns.by_name.get(host)
        if known is None:
            return False
        now = self._clock()
        is_new = self._agenda.turns.pace(known, now, delay=delay, rest=rest, ip=ip)
        if is_new:
            until = None if rest is None else self._wall() + known.rest_until - now
            self._ledger.pace(known.number, delay, until, ip)
            if rest is not None:
                self._ledger.rest(known.number, why)
            self._leases.serve(now)
        return is_new

    @asynccontextmanager
    async def turn_at(self, host: str) -> AsyncIterator[bool]:
        """Wait until a host may be requested for something else than a link, and count
        it as visited; False if that would take too long, or another such request waits.
        """
        turns, known = self._agenda.turns, self._agenda.queue.host(host)
        until = self._clock() + max(TURN_PATIENCE, 2 * known.delay)
        if host in self._borrowed or until < turns.free_at(known) < NEVER:
            yield False
            return
        self._borrowed.add(host)
        try:
            while (free := turns.free_at(known)) > (now := self._clock()):
                if now >= until:
                    yield False
                    return
                await asyncio.sleep(min(free, until, now + TURN_POLL) - now)
            turns.use(known, now)
            try:
                yield True
            finally:
                turns.leave(known, now := self._clock())
                self._leases.serve(now)
        finally:
            self._borrowed.discard(host)

    def steer(
        self, *, haste: float = 1.0, breadth: float = 0.0, calibrated: bool = False
    ) -> None:
        """Set how long to hold links back for better ones, and how to share hosts."""
        self._agenda.steer(haste, breadth, calibrated)
        self._leases.serve(self._clock())

    def overlook(self, lease: Lease) -> None:
        """Hold no link back for the page of a lease any longer: it is slow."""
        leases = self._agenda.leases
        if out := leases.get(lease.id):
            leases[lease.id] = msgspec.structs.replace(out, is_slow=True)
            self._agenda.floor.forget()
            self._leases.serve(self._clock())

    def prefer(self, ids: Sequence[int]) -> None:
        """Let these links, by id, be leased before all others as soon as their hosts
        may be visited; they replace those of the last call."""
        self._agenda.wishes.prefer(ids)
        self._leases.serve(self._clock())

    def pause(self, paused: bool) -> None:
        """Give out no more leases, or give them out again."""
        self._leases.is_paused = paused
        self._leases.serve(self._clock())

    def set_rules(self, rules: HostRules) -> None:
        """Block and boost hosts as these rules say; links that were parked because
        their host was blocked, and no longer is, wait again."""
        before = {host.number for host in self._agenda.hosts if host.factor == BLOCKED}
        self._agenda.wishes.set_rules(rules)
        now, hosts = self._clock(), self._agenda.hosts
        freed = [number for number in before if hosts[number].factor != BLOCKED]
        for id in self._ledger.parked("blocked", freed) if freed else ():
            self._agenda.queue.reopen(id, "blocked", now)
        self._leases.serve(now)

    def id_of(self, fingerprint: Fingerprint) -> int:
        """The id of a link; 0: it was never found."""
        [id] = self._intake.known.find([fingerprint])
        return int(id)

    def waits(self, id: int) -> bool:
        """Does a link wait, or will it again soon?"""
        return self._agenda.links.mode_of[id] <= LinkMode.DELAYED

    def rest_of(self, host: str) -> float:
        """For how many seconds a host rests because it asked for that or failed."""
        known = self._agenda.turns.by_name.get(host)
        return max(known.rest_until - self._clock(), 0.0) if known else 0.0

    def is_idle(self) -> bool:
        """Whether nothing is under way, and nothing waits that may be visited soon."""
        if self._agenda.leases:
            return False
        now = self._clock()
        due = self._agenda.next_event(now)
        return not self._agenda.queue.count or self._leases.is_idle_until(due, now)

    def counts(self) -> Counts:
        """The numbers of links and hosts by state."""
        agenda, now = self._agenda, self._clock()
        at, awaited = agenda.awaited()
        return Counts(
            waiting=agenda.queue.count,
            leased=len(agenda.leases),
            hosts=len(agenda.hosts) - 1,
            ready=agenda.turns.ready,
            resting=agenda.turns.count_resting(now),
            ended=MappingProxyType(+agenda.queue.ended),
            awaited=awaited,
            awaited_for=max(0.0, at - now) if awaited else 0.0,
            held=agenda.count_held(now),
            paused=self._leases.is_paused,
            busy=busy_servers(agenda),
        )

    async def flush(self) -> None:
        """Write everything in memory to the transaction."""
        self._agenda.standing.flush(self._agenda.queue.domains)
        self._ledger.flush(last=self._leases.is_closed)

    def close(self) -> None:
        """Let every waiting `take` return None; open leases stay valid."""
        self._leases.is_closed = True
        self._leases.dismiss()


class Watcher(Protocol):
    """Hears what happens to links, within the turn in which it happens."""

    def found(
        self,
        links: Sequence[Ranked],
        ids: Sequence[int],
        via: Lease | None,
        *,
        redirect: bool,
    ) -> None:
        """Links were found on the page of a lease, or it redirects to them."""
        ...

    def ended(self, lease: Lease, state: State, reason: str) -> None:
        """A lease has ended for good."""
        ...


def busy_servers(agenda: Agenda) -> list[BusyServer]:
    """The servers with most requests under way; looks at leases only."""
    requests = Counter(out.host.number for out in agenda.leases.values())
    servers = [
        BusyServer(host.name, count, len(host.backlog))
        for number, count in requests.items()
        for host in [agenda.hosts[number]]
    ]
    return nsmallest(BUSY, servers, key=lambda one: (-one.requests, -one.links))
