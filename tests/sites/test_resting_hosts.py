"""Hosts that rest for long keep nobody waiting, over loopback HTTP."""

import asyncio
import sqlite3
import time
from contextlib import closing

import pytest

from crawling import opilio
from opilio import Crawl
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import HTML, SyntheticAnswer

BEES = "The bee makes honey in the hive. "
LATER = SyntheticAnswer(503, (HTML, ("retry-after", "3600")))


def two_hosts() -> SmallWeb:
    """A page that links to a host that is overloaded, and to one that is fine."""
    slow = {f"http://slow.test/{n}": f"bee honey hive {n}" for n in range(5)}
    fine = {f"http://fine.test/{n}": f"bee {n}" for n in range(5)}
    pages = {
        url: page(f"Bees {url}", BEES * 20 + f"{url[-1] * 7} " * 30) for url in fine
    }
    home = page("Bees", BEES * 20, slow | fine)
    return SmallWeb({"http://seed.test/": home, **pages, **dict.fromkeys(slow, LATER)})


async def evolve(life, *options) -> dict[str, dict]:
    proxy = ("--proxy", life.server.proxy_url)
    async with asyncio.timeout(40):  # not the hour that a host asks for
        ended = await opilio("evolve", life.folder, "--json", *proxy, *options)
    assert ended.code == 0, ended.err
    return {phase["name"]: phase for phase in ended.json()["phases"]}


def asked(life, host: str) -> int:
    pages = (one.url for one in life.server.requests if "robots.txt" not in one.url)
    return sum(url.startswith(f"http://{host}/") for url in pages)


@pytest.mark.parametrize("trouble", ["page", "robots.txt"])
async def test_links_of_a_host_that_rests_are_given_back_and_others_used(
    crawled, trouble
):
    web = two_hosts()
    if trouble == "robots.txt":
        web.answers["http://slow.test/robots.txt"] = LATER
    life = await crawled(web)
    await life.crawl("--max-pages", 1)
    told = await evolve(life)
    phases = [told[name] for name in ("fill", "complete", "follow")]
    assert asked(life, "fine.test") == 5
    assert asked(life, "slow.test") == (trouble == "page")
    assert sum(phase["pages"] for phase in phases) == 5
    left = [phase for phase in phases if phase["left"]]
    assert left and all("left: their hosts rest (until" in one["note"] for one in left)
    states = life.states()
    assert {states[f"http://slow.test/{n}"] for n in range(5)} == {("waiting", None)}
    # while it rests, it is not even chosen
    before = len(life.server.requests)
    again = await evolve(life)
    assert len(life.server.requests) == before
    assert "one host rests" in again["follow"]["note"]
    with closing(sqlite3.connect(life.folder / "crawl.db")) as db, db:
        db.execute("UPDATE host SET rest_until = ?", (time.time() - 1,))
        db.execute("DELETE FROM robots")
    db.close()
    web.answers["http://slow.test/robots.txt"] = SyntheticAnswer(404, (HTML,))
    for n in range(5):
        text = BEES * 20 + f"{chr(97 + n) * 7} " * 30
        answer = SyntheticAnswer(200, (HTML,), page(f"Slow {n}", text).encode())
        web.answers[f"http://slow.test/{n}"] = answer
    await evolve(life)
    assert {life.states()[f"http://slow.test/{n}"][0] for n in range(5)} == {"kept"}


async def test_a_search_that_expands_does_not_wait_for_a_host_that_rests(crawled):
    life = await crawled(two_hosts())
    await life.crawl("--max-pages", 1)
    crawl = Crawl(life.folder, proxy=life.server.proxy_url)
    came = await crawl.aexpand("bee", 20, log=True)
    assert came.ended == "links"  # not "time"
    assert came.pages == 5
    assert asked(life, "fine.test") == 5
    assert life.states()["http://slow.test/0"] == ("waiting", None)
