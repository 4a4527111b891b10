"""Crawls that find their own seeds, by the real command over real HTTP."""

import json
from itertools import pairwise

from crawling import opilio
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import SyntheticAnswer

BEES = "The bee makes honey in the hive. " * 20
ASKED = "http://searx.test/search?q=bee+honey&format=json&pageno={}&language=en"


def answer(kind: str, text: str) -> SyntheticAnswer:
    return SyntheticAnswer(200, (("content-type", kind),), text.encode())


def results(*found: tuple[str, list[str]]) -> SyntheticAnswer:
    rows = [{"url": url, "engines": engines} for url, engines in found]
    return answer("application/json", json.dumps({"results": rows}))


async def test_a_crawl_starts_from_what_a_search_engine_finds(crawled):
    both, one = "http://both.test/", "http://one.test/"
    web = SmallWeb(
        {
            ASKED.format(1): results((one, ["x"]), (both, ["x", "y"])),
            ASKED.format(2): results(),
            both: page("Both", BEES + "both"),
            one: page("One", BEES + "one"),
        }
    )
    topic = (
        'name = "bees"\nkeywords = ["bee", "honey"]\n'
        '[seeds]\nsearch = ["searxng:http://searx.test"]\n'
    )
    settings = (
        "[crawl]\nin_flight = 1\n[politeness]\ndelay = 0.0\n[store]\nmin_free = 0"
    )
    life = await crawled(web, topic_text=topic, settings_text=settings)
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    order = life.rows("SELECT url FROM page JOIN link USING (id) ORDER BY number")
    assert order == [(both,), (one,)], "what two engines found is visited first"
    stand = (await opilio("status", life.folder, "--json")).json()
    assert stand["seeds_found"] == [
        {"url": both, "priority": "high", "sources": ["x", "y"],
         "ranks": {"x": 2, "y": 1}},
        {"url": one, "priority": "low", "sources": ["x"], "ranks": {"x": 1}},
    ]  # fmt: skip
    shown = (await opilio("status", life.folder)).out
    assert "Seeds found by search: 2 (1 high, 1 low)" in shown
    assert "High: x (rank 2), y (rank 1)" in shown
    explained = (await opilio("explain", life.folder, one)).out
    assert "Low: x (rank 1)" in explained


async def test_no_engine_that_answers_is_an_error_with_a_remedy(crawled):
    topic = (
        'name = "bees"\nkeywords = ["bee", "honey"]\n'
        '[seeds]\nsearch = ["searxng:http://searx.test"]\n'
    )
    life = await crawled(SmallWeb({}), topic_text=topic)
    ended = await life.crawl()
    assert ended.code == 1
    said = " ".join(ended.err.split())
    assert "searxng:http://searx.test" in said
    assert "--seed-url" in said


async def test_a_crawl_starts_from_a_sitemap(crawled):
    web = SmallWeb(
        {
            "http://seed.test/": page("Start", BEES),
            "http://seed.test/sitemap.xml": answer(
                "application/xml",
                '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
                "<url><loc>http://seed.test/hidden</loc></url></urlset>",
            ),
            "http://seed.test/hidden": page("Hidden", BEES + "hidden"),
        }
    )
    topic = (
        'name = "bees"\nkeywords = ["bee", "honey"]\n'
        '[seeds]\nurls = ["http://seed.test/"]\nsitemaps = true\n'
    )
    life = await crawled(web, topic_text=topic)
    ended = await life.crawl()
    assert ended.code == 0, ended.err
    assert life.states()["http://seed.test/hidden"] == ("kept", None)


async def test_a_site_that_was_asked_for_its_sitemap_keeps_its_crawl_delay(crawled):
    robots = "User-agent: *\nCrawl-delay: 1.5\n"
    web = SmallWeb(
        {
            "http://seed.test/robots.txt": answer("text/plain", robots),
            "http://seed.test/": page("Start", BEES),
        }
    )
    topic = (
        'name = "bees"\nkeywords = ["bee", "honey"]\n'
        '[seeds]\nurls = ["http://seed.test/"]\nsitemaps = true\n'
    )
    life = await crawled(web, topic_text=topic)
    assert (await life.crawl()).code == 0
    times = [request.at for request in life.server.requests]
    assert len(times) == 3, "robots.txt, sitemap.xml, the page"
    assert min(later - sooner for sooner, later in pairwise(times)) >= 1.4
    assert life.rows("SELECT delay FROM host") == [(1.5,)]
