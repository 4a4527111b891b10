"""Builds a crawl: makes its parts from the plan and connects them.

Parts that few crawls need are imported where they are made, because importing is slow.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from opilio.assembly.followed_topic import FollowedTopic
from opilio.assembly.judge_and_strategy import JudgeAndStrategy
from opilio.assembly.network import make_fetch, network_of
from opilio.assembly.plan import Plan
from opilio.assembly.prepare import ADVISED, prepare, with_accepted
from opilio.assembly.registry import Own, make_judge, make_strategy
from opilio.crawl import CrawlLoop, Stages
from opilio.frontier.reopen import queue_again
from opilio.frontier.sqlite import SqliteFrontier
from opilio.limits.contact import user_agent
from opilio.limits.scope import Scope
from opilio.protocols import Adviser, Judge, Strategy
from opilio.read.pool import ReaderPool
from opilio.records import (
    Clock,
    Page,
    Reads,
    Response,
    State,
    Subject,
)
from opilio.settings import StoreSettings
from opilio.store.folder import CrawlFolder
from opilio.store.store import Store
from opilio.subject.compile import setup_for
from opilio.subject.stored_subject import save_subject
from opilio.topic import Classes

if TYPE_CHECKING:
    from opilio.crawl.rendering import Rendering
    from opilio.stage_protocols import Fetch, Readers, Sharing
    from opilio.subject.class_rules import LookAhead
    from opilio.subject.page_reader import ExampleReader

RENDERING = "rendering"  # the name of what rendering has learnt

log = logging.getLogger(__name__)


@asynccontextmanager
async def assemble(
    plan: Plan,
    folder: CrawlFolder,
    subject: Subject | None = None,
    ways: Ways | None = None,
) -> AsyncIterator[CrawlLoop]:
    """A crawl ready to run, as a context manager that closes what it opened."""
    subject = subject or prepare(plan, folder)
    plan, is_improved = with_accepted(plan, folder)
    ways = ways or Ways()
    if not folder.subject.is_file() or is_improved:
        save_subject(subject, folder.subject)
    if is_improved:
        from opilio.subject.improved_ontology import note_in_use

        note_in_use(folder)
    store = ways.store(folder, plan.store, plan.search.pages == "all")
    try:
        if store.catalogue.last_number or folder.repaired.exists():
            from opilio.store.damage_check import quick_check  # new crawls need none

            quick_check(store.db, folder.database)
        if plan.online:
            queue_again(store.db, "not_archived")
        frontier = ways.frontier(
            store.db,
            plan.politeness,
            plan.bounds,
            clock=ways.clock,
            max_idle=plan.crawl.max_idle,
        )
        async with _closing(ways.fetch(plan, store, frontier)) as fetch:
            reads = ways.strategy(plan, subject).reads
            evidence = await evidence_for(plan, folder, subject, fetch, reads, ways)
            strategy = ways.strategy(plan, subject, **evidence)
            parts = JudgeAndStrategy(plan, subject, strategy, store, ways.judge)
            readers = ways.readers(plan.crawl.readers, parts.setup)
            adviser = ways.adviser(plan, parts.subject, parts.bare, store)
            async with (
                _closing(adviser),
                _closing(readers),
                rendering_of(plan, fetch, frontier, readers) as rendering,
            ):
                await readers.start()
                if rendering and (learnt := store.learnt(RENDERING)):
                    rendering.load(learnt)
                learners = parts.learners
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
                        tdm=getattr(network_of(fetch), "tdm", None),
                        rendering=rendering,
                        learners={**learners, RENDERING: rendering}
                        if rendering
                        else learners,
                        adviser=adviser,
                        profiles=parts.profiles,
                        query_judges=parts,
                        followed=FollowedTopic(
                            parts, folder, kept_by(frontier), ways.clock
                        ),
                        grow_index=index_grower(folder, plan, subject),
                        sharing=ways.sharing(store, frontier),
                        clock=ways.clock,
                    ),
                )
    finally:
        store.close()


def index_grower(
    folder: CrawlFolder, plan: Plan, subject: Subject
) -> Callable[[], None] | None:
    """A function that adds what was committed to the search index, if there is one."""
    if not plan.search.index:
        return None

    @cache
    def grower() -> Callable[[], None]:
        from opilio.assembly.index import (
            keep_index,  # not needed before the first visit
        )

        return keep_index(folder, plan, subject)

    return lambda: grower()()


@asynccontextmanager
async def rendering_of(
    plan: Plan, fetch: Fetch, frontier: SqliteFrontier, readers: Readers
) -> AsyncIterator[Rendering | None]:
    """What renders pages, if the plan asks for it and the network is used."""
    network = network_of(fetch)
    if plan.browser.render == "never" or network is None:
        yield None
        return
    from opilio.crawl.rendering import Rendering
    from opilio.fetch.browser.browser import BrowserProcess
    from opilio.fetch.browser.page_requests import PageAnswers

    answers = PageAnswers(
        network.egress, network.robots, frontier, plan.politeness.delay
    )
    async with _closing(
        BrowserProcess(plan.browser, answers, user_agent(plan.fetch))
    ) as browser:
        yield Rendering(plan.browser, browser, readers)


def kept_by(frontier: SqliteFrontier) -> Callable[[], int]:
    """Tells how many pages were kept so far."""
    return lambda: frontier.counts().ended.get((State.KEPT, ""), 0)


async def evidence_for(
    plan: Plan,
    folder: CrawlFolder,
    subject: Subject,
    fetch: Fetch,
    reads: Reads,
    ways: Ways,
) -> dict[str, Any]:
    """What strategies may ask for besides the subject, by the fields of Knowledge."""
    found: dict[str, Any] = {}
    if reads.look_ahead and plan.topic.classes:
        setup = setup_for(subject, msgspec.structs.replace(reads, vector=True))
        from opilio.subject.page_reader import limited_reader

        with (ways.example_reader or limited_reader)(setup) as read:
            rules = await class_rules(plan, plan.topic.classes, folder, read, fetch)
        found |= {"look_ahead": rules, "class_links": rules.examples}
    return found


async def class_rules(
    plan: Plan,
    classes: Classes,
    folder: CrawlFolder,
    read: Callable[[Response], Page],
    fetch: Fetch,
) -> LookAhead:
    """The rules between the topic's classes, learnt when the crawl begins from pages
    that are fetched like all others, or replayed."""
    from opilio.assembly.online_replay import OnlineReplay
    from opilio.subject.class_rules import learn_look_ahead, load_look_ahead, network
    from opilio.topic.linked_pages import Pace

    if known := load_look_ahead(folder.models, classes.target):
        return known
    pace = Pace(plan.politeness.delay)
    if usual := network_of(fetch):
        asked = network(usual.egress, plan.politeness, plan.fetch, pace, usual.keep)
        fetch = fetch.through(asked) if isinstance(fetch, OnlineReplay) else asked
    log.info("Learning how pages of the classes in %s link", classes.folder)
    learnt = await learn_look_ahead(classes, fetch, read, pace)
    learnt.save(folder.models)
    return learnt


def make_readers(count: int, setup: bytes) -> ReaderPool:
    """The reader processes; their job is in `opilio.subject.page_reader`."""
    return ReaderPool(count, "opilio.subject.page_reader:make_job", setup)


def make_adviser(
    plan: Plan, subject: Subject, judge: Judge, store: Store
) -> Adviser | None:
    """The adviser of the judge; None: it has none, or judges by a query, too."""
    if plan.crawl.judge not in ADVISED or not getattr(judge, "is_learning", False):
        return None
    from opilio.assembly.advisers import open_adviser

    return open_adviser(plan, subject, store)


@dataclass(frozen=True)
class Ways:
    """Factories of the parts that the lab and programs may replace."""

    store: Callable[[CrawlFolder, StoreSettings, bool], Store] = Store
    frontier: Callable[..., SqliteFrontier] = SqliteFrontier
    fetch: Callable[[Plan, Store, SqliteFrontier], Fetch] = make_fetch
    readers: Callable[[int, bytes], Readers] = make_readers
    example_reader: ExampleReader | None = None  # None: the usual one, with limits
    judge: Callable[[Plan, Subject], Judge] = make_judge
    adviser: Callable[[Plan, Subject, Judge, Store], Adviser | None] = make_adviser
    strategy: Callable[..., Strategy] = make_strategy
    crawl: Callable[[Plan, Stages], CrawlLoop] = CrawlLoop
    sharing: Callable[[Store, SqliteFrontier], Sharing | None] = lambda *_: None
    clock: Clock = time.monotonic


def ways_of(own: Own) -> Ways:
    """The factories of a crawl, given the parts that a program passes."""
    return Ways(judge=own.make_judge, strategy=own.make_strategy)


@asynccontextmanager
async def _closing(thing: Any) -> AsyncIterator[Any]:
    try:
        yield thing
    finally:
        if thing is not None:
            await thing.close()
