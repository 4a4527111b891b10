"""Re-scores waiting links, page by page, when the topic of a crawl has changed.

The page that set the promise of a link is read again from the WARC file by the new
weight table, judged, and its links are ranked again. Pages with the best waiting links
come first. At most PAGES_A_SECOND are read, so the crawl continues meanwhile; if the
topic changes again, it starts over with the best. A sweep interrupted by a crash is
repeated when the crawl is resumed. The strategy `opilio` needs no pages for this: it
compares its waiting links with the new keywords itself (`seek`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import closing
from typing import TYPE_CHECKING

import msgspec

from opilio.limits import strategy_output
from opilio.protocols import Rescorer
from opilio.records import Lease, Page, Ranked, Response, Revision, Verdict
from opilio.storage.database import open_database
from opilio.store.stored_responses import StoredResponses

if TYPE_CHECKING:
    from opilio.crawl.loop import CrawlLoop

PAGES_A_SECOND = 25
CHANGED, RESCORED = "topic", "rescored"  # events
BEST = """
    SELECT found_on FROM link WHERE state = 'waiting' AND found_on != 0
    GROUP BY found_on ORDER BY max(promise) DESC
"""
PAGE = """
    SELECT link.id, url, fingerprint, host.name, promise, depth, level, redirects,
        warc, warc_offset, warc_length
    FROM link JOIN host ON host.id = link.host JOIN page USING (id)
    WHERE link.id = ? AND number <= ? AND score IS NOT NULL
        AND state IN ('kept', 'irrelevant')
"""
LAST = "SELECT coalesce(max(id), 0) FROM event WHERE kind = ?"
FOUND_ON = "SELECT fingerprint FROM link WHERE found_on = ? AND state = 'waiting'"


class Rescoring:
    """One sweep after another over the pages whose links wait."""

    def __init__(self, crawl: CrawlLoop, strategy: Rescorer) -> None:
        self.crawl = crawl
        self.strategy = strategy
        self.records = StoredResponses(crawl.store.folder.warcs)
        self.last = 0  # number of the last page that was ranked by the old table
        self.pages: deque[int] = deque()
        self.is_new = False  # the pages are to be listed
        self.links = 0  # scored again in this sweep

    @property
    def is_due(self) -> bool:
        """Whether anything is left to do."""
        return self.is_new or bool(self.pages)

    @property
    def was_interrupted(self) -> bool:
        """Whether an earlier run ended before all links were scored by its last
        topic."""
        [changed], [done] = (
            self.crawl.store.db.execute(LAST, (kind,)).fetchone()
            for kind in (CHANGED, RESCORED)
        )
        return bool(changed > done)

    def begin(self) -> None:
        """The topic has changed: start over, within the same turn."""
        self.last = self.crawl.store.catalogue.last_number
        self.is_new, self.links = True, 0

    async def go_on(self) -> None:
        """Re-score links until none is left or the crawl ends, at a limited rate."""
        while await self.crawl.is_working(after=1 / PAGES_A_SECOND):
            if self.is_due:
                await self.step()

    async def step(self) -> None:
        """Score the links of the next page."""
        if self.is_new:
            await self.crawl.commit()  # so that a reader sees all links
            self.is_new = False
            self.pages = deque(await asyncio.to_thread(self.best_pages))
        elif self.pages:
            await self.score(self.pages.popleft())
        if not self.is_due:
            async with self.crawl.turn():
                self.crawl.store.catalogue.save_event(RESCORED, links=self.links)

    def best_pages(self) -> list[int]:
        """The pages that set the promises of waiting links, those of the best first;
        reads all links, so not in the thread of the crawl."""
        path = self.crawl.store.folder.database
        with closing(open_database(path, read_only=True)) as db:
            return [page for (page,) in db.execute(BEST)]

    async def score(self, id: int) -> None:
        """Read a page again, judge it and rank its links by the topic of now."""
        row = self.crawl.store.db.execute(PAGE, (id, self.last)).fetchone()
        if row is None:
            return
        *told, file, offset, length = row
        response = self.response(row[1], file, offset, length)
        if response is None:
            return
        reading = await self.crawl.readers.read(response)
        page = (await self.crawl.with_opinion(reading, response)).page
        if page is None:
            return
        async with self.crawl.turn():
            await self.rank(page, Lease(*told))

    def response(
        self, url: str, file: str, offset: int, length: int
    ) -> Response | None:
        """What a URL answered, as it is kept; None if it cannot be read any more."""
        return self.records.response(file, offset, length)

    async def rank(self, page: Page, lease: Lease) -> None:
        """Give the links of a page their new promises, within a turn."""
        crawl = self.crawl
        verdict: Verdict = getattr(crawl.judge, "look", crawl.judge.judge)(page)
        followed = msgspec.structs.replace(page, links=crawl.to_follow(page))
        name = crawl.settings.crawl.strategy
        ranked = strategy_output.as_list(
            name, self.strategy.rescore(followed, verdict, lease)
        )
        own = {
            fingerprint
            for (fingerprint,) in crawl.store.db.execute(FOUND_ON, (lease.id,))
        } - crawl.planted
        await crawl.frontier.revise(
            [revision(one) for one in ranked if one.link.fingerprint in own]
        )
        await crawl.frontier.add(ranked, via=lease)  # elsewhere the better one stays
        self.links += len(own)
        if crawl.reviser:
            await crawl.revise(crawl.reviser)


def revision(ranked: Ranked) -> Revision:
    """A link with its new promise."""
    return ranked.link.fingerprint, ranked.promise, ranked.parts
