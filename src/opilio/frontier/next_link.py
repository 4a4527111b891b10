"""Chooses and leases the next link to visit, within delays and budgets.

Pure memory, one step at a time, no waiting. The best link of the hosts that may be
visited goes first; what its budgets forbid is parked. Every step costs O(log n); the
ledger is given what has changed.
"""

from __future__ import annotations

from collections import OrderedDict

from opilio.frontier import sort_keys
from opilio.frontier.hold_back import Floor
from opilio.frontier.host_rules import BLOCKED, ORDINARY
from opilio.frontier.host_schedule import HostSchedule
from opilio.frontier.hosts import LONG_AGO, NEVER, Host, Out, RegisteredDomain
from opilio.frontier.ledger import Ledger
from opilio.frontier.link_columns import LinkColumns, LinkMode
from opilio.frontier.link_queue import LinkQueue
from opilio.frontier.standing import DomainStanding
from opilio.records import State
from opilio.settings import BoundsSettings, PolitenessSettings

PAGES = (State.KEPT, State.IRRELEVANT, State.COPY)
PATIENCE = 5.0  # seconds, or as many delays, to wait for better links
DELAYS = 3
WIDEST = 64  # hosts that share the visits at breadth 1
PARKED_AT_ONCE = 1000  # links over budget parked in one step, to keep it short


