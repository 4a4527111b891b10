"""The crawl loop: takes links, fetches, judges and stores pages, ranks their links.

Many visits are under way at a time, but decisions are sequential: judging a page,
ranking its links, storing it and updating the frontier happen in one turn, and commits
happen only between turns. A crash repeats visits; it never loses one.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import (
    Awaitable,
    Callable,
    Mapping,
    Sequence,
)
from dataclasses import dataclass, field
from typing import NamedTuple

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

MOVED = "moved"  # reason of a link parked because its redirect can be predicted
DRAIN_SECONDS = 10.0
Bring = Callable[[Lease], Awaitable[int]]
"""Visits a link; returns the number of pages it brought: 1 or 0."""

INDEX_SECONDS = 2.0  # between two checks whether the index is behind


class FoundPage(NamedTuple):
    """A relevant page, as the live display shows it."""

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
        """Count one more page."""
        self.pages += 1
        self.kept += kept
        self.recent.append(kept)


@dataclass(frozen=True, kw_only=True)
class Stages:
    """The parts of a crawl, in the order in which a link passes through them."""

    scope: Scope
    frontier: Frontier
    fetch: Fetch
    readers: Readers
    judge: Judge
    strategy: Strategy
    store: Store
    learners: Mapping[str, Learner] = field(default_factory=dict)
    followed: TopicUpdates | None = None  # for a topic that changes
    profiles: Profiles | None = None  # of pages and of their sites
    grow_index: Callable[[], None] | None = None  # indexes what was committed
    clock: Clock = time.monotonic


class Turn:
    """A critical section of the crawl: all of its changes are committed, or none."""

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
        """`visitor` makes the function that visits a link, instead of `fetch_page`."""
        self.settings = settings
        self.scope = stages.scope
        self.frontier = stages.frontier
        self.fetch = stages.fetch
        self.readers = stages.readers
        self.judge = stages.judge
        self.strategy = stages.strategy
        # Checked once: isinstance with a protocol looks at all its methods each time.
        self.reviser = self.strategy if isinstance(self.strategy, Reviser) else None
        self.observer = self.strategy if isinstance(self.strategy, Observer) else None
        self.estimator = self.strategy if isinstance(self.strategy, Estimator) else None
        self.store = stages.store
        self.followed = stages.followed
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
        self.bell: asyncio.TimerHandle | None = None  # ends the crawl on time
        self.budget = Budget(settings.crawl.max_pages, self.store.catalogue.pages)
        self.brain = asyncio.Lock()
        self.broken = False  # a turn failed half-way: commit nothing any more
        self.committed = asyncio.Event()  # set by the next commit
        self.workers: list[asyncio.Task[None]] = []
        self.no_room: MachineLimit | None = None
        self.stopped = ""  # the reason, once the crawl was stopped
        self.bring = visitor(self) if visitor else self.fetch_page

    async def run(self, seeds: Mapping[str, float]) -> str:
        """Crawl from seeds (URL -> promise) until nothing is left to do; returns the
        reason why it ended."""
        await self.plant(seeds)
        limits = self.settings.crawl
        pages = max(limits.max_pages - self.budget.spent, 0)
        self.schedule = Schedule(pages, limits.max_time, self.clock())
        self.keep_pace()
        if limits.max_time:
            loop = asyncio.get_running_loop()
            self.bell = loop.call_later(limits.max_time, self.stop_soon, "time")
        # Once the start is committed, hosts rest whenever the crawl is opened again.
        await self.commit()
        if self.reviser:  # looking through all links takes time
            self.planted = self.store.catalogue.seeds(SEED_PROMISE)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self.settings.crawl.in_flight):
                    self.workers.append(group.create_task(self.work()))
                group.create_task(self.commit_regularly())
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
        """Hold links back for better ones, unless the crawl is behind schedule."""
        late = self.schedule.is_late(self.tally.pages, self.clock())
        self.frontier.steer(
            haste=1.0 if late else self.settings.crawl.haste,
            breadth=self.settings.crawl.breadth,
            calibrated=getattr(self.strategy, "calibrated", False),
        )

    def turn(self, page: Fingerprint | None = None) -> Turn:
        """A turn, for `async with`; `page` is the page that is being processed."""
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
        """Visit one link; returns the number of pages it brought: 1 or 0."""
        try:
            if self.store.in_hand.is_deadly(lease.fingerprint):
                raise Unusable(
                    "poison",
                    f"the process crashed repeatedly while processing {lease.url}",
                    contacted=False,
                )
            return await self.bring(lease)
        except Transient as error:
            await self.postpone(lease, error)
        except Unusable as error:
            # A host that is silent now may answer later: its links wait again the next
            # time the crawl is opened.
            state = State.PARKED if error.reason == "dead_host" else State.UNUSABLE
            async with self.turn():
                self.missed(lease, state)
                await self.frontier.done(
                    lease, state, error.reason, contacted=error.contacted
                )
                if lease.redirects:
                    # The redirect may have been predicted wrongly: fetch the original.
                    original = await self.frontier.reopen(lease.found_on, MOVED)
                    if original:
                        self.redirects.doubt(original)
        return 0

    async def fetch_page(self, lease: Lease) -> int:
        """Fetch a link and keep its page, or queue the target of its redirect."""
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
        """The predicted redirect target, from others of its host; "": not known."""
        target = self.redirects.expect(lease.url, lease.fingerprint)
        if lease.redirects >= self.settings.fetch.max_redirects:
            return ""
        return target if target and self.scope.allows(target) else ""

    async def move_on(self, lease: Lease, target: str) -> None:
        """Queue a predicted redirect target instead of the link, without a request."""
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
        """Judge, rank and store a page, all in one turn; returns 1, or 0 if it was
        recorded already.

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
            verdict = self.judge.judge(page)
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
        # A noindex page cannot be exported, so it does not count as kept.
        shown = page is not None and not page.noindex
        self.tally.count(state is State.KEPT and shown)
        if verdict and page and verdict.relevant and shown:
            self.tally.found.append(FoundPage(verdict.score, page.title, lease.url))
        if self.schedule.seconds:
            self.keep_pace()
        self.stop_if_dry()
        return 1

    def stop_if_dry(self) -> None:
        """End the crawl if `stop_when_dry` is set and little is left to find."""
        if not self.settings.crawl.stop_when_dry or self.tally.pages % LOOK_EVERY:
            return
        if is_dry(self.tally.recent, self.estimate()):
            self.stop_soon("dry")

    def estimate(self) -> Estimate | None:
        """How many relevant pages are still to be found, if the strategy can tell."""
        return self.estimator.estimate() if self.estimator else None

    async def is_recorded(self, lease: Lease) -> bool:
        """Whether another visit has recorded the page already, because a lease expired.
        The first visit counts; both leases end."""
        outcome = self.store.catalogue.outcome_of(lease.id)
        if outcome:
            await self.frontier.done(lease, *outcome)
        return outcome is not None

    async def redirect(self, lease: Lease, response: Response, target: str) -> int:
        """Queue the target of a redirect in the frontier."""
        if not target:
            raise Unusable("bad_redirect", f"{lease.url} redirects to an invalid URL")
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
            if response.status < 300:  # a page with <meta http-equiv=refresh>
                self.tally.count(False)
        return int(response.status < 300)

    async def postpone(self, lease: Lease, error: Transient) -> None:
        """Queue a link to be retried later."""
        if error.reason == "robots_first":
            # Commit the rules of robots.txt before the host is visited again, so that
            # its delay is kept even across a crash.
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
        """Queue the links of a page, each with its promise; returns their ids."""
        name = self.settings.crawl.strategy
        ranked = strategy_output.as_list(name, self.strategy.rank(page, verdict, lease))
        try:
            return await self.frontier.add(ranked, via=lease)
        except (AttributeError, TypeError, ValueError):
            strategy_output.refuse_links(name, ranked)
            raise

    async def revise(self, strategy: Reviser) -> None:
        """Apply the strategy's new promises of waiting links, except those of seeds.

        Seeds are queued again with their first promise whenever the crawl is resumed,
        so revising one would make the order depend on restarts. URLs from sitemaps and
        feeds are not among these seeds.
        """
        news = [new for new in strategy.revise() if new[0] not in self.planted]
        try:
            await self.frontier.revise(news)
        except (TypeError, ValueError):
            strategy_output.refuse_revisions(self.settings.crawl.strategy, news)
            raise

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

    def missed(self, lease: Lease, state: State) -> None:
        """Report a visit without a new page to profiles and strategy."""
        if self.profiles:
            self.profiles.missed(lease, state)
        if self.observer:
            self.observer.missed(lease, state)

    def to_follow(self, page: Page) -> Sequence[Link]:
        """The links of a page that neither the page nor the scope forbids."""
        return to_follow(page, self.scope)

    def note_seed(self, page: Page, lease: Lease) -> None:
        """Record why a chosen seed leads nowhere, if it does."""
        if lease.depth or lease.promise < SEED_PROMISE:
            return
        if found := obstacles(page, lease.url, self.scope):
            note_seed(self.store.catalogue, lease.url, found)

    def near_copy(self, page: Page) -> int:
        """The id of a page that this one is a near copy of, or 0."""
        if not self.settings.crawl.near_copies or not page.simhash:
            return 0
        return self.store.near.find(page.simhash)

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

    async def is_working(self, *, after: float) -> bool:
        """Whether a worker is left after so many seconds; returns early if none is."""
        _, pending = await asyncio.wait(self.workers, timeout=after)
        return bool(pending)

    async def commit_regularly(self) -> None:
        """Commit at intervals until the last worker has ended, then once more."""
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
                self.store.catalogue.save_event(
                    "topic", pages=self.tally.pages, asked=topic.asked
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
        """Start no more visits; those under way have some seconds to end."""
        if not self.stopped:
            self.stopped = reason
            self.budget.close()
            self.frontier.close()
            asyncio.get_running_loop().call_later(DRAIN_SECONDS, self.stop_now)

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


def likeness(page: Page) -> str:
    """A key that pages share if they are as long and have as many topic terms, such as
    the pages of a calendar, which differ only in their dates."""
    return f"{page.words} {sum(page.terms.values())}"
