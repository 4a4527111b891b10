"""A worker: crawls the shards that it owns, in rounds.

A round lasts as long as the worker owns the same shards. It begins with a crawl.db made
from PostgreSQL and with the lessons of all workers, and goes on as any crawl does. When
a worker comes or goes, the others end their rounds, give shards back or take some over,
and begin the next.
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from opilio.assembly.build import Ways, assemble, find_seeds, make_network
from opilio.assembly.plan import Plan
from opilio.cluster.common import GATHERED, add_seeds, seeds_of, set_once, setting
from opilio.cluster.connection import PatientConnection, open_postgres
from opilio.cluster.lessons import Hearing
from opilio.cluster.load import load_shards
from opilio.cluster.parts import RoundFolder, WorkFolders
from opilio.cluster.record import Recorder
from opilio.cluster.shards import (
    HeldShards,
    LostShards,
    WorkersState,
    fair_share,
    register_worker,
)
from opilio.cluster.sharing import ShardFrontier, ShardSharing, ShardStore
from opilio.crawl import CrawlLoop
from opilio.fetch.egress import Egress
from opilio.fetch.http import HttpFetch
from opilio.frontier.sqlite import SqliteFrontier
from opilio.records import Subject
from opilio.settings import StoreSettings
from opilio.store.folder import CrawlFolder
from opilio.store.store import Store

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)

MOVING = "shards"  # why a round ends when shards go to other workers
HEAR_SECONDS = 0.3  # between two looks for what others have told
WAIT = 0.05  # seconds between two looks whether the lease was renewed
AT_A_TIME = 50  # lessons that are learnt in one turn

Watch = Callable[[CrawlLoop], Awaitable[None]]
"""Shows a round while it runs; cancelled when it ends."""


class LeasedEgress(Egress):
    """Makes requests only while the lease is certain to last."""

    shards: HeldShards

    async def before_request(self) -> None:
        """Wait until the lease was renewed, if that was too long ago."""
        while not self.shards.may_request():  # noqa: ASYNC110  # a matter of time
            await asyncio.sleep(WAIT)


class Worker:
    """Works on the crawl in a database until it ends."""

    def __init__(self, dsn: str, plan: Plan, subject: Subject, home: Path) -> None:
        self.dsn = dsn
        settings = msgspec.structs.replace(plan.search, index=False)
        self.plan: Plan = msgspec.structs.replace(plan, search=settings)
        self.subject = subject
        self.folders = WorkFolders(home)
        self.lease = plan.store.lease
        with open_postgres(dsn) as db:
            self.shards = HeldShards(
                register_worker(db, my_name(), self.lease), self.lease
            )
        database, pulse = PatientConnection(dsn), PatientConnection(dsn)
        self.ask, self.ask_pulse = database.ask, pulse.ask
        self.connections = (database, pulse)
        self.recorder = Recorder(dsn, self.shards)
        self.crawl: CrawlLoop | None = None  # in a round
        self.sharing: ShardSharing | None = None
        self.hearing = Hearing(self.shards.worker, ())
        self.rounds = 0
        self.pages = self.kept = 0  # of all rounds
        self.others_pages = 0  # as the budget knows it
        self.stopped = ""  # a signal has come
        self.lost: LostShards | None = None

    async def run(self, watch: Watch) -> str:
        """Work until the crawl ends; returns why."""
        beats = asyncio.create_task(self.beat_regularly())
        try:
            await self.ask(self.folders.adopt)
            reason = ""
            while not reason:
                reason = await self.next_round(watch)
        finally:
            beats.cancel()
            await asyncio.gather(beats, return_exceptions=True)
        await self.ask(lambda db: self.shards.leave(db, reason))
        self.recorder.close()
        for connection in self.connections:
            connection.close()
        return reason

    async def next_round(self, watch: Watch) -> str:
        """Crawl the shards that are ours now; returns why the crawl ended, or ""."""
        if self.stopped:
            return self.stopped
        died = await self.ask(self.take_share)
        if not self.shards.epochs:
            standing = await self.ask(self.shards.standing)
            await asyncio.sleep(self.lease / 8)
            return standing.ended
        try:
            reason = await self.round(self.lease if died else 0.0, watch)
        except LostShards as lost:
            log.warning("%s", lost)
            await self.ask(self.rejoin)
            self.lost = None
            return ""
        return "" if reason == MOVING else reason

    def take_share(self, db: psycopg.Connection) -> bool:
        """Give back what is more than our share, or take what is free; returns whether
        a worker has died that owned some of it."""
        share = fair_share(self.shards.standing(db).live)
        surplus = sorted(self.shards.epochs)[share:]
        if surplus:
            self.shards.release(db, surplus)
            return False
        return self.shards.take(db, share - len(self.shards.epochs))

    def rejoin(self, db: psycopg.Connection) -> None:
        """Give up everything; what is still ours may be taken after the lease."""
        self.shards.leave(db, "lost")
        self.shards.worker = register_worker(db, my_name(), self.lease)
        self.recorder.batch = 0

    async def round(self, rest: float, watch: Watch) -> str:
        """Crawl until the end, or until shards must move; returns why."""
        self.rounds += 1
        folder = self.folders.new_round(self.shards.worker, self.rounds)
        try:
            await self.ask(
                partial(load_shards, folder=folder, shards=self.shards.epochs)
            )
            self.hearing = Hearing(self.shards.worker, self.shards.epochs)
            async with assemble(
                self.plan, folder, self.subject, self.ways(folder, rest)
            ) as crawl:
                return await self.go(crawl, watch)
        finally:
            self.crawl = None
            await self.ask(lambda db: self.folders.seal(db, folder))

    async def go(self, crawl: CrawlLoop, watch: Watch) -> str:
        """Run the loop of a round."""
        await self.catch_up(crawl)
        await self.gather(crawl)
        seeds = await self.ask(seeds_of)
        standing = await self.ask(self.shards.standing)
        self.others_pages = standing.others_pages
        crawl.budget.spent = standing.others_pages + standing.own_pages
        self.crawl = crawl
        if self.stopped:
            return self.stopped
        async with watching(watch, crawl):
            try:
                return await crawl.run(seeds, [self.hear_regularly])
            finally:
                self.pages += crawl.tally.pages
                self.kept += crawl.tally.kept

    def ways(self, folder: RoundFolder, rest: float) -> Ways:
        """The parts of a crawl that differ in a worker."""

        def store(folder: CrawlFolder, settings: StoreSettings, every: bool) -> Store:
            made = ShardStore(folder, settings, every)
            made.watch()
            return made

        def frontier(*arguments: Any, **settings: Any) -> SqliteFrontier:
            made = ShardFrontier(*arguments, **settings, rest=rest)
            made.is_fed = True
            made.shards = self.shards
            return made

        def fetch(plan: Plan, store: Store, frontier: SqliteFrontier) -> HttpFetch:
            network = make_network(plan, store, frontier, way_out=LeasedEgress)
            network.egress.shards = self.shards  # type: ignore[attr-defined]
            return network

        def sharing(store: Store, frontier: SqliteFrontier) -> ShardSharing:
            assert isinstance(store, ShardStore)  # noqa: S101
            assert isinstance(frontier, ShardFrontier)  # noqa: S101
            self.sharing = ShardSharing(
                store, frontier, self.shards, self.recorder, self.hearing, folder
            )
            return self.sharing

        return Ways(store=store, frontier=frontier, fetch=fetch, sharing=sharing)

    async def catch_up(self, crawl: CrawlLoop) -> None:
        """Learn from everything that was told before this round."""
        while await self.hear(crawl):
            pass

    async def hear(self, crawl: CrawlLoop) -> int:
        """Learn from what was told since the last time; returns how much that was."""
        news = await self.ask(self.hearing.fetch)
        for place in range(0, len(news), AT_A_TIME):
            assert self.sharing is not None  # noqa: S101
            await self.sharing.hear(crawl, news[place : place + AT_A_TIME])
        return len(news)

    async def hear_regularly(self) -> None:
        """Hear what others tell, until the round ends; raises LostShards."""
        crawl = self.crawl
        while crawl and await crawl.is_working(after=HEAR_SECONDS):
            if self.lost:
                raise self.lost
            await self.hear(crawl)

    async def gather(self, crawl: CrawlLoop) -> None:
        """Ask search engines, sites and seed sources for seeds, if nobody did so."""
        listed = await find_listed(self.plan, self.subject, crawl, self.ask)
        if listed:
            await self.ask(lambda db: add_seeds(db, listed))

    async def beat_regularly(self) -> None:
        """Renew the lease, and see how the others do."""
        while True:
            try:
                idle, heard = self.is_idle(), self.hearing.count
                standing = await self.ask_pulse(partial(self.beat, idle, heard))
            except LostShards as lost:
                self.lost = lost
            else:
                self.act(standing)
            await asyncio.sleep(self.lease / 4)

    def beat(self, idle: bool, heard: int, db: psycopg.Connection) -> WorkersState:
        """Renew the lease, and say whether we are idle, and what we have heard."""
        self.shards.renew(db, is_idle=idle, heard=heard)
        standing = self.shards.standing(db)
        if standing.is_finished and not standing.ended:
            set_once(db, "ended", b"exhausted")
            standing = standing._replace(ended="exhausted")
        return standing

    def is_idle(self) -> bool:
        """Whether nothing waits here, and everything is recorded."""
        if self.crawl is None or self.sharing is None or not self.sharing.is_recorded:
            return False
        return self.sharing.frontier.is_idle()

    def act(self, standing: WorkersState) -> None:
        """End the round if the crawl ends or shards must move; count what others do."""
        crawl = self.crawl
        if crawl is None:
            return
        crawl.budget.spent += standing.others_pages - self.others_pages
        self.others_pages = standing.others_pages
        crawl.budget.wake()
        if crawl.budget.is_spent:
            crawl.stop_soon("budget")
        mine, share = len(self.shards.epochs), fair_share(standing.live)
        if standing.ended:
            crawl.stop_soon(standing.ended)
        elif mine > share or (mine < share and standing.free):
            crawl.stop_soon(MOVING)

    def stop(self, reason: str) -> None:
        """Stop soon, for example because of a signal; the second time at once."""
        if self.stopped and self.crawl:
            self.crawl.stop_now()
        self.stopped = reason
        if self.crawl:
            self.crawl.stop_soon(reason)


def my_name() -> str:
    """The machine and the process."""
    return f"{platform.node()}:{os.getpid()}"


async def find_listed(
    plan: Plan, subject: Subject, crawl: CrawlLoop, ask: Callable[..., Awaitable[Any]]
) -> dict[str, float]:
    """The seeds of the topic, which one worker gathers."""
    if await ask(lambda db: setting(db, GATHERED)):
        return {}
    found = await find_seeds(plan, subject, crawl)
    await ask(lambda db: set_once(db, GATHERED, b"yes"))
    return found


@asynccontextmanager
async def watching(watch: Watch, crawl: CrawlLoop) -> AsyncIterator[None]:
    """Show a crawl while the block lasts."""

    async def show() -> None:
        await watch(crawl)

    task = asyncio.create_task(show())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
