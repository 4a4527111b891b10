"""Crawls that wait for better links, and crawls whose time is limited."""

import pytest

from opilio.lab.synthetic.small import SmallWeb, page
from opilio.limits.schedule import Schedule

BEES = "The bee makes honey in the hive. " * 20
SHIPS = "A ship sails over the sea to the harbour. " * 20
SETTINGS = "[politeness]\ndelay = {delay}\n[store]\nmin_free = 0\ncommit_every = 0.05\n"


@pytest.mark.parametrize(
    ("pages", "seconds", "had", "after", "late"),
    [
        (100, 0.0, 0, 1e6, False),  # no limit of time
        (0, 60.0, 1000, 1.0, True),  # time alone is scarce
        (100, 60.0, 50, 29.0, False),
        (100, 60.0, 50, 31.0, True),
    ],
)
def test_a_crawl_is_late_when_time_runs_faster_than_pages(
    pages: int, seconds: float, had: int, after: float, late: bool
):
    assert Schedule(pages, seconds, 500.0).is_late(had, 500.0 + after) is late


async def test_a_crawl_ends_when_its_time_is_up_and_goes_on_later(crawled):
    links = {f"/{n}": f"page {n}" for n in range(30)}
    web = {f"http://seed.test/{n}": page(f"Bee {n}", f"{BEES} {n}") for n in range(30)}
    life = await crawled(
        SmallWeb({"http://seed.test/": page("Bees", BEES, links), **web}),
        settings_text="[crawl]\nnear_copies = false\n" + SETTINGS.format(delay=0.1),
    )
    ended = await life.crawl("--max-time", 1)
    assert (ended.code, ended.json()["ended"]) == (0, "time"), ended.err
    some = life.rows("SELECT count(*) FROM page")[0][0]
    assert 0 < some < 31
    ended = await life.crawl("--max-time", 0)
    assert ended.json()["ended"] == "exhausted"
    assert life.rows("SELECT count(*) FROM page") == [(31,)]
    fetched = [r.url for r in life.server.requests if not r.url.endswith("robots.txt")]
    assert len(fetched) == len(set(fetched))


@pytest.mark.parametrize(
    ("more", "first"),
    [(["--haste", 0], 6), (["--haste", 1], 1), (["--haste", 0, "--max-time", 60], 1)],
)
async def test_pages_about_ships_wait_for_pages_about_bees(crawled, more, first: int):
    """The bees are all on one host, which rests after each visit."""
    bees = {f"http://bees.test/{n}": f"bee honey hive {n}" for n in range(6)}
    ships = {f"http://ship{n}.test/": f"ship {n}" for n in range(6)}
    life = await crawled(
        SmallWeb(
            {
                "http://seed.test/": page("Bees", BEES, bees | ships),
                **{url: page(name, f"{BEES} {name}") for url, name in bees.items()},
                **{url: page(name, f"{SHIPS} {name}") for url, name in ships.items()},
            }
        ),
        settings_text="[crawl]\nnear_copies = false\n[bounds]\nnovelty = 0\n"
        + SETTINGS.format(delay=0.3),
    )
    ended = await life.crawl("--max-pages", 0, "--strategy", "shark-search", *more)
    assert ended.code == 0, ended.err
    asked = [r.url for r in life.server.requests if not r.url.endswith("robots.txt")]
    assert {*asked} == {"http://seed.test/", *bees, *ships}
    before = asked[: asked.index(next(url for url in asked if url in ships))]
    assert len(set(before) & set(bees)) == first
