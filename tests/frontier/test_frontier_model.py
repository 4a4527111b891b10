"""Any history of verbs, against a model that keeps everything in plain dictionaries."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    rule,
)

from frontier.frontier_play import HandClock, found, take_now, url_of
from opilio.frontier import host_queue, sqlite
from opilio.frontier.memory import MemoryFrontier
from opilio.frontier.next_link import PATIENCE
from opilio.frontier.sqlite import SqliteFrontier
from opilio.records import Lease, State
from opilio.settings import BoundsSettings, PolitenessSettings
from opilio.storage import promise_log
from opilio.storage.database import Database
from opilio.storage.schema import SCHEMA

MANNERS = PolitenessSettings(delay=1.0, ip_delay=0.25, attempts=2, max_rest=50.0)
HOSTS = ("a.one", "b.one", "c.two", "d.two")  # of two domains
names = st.tuples(st.sampled_from(HOSTS), st.sampled_from("xyzuvw")).map("/".join)
limits = st.builds(
    BoundsSettings,
    capacity=st.sampled_from([0, 0, 3, 8]),
    per_host=st.sampled_from([0, 0, 1, 3]),
    per_domain=st.sampled_from([0, 1, 2]),
)
promises = st.one_of(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), st.floats(-2, 2))
links = st.lists(
    st.tuples(names, promises, st.sampled_from(["", "", "", "nofollow"])), min_size=1
)
facts = st.sampled_from(
    [
        ("delay", 0.1),
        ("delay", 4.0),
        ("rest", 2.0),
        ("rest", 1000.0),
        ("ip", "192.0.2.1"),
        ("ip", "192.0.2.2"),
    ]
)
hosts = st.sampled_from([f"{host}.test" for host in HOSTS])


@dataclass
class Known:
    id: int
    promise: float
    state: State
    attempts: int = 0
    not_before: float = -math.inf
    reason: str = ""  # why it is parked

    @property
    def rank(self) -> tuple[float, int]:
        return self.promise, -self.id

    @property
    def is_to_be_visited(self) -> bool:
        return self.state is State.WAITING or self.reason == "capacity"


@dataclass(eq=False)
class Site:
    free_at: float = -math.inf
    touched: float = -math.inf
    delay: float = MANNERS.delay
    rest_until: float = -math.inf
    ip: str = ""
    flying: set[int] = field(default_factory=set)
    taken: int = 0


class AnyHistory(RuleBasedStateMachine):
    leases = Bundle("leases")

    @initialize(bounds=limits)
    def start(self, bounds: BoundsSettings) -> None:
        self.bounds = bounds
        self.loop = asyncio.new_event_loop()
        self.clock = HandClock()
        self.known: dict[str, Known] = {}
        self.sites: dict[str, Site] = {f"{host}.test": Site() for host in HOSTS}
        self.ips: dict[str, float] = {}
        self.open()

    def open(self) -> None:
        self.frontier = MemoryFrontier(
            MANNERS, self.bounds, clock=self.clock, lease_time=math.inf
        )

    def site(self, url: str) -> Site:
        return self.sites[url.split("/")[2]]

    def run(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    def domain(self, url: str) -> list[Site]:
        """The sites that share a budget with this URL's."""
        end = url.split("/")[2].partition(".")[2]
        return [site for host, site in self.sites.items() if host.endswith(end)]

    @property
    def waiting(self) -> list[Known]:
        return [link for link in self.known.values() if link.state is State.WAITING]

    def make_room(self) -> None:
        """The best links wait, as many as may; the others are displaced, not lost."""
        if not self.bounds.capacity:
            return
        both = [link for link in self.known.values() if link.is_to_be_visited]
        both.sort(key=lambda link: link.rank, reverse=True)
        for place, link in enumerate(both):
            waits = place < self.bounds.capacity
            link.state = State.WAITING if waits else State.PARKED
            link.reason = "" if waits else "capacity"

    @rule(batch=links)
    def add(self, batch: list[tuple[str, float, str]]) -> None:
        ids = self.run(self.frontier.add([found(*link) for link in batch]))
        for name, promise, reason in batch:
            if url_of(name) not in self.known:
                state = State.UNUSABLE if reason else State.WAITING
                self.known[url_of(name)] = Known(len(self.known) + 1, promise, state)
        self.make_room()
        for name, promise, reason in batch:
            if not reason:
                self.improve(self.known[url_of(name)], promise)
        assert ids == [self.known[url_of(name)].id for name, _, _ in batch]

    def improve(self, link: Known, promise: float) -> None:
        """Take in that a known link was found once more."""
        if link.is_to_be_visited:
            link.promise = max(link.promise, promise)
        elif link.state is State.UNUSABLE and not link.attempts:
            link.promise, link.state = promise, State.WAITING
        self.make_room()

    @rule(target=leases, n=st.integers(1, 5))
    def take(self, n: int) -> list[Lease]:
        return [lease for _ in range(n) if (lease := self.take_one())]

    def may_be_visited(self, url: str) -> bool:
        now, site, link = self.clock.now, self.site(url), self.known[url]
        return (
            link.state is State.WAITING
            and link.not_before <= now
            and not site.flying
            and max(site.touched + site.delay, site.rest_until) <= now
            and self.ips.get(site.ip, -math.inf) <= now
        )

    def choose(self) -> str | None:
        """The link to visit now; on the way to it, links over budget are parked."""
        held: list[Site] = []
        while possible := [
            (link.rank, url)
            for url, link in self.known.items()
            if self.may_be_visited(url) and self.site(url) not in held
        ]:
            _, url = max(possible)
            link, site, domain = self.known[url], self.site(url), self.domain(url)
            flying = sum(len(s.flying) for s in domain)
            used = flying + sum(s.taken for s in domain)
            if 0 < self.bounds.per_host <= site.taken:
                link.state, link.reason = State.PARKED, "host_budget"
            elif not 0 < self.bounds.per_domain <= used:
                return url
            elif flying:
                held.append(site)  # perhaps that visit costs nothing
            else:
                link.state, link.reason = State.PARKED, "domain_budget"
            self.make_room()
        return None

    def take_one(self) -> Lease | None:
        now = self.clock.now
        lease = self.run(take_now(self.frontier))
        assert (lease.url if lease else None) == self.choose()
        if lease:
            self.lease(lease, now)
        return lease

    def lease(self, lease: Lease, now: float) -> None:
        """Take in that a link is leased."""
        link, site = self.known[lease.url], self.site(lease.url)
        assert (lease.promise, lease.attempts) == (link.promise, link.attempts)
        link.state = State.LEASED
        self.make_room()
        site.flying.add(link.id)
        site.touched = now
        if site.ip:
            self.ips[site.ip] = now + MANNERS.ip_delay

    @rule(n=st.integers(1, 6))
    def visit(self, n: int) -> None:
        """One after the other, so that budgets are used up."""
        for _ in range(n):
            if lease := self.take_one():
                self.done([lease])
            self.clock.pass_by(MANNERS.delay)

    @rule(some=consumes(leases))
    def done(self, some: list[Lease]) -> None:
        for lease in filter(self.is_out, some):
            self.run(self.frontier.done(lease, State.KEPT))
            self.site(lease.url).touched = self.clock.now
            self.site(lease.url).taken += 1
            self.end(lease, State.KEPT)

    @rule(some=consumes(leases), after=st.sampled_from([0.0, 3.0, 1e9]))
    def retry(self, some: list[Lease], after: float) -> None:
        for lease in filter(self.is_out, some):
            again = self.run(self.frontier.retry(lease, after, "timeout"))
            self.site(lease.url).touched = self.clock.now
            assert again == (lease.attempts + 1 < MANNERS.attempts)
            self.end(lease, State.WAITING if again else State.UNUSABLE)
            if again:
                pause = min(after, MANNERS.max_rest)
                self.known[lease.url].not_before = self.clock.now + pause
                self.make_room()

    def is_out(self, lease: Lease) -> bool:
        """Not after a crash: then nobody is left to end it."""
        return lease.id in self.site(lease.url).flying

    def end(self, lease: Lease, state: State) -> None:
        link = self.known[lease.url]
        link.state, link.attempts = state, link.attempts + 1
        self.site(lease.url).flying.discard(link.id)

    @rule(changes=st.dictionaries(names, promises))
    def revise(self, changes: dict[str, float]) -> None:
        waiting = {
            url_of(name): promise
            for name, promise in changes.items()
            if url_of(name) in self.known and self.known[url_of(name)].is_to_be_visited
        }
        prints = [(found(n).link.fingerprint, p) for n, p in changes.items()]
        assert self.run(self.frontier.revise(prints)) == len(waiting)
        for url, promise in waiting.items():
            self.known[url].promise = promise
        self.make_room()

    @rule(host=hosts, told=facts)
    def pace(self, host: str, told: tuple[str, Any]) -> None:
        if not any(url.split("/")[2] == host for url in self.known):
            return
        fact, value = told
        site, now = self.sites[host], self.clock.now
        self.run(self.frontier.pace(host, **{fact: value}))
        if fact == "delay":
            site.delay = max(value, MANNERS.delay)
        elif fact == "rest":
            until = now + min(value, MANNERS.max_rest)
            site.rest_until = max(site.rest_until, until)
        elif site.ip != value:
            seen = site.touched + MANNERS.ip_delay
            site.ip = value
            self.ips[value] = max(self.ips.get(value, -math.inf), seen)

    @rule(seconds=st.sampled_from([0.125, 0.25, 1.0, 4.0, 50.0]))
    def wait(self, seconds: float) -> None:
        self.clock.pass_by(seconds)

    @invariant()
    def nothing_vanishes(self) -> None:
        if not hasattr(self, "frontier"):
            return
        counts = self.frontier.counts()
        states = [link.state for link in self.known.values()]
        assert counts.waiting == states.count(State.WAITING)
        assert counts.leased == states.count(State.LEASED)
        assert counts.waiting <= (self.bounds.capacity or math.inf)
        parked = Counter(link.reason for link in self.known.values() if link.reason)
        told = {
            reason: count
            for (state, reason), count in counts.ended.items()
            if state is State.PARKED
        }
        assert parked == told, (parked, told)
        ended = sum(counts.ended.values())
        assert ended + counts.waiting + counts.leased == len(states)

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            self.loop.close()


