"""Crawls in PostgreSQL by one worker and by several."""

import asyncio
import json

import psycopg
import pytest

from crawling import end_of, start_opilio
from opilio.lab.synthetic.small import SmallWeb, page, redirect

BEES = {
    "http://seed.test/": page(
        "Bees",
        "bee honey hive",
        {
            "/one": "one",
            "http://other.test/": "more honey",
            "http://third.test/old": "hives",
        },
    ),
    "http://seed.test/one": page("One", "a bee", {"http://other.test/far": "bee"}),
    "http://other.test/": page(
        "Honey", "honey of a bee", {"http://seed.test/two": "2"}
    ),
    "http://other.test/far": page("Far", "bee bee hive"),
    "http://seed.test/two": page("Two", "the hive"),
    "http://third.test/old": redirect("http://fourth.test/new"),
    "http://fourth.test/new": page("New", "honey and hive"),
}
SETTINGS = """
[politeness]
delay = 0.02
[crawl]
strategy = "best-first"
judge = "cosine"
near_copies = false
[store]
min_free = 0
commit_every = 0.05
lease = 2.0
"""


def rows(dsn, query):
    with psycopg.connect(dsn, options="-c search_path=opilio") as db:
        return db.execute(query).fetchall()


async def worker(life, dsn, number=1):
    return await start_opilio(
        *("crawl", life.topic, "-o", life.home / f"box-{number}", "-q"),
        *("--proxy", life.server.proxy_url, "--settings", life.settings),
        *("--store", dsn),
    )


@pytest.mark.parametrize("workers", [1, 3])
async def test_a_crawl_in_a_database_finds_every_page_once(crawled, dsn, workers):
    life = await crawled(SmallWeb(BEES), settings_text=SETTINGS)
    started = [await worker(life, dsn, number) for number in range(workers)]
    ended = await asyncio.gather(*map(end_of, started))
    assert [one.code for one in ended] == [0] * workers, [one.err for one in ended]
    assert {json.loads(one.out)["ended"] for one in ended} == {"exhausted"}
    found = rows(dsn, "SELECT url, state, reason FROM link")
    states = {url: (state, reason) for url, state, reason in found}
    assert len(states) == len(found)
    assert set(states) == set(BEES)
    assert states.pop("http://third.test/old") == ("copy", "redirect")
    assert {state for state, _ in states.values()} <= {"kept", "irrelevant"}
    assert rows(dsn, "SELECT count(*) FROM page") == [(len(BEES),)]
    asked = [one.url for one in life.server.requests if "robots" not in one.url]
    assert sorted(asked) == sorted(BEES)


async def test_a_crawl_whose_seeds_lead_nowhere_says_why(crawled, dsn):
    life = await crawled(SmallWeb({}), settings_text=SETTINGS)
    ended = await end_of(await worker(life, dsn))
    assert ended.code == 1
    assert "no page could be fetched. Seeds: http://seed.test/" in ended.err
    assert "opilio doctor --url" in ended.err
