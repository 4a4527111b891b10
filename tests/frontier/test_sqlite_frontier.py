"""What a frontier on disk finds again after a crash."""

from __future__ import annotations

import sqlite3

import pytest

from frontier.frontier_play import (
    HandClock,
    Open,
    drain,
    found,
    name_of,
    take,
    take_now,
)
from opilio.errors import BadInput
from opilio.records import State
from opilio.settings import PolitenessSettings

KEPT = State.KEPT
HASTE = PolitenessSettings(delay=0.0, ip_delay=0.0)


async def test_links_wait_again_in_the_same_order(reopen: Open) -> None:
    """Meenu et al., section 3.2.2: "contains all URLs that remain to be downloaded"."""
    frontier = reopen(HASTE)
    names = ["a/1", "b/1", "a/2", "c/1", "b/2"]
    await frontier.add([found(name, i % 3) for i, name in enumerate(names)])
    await frontier.done(await take(frontier), KEPT)
    frontier = reopen(HASTE)
    assert frontier.counts().ended == {(KEPT, ""): 1}
    assert await drain(frontier) == ["b/1", "b/2", "a/1", "c/1"]


@pytest.mark.parametrize("recent", [0, 2, 2**14])
async def test_links_are_leased_alike_whether_found_of_late_or_long_ago(
    reopen: Open, monkeypatch: pytest.MonkeyPatch, recent: int
) -> None:
    monkeypatch.setattr("opilio.frontier.sqlite.RECENT", recent)
    frontier = reopen(HASTE)
    for number in range(6):
        await frontier.add([found(f"a/{number}", number / 10)])
    await frontier.add([found("a/0", 0.9)])  # better than it was
    await frontier.revise([(found("a/5").link.fingerprint, 0.05)])
    promises = {}
    for _ in range(6):
        lease = await take(frontier)
        promises[name_of(lease)] = lease.promise
        await frontier.done(lease, KEPT)
    assert list(promises) == ["a/0", "a/4", "a/3", "a/2", "a/1", "a/5"]
    assert promises["a/0"] == 0.9
    assert promises["a/5"] == 0.05


async def test_a_lease_does_not_survive_its_owner(reopen: Open) -> None:
    await (frontier := reopen(HASTE)).add([found("a/1"), found("b/1", 0.1)])
    await frontier.retry(await take(frontier), 0.0, "timeout")
    lost = await take(frontier)
    again = await take(reopen(HASTE))
    assert again == lost
    assert again.attempts == 1


async def test_known_links_are_known_again(reopen: Open) -> None:
    await (frontier := reopen(HASTE)).add([found("a/1", 0.2), found("b/1", 0.3)])
    await frontier.done(await take(frontier), KEPT)
    frontier = reopen(HASTE)
    assert await frontier.add([found("b/1"), found("c/1"), found("a/1")]) == [2, 3, 1]
    assert [name_of(await take(frontier)) for _ in range(2)] == ["a/1", "c/1"]
    assert await take_now(frontier) is None


async def test_every_host_rests_from_the_moment_of_opening(
    reopen: Open, clock: HandClock
) -> None:
    manners = PolitenessSettings(delay=2.0, ip_delay=0.5)
    await (frontier := reopen(manners)).add([found("a/1"), found("b/1"), found("c/1")])
    await frontier.pace("b.test", delay=7.0)
    await frontier.done(await take(frontier), KEPT)
    frontier = reopen(manners)
    await frontier.add([found("new/1")])
    seen = []
    for _ in range(16):
        while lease := await take_now(frontier):
            seen.append((name_of(lease), clock.now - 1000))
        clock.pass_by(0.5)
    assert seen == [("c/1", 2.0), ("new/1", 2.0), ("b/1", 7.0)]


@pytest.mark.parametrize(
    ("jump", "rest"), [(0.0, 100.0), (60.0, 40.0), (-86400.0, 300.0), (86400.0, 1.0)]
)
async def test_a_rest_goes_on_within_its_limit_whatever_the_wall_clock_does(
    reopen: Open, clock: HandClock, jump: float, rest: float
) -> None:
    manners = PolitenessSettings(max_rest=300.0)
    await (frontier := reopen(manners)).add([found("a/1")])
    await frontier.pace("a.test", rest=100.0)
    frontier = reopen(manners, wall=5e9 + jump)
    clock.pass_by(rest - 0.01)
    assert await take_now(frontier) is None
    clock.pass_by(0.02)
    assert name_of(await take(frontier)) == "a/1"


