"""Decides whether a link is good enough to be visited now, or better ones come first.

A crawl with many workers and polite delays has hosts that are ready and hosts that
rest. Whoever visits every ready host spends the pages of a crawl on links that promise
little, while better ones wait for their hosts. So a link may be leased only if

    in flight + better links < window        window = 1 + n·h/(1 - h)

where n is the number of pages so far and h the haste: 0 keeps the order of a crawl that
visits one page at a time, 1 never waits. Better links are those with more promise whose
host may be visited soon. A host that rests for longer than the patience is not waited
for, nor a visit that takes longer. Where promises are calibrated chances, a link whose
chance is close to those of the better ones is not held back for them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict

from opilio.frontier import sort_keys
from opilio.frontier.host_schedule import SEED_KEY, HostSchedule
from opilio.frontier.hosts import NEVER, Host, Out
from opilio.frontier.link_columns import LinkColumns

SAMPLE = 8  # hosts with better links that are looked at, to estimate for all
CLOSE = 0.8  # times the mean chance of better links: a chance that is as good


class Floor:
    """Holds links back while enough better ones will be had soon."""

    def __init__(
        self, links: LinkColumns, turns: HostSchedule, leases: OrderedDict[int, Out]
    ) -> None:
        self._links = links
        self._turns = turns
        self._leases = leases
        self.haste = 1.0
        self.calibrated = False  # promises are chances
        self.pages = 0  # so far
        self._asked: tuple[object, ...] = ()  # the last question, often put twice
        self._answer = 0.0

    def held_until(self, host: Host, now: float) -> float:
        """When to look again at the best link of a host that may be visited: now, if it
        may be leased; NEVER, if only a host that becomes ready can change that."""
        if self.haste >= 1 or host.offer >> sort_keys.ID_BITS <= SEED_KEY:
            return now
        asked = (host.offer, now, self._turns.changes, len(self._leases), self.haste)
        if asked != self._asked:
            self._asked, self._answer = asked, self._judge(host, now)
        return self._answer

    def _judge(self, candidate: Host, now: float) -> float:
        key = candidate.offer >> sort_keys.ID_BITS
        room, until, patience = self.window, NEVER, self._turns.patience
        for out in reversed(self._leases.values()):  # the youngest first
            if out.started + patience <= now:
                break
            room, until = room - 1, out.started + patience
            if room <= 0:
                return until
        bound = key << sort_keys.ID_BITS
        awaited = self._turns.awaited
        hosts = bisect_left(awaited, bound)
        if hosts and self.calibrated and is_close(key, awaited[: min(hosts, room)]):
            return now
        fair = hosts < self._turns.reach
        step = max(1, hosts // SAMPLE)
        for better in awaited[:hosts:step]:
            host = self._host_of(better)
            if fair and host.asked > candidate.asked:
                continue  # it has had its share
            if host.flying:
                if host.touched + patience <= now:
                    continue
                until = min(until, host.touched + patience)
            room -= step * host.backlog.count_before(bound)
            if room <= 0:
                return until
        return now

    @property
    def window(self) -> int:
        """How many links may be in flight or better than one that is leased."""
        return 1 + int(self.pages * self.haste / (1 - self.haste))

    def _host_of(self, entry: int) -> Host:
        return self._turns.hosts[self._links.host_of[entry & sort_keys.ID_MASK]]


def is_close(key: int, better: list[int]) -> bool:
    """Is a chance nearly as good as the mean of the better ones?"""
    mean = sum(sort_keys.promise(entry >> sort_keys.ID_BITS) for entry in better) / len(
        better
    )
    return sort_keys.promise(key) >= CLOSE * mean
