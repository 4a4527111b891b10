"""What judge and strategy have learnt from all pages; rounds of workers begin with it.

A model has no evidence of links and their hosts: that is in the outlines of lessons,
from which their owners learn it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from opilio.crawl import CrawlLoop
from opilio.protocols import (
    Learner,
    LearningJudge,
    Observer,
    Publishing,
    Remembering,
    Reviser,
)

if TYPE_CHECKING:
    import psycopg

_BEGIN = """
    UPDATE worker SET passed = (SELECT coalesce(max(version), 0) FROM model)
    WHERE id = %s RETURNING passed
"""


class PublishedModel(NamedTuple):
    """A version of what was learnt."""

    heads: Mapping[int, int]  # of each worker: the last lesson in it
    judge: bytes | None  # None: it does not learn
    strategy: bytes | None
    kinds: Sequence[str] = ()  # of judge and strategy, whose names users may choose

    @property
    def lessons(self) -> int:
        """The number of lessons in it."""
        return sum(self.heads.values())


def can_publish(crawl: CrawlLoop) -> bool:
    """Whether a model has all that judge and strategy know besides their own links.
    Else workers need all lessons, and none are deleted."""
    strategy = crawl.strategy
    learns = isinstance(strategy, (Learner, Remembering, Reviser, Observer))
    if learns and not isinstance(strategy, Publishing):
        return False
    judge = judge_of(crawl)
    return not isinstance(judge, LearningJudge) or isinstance(judge, Publishing)


def judge_of(crawl: CrawlLoop) -> object:
    """The judge that learns."""
    return getattr(crawl.query_judges, "bare", crawl.judge)


def model_of(crawl: CrawlLoop, heads: Mapping[int, int]) -> PublishedModel:
    """What a crawl has learnt from lessons up to these."""
    judge, strategy = judge_of(crawl), crawl.strategy
    return PublishedModel(
        dict(heads),
        judge.publish() if isinstance(judge, Publishing) else None,
        strategy.publish() if isinstance(strategy, Publishing) else None,
        (kind_of(judge), kind_of(strategy)),
    )


def adopt(crawl: CrawlLoop, model: PublishedModel) -> None:
    """Let a crawl know what a model says. What another kind of judge or strategy has
    learnt tells it nothing: somebody has changed the settings."""
    pupils = judge_of(crawl), crawl.strategy
    learnt = model.judge, model.strategy
    for pupil, packed, kind in zip(pupils, learnt, model.kinds, strict=True):
        if packed and isinstance(pupil, Publishing) and kind_of(pupil) == kind:
            pupil.adopt(bytes(packed))


def kind_of(pupil: object) -> str:
    """The class of a judge or strategy."""
    return f"{type(pupil).__module__}.{type(pupil).__qualname__}"


def begin(db: psycopg.Connection, worker: int) -> PublishedModel | None:
    """The newest model, whose lessons this worker will not ask for any more."""
    while True:
        row = db.execute(_BEGIN, (worker,)).fetchone()
        if not row or not row[0]:
            return None
        if found := fetch_model(db, row[0]):
            return found


def newest(db: psycopg.Connection) -> PublishedModel | None:
    """The newest model, if there is one."""
    row = db.execute("SELECT max(version) FROM model").fetchone()
    return fetch_model(db, row[0]) if row and row[0] else None


def fetch_model(db: psycopg.Connection, version: int) -> PublishedModel | None:
    """A version, unless it is deleted."""
    query = "SELECT heads, judge, strategy, kinds FROM model WHERE version = %s"
    row = db.execute(query, (version,)).fetchone()
    if row is None:
        return None
    heads, *learnt = row
    return PublishedModel({int(told): last for told, last in heads.items()}, *learnt)
