"""Keeps the links that wait, by host, within the capacity of the queue.

With a capacity only the best links wait; the others are displaced, and come back when
there is room or when they promise more. The ledger is given what has changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from opilio.frontier import sort_keys
from opilio.frontier.host_schedule import HostSchedule
from opilio.frontier.hosts import NEVER, Host, RegisteredDomain
from opilio.frontier.ledger import Ledger
from opilio.frontier.link_columns import DISPLACED, LinkColumns, LinkMode
from opilio.frontier.user_wishes import UserWishes
from opilio.records import State
from opilio.settings import BoundsSettings
from opilio.text.urls import domain as domain_of

if TYPE_CHECKING:
    from opilio.frontier.displaced import Displaced
    from opilio.frontier.worst_link import Least


class LinkQueue:
    """The links that wait or were displaced, and the hosts they wait for."""

    def __init__(
        self,
        ledger: Ledger,
        turns: HostSchedule,
        links: LinkColumns,
        bounds: BoundsSettings,
    ) -> None:
        self._ledger = ledger
        self._bounds = bounds
        self.links = links
        self.turns = turns
        self.hosts = turns.hosts
        self.count = 0  # of links that wait, also for the end of a delay
        self.ended: Counter[tuple[State, str]] = Counter()
        self.domains: dict[str, RegisteredDomain] = {}
        self._delayed: list[tuple[float, int]] = []  # heap: time, link
        self._due: dict[int, float] = {}  # when each delayed link may be tried
        self.least: Least | None = None  # only a bounded queue has it
        self.displaced: Displaced  # and this
        self.wishes = UserWishes(links, turns, bounds)
        if bounds.capacity:
            from opilio.frontier.displaced import Displaced
            from opilio.frontier.worst_link import Least

            self.least, self.displaced = Least(links), Displaced(links)

    def host(self, name: str) -> Host:
        """The host of this name; added if it is new."""
        host = self.turns.by_name.get(name)
        if host is None:
            domain = domain_of(name)
            host = self.add_host(name, domain)
            self._ledger.add_host(host.number, name, domain)
        return host

    def add_host(self, name: str, domain: str) -> Host:
        """Add a host that the ledger knows."""
        shared = self.domains.get(domain)
        if shared is None:
            shared = self.domains[domain] = RegisteredDomain(domain)
        host = self.turns.add(name, shared)
        self.wishes.meet(host)
        return host

    def wait(self, ids: list[int], now: float) -> None:
        """Queue links with the keys in their columns."""
        self.make_room(ids, self._line_up(ids), now)

    def _line_up(self, ids: list[int]) -> set[int]:
        """Put links into the backlogs of their hosts; answers the hosts that must be
        placed again for that."""
        links, changed = self.links, set()
        for id in ids:
            links.mode_of[id] = LinkMode.WAITING
            host, entry = self.hosts[links.host_of[id]], links.entry(id)
            host.backlog.push(entry)
            if host.alarm == NEVER:
                if not 0 < host.offer < entry:
                    changed.add(host.number)  # unless it offers something better
            elif host.awaited > entry:  # it rests, and something better is waited for
                changed.add(host.number)
        self.count += len(ids)
        return changed

    def reprice(self, ids: list[int], keys: list[int], now: float) -> None:
        """Give links that wait, or were displaced, other keys."""
        hosts, changed, waiting = self.hosts, set(), ids
        key_of, mode_of = self.links.key_of, self.links.mode_of
        host_of, bits = self.links.host_of, sort_keys.ID_BITS
        # As `LinkColumns.entry` says; after every page some thirty come here.
        for id, key in zip(ids, keys, strict=True):
            before, key_of[id] = key_of[id], key
            if mode_of[id] == LinkMode.WAITING:
                number = host_of[id]
                hosts[number].backlog.move(before << bits | id, key << bits | id)
                changed.add(number)
        if self.least:
            for id in ids:
                if mode_of[id] == LinkMode.CROWDED:
                    self.displaced.add(id)
            waiting = [id for id in ids if mode_of[id] <= LinkMode.DELAYED]
        self.make_room(waiting, changed, now)

    def has_room(self, key: int, id: int) -> bool:
        """Whether a link with this key would fit into the capacity."""
        if not self.least or self.count < self._bounds.capacity:
            return True
        return (key << sort_keys.ID_BITS | id) < self.least.peek()

    def make_room(self, ids: list[int], changed: Iterable[int], now: float) -> None:
        """Displace what exceeds the capacity; then the changed hosts are placed."""
        if self.least:
            self.least.add(map(self.links.entry, ids), self.count)
            self.balance(now)
        for number in changed:
            self.turns.place(self.hosts[number], now)

    def balance(self, now: float) -> None:
        """Let the best links wait, as many as the capacity allows."""
        if not self.least:
            return
        while self.count > self._bounds.capacity:
            self._displace(self.least.peek(), now)
        while self.ended[DISPLACED]:
            best = self.displaced.best()
            if self.count == self._bounds.capacity:
                worst = self.least.peek()
                if worst < best:
                    return
                self._displace(worst, now)
            id = best & sort_keys.ID_MASK
            self._ledger.settle(id, State.WAITING, "", 0)
            self.bring_back(id, now)

    def _displace(self, entry: int, now: float) -> None:
        """Let a link wait no longer, until it is brought back."""
        id = entry & sort_keys.ID_MASK
        host = self.withdraw(id, LinkMode.CROWDED)
        self.end(id, *DISPLACED)
        self.displaced.add(id)
        self.turns.place(host, now)

    def bring_back(self, id: int, now: float) -> None:
        """Let a displaced link wait again, with the key that stands in its column; the
        caller sees to the capacity."""
        self.ended[DISPLACED] -= 1
        if id in self._due:  # it may not be tried again yet
            self.links.mode_of[id] = LinkMode.DELAYED
            self.count += 1
        else:
            for number in self._line_up([id]):
                self.turns.place(self.hosts[number], now)
        if self.least:
            self.least.add([self.links.entry(id)], self.count)

    def reopen(
        self, id: int, reason: str, now: float, state: State = State.PARKED
    ) -> None:
        """Queue a link again that had this state."""
        self.ended[state, reason] -= 1
        self._ledger.settle(id, State.WAITING, "", 0)
        self.wait([id], now)

    def forget_displaced(self, id: int) -> None:
        """Let a displaced link never come back."""
        self.ended[DISPLACED] -= 1
        self._due.pop(id, None)
        self.links.mode_of[id] = LinkMode.OVER

    def withdraw(self, id: int, mode: int) -> Host:
        """Remove a link from the queue; its heap entries are outdated after that."""
        host = self.hosts[self.links.host_of[id]]
        if self.links.mode_of[id] == LinkMode.WAITING:
            host.backlog.remove(self.links.entry(id))
        if mode == LinkMode.OVER:
            self._due.pop(id, None)
        self.links.mode_of[id] = mode
        self.count -= 1
        return host

    def end(self, id: int, state: State, reason: str, tries: int = 0) -> None:
        """Record the final state of a link that does not wait any more."""
        self.ended[state, reason] += 1
        self._ledger.settle(id, state, reason, tries)

    def delay(self, id: int, due: float, now: float) -> None:
        """Let a link wait that may not be tried before a time."""
        self._due[id] = due
        heappush(self._delayed, (due, id))
        self.links.mode_of[id] = LinkMode.DELAYED
        self.count += 1
        self.make_room([id], (), now)

    def let_time_pass(self, now: float) -> None:
        """Queue the links whose delay is over."""
        while self._delayed and self._delayed[0][0] <= now:
            due, id = heappop(self._delayed)
            if self._due.get(id) == due:
                del self._due[id]
                if self.links.mode_of[id] == LinkMode.DELAYED:  # not displaced since
                    self.count -= 1
                    self.wait([id], now)

    def next_due(self) -> float:
        """When the next delay of a link ends; NEVER if none is delayed."""
        return self._delayed[0][0] if self._delayed else NEVER

    def awaited(self) -> tuple[float, str]:
        """The host to be visited next, and when; NEVER if nothing waits."""
        resting = [(host.alarm, host.name) for host in self.hosts if host.alarm < NEVER]
        for id, due in self._due.items():
            host = self.hosts[self.links.host_of[id]]
            resting.append((max(due, host.free_at), host.name))
        return min(resting, default=(NEVER, ""))
