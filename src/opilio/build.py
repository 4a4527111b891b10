"""Settings in; the parts of a crawl, chosen and wired, out."""

from __future__ import annotations

import difflib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from opilio.crawl import Crawl, Stages
from opilio.errors import BadInput
from opilio.fetch.addresses import parse_networks
from opilio.fetch.egress import Egress
from opilio.fetch.http import HttpFetch
from opilio.fetch.replay import ReplayFetch
from opilio.fetch.robots import Robots
from opilio.fetch.route import parse_proxy
from opilio.frontier.sqlite import SqliteFrontier
from opilio.judge import JUDGES
from opilio.judge.languages import InLanguages
from opilio.plan import Plan
from opilio.read.pool import ReaderPool
from opilio.scope import Scope
from opilio.store.folder import CrawlFolder
from opilio.store.robots import SqliteRobots
from opilio.store.store import Store
from opilio.strategies import STRATEGIES
from opilio.types import Fetch, Judge, ReaderSetup, Subject
from opilio.words import Vocabulary

T = TypeVar("T")


def choose(kind: str, name: str, known: Mapping[str, T]) -> T:
    """The part of that name; BadInput that names the known ones."""
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise BadInput(f"unknown {kind} {name!r}; {hint}known: {', '.join(sorted(known))}")


def make_judge(plan: Plan, vocabulary: Vocabulary) -> Judge:
    """The judge that the settings name, for the topic's terms and languages."""
    weights: dict[str, float] = {}
    for term, weight in plan.topic.weights().items():
        key = vocabulary.key(term)
        weights[key] = max(weight, weights.get(key, 0.0))
    subject = Subject(weights=weights, threshold=plan.topic.threshold)
    judge = choose("judge", plan.crawl.judge, JUDGES)(subject)
    languages = plan.topic.languages
    return InLanguages(judge, languages) if languages else judge


def check_plan(plan: Plan) -> None:
    """Raise BadInput for what cannot be built, before anything is made."""
    choose("strategy", plan.crawl.strategy, STRATEGIES)
    choose("judge", plan.crawl.judge, JUDGES)
    parse_networks(plan.fetch.allow_networks)
    parse_proxy(plan.fetch.proxy)
    for name in plan.replay:
        if not Path(name).is_file():
            raise BadInput(f"{name} is not a WARC file: it does not exist")


@asynccontextmanager
async def assemble(plan: Plan, folder: CrawlFolder) -> AsyncIterator[Crawl]:
    """A crawl ready to run; closes what it opened."""
    terms = tuple(plan.topic.weights())
    language = plan.topic.language
    judge = make_judge(plan, Vocabulary(terms, language))
    strategy = choose("strategy", plan.crawl.strategy, STRATEGIES)()
    setup = ReaderSetup(terms, language, strategy.reads_context)
    readers = make_readers(plan.crawl.readers, setup)
    async with _closing(readers):
        await readers.start()
        store = Store(folder, plan.store)
        try:
            frontier = SqliteFrontier(store.db, plan.politeness, plan.bounds)
            async with _closing(make_fetch(plan, store, frontier)) as fetch:
                yield Crawl(
                    plan,
                    Stages(
                        scope=Scope(plan.topic.scope),
                        frontier=frontier,
                        fetch=fetch,
                        readers=readers,
                        judge=judge,
                        strategy=strategy,
                        store=store,
                    ),
                )
        finally:
            store.close()


def make_readers(count: int, setup: ReaderSetup) -> ReaderPool:
    """Processes that read pages; what they do is in `opilio.reader`."""
    return ReaderPool(count, "opilio.reader:make_job", msgspec.msgpack.encode(setup))


def make_fetch(plan: Plan, store: Store, frontier: SqliteFrontier) -> Fetch:
    """The network, or WARC files in its place."""
    if plan.replay:
        return ReplayFetch([Path(name) for name in plan.replay])
    egress = Egress(plan.fetch)
    robots = Robots(
        egress.get,
        SqliteRobots(store.db),
        plan.fetch.user_agent,
        pause=plan.politeness.delay,
    )
    return HttpFetch(egress, robots, plan.politeness, plan.fetch, frontier.pace)


@asynccontextmanager
async def _closing(thing: Any) -> AsyncIterator[Any]:
    try:
        yield thing
    finally:
        await thing.close()
