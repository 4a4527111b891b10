"""What users want: links that come first, hosts blocked and boosted, pauses."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from frontier.frontier_play import HandClock, Make, Open, found, name_of, take, take_now
from opilio.frontier.host_rules import HostRules
from opilio.frontier.user_wishes import STREAK
from opilio.records import State
from opilio.settings import PolitenessSettings


async def test_preferred_links_come_first_in_their_order(make: Make) -> None:
    frontier = make()
    _, b, c, _ = await frontier.add(
        [found("a/1", 0.9), found("b/1", 0.1), found("c/1", 0.2), found("d/1", 0.8)]
    )
    frontier.prefer([c, b])
    names = [name_of(await take(frontier)) for _ in range(4)]
    assert names == ["c/1", "b/1", "a/1", "d/1"]


async def test_a_preferred_link_waits_for_its_host(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(delay=5.0))
    await frontier.add([found("a/1", 0.9)])
    lease = await take(frontier)
    _, late, _ = await frontier.add(
        [found("a/2", 0.8), found("a/3", 0.1), found("b/1", 0.2)]
    )
    await frontier.done(lease, State.KEPT)
    frontier.prefer([late])
    assert name_of(await take(frontier)) == "b/1"
    clock.pass_by(4.9)
    assert await take_now(frontier) is None
    clock.pass_by(0.2)
    assert name_of(await take(frontier)) == "a/3"


async def test_the_end_of_a_rest_wakes_who_waits_for_a_preferred_link(
    make: Make,
) -> None:
    frontier = make(
        PolitenessSettings(delay=0.05), clock=asyncio.get_running_loop().time
    )
    await frontier.add([found("a/1", 0.9)])
    await frontier.done(await take(frontier), State.KEPT)
    [id] = await frontier.add([found("a/2", 0.1)])
    frontier.prefer([id])
    async with asyncio.timeout(60):
        assert name_of(await frontier.take()) == "a/2"


async def test_preferred_links_are_not_held_back_for_better_ones(
    make: Make, clock: HandClock
) -> None:
    frontier = make()
    frontier.steer(haste=0.0)
    await frontier.add([found("a/1", 0.9), found("b/1", 0.1)])
    await frontier.done(await take(frontier), State.KEPT)
    await frontier.add([found("a/2", 0.9)])  # its host rests; b/1 is held back for it
    assert await take_now(frontier) is None
    [id] = await frontier.add([found("b/1", 0.1)])
    frontier.prefer([id])
    assert name_of(await take(frontier)) == "b/1"


async def test_after_a_streak_of_preferred_links_another_has_its_turn(
    make: Make,
) -> None:
    frontier = make()
    ids = await frontier.add([found(f"w{n}/1", 0.1) for n in range(2 * STREAK)])
    await frontier.add([found(f"other{n}/1", 0.9) for n in range(3)])
    frontier.prefer(ids)
    names = [name_of(await take(frontier)) for _ in range(2 * STREAK + 2)]
    others = [place for place, name in enumerate(names) if name.startswith("other")]
    assert others == [STREAK, 2 * STREAK + 1]


async def test_preferred_links_keep_to_the_budget_of_their_host(make: Make) -> None:
    frontier = make(PolitenessSettings(delay=0.0), per_host=1)
    ids = await frontier.add([found("a/1", 0.9), found("a/2", 0.1)])
    await frontier.done(await take(frontier), State.KEPT)
    frontier.prefer(ids)
    assert await frontier.take() is None
    assert frontier.counts().ended[State.PARKED, "host_budget"] == 1


async def test_a_link_that_is_no_longer_preferred_waits_as_before(make: Make) -> None:
    frontier = make()
    low, _ = await frontier.add([found("a/1", 0.1), found("b/1", 0.9)])
    frontier.prefer([low])
    frontier.prefer([])
    assert name_of(await take(frontier)) == "b/1"


async def test_nothing_is_leased_while_paused(make: Make) -> None:
    frontier = make()
    await frontier.add([found("a/1"), found("b/1")])
    frontier.pause(True)
    waiting = asyncio.ensure_future(frontier.take())
    await asyncio.sleep(0)
    assert not waiting.done()
    frontier.pause(False)
    assert (await waiting) is not None
    assert await take_now(frontier) is not None


async def test_a_paused_frontier_without_links_ends(make: Make) -> None:
    frontier = make()
    frontier.pause(True)
    async with asyncio.timeout(60):
        assert await frontier.take() is None


async def test_links_of_a_blocked_host_are_parked_and_wait_again_later(
    make: Make,
) -> None:
    frontier = make()
    await frontier.add(
        [found("a/1", 0.9), found("a/2", 0.8), found("b/1", 0.1), found("sub.a/1", 0.7)]
    )
    frontier.set_rules(HostRules({"a.test": 0.0}))
    await frontier.add([found("a/3", 0.9)])
    lease = await take(frontier)
    assert name_of(lease) == "b/1"
    await frontier.done(lease, State.KEPT)
    assert await frontier.take() is None
    assert frontier.counts().ended[State.PARKED, "blocked"] == 4
    frontier.set_rules(HostRules())
    again = Counter([(await take(frontier)).host for _ in range(2)])
    assert again == {"a.test": 1, "sub.a.test": 1}
    assert not frontier.counts().ended.get((State.PARKED, "blocked"))


async def test_blocked_links_stay_parked_when_the_crawl_is_opened_again(
    reopen: Open,
) -> None:
    frontier = reopen()
    await frontier.add([found("a/1", 0.9), found("b/1", 0.1)])
    frontier.set_rules(HostRules({"a.test": 0.0}))
    await take(frontier)
    await frontier.flush()
    again = reopen()
    assert again.counts().ended[State.PARKED, "blocked"] == 1


@pytest.mark.parametrize(
    ("factor", "first"), [(1.0, "b/1"), (1.9, "b/1"), (2.1, "a/1")]
)
async def test_a_boost_multiplies_what_a_host_promises(
    make: Make, factor: float, first: str
) -> None:
    frontier = make()
    await frontier.add([found("a/1", 0.4), found("b/1", 0.8)])
    frontier.set_rules(HostRules({"a.test": factor}))
    assert name_of(await take(frontier)) == first


async def test_a_boost_holds_for_hosts_that_are_found_later(make: Make) -> None:
    frontier = make()
    frontier.set_rules(HostRules({"a.test": 3.0}))
    await frontier.add([found("a/1", -2.0), found("b/1", -1.0)])
    assert name_of(await take(frontier)) == "a/1"


async def test_boosted_hosts_rest_like_others(make: Make, clock: HandClock) -> None:
    frontier = make(PolitenessSettings(delay=5.0))
    frontier.set_rules(HostRules({"a.test": 9.0}))
    await frontier.add([found("a/1", 0.5), found("a/2", 0.5), found("b/1", 0.6)])
    await frontier.done(await take(frontier), State.KEPT)
    assert name_of(await take(frontier)) == "b/1"
    assert await take_now(frontier) is None
    clock.pass_by(5.1)
    assert name_of(await take(frontier)) == "a/2"
