"""A folder and a query in; pages that may answer it, fetched into the crawl, out.

What `opilio search --expand` does between its two answers.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence

from opilio.build import assemble, prepare
from opilio.cli.display import show_trouble
from opilio.cli.evolve import add_profiles
from opilio.crawl import Crawl
from opilio.errors import BadInput, OpilioError
from opilio.event_loop import run_loop
from opilio.fetch.http import HttpFetch
from opilio.plan import Plan, resumed_plan
from opilio.search.query import parse_query
from opilio.seeds.priority import choose
from opilio.seeds.search import make_engines, search_all
from opilio.sites.domain import Domain
from opilio.sites.expander import Ask, Expander, Expansion
from opilio.sites.keeper import SiteKeeper
from opilio.store.folder import CrawlFolder


def expand(
    folder: CrawlFolder, query: str, pages: int, seconds: float, proxy: str | None
) -> Expansion:
    """Fetch pages for a query, until there are enough, or time or Ctrl-C ends it."""
    require_free(folder)
    plan = resumed_plan(folder, None, options={"fetch": {"proxy": proxy}})
    prepare(plan, folder)
    add_profiles(folder, plan)
    return run_loop(run(plan, folder, query, pages, seconds))


def require_free(folder: CrawlFolder) -> None:
    """BadInput while another process crawls in the folder."""
    try:
        folder.lock()
    except BadInput:
        raise BadInput(
            f"{folder.path} is being crawled by another process, which alone may fetch "
            "pages into it; stop it first, or search without --expand, which works "
            "meanwhile, and the crawl follows what you search for"
        ) from None
    folder.unlock()


async def run(
    plan: Plan, folder: CrawlFolder, query: str, pages: int, seconds: float
) -> Expansion:
    """Open the crawl for as long as it takes."""
    async with assemble(plan, folder, tell=show_trouble) as crawl:
        kept = crawl.store.profiles
        domain = kept.domain if isinstance(kept, SiteKeeper) else None
        expander = Expander(
            crawl,
            domain or Domain(prepare(plan, folder)),
            parse_query(query),
            mode=plan.search.mode,
            ask=engines(plan, crawl),
        )
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, expander.stop)
        return await expander.expand(pages, seconds)


def engines(plan: Plan, crawl: Crawl) -> Ask | None:
    """The search engines of the topic, if it has some; a replay has no network."""
    sources, fetch = plan.topic.sources, crawl.fetch
    if not sources.search or not isinstance(fetch, HttpFetch):
        return None
    asked = make_engines(sources.search, fetch.egress.get, plan.politeness.delay)

    async def ask(query: str, most: int) -> Sequence[str]:
        try:
            found = await search_all(
                asked, query, most, plan.topic.language, show_trouble
            )
        except OpilioError as error:  # the links of the crawl are there all the same
            show_trouble(str(error))
            return ()
        return [seed.url for seed in choose(found, most, common=sources.common)]

    return ask
