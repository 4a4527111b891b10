"""Links are held back while better ones wait for their hosts."""

from __future__ import annotations

import asyncio
import time

import pytest

from frontier.frontier_play import (
    HandClock,
    Make,
    drain,
    found,
    name_of,
    take,
    take_now,
)
from opilio.records import SEED_PROMISE, State
from opilio.settings import PolitenessSettings
from opilio.stage_protocols import Frontier

KEPT = State.KEPT


async def one_visited(frontier: Frontier) -> None:
    """The best host has been visited and rests; its next link is better than b/1."""
    await frontier.add([found("a/1", 0.9), found("a/2", 0.8), found("b/1", 0.1)])
    await frontier.done(await take(frontier), KEPT)


async def test_a_poor_link_waits_while_the_host_of_a_better_one_rests(
    make: Make, clock: HandClock
) -> None:
    frontier = make()
    frontier.steer(haste=0.0)
    await one_visited(frontier)
    assert await take_now(frontier) is None
    clock.pass_by(1.0)
    lease = await take(frontier)
    assert name_of(lease) == "a/2"
    await frontier.done(lease, KEPT)
    assert await drain(frontier) == ["b/1"]


async def test_with_all_haste_every_ready_host_is_visited(make: Make) -> None:
    frontier = make()
    frontier.steer(haste=1.0)
    await one_visited(frontier)
    assert await drain(frontier) == ["b/1"]


async def test_a_worker_waits_for_the_outcome_of_a_visit(make: Make) -> None:
    frontier = make()
    frontier.steer(haste=0.0)
    await frontier.add([found("a/1", 0.9), found("b/1", 0.1)])
    first = await take(frontier)
    assert await take_now(frontier) is None
    await frontier.add([found("c/1", 0.5)], via=first)
    await frontier.done(first, KEPT)
    assert await drain(frontier) == ["c/1", "b/1"]


async def test_a_link_of_the_same_promise_is_not_better(make: Make) -> None:
    frontier = make()
    frontier.steer(haste=0.0)
    await frontier.add([found(name, 0.5) for name in ("a/1", "a/2", "b/1")])
    assert await drain(frontier) == ["a/1", "b/1"]


async def test_seeds_are_visited_together(make: Make) -> None:
    frontier = make()
    frontier.steer(haste=0.0)
    await frontier.add([found(f"{host}/1", SEED_PROMISE) for host in "abc"])
    assert [name_of(await take(frontier)) for _ in "abc"] == ["a/1", "b/1", "c/1"]


async def test_more_may_be_in_flight_as_the_crawl_grows(make: Make) -> None:
    frontier = make(PolitenessSettings(delay=0.0))
    frontier.steer(haste=0.25)  # one more link for every three pages
    hosts = [f"h{number}" for number in range(20)]
    await frontier.add([found(f"{host}/1", 0.5) for host in hosts])
    for _ in range(6):
        lease = await take(frontier)
        await frontier.done(lease, KEPT)
    taken = [lease for _ in range(6) if (lease := await take_now(frontier))]
    assert len(taken) == 3


async def test_a_host_that_rests_for_long_is_not_waited_for(
    make: Make, clock: HandClock
) -> None:
    frontier = make()
    frontier.steer(haste=0.0)
    await one_visited(frontier)
    await frontier.pace("a.test", rest=60.0)
    assert await drain(frontier) == ["b/1"]


async def test_a_host_with_a_long_crawl_delay_is_not_waited_for(make: Make) -> None:
    frontier = make()
    frontier.steer(haste=0.0)
    await frontier.add([found("a/1", 0.9), found("a/2", 0.8), found("b/1", 0.1)])
    await frontier.pace("a.test", delay=30.0)
    await frontier.done(await take(frontier), KEPT)
    assert await drain(frontier) == ["b/1"]


async def test_a_visit_that_takes_long_is_not_waited_for(
    make: Make, clock: HandClock
) -> None:
    frontier = make()
    frontier.steer(haste=0.0)
    await frontier.add([found("a/1", 0.9), found("a/2", 0.8), found("b/1", 0.1)])
    await take(frontier)
    clock.pass_by(4.0)
    assert await take_now(frontier) is None
    clock.pass_by(1.0)
    assert name_of(await take(frontier)) == "b/1"