class AnyHistoryHeldBack(AnyHistory):
    """With a floor: what is leased is still the best that may be; what is held back is
    so for a reason, and not for ever."""

    haste = 0.25

    def open(self) -> None:
        super().open()
        self.frontier.steer(haste=self.haste)
        self.pages = 0
        self.started: dict[int, tuple[float, Lease]] = {}

    def take_one(self) -> Lease | None:
        now = self.clock.now
        lease = self.run(take_now(self.frontier))
        chosen = self.choose()
        if lease is None and chosen is not None:
            self.assert_held(self.known[chosen])
            return None
        assert (lease.url if lease else None) == chosen
        if lease:
            self.lease(lease, now)
            self.started[lease.id] = now, lease
        return lease

    def assert_held(self, link: Known) -> None:
        """Enough visits are under way, or better links wait for their hosts."""
        now = self.clock.now
        flying = {id for site in self.sites.values() for id in site.flying}
        recent = [id for id in flying if self.started[id][0] > now - PATIENCE]
        better = [
            url
            for url, other in self.known.items()
            if other.state is State.WAITING
            and other.promise > link.promise
            and not self.may_be_visited(url)
        ]
        window = 1 + int(self.pages * self.haste / (1 - self.haste))
        # One that is near and far, after its promise changed, may count twice.
        assert len(recent) + 2 * len(better) >= window

    def end(self, lease: Lease, state: State) -> None:
        super().end(lease, state)
        self.pages += state is State.KEPT

    def everything_ends(self) -> None:
        """Whatever waits is visited or parked in the end."""
        for _, lease in self.started.values():
            if self.is_out(lease):
                self.done([lease])
        for _ in range(500):
            if lease := self.take_one():
                self.done([lease])
            else:
                self.clock.pass_by(1.0)
        assert not any(link.is_to_be_visited for link in self.known.values())

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            self.everything_ends()
        super().teardown()


