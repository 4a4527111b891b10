"""What users want of a running crawl: links that come first, hosts blocked or boosted.

Preferred links are leased before all others, as politely as any. After STREAK of them
one other link gets its turn, so that a stream of queries cannot stop the crawl. The
best link of a boosted host counts as if it promised so many times more.
"""

from __future__ import annotations

from collections.abc import Sequence

from opilio.frontier import sort_keys
from opilio.frontier.host_rules import BLOCKED, ORDINARY, HostRules, lifted
from opilio.frontier.host_schedule import HostSchedule
from opilio.frontier.hosts import NEVER, Host
from opilio.frontier.link_columns import LinkColumns, LinkMode
from opilio.settings import BoundsSettings

STREAK = 8


class UserWishes:
    """Preferred links and rules for hosts; each step looks at few of them."""

    def __init__(
        self, links: LinkColumns, turns: HostSchedule, bounds: BoundsSettings
    ) -> None:
        self._links = links
        self._turns = turns
        self._bounds = bounds
        self._rules = HostRules()
        self._boosted: list[Host] = []
        self._streak = 0  # preferred links since the last other one
        self.preferred: dict[int, None] = {}  # in this order

    def prefer(self, ids: Sequence[int]) -> None:
        """Let these links come first while they wait, instead of earlier ones."""
        self.preferred = dict.fromkeys(ids)

    def set_rules(self, rules: HostRules) -> None:
        """Block and boost hosts from now on."""
        self._rules, self._boosted = rules, []
        for host in self._turns.hosts[1:]:
            self.meet(host)

    def meet(self, host: Host) -> None:
        """Apply the rules to a host, perhaps a new one."""
        host.factor = self._rules.factor(host.name)
        if host.factor not in (BLOCKED, ORDINARY):
            self._boosted.append(host)

    def first(self, now: float) -> tuple[int, float]:
        """The preferred link that may be visited first, and when; of several that may
        be visited now, the first. 0 and NEVER: there is none."""
        found, least = 0, NEVER
        for id in self.preferred:
            host = self._turns.hosts[self._links.host_of[id]]
            if self._links.mode_of[id] == LinkMode.WAITING and self._is_open(host):
                at = max(self._turns.free_at(host), now)
                if at < least:
                    found, least = id, at
        return found, least

    def is_due(self) -> bool:
        """Is it a preferred link's turn? If not, it is next time."""
        self._streak = 0 if self._streak == STREAK else self._streak + 1
        return self._streak > 0

    def best_host(self, now: float) -> Host | None:
        """The host whose turn it is, boosted or not."""
        best = self._turns.next_host(now)
        most = _worth(best) if best and self._boosted else -NEVER
        for host in self._boosted:
            if host.offer and self._turns.free_at(host) <= now:
                self._turns.place(host, now)  # what it offers may be out of date
                if host.offer and _worth(host) > most:
                    best, most = host, _worth(host)
        return best

    def _is_open(self, host: Host) -> bool:
        """May the host be visited, by its budgets and its rule?"""
        bounds, domain = self._bounds, host.domain
        if host.factor == BLOCKED:
            return False
        if bounds.per_host and host.taken + host.flying >= bounds.per_host:
            return False
        most = bounds.per_domain
        return not most or domain.taken + domain.flying < most


def _worth(host: Host) -> float:
    """What the best link of a host promises, times its factor."""
    promise = sort_keys.promise(host.offer >> sort_keys.ID_BITS)
    return lifted(promise, host.factor) if host.factor > BLOCKED else promise