class Agenda:
    """The waiting links, and the leases on links that are visited."""

    def __init__(
        self,
        ledger: Ledger,
        politeness: PolitenessSettings,
        bounds: BoundsSettings,
        *,
        lease_time: float,
        opened: float = LONG_AGO,
        expected: int = 0,
    ) -> None:
        self._ledger = ledger
        self._politeness = politeness
        self._bounds = bounds
        self._lease_time = lease_time
        self.links = LinkColumns(expected)
        self.standing = DomainStanding(ledger, bounds.free_pages)
        self.turns = HostSchedule(self.links, politeness, self.standing, opened)
        self.hosts = self.turns.hosts
        self.queue = LinkQueue(ledger, self.turns, self.links, bounds)
        self.wishes = self.queue.wishes
        self.leases: OrderedDict[int, Out] = OrderedDict()  # the oldest first
        self.attempts: dict[int, int] = {}  # of waiting and leased links, if not 0
        self.floor = Floor(self.links, self.turns, self.leases)

    @property
    def retry_for(self) -> float:
        """Seconds to keep trying links whose attempts are used up."""
        return self._politeness.retry_for

    def count_later(self, attempts: int) -> int:
        """How many tries beyond the first ones a link had, before its last one."""
        return max(0, attempts + 1 - self._politeness.attempts)

    def steer(self, haste: float, breadth: float, calibrated: bool) -> None:
        """Set how long to hold links back for better ones, and how many of the best
        hosts share the visits."""
        self.floor.haste, self.floor.calibrated = haste, calibrated
        self.turns.reach = 1 + int(breadth * (WIDEST - 1))
        if haste < 1:
            self.turns.patience = max(PATIENCE, DELAYS * self._politeness.delay)

    def choose(self, now: float) -> int:
        """Lease the best link that may be visited now; 0 when there is none."""
        self._let_time_pass(now)
        first, at = self.wishes.first(now)
        if at > now:
            return self._choose_by_promise(now)
        if self.wishes.is_due():
            return self._lease_preferred(first, now)
        return self._choose_by_promise(now) or self._lease_preferred(first, now)

    def _choose_by_promise(self, now: float) -> int:
        for _ in range(PARKED_AT_ONCE):
            host = self.wishes.best_host(now)
            if host is None:
                return 0
            if self._has_budget(host, now):
                if self._held_until(host, now) > now:
                    return 0
                return self._lease(host, now)
        return 0

    def _held_until(self, host: Host, now: float) -> float:
        """When the best link of a host may be leased; nobody waits with boosted ones
        for those of other hosts."""
        return now if host.factor > ORDINARY else self.floor.held_until(host, now)

    def _lease_preferred(self, id: int, now: float) -> int:
        host = self.hosts[self.links.host_of[id]]
        host.backlog.remove(self.links.entry(id))
        return self._lease_link(id, host, now)

    def next_event(self, now: float) -> float:
        """When `choose` may next find a link: now, if a host is ready, or when a delay
        or rest ends."""
        held_until = NEVER
        if self.turns.ready and (host := self.wishes.best_host(now)):
            held_until = self._held_until(host, now)
        return min(
            held_until,
            self.wishes.first(now)[1],
            self.turns.next_event(),
            self.queue.next_due(),
            next(iter(self.leases.values())).expires if self.leases else NEVER,
        )

    def count_held(self, now: float) -> int:
        """The number of hosts that are ready but held back for better links."""
        host = self.turns.next_host(now) if self.turns.ready else None
        held = host is not None and self.floor.held_until(host, now) > now
        return self.turns.ready if held else 0

    def awaited(self) -> tuple[float, str]:
        """The time and name of the next host, if links wait but none may be visited."""
        if self.turns.ready or self.leases:
            return NEVER, ""
        return self.queue.awaited()

    def _let_time_pass(self, now: float) -> None:
        self.queue.let_time_pass(now)
        while self.leases:
            id, out = next(iter(self.leases.items()))
            if out.expires > now:
                break
            attempts = self.attempts.get(id, 0)
            if not self.again(id, attempts, 0.0, now, tried=True):
                self.finish(id, attempts, State.UNUSABLE, "poison", now)

    def _has_budget(self, host: Host, now: float) -> bool:
        """Whether the host has budget for one more visit. If not, its best link is
        parked; or the host is held while open leases may still turn out to bring no
        page."""
        if host.factor == BLOCKED:
            self._park_best(host, "blocked", now)
            return False
        for limit, of, reason in (
            (self._bounds.per_host, host, "host_budget"),
            (self._bounds.per_domain, host.domain, "domain_budget"),
        ):
            if not limit or of.taken + of.flying < limit:
                continue
            if of.flying:
                self.turns.hold(host, now)
                if isinstance(of, RegisteredDomain):
                    of.held.append(host.number)
            else:
                self._park_best(host, reason, now)
            return False
        return True

    def _park_best(self, host: Host, reason: str, now: float) -> None:
        id = host.offer & sort_keys.ID_MASK
        self.queue.withdraw(id, LinkMode.OVER)
        self.attempts.pop(id, None)
        self.queue.end(id, State.PARKED, reason)
        self.turns.place(host, now)
        self.queue.balance(now)

    def _lease(self, host: Host, now: float) -> int:
        return self._lease_link(host.backlog.pop() & sort_keys.ID_MASK, host, now)

    def _lease_link(self, id: int, host: Host, now: float) -> int:
        self.links.mode_of[id] = LinkMode.LEASED
        self.queue.count -= 1
        self.leases[id] = Out(host, now, host.touched, now + self._lease_time)
        host.domain.flying += 1
        self.turns.use(host, now)
        self.queue.balance(now)
        return id

    def finish(
        self,
        id: int,
        attempts: int,
        state: State,
        reason: str,
        now: float,
        *,
        contacted: bool = True,
    ) -> bool:
        """End a lease for good, also an expired one unless the link is leased again."""
        if self._is_out(id, attempts):
            is_page = state in PAGES and reason != "redirect"
            self._give_back(id, now, contacted, is_page)
            self.links.mode_of[id] = LinkMode.OVER
        elif self.links.mode_of[id] <= LinkMode.DELAYED:
            self.turns.place(self.queue.withdraw(id, LinkMode.OVER), now)
        elif self.links.mode_of[id] == LinkMode.CROWDED:
            self.queue.forget_displaced(id)
        else:
            return False
        self.attempts.pop(id, None)
        self.queue.end(id, state, reason, tries=1)
        self.queue.balance(now)
        return True

    def park(self, id: int, reason: str, now: float) -> None:
        """End a lease without a request: its link is not wanted any more."""
        self._give_back(id, now, contacted=False)
        self.links.mode_of[id] = LinkMode.OVER
        self.attempts.pop(id, None)
        self.queue.end(id, State.PARKED, reason)

    def again(
        self,
        id: int,
        attempts: int,
        after: float,
        now: float,
        *,
        tried: bool,
        contacted: bool = True,
    ) -> bool:
        """End a lease and queue its link again; False if its attempts are used up."""
        if not self._is_out(id, attempts):
            mode = self.links.mode_of[id]
            return mode <= LinkMode.DELAYED or mode == LinkMode.CROWDED
        if tried and attempts + 1 >= self._politeness.attempts:
            return False
        self._give_back(id, now, contacted)
        if tried:
            self.attempts[id] = attempts + 1
            self._ledger.settle(id, State.WAITING, "", 1)
        if after <= 0:
            self.queue.wait([id], now)
            return True
        due = now + min(after, self._politeness.max_rest)
        self.queue.delay(id, due, now)
        return True

    def _is_out(self, id: int, attempts: int) -> bool:
        # A lease that has expired counts as an attempt, so the next one differs.
        return id in self.leases and self.attempts.get(id, 0) == attempts

    def _give_back(
        self, id: int, now: float, contacted: bool, is_page: bool = False
    ) -> None:
        """Free the host of a lease; without contact, as if there had been no lease."""
        out = self.leases.pop(id)
        host, domain = out.host, out.host.domain
        domain.taken += is_page
        if is_page:  # budgets are for pages, not for robots.txt, failures or redirects
            host.taken += 1
            self.floor.pages += 1
            self._ledger.visited(host.number)
        if contacted:
            self.turns.leave(host, now)
        else:
            self.turns.undo(host, out.started, out.before, now)
        domain.flying -= 1
        if domain.held:
            held, domain.held = domain.held, []
            for number in held:
                self.turns.place(self.hosts[number], now)
