"""Compares ways to share the pages of an `opilio evolve` round among its phases.

Synthetic webs of 3,000 pages on 60 hosts, crawled to 150 pages, then four rounds of 60
pages. For each way it prints the relevant pages, the sites with a page of the domain,
and the pages of each phase. "First phase first" is the order of `--mode paper`;
everything else is mode `fixed`. Run it with `python -m bench.evolve_shares [SEED ...]`;
takes a minute a seed.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest.mock import patch

import msgspec

from bench.table import show
from opilio.assembly.build import assemble
from opilio.assembly.find_seeds import find_seeds
from opilio.assembly.plan import begin_crawl, make_plan
from opilio.assembly.prepare import prepare
from opilio.lab.synthetic.dials import CALM
from opilio.lab.synthetic.server import serve
from opilio.lab.synthetic.web import SyntheticWeb
from opilio.records import Mode
from opilio.settings import (
    CrawlSettings,
    FetchSettings,
    PolitenessSettings,
    Settings,
    StoreSettings,
)
from opilio.sites.evolve_and_expand import evolve
from opilio.sites.phase_shares import shares_of_phases
from opilio.store.folder import CrawlFolder
from opilio.topic import load_topic

FIRST, ROUNDS, PAGES = 150, 4, 60
SITES = "SELECT count(*) FROM site WHERE in_domain"

Rule = Callable[[int, Sequence[int], Mode], dict[int, int]]


def first_phase_first(pages: int, phases: Sequence[int], mode: Mode) -> dict[int, int]:
    """All to the first phase that has links."""
    return shares_of_phases(pages, phases, "paper")


RULES: dict[str, Rule] = {
    "the first phase first": first_phase_first,
    "as many to each": shares_of_phases,
}


async def first_crawl(folder: CrawlFolder, topic: Path, proxy: str) -> None:
    """Crawl until there are sites to know."""
    settings = Settings(
        crawl=CrawlSettings(max_pages=FIRST, in_flight=1),
        politeness=PolitenessSettings(delay=0.0, ip_delay=0.0),
        store=StoreSettings(min_free=0),
        fetch=FetchSettings(proxy=proxy),
    )
    plan = make_plan(folder, load_topic(topic), settings)
    subject = prepare(plan, folder)
    begin_crawl(plan, folder)
    async with assemble(plan, folder, subject) as crawl:
        await crawl.run(await find_seeds(plan, subject, crawl))
    folder.unlock()


async def rounds(folder: Path, rule: Rule) -> tuple[int, int, list[int]]:
    """Relevant pages, sites, and pages of each phase after some rounds."""
    relevant, pages = 0, [0, 0, 0]
    with patch("opilio.sites.evolver.shares", rule):
        for _ in range(ROUNDS):
            outcomes = await evolve(folder, PAGES)
            relevant += sum(outcome.relevant for outcome in outcomes[:3])
            pages = [
                before + outcome.pages
                for before, outcome in zip(pages, outcomes, strict=False)
            ]
    db = sqlite3.connect(folder / "crawl.db")
    [sites] = db.execute(SITES).fetchone()
    db.close()
    return relevant, sites, pages


async def measure(seed: int) -> None:
    """All ways on one web."""
    web = SyntheticWeb(msgspec.structs.replace(CALM, seed=seed, pages=3_000, hosts=60))
    rows = []
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        (home / "topic.toml").write_text(web.topic_file(web.topics[0]))
        async with serve(web) as server:
            base = CrawlFolder(home / "base")
            await first_crawl(base, home / "topic.toml", server.proxy_url)
            for number, (rule, share) in enumerate(RULES.items()):
                copy = home / f"copy-{number}"
                shutil.copytree(base.path, copy)
                relevant, sites, pages = await rounds(copy, share)
                rows.append((rule, relevant, sites, *pages))
    title = f"web {seed}: {ROUNDS} rounds of {PAGES} pages"
    show(title, ("way", "relevant", "sites", "phase 1", "phase 2", "phase 3"), rows)


def main(*seeds: int) -> None:
    """Some webs."""
    for seed in seeds or (6, 7, 8, 9, 10):
        asyncio.run(measure(seed))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
