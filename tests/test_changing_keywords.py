"""The keywords of a running crawl change as it keeps pages, or by the user."""

import asyncio
import json

from bee_web import bee_web
from crawling import opilio
from opilio.store.folder import CrawlFolder
from opilio.subject.stored_subject import load_subject
from opilio.subject.topic_updates import accepted

TOPIC = """
name = "bees"
keywords = ["bee"]
seeds = ["http://seed.test/"]
update = "{update}"
[query_log]
searches = true
every = 1
"""
SETTINGS = """
[crawl]
strategy = "shark-search"
judge = "cosine"
near_copies = false
[bounds]
novelty = 0
[politeness]
delay = 0.1
[store]
min_free = 0
commit_every = 0.1
"""


async def changed(life) -> dict:
    """What the event says that tells of other keywords; waits for it."""
    query = "SELECT detail FROM event WHERE kind = 'topic'"
    async with asyncio.timeout(60):
        while True:
            for (detail,) in life.rows(query):
                if (told := json.loads(detail)).get("keywords"):
                    return told
            await asyncio.sleep(0.1)


async def rescored(life) -> int:
    """How many links were re-scored; waits for it."""
    async with asyncio.timeout(60):
        while not (
            rows := life.rows("SELECT detail FROM event WHERE kind = 'rescored'")
        ):
            await asyncio.sleep(0.1)
    return json.loads(rows[-1][0])["links"]


async def test_keywords_follow_the_kept_pages_while_the_crawl_runs(crawled):
    """Aastha, figure 7(b): "Build/update topic keywords by seed/relevant web pages"."""
    life = await crawled(
        bee_web(pages=300),
        topic_text=TOPIC.format(update="auto"),
        settings_text=SETTINGS,
    )
    process = await life.start("--max-pages", 0)
    try:
        await life.until_committed(1)
        told = await changed(life)
        assert "add honey" in told["keywords"]
        assert told["pages"] >= 50  # enough to learn from
        assert await rescored(life) > 10
    finally:
        process.kill()
        await process.wait()
    folder = CrawlFolder(life.folder)
    lines = folder.keywords.read_text().splitlines()
    assert {json.loads(line)["action"] for line in lines if line} == {"automatic"}
    assert "honey" in load_subject(folder.subject).terms
    weights = load_subject(folder.subject).weights
    # The crawl goes on with the same table, made of the same changes.
    made = accepted(folder)
    assert (await life.crawl("--max-pages", 1)).code == 0
    assert accepted(folder)[: len(made)] == made
    assert load_subject(folder.subject).weights.keys() >= weights.keys()


async def test_a_running_crawl_takes_what_is_accepted_meanwhile(crawled):
    life = await crawled(
        bee_web(pages=300),
        topic_text=TOPIC.format(update="ask"),
        settings_text=SETTINGS,
    )
    process = await life.start("--max-pages", 0)
    try:
        await life.until_committed(20)
        done = await opilio(
            "topic", "build", "--update", life.folder, "--accept", "all"
        )
        assert done.code == 0, done.err
        told = await changed(life)
        assert "add honey" in told["keywords"]
        assert await rescored(life) > 10
    finally:
        process.kill()
        await process.wait()
    assert "honey" in load_subject(CrawlFolder(life.folder).subject).terms
