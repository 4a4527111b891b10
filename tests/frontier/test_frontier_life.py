"""What becomes of a link besides being visited: the same for every frontier."""

from __future__ import annotations

from collections import Counter

import msgspec
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
from opilio.frontier.frontier import LEASE_SECONDS
from opilio.records import State
from opilio.settings import PolitenessSettings
from opilio.stage_protocols import Frontier

KEPT, PARKED, UNUSABLE = State.KEPT, State.PARKED, State.UNUSABLE


async def test_a_link_is_tried_again_after_its_time(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(delay=0.0))
    await frontier.add([found("a/1", 0.9), found("a/2")])
    assert await frontier.retry(await take(frontier), 30.0, "timeout")
    clock.pass_by(29.0)
    assert await drain(frontier) == ["a/2"], "only the link waits, not its host"
    clock.pass_by(1.0)
    assert await drain(frontier) == ["a/1"]


async def test_a_link_is_unusable_when_its_attempts_are_used_up(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(attempts=3))
    await frontier.add([found("a/1")])
    answers = []
    for attempts in range(3):
        lease = await take(frontier)
        assert lease.attempts == attempts
        answers.append(await frontier.retry(lease, 5.0, "timeout"))
        clock.pass_by(5.0)
    assert answers == [True, True, False]
    assert await take_now(frontier) is None
    assert frontier.counts().reasons == {"timeout": 1}


async def test_a_retry_that_is_not_the_links_fault_does_not_count(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(attempts=1))
    await frontier.add([found("a/1")])
    for _ in range(5):
        lease = await take(frontier)
        assert lease.attempts == 0
        assert await frontier.retry(lease, 0.0, "http_429", counted=False)
        clock.pass_by(1.0)
    assert not await frontier.retry(await take(frontier), 0.0, "timeout")


async def test_a_delayed_link_keeps_the_better_promise_and_its_time(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(delay=0.0))
    await frontier.add([found("a/1", 0.1)])
    await frontier.retry(await take(frontier), 10.0, "timeout")
    await frontier.add([found("a/1", 0.8), found("b/1", 0.5)])
    assert name_of(await take(frontier)) == "b/1"
    clock.pass_by(10.0)
    assert (await take(frontier)).promise == 0.8


async def test_a_lease_expires_and_three_of_them_are_poison(
    make: Make, clock: HandClock
) -> None:
    frontier = make()
    await frontier.add([found("a/1")])
    for attempts in range(3):
        assert (await take(frontier)).attempts == attempts
        clock.pass_by(599.0)
        assert await take_now(frontier) is None
        clock.pass_by(1.0)
        assert await take_now(frontier) is None, "the host rests after a lease"
        clock.pass_by(1.0)
    assert await take_now(frontier) is None
    assert frontier.counts().reasons == {"poison": 1}


async def test_the_late_end_of_a_lease_counts_unless_another_is_at_it(
    make: Make, clock: HandClock
) -> None:
    frontier = make()
    await frontier.add([found("a/1", 0.9), found("b/1")])
    late, very_late = await take(frontier), await take(frontier)
    clock.pass_by(601.0)
    assert await take_now(frontier) is None
    await frontier.done(late, KEPT)
    clock.pass_by(1.0)
    again = await take(frontier)
    assert name_of(again) == "b/1"
    await frontier.done(very_late, State.IRRELEVANT)
    assert frontier.counts().leased == 1
    assert frontier.counts().ended == {(KEPT, ""): 1}
    await frontier.done(again, KEPT)
    await frontier.done(again, State.COPY)
    assert frontier.counts().ended == {(KEPT, ""): 2}


async def test_a_lease_cannot_end_as_waiting(make: Make) -> None:
    frontier = make()
    await frontier.add([found("a/1")])
    with pytest.raises(ValueError, match="retry"):
        await frontier.done(await take(frontier), State.WAITING)


