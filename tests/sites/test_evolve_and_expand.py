"""A program lets a crawl evolve, or fetches for a query into it."""

import sqlite3
from contextlib import closing

import pytest

from crawling import SETTINGS
from opilio import Crawl
from opilio.errors import BadInput
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.sites.evolve_and_expand import open_evolver, ready_plan
from opilio.store.folder import CrawlFolder

BEES = "The bee makes honey in the hive. " * 20
WEB = SmallWeb(
    {
        "http://seed.test/": page(
            "Bees", BEES, {"/drone": "drones", "/queen": "a queen bee"}
        ),
        "http://seed.test/drone": page("Drones", f"{BEES} all about a drone"),
        "http://seed.test/queen": page("Queens", f"{BEES} all about a queen"),
    }
)
ONE = f"{SETTINGS}[crawl]\nin_flight = 1\n"


async def test_pages_for_a_query_are_fetched_and_the_crawl_follows_it(crawled, logged):
    life = await crawled(WEB, settings_text=ONE)
    await life.crawl("--max-pages", 1)
    crawl = Crawl(life.folder, proxy=life.server.proxy_url)
    more = await crawl.aexpand("drone", 1, log=True)
    assert more.urls == ["http://seed.test/drone"]
    assert (more.pages, more.kept, more.ended) == (1, 1, "pages")
    log = life.folder / "queries.txt"
    assert "drone" in log.read_text()
    more = await crawl.aexpand("queen", 9)
    assert more.urls == ["http://seed.test/queen"]
    assert "queen" not in log.read_text()
    assert logged == []


async def test_pages_without_profiles_are_read_again_first(crawled, logged):
    life = await crawled(WEB, settings_text=ONE)
    await life.crawl("--max-pages", 1)
    with closing(sqlite3.connect(life.folder / "crawl.db")) as db, db:
        db.execute("DELETE FROM page_profile")
        db.execute("DELETE FROM site")
    db.close()
    outcomes = await Crawl(life.folder, proxy=life.server.proxy_url).aevolve(9)
    assert logged == ["Reading 1 page again for the site models"]
    assert [outcome.pages for outcome in outcomes] == [0, 1, 0, 0]
    assert life.rows("SELECT pages, in_domain FROM site") == [(2, 2)]


async def test_an_evolver_that_was_stopped_fetches_nothing(crawled):
    life = await crawled(WEB, settings_text=ONE)
    await life.crawl("--max-pages", 1)
    home = CrawlFolder(life.folder)
    plan = ready_plan(home, {"fetch": {"proxy": life.server.proxy_url}})
    asked = len(life.server.requests)
    async with open_evolver(plan, home) as evolver:
        evolver.stop()
        outcomes = await evolver.round(9)
        with pytest.raises(BadInput, match="stop it first"):
            ready_plan(CrawlFolder(life.folder))
    assert len(life.server.requests) == asked
    assert not any(outcome.chosen for outcome in outcomes)
