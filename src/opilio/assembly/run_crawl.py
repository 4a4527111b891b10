"""Runs a crawl to its end and publishes the ids of pages as they are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from opilio.assembly.build import assemble, find_seeds, ways_of
from opilio.assembly.plan import Plan
from opilio.assembly.registry import Own
from opilio.crawl import CrawlLoop, Stages
from opilio.records import SEED_PROMISE, Fingerprint, Lease, Reading, Response, Subject
from opilio.settings import Settings
from opilio.store.folder import CrawlFolder

Publish = Callable[[list[int] | None], None]
"""Takes the ids of pages that were kept and committed; None: the crawl has ended."""

OnStop = Callable[[Callable[[], None]], None]
"""Takes a function that stops the crawl."""


async def run_crawl(
    plan: Plan,
    home: CrawlFolder,
    subject: Subject,
    *,
    own: Own,
    seeds: Sequence[str],
    publish: Publish | None,
    on_stop: OnStop,
) -> None:
    """Crawl until nothing is left to do, or until it is stopped."""
    ways = replace(ways_of(own), crawl=partial(PublishingLoop, publish=publish))
    async with assemble(plan, home, subject, ways) as crawl:
        on_stop(partial(crawl.stop_soon, "interrupted"))
        catalogue = crawl.store.catalogue
        catalogue.save_event("started", pages=catalogue.pages)
        found = await find_seeds(plan, subject, crawl, own.seeds)
        reason = await crawl.run(found | dict.fromkeys(seeds, SEED_PROMISE))
        catalogue.save_event("stopped", reason=reason)
        await crawl.commit()


class PublishingLoop(CrawlLoop):
    """A crawl that publishes which pages it has kept and committed."""

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
        """Commit, then publish what was committed."""
        await super().commit()
        if self.publish and self.kept:
            self.publish(self.kept)
        self.kept = []
