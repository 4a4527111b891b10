"""Which link is leased, and when: the same for every frontier."""

from __future__ import annotations

import random

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
from opilio.records import Lease, State
from opilio.settings import PolitenessSettings
from opilio.text.urls import template

KEPT = State.KEPT


async def test_the_best_promise_goes_first(make: Make) -> None:
    frontier = make()
    await frontier.add([found("a/1", 0.2), found("b/1", 0.9), found("c/1", 0.5)])
    names = [name_of(await take(frontier)) for _ in range(3)]
    assert names == ["b/1", "c/1", "a/1"]


async def test_equal_promises_go_in_the_order_of_discovery(make: Make) -> None:
    frontier = make()
    await frontier.add([found(f"{host}/1", 0.5) for host in "cab"])
    await frontier.add([found("d/1", -0.0), found("e/1", 0.0)])
    names = [name_of(await take(frontier)) for _ in range(5)]
    assert names == ["c/1", "a/1", "b/1", "d/1", "e/1"]


async def test_promises_may_be_any_numbers_however_close(make: Make) -> None:
    frontier = make()
    promises = [-1e300, -2.0, -1.0, 0.0, 5e-324, 1.0, 1.0 + 2**-52, 1.7e9, 1.7e9 + 1e-6]
    await frontier.add([found(f"h{i}/1", p) for i, p in enumerate(promises)])
    taken = [(await take(frontier)).promise for _ in promises]
    assert taken == sorted(promises, reverse=True)


@pytest.mark.parametrize("promise", [float("nan"), float("inf")])
async def test_a_promise_that_is_no_number_is_refused(
    make: Make, promise: float
) -> None:
    with pytest.raises(ValueError, match="finite"):
        await make().add([found("a/1", promise)])


async def test_a_link_is_leased_to_one_worker_only(make: Make) -> None:
    frontier = make()
    ids = await frontier.add([found("a/1"), found("a/1", 0.9)])
    assert ids[0] == ids[1]
    lease = await take(frontier)
    assert await frontier.add([found("a/1", 1.0)]) == [lease.id]
    assert await take_now(frontier) is None
    await frontier.done(lease, KEPT)
    assert await frontier.add([found("a/1", 1.0)]) == [lease.id]
    assert await take_now(frontier) is None


async def test_a_better_link_brings_its_host_forward_at_once(make: Make) -> None:
    frontier = make()
    await frontier.add([found("a/1", 0.1), found("b/1", 0.5)])
    await frontier.add([found("a/2", 0.9)])
    assert name_of(await take(frontier)) == "a/2"


async def test_a_lease_tells_how_its_link_was_found(make: Make) -> None:
    frontier = make()
    await frontier.add([found("a/seed")])
    seed = await take(frontier)
    assert (seed.depth, seed.found_on, seed.host) == (0, 0, "a.test")
    await frontier.add([found("b/1", 0.75, level=2)], via=seed)
    assert await take(frontier) == Lease(
        id=2,
        url="http://b.test/1",
        fingerprint=found("b/1").link.fingerprint,
        host="b.test",
        promise=0.75,
        depth=1,
        level=2,
        found_on=seed.id,
        template=template("http://b.test/1"),
    )


async def test_the_target_of_a_redirect_is_as_deep_and_one_hop_further(
    make: Make,
) -> None:
    frontier = make()
    await frontier.add([found("a/seed")])
    await frontier.add([found("b/1")], via=await take(frontier))
    first = await take(frontier)
    await frontier.add([found("c/1")], via=first, redirect=True)
    second = await take(frontier)
    assert (second.depth, second.redirects, second.found_on) == (1, 1, first.id)
    await frontier.add([found("d/1")], via=second)
    third = await take(frontier)
    assert (third.depth, third.redirects) == (2, 0)


async def test_the_better_of_two_promises_stays_with_its_evidence(make: Make) -> None:
    frontier = make()
    await frontier.add([found("a/1", 0.9), found("b/1", 0.2), found("c/1", 0.5)])
    seed = await take(frontier)
    await frontier.add([found("b/1", 0.7, level=3), found("c/1", 0.1)], via=seed)
    better, same = await take(frontier), await take(frontier)
    assert (better.promise, better.found_on, better.level) == (0.7, seed.id, 3)
    assert better.depth == 0, "the shortest way stays known"
    assert (same.promise, same.found_on) == (0.5, 0)


