"""A bounded queue visits what an unbounded one visits, and stays at its capacity."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontier.frontier_play import (
    HandClock,
    Make,
    Open,
    drain,
    found,
    name_of,
    take,
    take_now,
)
from opilio.frontier.frontier import LinkFrontier
from opilio.frontier.memory import MemoryFrontier
from opilio.frontier.sqlite import SqliteFrontier
from opilio.records import State
from opilio.settings import BoundsSettings, PolitenessSettings
from opilio.storage.database import Database
from opilio.storage.schema import SCHEMA

HASTE = PolitenessSettings(delay=0.0, ip_delay=0.0)
Web = Mapping[int, Sequence[tuple[int, float]]]
"""Page -> the pages that it links to, with the promise of each link."""

PAGES = 25
promises = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
links = st.lists(st.tuples(st.integers(0, PAGES - 1), promises), max_size=12)
webs = st.dictionaries(st.integers(0, PAGES - 1), links, max_size=PAGES)


def name(page: int) -> str:
    return f"{'abc'[page % 3]}/{page}"


async def visited(
    frontier: LinkFrontier, web: Web, capacity: int, most: int
) -> set[str]:
    """Visit pages, at most so many, and let the promises of links change meanwhile."""
    names: set[str] = set()
    while len(names) < most and (lease := await take_now(frontier)):
        page = int(lease.url.rpartition("/")[2])
        await frontier.add([found(name(to), p) for to, p in web.get(page, ())], lease)
        await frontier.revise(
            (found(name(to)).link.fingerprint, 1 - p) for to, p in web.get(page, ())
        )
        await frontier.done(lease, State.KEPT)
        names.add(name_of(lease))
        assert frontier.counts().waiting <= (capacity or PAGES)
    return names


@settings(max_examples=60)
@given(webs, st.integers(1, PAGES + 5), st.integers(0, PAGES))
def test_any_capacity_visits_the_same_pages_across_a_restart_too(
    web: Web, capacity: int, restart: int
) -> None:
    """Koundal, section 5.A: "is employed for storing the list of URLs to download"."""
    db = sqlite3.connect(":memory:", isolation_level=None, factory=Database)
    db.executescript(SCHEMA)

    def opened() -> SqliteFrontier:
        clock = HandClock()
        bounds = BoundsSettings(capacity=capacity)
        return SqliteFrontier(db, HASTE, bounds, clock=clock, wall=clock)

    async def crawl() -> tuple[set[str], set[str]]:
        unbounded = MemoryFrontier(HASTE, BoundsSettings(), clock=HandClock())
        await unbounded.add([found(name(0), 1.0)])
        expected = await visited(unbounded, web, 0, PAGES)
        await opened().add([found(name(0), 1.0)])
        names = await visited(opened(), web, capacity, restart)
        return expected, names | await visited(opened(), web, capacity, PAGES)

    expected, names = asyncio.run(crawl())
    db.close()
    assert names == expected


async def test_a_page_of_twenty_links_is_visited_whole_with_room_for_five(
    make: Make,
) -> None:
    frontier = make(HASTE, capacity=5)
    await frontier.add([found("a/1")])
    page = await take(frontier)
    await frontier.add([found(f"b/{i}", i / 20) for i in range(20)], page)
    assert frontier.counts().waiting == 5
    assert await drain(frontier) == [f"b/{i}" for i in reversed(range(20))]


def entries(frontier: LinkFrontier) -> int:
    """How many entries the heaps of a frontier hold, leftovers included."""
    agenda = frontier._agenda
    backlogs = [host.backlog for host in agenda.hosts]
    assert agenda.queue.least
    return (
        sum(len(backlog._near) + len(backlog._far or ()) for backlog in backlogs)
        + len(agenda.queue.least._heap)
        + len(agenda.turns._ready)
    )


@pytest.mark.parametrize("rising", [False, True])
async def test_queue_memory_stays_at_its_capacity(reopen: Open, rising: bool) -> None:
    """Also if each new link is better than all before, so that each displaces one.
    Koundal, section 5.A: "replacement of the less-important pages in priority queue
    with the more important page"."""
    capacity, slack = 100, 150
    frontier = reopen(HASTE, capacity=capacity)
    for batch in range(100):
        numbers = range(batch * 40, batch * 40 + 40)
        await frontier.add(
            [
                found(f"h{number % 500}/{number}", number if rising else -number)
                for number in numbers
            ]
        )
        if batch % 10 == 0:
            await frontier.done(await take(frontier), State.KEPT)
        assert frontier.counts().waiting <= capacity
        # Each waiting link is in a backlog, among the least, and may be an offer.
        assert entries(frontier) <= 5 * capacity + slack
    assert frontier.counts().ended[State.PARKED, "capacity"] == 4000 - 10 - capacity