async def test_links_beyond_the_budget_of_a_host_are_parked(make: Make) -> None:
    frontier = make(PolitenessSettings(delay=0.0), per_host=2)
    await frontier.add([found(f"a/{i}") for i in range(5)] + [found("b/1", 0.1)])
    await frontier.done(await take(frontier), UNUSABLE, "robots", contacted=False)
    assert await drain(frontier) == ["a/1", "a/2", "b/1"]
    counts = frontier.counts()
    assert counts.ended[PARKED, "host_budget"] == 2
    assert counts.waiting == 0


async def test_a_lease_that_may_cost_nothing_is_awaited_before_parking(
    make: Make,
) -> None:
    frontier = make(PolitenessSettings(delay=0.0, per_host=8), per_host=1)
    await frontier.add([found("a/1"), found("a/2")])
    first = await take(frontier)
    assert await take_now(frontier) is None
    await frontier.done(first, UNUSABLE, "robots", contacted=False)
    assert await drain(frontier) == ["a/2"]


async def test_the_hosts_of_a_domain_share_a_budget(make: Make) -> None:
    frontier = make(PolitenessSettings(delay=0.0), per_domain=2)
    names = ["a.one/1", "b.one/1", "c.one/1", "d.one/1", "a.two/1"]
    await frontier.add([found(name) for name in names])
    first, second = await take(frontier), await take(frontier)
    assert name_of(await take(frontier)) == "a.two/1", "c and d await the other two"
    await frontier.done(first, UNUSABLE, "robots", contacted=False)
    assert name_of(await take(frontier)) == "c.one/1"
    await frontier.done(second, KEPT)
    assert await take_now(frontier) is None
    assert frontier.counts().waiting == 1


async def test_a_host_far_over_budget_is_parked_in_steps(make: Make) -> None:
    frontier = make(PolitenessSettings(delay=0.0), per_host=1, per_template=0)
    await frontier.add([found(f"a/{i}") for i in range(2500)] + [found("b/1", 0.1)])
    lease = await take(frontier)
    await frontier.done(lease, KEPT)
    last = await frontier.take()
    assert name_of(last) == "b/1"
    assert frontier.counts().ended[PARKED, "host_budget"] == 2499


async def test_the_least_promising_links_are_displaced_and_come_back(
    make: Make,
) -> None:
    frontier = make(capacity=2)
    await frontier.add([found("a/1", 0.1), found("b/1", 0.9), found("c/1", 0.5)])
    await frontier.add([found("d/1", 0.5), found("e/1", 0.7)])
    assert frontier.counts().waiting == 2
    assert frontier.counts().ended == {(PARKED, "capacity"): 3}
    names = [name_of(await take(frontier)) for _ in range(5)]
    assert names == ["b/1", "e/1", "c/1", "d/1", "a/1"], "best first, none is lost"
    assert frontier.counts().ended == {}


async def test_a_displaced_link_comes_back_as_soon_as_it_promises_more(
    make: Make,
) -> None:
    frontier = make(capacity=2)
    await frontier.add([found("a/1", 0.3), found("b/1", 0.9), found("c/1", 0.5)])
    await frontier.add([found("a/1", 0.4)])
    assert frontier.counts().ended == {(PARKED, "capacity"): 1}, "still the least"
    await frontier.add([found("a/1", 0.6)])
    assert frontier.counts().ended == {(PARKED, "capacity"): 1}, "now it is c"
    assert [name_of(await take(frontier)) for _ in range(2)] == ["b/1", "a/1"]
    await frontier.add([found("c/1", 0.1)])
    assert (await take(frontier)).promise == 0.5, "the better promise counts"


async def test_revising_exchanges_waiting_links_for_displaced_ones(make: Make) -> None:
    """Koundal, 5.A: the metric module replaces the less important by the more."""
    frontier = make(capacity=1)
    await frontier.add([found("a/1", 0.3), found("b/1", 0.9), found("c/1", 0.5)])
    a, b = (found(name).link.fingerprint for name in ("a/1", "b/1"))
    assert await frontier.revise([(a, 1.0, {"rank": 1.0})]) == 1
    assert frontier.counts().ended == {(PARKED, "capacity"): 2}
    await frontier.revise([(a, 0.1), (b, 0.2)])
    leases = [await take(frontier) for _ in range(3)]
    assert [name_of(lease) for lease in leases] == ["c/1", "b/1", "a/1"]
    assert [lease.promise for lease in leases] == [0.5, 0.2, 0.1]


