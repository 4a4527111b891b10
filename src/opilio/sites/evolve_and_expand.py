"""The folder of a crawl in; the same crawl, evolved or expanded for a query, out.

`evolve` and `expand` do all of it. Who wants to stop it half-way opens the evolver or
the expander and keeps it at hand.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from opilio.assembly.build import Ways, assemble, prepare
from opilio.assembly.plan import Plan, resumed_plan
from opilio.assembly.reader_setup import rereading
from opilio.assembly.registry import make_judge
from opilio.assembly.search import remember_query
from opilio.crawl import CrawlLoop
from opilio.errors import BadInput, OpilioError
from opilio.fetch.http import HttpFetch
from opilio.profiles.keeper import SiteKeeper
from opilio.profiles.models import load_sites
from opilio.profiles.subject_concepts import SubjectConcepts
from opilio.protocols import Judge, LearningJudge
from opilio.records import Mode, Subject
from opilio.search.query import parse_query
from opilio.seeds.priority import choose_seeds
from opilio.seeds.search import make_engines, search_all
from opilio.sites.evolver import Evolver, Outcome
from opilio.sites.expander import Ask, Expander, Expansion
from opilio.sites.rebuild import rebuild
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import opened
from opilio.subject.compile import with_more
from opilio.subject.current import current_subject
from opilio.topic.weight_table import QueryWeights, normalised

Tell = Callable[[str], None]


async def evolve(
    folder: Path | str,
    pages: int = 100,
    *,
    mode: Mode = "fixed",
    proxy: str | None = None,
    tell: Tell = print,
) -> list[Outcome]:
    """One round: at most so many new pages and so many refreshed; what came of each
    phase."""
    home = CrawlFolder(Path(folder))
    plan = ready_plan(home, proxy, tell)
    async with open_evolver(plan, home, mode, tell) as evolver:
        return await evolver.round(pages)


async def expand(
    folder: Path | str,
    query: str,
    pages: int = 50,
    *,
    seconds: float = 60.0,
    log: bool = True,
    proxy: str | None = None,
    tell: Tell = print,
) -> Expansion:
    """Fetch at most so many pages for a query, for about so long; the crawl goes on to
    follow what was asked for, unless it is not to be logged."""
    home = CrawlFolder(Path(folder))
    if log:
        remember_query(home, query)
    plan = ready_plan(home, proxy, tell)
    async with open_expander(plan, home, query, logged=log, tell=tell) as expander:
        return await expander.expand(pages, seconds)


def ready_plan(
    folder: CrawlFolder, proxy: str | None = None, tell: Tell = print
) -> Plan:
    """The plan of a crawl that is there and free; all its pages have profiles then."""
    require_free(folder.require())
    plan = resumed_plan(folder, None, options={"fetch": {"proxy": proxy}})
    prepare(plan, folder)
    add_profiles(plan, folder, tell)
    return plan


def require_free(folder: CrawlFolder) -> None:
    """BadInput while another process crawls in the folder."""
    try:
        folder.lock()
    except BadInput:
        raise BadInput(
            f"{folder.path} is being crawled by another process, which alone may fetch "
            "pages into it; stop it first. Searching without --expand works meanwhile, "
            "and the crawl follows what you search for"
        ) from None
    folder.unlock()


def add_profiles(plan: Plan, folder: CrawlFolder, tell: Tell = print) -> int:
    """Make the site models of a crawl that was made before there were any; how many
    pages had to be read again."""
    with opened(folder) as db:
        missing = load_sites(db).unprofiled()
        subject = current_subject(plan.topic, folder, db)
    if missing:
        pages = "page" if missing == 1 else "pages"
        tell(f"Reading {missing:,} {pages} again for the models of their sites.")
        setup = rereading(plan, subject, headings=True)
        rebuilt = rebuild(CrawlFolder(folder.path), subject, setup)
        if rebuilt.trouble:
            tell(rebuilt.trouble)
    return missing


@asynccontextmanager
async def open_evolver(
    plan: Plan, folder: CrawlFolder, mode: Mode = "fixed", tell: Tell = print
) -> AsyncIterator[Evolver]:
    """What lets a crawl evolve, round by round."""
    subject = prepare(plan, folder)
    async with assemble(plan, folder, subject, tell=tell) as crawl:
        yield Evolver(
            crawl, domain_of(crawl, subject), mode=mode, is_archive=bool(plan.replay)
        )


@asynccontextmanager
async def open_expander(
    plan: Plan,
    folder: CrawlFolder,
    query: str,
    *,
    logged: bool = True,
    tell: Tell = print,
) -> AsyncIterator[Expander]:
    """What fetches pages for a query; one that was not logged counts for the judge all
    the same, until this is closed."""
    subject, ways = prepare(plan, folder), Ways()
    asked = parse_query(query)
    if not logged:
        subject, ways = also_seeking(subject, weigh(asked.words, subject.language))
    async with assemble(plan, folder, subject, tell=tell, ways=ways) as crawl:
        yield Expander(
            crawl,
            domain_of(crawl, subject),
            asked,
            mode=plan.search.mode,
            ask=engines(plan, crawl, tell),
        )


def domain_of(crawl: CrawlLoop, subject: Subject) -> SubjectConcepts:
    """What the crawl seeks now, as concepts."""
    kept = crawl.profiles
    return kept.domain if isinstance(kept, SiteKeeper) else SubjectConcepts(subject)


def weigh(words: Sequence[str], language: str) -> Mapping[str, float]:
    """The terms of a query, as if it was all that people ask for."""
    table = QueryWeights(language=language).rebuilt([" ".join(words)])
    return normalised(table.weights())


def also_seeking(subject: Subject, asked: Mapping[str, float]) -> tuple[Subject, Ways]:
    """A subject whose readers count these terms, and the judge that goes by them too.

    The topic itself stays as it is, and so do the profiles of sites and what a judge
    has learnt: pages that were judged by other terms than the topic's teach it nothing.
    """

    def judging(plan: Plan, now: Subject) -> Judge:
        judge = make_judge(plan, with_more(now, asked))
        if isinstance(judge, LearningJudge):
            judge.is_learning = False
        return judge

    terms = tuple(dict.fromkeys((*subject.terms, *asked)))
    return msgspec.structs.replace(subject, terms=terms), Ways(judge=judging)


def engines(plan: Plan, crawl: CrawlLoop, tell: Tell) -> Ask | None:
    """The search engines of the topic, if it has some; a replay has no network."""
    sources, fetch = plan.topic.sources, crawl.fetch
    if not sources.search or not isinstance(fetch, HttpFetch):
        return None
    asked = make_engines(sources.search, fetch.egress.get, plan.politeness.delay)

    async def ask(query: str, most: int) -> Sequence[str]:
        try:
            found = await search_all(asked, query, most, plan.topic.language, tell)
        except OpilioError as error:  # the links of the crawl are there all the same
            tell(str(error))
            return ()
        return [seed.url for seed in choose_seeds(found, most, common=sources.common)]

    return ask
