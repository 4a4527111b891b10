"""A worker: crawls the shards that it owns, in rounds.

A round lasts as long as the worker owns the same shards. It begins with a crawl.db made
from PostgreSQL and with the lessons of all workers, and runs as any crawl does. When
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
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import msgspec

from opilio.assembly.build import Ways, assemble
from opilio.assembly.find_seeds import find_seeds
from opilio.assembly.network import make_network
from opilio.assembly.plan import Plan
from opilio.cluster.common import GATHERED, add_seeds, seeds_of, set_once, setting
from opilio.cluster.connection import PatientConnection, library, open_postgres
from opilio.cluster.heartbeat import Heartbeat
from opilio.cluster.lessons import Hearing, one_of
from opilio.cluster.load import load_shards
from opilio.cluster.models import begin, can_publish
from opilio.cluster.part_keeper import PartKeeper
from opilio.cluster.parts import RoundFolder, WorkFolders
from opilio.cluster.record import Recorder
from opilio.cluster.shards import (
    HeldShards,
    LostShards,
    WorkersState,
    register_worker,
)
from opilio.cluster.shared_gate import SharedGate, forget_addresses
from opilio.cluster.sharing import ShardFrontier, ShardSharing, ShardStore
from opilio.cluster.told import ToldWorker
from opilio.cluster.trainer import Trainer
from opilio.crawl import CrawlLoop, Stages
from opilio.errors import OpilioError
from opilio.fetch.egress import Egress
from opilio.fetch.http import HttpFetch
from opilio.frontier.sqlite import SqliteFrontier
from opilio.protocols import Experienced
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
PART_BYTES = 2**26  # size at which a worker begins a new WARC file
FIRST_SHARD = 0  # its owner does what only one worker shall do

Watch = Callable[[CrawlLoop], Awaitable[None]]
"""Shows a round while it runs; cancelled when it ends."""


class LeasedEgress(Egress):
    """Makes requests only while the lease is certain to last."""

    shards: HeldShards

    def share(self, shards: HeldShards, gate: SharedGate) -> None:
        """Depend on the lease of these shards and on a gate of all workers."""
        self.shards, self._gate = shards, gate

    async def before_request(self) -> None:
        """Wait until the lease was renewed, if that was too long ago."""
        while not self.shards.may_request():  # noqa: ASYNC110  # a matter of time
            await asyncio.sleep(WAIT)


class Worker:
    """Works on the crawl in a database until it ends."""

    def __init__(self, dsn: str, plan: Plan, subject: Subject, home: Path) -> None:
        self.dsn = dsn
        self.plan = plan
        self.subject = subject
        self.folders = WorkFolders(home, plan.store.warc)
        self.lease = plan.store.lease
        with open_postgres(dsn) as db:
            self.shards = HeldShards(self.register(db), self.lease)
        self.database = PatientConnection(dsn)
        self.ask = self.database.ask
        self.gate = PatientConnection(dsn)
        self.recorder = Recorder(dsn, self.shards)
        self.pulse: Heartbeat | None = None
        self.parts = PartKeeper(
            dsn, self.folders, plan.store, lambda: self.shards.worker
        )
        self.crawl: CrawlLoop | None = None  # in a round
        self.sharing: ShardSharing | None = None
        self.told: ToldWorker | None = None
        self.hearing = Hearing(self.shards.worker, ())
        self.trainer: Trainer | None = None  # if models are published
        self.rounds = 0
        self.live = 1  # workers, with this one
        self.pages = self.kept = 0  # of all rounds
        self.others_pages = 0  # as the budget knows it
        self.stopped = ""  # a signal has come
        self.lost: Exception | None = None  # the lease, or the way to renew it
        self.ends_at = monotonic() + plan.crawl.max_time  # if there is a limit

    async def run(self, watch: Watch) -> str:
        """Work until the crawl ends; returns why."""
        self.pulse = Heartbeat(self.dsn, self.shards, self)
        self.pulse.start()
        try:
            await self.ask(self.folders.adopt)
            self.parts.start()
            reason = ""
            while not reason:
                reason = await self.next_round(watch)
            await self.ask(self.folders.adopt)  # what could not be sealed before
            await self.ask(partial(self.leave, reason))
        except library().Error as error:
            raise OpilioError(
                f"PostgreSQL does not do what is asked: {str(error).strip()}; what "
                "this worker had not recorded is done again by others"
            ) from error
        finally:
            await self.parts.stop()
            await asyncio.to_thread(self.pulse.stop)
            self.recorder.close()
            self.database.close()
            self.gate.close()
        return reason

    async def next_round(self, watch: Watch) -> str:
        """Crawl the shards that are ours now; returns why the crawl ended, or ""."""
        if self.stopped:
            return self.stopped
        try:
            self.check_lease()
            await self.ask(self.take_share)
            if self.shards.epochs:
                reason = await self.round(watch)
                return "" if reason == MOVING else reason
            await self.ask(partial(begin, worker=self.shards.worker))
            standing = await self.ask(self.shards.standing)
        except LostShards as lost:
            log.warning("%s", lost)
            await self.ask(self.rejoin)
            self.lost = None
            return ""
        await asyncio.sleep(self.lease / 8)
        return standing.ended

    def check_lease(self) -> None:
        """Raise what keeps us from renewing the lease, if anything does."""
        if self.lost:
            raise self.lost

    def take_share(self, db: psycopg.Connection) -> None:
        """Give back what is more than our share, or take what is free."""
        standing = self.shards.standing(db)
        share, self.live = standing.share, standing.live
        surplus = sorted(self.shards.epochs)[share:]
        if surplus:
            self.shards.release(db, surplus)
        else:
            self.shards.take(db, share - len(self.shards.epochs))
        if FIRST_SHARD in self.shards:
            forget_addresses(db)

    def register(self, db: psycopg.Connection) -> int:
        """Join the crawl; returns our number."""
        return register_worker(db, my_name(), self.lease, self.folders.name)

    def rejoin(self, db: psycopg.Connection) -> None:
        """Start over under another number, with nothing."""
        self.recorder.is_closing = True
        self.shards.abandon(db)
        with self.shards.lock:
            self.shards.worker = self.register(db)
        self.recorder = Recorder(self.dsn, self.shards)

    def leave(self, reason: str, db: psycopg.Connection) -> None:
        """Give everything back; a budget that is spent ends the crawl for all."""
        if reason == "budget":
            set_once(db, "ended", reason.encode())
        self.shards.leave(db, reason)

    async def round(self, watch: Watch) -> str:
        """Crawl until the end, or until shards must move; returns why."""
        self.rounds += 1
        folder = self.folders.new_round(self.shards.worker, self.rounds)
        try:
            await self.ask(
                partial(load_shards, folder=folder, shards=self.shards.epochs)
            )
            self.hearing = Hearing(self.shards.worker, self.shards.epochs)
            self.hearing.one_of = one_of(self.live)
            rest = await self.ask(self.shards.rest)
            async with assemble(
                self.plan_of_round(), folder, self.subject, self.ways(folder, rest)
            ) as crawl:
                self.parts.round = folder, lambda: crawl.store.warc.name
                return await self.go(crawl, watch)
        finally:
            self.crawl = self.parts.round = None
            self.note_state()
            await self.ask(lambda db: self.folders.seal(db, folder))

    def plan_of_round(self) -> Plan:
        """The plan with the time that is left."""
        limits = self.plan.crawl
        if not limits.max_time:
            return self.plan
        left = max(self.ends_at - monotonic(), 0.001)
        crawl = msgspec.structs.replace(limits, max_time=left)
        return msgspec.structs.replace(self.plan, crawl=crawl)

    async def go(self, crawl: CrawlLoop, watch: Watch) -> str:
        """Run the loop of a round."""
        if self.sharing and isinstance(crawl.strategy, Experienced):
            self.sharing.strategy = crawl.strategy
            crawl.strategy.experiences()  # from now on
        await self.catch_up(crawl)
        await self.gather(crawl)
        seeds = await self.ask(seeds_of)
        standing = await self.ask(self.shards.standing)
        self.others_pages = standing.others_pages
        crawl.budget.spent = standing.others_pages + standing.own_pages
        self.crawl = crawl
        if self.stopped:
            return self.stopped
        assert self.sharing is not None  # noqa: S101
        self.told = ToldWorker(crawl, self.plan, self.subject, self.sharing, self.ask)
        if ended := await self.told.look():
            return ended
        async with watching(watch, crawl):
            try:
                return await crawl.run(seeds, [self.hear_regularly])
            finally:
                self.pages += crawl.tally.pages
                self.kept += crawl.tally.kept

    def ways(self, folder: RoundFolder, rest: float) -> Ways:
        """The parts of a crawl that differ in a worker."""

        def store(folder: CrawlFolder, settings: StoreSettings, every: bool) -> Store:
            most = min(settings.warc_bytes, PART_BYTES)
            limits = msgspec.structs.replace(settings, warc_bytes=most)
            made = ShardStore(folder, limits, every)
            made.part_seconds = settings.part_seconds
            made.watch()
            return made

        def frontier(*arguments: Any, **settings: Any) -> SqliteFrontier:
            made = ShardFrontier(*arguments, **settings, rest=rest)
            made.expect_links()
            made.shards = self.shards
            return made

        def fetch(plan: Plan, store: Store, frontier: SqliteFrontier) -> HttpFetch:
            network = make_network(plan, store, frontier, way_out=LeasedEgress)
            assert isinstance(network.egress, LeasedEgress)  # noqa: S101
            gate = SharedGate(plan.politeness.ip_delay, self.gate)
            network.egress.share(self.shards, gate)
            return network

        def sharing(store: Store, frontier: SqliteFrontier) -> ShardSharing:
            assert isinstance(store, ShardStore)  # noqa: S101
            assert isinstance(frontier, ShardFrontier)  # noqa: S101
            store.frontier = frontier
            self.sharing = ShardSharing(
                store, frontier, self.shards, self.recorder, self.hearing, folder
            )
            return self.sharing

        def crawl(plan: Plan, stages: Stages) -> CrawlLoop:
            return CrawlLoop(plan, replace(stages, grow_index=None))  # copies have one

        return Ways(
            store=store, frontier=frontier, fetch=fetch, crawl=crawl, sharing=sharing
        )

    async def catch_up(self, crawl: CrawlLoop) -> None:
        """Learn from everything that was told before this round: the newest model and
        what it tells nothing of, our own links; then the lessons after it."""
        assert self.sharing is not None  # noqa: S101
        worker = self.shards.worker
        self.trainer = None
        if can_publish(crawl):
            self.trainer = Trainer(worker, self.lease, self.sharing, self.ask)
        if model := await self.ask(partial(begin, worker=worker)):
            hear_all = partial(self.hear_all, crawl)
            await self.sharing.begin_from(crawl, model, self.ask, hear_all)
        await self.hear_all(crawl)
        self.hearing.is_live = True

    async def hear_all(self, crawl: CrawlLoop) -> None:
        """Learn from all that there is to hear."""
        while await self.hear(crawl):
            self.check_lease()

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
            self.check_lease()
            await self.hear(crawl)
            if self.trainer:
                await self.trainer.work(crawl)
            if self.told and (ended := await self.told.look()):
                crawl.stop_soon(ended)
            self.note_state()

    async def gather(self, crawl: CrawlLoop) -> None:
        """Ask search engines, sites and seed sources for seeds, unless that was done.
        The owner of the first shard does so; the others wait, since sites are asked
        that are theirs."""
        while not await self.ask(lambda db: setting(db, GATHERED)):
            self.check_lease()
            if self.stopped:
                return
            if FIRST_SHARD in self.shards:
                found = await find_seeds(self.plan, self.subject, crawl)
                await self.ask(partial(keep_seeds, found))
            await asyncio.sleep(max(HEAR_SECONDS, self.plan.politeness.delay))

    def note_state(self) -> None:
        """Let the next beat say whether we are idle, and what we have heard."""
        if self.pulse:
            self.pulse.state = self.is_idle(), self.hearing.count

    def is_idle(self) -> bool:
        """Whether nothing waits here, and everything is recorded."""
        if self.crawl is None or self.sharing is None or not self.sharing.is_recorded:
            return False
        return self.sharing.frontier.is_idle()

    def fail(self, error: Exception, worker: int) -> None:
        """End the round: the lease was lost, or cannot be renewed."""
        if worker == self.shards.worker:  # else that was before we joined again
            self.lost = error

    def act(self, standing: WorkersState) -> None:
        """End the round if the crawl ends or shards must move; count what others do."""
        if standing.must_look:
            self.parts.look_soon()
        crawl = self.crawl
        if crawl is None:
            return
        crawl.budget.spent += standing.others_pages - self.others_pages
        self.others_pages = standing.others_pages
        crawl.budget.wake()
        if crawl.budget.is_spent:
            crawl.stop_soon("budget")
        mine, share = len(self.shards.epochs), standing.share
        if standing.ended:
            crawl.stop_soon(standing.ended)
        elif mine > share or (mine < share and standing.free):
            crawl.stop_soon(MOVING)

    def stop(self, reason: str) -> None:
        """Stop soon, for example because of a signal; the second time at once, and
        without waiting for the server."""
        if self.stopped:
            self.recorder.is_closing = self.database.is_closing = True
            self.gate.is_closing = True
            if self.crawl:
                self.crawl.stop_now()
        self.stopped = reason
        if self.crawl:
            self.crawl.stop_soon(reason)


def my_name() -> str:
    """The machine and the process."""
    return f"{platform.node()}:{os.getpid()}"


def keep_seeds(found: dict[str, float], db: psycopg.Connection) -> None:
    """Add the seeds that were gathered; nobody needs to do that again."""
    add_seeds(db, found)
    set_once(db, GATHERED, b"yes")


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