async def test_hosts_at_one_address_are_remembered(
    reopen: Open, clock: HandClock
) -> None:
    manners = PolitenessSettings(delay=1.0, ip_delay=0.5)
    await (frontier := reopen(manners)).add([found("a/1"), found("b/1")])
    for host in "ab":
        await frontier.pace(f"{host}.test", ip="192.0.2.1")
    frontier = reopen(manners)
    clock.pass_by(1.0)
    assert name_of(await take(frontier)) == "a/1"
    assert await take_now(frontier) is None
    clock.pass_by(0.5)
    assert name_of(await take(frontier)) == "b/1"


async def test_budgets_and_counts_go_on(reopen: Open) -> None:
    bounds = {"per_host": 2, "per_domain": 2, "per_template": 2, "capacity": 4}
    frontier = reopen(HASTE, **bounds)
    names = ["a.x/1", "a.x/2", "a.x/3", "b.x/n", "c.y/n", "d.y/n", "e.z/n"]
    await frontier.add([found(name, -i) for i, name in enumerate(names)])
    await frontier.done(await take(frontier), KEPT)
    before = frontier.counts()
    assert before.reasons == {"trap_template": 1}
    frontier = reopen(HASTE, **bounds)
    after = frontier.counts()
    assert (after.waiting, after.hosts, after.ended) == (
        before.waiting,
        before.hosts,
        before.ended,
    )
    await frontier.add([found("a.x/4"), found("e.z/n", 1)])
    assert frontier.counts().reasons == {"trap_template": 2}
    assert await drain(frontier) == ["e.z/n", "a.x/2", "c.y/n", "d.y/n"]
    assert frontier.counts().ended[State.PARKED, "domain_budget"] == 1


async def test_templates_that_bring_nothing_are_remembered(
    reopen: Open, db: sqlite3.Connection
) -> None:
    frontier = reopen(HASTE, novelty=2)
    await frontier.add([found(f"a/day/{i}", -i) for i in range(6)])
    for _ in range(2):
        await frontier.done(await take(frontier), State.COPY, "near")
    assert await take_now(frontier) is None
    assert frontier.counts().ended[State.PARKED, "template_budget"] == 4
    tried = db.execute("SELECT sum(attempts) FROM link WHERE state = 'parked'")
    assert tried.fetchone() == (0,)
    frontier = reopen(HASTE, novelty=2)
    assert await drain(frontier) == []
    assert frontier.counts().ended[State.PARKED, "template_budget"] == 4
    frontier = reopen(HASTE, novelty=3)
    assert len(await drain(frontier)) == 4, "all are kept from now on"


async def test_pages_that_were_alike_are_remembered(
    reopen: Open, db: sqlite3.Connection
) -> None:
    frontier = reopen(HASTE, novelty=3)
    await frontier.add([found(f"a/day/{i}", -i) for i in range(20)])
    for number in range(4):
        lease = await take(frontier)
        db.execute(
            "INSERT INTO page (id, number, fetched_at, status, bytes, words, score) "
            "VALUES (?, ?, 0, 200, 0, 30, 0.25)",
            (lease.id, number),
        )
        await frontier.done(lease, State.KEPT, likeness="30")
    await frontier.flush()
    frontier = reopen(HASTE, novelty=3)
    assert frontier.counts().ended == {(State.KEPT, ""): 4}
    visited = 0
    while lease := await take_now(frontier):
        await frontier.done(lease, State.KEPT, likeness="30")
        visited += 1
    assert visited == 3, "one was new and three were not; three more for the new one"


async def test_what_a_capacity_displaced_is_displaced_after_a_restart_too(
    reopen: Open, db: sqlite3.Connection
) -> None:
    await reopen(HASTE).add([found(f"a/{name}", ord(name)) for name in "abcdef"])
    frontier = reopen(HASTE, capacity=4)
    assert frontier.counts().waiting == 4
    for capacity, waiting in ((2, 2), (3, 3), (1, 1)):
        frontier = reopen(HASTE, capacity=capacity)
        assert frontier.counts().waiting == waiting
        rows = db.execute("SELECT count(*) FROM link WHERE state = 'waiting'")
        assert rows.fetchone() == (waiting,)
    names = [f"a/{name}" for name in "fedcba"]
    assert await drain(frontier) == names


async def test_what_a_capacity_displaced_waits_when_there_is_none_any_more(
    reopen: Open,
) -> None:
    await reopen(HASTE, capacity=1).add([found("a/1"), found("b/1"), found("c/1")])
    frontier = reopen(HASTE)
    assert (frontier.counts().waiting, frontier.counts().ended) == (3, {})


