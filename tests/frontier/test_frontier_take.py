"""Waiting in `take`: who is woken, and when."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from frontier.frontier_play import HandClock, Make, found, name_of, take
from opilio.records import Lease, State
from opilio.settings import PolitenessSettings
from opilio.stage_protocols import Frontier

KEPT = State.KEPT


async def waiting_tasks(frontier: Frontier, n: int) -> list[asyncio.Task[Lease | None]]:
    tasks = [asyncio.create_task(frontier.take()) for _ in range(n)]
    await asyncio.sleep(0)
    return tasks


async def settle() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


async def test_an_empty_frontier_gives_none(make: Make) -> None:
    assert await make().take() is None


async def test_one_added_link_wakes_one_of_many(make: Make) -> None:
    frontier = make()
    await frontier.add([found("a/1")])
    lease = await take(frontier)
    tasks = await waiting_tasks(frontier, 64)
    await frontier.add([found("b/1")], via=lease)
    await settle()
    assert [task.done() for task in tasks] == [True] + [False] * 63
    frontier.close()
    assert [name_of(lease) for lease in await asyncio.gather(*tasks)][:2] == ["b/1", ""]


async def test_all_waiting_are_told_when_the_last_lease_ends(make: Make) -> None:
    frontier = make()
    await frontier.add([found("a/1")])
    lease = await take(frontier)
    tasks = await waiting_tasks(frontier, 3)
    assert not any(task.done() for task in tasks)
    await frontier.done(lease, KEPT)
    assert await asyncio.gather(*tasks) == [None] * 3


async def test_a_closed_frontier_gives_none_but_leases_can_end(make: Make) -> None:
    frontier = make()
    await frontier.add([found("a/1"), found("b/1")])
    lease = await take(frontier)
    frontier.close()
    assert await frontier.take() is None
    await frontier.done(lease, KEPT)
    assert frontier.counts().ended == {(KEPT, ""): 1}
    assert frontier.counts().waiting == 1


async def test_take_waits_until_the_host_has_rested(make: Make) -> None:
    frontier = make(PolitenessSettings(delay=0.05), clock=time.monotonic)
    await frontier.add([found(f"{host}/{i}") for i in range(2) for host in "ab"])
    for _ in range(2):
        lease = await take(frontier)
        before = time.monotonic()
        await frontier.done(lease, KEPT)
    async with asyncio.timeout(20):
        leases = await asyncio.gather(*(frontier.take() for _ in range(2)))
    assert time.monotonic() - before >= 0.05
    assert [name_of(lease) for lease in leases] == ["a/1", "b/1"]


async def test_take_wakes_for_what_comes_first(make: Make) -> None:
    frontier = make(PolitenessSettings(delay=0.0), clock=time.monotonic)
    await frontier.add([found("a/1")])
    await frontier.retry(await take(frontier), 60.0, "timeout")
    [task] = await waiting_tasks(frontier, 1)
    await frontier.add([found("b/1")])
    await frontier.retry(await task, 0.02, "timeout")
    async with asyncio.timeout(20):
        assert name_of(await frontier.take()) == "b/1"


async def test_a_lease_handed_to_a_cancelled_task_is_given_back(
    make: Make, clock: HandClock
) -> None:
    frontier = make()
    await frontier.add([found("a/1")])
    first = await take(frontier)
    gone, patient = await waiting_tasks(frontier, 2)
    await frontier.add([found("b/1")], via=first)
    gone.cancel()  # in the turn in which the lease was handed over
    with suppress(asyncio.CancelledError):
        await gone
    lease = await patient
    assert lease is not None
    assert (name_of(lease), lease.attempts) == ("b/1", 0)
    assert frontier.counts().leased == 2


async def test_a_task_cancelled_while_it_waits_is_passed_over(make: Make) -> None:
    frontier = make()
    await frontier.add([found("a/1")])
    first = await take(frontier)
    gone, patient = await waiting_tasks(frontier, 2)
    gone.cancel()
    await settle()
    await frontier.add([found("b/1")], via=first)
    assert name_of(await patient) == "b/1"
    assert frontier.counts().leased == 2


async def test_nothing_is_polled_while_everybody_waits(make: Make) -> None:
    looks = 0

    def clock() -> float:
        nonlocal looks
        looks += 1
        return time.monotonic()

    frontier = make(clock=clock)
    await frontier.add([found("a/1")])
    await frontier.pace("a.test", rest=60.0)
    tasks = await waiting_tasks(frontier, 8)
    await settle()
    looks = 0
    await asyncio.sleep(0.05)
    assert looks == 0
    frontier.close()
    assert await asyncio.gather(*tasks) == [None] * 8
