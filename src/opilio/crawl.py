"""The loop: it alone knows the order of the stages.

Many visits are under way at a time, but the brain is one sequential piece: judging,
ranking, keeping and the frontier's own change happen in one turn, and a commit falls
between turns, never into one. A crash repeats visits; it never loses one.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import (
    Awaitable,
    Callable,
    Coroutine,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from opilio.errors import MachineLimit, OpilioError, Transient, Unusable, full_disk
from opilio.fetch.expected_redirects import ExpectedRedirects
from opilio.limits import strategy_output
from opilio.limits.budget import Budget
from opilio.limits.followable_links import obstacles, to_follow
from opilio.limits.schedule import Schedule
from opilio.limits.scope import Scope
from opilio.limits.stop_when_dry import LOOK_EVERY, is_dry
from opilio.protocols import (
    Estimator,
    Fetch,
    Frontier,
    Judge,
    Learner,
    Observer,
    Profiles,
    QueryJudges,
    Readers,
    Remembering,
    Reviser,
    Strategy,
    Teachable,
    TopicUpdates,
)
from opilio.records import (
    SEED_PROMISE,
    Clock,
    Estimate,
    Fingerprint,
    Lease,
    Link,
    Page,
    Ranked,
    Reading,
    Response,
    State,
    Verdict,
)
from opilio.settings import Settings
from opilio.store.seed_notes import note_seed
from opilio.store.store import Store, is_full_disk
from opilio.text import urls

MOVED = "moved"  # why a link was parked whose redirect is known without asking
DRAIN_SECONDS = 10.0
Bring = Callable[[Lease], Awaitable[int]]
"""Visits a link; answers the number of pages it brought: one or none."""

INDEX_SECONDS = 2.0  # between two looks whether the index is behind


class FoundPage(NamedTuple):
    """A relevant page, as it is shown while the crawl runs."""

    score: float
    title: str
    url: str


@dataclass
class Tally:
    """What this run has done so far."""

    started: float = field(default_factory=time.monotonic)
    pages: int = 0
    kept: int = 0
    recent: deque[bool] = field(default_factory=lambda: deque(maxlen=100))
    found: deque[FoundPage] = field(default_factory=lambda: deque(maxlen=10))

    def count(self, kept: bool) -> None:
        """One more page."""
        self.pages += 1
        self.kept += kept
        self.recent.append(kept)


@dataclass(frozen=True, kw_only=True)
class Stages:
    """The parts of a crawl, in the order in which a link meets them."""

    scope: Scope
    frontier: Frontier
    fetch: Fetch
    readers: Readers
    judge: Judge
    strategy: Strategy
    store: Store
    learners: Mapping[str, Learner] = field(default_factory=dict)
    followed: TopicUpdates | None = None  # a topic that changes
    query_judges: QueryJudges | None = None
    profiles: Profiles | None = None  # of pages and of their sites
    grow_index: Callable[[], None] | None = None  # takes up what was committed
    clock: Clock = time.monotonic


class Turn:
    """One turn of a crawl's brain: all of it counts, or nothing."""

    def __init__(self, crawl: CrawlLoop, page: Fingerprint | None) -> None:
        self.crawl = crawl
        self.page = page

    async def __aenter__(self) -> None:
        await self.crawl.brain.acquire()
        if self.page is not None:
            self.crawl.store.in_hand.take(self.page)

    async def __aexit__(
        self, _: object, error: BaseException | None, trace: object
    ) -> None:
        if error is not None:
            self.crawl.broken = True
        if self.page is not None:
            self.crawl.store.in_hand.put_down(self.page, error)
        self.crawl.brain.release()


