"""A crawl that can only wait says for whom, why and until when."""

import asyncio
import json
import re
import signal
import time

import pytest

from crawling import SETTINGS, opilio, start_opilio
from opilio.cli.waiting import wait_in_words
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import SyntheticAnswer

OVERLOADED = SyntheticAnswer(503, (("retry-after", "1000"),))
ROBOTS_DOWN = SmallWeb({"http://seed.test/robots.txt": OVERLOADED})
PAGE_DOWN = SmallWeb(
    {
        "http://seed.test/": page("Bees", "honey", {"http://busy.test/": "bees"}),
        "http://busy.test/robots.txt": SyntheticAnswer(
            200, (("content-type", "text/plain"),), b"User-agent: *\nCrawl-delay: 1"
        ),
        "http://busy.test/": SyntheticAnswer(429, (("retry-after", "1000"),)),
    }
)

GIVEN_UP = SmallWeb(
    {
        "http://seed.test/": page(
            "Bees", "honey", {"http://full.test/": "bees", "http://busy.test/": "bees"}
        ),
        "http://full.test/": SyntheticAnswer(429, (("retry-after", "30"),)),
        "http://busy.test/robots.txt": OVERLOADED,
    }
)


async def told_by(life, *, quiet: bool) -> str:
    """How a crawl says that it waits, before it is interrupted."""
    command = [each for each in life.command() if quiet or each != "-q"]
    process = await start_opilio(*command, stdout=asyncio.subprocess.DEVNULL)
    assert process.stderr
    async with asyncio.timeout(60):
        line = await process.stderr.readline()
        while not quiet and b'"event"' not in line:  # how it is doing, now and then
            assert line, "it has ended"
            line = await process.stderr.readline()
        process.send_signal(signal.SIGINT)
        await process.communicate()
    return line.decode()


@pytest.mark.parametrize("quiet", [True, False], ids=["quiet", "JSON lines"])
async def test_while_robots_txt_of_the_only_seed_fails_it_is_told(crawled, quiet: bool):
    life = await crawled(ROBOTS_DOWN)
    line = await told_by(life, quiet=quiet)
    if quiet:
        assert line.startswith("Nothing can be visited now; one link waits for seed.")
        assert "robots.txt cannot be fetched" in line
        assert re.search(r"\(in 1[56] min\)", line)
    else:
        told = json.loads(line)
        assert (told["event"], told["host"]) == ("waiting", "seed.test")
        assert told["why"] == "robots_unreachable"
        assert 900 < told["until"] - time.time() <= 1000


async def test_a_host_without_links_that_wait_is_not_waited_for(crawled):
    once = SETTINGS.replace("delay = 0.0", "delay = 0.0\nattempts = 1")
    life = await crawled(GIVEN_UP, settings_text=once)
    told = json.loads(await told_by(life, quiet=False))
    assert life.states()["http://full.test/"] == ("unusable", "http_429")
    assert (told["host"], told["links"]) == ("busy.test", 1)


async def test_status_and_explain_say_until_when_a_host_rests(crawled):
    life = await crawled(PAGE_DOWN)
    await told_by(life, quiet=True)
    figures = (await opilio("status", life.folder, "--json")).json()
    assert figures["hosts_resting"] == 1
    [rest] = figures["resting"]
    assert (rest["host"], rest["reason"]) == ("busy.test", "http_429")
    assert 900 < rest["until"] - time.time() <= 1000
    assert figures["slowest"] == {"busy.test": 1.0}
    shown = await opilio("status", life.folder)
    assert "Resting hosts: 1" in shown.out
    assert "busy.test until" in shown.out and "it answered 429" in shown.out
    assert "busy.test: 1 s" in shown.out
    shown = await opilio("explain", life.folder, "http://busy.test/")
    assert "its host asks for 1 s between two visits" in shown.out
    assert "at rest: busy.test until" in shown.out and "429" in shown.out


def test_a_wait_without_a_rest_is_told_too():
    slow = {"host": "slow.test", "why": "crawl_delay", "delay": 30.0, "links": 2}
    assert "2 links wait: slow.test asks for 30 s" in wait_in_words(slow)
    rests = {"host": "a.test", "why": "http_503", "until": time.time(), "links": 2}
    assert "2 links wait, the next for a.test until" in wait_in_words(rests)
    fails = {"host": "a.test", "why": "retry", "until": time.time() + 9, "links": 1}
    told = wait_in_words(fails)
    assert "one link waits for a.test until" in told and "(in 9 s): the last" in told
