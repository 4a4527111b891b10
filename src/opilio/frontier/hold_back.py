"""Decides whether to visit a link now or to hold it back for better ones.

A crawl with many workers and polite delays has hosts that are ready and hosts that
rest. Visiting every ready host would spend pages on links of low promise, while better
ones wait for their hosts. So a link may be leased only if

    in flight + better links < window        window = 1 + n·h/(1 - h)

where n is the number of pages so far and h the haste: 0 keeps the order of a crawl that
visits one page at a time, 1 never waits. Better links are those with a higher promise
whose host may be visited soon. Hosts that rest for longer than the patience, and visits
that take longer, are not waited for. Where promises are calibrated probabilities, a
link is not held back for others that are only a little better.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict

from opilio.frontier import sort_keys
from opilio.frontier.host_schedule import SEED_KEY, HostSchedule
from opilio.frontier.hosts import NEVER, Host, Out
from opilio.frontier.link_columns import LinkColumns

SAMPLE = 8  # hosts with better links to look at, as an estimate for all
CLOSE = 0.8  # times the mean promise of better links: nearly as good


class Floor:
    """Holds links back while enough better ones can be visited soon."""

    def __init__(
        self, links: LinkColumns, turns: HostSchedule, leases: OrderedDict[int, Out]
    ) -> None:
        self._links = links
        self._turns = turns
        self._leases = leases
        self.haste = 1.0
        self.calibrated = False  # promises are probabilities
        self.pages = 0  # so far
        self._asked: tuple[object, ...] = ()  # the last call, which is often repeated
        self._answer = 0.0

    def forget(self) -> None:
        """Decide again, although nothing that `held_until` compares has changed."""
        self._asked = ()

    def held_until(self, host: Host, now: float) -> float:
        """When the best link of a ready host may be leased: now; later; or NEVER, if
        only a host that becomes ready can change that."""
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
            if out.is_slow:
                continue
            room, until = room - 1, out.started + patience
            if room <= 0:
                return until
        bound = key << sort_keys.ID_BITS
        awaited = self._turns.awaited
        hosts = bisect_left(awaited, bound)
        if key > sort_keys.WORST:  # demoted: any link of another domain is better
            room = 1
        elif hosts and self.calibrated and is_close(key, awaited[: min(hosts, room)]):
            return now
        fair = hosts < self._turns.reach
        step = max(1, hosts // SAMPLE)
        for better in awaited[:hosts:step]:
            host = self._host_of(better)
            if fair and host.asked > candidate.asked:
                continue  # it takes longer than the patience
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
        """The limit of links that are in flight or better than the one to lease."""
        return 1 + int(self.pages * self.haste / (1 - self.haste))

    def _host_of(self, entry: int) -> Host:
        return self._turns.hosts[self._links.host_of[entry & sort_keys.ID_MASK]]


def is_close(key: int, better: list[int]) -> bool:
    """Whether a promise is nearly as good as the mean of the better ones."""
    mean = sum(sort_keys.promise(entry >> sort_keys.ID_BITS) for entry in better) / len(
        better
    )
    return sort_keys.promise(key) >= CLOSE * mean
