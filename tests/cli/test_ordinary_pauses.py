"""A crawl that visits one host again and again does not say that it can only wait."""

import asyncio
import time
from types import SimpleNamespace

import pytest

from opilio.cli import waiting
from opilio.cli.waiting import WaitingNotice
from opilio.progress import Counts
from opilio.records import State
from opilio.settings import PolitenessSettings, Settings
from opilio.store.resting_hosts import Resting


class Frontier:
    """Always in the pause between two visits to its one host."""

    def __init__(self) -> None:
        self.ended = 0
        self.goes_on = True

    def counts(self) -> Counts:
        self.ended += self.goes_on
        return Counts(
            waiting=9,
            leased=0,
            hosts=1,
            ready=0,
            resting=0,
            ended={(State.KEPT, ""): self.ended},
            awaited="a.test",
            awaited_for=7.0,
        )


@pytest.fixture
def frontier() -> Frontier:
    return Frontier()


@pytest.fixture
def watch(frontier: Frontier, monkeypatch):
    """Let a crawl with this delay be watched for half a second; what was told."""
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(waiting, "IDLE_SECONDS", 0.1)
    wishes: list[tuple[Resting | None, float]] = [(None, 0.0)]
    monkeypatch.setattr("opilio.store.resting_hosts.wishes_of", lambda *_: wishes[-1])

    async def watched(delay: float, wish=(None, 0.0)) -> list[dict]:
        wishes.append(wish)
        told: list[dict] = []
        settings = Settings(politeness=PolitenessSettings(delay=delay, ip_delay=0.0))
        store, tally = SimpleNamespace(db=None), SimpleNamespace(pages=0)
        crawl = SimpleNamespace(
            frontier=frontier, settings=settings, store=store, tally=tally
        )
        task = asyncio.create_task(WaitingNotice(crawl, told.append).watch())
        await asyncio.sleep(0.5)
        task.cancel()
        return told

    return watched


async def test_pauses_between_visits_that_come_to_something_are_not_told(watch):
    assert await watch(0.0) == []


async def test_a_pause_no_longer_than_our_own_delay_is_not_told(watch, frontier):
    frontier.goes_on = False
    assert await watch(5.0) == []


async def test_a_wait_is_told_once_with_its_host_and_its_end(watch, frontier):
    frontier.goes_on = False
    [told] = await watch(0.0)
    assert (told["host"], told["why"], told["links"]) == ("a.test", "retry", 9)
    assert 6 < told["until"] - time.time() < 8


async def test_a_crawl_delay_is_told_once_for_its_host(watch, frontier):
    frontier.goes_on = False
    [told] = await watch(0.0, (None, 30.0))
    assert (told["host"], told["why"], told["delay"]) == ("a.test", "crawl_delay", 30)
    assert "until" in told
