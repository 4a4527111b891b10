"""Servers that answer as slowly as they may do not take the places of others."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fetch.hostile_server import Connection, HostileServer
from fetch.local_egress import LOOPBACK, Names
from opilio import settings
from opilio.assembly.build import Ways, assemble
from opilio.assembly.plan import Plan, begin_crawl
from opilio.crawl import CrawlLoop
from opilio.crawl.slow_lane import SlowLane
from opilio.errors import Transient
from opilio.fetch.egress import Egress
from opilio.fetch.http import HttpFetch
from opilio.fetch.robots import Robots
from opilio.lab.synthetic.small import page
from opilio.records import SEED_PROMISE, Lease
from opilio.store.folder import CrawlFolder
from opilio.store.robots import SqliteRobots
from opilio.topic import Topic

GOOD, SLOW, PAGES, PLACES = 6, 40, 4, 8
Play = Callable[[Connection], Awaitable[None]]
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


async def play(connection: Connection) -> None:
    """Good hosts answer at once; slow ones drip for as long as they are read."""
    host = connection.request.split(b"Host: ")[1].split(b"\r\n")[0].decode()
    if host.startswith("slow"):
        await connection.send(HEAD + b"\r\n<html>honey bees hive")
        while True:
            await connection.send(b" honey" * 100)
            await asyncio.sleep(0.5)
    if connection.path == "/robots.txt":
        await connection.send(b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n")
        return
    links = {f"/{number}": "honey" for number in range(PAGES)}
    if host == "seed.test":
        links = {f"http://slow{n}.test/": "honey bee hive" for n in range(SLOW)}
        links |= {f"http://good{n}.test/": "honey" for n in range(GOOD)}
    body = page("Bees", f"honey bee hive {host} {connection.path}", links).encode()
    await connection.send(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)


@asynccontextmanager
async def serving(play: Play) -> AsyncIterator[HostileServer]:
    server = HostileServer(play)
    listener = await asyncio.start_server(server.meet, "127.0.0.1", 0)
    server.port = listener.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listener.close()


@asynccontextmanager
async def crawling(
    tmp_path: Path, play: Play, max_pages: int, in_flight: int
) -> AsyncIterator[CrawlLoop]:
    """A crawl of hosts that all are one server, which plays them."""
    plan = Plan(
        topic=Topic(
            name="bees", keywords=["bee", "honey"], seeds=["http://seed.test/"]
        ),
        crawl=settings.CrawlSettings(in_flight=in_flight, max_pages=max_pages),
        politeness=settings.PolitenessSettings(delay=0.0, ip_delay=0.0),
        fetch=settings.FetchSettings(allow_networks=LOOPBACK, timeout=20.0),
        store=settings.StoreSettings(min_free=0, commit_every=0.02),
    )
    folder = CrawlFolder(tmp_path / "crawl")
    begin_crawl(plan, folder)
    async with serving(play) as server:
        names = Names(lambda host: [f"127.0.0.1:{server.port}"])

        def fetch(plan: Plan, store, frontier) -> HttpFetch:
            egress = Egress(plan.fetch, names)
            robots = Robots(egress.get, SqliteRobots(store.db), "opilio")
            return HttpFetch(egress, robots, plan.politeness, plan.fetch, frontier.pace)

        async with assemble(plan, folder, ways=Ways(fetch=fetch)) as crawl:
            yield crawl


@pytest.mark.timeout(240)
async def test_good_hosts_are_crawled_beside_many_slow_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SlowLane.__init__, "__defaults__", (0.5,))
    wanted = 1 + GOOD * (PAGES + 1)
    began = time.monotonic()
    async with crawling(tmp_path, play, max_pages=wanted, in_flight=PLACES) as crawl:
        await crawl.run({"http://seed.test/": SEED_PROMISE})
        took = time.monotonic() - began
        assert crawl.tally.pages == wanted
    # Without the slow lane, 40 hosts take the 8 places for 20 s each: twice, 200 s.
    assert took < 160, took


def lease(host: str, found_on: int = 7) -> Lease:
    return Lease(1, f"http://{host}/", 1, host, 0.5, found_on=found_on)


async def test_slow_visits_leave_and_their_hosts_start_slow_the_next_time() -> None:
    hired: list[Lease] = []
    lane = SlowLane(4, after=0.01, on_slow=hired.append)
    await lane.watch(lease("fast.test"), asyncio.sleep(0))
    assert not hired
    await lane.watch(lease("slow.test"), asyncio.sleep(0.05))
    assert (len(hired), lane.surplus, lane.visits) == (1, 1, set())
    assert lane.is_slow(lease("slow.test")) and not lane.is_slow(lease("b.test"))
    await lane.watch(lease("slow.test"), asyncio.sleep(0))  # at once among the slow
    assert len(hired) == 2
    assert not lane.is_slow(lease("slow.test"))  # it was fast this time


async def test_one_page_or_domain_gets_a_quarter_of_the_slow_lane() -> None:
    lane = SlowLane(8, after=0.01)  # 16 places
    visits = [lane.watch(lease(f"h{n}.test", 3), asyncio.sleep(0.3)) for n in range(8)]
    ended = await asyncio.gather(*visits, return_exceptions=True)
    refused = [error for error in ended if isinstance(error, Transient)]
    assert len(refused) == 4
    assert {error.reason for error in refused} == {"slow"}
    assert not any(error.counted for error in refused)
    assert lane.is_on_trial(lease("another.test", 3))
    assert not lane.is_on_trial(lease("another.test", 4))
    assert not lane.visits and not lane.inside


async def test_a_crawl_of_few_pages_from_a_slow_server_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SlowLane.__init__, "__defaults__", (0.1,))
    asked: Counter[bytes] = Counter()

    async def answer(connection: Connection) -> None:
        asked[connection.path] += 1
        await asyncio.sleep(0.3)
        links = {f"/{number}": "honey" for number in range(PAGES)}
        body = page("Bees", f"honey bee hive {connection.path}", links).encode()
        await connection.send(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    async with crawling(tmp_path, answer, max_pages=3, in_flight=PLACES) as crawl:
        ended = await crawl.run({"http://seed.test/": SEED_PROMISE})
        assert (ended, crawl.tally.pages) == ("budget", 3)
    # The first page may come too late, because idle workers hold the others.
    assert max(asked.values()) <= 2
    assert sum(count > 1 for count in asked.values()) <= 1


async def test_a_host_that_was_not_asked_has_not_shown_that_it_is_quick() -> None:
    async def refuse(contacted: bool) -> None:
        raise Transient("later", "not now", after=1.0, contacted=contacted)

    lane = SlowLane(4, after=0.01)
    for number in range(3):
        await lane.watch(lease(f"slow{number}.test"), asyncio.sleep(0.05))
    assert lane.is_on_trial(lease("new.test"))
    with pytest.raises(Transient):
        await lane.watch(lease("new.test"), refuse(contacted=False))
    assert lane.is_on_trial(lease("new.test"))
    assert not lane.trials
    with pytest.raises(Transient):
        await lane.watch(lease("new.test"), refuse(contacted=True))
    assert not lane.is_on_trial(lease("new.test"))


async def test_a_slow_page_that_comes_too_late_for_the_budget_waits() -> None:
    given_back: list[int] = []
    lane = SlowLane(
        4,
        after=0.01,
        give_back=lambda: given_back.append(1),
        on_back=lambda: False,
    )
    with pytest.raises(Transient) as late:
        await lane.watch(lease("slow.test"), asyncio.sleep(0.05))
    assert (late.value.reason, late.value.counted) == ("budget", False)
    assert given_back == [1]
    await lane.watch(lease("slow.test"), asyncio.sleep(0.05))  # it keeps its page now
    assert given_back == [1]
