"""Fetches more pages for a query: the part of `opilio search --expand` that crawls."""

from __future__ import annotations

import asyncio
import signal

from opilio.assembly.event_loop import run_loop
from opilio.assembly.plan import Plan
from opilio.sites.evolve_and_expand import open_expander, ready_plan
from opilio.sites.expander import Expansion
from opilio.store.folder import CrawlFolder


def expand(
    folder: CrawlFolder,
    query: str,
    pages: int,
    seconds: float,
    proxy: str | None,
    logged: bool = True,
) -> Expansion:
    """Fetch pages for a query, until there are enough, or time or Ctrl-C ends it."""
    plan = ready_plan(folder, {"fetch": {"proxy": proxy}})
    return run_loop(run(plan, folder, query, pages, seconds, logged))


async def run(
    plan: Plan,
    folder: CrawlFolder,
    query: str,
    pages: int,
    seconds: float,
    logged: bool,
) -> Expansion:
    """Open the crawl and fetch pages for a query."""
    async with open_expander(plan, folder, query, logged=logged) as expander:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, expander.stop)
        return await expander.expand(pages, seconds)
