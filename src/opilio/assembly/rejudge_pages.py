"""Reads every page of a crawl from its WARC files, judges it again, ranks its links.

The pages are read in the order in which they were fetched. Judge and strategy start
from scratch and see them as if they were fetched now, so waiting links get the promises
that they would have had.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence

import msgspec
import numpy as np

from opilio.crawl import CrawlLoop
from opilio.profiles.keeper import SiteKeeper
from opilio.protocols import Reviser
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
from opilio.store import rejudged_pages
from opilio.store.index_entries import save_entry
from opilio.store.rejudged_pages import PastVisit
from opilio.store.stored_responses import StoredResponses

AHEAD = 8  # pages to read ahead
WAITING = "SELECT count(*) FROM link WHERE state = 'waiting'"


class Changed(msgspec.Struct, frozen=True):
    """A page whose verdict has changed."""

    url: str
    title: str
    before: float  # its score
    after: float


class Rejudged(msgspec.Struct, kw_only=True):
    """What changed when a crawl was judged again."""

    pages: int = 0  # judged again
    unread: int = 0  # no longer readable: they keep their verdicts
    trouble: str = ""  # why, if the archive is damaged
    kept_before: int = 0
    kept: int = 0
    waiting_before: int = 0  # links
    waiting: int = 0
    gained: list[Changed] = []  # pages that became relevant, best first
    lost: list[Changed] = []  # pages no longer relevant, those that fell most first


class Rejudging:
    """One pass over the pages of a crawl."""

    def __init__(self, crawl: CrawlLoop, tell: Callable[[int, int], None]) -> None:
        self.crawl = crawl
        self.store = crawl.store
        self.db = crawl.store.db
        self.tell = tell
        self.records = StoredResponses(crawl.store.folder.warcs)
        self.settled: dict[Fingerprint, int] = {}  # links as in Page.settled, with ids
        self.refused: dict[int, str] = {}  # links that the strategy refused so far
        self.unread: set[int] = set()
        self.visited: set[int] = set()
        self.to_come: dict[int, int] = {}  # visits yet to come, by fingerprint
        self.found = Rejudged()

    async def run(self) -> Rejudged:
        """Judge every page again, within the transaction."""
        found = self.found
        self.crawl.planted = self.store.catalogue.seeds(SEED_PROMISE)
        pages = list(rejudged_pages.visits(self.db))
        self.visited = {visit.id for visit in pages}
        self.to_come = {visit.fingerprint: visit.id for visit in pages}
        misses = self.misses(pages) if self.crawl.observer else {}
        done = 0
        async for visit, response, page in self.read(pages):
            lease = rejudged_pages.lease_of(self.db, visit)
            self.to_come.pop(visit.fingerprint, None)
            if not visit.is_judged:
                await self.pass_by(visit, lease)
            elif response is None or page is None:
                self.keep_as_it_was(visit)
            else:
                await self.judge(visit, lease, response, page)
            for lease, state in misses.get(done, ()):
                if self.crawl.observer:
                    self.crawl.observer.missed(lease, state)
            done += 1
            self.tell(done, len(pages))
        await self.crawl.extracting().finish()
        if isinstance(self.crawl.profiles, SiteKeeper):
            self.crawl.profiles.miss_roots()
        rejudged_pages.put_back(
            self.db, self.refused, self.crawl.scope.allows, frozenset(self.unread)
        )
        found.trouble = self.records.trouble
        found.unread = len(self.unread)
        [found.waiting] = self.db.execute(WAITING).fetchone()
        found.gained.sort(key=lambda page: -page.after)
        found.lost.sort(key=lambda page: page.after - page.before)
        return found

    def misses(
        self, pages: Sequence[PastVisit]
    ) -> dict[int, list[tuple[Lease, State]]]:
        """The visits without a page, by the page after which they are replayed.

        Their times are not stored. They are spread evenly, in the order in which their
        links were found, and none comes before the page that its link is on.
        """
        failed = list(rejudged_pages.failed(self.db))
        places = {visit.id: place for place, visit in enumerate(pages)}
        found: dict[int, list[tuple[Lease, State]]] = {}
        for number, (lease, state) in enumerate(failed):
            even = number * len(pages) // len(failed)
            place = max(even, places.get(lease.found_on, 0))
            found.setdefault(place, []).append((lease, State(state)))
        return found

    async def read(
        self, pages: Sequence[PastVisit]
    ) -> AsyncIterator[tuple[PastVisit, Response | None, Page | None]]:
        """Each page in order; some are read ahead."""
        ahead: deque[
            tuple[PastVisit, asyncio.Task[tuple[Response | None, Page | None]]]
        ]
        ahead = deque()
        try:
            for visit in pages:
                ahead.append((visit, asyncio.create_task(self.read_one(visit))))
                if len(ahead) > AHEAD:
                    first, task = ahead.popleft()
                    yield first, *await task
            while ahead:
                first, task = ahead.popleft()
                yield first, *await task
        finally:
            for _, task in ahead:
                task.cancel()

    async def read_one(self, visit: PastVisit) -> tuple[Response | None, Page | None]:
        """A page from the WARC files, if it can be read."""
        if not visit.is_judged or visit.warc is None:
            return None, None
        place = (visit.warc, visit.warc_offset, visit.warc_length)
        response = self.records.response(*place)
        if response is None:
            return None, None
        return response, (await self.crawl.readers.read(response)).page

    async def judge(
        self, visit: PastVisit, lease: Lease, response: Response, page: Page
    ) -> None:
        """Judge a page, rank its links and replace what was stored for both."""
        if lease.promise >= SEED_PROMISE:
            page = msgspec.structs.replace(page, is_seed=True)
        asked = await self.crawl.with_opinion(Reading(page), response)
        page = asked.page or page
        verdict = self.crawl.judge.judge(page)
        links = self.crawl.to_follow(page)
        followed = msgspec.structs.replace(page, links=links)
        followed, known = self.without_settled(followed)
        ids = await self.rank(followed, verdict, lease) + known
        self.settled |= self.crawl.frontier.unchanging(
            getattr(self.crawl.strategy, "settled", ())
        )
        if set(ids) - {0} != rejudged_pages.links_on(self.db, visit.id):
            self.store.catalogue.drop_edges(visit.id)
            self.store.catalogue.save_edges(visit.id, ids)
        rejudged_pages.save_verdict(self.db, visit.id, verdict)
        await self.extract(visit.id, response, verdict.relevant and not page.noindex)
        self.crawl.note_seed(page, lease)
        wanted = verdict.relevant or self.store.index_all
        if page.sequence and wanted and not page.noindex:
            save_entry(self.db, visit.id, page)
        if isinstance(self.crawl.profiles, SiteKeeper):
            at = msgspec.structs.replace(response, fetched_at=visit.fetched_at)
            self.crawl.profiles.profile(
                lease, at, page, verdict, changed=bool(visit.changed)
            )
        if self.crawl.reviser:
            await self.revise(self.crawl.reviser)
        self.note(visit, verdict)

    async def extract(self, page: int, response: Response, wanted: bool) -> None:
        """Extract the main text of a page again, or delete it."""
        extractions = self.crawl.extracting()
        await extractions.room()
        if wanted:
            extractions.want(page, response)
        else:
            extractions.forget(page)

    def without_settled(self, page: Page) -> tuple[Page, list[int]]:
        """The page without links that the crawl had settled by then, and their ids, as
        its readers left them out."""
        known = [
            link.fingerprint
            for link in page.links
            if link.fingerprint in self.settled and not link.rel
        ]
        if not known:
            return page, []
        left_out = set(known)
        links = [link for link in page.links if link.fingerprint not in left_out]
        settled = np.array(known, "<i8").tobytes()
        page = msgspec.structs.replace(page, links=links, settled=settled)
        return page, [self.settled[link] for link in known]

    async def revise(self, strategy: Reviser) -> None:
        """Apply the strategy's new promises to links that wait or were visited
        later."""
        news = [new for new in strategy.revise() if new[0] not in self.crawl.planted]
        await self.crawl.frontier.revise(news)
        for new in news:
            if id := self.to_come.get(new[0]):
                rejudged_pages.save_revision(self.db, id, new)

    async def rank(self, page: Page, verdict: Verdict, lease: Lease) -> list[int]:
        """Give the links of a page to the frontier; returns their ids."""
        ranked, ids = await self.crawl.ranked(page, verdict, lease)
        for one, id in zip(ranked, ids, strict=True):
            if id in self.visited:
                if self.was_found_on(id, lease.id):
                    rejudged_pages.save_promise(self.db, id, one)
            elif one.reason:
                self.refused[one.link.fingerprint] = one.reason
        return ids

    def was_found_on(self, link: int, page: int) -> bool:
        """Whether the crawl found a link on this page."""
        row = self.db.execute("SELECT found_on FROM link WHERE id = ?", (link,))
        return bool(row.fetchone()[0] == page)

    async def pass_by(self, visit: PastVisit, lease: Lease) -> None:
        """Replay a visit that brought no new page: a copy, a redirect, a failure."""
        if isinstance(self.crawl.profiles, SiteKeeper) and visit.score is not None:
            self.crawl.profiles.enter(lease)
        if visit.reason == "redirect" and visit.copy_of:
            url, fingerprint = self.db.execute(
                "SELECT url, fingerprint FROM link WHERE id = ?", (visit.copy_of,)
            ).fetchone()
            onward = Ranked(Link(url, fingerprint), lease.promise, level=lease.level)
            [id] = await self.crawl.frontier.add([onward], via=lease, redirect=True)
            if id in self.visited and self.was_found_on(id, lease.id):
                rejudged_pages.save_promise(self.db, id, onward)
        if self.crawl.observer and visit.state in (State.COPY, State.UNUSABLE):
            self.crawl.observer.missed(lease, State(visit.state))

    def keep_as_it_was(self, visit: PastVisit) -> None:
        """Keep the verdict and the links of a page that can no longer be read."""
        self.unread.add(visit.id)
        counts = bool(visit.relevant and not visit.noindex)
        self.found.kept_before += counts
        self.found.kept += counts

    def note(self, visit: PastVisit, verdict: Verdict) -> None:
        """Count a page that was judged again."""
        found, was = self.found, bool(visit.relevant)
        found.pages += 1
        if visit.noindex:
            return  # it counts neither way, as in `opilio status`
        found.kept_before += was
        found.kept += verdict.relevant
        if was != verdict.relevant:
            change = Changed(
                visit.url, visit.title or "", visit.score or 0.0, verdict.score
            )
            (found.gained if verdict.relevant else found.lost).append(change)