async def test_revised_and_retried_links_count_towards_the_capacity(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(delay=0.0), capacity=2)
    await frontier.add([found("a/1", 0.9), found("b/1", 0.8)])
    lease = await take(frontier)
    await frontier.add([found("c/1", 0.7)])
    await frontier.revise([(found("b/1").link.fingerprint, 0.1)])
    await frontier.retry(lease, 5.0, "timeout")
    assert frontier.counts().waiting == 2
    assert await drain(frontier) == ["c/1", "b/1"]
    clock.pass_by(5.0)
    assert await drain(frontier) == ["a/1"]


async def test_a_displaced_link_is_not_tried_again_before_its_time(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(delay=0.0), capacity=1)
    await frontier.add([found("a/1", 0.1)])
    await frontier.retry(await take(frontier), 5.0, "timeout")
    await frontier.add([found("b/1", 0.5)])
    assert frontier.counts().ended[PARKED, "capacity"] == 1
    assert await drain(frontier) == ["b/1"]
    clock.pass_by(4.9)
    assert await drain(frontier) == []
    clock.pass_by(0.1)
    assert await drain(frontier) == ["a/1"]


async def test_busy_servers_have_requests_under_way(make: Make) -> None:
    """Kumar & Vig, III.C: URLs requested and awaiting an answer, by server. Kumar &
    Vig, III.C: "the list of URLs to which the crawlers have sent the request"."""
    frontier = make()
    await frontier.add([found(f"a/{n}", 0.9) for n in range(4)])
    await frontier.add([found("b/1"), found("c/1", 0.1)])
    assert frontier.counts().busy == []
    first, second = await take(frontier), await take(frontier)
    busy = [(one.host, one.requests, one.links) for one in frontier.counts().busy]
    assert busy == [("a.test", 1, 3), ("b.test", 1, 0)]
    await frontier.done(first, KEPT)
    assert [one.host for one in frontier.counts().busy] == ["b.test"]
    await frontier.done(second, KEPT)
    assert frontier.counts().busy == []


async def test_a_late_answer_ends_a_displaced_link(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(delay=0.0), capacity=1)
    await frontier.add([found("a/1", 0.1)])
    late = await take(frontier)
    clock.pass_by(LEASE_SECONDS)
    await frontier.add([found("b/1", 0.5)])
    assert name_of(await take(frontier)) == "b/1"
    await frontier.add([found("c/1", 0.5)])
    assert frontier.counts().ended == {(PARKED, "capacity"): 1}
    await frontier.done(late, KEPT)
    assert frontier.counts().ended == {(KEPT, ""): 1}


async def test_depth_and_template_guard_against_traps(make: Make) -> None:
    frontier = make(PolitenessSettings(delay=0.0), max_depth=1, per_template=3)
    await frontier.add([found(f"a/day/{i}") for i in range(5)] + [found("b/day/1")])
    assert frontier.counts().reasons == {"trap_template": 2}
    seed = await take(frontier)
    await frontier.add([found("c/1")], via=seed)
    await frontier.done(seed, KEPT)
    while name_of(deep := await take(frontier)) != "c/1":
        await frontier.done(deep, KEPT)
    [id] = await frontier.add([found("d/1")], via=deep)
    assert id
    assert frontier.counts().reasons == {"trap_template": 2, "trap_depth": 1}
    assert await take_now(frontier) is None
    assert await frontier.add([found("d/1")]) == [id]
    assert name_of(await take(frontier)) == "d/1", "there is a shorter way to it"
    await frontier.add([found("a/day/3"), found("a/day/4")])
    assert frontier.counts().reasons == {"trap_template": 2}


