"""Publishes what the workers of a crawl have learnt: versions of one model.

One worker is the trainer, elected by a lease of its own with an epoch. Now and then it
writes down what its judge and strategy have learnt, and from which lessons. A round
begins with the newest model and the lessons after it. The words of pages that the last
two models have learnt from are deleted, once every worker has heard them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from opilio.cluster.models import PublishedModel, model_of
from opilio.crawl import CrawlLoop
from opilio.errors import OpilioError

if TYPE_CHECKING:
    import psycopg

    from opilio.cluster.sharing import ShardSharing

log = logging.getLogger(__name__)

FIRST = 100  # lessons before the first version
GROWTH = 1.5  # from one version to the next
MOST_BETWEEN = 20_000  # lessons
KEPT = 3  # versions
AT_ONCE = 1000  # lessons of a worker that are deleted together

_LEAD = """
    UPDATE trainer SET owner = %(worker)s,
        epoch = epoch + (owner IS DISTINCT FROM %(worker)s)::int,
        until = clock_timestamp() + make_interval(secs => %(lease)s)
    WHERE owner = %(worker)s OR until < clock_timestamp()
    RETURNING epoch
"""
_IS_TRAINER = "SELECT 1 FROM trainer WHERE owner = %s AND epoch = %s FOR UPDATE"
_PUBLISH = """
    INSERT INTO model (version, worker, epoch, heads, lessons, judge, strategy,
        kinds)
    SELECT coalesce(max(version), 0) + 1, %s, %s, %s, %s, %s, %s, %s FROM model
    RETURNING version
"""
# The models that a worker may have passed by now: not more than a few.
_NEWER = "SELECT version, heads FROM model WHERE version > %s ORDER BY version"
# Lessons of the last model but one are kept, and those that a worker has yet to hear.
_OLD = """
    SELECT version, heads FROM model
    WHERE version < (SELECT max(version) FROM model) AND version <= (
        SELECT min(passed) FROM worker
        WHERE until > clock_timestamp() AND ended IS NULL)
    ORDER BY version DESC LIMIT 1
"""
_DELETE = """
    DELETE FROM lesson_page WHERE worker = %(worker)s AND number IN (
        SELECT number FROM lesson_page
        WHERE worker = %(worker)s AND number <= %(head)s ORDER BY number LIMIT %(most)s)
"""


class StalePublication(OpilioError):
    """Another worker is the trainer by now."""


def next_at(lessons: int) -> int:
    """The number of lessons at which the version after one of so many is due.

    >>> [next_at(lessons) for lessons in (0, 100, 150, 1_000_000)]
    [100, 150, 225, 1020000]
    """
    return max(FIRST, min(int(GROWTH * lessons), lessons + MOST_BETWEEN))


class Trainer:
    """The part of a worker that publishes models, if it is elected."""

    def __init__(
        self,
        worker: int,
        lease: float,
        sharing: ShardSharing,
        ask: Callable[..., Awaitable[Any]],
    ) -> None:
        self.worker = worker
        self.lease = lease
        self.sharing = sharing
        self.ask = ask
        self.draft: PublishedModel | None = None  # to be published
        self._look_at = 0.0
        self.epoch = 0  # 0: another one is the trainer
        self.passed = 0  # version whose lessons were all heard
        self.published = 0  # lessons in the newest version
        self._cleared = 0  # version whose lessons are deleted

    async def work(self, crawl: CrawlLoop) -> None:
        """Publish what the crawl has learnt, if that is ours to do and it is time. All
        that was heard must be learnt."""
        if self.draft:
            await self._publish_draft(self.draft)
        elif monotonic() >= self._look_at:
            self._look_at = monotonic() + self.lease / 4
            heard = dict(self.sharing.hearing.heard)
            if await self.ask(partial(self.look, heard=heard)):
                async with crawl.turn():
                    heard[self.worker] = self.sharing.last_number
                    self.draft = model_of(crawl, heard)
            if self.epoch:
                await self.ask(self.delete_old)

    async def _publish_draft(self, draft: PublishedModel) -> None:
        """Publish a model once our own lessons in it are recorded: else their pages
        might be read and learnt from again."""
        if self.sharing.hearing.last_told < draft.heads[self.worker]:
            return
        self.draft = None
        try:
            version = await self.ask(partial(self.publish, model=draft))
            log.debug("Published version %d of the model", version)
        except StalePublication as stale:
            log.warning("%s", stale)

    def look(self, db: psycopg.Connection, heard: Mapping[int, int]) -> bool:
        """Renew the lease, or take it if it is free; note which models are passed.
        Returns whether another version is due, and is ours to publish."""
        found = db.execute(_LEAD, {"worker": self.worker, "lease": self.lease})
        row = found.fetchone()
        self.epoch = row[0] if row else 0
        for version, heads in db.execute(_NEWER, (self.passed,)).fetchall():
            if any(heard.get(int(told), 0) < last for told, last in heads.items()):
                break
            self.passed, self.published = version, sum(heads.values())
            db.execute(
                "UPDATE worker SET passed = %s WHERE id = %s AND passed < %s",
                (version, self.worker, version),
            )
        return self.epoch > 0 and sum(heard.values()) >= next_at(self.published)

    def publish(self, db: psycopg.Connection, model: PublishedModel) -> int:
        """Write the next version; returns its number. Raises StalePublication."""
        with db.transaction():
            mine = db.execute(_IS_TRAINER, (self.worker, self.epoch)).fetchone()
            if not mine:
                raise StalePublication("another worker is the trainer now")
            heads = json.dumps(model.heads)
            figures = self.worker, self.epoch, heads, model.lessons
            row = db.execute(
                _PUBLISH, (*figures, model.judge, model.strategy, list(model.kinds))
            )
            [(version,)] = row.fetchall()
            db.execute("DELETE FROM model WHERE version <= %s", (version - KEPT,))
        return int(version)

    def delete_old(self, db: psycopg.Connection) -> int:
        """Delete the words of pages that nobody needs any more; returns of how many."""
        found = db.execute(_OLD).fetchone()
        if not found or found[0] == self._cleared:
            return 0
        version, heads = found
        count = 0
        for worker, head in heads.items():
            asked = {"worker": int(worker), "head": head, "most": AT_ONCE}
            while deleted := db.execute(_DELETE, asked).rowcount:
                count += deleted
        self._cleared = version
        return count
