"""Measures what fetching 50 pages for a query gains, by the labels of a real web.

../shared/webs/schools is crawled to 300 pages for the topic astronomy with the UNESCO
thesaurus. Then, for each of 20 queries: the pages of its label among the first ten
results before, and after 50 more pages 1. by `opilio search --expand`, 2. breadth-first
(of the waiting links, those found first), 3. by the crawl's own strategy. Each query
and way starts from a copy of the same crawl, and in all three the crawl follows the
query as it does after a search; so every way has the same judge.

The queries, by a rule: the leaf labels with at least ten pages that share the longest
beginning with a label of the topic, then those with the most pages; the query is the
label's name ("Science.Physics.General_Physics": "general physics"). Differences with a
paired bootstrap interval of 95 % (opilio.lab.statistics.compare).

Run it with `python -m bench.expansion`, which takes some minutes; the argument `paper`
lets the expander work by the letter of the paper, `next` asks the 20 queries after
these by the same rule, which were not looked at while the expander was made.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from bench.judges import THESAURUS, WEB, read_labels
from bench.table import show
from opilio.assembly.build import assemble
from opilio.assembly.find_seeds import find_seeds
from opilio.assembly.plan import Plan, begin_crawl, for_replay, load_plan, make_plan
from opilio.assembly.prepare import prepare
from opilio.assembly.search import open_search, remember_query
from opilio.crawl import CrawlLoop
from opilio.lab.statistics import compare
from opilio.lab.webs import open_web
from opilio.records import Mode
from opilio.search.query import parse_query
from opilio.settings import SearchSettings
from opilio.sites.chosen_links import ChosenLinks, crawl_of_chosen
from opilio.sites.expander import Expander
from opilio.store.folder import CrawlFolder
from opilio.topic import load_topic
from opilio.topic.file import OntologyFiles

TOPIC = "astronomy"
FIRST, MORE, QUERIES = 300, 50, 20
LEAST = 10  # pages of a label
MANY = 4_000  # links; more than 50 pages need
FIFO = "SELECT id FROM link WHERE state = 'waiting' ORDER BY depth, id LIMIT ?"


class Asked(NamedTuple):
    """A label, the query made of its name, and the pages that have it."""

    query: str
    relevant: frozenset[str]


class Done(NamedTuple):
    """The quality of the first ten results, and the cost."""

    relevant: int
    pages: int = 0
    kept: int = 0


def questions(
    labels: Mapping[str, Sequence[str]], near: Sequence[str], skip: int
) -> list[Asked]:
    """The queries, by the rule, after the first so many."""
    pages: dict[str, set[str]] = {}
    for url, names in labels.items():
        for name in names:
            pages.setdefault(name, set()).add(url)
    leaves = [
        name
        for name in pages
        if len(pages[name]) >= LEAST
        and not any(other.startswith(f"{name}.") for other in pages)
    ]
    leaves.sort(key=lambda name: (-shared(name, near), -len(pages[name]), name))
    return [
        Asked(name.rpartition(".")[2].replace("_", " ").lower(), frozenset(pages[name]))
        for name in leaves[skip : skip + QUERIES]
    ]


def shared(name: str, near: Sequence[str]) -> int:
    """How many steps of the longest path two labels begin with alike."""
    own = name.split(".")

    def alike(other: str) -> int:
        steps = other.split(".")
        return max(n for n in range(len(own) + 1) if own[:n] == steps[:n])

    return max(map(alike, near))


async def first_crawl(folder: CrawlFolder, pages: str) -> None:
    """Crawl until there is something to ask for."""
    web = open_web(WEB)
    topic = load_topic(web.topics[TOPIC])
    topic = msgspec.structs.replace(
        topic, ontology=OntologyFiles(files=(str(THESAURUS),))
    )
    plan = make_plan(folder, topic, options={"crawl": {"max_pages": FIRST}})
    plan = for_replay(plan, web.warcs)
    plan = msgspec.structs.replace(plan, search=SearchSettings(pages=pages))
    subject = prepare(plan, folder)
    begin_crawl(plan, folder)
    async with assemble(plan, folder, subject) as crawl:
        await crawl.run(await find_seeds(plan, subject, crawl))


async def expanded(crawl: CrawlLoop, asked: Asked, mode: Mode) -> tuple[int, int]:
    """By the expander; pages and how many were kept."""
    expander = Expander(
        crawl, crawl.profiles.domain, parse_query(asked.query), mode=mode
    )
    done = await expander.expand(MORE, 600.0)
    return done.pages, done.kept


async def breadth_first(crawl: CrawlLoop, asked: Asked, mode: Mode) -> tuple[int, int]:
    """What was found first."""
    await crawl.commit()
    db = crawl.store.db
    links = [id for (id,) in db.execute(FIFO, (MANY,))]
    errand = ChosenLinks(crawl.frontier, db, crawl.settings)
    await errand.choose({id: -float(rank) for rank, id in enumerate(links)})
    crawl = crawl_of_chosen(crawl, errand, MORE)
    await crawl.run({})
    return crawl.tally.pages, crawl.tally.kept


async def own_strategy(crawl: CrawlLoop, asked: Asked, mode: Mode) -> tuple[int, int]:
    """As the crawl would continue."""
    await crawl.run({})
    return crawl.tally.pages, crawl.tally.kept


WAYS = {
    "--expand 50": expanded,
    "50 more, breadth-first": breadth_first,
    "50 more, the crawl's own": own_strategy,
}


def relevant_in_ten(folder: CrawlFolder, asked: Asked) -> int:
    """How many of the first ten results have the label."""
    with open_search(folder) as searcher:
        return sum(
            hit.url in asked.relevant for hit in searcher.search(asked.query).hits
        )


def more(plan: Plan) -> Plan:
    """The plan of a crawl that may fetch some more pages."""
    crawl = msgspec.structs.replace(plan.crawl, max_pages=FIRST + MORE)
    return msgspec.structs.replace(plan, crawl=crawl)


async def after(base: Path, home: Path, asked: Asked, way: str, mode: Mode) -> Done:
    """The quality of the answer after 50 more pages, fetched in one of the ways."""
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(base, home)
    folder = CrawlFolder(home)
    remember_query(folder, asked.query)
    async with assemble(more(load_plan(folder)), folder) as crawl:
        pages, kept = await WAYS[way](crawl, asked, mode)
        await crawl.commit()
    return Done(relevant_in_ten(folder, asked), pages, kept)


async def measure(home: Path, pages: str, mode: Mode, skip: int) -> None:
    """One table."""
    base = home / f"base-{pages}"
    await first_crawl(CrawlFolder(base), pages)
    near = load_topic(open_web(WEB).topics[TOPIC]).evaluation.relevant_labels
    asked = questions(read_labels(), near, skip)
    done = {
        "before": [Done(relevant_in_ten(CrawlFolder(base), one)) for one in asked],
        **{
            way: [await after(base, home / "copy", one, way, mode) for one in asked]
            for way in WAYS
        },
    }
    title = f"pages that can be searched: {pages}; expander: {mode}"
    rows = []
    for number, one in enumerate(asked):
        rows.append((one.query, *(done[way][number].relevant for way in done)))
    show(title, ("query", *done), rows)
    show(title, ("way", "relevant in the first 10", "pages", "kept", "against"), [
        summary(way, done) for way in done
    ])  # fmt: skip


def summary(way: str, done: Mapping[str, Sequence[Done]]) -> Sequence[object]:
    """Means of a way, and --expand compared with it."""
    results = done[way]
    count = len(results)
    ours = [one.relevant for one in done["--expand 50"]]
    told = ""
    if way != "--expand 50":
        paired = compare(ours, [one.relevant for one in results], seed=1)
        told = (
            f"{paired.mean:+.2f} ({paired.low:+.2f} to {paired.high:+.2f}), "
            f"{paired.wins} won, {paired.ties} equal, {paired.losses} lost"
        )
    return (
        way,
        f"{sum(one.relevant for one in results) / count:.2f}",
        f"{sum(one.pages for one in results) / count:.1f}",
        f"{sum(one.kept for one in results) / count:.1f}",
        told,
    )


def main(mode: Mode = "fixed", skip: int = 0) -> None:
    """Crawl, ask, fetch, ask again."""
    if not WEB.exists() or not THESAURUS.exists():
        print("skipped: ../shared is not there")
        return
    with tempfile.TemporaryDirectory() as name:
        for pages in ("kept", "all"):
            asyncio.run(measure(Path(name), pages, mode, skip))


if __name__ == "__main__":
    main(
        "paper" if "paper" in sys.argv else "fixed",
        QUERIES if "next" in sys.argv else 0,
    )