async def days(frontier: Frontier, state: State) -> int:
    """How many days of an endless calendar are visited, if all end like this."""
    await frontier.add([found("a/day/1"), found("b/page/1", 0.1)])
    number = 0
    while lease := await take_now(frontier):
        is_day = name_of(lease).startswith("a/day")
        number += is_day
        if is_day and number < 50:
            await frontier.add([found(f"a/day/{number + 1}")], via=lease)
        await frontier.done(lease, state if is_day else KEPT)
    return number


async def test_an_endless_calendar_is_left_and_other_hosts_are_not(make: Make) -> None:
    """hostile-web.md row 36."""
    frontier = make(PolitenessSettings(delay=0.0), novelty=10)
    assert await days(frontier, State.IRRELEVANT) == 10
    ended = frontier.counts().ended
    assert ended[PARKED, "template_budget"] == 1
    assert ended[KEPT, ""] == 1, "the other host's page"


@pytest.mark.parametrize(
    ("state", "novelty", "visited"),
    [(State.COPY, 10, 10), (State.IRRELEVANT, 0, 50), (KEPT, 1, 50), (UNUSABLE, 1, 50)],
)
async def test_only_copies_and_irrelevant_pages_spend_a_template(
    make: Make, state: State, novelty: int, visited: int
) -> None:
    frontier = make(PolitenessSettings(delay=0.0), max_depth=99, novelty=novelty)
    assert await days(frontier, state) == visited


