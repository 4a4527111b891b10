"""Runs a crawl to its end, and hands on meanwhile which pages were kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from opilio.api.page_flow import PageFlow
from opilio.assembly.build import assemble, ways_of
from opilio.assembly.find_seeds import find_seeds
from opilio.assembly.plan import Plan
from opilio.assembly.registry import Own
from opilio.crawl import DRAIN_SECONDS, CrawlLoop, Stages
from opilio.records import SEED_PROMISE, Fingerprint, Lease, Reading, Response, Subject
from opilio.settings import Settings
from opilio.steering import listening
from opilio.store.folder import CrawlFolder

OnStop = Callable[[Callable[[float], None]], None]
"""Takes what to call when the crawl is to stop, with the seconds that visits under way
still have."""


async def run_crawl(
    plan: Plan,
    home: CrawlFolder,
    subject: Subject,
    *,
    own: Own,
    seeds: Sequence[str],
    flow: PageFlow | None,
    on_stop: OnStop,
) -> None:
    """Crawl until nothing is left to do, or until it is stopped."""
    ways = replace(ways_of(own), crawl=partial(PublishingLoop, flow=flow))
    async with assemble(plan, home, subject, ways) as crawl:
        on_stop(lambda seconds: crawl.stop_soon("interrupted", seconds))
        catalogue = crawl.store.catalogue
        catalogue.save_event("started", pages=catalogue.pages)
        found = await find_seeds(plan, subject, crawl, own.seeds)
        found |= dict.fromkeys(seeds, SEED_PROMISE)
        listen = await listening(crawl, plan, subject)
        reason = await crawl.run(found, [listen])
        catalogue.save_event("stopped", reason=reason)
        await crawl.commit()


class PublishingLoop(CrawlLoop):
    """A crawl that hands on which pages it has kept and committed."""

    def __init__(
        self, settings: Settings, stages: Stages, *, flow: PageFlow | None
    ) -> None:
        super().__init__(settings, stages)
        self.flow = flow
        self.kept: list[int] = []  # since the last commit

    async def may_visit(self) -> bool:
        """Wait until whoever takes the pages has caught up."""
        if self.flow:
            await self.flow.room()
        return await super().may_visit()

    async def record(
        self, lease: Lease, response: Response, content: Fingerprint, reading: Reading
    ) -> int:
        """Record a page, and note whether it was kept."""
        before = self.tally.kept
        pages = await super().record(lease, response, content, reading)
        if self.flow and self.tally.kept > before:
            self.kept.append(lease.id)
            self.flow.kept()
        return pages

    async def commit(self) -> None:
        """Commit, then hand on what was committed."""
        await super().commit()
        if self.flow and self.kept:
            self.flow.publish(self.kept)
        self.kept = []

    def stop_soon(self, reason: str, within: float = DRAIN_SECONDS) -> None:
        """Stop, also while waiting for whoever takes the pages."""
        super().stop_soon(reason, within)
        if self.flow:
            self.flow.release()
