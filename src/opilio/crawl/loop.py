"""The crawl loop: workers that visit links, commits meanwhile, and the end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from opilio.crawl.slow_lane import SlowLane
from opilio.crawl.stages import Stages
from opilio.crawl.visit import Bring, PageVisits
from opilio.errors import MachineLimit, OpilioError, full_disk
from opilio.limits.budget import Budget
from opilio.progress import Estimate
from opilio.protocols import Estimator, Remembering, Rescorer, Seeker, Teachable
from opilio.records import SEED_PROMISE, Lease, Link, Page, Ranked
from opilio.settings import Settings
from opilio.store.store import is_full_disk
from opilio.text import urls

if TYPE_CHECKING:
    from opilio.crawl.rescoring import Rescoring
    from opilio.limits.schedule import Schedule
    from opilio.stage_protocols import TopicUpdates

DRAIN_SECONDS = 10.0  # for visits under way when a crawl is stopped
TRIM_SECONDS = 20.0  # between two times that unused memory is given back
INDEX_SECONDS = 2.0  # between two checks whether the index is behind

Beside = Callable[[], Coroutine[Any, Any, None]]
"""A task that runs beside the workers."""


class CrawlLoop(PageVisits):
    """One crawl, from its seeds to its end."""

    def __init__(
        self,
        settings: Settings,
        stages: Stages,
        visitor: Callable[[CrawlLoop], Bring] | None = None,
    ) -> None:
        """`visitor` makes the function that visits a link, instead of `fetch_page`."""
        super().__init__(settings, stages)
        self.estimator = self.strategy if isinstance(self.strategy, Estimator) else None
        self.followed = stages.followed
        self.query_judges = stages.query_judges
        self.grow_index = stages.grow_index
        self.learners = {**stages.learners, "redirects": self.redirects}
        if self.opinions:
            self.learners["opinions"] = self.opinions
        self.clock = stages.clock
        self.schedule: Schedule | None = None  # if there is a time limit
        self.bell: asyncio.TimerHandle | None = None  # ends the crawl on time
        self.budget = Budget(settings.crawl.max_pages, self.store.catalogue.pages)
        self.lane = SlowLane(
            settings.crawl.in_flight,
            on_slow=self.replace_slow,
            give_back=partial(self.budget.settle, 0),
            on_back=self.budget.reserve_again,
        )
        self.group: asyncio.TaskGroup  # of the run
        self.workers: list[asyncio.Task[None]] = []
        self.no_room: MachineLimit | None = None
        self.stopped = ""  # the reason, once the crawl was stopped
        if visitor:
            self.bring = visitor(self)
        self.rescoring: Rescoring | None = None
        if self.followed and isinstance(self.strategy, Rescorer):
            from opilio.crawl.rescoring import Rescoring  # few strategies need it

            self.rescoring = Rescoring(self, self.strategy)
            if self.rescoring.was_interrupted:
                if isinstance(self.strategy, Seeker):
                    self.strategy.seek(self.followed.subject)
                self.rescoring.begin()
            self.settles = False  # it may compare what a page links to

    async def run(
        self, seeds: Mapping[str, float], beside: Sequence[Beside] = ()
    ) -> str:
        """Crawl from seeds with their promises until nothing is left to do; returns
        why it ended. What runs beside the workers must end soon after them."""
        await self.plant(seeds)
        limits = self.settings.crawl
        if limits.max_time:
            from opilio.limits.schedule import Schedule

            pages = max(limits.max_pages - self.budget.spent, 0)
            self.schedule = Schedule(pages, limits.max_time, self.clock())
        self.keep_pace()
        if limits.max_time:
            loop = asyncio.get_running_loop()
            self.bell = loop.call_later(limits.max_time, self.stop_soon, "time")
        # Once the start is committed, hosts rest whenever the crawl is opened again.
        await self.commit()
        if lost := self.store.lost_texts():
            self.extracting().resume(lost)
        if self.reviser:  # looking through all links takes time
            self.planted = self.store.catalogue.seeds(SEED_PROMISE)
        try:
            async with asyncio.TaskGroup() as self.group:
                group = self.group
                for _ in range(self.settings.crawl.in_flight):
                    self.hire()
                group.create_task(self.commit_regularly())
                group.create_task(self.trim_regularly())
                for task in beside:
                    group.create_task(task())
                if self.grow_index:
                    group.create_task(self.index_regularly(self.grow_index))
                if self.followed and self.followed.every:
                    group.create_task(self.follow(self.followed))
                    if self.rescoring:
                        group.create_task(self.rescoring.go_on())
        except BaseExceptionGroup as errors:
            error = first_of(errors)
            if is_full_disk(error):
                error = full_disk(self.store.folder.path, error)
            raise error from errors
        finally:
            if self.extractions:
                self.extractions.cancel()
            if self.bell:
                self.bell.cancel()
        if self.no_room:
            raise self.no_room
        if self.stopped or self.budget.is_spent:
            return self.stopped or "budget"
        return "resting" if getattr(self.frontier, "rested", False) else "exhausted"

    async def plant(self, seeds: Mapping[str, float]) -> None:
        """Queue the seeds before everything else, the most promising first."""
        found = [
            Ranked(
                Link(canonical, urls.fingerprint(canonical)),
                promise,
                {"seed": 1.0},
            )
            for url, promise in seeds.items()
            for canonical in [urls.canonical(url)]
        ]
        async with self.turn():
            await self.frontier.add(found)

    def keep_pace(self) -> None:
        """Hold links back for better ones, unless the crawl is behind schedule."""
        late = self.schedule and self.schedule.is_late(self.tally.pages, self.clock())
        self.frontier.steer(
            haste=1.0 if late else self.settings.crawl.haste,
            breadth=self.settings.crawl.breadth,
            calibrated=getattr(self.strategy, "calibrated", False),
        )

    def hire(self) -> None:
        """Start one more worker."""
        self.workers = [worker for worker in self.workers if not worker.done()]
        work = self.work()
        try:
            self.workers.append(self.group.create_task(work))
        except RuntimeError:  # another one has failed, and the crawl ends
            work.close()

    def replace_slow(self, lease: Lease) -> None:
        """Let another worker take the place of one with a slow visit."""
        self.frontier.overlook(lease)
        self.hire()

    async def work(self) -> None:
        """Visit one link after another."""
        while await self.may_visit():
            lease = await self.frontier.take()
            pages = await self.visit(lease) if lease else 0
            self.budget.settle(pages)
            if lease is None:
                return
            if self.budget.is_spent:
                self.lane.clear()
            if pages:
                self.look_around()
            if self.lane.surplus:
                self.lane.surplus -= 1
                return

    async def may_visit(self) -> bool:
        """May another visit begin? Waits to know."""
        return await self.budget.reserve()

    def look_around(self) -> None:
        """Go faster, slower or no further, as the pages so far suggest."""
        if self.schedule:
            self.keep_pace()
        self.stop_if_dry()

    def stop_if_dry(self) -> None:
        """End the crawl if `stop_when_dry` is set and little is left to find."""
        if not self.settings.crawl.stop_when_dry:
            return
        from opilio.limits.stop_when_dry import LOOK_EVERY, is_dry

        if self.tally.pages % LOOK_EVERY:
            return
        if is_dry(self.tally.recent, self.estimate()):
            self.stop_soon("dry")

    def estimate(self) -> Estimate | None:
        """How many relevant pages are still to be found, if the strategy can tell."""
        return self.estimator.estimate() if self.estimator else None

    @property
    def pupils(self) -> list[Teachable]:
        """The judge and the strategy, if they learn from labels."""
        both = (self.judge, self.strategy)
        return [one for one in both if isinstance(one, Teachable)]

    async def teach(self, page: Page, relevant: bool) -> None:
        """Give the true label of a page that was judged; links are re-scored by it."""
        async with self.turn():
            for pupil in self.pupils:
                pupil.teach(page, relevant)
            if self.reviser:
                await self.revise(self.reviser)

    async def is_working(self, *, after: float) -> bool:
        """Whether a worker is left after so many seconds; returns early if none is."""
        await asyncio.wait(self.workers, timeout=after)
        return not all(worker.done() for worker in self.workers)

    async def commit_regularly(self) -> None:
        """Commit at intervals until the last worker has ended, then once more."""
        from opilio.limits.disk_space import require_disk_space  # not needed at first

        working = True
        while working:
            working = await self.is_working(after=self.settings.store.commit_every)
            if working:
                self.frontier.retry_due()
            else:
                await self.finish()
            await self.commit()
            try:
                require_disk_space(self.store.folder.path, self.settings.store.min_free)
            except MachineLimit as limit:
                self.no_room = limit
                self.stop_soon("disk")

    async def finish(self) -> None:
        """Do what is left once the last worker has ended."""
        if self.extractions:
            await self.extractions.finish()
        if self.tdm and self.tdm.wanted and not self.stopped:
            await self.tdm.ask_rest()

    async def trim_regularly(self) -> None:
        """Give back memory that is no longer used, until the crawl ends."""
        while await self.is_working(after=TRIM_SECONDS):
            from opilio.limits.unused_memory import trim_memory  # by long crawls

            trim_memory()

    async def index_regularly(self, grow: Callable[[], None]) -> None:
        """Add what was committed to the search index, until the crawl ends."""
        working = True
        while working:
            working = await self.is_working(after=INDEX_SECONDS)
            await asyncio.to_thread(grow)

    async def follow(self, topic: TopicUpdates) -> None:
        """Check at intervals whether the topic has changed, and apply the change."""
        while await self.is_working(after=topic.every):
            await self.look_again(topic)

    async def look_again(self, topic: TopicUpdates) -> None:
        """Use a new judge and reader setup if the topic has changed."""
        news = await asyncio.to_thread(topic.look)
        if news is None:
            return
        async with self.turn():
            change = topic.take(news)
            if change:
                self.judge, setup = change
                self.readers.renew(setup)
                if self.opinions:
                    self.opinions.adviser.seek(topic.subject)
                if self.rescoring:
                    self.rescoring.begin()
                self.store.catalogue.save_event(
                    "topic",
                    pages=self.tally.pages,
                    asked=topic.asked,
                    keywords=topic.changes,
                )

    async def commit(self) -> None:
        """Commit everything that was recorded, between two turns."""
        async with self.turn():
            if self.broken:
                raise RuntimeError("a turn has failed; nothing more is committed")
            for name, learner in self.learners.items():
                if (learnt := learner.dump()) is not None:
                    self.store.save_learnt(name, learnt)
            if estimate := self.estimate():
                self.store.save_learnt("estimate", msgspec.json.encode(estimate))
            busy = self.frontier.counts().busy
            self.store.save_learnt("busy", msgspec.json.encode(busy))
            if isinstance(self.strategy, Remembering):
                self.store.save_notes(self.strategy.changes())
            await self.store.flush()
            await self.frontier.flush()
            if self.profiles:
                self.profiles.flush()
            if self.sharing:
                await self.sharing.record()
            self.store.commit()
            committed, self.committed = self.committed, asyncio.Event()
            committed.set()

    def stop_soon(self, reason: str, within: float = DRAIN_SECONDS) -> None:
        """Begin no more visits; drop those that are under way after so many seconds."""
        if not self.stopped:
            self.stopped = reason
            self.budget.close()
            self.frontier.close()
        asyncio.get_running_loop().call_later(within, self.stop_now)

    def stop_now(self) -> None:
        """Cancel the visits under way; the next run repeats them."""
        for worker in self.workers:
            worker.cancel()


def first_of(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The exception to report from a group, preferring ours."""
    ours, others = errors.split(OpilioError)
    group: BaseException | None = ours or others
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group or errors
