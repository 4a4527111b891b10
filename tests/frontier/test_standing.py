"""Domains that nobody else links to yield to others after some pages."""

from __future__ import annotations

import pytest

from frontier.frontier_play import HandClock, Make, found, take
from opilio.frontier import standing as standing_module
from opilio.frontier.hosts import RegisteredDomain
from opilio.frontier.standing import MANY, DomainStanding
from opilio.records import Lease, Link, Ranked, State
from opilio.settings import PolitenessSettings

QUICK = PolitenessSettings(delay=0.0, ip_delay=0.0)


async def visit(frontier, lease: Lease, *links: tuple[str, float]) -> None:
    await frontier.add([found(name, promise) for name, promise in links], via=lease)
    await frontier.done(lease, State.KEPT)


async def play(frontier, visits: int) -> dict[str, int]:
    """Crawl a seed that links to an endless trap and to good hosts of less promise."""
    await frontier.add([found("seed/", 0.5)])
    first = await take(frontier)
    good = [(f"good{n % 5}/{n}", 0.01) for n in range(visits)]
    await visit(frontier, first, ("trap/0", 0.9), *good)
    counts: dict[str, int] = {}
    for number in range(visits):
        lease = await take(frontier)
        kind = "trap" if lease.host == "trap.test" else "good"
        counts[kind] = counts.get(kind, 0) + 1
        more = [(f"trap/{number}-{n}", 0.9) for n in range(3)] if kind == "trap" else []
        await visit(frontier, lease, *more)
    return counts


async def test_a_trap_gets_its_free_pages_and_then_ever_fewer(make: Make) -> None:
    counts = await play(make(QUICK, free_pages=10), 100)
    assert 10 < counts["trap"] < 50
    assert await play(make(QUICK, free_pages=0), 50) == {"trap": 50}


async def test_nobody_gives_way_when_nothing_else_waits(make: Make) -> None:
    frontier = make(QUICK, free_pages=3)
    await frontier.add([found("seed/", 0.5)])
    await visit(frontier, await take(frontier), *((f"a/{n}", 0.5) for n in range(30)))
    for _ in range(30):
        await frontier.done(await take(frontier), State.KEPT)
    assert frontier.counts().waiting == 0


async def test_a_domain_with_a_seed_has_no_limit(make: Make, clock: HandClock) -> None:
    frontier = make(QUICK, free_pages=3)
    links = [found(f"a/{n}", 0.9) for n in range(30)]
    await frontier.add([*links, found("b/1", 0.1)])
    order = []
    for _ in range(20):
        lease = await take(frontier)
        order.append(lease.host)
        await frontier.done(lease, State.KEPT)
    assert set(order) == {"a.test"}


async def test_links_that_do_not_change_support_domains_as_well(make: Make) -> None:
    frontier = make(QUICK, free_pages=3)
    await frontier.add([found("seed/", 0.5)])
    others = [f"other{n}/" for n in range(MANY)]
    names = ["good/", *others]
    await visit(frontier, await take(frontier), *((name, 0.5) for name in names))
    domains = frontier._agenda.queue.domains
    good = frontier.id_of(found("good/").link.fingerprint)
    assert not domains["good.test"].is_established
    for name in others[:-1]:
        frontier.support([good], f"{name[:-1]}.test")
    assert domains["good.test"].support == (
        *("seed.test", "other0.test", "other1.test", "other2.test", "other3.test"),
    )
    assert domains["good.test"].is_established


async def test_domains_of_a_farm_share_the_free_pages_of_their_branch(
    make: Make,
) -> None:
    frontier = make(QUICK, free_pages=10)
    await frontier.add([found("seed/", 0.5)])
    good = [(f"good{n % 5}/{n}", 0.01) for n in range(100)]
    await visit(frontier, await take(frontier), ("trap/", 0.9), *good)
    counts = {"trap": 0, "good": 0}
    for number in range(100):
        lease = await take(frontier)
        kind = "trap" if lease.host.startswith("trap") else "good"
        counts[kind] += 1
        more = [(f"trap{number}x{n}/", 0.9) for n in range(20)]
        await visit(frontier, lease, *(more if kind == "trap" else ()))
    assert 10 < counts["trap"] < 50, counts
    domains = frontier._agenda.queue.domains
    trap = domains["trap.test"]
    assert trap.charged == counts["trap"]
    # An established domain lends its pages to nobody, and has no limit itself.
    trap.is_established = True
    other = next(one for name, one in domains.items() if name.startswith("trap0x"))
    assert frontier._agenda.standing.payer(other) is other


