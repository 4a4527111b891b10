"""The plan and the folder of a crawl in; what it seeks by now, and how its pages are
read by that, out."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from opilio.brief import Brief, load_brief, weights_of
from opilio.choice import BY_NAME, Own
from opilio.fetch.robots import product_token
from opilio.followed import FollowedLog
from opilio.plan import Plan
from opilio.store.folder import CrawlFolder
from opilio.topic import Topic
from opilio.topic.file import QueryLog
from opilio.topic.weight_table import normalised
from opilio.types import ReaderSetup, Reads


def follow_log(plan: Plan, folder: CrawlFolder | None = None) -> FollowedLog | None:
    """The query log of the topic, or else that of the crawl's own searches, which need
    not be there yet."""
    log = plan.topic.query_log
    if folder and not log:
        log = QueryLog(file=str(folder.queries))
    return FollowedLog(log, plan.topic.language) if log else None


def asked_for(topic: Topic, brief: Brief, asked: Mapping[str, float]) -> Brief:
    """The first brief of a topic with what people ask for now beside its keywords; or
    beside what its ontology or its examples say, if it has none."""
    if topic.query_log or topic.keywords:
        return brief.with_weights(weights_of(topic, asked))
    return brief.with_more(normalised(asked))


def current_brief(plan: Plan, folder: CrawlFolder, db: sqlite3.Connection) -> Brief:
    """The brief of a crawl, with what people asked for last."""
    brief, log = load_brief(folder.brief), follow_log(plan, folder)
    learnt = db.execute("SELECT state FROM learnt WHERE name = 'weights'").fetchone()
    if log and learnt:
        log.load(learnt[0])
        brief = asked_for(plan.topic, brief, log.weights)
    return brief


def rereading(
    plan: Plan, brief: Brief, own: Own = BY_NAME, **parts: bool
) -> ReaderSetup:
    """A setup by which readers read a page as they did in the crawl; the brief is the
    current one."""
    return reader_setup(plan, brief, own.make_strategy(plan, brief).reads, **parts)


def reader_setup(plan: Plan, brief: Brief, reads: Reads, **parts: bool) -> ReaderSetup:
    """What readers are told when they serve a strategy; `parts` are those of pages that
    they shall bring, as `Brief.setup` names them."""
    return brief.setup(
        overlapping=not reads.longest,
        transcribe=reads.transcribe,
        agent=product_token(plan.fetch.user_agent),
        **parts,
    )
