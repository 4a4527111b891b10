"""Hosts compete for the pages of a crawl."""

from __future__ import annotations

import asyncio
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from frontier.frontier_play import HandClock, Make, found, name_of, take, take_now
from opilio.frontier.memory import MemoryFrontier
from opilio.records import SEED_PROMISE, State
from opilio.settings import BoundsSettings, PolitenessSettings
from opilio.stage_protocols import Frontier

NO_DELAY = PolitenessSettings(delay=0.0)


async def visited(frontier: Frontier, pages: int) -> Counter[str]:
    """How often each host is visited."""
    hosts: Counter[str] = Counter()
    for _ in range(pages):
        lease = await take(frontier)
        hosts[name_of(lease)[0]] += 1
        await frontier.done(lease, State.KEPT)
    return hosts


async def one_large_host(frontier: Frontier) -> None:
    await frontier.add([found(f"a/{n}", 0.9) for n in range(100)])
    await frontier.add([found(f"{host}/{n}", 0.8) for host in "bc" for n in range(100)])


async def test_without_breadth_the_best_host_has_all_visits(make: Make) -> None:
    frontier = make(NO_DELAY)
    frontier.steer(breadth=0.0)
    await one_large_host(frontier)
    assert await visited(frontier, 30) == {"a": 30}


async def test_with_breadth_good_hosts_share_the_visits(make: Make) -> None:
    frontier = make(NO_DELAY)
    frontier.steer(breadth=1.0)
    await one_large_host(frontier)
    assert await visited(frontier, 30) == {"a": 10, "b": 10, "c": 10}


async def test_only_the_best_hosts_share(make: Make) -> None:
    frontier = make(NO_DELAY)
    frontier.steer(breadth=1.5 / 63)  # two hosts
    await one_large_host(frontier)
    assert await visited(frontier, 30) == {"a": 15, "b": 15}


async def test_a_new_host_gets_its_try(make: Make) -> None:
    frontier = make(NO_DELAY)
    frontier.steer(breadth=0.1)
    await one_large_host(frontier)
    await visited(frontier, 30)
    await frontier.add([found("d/1", 0.5)])
    assert name_of(await take(frontier)) == "d/1"


async def test_seeds_come_first(make: Make) -> None:
    frontier = make(NO_DELAY)
    frontier.steer(breadth=1.0)
    await frontier.add([found("a/1", 0.9), found("a/2", 0.9), found("b/1", 0.5)])
    await visited(frontier, 1)
    await frontier.add([found("a/3", SEED_PROMISE)])
    assert name_of(await take(frontier)) == "a/3"


async def test_nobody_waits_for_a_host_that_had_its_share(
    make: Make, clock: HandClock
) -> None:
    frontier = make()
    frontier.steer(haste=0.0, breadth=0.5)
    await frontier.add([found(f"a/{n}", 0.9) for n in range(10)])
    for _ in range(5):
        await frontier.done(await take(frontier), State.KEPT)
        clock.pass_by(1.0)
    await frontier.done(await take(frontier), State.KEPT)
    await frontier.add([found("b/1", 0.1), found("b/2", 0.1)])
    first = await take_now(frontier)
    assert name_of(first) == "b/1"
    frontier.steer(haste=0.0)
    assert first is not None
    await frontier.done(first, State.KEPT)
    assert await take_now(frontier) is None


@given(
    links=st.lists(
        st.tuples(st.sampled_from("abcdef"), st.floats(-2, 2)), min_size=1, max_size=40
    ),
    haste=st.sampled_from([0.0, 0.3, 1.0]),
    breadth=st.sampled_from([0.0, 0.05, 1.0]),
    calibrated=st.booleans(),
    workers=st.integers(1, 5),
)
def test_every_link_is_visited_once_whatever_the_pace(
    links: list[tuple[str, float]],
    haste: float,
    breadth: float,
    calibrated: bool,
    workers: int,
) -> None:
    asyncio.run(visit_all(links, haste, breadth, calibrated, workers))


async def visit_all(
    links: list[tuple[str, float]],
    haste: float,
    breadth: float,
    calibrated: bool,
    workers: int,
) -> None:
    clock = HandClock()
    frontier = MemoryFrontier(PolitenessSettings(), BoundsSettings(), clock=clock)
    frontier.steer(haste=haste, breadth=breadth, calibrated=calibrated)
    names = [f"{host}/{number}" for number, (host, _) in enumerate(links)]
    promises = [promise for _, promise in links]
    await frontier.add(map(found, names, promises))
    for host in "ab":
        await frontier.pace(f"{host}.test", ip="192.0.2.1")
    visited: list[str] = []
    for _ in range(4 * len(links)):
        leases = [lease for _ in range(workers) if (lease := await take_now(frontier))]
        clock.pass_by(0.6)
        for lease in leases:
            visited.append(name_of(lease))
            await frontier.done(lease, State.KEPT)
    assert sorted(visited) == sorted(names)