async def test_a_refused_link_can_still_become_wanted(reopen: Open) -> None:
    await (frontier := reopen(HASTE)).add([found("a/1", reason="nofollow")])
    await frontier.add([found("b/1")])
    await frontier.done(await take(frontier), State.UNUSABLE, "http_404")
    frontier = reopen(HASTE)
    await frontier.add([found("a/1"), found("b/1")])
    assert name_of(await take(frontier)) == "a/1"
    assert await take_now(frontier) is None
    assert frontier.counts().reasons == {"http_404": 1}


async def test_revised_promises_and_better_evidence_are_kept(
    reopen: Open, db: sqlite3.Connection
) -> None:
    await (frontier := reopen(HASTE)).add([found("a/1", 1.0), found("b/1", 0.1)])
    page = await take(frontier)
    better = found("b/1", 0.5, anchor="see b", parts={"anchor": 0.5})
    await frontier.add([better, found("c/1", 0.2, level=1)], via=page)
    await frontier.revise([(found("c/1").link.fingerprint, 0.9, {"parents": 0.9})])
    await frontier.flush()
    rows = db.execute(
        "SELECT url, promise, level, depth, found_on, anchor, parts FROM link "
        "WHERE id > 1 ORDER BY id"
    ).fetchall()
    assert rows == [
        ("http://b.test/1", 0.5, 0, 0, 1, "see b", '{"anchor":0.5}'),
        ("http://c.test/1", 0.9, 1, 1, 1, None, '{"parents":0.9}'),
    ]
    frontier = reopen(HASTE)
    assert [(await take(frontier)).promise for _ in range(3)] == [1.0, 0.9, 0.5]


async def test_better_evidence_is_stored_at_once_and_new_promises_when_flushed(
    reopen: Open, db: sqlite3.Connection
) -> None:
    await (frontier := reopen(HASTE)).add([found("a/1", 1.0), found("b/1", 0.1)])
    page = await take(frontier)
    await frontier.add([found("b/1", 0.5, anchor="b")], via=page)
    await frontier.revise([(found("b/1").link.fingerprint, 0.7)])
    stored = "SELECT promise, anchor FROM link WHERE id = 2"
    assert db.execute(stored).fetchone() == (0.5, "b")
    await frontier.flush()
    assert db.execute(stored).fetchone() == (0.7, "b")
    await frontier.add([found("b/1", 0.9, anchor="again")], via=page)
    await frontier.flush()
    assert db.execute(stored).fetchone() == (0.9, "again")


async def test_each_state_and_reason_is_in_the_table(
    reopen: Open, db: sqlite3.Connection
) -> None:
    frontier = reopen(HASTE, per_host=1, capacity=1, max_depth=0)
    await frontier.add([found("a/1", 9), found("a/2", 8), found("b/1", 7)])
    await frontier.add([found("c/1", 1), found("d/1", reason="scope")])
    await frontier.add([found("f/1", 0.5)])
    page = await take(frontier)
    await frontier.add([found("e/1")], via=page)
    await frontier.done(page, KEPT)
    await frontier.done(await take(frontier), State.COPY, "content")
    rows = db.execute("SELECT state, reason, attempts FROM link ORDER BY id")
    assert rows.fetchall() == [
        ("kept", None, 1),
        ("parked", "host_budget", 0),
        ("copy", "content", 1),
        ("waiting", None, 0),
        ("unusable", "scope", 0),
        ("parked", "capacity", 0),
        ("unusable", "trap_depth", 0),
    ]
    hosts = db.execute("SELECT name, domain, taken FROM host ORDER BY id")
    assert hosts.fetchmany(2) == [("a.test", "a.test", 1), ("b.test", "b.test", 1)]


async def test_nothing_is_committed_by_the_frontier(
    reopen: Open, db: sqlite3.Connection
) -> None:
    frontier = reopen(HASTE)
    await frontier.add([found("a/1")])
    await frontier.done(await take(frontier), KEPT)
    await frontier.flush()
    db.execute("ROLLBACK")
    assert reopen(HASTE).counts().hosts == 0


@pytest.mark.parametrize("reopen", ["sqlite"], indirect=True)
async def test_a_table_with_a_missing_row_is_refused(
    reopen: Open, db: sqlite3.Connection
) -> None:
    await reopen(HASTE).add([found("a/1"), found("b/1"), found("c/1")])
    db.execute("DELETE FROM link WHERE id = 2")
    with pytest.raises(BadInput, match="table link"):
        reopen(HASTE)
