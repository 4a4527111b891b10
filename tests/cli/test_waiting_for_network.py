"""A crawl that waits for its network says so, once for each time that it is away."""

import time
from contextlib import AsyncExitStack
from types import SimpleNamespace

import pytest

from crawling import SETTINGS, Crawled, opilio
from fetch.hostile_server import Connection, serve
from opilio.cli import waiting
from opilio.cli.waiting import WaitingNotice, wait_in_words
from opilio.progress import Counts

SEEDS = 6
HASTE = SETTINGS.replace("delay = 0.0", "delay = 0.0\nip_delay = 0.0\nmax_rest = 7.0")


async def test_while_nobody_answers_a_crawl_says_why_it_waits(tmp_path):
    async def silent(connection: Connection) -> None:
        return None

    async with AsyncExitStack() as servers:
        made = [await servers.enter_async_context(serve(silent)) for _ in range(SEEDS)]
        seeds = [server.url() for server in made]
        topic = f'name = "bees"\nkeywords = ["honey"]\nseeds = {seeds}\n'
        life = Crawled(tmp_path, topic_text=topic, settings_text=HASTE)
        ended = await life.crawl("--allow-network", "127.0.0.0/8")
    assert ended.err.count("this machine seems to be offline") == 1
    rests = life.rows("SELECT DISTINCT reason FROM rest")
    assert ("offline",) in rests
    shown = await opilio("status", life.folder)
    assert "no host could be reached; retried later" in shown.out


@pytest.mark.parametrize(("why", "times"), [("offline", 2), ("http_503", 6)])
def test_a_network_that_is_away_is_told_once_for_each_time(
    monkeypatch, why: str, times: int
):
    moments = iter(range(6))
    monkeypatch.setattr(
        waiting,
        "awaited",
        lambda *_: {"host": "a.test", "why": why, "until": next(moments), "links": 1},
    )
    tally, told = SimpleNamespace(pages=1), []
    watch = WaitingNotice(SimpleNamespace(tally=tally), told.append)
    counts = Counts(waiting=1, leased=0, hosts=1, ready=0, resting=1, ended={})
    for _ in range(3):
        watch.look(counts)
    tally.pages = 2  # somebody has answered meanwhile
    for _ in range(3):
        watch.look(counts)
    assert len(told) == times


def test_a_network_or_a_proxy_that_is_away_is_told_in_words():
    event = {"host": "a.test", "why": "offline", "until": time.time(), "links": 2}
    assert "no host answers, so this machine" in wait_in_words(event)
    assert "the proxy does not work" in wait_in_words(event | {"why": "proxy"})
