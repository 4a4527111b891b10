"""Pages for a query, when search engines or the disk take their time."""

import asyncio

import pytest

from opilio.lab.synthetic.small import SmallWeb
from opilio.sites.evolve_and_expand import open_expander, ready_plan
from opilio.store.folder import CrawlFolder
from sites.evolving_sites import hive, tagged

FOUND = "http://found.test/"


@pytest.fixture
async def expander(crawled, logged):
    """An expander for a small crawl that has no search engine yet."""
    page = tagged("Found", "A bee found honey in the hive. " * 20)
    life = await crawled(SmallWeb(hive() | {FOUND: page}))
    await life.crawl("--max-pages", 1)
    folder = CrawlFolder(life.folder)
    plan = ready_plan(folder, {"fetch": {"proxy": life.server.proxy_url}})
    async with open_expander(plan, folder, "honey") as expander:
        yield expander
    assert logged == []


async def test_a_slow_disk_does_not_cost_what_engines_found(expander):
    """The time for engines is over while their answers are being committed."""
    store = expander.crawl.store
    flush, is_found = store.flush, asyncio.Event()

    async def ask(query: str, most: int) -> list[str]:
        is_found.set()
        return [FOUND]

    async def flush_slowly() -> None:
        if is_found.is_set():
            is_found.clear()
            await asyncio.sleep(0.8)
        await flush()

    expander.ask, store.flush = ask, flush_slowly
    await expander.expand(pages=4, seconds=1.0)
    assert not expander.crawl.broken
    rows = store.db.execute("SELECT 1 FROM link WHERE url = ?", (FOUND,)).fetchall()
    assert rows == [(1,)]


async def test_engines_that_do_not_answer_are_given_up(expander):
    async def ask(query: str, most: int) -> list[str]:
        await asyncio.sleep(60)
        return [FOUND]

    expander.ask = ask
    assert await expander.ask_engines(2, seconds=0.05) == ()