async def test_a_better_link_may_be_found_while_its_host_rests(make: Make) -> None:
    frontier = make()
    frontier.steer(haste=0.0)
    await frontier.add([found("a/1", 0.9), found("a/2", 0.1), found("b/1", 0.2)])
    await frontier.done(await take(frontier), KEPT)
    await frontier.add([found("a/3", 0.8)])
    assert await take_now(frontier) is None


@pytest.mark.parametrize(("promise", "then"), [(0.8, []), (0.1, ["b/1"])])
async def test_a_revision_counts_while_the_host_rests(
    make: Make, promise: float, then: list[str]
) -> None:
    frontier = make()
    frontier.steer(haste=0.0)
    await frontier.add([found("a/1", 0.9), found("a/2", 0.3), found("b/1", 0.2)])
    await frontier.done(await take(frontier), KEPT)
    await frontier.revise([(found("a/2").link.fingerprint, promise)])
    assert await drain(frontier) == then


async def test_hosts_that_share_an_address_are_waited_for(
    make: Make, clock: HandClock
) -> None:
    frontier = make()
    frontier.steer(haste=0.0)
    await frontier.add([found("a/1", 0.9), found("b/1", 0.8), found("c/1", 0.1)])
    for host in "ab":
        await frontier.pace(f"{host}.test", ip="192.0.2.1")
    await frontier.done(await take(frontier), KEPT)
    assert await take_now(frontier) is None
    clock.pass_by(0.25)
    assert await drain(frontier) == ["b/1", "c/1"]


async def test_counts_tell_that_links_are_held_back(
    make: Make, clock: HandClock
) -> None:
    frontier = make()
    frontier.steer(haste=0.0)
    await one_visited(frontier)
    assert frontier.counts().held == 1
    clock.pass_by(1.0)
    assert frontier.counts().held == 0


async def test_those_who_wait_are_woken_in_the_order_of_promises(make: Make) -> None:
    frontier = make(PolitenessSettings(delay=0.03), clock=time.monotonic)
    frontier.steer(haste=0.0)
    names = {"a/1": 0.9, "a/2": 0.8, "b/1": 0.1, "a/3": 0.7, "b/2": 0.75}
    await frontier.add([found(name, promise) for name, promise in names.items()])
    visited: list[str] = []

    async def work() -> None:
        while lease := await frontier.take():
            visited.append(name_of(lease))
            await asyncio.sleep(0.002)
            await frontier.done(lease, KEPT)

    async with asyncio.timeout(20):
        await asyncio.gather(*(work() for _ in range(8)))
    assert visited == ["a/1", "a/2", "b/2", "a/3", "b/1"]


async def test_a_visit_that_hangs_holds_up_nobody_for_ever(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opilio.frontier.next_link.PATIENCE", 0.05)
    frontier = make(PolitenessSettings(delay=0.0), clock=time.monotonic)
    frontier.steer(haste=0.0)
    await frontier.add([found("a/1", 0.9), found("a/2", 0.8), found("b/1", 0.1)])
    hanging = await take(frontier)
    async with asyncio.timeout(20):
        assert name_of(await frontier.take()) == "b/1"
    assert name_of(hanging) == "a/1"


async def test_a_host_with_many_better_links_is_counted_whole(
    make: Make, clock: HandClock
) -> None:
    frontier = make()
    frontier.steer(haste=0.5)  # the window is one more than the number of pages
    await frontier.add([found(f"a/{n}", 0.9) for n in range(500)])
    await frontier.add([found(f"b/{n}", 0.1) for n in range(10)])
    for _ in range(100):
        await frontier.done(await take(frontier), KEPT)
        assert await take_now(frontier) is None
        clock.pass_by(1.0)
    assert frontier.counts().waiting == 410


@pytest.mark.parametrize(
    ("calibrated", "chance", "then"),
    [(True, 0.7, ["b/1"]), (True, 0.5, []), (False, 0.7, [])],
)
async def test_a_chance_as_good_as_the_best_is_not_held_back(
    make: Make, calibrated: bool, chance: float, then: list[str]
) -> None:
    frontier = make()
    frontier.steer(haste=0.0, calibrated=calibrated)
    await frontier.add([found("a/1", 0.9), found("a/2", 0.8), found("b/1", chance)])
    await frontier.done(await take(frontier), KEPT)
    assert await drain(frontier) == then
