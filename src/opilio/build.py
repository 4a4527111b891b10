"""Settings in; the parts of a crawl, chosen and wired, out.

Parts that few crawls need are imported where they are made: importing takes time.
"""

from __future__ import annotations

import difflib
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from opilio import config, urls
from opilio.brief import Brief, load_brief, make_brief, save_brief, weights_of
from opilio.crawl import SEED_PROMISE, Crawl, Stages
from opilio.errors import BadInput
from opilio.fetch.addresses import parse_networks
from opilio.fetch.egress import Egress
from opilio.fetch.http import HttpFetch
from opilio.fetch.robots import Robots
from opilio.fetch.route import parse_proxy
from opilio.followed import FollowedLog
from opilio.frontier.sqlite import SqliteFrontier
from opilio.judge import JUDGES, Learning
from opilio.judge.languages import InLanguages
from opilio.plan import Plan
from opilio.read.pool import ReaderPool
from opilio.reader import make_reader
from opilio.scope import Scope
from opilio.searching import keep_index
from opilio.sites.keeper import SiteKeeper
from opilio.store.folder import CrawlFolder
from opilio.store.robots import SqliteRobots
from opilio.store.store import Store
from opilio.strategies import is_file, load, place_of, strategies
from opilio.topic.file import QueryLog
from opilio.topic.weight_table import normalised
from opilio.types import (
    Fetch,
    Judge,
    Knowledge,
    Learner,
    Readers,
    ReaderSetup,
    Remembering,
    Seeker,
    Strategy,
)

if TYPE_CHECKING:
    from opilio.look_ahead import LookAhead

T = TypeVar("T")
ASKED = 4  # of the topic's terms, in a question to search engines


def choose(kind: str, name: str, known: Mapping[str, T]) -> T:
    """The part of that name; BadInput that names the known ones."""
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise BadInput(f"unknown {kind} {name!r}; {hint}known: {', '.join(sorted(known))}")


def make_judge(plan: Plan, brief: Brief) -> Judge:
    """The judge that the settings name, for what the brief says is sought."""
    return choose("judge", plan.crawl.judge, JUDGES)(brief.subject)


def find_strategy(name: str) -> str:
    """Where the class of a strategy is: one that is known, or in a file of Python."""
    if is_file(name):
        return name
    return place_of(name) or choose("strategy", name, strategies())


def make_strategy(
    plan: Plan, brief: Brief, look_ahead: LookAhead | None = None
) -> Strategy:
    """The strategy that the settings name, with its options."""
    name = plan.crawl.strategy
    made = load(find_strategy(name))
    source = f"options of the strategy {name}"
    options = config.build(plan.options, made.Options, source, strict=False)
    knowledge = Knowledge(
        subject=brief.subject, seed=plan.crawl.seed, look_ahead=look_ahead
    )
    return made(options, knowledge)


def check_plan(plan: Plan) -> None:
    """Raise BadInput for what cannot be built, before anything is made."""
    if not place_of(plan.crawl.strategy):
        choose("strategy", plan.crawl.strategy, strategies())
    choose("judge", plan.crawl.judge, JUDGES)
    parse_networks(plan.fetch.allow_networks)
    parse_proxy(plan.fetch.proxy)
    if plan.replay:
        from opilio.fetch.replay import check_archive  # only replays need it

        for name in plan.replay:
            check_archive(Path(name))


def prepare(plan: Plan, folder: CrawlFolder, *, fresh: bool = False) -> Brief:
    """Check a plan and read what its topic names; the brief of a crawl that goes on."""
    check_plan(plan)
    if folder.brief.is_file() and not fresh:
        return load_brief(folder.brief)
    log = follow_log(plan)
    brief = make_brief(plan.topic, log.build() if log else None)
    make_judge(plan, brief)  # which may lack something in the topic,
    strategy = make_strategy(plan, brief)  # as may this
    if strategy.reads.look_ahead and plan.topic.classes:
        from opilio.look_ahead import check_classes

        check_classes(plan.topic.classes)
    return brief


def follow_log(plan: Plan, folder: CrawlFolder | None = None) -> FollowedLog | None:
    """The query log of the topic, or else that of the crawl's own searches, which need
    not be there yet."""
    log = plan.topic.query_log
    if folder and not log:
        log = QueryLog(file=str(folder.queries))
    return FollowedLog(log, plan.topic.language) if log else None


def current_brief(plan: Plan, folder: CrawlFolder, db: sqlite3.Connection) -> Brief:
    """The brief of a crawl, with what people asked for last."""
    brief, log = load_brief(folder.brief), follow_log(plan, folder)
    learnt = db.execute("SELECT state FROM learnt WHERE name = 'weights'").fetchone()
    if log and learnt:
        log.load(learnt[0])
        brief = brief.with_weights(weights_of(plan.topic, log.weights))
    return brief


def rereading(plan: Plan, brief: Brief) -> ReaderSetup:
    """A setup by which readers count the terms of a page as they did in the crawl."""
    reads = make_strategy(plan, brief).reads
    return brief.setup(
        headings=True, overlapping=not reads.longest, transcribe=reads.transcribe
    )


