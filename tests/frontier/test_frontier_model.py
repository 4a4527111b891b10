"""Any history of verbs, against a model that keeps everything in plain dictionaries."""

from __future__ import annotations

import asyncio
import math
import sqlite3
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
from opilio.config import Bounds, Politeness
from opilio.database import SCHEMA
from opilio.frontier import backlog
from opilio.frontier.memory import MemoryFrontier
from opilio.frontier.sqlite import SqliteFrontier
from opilio.types import Lease, State

MANNERS = Politeness(delay=1.0, ip_delay=0.25, attempts=2, max_rest=50.0)
names = st.tuples(st.sampled_from("abcd"), st.integers(1, 6)).map(
    lambda pair: f"{pair[0]}/{'xyzuvw'[pair[1] - 1]}"
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
hosts = st.sampled_from([f"{host}.test" for host in "abcd"])


@dataclass
class Known:
    id: int
    promise: float
    state: State
    attempts: int = 0
    not_before: float = -math.inf


@dataclass
class Site:
    free_at: float = -math.inf
    touched: float = -math.inf
    delay: float = MANNERS.delay
    rest_until: float = -math.inf
    ip: str = ""
    flying: set[int] = field(default_factory=set)


class AnyHistory(RuleBasedStateMachine):
    leases = Bundle("leases")

    @initialize()
    def start(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.clock = HandClock()
        self.known: dict[str, Known] = {}
        self.sites: dict[str, Site] = {f"{host}.test": Site() for host in "abcd"}
        self.ips: dict[str, float] = {}
        self.open()

    def open(self) -> None:
        self.frontier = MemoryFrontier(
            MANNERS, Bounds(), clock=self.clock, lease_time=math.inf
        )

    def site(self, url: str) -> Site:
        return self.sites[url.split("/")[2]]

    def run(self, coroutine):
        return self.loop.run_until_complete(coroutine)

    @rule(batch=links)
    def add(self, batch: list[tuple[str, float, str]]) -> None:
        ids = self.run(self.frontier.add([found(*link) for link in batch]))
        for (name, promise, reason), id in zip(batch, ids, strict=True):
            link = self.known.get(url_of(name))
            if link is None:
                state = State.UNUSABLE if reason else State.WAITING
                link = self.known[url_of(name)] = Known(
                    len(self.known) + 1, promise, state
                )
            elif not reason and link.state is State.WAITING:
                link.promise = max(link.promise, promise)
            elif not reason and link.state is State.UNUSABLE and not link.attempts:
                link.promise, link.state = promise, State.WAITING
            assert link.id == id

    @rule(target=leases, n=st.integers(1, 5))
    def take(self, n: int) -> list[Lease]:
        return [lease for _ in range(n) if (lease := self.take_one())]

    def take_one(self) -> Lease | None:
        now = self.clock.now
        possible = [
            (link.promise, -link.id, url)
            for url, link in self.known.items()
            if link.state is State.WAITING
            and link.not_before <= now
            and not (site := self.site(url)).flying
            and max(site.touched + site.delay, site.rest_until) <= now
            and self.ips.get(site.ip, -math.inf) <= now
        ]
        lease = self.run(take_now(self.frontier))
        assert (lease.url if lease else None) == (
            max(possible)[2] if possible else None
        )
        if lease:
            link, site = self.known[lease.url], self.site(lease.url)
            assert (lease.promise, lease.attempts) == (link.promise, link.attempts)
            link.state = State.LEASED
            site.flying.add(link.id)
            site.touched = now
            if site.ip:
                self.ips[site.ip] = now + MANNERS.ip_delay
        return lease

    @rule(some=consumes(leases))
    def done(self, some: list[Lease]) -> None:
        for lease in filter(self.is_out, some):
            self.run(self.frontier.done(lease, State.KEPT))
            self.site(lease.url).touched = self.clock.now
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
            if url_of(name) in self.known
            and self.known[url_of(name)].state is State.WAITING
        }
        prints = [(found(n).link.fingerprint, p) for n, p in changes.items()]
        assert self.run(self.frontier.revise(prints)) == len(waiting)
        for url, promise in waiting.items():
            self.known[url].promise = promise

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
        ended = sum(counts.ended.values())
        assert ended + counts.waiting + counts.leased == len(states)

    def teardown(self) -> None:
        if hasattr(self, "loop"):
            self.loop.close()


class AnyHistoryOnDisk(AnyHistory):
    def open(self) -> None:
        if not hasattr(self, "db"):
            self.db = sqlite3.connect(":memory:", isolation_level=None)
            self.db.executescript(SCHEMA)
        self.frontier = SqliteFrontier(
            self.db,
            MANNERS,
            Bounds(),
            clock=self.clock,
            wall=self.clock,
            lease_time=math.inf,
        )

    @rule()
    def crash_and_go_on(self) -> None:
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

    @invariant()
    def the_table_tells_the_same(self) -> None:
        if not hasattr(self, "db"):
            return
        rows = self.db.execute("SELECT url, state, promise, attempts FROM link")
        for url, state, promise, attempts in rows:
            link = self.known[url]
            due = State.WAITING if link.state is State.LEASED else link.state
            assert (state, attempts) == (due, link.attempts)
            if due is State.WAITING:
                assert promise == link.promise

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "db"):
            self.db.close()


@pytest.fixture(autouse=True)
def tiny_backlogs(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that most links are far and much is swept, also in a short history."""
    monkeypatch.setattr(backlog, "MOST", 2)
    monkeypatch.setattr(backlog, "SLACK", 1)


effort = settings(max_examples=150, stateful_step_count=30, deadline=None)
TestAnyHistory = AnyHistory.TestCase
TestAnyHistory.settings = effort
TestAnyHistoryOnDisk = AnyHistoryOnDisk.TestCase
TestAnyHistoryOnDisk.settings = effort
