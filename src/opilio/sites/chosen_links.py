"""A Frontier that leases only chosen links, with the usual politeness."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields

import msgspec

from opilio.crawl import Bring, CrawlLoop, Stages
from opilio.frontier.memory import MemoryFrontier
from opilio.progress import Counts
from opilio.records import Clock, Fingerprint, Lease, Link, Ranked, Revision, State
from opilio.settings import BoundsSettings, Settings
from opilio.sites.host_budgets import Allowance
from opilio.stage_protocols import Frontier

# These links passed the bounds before; only politeness and, by an Allowance, the
# budgets of their hosts still apply.
OPEN = BoundsSettings(
    max_url_length=2**31,
    max_segments=2**31,
    max_repeats=2**31,
    per_template=0,
    novelty=0,
)
PATIENCE = 10.0  # seconds; hosts that rest longer are skipped
LINK = """
    SELECT link.id, url, fingerprint, promise, depth, level, redirects, found_on, state
    FROM link WHERE link.id = ?
"""


class ChosenLinks:
    """Replaces the frontier of a crawl while chosen links are visited.

    The order is decided in memory; outcomes, and links that are found, go to the
    crawl's own frontier. So after a crash everything waits as before. Links that were
    visited before may be chosen as well; others only within the budgets of their hosts
    and domains. Links of hosts that rest for long are given back, and wait in the crawl
    as before.
    """

    def __init__(
        self,
        frontier: Frontier,
        db: sqlite3.Connection,
        settings: Settings,
        *,
        wall: Clock = time.time,
    ) -> None:
        self.frontier = frontier
        self.db = db
        self.politeness = settings.politeness
        self.wall = wall
        self.turns = MemoryFrontier(self.politeness, OPEN)
        self.allowance = Allowance(db, settings.bounds)
        self.counted: set[int] = set()  # open leases that count as pages
        self.refused: list[int] = []  # beyond a budget; they wait in the crawl
        self.left: list[int] = []  # given back to the crawl
        self.failed = 0  # links that led to no page
        self.asleep: dict[str, float] = {}  # hosts that rest for long, until when
        self.ids: dict[Fingerprint, int] = {}
        self.out: dict[int, Lease] = {}  # id -> the lease in memory
        self.hosts: set[str] = set()  # of the links chosen so far

    async def choose(self, links: Mapping[int, float]) -> None:
        """Queue links, by id, in the order of these promises.

        Their hosts rest first, since they may have been visited a moment ago.
        """
        for id, promise in links.items():
            url, fingerprint, host, delay, ip, until = self.db.execute(
                "SELECT url, fingerprint, name, delay, ip, rest_until "
                "FROM link JOIN host ON host.id = link.host WHERE link.id = ?",
                (id,),
            ).fetchone()
            self.ids[fingerprint] = id
            await self.turns.add([Ranked(Link(url, fingerprint), promise)])
            if host not in self.hosts:
                self.hosts.add(host)
                pause = max(delay or 0.0, self.politeness.delay)
                short = self.bearable(host, (until or 0.0) - self.wall())
                rest = None if short is None else max(pause, short)
                await self.turns.pace(host, delay=delay, ip=ip, rest=rest)

    def bearable(self, host: str, rest: float) -> float | None:
        """How long to wait for a host; None: too long, its links are skipped."""
        rest = min(rest, self.politeness.max_rest)
        if rest <= PATIENCE:
            return rest
        self.asleep[host] = self.wall() + rest
        return None

    def rests(self, host: str) -> bool:
        """Whether a host rests for too long to wait for it."""
        return self.asleep.get(host, 0.0) > self.wall()

    async def take(self) -> Lease | None:
        """The best chosen link whose host may be visited now; None: all are done."""
        while turn := await self.turns.take():
            if self.rests(turn.host):
                await self.leave(self.ids[turn.fingerprint], turn)
                continue
            id, url, fingerprint, promise, depth, level, redirects, found_on, state = (
                self.db.execute(LINK, (self.ids[turn.fingerprint],)).fetchone()
            )
            if state == State.WAITING and id not in self.counted:
                if not self.allowance.take(turn.host):
                    await self.refuse(id, turn)
                    continue
                self.counted.add(id)
            self.out[id] = turn
            return Lease(
                *(id, url, fingerprint, turn.host, promise, depth, level, redirects),
                attempts=turn.attempts,
                found_on=found_on,
                is_doubted=turn.is_doubted,
            )
        return None

    async def refuse(self, id: int, turn: Lease) -> None:
        """Skip a link whose host or domain has used up its budget."""
        self.refused.append(id)
        await self.turns.done(turn, State.PARKED, "budget", contacted=False)

    async def leave(self, id: int, turn: Lease, *, contacted: bool = False) -> None:
        """Give a link back to the crawl because its host rests for too long."""
        self.left.append(id)
        await self.turns.done(turn, State.PARKED, "rests", contacted=contacted)

    async def add(
        self,
        found: Iterable[Ranked],
        via: Lease | None = None,
        *,
        redirect: bool = False,
    ) -> list[int]:
        """Queue links in the crawl; the redirect target of a chosen link is chosen."""
        batch = list(found)
        ids = await self.frontier.add(batch, via, redirect=redirect)
        if redirect and via:
            turn = self.out.get(via.id, via)
            onward = [id for id in ids if id and self.state(id) == State.WAITING]
            await self.choose(dict.fromkeys(onward, turn.promise))
        return ids

    def unchanging(self, links: Sequence[Fingerprint]) -> Mapping[Fingerprint, int]:
        """None: what is known may be chosen when it is found again."""
        return {}

    def support(self, ids: Sequence[int], host: str) -> None:
        """Note which known links a page of this host has."""
        self.frontier.support(ids, host)

    def heard(self, host: str, stems: bytes | None, size: int = 0) -> None:
        """Note the words and bytes of a page of this host."""
        self.frontier.heard(host, stems, size)

    def without_floods(self, links: Sequence[Link], host: str) -> Sequence[Link]:
        """The links of a page that are not part of a flood of hosts."""
        return self.frontier.without_floods(links, host)

    def beyond_room(self, links: Sequence[Link], host: str) -> Collection[int]:
        """The places of the links of a page that the strategy need not look at."""
        return self.frontier.beyond_room(links, host)

    def state(self, id: int) -> str:
        """The state of a link."""
        return state_of(self.db, id)

    async def done(
        self,
        lease: Lease,
        state: State,
        reason: str = "",
        *,
        contacted: bool = True,
        likeness: str = "",
    ) -> None:
        """End a lease, also in the crawl if the link waited there."""
        failed = state in (State.UNUSABLE, State.PARKED)
        self.failed += failed
        is_page = not failed and reason != "redirect"
        self.settle(lease, is_page)
        if is_page and self.state(lease.id) == State.WAITING:
            self.db.execute(
                "UPDATE host SET taken = taken + 1 WHERE name = ?", (lease.host,)
            )
        await self.frontier.done(
            lease, state, reason, contacted=contacted, likeness=likeness
        )
        await self.learn(lease.host)
        if turn := self.out.pop(lease.id, None):
            await self.turns.done(turn, state, reason, contacted=contacted)

    async def retry(
        self,
        lease: Lease,
        after: float,
        reason: str,
        *,
        counted: bool = True,
        contacted: bool = True,
    ) -> bool:
        """Queue the link here again, or in the crawl if that takes too long; False, and
        it is unusable, after too many attempts."""
        await self.learn(lease.host)
        self.settle(lease, is_page=False)
        turn = self.out.pop(lease.id, None)
        if turn and (self.rests(lease.host) or after > PATIENCE):
            await self.leave(lease.id, turn, contacted=contacted)
            return True
        again = turn is None or await self.turns.retry(
            turn, after, reason, counted=counted, contacted=contacted
        )
        if not again:
            self.failed += 1
            await self.frontier.done(lease, State.UNUSABLE, reason, contacted=contacted)
        return again

    def settle(self, lease: Lease, is_page: bool) -> None:
        """After a visit without a page, do not count it against the budgets."""
        if lease.id in self.counted:
            self.counted.remove(lease.id)
            if not is_page:
                self.allowance.give_back(lease.host)

    async def learn(self, host: str) -> None:
        """Apply what the crawl has learnt about the pace of a host."""
        row = self.db.execute("SELECT delay, ip FROM host WHERE name = ?", (host,))
        delay, ip = row.fetchone()
        await self.turns.pace(host, delay=delay, ip=ip)

    async def revise(self, revisions: Iterable[Revision]) -> int:
        """Pass new promises on to the crawl, for later runs."""
        return await self.frontier.revise(revisions)

    async def pace(
        self,
        host: str,
        *,
        delay: float | None = None,
        rest: float | None = None,
        ip: str | None = None,
        why: str = "",
    ) -> bool:
        """Note what was learnt about a host, here and in the crawl."""
        await self.frontier.pace(host, delay=delay, rest=rest, ip=ip, why=why)
        if rest is not None:
            rest = self.bearable(host, rest)
        return await self.turns.pace(host, delay=delay, rest=rest, ip=ip)

    async def reopen(self, id: int, reason: str) -> Fingerprint:
        """Do nothing: finished links are not reopened here."""
        return 0

    def retry_due(self) -> int:
        """Do nothing: links that failed are not tried again here."""
        return 0

    def overlook(self, lease: Lease) -> None:
        """Do nothing: no link is held back for another."""

    def steer(
        self, *, haste: float = 1.0, breadth: float = 0.0, calibrated: bool = False
    ) -> None:
        """Do nothing: links are chosen one by one here."""

    def counts(self) -> Counts:
        """The counts of the crawl, with those waiting and leased here."""
        here = self.turns.counts()
        return msgspec.structs.replace(
            self.frontier.counts(),
            waiting=here.waiting,
            leased=here.leased,
            ready=here.ready,
            resting=here.resting,
            awaited=here.awaited,
            awaited_for=here.awaited_for,
        )

    async def flush(self) -> None:
        """Write everything in memory to the transaction."""
        await self.frontier.flush()

    def close(self) -> None:
        """Let every waiting `take` return None."""
        self.turns.close()


def state_of(db: sqlite3.Connection, id: int) -> str:
    """The state of a link."""
    return str(db.execute(LINK, (id,)).fetchone()[-1])


def crawl_of_chosen(
    crawl: CrawlLoop,
    errand: ChosenLinks,
    pages: int = 0,
    visitor: Callable[[CrawlLoop], Bring] | None = None,
) -> CrawlLoop:
    """A crawl like this one that visits only chosen links; 0: no page budget besides
    these links."""
    most = crawl.store.catalogue.pages + pages if pages else 0
    limits = msgspec.structs.replace(crawl.settings.crawl, max_pages=most)
    settings = msgspec.structs.replace(crawl.settings, crawl=limits)
    ours = {field.name: getattr(crawl, field.name) for field in fields(Stages)}
    return CrawlLoop(settings, Stages(**ours | {"frontier": errand}), visitor)
