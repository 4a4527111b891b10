"""Seeds that somebody names are visited, however many of them look alike."""

from frontier.frontier_play import HandClock, Make, Open, drain, found, take
from opilio.records import SEED_PROMISE, State
from opilio.settings import PolitenessSettings

ALIKE = [f"a/page?number={number}" for number in range(9)]
HASTE = PolitenessSettings(delay=0.0)


async def test_seeds_of_one_template_are_all_let_in(make: Make) -> None:
    frontier = make(HASTE, per_template=3)
    await frontier.add([found(name, SEED_PROMISE) for name in ALIKE])
    assert await drain(frontier) == ALIKE


async def test_what_sites_list_of_themselves_is_not_chosen(make: Make) -> None:
    frontier = make(HASTE, per_template=3)
    await frontier.add([found(name, 0.5) for name in ALIKE])
    assert frontier.counts().reasons == {"trap_template": 6}


async def test_where_seeds_redirect_to_is_let_in(make: Make) -> None:
    frontier = make(HASTE, per_template=3)
    await frontier.add([found(f"b/{name}", SEED_PROMISE) for name in range(9)])
    for name in ALIKE:
        lease = await take(frontier)
        await frontier.add([found(name, lease.promise)], via=lease, redirect=True)
        await frontier.done(lease, State.COPY, "redirect")
    assert sorted(await drain(frontier)) == ALIKE


async def test_links_of_a_chosen_page_are_counted(make: Make) -> None:
    frontier = make(HASTE, per_template=3)
    await frontier.add([found("b/", SEED_PROMISE)])
    lease = await take(frontier)
    await frontier.add([found(name, SEED_PROMISE) for name in ALIKE], via=lease)
    assert frontier.counts().reasons == {"trap_template": 6}


async def test_a_seed_is_visited_though_its_template_brings_nothing(make: Make) -> None:
    frontier = make(HASTE, novelty=2)
    await frontier.add([found(name, 0.5) for name in ALIKE[:6]])
    for _ in range(2):
        await frontier.done(await take(frontier), State.IRRELEVANT)
    await frontier.add([found(name, SEED_PROMISE) for name in ALIKE[4:]])
    assert await drain(frontier) == ALIKE[4:], "two of them had been found before"


async def test_a_refused_link_waits_once_it_is_a_seed(
    reopen: Open, clock: HandClock
) -> None:
    frontier = reopen(HASTE, per_template=3)
    await frontier.add([found(name, 0.5) for name in ALIKE])
    await drain(frontier)
    frontier = reopen(HASTE, per_template=3)
    await frontier.add([found(name, SEED_PROMISE) for name in ALIKE])
    clock.pass_by(1.0)
    assert await drain(frontier) == ALIKE[3:]
    assert frontier.counts().reasons == {}