async def test_a_flood_of_hosts_is_ignored(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a site that nobody supports; what was ignored can be found elsewhere."""
    monkeypatch.setattr(standing_module, "MOST_HOSTS", 25)
    frontier = make(QUICK)
    await frontier.add([found("seed/", 0.5)])
    await visit(frontier, await take(frontier), ("farm/", 0.9), ("other/", 0.1))
    lease = await take(frontier)
    pages = [[found(f"h{p}x{n}/").link for n in range(10)] for p in range(5)]
    known = found("other/").link
    told = [frontier.without_floods([*page, known], "farm.test") for page in pages]
    assert [len(links) for links in told] == [11, 11, 1, 1, 1]
    await frontier.add([Ranked(link, 0.5) for link in pages[0]], via=lease)
    # The hosts of the farm belong to it.
    assert not frontier.without_floods(pages[3], "h0x3.test")
    assert frontier.without_floods(pages[3], "seed.test") == pages[3]
    assert frontier.without_floods(pages[3], "other.test") == pages[3]


async def test_only_so_many_links_of_a_domain_draw_attention(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless others support it, or its pages bring new words."""

    def within(links: list[Link], host: str) -> list[Link]:
        places = frontier.beyond_room(links, host)
        return [link for place, link in enumerate(links) if place not in places]

    monkeypatch.setattr(standing_module, "ROOM", 10)
    monkeypatch.setattr(standing_module, "MORE", 5)
    frontier = make(QUICK)
    await frontier.add([found("seed/", 0.5)])
    await visit(frontier, await take(frontier), ("trap/", 0.9), ("good/", 0.8))
    lease = await take(frontier)
    here = [found(f"trap/{n}").link for n in range(100)]
    elsewhere = [found(f"good/{n}").link for n in range(30)]
    told = within([*here, *elsewhere], "trap.test")
    ours = [link for link in told if "trap.test" in link.url]
    assert len(told) - len(ours) == 30  # they have not been visited for nothing
    assert len(ours) == 10 + 5  # all over the page
    assert ours[0] == here[0] and ours[-1] == here[93]
    await frontier.add([Ranked(link, 0.5) for link in ours], via=lease)
    assert not within(here[-5:], "trap.test")
    assert within(ours, "trap.test") == ours  # known
    assert within(here, "seed.test") == here
    # The others wait, too, but take no room.
    await frontier.add([Ranked(link, 0.1) for link in here], via=lease)
    trap = frontier._agenda.queue.domains["trap.test"]
    assert trap.waiting == 10 + 5
    await frontier.done(lease, State.KEPT)


async def test_a_domain_whose_pages_are_copies_is_doubted(make: Make) -> None:
    frontier = make(QUICK)
    await frontier.add([found("seed/", 0.5)])
    first = [(f"trap/{n}", 0.9) for n in range(20)]
    await visit(frontier, await take(frontier), *first, ("good/", 0.1))
    doubted = []
    for _ in range(12):
        lease = await take(frontier)
        doubted.append((lease.host, lease.is_doubted))
        frontier.heard(lease.host, b"")
        await frontier.done(lease, State.COPY, "content")
    assert doubted[:2] == [("trap.test", False)] * 2
    assert doubted[-1] == ("trap.test", True)


class Notes:
    def save_standing(self, domain: RegisteredDomain) -> None: ...


class AnyHost:
    def __init__(self, domain: RegisteredDomain) -> None:
        self.domain = domain


@pytest.fixture
def standing() -> DomainStanding:
    return DomainStanding(Notes(), 50)  # type: ignore[arg-type]


def domain(name: str) -> AnyHost:
    return AnyHost(RegisteredDomain(name))


def test_the_domains_of_a_farm_do_not_support_each_other(
    standing: DomainStanding,
) -> None:
    seed, entry = domain("seed"), domain("entry")
    farm = [domain(f"farm{n}") for n in range(20)]
    standing.support([seed], None)  # type: ignore[list-item]
    standing.support([entry], seed.domain)  # type: ignore[list-item]
    standing.support(farm, entry.domain)  # type: ignore[arg-type]
    for one in farm:
        standing.support([entry, *farm], one.domain)  # type: ignore[list-item]
    assert entry.domain.support == ("seed",)
    assert {one.domain.branch for one in farm} == {"entry"}
    assert not any(one.domain.support for one in farm)


def test_links_from_independent_domains_support_a_domain(
    standing: DomainStanding,
) -> None:
    seed, good = domain("seed"), domain("good")
    others = [domain(f"other{n}") for n in range(MANY)]
    standing.support([seed], None)  # type: ignore[list-item]
    standing.support(others, seed.domain)  # type: ignore[arg-type]
    for number, other in enumerate(others):
        assert not good.domain.is_established
        standing.support([good], other.domain)  # type: ignore[list-item]
        standing.support([good], other.domain)  # type: ignore[list-item]
        assert len(good.domain.support) == number  # its own branch is the first
    standing.support([good], seed.domain)  # type: ignore[list-item]
    assert good.domain.is_established
