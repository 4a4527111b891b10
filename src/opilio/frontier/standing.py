"""How much of a crawl a registrable domain may take before others go first.

Traps and link farms offer endless pages full of the topic's words. What they lack is
somebody else who links to them, and new words. With s independent domains that link to
it, a domain has F = `free`·s·max(1, s - 3) pages. After n of them,

    (1 + n/F) · 2^(r/P),     P = STALE·(1 + log₂ s)

visits to others come before the next while links of other domains wait. r counts the
pages that repeat the words of earlier ones (domain_words.py), copies twice; each page
with new words takes five off. So a site gets about √(2·F·N) of N pages, and a trap that
repeats its words about P·log₂(N). A domain with a seed has no such limit. Every MiB of
a page counts as one more page, so that traps cannot fill the disk.

Of the links to a domain itself that its pages have, a strategy that measures links by
what waits is shown ROOM·s + MORE·(n - r); the rest waits unseen by it. Thousands of
links that all look perfect would otherwise be most of what waits, and others look
alike beside them. From r = DOUBTED·P on a domain is doubted, if r ≥ MOSTLY·n: then the
default strategy leaves its links aside.

Domains are independent if they came into the crawl by different ways. A domain that is
found on an established domain (one with a seed, or with links from MANY independent
domains) begins a branch; whatever is found on it, and on that, belongs to the same
branch, as all domains of a link farm do. A domain that only its own branch links to has
no free pages of its own: it takes those of the domain that began the branch. A branch
may name MOST_HOSTS new hosts; each takes memory for the whole crawl.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import heappop, heappush, heapreplace
from math import log2

from opilio.frontier.domain_words import SETTLED, DomainWords
from opilio.frontier.hosts import Host, RegisteredDomain
from opilio.frontier.ledger import Ledger

MANY = 5  # branches that link to a domain: its own links begin branches
MOST_SUPPORT = 20  # branches that are counted
STALE = 6  # pages that repeat words which double the wait, with one supporter
DOUBTED = 3  # doublings of the wait from which on a domain may be doubted
MOSTLY = 0.7  # and share of its pages that repeat words
COPY = 2  # as many of them as a copy of another page counts
ROOM = 200  # links to its own pages that wait and count, for each supporter
MORE = 40  # and for each page with new words
FORGIVEN = 5  # of these, for a page with new words
LONGEST_WAIT = 30  # doublings
LARGE = 2**20  # bytes of a page that count as another page: they fill the disk
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
        self.words = DomainWords()

    def support(self, hosts: Iterable[Host], source: RegisteredDomain | None) -> None:
        """Note that a page of `source` links to these hosts; None: a person, search
        engine or sitemap named them."""
        for domain in {id(host.domain): host.domain for host in hosts}.values():
            if domain.has_seed or domain is source:
                continue
            if source is None:
                domain.branch, domain.is_established = domain.name, True
                domain.support = ()
                self._branches[domain.name] = domain
            else:
                branch = source.name if source.is_established else source.branch
                if not self._add_support(domain, branch, source.is_established):
                    continue
            self._ledger.save_standing(domain)

    def _add_support(
        self, domain: RegisteredDomain, branch: str, by_established: bool
    ) -> bool:
        """Note that a branch links to a domain; returns whether anything is new."""
        is_new = not domain.branch
        if is_new:  # below an established one, it is its own
            domain.branch = domain.name if by_established else branch
            if by_established:
                self._branches[domain.name] = domain
        known = domain.support
        if branch in ("", domain.branch, *known) or len(known) >= MOST_SUPPORT:
            return is_new
        domain.support = (*known, branch)
        domain.is_established = len(domain.support) >= MANY
        return True

    def is_free(self, domain: RegisteredDomain) -> bool:
        """Whether a domain may name any number of hosts."""
        return domain.is_established or not self._free

    def has_limit(self, domain: RegisteredDomain) -> bool:
        """Whether only some of the links to its own pages may wait."""
        return bool(self._free) and not domain.has_seed

    def heard(
        self, domain: RegisteredDomain, stems: bytes | None, size: int = 0
    ) -> None:
        """Note the words of a page of a domain, as in Page.stems, and its bytes. None:
        they are not known; no words: it is a copy of another page."""
        if domain.has_seed or not self._free:
            return
        payer = self.payer(domain)
        payer.charged += size // LARGE
        if stems is None:
            return
        if not stems:
            self.words.is_fresh(payer.name, stems)  # so that it is stored
            payer.stale += COPY
            return
        if payer.charged < SETTLED:
            return
        if self.words.is_fresh(payer.name, stems):
            payer.stale = max(0, payer.stale - FORGIVEN)
        else:
            payer.stale += 1

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

    def is_doubted(self, domain: RegisteredDomain) -> bool:
        """Whether so many pages of a domain repeat each other that it may be a trap."""
        if domain.has_seed or not self._free:
            return False
        payer = self.payer(domain)
        least = max(DOUBTED * self._patience(payer), MOSTLY * payer.charged)
        return payer.stale >= least

    def room(self, domain: RegisteredDomain) -> int:
        """To how many more links to its own pages a domain may draw attention."""
        payer = self.payer(domain)
        return max(0, self._most_waiting(payer) - payer.waiting)

    def count_waiting(self, domain: RegisteredDomain, links: int) -> None:
        """Note that so many more links to pages of a domain wait; those that had no
        room do not count."""
        if not domain.has_seed:
            payer = self.payer(domain)
            most = max(payer.waiting, self._most_waiting(payer))
            payer.waiting = min(payer.waiting + links, most)

    def payer(self, domain: RegisteredDomain) -> RegisteredDomain:
        """The domain whose free pages a visit takes: its own, or those of its branch
        if nobody else links to it."""
        if domain.support or domain.branch in ("", domain.name):
            return domain
        branch = self._branches.get(domain.branch, domain)
        return domain if branch.is_established else branch

    def flush(self, domains: Mapping[str, RegisteredDomain]) -> None:
        """Store what is known of the words of domains."""
        for name, packed in self.words.take_changes():
            self._ledger.save_words(name, domains[name].stale, packed)

    def restore(self, domains: Iterable[RegisteredDomain]) -> None:
        """Count the pages of domains as they were when the crawl was stopped."""
        domains = list(domains)
        self._branches = {one.name: one for one in domains if one.branch == one.name}
        for domain in domains:
            self.payer(domain).charged += domain.taken
        for domain in domains:
            if not domain.has_seed:
                domain.next_visit = self._wait_of(domain)

    def is_demoted(self, host: Host) -> bool:
        """Whether links of other domains go first now."""
        if not self._limited or host.domain.has_seed:
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
        if self._free and not host.domain.has_seed:
            payer = self.payer(host.domain)
            payer.charged += 1
            payer.waiting = max(0, payer.waiting - 1)
            if wait := self._wait_of(payer):
                payer.next_visit = self._visits + wait
        return self._released() if self._demoted else []

    def _wait_of(self, payer: RegisteredDomain) -> float:
        """How many visits to others come before its next one; 0: it is free."""
        supporters = max(1, len(payer.support))
        free = self._free * supporters * max(1, supporters - 3)
        patience = self._patience(payer)
        if not self._free or (payer.charged < free and payer.stale < patience):
            return 0.0
        self._limited = True
        doublings = min(payer.stale / patience, LONGEST_WAIT)
        return (1 + payer.charged / free) * 2**doublings

    @staticmethod
    def _most_waiting(payer: RegisteredDomain) -> int:
        """How many links to its own pages may wait that a domain names."""
        fresh = max(0, payer.charged - payer.stale)
        return ROOM * max(1, len(payer.support)) + MORE * fresh

    @staticmethod
    def _patience(payer: RegisteredDomain) -> float:
        """How many pages that repeat words double the wait of a domain."""
        return STALE * (1 + log2(max(1, len(payer.support))))

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
