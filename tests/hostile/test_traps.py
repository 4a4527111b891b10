"""Traps full of the topic's words do not take the crawl away from good sites."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import pytest

from crawling import Crawled
from opilio.lab.synthetic.small import SmallWeb, page
from opilio.lab.synthetic.web import HTML, SyntheticAnswer
from opilio.text.urls import host

SITES, PAGES, BUDGET = 5, 40, 300
TOPICAL = """
    honey bee hive queen drone nectar pollen wax comb swarm smoker frame colony keeper
    brood worker flower garden summer harvest jar extract winter feed
"""
WORDS = TOPICAL.split()
RANKS = range(1, 3001)  # of the own words of a good site


def text(rng: random.Random, count: int = 60) -> str:
    return " ".join(rng.choices(WORDS, k=count))


def good(number: int, path: int) -> str:
    rng = random.Random(f"{number} {path}")
    links = {f"/{rng.randrange(PAGES)}": text(rng, 2) for _ in range(6)}
    links |= {f"/{path + 1}": text(rng, 2)} if path + 1 < PAGES else {}
    other = rng.randrange(SITES)
    links[f"http://site{other}.test/"] = "other bees"
    own = rng.choices(RANKS, [1 / rank for rank in RANKS], k=60)  # Zipf's law
    about = " ".join(f"word{number}x{rank}" for rank in own)
    return page(f"Site {number} {path}", f"{text(rng)} {about}", links)


def letters(rng: random.Random) -> str:
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=9))


def wiki(url: str) -> tuple[str, dict[str, str]]:
    """Endless pages of one host, with names made of letters."""
    rng = random.Random(url)
    return "http://wiki.test/wiki/bees", {
        f"/wiki/{letters(rng)}": f"honey bee hive {letters(rng)}" for _ in range(20)
    }


def farm(url: str) -> tuple[str, dict[str, str]]:
    """Endless hosts of one domain."""
    rng = random.Random(url)
    return "http://bees.farm.test/", {
        f"http://{letters(rng)}.farm.test/": "honey bee hive queen" for _ in range(20)
    }


def calendar(url: str) -> tuple[str, dict[str, str]]:
    """Endless days, each with another text."""
    rng = random.Random(url)
    return "http://days.test/day/2026-11-18", {
        f"/day/{rng.randrange(1900, 2100)}-{rng.randrange(1, 13)}-{n}": "honey bee hive"
        for n in range(1, 28)
    }


def domains(url: str) -> tuple[str, dict[str, str]]:
    """Endless domains."""
    rng = random.Random(url)
    return "http://trap.test/", {
        f"http://trap{letters(rng)}.test/": "honey bee hive queen" for _ in range(20)
    }


Trap = Callable[[str], tuple[str, dict[str, str]]]


class TrappedWeb(SmallWeb):
    """Good sites, and a trap that a good page links to; `advertised`: all of them."""

    def __init__(self, trap: Trap, advertised: bool = False) -> None:
        self.trap = trap
        start, _ = trap("")
        self.advert = f'<a href="{start}">honey bee hive</a>' if advertised else ""
        links = {f"http://site{n}.test/": "bees and honey" for n in range(SITES)}
        super().__init__(
            {"http://seed.test/": page("Bees", "honey bee", links | {start: "bees"})}
        )
        self.trapped = start.partition("//")[2].partition("/")[0].split(".")[-2]

    def respond(self, url: str, attempt: int = 0) -> SyntheticAnswer:
        name, path = host(url), url.split("/", 3)[3]
        if path == "robots.txt" or name == "seed.test":
            return super().respond(url, attempt)
        if name.startswith("site"):
            number = int(path or 0)
            body = good(int(name[4:-5]), number) if number < PAGES else ""
            body += self.advert if body else ""
            return SyntheticAnswer(200 if body else 404, (HTML,), body.encode())
        rng = random.Random(url)
        _, links = self.trap(url)
        body = page(f"Honey {letters(rng)}", text(rng, 150) + letters(rng), links)
        return SyntheticAnswer(200, (HTML,), body.encode())


@pytest.mark.timeout(120)
@pytest.mark.parametrize("trap", [wiki, farm, calendar, domains])
async def test_a_trap_gets_less_than_the_good_sites(crawled, trap: Trap) -> None:
    web = TrappedWeb(trap)
    life: Crawled = await crawled(web)
    ended = await life.crawl("--max-pages", BUDGET)
    assert ended.code == 0, ended.err
    urls = [url for (url,) in life.rows("SELECT url FROM page JOIN link USING (id)")]
    pages = Counter("trap" if web.trapped in host(url) else "good" for url in urls)
    assert pages["good"] >= 0.9 * SITES * PAGES, pages


@pytest.mark.timeout(240)
async def test_nor_does_a_trap_that_all_sites_link_to(crawled) -> None:
    web = TrappedWeb(wiki, advertised=True)
    life: Crawled = await crawled(web)
    ended = await life.crawl("--max-pages", BUDGET)
    assert ended.code == 0, ended.err
    urls = [url for (url,) in life.rows("SELECT url FROM page JOIN link USING (id)")]
    good = sum(web.trapped not in host(url) for url in urls)
    assert good >= 0.9 * SITES * PAGES


async def test_the_support_of_a_domain_is_remembered(crawled) -> None:
    life: Crawled = await crawled(TrappedWeb(wiki))
    assert (await life.crawl("--max-pages", 30)).code == 0
    standing = {row[0]: row[1:] for row in life.rows("SELECT * FROM standing")}
    assert standing["seed.test"] == ("seed.test", "", 1)
    assert standing["wiki.test"] == ("wiki.test", "seed.test", 0)
    assert standing["site0.test"][0] == "site0.test"


async def test_no_link_of_a_long_list_is_lost(crawled) -> None:
    """The default strategy is shown a part of the links of an unknown site; the others
    wait, too."""
    items = {f"/item/{n}": f"bees {n}" for n in range(400)}
    web = SmallWeb(
        {
            "http://seed.test/": page("Bees", "honey", {"http://list.test/": "bees"}),
            "http://list.test/": page("List of bees", "honey bees", items),
        }
    )
    life = await crawled(web)
    ended = await life.crawl("--max-pages", 2)
    assert ended.code == 0, ended.err
    waiting = life.rows("SELECT promise FROM link WHERE state = 'waiting'")
    assert len(waiting) == 400
    assert all(0 < promise <= 1 for (promise,) in waiting)