class CrawlLoop:
    """One crawl, from its seeds to its end."""

    def __init__(
        self,
        settings: Settings,
        stages: Stages,
        visitor: Callable[[CrawlLoop], Bring] | None = None,
    ) -> None:
        """`visitor` makes what visits a link, in the place of `fetch_page`."""
        self.settings = settings
        self.scope = stages.scope
        self.frontier = stages.frontier
        self.fetch = stages.fetch
        self.readers = stages.readers
        self.judge = stages.judge
        self.strategy = stages.strategy
        # Asked once: a protocol looks at all its methods every time.
        self.reviser = self.strategy if isinstance(self.strategy, Reviser) else None
        self.observer = self.strategy if isinstance(self.strategy, Observer) else None
        self.estimator = self.strategy if isinstance(self.strategy, Estimator) else None
        self.store = stages.store
        self.followed = stages.followed
        self.query_judges = stages.query_judges
        self.judges: dict[int, Judge] = {}  # of links that are visited for a query
        self.profiles = stages.profiles
        self.grow_index = stages.grow_index
        self.redirects = ExpectedRedirects()
        if learnt := self.store.learnt("redirects"):
            self.redirects.load(learnt)
        self.learners = {**stages.learners, "redirects": self.redirects}
        self.planted: frozenset[Fingerprint] = frozenset()  # the seeds
        self.clock = stages.clock
        self.tally = Tally()
        self.schedule = Schedule(0, 0.0, 0.0)
        self.bell: asyncio.TimerHandle | None = None  # rings when the time is up
        self.budget = Budget(settings.crawl.max_pages, self.store.catalogue.pages)
        self.brain = asyncio.Lock()
        self.broken = False  # a turn failed half-way; nothing may be committed any more
        self.committed = asyncio.Event()  # set by the next commit
        self.workers: list[asyncio.Task[None]] = []
        self.no_room: MachineLimit | None = None
        self.stopped = ""  # why, once it is
        self.bring = visitor(self) if visitor else self.fetch_page

    async def run(
        self,
        seeds: Mapping[str, float],
        beside: Sequence[Callable[[], Coroutine[Any, Any, None]]] = (),
    ) -> str:
        """Crawl from seeds with their promises until nothing is left to do; answers
        why it ended. What runs beside the workers must end when they do."""
        await self.plant(seeds)
        limits = self.settings.crawl
        pages = max(limits.max_pages - self.budget.spent, 0)
        self.schedule = Schedule(pages, limits.max_time, self.clock())
        self.keep_pace()
        if limits.max_time:
            loop = asyncio.get_running_loop()
            self.bell = loop.call_later(limits.max_time, self.stop_soon, "time")
        # Once it is known that the crawl has begun, hosts rest after every opening.
        await self.commit()
        if self.reviser:  # looking through all links takes time
            self.planted = self.store.catalogue.seeds(SEED_PROMISE)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.settings.crawl.in_flight):
                    self.workers.append(group.create_task(self.work()))
                group.create_task(self.commit_regularly())
                for task in beside:
                    group.create_task(task())
                if self.grow_index:
                    group.create_task(self.index_regularly(self.grow_index))
                if self.followed and self.followed.every:
                    group.create_task(self.follow(self.followed))
        except BaseExceptionGroup as errors:
            error = first_of(errors)
            if is_full_disk(error):
                error = full_disk(self.store.folder.path, error)
            raise error from errors
        finally:
            if self.bell:
                self.bell.cancel()
        if self.no_room:
            raise self.no_room
        return self.stopped or ("budget" if self.budget.is_spent else "exhausted")

    def keep_pace(self) -> None:
        """Wait for better links, unless there is no time for that."""
        late = self.schedule.is_late(self.tally.pages, self.clock())
        self.frontier.steer(
            haste=1.0 if late else self.settings.crawl.haste,
            breadth=self.settings.crawl.breadth,
            calibrated=getattr(self.strategy, "calibrated", False),
        )

    def turn(self, page: Fingerprint | None = None) -> Turn:
        """One turn of the brain, maybe with a page in hand; for `async with`."""
        return Turn(self, page)

    async def work(self) -> None:
        """Visit one link after another."""
        while await self.budget.reserve():
            lease = await self.frontier.take()
            pages = await self.visit(lease) if lease else 0
            self.budget.settle(pages)
            if lease is None:
                return

    async def visit(self, lease: Lease) -> int:
        """Visit one link; answers the number of pages it brought: one or none."""
        try:
            if self.store.in_hand.is_deadly(lease.fingerprint):
                raise Unusable(
                    "poison",
                    f"the process died with {lease.url} in hand, again and again",
                    contacted=False,
                )
            return await self.bring(lease)
        except Transient as error:
            await self.postpone(lease, error)
        except Unusable as error:
            # A host that is silent now may not be for ever: its links wait again when
            # the crawl is opened next.
            state = State.PARKED if error.reason == "dead_host" else State.UNUSABLE
            async with self.turn():
                self.missed(lease, state)
                await self.frontier.done(
                    lease, state, error.reason, contacted=error.contacted
                )
                if lease.redirects:
                    # Perhaps it was expected, wrongly: ask the one that led here.
                    original = await self.frontier.reopen(lease.found_on, MOVED)
                    if original:
                        self.redirects.doubt(original)
        return 0

    async def fetch_page(self, lease: Lease) -> int:
        """Ask for a link and keep the page, or go where it points to."""
        if expected := self.expected_target(lease):
            await self.move_on(lease, expected)
            return 0
        response = await self.fetch.fetch(lease.url)
        if 300 <= response.status < 400:
            target = urls.join(lease.url, response.location)
            if target:
                self.redirects.note(lease.url, target)
            return await self.redirect(lease, response, target)
        self.redirects.note_page(lease.url)
        return await self.keep(lease, response)

    def expected_target(self, lease: Lease) -> str:
        """Where a link will redirect to, as others of its host did; "": not known."""
        target = self.redirects.expect(lease.url, lease.fingerprint)
        if lease.redirects >= self.settings.fetch.max_redirects:
            return ""
        return target if target and self.scope.allows(target) else ""

    async def move_on(self, lease: Lease, target: str) -> None:
        """Let the target of a redirect wait in place of a link, without asking."""
        async with self.turn():
            onward = Ranked(
                Link(target, urls.fingerprint(target)), lease.promise, level=lease.level
            )
            await self.frontier.add([onward], via=lease, redirect=True)
            self.missed(lease, State.COPY)
            await self.frontier.done(lease, State.PARKED, MOVED, contacted=False)

    async def keep(self, lease: Lease, response: Response) -> int:
        """Read a page, unless its content was seen before, and record it."""
        content = urls.fingerprint(response.body)
        reading = Reading(None)
        if not self.store.seen.find(content):
            reading = await self.readers.read(response)
            page = reading.page
            if page and page.refresh and page.refresh != lease.url:
                return await self.redirect(lease, response, page.refresh)
        async with self.turn(lease.fingerprint):
            return await self.record(lease, response, content, reading)

    async def record(
        self, lease: Lease, response: Response, content: Fingerprint, reading: Reading
    ) -> int:
        """Judge, rank and keep a page, all of it in one turn; answers one, or none if
        it is recorded already.

        A page is 1. a copy: its links are not followed; 2. unreadable; 3. new.
        """
        if await self.is_recorded(lease):
            return 0
        page, verdict = reading.page, None
        state, reason, like = State.COPY, "", ""
        if original := self.store.seen.find(content):
            reason = "content"
            self.store.save_copy(lease, response, original, content)
        elif page is None:
            state, reason = State.UNUSABLE, reading.reason
            self.store.save_unread(lease, response)
        elif original := self.near_copy(page):
            reason = "near"
            self.store.save_near_copy(
                lease, response, reading.record, content, page, original
            )
        else:
            if lease.promise >= SEED_PROMISE:
                page = msgspec.structs.replace(page, is_seed=True)
            verdict = self.judges.get(lease.id, self.judge).judge(page)
            strategy_output.check_verdict(self.settings.crawl.judge, verdict, page)
            followed, links = page, self.to_follow(page)
            if links is not page.links:
                followed = msgspec.structs.replace(page, links=links)
            ids = await self.rank(followed, verdict, lease)
            self.store.save_page(
                lease, response, reading.record, content, page, verdict, ids
            )
            if self.profiles:
                self.profiles.keep(lease, response, page, verdict, again=False)
            state = State.KEPT if verdict.relevant else State.IRRELEVANT
            like = likeness(page)
            self.note_seed(page, lease)
            if self.reviser:
                await self.revise(self.reviser)
        if state in (State.COPY, State.UNUSABLE):
            self.missed(lease, state)
        await self.frontier.done(lease, state, reason, likeness=like)
        # A page that asks not to be shown cannot be exported: it is no harvest.
        shown = page is not None and not page.noindex
        self.tally.count(state is State.KEPT and shown)
        if verdict and page and verdict.relevant and shown:
            self.tally.found.append(FoundPage(verdict.score, page.title, lease.url))
        if self.schedule.seconds:
            self.keep_pace()
        self.stop_if_dry()
        return 1

    def stop_if_dry(self) -> None:
        """End the crawl if that is wanted and little is left to be found."""
        if not self.settings.crawl.stop_when_dry or self.tally.pages % LOOK_EVERY:
            return
        if is_dry(self.tally.recent, self.estimate()):
            self.stop_soon("dry")

    def estimate(self) -> Estimate | None:
        """How many relevant pages are still to be found, if the strategy can tell."""
        return self.estimator.estimate() if self.estimator else None

    async def is_recorded(self, lease: Lease) -> bool:
        """Was the page recorded by a visit whose lease had run out, or was followed by
        another? Whichever comes first counts; both leases end."""
        outcome = self.store.catalogue.outcome_of(lease.id)
        if outcome:
            await self.frontier.done(lease, *outcome)
        return outcome is not None

    async def redirect(self, lease: Lease, response: Response, target: str) -> int:
        """Give the target of a redirect to the frontier, which decides about it."""
        if not target:
            raise Unusable("bad_redirect", f"{lease.url} redirects to no web address")
        if not self.scope.allows(target):
            raise Unusable("scope", f"{lease.url} redirects out of scope to {target}")
        if lease.redirects >= self.settings.fetch.max_redirects:
            raise Unusable(
                "redirects",
                f"{lease.url} is redirect number {lease.redirects} in a row; the limit "
                f"is {self.settings.fetch.max_redirects} (fetch.max_redirects)",
            )
        link = Link(target, urls.fingerprint(target))
        if link.fingerprint == lease.fingerprint:
            raise Unusable("redirect_loop", f"{lease.url} redirects to itself")
        async with self.turn(lease.fingerprint):
            if await self.is_recorded(lease):
                return 0
            onward = Ranked(link, lease.promise, level=lease.level)
            [original] = await self.frontier.add([onward], via=lease, redirect=True)
            self.store.save_redirect(lease, response, original or None)
            self.missed(lease, State.COPY)
            await self.frontier.done(lease, State.COPY, "redirect")
            if response.status < 300:  # a page after all, that sends its readers on
                self.tally.count(False)
        return int(response.status < 300)

    async def postpone(self, lease: Lease, error: Transient) -> None:
        """Let a link wait and be tried again."""
        if error.reason == "robots_first":
            # What robots.txt says is durable before the host is visited again, so
            # that its delay is kept even across a crash.
            await self.committed.wait()
        async with self.turn():
            if error.host_rests:
                await self.frontier.pace(lease.host, rest=error.after, why=error.reason)
            await self.frontier.retry(
                lease,
                error.after,
                error.reason,
                counted=error.counted,
                contacted=error.contacted,
            )

    async def rank(self, page: Page, verdict: Verdict, lease: Lease) -> list[int]:
        """Let the links of a page wait, each with its promise; answers their ids."""
        name = self.settings.crawl.strategy
        ranked = strategy_output.as_list(name, self.strategy.rank(page, verdict, lease))
        try:
            return await self.frontier.add(ranked, via=lease)
        except (AttributeError, TypeError, ValueError):
            strategy_output.refuse_links(name, ranked)
            raise

    async def revise(self, strategy: Reviser) -> None:
        """Take what a strategy thinks now of links that wait; seeds come first
        regardless.

        They are planted anew whenever the crawl goes on, so one that was revised would
        change its place by that. What sites list of themselves is no such seed.
        """
        news = [new for new in strategy.revise() if new[0] not in self.planted]
        try:
            await self.frontier.revise(news)
        except (TypeError, ValueError):
            strategy_output.refuse_revisions(self.settings.crawl.strategy, news)
            raise

    @property
    def pupils(self) -> list[Teachable]:
        """The judge and the strategy, as far as they learn from labels."""
        both = (self.judge, self.strategy)
        return [one for one in both if isinstance(one, Teachable)]

    async def teach(self, page: Page, relevant: bool) -> None:
        """Give the true label of a page that was judged; links are re-scored by it."""
        async with self.turn():
            for pupil in self.pupils:
                pupil.teach(page, relevant)
            if self.reviser:
                await self.revise(self.reviser)

    def missed(self, lease: Lease, state: State) -> None:
        """Let those who want to know hear of a visit without a new page."""
        if self.profiles:
            self.profiles.missed(lease, state)
        if self.observer:
            self.observer.missed(lease, state)

    def to_follow(self, page: Page) -> Sequence[Link]:
        """The links of a page that neither it nor our scope forbids."""
        return to_follow(page, self.scope)

    def note_seed(self, page: Page, lease: Lease) -> None:
        """Keep why a seed that somebody chose leads nowhere, if it does."""
        if lease.depth or lease.promise < SEED_PROMISE:
            return
        if found := obstacles(page, lease.url, self.scope):
            note_seed(self.store.catalogue, lease.url, found)

    def near_copy(self, page: Page) -> int:
        """The id of a page that this one nearly repeats, or 0."""
        if not self.settings.crawl.near_copies or not page.simhash:
            return 0
        return self.store.near.find(page.simhash)

    async def plant(self, seeds: Mapping[str, float]) -> None:
        """Let the seeds wait before everything else, the most promising first."""
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

    async def is_working(self, *, after: float) -> bool:
        """Is a worker left after so many seconds? Answers at once when none is."""
        _, pending = await asyncio.wait(self.workers, timeout=after)
        return bool(pending)

    async def commit_regularly(self) -> None:
        """Commit in groups until the last worker has ended, and once more then."""
        working = True
        while working:
            working = await self.is_working(after=self.settings.store.commit_every)
            await self.commit()
            try:
                self.store.folder.require_room(self.settings.store.min_free)
            except MachineLimit as limit:
                self.no_room = limit
                self.stop_soon("disk")

    async def index_regularly(self, grow: Callable[[], None]) -> None:
        """Let the search index take up what was committed, until the crawl ends."""
        working = True
        while working:
            working = await self.is_working(after=INDEX_SECONDS)
            await asyncio.to_thread(grow)

    async def follow(self, topic: TopicUpdates) -> None:
        """Look now and then whether the topic has changed; judge by it from then on."""
        while await self.is_working(after=topic.every):
            await self.look_again(topic)

    async def look_again(self, topic: TopicUpdates) -> None:
        """Judge by what the topic is now, if it has changed."""
        news = await asyncio.to_thread(topic.look)
        if news is None:
            return
        async with self.turn():
            change = topic.take(news)
            if change:
                self.judge, setup = change
                self.readers.renew(setup)
                self.store.catalogue.save_event(
                    "topic", pages=self.tally.pages, asked=topic.asked
                )

    async def commit(self) -> None:
        """Make everything that was recorded durable, between two turns."""
        async with self.turn():
            if self.broken:
                raise RuntimeError("a turn has failed; nothing more is committed")
            for name, learner in self.learners.items():
                if (learnt := learner.dump()) is not None:
                    self.store.save_learnt(name, learnt)
            if estimate := self.estimate():
                self.store.save_learnt("estimate", msgspec.json.encode(estimate))
            if isinstance(self.strategy, Remembering):
                self.store.save_notes(self.strategy.changes())
            await self.store.flush()
            await self.frontier.flush()
            if self.profiles:
                self.profiles.flush()
            self.store.commit()
            committed, self.committed = self.committed, asyncio.Event()
            committed.set()

    def stop_soon(self, reason: str) -> None:
        """Begin no more visits; those under way may end within some seconds."""
        if not self.stopped:
            self.stopped = reason
            self.budget.close()
            self.frontier.close()
            asyncio.get_running_loop().call_later(DRAIN_SECONDS, self.stop_now)

    def stop_now(self) -> None:
        """Drop the visits under way; they will be repeated."""
        for worker in self.workers:
            worker.cancel()


def first_of(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error to tell of several: one of ours, if there is one."""
    ours, others = errors.split(OpilioError)
    group: BaseException | None = ours or others
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group or errors


def likeness(page: Page) -> str:
    """What a page has in common with others that say nothing else: so many words, and
    so many terms of the topic. Of a calendar's pages only the dates differ."""
    return f"{page.words} {sum(page.terms.values())}"
