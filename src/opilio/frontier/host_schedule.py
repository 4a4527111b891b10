"""Chooses the host to visit next, with delays per host and per address.

Of the hosts that may be visited now, the one whose best link has the highest promise is
next. Heaps are lazy: outdated entries are dropped when they come up.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from heapq import heapify, heappop, heappush

from opilio.frontier import sort_keys
from opilio.frontier.host_queue import Backlog
from opilio.frontier.hosts import NEVER, Address, Host, RegisteredDomain
from opilio.frontier.link_columns import LinkColumns
from opilio.frontier.standing import DomainStanding
from opilio.records import SEED_PROMISE
from opilio.settings import PolitenessSettings

SLACK = 64  # offers out of date that are not worth sweeping up
DEMOTED = 1 << (64 + sort_keys.ID_BITS)  # makes an entry greater than all others
SEED_KEY = sort_keys.key(SEED_PROMISE)


class HostSchedule:
    """All hosts: ready, resting, or with nothing to do."""

    def __init__(
        self,
        links: LinkColumns,
        politeness: PolitenessSettings,
        standing: DomainStanding,
        opened: float,
    ) -> None:
        self._links = links
        self._politeness = politeness
        self._opened = opened  # any host may have been visited before
        dummy = RegisteredDomain("")
        self.hosts = [Host(0, "", dummy, 0.0, opened, Backlog(links))]  # number 0
        self.standing = standing
        self.by_name: dict[str, Host] = {}
        self.ready = 0
        self._ready: list[tuple[int, int]] = []  # heap: entry, number of the host
        self._alarms: list[tuple[float, int]] = []  # heap: time, host or -address
        self._resting = 0  # hosts with a valid entry in the heap of rests
        self._rests: list[tuple[float, int]] = []  # heap: end, host
        self._by_ip: dict[str, Address] = {}
        self._addresses = [Address(0)]  # number 0 is a dummy
        self.patience = 0.0  # seconds to wait for a host; 0: do not wait
        self.awaited: list[int] = []  # best entries of hosts that will be ready soon
        self.changes = 0  # of that list
        self.reach = 0  # of this many best hosts, the least visited goes first

    def add(self, name: str, domain: RegisteredDomain) -> Host:
        """A new host, which may be visited at once unless the crawl was resumed."""
        delay = self._politeness.delay
        backlog = Backlog(self._links)
        host = Host(len(self.hosts), name, domain, delay, self._opened, backlog)
        self.hosts.append(host)
        self.by_name[name] = host
        return host

    def pace(
        self,
        host: Host,
        now: float,
        *,
        delay: float | None = None,
        rest: float | None = None,
        ip: str | None = None,
    ) -> bool:
        """Set the pace that a host asks for, but never faster than our own delay;
        returns whether anything changed."""
        limits, before = self._politeness, (host.delay, host.address)
        if delay is not None:
            host.delay = max(limits.delay, min(delay, limits.max_delay))
        if rest is not None:
            self._rest(host, now + min(rest, limits.max_rest), now)
        if ip:
            self._locate(host, ip, now)
        self.place(host, now)
        return rest is not None or before != (host.delay, host.address)

    def place(self, host: Host, now: float) -> None:
        """Update a host's place in the heaps, after something about it has changed."""
        top = self._top(host)
        if top & DEMOTED:
            self.standing.wait(host)
        if not top or host.flying >= self._politeness.per_host:
            self._stand(host, 0, NEVER)
            self._await(host, top)
        elif host.free_at > now:
            self._stand(host, 0, host.free_at)
            self._await(host, top if host.free_at <= now + self.patience else 0)
        else:
            self._stand(host, top, NEVER)
            self._await(host, 0)

    def _top(self, host: Host) -> int:
        """The best entry of a host, behind all others if it is demoted."""
        top = host.backlog.top()
        if top and self.standing.is_demoted(host):
            return top | DEMOTED
        return top

    def free_at(self, host: Host) -> float:
        """When a host may be visited, by its own clock and that of its address; NEVER
        while it has as many requests in flight as it may."""
        if host.flying >= self._politeness.per_host:
            return NEVER
        address = host.address
        return max(host.free_at, address.free_at) if address else host.free_at

    def hold(self, host: Host, now: float) -> None:
        """Remove a host from the choice until it is placed again."""
        self._stand(host, 0, NEVER)
        self._await(host, 0)
        self._release(host.address, now)

    def best(self, now: float) -> Host | None:
        """The next host; the caller must use, hold or place it."""
        self._ring(now)
        while self._ready:
            entry, number = self._ready[0]
            host, address = self.hosts[number], self.hosts[number].address
            if host.offer == entry and self._top(host) == entry:
                if address is None or address.free_at <= now:
                    return host
                # It keeps its offer until the address is free.
                heappush(address.held, heappop(self._ready))
                self._await(host, entry)
                self._set_alarm(address, address.free_at)
                continue
            heappop(self._ready)
            if host.offer == entry:
                self.place(host, now)
            self._release(address, now)
        return None

    def next_host(self, now: float) -> Host | None:
        """The least visited of the best hosts, ready or not, as many as the breadth
        says."""
        best = self.best(now)
        if (
            best is None
            or self.reach <= 1
            or best.offer >> sort_keys.ID_BITS <= SEED_KEY
        ):
            return best
        taken: list[tuple[int, int]] = []
        while len(taken) < self.reach and self.best(now):
            taken.append(heappop(self._ready))
        hosts = [self.hosts[number] for _, number in taken]
        for each in taken:
            heappush(self._ready, each)
        competing = [
            host
            for rank, host in enumerate(hosts)
            if rank + bisect_left(self.awaited, host.offer) < self.reach
        ]
        return min(competing, key=lambda host: host.asked) if competing else best

    def next_event(self) -> float:
        """When the passing of time may change the next host."""
        return self._alarms[0][0] if self._alarms else NEVER

    def use(self, host: Host, now: float) -> None:
        """Begin a request to a host."""
        host.touched = now
        host.flying += 1
        host.asked += 1
        for number in self.standing.visited(host):
            self.place(self.hosts[number], now)
        address = host.address
        if address:
            address.before = address.free_at
            address.free_at = now + self._politeness.ip_delay
            if address.held:
                self._set_alarm(address, address.free_at)
        self.place(host, now)

    def leave(self, host: Host, now: float) -> None:
        """End a request to a host."""
        host.touched = now
        host.flying -= 1
        self.place(host, now)

    def undo(self, host: Host, began: float, before: float, now: float) -> None:
        """Undo `use` if no request was made."""
        host.flying -= 1
        if host.touched == began:
            host.touched = before
        address = host.address
        if address and address.free_at == began + self._politeness.ip_delay:
            address.free_at = address.before
            self._release(address, now)
        self.place(host, now)

    def count_resting(self, now: float) -> int:
        """The number of hosts that rest, with links or without; a delay is no rest."""
        while self._rests and self._rests[0][0] <= now:
            until, number = heappop(self._rests)
            self._resting -= self.hosts[number].rest_until == until
        return self._resting

    def _rest(self, host: Host, until: float, now: float) -> None:
        """Let a host rest, unless it already rests longer."""
        if until <= host.rest_until:
            return
        self.count_resting(now)  # drops hosts whose rest has ended
        if until > now:
            self._resting += host.rest_until <= now
            heappush(self._rests, (until, host.number))
        host.rest_until = until

    def _stand(self, host: Host, offer: int, alarm: float) -> None:
        if offer != host.offer:
            self.ready += bool(offer) - bool(host.offer)
            host.offer = offer
            if offer:
                heappush(self._ready, (offer, host.number))
                if len(self._ready) > 2 * self.ready + SLACK:
                    self._sweep()
        if alarm != host.alarm:
            host.alarm = alarm
            if alarm < NEVER:
                heappush(self._alarms, (alarm, host.number))

    def _sweep(self) -> None:
        """Throw away offers that hosts do not make any more."""
        hosts = self.hosts
        self._ready = [
            offer for offer in set(self._ready) if hosts[offer[1]].offer == offer[0]
        ]
        heapify(self._ready)

    def _await(self, host: Host, entry: int) -> None:
        """Add a host to those that will be ready soon; 0 removes it."""
        if entry == host.awaited or not self.patience:
            return
        if host.awaited:
            del self.awaited[bisect_left(self.awaited, host.awaited)]
        if entry:
            insort(self.awaited, entry)
        host.awaited = entry
        self.changes += 1

    def _ring(self, now: float) -> None:
        """Update the hosts and addresses whose alarm has expired."""
        while self._alarms and self._alarms[0][0] <= now:
            time, number = heappop(self._alarms)
            if number > 0 and self.hosts[number].alarm == time:
                self.place(self.hosts[number], now)
            elif number < 0 and self._addresses[-number].alarm == time:
                self._addresses[-number].alarm = NEVER
                self._release(self._addresses[-number], now)

    def _locate(self, host: Host, ip: str, now: float) -> None:
        address = self._by_ip.get(ip)
        if address is None:
            address = self._by_ip[ip] = Address(len(self._addresses))
            self._addresses.append(address)
        if host.address is not address:
            left, host.address = host.address, address
            seen = host.touched + self._politeness.ip_delay
            address.before = address.free_at
            address.free_at = max(address.free_at, seen)
            self._release(left, now)

    def _release(self, address: Address | None, now: float) -> None:
        """Make the best host that an address holds back ready.

        One is enough: the address is free for one visit, and if that host does not make
        it, the next one is released.
        """
        while address and address.held and address.free_at <= now:
            entry, number = heappop(address.held)
            host = self.hosts[number]
            if host.offer == entry:
                heappush(self._ready, (entry, number))
                self._await(host, 0)
                if host.address is address:
                    return

    def _set_alarm(self, address: Address, at: float) -> None:
        if address.alarm != at:
            address.alarm = at
            heappush(self._alarms, (at, -address.number))
