"""Runs a crawl to its end, and tells meanwhile which pages were kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from opilio.brief import Brief
from opilio.build import assemble, find_seeds, ways_of
from opilio.choice import Own
from opilio.config import Settings
from opilio.crawl import Crawl, Stages
from opilio.plan import Plan
from opilio.store.folder import CrawlFolder
from opilio.types import SEED_PROMISE, Fingerprint, Lease, Reading, Response

Publish = Callable[[list[int] | None], None]
"""Takes the ids of pages that were kept and committed; None: the crawl has ended."""

OnStop = Callable[[Callable[[], None]], None]
"""Takes what to call when the crawl is to stop."""


async def run_crawl(
    plan: Plan,
    home: CrawlFolder,
    brief: Brief,
    *,
    own: Own,
    seeds: Sequence[str],
    publish: Publish | None,
    on_stop: OnStop,
) -> None:
    """Crawl until nothing is left to do, or until it is stopped."""
    ways = replace(ways_of(own), crawl=partial(PublishingLoop, publish=publish))
    async with assemble(plan, home, brief, ways) as crawl:
        on_stop(partial(crawl.stop_soon, "interrupted"))
        catalogue = crawl.store.catalogue
        catalogue.save_event("started", pages=catalogue.pages)
        found = await find_seeds(plan, brief, crawl, own.seeds)
        reason = await crawl.run(found | dict.fromkeys(seeds, SEED_PROMISE))
        catalogue.save_event("stopped", reason=reason)
        await crawl.commit()


class PublishingLoop(Crawl):
    """A crawl that tells which pages it has kept and committed."""

    def __init__(
        self, settings: Settings, stages: Stages, *, publish: Publish | None
    ) -> None:
        super().__init__(settings, stages)
        self.publish = publish
        self.kept: list[int] = []  # since the last commit

    async def record(
        self, lease: Lease, response: Response, content: Fingerprint, reading: Reading
    ) -> int:
        """Record a page, and note whether it was kept."""
        before = self.tally.kept
        pages = await super().record(lease, response, content, reading)
        if self.tally.kept > before:
            self.kept.append(lease.id)
        return pages

    async def commit(self) -> None:
        """Commit, then tell what was committed."""
        await super().commit()
        if self.publish and self.kept:
            self.publish(self.kept)
        self.kept = []
