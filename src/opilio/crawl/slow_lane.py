"""Keeps slow servers from occupying the places of fast ones.

A visit whose fetch takes longer than a few seconds moves to the slow lane: another
worker takes its place, so the number of fast visits in flight stays the same. The slow
lane has a limited number of places, shared fairly: one registrable domain, or the hosts
that one page links to, get a quarter of them at most; what finds no place there ends,
and is tried again later. A slow visit gives its page of the budget back, so that others
can use it; where that let a page come too late, the next ones of its host keep theirs,
so that each is fetched twice at most. A host that was slow starts in the slow lane the
next time. So do new hosts of a domain of which several were slow. New hosts from a page
of which several were slow share a quarter of the fast places, until each has shown what
it is. A crawl that visits one page at a time has no slow lane, so its order does not
change.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from opilio.errors import FetchError, Transient
from opilio.records import Lease
from opilio.text import urls

SLOW_AFTER = 3.0  # seconds; most servers answer within one
PLACES = 2  # for each fast visit that may be in flight
SHARE = 4  # one domain or page gets one place in this many
SUSPECT = 3  # slow hosts of one domain or page; others of it are suspects
WAIT = 30.0  # seconds that a slow host waits when the lane is full
REMEMBERED = 10_000  # hosts, domains and pages

T = TypeVar("T")
Origin = str | int
"""A registrable domain, or the id of the page that a link was found on."""


class SlowLane:
    """The visits that are slow now, and the hosts that were."""

    def __init__(
        self,
        fast: int,
        after: float = SLOW_AFTER,
        *,
        on_slow: Callable[[Lease], None] = lambda _: None,
        give_back: Callable[[], None] = lambda: None,
        on_back: Callable[[], bool] = lambda: True,
    ) -> None:
        """`on_slow`: a visit became slow, so a worker is missing. `give_back`: its page
        of the budget. `on_back`: whether the page still fits."""
        self.fast = fast
        self.places = PLACES * fast
        self.after = after
        self.on_slow = on_slow
        self.give_back = give_back
        self.on_back = on_back
        self.inside: Counter[Origin] = Counter()
        self.visits: set[SlowVisit] = set()  # inside
        self.surplus = 0  # workers that are no longer needed
        self.trials: Counter[int] = Counter()  # in flight, by the page they are on
        # Hosts whose pages came too late for the budget; the next ones keep theirs.
        self.late: set[str] = set()
        self._hosts: OrderedDict[str, None] = OrderedDict()  # that were slow
        self._quick: OrderedDict[str, None] = OrderedDict()  # that were not
        self._origins: OrderedDict[Origin, set[str]] = OrderedDict()  # of these

    async def watch(self, lease: Lease, fetch: Coroutine[Any, Any, T]) -> T:
        """The result of a fetch; Transient if it is slow and the lane is full."""
        if self.fast == 1:
            return await fetch
        visit = SlowVisit(self, lease)
        if self._hosts:
            try:
                self.admit(visit)
            except Transient:
                fetch.close()
                raise
        loop = asyncio.get_running_loop()
        began = loop.time()
        contacted = True
        timer = loop.call_later(self.after, visit.move)
        try:
            async with visit.deadline:
                result = await fetch
            if visit.is_slow and not visit.leave():
                self.late.add(lease.host)
                raise too_late(lease)
            return result
        except TimeoutError:
            raise too_slow(lease, contacted=True) from None
        except FetchError as error:
            contacted = error.contacted
            raise
        finally:
            timer.cancel()
            if contacted:  # a host that was not asked has not shown how fast it is
                self.note(lease, loop.time() - began > self.after)
            visit.leave()

    def admit(self, visit: SlowVisit) -> None:
        """Choose the lane of a visit by past ones; Transient if it has to wait."""
        lease = visit.lease
        if self.is_slow(lease):
            if not self.has_room(lease):
                raise too_slow(lease, contacted=False)
            visit.move()
        elif self.is_on_trial(lease):
            if self.trials[lease.found_on] >= max(1, self.fast // SHARE):
                raise too_slow(lease, contacted=False, after=self.after)
            self.trials[lease.found_on] += 1
            visit.is_on_trial = True

    def is_slow(self, lease: Lease) -> bool:
        """Whether a host, or several of its domain, were slow."""
        return lease.host in self._hosts or (
            lease.host not in self._quick and self.is_suspect(urls.domain(lease.host))
        )

    def is_on_trial(self, lease: Lease) -> bool:
        """Whether a new host is on a page that several slow ones are on."""
        return lease.host not in self._quick and self.is_suspect(lease.found_on)

    def is_suspect(self, origin: Origin) -> bool:
        """Whether several slow hosts have this origin."""
        return len(self._origins.get(origin, ())) >= SUSPECT

    def has_room(self, lease: Lease) -> bool:
        """Whether another slow visit of this domain and page may begin."""
        most = max(1, self.places // SHARE)
        return len(self.visits) < self.places and all(
            self.inside[origin] < most for origin in origins(lease)
        )

    def clear(self) -> None:
        """End all slow visits; their links wait."""
        for visit in self.visits:
            visit.stop()

    def note(self, lease: Lease, slow: bool) -> None:
        """Remember whether a host was slow."""
        host, before, now = lease.host, self._hosts, self._quick
        if slow:
            before, now = now, before
        before.pop(host, None)
        if host not in now:
            now[host] = None
            if len(now) > REMEMBERED:
                now.popitem(last=False)
        for origin in origins(lease) if slow else ():
            known = self._origins.setdefault(origin, set())
            if len(known) < SUSPECT:
                known.add(lease.host)
            self._origins.move_to_end(origin)
        while len(self._origins) > REMEMBERED:
            self._origins.popitem(last=False)


class SlowVisit:
    """A visit that may move to the slow lane."""

    def __init__(self, lane: SlowLane, lease: Lease) -> None:
        self.lane = lane
        self.lease = lease
        self.is_slow = False
        self.is_on_trial = False
        self.has_page = True  # of the budget
        self.deadline = asyncio.timeout(None)

    def move(self) -> None:
        """Move to the slow lane, where there is another worker for it; without room
        there, the fetch ends."""
        if self.is_slow:
            return
        if not self.lane.has_room(self.lease):
            self.stop()
            return
        self.is_slow = True
        self.lane.visits.add(self)
        self.lane.inside.update(origins(self.lease))
        self.lane.on_slow(self.lease)
        self.has_page = self.lease.host in self.lane.late
        if not self.has_page:
            self.lane.give_back()

    def stop(self) -> None:
        """End the fetch as soon as possible."""
        if not self.deadline.expired():
            self.deadline.reschedule(0.0)

    def leave(self) -> bool:
        """Leave the lane: one worker is too many now. Returns whether the page still
        fits into the budget."""
        fits = True
        if self.is_on_trial:
            self.is_on_trial = False
            self.lane.trials[self.lease.found_on] -= 1
            if not self.lane.trials[self.lease.found_on]:
                del self.lane.trials[self.lease.found_on]
        if self.is_slow:
            self.is_slow = False
            fits = self.has_page or self.lane.on_back()
            self.lane.visits.discard(self)
            self.lane.surplus += 1
            for origin in origins(self.lease):
                self.lane.inside[origin] -= 1
                if not self.lane.inside[origin]:
                    del self.lane.inside[origin]
        return fits


def too_slow(lease: Lease, contacted: bool, after: float = WAIT) -> Transient:
    """The error for a slow visit while too many of them are in flight."""
    return Transient(
        "slow",
        f"{lease.host} is slow, and many slow servers are being visited",
        after=after,
        counted=False,
        host_rests=True,
        contacted=contacted,
    )


def too_late(lease: Lease) -> Transient:
    """The error for a slow page that came when the page budget was used up."""
    told = f"{lease.url} came after the page budget was used up"
    return Transient("budget", told, after=0.0, counted=False)


def origins(lease: Lease) -> tuple[Origin, ...]:
    """What a lease shares with others: its domain, and the page it was found on."""
    domain = urls.domain(lease.host)
    return (domain, lease.found_on) if lease.found_on else (domain,)
