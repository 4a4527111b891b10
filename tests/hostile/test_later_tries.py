"""Links that fail for now are tried again minutes, hours and days later."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from socket import socket

import pytest

from crawling import SETTINGS, Crawled, opilio
from fetch.hostile_server import Connection, answer, serve
from frontier.frontier_play import HandClock, found, take, take_now
from opilio.frontier.later_tries import wait
from opilio.frontier.sqlite import SqliteFrontier
from opilio.lab.synthetic.small import page
from opilio.records import Lease, State
from opilio.settings import BoundsSettings, PolitenessSettings
from opilio.storage.database import Database, open_database

HASTE = SETTINGS.replace("delay = 0.0", "delay = 0.0\nip_delay = 0.0\nmax_rest = 0.2")
HOUR, DAY = 3600.0, 86_400.0


def test_the_waits_grow_from_a_minute_to_a_day() -> None:
    waits = [60, 300, 1500, 7500, 37_500, DAY, DAY]
    assert [wait(number) for number in range(7)] == waits


OPENED: list[Database] = []


@pytest.fixture(autouse=True)
def databases_are_closed() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


class Life:
    """A frontier on disk, whose wall clock is the hand clock."""

    def __init__(self, tmp_path: Path, **politeness: float) -> None:
        self.db = open_database(tmp_path / "crawl.db")
        OPENED.append(self.db)
        self.db.execute("BEGIN")
        self.clock = HandClock()
        self.manners = PolitenessSettings(delay=0.0, **politeness)  # type: ignore[arg-type]

    def open(self) -> SqliteFrontier:
        now = self.clock
        bounds = BoundsSettings()
        return SqliteFrontier(self.db, self.manners, bounds, clock=now, wall=now)


async def fail(frontier: SqliteFrontier, times: int = 1) -> bool:
    """Let the link fail so often; whether it waits again by itself."""
    again = True
    for _ in range(times):
        again = await frontier.retry(await take(frontier), 0.0, "http_503")
    return again


async def test_a_link_gets_one_more_try_each_time(tmp_path: Path) -> None:
    life = Life(tmp_path, attempts=3, retry_for=2000.0)
    frontier = life.open()
    await frontier.add([found("a/1")])
    assert not await fail(frontier, 3)
    tries = []
    for _ in range(3000):
        life.clock.pass_by(1.0)
        if frontier.retry_due():
            tries.append(life.clock.now - 1000)
            assert not await fail(frontier)
            assert frontier.counts().ended == {(State.UNUSABLE, "http_503"): 1}
    assert tries == [60, 360, 1860]  # the next would be later than the limit


async def test_the_schedule_outlives_the_process(tmp_path: Path) -> None:
    life = Life(tmp_path)
    frontier = life.open()
    await frontier.add([found("a/1")])
    await fail(frontier, 3)
    await frontier.flush()
    life.clock.pass_by(30.0)
    assert await take_now(life.open()) is None  # not yet
    again = life.open()
    life.clock.pass_by(31.0)
    assert again.retry_due() == 1
    assert (await take(again)).attempts == 3
    later = life.open()  # as if the process had died: the lease is gone
    lease = await take(later)
    await later.done(lease, State.KEPT)
    await later.flush()
    life.clock.pass_by(30 * DAY)
    assert life.open().retry_due() == 0


async def test_a_clock_that_was_wrong_loses_no_link(tmp_path: Path) -> None:
    life = Life(tmp_path)
    frontier = life.open()
    await frontier.add([found("a/1")])
    life.clock.pass_by(300 * DAY)
    await fail(frontier, 3)
    await frontier.flush()
    life.clock.pass_by(-300 * DAY)
    assert life.open().retry_due() == 1


async def test_links_of_a_silent_host_are_tried_again_after_an_hour(
    tmp_path: Path,
) -> None:
    life = Life(tmp_path)
    frontier = life.open()
    await frontier.add([found("a/1")])
    await frontier.done(await take(frontier), State.PARKED, "dead_host")
    assert frontier.retry_due() == 0
    life.clock.pass_by(HOUR)
    assert frontier.retry_due() == 1
    assert (await take(frontier)).url == "http://a.test/1"


async def silence(frontier: SqliteFrontier) -> None:
    await silence_lease(frontier, await take(frontier))


async def silence_lease(frontier: SqliteFrontier, lease: Lease) -> None:
    await frontier.done(lease, State.PARKED, "dead_host", contacted=False)


async def test_a_host_that_stays_silent_is_given_up(tmp_path: Path) -> None:
    life = Life(tmp_path, retry_for=2 * DAY)
    frontier = life.open()
    await frontier.add([found("a/1")])
    began, tries = life.clock.now, []
    await silence(frontier)
    for _ in range(300):
        life.clock.pass_by(HOUR / 2)
        if frontier.retry_due():
            tries.append((life.clock.now - began) / HOUR)
            await silence(frontier)
    assert tries == [1, 2, 4, 8, 16, 32, 56]  # days apart at most
    assert frontier.counts().ended == {(State.UNUSABLE, "host_gone"): 1}
    await frontier.flush()
    assert await take_now(life.open()) is not None  # a seed has another chance
    life.db.execute("UPDATE link SET depth = 1, state = 'unusable'")
    life.db.execute("UPDATE link SET reason = 'host_gone'")
    assert await take_now(life.open()) is None


async def test_silence_is_counted_across_restarts_until_the_host_answers(
    tmp_path: Path,
) -> None:
    life = Life(tmp_path, retry_for=2 * DAY)
    frontier = life.open()
    await frontier.add([found("a/1"), found("a/2"), found("b/1")])
    for _ in range(3):
        await silence(frontier)
    await frontier.flush()
    life.clock.pass_by(3 * DAY)
    again = life.open()
    answered = False
    for _ in range(3):
        lease = await take(again)
        if answered or lease.host == "b.test":
            await silence_lease(again, lease)
        else:
            await again.done(lease, State.UNUSABLE, "http_404")
            answered = True
    await again.flush()
    reasons = dict(life.db.execute("SELECT url, reason FROM link").fetchall())
    assert reasons.pop("http://b.test/1") == "host_gone"
    assert sorted(reasons.values()) == ["dead_host", "http_404"]


async def test_nobody_is_given_up_because_our_network_was_away(tmp_path: Path) -> None:
    life = Life(tmp_path, retry_for=2 * DAY)
    frontier = life.open()
    await frontier.add([found("a/1")])
    for _ in range(5):
        lease = await take(frontier)
        await frontier.done(lease, State.PARKED, "offline", contacted=False)
        life.clock.pass_by(DAY)
        assert frontier.retry_due() == 1


async def test_nothing_is_tried_again_if_that_is_not_wanted(tmp_path: Path) -> None:
    life = Life(tmp_path, retry_for=0.0)
    frontier = life.open()
    await frontier.add([found("a/1")])
    await fail(frontier, 3)
    life.clock.pass_by(30 * DAY)
    assert frontier.retry_due() == 0


async def test_a_server_that_refuses_for_a_while_loses_no_page(tmp_path: Path) -> None:
    async def script(connection: Connection) -> None:
        await connection.send(answer(page("Bees", "honey").encode()))

    with socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, but nobody takes calls
        refusing = held.getsockname()[1]
        async with serve(script) as server:
            ports = (server.port, refusing)
            seeds = [f"http://127.0.0.1:{port}/" for port in ports]
            topic = f'name = "bees"\nkeywords = ["honey"]\nseeds = {seeds}\n'
            life = Crawled(tmp_path, topic_text=topic, settings_text=HASTE)
            ended = await life.crawl("--allow-network", "127.0.0.0/8")
            assert ended.code == 0, ended.err
            assert life.states()[seeds[1]] == ("unusable", "refused")
            told = await opilio("status", life.folder)
            assert "Failed for now: 1 link is tried again" in told.out
            with closing(sqlite3.connect(life.folder / "crawl.db")) as db, db:
                db.execute("UPDATE link SET depth = 1")  # seeds have another chance
                db.execute("UPDATE retry SET due = due - 60")
            ended = await life.crawl()
            assert ended.code == 0, ended.err
            assert life.rows("SELECT attempts FROM link WHERE state = 'unusable'") == [
                (4,)
            ]
            [(due,)] = life.rows("SELECT due - unixepoch() FROM retry")
            assert 200 < due <= 301