class AnyHistoryOnDisk(AnyHistory):
    def open(self) -> None:
        if not hasattr(self, "db"):
            self.db = sqlite3.connect(
                ":memory:", isolation_level=None, factory=Database
            )
            self.db.executescript(SCHEMA)
        self.frontier = SqliteFrontier(
            self.db,
            MANNERS,
            self.bounds,
            clock=self.clock,
            wall=self.clock,
            lease_time=math.inf,
        )

    @rule()
    def crash_and_go_on(self) -> None:
        self.run(self.frontier.flush())  # a commit, right before it
        self.open()
        now = self.clock.now
        for site in self.sites.values():
            site.flying.clear()
            site.touched = now if self.known else -math.inf
        self.ips = {
            site.ip: now + MANNERS.ip_delay for site in self.sites.values() if site.ip
        }
        for link in self.known.values():
            link.not_before = -math.inf
            if link.state is State.LEASED:
                link.state = State.WAITING
            elif link.reason.endswith("budget"):
                link.state, link.reason, link.attempts = State.WAITING, "", 0
        self.make_room()

    @rule()  # no invariant: whoever looks makes the table catch up
    def the_table_tells_the_same(self) -> None:
        self.run(self.frontier.flush())
        rows = self.db.execute(
            "SELECT id, url, state, reason, promise, attempts FROM link"
        )
        for id, url, state, reason, promise, attempts in rows.fetchall():
            link = self.known[url]
            due = State.WAITING if link.state is State.LEASED else link.state
            assert (state, attempts) == (due, link.attempts)
            if due is State.PARKED:
                assert reason == link.reason
            if due in (State.WAITING, State.PARKED):
                new = promise_log.new_promise(self.db, id)
                assert (new[1] if new else promise) == link.promise

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "db"):
            self.db.close()


@pytest.fixture(autouse=True)
def tiny_backlogs(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that most links are far and much is swept, also in a short history."""
    monkeypatch.setattr(host_queue, "MOST", 2)
    monkeypatch.setattr(host_queue, "SLACK", 1)


@pytest.fixture(autouse=True)
def tiny_groups_of_new_promises(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that some promises are copied, and others are not yet."""
    monkeypatch.setattr(sqlite, "FIRST", 4)
    monkeypatch.setattr(promise_log, "GROUP_BITS", 2)
    monkeypatch.setattr(promise_log, "MANY", 4)


effort = settings(max_examples=50, stateful_step_count=30, deadline=None)
TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = effort
TestAnyHistoryHeldBack = AnyHistoryHeldBack.TestCase
TestAnyHistoryHeldBack.settings = effort
TestAnyHistoryOnDisk = AnyHistoryOnDisk.TestCase
TestAnyHistoryOnDisk.settings = effort
