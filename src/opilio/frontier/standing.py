"""How much of a crawl a registrable domain may take before others go first.

Traps and link farms offer endless pages full of the topic's words. What they lack is
somebody else who links to them. A domain has `free` pages for each independent domain
that links to it. After n of them, 1 + n/free visits to others come before the next
while links of other domains wait, so it gets about √(2·free·N) of N pages. A domain
with a seed, or with links from MANY independent domains, has no such limit.

Domains are independent if they came into the crawl by different ways. A domain that is
found on an established domain (one without a limit) begins a branch; whatever is found
on it, and on that, belongs to the same branch, as all domains of a link farm do. A
domain that only its own branch links to has no free pages of its own: it takes those of
the domain that began the branch. A branch may name MOST_HOSTS new hosts; each takes
memory for the whole crawl.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable
from heapq import heappop, heappush, heapreplace

from opilio.frontier.hosts import Host, RegisteredDomain
from opilio.frontier.ledger import Ledger

MANY = 5  # branches that link to a domain: it has no limit
RELEASED = 8  # hosts of a branch that are looked at again at once
MOST_HOSTS = 10_000  # new ones that a branch may link to, of 1 KB each

log = logging.getLogger(__name__)


class DomainStanding:
    """The support of domains, and when each may be visited next."""

    def __init__(self, ledger: Ledger, free: int) -> None:
        self._ledger = ledger
        self._free = free  # pages; 0: no limits
        self._visits = 0
        self._demoted: list[tuple[float, int]] = []  # heap: visit, number of the host
        self._waiting: dict[int, RegisteredDomain] = {}  # the hosts in it
        self._limited = False  # has any domain used up its free pages?
        self._branches: dict[str, RegisteredDomain] = {}  # those that began one
        self._named: Counter[str] = Counter()  # new hosts that branches link to

    def support(self, hosts: Iterable[Host], source: RegisteredDomain | None) -> None:
        """Note that a page of `source` links to these hosts; None: a person, search
        engine or sitemap named them."""
        for domain in {id(host.domain): host.domain for host in hosts}.values():
            if domain.is_established or domain is source:
                continue
            if source is None:
                domain.branch, domain.is_established = domain.name, True
                self._branches[domain.name] = domain
            else:
                branch = source.name if source.is_established else source.branch
                if not domain.branch:  # below an established one, it is its own
                    own = source.is_established
                    domain.branch = domain.name if own else branch
                    if own:
                        self._branches[domain.name] = domain
                if branch in ("", domain.branch, *domain.support):
                    continue
                domain.support = (*domain.support, branch)
                domain.is_established = len(domain.support) >= MANY
            self._ledger.save_standing(domain)

    def is_free(self, domain: RegisteredDomain) -> bool:
        """Whether a domain has no limits."""
        return domain.is_established or not self._free

    def may_name(self, count: int, source: RegisteredDomain) -> bool:
        """Whether a page of `source` may link to so many hosts that are new."""
        branch = source.branch or source.name
        before = self._named[branch]
        if before + count <= MOST_HOSTS:
            self._named[branch] += count
            return True
        if before <= MOST_HOSTS:
            self._named[branch] = MOST_HOSTS + 1
            log.warning(
                "%s links to more than %d new hosts; further ones are ignored",
                *(branch, MOST_HOSTS),
            )
        return False

    def payer(self, domain: RegisteredDomain) -> RegisteredDomain:
        """The domain whose free pages a visit takes: its own, or those of its branch
        if nobody else links to it."""
        if domain.support or domain.branch in ("", domain.name):
            return domain
        branch = self._branches.get(domain.branch, domain)
        return domain if branch.is_established else branch

    def restore(self, domains: Iterable[RegisteredDomain]) -> None:
        """Count the pages of domains as they were when the crawl was stopped."""
        domains = list(domains)
        self._branches = {one.name: one for one in domains if one.branch == one.name}
        for domain in domains:
            self.payer(domain).charged += domain.taken

    def is_demoted(self, host: Host) -> bool:
        """Whether links of other domains go first now."""
        if not self._limited or host.domain.is_established:
            return False
        return self.payer(host.domain).next_visit > self._visits

    def wait(self, host: Host) -> None:
        """Remember a host that is demoted, to look at it again in time."""
        if host.number not in self._waiting:
            self._waiting[host.number] = host.domain
            at = self.payer(host.domain).next_visit
            heappush(self._demoted, (at, host.number))

    def visited(self, host: Host) -> list[int]:
        """Count a visit; returns the numbers of hosts that are no longer demoted."""
        self._visits += 1
        if not self.is_free(host.domain):
            payer = self.payer(host.domain)
            payer.charged += 1
            free = self._free * max(1, len(payer.support))
            if payer.charged >= free:
                payer.next_visit = self._visits + 1 + payer.charged / free
                self._limited = True
        return self._released() if self._demoted else []

    def _released(self) -> list[int]:
        """The hosts whose time has come, a few of each branch."""
        found: list[int] = []
        counts: Counter[str] = Counter()
        while self._demoted and self._demoted[0][0] <= self._visits:
            _, number = self._demoted[0]
            payer = self.payer(self._waiting[number])
            counts[payer.name] += 1
            if counts[payer.name] <= RELEASED and payer.next_visit <= self._visits:
                heappop(self._demoted)
                del self._waiting[number]
                found.append(number)
            else:
                at = max(payer.next_visit, self._visits + 1)
                heapreplace(self._demoted, (at, number))
        return found
