"""Waiting links are scored again when people ask for other things than before."""

import asyncio
import json

import pytest

from opilio.lab.synthetic.small import SmallWeb, page
from opilio.strategies.shared.website_distiller import USER

SETTINGS = """
[crawl]
judge = "cosine"
strategy = "{strategy}"
near_copies = false
[bounds]
per_template = 0
novelty = 0
[politeness]
delay = 0.25
[store]
min_free = 0
commit_every = 0.1
"""
TOPIC = """
name = "asked"
seeds = ["http://seed.test/"]
[query_log]
file = "{log}"
every = 1
threshold = 0.1
"""
PROMISES = """
    SELECT avg(promise) FILTER (WHERE url LIKE '%/chess-%'),
        avg(promise) FILTER (WHERE url LIKE '%/bee-%')
    FROM link WHERE state = 'waiting'
"""


def both() -> SmallWeb:
    """A page that links to pages on two subjects."""
    links = {
        f"/{about}-{n}": f"{about} {n}"
        for n in range(100)
        for about in ("bee", "chess")
    }
    pages = {"http://seed.test/": page("Start", "bee and chess", links)}
    for address, anchor in links.items():
        pages[f"http://seed.test{address}"] = page(anchor, f"all about {anchor}")
    return SmallWeb(pages)


@pytest.mark.parametrize("strategy", ["shark-search", "otie"])
async def test_waiting_links_follow_the_query_log(crawled, tmp_path, strategy):
    log = tmp_path / "queries.txt"
    log.write_text("bee\n" * 10)
    life = await crawled(
        both(),
        settings_text=SETTINGS.format(strategy=strategy),
        topic_text=TOPIC.format(log=log),
    )
    process = await life.start("--max-pages", 0)
    try:
        await life.until_committed(4)
        chess, bee = life.rows(PROMISES)[0]
        assert bee > chess
        with log.open("a") as file:
            file.write("chess\n" * 90)
        async with asyncio.timeout(40):
            while not (
                rows := life.rows("SELECT detail FROM event WHERE kind = 'rescored'")
            ):
                await asyncio.sleep(0.05)
        assert json.loads(rows[-1][0])["links"] > 100
        chess, bee = life.rows(PROMISES)[0]
        assert chess > bee
        before = len(life.server.requests)
        while len(life.server.requests) < before + 6:
            await asyncio.sleep(0.05)
    finally:
        process.kill()
        await process.wait()
    asked = [request.url for request in life.server.requests[before + 1 :]]
    assert all("/chess-" in url for url in asked)


async def test_models_of_websites_follow_the_query_log_across_a_kill(crawled, tmp_path):
    """Links move between the two queues of Yang's crawler, and stay there."""
    log = tmp_path / "queries.txt"
    log.write_text("bee\n" * 10)
    life = await crawled(
        both(),
        settings_text=SETTINGS.format(strategy="website-model"),
        topic_text=TOPIC.format(log=log),
    )
    rare = ("--option", "user_share=0.99")  # visits to the Website Priority Queue
    process = await life.start("--max-pages", 0, *rare)
    try:
        await life.until_committed(4)
        chess, bee = life.rows(PROMISES)[0]
        assert bee > USER > chess
        assert not life.rows(
            "SELECT 1 FROM page JOIN link USING (id) WHERE url LIKE '%/chess-%'"
        )
        with log.open("a") as file:
            file.write("chess\n" * 90)
        async with asyncio.timeout(40):
            while not life.rows("SELECT 1 FROM event WHERE kind = 'rescored'"):
                await asyncio.sleep(0.05)
    finally:
        process.kill()
        await process.wait()
    assert life.rows(PROMISES)[0][0] > USER
    [(before,)] = life.rows("SELECT max(number) FROM page")
    ended = await life.crawl("--max-pages", before + 8)
    assert ended.code == 0, ended.err
    assert life.rows(PROMISES)[0][0] > USER
    after = life.rows(
        f"SELECT url FROM page JOIN link USING (id) WHERE number > {before}"
    )
    assert len(after) == 8
    assert sum("/chess-" in url for (url,) in after) >= 6, after