async def test_promises_can_be_revised_while_links_wait(make: Make) -> None:
    frontier = make()
    await frontier.add([found("a/1", 0.9), found("a/2", 0.8), found("b/1", 0.7)])
    first = await take(frontier)
    prints = [found(name).link.fingerprint for name in ("a/1", "a/2", "b/1", "z/9")]
    revised = zip(prints, (1.0, 0.1, 0.2, 1.0), strict=True)
    assert await frontier.revise(revised) == 2, "one is leased, one is not known"
    await frontier.done(first, KEPT, contacted=False)
    leases = [await take(frontier) for _ in range(2)]
    assert [(name_of(lease), lease.promise) for lease in leases] == [
        ("b/1", 0.2),
        ("a/2", 0.1),
    ]


async def test_a_revised_promise_never_keeps_parts_that_made_another(
    make: Make,
) -> None:
    frontier = make()
    names = "told/1", "untold/1", "same/1"
    await frontier.add([found(name, 0.5, parts={"old": 0.5}) for name in names])
    told, untold, same = (found(name).link.fingerprint for name in names)
    await frontier.revise(
        [(told, 0.1), (untold, 0.2), (told, 0.9, {"new": 0.9}), (same, 0.5)]
    )
    read = frontier._ledger.read  # type: ignore[attr-defined]
    kept = [(read(id).promise, read(id).parts) for id in (1, 2, 3)]
    assert kept == [(0.9, '{"new":0.9}'), (0.2, "{}"), (0.5, '{"old":0.5}')]


async def test_many_revisions_leave_one_lease_per_link(make: Make) -> None:
    frontier = make(PolitenessSettings(delay=0.0))
    names = [f"a/{i}" for i in range(50)]
    await frontier.add([found(name) for name in names])
    for turn in range(20):
        await frontier.revise(
            (found(name).link.fingerprint, (i * 7 + turn) % 50)
            for i, name in enumerate(names)
        )
    promises = []
    while lease := await take_now(frontier):
        promises.append(lease.promise)
        await frontier.done(lease, KEPT)
    assert promises == sorted(range(50), reverse=True)


async def test_thousands_of_links_at_one_host_go_in_order(make: Make) -> None:
    frontier = make(PolitenessSettings(delay=0.0), per_template=0)
    rng = random.Random(7)
    promises = {f"a/{i}": rng.randrange(300) for i in range(3000)}
    await frontier.add([found(name, p) for name, p in promises.items()])
    first = await take(frontier)
    assert first.promise == 299
    await frontier.done(first, KEPT)
    changed = {name: rng.randrange(600) for name in rng.sample(sorted(promises), 500)}
    changed.pop(name_of(first), None)
    prints = [(found(name).link.fingerprint, p) for name, p in changed.items()]
    assert await frontier.revise(prints) == len(changed)
    promises |= changed
    del promises[name_of(first)]
    order = list(promises)  # discovered in this order
    due = sorted(order, key=lambda name: -promises[name])
    assert await drain(frontier) == due


async def test_a_host_rests_after_its_last_request_has_ended(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(delay=2.0))
    await frontier.add([found("a/1"), found("a/2")])
    lease = await take(frontier)
    clock.pass_by(5.0)
    assert await take_now(frontier) is None, "the first request is under way"
    await frontier.done(lease, KEPT)
    clock.pass_by(1.99)
    assert await take_now(frontier) is None
    clock.pass_by(0.01)
    assert name_of(await take(frontier)) == "a/2"


async def test_a_host_that_was_not_contacted_need_not_rest(make: Make) -> None:
    frontier = make(PolitenessSettings(delay=2.0))
    await frontier.add([found("a/1"), found("a/2")])
    await frontier.done(await take(frontier), State.UNUSABLE, "robots", contacted=False)
    assert name_of(await take(frontier)) == "a/2"


async def test_several_requests_to_a_host_begin_a_delay_apart(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(delay=2.0, per_host=2))
    await frontier.add([found(f"a/{i}") for i in range(4)])
    first = await take(frontier)
    assert await take_now(frontier) is None
    clock.pass_by(2.0)
    second = await take(frontier)
    clock.pass_by(9.0)
    assert await take_now(frontier) is None, "two are under way"
    await frontier.done(first, KEPT)
    clock.pass_by(1.0)
    assert await take_now(frontier) is None, "one ended a second ago"
    await frontier.done(second, KEPT, contacted=False)
    clock.pass_by(1.0)
    assert name_of(await take(frontier)) == "a/2"


async def test_a_host_sets_a_longer_delay_but_not_a_shorter_one(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(delay=1.0, max_delay=20.0))
    await frontier.add([found(f"{host}/{i}") for i in range(2) for host in "abc"])
    for host, delay in (("a", 0.1), ("b", 5.0), ("c", 900.0)):
        await frontier.pace(f"{host}.test", delay=delay)
    for _ in range(3):
        await frontier.done(await take(frontier), KEPT)
    seen = []
    for _ in range(25):
        clock.pass_by(1.0)
        while lease := await take_now(frontier):
            seen.append((name_of(lease), clock.now - 1000))
    assert seen == [("a/1", 1.0), ("b/1", 5.0), ("c/1", 20.0)]


