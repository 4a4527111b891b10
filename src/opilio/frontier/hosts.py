"""Records of hosts, and of the domains and addresses that several hosts share."""

from __future__ import annotations

import math

import msgspec

from opilio.frontier.host_queue import Backlog

NEVER = math.inf
LONG_AGO = -math.inf


class RegisteredDomain(msgspec.Struct):
    """A registrable domain, whose hosts share a budget and a standing."""

    name: str
    taken: int = 0  # pages, against its budget
    flying: int = 0  # open leases
    held: list[int] = []  # hosts that wait until these end
    branch: str = ""  # the domain by which it came into the crawl, see standing.py
    support: tuple[str, ...] = ()  # branches that link to it
    is_established: bool = False  # it has a seed, or much support
    charged: int = 0  # pages of it, and of its branch as far as that has no support
    stale: int = 0  # those that repeat words of others, less what was forgiven
    waiting: int = 0  # links of these that wait, about
    next_visit: float = 0.0  # number of the visit before which others go first

    @property
    def has_seed(self) -> bool:
        """Whether somebody chose it: then it has no limit. (Support is forgotten.)"""
        return self.is_established and not self.support


class Address(msgspec.Struct):
    """An IP address, whose hosts share a delay."""

    number: int
    free_at: float = LONG_AGO
    before: float = LONG_AGO  # when it had been free before its last use
    alarm: float = NEVER  # when it is checked next
    held: list[tuple[int, int]] = []  # heap of ready hosts that wait for this address


class Host(msgspec.Struct):
    """A host: its waiting links, its clock, and its place in the choice.

    It 1. has no waiting links, or as many leases as it may: neither offer nor alarm;
    2. rests: has an alarm; 3. is ready: offers its best link.
    """

    number: int
    name: str
    domain: RegisteredDomain
    delay: float
    touched: float  # when a lease was last given or ended
    backlog: Backlog
    offer: int = 0  # its entry among the ready hosts
    alarm: float = NEVER  # its time among the resting hosts
    awaited: int = 0  # its entry among the hosts that are waited for
    rest_until: float = LONG_AGO
    address: Address | None = None
    flying: int = 0
    taken: int = 0  # pages
    asked: int = 0  # leases given, those of earlier runs only if they brought a page
    factor: float = 1.0  # by a user's rule: 0 blocks it, 2 doubles what it promises

    @property
    def free_at(self) -> float:
        """When it may be visited again."""
        return max(self.touched + self.delay, self.rest_until)


class Out(msgspec.Struct, frozen=True):
    """An open lease, as the frontier sees it."""

    host: Host
    started: float
    before: float  # the host's previous `touched`
    expires: float
    is_slow: bool = False  # others need not wait for its page
