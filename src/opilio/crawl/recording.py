"""Records a page: judges it, ranks its links, stores it and updates the frontier.

All of that happens in one turn. Turns are sequential, and commits happen only between
them, so a crash never leaves a page half recorded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from opilio.crawl.stages import FoundPage, Stages, Tally
from opilio.limits import strategy_output
from opilio.limits.followable_links import obstacles, to_follow
from opilio.protocols import DeadLinkLearner, Judge, MeasuresWaiting, Observer, Reviser
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

ALONE = 0.1  # of the promise of a page have its links if the strategy looked at none


class Turn:
    """A critical section of the crawl: all of its changes are committed, or none."""

    def __init__(self, crawl: PageRecorder, page: Fingerprint | None) -> None:
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


class PageRecorder:
    """Takes the pages of a crawl in turns."""

    def __init__(self, settings: Settings, stages: Stages) -> None:
        self.settings = settings
        self.scope = stages.scope
        self.frontier = stages.frontier
        self.readers = stages.readers
        self.judge = stages.judge
        self.judges: dict[int, Judge] = {}  # of links that are visited for a query
        self.strategy = stages.strategy
        self.is_choosy = isinstance(self.strategy, MeasuresWaiting)
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
        self.planted: frozenset[Fingerprint] = frozenset()  # the seeds
        self.tally = Tally()
        self.brain = asyncio.Lock()
        self.broken = False  # a turn failed half-way: commit nothing any more
        self.committed = asyncio.Event()  # set by the next commit
        self.settles = True  # else pages are read with all their links

    def turn(self, page: Fingerprint | None = None) -> Turn:
        """A turn, for `async with`; `page` is the page that is being processed."""
        return Turn(self, page)

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
            verdict = await self.record_new(lease, response, content, reading, page)
            state = State.KEPT if verdict.relevant else State.IRRELEVANT
            like = likeness(page)
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

    async def record_new(
        self,
        lease: Lease,
        response: Response,
        content: Fingerprint,
        reading: Reading,
        page: Page,
    ) -> Verdict:
        """Judge, rank and store a page that is no copy; returns the verdict."""
        if lease.promise >= SEED_PROMISE:
            page = msgspec.structs.replace(page, is_seed=True)
        verdict = self.judges.get(lease.id, self.judge).judge(page)
        strategy_output.check_verdict(self.settings.crawl.judge, verdict, page)
        ids = await self.queue_links(page, verdict, lease, response, content)
        self.store.save_page(
            lease, response, reading.record, content, page, verdict, ids
        )
        if self.profiles:
            self.profiles.keep(lease, response, page, verdict, again=False)
        if verdict.relevant and not page.noindex:
            if self.tdm:
                self.tdm.want(lease.url)
            if reading.extraction and not page.degraded:
                self.store.save_extraction(lease.id, reading.extraction)
            elif not page.degraded:
                self.extracting().want(lease.id, response)
        self.note_seed(page, lease)
        if self.reviser:
            await self.revise(self.reviser)
        return verdict

    async def queue_links(
        self,
        page: Page,
        verdict: Verdict,
        lease: Lease,
        response: Response,
        content: Fingerprint,
    ) -> list[int]:
        """Queue the links of a page that may be followed, here or at other workers;
        returns the ids of all of them."""
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
        self.settle()
        return ids + others

    async def is_recorded(self, lease: Lease) -> bool:
        """Whether another visit has recorded the page already, because a lease expired.
        The first visit counts; both leases end."""
        outcome = self.store.catalogue.outcome_of(lease.id)
        if outcome:
            await self.frontier.done(lease, *outcome)
        return outcome is not None

    async def rank(self, page: Page, verdict: Verdict, lease: Lease) -> list[int]:
        """Queue the links of a page, each with its promise; returns their ids."""
        _, ids = await self.ranked(page, verdict, lease)
        return ids

    async def ranked(
        self, page: Page, verdict: Verdict, lease: Lease
    ) -> tuple[list[Ranked], list[int]]:
        """The same; returns the links with their promises, too."""
        name = self.settings.crawl.strategy
        page, unseen = self.divide(page)
        ranked = strategy_output.as_list(name, self.strategy.rank(page, verdict, lease))
        try:
            if unseen:
                ranked += like_others(unseen, ranked, lease.level_after(verdict), lease)
            return ranked, await self.frontier.add(ranked, via=lease)
        except (AttributeError, TypeError, ValueError):
            strategy_output.refuse_links(name, ranked)
            raise

    def divide(self, page: Page) -> tuple[Page, list[Link]]:
        """The page with the links that the strategy looks at, and the others."""
        if not self.is_choosy:
            return page, []
        out = self.frontier.beyond_room(page.links, urls.host(page.url))
        if not out:
            return page, []
        seen = [link for place, link in enumerate(page.links) if place not in out]
        unseen = [page.links[place] for place in sorted(out)]
        return msgspec.structs.replace(page, links=seen), unseen

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


def like_others(
    links: Sequence[Link], ranked: Sequence[Ranked], level: int, lease: Lease
) -> list[Ranked]:
    """Links of a page that the strategy did not look at, as promising as the others of
    the page are in the mean."""
    promises = [each.promise for each in ranked if not each.reason]
    promise = fmean(promises) if promises else lease.promise * ALONE
    return [Ranked(link, promise, {}, level) for link in links]


def likeness(page: Page) -> str:
    """A key that pages share if they are as long as each other, such as the pages of a
    calendar, which differ only in their dates. (frontier/reopen.py knows it, too.)"""
    return str(page.words)
