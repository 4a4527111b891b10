"""A visit that outlives its lease: the link is leased again, and recorded once."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from opilio import settings
from opilio.assembly.build import assemble
from opilio.assembly.plan import Plan, begin_crawl
from opilio.crawl import CrawlLoop
from opilio.frontier.frontier import LEASE_SECONDS, LinkFrontier
from opilio.lab.synthetic.small import page
from opilio.records import Response
from opilio.store.folder import CrawlFolder
from opilio.topic import Topic

SEED = "http://seed.test/"
HTML = (("content-type", "text/html; charset=utf-8"),)


def answer(text: str) -> Response:
    body = page("Bees", f"The bee makes honey. {text}", {"/next": text})
    return Response(SEED, 200, HTML, body.encode(), time.time())


@pytest.fixture
async def crawl(tmp_path: Path) -> AsyncIterator[CrawlLoop]:
    plan = Plan(
        topic=Topic(name="bees", keywords=["bee", "honey"], seeds=[SEED]),
        politeness=settings.PolitenessSettings(delay=0.0),
        store=settings.StoreSettings(min_free=0),
    )
    folder = CrawlFolder(tmp_path / "crawl")
    begin_crawl(plan, folder)
    async with assemble(plan, folder) as crawl:
        await crawl.plant({SEED: 1e6})
        yield crawl


def set_clock(frontier: LinkFrontier, ahead: float) -> None:
    """Let the clock of a frontier be ahead by so many seconds."""
    frontier._clock = lambda: time.monotonic() + ahead
    frontier._leases._clock = frontier._clock


async def test_a_page_that_was_recorded_stays_when_a_later_visit_is_sent_elsewhere(
    crawl: CrawlLoop,
) -> None:
    old = await crawl.frontier.take()
    set_clock(crawl.frontier, LEASE_SECONDS + 1.0)
    new = await crawl.frontier.take()
    assert old and new
    assert await crawl.keep(new, answer("It came first.")) == 1
    moved = Response(SEED, 301, (("location", "/other"),), b"", time.time())
    assert await crawl.redirect(old, moved, f"{SEED}other") == 0
    db = crawl.store.db
    assert db.execute("SELECT number, status FROM page").fetchall() == [(1, 200)]
    assert crawl.tally.pages == crawl.store.catalogue.pages == 1


@pytest.mark.parametrize("first", [0, 1], ids=["the old lease", "the new lease"])
async def test_whichever_visit_comes_first_is_recorded_and_the_other_is_not(
    crawl: CrawlLoop, first: int
) -> None:
    old = await crawl.frontier.take()
    set_clock(crawl.frontier, LEASE_SECONDS + 1.0)
    new = await crawl.frontier.take()
    assert old and new and (old.id, new.attempts) == (new.id, 1)
    leases = [old, new][:: -1 if first else 1]
    assert await crawl.keep(leases[0], answer("It came first.")) == 1
    assert await crawl.keep(leases[1], answer("It came late, and differs.")) == 0
    db = crawl.store.db
    assert db.execute("SELECT number FROM page").fetchall() == [(1,)]
    assert db.execute("SELECT count(*) FROM edge").fetchone() == (1,)
    assert db.execute("SELECT state FROM link WHERE id = 1").fetchone() == ("kept",)
    assert crawl.frontier.counts().leased == 0
    assert crawl.tally.pages == crawl.store.catalogue.pages == 1


async def test_nobody_is_hired_once_a_worker_has_failed(crawl: CrawlLoop) -> None:
    async with asyncio.TaskGroup() as crawl.group:
        pass
    crawl.hire()  # as a slow visit may do while the crawl ends
    assert crawl.workers == []
