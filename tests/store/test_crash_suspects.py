"""Pages in hand are known after a death, and those that are deadly are found out."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from crawling import opilio, with_strategy
from opilio.errors import MachineLimit
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.storage.database import open_database
from opilio.store.crash_suspects import CrashSuspects

SUICIDE = """
import os, signal
from opilio.strategies.best_first import BestFirst

class Theirs(BestFirst):
    def rank(self, page, verdict, lease):
        if "deadly" in page.url:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().rank(page, verdict, lease)
"""

MISTAKE = SUICIDE.replace("os.kill(os.getpid(), signal.SIGKILL)", "1 / 0")


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        (SUICIDE, -9),
        (SUICIDE.replace("os.kill(os.getpid(), signal.SIGKILL)", "1/0"), 1),
    ],
    ids=["killed", "a mistake in someone's code"],
)
async def test_a_page_that_kills_the_crawl_is_set_aside_after_three_deaths(
    crawled, tmp_path: Path, code: str, exit_code: int
):
    links = {f"/{name}": "honey" for name in ("a", "b", "deadly", "c", "d")}
    web = {f"http://seed.test{path}": page("Bees", f"honey {path}") for path in links}
    start = {"http://seed.test/": page("Bees", "honey", links)}
    life = await crawled(SmallWeb(start | web))
    env = with_strategy(tmp_path / "theirs", code)
    for _ in range(3):
        ended = await opilio(*life.command("--strategy", "theirs"), env=env)
        assert ended.code == exit_code, ended.err
    ended = await opilio(*life.command("--strategy", "theirs"), env=env)
    assert ended.code == 0, ended.err
    states = life.states()
    assert states.pop("http://seed.test/deadly") == ("unusable", "poison")
    assert {state for state, _ in states.values()} == {"kept"}
    assert len(states) == 5
    asked = [request.url for request in life.server.requests]
    assert asked.count("http://seed.test/deadly") == 3
    told = await opilio("explain", life.folder, "http://seed.test/deadly", env=env)
    assert "the crawl crashed 3 times while processing this page" in told.out
    assert life.rows("SELECT deaths FROM suspect") == [(3,)]


@pytest.fixture
def db(tmp_path: Path):
    db = open_database(tmp_path / "crawl.db")
    db.begin()
    yield db
    db.close()


async def test_what_was_in_hand_at_a_death_is_counted_though_nothing_was_committed(
    db: sqlite3.Connection, tmp_path: Path
):
    for page_in_hand in (7, -8, 7, 7):
        hand = CrashSuspects(db, tmp_path / "in-hand")
        hand.take(page_in_hand)
        hand.close()  # as a process that dies
        db.rollback()
        db.begin()
    hand = CrashSuspects(db, tmp_path / "in-hand")
    assert hand.deaths == {7: 3, -8: 1}
    assert hand.is_deadly(7)
    assert not hand.is_deadly(-8) and not hand.is_deadly(9)
    hand.close()
    hand = CrashSuspects(db, tmp_path / "in-hand")
    assert hand.deaths == {7: 3, -8: 1}  # a death counts once
    hand.close()


async def test_a_suspect_is_cleared_by_being_recorded(
    db: sqlite3.Connection, tmp_path: Path
):
    hand = CrashSuspects(db, tmp_path / "in-hand")
    hand.take(1)
    hand.close()
    hand = CrashSuspects(db, tmp_path / "in-hand")
    assert hand.deaths == {1: 1}
    hand.take(1)
    hand.put_down(1)
    hand.close()
    hand = CrashSuspects(db, tmp_path / "in-hand")
    assert hand.deaths == {}
    hand.close()


@pytest.mark.parametrize(
    ("error", "deaths"),
    [
        (asyncio.CancelledError(), {}),
        (MachineLimit("the disk is full"), {}),
        (sqlite3.OperationalError("disk I/O error"), {}),
        (ZeroDivisionError(), {5: 1}),
        (MemoryError(), {5: 1}),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_only_what_may_be_the_pages_fault_makes_it_a_suspect(
    db: sqlite3.Connection, tmp_path: Path, error: BaseException, deaths: dict
):
    hand = CrashSuspects(db, tmp_path / "in-hand")
    hand.take(5)
    hand.put_down(5, error)
    hand.take(6)  # it had waited for its turn
    hand.put_down(6, asyncio.CancelledError())
    hand.close()
    hand = CrashSuspects(db, tmp_path / "in-hand")
    assert hand.deaths == deaths
    hand.close()


@pytest.mark.parametrize("noted", [b"", b"\x07", b"\0" * 4096])
async def test_a_file_that_notes_no_page_counts_no_death(
    db: sqlite3.Connection, tmp_path: Path, noted: bytes
):
    (tmp_path / "in-hand").write_bytes(noted)
    hand = CrashSuspects(db, tmp_path / "in-hand")
    assert hand.deaths == {}
    hand.close()