@asynccontextmanager
async def assemble(
    plan: Plan,
    folder: CrawlFolder,
    brief: Brief | None = None,
    tell: Callable[[str], None] = print,
    ways: Ways | None = None,
) -> AsyncIterator[Crawl]:
    """A crawl ready to run; closes what it opened."""
    brief = brief or prepare(plan, folder)
    ways = ways or Ways()
    if not folder.brief.is_file():
        save_brief(brief, folder.brief)
    store = Store(folder, plan.store)
    store.index_all = plan.search.pages == "all"
    try:
        frontier = SqliteFrontier(store.db, plan.politeness, plan.bounds)
        async with _closing(ways.fetch(plan, store, frontier)) as fetch:
            ahead = await look_ahead(plan, folder, brief, fetch, tell)
            strategy = make_strategy(plan, brief, ahead)
            mind = Mind(plan, brief, strategy, store, ways.judge)
            readers = ways.readers(plan.crawl.readers, mind.setup)
            async with _closing(readers):
                await readers.start()
                yield ways.crawl(
                    plan,
                    Stages(
                        scope=Scope(plan.topic.scope),
                        frontier=frontier,
                        fetch=fetch,
                        readers=readers,
                        judge=mind.judge,
                        strategy=strategy,
                        store=store,
                        learners=mind.learners,
                        followed=mind.followed,
                        grow_index=keep_index(folder, plan, brief)
                        if plan.search.index
                        else None,
                    ),
                )
    finally:
        store.close()


async def look_ahead(
    plan: Plan,
    folder: CrawlFolder,
    brief: Brief,
    fetch: Fetch,
    tell: Callable[[str], None],
) -> LookAhead | None:
    """The rules between the topic's classes, if it has some and the strategy asks;
    learnt when the crawl begins, from its own network or replay."""
    classes, reads = plan.topic.classes, make_strategy(plan, brief).reads
    if not classes or not reads.look_ahead:
        return None
    from opilio.look_ahead import learn_look_ahead, load_look_ahead, network
    from opilio.topic.train_one import Pace

    if known := load_look_ahead(folder.models, classes.target):
        return known
    reader = make_reader(brief.setup(vector=True, transcribe=reads.transcribe))
    pace = Pace(plan.politeness.delay)
    if isinstance(fetch, HttpFetch):
        fetch = network(fetch.egress, plan.politeness, plan.fetch, pace)
    tell(f"Learning first how the classes of {classes.folder} link to each other.")
    learnt = await learn_look_ahead(classes, fetch, reader.read, pace)
    learnt.save(folder.models)
    return learnt


class Mind:
    """What decides: judge and strategy, with all that they learnt in earlier runs."""

    def __init__(
        self,
        plan: Plan,
        brief: Brief,
        strategy: Strategy,
        store: Store,
        judge: Callable[[Plan, Brief], Judge] = make_judge,
    ) -> None:
        self.plan = plan
        self.make_judge = judge
        self.base = brief  # without what people ask for
        self.brief = brief
        self.strategy = strategy
        self.learners: dict[str, Learner] = {}
        self.followed = follow_log(plan, store.folder)
        changed = False
        if self.followed:
            self.learners["weights"] = self.followed
            if learnt := store.learnt("weights"):
                self.followed.load(learnt)
                self.brief = self.with_weights(self.followed.weights)
            elif plan.topic.query_log:
                self.brief = self.with_weights(self.followed.build())
            if news := self.followed.look():
                before = self.followed.weights
                self.followed.take(news)
                self.brief = self.with_weights(self.followed.weights)
                changed = self.followed.weights != before
                if changed:
                    asked = self.followed.asked
                    store.catalogue.save_event("topic", pages=0, asked=asked)
            self.followed.remake = self.remake
        self.profiles = store.profiles = SiteKeeper(store.db, self.brief)
        if isinstance(strategy, Learner):
            self.learners["strategy"] = strategy
        self.judge, self.setup = self.make()
        for name, learner in self.learners.items():
            if name != "weights" and (learnt := store.learnt(name)):
                learner.load(learnt)
        if changed:  # what was learnt is now seen by the new weights
            self.judge, self.setup = self.make()
        if isinstance(strategy, Remembering):
            strategy.recall(store.notes())

    def make(self) -> tuple[Judge, bytes]:
        """The judge for the brief, and the setup of readers for both."""
        if isinstance(self.strategy, Seeker):
            self.strategy.seek(self.brief.subject)
        judge = self.make_judge(self.plan, self.brief)
        if isinstance(judge, Learning):
            if isinstance(before := self.learners.get("judge"), type(judge)):
                judge.follow(before)
            self.learners |= judge.learners()
        languages = self.plan.topic.languages
        reads = self.strategy.reads
        setup = self.brief.setup(
            context=reads.context,
            blocks=reads.blocks or judge.reads_blocks,
            vector=reads.vector or judge.reads_vector,
            words=reads.words,
            headings=True,
            sequence=self.plan.search.index,
            overlapping=not reads.longest,
            transcribe=reads.transcribe,
        )
        speaking = InLanguages(judge, languages) if languages else judge
        return speaking, msgspec.msgpack.encode(setup)

    def remake(self, asked: Mapping[str, float]) -> tuple[Judge, bytes]:
        """The same once more, when people ask for other things than before."""
        self.brief = self.with_weights(asked)
        self.profiles.follow(self.brief)
        return self.make()

    def with_weights(self, asked: Mapping[str, float]) -> Brief:
        """The brief with what people ask for now beside the topic's own keywords."""
        if self.plan.topic.query_log or self.plan.topic.keywords:
            return self.base.with_weights(weights_of(self.plan.topic, asked))
        return self.base.with_more(normalised(asked))


def make_readers(count: int, setup: bytes) -> ReaderPool:
    """Processes that read pages; what they do is in `opilio.reader`."""
    return ReaderPool(count, "opilio.reader:make_job", setup)


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
    judge: Callable[[Plan, Brief], Judge] = make_judge
    crawl: Callable[[Plan, Stages], Crawl] = Crawl


async def find_seeds(
    plan: Plan, brief: Brief, crawl: Crawl, tell: Callable[[str], None] = print
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
        " ".join(brief.terms[:ASKED]),
        fetch.egress.get,
        visits,
        pause=plan.politeness.delay,
        language=brief.language,
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
