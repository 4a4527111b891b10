"""Domains whose pages repeat the same words are recognised and go last."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

from frontier.frontier_play import Make, Open, found, take
from opilio.frontier import domain_words
from opilio.frontier.domain_words import SETTLED, DomainWords
from opilio.records import State
from opilio.settings import PolitenessSettings

QUICK = PolitenessSettings(delay=0.0, ip_delay=0.0)


def stems(words: list[int]) -> bytes:
    """Hashes of words, as in Page.stems."""
    mixed = np.array(sorted(set(words)), "<u8") * np.uint64(0x9E3779B97F4A7C15)
    return np.sort(mixed ^ (mixed >> np.uint64(29))).tobytes()


WEIGHTS = [1 / (rank + 3) for rank in range(30_000)]  # Zipf's law


def zipf(rng: random.Random, count: int = 300) -> list[int]:
    """Words as a text has them: some often, new ones now and then."""
    return rng.choices(range(len(WEIGHTS)), WEIGHTS, k=count)


def share_of_fresh(pages: list[bytes]) -> float:
    words = DomainWords()
    return sum(words.is_fresh("a.test", page) for page in pages) / len(pages)


def test_pages_of_a_real_text_stay_fresh() -> None:
    rng = random.Random(1)
    assert share_of_fresh([stems(zipf(rng)) for _ in range(300)]) > 0.6


@pytest.mark.parametrize("words", [13, 200, 1000])
def test_pages_made_of_a_list_of_words_do_not(words: int) -> None:
    rng = random.Random(2)
    pages = [stems(rng.choices(range(words), k=300)) for _ in range(300)]
    assert share_of_fresh(pages) < 0.15


def test_random_letters_are_no_new_words() -> None:
    rng = random.Random(3)
    pages = [stems([rng.getrandbits(40) for _ in range(300)]) for _ in range(300)]
    assert share_of_fresh(pages) < 0.05


def test_few_domains_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domain_words, "MOST", 3)
    words = DomainWords()
    for number in range(5):
        words.is_fresh(f"{number}.test", b"")
    assert sorted(name for name, _ in words.take_changes()) == [
        "2.test",
        "3.test",
        "4.test",
    ]
    assert not list(words.take_changes())


async def play(frontier, visits: int, pages, *, sponsors: int = 1) -> int:
    """Visits to an endless site that some others link to, while good ones wait."""
    await frontier.add([found("seed/", 0.5)])
    names = [f"sponsor{n}/" for n in range(sponsors)]
    first = await take(frontier)
    await frontier.add([found(name, 0.99) for name in names], via=first)
    await frontier.add([found(f"good{n % 50}/{n}", 0.01) for n in range(visits)], first)
    await frontier.done(first, State.KEPT)
    for _ in names:
        lease = await take(frontier)
        await frontier.add([found("trap/0", 0.9)], via=lease)
        await frontier.done(lease, State.KEPT)
    count = 0
    for number in range(visits):
        lease = await take(frontier)
        if lease.host == "trap.test":
            count += 1
            frontier.heard(lease.host, pages())
            links = [found(f"trap/{number}-{n}", 0.9) for n in range(3)]
            await frontier.add(links, via=lease)
        await frontier.done(lease, State.KEPT)
    return count


def repeated() -> bytes:
    return stems(random.Random(4).choices(range(13), k=300))


def various() -> Callable[[], bytes]:
    rng = random.Random(5)
    return lambda: stems(zipf(rng))


async def test_a_site_that_repeats_its_words_gets_few_pages(make: Make) -> None:
    trap = await play(make(QUICK), 600, repeated)
    assert SETTLED < trap < 75


async def test_a_site_with_new_words_gets_more(make: Make) -> None:
    assert await play(make(QUICK), 600, various()) > 150


async def test_large_pages_count_as_several(make: Make) -> None:
    """A trap must not fill the disk."""
    frontier = make(QUICK, free_pages=50)
    await frontier.add([found("seed/", 0.5)])
    first = await take(frontier)
    await frontier.add([found(f"trap/{n}", 0.9) for n in range(100)], via=first)
    await frontier.add([found(f"good{n}/", 0.1) for n in range(200)], via=first)
    await frontier.done(first, State.KEPT)
    count = 0
    for _ in range(100):
        lease = await take(frontier)
        if lease.host == "trap.test":
            count += 1
            frontier.heard(lease.host, None, 10 * 2**20)
        await frontier.done(lease, State.KEPT)
    assert 3 < count < 30


async def test_even_links_from_many_sites_do_not_free_a_trap(make: Make) -> None:
    assert SETTLED < await play(make(QUICK), 1500, repeated, sponsors=10) < 200


async def test_a_site_with_new_words_that_many_link_to_goes_first(make: Make) -> None:
    assert await play(make(QUICK), 600, various(), sponsors=10) == 600


async def test_copies_are_remembered_when_a_crawl_is_continued(reopen: Open) -> None:
    frontier = reopen(QUICK)
    await play(frontier, 20, lambda: b"")
    await frontier.flush()
    domain = reopen(QUICK)._agenda.queue.domains["sponsor0.test"]  # its branch
    assert domain.stale > 5


async def test_words_are_remembered_when_a_crawl_is_continued(reopen: Open) -> None:
    frontier = reopen(QUICK)
    before = await play(frontier, 300, repeated)
    await frontier.flush()
    frontier = reopen(QUICK)
    domain = frontier._agenda.queue.domains["sponsor0.test"]  # began the branch
    assert domain.stale > 10
    again = 0
    for number in range(12):  # as many good links are left
        lease = await take(frontier)
        if lease.host == "trap.test":
            again += 1
            frontier.heard(lease.host, repeated())
            await frontier.add([found(f"trap/again{number}", 0.9)], via=lease)
        await frontier.done(lease, State.KEPT)
    assert again < 8 < before
