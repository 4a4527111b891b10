"""Takes one link through the stages: it alone knows their order.

Many visits are under way at a time, but decisions are sequential: judging a page,
ranking its links, storing it and updating the frontier happen in one turn, and commits
happen only between turns. A crash repeats visits; it never loses one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from opilio.crawl.slow_lane import SlowLane
from opilio.crawl.stages import FoundPage, Stages, Tally
from opilio.errors import Transient, Unusable
from opilio.fetch.expected_redirects import ExpectedRedirects
from opilio.limits import strategy_output
from opilio.limits.followable_links import obstacles, to_follow
from opilio.protocols import DeadLinkLearner, Judge, Observer, Reviser
from opilio.records import (
    SEED_PROMISE,
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
from opilio.text import urls

if TYPE_CHECKING:
    from opilio.crawl.extraction import Extractions
    from opilio.crawl.second_opinions import SecondOpinions

HEAVY_REST = 20  # times as long a host rests as its page kept a reader busy
DEAD = frozenset(("http_404", "http_410"))  # reasons of links that lead nowhere
MOVED = "moved"  # reason of a link parked because its redirect can be predicted
Bring = Callable[[Lease], Awaitable[int]]
"""Visits a link; returns the number of pages it brought: 1 or 0."""


class Turn:
    """A critical section of the crawl: all of its changes are committed, or none."""

    def __init__(self, crawl: PageVisits, page: Fingerprint | None) -> None:
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


class PageVisits:
    """The visits of a crawl, and the brain that takes their pages in turns."""

    def __init__(self, settings: Settings, stages: Stages) -> None:
        self.settings = settings
        self.scope = stages.scope
        self.frontier = stages.frontier
        self.fetch = stages.fetch
        self.readers = stages.readers
        self.judge = stages.judge
        self.judges: dict[int, Judge] = {}  # of links that are visited for a query
        self.strategy = stages.strategy
        # Checked once: isinstance with a protocol looks at all its methods each time.
        self.reviser = self.strategy if isinstance(self.strategy, Reviser) else None
        self.observer = self.strategy if isinstance(self.strategy, Observer) else None
        self.learns_of_dead = (
            self.strategy if isinstance(self.strategy, DeadLinkLearner) else None
        )
        self.store = stages.store
        self.profiles = stages.profiles
        self.sharing = stages.sharing
        self.rendering = stages.rendering
        self.tdm = stages.tdm
        self.extractions: Extractions | None = None  # once a page was kept
        self.adviser = stages.adviser
        self.opinions: SecondOpinions | None = None
        if self.adviser:
            from opilio.crawl.second_opinions import SecondOpinions

            self.opinions = SecondOpinions(self.adviser, self.readers)
            if counts := self.store.learnt("opinions"):
                self.opinions.load(counts)
        self.redirects = ExpectedRedirects()
        if learnt := self.store.learnt("redirects"):
            self.redirects.load(learnt)
        self.planted: frozenset[Fingerprint] = frozenset()  # the seeds
        self.tally = Tally()
        self.lane = SlowLane(settings.crawl.in_flight)
        self.brain = asyncio.Lock()
        self.broken = False  # a turn failed half-way: commit nothing any more
        self.committed = asyncio.Event()  # set by the next commit
        self.bring: Bring = self.fetch_page
        self.settles = True  # else pages are read with all their links

    def turn(self, page: Fingerprint | None = None) -> Turn:
        """A turn, for `async with`; `page` is the page that is being processed."""
        return Turn(self, page)

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
            # A host that is silent now may answer later: its links are tried again.
            silent = error.reason in ("dead_host", "offline")
            state = State.PARKED if silent else State.UNUSABLE
            async with self.turn():
                self.missed(lease, state, dead=error.reason in DEAD)
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
        response = await self.lane.watch(lease, self.fetch.fetch(lease.url))
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
        content = urls.fingerprint(response.content)
        reading = Reading(None)
        is_shell = self.rendering is not None and self.rendering.may_build(response)
        if is_shell or not self.store.seen.find(content):
            if self.extractions:
                await self.extractions.room()
            response, reading, content = await self.read(lease, response)
            if heavy := getattr(self.readers, "heavy", None):
                await self.rest_heavy(heavy)
            page = reading.page
            if page and page.refresh and page.refresh != lease.url:
                return await self.redirect(lease, response, page.refresh)
            if self.opinions and page and self.wants_opinion(lease, page):
                reading = await self.with_opinion(reading, response)
        async with self.turn(lease.fingerprint):
            return await self.record(lease, response, content, reading)

    def wants_opinion(self, lease: Lease, page: Page) -> bool:
        """Whether a page may be worth a second opinion: not if it is a near copy, or is
        judged by a query, too."""
        return lease.id not in self.judges and not self.near_copy(page)

    async def with_opinion(self, reading: Reading, response: Response) -> Reading:
        """The reading, with a second opinion on its page if the judge is unsure."""
        if not self.opinions:
            return reading
        return await self.opinions.ask(self.judge, reading, response)

    async def read(
        self, lease: Lease, response: Response
    ) -> tuple[Response, Reading, Fingerprint]:
        """Read a page, and render it first if it needs that; returns the fingerprint of
        its content, too."""
        reading = await self.readers.read(response)
        is_shell = False
        if self.rendering:
            rendered = await self.rendering.read(lease, response, reading)
            response, reading, is_shell = rendered
        # What scripts should have filled is no copy of another page.
        name = response.url.encode() if is_shell else b""
        return response, reading, urls.fingerprint(response.content + name)

    async def rest_heavy(self, heavy: dict[str, float]) -> None:
        """Let hosts rest whose pages take readers long, so that others get their
        share."""
        hosts = dict(heavy)
        heavy.clear()
        for host, seconds in hosts.items():
            await self.frontier.pace(host, rest=HEAVY_REST * seconds, why="heavy")

    async def record(
        self, lease: Lease, response: Response, content: Fingerprint, reading: Reading
    ) -> int:
        """Judge, rank and store a page, all in one turn; returns 1, or 0 if it was
        recorded already.

        A page is 1. a copy: its links are not followed; 2. unreadable; 3. new.
        """
        if self.rendering and (records := self.rendering.take_records()):
            self.store.warc.append(records)
        if await self.is_recorded(lease):
            return 0
        page, verdict = reading.page, None
        state, reason, like = State.COPY, "", ""
        if original := self.store.seen.find(content):
            reason = "content"
            self.frontier.heard(lease.host, b"")
            self.store.save_copy(lease, response, original, content)
        elif page is None:
            state, reason = State.UNUSABLE, reading.reason
            self.store.save_unread(lease, response)
        elif original := self.near_copy(page):
            reason = "near"
            self.frontier.heard(lease.host, b"")
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
                if page.nofollow:
                    followed = msgspec.structs.replace(
                        followed, settled=b"", settled_ids=b""
                    )
            others: list[int] = []  # links of other workers
            if self.sharing:
                others = await self.sharing.tell(
                    followed, verdict, lease, content, response.fetched_at
                )
                followed = self.sharing.own_part(followed)
            stems = page.stems or None  # they may not have been asked for
            self.frontier.heard(lease.host, stems, len(response.body))
            ids = await self.rank(followed, verdict, lease)
            if followed.settled_ids:
                settled = np.frombuffer(followed.settled_ids, "<i8").tolist()
                self.frontier.support(settled, lease.host)
                ids += settled
            ids += others
            self.settle()
            self.store.save_page(
                lease, response, reading.record, content, page, verdict, ids
            )
            if self.profiles:
                self.profiles.keep(lease, response, page, verdict, again=False)
            state = State.KEPT if verdict.relevant else State.IRRELEVANT
            if verdict.relevant and not page.noindex and self.tdm:
                self.tdm.want(lease.url)
            if verdict.relevant and not page.noindex and not page.degraded:
                if reading.extraction:
                    self.store.save_extraction(lease.id, reading.extraction)
                else:
                    self.extracting().want(lease.id, response)
            like = likeness(page)
            self.note_seed(page, lease)
            if self.reviser:
                await self.revise(self.reviser)
        if state in (State.COPY, State.UNUSABLE):
            self.missed(lease, state)
        await self.frontier.done(
            lease, state, reason, contacted=not response.replayed, likeness=like
        )
        # A noindex page cannot be exported, so it does not count as kept.
        shown = page is not None and not page.noindex
        self.tally.count(state is State.KEPT and shown)
        if verdict and page and verdict.relevant and shown:
            self.tally.found.append(FoundPage(verdict.score, page.title, lease.url))
        return 1

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
            await self.frontier.done(
                lease, State.COPY, "redirect", contacted=not response.replayed
            )
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

    def settle(self) -> None:
        """Let readers leave out links that neither strategy nor frontier need again."""
        settled = getattr(self.strategy, "settled", ())
        if len(settled) and self.settles:
            links = list(self.frontier.unchanging(settled).items())
            self.readers.settle(np.array(links, "<i8").tobytes())

    async def revise(self, strategy: Reviser) -> None:
        """Apply the strategy's new promises of waiting links, except those of seeds.

        Seeds are queued again with their first promise whenever the crawl is resumed,
        so revising one would make the order depend on restarts. URLs from sitemaps and
        feeds are not among these seeds.
        """
        news = list(strategy.revise())
        if self.planted:
            news = [new for new in news if new[0] not in self.planted]
        try:
            await self.frontier.revise(news)
        except (TypeError, ValueError):
            strategy_output.refuse_revisions(self.settings.crawl.strategy, news)
            raise

    def missed(self, lease: Lease, state: State, *, dead: bool = False) -> None:
        """Report a visit without a new page to profiles and strategy; `dead`: the
        server has no page there."""
        if self.profiles:
            self.profiles.missed(lease, state)
        if dead and self.learns_of_dead:
            self.learns_of_dead.dead(lease)
        elif self.observer:
            self.observer.missed(lease, state)

    def to_follow(self, page: Page) -> Sequence[Link]:
        """The links of a page that neither the page nor the scope forbids, and that are
        not part of a flood of hosts."""
        links = to_follow(page, self.scope)
        return self.frontier.without_floods(links, urls.host(page.url))

    def note_seed(self, page: Page, lease: Lease) -> None:
        """Record why a chosen seed leads nowhere, if it does."""
        if lease.depth or lease.promise < SEED_PROMISE:
            return
        if found := obstacles(page, lease.url, self.scope):
            from opilio.store.seed_notes import note_seed  # few seeds lead nowhere

            note_seed(self.store.catalogue, lease.url, found)

    def extracting(self) -> Extractions:
        """What extracts the main texts of kept pages."""
        if self.extractions is None:
            from opilio.crawl.extraction import Extractions  # with the first kept page

            self.extractions = Extractions(self.readers, self.store)
        return self.extractions

    def near_copy(self, page: Page) -> int:
        """The id of a page that this one is a near copy of, or 0."""
        if not self.settings.crawl.near_copies or not page.simhash:
            return 0
        return self.store.near.find(page.simhash)


def likeness(page: Page) -> str:
    """A key that pages share if they are as long as each other, such as the pages of a
    calendar, which differ only in their dates. (frontier/reopen.py knows it, too.)"""
    return str(page.words)