async def test_a_host_that_wants_rest_gets_it_but_not_for_ever(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(max_rest=100.0))
    await frontier.add([found("a/1"), found("b/1", 0.1)])
    await frontier.pace("a.test", rest=1e9)
    await frontier.pace("a.test", rest=1.0)
    await frontier.pace("unheard-of.test", rest=1.0)
    assert name_of(await take(frontier)) == "b/1"
    clock.pass_by(99.0)
    assert await take_now(frontier) is None
    clock.pass_by(1.0)
    assert name_of(await take(frontier)) == "a/1"


async def test_hosts_at_one_address_keep_a_delay_between_them(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(delay=10.0, ip_delay=1.0))
    hosts = [f"h{i}" for i in range(5)]
    await frontier.add([found(f"{host}/1", i) for i, host in enumerate(hosts)])
    for host in hosts:
        await frontier.pace(f"{host}.test", ip="192.0.2.1")
    await frontier.add([found("elsewhere/1", -1)])
    seen = []
    for _ in range(5):
        while lease := await take_now(frontier):
            seen.append((name_of(lease), clock.now - 1000))
        clock.pass_by(1.0)
    assert seen == [
        ("h4/1", 0.0),
        ("elsewhere/1", 0.0),
        ("h3/1", 1.0),
        ("h2/1", 2.0),
        ("h1/1", 3.0),
        ("h0/1", 4.0),
    ]


async def test_an_address_is_free_at_once_when_it_was_not_contacted(
    make: Make,
) -> None:
    frontier = make(PolitenessSettings(ip_delay=1.0))
    await frontier.add([found("a/1", 0.9), found("b/1"), found("c/1")])
    for host in "abc":
        await frontier.pace(f"{host}.test", ip="192.0.2.1")
    lease = await take(frontier)
    assert await take_now(frontier) is None
    await frontier.done(lease, State.UNUSABLE, "robots", contacted=False)
    assert name_of(await take(frontier)) == "b/1"
    assert await take_now(frontier) is None


async def test_a_host_found_at_an_address_in_use_waits_for_its_turn_there(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(ip_delay=1.0))
    await frontier.add([found(f"{host}/1", i) for i, host in enumerate("cba")])
    assert await frontier.pace("a.test", ip="192.0.2.1")
    assert name_of(await take(frontier)) == "a/1"
    clock.pass_by(0.75)
    for host in "bc":  # looked up before they are asked
        lease = await take(frontier)
        assert name_of(lease) == f"{host}/1"
        assert await frontier.pace(f"{host}.test", ip="192.0.2.1")
        assert not await frontier.pace(f"{host}.test", ip="192.0.2.1")
        await frontier.retry(
            lease, 0.0, "address_first", counted=False, contacted=False
        )
    assert await take_now(frontier) is None, "a second has not passed since a was asked"
    clock.pass_by(0.25)
    assert name_of(await take(frontier)) == "b/1"
    assert await take_now(frontier) is None
    clock.pass_by(1.0)
    assert name_of(await take(frontier)) == "c/1"


async def test_an_address_holds_nobody_back_when_the_next_in_turn_goes_away(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(ip_delay=1.0))
    await frontier.add([found(f"{host}/1", i) for i, host in enumerate("dcba")])
    for host in "abcd":
        await frontier.pace(f"{host}.test", ip="192.0.2.1")
    assert name_of(await take(frontier)) == "a/1"
    assert await take_now(frontier) is None  # b, c and d are held
    await frontier.pace("b.test", rest=50.0)
    clock.pass_by(1.0)
    assert name_of(await take(frontier)) == "c/1"
    await frontier.pace("b.test", ip="192.0.2.2")
    clock.pass_by(1.0)
    assert name_of(await take(frontier)) == "d/1"
    clock.pass_by(48.0)
    assert name_of(await take(frontier)) == "b/1"


async def test_a_host_that_moves_away_lets_the_next_at_its_address_go(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(ip_delay=1.0))
    await frontier.add([found("a/1", 3), found("b/1", 2), found("c/1", 1)])
    for host in "abc":
        await frontier.pace(f"{host}.test", ip="192.0.2.1")
    assert name_of(await take(frontier)) == "a/1"
    assert await take_now(frontier) is None  # b and c are held
    clock.pass_by(1.0)
    await frontier.add([found("d/1", 9)])
    assert name_of(await take(frontier)) == "d/1"  # b is let go, and stands ready
    await frontier.pace("b.test", ip="192.0.2.2")
    assert [name_of(await take(frontier)) for _ in range(2)] == ["b/1", "c/1"]
