"""A topic in; a crawl, and then its pages, out: Opilio for programs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opilio.assembly.build import assemble, find_seeds, prepare
from opilio.assembly.plan import begin_crawl, make_plan
from opilio.errors import BadInput
from opilio.settings import Settings, checked
from opilio.store.export import pages
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import Summary, opened, summary
from opilio.topic import Topic, check


async def harvest(
    topic: Topic, folder: Path | str, settings: Settings | None = None
) -> Summary:
    """Crawl for a topic into a folder, or go on with the crawl that is there."""
    home = CrawlFolder(Path(folder))
    topic = checked(topic, Topic, "the topic")
    check(topic, "the topic")
    if settings is not None:
        settings = checked(settings, Settings, "the settings")
    plan = make_plan(home, topic, settings)
    subject = prepare(plan, home)
    if not home.database.exists() and not (topic.sources.urls or topic.sources.search):
        raise BadInput("there is nowhere to start: give the topic seeds")
    begin_crawl(plan, home)
    async with assemble(plan, home, subject) as crawl:
        await crawl.run(await find_seeds(plan, subject, crawl))
    with opened(home) as db:
        return summary(db)


def kept(folder: Path | str) -> Iterator[dict[str, Any]]:
    """The relevant pages of a crawl, best first: url, title, score, parts and more."""
    for row in pages(CrawlFolder(Path(folder)).require(), True, False):
        yield dict(row)
