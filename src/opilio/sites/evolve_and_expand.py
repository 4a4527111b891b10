"""Opens a crawl to evolve it, or to fetch more pages for a query."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import msgspec

from opilio.assembly.build import Ways, assemble, ways_of
from opilio.assembly.network import network_of
from opilio.assembly.plan import Options, Plan, resumed_plan
from opilio.assembly.prepare import prepare
from opilio.assembly.reader_setup import rereading
from opilio.assembly.registry import BY_NAME, Own
from opilio.crawl import CrawlLoop
from opilio.errors import BadInput, OpilioError
from opilio.limits.contact import require_contact
from opilio.profiles.keeper import SiteKeeper
from opilio.profiles.models import load_sites
from opilio.profiles.subject_concepts import SubjectConcepts
from opilio.protocols import Judge, LearningJudge
from opilio.records import Mode, Subject
from opilio.search.query import parse_query
from opilio.seeds.priority import choose_seeds
from opilio.seeds.search import make_engines, search_all
from opilio.sites.evolver import Evolver
from opilio.sites.expander import Ask, Expander
from opilio.sites.rebuild import rebuild
from opilio.store.folder import CrawlFolder
from opilio.store.lookup import opened
from opilio.subject.compile import with_more
from opilio.subject.current import current_subject
from opilio.topic import where_to
from opilio.topic.weight_table import QueryWeights, normalised

log = logging.getLogger(__name__)


def ready_plan(
    folder: CrawlFolder, options: Options | None = None, own: Own = BY_NAME
) -> Plan:
    """The plan of a crawl that no other process has open; profiles its pages first if
    they have none."""
    require_free(folder.require())
    plan = resumed_plan(folder, None, options=options)
    if not plan.is_offline:
        require_contact(plan.fetch, where_to(plan.topic))
    prepare(plan, folder, own=own)
    add_profiles(plan, folder, own)
    return plan


def require_free(folder: CrawlFolder) -> None:
    """Raise BadInput while another process crawls in the folder."""
    try:
        folder.lock()
    except BadInput:
        raise BadInput(
            f"{folder.path} is being crawled by another process, which alone may fetch "
            f"pages into it; stop it first: opilio tell {folder.path} stop"
        ) from None
    folder.unlock()


def add_profiles(plan: Plan, folder: CrawlFolder, own: Own = BY_NAME) -> int:
    """Make the site models of a crawl that has none; returns how many pages had to be
    read again."""
    with opened(folder) as db:
        missing = load_sites(db).unprofiled()
        subject = current_subject(plan.topic, folder, db)
    if missing:
        pages = "page" if missing == 1 else "pages"
        log.info("Reading %s %s again for the site models", f"{missing:,}", pages)
        setup = rereading(plan, subject, own, headings=True)
        rebuilt = rebuild(CrawlFolder(folder.path), subject, setup)
        if rebuilt.trouble:
            log.warning("%s", rebuilt.trouble)
    return missing


@asynccontextmanager
async def open_evolver(
    plan: Plan, folder: CrawlFolder, mode: Mode = "fixed", own: Own = BY_NAME
) -> AsyncIterator[Evolver]:
    """An Evolver for a crawl."""
    subject, ways = prepare(plan, folder, own=own), ways_of(own)
    async with assemble(plan, folder, subject, ways) as crawl:
        yield Evolver(
            crawl,
            domain_of(crawl, subject),
            mode=mode,
            is_archive=bool(plan.replay),
            sites=plan.topic.sites,
        )


@asynccontextmanager
async def open_expander(
    plan: Plan,
    folder: CrawlFolder,
    query: str,
    *,
    logged: bool = True,
    own: Own = BY_NAME,
) -> AsyncIterator[Expander]:
    """An Expander that fetches pages for a query; until it is closed, the judge follows
    the query even if that was not logged."""
    subject, ways = prepare(plan, folder, own=own), ways_of(own)
    asked = parse_query(query)
    if not logged:
        subject, ways = also_seeking(
            subject, query_weights(asked.words, subject.language), ways
        )
    async with assemble(plan, folder, subject, ways) as crawl:
        yield Expander(
            crawl,
            domain_of(crawl, subject),
            asked,
            mode=plan.search.mode,
            ask=engines(plan, crawl),
        )


def domain_of(crawl: CrawlLoop, subject: Subject) -> SubjectConcepts:
    """The current subject of the crawl, as concepts."""
    kept = crawl.profiles
    return kept.domain if isinstance(kept, SiteKeeper) else SubjectConcepts(subject)


def query_weights(words: Sequence[str], language: str) -> Mapping[str, float]:
    """The weights of the terms of a query, as if it were the only one in a log."""
    table = QueryWeights(language=language).rebuilt([" ".join(words)])
    return normalised(table.weights())


def also_seeking(
    subject: Subject, asked: Mapping[str, float], ways: Ways
) -> tuple[Subject, Ways]:
    """A subject that also has these terms, and a judge for it.

    The topic itself stays unchanged, and so do the profiles of sites and the state of
    the judge: it does not learn from pages that were judged by other terms than the
    topic's.
    """

    def judging(plan: Plan, now: Subject) -> Judge:
        judge = ways.judge(plan, with_more(now, asked))
        if isinstance(judge, LearningJudge):
            judge.is_learning = False
        return judge

    terms = tuple(dict.fromkeys((*subject.terms, *asked)))
    return msgspec.structs.replace(subject, terms=terms), replace(ways, judge=judging)


def engines(plan: Plan, crawl: CrawlLoop) -> Ask | None:
    """The search engines of the topic, if it has any; a replay uses none."""
    sources, network = plan.topic.sources, network_of(crawl.fetch)
    if not sources.search or not network:
        return None
    asked = make_engines(
        sources.search, network.egress.get, plan.politeness.delay, sources.engines
    )

    async def ask(query: str, most: int) -> Sequence[str]:
        try:
            found = await search_all(asked, query, most, plan.topic.language)
        except OpilioError as error:  # the links of the crawl are still available
            log.warning("%s", error)
            return ()
        return [seed.url for seed in choose_seeds(found, most, common=sources.common)]

    return ask