async def test_a_calendar_is_left_although_all_its_days_are_kept(make: Make) -> None:
    frontier = make(PolitenessSettings(delay=0.0), novelty=5)
    await frontier.add([found(f"a/day/{i}", -i) for i in range(40)])
    await frontier.add([found(f"b/story/{i}", -i) for i in range(40)])
    visited = Counter[str]()
    while lease := await take_now(frontier):
        number = visited[lease.host]
        visited[lease.host] += 1
        # Months have three lengths; of stories every fifth has one of its own.
        like = number % 3 if lease.host == "a.test" else -(number // 5)
        await frontier.done(lease, KEPT, likeness=f"{like} words")
    assert visited == {"a.test": 3 + 5 * (1 + 3), "b.test": 40}


async def test_one_page_kept_lets_a_template_go_on(make: Make) -> None:
    frontier = make(PolitenessSettings(delay=0.0), novelty=3)
    await frontier.add([found(f"a/day/{i}", -i) for i in range(20)])
    ends = [State.IRRELEVANT, KEPT, *[State.COPY] * 18]
    visited = 0
    while lease := await take_now(frontier):
        await frontier.done(lease, ends[visited])
        visited += 1
    assert visited == 7, "three fruitless, three more for the one kept, and that one"
    assert frontier.counts().ended[PARKED, "template_budget"] == 13


async def test_a_parked_link_neither_delays_its_host_nor_counts_as_tried(
    make: Make,
) -> None:
    frontier = make(PolitenessSettings(delay=5.0), novelty=1, per_host=2)
    await frontier.add([found("a/day/1", 0.9)])
    await frontier.done(await take(frontier), State.IRRELEVANT)
    await frontier.add([found("b/day/1", 0.9), found("b/x", 0.1)])
    await frontier.done(await take(frontier), State.IRRELEVANT, contacted=False)
    await frontier.add([found("b/day/2", 0.5)])
    assert name_of(await take(frontier)) == "b/x"
    assert frontier.counts().ended[PARKED, "template_budget"] == 1


async def test_a_url_that_is_too_long_is_refused_once(make: Make) -> None:
    frontier = make(max_url_length=40)
    names = ["a/1", "a/" + "x" * 60, "a/" + "x" * 61, "a/2"]
    for _ in range(2):
        assert await frontier.add([found(name) for name in names]) == [1, 2, 3, 4]
    assert frontier.counts().waiting == 2
    assert frontier.counts().reasons == {"trap_length": 2}


async def test_an_unwanted_link_waits_once_it_is_wanted(make: Make) -> None:
    frontier = make()
    unwanted = found("a/1", 0.9, reason="nofollow")
    [id] = await frontier.add([unwanted])
    assert await frontier.add([unwanted]) == [id]
    assert frontier.counts().reasons == {"nofollow": 1}
    assert await take_now(frontier) is None
    assert await frontier.add([found("a/1", 0.2)]) == [id]
    assert frontier.counts().reasons == {}
    lease = await take(frontier)
    assert (lease.id, lease.promise) == (id, 0.2)
    await frontier.done(lease, UNUSABLE, "nofollow")
    await frontier.add([found("a/1", 0.9)])
    assert await take_now(frontier) is None, "a visited link is over"


async def test_a_link_in_a_batch_twice_is_wanted_if_it_is_once(make: Make) -> None:
    frontier = make()
    ids = await frontier.add(
        [found("a/1", 0.9, reason="nofollow"), found("a/1", 0.3), found("a/1", 0.4)]
    )
    assert len(set(ids)) == 1
    assert (await take(frontier)).promise == 0.4


async def test_counts_tell_how_links_and_hosts_stand(
    make: Make, clock: HandClock
) -> None:
    frontier = make()
    await frontier.add([found("a/1"), found("a/2"), found("b/1"), found("c/1", 0.1)])
    lease = await take(frontier)
    counts = frontier.counts()
    assert (counts.waiting, counts.leased, counts.hosts) == (3, 1, 3)
    assert (counts.ready, counts.resting) == (2, 0)
    await frontier.done(lease, KEPT)
    counts = frontier.counts()
    assert (counts.leased, counts.ready, counts.resting) == (0, 2, 0)
    clock.pass_by(1.0)
    await drain(frontier)
    counts = frontier.counts()
    assert (counts.waiting, counts.ready, counts.resting) == (0, 0, 0)
    assert counts.ended == {(KEPT, ""): 4}


async def test_counts_name_the_host_that_is_waited_for(
    make: Make, clock: HandClock
) -> None:
    frontier = make(PolitenessSettings(delay=10.0))
    await frontier.add([found("a/1", 0.9), found("b/1", 0.8), found("b/2", 0.7)])
    a, b = await take(frontier), await take(frontier)
    await frontier.done(a, KEPT)
    assert frontier.counts().awaited == "", "a visit is under way"
    clock.pass_by(1.0)
    await frontier.done(b, KEPT)
    assert frontier.counts().awaited == "b.test", "a.test wakes first, for nothing"
    assert frontier.counts().awaited_for == 10.0
    await frontier.add([found("c/1")])
    assert frontier.counts().awaited == "", "c.test may be visited now"
    assert await frontier.retry(await take(frontier), 5.0, "timeout")
    assert frontier.counts().awaited == "b.test", "both must rest for 10 s"
    await frontier.pace("b.test", rest=20.0)
    assert frontier.counts().awaited == "c.test"


async def test_a_link_changes_no_more_unless_it_is_refused_or_may_be_crowded_out(
    make: Make,
) -> None:
    frontier = make(PolitenessSettings(delay=0.0), max_depth=1)
    await frontier.add([found("a/visited", 0.9), found("a/waits")])
    lease = await take(frontier)
    deep = msgspec.structs.replace(lease, depth=1)
    await frontier.add([found("a/deep")], via=deep)
    await frontier.done(lease, KEPT)
    links = [found(f"a/{name}") for name in ("visited", "waits", "deep", "unknown")]
    prints = [ranked.link.fingerprint for ranked in links]
    assert frontier.unchanging(prints) == {prints[0]: 1, prints[1]: 2}


async def test_no_link_is_unchanging_where_better_ones_crowd_it_out(make: Make) -> None:
    frontier = make(capacity=10)
    link = found("a/1")
    await frontier.add([link])
    assert not frontier.unchanging([link.link.fingerprint])
