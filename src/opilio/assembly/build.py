"""Wires the parts of a crawl.

Parts that few crawls need are imported where they are made: importing takes time.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opilio.assembly.index import keep_index
from opilio.assembly.judge_and_strategy import FollowedTopic, JudgeAndStrategy
from opilio.assembly.plan import Plan
from opilio.assembly.registry import (
    choose_by_name,
    find_strategy,
    make_judge,
    make_strategy,
)
from opilio.crawl import CrawlLoop, Stages
from opilio.fetch.addresses import parse_networks
from opilio.fetch.egress import Egress
from opilio.fetch.http import HttpFetch
from opilio.fetch.robots import Robots
from opilio.fetch.route import parse_proxy
from opilio.frontier.sqlite import SqliteFrontier
from opilio.judge import JUDGES
from opilio.limits.scope import Scope
from opilio.limits.stop_when_dry import require_estimator
from opilio.protocols import Fetch, Judge, Readers
from opilio.read.pool import ReaderPool
from opilio.records import SEED_PROMISE, Clock, ReaderSetup, Reads, Subject
from opilio.store.folder import CrawlFolder
from opilio.store.robots import SqliteRobots
from opilio.store.store import Store
from opilio.strategies import load_strategy, place_of, strategies
from opilio.subject.compile import compile_topic, setup_for
from opilio.subject.current import follow_log
from opilio.subject.page_reader import make_reader
from opilio.subject.stored_subject import load_subject, save_subject
from opilio.text import urls
from opilio.topic import Classes

if TYPE_CHECKING:
    from opilio.subject.class_rules import LookAhead

ASKED = 4  # of the topic's terms, in a question to search engines


def check_plan(plan: Plan) -> None:
    """Raise BadInput for what cannot be built, before anything is made."""
    if not place_of(plan.crawl.strategy):
        choose_by_name("strategy", plan.crawl.strategy, strategies())
    choose_by_name("judge", plan.crawl.judge, JUDGES)
    if plan.crawl.stop_when_dry:
        require_estimator(
            plan.crawl.strategy, load_strategy(find_strategy(plan.crawl.strategy))
        )
    parse_networks(plan.fetch.allow_networks)
    parse_proxy(plan.fetch.proxy)
    if plan.replay:
        from opilio.fetch.replay import check_archive  # only replays need it

        for name in plan.replay:
            check_archive(Path(name))


def prepare(plan: Plan, folder: CrawlFolder, *, fresh: bool = False) -> Subject:
    """Check a plan and compile its topic; a crawl that goes on has its subject."""
    check_plan(plan)
    if folder.subject.is_file() and not fresh:
        return load_subject(folder.subject)
    log = follow_log(plan.topic)
    asked = log.build() if log else None
    subject = compile_topic(plan.topic, asked, plan.crawl.vectors, plan.crawl.weights)
    make_judge(plan, subject)  # which may lack something in the topic,
    strategy = make_strategy(plan, subject)  # as may this
    if strategy.reads.look_ahead and plan.topic.classes:
        from opilio.subject.class_rules import check_classes

        check_classes(plan.topic.classes)
    return subject


@asynccontextmanager
async def assemble(
    plan: Plan,
    folder: CrawlFolder,
    subject: Subject | None = None,
    tell: Callable[[str], None] = print,
    ways: Ways | None = None,
) -> AsyncIterator[CrawlLoop]:
    """A crawl ready to run; closes what it opened."""
    subject = subject or prepare(plan, folder)
    ways = ways or Ways()
    if not folder.subject.is_file():
        save_subject(subject, folder.subject)
    store = Store(folder, plan.store, index_all=plan.search.pages == "all")
    try:
        frontier = SqliteFrontier(
            store.db, plan.politeness, plan.bounds, clock=ways.clock
        )
        async with _closing(ways.fetch(plan, store, frontier)) as fetch:
            evidence = await evidence_for(plan, folder, subject, fetch, tell)
            strategy = make_strategy(plan, subject, **evidence)
            parts = JudgeAndStrategy(plan, subject, strategy, store, ways.judge)
            readers = ways.readers(plan.crawl.readers, parts.setup)
            async with _closing(readers):
                await readers.start()
                yield ways.crawl(
                    plan,
                    Stages(
                        scope=Scope(plan.topic.scope),
                        frontier=frontier,
                        fetch=fetch,
                        readers=readers,
                        judge=parts.judge,
                        strategy=strategy,
                        store=store,
                        learners=parts.learners,
                        profiles=parts.profiles,
                        followed=FollowedTopic(parts.log, parts) if parts.log else None,
                        grow_index=keep_index(folder, plan, subject)
                        if plan.search.index
                        else None,
                        clock=ways.clock,
                    ),
                )
    finally:
        store.close()


async def evidence_for(
    plan: Plan,
    folder: CrawlFolder,
    subject: Subject,
    fetch: Fetch,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """What strategies may ask for beside the subject, by the fields of Knowledge."""
    reads = make_strategy(plan, subject).reads
    found: dict[str, Any] = {}
    if reads.look_ahead and plan.topic.classes:
        setup = setup_for(subject, Reads(vector=True, transcribe=reads.transcribe))
        found["look_ahead"] = await class_rules(
            plan, plan.topic.classes, folder, setup, fetch, tell
        )
    return found


async def class_rules(
    plan: Plan,
    classes: Classes,
    folder: CrawlFolder,
    setup: ReaderSetup,
    fetch: Fetch,
    tell: Callable[[str], None],
) -> LookAhead:
    """The rules between the topic's classes, learnt when the crawl begins, from its own
    network or replay."""
    from opilio.subject.class_rules import learn_look_ahead, load_look_ahead, network
    from opilio.topic.train_one import Pace

    if known := load_look_ahead(folder.models, classes.target):
        return known
    reader = make_reader(setup)
    pace = Pace(plan.politeness.delay)
    if isinstance(fetch, HttpFetch):
        fetch = network(fetch.egress, plan.politeness, plan.fetch, pace)
    tell(f"Learning first how the classes of {classes.folder} link to each other.")
    learnt = await learn_look_ahead(classes, fetch, reader.read, pace)
    learnt.save(folder.models)
    return learnt


def make_readers(count: int, setup: bytes) -> ReaderPool:
    """Processes that read pages; what they do is in `opilio.subject.page_reader`."""
    return ReaderPool(count, "opilio.subject.page_reader:make_job", setup)


def make_fetch(plan: Plan, store: Store, frontier: SqliteFrontier) -> Fetch:
    """The network, or WARC files in its place."""
    if plan.replay:
        from opilio.fetch.replay import ReplayFetch

        return ReplayFetch([Path(name) for name in plan.replay])
    egress = Egress(plan.fetch)
    robots = Robots(
        egress.get,
        SqliteRobots(store.db),
        plan.fetch.user_agent,
        pause=plan.politeness.delay,
    )
    return HttpFetch(egress, robots, plan.politeness, plan.fetch, frontier.pace)


@dataclass(frozen=True)
class Ways:
    """How the parts that others may replace are made: the lab has its own."""

    fetch: Callable[[Plan, Store, SqliteFrontier], Fetch] = make_fetch
    readers: Callable[[int, bytes], Readers] = make_readers
    judge: Callable[[Plan, Subject], Judge] = make_judge
    crawl: Callable[[Plan, Stages], CrawlLoop] = CrawlLoop
    clock: Clock = time.monotonic


async def find_seeds(
    plan: Plan, subject: Subject, crawl: CrawlLoop, tell: Callable[[str], None] = print
) -> dict[str, float]:
    """Where to start, with promises: what sites list of themselves has no precedence.

    Engines and sites are asked once; a crawl that goes on has their answers. Without a
    network, in a replay, they cannot be.
    """
    sources, fetch, catalogue = plan.topic.sources, crawl.fetch, crawl.store.catalogue
    listed = dict.fromkeys(map(urls.canonical, sources.urls), SEED_PROMISE)
    asks = sources.search or sources.sitemaps or sources.feeds
    if not asks or not isinstance(fetch, HttpFetch) or catalogue.has_event("seeds"):
        return listed
    from opilio.seeds import Visits, gather_seeds

    visits = Visits(fetch.egress.get, fetch.robots, plan.politeness.delay)
    seeds = await gather_seeds(
        sources,
        " ".join(subject.terms[:ASKED]),
        fetch.egress.get,
        visits,
        pause=plan.politeness.delay,
        language=subject.language,
        tell=tell,
    )
    catalogue.save_event("seeds", found=len(seeds))
    found = {
        seed.url: seed.promise + (0 if seed.listed_by_site else SEED_PROMISE)
        for seed in seeds
    }
    await crawl.plant(found)  # so that the frontier knows the hosts,
    for host, pause in visits.pauses.items():  # of which some must rest now
        await crawl.frontier.pace(host, rest=pause)
    return found


@asynccontextmanager
async def _closing(thing: Any) -> AsyncIterator[Any]:
    try:
        yield thing
    finally:
        await thing.close()
